//! Rest poses, first frames and feet on the ground.

use super::*;

#[test]
fn a_rest_pose_along_one_axis_is_replaced_by_a_frame() {
    // The same motion on a skeleton whose rest pose is not a body: every offset is along X, as in
    // some exporters.
    let proper = body(PLAIN);
    let stand = oscillation(&proper, 60, Vec64::zeros());
    let laid: Vec<_> = {
        let mut places: Vec<Point64> = Vec::new();
        let joints = proper.joints().iter().map(|joint| {
            let from = joint
                .parent
                .map_or_else(Point64::origin, |parent| places[parent]);
            places.push(from + Vec64::x() * joint.rest.translation.norm());
            (joint.name.clone(), joint.parent, places[places.len() - 1])
        });
        joints.collect()
    };
    let odd = Skeleton::from_positions(&laid).unwrap();
    // Joint frames that map the offsets along X to the proper body's directions.
    let mut tracks = Vec::new();
    let times_secs: Vec<f64> = (0..60).map(|frame| frame as f64 / 30.0).collect();
    let frames: Vec<Vec<Affine>> = times_secs
        .iter()
        .map(|time| world(&proper, &stand, *time))
        .collect();
    let toward = |world: &[Affine], joint: usize| {
        // The smallest rotation at the first frame, then transported by the joint.
        let child = proper.children(joint).first().copied();
        let first = child.map_or(Vec64::x(), |child| {
            origin_of(&frames[0][child]) - origin_of(&frames[0][joint])
        });
        let turned = |w: &[Affine]| crate::rig::Trs::from_affine(&w[joint]).rotation;
        turned(world)
            * turned(&frames[0]).inverse()
            * Quat::rotation_between(&Vec64::x(), &first).unwrap_or_else(Quat::identity)
    };
    for joint in 0..odd.len() {
        let parent = odd.joints()[joint].parent;
        let local = |world: &Vec<Affine>| {
            parent
                .map_or_else(Quat::identity, |p| toward(world, p))
                .inverse()
                * toward(world, joint)
        };
        let values = frames
            .iter()
            .map(|world| local(world).into_inner())
            .collect();
        let curve = Curve::linear(times_secs.clone(), values);
        tracks.push(Track {
            joint,
            channel: Channel::Rotation(curve),
        });
    }
    let clip = Clip {
        name: "odd".into(),
        duration_secs: times_secs[59],
        tracks,
        morphs: Vec::new(),
    };
    let made = put(&odd, &clip, &proper);
    let worst = largest_angle(
        (&odd, PLAIN, &clip),
        (&proper, PLAIN, &made.clip),
        &Quat::identity(),
        0.0,
    );
    // The hips' tilt in the chosen frame is unknown; the foot correction compensates for it.
    assert!(worst < 0.02, "{worst}");
}

#[test]
fn an_unrelated_first_frame_is_omitted() {
    let (source, target) = (
        body(PLAIN),
        body(Build {
            arms_down: 0.7,
            ..PLAIN
        }),
    );
    let mut clip = oscillation(&source, 40, Vec64::zeros());
    for track in &mut clip.tracks {
        let in_limb = source.joints()[track.joint].name.contains('.');
        if let (Channel::Rotation(curve), true) = (&mut track.channel, in_limb) {
            let away = Quat::new(Vec64::new(0.5, 0.0, 0.0));
            for value in &mut curve.values[1..] {
                *value = (away * Quat::new_normalize(*value)).into_inner();
            }
        }
    }
    let made = put(&source, &clip, &target);
    assert!(made.first_left_out);
    assert!((made.clip.duration_secs - clip.duration_secs + 1.0 / 30.0).abs() < 1e-9);
    let worst = largest_angle(
        (&source, PLAIN, &clip),
        (&target, PLAIN, &made.clip),
        &Quat::identity(),
        1.0 / 30.0,
    );
    assert!(worst < 1e-6, "{worst}");
}

#[test]
fn feet_stand_on_the_ground_when_the_motions_do() {
    // A squat: thighs and shins bend, the hips descend so that the ankles stay. The character's
    // thighs are longer, its shins shorter.
    let source = body(PLAIN);
    let target = {
        let joints: Vec<_> = body(PLAIN)
            .joints()
            .iter()
            .map(|joint| {
                let mut place = origin_of(&joint.world_from_bind);
                if joint.name.starts_with("shin") {
                    place.y -= 0.08;
                }
                (joint.name.clone(), joint.parent, place)
            })
            .collect();
        Skeleton::from_positions(&joints).unwrap()
    };
    let times_secs: Vec<f64> = (0..60).map(|frame| frame as f64 / 30.0).collect();
    let bend = |time: &f64| 0.9 * (time * 1.5).sin().powi(2);
    let mut tracks = Vec::new();
    for (part, factor) in [("thigh", -1.0), ("shin", 2.0), ("foot", -1.0)] {
        for side in ["L", "R"] {
            let values = times_secs
                .iter()
                .map(|time| Quat::new(Vec64::x() * (factor * bend(time))).into_inner())
                .collect();
            let curve = Curve::linear(times_secs.clone(), values);
            tracks.push(Track {
                joint: source.find(&format!("{part}.{side}")).unwrap(),
                channel: Channel::Rotation(curve),
            });
        }
    }
    let values = times_secs
        .iter()
        .map(|time| Vec64::new(0.0, 0.95 - 0.84 * (1.0 - bend(time).cos()), 0.0))
        .collect();
    let curve = Curve::linear(times_secs.clone(), values);
    tracks.push(Track {
        joint: 0,
        channel: Channel::Translation(curve),
    });
    let clip = Clip {
        name: "squat".into(),
        duration_secs: times_secs[59],
        tracks,
        morphs: Vec::new(),
    };
    let made = put(&source, &clip, &target);
    for time in &times_secs {
        let world = world(&target, &made.clip, *time);
        let low = ["toe.L", "toe.R", "toe_end.L"]
            .map(|name| origin_of(&world[target.find(name).unwrap()]).y);
        let rest = origin_of(&target.joints()[target.find("toe.L").unwrap()].world_from_bind).y;
        assert!(
            low.iter().all(|y| (y - rest).abs() < 0.01),
            "{low:?} at {time}"
        );
    }
}
