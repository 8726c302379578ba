//! What moves every source vertex: shares of deformers, and of rigid motions of joints.

use crate::character::{Attachment, Character, SourceMesh};
use crate::math::{Affine, Point, Point64};
use crate::mesh::{TriMesh, closest_on_segment};
use crate::methods::deformer::{Bent, Deformer};
use crate::rig::Skeleton;
use crate::weights::elastic::{ElasticFields, JointFields, bone_direction, unit};
use crate::weights::{SkinWeights, by_distance};

/// Distance to a bone, as a part of its length, below which all are equally near.
const NEAR: f64 = 0.1;
/// Deformers of a joint with a smaller share of it are dropped.
const LEAST_SHARE: f64 = 0.02;

/// What moves one vertex; the shares of both lists sum to 1. Nothing moves a vertex without any.
pub(super) struct Influences<'a> {
    /// Joints whose motion it follows rigidly, and their shares.
    pub rigid: &'a [(u32, f32)],
    pub bent: &'a [Bent],
}

/// The tables of all source vertices of a character.
#[derive(Debug, Clone, Default)]
pub(super) struct Binding {
    /// All source vertices in the bind pose, world.
    pub rest: Vec<Point>,
    /// `joint_from_world` of every joint in the bind pose.
    pub bind_from_world: Vec<Affine>,
    pub deformers: Vec<Deformer>,
    /// Where the rigid and the bent shares of each vertex begin, and their numbers at the end.
    starts: Vec<[u32; 2]>,
    rigid: Vec<(u32, f32)>,
    bent: Vec<Bent>,
}

impl Binding {
    /// Binds the source vertices of a character to the fields of its skin. `skin_from_source` has one entry per source vertex.
    pub fn of(
        character: &Character,
        skin_from_source: &[Option<u32>],
        fields: &ElasticFields,
    ) -> Self {
        let skeleton = &character.skeleton;
        let inverse = |joint: &crate::rig::Joint| {
            joint
                .world_from_bind
                .try_inverse()
                .unwrap_or_else(Affine::identity)
        };
        let bones = Bones::of(skeleton);
        let mut binding = Self {
            bind_from_world: skeleton.joints().iter().map(inverse).collect(),
            starts: vec![[0; 2]],
            ..Self::default()
        };
        let mut skin_of = skin_from_source.iter().copied();
        for mesh in &character.meshes {
            let of_mesh: Vec<Option<u32>> = skin_of.by_ref().take(mesh.positions.len()).collect();
            binding.add_mesh(mesh, &of_mesh, skeleton, fields, &bones);
        }
        binding.deformers = bones.deformers;
        binding
    }

    /// What moves a vertex.
    pub fn of_vertex(&self, vertex: usize) -> Influences<'_> {
        let [from, to] = [self.starts[vertex], self.starts[vertex + 1]];
        Influences {
            rigid: &self.rigid[from[0] as usize..to[0] as usize],
            bent: &self.bent[from[1] as usize..to[1] as usize],
        }
    }

    fn add_mesh(
        &mut self,
        mesh: &SourceMesh,
        skin_of: &[Option<u32>],
        skeleton: &Skeleton,
        fields: &ElasticFields,
        bones: &Bones,
    ) {
        let positions = mesh.bind_positions(skeleton);
        match mesh.attachment {
            Attachment::Rigid { joint, .. } => {
                for position in positions {
                    self.rigid.push((joint as u32, 1.0));
                    self.end_vertex(position);
                }
            }
            Attachment::Static { .. } => {
                for position in positions {
                    self.end_vertex(position);
                }
            }
            Attachment::Skinned { .. } | Attachment::Unweighted => {
                let strays = stray_weights(&positions, skin_of, skeleton);
                for (vertex, position) in positions.into_iter().enumerate() {
                    match skin_of.get(vertex).copied().flatten() {
                        Some(skin) if !fields.of(skin as usize).is_empty() => {
                            let point = position.cast();
                            self.add_fields(&point, fields.of(skin as usize), skeleton, bones);
                        }
                        Some(skin) => self.add_weights(&fields.weights, skin as usize),
                        None => self.add_weights(&strays, vertex),
                    }
                    self.end_vertex(position);
                }
            }
        }
    }

    fn end_vertex(&mut self, rest: Point) {
        self.rest.push(rest);
        self.starts
            .push([self.rigid.len() as u32, self.bent.len() as u32]);
    }

    /// A vertex that follows the motions of joints, blended linearly.
    fn add_weights(&mut self, weights: &SkinWeights, vertex: usize) {
        let row = weights.of(vertex);
        self.rigid
            .extend(row.map(|(joint, weight)| (joint as u32, weight)));
    }

    /// A vertex that follows the deformers of its fields.
    fn add_fields(
        &mut self,
        point: &Point64,
        fields: &[JointFields],
        skeleton: &Skeleton,
        bones: &Bones,
    ) {
        let first = self.rigid.len();
        for field in fields {
            let parent = skeleton.joints()[field.joint as usize].parent;
            let [low, high] = [field.swing.min(field.twist), field.swing.max(field.twist)];
            let rigid_on = match parent {
                None => Some(field.joint),
                Some(_) if low >= 1.0 => Some(field.joint),
                Some(parent) if high <= 0.0 => Some(parent as u32),
                Some(_) => None,
            };
            if let Some(joint) = rigid_on {
                match self.rigid[first..].iter_mut().find(|own| own.0 == joint) {
                    Some(own) => own.1 += field.blend,
                    None => self.rigid.push((joint, field.blend)),
                }
                continue;
            }
            for (deformer, share) in bones.shares(field.joint, point) {
                self.bent.push(Bent {
                    deformer,
                    blend: field.blend * share as f32,
                    swing: field.swing,
                    twist: field.twist,
                });
            }
        }
    }
}

/// The deformers of every joint.
struct Bones {
    deformers: Vec<Deformer>,
    /// The other end of each deformer's bone.
    ends: Vec<Point64>,
    /// `first[j]..first[j + 1]` are the deformers of joint j; one longer than there are joints. Joints without parent have none.
    first: Vec<u32>,
}

impl Bones {
    fn of(skeleton: &Skeleton) -> Self {
        let mut bones = Self {
            deformers: Vec::new(),
            ends: Vec::new(),
            first: vec![0],
        };
        for (index, joint) in skeleton.joints().iter().enumerate() {
            if let Some(parent) = joint.parent {
                bones.add(skeleton, index, parent);
            }
            bones.first.push(bones.deformers.len() as u32);
        }
        bones
    }

    fn add(&mut self, skeleton: &Skeleton, joint: usize, parent: usize) {
        let pivot = skeleton.bind_position(joint);
        let mut push = |axis, end| {
            self.deformers.push(Deformer {
                joint: joint as u32,
                parent: parent as u32,
                pivot,
                axis,
            });
            self.ends.push(end);
        };
        let mut any = false;
        for &child in skeleton.children(joint) {
            let end = skeleton.bind_position(child);
            if let Some(axis) = unit(&(end - pivot)) {
                push(axis, end);
                any = true;
            }
        }
        if !any {
            let axis = bone_direction(skeleton, joint);
            push(axis, pivot + axis);
        }
    }

    /// The deformers of a joint and their shares at a point, which sum to 1: the nearer the bone, the more.
    fn shares(&self, joint: u32, point: &Point64) -> Vec<(u32, f64)> {
        let own = self.first[joint as usize]..self.first[joint as usize + 1];
        if own.len() == 1 {
            return vec![(own.start, 1.0)];
        }
        let nearness = |deformer: u32| {
            let (start, end) = (
                self.deformers[deformer as usize].pivot,
                self.ends[deformer as usize],
            );
            let bone = end - start;
            let foot = start + bone * closest_on_segment(point, &start, &end);
            let distance = (point - foot).norm_squared() + bone.norm_squared() * NEAR * NEAR;
            1.0 / distance.powi(2).max(f64::MIN_POSITIVE)
        };
        let mut shares: Vec<(u32, f64)> =
            own.map(|deformer| (deformer, nearness(deformer))).collect();
        let sum: f64 = shares.iter().map(|share| share.1).sum();
        if !sum.is_finite() {
            shares.truncate(1);
            shares[0].1 = 1.0;
            return shares;
        }
        let largest = shares.iter().map(|share| share.1 / sum).fold(0.0, f64::max);
        let cut = LEAST_SHARE.min(0.5 * largest);
        for share in &mut shares {
            share.1 = share.1 / sum - cut;
        }
        shares.retain(|share| share.1 > 0.0);
        let sum: f64 = shares.iter().map(|share| share.1).sum();
        for share in &mut shares {
            share.1 /= sum;
        }
        shares
    }
}

/// Weights by their own distances of vertices without a triangle, which are no part of the skin; empty if there is none.
fn stray_weights(positions: &[Point], skin_of: &[Option<u32>], skeleton: &Skeleton) -> SkinWeights {
    if skin_of.iter().all(Option::is_some) {
        return SkinWeights::default();
    }
    let points = TriMesh {
        positions: positions.to_vec(),
        triangles: Vec::new(),
    };
    by_distance(&points, skeleton)
}
