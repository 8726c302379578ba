//! Unmatched skeletons and edited mappings.

use super::*;

#[test]
fn unmatched_skeletons_are_reported() {
    let chain: Vec<_> = (0..4)
        .map(|i: usize| {
            (
                format!("n{i}"),
                i.checked_sub(1),
                Point64::new(0.0, i as f64, 0.0),
            )
        })
        .collect();
    let chain = Skeleton::from_positions(&chain).unwrap();
    let target = body(PLAIN);
    let clip = oscillation(&target, 10, Vec64::zeros());
    let failed = |source: &Skeleton, mapping: &Mapping| {
        retarget(source, &clip, &target, mapping, &Progress::new()).unwrap_err()
    };
    assert!(matches!(
        failed(&chain, &Mapping::guess(&chain, &target)),
        RetargetError::NoMatch { hips: false, .. }
    ));
    let mut mapping = Mapping::guess(&target, &target);
    mapping.pairs[0].source[0] = "hipz".into();
    let said = failed(&target, &mapping).to_string();
    assert!(
        said.contains("the motion") && said.contains("did you mean \"hips\""),
        "{said}"
    );
    let mut mapping = Mapping::guess(&target, &target);
    let first = mapping.pairs[0].clone();
    mapping.pairs.push(first);
    assert!(matches!(
        failed(&target, &mapping),
        RetargetError::Twice { .. }
    ));
    let mapping = Mapping {
        scale: Some(f64::NAN),
        ..Mapping::guess(&target, &target)
    };
    assert!(matches!(
        failed(&target, &mapping),
        RetargetError::BadScale { .. }
    ));
    let still = Clip {
        tracks: Vec::new(),
        ..clip.clone()
    };
    let empty = retarget(
        &target,
        &still,
        &target,
        &Mapping::guess(&target, &target),
        &Progress::new(),
    );
    assert!(matches!(empty, Err(RetargetError::Empty)));
}

#[test]
fn an_edited_mapping_is_used() {
    let skeleton = body(PLAIN);
    let clip = oscillation(&skeleton, 30, Vec64::zeros());
    let mut mapping = Mapping::guess(&skeleton, &skeleton);
    mapping
        .pairs
        .retain(|pair| pair.role != "left_hand" && pair.role != "left_forearm");
    let made = retarget(&skeleton, &clip, &skeleton, &mapping, &Progress::new()).unwrap();
    let left_alone = skeleton.find("forearm.L").unwrap();
    assert!(
        made.clip
            .tracks
            .iter()
            .all(|track| track.joint != left_alone)
    );
    assert_eq!(
        mapping
            .unmatched(&skeleton)
            .iter()
            .filter(|name| name.contains(".L"))
            .count(),
        2
    );
    let _: Pose = made.clip.sample(&skeleton, 0.3);
}

/// The driver of a joint, as its names.
fn driven<'a>(mapping: &'a Mapping, joint: &str) -> Vec<&'a str> {
    mapping
        .driver_of(joint)
        .map_or_else(Vec::new, |driver| driver.joints)
}

#[test]
fn a_joint_chosen_by_hand_wins_and_the_others_stay() {
    let (source, target) = (
        body(Build {
            names: mixamo,
            ..PLAIN
        }),
        body(PLAIN),
    );
    let automatic = Mapping::guess(&source, &target);
    assert_eq!(driven(&automatic, "forearm.L"), ["mixamorig:LeftForeArm"]);
    let joint = |name: &str| target.find(name).unwrap();
    let choices: JointChoices = [
        (
            joint("forearm.L"),
            Some("mixamorig:RightForeArm".to_owned()),
        ),
        (joint("hand.L"), None),
        (joint("spine1"), Some("mixamorig:Head".to_owned())),
    ]
    .into();
    let chosen = automatic.with_choices(&target, &choices);
    assert_eq!(driven(&chosen, "forearm.L"), ["mixamorig:RightForeArm"]);
    assert_eq!(driven(&chosen, "hand.L"), [""; 0]);
    assert_eq!(driven(&chosen, "spine1"), ["mixamorig:Head"]);
    for other in ["forearm.R", "hand.R", "thigh.L", "head"] {
        assert_eq!(driven(&chosen, other), driven(&automatic, other), "{other}");
    }
    let arm = chosen
        .pairs
        .iter()
        .find(|pair| pair.target == ["forearm.L"]);
    assert_eq!(arm.unwrap().role, "left_forearm", "it is aligned as before");
    assert_eq!(
        automatic.with_choices(&target, &JointChoices::new()),
        automatic
    );

    // The left forearm turns in the world as the right one of the motion does.
    let clip = oscillation(&source, 30, Vec64::zeros());
    let made = retarget(&source, &clip, &target, &chosen, &Progress::new()).unwrap();
    let turned = |skeleton: &Skeleton, clip: &Clip, name: &str| {
        let world = |time: f64| {
            let pose = clip.sample(skeleton, time);
            crate::rig::Trs::from_affine(
                &skeleton.world_from_joint(&pose)[skeleton.find(name).unwrap()],
            )
            .rotation
        };
        world(0.4) * world(0.0).inverse()
    };
    let theirs = turned(&source, &clip, "mixamorig:RightForeArm");
    assert!(theirs.angle() > 0.05, "or nothing is seen");
    let own = turned(&target, &made.clip, "forearm.L");
    assert!(
        own.angle_to(&theirs) < 1e-6,
        "{} rad",
        own.angle_to(&theirs)
    );
    assert!(
        made.clip
            .tracks
            .iter()
            .all(|track| track.joint != joint("hand.L"))
    );
}

#[test]
fn a_whole_chain_chosen_by_hand_is_one_to_one_and_a_wrong_name_is_one_sentence() {
    let skeleton = body(PLAIN);
    let automatic = Mapping::guess(&skeleton, &skeleton);
    let spine: Vec<usize> = (0..3)
        .map(|i| skeleton.find(&format!("spine{i}")).unwrap())
        .collect();
    let choices: JointChoices = spine
        .iter()
        .zip(["head", "neck", "hips"])
        .map(|(&joint, source)| (joint, Some(source.to_owned())))
        .collect();
    let chosen = automatic.with_choices(&skeleton, &choices);
    for (joint, source) in [("spine0", "head"), ("spine1", "neck"), ("spine2", "hips")] {
        assert_eq!(driven(&chosen, joint), [source]);
    }
    let wrong: JointChoices = [(spine[0], Some("haed".to_owned()))].into();
    let wrong = automatic.with_choices(&skeleton, &wrong);
    let clip = oscillation(&skeleton, 10, Vec64::zeros());
    let said = retarget(&skeleton, &clip, &skeleton, &wrong, &Progress::new()).unwrap_err();
    let said = said.to_string();
    assert!(
        said.contains("haed") && said.contains("did you mean \"head\"") && !said.contains('\n'),
        "{said}"
    );
}

#[test]
fn the_motion_is_placed_at_the_character() {
    let build = Build {
        names: mixamo,
        scale: 2.0,
        turn: [std::f64::consts::FRAC_PI_2, 0.0, 0.0],
        ..PLAIN
    };
    let (source, target) = (body(build), body(PLAIN));
    let clip = oscillation(&source, 30, Vec64::zeros());
    let made = put(&source, &clip, &target);
    for time in [0.0, 0.3, 0.7] {
        let theirs = source.world_from_joint(&clip.sample(&source, time + made.start_secs));
        let own = target.world_from_joint(&made.clip.sample(&target, time));
        let at = |world: &[Affine], skeleton: &Skeleton, name: &str| {
            origin_of(&world[skeleton.find(name).unwrap()])
        };
        let hips = made.character_from_motion * at(&theirs, &source, "mixamorig:Hips");
        let apart = (hips - at(&own, &target, "hips")).norm();
        assert!(apart < 0.05, "{apart} m at {time} s");
        let head = made.character_from_motion * at(&theirs, &source, "mixamorig:Head");
        assert!((head - at(&own, &target, "head")).norm() < 0.15);
    }
}
