//! Pinned joints.

use super::*;

#[test]
fn pins_keep_positions_and_rotations() {
    let skeleton = human();
    let mut pose = skeleton.rest_pose();
    pose.locals[0].translation.y -= 0.05;
    for side in ["L", "R"] {
        // Knees slightly bent.
        pose.locals[skeleton.find(&format!("thigh.{side}")).unwrap()].rotation =
            Quat::new(Vec64::x() * -0.4);
        pose.locals[skeleton.find(&format!("shin.{side}")).unwrap()].rotation =
            Quat::new(Vec64::x() * 0.8);
    }
    let held = pinned(&skeleton, &["foot.L", "foot.R", "hand.R"]);
    for (joint, by) in [
        ("hips", [0.1, -0.2, 0.05]),
        ("hand.L", [-0.3, -0.9, 0.5]),
        ("head", [0.2, -0.2, 0.3]),
        ("hips", [0.0, 0.8, 0.0]),
    ] {
        let mut drag = begin(&skeleton, &pose, joint, &held);
        let from = place(&skeleton, &pose, joint);
        for step in 1..=8 {
            let after = drag
                .reach(&skeleton, &(from + Vec64::from(by) * f64::from(step) / 8.0))
                .clone();
            let (a, b) = (
                skeleton.world_from_joint(&pose),
                skeleton.world_from_joint(&after),
            );
            for &pin in &held.pins {
                let off = (origin_of(&a[pin]) - origin_of(&b[pin])).norm();
                let turned = super::figure::rotation_of(&a[pin])
                    .angle_to(&super::figure::rotation_of(&b[pin]));
                assert!(
                    off < 1e-4 * SIZE && turned < 1e-6,
                    "{joint} {step}: {} moved by {off}, turned by {turned}",
                    skeleton.joints()[pin].name
                );
            }
        }
    }
}

#[test]
fn a_pinned_hand_can_be_moved() {
    let skeleton = human();
    let rest = skeleton.rest_pose();
    let held = pinned(&skeleton, &["foot.L", "foot.R"]);
    let mut drag = begin(&skeleton, &rest, "foot.L", &held);
    let (target, other) = (
        place(&skeleton, &rest, "foot.L") + Vec64::new(0.1, 0.2, 0.2),
        place(&skeleton, &rest, "foot.R"),
    );
    let pose = drag.reach(&skeleton, &target).clone();
    assert!((place(&skeleton, &pose, "foot.L") - target).norm() < 1e-4 * SIZE);
    assert!((place(&skeleton, &pose, "foot.R") - other).norm() < 1e-4 * SIZE);
}

#[test]
fn an_elbow_swivels_about_a_pinned_hand() {
    let skeleton = human();
    let mut pose = skeleton.rest_pose();
    pose.locals[skeleton.find("forearm.L").unwrap()].rotation = Quat::new(Vec64::y() * -1.0);
    let held = pinned(&skeleton, &["hand.L"]);
    let mut drag = begin(&skeleton, &pose, "forearm.L", &held);
    let (hand, elbow) = (
        place(&skeleton, &pose, "hand.L"),
        place(&skeleton, &pose, "forearm.L"),
    );
    assert!(
        (place(
            &skeleton,
            drag.reach(&skeleton, &(elbow + Vec64::new(0.0, 1e-7, 0.0))),
            "forearm.L"
        ) - elbow)
            .norm()
            < 1e-5
    );
    let pose = drag
        .reach(&skeleton, &(elbow + Vec64::new(0.0, -5.0, 0.0)))
        .clone();
    assert!(
        place(&skeleton, &pose, "forearm.L").y < elbow.y - 0.05,
        "the elbow goes down"
    );
    assert!((place(&skeleton, &pose, "hand.L") - hand).norm() < 1e-6);
}

#[test]
fn pinned_ends_keep_their_rotation_while_elbows_and_knees_swivel() {
    let skeleton = human();
    let mut pose = skeleton.rest_pose();
    for (joint, axis) in [("forearm.L", -Vec64::y()), ("shin.L", Vec64::x())] {
        pose.locals[skeleton.find(joint).unwrap()].rotation = Quat::new(axis);
    }
    for (joint, pin) in [
        ("forearm.L", "hand.L"),
        ("shin.L", "foot.L"),
        ("shin.L", "toe.L"),
    ] {
        let held = pinned(&skeleton, &[pin]);
        let mut drag = begin(&skeleton, &pose, joint, &held);
        let target = place(&skeleton, &pose, joint) + Vec64::new(0.3, -0.3, 0.2);
        let after = drag.reach(&skeleton, &target).clone();
        assert!(apart(&pose, &after) > 0.1, "{joint}");
        let world = |pose: &Pose| skeleton.world_from_joint(pose)[skeleton.find(pin).unwrap()];
        let [before, after] = [world(&pose), world(&after)];
        assert!(
            (before.to_homogeneous() - after.to_homogeneous()).norm() < 1e-6,
            "{pin}"
        );
    }
}

/// Buttocks and the upper part of a thigh belong to the leg, but who pulls them pulls the hips; the knee of a straight leg does not spin.
#[test]
fn the_thigh_of_a_pinned_leg_pulls_the_hips_and_its_knee_does_not_spin() {
    let skeleton = human();
    let rest = skeleton.rest_pose();
    let thigh = skeleton.find("thigh.L").unwrap();
    for pin in ["foot.L", "toe.L"] {
        let held = pinned(&skeleton, &[pin, "foot.R"]);
        let grip = DraggedPoint {
            joint: thigh,
            point: Point64::new(0.05, -0.04, -0.1),
        };
        let rig = IkRig::of(&skeleton);
        let mut drag = IkDrag::begin(&skeleton, &rig, &rest, grip, &held).unwrap();
        let from = skeleton.world_from_joint(&rest)[thigh] * grip.point;
        let by = Vec64::new(0.0, -0.1, -0.02);
        let pose = drag.reach(&skeleton, &(from + by)).clone();
        let hips = [&rest, &pose].map(|pose| place(&skeleton, pose, "hips"));
        assert!((hips[1] - hips[0] - by).norm() < 1e-6);
        for joint in ["foot.L", "foot.R"] {
            let feet = [&rest, &pose].map(|pose| place(&skeleton, pose, joint));
            assert!((feet[1] - feet[0]).norm() < 1e-6, "{joint}");
        }

        let mut drag = begin(&skeleton, &rest, "shin.L", &held);
        let knee = place(&skeleton, &rest, "shin.L");
        for by in [
            Vec64::x(),
            -Vec64::x(),
            Vec64::y(),
            -Vec64::y(),
            -Vec64::z(),
        ] {
            let pose = drag.reach(&skeleton, &(knee + by * 0.01)).clone();
            assert!(apart(&rest, &pose) < 0.15, "{by}: {}", apart(&rest, &pose));
        }
    }
}

/// The plane of a leg that is almost straight is that of a small misalignment: the leg bends about its hinge, and does not twist to it.
#[test]
fn a_straight_leg_bends_without_a_twist() {
    let skeleton = human();
    for (forward, outward) in [(0.001, 0.01), (0.0, 0.004), (-0.001, -0.02), (0.02, 0.02)] {
        // The shin points a little forward and outward.
        let mut pose = skeleton.rest_pose();
        let shin = skeleton.find("shin.L").unwrap();
        pose.locals[shin].rotation =
            Quat::new(Vec64::new(-forward, 0.0, outward)) * pose.locals[shin].rotation;
        let held = pinned(&skeleton, &["foot.L", "foot.R"]);
        for by in [[0.0, 0.05, 0.25], [0.0, 0.25, 0.1], [0.05, 0.2, -0.1]] {
            let mut drag = begin(&skeleton, &pose, "foot.L", &held);
            let from = place(&skeleton, &pose, "foot.L");
            let mut last = pose.clone();
            for step in 1..=20 {
                let by = Vec64::from(by) * f64::from(step) / 20.0;
                let after = drag.reach(&skeleton, &(from + by)).clone();
                assert!(
                    apart(&last, &after) < 0.35,
                    "{by}: {}",
                    apart(&last, &after)
                );
                last = after;
            }
            let thigh = skeleton.find("thigh.L").unwrap();
            let turned = super::figure::rotation_of(&skeleton.world_from_joint(&last)[thigh]);
            let across = turned * Vec64::x();
            assert!(
                across.x > 0.9,
                "{forward} {outward}, {by:?}: twisted to {across}"
            );
        }
    }
}

/// Pinned toes hold the foot flat while the hips go down, so that knees bend, and let the heels rise where legs are too short.
#[test]
fn pinned_toes_hold_the_foot_until_the_legs_are_straight() {
    let skeleton = human();
    let rest = skeleton.rest_pose();
    for pins in [
        &["toe.L", "toe.R"][..],
        &["toe.L", "toe.R", "foot.L", "foot.R"],
    ] {
        let held = pinned(&skeleton, pins);
        let world = |pose: &Pose, joint: &str| {
            skeleton.world_from_joint(pose)[skeleton.find(joint).unwrap()]
        };
        let off = |pose: &Pose, joint: &str| {
            (world(pose, joint).to_homogeneous() - world(&rest, joint).to_homogeneous()).norm()
        };
        let mut drag = begin(&skeleton, &rest, "hips", &held);
        let from = place(&skeleton, &rest, "hips");
        for step in 1..=10 {
            let by = Vec64::new(0.0, -0.05, -0.01) * f64::from(step);
            let pose = drag.reach(&skeleton, &(from + by)).clone();
            assert!((place(&skeleton, &pose, "hips") - from - by).norm() < 1e-6 * SIZE);
            for joint in ["toe.L", "toe.R", "foot.L", "foot.R"] {
                assert!(
                    off(&pose, joint) < 1e-6,
                    "{step}: {joint} {}",
                    off(&pose, joint)
                );
            }
            assert!(place(&skeleton, &pose, "shin.L").z > place(&skeleton, &rest, "shin.L").z);
        }
        // On tiptoe.
        let mut last = rest.clone();
        for step in 1..=20 {
            let by = Vec64::y() * 0.01 * f64::from(step);
            let pose = drag.reach(&skeleton, &(from + by)).clone();
            for joint in ["toe.L", "toe.R"] {
                assert!(
                    off(&pose, joint) < 1e-4 * SIZE,
                    "{step}: {joint} {}",
                    off(&pose, joint)
                );
            }
            assert!(apart(&last, &pose) < 0.4, "{step}: {}", apart(&last, &pose));
            last = pose;
        }
        let risen = place(&skeleton, &last, "foot.L").y - place(&skeleton, &rest, "foot.L").y;
        assert_eq!(risen > 0.02, pins.len() == 2, "{risen}");
    }
}

#[test]
fn a_foot_may_keep_its_rotation() {
    let skeleton = human();
    let rest = skeleton.rest_pose();
    let mut drag = begin(
        &skeleton,
        &rest,
        "foot.L",
        &DragConstraints {
            end: EndRotation::Stays,
            ..DragConstraints::default()
        },
    );
    let target = place(&skeleton, &rest, "foot.L") + Vec64::new(0.05, 0.3, 0.2);
    let pose = drag.reach(&skeleton, &target).clone();
    let foot = skeleton.world_from_joint(&pose)[skeleton.find("foot.L").unwrap()];
    assert!(
        (origin_of(&foot) - target).norm() < 1e-9
            && super::figure::rotation_of(&foot).angle() < 1e-9
    );
}
