//! Linear blend skinning, and its limit with one joint a vertex.

mod derivative;

use rayon::prelude::*;

use super::blend_normals::{NORMALS, WithNormals};
use super::blended_mesh::BlendedMesh;
use super::direct::{Direct, HasRecipe};
use super::recipe::Blending;
use super::registry::{Capability, Descriptor, MethodId, Requirement};
use super::{Frame, MorphOffsets, Recipe, SkinError, Skinner, Subject};
use crate::character::Character;
use crate::math::Point;
use crate::mesh::NormalGroups;
use crate::weights::SkinWeights;

impl MethodId {
    /// Linear blend skinning.
    pub const LBS: Self = METHOD;
}

pub(super) const METHOD: MethodId = MethodId::of(&Descriptor {
    id: "lbs",
    label: "Linear blend",
    short_label: "LBS",
    doc: "Blends the joints' matrices by weights. Fast; loses volume in bends and twists.",
    cost: "0.2 ms",
    source: "Magnenat-Thalmann, Laperrière, Thalmann, Joint-Dependent Local Deformations for Hand Animation and Object Grasping, Graphics Interface 1988",
    departures: &[],
    needs: &[Requirement::Weights],
    capabilities: &[Capability::Device],
    params: &[NORMALS],
    bind: |input| {
        let skinner = WithNormals::bind(bind(input.subject), input)?;
        Ok(Box::new(Direct::new(skinner)))
    },
});

fn bind(subject: &Subject) -> LinearBlend {
    LinearBlend::bind(&subject.character, subject.mesh_weights())
}

/// Binds all source vertices of a character: v' = Σⱼ wⱼ (`world_from_joint`ⱼ · `joint_from_mesh`ⱼ) v.
pub struct LinearBlend {
    pub(super) parts: Vec<BlendedMesh>,
}

impl LinearBlend {
    /// Binds with the file's weights, or with `computed` instead of them (one set per mesh, in order).
    #[must_use]
    pub fn bind(character: &Character, computed: &[Option<SkinWeights>]) -> Self {
        let parts = character
            .meshes
            .iter()
            .zip(computed)
            .map(|(mesh, extra)| BlendedMesh::of(character, mesh, extra.as_ref()))
            .collect();
        Self { parts }
    }

    /// As [`LinearBlend::bind`], with the strongest joint of every vertex only.
    #[must_use]
    pub fn bind_rigid(character: &Character, computed: &[Option<SkinWeights>]) -> Self {
        let mut bound = Self::bind(character, computed);
        for part in &mut bound.parts {
            let strongest =
                (0..part.weights.len()).map(|v| part.weights.strongest(v).map(|j| (j as u32, 1.0)));
            part.weights = SkinWeights::from_rows(strongest.collect::<Vec<_>>()).0;
        }
        bound
    }
}

impl Skinner for LinearBlend {
    fn skin(&mut self, frame: &Frame<'_>, out: &mut [Point]) -> Result<(), SkinError> {
        let mut rest_of_out = out;
        for part in &mut self.parts {
            part.update(frame.world_from_joint);
            let (here, after) = rest_of_out.split_at_mut(part.rest.len());
            rest_of_out = after;
            let part = &*part;
            here.par_iter_mut()
                .with_min_len(2048)
                .enumerate()
                .for_each(|(vertex, out)| *out = part.blend(vertex));
        }
        Ok(())
    }

    fn displace(&mut self, offsets: Option<&MorphOffsets>) -> bool {
        for (index, part) in self.parts.iter_mut().enumerate() {
            part.displace(offsets.map(|offsets| &offsets.meshes[index]));
        }
        true
    }
}

impl HasRecipe for LinearBlend {
    fn recipe(&self, subject: &Subject, groups: &NormalGroups) -> Recipe {
        Recipe::blended(subject, groups, &self.parts, Blending::Linear)
    }
}
