//! Dual quaternion skinning.
//!
//! Kavan, Collins, Žára, O'Sullivan, "Geometric Skinning with Approximate Dual Quaternion Blending", TOG 2008, algorithm 1
//! (see [`SplitTransform`]).

mod derivative;

use rayon::prelude::*;

use super::blend_normals::{NORMALS, WithNormals};
use super::blended_mesh::BlendedMesh;
use super::direct::{Direct, HasRecipe};
use super::lbs::LinearBlend;
use super::recipe::Blending;
use super::registry::{Capability, Descriptor, MethodId, Requirement};
use super::{Frame, MorphOffsets, Recipe, SkinError, Skinner, Subject};
use crate::character::Character;
use crate::math::{Point, SplitTransform};
use crate::mesh::NormalGroups;
use crate::weights::SkinWeights;

impl MethodId {
    /// Dual quaternion skinning.
    pub const DQS: Self = METHOD;
}

pub(super) const METHOD: MethodId = MethodId::of(&Descriptor {
    id: "dqs",
    label: "Dual quaternion",
    short_label: "DQS",
    doc: "Blends dual quaternions by weights. No candy wrapper, but joints bulge.",
    cost: "0.3 ms",
    source: "Kavan, Collins, Žára, O'Sullivan, Geometric Skinning with Approximate Dual Quaternion Blending, TOG 2008, algorithm 1",
    departures: &[
        "Scale and shear of joints are blended linearly and applied before the blended rigid motion.",
    ],
    needs: &[Requirement::Weights],
    capabilities: &[Capability::Device],
    params: &[NORMALS],
    bind: |input| {
        let skinner = WithNormals::bind(bind(input.subject), input)?;
        Ok(Box::new(Direct::new(skinner)))
    },
});

fn bind(subject: &Subject) -> DualQuaternion {
    DualQuaternion::bind(&subject.character, subject.mesh_weights())
}

/// Binds all source vertices of a character.
pub struct DualQuaternion {
    pub(super) parts: Vec<BlendedMesh>,
    /// Per part, per joint.
    pub(super) splits: Vec<Vec<SplitTransform>>,
    /// Per part, whether no joint stretches in the last frame.
    pub(super) rigid: Vec<bool>,
}

impl DualQuaternion {
    /// Binds with the file's weights, or with `fallback` for meshes that have none (one set per mesh, in order).
    #[must_use]
    pub fn bind(character: &Character, fallback: &[Option<SkinWeights>]) -> Self {
        let parts = LinearBlend::bind(character, fallback).parts;
        let splits = parts
            .iter()
            .map(|part| vec![SplitTransform::identity(); part.joint_from_mesh.len()])
            .collect();
        let rigid = vec![true; parts.len()];
        Self {
            parts,
            splits,
            rigid,
        }
    }
}

impl Skinner for DualQuaternion {
    fn skin(&mut self, frame: &Frame<'_>, out: &mut [Point]) -> Result<(), SkinError> {
        let mut rest_of_out = out;
        let parts = self.parts.iter_mut().zip(&mut self.splits);
        for ((part, splits), rigid) in parts.zip(&mut self.rigid) {
            for ((split, joint_from_mesh), world) in splits
                .iter_mut()
                .zip(&part.joint_from_mesh)
                .zip(frame.world_from_joint)
            {
                *split = SplitTransform::of(&(world * joint_from_mesh));
            }
            *rigid = splits.iter().all(SplitTransform::is_rigid);
            let (here, after) = rest_of_out.split_at_mut(part.rest.len());
            rest_of_out = after;
            let (part, splits) = (&*part, &*splits);
            let is_rigid = *rigid;
            here.par_iter_mut()
                .with_min_len(2048)
                .enumerate()
                .for_each(|(vertex, out)| *out = blend(part, splits, is_rigid, vertex));
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

impl HasRecipe for DualQuaternion {
    fn recipe(&self, subject: &Subject, groups: &NormalGroups) -> Recipe {
        Recipe::blended(subject, groups, &self.parts, Blending::DualQuaternions)
    }
}

/// The position of a vertex. `is_rigid` says that no joint stretches.
fn blend(part: &BlendedMesh, splits: &[SplitTransform], is_rigid: bool, vertex: usize) -> Point {
    let rest = part.rest[vertex];
    let weighted = part.weights.of(vertex);
    let weighted = weighted.map(|(joint, weight)| (&splits[joint], weight));
    if is_rigid {
        SplitTransform::blend_rigid(weighted).map_or(rest, |blended| blended.apply_rigid(&rest))
    } else {
        SplitTransform::blend(weighted).map_or(rest, |blended| blended.apply(&rest))
    }
}
