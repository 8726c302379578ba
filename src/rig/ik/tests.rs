//! Property tests of drags.

mod limits;
mod pins;

use super::*;
use crate::math::{Point64, Quat, Vec64, origin_of};
use crate::rig::limits::{Limit, LimitMap};
use crate::rig::{Pose, Skeleton};

/// A human of 24 joints in a T-pose, height 1.7, facing +Z.
pub(in crate::rig) fn human() -> Skeleton {
    let p = Point64::new;
    let mut joints = vec![
        ("hips".to_owned(), None, p(0.0, 1.0, 0.0)),
        ("spine".to_owned(), Some(0), p(0.0, 1.1, 0.0)),
        ("chest".to_owned(), Some(1), p(0.0, 1.25, 0.0)),
        ("neck".to_owned(), Some(2), p(0.0, 1.5, 0.0)),
        ("head".to_owned(), Some(3), p(0.0, 1.6, 0.02)),
    ];
    for (side, x) in [("L", 1.0), ("R", -1.0)] {
        let first = joints.len();
        let arm = [
            ("clavicle", 0.04, 1.45),
            ("upper_arm", 0.18, 1.45),
            ("forearm", 0.46, 1.45),
            ("hand", 0.72, 1.45),
            ("index", 0.8, 1.45),
        ];
        for (i, (name, at, y)) in arm.into_iter().enumerate() {
            let parent = if i == 0 { 2 } else { first + i - 1 };
            joints.push((format!("{name}.{side}"), Some(parent), p(at * x, y, 0.0)));
        }
        joints.push((
            format!("index2.{side}"),
            Some(first + 4),
            p(0.84 * x, 1.45, 0.0),
        ));
        let first = joints.len();
        let leg = [
            ("thigh", 0.95, 0.0),
            ("shin", 0.52, 0.01),
            ("foot", 0.1, 0.0),
            ("toe", 0.02, 0.12),
        ];
        for (i, (name, y, z)) in leg.into_iter().enumerate() {
            let parent = if i == 0 { 0 } else { first + i - 1 };
            joints.push((format!("{name}.{side}"), Some(parent), p(0.1 * x, y, z)));
        }
    }
    Skeleton::from_positions(&joints).unwrap()
}

const SIZE: f64 = 2.3;

fn tail() -> Skeleton {
    let joints: Vec<_> = (0..12)
        .map(|i: usize| {
            (
                format!("t{i}"),
                i.checked_sub(1),
                Point64::new(0.02 * (i as f64).sin(), 0.0, i as f64 * 0.2),
            )
        })
        .collect();
    Skeleton::from_positions(&joints).unwrap()
}

fn begin(skeleton: &Skeleton, pose: &Pose, joint: &str, held: &DragConstraints) -> IkDrag {
    let joint = skeleton.find(joint).unwrap();
    IkDrag::begin(
        skeleton,
        &IkRig::of(skeleton),
        pose,
        DraggedPoint::of_joint(joint),
        held,
    )
    .unwrap()
}

fn place(skeleton: &Skeleton, pose: &Pose, joint: &str) -> Point64 {
    origin_of(&skeleton.world_from_joint(pose)[skeleton.find(joint).unwrap()])
}

/// The largest angle between two poses.
fn apart(a: &Pose, b: &Pose) -> f64 {
    let turned = a
        .locals
        .iter()
        .zip(&b.locals)
        .map(|(a, b)| a.rotation.angle_to(&b.rotation))
        .fold(0.0, f64::max);
    let shifted = a
        .locals
        .iter()
        .zip(&b.locals)
        .map(|(a, b)| (a.translation - b.translation).norm())
        .fold(0.0, f64::max);
    turned.max(shifted)
}

fn pinned(skeleton: &Skeleton, names: &[&str]) -> DragConstraints {
    DragConstraints {
        pins: names
            .iter()
            .map(|name| skeleton.find(name).unwrap())
            .collect(),
        ..DragConstraints::default()
    }
}

#[test]
fn arms_and_legs_are_limbs_and_bend_anatomically() {
    let skeleton = human();
    let rig = IkRig::of(&skeleton);
    assert_eq!(rig.limbs().len(), 4);
    assert_eq!(rig.hips(), Some(0));
    for (joint, toward) in [
        ("hand.L", 1.0),
        ("hand.R", 1.0),
        ("foot.L", -1.0),
        ("foot.R", -1.0),
    ] {
        let rest = skeleton.rest_pose();
        let mut drag = begin(&skeleton, &rest, joint, &DragConstraints::default());
        let limb = rig
            .limbs()
            .iter()
            .find(|limb| limb.end == skeleton.find(joint).unwrap())
            .unwrap();
        let world = skeleton.world_from_joint(&rest);
        let (top, end) = (origin_of(&world[limb.upper]), origin_of(&world[limb.end]));
        let pose = drag.reach(&skeleton, &(top + (end - top) * 0.7));
        let middle = origin_of(&skeleton.world_from_joint(pose)[limb.lower]);
        // Elbows point back, knees point to the front.
        assert!(middle.z * toward < -0.05, "{joint}: {middle}");
    }
}

#[test]
fn reachable_targets_are_reached_and_the_rest_pose_is_kept() {
    let skeleton = human();
    let rest = skeleton.rest_pose();
    for joint in [
        "hand.L",
        "forearm.L",
        "foot.R",
        "index2.L",
        "head",
        "toe.L",
        "hips",
        "chest",
        "shin.R",
    ] {
        let at = place(&skeleton, &rest, joint);
        let mut drag = begin(&skeleton, &rest, joint, &DragConstraints::default());
        assert_eq!(*drag.reach(&skeleton, &at), rest, "{joint}");
        // Positions taken from poses are reachable.
        for i in 0..6 {
            let mut other = rest.clone();
            for (j, local) in other.locals.iter_mut().enumerate().skip(1) {
                let angle = 0.25 * (i as f64 * 1.7 + j as f64 * 2.3).sin();
                local.rotation = Quat::from_euler_angles(angle, -angle, 0.5 * angle);
            }
            let target = place(&skeleton, &other, joint);
            let mut drag = begin(&skeleton, &rest, joint, &DragConstraints::default());
            let reached = place(&skeleton, drag.reach(&skeleton, &target), joint);
            // The knee of a leg with fixed hips can only be on a sphere.
            let tolerance = if joint == "shin.R" { 0.1 } else { 1e-4 * SIZE };
            assert!(
                (reached - target).norm() < tolerance,
                "{joint} {i}: off by {}",
                (reached - target).norm()
            );
            let back = drag.reach(&skeleton, &at).clone();
            assert!(apart(&back, &rest) < 1e-9, "{joint} returns to its start");
        }
    }
}

#[test]
fn a_point_of_the_flesh_can_be_dragged() {
    let skeleton = human();
    let rest = skeleton.rest_pose();
    for (joint, local) in [
        ("forearm.L", [0.2, 0.03, 0.02]),
        ("hand.R", [-0.05, 0.02, 0.0]),
        ("upper_arm.L", [0.2, 0.04, 0.0]),
        ("chest", [0.1, 0.1, 0.1]),
    ] {
        let grip = DraggedPoint {
            joint: skeleton.find(joint).unwrap(),
            point: Point64::from(local),
        };
        let mut drag = IkDrag::begin(
            &skeleton,
            &IkRig::of(&skeleton),
            &rest,
            grip,
            &DragConstraints::default(),
        )
        .unwrap();
        let from = skeleton.world_from_joint(&rest)[grip.joint] * grip.point;
        let target = from + Vec64::new(-0.03 * from.x.signum(), -0.06, 0.08);
        let pose = drag.reach(&skeleton, &target).clone();
        let reached = skeleton.world_from_joint(&pose)[grip.joint] * grip.point;
        assert!(
            (reached - target).norm() < 1e-4 * SIZE,
            "{joint}: off by {}",
            (reached - target).norm()
        );
    }
}

#[test]
fn the_arm_moves_before_the_torso() {
    let skeleton = human();
    let mut pose = skeleton.rest_pose();
    // A bent arm.
    pose.locals[skeleton.find("forearm.L").unwrap()].rotation = Quat::new(Vec64::y() * -1.2);
    let turned = |drag: &IkDrag, now: &Pose, joint: &str| {
        let joint = skeleton.find(joint).unwrap();
        now.locals[joint]
            .rotation
            .angle_to(&drag.start().locals[joint].rotation)
    };
    let mut drag = begin(&skeleton, &pose, "hand.L", &DragConstraints::default());
    let from = place(&skeleton, &pose, "hand.L");
    let near = drag
        .reach(&skeleton, &(from + Vec64::new(0.03, 0.02, 0.02)))
        .clone();
    assert!(turned(&drag, &near, "chest") < 1e-9 && turned(&drag, &near, "upper_arm.L") > 0.01);
    let far = drag
        .reach(&skeleton, &(from + Vec64::new(0.1, -0.5, 0.8)))
        .clone();
    assert!(
        turned(&drag, &far, "chest") > 0.02 && turned(&drag, &far, "spine") > 0.01,
        "the torso follows"
    );
    assert!(
        far.locals[0] == pose.locals[0],
        "the feet are not pinned, so the hips stay"
    );
    for joint in ["thigh.L", "upper_arm.R", "head"] {
        assert!(turned(&drag, &far, joint) < 1e-12, "{joint}");
    }
}

#[test]
fn a_hand_pulled_too_far_leans_the_torso_without_folding_it() {
    let skeleton = human();
    let rest = skeleton.rest_pose();
    let chest = skeleton.find("chest").unwrap();
    let upright = |pose: &Pose| {
        let up = skeleton.world_from_joint(pose)[chest].transform_vector(&Vec64::y());
        up.angle(&Vec64::y()).to_degrees()
    };
    for target in [
        Point64::new(4.0, 1.0, 0.0),
        Point64::new(3.0, -2.0, 1.0),
        Point64::new(0.2, 0.5, 3.0),
        Point64::new(1.0, 0.0, -4.0),
        Point64::new(-3.0, 1.2, 0.5),
    ] {
        let mut drag = begin(&skeleton, &rest, "hand.L", &DragConstraints::default());
        let pose = drag.reach(&skeleton, &target).clone();
        let leant = upright(&pose);
        assert!(leant < 45.0, "{target}: {leant}°");
        // The next drag goes on from there.
        let mut next = begin(&skeleton, &pose, "hand.L", &DragConstraints::default());
        let further = upright(&next.reach(&skeleton, &target).clone());
        assert!(further < 90.0, "{target}: {further}°");
    }
}

#[test]
fn a_limb_is_straight_and_static_for_unreachable_targets() {
    let skeleton = human();
    let rest = skeleton.rest_pose();
    for joint in ["hand.L", "foot.R"] {
        let limb = *IkRig::of(&skeleton)
            .limbs()
            .iter()
            .find(|limb| limb.end == skeleton.find(joint).unwrap())
            .unwrap();
        let mut drag = begin(&skeleton, &rest, joint, &DragConstraints::default());
        let mut before: Option<Pose> = None;
        for i in 0..200 {
            let angle = 0.4 * (f64::from(i) * 0.0314).sin();
            let target = Point64::new(3.0 * angle.cos(), 1.0 + 3.0 * angle.sin(), 1.5);
            let pose = drag.reach(&skeleton, &target).clone();
            let world = skeleton.world_from_joint(&pose);
            let at = |joint: usize| origin_of(&world[joint]);
            let (first, second) = (
                at(limb.lower) - at(limb.upper),
                at(limb.end) - at(limb.lower),
            );
            assert!(
                first.angle(&second) < 1e-3 || i < 2,
                "{joint} {i}: bent by {}",
                first.angle(&second)
            );
            assert!((target - at(limb.upper)).angle(&(at(limb.end) - at(limb.upper))) < 1e-3);
            if let Some(before) = before.replace(pose.clone()).filter(|_| i > 8) {
                assert!(
                    apart(&before, &pose) < 0.06,
                    "{joint} {i}: {}",
                    apart(&before, &pose)
                );
            }
        }
    }
}

#[test]
fn small_drags_give_small_pose_changes() {
    let skeleton = human();
    let rest = skeleton.rest_pose();
    for joint in ["hand.L", "foot.L", "head", "index2.R", "forearm.R", "hips"] {
        for held in [
            DragConstraints::default(),
            pinned(&skeleton, &["foot.L", "foot.R"]),
        ] {
            if held.pins.contains(&skeleton.find(joint).unwrap()) {
                continue;
            }
            let mut drag = begin(&skeleton, &rest, joint, &held);
            let from = place(&skeleton, &rest, joint);
            let mut before = rest.clone();
            let mut worst = 0.0_f64;
            for i in 0..900 {
                let t = f64::from(i) * 0.007;
                let grown = (f64::from(i) / 300.0).min(1.0);
                // An elbow dragged through its shoulder must rotate by a half turn.
                let wide = if joint == "forearm.R" { 0.2 } else { 0.9 };
                let target = from
                    + Vec64::new(
                        (1.3 * t).sin(),
                        0.6 * (2.1 * t).sin(),
                        0.8 * (1.7 * t).sin(),
                    ) * (wide * grown);
                let pose = drag.reach(&skeleton, &target).clone();
                worst = worst.max(apart(&before, &pose));
                before = pose;
            }
            // The target moves by about 0.01 per step; joints near a fold rotate by more than that
            // divided by their length.
            assert!(
                worst < 0.7,
                "{joint}, {} pins: {worst} rad in one step",
                held.pins.len()
            );
        }
    }
}

#[test]
fn tails_bend_at_the_tip_first_and_reach() {
    let skeleton = tail();
    let rest = skeleton.rest_pose();
    let mut drag = begin(&skeleton, &rest, "t11", &DragConstraints::default());
    let from = place(&skeleton, &rest, "t11");
    let pose = drag
        .reach(&skeleton, &(from + Vec64::new(0.15, 0.1, -0.05)))
        .clone();
    let angle = |joint: usize| {
        pose.locals[joint]
            .rotation
            .angle_to(&rest.locals[joint].rotation)
    };
    assert!(
        angle(10) > angle(6) && angle(6) > angle(2),
        "{} {} {}",
        angle(10),
        angle(6),
        angle(2)
    );
    let mut before = rest.clone();
    for i in 0..400 {
        let t = f64::from(i) * 0.0157;
        let target = Point64::new(
            1.2 * t.sin(),
            0.7 * (2.0 * t).sin(),
            2.2 - 0.9 * (1.0 - t.cos()),
        );
        let pose = drag.reach(&skeleton, &target).clone();
        let off = (place(&skeleton, &pose, "t11") - target).norm();
        if target.coords.norm() < 2.0 {
            assert!(off < 1e-4 * 2.2, "{i}: off by {off} at {target}");
        }
        // A straight tail folds with the square root of the displacement.
        assert!(
            i == 0 || apart(&before, &pose) < 0.6,
            "{i}: {}",
            apart(&before, &pose)
        );
        before = pose;
    }
}
