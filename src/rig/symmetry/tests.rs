use super::*;

/// A body whose joints have individual axes, different left and right; without side names if
/// `named` is false.
fn body(named: bool) -> Skeleton {
    let p = Point64::new;
    let mut joints = vec![
        ("hips".to_owned(), None, p(0.0, 1.0, 0.0)),
        ("spine".to_owned(), Some(0), p(0.0, 1.4, 0.1)),
    ];
    for (side, x) in [("L", 1.0), ("R", -1.0)] {
        let first = joints.len();
        let name = |what: &str| {
            if named {
                format!("{what}.{side}")
            } else {
                format!("{what}{first}")
            }
        };
        joints.push((name("arm"), Some(1), p(0.2 * x, 1.5, 0.0)));
        joints.push((name("hand"), Some(first), p(0.7 * x, 1.45, 0.05)));
        joints.push((name("leg"), Some(0), p(0.1 * x, 0.9, 0.0)));
        joints.push((name("foot"), Some(first + 2), p(0.12 * x, 0.0, 0.02)));
    }
    let plain = Skeleton::from_positions(&joints).unwrap();
    // Equal positions with rotated frames.
    let turned = plain.joints().iter().enumerate().map(|(index, joint)| {
        let mut joint = joint.clone();
        let own = Quat::from_euler_angles(0.3 * index as f64, 1.1, -0.7 * index as f64);
        let above = joint.parent.map_or_else(Quat::identity, |above| {
            Quat::from_euler_angles(0.3 * above as f64, 1.1, -0.7 * above as f64)
        });
        joint.rest.translation = above.inverse() * joint.rest.translation;
        joint.rest.rotation = above.inverse() * own;
        joint
    });
    Skeleton::new(turned.collect()).unwrap()
}

fn posed(skeleton: &Skeleton) -> Pose {
    let mut pose = skeleton.rest_pose();
    for (index, local) in pose.locals.iter_mut().enumerate() {
        let t = index as f64;
        local.rotation =
            Quat::from_euler_angles(0.4 * t.sin(), 0.7 * (2.0 * t).cos(), 0.3 * t) * local.rotation;
    }
    pose.locals[0].translation += Vec64::new(0.3, -0.1, 0.2);
    pose
}

#[test]
fn mirrored_positions_are_mirror_images_and_mirroring_is_an_involution() {
    for named in [true, false] {
        let skeleton = body(named);
        let symmetry = Symmetry::of(&skeleton);
        assert_eq!(
            (0..10)
                .map(|joint| symmetry.partner(joint))
                .collect::<Vec<_>>(),
            [0, 1, 6, 7, 8, 9, 2, 3, 4, 5]
        );
        let pose = posed(&skeleton);
        let mirrored = symmetry.mirrored(&skeleton, &pose, None, MirrorHow::Flip);
        let (before, after) = (
            skeleton.world_from_joint(&pose),
            skeleton.world_from_joint(&mirrored),
        );
        for joint in 0..skeleton.len() {
            let image = symmetry.mirrored_point(&origin_of(&before[joint]));
            assert!(
                (origin_of(&after[symmetry.partner(joint)]) - image).norm() < 1e-9,
                "joint {joint}"
            );
        }
        let back = symmetry.mirrored(&skeleton, &mirrored, None, MirrorHow::Flip);
        for (a, b) in back.locals.iter().zip(&pose.locals) {
            assert!(
                a.rotation.angle_to(&b.rotation) < 1e-7
                    && (a.translation - b.translation).norm() < 1e-12
            );
        }
    }
}

#[test]
fn a_copy_keeps_its_source_and_the_middle() {
    let skeleton = body(true);
    let (symmetry, pose) = (Symmetry::of(&skeleton), posed(&skeleton));
    let arm = [2, 3];
    let copied = symmetry.mirrored(&skeleton, &pose, Some(&arm), MirrorHow::Copy);
    let flipped = symmetry.mirrored(&skeleton, &pose, None, MirrorHow::Flip);
    for joint in 0..skeleton.len() {
        let expected = if [6, 7].contains(&joint) {
            &flipped
        } else {
            &pose
        };
        assert_eq!(
            copied.locals[joint], expected.locals[joint],
            "joint {joint}"
        );
    }
}

#[test]
fn names_on_the_other_side() {
    for (left, right) in [
        ("arm.L", "arm.R"),
        ("LeftHand", "RightHand"),
        ("mixamorig:LeftArm", "mixamorig:RightArm"),
        ("hand_l", "hand_r"),
        ("l_hand", "r_hand"),
        ("lHand", "rHand"),
        ("Bip01 L Thigh", "Bip01 R Thigh"),
        ("finger1-1.L", "finger1-1.R"),
        ("leg_joint_L_3", "leg_joint_R_3"),
    ] {
        assert_eq!(mirrored_name(left).as_deref(), Some(right));
        assert_eq!(mirrored_name(right).as_deref(), Some(left));
    }
    for middle in ["spine", "Rib", "Leg", "root", "LOL", ""] {
        assert_eq!(mirrored_name(middle), None, "{middle}");
    }
}

#[test]
fn empty_and_single_joint_skeletons_have_no_partners() {
    assert!(!Symmetry::of(&Skeleton::default()).has_pairs());
    let one = Skeleton::from_positions(&[("a".into(), None, Point64::new(3.0, 1.0, 2.0))]).unwrap();
    let symmetry = Symmetry::of(&one);
    assert!(
        !symmetry.has_pairs()
            && symmetry.mirrored(&one, &one.rest_pose(), None, MirrorHow::Flip) == one.rest_pose()
    );
}
