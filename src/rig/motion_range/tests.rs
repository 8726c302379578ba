//! The range of motion of made-up bodies.

mod animals;

use std::collections::BTreeSet;

use super::*;
use crate::math::{Affine, Point64, origin_of};
use crate::rig::Joint;

const TOL: f64 = 1e-6;

/// Arms below the horizontal, radians; the rotation of the whole body; rotations of the joints' own axes; names.
#[derive(Clone, Copy)]
struct Build {
    arms_down: f64,
    turn: Vec64,
    axes: f64,
    mixamo: bool,
}

const PLAIN: Build = Build {
    arms_down: 0.0,
    turn: Vec64::new(0.0, 0.0, 0.0),
    axes: 0.0,
    mixamo: false,
};

/// A person who looks along +Z, with fingers of the left hand.
fn person(build: Build) -> Skeleton {
    let mut joints: Vec<(String, Option<usize>, Vec64)> = Vec::new();
    let mut add = |names: [&str; 2], parent: Option<usize>, at: [f64; 3]| {
        let name = names[usize::from(build.mixamo)].to_owned();
        joints.push((name, parent, Vec64::from(at)));
        joints.len() - 1
    };
    let hips = add(["hips", "mixamorig:Hips"], None, [0.0, 0.95, 0.0]);
    let spine = add(["spine.1", "mixamorig:Spine"], Some(hips), [0.0, 1.1, 0.0]);
    let chest = add(
        ["spine.2", "mixamorig:Spine1"],
        Some(spine),
        [0.0, 1.3, 0.0],
    );
    let neck = add(["neck", "mixamorig:Neck"], Some(chest), [0.0, 1.5, 0.0]);
    add(["head", "mixamorig:Head"], Some(neck), [0.0, 1.6, 0.02]);
    for (side, mixamo, sign) in [("L", "Left", 1.0), ("R", "Right", -1.0)] {
        let (sin, cos) = build.arms_down.sin_cos();
        let along = |far: f64| [sign * (0.18 + far * cos), 1.42 - far * sin, 0.0];
        let mut limb = |name: &str, of_mixamo: &str, parent: usize, at: [f64; 3]| {
            let name = format!("{name}.{side}");
            let of_mixamo = format!("mixamorig:{mixamo}{of_mixamo}");
            add([&name, &of_mixamo], Some(parent), at)
        };
        let clavicle = limb("clavicle", "Shoulder", chest, [sign * 0.04, 1.4, 0.0]);
        let arm = limb("upper_arm", "Arm", clavicle, along(0.0));
        let forearm = limb("forearm", "ForeArm", arm, along(0.3));
        let hand = limb("hand", "Hand", forearm, along(0.55));
        for (digit, mixamo, z) in [("index", "Index", 0.03), ("little", "Pinky", -0.03)] {
            let mut parent = hand;
            for k in 1..=3 {
                let mut at = along(0.6 + 0.03 * f64::from(k));
                at[2] = z;
                parent = limb(
                    &format!("{digit}.{k}"),
                    &format!("Hand{mixamo}{k}"),
                    parent,
                    at,
                );
            }
        }
        let thigh = limb("thigh", "UpLeg", hips, [sign * 0.1, 0.92, 0.0]);
        let shin = limb("shin", "Leg", thigh, [sign * 0.1, 0.5, 0.0]);
        let foot = limb("foot", "Foot", shin, [sign * 0.1, 0.08, 0.0]);
        limb("toe", "ToeBase", foot, [sign * 0.1, 0.02, 0.12]);
    }
    let body = Quat::new(build.turn);
    let placed = joints
        .iter()
        .map(|(name, parent, at)| (name.clone(), *parent, Point64::from(body * at)))
        .collect::<Vec<_>>();
    with_axes(&Skeleton::from_positions(&placed).unwrap(), build.axes)
}

/// The same skeleton with every joint's axes rotated by another angle.
fn with_axes(skeleton: &Skeleton, angle: f64) -> Skeleton {
    let axes = |joint: usize| Quat::new(Vec64::new(1.0, -2.0, 0.5) * (angle * (joint + 1) as f64));
    let joints = skeleton.joints().iter().enumerate().map(|(index, joint)| {
        let parent = joint.parent.map_or_else(Quat::identity, axes);
        Joint {
            rest: crate::rig::Trs {
                translation: parent.inverse() * joint.rest.translation,
                rotation: parent.inverse() * axes(index),
                ..joint.rest
            },
            world_from_bind: joint.world_from_bind * nalgebra::convert::<_, Affine>(axes(index)),
            ..joint.clone()
        }
    });
    Skeleton::new(joints.collect()).unwrap()
}

/// Positions of all joints in a pose.
fn places(skeleton: &Skeleton, pose: &Pose) -> Vec<Vec64> {
    let world = skeleton.world_from_joint(pose);
    world.iter().map(|joint| origin_of(joint).coords).collect()
}

fn find<'a>(range: &'a [RangePose], id: &str) -> &'a RangePose {
    let known: Vec<&str> = range.iter().map(|pose| pose.id.as_str()).collect();
    range
        .iter()
        .find(|pose| pose.id == id)
        .unwrap_or_else(|| panic!("no {id} in {known:?}"))
}

fn at(skeleton: &Skeleton, pose: &RangePose, name: &str) -> Vec64 {
    places(skeleton, &pose.pose)[skeleton.find(name).unwrap()]
}

#[test]
fn limbs_bend_by_the_angle_and_to_the_right_side() {
    let skeleton = person(PLAIN);
    let range = motion_range(&skeleton);
    for (id, joints, front) in [
        ("elbow.l", ["upper_arm.L", "forearm.L", "hand.L"], 1.0),
        ("knee.l", ["thigh.L", "shin.L", "foot.L"], -1.0),
    ] {
        for degrees in [30.0, 60.0, 90.0, 120.0, 150.0_f64] {
            let pose = find(&range, &format!("{id}-{degrees}"));
            let [a, b, c] = joints.map(|name| at(&skeleton, pose, name));
            let angle = (b - a).angle(&(c - b));
            assert!(
                (angle - degrees.to_radians()).abs() < TOL,
                "{id} {degrees}: {angle}"
            );
            assert!(
                (c - b).z * front > 0.05,
                "{id} {degrees} bends to the wrong side"
            );
        }
    }
}

#[test]
fn movements_go_where_their_names_say() {
    let skeleton = person(PLAIN);
    let range = motion_range(&skeleton);
    let rest = places(&skeleton, &skeleton.rest_pose());
    let moved = |id: &str, joint: &str| {
        at(&skeleton, find(&range, id), joint) - rest[skeleton.find(joint).unwrap()]
    };
    assert!(moved("hip.l-90", "shin.L").z > 0.3, "thighs go forward");
    assert!(moved("hip.l--20", "shin.L").z < -0.1);
    assert!(moved("hip-side.l-40", "shin.L").x > 0.1, "to the outside");
    assert!(moved("spine-60", "head").z > 0.2, "the spine bends forward");
    assert!(moved("neck-50", "head").z > 0.02);
    assert!(moved("foot.l-40", "toe.L").y < -0.03, "toes are pointed");
    let sitting = find(&range, "sit-90");
    let [hip, knee, ankle] =
        ["thigh.R", "shin.R", "foot.R"].map(|name| at(&skeleton, sitting, name));
    assert!((knee.y - hip.y).abs() < TOL && (ankle - knee).normalize().y < -0.999);
    assert!(
        moved("fist.l-80", "index.3.L").y < -0.02,
        "fingers curl to the palm, which faces down"
    );
    // The twist leaves the hand where it is.
    assert!(moved("forearm-twist.l-90", "hand.L").norm() < TOL);
    assert!(moved("forearm-twist.l-90", "index.1.L").norm() > 0.01);
}

#[test]
fn arms_reach_the_same_elevations_from_any_rest_pose() {
    for arms_down in [0.0, 0.7, 1.3] {
        let skeleton = person(Build { arms_down, ..PLAIN });
        let range = motion_range(&skeleton);
        for (id, target) in [
            ("arm-side.l-0", Vec64::x()),
            ("arm-front.l-0", Vec64::z()),
            (
                "arm-side.l-80",
                Vec64::new(10_f64.to_radians().sin(), 10_f64.to_radians().cos(), 0.0),
            ),
        ] {
            let pose = find(&range, id);
            let along = at(&skeleton, pose, "forearm.L") - at(&skeleton, pose, "upper_arm.L");
            assert!(
                (along.normalize() - target).norm() < TOL,
                "{id} from {arms_down}"
            );
        }
    }
}

#[test]
fn poses_depend_on_the_body_and_not_on_its_file() {
    let build = Build {
        arms_down: 0.6,
        ..PLAIN
    };
    let plain = person(build);
    let range = motion_range(&plain);
    assert!((50..=75).contains(&range.len()), "{} poses", range.len());
    let turn = Vec64::new(-std::f64::consts::FRAC_PI_2, 0.3, 0.0);
    for other in [
        Build { axes: 0.9, ..build },
        Build {
            mixamo: true,
            ..build
        },
        Build { turn, ..build },
    ] {
        let skeleton = person(other);
        let same = motion_range(&skeleton);
        let ids =
            |range: &[RangePose]| range.iter().map(|pose| pose.id.clone()).collect::<Vec<_>>();
        assert_eq!(ids(&range), ids(&same));
        for (a, b) in range.iter().zip(&same) {
            let expected = places(&plain, &a.pose);
            let found = places(&skeleton, &b.pose);
            let apart = expected
                .iter()
                .zip(&found)
                .map(|(p, q)| (Quat::new(other.turn) * p - q).norm())
                .fold(0.0, f64::max);
            assert!(apart < TOL, "{}: {apart}", a.id);
        }
    }
}

#[test]
fn ids_are_unique_and_poses_of_a_movement_follow_each_other() {
    for skeleton in [person(PLAIN), chain(6)] {
        let range = motion_range(&skeleton);
        let ids: BTreeSet<&str> = range.iter().map(|pose| pose.id.as_str()).collect();
        assert_eq!(ids.len(), range.len());
        let movements: BTreeSet<&str> = range.iter().map(|pose| pose.movement.as_str()).collect();
        let runs = range.chunk_by(|a, b| a.movement == b.movement);
        assert_eq!(movements.len(), runs.clone().count());
        for run in runs {
            assert!(
                run.windows(2)
                    .all(|pair| pair[0].angle_deg < pair[1].angle_deg)
            );
        }
    }
}

#[test]
fn a_lone_arm_needs_no_side_in_its_names() {
    let joints: Vec<_> = ["upper_arm", "forearm", "hand"]
        .into_iter()
        .enumerate()
        .map(|(index, name)| {
            let at = Point64::new(0.3 * index as f64, 0.0, 0.0);
            (name.to_owned(), index.checked_sub(1), at)
        })
        .collect();
    let skeleton = Skeleton::from_positions(&joints).unwrap();
    let range = motion_range(&skeleton);
    let bent = find(&range, "elbow-90");
    assert_eq!(bent.movement, "Elbow");
    let [a, b, c] = ["upper_arm", "forearm", "hand"].map(|name| at(&skeleton, bent, name));
    assert!(((b - a).angle(&(c - b)) - 90_f64.to_radians()).abs() < TOL);
    find(&range, "forearm-twist-170");
}

#[test]
fn a_leg_in_the_middle_is_no_finger_and_one_of_each_pair_moves() {
    let mut joints = vec![("body".to_owned(), None, Point64::new(0.0, 1.0, 0.0))];
    for (side, sign) in [("L", 1.0), ("R", -1.0)] {
        for (row, z) in [("Mid1Leg", 0.2), ("Mid2Leg", -0.2)] {
            let mut parent = 0;
            for k in 0..3 {
                let x = sign * (0.2 + 0.3 * f64::from(k));
                joints.push((
                    format!("{row}{k}.{side}"),
                    Some(parent),
                    Point64::new(x, 1.0, z),
                ));
                parent = joints.len() - 1;
            }
        }
    }
    let skeleton = Skeleton::from_positions(&joints).unwrap();
    let range = motion_range(&skeleton);
    assert!(!range.is_empty());
    for pose in &range {
        assert!(!pose.id.starts_with("fist"), "{}", pose.id);
        assert!(!pose.movement.contains(".R"), "{}", pose.movement);
    }
}

#[test]
fn wrists_bend_towards_the_palm() {
    for arms_down in [0.0, 1.2] {
        let skeleton = person(Build { arms_down, ..PLAIN });
        let range = motion_range(&skeleton);
        let rest = places(&skeleton, &skeleton.rest_pose());
        let finger = skeleton.find("index.3.L").unwrap();
        let moved = at(&skeleton, find(&range, "wrist.l-60"), "index.3.L") - rest[finger];
        // Down with arms to the sides, towards the body with hanging arms.
        assert!(
            moved.x < 0.0 && moved.y < 0.05 && moved.norm() > 0.05,
            "{moved:?}"
        );
        assert!(moved.z.abs() < 0.01, "not to the side of the thumb");
    }
}

#[test]
fn human_limits_let_fists_close_and_keep_fingers_from_spreading() {
    let skeleton = person(PLAIN);
    let limits = crate::rig::human_limits(&skeleton);
    let range = motion_range(&skeleton);
    for id in ["fist.l-80", "wrist.l-60", "wrist.l--60", "foot.l-40"] {
        let pose = find(&range, id);
        let mut clamped = pose.pose.clone();
        crate::rig::limits::clamp_pose(&skeleton, &limits, &mut clamped);
        for (a, b) in clamped.locals.iter().zip(&pose.pose.locals) {
            assert!(a.rotation.angle_to(&b.rotation) < 0.01, "{id}");
        }
    }
    let finger = skeleton.find("index.2.L").unwrap();
    let mut spread = skeleton.rest_pose();
    spread.rotate_about_world_axes(&skeleton, finger, &Quat::new(Vec64::y() * 0.5));
    crate::rig::limits::clamp_pose(&skeleton, &limits, &mut spread);
    assert!(spread.locals[finger].rotation.angle() < 0.1);
}

fn chain(count: usize) -> Skeleton {
    let joints: Vec<_> = (0..count)
        .map(|index| {
            let parent = index.checked_sub(1);
            (
                format!("thing{index}"),
                parent,
                Point64::new(index as f64, 0.0, 0.0),
            )
        })
        .collect();
    Skeleton::from_positions(&joints).unwrap()
}

#[test]
fn unknown_and_degenerate_skeletons_are_tolerated() {
    assert!(motion_range(&Skeleton::default()).is_empty());
    assert!(motion_range(&chain(1)).is_empty());
    for skeleton in [chain(2), chain(3), chain(40)] {
        let range = motion_range(&skeleton);
        assert!(!range.is_empty());
        for pose in &range {
            assert!(
                places(&skeleton, &pose.pose)
                    .iter()
                    .all(|p| p.iter().all(|c| c.is_finite()))
            );
        }
    }
    let at_one_point: Vec<_> = (0..5)
        .map(|index: usize| (format!("j{index}"), index.checked_sub(1), Point64::origin()))
        .collect();
    assert!(motion_range(&Skeleton::from_positions(&at_one_point).unwrap()).is_empty());
}
