//! Self-contact: points of the skin that penetrate the body are pushed out of it.
//!
//! As `McAdams`, Zhu, Selle, Empey, Tamstorf, Teran, Sifakis, "Efficient Elasticity for Character Skinning with Contact
//! and Collisions", SIGGRAPH 2011: a deformed point inside a deformed element is mapped back to the rest shape; the
//! nearest point of the skin there is its exit. The penalty `½ k A min(0, n · (x − s))²` separates point and exit along
//! the skin's deformed normal. Pairs and normals are constant while Newton's method runs.

use std::collections::BTreeMap;

use crate::math::{Point64, Vec64};

/// A point of the skin, and its exit from the body.
#[derive(Debug, Clone)]
pub struct PenaltyContact {
    /// The point, a vertex of the skin.
    pub(super) vertex: u32,
    /// Nodes with their weights in the difference of point and exit.
    pub(super) nodes: Vec<(u32, f64)>,
    /// Deformed normal of the skin at the exit.
    pub(super) normal: Vec64,
    /// Force per depth, in shear moduli times a world unit.
    pub(super) stiffness: f64,
}

/// The contacts of one round.
#[derive(Debug, Clone, Default)]
pub struct PenaltyContacts(pub(super) Vec<PenaltyContact>);

impl PenaltyContact {
    /// Signed distance of the point from its exit along the normal; negative inside.
    pub(super) fn gap(&self, nodes: &[Point64]) -> f64 {
        let apart: Vec64 = (self.nodes.iter())
            .map(|&(node, weight)| nodes[node as usize].coords * weight)
            .sum();
        self.normal.dot(&apart)
    }
}

impl PenaltyContact {
    /// Interpolation between two contacts of one vertex.
    fn towards(self, new: Self, part: f64) -> Self {
        let Some(normal) = self.normal.lerp(&new.normal, part).try_normalize(0.1) else {
            return new;
        };
        let mut nodes: BTreeMap<u32, f64> = BTreeMap::new();
        for (list, share) in [(&self.nodes, 1.0 - part), (&new.nodes, part)] {
            for &(node, weight) in list {
                *nodes.entry(node).or_default() += share * weight;
            }
        }
        Self {
            nodes: nodes.into_iter().collect(),
            normal,
            stiffness: self.stiffness + (new.stiffness - self.stiffness) * part,
            vertex: self.vertex,
        }
    }
}

impl PenaltyContacts {
    /// No contact.
    #[must_use]
    pub fn none() -> Self {
        Self::default()
    }

    /// Number of contacts.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The contacts of the next round, from those found now. Features move by a fraction of the way from the old
    /// contacts to the new ones, so that points between two exits converge. Contacts that were not found again are kept
    /// while they are closer than `near`, and push only inside.
    pub(super) fn next(self, found: Self, part: f64, nodes: &[Point64], near: f64) -> Self {
        let mut next = Vec::with_capacity(found.0.len());
        let is_near = |old: &PenaltyContact| old.gap(nodes) < near;
        let mut olds = self.0.into_iter().filter(is_near).peekable();
        for new in found.0 {
            while let Some(old) = olds.next_if(|old| old.vertex < new.vertex) {
                next.push(old);
            }
            next.push(match olds.next_if(|old| old.vertex == new.vertex) {
                Some(old) => old.towards(new, part),
                None => new,
            });
        }
        next.extend(olds);
        Self(next)
    }

    pub(super) fn energy(&self, nodes: &[Point64]) -> f64 {
        let of = |contact: &PenaltyContact| {
            let depth = contact.gap(nodes).min(0.0);
            0.5 * contact.stiffness * depth * depth
        };
        self.0.iter().map(of).sum()
    }

    pub(super) fn add_gradient(&self, nodes: &[Point64], gradient: &mut [Vec64]) {
        for contact in &self.0 {
            let force = contact.normal * (contact.stiffness * contact.gap(nodes).min(0.0));
            for &(node, weight) in &contact.nodes {
                gradient[node as usize] += force * weight;
            }
        }
    }
}
