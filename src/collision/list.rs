//! The contact pairs, tracked from step to step.
//!
//! A pair begins when a vertex is inside a wedge. Its contact point then follows the vertex over the surface, and it ends when the vertex is
//! farther away than [`KEEP`], or beside the surface. So a contact at rest neither flickers nor jumps.

use std::sync::Arc;

use super::local::Watched;
use super::{CollisionBody, Detector, Feet, Foot, JointPairs};
use crate::math::{Point, Vec3};

/// A pair is kept while its vertex is less than this fraction of the local edge length above the surface (`δ_col` of FPS 3.2.5).
pub const KEEP: f32 = 0.6;
/// Largest number of contacts per vertex, at different points.
const PER_VERTEX: usize = 3;
/// Contact points within this many local edge lengths count as one.
const SAME_PLACE: f32 = 2.0;
/// A vertex outside all wedges and farther from its contact point than this many local edge lengths has passed it.
const LOST: f32 = 2.0;

/// Surfaces in contact face each other: the cosine between their directions from the bone line is below this, and so is that
/// between their normals.
const FACING: f32 = 0.5;

/// If the cosine between the normals is above this, the skin between the two is smooth: the contact ends.
const SMOOTH: f32 = 0.8;

/// The cosine between the skin's normal and the direction from the bone line is at least this.
const UPRIGHT: f32 = 0.1;
/// The contact point of a pair stays while its vertex is within this many local edge lengths beside it.
const SLIDE: f32 = 0.01;
/// Fraction of a change of normal that is applied per step: what a contact presses turns its normal, and with more it would go to and
/// fro…
const TURN: f32 = 0.1;
/// …and when looked at on the way to an equilibrium, between which flesh comes nearly to rest.
const TURN_STATIC: f32 = 0.5;
/// The vertex projects onto the contact point within this many local edge lengths…
const BESIDE: f32 = 0.7;
/// …or this many for an existing pair.
const BESIDE_OLD: f32 = 1.5;
/// A pair begins when the penetration is deeper than this fraction of the local edge length.
const BEGIN: f32 = 0.03;

/// A vertex and the point of the skin that it must stay outside of.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Contact {
    /// The vertex.
    pub vertex: u32,
    /// The triangle with the closest point.
    pub triangle: u32,
    /// Its corners.
    pub corners: [u32; 3],
    /// Barycentric coordinates β of the closest point.
    pub weights: [f32; 3],
    /// Normal n of the plane between vertex and closest point, away from the triangle (PS 5.3).
    pub normal: Vec3,
    /// n · (x − Σ β t): negative inside.
    pub gap: f32,
    /// Mean edge length there, at rest.
    pub edge: f32,
    /// Load λ of the pair; 0 while it is not active. Written by the solver, and kept as long as the pair.
    pub load: f32,
    /// The gap that the pair is made to hold at least, world units. Written by the solver, and kept as long as the pair.
    pub held: f32,
    /// Whether the pair is to end as soon as it presses no more. Written by the solver, and kept as long as the pair.
    pub ends: bool,
    /// Whether the pair existed before the last refresh.
    pub old: bool,
}

/// All contacts of a skin, sorted by vertex.
#[derive(Debug, Clone, Default)]
pub struct ContactList {
    contacts: Vec<Contact>,
    kept: Vec<Contact>,
    detector: Detector,
    /// The only pairs to consider, instead of detection.
    around: Option<Watched>,
}

impl ContactList {
    /// A list restricted to these pairs.
    #[must_use]
    pub fn around_joints(pairs: Arc<JointPairs>) -> Self {
        Self {
            around: Some(Watched::new(pairs)),
            ..Self::default()
        }
    }

    /// The contacts, sorted by vertex, then by triangle.
    #[must_use]
    pub fn contacts(&self) -> &[Contact] {
        &self.contacts
    }

    /// The contacts, for writing the loads.
    pub fn contacts_mut(&mut self) -> &mut [Contact] {
        &mut self.contacts
    }

    /// Removes the contacts for which `keep` is false.
    pub fn retain(&mut self, keep: impl FnMut(&mut Contact) -> bool) {
        match &mut self.around {
            Some(watched) => watched.retain(&mut self.contacts, keep),
            None => self.contacts.retain_mut(keep),
        }
    }

    /// Removes all contacts.
    pub fn clear(&mut self) {
        self.contacts.clear();
        self.detector.clear();
    }

    /// Updates the contacts for new positions, removes ended ones and detects new ones: `all` on the way to an equilibrium, or those
    /// with some of the bones in turn.
    /// Allocates only when there are more contacts than ever before.
    pub fn refresh(&mut self, body: &CollisionBody, positions: &[Point], feet: &Feet, all: bool) {
        let Self {
            contacts,
            kept,
            detector,
            around,
        } = self;
        if let Some(watched) = around {
            watched.refresh(contacts, body, positions, feet);
            return;
        }
        let hits = if all {
            detector.detect(body, positions, feet)
        } else {
            detector.detect_in_turns(body, positions, feet)
        };
        let turn = if all { TURN_STATIC } else { TURN };
        kept.clear();
        for contact in contacts.iter() {
            let touched = hits.partition_point(|hit| hit.vertex < contact.vertex);
            let still_inside = hits
                .get(touched)
                .is_some_and(|hit| hit.vertex == contact.vertex);
            let pressing = contact.load > 0.0;
            let hold = if pressing { Hold::Pressing } else { Hold::Old };
            let found = rest_on(body, positions, contact).or_else(|| {
                follow(
                    body,
                    positions,
                    feet,
                    contact.vertex,
                    contact.triangle,
                    hold,
                )
            });
            if let Some(next) =
                found.filter(|next| pressing || stays(next, still_inside, positions))
            {
                let normal = (next.normal * turn + contact.normal * (1.0 - turn))
                    .try_normalize(1e-3)
                    .unwrap_or(next.normal);
                let gap = normal.dot(&(positions[next.vertex as usize] - place(&next, positions)));
                let next = Contact {
                    load: contact.load,
                    held: contact.held,
                    ends: contact.ends,
                    old: true,
                    normal,
                    gap,
                    ..next
                };
                if is_new_place(kept, &next, positions) {
                    kept.push(next);
                }
            }
        }
        let old = kept.len();
        for hit in hits {
            let Some(next) = follow(body, positions, feet, hit.vertex, hit.triangle, Hold::New)
            else {
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
                (place(c, positions) - place(&next, positions)).norm() <= SAME_PLACE * next.edge
            };
            let (mut count, mut known) = (0, false);
            for c in present.chain(added) {
                count += 1;
                known |= same(c);
            }
            if next.gap < -BEGIN * next.edge && !known && count < PER_VERTEX {
                kept.push(next);
            }
        }
        kept.sort_unstable_by_key(|c| (c.vertex, c.triangle));
        std::mem::swap(contacts, kept);
    }
}

/// The contact point stays while the vertex has hardly moved sideways.
fn rest_on(body: &CollisionBody, positions: &[Point], contact: &Contact) -> Option<Contact> {
    let way = positions[contact.vertex as usize] - place(contact, positions);
    let beside = (way - contact.normal * contact.normal.dot(&way)).norm();
    if beside > SLIDE * contact.edge {
        return None;
    }
    let own = body
        .area_normal(contact.vertex, positions)
        .try_normalize(1e-30)?;
    let smooth = body.smooth_normal(contact.triangle, &contact.weights, positions);
    if own.dot(&smooth) > SMOOTH && !is_deep(body, contact.vertex, &contact.corners) {
        return None;
    }
    let normal = (smooth - own).try_normalize(1e-3)?;
    Some(Contact { normal, ..*contact })
}

/// The point closest to a vertex, starting from a triangle; `None` if the surface there does not face it.
fn follow(
    body: &CollisionBody,
    positions: &[Point],
    feet: &Feet,
    vertex: u32,
    from: u32,
    hold: Hold,
) -> Option<Contact> {
    let p = positions[vertex as usize];
    let seeker = Seeker::new(body, positions, feet, vertex)?;
    // Usually the closest point is right. If it lies on the vertex's own side of a crease, use the closest other one.
    let closest = body.walk(&p, from, positions);
    if (closest.triangle == from || seeker.may_touch(closest.triangle))
        && let Some(contact) = seeker.accept(&closest, hold)
    {
        return Some(contact);
    }
    let deep = is_deep(body, vertex, &body.triangle(from));
    let other = body.walk_among(&p, from, positions, |triangle| {
        deep && seeker.may_touch(triangle)
    });
    seeker.accept(&other, hold)
}

/// Whether a vertex or a triangle is on a bone whose skin may fold.
fn is_deep(body: &CollisionBody, vertex: u32, corners: &[u32; 3]) -> bool {
    corners
        .iter()
        .chain([&vertex])
        .any(|&v| body.folds[body.foot_bones[v as usize] as usize])
}

/// Previous state of a pair.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Hold {
    /// New.
    New,
    /// Existed before.
    Old,
    /// Existed before and is loaded.
    Pressing,
}

/// A vertex whose contact point is searched.
struct Seeker<'a> {
    body: &'a CollisionBody,
    positions: &'a [Point],
    feet: &'a Feet,
    vertex: u32,
    /// The skin's normal at the vertex.
    normal: Vec3,
}

impl<'a> Seeker<'a> {
    fn new(
        body: &'a CollisionBody,
        positions: &'a [Point],
        feet: &'a Feet,
        vertex: u32,
    ) -> Option<Self> {
        let normal = body.area_normal(vertex, positions).try_normalize(1e-30)?;
        Some(Self {
            body,
            positions,
            feet,
            vertex,
            normal,
        })
    }

    /// Whether a triangle is not a neighbour, and is on another bone. Opposite sides of one bone cannot touch, except for folds of
    /// thick flesh.
    fn may_touch(&self, triangle: u32) -> bool {
        let Self { body, vertex, .. } = *self;
        let corners = body.triangle(triangle);
        let folds = body.folds[body.foot_bones[vertex as usize] as usize];
        !corners.contains(&vertex)
            && (folds || !self.shares_bone(&corners))
            && !body.is_left_alone(vertex, triangle)
    }

    fn shares_bone(&self, corners: &[u32; 3]) -> bool {
        let bones = &self.body.foot_bones;
        corners
            .iter()
            .any(|&c| bones[c as usize] == bones[self.vertex as usize])
    }

    /// The contact with a point, if that faces the vertex.
    fn accept(&self, foot: &Foot, hold: Hold) -> Option<Contact> {
        let Self {
            body,
            positions,
            feet,
            vertex,
            ..
        } = *self;
        let corners = body.triangle(foot.triangle);
        let mut out = Vec3::zeros();
        for (&corner, &w) in corners.iter().zip(&foot.weights) {
            out += feet.outward[corner as usize] * w;
        }
        let out = out.try_normalize(1e-3)?;
        let own_out = feet.outward[vertex as usize];
        let facing = own_out.dot(&out);
        let against = self.normal.dot(&foot.normal);
        let upright = self.normal.dot(&own_out) >= UPRIGHT;
        let deep = is_deep(body, vertex, &corners);
        if hold == Hold::New {
            let aligned = if deep {
                let beside_each_other = facing >= 0.0 && against <= -FACING;
                against > FACING
                    || (!beside_each_other && (facing > FACING || self.shares_bone(&corners)))
            } else {
                // On crumpled skin, inside and outside cannot be distinguished.
                against > FACING || facing > FACING || !upright || foot.normal.dot(&out) < UPRIGHT
            };
            if aligned {
                return None;
            }
        }
        if against > SMOOTH && !deep {
            return None;
        }
        let normal = if upright {
            (foot.normal - self.normal).try_normalize(1e-3)?
        } else {
            foot.normal
        };
        let edge = body.local_edge(foot.triangle);
        let way = positions[vertex as usize] - foot.point;
        let gap = normal.dot(&way);
        let beside = (way - foot.normal * foot.normal.dot(&way)).norm();
        let most = match hold {
            Hold::New => BESIDE,
            Hold::Old => BESIDE_OLD,
            Hold::Pressing => f32::INFINITY,
        };
        if beside > most * edge + 0.5 * gap.abs() {
            return None;
        }
        let Foot {
            triangle, weights, ..
        } = *foot;
        Some(Contact {
            vertex,
            triangle,
            corners,
            weights,
            normal,
            gap,
            edge,
            load: 0.0,
            held: gap,
            ends: false,
            old: false,
        })
    }
}

fn place(contact: &Contact, positions: &[Point]) -> Point {
    let mut sum = Vec3::zeros();
    for (&v, &w) in contact.corners.iter().zip(&contact.weights) {
        sum += positions[v as usize].coords * w;
    }
    Point::from(sum)
}

fn stays(contact: &Contact, still_inside: bool, positions: &[Point]) -> bool {
    let distance = (positions[contact.vertex as usize] - place(contact, positions)).norm();
    if contact.gap >= 0.0 {
        contact.gap <= KEEP * contact.edge && distance <= BESIDE_OLD * contact.edge
    } else {
        still_inside || distance <= LOST * contact.edge
    }
}

/// Contacts are sorted by vertex: whether none of the last ones has the same vertex and the same point.
fn is_new_place(kept: &[Contact], next: &Contact, positions: &[Point]) -> bool {
    let point = place(next, positions);
    !kept
        .iter()
        .rev()
        .take_while(|c| c.vertex == next.vertex)
        .any(|c| (place(c, positions) - point).norm() <= SAME_PLACE * next.edge)
}
