//! A character with helper joints that its pose drives.

use std::ops::Range;
use std::sync::Arc;

use super::{Character, Morph, MorphShape, MorphTarget, SourceMesh};
use crate::math::{Point, Vec3, origin_of};
use crate::mesh::{Bounds, NormalGroups};
use crate::weights::decomposition::{Decomposition, Spring};

/// Helper joints and weights that were fitted to a simulated character, and the character with them.
#[derive(Debug)]
pub struct HelperRig {
    /// The character with helpers, weights, and keys of the helpers in its clips ([`Character::with_helpers`]).
    pub character: Arc<Character>,
    /// The drivers of the helpers.
    pub decomposition: Decomposition,
    /// Which morphs of the character are the correctives of the decomposition.
    pub correctives: Vec<Corrective>,
    /// The springs; the character has two joints for each after all others ([`Decomposition::sprung`]).
    pub springs: Vec<Spring>,
}

/// A spring bone of a character.
#[derive(Debug, Clone, PartialEq)]
pub struct SpringJoint {
    /// Index of the joint that turns; the next one is its tail.
    pub joint: usize,
    /// `stiffness` of `VRMC_springBone`, for a character in metres, times its units per metre.
    pub stiffness: f64,
    /// `dragForce`.
    pub drag: f64,
}

impl HelperRig {
    /// The springs as joints of the character.
    #[must_use]
    pub fn spring_joints(&self) -> Vec<SpringJoint> {
        let joints = self.character.skeleton.joints();
        let of_spring = |(place, spring): (usize, &Spring)| {
            let joint = self.decomposition.spring_joint(place);
            let ends = [joint, joint + 1].map(|end| origin_of(&joints[end].world_from_bind));
            SpringJoint {
                joint,
                stiffness: spring.rule.stiffness_of_file((ends[1] - ends[0]).norm()),
                drag: spring.rule.drag,
            }
        };
        self.springs.iter().enumerate().map(of_spring).collect()
    }
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
/// Vertices that do not move are left out if their normals change by less: 0.03°.
const LEAST_TURN: f32 = 5e-4;
/// Vertices nearer than this part of the size share a normal.
const SAME_PLACE: f32 = 1e-6;

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
            let mut turning = Turning::of(&self.meshes[mesh]);
            for (driven, found) in found.morphs.iter().enumerate() {
                let offsets = &found.offsets[part.clone()];
                let target =
                    self.corrective_target(mesh, offsets, &found.offsets, turning.as_mut());
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

    fn corrective_target(
        &self,
        mesh: usize,
        offsets: &[Vec3],
        all: &[Vec3],
        turning: Option<&mut Turning>,
    ) -> MorphTarget {
        let largest = all.iter().map(Vec3::norm).fold(0.0, f32::max);
        let source = &self.meshes[mesh];
        let in_mesh = |(vertex, offset): (usize, &Vec3)| {
            let linear = source.bind_linear(&self.skeleton, vertex);
            let mesh_from_world = linear.try_inverse();
            mesh_from_world.map(|inverse| (inverse * offset.cast::<f64>()).cast::<f32>())
        };
        let own: Vec<Option<Vec3>> = (offsets.iter().enumerate())
            .map(|(vertex, offset)| {
                let moves = offset.norm() > LEAST_OFFSET * largest;
                moves.then(|| in_mesh((vertex, offset))).flatten()
            })
            .collect();
        let turns = turning.map(|turning| turning.by(&source.positions, &own));
        let mut target = MorphTarget {
            mesh,
            ..MorphTarget::default()
        };
        for (vertex, offset) in own.iter().enumerate() {
            let turn = turns.as_ref().map(|turns| turns[vertex]);
            if offset.is_none() && turn.is_none_or(|turn| turn.norm() <= LEAST_TURN) {
                continue;
            }
            target.vertices.push(vertex as u32);
            target.offsets.push(offset.unwrap_or_default());
            target.normals.extend(turn);
        }
        target
    }
}

/// The normals of a mesh, as they turn with its surface.
struct Turning {
    groups: NormalGroups,
    normals: Vec<Vec3>,
    turned: Vec<Vec3>,
}

impl Turning {
    /// None for a mesh without triangles.
    fn of(mesh: &SourceMesh) -> Option<Self> {
        if mesh.triangles.is_empty() {
            return None;
        }
        let (positions, none) = (&mesh.positions, vec![Vec3::zeros(); mesh.positions.len()]);
        let mut normals = mesh.normals.clone().unwrap_or_else(|| none.clone());
        let tolerance = SAME_PLACE * Bounds::of(positions).size();
        let mut groups = NormalGroups::new(positions, &mesh.triangles, &normals, tolerance);
        if mesh.normals.is_some() {
            groups.keep_normals(positions, &normals);
        }
        groups.normals_into(positions, &mut normals);
        Some(Self {
            groups,
            normals,
            turned: none,
        })
    }

    /// The differences of the normals if vertices are displaced, in mesh space.
    fn by(&mut self, positions: &[Point], offsets: &[Option<Vec3>]) -> Vec<Vec3> {
        let displaced = positions.iter().zip(offsets);
        let displaced: Vec<Point> = displaced
            .map(|(position, offset)| position + offset.unwrap_or_default())
            .collect();
        self.groups.normals_into(&displaced, &mut self.turned);
        let pairs = self.turned.iter().zip(&self.normals);
        pairs.map(|(now, before)| now - before).collect()
    }
}
