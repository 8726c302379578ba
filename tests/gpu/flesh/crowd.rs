//! Crowds on the device, faults in their states, and changes of parameters.

use std::sync::Arc;

use sinew::dynamics::{Params, State};
use sinew::gpu::GpuContext;
use sinew::gpu::flesh::{FleshModel, FleshState, FleshStep, StatisticsReader};

use super::{Way, params, simulation, subject, turned};
use crate::common::on_device;
use crate::stepping::Device;

/// Instances know nothing of each other, and the same steps give the same bits.
#[test]
fn instances_agree_with_single_characters() {
    let Some(gpu) = on_device::gpu() else { return };
    let subject = subject("mannequin");
    let simulation = simulation(&subject, &params(Way::Accelerated));
    let equations = Arc::new(simulation.equations());
    let inverse = on_device::inverse(&equations);
    let base = |instance: u32, step: u32| {
        turned(&subject, 0.1 * f64::from(step) * f64::from(instance + 1))
    };
    let run = |instances: &[u32]| -> Vec<State> {
        let crowd = Device::new(gpu, &equations, &inverse, instances.len() as u32);
        for place in 0..instances.len() as u32 {
            crowd
                .state
                .upload(gpu, place, &simulation.state())
                .expect("fits");
        }
        for step in 1..=3 {
            for (place, &instance) in (0..).zip(instances) {
                crowd
                    .state
                    .move_base(gpu, place, &base(instance, step))
                    .expect("fits");
            }
            crowd.step.run(gpu);
        }
        (0..instances.len() as u32)
            .map(|place| crowd.state.download(gpu, place).expect("comes back"))
            .collect()
    };
    let together = run(&[0, 1, 0]);
    assert_eq!(together[..1], run(&[0]));
    assert_eq!(together[1..2], run(&[1]));
    assert_eq!(together[0], together[2]);
    assert_ne!(together[0].position, together[1].position);
}

/// A NaN raises the flag of its instance, which stays up until a good state is put in; nothing of it is left then.
#[test]
fn non_finite_values_are_reported() {
    let Some(gpu) = on_device::gpu() else { return };
    let subject = subject("arm");
    let simulation = simulation(&subject, &params(Way::Accelerated));
    let equations = Arc::new(simulation.equations());
    let crowd = Device::new(gpu, &equations, &on_device::inverse(&equations), 2);
    let good = simulation.state();
    let mut bad = good.clone();
    bad.position[7].y = f32::NAN;
    crowd.state.upload(gpu, 0, &good).expect("fits");
    crowd.state.upload(gpu, 1, &bad).expect("fits");
    let mut statistics_reader = StatisticsReader::new(gpu, &crowd.state);
    let mut broken = || {
        let mut encoder = gpu
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        crowd
            .step
            .encode(&mut encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default()));
        statistics_reader.copy(&mut encoder, &crowd.state);
        gpu.queue.submit([encoder.finish()]);
        statistics_reader.submitted();
        // Only a test waits for it.
        gpu.device
            .poll(wgpu::PollType::wait_indefinitely())
            .expect("works");
        statistics_reader
            .poll(gpu)
            .expect("works")
            .iter()
            .map(|statistics| statistics.broken)
            .collect::<Vec<u32>>()
    };
    assert_eq!(broken(), [0, 1]);
    assert_eq!(broken(), [0, 1]);
    for instance in 0..2 {
        crowd.state.upload(gpu, instance, &good).expect("fits");
    }
    for base in [0.1, 0.2].map(|angle| turned(&subject, angle)) {
        (0..2).for_each(|instance| crowd.state.move_base(gpu, instance, &base).expect("fits"));
        assert_eq!(broken(), [0, 0]);
    }
    let [sound, mended] =
        [0, 1].map(|instance| crowd.state.download(gpu, instance).expect("comes back"));
    assert_ne!(sound.position, good.position);
    assert_eq!(sound, mended);
}

/// A device that has compiled kernels for other parameters makes the steps of one that begins with these.
#[test]
fn parameters_can_change() {
    let Some(used) = on_device::own() else { return };
    let subject = subject("cylinder");
    for way in [Way::Plain, Way::Accelerated, Way::Bulging, Way::Plain] {
        let simulation = simulation(
            &subject,
            &Params {
                stiffness_pa: 3e3,
                ..params(way)
            },
        );
        let equations = Arc::new(simulation.equations());
        let inverse = on_device::inverse(&equations);
        let after_a_step = |gpu: &GpuContext| {
            let model = FleshModel::new(gpu, equations.clone()).expect("fits");
            let state = FleshState::new(gpu, &model, 1).expect("fits");
            state.upload(gpu, 0, &simulation.state()).expect("fits");
            state
                .move_base(gpu, 0, &turned(&subject, 0.2))
                .expect("fits");
            FleshStep::new(
                gpu,
                &model,
                &state,
                &on_device::dense_solver(gpu, &inverse, &state),
            )
            .run(gpu);
            state.download(gpu, 0).expect("comes back")
        };
        let fresh = on_device::own().expect("there was one before");
        assert_eq!(after_a_step(&used), after_a_step(&fresh), "{way:?}");
    }
}

/// What does not fit is refused in words.
#[test]
fn states_of_other_characters_are_rejected() {
    let Some(gpu) = on_device::gpu() else { return };
    let subject = subject("cylinder");
    let simulation = simulation(&subject, &params(Way::Plain));
    let device = Device::like(gpu, &simulation);
    let mut short = simulation.state();
    short.velocity.pop();
    assert!(
        device
            .state
            .upload(gpu, 0, &short)
            .expect_err("too short")
            .to_string()
            .contains("vertices")
    );
    assert!(
        device
            .state
            .upload(gpu, 1, &simulation.state())
            .expect_err("only one")
            .to_string()
            .contains("no character 1")
    );
    assert!(
        device
            .state
            .move_base(gpu, 0, &[])
            .expect_err("no base")
            .to_string()
            .contains("base points")
    );
    let model = FleshModel::new(gpu, Arc::new(simulation.equations())).expect("fits");
    assert!(FleshState::new(gpu, &model, 0).is_err());
    assert!(FleshState::new(gpu, &model, u32::MAX).is_err());
}
