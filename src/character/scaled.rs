//! A character in another unit of length.

use std::sync::Arc;

use super::{Attachment, Character};
use crate::math::Affine;
use crate::rig::{Channel, Skeleton};

impl Character {
    /// Metres of one unit in what is exported: as the user or the file says, or else as guessed.
    #[must_use]
    pub fn export_metres_per_unit(&self) -> f64 {
        let said = self.declared_metres_per_unit;
        said.filter(|metres| *metres > 0.0 && metres.is_finite())
            .unwrap_or(self.metres_per_unit)
    }

    /// The same character with `factor` times as many units: meshes, joints, clips and bind matrices. The source document is left
    /// out, because it has the other unit.
    #[must_use]
    pub fn scaled(&self, factor: f64) -> Self {
        let mut scaled = self.clone();
        scaled.document = None;
        scaled.metres_per_unit /= factor;
        scaled.declared_metres_per_unit = self.declared_metres_per_unit.map(|m| m / factor);
        let mut joints = self.skeleton.joints().to_vec();
        for joint in &mut joints {
            joint.rest.translation *= factor;
            lengthen(&mut joint.parent_from_base, factor);
            lengthen(&mut joint.world_from_bind, factor);
            if let Some(tail) = &mut joint.tail {
                tail.coords *= factor;
            }
        }
        // The hierarchy is that of a valid skeleton.
        if let Ok(skeleton) = Skeleton::new(joints) {
            scaled.skeleton = skeleton;
        }
        for mesh in &mut scaled.meshes {
            for position in &mut mesh.positions {
                position.coords *= factor as f32;
            }
            match &mut mesh.attachment {
                Attachment::Skinned {
                    joint_from_mesh, ..
                } => (joint_from_mesh.iter_mut()).for_each(|matrix| lengthen(matrix, factor)),
                Attachment::Rigid {
                    joint_from_mesh: matrix,
                    ..
                }
                | Attachment::Static {
                    world_from_mesh: matrix,
                } => lengthen(matrix, factor),
                Attachment::Unweighted => {}
            }
        }
        let shapes = (Arc::make_mut(&mut scaled.morphs).iter_mut()).flat_map(|m| &mut m.shapes);
        for target in shapes.flat_map(|shape| &mut shape.targets) {
            (target.offsets.iter_mut()).for_each(|offset| *offset *= factor as f32);
        }
        let tracks = scaled.clips.iter_mut().flat_map(|clip| &mut clip.tracks);
        for track in tracks {
            if let Channel::Translation(curve) = &mut track.channel {
                curve.values.iter_mut().for_each(|value| *value *= factor);
            }
        }
        for radius in scaled.flesh.radii.values_mut() {
            *radius *= factor;
        }
        scaled
    }
}

/// Multiplies the translation of a transform.
fn lengthen(transform: &mut Affine, factor: f64) {
    for row in 0..3 {
        transform.matrix_mut_unchecked()[(row, 3)] *= factor;
    }
}
