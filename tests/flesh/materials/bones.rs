//! Bones that hold, stretch, twist and scale.

use sinew::dynamics::Preset;
use sinew::math::{Quat, Vec64};
use sinew::methods::{Actor, Frame, MethodId, Subject};
use sinew::progress::Progress;

use super::{build, character, flesh, heavy, place, with_bones};

/// The held head is where the head joint puts it, to rounding; the neck feels it.
#[test]
fn a_held_region_is_rigid_with_its_bone() {
    let subject = with_bones("mannequin", &[("head", "held")]);
    let skeleton = &subject.character.skeleton;
    let head = skeleton.find("head").expect("a head");
    let tissue = &flesh(&subject).tissue;
    let is_head = |vertex: &u32| {
        tissue.graph.bones[tissue.foot_bones[*vertex as usize] as usize].joint == head
    };
    let held: Vec<u32> = tissue.carried.iter().copied().filter(is_head).collect();
    assert!(held.len() > 30, "{} vertices", held.len());
    // Also where the chin touches the chest.
    let mut actor = Actor::bind(
        &subject,
        MethodId::PD,
        &heavy(Preset::Jelly.params()),
        &Progress::new(),
    )
    .expect("binds");
    let mut pose = skeleton.rest_pose();
    let mut rigid = 0.0_f32;
    for frame in 0..40 {
        pose.rotate_about_world_axes(skeleton, head, &Quat::from_euler_angles(0.03, 0.02, -0.01));
        pose.locals[0].translation += Vec64::new(0.01, 0.02, 0.0);
        let world = skeleton.world_from_joint(&pose);
        // A whole number of steps, so that the skin shown is the skin simulated.
        actor
            .advance(&Frame {
                world_from_joint: &world,
                dt_secs: if frame == 0 { 0.0 } else { 1.0 / 60.0 },
            })
            .expect("moves");
        let posed = world[head] * skeleton.joints()[head].world_from_bind.inverse();
        let simulated = actor
            .projective()
            .expect("simulated")
            .simulation()
            .positions();
        for &vertex in &held {
            let wanted = posed * subject.sim().mesh.positions[vertex as usize].cast::<f64>();
            rigid = rigid.max((simulated[vertex as usize].cast::<f64>() - wanted).norm() as f32);
        }
    }
    assert!(
        rigid < 1e-6 * subject.size,
        "{} of the size",
        rigid / subject.size
    );
}

/// The forearm is pulled 30 % longer by moving the hand along it: base and skin stay attached at both ends, and the base between is
/// stretched evenly.
#[test]
fn a_stretched_bone_stays_attached_at_both_ends() {
    let subject = build(character("mannequin"));
    let skeleton = &subject.character.skeleton;
    let (forearm, hand) = (
        skeleton.find("forearm.L").expect("a forearm"),
        skeleton.find("hand.L").expect("a hand"),
    );
    let mut pose = skeleton.rest_pose();
    pose.locals[hand].translation *= 1.3;
    let base = place(&subject, &skeleton.world_from_joint(&pose));
    let tissue = &flesh(&subject).tissue;
    let (a, b) = (
        skeleton.bind_position(forearm),
        skeleton.bind_position(hand),
    );
    let axis = (b - a).normalize();
    let length = (b - a).norm();
    let longer = 0.3 * length;
    let mut seen = 0;
    for (vertex, (moved, rest)) in base.iter().zip(&tissue.base).enumerate() {
        let joint = tissue.graph.bones[tissue.foot_bones[vertex] as usize].joint;
        let moved = moved.cast::<f64>() - rest;
        let along = (rest - a).dot(&axis) / length;
        if joint == forearm && (0.0..=1.0).contains(&along) {
            seen += 1;
            assert!(
                (moved - axis * (longer * along)).norm() < 0.03 * length,
                "vertex {vertex} at {along}: {moved}"
            );
        } else if joint == hand && along > 1.2 {
            assert!(
                (moved - axis * longer).norm() < 1e-5 * length,
                "the hand goes with its joint"
            );
        }
    }
    assert!(seen > 50);
    // No edge of the base is torn: none gets longer by more than the bone did.
    for &[i, j, _] in &subject.sim().mesh.triangles {
        let (i, j) = (i as usize, j as usize);
        let (before, after) = (
            (tissue.base[i] - tissue.base[j]).norm(),
            f64::from((base[i] - base[j]).norm()),
        );
        assert!(
            after < 1.6 * before + 1e-3 * length,
            "{after} after {before}"
        );
    }
}

/// A joint that is scaled takes the base with it, bones and joint spheres included.
#[test]
fn a_scaled_joint_scales_its_base() {
    let subject = build(character("mannequin"));
    let skeleton = &subject.character.skeleton;
    let root = (0..skeleton.len())
        .find(|&joint| skeleton.joints()[joint].parent.is_none())
        .expect("a root");
    let mut pose = skeleton.rest_pose();
    let center = skeleton.bind_position(root);
    pose.locals[root].scale *= 0.5;
    let base = place(&subject, &skeleton.world_from_joint(&pose));
    for (moved, rest) in base.iter().zip(&flesh(&subject).tissue.base) {
        let wanted = center + (rest - center) * 0.5;
        assert!((moved.cast::<f64>() - wanted).norm() < 1e-5 * f64::from(subject.size));
    }
}

/// The hand turned about the forearm: without the setting the forearm's base stays with the elbow up to the ring, with it the turn
/// grows evenly.
#[test]
fn a_twisting_bone_distributes_the_rotation() {
    let joint = "forearm.L";
    let angle = 1.2;
    let turn_at = |subject: &Subject, part: f64| {
        let skeleton = &subject.character.skeleton;
        let (forearm, hand) = (
            skeleton.find(joint).expect("a forearm"),
            skeleton.find("hand.L").expect("a hand"),
        );
        let (a, b) = (
            skeleton.bind_position(forearm),
            skeleton.bind_position(hand),
        );
        let axis = nalgebra::Unit::new_normalize(b - a);
        let mut pose = skeleton.rest_pose();
        pose.rotate_about_world_axes(skeleton, hand, &Quat::from_axis_angle(&axis, angle));
        let base = place(subject, &skeleton.world_from_joint(&pose));
        let tissue = &flesh(subject).tissue;
        let around = |p: &nalgebra::Point3<f64>| {
            let from_axis = p - a;
            from_axis - *axis * from_axis.dot(&axis)
        };
        let mut turns: Vec<f64> = Vec::new();
        for (vertex, (moved, rest)) in base.iter().zip(&tissue.base).enumerate() {
            let along = (rest - a).dot(&axis) / (b - a).norm();
            if tissue.graph.bones[tissue.foot_bones[vertex] as usize].joint == forearm
                && (along - part).abs() < 0.05
            {
                let (old, new) = (around(rest), around(&moved.cast::<f64>()));
                turns.push(old.cross(&new).dot(&axis).atan2(old.dot(&new)));
            }
        }
        assert!(!turns.is_empty());
        turns.sort_by(f64::total_cmp);
        turns[turns.len() / 2] / angle
    };
    let (plain, twisting) = (
        build(character("mannequin")),
        with_bones("mannequin", &[(joint, "twist")]),
    );
    assert!(turn_at(&plain, 0.5).abs() < 1e-3);
    for part in [0.5, 0.7] {
        let turn = turn_at(&twisting, part);
        assert!((turn - part).abs() < 0.1, "{turn} at {part}");
    }
}
