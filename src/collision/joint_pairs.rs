//! Contacts between precomputed pairs of vertices around every joint (PS 5, FPS 3.2.5).
//!
//! A step needs no search: a comparison of angles tells whether the two vertices of a pair have crossed. Crossed pairs are passed
//! to the same solver as the contacts of global detection.
//!
//! # Departures
//! - PS switches between two prefactored matrices, one with all pairs. Here the global step solves for the active pairs
//!   ([`crate::dynamics::Contacts`]), one-sided and without friction.
//! - The patches of two bones are separated by their foot points instead of a plane through the joint. Vertices are paired by their
//!   position on the plane between the bones, where both skins meet.
//! - Pairs are separated along the normal of the bisecting plane, not along the difference of their skin normals. Skin normals
//!   change while the skin deforms, so that the contacts would not converge.
//! - A sweep has eight directions; only those close to the current bend are tested.

use nalgebra::Matrix3x4;

use super::bend::Bend;
use super::contact_list::KEEP_DISTANCE;
use super::sweep::{BonePair, VertexPair, sweep};
use super::{CollisionBody, Contact, PosedFootPoints, Release};
use crate::math::{Point, Vec3};
use crate::tissue::Tissue;

/// A sweep direction is tested if its cosine to the current bend direction is above this: the nearest two or three.
const MIN_DIRECTION_COSINE: f32 = 0.7;
/// Largest lateral distance between the vertices of a new or unloaded pair, local edge lengths.
const MAX_LATERAL: f32 = 4.0;
/// The same for a loaded pair.
const MAX_LATERAL_LOADED: f32 = 6.0;

/// The pairs of vertices that may touch around the joints of a character. Immutable.
#[derive(Debug, Clone)]
pub struct JointPairs {
    bone_pairs: Vec<BonePair>,
    pairs: Vec<VertexPair>,
}

impl JointPairs {
    /// Sweeps every bone towards the other bones at the same joint, and pairs the vertices that come into contact.
    #[must_use]
    pub fn find(body: &CollisionBody, tissue: &Tissue) -> Self {
        let (bone_pairs, pairs) = sweep(body, tissue);
        Self { bone_pairs, pairs }
    }

    /// Number of pairs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.pairs.len()
    }

    /// Whether there are no pairs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Number of pairs of bones whose skins may touch.
    #[must_use]
    pub fn joints(&self) -> usize {
        self.bone_pairs.len()
    }
}

/// The active contacts among the precomputed pairs, kept from step to step.
#[derive(Debug, Clone)]
pub(super) struct JointContacts {
    pairs: std::sync::Arc<JointPairs>,
    /// Per contact, the index of its pair; ascending.
    ids: Vec<u32>,
    kept: Vec<Contact>,
    kept_ids: Vec<u32>,
}

impl JointContacts {
    pub(super) fn new(pairs: std::sync::Arc<JointPairs>) -> Self {
        Self {
            pairs,
            ids: Vec::new(),
            kept: Vec::new(),
            kept_ids: Vec::new(),
        }
    }

    /// Updates the contacts for new positions, removes pairs that have separated and adds pairs that have crossed.
    pub(super) fn refresh(
        &mut self,
        contacts: &mut Vec<Contact>,
        body: &CollisionBody,
        positions: &[Point],
        foot_points: &PosedFootPoints,
    ) {
        let Self {
            pairs,
            ids,
            kept,
            kept_ids,
        } = self;
        ids.truncate(contacts.len());
        kept.clear();
        kept_ids.clear();
        for bone_pair in &pairs.bone_pairs {
            let Some((bend, bend_direction)) = pose(bone_pair, foot_points) else {
                continue;
            };
            for (direction, range) in bone_pair.directions.iter().zip(&bone_pair.ranges) {
                let is_tested = direction.dot(&bend_direction) > MIN_DIRECTION_COSINE;
                let mut next_old = ids.partition_point(|&id| id < range.start);
                let mut id = range.start;
                while id < range.end {
                    let old = ids.get(next_old).copied().filter(|&old| old < range.end);
                    if !is_tested {
                        // Skip pairs without an existing contact.
                        let Some(old) = old else { break };
                        id = old;
                    }
                    let before = if old == Some(id) {
                        next_old += 1;
                        Some(&contacts[next_old - 1])
                    } else {
                        None
                    };
                    if let Some(contact) =
                        contact_of_pair(&pairs.pairs[id as usize], before, &bend, body, positions)
                    {
                        kept.push(contact);
                        kept_ids.push(id);
                    }
                    id += 1;
                }
            }
        }
        std::mem::swap(contacts, kept);
        std::mem::swap(ids, kept_ids);
    }

    /// Removes the contacts for which `keep` is false.
    pub(super) fn retain(
        &mut self,
        contacts: &mut Vec<Contact>,
        mut keep: impl FnMut(&mut Contact) -> bool,
    ) {
        let mut kept = 0;
        for index in 0..contacts.len() {
            if keep(&mut contacts[index]) {
                contacts[kept] = contacts[index];
                self.ids[kept] = self.ids[index];
                kept += 1;
            }
        }
        contacts.truncate(kept);
        self.ids.truncate(kept);
    }
}

/// The posed bones of a pair, and the bend direction: the direction of the second bone, transformed to the bind pose of the first
/// and projected perpendicular to it.
fn pose(bone_pair: &BonePair, foot_points: &PosedFootPoints) -> Option<(Bend, Vec3)> {
    let transforms = [
        foot_points.bone(bone_pair.bones[0])?,
        foot_points.bone(bone_pair.bones[1])?,
    ];
    let linear = |transform: &Matrix3x4<f32>| transform.fixed_view::<3, 3>(0, 0).into_owned();
    let first = (linear(transforms[0]) * bone_pair.along[0]).try_normalize(1e-30)?;
    let second = (linear(transforms[1]) * bone_pair.along[1]).try_normalize(1e-30)?;
    let joint =
        Point::from(linear(transforms[0]) * bone_pair.joint.coords + transforms[0].column(3));
    let bend = Bend::of(joint, [first, second])?;
    let back = linear(transforms[0]).transpose() * second;
    let bend_direction =
        (back - bone_pair.along[0] * bone_pair.along[0].dot(&back)).try_normalize(1e-6)?;
    Some((bend, bend_direction))
}

/// The contact of a pair, if it is active. It begins when the vertices have crossed, and ends when their gap exceeds
/// [`KEEP_DISTANCE`].
fn contact_of_pair(
    pair: &VertexPair,
    before: Option<&Contact>,
    bend: &Bend,
    body: &CollisionBody,
    positions: &[Point],
) -> Option<Contact> {
    let [first, second] = pair.vertices;
    let [p, q] = pair.vertices.map(|v| positions[v as usize]);
    if before.is_none() && !bend.has_crossed(&p, &q) {
        return None;
    }
    let offset = p - q;
    let loaded = before.is_some_and(|contact| contact.load > 0.0);
    let reach = if loaded {
        MAX_LATERAL_LOADED
    } else {
        MAX_LATERAL
    } * pair.edge;
    let normal = bend.plane_normal;
    let gap = normal.dot(&offset);
    if (offset - normal * gap).norm() > reach {
        return None;
    }
    let has_ended = if before.is_some() {
        !loaded && gap > KEEP_DISTANCE * pair.edge
    } else {
        gap >= 0.0
    };
    if has_ended {
        return None;
    }
    let triangle = body.fan(second).first().copied().unwrap_or(0);
    Some(Contact {
        vertex: first,
        triangle,
        corners: [second; 3],
        weights: [1.0, 0.0, 0.0],
        normal,
        gap,
        edge: pair.edge,
        load: before.map_or(0.0, |contact| contact.load),
        min_gap: before.map_or(gap, |contact| contact.min_gap_for(gap, positions)),
        increase: before.map_or(0.0, |contact| contact.increase),
        hold: before.map_or(1.0, |contact| contact.hold),
        release: before.map_or(Release::No, |contact| contact.release),
        old: before.is_some(),
    })
}
