//! The contact pairs, tracked from step to step.
//!
//! A pair is created when a vertex enters a wedge. Its contact point then follows the vertex over the surface. It is removed when
//! the vertex is farther away than [`KEEP_DISTANCE`], or no longer opposite to the surface. This hysteresis keeps contacts of
//! resting skin constant.

use std::sync::Arc;

use super::contact_search::{
    MAX_LATERAL_EXISTING, PairState, SMOOTH_COSINE, find_contact_point, is_on_fold,
};
use super::joint_pairs::JointContacts;
use super::{CollisionBody, Contact, Detector, JointPairs, PosedFootPoints, Release};
use crate::math::Point;

/// A pair is kept while its vertex is less than this fraction of the local edge length above the surface (`δ_col` of FPS 3.2.5).
pub const KEEP_DISTANCE: f32 = 0.6;
/// Largest number of contacts per vertex; they have different contact points.
const MAX_PER_VERTEX: usize = 3;
/// Contact points within this many local edge lengths are treated as the same one.
const SAME_POINT: f32 = 2.0;
/// A pair is removed if its vertex is outside all wedges, below the surface, and farther from its contact point than this many
/// local edge lengths: it has passed through.
const MAX_INSIDE_DISTANCE: f32 = 2.0;

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
/// Where the closest point is farther than this many local edge lengths from the contact point, a new pair begins there, and the
/// pair is released.
const MAX_POINT_LAG: f32 = 1.0;
/// A pair is created when the penetration is deeper than this fraction of the local edge length.
const MIN_DEPTH: f32 = 0.03;

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

    /// Whether pairs are detected anywhere on the skin.
    #[must_use]
    pub fn is_global(&self) -> bool {
        self.joint_contacts.is_none()
    }

    /// Number of searches since the list was last cleared, see [`Detector::searches`].
    #[must_use]
    pub fn searches(&self) -> usize {
        self.detector.searches()
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
        let skin = Skin {
            body,
            positions,
            foot_points,
        };
        for contact in contacts.iter() {
            let first_hit = hits.partition_point(|hit| hit.vertex < contact.vertex);
            let is_inside = hits
                .get(first_hit)
                .is_some_and(|hit| hit.vertex == contact.vertex);
            let next = skin.next_contact(contact, is_inside);
            if refresh == Refresh::GradualStep {
                skin.continue_gradually(contact, next, kept);
            } else if let Some(next) = next {
                let next = skin.continued(contact, next, rate);
                if find_same_point(kept, &next, positions).is_none() {
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
                (c.point(positions) - next.point(positions)).norm() <= SAME_POINT * next.edge
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

/// The skin at its new positions.
#[derive(Clone, Copy)]
struct Skin<'a> {
    body: &'a CollisionBody,
    positions: &'a [Point],
    foot_points: &'a PosedFootPoints,
}

impl Skin<'_> {
    /// Where an existing contact is now. `None` if there is none any more.
    fn next_contact(self, contact: &Contact, is_inside: bool) -> Option<Contact> {
        let Self {
            body,
            positions,
            foot_points,
        } = self;
        let loaded = contact.load > 0.0;
        let state = if loaded {
            PairState::Loaded
        } else {
            PairState::Existing
        };
        keep_contact_point(body, positions, contact)
            .or_else(|| {
                find_contact_point(
                    body,
                    positions,
                    foot_points,
                    contact.vertex,
                    contact.triangle,
                    state,
                )
            })
            .filter(|next| loaded || is_within_reach(next, is_inside, positions))
    }

    /// A contact at the point of `next`, with what the solver knows of it. `rate`: fraction of the change of its normal.
    fn continued(self, contact: &Contact, next: Contact, rate: f32) -> Contact {
        let normal = (next.normal * rate + contact.normal * (1.0 - rate))
            .try_normalize(1e-3)
            .unwrap_or(next.normal);
        let mut next = Contact {
            load: contact.load,
            min_gap: contact.min_gap,
            increase: contact.increase,
            hold: contact.hold,
            release: contact.release,
            old: true,
            normal,
            ..next
        };
        next.gap = next.gap_at(self.positions);
        next.min_gap = contact.min_gap_for(next.gap, self.positions);
        next
    }

    /// Adds an existing contact to those that are kept; one that another contact replaces is released first if it has a load.
    fn continue_gradually(self, contact: &Contact, next: Option<Contact>, kept: &mut Vec<Contact>) {
        let positions = self.positions;
        if contact.release == Release::Replaced {
            kept.push(contact.replaced(positions));
            return;
        }
        let way = |next: &Contact| (next.point(positions) - contact.point(positions)).norm();
        let continued = next
            .filter(|next| way(next) <= MAX_POINT_LAG * contact.edge)
            .map(|next| self.continued(contact, self.move_gradually(contact, next), NORMAL_RATE));
        if continued.is_none() && contact.load > 0.0 {
            kept.push(contact.replaced(positions));
        }
        let Some(next) = continued.or(next) else {
            return;
        };
        let Some(same) = find_same_point(kept, &next, positions) else {
            kept.push(next);
            return;
        };
        let weaker = if next.load > kept[same].load {
            std::mem::replace(&mut kept[same], next)
        } else {
            next
        };
        if weaker.load > 0.0 {
            kept.push(weaker.replaced(positions));
        }
    }

    /// A contact whose point has moved only a part of the way from where it was, and its edge length as well.
    fn move_gradually(self, before: &Contact, next: Contact) -> Contact {
        let Self {
            body, positions, ..
        } = self;
        let from = before.point(positions);
        let way = next.point(positions) - from;
        let closest =
            body.closest_point_from(&(from + way * POINT_RATE), before.triangle, positions);
        Contact {
            triangle: closest.triangle,
            corners: body.triangle(closest.triangle),
            weights: closest.weights,
            edge: before.edge + (next.edge - before.edge) * POINT_RATE,
            ..next
        }
    }
}

/// The same contact with an updated normal, if its vertex has hardly moved laterally.
fn keep_contact_point(
    body: &CollisionBody,
    positions: &[Point],
    contact: &Contact,
) -> Option<Contact> {
    let offset = positions[contact.vertex as usize] - contact.point(positions);
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

fn is_within_reach(contact: &Contact, is_inside: bool, positions: &[Point]) -> bool {
    let distance = (positions[contact.vertex as usize] - contact.point(positions)).norm();
    if contact.gap >= 0.0 {
        contact.gap <= KEEP_DISTANCE * contact.edge
            && distance <= MAX_LATERAL_EXISTING * contact.edge
    } else {
        is_inside || distance <= MAX_INSIDE_DISTANCE * contact.edge
    }
}

/// Index of a kept contact of the same vertex with the same contact point, which is not being replaced. `kept` is sorted by vertex.
fn find_same_point(kept: &[Contact], next: &Contact, positions: &[Point]) -> Option<usize> {
    let point = next.point(positions);
    (0..kept.len())
        .rev()
        .take_while(|&i| kept[i].vertex == next.vertex)
        .find(|&i| {
            kept[i].release != Release::Replaced
                && (kept[i].point(positions) - point).norm() <= SAME_POINT * next.edge
        })
}
