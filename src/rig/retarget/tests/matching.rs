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
