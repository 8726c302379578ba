//! Clips follow edits of the skeleton.

use super::*;

/// A file's skeleton with rotated frames, a rest pose that differs from the bind pose, and a clip
/// that animates everything.
fn animated() -> (Skeleton, Clip) {
    let mut joints = man()
        .to_skeleton(&Skeleton::default())
        .expect("a tree")
        .joints()
        .to_vec();
    for (index, joint) in joints.iter_mut().enumerate() {
        let turn = Quat::from_euler_angles(0.3 * index as f64, -0.2, 0.1);
        joint.rest.rotation = turn;
        joint.world_from_bind *= Affine::from_matrix_unchecked(turn.to_homogeneous());
    }
    joints[2].parent_from_base = crate::math::affine(
        &Quat::from_euler_angles(0.0, 0.0, 0.4)
            .to_rotation_matrix()
            .into_inner(),
        &Vec64::new(0.0, 0.1, 0.0),
    );
    let skeleton = Skeleton::new(joints).expect("a tree");
    let tracks = (0..skeleton.len()).flat_map(|joint| {
        let rest = skeleton.joints()[joint].rest;
        let turn =
            |by: f64| (Quat::from_euler_angles(by, 0.5 * by, -by) * rest.rotation).into_inner();
        let rotation = Curve::linear(vec![0.0, 1.0], vec![turn(0.0), turn(0.4)]);
        let shift = Vec64::new(0.05, 0.0, -0.02);
        let translation = Curve::linear(
            vec![0.0, 1.0],
            vec![rest.translation, rest.translation + shift],
        );
        [
            Track {
                joint,
                channel: Channel::Rotation(rotation),
            },
            Track {
                joint,
                channel: Channel::Translation(translation),
            },
        ]
    });
    let clip = Clip {
        name: "wave".into(),
        duration_secs: 1.0,
        tracks: tracks.collect(),
        morphs: Vec::new(),
    };
    (skeleton, clip)
}

fn assert_moves_alike(base: &Skeleton, clip: &Clip, rig: &Rig, tolerance: f64) {
    let skeleton = rig.to_skeleton(base).expect("a tree");
    let carried = clip_on(clip, base, rig);
    for time in [0.0, 0.35, 0.7, 1.0] {
        let before = base.world_from_joint(&clip.sample(base, time));
        let after = skeleton.world_from_joint(&carried.sample(&skeleton, time));
        for (index, joint) in rig.joints().iter().enumerate() {
            let Some(origin) = joint.origin else { continue };
            let apart = (before[origin].matrix() - after[index].matrix()).amax();
            assert!(
                apart < tolerance,
                "{} is {apart} apart at {time}",
                joint.name
            );
        }
    }
}

#[test]
fn clips_move_remaining_joints_unchanged() {
    let (base, clip) = animated();
    let rig = Rig::of(&base);
    assert_eq!(
        rig.to_skeleton(&base).expect("a tree"),
        base,
        "nothing done, nothing changed"
    );
    assert_eq!(clip_on(&clip, &base, &rig), clip);
    assert_moves_alike(
        &base,
        &clip,
        &edit(
            &rig,
            &RigEdit::Insert {
                bone: RigBone::To(2),
                at: 0.3,
            },
        ),
        1e-9,
    );
    assert_moves_alike(
        &base,
        &clip,
        &edit(
            &rig,
            &RigEdit::Split {
                bone: RigBone::To(4),
                parts: 4,
            },
        ),
        1e-9,
    );
    // Exact at the samples, approximate between them.
    assert_moves_alike(&base, &clip, &edit(&rig, &RigEdit::Delete(2)), 1e-4);
    assert_moves_alike(
        &base,
        &clip,
        &edit(
            &rig,
            &RigEdit::Reparent {
                joint: 4,
                parent: Some(0),
            },
        ),
        1e-4,
    );
    assert_moves_alike(
        &base,
        &clip,
        &edit(
            &rig,
            &RigEdit::Reparent {
                joint: 2,
                parent: None,
            },
        ),
        1e-4,
    );
    assert_moves_alike(&base, &clip, &edit(&rig, &RigEdit::Delete(0)), 1e-4);
}

#[test]
fn a_moved_joint_is_displaced_in_its_parents_frame() {
    let (base, clip) = animated();
    let rig = Rig::of(&base);
    let by = Vec64::new(0.02, -0.03, 0.05);
    let to = rig.joints()[4].position + by;
    let rig = edit(
        &rig,
        &RigEdit::Move {
            joint: 4,
            position: to,
            with_children: false,
        },
    );
    let skeleton = rig.to_skeleton(&base).expect("a tree");
    assert!((skeleton.bind_position(4) - to).norm() < 1e-12);
    let carried = clip_on(&clip, &base, &rig);
    let before = base.world_from_joint(&clip.sample(&base, 0.5));
    let after = skeleton.world_from_joint(&carried.sample(&skeleton, 0.5));
    let parent = base.joints()[2].world_from_bind;
    let expected = (before[2] * parent.try_inverse().expect("a frame")).transform_vector(&by);
    assert!((origin_of(&after[4]) - origin_of(&before[4]) - expected).norm() < 1e-9);
    let pose = clip.sample(&base, 0.8);
    let remap = Remap::between(&Rig::of(&base), &rig);
    assert!(
        (pose_on(&base, &pose, &remap, &skeleton).locals[4].translation
            - carried.sample(&skeleton, 0.8).locals[4].translation)
            .norm()
            < 1e-9
    );
}
