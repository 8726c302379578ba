//! Morph targets under any skinning method.
//!
//! glTF 2.0 (3.7.2.2, 3.7.3.3) displaces a vertex in the bind pose before it is skinned: v' = S(v + Σ wᵢ dᵢ). How a method does that
//! depends on what it computed from the bind pose once:
//!
//! - Methods that are a closed form of the vertex (`rigid`, `lbs`, `dqs`, `cor`, `swing-twist`) skin the displaced vertex: exactly
//!   glTF's meaning. Weights, centres of rotation and fields stay those of the bind pose.
//! - For all others (`ddm`, `delta-mush`, `implicit`, `pd`, `pbd`, `xpbd`, `reference`) the surface at rest is part of what was
//!   built: the smoothing, the fields, tetrahedra and contacts. To displace it would mean to build it again in every frame, and would
//!   smooth a smile away (a relaxed surface doesn't know it). They get the displacement after skinning, turned by the vertex' own
//!   blended joint transform: x' = S(v) + (Σⱼ wⱼ Mⱼ) Σ wᵢ dᵢ. For linear blending that equals the first form, because it is linear in
//!   v. Flesh, contacts and upsampling do not see the displacement: a face slides over them, and a large morph may enter another part.
//!
//! Normals near displaced vertices are those of the displaced triangles, with the details of the bind pose's normals turned with them; the file's differences of normals are kept for exports.
//! Without a displacement nothing here runs, and results are bit-equal to those of a character without morphs. On a device, frames
//! with a displacement are skinned by the CPU form (`lbs`, `dqs`, `cor`, `swing-twist`, `ddm`), or read back from it (flesh).

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use nalgebra::Matrix3;

use super::Skinner;
use super::lbs::LinearBlend;
use super::morph_offsets::{MeshOffsets, MorphOffsets};
use crate::character::{Character, Morph, MorphTarget};
use crate::math::{Affine, Point, Vec3};
use crate::mesh::NormalGroups;
use crate::rig::MorphWeights;
use crate::stages::Subject;

/// The morphs of a bound character.
pub(super) struct Morphing {
    character: Arc<Character>,
    wanted: MorphWeights,
    is_active: bool,
    /// Weight of every morph.
    weights: Vec<f64>,
    offsets: MorphOffsets,
    /// Place in [`MeshOffsets::vertices`] of every vertex of every target, in the order of [`targets`].
    slots: Vec<Vec<u32>>,
    /// World from mesh in the bind pose, linear part, of the vertices that move.
    bind_from_mesh: Vec<Vec<Matrix3<f32>>>,
    /// First source vertex of every mesh.
    firsts: Vec<usize>,
    /// Source vertices whose normals may change.
    around: Vec<u32>,
    /// Normals of displaced triangles, with the file's details.
    groups: NormalGroups,
    normals: Vec<Vec3>,
    /// What turns displacements, for methods that don't take them.
    blend: Option<LinearBlend>,
}

/// All targets with the index of their shape.
fn targets(morphs: &[Morph]) -> impl Iterator<Item = (&Morph, usize, &MorphTarget)> {
    morphs.iter().flat_map(|morph| {
        let shapes = morph.shapes.iter().enumerate();
        shapes.flat_map(move |(index, shape)| {
            (shape.targets.iter()).map(move |target| (morph, index, target))
        })
    })
}

impl Morphing {
    /// `None` for a character without morphs. `normals` are those of all source vertices in the bind pose.
    pub(super) fn bind(
        subject: &Subject,
        groups: &NormalGroups,
        normals: &[Vec3],
        skinner: &mut dyn Skinner,
    ) -> Option<Self> {
        let character = subject.character.clone();
        if character.morphs.is_empty() {
            return None;
        }
        let mut moved: Vec<Vec<u32>> = vec![Vec::new(); character.meshes.len()];
        for (_, _, target) in targets(&character.morphs) {
            moved[target.mesh].extend(&target.vertices);
        }
        for vertices in &mut moved {
            vertices.sort_unstable();
            vertices.dedup();
        }
        let slots = targets(&character.morphs)
            .map(|(_, _, target)| {
                let known = &moved[target.mesh];
                let slot = |vertex: &u32| known.partition_point(|other| other < vertex) as u32;
                target.vertices.iter().map(slot).collect()
            })
            .collect();
        let bind_from_mesh = (moved.iter().zip(&character.meshes))
            .map(|(vertices, mesh)| {
                let linear = |&vertex: &u32| {
                    mesh.bind_linear(&character.skeleton, vertex as usize)
                        .cast::<f32>()
                };
                vertices.iter().map(linear).collect()
            })
            .collect();
        let mut firsts = Vec::with_capacity(character.meshes.len());
        let mut first = 0;
        for mesh in &character.meshes {
            firsts.push(first);
            first += mesh.positions.len();
        }
        let around = vertices_around(subject, &moved, &firsts);
        let mut groups = groups.clone();
        groups.keep_normals(&subject.bind_positions, normals);
        let takes_offsets = skinner.displace(None);
        let blend = (!takes_offsets).then(|| LinearBlend::bind(&character, subject.mesh_weights()));
        let none = |vertices: Vec<u32>| MeshOffsets {
            in_mesh: vec![Vec3::zeros(); vertices.len()],
            in_bind_pose: vec![Vec3::zeros(); vertices.len()],
            vertices,
        };
        Some(Self {
            wanted: MorphWeights::default(),
            is_active: false,
            weights: Vec::with_capacity(character.morphs.len()),
            offsets: MorphOffsets {
                meshes: moved.into_iter().map(none).collect(),
            },
            slots,
            bind_from_mesh,
            firsts,
            around,
            groups,
            normals: vec![Vec3::y(); first],
            blend,
            character,
        })
    }

    /// Whether any vertex is displaced.
    pub(super) fn is_active(&self) -> bool {
        self.is_active
    }

    /// Sets the weights of the next frame. Allocates nothing after the first.
    pub(super) fn set(&mut self, weights: &MorphWeights, skinner: &mut dyn Skinner) {
        if *weights == self.wanted {
            return;
        }
        self.wanted.clone_from(weights);
        let Self {
            character, offsets, ..
        } = self;
        character.morph_weights_into(weights, &mut self.weights);
        for mesh in &mut offsets.meshes {
            mesh.in_mesh.fill(Vec3::zeros());
        }
        self.is_active = false;
        let mut slots = self.slots.iter();
        for (morph, weight) in character.morphs.iter().zip(&self.weights) {
            for (index, shape) in morph.shapes.iter().enumerate() {
                let share = morph.share_beyond_rest(index, *weight) as f32;
                for (target, slots) in shape.targets.iter().zip(&mut slots) {
                    if share == 0.0 {
                        continue;
                    }
                    self.is_active = true;
                    let sums = &mut offsets.meshes[target.mesh].in_mesh;
                    for (offset, slot) in target.offsets.iter().zip(slots) {
                        sums[*slot as usize] += offset * share;
                    }
                }
            }
        }
        for (mesh, linear) in offsets.meshes.iter_mut().zip(&self.bind_from_mesh) {
            let sums = mesh.in_mesh.iter().zip(linear);
            for (out, (offset, linear)) in mesh.in_bind_pose.iter_mut().zip(sums) {
                *out = linear * offset;
            }
        }
        skinner.displace(self.is_active.then_some(&*offsets));
    }

    /// Gives the method the displacements again, after they were taken off it.
    pub(super) fn resume(&self, skinner: &mut dyn Skinner) {
        skinner.displace(self.is_active.then_some(&self.offsets));
    }

    /// Displaces the vertices of a frame that a method has skinned without them.
    pub(super) fn add_to(&mut self, world_from_joint: &[Affine], positions: &mut [Point]) {
        let Some(blend) = self.blend.as_mut().filter(|_| self.is_active) else {
            return;
        };
        let meshes = self.offsets.meshes.iter().zip(&mut blend.parts);
        for ((mesh, part), first) in meshes.zip(&self.firsts) {
            if mesh.vertices.is_empty() {
                continue;
            }
            part.update(world_from_joint);
            let offsets = mesh.vertices.iter().zip(part.offsets(mesh));
            for (&vertex, offset) in offsets {
                if *offset != Vec3::zeros() {
                    positions[first + vertex as usize] += part.turned(vertex as usize, offset);
                }
            }
        }
    }

    /// Writes normals of the triangles, with the file's details, where displaced vertices change them.
    pub(super) fn add_normals(&mut self, positions: &[Point], normals: &mut [Vec3]) {
        if !self.is_active {
            return;
        }
        self.groups.normals_into(positions, &mut self.normals);
        for &vertex in &self.around {
            normals[vertex as usize] = self.normals[vertex as usize];
        }
    }
}

/// The source vertices whose triangles have a moved vertex, and those at the same places.
fn vertices_around(subject: &Subject, moved: &[Vec<u32>], firsts: &[usize]) -> Vec<u32> {
    let bits = |vertex: usize| subject.bind_positions[vertex].coords.map(f32::to_bits);
    let places: HashSet<_> = (moved.iter().zip(firsts))
        .flat_map(|(vertices, first)| vertices.iter().map(move |v| first + *v as usize))
        .map(bits)
        .collect();
    let mut by_place: HashMap<_, Vec<u32>> = HashMap::new();
    for vertex in 0..subject.bind_positions.len() {
        by_place
            .entry(bits(vertex))
            .or_default()
            .push(vertex as u32);
    }
    let is_moved = |vertex: u32| places.contains(&bits(vertex as usize));
    let mut around: Vec<u32> = Vec::new();
    for triangle in subject.character.triangles() {
        if triangle.into_iter().any(is_moved) {
            around.extend(triangle.iter().flat_map(|&v| &by_place[&bits(v as usize)]));
        }
    }
    around.sort_unstable();
    around.dedup();
    around
}
