//! Flesh that is held in a pose comes to the one equilibrium of that pose, whatever was before.

use std::sync::Arc;

use sinew::dynamics::Params;
use sinew::io::builtin::load_builtin;
use sinew::math::{Affine, Point, Vec3};
use sinew::methods::{Actor, Frame, MethodId, Subject};
use sinew::progress::Progress;
use sinew::rig::motion_range;

use crate::common::moved::{Jolts, worst};

/// Poses in which flesh presses flesh.
const POSES: [&str; 3] = ["elbow.l-120", "knee.l-120", "crouch-110"];
const STEP_SECS: f64 = 1.0 / 60.0;

fn mannequin() -> Arc<Subject> {
    let character = load_builtin("mannequin").expect("built in");
    Arc::new(Subject::build(Arc::new(character), &Progress::new()).expect("builds"))
}

fn bind(subject: &Arc<Subject>) -> Actor {
    Actor::bind(subject, MethodId::PD, &Params::default(), &Progress::new()).expect("binds")
}

fn advance(actor: &mut Actor, world_from_joint: &[Affine], dt_secs: f64, frames: usize) {
    for _ in 0..frames {
        let frame = Frame {
            world_from_joint,
            dt_secs,
        };
        actor.advance(&frame).expect("moves");
    }
}

/// The joints at rest, and in each of [`POSES`].
fn joints(subject: &Subject) -> (Vec<Affine>, Vec<Vec<Affine>>) {
    let skeleton = &subject.character.skeleton;
    let range = motion_range(skeleton);
    let of = |id: &&str| {
        let pose = range.iter().find(|pose| pose.id == *id).expect(id);
        skeleton.world_from_joint(&pose.pose)
    };
    let rest = skeleton.world_from_joint(&skeleton.rest_pose());
    (rest, POSES.iter().map(of).collect())
}

#[test]
fn a_held_pose_has_one_shape() {
    let subject = mannequin();
    let (rest, poses) = joints(&subject);
    let mut actor = bind(&subject);
    for (name, pose) in POSES.iter().zip(&poses) {
        actor.reset();
        advance(&mut actor, pose, 0.0, 1);
        let settled = actor.positions().to_vec();
        advance(&mut actor, &rest, 0.0, 1);
        advance(&mut actor, pose, STEP_SECS, 240);
        let apart = worst(actor.positions(), &settled) / subject.size;
        println!("{name}: {apart:.1e} of the size");
        assert!(
            actor.is_at_rest(),
            "{name} is not at rest after four seconds"
        );
        assert!(apart < 1e-4, "{name}: {apart:.1e} of the size");
    }
}

#[test]
fn pressed_flesh_goes_on_from_a_saved_state_bit_by_bit() {
    let subject = mannequin();
    let (rest, poses) = joints(&subject);
    let mut actor = bind(&subject);
    for (name, pose) in POSES.iter().zip(&poses) {
        advance(&mut actor, &rest, STEP_SECS, 1);
        advance(&mut actor, pose, STEP_SECS, 12);
        let saved = actor.save();
        advance(&mut actor, &rest, STEP_SECS, 3);
        let first = actor.positions().to_vec();
        actor.restore(&saved).expect("its own state");
        advance(&mut actor, &rest, STEP_SECS, 3);
        assert!(actor.positions() == first, "{name}");
    }
}

/// The pose moves on in each frame in turn, and so in every part of the way to the equilibrium.
#[test]
fn a_pose_that_moves_on_while_it_settles_makes_no_jolt() {
    let subject = mannequin();
    let (_, poses) = joints(&subject);
    let range = motion_range(&subject.character.skeleton);
    let bent = range.iter().find(|pose| pose.id == "elbow.l-120");
    let skeleton = &subject.character.skeleton;
    let bent = &bent.expect("an elbow").pose;
    let mut back = skeleton.rest_pose();
    for (local, bent) in back.locals.iter_mut().zip(&bent.locals) {
        // A degree back.
        *local = bent.lerp(local, 1.0 / 120.0);
    }
    let back = skeleton.world_from_joint(&back);
    let (mut actor, mut other) = (bind(&subject), bind(&subject));
    let mut skin = Actor::bind(
        &subject,
        MethodId::DQS,
        &Params::default(),
        &Progress::new(),
    )
    .expect("binds");
    advance(&mut skin, &poses[0], 0.0, 1);
    let before = skin.positions().to_vec();
    advance(&mut skin, &back, 0.0, 1);
    let follows: Vec<Vec3> = moves(skin.positions(), &before);
    advance(&mut actor, &skeleton.bind_transforms(), STEP_SECS, 1);
    advance(&mut actor, &poses[0], STEP_SECS, 30);
    let mut lags = Vec::new();
    while lags.len() < 150 && !(lags.len() > 20 && actor.is_at_rest()) {
        other.restore(&actor.save()).expect("the same flesh");
        advance(&mut other, &back, STEP_SECS, 1);
        let moved = moves(other.positions(), actor.positions());
        let lag = moved.iter().zip(&follows).map(|(a, b)| (a - b).norm());
        lags.push(lag.fold(0.0, f32::max) / subject.size);
        advance(&mut actor, &poses[0], STEP_SECS, 1);
    }
    println!("lag behind dqs, of the size: {lags:?}");
    assert!(actor.is_at_rest());
    let at_rest = lags[lags.len() - 1];
    let most = lags.iter().copied().fold(0.0, f32::max);
    assert!(most < 1.5 * at_rest, "{most:e}, at rest {at_rest:e}");
}

/// Contacts of the calf with the thigh begin, slide and end for half a second after the knee has stopped.
#[test]
fn flesh_in_a_deep_fold_comes_to_rest_without_a_jolt() {
    let subject = mannequin();
    let skeleton = &subject.character.skeleton;
    let range = motion_range(skeleton);
    let knee = range.iter().find(|pose| pose.id == "knee.l-150");
    let knee = &knee.expect("a knee").pose;
    let rest = skeleton.rest_pose();
    let mut actor = bind(&subject);
    let (mut jolts, mut worst) = (Jolts::default(), 0.0_f32);
    for frame in 0..180 {
        let mut pose = rest.clone();
        for (local, bent) in pose.locals.iter_mut().zip(&knee.locals) {
            *local = local.lerp(bent, f64::from(frame.min(120)) / 120.0);
        }
        advance(&mut actor, &skeleton.world_from_joint(&pose), STEP_SECS, 1);
        let jolt = jolts.add(actor.positions());
        if frame > 123 {
            worst = worst.max(jolt);
        }
    }
    let worst = worst / subject.size;
    println!("third difference {worst:.1e} of the size");
    assert!(worst < 6e-4, "{worst:.1e} of the size");
}

fn moves(to: &[Point], from: &[Point]) -> Vec<Vec3> {
    to.iter().zip(from).map(|(to, from)| to - from).collect()
}
