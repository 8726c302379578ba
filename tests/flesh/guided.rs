//! Flesh whose base follows the skin's weights: what must hold in every pose.

use std::sync::Arc;

use nalgebra::{UnitQuaternion, Vector3};
use sinew::character::{FleshBase, FleshSettings, SimVertices};
use sinew::dynamics::Params;
use sinew::math::{Affine, Point};
use sinew::methods::{Actor, Frame, MethodId, Subject};
use sinew::progress::Progress;

use crate::common::moved::{bent, worst};

const NAMES: [&str; 2] = ["mannequin", "gecko"];
const STEP_SECS: f64 = 1.0 / 60.0;

fn subject(name: &str, base: FleshBase) -> Arc<Subject> {
    let character = sinew::io::builtin::load_builtin(name).expect("built in");
    let flesh = FleshSettings {
        sim_vertices: SimVertices::About(1500),
        base,
        ..character.flesh.clone()
    };
    let character = sinew::character::Character { flesh, ..character };
    Arc::new(Subject::build(Arc::new(character), &Progress::new()).expect("builds"))
}

fn actor(subject: &Arc<Subject>) -> Actor {
    Actor::bind(subject, MethodId::PD, &Params::default(), &Progress::new()).expect("binds")
}

fn advance(actor: &mut Actor, world_from_joint: &[Affine], dt_secs: f64) {
    let frame = Frame {
        world_from_joint,
        dt_secs,
    };
    actor.advance(&frame).expect("moves");
}

/// Six times the enclosed volume.
fn volume(subject: &Subject, positions: &[Point]) -> f64 {
    let corner = |v: u32| positions[v as usize].coords.cast::<f64>();
    let triangles = subject.character.triangles();
    triangles
        .iter()
        .map(|&[a, b, c]| corner(a).dot(&corner(b).cross(&corner(c))))
        .sum()
}

#[test]
fn the_rest_pose_is_reproduced_exactly() {
    for name in NAMES {
        let subject = subject(name, FleshBase::Weights);
        let mut actor = actor(&subject);
        advance(
            &mut actor,
            &subject.character.skeleton.bind_transforms(),
            0.0,
        );
        let moved = worst(actor.positions(), &subject.bind_positions) / subject.size;
        assert!(moved < 2e-6, "{name}: {moved:e}");
    }
}

/// A rigid motion of the whole skeleton moves every vertex rigidly.
#[test]
fn a_rigid_motion_stays_rigid() {
    for name in NAMES {
        let subject = subject(name, FleshBase::Weights);
        let motion = nalgebra::Isometry3::from_parts(
            Vector3::new(0.3, -1.2, 0.7).into(),
            UnitQuaternion::from_scaled_axis(Vector3::new(0.4, 1.1, -0.3)),
        );
        let to_affine = Affine::from_matrix_unchecked(motion.to_homogeneous());
        let bind = subject.character.skeleton.bind_transforms();
        let world: Vec<Affine> = bind.iter().map(|joint| to_affine * joint).collect();
        let mut actor = actor(&subject);
        advance(&mut actor, &world, 0.0);
        let expected: Vec<Point> = subject
            .bind_positions
            .iter()
            .map(|p| (motion * p.cast::<f64>()).cast::<f32>())
            .collect();
        let off = worst(actor.positions(), &expected) / subject.size;
        assert!(off < 1e-5, "{name}: {off:e}");
    }
}

/// After a jump there and back in single frames, the flesh is whole within a second, and then sleeps.
#[test]
fn a_jump_from_rest_and_back_is_reversible() {
    for name in NAMES {
        let subject = subject(name, FleshBase::Weights);
        let bind = subject.character.skeleton.bind_transforms();
        for amount in [0.3, 0.8] {
            let mut actor = actor(&subject);
            advance(&mut actor, &bind, 0.0);
            let rest = actor.positions().to_vec();
            let there = bent(&subject, amount);
            for _ in 0..30 {
                advance(&mut actor, &there, STEP_SECS);
            }
            let away = worst(actor.positions(), &rest) / subject.size;
            assert!(away > 1e-2, "{name} {amount}: it moved");
            for _ in 0..60 {
                advance(&mut actor, &bind, STEP_SECS);
            }
            let left = worst(actor.positions(), &rest) / subject.size;
            assert!(left < 1e-3, "{name} {amount}: {left:e} after a second");
            for _ in 0..240 {
                advance(&mut actor, &bind, STEP_SECS);
            }
            assert!(actor.is_at_rest(), "{name} {amount}: it sleeps");
            let left = worst(actor.positions(), &rest) / subject.size;
            assert!(left < 1e-5, "{name} {amount}: {left:e} at rest");
        }
    }
}

/// Settled in a bend, the body has its volume.
#[test]
fn a_bend_keeps_the_volume() {
    for name in NAMES {
        let subject = subject(name, FleshBase::Weights);
        let mut actor = actor(&subject);
        advance(&mut actor, &bent(&subject, 0.6), 0.0);
        let rest = volume(&subject, &subject.bind_positions);
        let change = volume(&subject, actor.positions()) / rest - 1.0;
        assert!(change.abs() < 0.02, "{name}: {change}");
    }
}

#[test]
fn few_tets_are_inverted_at_rest() {
    for name in sinew::io::builtin::NAMES {
        let subject = subject(name, FleshBase::Weights);
        let quality = &subject.flesh().expect("has flesh").tissue.quality;
        let share = quality.inverted as f64 / quality.tets as f64;
        assert!(share <= 0.005, "{name}: {share}");
    }
}

/// The two bases are different models, each chosen by the settings.
#[test]
fn the_base_follows_what_the_settings_say() {
    let [weights, bones] = [FleshBase::Weights, FleshBase::Bones].map(|base| {
        let subject = subject("mannequin", base);
        let mut actor = actor(&subject);
        advance(&mut actor, &bent(&subject, 0.6), 0.0);
        (
            actor.projective().expect("simulates").is_guided(),
            actor.positions().to_vec(),
        )
    });
    assert_eq!((weights.0, bones.0), (true, false));
    assert!(worst(&weights.1, &bones.1) > 1e-3);
}
