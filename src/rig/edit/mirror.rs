//! The mirror plane of a rig.

use super::names::other_side;
use super::{Rig, RigJoint};
use crate::math::{Point64, Vec64};

/// The plane between the two sides.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mirror {
    /// A point of the plane.
    pub point: Point64,
    /// Its unit normal, towards the left side.
    pub normal: Vec64,
    /// Points within this distance lie on the plane, world units.
    pub snap: f64,
}

/// The mirror partner of a joint.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Partner {
    /// The joint itself: it lies on the plane.
    Itself,
    /// Another joint.
    Joint(usize),
    /// None.
    Missing,
}

impl Partner {
    /// The partner's index.
    #[must_use]
    pub fn joint(self, own: usize) -> Option<usize> {
        match self {
            Self::Itself => Some(own),
            Self::Joint(other) => Some(other),
            Self::Missing => None,
        }
    }
}

impl Mirror {
    /// Distance from the plane, positive on the left side.
    #[must_use]
    pub fn side(&self, point: &Point64) -> f64 {
        (point - self.point).dot(&self.normal)
    }

    /// The reflected point.
    #[must_use]
    pub(crate) fn reflect(&self, point: &Point64) -> Point64 {
        point - self.normal * (2.0 * self.side(point))
    }

    /// The closest point of the plane.
    #[must_use]
    pub(crate) fn onto_plane(&self, point: &Point64) -> Point64 {
        point - self.normal * self.side(point)
    }

    /// Whether a point counts as lying on the plane.
    #[must_use]
    pub(crate) fn is_on_plane(&self, point: &Point64) -> bool {
        self.side(point).abs() <= self.snap
    }

    /// The partner of a joint: by name if the name has a side, otherwise by position.
    #[must_use]
    pub fn partner(&self, rig: &Rig, joint: usize) -> Partner {
        let this = &rig.joints()[joint];
        let opposite = self.reflect(&this.position);
        let far = |other: &RigJoint| (other.position - opposite).norm();
        if let Some(other) = other_side(&this.name)
            .and_then(|name| rig.find(&name))
            .filter(|&other| other != joint)
        {
            return Partner::Joint(other);
        }
        if self.is_on_plane(&this.position) {
            return Partner::Itself;
        }
        let others = rig.joints().iter().enumerate().filter(|(index, other)| {
            *index != joint && other.parent.is_some() == this.parent.is_some()
        });
        let nearest = others
            .map(|(index, other)| (index, far(other)))
            .min_by(|a, b| a.1.total_cmp(&b.1));
        nearest
            .filter(|(_, distance)| *distance <= self.snap)
            .map_or(Partner::Missing, |(index, _)| Partner::Joint(index))
    }

    /// Whether every joint has a partner with the corresponding parent.
    #[cfg(test)]
    pub(crate) fn is_symmetric(&self, rig: &Rig) -> bool {
        (0..rig.len()).all(|joint| {
            let Some(other) = self.partner(rig, joint).joint(joint) else {
                return false;
            };
            let (this, that) = (&rig.joints()[joint], &rig.joints()[other]);
            let parents = match (this.parent, that.parent) {
                (None, None) => true,
                (Some(a), Some(b)) => self.partner(rig, a).joint(a) == Some(b),
                _ => false,
            };
            parents && (self.reflect(&this.position) - that.position).norm() <= self.snap
        })
    }
}
