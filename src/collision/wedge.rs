//! Posed wedges: bounding boxes and point containment. A wedge is the volume between a skin triangle and its foot points.

use super::{CollisionBody, PosedFootPoints};
use crate::math::{Point, Vec3};

/// A tet is degenerate, and contains no points, if its volume is below this fraction of the product of its edge lengths.
const MIN_RELATIVE_VOLUME: f32 = 1e-4;
/// Number of points tested against a box at once; one bit each.
pub(super) const BLOCK: usize = 16;

/// Axis-aligned bounding box; empty while `min > max`.
#[derive(Debug, Clone, Copy)]
pub(super) struct Aabb {
    min: Vec3,
    max: Vec3,
}

impl Default for Aabb {
    fn default() -> Self {
        Self::EMPTY
    }
}

impl Aabb {
    pub(super) const EMPTY: Self = Self {
        min: Vec3::new(f32::INFINITY, f32::INFINITY, f32::INFINITY),
        max: Vec3::new(f32::NEG_INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY),
    };

    pub(super) fn of<'a>(points: impl Iterator<Item = &'a Point>) -> Self {
        let mut aabb = Self::EMPTY;
        points.for_each(|p| aabb.add(p));
        aabb
    }

    pub(super) fn add(&mut self, p: &Point) {
        for c in 0..3 {
            // These comparisons are false for NaN, so that NaN is ignored.
            self.min[c] = if p[c] < self.min[c] {
                p[c]
            } else {
                self.min[c]
            };
            self.max[c] = if p[c] > self.max[c] {
                p[c]
            } else {
                self.max[c]
            };
        }
    }

    pub(super) fn overlaps(&self, other: &Self) -> bool {
        (0..3).all(|c| self.min[c] <= other.max[c] && other.min[c] <= self.max[c])
    }

    pub(super) fn contains(&self, p: &Point) -> bool {
        (0..3).all(|c| p[c] >= self.min[c] && p[c] <= self.max[c])
    }
}

/// A posed wedge: the chain of three tets between the triangle and its foot points.
pub(super) struct WedgeShape {
    chain: [Point; 6],
    aabb: Aabb,
    sign: f32,
    pub(super) bones: [u32; 3],
}

impl WedgeShape {
    pub(super) fn of(
        body: &CollisionBody,
        triangle: u32,
        positions: &[Point],
        foot_points: &PosedFootPoints,
    ) -> Self {
        let corners = body.sorted_corners[triangle as usize];
        let [i, j, k] = corners.map(|v| v as usize);
        let chain = [
            positions[i],
            positions[j],
            positions[k],
            foot_points.points[i],
            foot_points.points[j],
            foot_points.points[k],
        ];
        let bones = corners.map(|v| body.foot_bones[v as usize]);
        Self {
            aabb: Aabb::of(chain.iter()),
            chain,
            sign: body.orientation[triangle as usize],
            bones,
        }
    }

    /// Tests which of [`BLOCK`] points lie in the wedge's bounding box; one bit each.
    #[expect(
        clippy::needless_bitwise_bool,
        reason = "without branches the comparisons fill vector registers"
    )]
    pub(super) fn points_in_box(&self, [xs, ys, zs]: [&[f32; BLOCK]; 3]) -> u32 {
        let Aabb { min, max } = self.aabb;
        let mut bits = 0;
        for k in 0..BLOCK {
            let (x, y, z) = (xs[k], ys[k], zs[k]);
            let within = (x >= min.x)
                & (x <= max.x)
                & (y >= min.y)
                & (y <= max.y)
                & (z >= min.z)
                & (z <= max.z);
            bits |= if within { 1 << k } else { 0 };
        }
        bits
    }

    /// Whether a point lies in one of the three tets between the triangle and its foot points.
    pub(super) fn contains(&self, p: &Point) -> bool {
        let chain = self.chain.map(|q| q - p);
        (0..3).any(|tet| tet_contains_origin(&chain[tet..tet + 4], self.sign))
    }
}

fn tet_contains_origin(corners: &[Vec3], sign: f32) -> bool {
    let [a, b, c, d] = [corners[0], corners[1], corners[2], corners[3]];
    // Signs of the volumes with the origin in place of each corner.
    let ab = a.cross(&b);
    let inside = ab.dot(&d) * sign >= 0.0
        && ab.dot(&c) * sign <= 0.0
        && b.cross(&c).dot(&d) * sign >= 0.0
        && c.cross(&a).dot(&d) * sign >= 0.0;
    inside && {
        let (ab, ac, ad) = (b - a, c - a, d - a);
        ab.cross(&ac).dot(&ad) * sign > MIN_RELATIVE_VOLUME * ab.norm() * ac.norm() * ad.norm()
    }
}
