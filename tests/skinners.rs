//! The contract of every skinning method, on every small built-in character.

use std::sync::Arc;

use sinew::dynamics::Params;
use sinew::math::{Affine, Point, Vec64};
use sinew::progress::Progress;
use sinew::skin::{Actor, Frame, Method, SkinError, Subject};

mod moved;

use moved::{bent, worst};

/// `f32` positions of a skin that was moved, solved for and moved back: a few dozen roundings of the size.
const REST_TOL: f32 = 1e-5;
const CHARACTERS: [&str; 3] = ["cylinder", "arm", "gecko"];

fn subject(name: &str) -> Arc<Subject> {
    let character = sinew::io::builtin::load_builtin(name).expect("built in");
    Arc::new(Subject::build(Arc::new(character), &Progress::new()).expect("builds"))
}

fn bind(subject: &Arc<Subject>, method: Method) -> Actor {
    Actor::bind(subject, method, &Params::default(), &Progress::new()).expect("binds")
}

fn frames(actor: &mut Actor, poses: &[Vec<Affine>]) -> Vec<Vec<Point>> {
    poses
        .iter()
        .map(|world| {
            actor.advance(&Frame { world_from_joint: world, dt_secs: 1.0 / 60.0 }).expect("moves");
            actor.positions().to_vec()
        })
        .collect()
}

fn rest_is_rest(method: Method) {
    for name in CHARACTERS {
        let subject = subject(name);
        let mut actor = bind(&subject, method);
        let bind_pose = subject.character.skeleton.bind_transforms();
        actor.advance(&Frame { world_from_joint: &bind_pose, dt_secs: 0.0 }).expect("settles");
        let error = worst(actor.positions(), &subject.character.bind_positions()) / subject.size;
        assert!(error < REST_TOL, "{name}: {error} of the size");
    }
}

fn rigid_motion_is_rigid(method: Method) {
    let turn = nalgebra::Isometry3::new(Vec64::new(0.4, -0.3, 0.7), Vec64::new(0.5, 1.1, -0.6));
    for name in CHARACTERS {
        let subject = subject(name);
        let motion: Affine = nalgebra::convert(turn);
        let moved: Vec<Affine> = subject.character.skeleton.bind_transforms().iter().map(|world| motion * world).collect();
        let mut actor = bind(&subject, method);
        actor.advance(&Frame { world_from_joint: &moved, dt_secs: 0.0 }).expect("settles");
        let expected: Vec<Point> = subject.character.bind_positions().iter().map(|p| (turn * p.cast::<f64>()).cast::<f32>()).collect();
        let error = worst(actor.positions(), &expected) / subject.size;
        assert!(error < REST_TOL, "{name}: {error} of the size");
    }
}

fn a_mirrored_pose_gives_the_mirror_image(method: Method) {
    let mirror: Affine = Affine::from_matrix_unchecked(nalgebra::Matrix4::from_diagonal(&nalgebra::Vector4::new(-1.0, 1.0, 1.0, 1.0)));
    for name in CHARACTERS {
        let subject = subject(name);
        let poses: Vec<Vec<Affine>> = (0..8).map(|k| bent(&subject, 0.1 * f64::from(k))).collect();
        let mirrored: Vec<Vec<Affine>> = poses.iter().map(|pose| pose.iter().map(|world| mirror * world).collect()).collect();
        let straight = frames(&mut bind(&subject, method), &poses);
        for (frame, (image, original)) in frames(&mut bind(&subject, method), &mirrored).iter().zip(&straight).enumerate() {
            let expected: Vec<Point> = original.iter().map(|p| Point::new(-p.x, p.y, p.z)).collect();
            let error = worst(image, &expected) / subject.size;
            assert!(error < REST_TOL, "{name}, frame {frame}: {error} of the size");
        }
    }
}

fn equal_frames_give_equal_bits(method: Method) {
    let subject = subject("arm");
    let poses: Vec<Vec<Affine>> = (0..8).map(|k| bent(&subject, 0.06 * f64::from(k))).collect();
    let mut actor = bind(&subject, method);
    let first = frames(&mut actor, &poses);
    actor.reset();
    assert!(first == frames(&mut actor, &poses), "after a reset");
    for threads in [1, 2, 4] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().expect("threads");
        let again = pool.install(|| frames(&mut bind(&subject, method), &poses));
        assert!(first == again, "with {threads} threads");
    }
}

fn bad_frames_are_refused(method: Method) {
    let subject = subject("cylinder");
    let mut actor = bind(&subject, method);
    let good = bent(&subject, 0.2);
    actor.advance(&Frame { world_from_joint: &good, dt_secs: 1.0 / 60.0 }).expect("moves");
    let before = actor.positions().to_vec();
    let short = &good[1..];
    let refused = actor.advance(&Frame { world_from_joint: short, dt_secs: 1.0 / 60.0 });
    assert_eq!(refused, Err(SkinError::JointCount { expected: good.len(), actual: short.len() }));
    for number in [f64::NAN, f64::NEG_INFINITY, 1e300, -1e30] {
        let mut broken = good.clone();
        broken[0].matrix_mut_unchecked()[(0, 3)] = number;
        assert_eq!(actor.advance(&Frame { world_from_joint: &broken, dt_secs: 1.0 / 60.0 }), Err(SkinError::BadPose), "{number}");
    }
    assert_eq!(actor.positions(), before);
}

macro_rules! skinner_tests {
    ($($module:ident: $method:expr;)*) => {$(
        mod $module {
            use super::*;

            #[test]
            fn rest() {
                rest_is_rest($method);
            }

            #[test]
            fn rigid() {
                rigid_motion_is_rigid($method);
            }

            #[test]
            fn deterministic() {
                equal_frames_give_equal_bits($method);
            }

            #[test]
            fn refuses() {
                bad_frames_are_refused($method);
            }
        }
    )*};
}

/// Of the methods that blend what the joints do; flesh that is turned inside out is another question.
#[test]
fn mirrored() {
    for method in [Method::Rigid, Method::Lbs, Method::Dqs] {
        a_mirrored_pose_gives_the_mirror_image(method);
    }
}

skinner_tests! {
    rigid_skinning: Method::Rigid;
    linear_blend: Method::Lbs;
    dual_quaternion: Method::Dqs;
    projective: Method::Pd;
}
