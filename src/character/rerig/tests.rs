use super::*;
use crate::mesh::shapes::tube;
use crate::rig::edit::{RigBone, RigEdit};
use crate::weights::by_distance;

fn p(y: f64) -> Point64 {
    Point64::new(0.0, y, 0.0)
}

/// A tube of length 3 on a chain of three joints, skinned, with a mesh space that differs from
/// the world.
fn skinned_tube() -> Character {
    let skeleton = Skeleton::from_positions(&[
        ("a".into(), None, p(0.2)),
        ("b".into(), Some(0), p(1.0)),
        ("c".into(), Some(1), p(2.0)),
    ])
    .expect("a chain");
    let mesh = tube(0.2, 3.0, 30, 12, true);
    let weights = by_distance(&mesh, &skeleton);
    let mut source = SourceMesh::bare("worm", mesh.positions, mesh.triangles);
    let world_from_mesh = Affine::from_matrix_unchecked(nalgebra::Matrix4::new_scaling(2.0));
    for position in &mut source.positions {
        *position /= 2.0;
    }
    let from = |joint: &crate::rig::Joint| {
        joint.world_from_bind.try_inverse().expect("a frame") * world_from_mesh
    };
    source.attachment = Attachment::Skinned {
        weights,
        joint_from_mesh: skeleton.joints().iter().map(from).collect(),
    };
    Character {
        name: "worm".into(),
        meshes: vec![source],
        skeleton,
        metres_per_unit: 1.0,
        ..Character::default()
    }
}

fn weights(character: &Character) -> &SkinWeights {
    match &character.meshes[0].attachment {
        Attachment::Skinned { weights, .. } => weights,
        other => panic!("it is skinned, not {other:?}"),
    }
}

fn edited(character: &Character, edits: &[RigEdit]) -> Character {
    let mut rig = Rig::of(&character.skeleton);
    for edit in edits {
        rig = rig.edited(edit, None).expect("possible").rig;
    }
    character.with_rig(&rig).expect("a tree")
}

#[test]
fn an_unedited_rig_changes_nothing() {
    let skinned_tube = skinned_tube();
    assert_eq!(weights(&edited(&skinned_tube, &[])), weights(&skinned_tube));
    let edits = [
        RigEdit::Move {
            joint: 1,
            position: Point64::new(0.05, 1.2, 0.0),
            with_children: false,
        },
        RigEdit::Insert {
            bone: RigBone::To(2),
            at: 0.5,
        },
        RigEdit::Add {
            parent: Some(2),
            position: p(2.8),
            name: None,
        },
        RigEdit::Delete(0),
    ];
    for count in 0..=edits.len() {
        let after = edited(&skinned_tube, &edits[..count]);
        for (a, b) in after
            .bind_positions()
            .iter()
            .zip(skinned_tube.bind_positions())
        {
            assert!((a - b).norm() < 1e-5, "{count}: {a} {b}");
        }
        assert!(weights(&after).is_complete());
    }
}

#[test]
fn weights_of_deleted_joints_move_up_and_new_joints_take_a_share() {
    let skinned_tube = skinned_tube();
    let after = edited(&skinned_tube, &[RigEdit::Delete(1)]);
    for vertex in 0..weights(&skinned_tube).len() {
        let of = |weights: &SkinWeights, joints: &[usize]| -> f32 {
            weights
                .of(vertex)
                .filter(|(j, _)| joints.contains(j))
                .map(|(_, w)| w)
                .sum()
        };
        assert!((of(weights(&after), &[0]) - of(weights(&skinned_tube), &[0, 1])).abs() < 1e-5);
        assert!((of(weights(&after), &[1]) - of(weights(&skinned_tube), &[2])).abs() < 1e-5);
    }
    let split = edited(
        &skinned_tube,
        &[RigEdit::Insert {
            bone: RigBone::To(2),
            at: 0.5,
        }],
    );
    let near = |height: f32| {
        skinned_tube
            .bind_positions()
            .iter()
            .position(|p| (p.y - height).abs() < 0.01)
            .expect("a ring")
    };
    assert_eq!(weights(&split).strongest(near(1.2)), Some(1));
    assert_eq!(
        weights(&split).strongest(near(1.8)),
        Some(2),
        "the new joint holds the second half"
    );
}

#[test]
fn a_new_root_takes_nearby_weights_only() {
    let skinned_tube = skinned_tube();
    let roots = [
        RigEdit::Add {
            parent: None,
            position: Point64::new(0.0, 0.25, 0.1),
            name: Some("x".into()),
        },
        RigEdit::Add {
            parent: Some(3),
            position: Point64::new(0.0, 0.35, 0.1),
            name: Some("y".into()),
        },
    ];
    let after = edited(&skinned_tube, &roots);
    let share = |vertex: usize| -> f32 {
        weights(&after)
            .of(vertex)
            .filter(|(joint, _)| *joint > 2)
            .map(|(_, weight)| weight)
            .sum()
    };
    let places = skinned_tube.bind_positions();
    for (vertex, place) in places.iter().enumerate() {
        let sum: f32 = weights(&after).of(vertex).map(|(_, weight)| weight).sum();
        assert!((sum - 1.0).abs() < 1e-5, "{vertex}: {sum}");
        if place.y > 1.5 {
            assert!(
                weights(&after)
                    .of(vertex)
                    .eq(weights(&skinned_tube).of(vertex)),
                "{vertex}"
            );
        }
    }
    let near = (0..places.len())
        .find(|&v| (places[v] - Point::new(0.0, 0.3, 0.2)).norm() < 0.05)
        .expect("a vertex there");
    assert!(share(near) > 0.5, "{}", share(near));
    for (a, b) in after.bind_positions().iter().zip(&places) {
        assert!((a - b).norm() < 1e-5, "the skin stays: {a} {b}");
    }
}

#[test]
fn a_skin_without_remaining_joints_loses_its_weights() {
    let skinned_tube = skinned_tube();
    let rig = Rig::default()
        .edited(
            &RigEdit::Add {
                parent: None,
                position: p(1.0),
                name: None,
            },
            None,
        )
        .expect("possible")
        .rig;
    let after = skinned_tube.with_rig(&rig).expect("a tree");
    assert_eq!(after.meshes[0].attachment, Attachment::Unweighted);
    assert!((after.bind_positions()[5] - skinned_tube.bind_positions()[5]).norm() < 1e-5);
}
