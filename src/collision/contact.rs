//! A pair in contact.

use crate::math::{Point, Vec3};

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
    /// Local edge length at rest, world units. Where contact points move gradually, it follows that of the point gradually, too.
    pub edge: f32,
    /// Load λ of the pair; 0 while it is inactive. Written by the solver; kept as long as the pair exists.
    pub load: f32,
    /// Gap that the pair is constrained to keep at least, world units. Written by the solver; kept as long as the pair exists, but changed
    /// with the point and the normal of the pair.
    pub min_gap: f32,
    /// Increase of that gap in the last step, world units. Written by the solver; kept as long as the pair exists.
    pub increase: f32,
    /// Fraction of its stiffness that the pair still has: 1, and less and less while it is released. Written by the solver; kept as
    /// long as the pair exists.
    pub hold: f32,
    /// Whether the pair is being released. Written by the solver, too; kept as long as the pair exists.
    pub release: Release,
    /// Whether the pair existed before the last refresh.
    pub old: bool,
}

impl Contact {
    /// The contact point Σ β t.
    pub(super) fn point(&self, positions: &[Point]) -> Point {
        let mut sum = Vec3::zeros();
        for (&v, &w) in self.corners.iter().zip(&self.weights) {
            sum += positions[v as usize].coords * w;
        }
        Point::from(sum)
    }

    /// The gap n · (x − Σ β t) at these positions, world units.
    pub(super) fn gap_at(&self, positions: &[Point]) -> f32 {
        let offset = positions[self.vertex as usize] - self.point(positions);
        self.normal.dot(&offset)
    }

    /// The gap to keep once the pair's point or normal has changed, such that its gap at these positions is now `gap`: it is violated by as
    /// much as before. Otherwise a pair that slides over a curved surface would press, or give way, with a jolt.
    pub(super) fn min_gap_for(&self, gap: f32, positions: &[Point]) -> f32 {
        self.min_gap + gap - self.gap_at(positions)
    }

    /// The same pair while it is released because another one replaces it. Its contact point stays where it is on the skin.
    pub(super) fn replaced(&self, positions: &[Point]) -> Self {
        Self {
            gap: self.gap_at(positions),
            release: Release::Replaced,
            old: true,
            ..*self
        }
    }
}

/// Why a loaded pair is being released: it becomes softer and softer, then it is removed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Release {
    /// It is not.
    #[default]
    No,
    /// Another pair of the vertex has its load: one at the same contact point, or one at a closest point that is far away. Or there is
    /// none, since the surfaces no longer face each other. Removed at once, it would leave its load with a jolt.
    Replaced,
    /// It contradicts the flesh's targets. Its vertex then gets no other contact for some steps.
    Refused,
}
