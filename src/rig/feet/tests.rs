//! What must hold of planted feet, the ground and balance.

use std::sync::Arc;

use super::*;
use crate::math::{Affine, Quat};
use crate::rig::ik::tests::human;
use crate::rig::{KeyRef, KeyedClip, Pose};

/// The skin under both feet: a plate from the heel to the toes, at the ground.
fn soles() -> Vec<Point64> {
    let mut skin = Vec::new();
    for x in [-0.14, -0.06, 0.06, 0.14] {
        for z in [-0.06, 0.0, 0.04, 0.08] {
            skin.push(Point64::new(x, 0.0, z));
        }
    }
    skin.push(Point64::new(0.0, 1.7, 0.0));
    skin
}

fn stance(skeleton: &Skeleton) -> Arc<Stance> {
    Arc::new(Stance::of(skeleton, &Vec64::y(), &soles()).unwrap())
}

fn key(clip: &mut KeyedClip, skeleton: &Skeleton, time_secs: f64, edit: impl Fn(&mut Pose)) {
    let mut pose = skeleton.rest_pose();
    edit(&mut pose);
    for (joint, local) in pose.locals.iter().enumerate() {
        clip.set_key(KeyRef::of_joint(joint, time_secs), *local);
    }
}

/// The body leans and walks away while the legs swing.
fn walk(skeleton: &Skeleton) -> KeyedClip {
    let find = |name: &str| skeleton.find(name).unwrap();
    let (hips, left, right) = (find("hips"), find("thigh.L"), find("thigh.R"));
    let mut clip = KeyedClip::new("Walk", 30.0, 2.0);
    key(&mut clip, skeleton, 0.0, |_| {});
    key(&mut clip, skeleton, 1.0, |pose| {
        pose.locals[hips].translation += Vec64::new(0.05, -0.08, 0.15);
        pose.locals[left].rotation = Quat::new(Vec64::x() * -0.4);
        pose.locals[right].rotation = Quat::new(Vec64::x() * 0.3);
    });
    key(&mut clip, skeleton, 2.0, |pose| {
        pose.locals[hips].translation += Vec64::new(0.0, 0.0, 0.6);
    });
    clip
}

fn world_at(clip: &KeyedClip, skeleton: &Skeleton, time_secs: f64) -> Vec<Affine> {
    skeleton.world_from_joint(&clip.sample(skeleton, time_secs))
}

fn lowest(stance: &Stance, world: &[Affine]) -> f64 {
    let points = stance.limbs.iter().flat_map(|limb| &limb.sole);
    points
        .map(|(joint, local)| (world[*joint] * local).y)
        .fold(f64::INFINITY, f64::min)
}

#[test]
fn soles_are_found_under_both_feet() {
    let skeleton = human();
    let stance = stance(&skeleton);
    let legs: Vec<_> = stance
        .limbs
        .iter()
        .filter(|limb| limb.limb.is_leg)
        .collect();
    assert_eq!(legs.len(), 2);
    let world = skeleton.bind_transforms();
    for leg in legs {
        let places: Vec<Point64> = leg
            .sole
            .iter()
            .map(|(j, local)| world[*j] * local)
            .collect();
        let heel = places.iter().map(|p| p.z).fold(f64::INFINITY, f64::min);
        let tip = places.iter().map(|p| p.z).fold(0.0, f64::max);
        assert!(places.iter().all(|p| p.y.abs() < 1e-12), "{places:?}");
        assert!((heel + 0.06).abs() < 1e-12 && (tip - 0.08).abs() < 1e-12);
        let side = origin_of(&world[leg.limb.end]).x;
        assert!(places.iter().all(|p| p.x * side > 0.0), "each foot its own");
    }
    assert!(
        stance
            .limbs
            .iter()
            .any(|limb| !limb.limb.is_leg && limb.sole.is_empty())
    );
}

#[test]
fn a_planted_foot_stays_where_it_is_and_leaves_smoothly() {
    let skeleton = human();
    let foot = skeleton.find("foot.L").unwrap();
    let free = walk(&skeleton);
    let mut held = free.clone();
    let plant = Plant {
        joint: foot,
        from_secs: 0.2,
        to_secs: 1.3,
    };
    held.set_feet(FeetRules::new([plant], false), Some(stance(&skeleton)));
    let first = world_at(&free, &skeleton, 0.2)[foot];
    let mut before: Option<Point64> = None;
    for frame in 0..=240 {
        let time = f64::from(frame) / 120.0;
        let world = world_at(&held, &skeleton, time);
        let moved = (world[foot].to_homogeneous() - first.to_homogeneous())
            .abs()
            .max();
        if plant.contains(time) {
            assert!(moved < 2e-4, "{time} s: {moved}");
        }
        let place = origin_of(&world[foot]);
        if let Some(before) = before {
            assert!((place - before).norm() < 0.03, "no jump at {time} s");
        }
        before = Some(place);
        // After the fade the clip is its own again.
        if time > 1.6 {
            let own = world_at(&free, &skeleton, time);
            assert!((place - origin_of(&own[foot])).norm() < 2e-3, "{time} s");
        }
    }
    assert_eq!(held.keys(foot), free.keys(foot), "keys are not edited");
}

#[test]
fn hips_come_down_where_a_planted_leg_is_too_short() {
    let skeleton = human();
    let (hips, foot) = (
        skeleton.find("hips").unwrap(),
        skeleton.find("foot.L").unwrap(),
    );
    let mut clip = KeyedClip::new("Lunge", 30.0, 1.0);
    key(&mut clip, &skeleton, 0.0, |_| {});
    key(&mut clip, &skeleton, 1.0, |pose| {
        pose.locals[hips].translation += Vec64::new(0.0, 0.0, 0.45);
    });
    let start = origin_of(&world_at(&clip, &skeleton, 0.0)[foot]);
    let plant = Plant {
        joint: foot,
        from_secs: 0.0,
        to_secs: 1.0,
    };
    clip.set_feet(FeetRules::new([plant], true), Some(stance(&skeleton)));
    for frame in 0..=30 {
        let world = world_at(&clip, &skeleton, f64::from(frame) / 30.0);
        assert!(
            (origin_of(&world[foot]) - start).norm() < 6e-4,
            "frame {frame}"
        );
    }
    let end = origin_of(&world_at(&clip, &skeleton, 1.0)[hips]);
    assert!(end.y < 0.95, "the hips came down: {end}");
    assert!((end.z - 0.45).abs() < 1e-9, "and went where they should");
}

#[test]
fn soles_do_not_sink_between_keys_and_rest_is_kept_exactly() {
    let skeleton = human();
    let stance = stance(&skeleton);
    let find = |name: &str| skeleton.find(name).unwrap();
    let mut clip = KeyedClip::new("Squat", 30.0, 1.0);
    key(&mut clip, &skeleton, 0.0, |_| {});
    key(&mut clip, &skeleton, 1.0, |pose| {
        pose.locals[find("hips")].translation += Vec64::new(0.0, -0.4, -0.1);
        for side in ["L", "R"] {
            let turn = |angle: f64| Quat::new(Vec64::x() * angle);
            pose.locals[find(&format!("thigh.{side}"))].rotation = turn(-1.3);
            pose.locals[find(&format!("shin.{side}"))].rotation = turn(1.9);
            pose.locals[find(&format!("foot.{side}"))].rotation = turn(-0.3);
        }
    });
    let depth = |clip: &KeyedClip| {
        let heights = (0..=60).map(|frame| {
            let world = world_at(clip, &skeleton, f64::from(frame) / 60.0);
            lowest(&stance, &world)
        });
        heights.fold(f64::INFINITY, f64::min)
    };
    assert!(
        depth(&clip) < -0.02,
        "without the rule it sinks: {}",
        depth(&clip)
    );
    clip.set_feet(FeetRules::new([], true), Some(stance.clone()));
    assert!(depth(&clip) > -1e-4, "{}", depth(&clip));

    let mut still = KeyedClip::new("Still", 30.0, 1.0);
    key(&mut still, &skeleton, 0.0, |_| {});
    let free = still.clip().clone();
    still.set_feet(FeetRules::new([], true), Some(stance));
    assert_eq!(*still.clip(), free, "a foot on the ground is left alone");
}

#[test]
fn standing_feet_are_found() {
    let skeleton = human();
    let (hips, foot) = (
        skeleton.find("hips").unwrap(),
        skeleton.find("thigh.R").unwrap(),
    );
    let mut clip = KeyedClip::new("Step", 30.0, 2.0);
    key(&mut clip, &skeleton, 0.0, |_| {});
    key(&mut clip, &skeleton, 1.0, |_| {});
    key(&mut clip, &skeleton, 1.2, |pose| {
        pose.locals[foot].rotation = Quat::new(Vec64::x() * -0.9);
        pose.locals[hips].translation += Vec64::new(0.0, 0.0, 0.5);
    });
    let stands = stance(&skeleton).standing_feet(clip.clip());
    assert!(!stands.is_empty());
    let first = stands.iter().filter(|plant| plant.from_secs < 1e-9);
    assert_eq!(first.clone().count(), 2, "both feet stand at the start");
    assert!(
        first
            .clone()
            .all(|plant| (0.9..1.15).contains(&plant.to_secs)),
        "{stands:?}"
    );
}

#[test]
fn rules_are_sorted_joined_and_kept_in_files() {
    let plant = |joint, from_secs, to_secs| Plant {
        joint,
        from_secs,
        to_secs,
    };
    let rules = FeetRules::new(
        [
            plant(3, 1.0, 2.0),
            plant(2, 0.0, 0.5),
            plant(3, 1.5, 3.0),
            plant(3, f64::NAN, 3.0),
            plant(2, 5.0, 4.0),
        ],
        true,
    );
    assert_eq!(rules.plants(), [plant(2, 0.0, 0.5), plant(3, 1.0, 3.0)]);
    assert_eq!(rules.without(&plant(2, 0.0, 0.5)).plants().len(), 1);
    let skeleton = human();
    let mut clip = walk(&skeleton);
    clip.set_feet(rules.clone(), None);
    let read = KeyedClip::from_file(&clip.to_file(&skeleton), &skeleton).unwrap();
    assert_eq!(read, clip);
    assert_eq!(*read.feet(), rules);
}

#[test]
fn balance_brings_the_centre_of_mass_above_the_feet() {
    let skeleton = human();
    let stance = stance(&skeleton);
    let find = |name: &str| skeleton.find(name).unwrap();
    let rest = skeleton.rest_pose();
    assert!(stance.imbalance(&rest).unwrap() < 0.01, "rest is balanced");
    let mut bow = rest.clone();
    bow.locals[find("spine")].rotation = Quat::new(Vec64::x() * 1.2);
    let before = stance.imbalance(&bow).unwrap();
    assert!(before > 0.02, "{before}");
    let mut balanced = bow.clone();
    stance.balance(&mut balanced);
    assert!(stance.imbalance(&balanced).unwrap() < 1e-3);
    let (was, is) = (
        skeleton.world_from_joint(&bow),
        skeleton.world_from_joint(&balanced),
    );
    for name in ["foot.L", "foot.R"] {
        let moved = (was[find(name)].to_homogeneous() - is[find(name)].to_homogeneous())
            .abs()
            .max();
        assert!(moved < 1e-6, "{name} stays: {moved}");
    }
    assert!(origin_of(&is[0]).z < -0.03, "the hips went back");
    assert_eq!(
        balanced.locals[find("spine")].rotation,
        bow.locals[find("spine")].rotation
    );
    // Once balanced, nothing more happens.
    let mut again = balanced.clone();
    stance.balance(&mut again);
    let apart = (origin_of(&skeleton.world_from_joint(&again)[0]) - origin_of(&is[0])).norm();
    assert!(apart < 2e-3, "{apart}");
}
