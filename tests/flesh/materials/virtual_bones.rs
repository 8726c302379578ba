//! Bones that hold nothing.

use std::sync::Arc;

use sinew::dynamics::{Params, Preset};
use sinew::math::{Affine, Point, Quat, Vec64};
use sinew::methods::{Actor, Subject};

use super::{actor, advance, calm, character, flesh, heavy, with_bones, worst};

/// The gecko with a tail that nothing holds from its second joint on.
fn with_virtual_tail(more: &str) -> Arc<Subject> {
    let edit = format!("virtual{more}");
    let tail: Vec<String> = (2..=6).map(|joint| format!("tail.{joint}")).collect();
    let edits: Vec<(&str, &str)> = tail
        .iter()
        .map(|joint| (joint.as_str(), edit.as_str()))
        .collect();
    with_bones("gecko", &edits)
}

fn tail_tip(subject: &Subject, actor: &Actor) -> Point {
    let positions = actor.positions();
    let tip = (0..positions.len()).min_by(|&a, &b| {
        subject.bind_positions[a]
            .z
            .total_cmp(&subject.bind_positions[b].z)
    });
    positions[tip.expect("vertices")]
}

#[test]
fn virtual_bones_rest_and_move_rigidly_like_others() {
    let subject = with_virtual_tail("");
    let skeleton = &subject.character.skeleton;
    let rest = skeleton.world_from_joint(&skeleton.rest_pose());
    let mut actor = actor(&subject, &calm(Preset::Jelly));
    for frame in 0..60 {
        advance(&mut actor, &rest, if frame == 0 { 0.0 } else { 1.0 / 60.0 });
    }
    let moved = worst(actor.positions(), &subject.bind_positions);
    assert!(
        moved < 1e-6 * subject.size,
        "{} of the size",
        moved / subject.size
    );
    let motion = sinew::rig::Trs {
        rotation: Quat::from_euler_angles(0.5, 2.0, -1.0),
        ..sinew::rig::Trs::at(Vec64::new(1.0, 2.0, 3.0))
    };
    let world: Vec<Affine> = rest
        .iter()
        .map(|joint| motion.to_affine() * joint)
        .collect();
    advance(&mut actor, &world, 0.0);
    let wanted: Vec<Point> = subject
        .bind_positions
        .iter()
        .map(|p| sinew::math::transform_point(&motion.to_affine(), p))
        .collect();
    let apart = worst(actor.positions(), &wanted);
    assert!(
        apart < 2e-5 * subject.size,
        "{} of the size",
        apart / subject.size
    );
}

/// It hangs under gravity, less if stiffer; swings when the body turns; and is back when all is over.
#[test]
fn a_virtual_tail_hangs_swings_and_returns() {
    let subject = with_virtual_tail("");
    let skeleton = &subject.character.skeleton;
    let rest = skeleton.world_from_joint(&skeleton.rest_pose());
    let drop = |subject: &Arc<Subject>| {
        let mut actor = actor(subject, &heavy(calm(Preset::Natural)));
        advance(&mut actor, &rest, 0.0);
        (tail_tip(subject, &actor).y - tail_tip_at_rest(subject).y) / subject.size
    };
    let (plain, stiff) = (drop(&subject), drop(&with_virtual_tail(",stiffness:20")));
    println!("the tail hangs {plain} of the size, stiffer {stiff}");
    assert!(
        plain < -0.02 && stiff < 0.0 && stiff > 0.5 * plain,
        "{plain}, stiff {stiff}"
    );

    let mut actor = actor(&subject, &calm(Preset::Natural));
    advance(&mut actor, &rest, 0.0);
    let mut largest = 0.0_f32;
    for frame in 0..240 {
        let time = f64::from(frame) / 60.0;
        let angle = 0.5 * (6.0 * time).sin() * f64::from(u8::from(time < 1.5));
        let motion = sinew::rig::Trs {
            rotation: Quat::from_euler_angles(0.0, angle, 0.0),
            ..sinew::rig::Trs::IDENTITY
        }
        .to_affine();
        let world: Vec<Affine> = rest.iter().map(|joint| motion * joint).collect();
        advance(&mut actor, &world, 1.0 / 60.0);
        let rigid = sinew::math::transform_point(&motion, &tail_tip_at_rest(&subject));
        largest = largest.max((tail_tip(&subject, &actor) - rigid).norm());
    }
    assert!(
        largest > 0.03 * subject.size,
        "it swings: {}",
        largest / subject.size
    );
    for _ in 0..1200 {
        advance(&mut actor, &rest, 1.0 / 60.0);
    }
    let left = worst(actor.positions(), &subject.bind_positions);
    assert!(
        left < 1e-3 * subject.size,
        "{} of the size is left",
        left / subject.size
    );
}

fn tail_tip_at_rest(subject: &Subject) -> Point {
    *subject
        .bind_positions
        .iter()
        .min_by(|a, b| a.z.total_cmp(&b.z))
        .expect("vertices")
}

/// Where swinging ends, settling begins.
#[test]
fn a_virtual_tail_settles_where_it_swings_to() {
    let subject = with_virtual_tail(",stiffness:3");
    let skeleton = &subject.character.skeleton;
    let rest = skeleton.world_from_joint(&skeleton.rest_pose());
    let params = heavy(Params {
        damping_per_s: 10.0,
        ..calm(Preset::Natural)
    });
    let (mut settled, mut swinging) = (
        actor(&subject, &params),
        actor(
            &subject,
            &Params {
                damping_per_s: 10.0,
                ..calm(Preset::Natural)
            },
        ),
    );
    let start = std::time::Instant::now();
    advance(&mut settled, &rest, 0.0);
    println!("settled in {:?}", start.elapsed());
    advance(&mut swinging, &rest, 0.0);
    swinging.set_params(&params).expect("factors");
    for _ in 0..600 {
        advance(&mut swinging, &rest, 1.0 / 60.0);
    }
    let apart = worst(settled.positions(), swinging.positions());
    assert!(
        apart < 2e-3 * subject.size,
        "{} of the size",
        apart / subject.size
    );
}

/// Nothing holds anything: the skeleton hangs on its first joint. And wild poses, time steps and stiffnesses leave it finite.
#[test]
fn all_bones_virtual_and_wild_poses_stay_finite() {
    let all: Vec<String> = character("arm")
        .skeleton
        .joints()
        .iter()
        .map(|joint| joint.name.clone())
        .collect();
    let edits: Vec<(&str, &str)> = all.iter().map(|name| (name.as_str(), "virtual")).collect();
    let subject = with_bones("arm", &edits);
    let skeleton = &subject.character.skeleton;
    for (stiffness_pa, time_step_secs) in [(1.0, 1.0 / 15.0), (2e4, 1.0 / 240.0), (1e9, 1.0 / 60.0)]
    {
        let params = heavy(Params {
            stiffness_pa,
            time_step_secs,
            ..calm(Preset::Jelly)
        });
        let mut actor = actor(&subject, &params);
        let mut pose = skeleton.rest_pose();
        for frame in 0..60 {
            for (joint, local) in pose.locals.iter_mut().enumerate() {
                let seed = f64::from(frame / 5) * 7.3 + joint as f64;
                local.rotation = Quat::from_euler_angles(
                    3.0 * seed.sin(),
                    3.0 * (1.3 * seed).cos(),
                    3.0 * (1.7 * seed).sin(),
                );
            }
            advance(
                &mut actor,
                &skeleton.world_from_joint(&pose),
                if frame == 0 { 0.0 } else { 1.0 / 30.0 },
            );
            assert!(
                actor
                    .positions()
                    .iter()
                    .all(|p| p.iter().all(|c| c.is_finite()))
            );
        }
    }
}

/// Virtual between two bones that hold: it goes from one to the other.
#[test]
fn a_virtual_bone_between_two_others_follows_both() {
    let subject = with_bones("mannequin", &[("forearm.L", "virtual")]);
    let skeleton = &subject.character.skeleton;
    let hand = skeleton.find("hand.L").expect("a hand");
    let mut pose = skeleton.rest_pose();
    pose.locals[hand].translation *= 1.2;
    let world = skeleton.world_from_joint(&pose);
    let mut actor = actor(&subject, &calm(Preset::Natural));
    advance(&mut actor, &world, 0.0);
    let tissue = &flesh(&subject).tissue;
    let base = actor.projective().expect("simulated").simulation().base();
    for &[i, j, _] in &subject.sim().mesh.triangles {
        let (i, j) = (i as usize, j as usize);
        let (before, after) = (
            (tissue.base[i] - tissue.base[j]).norm(),
            f64::from((base[i] - base[j]).norm()),
        );
        assert!(
            after < 1.7 * before + 5e-4 * f64::from(subject.size),
            "{after} after {before}"
        );
    }
}
