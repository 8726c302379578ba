//! The range of motion of bodies on four legs.

use super::*;

/// A body on four legs that looks along +Z: a dog, or a lizard whose legs sprawl. With other axes of the joints, or turned.
fn animal(sprawls: bool, axes: f64, turned: Vec64) -> Skeleton {
    let mut joints: Vec<(String, Option<usize>, Point64)> = Vec::new();
    let body = Quat::new(turned);
    let mut add = |name: &str, parent: Option<usize>, at: [f64; 3]| {
        let at = body * Vec64::from(at);
        joints.push((name.to_owned(), parent, Point64::from(at)));
        joints.len() - 1
    };
    let hips = add("hips", None, [0.0, 0.6, -0.4]);
    let spine = add("spine.1", Some(hips), [0.0, 0.62, -0.1]);
    let chest = add("chest", Some(spine), [0.0, 0.62, 0.3]);
    let neck = add("neck", Some(chest), [0.0, 0.7, 0.5]);
    add("head", Some(neck), [0.0, 0.8, 0.65]);
    let mut tail = spine;
    for k in 0..4 {
        tail = add(
            &format!("tail.{k}"),
            Some(if k == 0 { spine } else { tail }),
            [0.0, 0.6 - 0.02 * f64::from(k), -0.5 - 0.1 * f64::from(k)],
        );
    }
    for (side, sign) in [("L", 1.0), ("R", -1.0)] {
        for (front, carrier, z) in [("front", chest, 0.35), ("hind", hips, -0.42)] {
            let [upper, lower, foot] = match (front, sprawls) {
                ("front", true) => ["front_upper", "front_lower", "front_foot"],
                ("front", false) => ["FrontUpperLeg", "FrontLowerLeg", "FrontFoot"],
                _ => ["thigh", "shin", "foot"],
            };
            let down = |far: f64, forth: f64| {
                if sprawls {
                    [sign * (0.1 + far), 0.6 - 0.3 * far, z + forth]
                } else {
                    [sign * 0.1, 0.6 - far, z + forth]
                }
            };
            let upper = add(&format!("{upper}.{side}"), Some(carrier), down(0.0, 0.0));
            let bend = if front == "front" { -0.08 } else { 0.08 };
            let lower = add(&format!("{lower}.{side}"), Some(upper), down(0.25, bend));
            add(&format!("{foot}.{side}"), Some(lower), down(0.5, 0.0));
        }
    }
    with_axes(&Skeleton::from_positions(&joints).unwrap(), axes)
}

#[test]
fn legs_of_animals_swing_towards_their_heads() {
    for sprawls in [false, true] {
        let skeleton = animal(sprawls, 0.0, Vec64::zeros());
        let range = motion_range(&skeleton);
        let rest = places(&skeleton, &skeleton.rest_pose());
        let moved = |id: &str, joint: &str| {
            at(&skeleton, find(&range, id), joint) - rest[skeleton.find(joint).unwrap()]
        };
        let front = if sprawls {
            "front_lower.L"
        } else {
            "FrontLowerLeg.L"
        };
        assert!(moved("front-leg.l-60", front).z > 0.1);
        assert!(moved("hind-leg.l-60", "shin.L").z > 0.1);
        assert!(moved("hind-leg.l--30", "shin.L").z < -0.05);
        if sprawls {
            assert!(moved("front-leg-raised.l-30", front).y > 0.1);
        } else {
            assert!(moved("front-leg-side.l-40", front).x > 0.1);
        }
        assert!(moved("spine-side-60", "head").x.abs() > 0.2);
        assert!(
            moved("spine-twist-60", "neck").norm() < 0.1,
            "about the spine"
        );
        assert!(
            moved("tail.0-chain-a-90", "tail.3").y.abs() > 0.05
                || moved("tail.0-chain-b-90", "tail.3").y.abs() > 0.05
        );
        let ids: Vec<&str> = range.iter().map(|pose| pose.id.as_str()).collect();
        for person in [
            "crouch",
            "sit",
            "arm-",
            "reach",
            "forearm-twist",
            "wrist",
            "fist",
        ] {
            assert!(ids.iter().all(|id| !id.starts_with(person)), "{ids:?}");
        }
    }
}

#[test]
fn animals_move_alike_whatever_the_axes_of_their_file() {
    let plain = animal(false, 0.0, Vec64::zeros());
    let range = motion_range(&plain);
    for (axes, turned) in [(0.9, Vec64::zeros()), (0.0, Vec64::new(-1.5, 0.3, 0.0))] {
        let skeleton = animal(false, axes, turned);
        let same = motion_range(&skeleton);
        assert_eq!(range.len(), same.len());
        for (a, b) in range.iter().zip(&same) {
            assert_eq!(a.id, b.id);
            let expected = places(&plain, &a.pose);
            let found = places(&skeleton, &b.pose);
            for (p, q) in expected.iter().zip(&found) {
                assert!((Quat::new(turned) * p - q).norm() < TOL, "{}", a.id);
            }
        }
    }
}
