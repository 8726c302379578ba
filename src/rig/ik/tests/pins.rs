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
