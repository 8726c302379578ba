//! Devices that come and go under a character.

use super::*;
use crate::character::{FleshBase, SimVertices};
use crate::gpu::GpuContext;
use crate::gpu::actor::DeviceChoice;

/// Ticks until the state shown is on a device, or is not.
fn run_until_on_device(session: &mut Session, wanted: bool) {
    let start = Instant::now();
    while session
        .snapshot()
        .is_none_or(|shown| shown.on_device().is_some() != wanted)
    {
        assert!(
            start.elapsed() < Duration::from_mins(1),
            "{:?}",
            session.devices().status_of(session.active_view())
        );
        session.tick(1.0 / 60.0);
        std::thread::sleep(Duration::from_millis(1));
    }
    run_until_idle(session);
}

/// The character on the graphics device, by this method.
fn opened_on(gpu: &GpuContext, method: MethodId) -> Session {
    let mut session = opened();
    session.apply_once(Command::SetSimVertices(SimVertices::About(300)));
    session.apply_once(Command::SetFleshBase(FleshBase::Bones));
    session.apply_once(Command::SetMethod(method));
    session.apply_once(turn(20.0));
    run_until_idle(&mut session);
    session.devices_mut().choose(DeviceChoice::Gpu);
    session.set_gpu(Some(gpu));
    run_until_on_device(&mut session, true);
    let status = session
        .devices()
        .status_of(session.active_view())
        .cloned()
        .expect("is decided");
    assert!(
        status.on_gpu && status.why.starts_with("The GPU "),
        "{status:?}"
    );
    session
}

/// How far what is shown is from what the processor makes of the same pose, of the size.
fn off(session: &Session) -> f32 {
    let shown = session.snapshot().unwrap();
    let mut actor = crate::methods::Actor::bind(
        &shown.subject,
        shown.method,
        &session.document().params,
        &crate::progress::Progress::new(),
    )
    .unwrap();
    actor
        .advance(&crate::methods::Frame {
            world_from_joint: session.channels().active().world_from_joint(),
            dt_secs: 0.0,
        })
        .unwrap();
    assert_eq!(
        shown.world_from_joint,
        session.channels().active().world_from_joint()
    );
    let apart = |(a, b): (&crate::math::Point, &crate::math::Point)| (a - b).norm();
    actor
        .positions()
        .iter()
        .zip(shown.positions())
        .map(apart)
        .max_by(f32::total_cmp)
        .unwrap()
        / shown.subject.size
}

/// The device is lost while everything sleeps: the character keeps its last positions.
#[test]
fn sleeping_flesh_keeps_its_shape_on_a_lost_device() {
    for method in [MethodId::LBS, MethodId::PD] {
        stays(method);
    }
}

fn stays(method: MethodId) {
    let Some(gpu) = crate::gpu::for_tests() else {
        return;
    };
    let mut session = opened_on(&gpu, method);
    let before = session.snapshot().unwrap().positions().to_vec();
    gpu.simulate_loss();
    session.set_gpu(None);
    run_until_on_device(&mut session, false);
    let shown = session.snapshot().unwrap();
    let apart = before
        .iter()
        .zip(shown.positions())
        .map(|(a, b)| (a - b).norm())
        .fold(0.0, f32::max);
    assert!(apart < 1e-3 * shown.subject.size, "{apart}");
    assert!(
        session
            .devices()
            .status_of(session.active_view())
            .is_some_and(|status| !status.on_gpu)
    );
}

/// Poses, steps back, other parameters and other methods on the device: what is shown is what the processor makes.
#[test]
fn a_skin_on_the_device_follows_its_pose() {
    let Some(gpu) = crate::gpu::for_tests() else {
        return;
    };
    let mut session = opened_on(&gpu, MethodId::LBS);
    assert!(off(&session) < 1e-5);
    for degrees in [40.0, -95.0] {
        session.apply_once(turn(degrees));
        run_until_idle(&mut session);
        assert!(session.snapshot().unwrap().on_device().is_some());
        assert!(off(&session) < 1e-5, "{degrees}: {}", off(&session));
    }
    session.apply_once(Command::Undo);
    run_until_idle(&mut session);
    assert!(off(&session) < 1e-5);
    let why = session.devices().status_of(session.active_view()).cloned();
    session.apply_once(Command::SetParams(crate::dynamics::Preset::Jelly.params()));
    run_until_idle(&mut session);
    assert!(
        session.devices().status_of(session.active_view()).cloned() == why
            && session.snapshot().unwrap().on_device().is_some(),
        "it has no physics"
    );
    for method in [MethodId::DQS, MethodId::RIGID] {
        session.apply_once(Command::SetMethod(method));
        run_until_on_device(&mut session, true);
        assert_eq!(session.snapshot().unwrap().method, method);
        assert!(off(&session) < 1e-5, "{method:?}: {}", off(&session));
    }
    // Numbers are read back with every state if they are requested, from the same device.
    session.set_wants(SnapshotContent {
        numbers: true,
        velocities: true,
        ..SnapshotContent::default()
    });
    session.apply_once(turn(10.0));
    run_until_idle(&mut session);
    let shown = session.snapshot().unwrap();
    assert!(shown.on_device().is_some() && shown.velocities.len() == shown.positions().len());
    assert!(off(&session) < 1e-5);
    session.devices_mut().choose(DeviceChoice::Cpu);
    run_until_on_device(&mut session, false);
    assert!(
        session
            .devices()
            .status_of(session.active_view())
            .is_some_and(|status| status.why == "The CPU moves the skin, as you chose.")
    );
}

/// The device is lost in the middle of a drag: the processor continues, this is reported once, and another device is used when there is one.
#[test]
fn a_skin_continues_after_a_device_loss() {
    let Some(gpu) = crate::gpu::for_tests() else {
        return;
    };
    let Some(another) = crate::gpu::for_tests() else {
        return;
    };
    let mut session = opened_on(&gpu, MethodId::DQS);
    for step in 0..6 {
        session.apply(turn(10.0 * f64::from(step + 1)), Gesture::Dragging);
        if step == 3 {
            gpu.simulate_loss();
        }
        session.tick(1.0 / 60.0);
        std::thread::sleep(Duration::from_millis(5));
    }
    session.end_gesture();
    run_until_on_device(&mut session, false);
    assert!(off(&session) == 0.0, "the processor's own");
    let said = session
        .messages()
        .iter()
        .filter(|message| {
            message
                .text
                .starts_with("The CPU continues moving the skin: ")
        })
        .count();
    assert_eq!(said, 1, "{:?}", session.messages());
    assert!(
        session
            .devices()
            .status_of(session.active_view())
            .is_some_and(|status| status.lost && !status.on_gpu)
    );
    session.set_gpu(Some(&another));
    run_until_on_device(&mut session, true);
    assert!(
        session
            .devices()
            .status_of(session.active_view())
            .is_some_and(|status| !status.lost && status.on_gpu)
    );
    assert!(off(&session) < 1e-5);
}

/// Sleeping flesh whose device is lost and replaced between two frames is moved by the new device, and that one is not reported as lost.
#[test]
fn a_device_that_is_replaced_is_not_the_one_that_was_lost() {
    for method in [MethodId::LBS, MethodId::PD] {
        let Some(gpu) = crate::gpu::for_tests() else {
            return;
        };
        let Some(another) = crate::gpu::for_tests() else {
            return;
        };
        let mut session = opened_on(&gpu, method);
        gpu.simulate_loss();
        session.set_gpu(Some(&another));
        let start = Instant::now();
        let is_there = |session: &Session| {
            let shown = session.snapshot().expect("is open");
            shown
                .on_device()
                .is_some_and(|skin| skin.gpu().is_same(&another))
        };
        while !is_there(&session) {
            assert!(
                start.elapsed() < Duration::from_mins(1),
                "{:?}",
                session.devices().status_of(session.active_view())
            );
            session.tick(1.0 / 60.0);
            std::thread::sleep(Duration::from_millis(1));
        }
        run_until_idle(&mut session);
        let status = session
            .devices()
            .status_of(session.active_view())
            .expect("is decided");
        assert!(status.on_gpu && !status.lost, "{method:?}: {status:?}");
    }
}
