//! Contacts of pairs found beforehand, around joints.

use std::sync::Arc;

use sinew::collision::{CollisionBody, JointPairs};
use sinew::dynamics::{Collisions, ContactReport};
use sinew::methods::{Actor, Frame, Subject};
use sinew::rig::Pose;

use crate::touching::{actor, builtin, turned, world, worst};

fn report(actor: &Actor) -> ContactReport {
    actor
        .projective()
        .expect("simulated")
        .simulation()
        .contacts()
        .expect("on")
        .report()
}

/// Depth in edges of a pose that is settled in.
fn depth(subject: &Arc<Subject>, pose: &Pose, collisions: Collisions) -> f32 {
    let mut actor = actor(subject, collisions);
    actor
        .advance(&Frame {
            world_from_joint: &world(subject, pose),
            dt_secs: 0.0,
        })
        .expect("settles");
    let penetration = actor
        .projective()
        .expect("simulated")
        .penetration()
        .expect("posed");
    if collisions != Collisions::Off {
        println!("{collisions:?}: {:?}", report(&actor));
    }
    println!("{collisions:?}: {penetration:?}");
    penetration.deepest_edges
}

/// No pair is in touch at rest, and the skin stays where it is.
#[test]
fn nothing_touches_at_rest() {
    for name in sinew::io::builtin::NAMES {
        let subject = builtin(name);
        let flesh = subject.flesh().expect("has flesh");
        let body = CollisionBody::new(&subject.sim().mesh, &flesh.tissue);
        let start = std::time::Instant::now();
        let pairs = JointPairs::find(&body, &flesh.tissue);
        println!(
            "{name}: {} pairs at {} joints in {:.1} ms",
            pairs.len(),
            pairs.joints(),
            start.elapsed().as_secs_f64() * 1e3
        );
        let mut actor = actor(&subject, Collisions::Local);
        let world = world(&subject, &subject.character.skeleton.rest_pose());
        let mut rest = Vec::new();
        for frame in 0..50 {
            let dt_secs = if frame == 0 { 0.0 } else { 1.0 / 60.0 };
            actor
                .advance(&Frame {
                    world_from_joint: &world,
                    dt_secs,
                })
                .expect("moves");
            if frame == 0 {
                rest.extend_from_slice(actor.positions());
            }
            assert_eq!(report(&actor).watched, 0, "{name}");
        }
        assert!(
            worst(&rest, actor.positions()) < 1e-6 * subject.size,
            "{name}"
        );
    }
}

/// Bends of the elbow by 150° overlap far less, and hold still.
#[test]
fn a_forearm_rests_on_the_upper_arm() {
    for (name, joint, axis) in [
        ("arm", "forearm", [0.0, 1.0, 0.0]),
        ("mannequin", "forearm.L", [0.64, 0.77, 0.0]),
    ] {
        let subject = builtin(name);
        let pose = turned(&subject, &[(joint, axis, -150.0)]);
        let (off, local) = (
            depth(&subject, &pose, Collisions::Off),
            depth(&subject, &pose, Collisions::Local),
        );
        println!(
            "{name}: {off} → {local} edges; {} edges everywhere",
            depth(&subject, &pose, Collisions::Global)
        );
        assert!(local < 0.5 * off, "{name}: {off} → {local}");
        let world = world(&subject, &pose);
        let mut actor = actor(&subject, Collisions::Local);
        actor
            .advance(&Frame {
                world_from_joint: &world,
                dt_secs: 0.0,
            })
            .expect("settles");
        assert!(report(&actor).pressing > 0, "{name}: nothing touches");
        let mut last = actor.positions().to_vec();
        for frame in 0..200 {
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
}

/// Skin that came into touch in motion comes to rest there.
#[test]
fn a_bent_limb_comes_to_rest() {
    for (name, joint, axis, degrees) in [
        ("arm", "forearm", [0.0, 1.0, 0.0], -120.0),
        ("arm", "forearm", [0.0, 0.7, 0.7], -150.0),
        ("mannequin", "hand.L", [0.0, 0.0, 1.0], -110.0),
        ("mannequin", "shin.L", [1.0, 0.0, 0.0], 110.0),
    ] {
        let subject = builtin(name);
        let (rest, pose) = (
            subject.character.skeleton.rest_pose(),
            turned(&subject, &[(joint, axis, degrees)]),
        );
        let mut actor = actor(&subject, Collisions::Local);
        let (mut last, mut watched) = (actor.positions().to_vec(), 0);
        for frame in 0..300 {
            let t = (f64::from(frame) / 40.0).min(1.0);
            let dt_secs = if frame == 0 { 0.0 } else { 1.0 / 60.0 };
            actor
                .advance(&Frame {
                    world_from_joint: &world(&subject, &rest.lerp(&pose, t)),
                    dt_secs,
                })
                .expect("moves");
            let moved = worst(actor.positions(), &last) / subject.size;
            assert!(
                frame < 130 || moved < 1e-5,
                "{name}, {joint}, frame {frame}: {moved} of the size"
            );
            last.copy_from_slice(actor.positions());
            watched = watched.max(report(&actor).watched);
        }
        assert!(watched > 0, "{name}, {joint}: nothing touches");
    }
}

/// Bent and straightened again by 1 and 2 threads, bit by bit; nothing is left in touch.
#[test]
fn results_are_independent_of_threads() {
    let subject = builtin("arm");
    let (rest, pose) = (
        subject.character.skeleton.rest_pose(),
        turned(&subject, &[("forearm", [0.0, 1.0, 0.0], -140.0)]),
    );
    let play = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads");
        pool.install(|| {
            let mut actor = actor(&subject, Collisions::Local);
            let (mut bent, mut touching) = (Vec::new(), 0);
            for frame in 0..70 {
                let t = (f64::from(frame.min(60 - frame.min(60))) / 25.0).clamp(0.0, 1.0);
                let dt_secs = if frame == 0 { 0.0 } else { 1.0 / 60.0 };
                actor
                    .advance(&Frame {
                        world_from_joint: &world(&subject, &rest.lerp(&pose, t)),
                        dt_secs,
                    })
                    .expect("moves");
                touching = touching.max(report(&actor).pressing);
                if frame == 30 {
                    bent.extend_from_slice(actor.positions());
                }
            }
            assert!(touching > 10, "{touching} contacts");
            assert_eq!(report(&actor).watched, 0);
            (bent, actor.positions().to_vec())
        })
    };
    assert!(play(1) == play(2));
}
