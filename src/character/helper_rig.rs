//! A character with helper joints that its pose drives.

use std::ops::Range;
use std::sync::Arc;

use super::{Character, Morph, MorphShape, MorphTarget};
use crate::math::Vec3;
use crate::weights::decomposition::Decomposition;

/// Helper joints and weights that were fitted to a simulated character, and the character with them.
#[derive(Debug)]
pub struct HelperRig {
    /// The character with helpers, weights, and keys of the helpers in its clips ([`Character::with_helpers`]).
    pub character: Arc<Character>,
    /// The drivers of the helpers.
    pub decomposition: Decomposition,
    /// Which morphs of the character are the correctives of the decomposition.
    pub correctives: Vec<Corrective>,
}

/// A corrective morph of one mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Corrective {
    /// Index into [`Decomposition::morphs`].
    pub driven: usize,
    /// Index into [`Character::morphs`].
    pub morph: usize,
}

/// Displacements below this part of the largest one are left out.
const LEAST_OFFSET: f32 = 1e-3;

impl Character {
    /// Adds the correctives after the character's own morphs. `parts` are the vertices of each mesh among those of the
    /// decomposition, in order; `None` for meshes that it does not move. The controls of expressions move on.
    #[must_use]
    pub fn add_correctives(
        &mut self,
        found: &Decomposition,
        parts: &[Option<Range<usize>>],
    ) -> Vec<Corrective> {
        let mut correctives = Vec::new();
        let before = self.morphs.len();
        let mut morphs = self.morphs.to_vec();
        for (mesh, part) in parts.iter().enumerate() {
            let Some(part) = part else { continue };
            for (driven, found) in found.morphs.iter().enumerate() {
                let offsets = &found.offsets[part.clone()];
                let target = self.corrective_target(mesh, offsets, &found.offsets);
                if target.vertices.is_empty() {
                    continue;
                }
                let morph = morphs.len();
                correctives.push(Corrective { driven, morph });
                morphs.push(Morph {
                    name: format!("corrective{}", driven + 1),
                    mesh: self.meshes[mesh].name.clone(),
                    rest_weight: 0.0,
                    shapes: vec![MorphShape {
                        at: 1.0,
                        targets: vec![target],
                    }],
                });
            }
        }
        let added = morphs.len() - before;
        let tracks = self.clips.iter_mut().flat_map(|clip| &mut clip.morphs);
        for track in tracks.filter(|track| track.control >= before) {
            track.control += added;
        }
        self.morphs = morphs.into();
        correctives
    }

    fn corrective_target(&self, mesh: usize, offsets: &[Vec3], all: &[Vec3]) -> MorphTarget {
        let largest = all.iter().map(Vec3::norm).fold(0.0, f32::max);
        let mut target = MorphTarget {
            mesh,
            ..MorphTarget::default()
        };
        for (vertex, offset) in offsets.iter().enumerate() {
            if offset.norm() <= LEAST_OFFSET * largest {
                continue;
            }
            let linear = self.meshes[mesh].bind_linear(&self.skeleton, vertex);
            let Some(mesh_from_world) = linear.try_inverse() else {
                continue;
            };
            target.vertices.push(vertex as u32);
            target
                .offsets
                .push((mesh_from_world * offset.cast::<f64>()).cast::<f32>());
        }
        target
    }
}
