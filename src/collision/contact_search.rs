//! The contact of one vertex: the closest point of the skin that faces it.

use super::contact::{Contact, Release};
use super::{ClosestPoint, CollisionBody, PosedFootPoints};
use crate::math::{Point, Vec3};

/// New contacts need surfaces that face each other: the cosine between their directions from the bone line is below this, and so is
/// the cosine between their normals.
const MAX_FACING_COSINE: f32 = 0.5;
/// Above this cosine between the normals, the skin between the two points is smooth, and the contact is removed.
pub(super) const SMOOTH_COSINE: f32 = 0.8;
/// Smallest cosine between the skin's normal and the direction from the bone line. Below it the skin counts as crumpled.
const MIN_OUTWARD_COSINE: f32 = 0.1;
/// Largest lateral distance of a vertex from its contact point for a new pair, local edge lengths.
const MAX_LATERAL: f32 = 0.7;
/// The same for an existing pair without load.
pub(super) const MAX_LATERAL_EXISTING: f32 = 1.5;

/// The contact of a vertex with the closest point of the skin, searched from a triangle. `None` if the surface there does not face
/// the vertex.
pub(super) fn find_contact_point(
    body: &CollisionBody,
    positions: &[Point],
    foot_points: &PosedFootPoints,
    vertex: u32,
    from: u32,
    state: PairState,
) -> Option<Contact> {
    let p = positions[vertex as usize];
    let query = ContactQuery::new(body, positions, foot_points, vertex)?;
    // The closest point is tested first. It may lie on the vertex's own side of a crease; then the closest point among the
    // triangles that may collide is used.
    let closest = body.closest_point_from(&p, from, positions);
    if (closest.triangle == from || query.may_collide(closest.triangle))
        && let Some(contact) = query.contact_at(&closest, state)
    {
        return Some(contact);
    }
    let on_fold = is_on_fold(body, vertex, &body.triangle(from));
    let other = body.closest_allowed_point_from(&p, from, positions, |triangle| {
        on_fold && query.may_collide(triangle)
    });
    query.contact_at(&other, state)
}

/// Whether the vertex or a corner is on a bone whose skin may touch itself.
pub(super) fn is_on_fold(body: &CollisionBody, vertex: u32, corners: &[u32; 3]) -> bool {
    corners
        .iter()
        .chain([&vertex])
        .any(|&v| body.may_fold[body.foot_bones[v as usize] as usize])
}

/// Previous state of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PairState {
    /// Created in this step.
    New,
    /// Existed before, without load.
    Existing,
    /// Existed before, with load.
    Loaded,
}

/// A vertex whose contact point is searched.
struct ContactQuery<'a> {
    body: &'a CollisionBody,
    positions: &'a [Point],
    foot_points: &'a PosedFootPoints,
    vertex: u32,
    /// Unit normal of the skin at the vertex.
    normal: Vec3,
}

impl<'a> ContactQuery<'a> {
    fn new(
        body: &'a CollisionBody,
        positions: &'a [Point],
        foot_points: &'a PosedFootPoints,
        vertex: u32,
    ) -> Option<Self> {
        let normal = body.area_normal(vertex, positions).try_normalize(1e-30)?;
        Some(Self {
            body,
            positions,
            foot_points,
            vertex,
            normal,
        })
    }

    /// Whether a triangle is not excluded, and on another bone. Opposite sides of one bone cannot touch, except for folds of thick
    /// flesh.
    fn may_collide(&self, triangle: u32) -> bool {
        let Self { body, vertex, .. } = *self;
        let corners = body.triangle(triangle);
        let may_fold = body.may_fold[body.foot_bones[vertex as usize] as usize];
        !corners.contains(&vertex)
            && (may_fold || !self.shares_bone(&corners))
            && !body.is_excluded(vertex, triangle)
    }

    fn shares_bone(&self, corners: &[u32; 3]) -> bool {
        let bones = &self.body.foot_bones;
        corners
            .iter()
            .any(|&c| bones[c as usize] == bones[self.vertex as usize])
    }

    /// The contact with a point of the skin, if the surface there faces the vertex.
    fn contact_at(&self, closest: &ClosestPoint, state: PairState) -> Option<Contact> {
        let Self {
            body,
            positions,
            foot_points,
            vertex,
            ..
        } = *self;
        let corners = body.triangle(closest.triangle);
        let mut outward = Vec3::zeros();
        for (&corner, &w) in corners.iter().zip(&closest.weights) {
            outward += foot_points.outward[corner as usize] * w;
        }
        let outward = outward.try_normalize(1e-3)?;
        let own_outward = foot_points.outward[vertex as usize];
        let outward_cosine = own_outward.dot(&outward);
        let normal_cosine = self.normal.dot(&closest.normal);
        let is_outward = self.normal.dot(&own_outward) >= MIN_OUTWARD_COSINE;
        let on_fold = is_on_fold(body, vertex, &corners);
        if state == PairState::New {
            let aligned = if on_fold {
                let side_by_side = outward_cosine >= 0.0 && normal_cosine <= -MAX_FACING_COSINE;
                normal_cosine > MAX_FACING_COSINE
                    || (!side_by_side
                        && (outward_cosine > MAX_FACING_COSINE || self.shares_bone(&corners)))
            } else {
                // If the skin is crumpled, its inside and outside cannot be distinguished.
                normal_cosine > MAX_FACING_COSINE
                    || outward_cosine > MAX_FACING_COSINE
                    || !is_outward
                    || closest.normal.dot(&outward) < MIN_OUTWARD_COSINE
            };
            if aligned {
                return None;
            }
        }
        if normal_cosine > SMOOTH_COSINE && !on_fold {
            return None;
        }
        let normal = if is_outward {
            (closest.normal - self.normal).try_normalize(1e-3)?
        } else {
            closest.normal
        };
        let edge = body.local_edge(closest.triangle);
        let offset = positions[vertex as usize] - closest.point;
        let gap = normal.dot(&offset);
        let lateral = (offset - closest.normal * closest.normal.dot(&offset)).norm();
        let max_lateral = match state {
            PairState::New => MAX_LATERAL,
            PairState::Existing => MAX_LATERAL_EXISTING,
            PairState::Loaded => f32::INFINITY,
        };
        if lateral > max_lateral * edge + 0.5 * gap.abs() {
            return None;
        }
        let ClosestPoint {
            triangle, weights, ..
        } = *closest;
        Some(Contact {
            vertex,
            triangle,
            corners,
            weights,
            normal,
            gap,
            edge,
            load: 0.0,
            min_gap: gap,
            increase: 0.0,
            hold: 1.0,
            release: Release::No,
            old: false,
        })
    }
}
