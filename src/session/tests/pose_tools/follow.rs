//! The hand of every character follows a drag.

use crate::math::{Point64, Vec64, origin_of};
use crate::rig::ik::{DragConstraints, DraggedPoint, IkDrag, IkRig};
use crate::rig::limits::LimitMap;
use crate::rig::{Skeleton, human_limits};

/// Hands, feet, heads and tails of real characters, pulled about: they reach what they can, and nothing jumps.
#[test]
fn real_characters_follow_the_hand() {
    let Some(data) = crate::skip::data() else {
        return;
    };
    let mut seen = 0;
    for file in [
        "A_rigged/mh_female_cmu/mh_female_cmu.glb",
        "A_rigged/mannequiny/mannequiny-0.3.0.glb",
        "A_rigged/CesiumMan/CesiumMan.glb",
        "B_unrigged/m2m_spider_trio/rig-spider.glb",
        "A_rigged/Fox/Fox.glb",
    ] {
        let Ok(character) = crate::io::load(&[data.join(file)], &crate::progress::Progress::new())
        else {
            crate::skip::skipped(file);
            continue;
        };
        seen += 1;
        let skeleton = &character.skeleton;
        let rig = IkRig::of(skeleton);
        let rest = skeleton.rest_pose();
        let places: Vec<Point64> = skeleton
            .world_from_joint(&rest)
            .iter()
            .map(origin_of)
            .collect();
        let least = places
            .iter()
            .fold(Vec64::repeat(f64::INFINITY), |a, b| a.inf(&b.coords));
        let most = places
            .iter()
            .fold(Vec64::repeat(f64::NEG_INFINITY), |a, b| a.sup(&b.coords));
        let size = (most - least).norm();
        for limits in [LimitMap::new(), human_limits(skeleton)] {
            let held = DragConstraints {
                limits,
                ..DragConstraints::default()
            };
            for joint in 0..skeleton.len() {
                follow_the_hand(file, skeleton, &rig, &held, joint, size);
            }
        }
    }
    assert!(seen > 0, "no character could be read");
}

fn follow_the_hand(
    file: &str,
    skeleton: &Skeleton,
    rig: &IkRig,
    held: &DragConstraints,
    joint: usize,
    size: f64,
) {
    let rest = skeleton.rest_pose();
    let name = &skeleton.joints()[joint].name;
    let Some(mut drag) = IkDrag::begin(skeleton, rig, &rest, DraggedPoint::of_joint(joint), held)
    else {
        panic!("{file}: {name}")
    };
    let from = origin_of(&skeleton.world_from_joint(&rest)[joint]);
    let mut before = rest.clone();
    let mut largest = 0.0_f64;
    for step in 0..60 {
        let t = f64::from(step) * 0.05;
        let target = from
            + Vec64::new(t.sin(), (1.3 * t).sin(), (0.7 * t).sin())
                * (0.15 * size * (f64::from(step) / 60.0));
        let pose = drag.reach(skeleton, &target).clone();
        let finite = pose.locals.iter().all(|local| {
            local
                .rotation
                .coords
                .iter()
                .chain(local.translation.iter())
                .all(|c| c.is_finite())
        });
        assert!(finite, "{file}: {name}");
        for (&limited, limit) in &held.limits {
            let turn =
                pose.locals[limited].rotation * skeleton.joints()[limited].rest.rotation.inverse();
            assert!(
                limit.allows(&turn),
                "{file}: {name} turns {}",
                skeleton.joints()[limited].name
            );
        }
        let turned = before
            .locals
            .iter()
            .zip(&pose.locals)
            .map(|(a, b)| a.rotation.angle_to(&b.rotation))
            .fold(0.0, f64::max);
        largest = largest.max(turned);
        before = pose;
    }
    // The hand moves by about 1 % of the size in each step; fingers are short and have to turn much for that.
    assert!(
        largest < 1.5,
        "{file}: {name} jumps by {largest} rad, {} limits",
        held.limits.len()
    );
}
