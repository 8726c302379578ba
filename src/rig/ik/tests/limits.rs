//! Joint limits, invalid input and feet.

use super::*;

#[test]
fn limits_are_kept_and_reachable_targets_reached() {
    let skeleton = human();
    let rest = skeleton.rest_pose();
    let mut limits = LimitMap::new();
    for joint in 1..skeleton.len() {
        let axes = Limit::axes_for(&skeleton, joint, None);
        limits.insert(
            joint,
            Limit {
                twist: [-0.4, 0.4],
                swing_y: [-0.9, 0.9],
                swing_z: [-0.9, 0.9],
                base_from_limit: axes,
            },
        );
    }
    let held = DragConstraints {
        limits: limits.clone(),
        ..DragConstraints::default()
    };
    let mut drag = begin(&skeleton, &rest, "hand.L", &held);
    for i in 0..300 {
        let t = f64::from(i) * 0.03;
        let target = Point64::new(
            0.5 * t.cos(),
            1.3 + 0.5 * (1.3 * t).sin(),
            0.4 + 0.3 * (0.7 * t).sin(),
        );
        let pose = drag.reach(&skeleton, &target);
        for (&joint, limit) in &limits {
            let turn =
                pose.locals[joint].rotation * skeleton.joints()[joint].rest.rotation.inverse();
            assert!(
                limit.allows(&turn),
                "{i}: {} {:?}",
                skeleton.joints()[joint].name,
                limit.angles_of(&turn)
            );
        }
    }
    // A small rotation of all joints is possible.
    let mut other = rest.clone();
    for (joint, limit) in &limits {
        if ["upper_arm.L", "forearm.L", "clavicle.L"]
            .map(|name| skeleton.find(name).unwrap())
            .contains(joint)
        {
            other.locals[*joint].rotation =
                limit.turn_of([0.1, -0.4, 0.3]) * other.locals[*joint].rotation;
        }
    }
    let target = place(&skeleton, &other, "hand.L");
    let mut drag = begin(&skeleton, &rest, "hand.L", &held);
    let reached = place(&skeleton, drag.reach(&skeleton, &target), "hand.L");
    assert!(
        (reached - target).norm() < 1e-3 * SIZE,
        "off by {}",
        (reached - target).norm()
    );
}

#[test]
fn invalid_input_is_tolerated_and_drags_are_deterministic() {
    let skeleton = human();
    let rest = skeleton.rest_pose();
    let rig = IkRig::of(&skeleton);
    assert!(
        IkDrag::begin(
            &skeleton,
            &rig,
            &rest,
            DraggedPoint::of_joint(999),
            &DragConstraints::default()
        )
        .is_none()
    );
    assert!(
        IkDrag::begin(
            &skeleton,
            &rig,
            &Pose::default(),
            DraggedPoint::of_joint(0),
            &DragConstraints::default()
        )
        .is_none()
    );
    assert!(
        IkDrag::begin(
            &Skeleton::default(),
            &IkRig::default(),
            &Pose::default(),
            DraggedPoint::of_joint(0),
            &DragConstraints::default()
        )
        .is_none()
    );
    let all = DragConstraints {
        pins: (0..skeleton.len()).collect(),
        ..DragConstraints::default()
    };
    for held in [DragConstraints::default(), all] {
        for joint in 0..skeleton.len() {
            let run = || {
                let mut drag =
                    IkDrag::begin(&skeleton, &rig, &rest, DraggedPoint::of_joint(joint), &held)
                        .unwrap();
                for target in [
                    [f64::NAN, 0.0, 0.0],
                    [1e300, -1e300, 0.0],
                    [0.0; 3],
                    [0.1, 1.45, 0.0],
                    [0.4, 0.3, -0.5],
                ] {
                    let pose = drag.reach(&skeleton, &Point64::from(target));
                    assert!(
                        pose.locals.iter().all(|local| local
                            .rotation
                            .coords
                            .iter()
                            .all(|c| c.is_finite()))
                    );
                }
                drag.pose().clone()
            };
            assert_eq!(run(), run(), "joint {joint}");
        }
    }
}

#[test]
fn a_dragged_toe_bends_or_moves_the_foot_without_swivelling_it() {
    let p = |y: f64, z: f64| Point64::new(0.1, y, z);
    let mut joints = vec![
        ("hips".to_owned(), None, Point64::new(0.0, 1.0, 0.0)),
        ("spine".to_owned(), Some(0), Point64::new(0.0, 1.4, 0.0)),
    ];
    for (name, side) in [("L", 1.0), ("R", -1.0)] {
        let first = joints.len();
        for (i, (bone, at)) in [
            ("thigh", p(0.95, 0.0)),
            ("shin", p(0.5, 0.03)),
            ("foot", p(0.09, 0.0)),
            ("toes", p(0.03, 0.13)),
            ("toe_end", p(0.02, 0.2)),
        ]
        .into_iter()
        .enumerate()
        {
            let parent = if i == 0 { 0 } else { first + i - 1 };
            joints.push((
                format!("{bone}.{name}"),
                Some(parent),
                Point64::new(at.x * side, at.y, at.z),
            ));
        }
    }
    let skeleton = Skeleton::from_positions(&joints).unwrap();
    let rest = skeleton.rest_pose();
    let rotation = |pose: &Pose, joint: &str| {
        figure::rotation_of(&skeleton.world_from_joint(pose)[skeleton.find(joint).unwrap()])
    };
    let at = place(&skeleton, &rest, "toe_end.L");
    for (by, foot_moves) in [
        ([0.0, 0.01, 0.0], false),
        ([0.05, 0.02, 0.0], true),
        ([0.0, 0.2, 0.1], true),
        ([-0.1, 0.1, -0.2], true),
    ] {
        let target = at + Vec64::from(by);
        let mut drag = begin(&skeleton, &rest, "toe_end.L", &DragConstraints::default());
        let pose = drag.reach(&skeleton, &target).clone();
        assert!(
            (place(&skeleton, &pose, "toe_end.L") - target).norm() < 1e-4 * SIZE,
            "{by:?}"
        );
        assert!(
            rotation(&pose, "foot.L").angle_to(&rotation(&rest, "foot.L")) < 0.02,
            "{by:?}"
        );
        let went = (place(&skeleton, &pose, "foot.L") - place(&skeleton, &rest, "foot.L")).norm();
        assert_eq!(
            went > 0.6 * Vec64::from(by).norm(),
            foot_moves,
            "{by:?}: the foot went {went}"
        );
        let bent = rotation(&pose, "toes.L").angle_to(&rotation(&pose, "foot.L"));
        assert!(
            bent < 0.62 && (foot_moves || bent > 0.1),
            "{by:?}: the toes are bent by {bent}"
        );
    }
}
