//! The contract of every registered skinning method, on every small built-in character. A toy method, registered from here, is one of them.

use std::sync::Arc;

use sinew::dynamics::Params;
use sinew::math::{Affine, Point, Vec64};
use sinew::methods::{
    Actor, Capability, Frame, MethodId, SkinError, StateError, Subject, registry,
};
use sinew::param::ParamValues;
use sinew::progress::Progress;

use super::toy;
use crate::common::moved::{bent, worst};
use crate::common::on_bones::on_bones;

/// `f32` positions of a skin that was moved, solved for and moved back: a few dozen roundings of the size.
const REST_TOL: f32 = 1e-5;
const CHARACTERS: [&str; 3] = ["cylinder", "arm", "gecko"];

fn subject(name: &str) -> Arc<Subject> {
    let character = sinew::io::builtin::load_builtin(name).expect("built in");
    Arc::new(Subject::build(Arc::new(character), &Progress::new()).expect("builds"))
}

/// Values to begin with: the defaults, but as few cells as can be where a method cuts the body into cells. The contract is the same.
fn coarse(method: MethodId) -> ParamValues {
    let mut values = ParamValues::default();
    let params = method.descriptor().params;
    for spec in params.iter().filter(|spec| spec.key == "cells") {
        values.set(spec, spec.range[0]);
    }
    values
}

fn bind(subject: &Arc<Subject>, method: MethodId) -> Actor {
    let (physics, values) = (Params::default(), coarse(method));
    Actor::bind_with(subject, method, &physics, &values, &Progress::new()).expect("binds")
}

fn frames(actor: &mut Actor, poses: &[Vec<Affine>]) -> Vec<Vec<Point>> {
    poses
        .iter()
        .map(|world| {
            actor
                .advance(&Frame {
                    world_from_joint: world,
                    dt_secs: 1.0 / 60.0,
                })
                .expect("moves");
            actor.positions().to_vec()
        })
        .collect()
}

fn rest_is_rest(method: MethodId) {
    for name in CHARACTERS {
        let subject = subject(name);
        let mut actor = bind(&subject, method);
        let bind_pose = subject.character.skeleton.bind_transforms();
        actor
            .advance(&Frame {
                world_from_joint: &bind_pose,
                dt_secs: 0.0,
            })
            .expect("settles");
        let error = worst(actor.positions(), &subject.character.bind_positions()) / subject.size;
        assert!(error < REST_TOL, "{name}: {error} of the size");
    }
}

fn rigid_motion_is_rigid(method: MethodId) {
    let turn = nalgebra::Isometry3::new(Vec64::new(0.4, -0.3, 0.7), Vec64::new(0.5, 1.1, -0.6));
    for name in CHARACTERS {
        let subject = subject(name);
        let motion: Affine = nalgebra::convert(turn);
        let moved: Vec<Affine> = subject
            .character
            .skeleton
            .bind_transforms()
            .iter()
            .map(|world| motion * world)
            .collect();
        let mut actor = bind(&subject, method);
        actor
            .advance(&Frame {
                world_from_joint: &moved,
                dt_secs: 0.0,
            })
            .expect("settles");
        let expected: Vec<Point> = subject
            .character
            .bind_positions()
            .iter()
            .map(|p| (turn * p.cast::<f64>()).cast::<f32>())
            .collect();
        let error = worst(actor.positions(), &expected) / subject.size;
        assert!(error < REST_TOL, "{name}: {error} of the size");
    }
}

fn a_mirrored_pose_gives_the_mirror_image(method: MethodId) {
    let mirror: Affine = Affine::from_matrix_unchecked(nalgebra::Matrix4::from_diagonal(
        &nalgebra::Vector4::new(-1.0, 1.0, 1.0, 1.0),
    ));
    for name in CHARACTERS {
        let subject = subject(name);
        let poses: Vec<Vec<Affine>> = (0..8).map(|k| bent(&subject, 0.1 * f64::from(k))).collect();
        let mirrored: Vec<Vec<Affine>> = poses
            .iter()
            .map(|pose| pose.iter().map(|world| mirror * world).collect())
            .collect();
        let straight = frames(&mut bind(&subject, method), &poses);
        for (frame, (image, original)) in frames(&mut bind(&subject, method), &mirrored)
            .iter()
            .zip(&straight)
            .enumerate()
        {
            let expected: Vec<Point> = original
                .iter()
                .map(|p| Point::new(-p.x, p.y, p.z))
                .collect();
            let error = worst(image, &expected) / subject.size;
            assert!(
                error < REST_TOL,
                "{name}, frame {frame}: {error} of the size"
            );
        }
    }
}

fn equal_frames_are_bit_equal(method: MethodId) {
    let subject = subject("arm");
    let poses: Vec<Vec<Affine>> = (0..8)
        .map(|k| bent(&subject, 0.06 * f64::from(k)))
        .collect();
    let mut actor = bind(&subject, method);
    let first = frames(&mut actor, &poses);
    actor.reset();
    assert!(first == frames(&mut actor, &poses), "after a reset");
    for threads in [1, 2, 4] {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("threads");
        let again = pool.install(|| frames(&mut bind(&subject, method), &poses));
        assert!(first == again, "with {threads} threads");
    }
}

fn bad_frames_are_refused(method: MethodId) {
    let subject = subject("cylinder");
    let mut actor = bind(&subject, method);
    let good = bent(&subject, 0.2);
    actor
        .advance(&Frame {
            world_from_joint: &good,
            dt_secs: 1.0 / 60.0,
        })
        .expect("moves");
    let before = actor.positions().to_vec();
    let short = &good[1..];
    let refused = actor.advance(&Frame {
        world_from_joint: short,
        dt_secs: 1.0 / 60.0,
    });
    assert_eq!(
        refused,
        Err(SkinError::JointCount {
            expected: good.len(),
            actual: short.len()
        })
    );
    for number in [f64::NAN, f64::NEG_INFINITY, 1e300, -1e30] {
        let mut broken = good.clone();
        broken[0].matrix_mut_unchecked()[(0, 3)] = number;
        assert_eq!(
            actor.advance(&Frame {
                world_from_joint: &broken,
                dt_secs: 1.0 / 60.0
            }),
            Err(SkinError::BadPose),
            "{number}"
        );
    }
    assert_eq!(actor.positions(), before);
}

fn a_saved_state_can_be_continued(method: MethodId) {
    for name in CHARACTERS {
        let subject = subject(name);
        let poses: Vec<Vec<Affine>> = (0..8)
            .map(|k| bent(&subject, 0.09 * f64::from(k)))
            .collect();
        let (before, after) = poses.split_at(4);
        let mut actor = bind(&subject, method);
        frames(&mut actor, before);
        let saved = actor.save();
        assert_eq!(saved.positions(), actor.positions(), "{name}");
        actor.restore(&saved).expect("its own state");
        let first = frames(&mut actor, after);
        // From another pose, and by another binding.
        frames(&mut actor, before);
        actor.restore(&saved).expect("its own state");
        assert_eq!(actor.positions(), saved.positions(), "{name}");
        assert!(first == frames(&mut actor, after), "{name}: again");
        let mut other = bind(&subject, method);
        other.restore(&saved).expect("the same character");
        assert!(first == frames(&mut other, after), "{name}: another");
    }
}

fn foreign_states_are_rejected(method: MethodId) {
    let (cylinder, arm) = (subject("cylinder"), subject("arm"));
    let mut actor = bind(&cylinder, method);
    let other_character = bind(&arm, method).save();
    assert!(actor.restore(&other_character).is_err());
    for other in registry().into_iter().filter(|&other| other != method) {
        let state = bind(&cylinder, other).save();
        assert_eq!(actor.restore(&state), Err(StateError::OtherMethod));
    }
}

/// What [`Skinner`](sinew::methods::Skinner) leaves to a capability is there if, and only if, the method declares it.
fn capabilities_are_as_declared(method: MethodId) {
    // Flesh that follows the skin's weights has no form on a device yet.
    let character = sinew::io::builtin::load_builtin("cylinder").expect("built in");
    let subject = Subject::build(Arc::new(on_bones(character)), &Progress::new());
    let subject = Arc::new(subject.expect("builds"));
    let mut actor = bind(&subject, method);
    assert_eq!(actor.recipe().is_some(), method.has(Capability::Device));
    assert_eq!(
        !actor.simulated().is_empty(),
        method.has(Capability::Upsampling)
    );
    assert!(actor.projective().is_none() || method.has(Capability::Physics));
    if !method.has(Capability::State) {
        assert!(actor.is_at_rest());
        let poses = [bent(&subject, 0.4), bent(&subject, 0.2)];
        let after_another = frames(&mut actor, &poses).pop();
        actor.reset();
        assert!(frames(&mut actor, &poses[1..]).pop() == after_another);
    }
}

fn parameters_stay_in_their_ranges(method: MethodId) {
    let subject = subject("cylinder");
    let bent = [bent(&subject, 0.3)];
    for spec in method.descriptor().params {
        assert!(spec.range[0] <= spec.default && spec.default <= spec.range[1]);
        let mut tried = Vec::new();
        for value in [spec.range[0], spec.default, spec.range[1], f64::NAN, 1e300] {
            let mut values = coarse(method);
            values.set(spec, value);
            if tried.contains(&values) {
                continue;
            }
            tried.push(values.clone());
            let mut bound = Actor::bind_with(
                &subject,
                method,
                &Params::default(),
                &values,
                &Progress::new(),
            )
            .expect("binds");
            let expected = frames(&mut bound, &bent);
            let finite = |p: &Point| p.iter().all(|c| c.is_finite());
            assert!(expected[0].iter().all(finite), "{} = {value}", spec.key);
            let mut changed = bind(&subject, method);
            changed.set_values(&values).expect("inside the range");
            changed.reset();
            assert!(frames(&mut changed, &bent) == expected, "{}", spec.key);
        }
    }
}

fn descriptor_is_complete(method: MethodId) {
    let descriptor = method.descriptor();
    for text in [descriptor.label, descriptor.short_label, descriptor.doc] {
        assert!(!text.trim().is_empty(), "{method}");
    }
    assert_eq!(MethodId::from_id(descriptor.id), Some(method));
    let json = serde_json::to_string(&method).expect("writes");
    assert_eq!(json, format!("\"{method}\""));
    let read: MethodId = serde_json::from_str(&json).expect("reads");
    assert_eq!(read, method);
}

/// All registered methods, the toy among them.
fn all() -> Vec<MethodId> {
    let toy = toy::registered();
    let methods = registry();
    assert!(methods.contains(&toy));
    methods
}

macro_rules! for_all_methods {
    ($($name:ident: $check:expr;)*) => {$(
        #[test]
        fn $name() {
            for method in all() {
                println!("{method}");
                $check(method);
            }
        }
    )*};
}

for_all_methods! {
    described: descriptor_is_complete;
    rest: rest_is_rest;
    rigid: rigid_motion_is_rigid;
    deterministic: equal_frames_are_bit_equal;
    refuses: bad_frames_are_refused;
    saved: a_saved_state_can_be_continued;
    foreign_states: foreign_states_are_rejected;
    capable: capabilities_are_as_declared;
    parameters: parameters_stay_in_their_ranges;
}

/// Of the methods that blend what the joints do; flesh that is turned inside out is another question.
#[test]
fn mirrored() {
    for method in [
        MethodId::RIGID,
        MethodId::LBS,
        MethodId::DQS,
        MethodId::COR,
        MethodId::SWING_TWIST,
        MethodId::DDM,
        MethodId::DELTA_MUSH,
    ] {
        a_mirrored_pose_gives_the_mirror_image(method);
    }
}
