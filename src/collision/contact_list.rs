//! The contact pairs, tracked from step to step.
//!
//! A pair is created when a vertex enters a wedge. Its contact point then follows the vertex over the surface. It is removed when
//! the vertex is farther away than [`KEEP_DISTANCE`], or no longer opposite to the surface. This hysteresis keeps contacts of
//! resting skin constant.

use std::sync::Arc;

use super::joint_pairs::JointContacts;
use super::{ClosestPoint, CollisionBody, Detector, JointPairs, PosedFootPoints};
use crate::math::{Point, Vec3};

/// A pair is kept while its vertex is less than this fraction of the local edge length above the surface (`δ_col` of FPS 3.2.5).
pub const KEEP_DISTANCE: f32 = 0.6;
/// Largest number of contacts per vertex; they have different contact points.
const MAX_PER_VERTEX: usize = 3;
/// Contact points within this many local edge lengths are treated as the same one.
const SAME_POINT: f32 = 2.0;
/// A pair is removed if its vertex is outside all wedges, below the surface, and farther from its contact point than this many
/// local edge lengths: it has passed through.
const MAX_INSIDE_DISTANCE: f32 = 2.0;

/// New contacts need surfaces that face each other: the cosine between their directions from the bone line is below this, and so is
/// the cosine between their normals.
const MAX_FACING_COSINE: f32 = 0.5;

/// Above this cosine between the normals, the skin between the two points is smooth, and the contact is removed.
const SMOOTH_COSINE: f32 = 0.8;

/// Smallest cosine between the skin's normal and the direction from the bone line. Below it the skin counts as crumpled.
const MIN_OUTWARD_COSINE: f32 = 0.1;
/// The contact point is kept while the lateral distance of its vertex is within this many local edge lengths.
const STICK_DISTANCE: f32 = 0.01;
/// Fraction of a change of the normal that is applied per time step. A contact changes the normal of the skin that it presses;
/// larger fractions make the two oscillate.
const NORMAL_RATE: f32 = 0.1;
/// The same fraction in a solve for an equilibrium. It is larger because the flesh nearly converges between two refreshes.
const NORMAL_RATE_STATIC: f32 = 0.5;
/// Fraction of the way to the closest point that a contact point moves per time step. Where a gap is kept, the closest point moves
/// sideways when the skin tilts, and the skin tilts when the load moves; larger fractions make the two oscillate.
const POINT_RATE: f32 = 0.2;
/// Contact points that are farther than this many local edge lengths from the closest point move there at once.
const MAX_POINT_LAG: f32 = 1.0;
/// Largest lateral distance of a vertex from its contact point for a new pair, local edge lengths.
const MAX_LATERAL: f32 = 0.7;
/// The same for an existing pair without load.
const MAX_LATERAL_EXISTING: f32 = 1.5;
/// A pair is created when the penetration is deeper than this fraction of the local edge length.
const MIN_DEPTH: f32 = 0.03;

/// A vertex and the point of the skin that it must not penetrate.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contact {
    /// Index of the vertex.
    pub vertex: u32,
    /// The triangle with the closest point.
    pub triangle: u32,
    /// Its corners.
    pub corners: [u32; 3],
    /// Barycentric coordinates β of the closest point.
    pub weights: [f32; 3],
    /// Unit normal n of the separating plane between the vertex and the closest point, away from the triangle (PS 5.3).
    pub normal: Vec3,
    /// Gap n · (x − Σ β t), world units; negative inside.
    pub gap: f32,
    /// Local edge length at rest, world units.
    pub edge: f32,
    /// Load λ of the pair; 0 while it is inactive. Written by the solver; kept as long as the pair exists.
    pub load: f32,
    /// Gap that the pair is constrained to keep at least, world units. Written by the solver; kept as long as the pair exists.
    pub min_gap: f32,
    /// Increase of that gap in the last step, world units. Written by the solver; kept as long as the pair exists.
    pub increase: f32,
    /// Whether the pair is removed as soon as its load is zero. Written by the solver; kept as long as the pair exists.
    pub ending: bool,
    /// Whether the pair existed before the last refresh.
    pub old: bool,
}

/// What contacts are updated for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refresh {
    /// An equilibrium: all bones are searched, and normals move fast.
    Equilibrium,
    /// A time step: half of the bones are searched in turn.
    Step,
    /// A time step of flesh whose contacts keep a gap: contact points move gradually, too.
    GradualStep,
}

/// All contacts of a skin, sorted by vertex.
#[derive(Debug, Clone, Default)]
pub struct ContactList {
    contacts: Vec<Contact>,
    kept: Vec<Contact>,
    detector: Detector,
    /// If set, only these precomputed pairs are considered, and no detection runs.
    joint_contacts: Option<JointContacts>,
}

impl ContactList {
    /// A list restricted to precomputed pairs around the joints.
    #[must_use]
    pub fn around_joints(pairs: Arc<JointPairs>) -> Self {
        Self {
            joint_contacts: Some(JointContacts::new(pairs)),
            ..Self::default()
        }
    }

    /// The contacts, sorted by vertex, then by triangle.
    #[must_use]
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    /// Replaces the contacts by others of the same skin, sorted in the same way.
    pub fn set_contacts(&mut self, contacts: &[Contact]) {
        self.contacts.clear();
        self.contacts.extend_from_slice(contacts);
    }

    /// The contacts, for updating what the solver writes.
    pub fn contacts_mut(&mut self) -> &mut [Contact] {
        &mut self.contacts
    }

    /// Removes the contacts for which `keep` is false.
    pub fn retain(&mut self, keep: impl FnMut(&mut Contact) -> bool) {
        match &mut self.joint_contacts {
            Some(joint_contacts) => joint_contacts.retain(&mut self.contacts, keep),
            None => self.contacts.retain_mut(keep),
        }
    }

    /// Removes all contacts.
    pub fn clear(&mut self) {
        self.contacts.clear();
        self.detector.clear();
    }

    /// Updates the contacts for new positions, removes ended pairs and detects new ones.
    /// Allocates only when there are more contacts than ever before.
    pub fn refresh(
        &mut self,
        body: &CollisionBody,
        positions: &[Point],
        foot_points: &PosedFootPoints,
        refresh: Refresh,
    ) {
        let Self {
            contacts,
            kept,
            detector,
            joint_contacts,
        } = self;
        if let Some(joint_contacts) = joint_contacts {
            joint_contacts.refresh(contacts, body, positions, foot_points);
            return;
        }
        let (hits, rate) = if refresh == Refresh::Equilibrium {
            let hits = detector.detect(body, positions, foot_points);
            (hits, NORMAL_RATE_STATIC)
        } else {
            let hits = detector.detect_round_robin(body, positions, foot_points);
            (hits, NORMAL_RATE)
        };
        kept.clear();
        // Contacts rarely take more: a list that grows in the middle of a motion would allocate.
        kept.reserve(body.vertices() / 4);
        for contact in contacts.iter() {
            let first_hit = hits.partition_point(|hit| hit.vertex < contact.vertex);
            let is_inside = hits
                .get(first_hit)
                .is_some_and(|hit| hit.vertex == contact.vertex);
            let loaded = contact.load > 0.0;
            let state = if loaded {
                PairState::Loaded
            } else {
                PairState::Existing
            };
            let found = keep_contact_point(body, positions, contact).or_else(|| {
                find_contact_point(
                    body,
                    positions,
                    foot_points,
                    contact.vertex,
                    contact.triangle,
                    state,
                )
            });
            let found = found.filter(|next| loaded || is_within_reach(next, is_inside, positions));
            if let Some(mut next) = found {
                if refresh == Refresh::GradualStep {
                    next = move_gradually(body, positions, contact, next);
                }
                let normal = (next.normal * rate + contact.normal * (1.0 - rate))
                    .try_normalize(1e-3)
                    .unwrap_or(next.normal);
                let gap = normal
                    .dot(&(positions[next.vertex as usize] - contact_point(&next, positions)));
                let next = Contact {
                    load: contact.load,
                    min_gap: contact.min_gap,
                    increase: contact.increase,
                    ending: contact.ending,
                    old: true,
                    normal,
                    gap,
                    ..next
                };
                if is_new_contact_point(kept, &next, positions) {
                    kept.push(next);
                }
            }
        }
        let old = kept.len();
        for hit in hits {
            let Some(next) = find_contact_point(
                body,
                positions,
                foot_points,
                hit.vertex,
                hit.triangle,
                PairState::New,
            ) else {
                continue;
            };
            let first = kept[..old].partition_point(|c| c.vertex < hit.vertex);
            let present = kept[first..old]
                .iter()
                .take_while(|c| c.vertex == hit.vertex);
            let added = kept[old..]
                .iter()
                .rev()
                .take_while(|c| c.vertex == hit.vertex);
            let same = |c: &Contact| {
                (contact_point(c, positions) - contact_point(&next, positions)).norm()
                    <= SAME_POINT * next.edge
            };
            let (mut count, mut known) = (0, false);
            for c in present.chain(added) {
                count += 1;
                known |= same(c);
            }
            if next.gap < -MIN_DEPTH * next.edge && !known && count < MAX_PER_VERTEX {
                kept.push(next);
            }
        }
        kept.sort_unstable_by_key(|c| (c.vertex, c.triangle));
        std::mem::swap(contacts, kept);
    }
}

/// A contact whose point has moved only a part of the way from where it was.
fn move_gradually(
    body: &CollisionBody,
    positions: &[Point],
    before: &Contact,
    next: Contact,
) -> Contact {
    let from = contact_point(before, positions);
    let way = contact_point(&next, positions) - from;
    if way.norm() > MAX_POINT_LAG * next.edge {
        return next;
    }
    let closest = body.closest_point_from(&(from + way * POINT_RATE), before.triangle, positions);
    Contact {
        triangle: closest.triangle,
        corners: body.triangle(closest.triangle),
        weights: closest.weights,
        ..next
    }
}

/// The same contact with an updated normal, if its vertex has hardly moved laterally.
fn keep_contact_point(
    body: &CollisionBody,
    positions: &[Point],
    contact: &Contact,
) -> Option<Contact> {
    let offset = positions[contact.vertex as usize] - contact_point(contact, positions);
    let lateral = (offset - contact.normal * contact.normal.dot(&offset)).norm();
    if lateral > STICK_DISTANCE * contact.edge {
        return None;
    }
    let own = body
        .area_normal(contact.vertex, positions)
        .try_normalize(1e-30)?;
    let smooth = body.smooth_normal(contact.triangle, &contact.weights, positions);
    if own.dot(&smooth) > SMOOTH_COSINE && !is_on_fold(body, contact.vertex, &contact.corners) {
        return None;
    }
    let normal = (smooth - own).try_normalize(1e-3)?;
    Some(Contact { normal, ..*contact })
}

/// The contact of a vertex with the closest point of the skin, searched from a triangle. `None` if the surface there does not face
/// the vertex.
fn find_contact_point(
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
fn is_on_fold(body: &CollisionBody, vertex: u32, corners: &[u32; 3]) -> bool {
    corners
        .iter()
        .chain([&vertex])
        .any(|&v| body.may_fold[body.foot_bones[v as usize] as usize])
}

/// Previous state of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum PairState {
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
            ending: false,
            old: false,
        })
    }
}

fn contact_point(contact: &Contact, positions: &[Point]) -> Point {
    let mut sum = Vec3::zeros();
    for (&v, &w) in contact.corners.iter().zip(&contact.weights) {
        sum += positions[v as usize].coords * w;
    }
    Point::from(sum)
}

fn is_within_reach(contact: &Contact, is_inside: bool, positions: &[Point]) -> bool {
    let distance = (positions[contact.vertex as usize] - contact_point(contact, positions)).norm();
    if contact.gap >= 0.0 {
        contact.gap <= KEEP_DISTANCE * contact.edge
            && distance <= MAX_LATERAL_EXISTING * contact.edge
    } else {
        is_inside || distance <= MAX_INSIDE_DISTANCE * contact.edge
    }
}

/// Whether no kept contact of the same vertex has the same contact point. `kept` is sorted by vertex.
fn is_new_contact_point(kept: &[Contact], next: &Contact, positions: &[Point]) -> bool {
    let point = contact_point(next, positions);
    !kept
        .iter()
        .rev()
        .take_while(|c| c.vertex == next.vertex)
        .any(|c| (contact_point(c, positions) - point).norm() <= SAME_POINT * next.edge)
}
