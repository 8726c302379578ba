//! The elastic energy of tissue, by its definition.

use std::sync::Arc;

use sinew::dynamics::{Params, Simulation};
use sinew::io::builtin::load_builtin;
use sinew::math::{Point, Quat, Vec64};
use sinew::methods::{Actor, Frame, MethodId, Subject};
use sinew::metrics::energy::tissue_energy;
use sinew::progress::Progress;

fn cylinder() -> Arc<Subject> {
    let character = load_builtin("cylinder").expect("built in");
    Arc::new(Subject::build(Arc::new(character), &Progress::new()).expect("builds"))
}

/// All of a body 1.1 times as large, bones too: F = 1.1 I in each tet, ‖F − R‖² = ‖F − F*‖² = 3 · 0.1². Turned, it has none.
#[test]
fn tissue_has_the_energy_of_its_deformation() {
    let subject = cylinder();
    let flesh = subject.flesh().expect("has flesh");
    let simulation = Simulation::new(
        flesh.system.clone(),
        &Params::default(),
        subject.sim().mesh.positions.clone(),
        flesh.tissue.anchors.at_rest(),
        subject.size,
    )
    .expect("factors");
    let equations = simulation.equations();
    let energy = |map: &dyn Fn(&Point) -> Point| {
        let unknowns: Vec<Point> = simulation.positions().iter().map(map).collect();
        let base: Vec<Point> = simulation.base().iter().map(map).collect();
        tissue_energy(&equations, &unknowns, &base).expect("tets")
    };
    let turn = Quat::from_euler_angles(0.3, 1.0, -0.2);
    assert!(energy(&|p| (turn * p.cast::<f64>()).cast()) < 1e-6);
    let expected = 0.5 * 0.03 * (1.0 + f64::from(equations.volume));
    let grown = energy(&|p| p * 1.1);
    assert!(
        (grown / expected - 1.0).abs() < 1e-3,
        "{grown}, not {expected}"
    );
    assert_eq!(tissue_energy(&equations, &[], &[]), None);
}

#[test]
fn frames_of_methods_that_simulate_have_an_energy() {
    let subject = cylinder();
    let skeleton = &subject.character.skeleton;
    let mut pose = skeleton.rest_pose();
    let bend = Quat::from_axis_angle(&Vec64::z_axis(), 1.0);
    pose.rotate_about_world_axes(skeleton, 1, &bend);
    let energy = |method: MethodId, pose: &sinew::rig::Pose| {
        let (params, progress) = (Params::default(), Progress::new());
        let mut actor = Actor::bind(&subject, method, &params, &progress).expect("binds");
        let world = skeleton.world_from_joint(pose);
        let frame = Frame {
            world_from_joint: &world,
            dt_secs: 0.0,
        };
        actor.advance(&frame).expect("a pose");
        actor.meter_frame(&world).tissue_energy
    };
    assert_eq!(energy(MethodId::LBS, &pose), None);
    let rest = energy(MethodId::PD, &skeleton.rest_pose()).expect("simulated");
    let bent = energy(MethodId::PD, &pose).expect("simulated");
    assert!(rest < 1e-6 && bent > 1e-4, "{rest} {bent}");
}
