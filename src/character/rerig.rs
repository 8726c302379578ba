//! Transfers a character to an edited rig.

use std::sync::Arc;

use super::muscle::carried;
use super::{Attachment, Character, FleshSettings, NO_SKELETON, Place, SourceMesh};
use crate::math::{Affine, Point, Point64};
use crate::mesh::closest_on_segment;
use crate::rig::edit::{Remap, Rig, clip_on};
use crate::rig::{Skeleton, SkeletonError};
use crate::weights::SkinWeights;

/// New joints take a share of their owner's weights by distance, with the falloff of
/// [`crate::weights::by_distance`].
const FALLOFF: i32 = 4;
/// New roots do not affect a vertex if their total weight would be below this.
const LEAST_SHARE: f64 = 0.1;

impl Character {
    /// The character on an edited rig whose [`origins`](crate::rig::edit::RigJoint::origin) are
    /// this character's joints. The skin does not move in the bind pose.
    ///
    /// - Weights of deleted joints move to the nearest remaining ancestor; new joints take a share,
    ///   by distance, from the nearest ancestor in the file. A skin without remaining joints gets
    ///   new weights.
    /// - New roots and their descendants take weight from all other joints by distance; far from
    ///   them the file's weights are kept.
    /// - Props keep their bind-pose transform and are attached to the nearest remaining ancestor.
    /// - Clips are converted by [`clip_on`].
    ///
    /// # Errors
    /// As [`Rig::to_skeleton`].
    pub fn with_rig(&self, rig: &Rig) -> Result<Self, SkeletonError> {
        let skeleton = rig.to_skeleton(&self.skeleton)?;
        let carrier = JointMap::new(rig, &self.skeleton, &skeleton);
        let remap = Remap::between(&Rig::of(&self.skeleton), rig);
        let mut made = self.clone();
        made.meshes = self.meshes.iter().map(|mesh| carrier.mesh(mesh)).collect();
        for (index, before) in self.meshes.iter().enumerate() {
            let was_placed = matches!(before.attachment, Attachment::Unweighted);
            if !was_placed && matches!(made.meshes[index].attachment, Attachment::Unweighted) {
                made.place_morphs(index, before, &self.skeleton);
            }
        }
        made.clips = self
            .clips
            .iter()
            .map(|clip| clip_on(clip, &self.skeleton, rig))
            .collect();
        made.humanoid = self
            .humanoid
            .iter()
            .filter_map(|(role, joint)| {
                remap
                    .new_from_old(*joint)
                    .map(|joint| (role.clone(), joint))
            })
            .collect();
        made.flesh = self.flesh.on(&remap);
        made.notes
            .retain(|note| rig.is_empty() || note.text != NO_SKELETON);
        made.document = self.document.as_ref().map(|document| {
            let mut document = (**document).clone();
            document.rig_replaced = !document.joint_nodes.is_empty();
            Arc::new(document)
        });
        made.skeleton = skeleton;
        Ok(made)
    }
}

impl FleshSettings {
    /// The settings on the new joints; settings of deleted ones are dropped.
    #[must_use]
    pub fn on(&self, remap: &Remap) -> Self {
        let parts = self.parts.iter().filter_map(|(name, place)| {
            let place = match place {
                Place::Rigid { joint } => Place::Rigid {
                    joint: remap.new_from_old(*joint)?,
                },
                other => *other,
            };
            Some((name.clone(), place))
        });
        Self {
            bones: remap.carry(&self.bones),
            radii: remap.carry(&self.radii),
            metres_per_unit: self.metres_per_unit,
            sim_vertices: self.sim_vertices,
            base: self.base,
            parts: parts.collect(),
            paint: self.paint.clone(),
            muscles: carried(&self.muscles, remap),
        }
    }
}

/// Maps joints of the file to joints of the rig.
struct JointMap<'a> {
    rig: &'a Rig,
    base: &'a Skeleton,
    skeleton: &'a Skeleton,
    /// For every joint of the file the joint of the rig that replaces it.
    replacement: Vec<Option<usize>>,
    /// For every joint of the rig the file's joint whose weights it has or shares.
    owner: Vec<Option<usize>>,
    /// For every joint of the rig that has new descendants: itself and those, which share its
    /// weights.
    shares: Vec<Vec<usize>>,
    /// New joints without an ancestor in the file.
    rootless: Vec<usize>,
}

impl<'a> JointMap<'a> {
    fn new(rig: &'a Rig, base: &'a Skeleton, skeleton: &'a Skeleton) -> Self {
        let mut replacement = vec![None; base.len()];
        for (joint, origin) in rig
            .joints()
            .iter()
            .enumerate()
            .filter_map(|(index, joint)| Some((index, joint.origin?)))
        {
            if origin < replacement.len() {
                replacement[origin] = Some(joint);
            }
        }
        for joint in 0..base.len() {
            if replacement[joint].is_none() {
                replacement[joint] = base.joints()[joint]
                    .parent
                    .and_then(|parent| replacement[parent]);
            }
        }
        let mut owner: Vec<Option<usize>> = Vec::with_capacity(rig.len());
        let mut source: Vec<Option<usize>> = Vec::with_capacity(rig.len());
        let (mut shares, mut rootless) = (vec![Vec::new(); rig.len()], Vec::new());
        for (index, joint) in rig.joints().iter().enumerate() {
            let from = joint.origin.map_or_else(
                || joint.parent.and_then(|parent| source[parent]),
                |_| Some(index),
            );
            if joint.origin.is_none()
                && let Some(from) = from
            {
                if shares[from].is_empty() {
                    shares[from].push(from);
                }
                shares[from].push(index);
            }
            if from.is_none() && joint.deforms {
                rootless.push(index);
            }
            source.push(from);
            owner.push(from.and_then(|from| rig.joints()[from].origin));
        }
        Self {
            rig,
            base,
            skeleton,
            replacement,
            owner,
            shares,
            rootless,
        }
    }

    fn mesh(&self, mesh: &SourceMesh) -> SourceMesh {
        let mut made = mesh.clone();
        match &mesh.attachment {
            Attachment::Skinned {
                weights,
                joint_from_mesh,
            } if self.replacement.iter().any(Option::is_some) => {
                made.attachment = self.skinned(mesh, weights, joint_from_mesh);
            }
            Attachment::Skinned { .. } => {
                with_bind_position(&mut made, self.base);
            }
            Attachment::Static { .. } if self.base.is_empty() && !self.rig.is_empty() => {
                with_bind_position(&mut made, self.base);
            }
            Attachment::Rigid {
                joint,
                joint_from_mesh,
            } => {
                let world_from_mesh = self.base.joints()[*joint].world_from_bind * joint_from_mesh;
                made.attachment = match self.replacement[*joint] {
                    Some(joint) => Attachment::Rigid {
                        joint,
                        joint_from_mesh: self.joint_from(joint, &world_from_mesh),
                    },
                    None => Attachment::Static { world_from_mesh },
                };
            }
            _ => {}
        }
        made
    }

    fn joint_from(&self, joint: usize, world_from_mesh: &Affine) -> Affine {
        self.skeleton.joints()[joint]
            .world_from_bind
            .try_inverse()
            .unwrap_or_else(Affine::identity)
            * world_from_mesh
    }

    fn skinned(
        &self,
        mesh: &SourceMesh,
        weights: &SkinWeights,
        joint_from_mesh: &[Affine],
    ) -> Attachment {
        let mut used = vec![0.0_f64; self.base.len()];
        for (&joint, &value) in weights.joints.iter().zip(&weights.values) {
            used[joint as usize] += f64::from(value);
        }
        let placement =
            |joint: usize| self.base.joints()[joint].world_from_bind * joint_from_mesh[joint];
        // Matrices of joints that a skin does not use are not meaningful.
        let common = (0..used.len())
            .max_by(|&a, &b| used[a].total_cmp(&used[b]))
            .map_or_else(Affine::identity, placement);
        let from_mesh = (0..self.rig.len()).map(|joint| {
            let own = self.owner[joint].filter(|&owner| used[owner] > 0.0);
            self.joint_from(joint, &own.map_or(common, placement))
        });
        let fallback = self
            .replacement
            .iter()
            .copied()
            .flatten()
            .min()
            .unwrap_or_default();
        let places = mesh.bind_positions(self.base);
        let rows = (0..weights.len()).map(|vertex| {
            let mut row: Vec<(u32, f32)> = Vec::new();
            for (joint, value) in weights.of(vertex) {
                let replacement = self.replacement[joint].unwrap_or(fallback);
                self.share(replacement, value, &places[vertex], &mut row);
            }
            self.give_to_roots(&places[vertex], &mut row);
            row
        });
        Attachment::Skinned {
            weights: SkinWeights::from_rows(rows).0,
            joint_from_mesh: from_mesh.collect(),
        }
    }

    /// Distributes a weight over a joint and its new descendants, by distance.
    fn share(&self, joint: usize, value: f32, place: &Point, row: &mut Vec<(u32, f32)>) {
        if self.shares[joint].is_empty() {
            row.push((joint as u32, value));
            return;
        }
        let place = place.cast::<f64>();
        let near: Vec<(usize, f64)> = self.shares[joint]
            .iter()
            .map(|&member| (member, self.distance(member, &place).max(1e-12)))
            .collect();
        let nearest = near
            .iter()
            .map(|&(_, distance)| distance)
            .fold(f64::INFINITY, f64::min);
        let weight = |distance: f64| (nearest / distance).powi(FALLOFF);
        let sum: f64 = near.iter().map(|&(_, distance)| weight(distance)).sum();
        row.extend(near.iter().map(|&(member, distance)| {
            (
                member as u32,
                (f64::from(value) * weight(distance) / sum) as f32,
            )
        }));
    }

    /// Gives new roots the weight that they would have by distance among all joints; the others
    /// keep the rest.
    fn give_to_roots(&self, place: &Point, row: &mut Vec<(u32, f32)>) {
        if self.rootless.is_empty() {
            return;
        }
        let place = place.cast::<f64>();
        let inverse = |joint: usize| self.distance(joint, &place).max(1e-12).recip();
        let others = row
            .iter()
            .map(|&(joint, _)| inverse(joint as usize))
            .fold(0.0, f64::max);
        let theirs: Vec<(usize, f64)> = self
            .rootless
            .iter()
            .map(|&joint| (joint, inverse(joint)))
            .collect();
        let nearest = theirs
            .iter()
            .map(|&(_, inverse)| inverse)
            .fold(others, f64::max);
        let weight = |inverse: f64| (inverse / nearest).powi(FALLOFF);
        let sum: f64 = theirs.iter().map(|&(_, inverse)| weight(inverse)).sum();
        let part = ((sum / (sum + weight(others)) - LEAST_SHARE) / (1.0 - LEAST_SHARE)).max(0.0);
        if !(part > 0.0 && sum > 0.0) {
            return;
        }
        for (_, value) in row.iter_mut() {
            *value *= (1.0 - part) as f32;
        }
        row.extend(
            theirs
                .iter()
                .map(|&(joint, inverse)| (joint as u32, (part * weight(inverse) / sum) as f32)),
        );
    }

    /// Distance from a point to the nearest bone of a joint.
    fn distance(&self, joint: usize, point: &Point64) -> f64 {
        let here = self.rig.joints()[joint].position;
        let ends = self
            .rig
            .children(joint)
            .map(|child| self.rig.joints()[child].position)
            .chain(self.rig.tail(joint));
        let to = |end: Point64| {
            (here + (end - here) * closest_on_segment(point, &here, &end) - point).norm()
        };
        ends.map(to)
            .fold(None, |least: Option<f64>, distance| {
                Some(least.map_or(distance, |least| least.min(distance)))
            })
            .unwrap_or_else(|| to(here))
    }
}

/// The mesh at its bind-pose position, without weights.
fn with_bind_position(mesh: &mut SourceMesh, base: &Skeleton) {
    mesh.positions = mesh.bind_positions(base);
    mesh.attachment = Attachment::Unweighted;
    mesh.normals = None;
}

#[cfg(test)]
mod tests;
