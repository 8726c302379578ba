//! The same character at another size.

use sinew::character::{Attachment, Character};
use sinew::math::Affine;
use sinew::rig::{Joint, Skeleton};

/// Everything with a length becomes `factor` times as long; what a unit is stays.
pub fn scaled(character: &Character, factor: f64) -> Character {
    let larger = |world: &Affine| {
        let mut scaled = *world;
        for row in 0..3 {
            scaled.matrix_mut_unchecked()[(row, 3)] *= factor;
        }
        scaled
    };
    let mut scaled = character.clone();
    let larger_joint = |joint: &Joint| {
        let mut joint = joint.clone();
        joint.rest.translation *= factor;
        joint.parent_from_base = larger(&joint.parent_from_base);
        joint.world_from_bind = larger(&joint.world_from_bind);
        joint
    };
    scaled.skeleton = Skeleton::new(
        character
            .skeleton
            .joints()
            .iter()
            .map(larger_joint)
            .collect(),
    )
    .expect("still a skeleton");
    for mesh in &mut scaled.meshes {
        for position in &mut mesh.positions {
            position.coords *= factor as f32;
        }
        match &mut mesh.attachment {
            Attachment::Skinned {
                joint_from_mesh, ..
            } => joint_from_mesh
                .iter_mut()
                .for_each(|joint| *joint = larger(joint)),
            Attachment::Rigid {
                joint_from_mesh, ..
            } => *joint_from_mesh = larger(joint_from_mesh),
            Attachment::Static { world_from_mesh } => *world_from_mesh = larger(world_from_mesh),
            Attachment::Unweighted => {}
        }
    }
    scaled
        .flesh
        .radii
        .values_mut()
        .for_each(|radius| *radius *= factor);
    scaled
}
