//! Skinning with optimised centres of rotation.
//!
//! Le, Hodgins, "Real-time Skeletal Skinning with Optimized Centers of Rotation", TOG 35(4), 2016. Every vertex gets a centre once
//! (equation 4): the mean of the surface, weighted by how similar weights are there (equation 3),
//! s(p, v) = Σ_{j≠k} `w_pj` `w_pk` `w_vj` `w_vk` exp(−(`w_pj` `w_vk` − `w_pk` `w_vj`)² / σ²), σ = 0.1. A frame moves the centre by
//! linear blending and turns the vertex about it by the blended quaternion (algorithm 2). Limbs keep their volume when they are
//! twisted, and joints do not bulge as with dual quaternions.
//!
//! # Departures
//! - The similarity is a sum over pairs of joints, and a term depends on two weights of the surface only. So the surface is summed once
//!   into cells of 0.0125 × 0.0125 in the plane of the two weights, for every pair of joints, and a centre is a sum over the cells of the
//!   pairs of its own joints. The paper sums over triangles that a breadth-first search finds; its cost grows with vertices × triangles.
//! - Triangles are split into congruent pieces, not by bisection, until weights differ by less than 0.1 along each edge.
//! - Source meshes that share a skin count together: a centre may lie in the middle of triangles of several meshes.
//! - Joints may scale and shear. Every joint matrix is split into a rotation R and a stretch S; with R(q) from the blended quaternion,
//!   v' = R(q) (Σ w S) (v − c) + Σ w M c. This keeps the rest pose, motions of the whole character and uniform scale exact. The paper
//!   has rotations only.
//! - Areas in the threshold for "nothing is similar" are parts of the character's area, so that the unit of length does not matter.
//!   Such vertices are moved by linear blending, to the bit.

mod centers;
mod frame;
mod normals;
mod pair_table;
mod pieces;
mod turn;

#[cfg(test)]
mod tests;

use std::collections::BTreeSet;

use self::frame::JointMotion;
use self::turn::Turn;
use super::bind_surface::BindSurface;
use super::blend_normals::{NORMALS, WithNormals};
use super::blended_mesh::BlendedMesh;
use super::direct::{Direct, HasRecipe};
use super::lbs::LinearBlend;
use super::recipe::Blending;
use super::registry::{BindInput, Capability, Descriptor, MethodId, Requirement};
use super::{BindError, Frame, MorphOffsets, Recipe, SkinError, Skinner, Subject};
use crate::math::{Affine, Point};
use crate::mesh::NormalGroups;
use crate::methods::Term;
use crate::methods::explain::length;

/// Σ s A of which a centre is made, with the character's area as the unit; below this it is meaningless.
const LEAST_SIMILARITY: f64 = 1e-12;

impl MethodId {
    /// Optimised centres of rotation.
    pub const COR: Self = METHOD;
}

pub(super) const METHOD: MethodId = MethodId::of(&Descriptor {
    id: "cor",
    label: "Centres of rotation",
    short_label: "CoR",
    doc: "Turns every vertex about its own centre in the limb. Neither candy wrapper nor bulge; needs smooth weights.",
    cost: "0.6 ms",
    source: "Le, Hodgins, Real-time Skeletal Skinning with Optimized Centers of Rotation, TOG 2016",
    departures: &[
        "The surface is summed into cells of two weights once, so that a centre costs hundreds of cells instead of all triangles.",
        "Joints may scale and shear.",
        "Source meshes that share a skin count together.",
    ],
    needs: &[Requirement::Weights],
    capabilities: &[Capability::Device],
    params: &[NORMALS],
    bind: |input| {
        let skinner = RotationCenters::bind(input)?;
        let skinner = WithNormals::bind(skinner, input)?;
        Ok(Box::new(Direct::new(skinner)))
    },
});

/// Binds all source vertices of a character.
pub(super) struct RotationCenters {
    parts: Vec<CenteredMesh>,
}

/// One source mesh with its centres.
struct CenteredMesh {
    blend: BlendedMesh,
    /// Centre of every vertex in the space of the rest positions; the vertex itself where linear blending moves it.
    centers: Vec<Point>,
    /// Motion of each of `joints`; others are the identity.
    turns: Vec<Turn>,
    /// The same as vector registers, with the joint's matrix.
    motions: Vec<JointMotion>,
    /// The joints that move a vertex of the mesh, or of any skin: weights change across the seam to another mesh, too.
    joints: Vec<u32>,
    /// Whether no joint stretches in the last frame.
    is_rigid: bool,
}

impl RotationCenters {
    fn bind(input: &BindInput<'_>) -> Result<Self, BindError> {
        let subject = input.subject;
        let LinearBlend { parts } = LinearBlend::bind(&subject.character, subject.mesh_weights());
        let surface = BindSurface::new(subject, &parts);
        let centers = centers::centers(&surface, input.progress)?;
        let mut found = centers.into_iter();
        let mut parts: Vec<CenteredMesh> = parts
            .into_iter()
            .map(|blend| CenteredMesh::of(blend, &mut found))
            .collect();
        let mut skins: Vec<&mut CenteredMesh> = parts
            .iter_mut()
            .zip(&subject.character.meshes)
            .filter_map(|(part, mesh)| mesh.is_skin().then_some(part))
            .collect();
        let joints: BTreeSet<u32> = skins
            .iter()
            .flat_map(|part| &part.joints)
            .copied()
            .collect();
        for part in &mut skins {
            part.joints = joints.iter().copied().collect();
        }
        Ok(Self { parts })
    }

    /// The centres of all source vertices, in the space of the rest positions of their mesh.
    fn centers(&self) -> Vec<Point> {
        self.parts
            .iter()
            .flat_map(|part| part.centers.iter().copied())
            .collect()
    }
}

impl CenteredMesh {
    /// Takes the centres of its vertices from `found`.
    fn of(blend: BlendedMesh, found: &mut impl Iterator<Item = Option<Point>>) -> Self {
        let centers = blend
            .rest
            .iter()
            .zip(found)
            .map(|(rest, center)| center.unwrap_or(*rest))
            .collect();
        let mut joints = blend.weights.joints.clone();
        joints.sort_unstable();
        joints.dedup();
        Self {
            centers,
            turns: vec![Turn::identity(); blend.joint_from_mesh.len()],
            motions: vec![JointMotion::identity(); blend.joint_from_mesh.len()],
            joints,
            is_rigid: true,
            blend,
        }
    }

    fn update(&mut self, world_from_joint: &[Affine]) {
        self.blend.update(world_from_joint);
        self.is_rigid = true;
        for &joint in &self.joints {
            let joint = joint as usize;
            let turn = Turn::of(&(world_from_joint[joint] * self.blend.joint_from_mesh[joint]));
            self.is_rigid &= turn.is_rigid();
            self.motions[joint] = JointMotion::of(&self.blend.world_from_mesh[joint], &turn);
            self.turns[joint] = turn;
        }
    }

    /// The blend of the joints' rotations and stretches.
    fn blended_turn(&self, vertex: usize) -> Turn {
        let weighted = self.blend.weights.of(vertex);
        Turn::blend(
            weighted.map(|(joint, weight)| (&self.turns[joint], weight)),
            self.is_rigid,
        )
    }
}

impl Skinner for RotationCenters {
    fn skin(&mut self, frame: &Frame<'_>, out: &mut [Point]) -> Result<(), SkinError> {
        let mut rest_of_out = out;
        for part in &mut self.parts {
            part.update(frame.world_from_joint);
            let (here, after) = rest_of_out.split_at_mut(part.centers.len());
            rest_of_out = after;
            frame::move_mesh(part, here);
        }
        Ok(())
    }

    fn displace(&mut self, offsets: Option<&MorphOffsets>) -> bool {
        for (index, part) in self.parts.iter_mut().enumerate() {
            part.blend
                .displace(offsets.map(|offsets| &offsets.meshes[index]));
        }
        true
    }

    fn explain(&self, vertex: usize) -> Vec<Term> {
        let mut own = vertex;
        for part in &self.parts {
            let Some(center) = part.centers.get(own) else {
                own -= part.centers.len();
                continue;
            };
            return vec![Term::new(
                "center_distance",
                "Distance to its centre of rotation",
                length(&part.blend.rest[own], center),
                "How far the optimised centre about which the vertex turns is from it at rest; 0: it is blended linearly.",
            )];
        }
        Vec::new()
    }
}

impl HasRecipe for RotationCenters {
    fn recipe(&self, subject: &Subject, groups: &NormalGroups) -> Recipe {
        let parts = self.parts.iter().map(|part| &part.blend);
        Recipe::blended(subject, groups, parts, Blending::Centers(self.centers()))
    }
}
