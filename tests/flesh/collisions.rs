//! Theorems about contact, and what is promised of it in the poses that touch most.

use std::sync::Arc;

use sinew::collision::{CollisionBody, Detector, PosedFootPoints};
use sinew::dynamics::{Collisions, Contacts, Params, Preset, Simulation};
use sinew::math::{Point, Quat, Vec3, Vec64};
use sinew::mesh::{TriMesh, checkup::intersecting_pairs};
use sinew::methods::{Frame, Subject};
use sinew::progress::Progress;
use sinew::rig::Pose;
use sinew::tissue::BaseFrame;

use crate::common::skip;
use crate::touching::{actor, builtin, subject, turned, world, worst};

/// Axis and angle that bend the mannequin's elbow.
const ELBOW: ([f64; 3], f64) = ([0.64, 0.77, 0.0], -150.0);

/// No contact is seen at rest, by detection, in a step, or by sleeping.
#[test]
fn nothing_touches_at_rest() {
    for name in sinew::io::builtin::NAMES {
        let subject = builtin(name);
        let flesh = subject.flesh().expect("has flesh");
        let body = CollisionBody::new(&subject.sim().mesh, &flesh.tissue);
        let hits = Detector::default()
            .detect(
                &body,
                &subject.sim().mesh.positions,
                &PosedFootPoints::at_rest(&body),
            )
            .len();
        assert_eq!(hits, 0, "{name}");
        let mut simulation = simulation(&subject, Collisions::Global);
        let base = simulation.base().to_vec();
        for _ in 0..50 {
            simulation.step(&base);
        }
        assert_eq!(
            simulation.contacts().expect("on").report().watched,
            0,
            "{name}"
        );
        assert!(
            worst(simulation.positions(), &subject.sim().mesh.positions) < 1e-6 * subject.size,
            "{name}"
        );
    }
}

fn simulation(subject: &Subject, collisions: Collisions) -> Simulation {
    let flesh = subject.flesh().expect("has flesh");
    let params = Params {
        collisions,
        ..Preset::Natural.params()
    };
    let position = subject.sim().mesh.positions.clone();
    let base = flesh.tissue.anchors.at_rest();
    let mut simulation =
        Simulation::new(flesh.system.clone(), &params, position, base, subject.size)
            .expect("factors");
    if collisions == Collisions::Global {
        let body = Arc::new(CollisionBody::new(&subject.sim().mesh, &flesh.tissue));
        simulation.set_contacts(Some(Contacts::new(
            body,
            &flesh.system,
            &params,
            subject.size,
        )));
    }
    simulation
}

/// As long as nothing touches, contacts change no bit.
#[test]
fn without_contacts_on_and_off_are_the_same() {
    let subject = builtin("arm");
    let flesh = subject.flesh().expect("has flesh");
    let (mut on, mut off) = (
        simulation(&subject, Collisions::Global),
        simulation(&subject, Collisions::Off),
    );
    let mut frame = BaseFrame::default();
    for k in 1..=30 {
        let pose = turned(
            &subject,
            &[(
                "forearm",
                [0.0, 1.0, 0.3],
                20.0 * (0.4 * f64::from(k)).sin(),
            )],
        );
        let mut base = vec![Point::origin(); flesh.tissue.anchors.len()];
        flesh
            .tissue
            .anchors
            .place(&world(&subject, &pose), &mut frame, &mut base);
        on.contacts_mut()
            .expect("on")
            .move_foot_points(frame.bones());
        on.step(&base);
        off.step(&base);
        assert_eq!(on.contacts().expect("on").report().watched, 0);
        assert!(on.positions() == off.positions());
    }
}

/// The same pose is reached and held by 1, 2 and 4 threads, bit by bit.
#[test]
fn results_are_independent_of_threads() {
    let subject = builtin("arm");
    let pose = turned(&subject, &[("forearm", [0.0, 1.0, 0.0], -140.0)]);
    let play = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads");
        pool.install(|| {
            let mut actor = actor(&subject, Collisions::Global);
            let rest = subject.character.skeleton.rest_pose();
            for frame in 0..40 {
                let t = (f64::from(frame) / 30.0).min(1.0);
                let dt_secs = if frame == 0 { 0.0 } else { 1.0 / 60.0 };
                actor
                    .advance(&Frame {
                        world_from_joint: &world(&subject, &rest.lerp(&pose, t)),
                        dt_secs,
                    })
                    .expect("moves");
            }
            actor.positions().to_vec()
        })
    };
    let one = play(1);
    for threads in [2, 4] {
        assert!(one == play(threads), "{threads} threads");
    }
}

/// A character that glides through space keeps its contacts and its shape: contacts push equally and oppositely.
#[test]
fn sliding_changes_no_contact() {
    let subject = builtin("arm");
    let flesh = subject.flesh().expect("has flesh");
    let pose = turned(&subject, &[("forearm", [0.0, 1.0, 0.0], -140.0)]);
    let play = |speed: f32| {
        let mut simulation = simulation(&subject, Collisions::Global);
        let mut frame = BaseFrame::default();
        let rest = subject.character.skeleton.rest_pose();
        for k in 1..=40 {
            let mut world = world(&subject, &rest.lerp(&pose, (f64::from(k) / 30.0).min(1.0)));
            let shift = Vec64::new(f64::from(speed) * f64::from(k), 0.0, 0.0);
            for joint in &mut world {
                *joint = nalgebra::Affine3::from_matrix_unchecked(
                    nalgebra::Translation3::from(shift).to_homogeneous() * joint.matrix(),
                );
            }
            let mut base = vec![Point::origin(); flesh.tissue.anchors.len()];
            flesh.tissue.anchors.place(&world, &mut frame, &mut base);
            let contacts = simulation.contacts_mut().expect("on");
            contacts.move_foot_points(frame.bones());
            contacts.separate_base(&mut base);
            simulation.step(&base);
        }
        let offset = Vec3::new(speed * 40.0, 0.0, 0.0);
        let positions: Vec<Point> = simulation.positions().iter().map(|p| p - offset).collect();
        (
            positions,
            simulation.contacts().expect("on").report().pressing,
        )
    };
    let (still, touching) = play(0.0);
    // The first step of a glide starts it: one step's carry differs, none after it.
    let (gliding, _) = play(0.002 * subject.size);
    assert!(touching > 10, "{touching} contacts");
    let difference = worst(&still, &gliding) / subject.size;
    assert!(difference < 2e-3, "{difference}");
}

/// What is promised of a pose held.
fn check_pose(name: &str, subject: &Arc<Subject>, pose: &Pose, frames: usize) {
    let world = world(subject, pose);
    let mut actor = actor(subject, Collisions::Global);
    let rest = &subject.sim().mesh;
    let pairs = |mesh| {
        intersecting_pairs(mesh, &Progress::new())
            .expect("counted")
            .len()
    };
    let before = pairs(rest);
    actor
        .advance(&Frame {
            world_from_joint: &world,
            dt_secs: 0.0,
        })
        .expect("settles");
    let projective = actor.projective().expect("simulated");
    let penetration = projective.penetration().expect("posed");
    let report = projective.simulation().contacts().expect("on").report();
    let after = pairs(&TriMesh {
        positions: projective.simulation().positions().to_vec(),
        triangles: rest.triangles.clone(),
    });
    println!(
        "{name}: {} contacts, {:.3} edges deep, {before} → {after} intersecting pairs",
        report.pressing, penetration.deepest_edges
    );
    assert!(report.pressing > 0, "{name}: nothing touches");
    assert!(
        penetration.deepest_edges <= 0.1,
        "{name}: {} edges",
        penetration.deepest_edges
    );
    let mut last = actor.positions().to_vec();
    for frame in 0..frames {
        actor
            .advance(&Frame {
                world_from_joint: &world,
                dt_secs: 1.0 / 60.0,
            })
            .expect("holds");
        let moved = worst(actor.positions(), &last) / subject.size;
        assert!(moved < 1e-4, "{name}, frame {frame}: {moved} of the size");
        last.copy_from_slice(actor.positions());
    }
}

#[test]
fn a_forearm_rests_on_the_upper_arm() {
    let mannequin = builtin("mannequin");
    check_pose(
        "mannequin, forearm",
        &mannequin,
        &turned(&mannequin, &[("forearm.L", ELBOW.0, ELBOW.1)]),
        600,
    );
    let arm = builtin("arm");
    check_pose(
        "arm, forearm",
        &arm,
        &turned(&arm, &[("forearm", [0.0, 1.0, 0.0], -150.0)]),
        600,
    );
}

#[test]
fn a_hand_rests_on_the_belly() {
    let mannequin = builtin("mannequin");
    let angles = |degrees: [f64; 3]| {
        let [x, y, z] = degrees.map(f64::to_radians);
        Quat::from_euler_angles(x, y, z)
    };
    let skeleton = &mannequin.character.skeleton;
    let mut pose = skeleton.rest_pose();
    for (name, degrees) in [
        ("upper_arm.L", [0.0, -20.0, -25.0]),
        ("forearm.L", [-20.0, -115.0, -20.0]),
    ] {
        let joint = skeleton.find_or_suggest(name).expect("a joint");
        sinew::session::set_rotation_from_rest(skeleton, &mut pose, joint, &angles(degrees));
    }
    check_pose("mannequin, hand", &mannequin, &pose, 600);
}

/// The hip bone lies along the hinge of the thigh: room is made between thigh and trunk, beyond it.
#[test]
fn a_thigh_rests_on_the_belly() {
    let mannequin = builtin("mannequin");
    check_pose(
        "mannequin, thigh",
        &mannequin,
        &turned(&mannequin, &[("thigh.L", [1.0, 0.0, 0.0], -110.0)]),
        600,
    );
}

#[test]
fn contacts_hold_on_a_real_character() {
    let Some(data) = skip::data() else {
        return;
    };
    let file = data.join("A_rigged/mh_female_cmu/mh_female_cmu.glb");
    let character = sinew::io::load(&[file], &Progress::new()).expect("loads");
    let subject = subject(character);
    check_pose(
        "mh_female_cmu, forearm",
        &subject,
        &turned(&subject, &[("LeftForeArm", [0.83, 0.55, 0.0], -140.0)]),
        600,
    );
    for degrees in [-120.0, -130.0] {
        let name = format!("mh_female_cmu, thigh by {degrees} degrees");
        check_pose(
            &name,
            &subject,
            &turned(&subject, &[("LeftUpLeg", [1.0, 0.0, 0.0], degrees)]),
            600,
        );
    }
}
