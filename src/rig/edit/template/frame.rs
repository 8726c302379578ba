//! The body frame: left, up and forward directions.

use super::TemplateKind;
use crate::math::{Point64, Vec64};
use crate::rig::edit::{Mirror, Placer};

/// The axes of a body, and its centre.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BodyFrame {
    /// The centre of the mesh's bounding box, on the mirror plane.
    pub middle: Point64,
    /// To the body's left.
    pub left: Vec64,
    /// Up; for a hand towards the finger tips.
    pub up: Vec64,
    /// Forward; for a hand out of its back.
    pub forward: Vec64,
    /// Half extents of the box along left, up and forward.
    pub half: [f64; 3],
}

impl BodyFrame {
    /// The axes of a mesh, for a template: the mirror plane separates left and right; a human is
    /// longest upwards, an animal longest forwards, a hand longest towards its finger tips and
    /// thinnest from back to palm.
    #[must_use]
    pub fn of(kind: TemplateKind, placer: &Placer) -> Self {
        let bounds = placer.bounds();
        let extent = bounds.extent().cast::<f64>();
        let center = bounds.center().cast::<f64>();
        let longest_of = |axes: &[usize]| {
            axes.iter()
                .copied()
                .max_by(|&a, &b| extent[a].total_cmp(&extent[b]).then(b.cmp(&a)))
                .unwrap_or(1)
        };
        let unit = |axis: usize| {
            let mut unit = Vec64::zeros();
            unit[axis] = 1.0;
            unit
        };
        if kind == TemplateKind::Hand {
            let long = longest_of(&[0, 1, 2]);
            let others: Vec<usize> = (0..3).filter(|&axis| axis != long).collect();
            let wide = longest_of(&others);
            let thin = others
                .iter()
                .copied()
                .find(|&axis| axis != wide)
                .unwrap_or(wide);
            let (up, left) = (unit(long) * tips(placer, [long, wide, thin]), unit(wide));
            return Self::from_axes(center, left, up, left.cross(&up), &extent);
        }
        let mirror = placer.mirror();
        let left = mirror.map_or_else(Vec64::x, |mirror| mirror.normal);
        let middle = mirror.map_or(center, |mirror| mirror.onto_plane(&center));
        let side = left.iamax();
        let others: Vec<usize> = (0..3).filter(|&axis| axis != side).collect();
        let long = longest_of(&others);
        let other = others[usize::from(others[0] == long)];
        let (up, forward) = if kind == TemplateKind::FourLegged {
            // Y is up, unless an animal's longest extent is along it.
            let up = unit(other);
            (
                up,
                left.cross(&up) * head(placer, long, other, &left.cross(&up)),
            )
        } else {
            (unit(long), left.cross(&unit(long)))
        };
        Self::from_axes(middle, left, up, forward, &extent)
    }

    fn from_axes(middle: Point64, left: Vec64, up: Vec64, forward: Vec64, extent: &Vec64) -> Self {
        let half = [left, up, forward].map(|axis| 0.5 * axis.abs().dot(extent));
        Self {
            middle,
            left,
            up,
            forward,
            half,
        }
    }

    /// A displacement with components to the left, up and forward.
    #[must_use]
    pub fn vector(&self, [left, up, forward]: [f64; 3]) -> Vec64 {
        self.left * left + self.up * up + self.forward * forward
    }

    /// The position at fractions (−1..=1) of the half extents to the left, up and forward.
    #[must_use]
    pub fn place(&self, parts: [f64; 3]) -> Point64 {
        self.middle + self.vector([0, 1, 2].map(|axis| parts[axis] * self.half[axis]))
    }

    /// The closest point of the mirror plane.
    #[must_use]
    pub(crate) fn onto_plane(&self, point: &Point64) -> Point64 {
        point - self.left * (point - self.middle).dot(&self.left)
    }

    /// The mirror plane.
    #[must_use]
    pub fn mirror(&self, placer: &Placer) -> Mirror {
        placer.mirror().copied().unwrap_or(Mirror {
            point: self.middle,
            normal: self.left,
            snap: 0.012 * placer.size(),
        })
    }

    /// Coordinates of a point relative to the centre: to the left, up and forward.
    #[must_use]
    pub fn coordinates(&self, point: &Point64) -> [f64; 3] {
        [self.left, self.up, self.forward].map(|axis| (point - self.middle).dot(&axis))
    }
}

/// The sign of the long axis towards the finger tips: where a line across the hand intersects more
/// intervals of flesh. If the fingers are together, where the mesh is thinner.
fn tips(placer: &Placer, [long, wide, thin]: [usize; 3]) -> f64 {
    let bounds = placer.bounds();
    let (center, half) = (
        bounds.center().cast::<f64>(),
        bounds.extent().cast::<f64>() * 0.5,
    );
    let mut across = Vec64::zeros();
    across[wide] = 1.0;
    let pieces = |sign: f64| -> usize {
        let at_height = |height: usize| {
            let counts = (-3..=3).map(|depth| {
                let mut from = center - across * (2.0 * half[wide]);
                from[long] += sign * half[long] * (0.3 + 0.1 * height as f64);
                from[thin] += half[thin] * 0.22 * f64::from(depth);
                placer.count_under(&from, &across)
            });
            counts.max().unwrap_or_default()
        };
        (0..6).map(at_height).sum()
    };
    let (high, low) = (pieces(1.0), pieces(-1.0));
    if high != low {
        return if high > low { 1.0 } else { -1.0 };
    }
    let spread = |high: bool| {
        let side: Vec<f64> = placer
            .points()
            .iter()
            .map(|p| f64::from(p[long]) - center[long])
            .filter(|&p| (p > 0.0) == high)
            .collect();
        // A wrist is cut off square: it has more area close to its end than finger tips have.
        let near = side.iter().filter(|p| p.abs() > 0.84 * half[long]).count();
        near as f64 / side.len().max(1) as f64
    };
    if spread(true) <= spread(false) {
        1.0
    } else {
        -1.0
    }
}

/// Whether an animal's head is forward (1) or backward (−1): it is higher than the other end.
fn head(placer: &Placer, long: usize, up: usize, forward: &Vec64) -> f64 {
    let center = placer.bounds().center();
    let reach = 0.3 * placer.bounds().extent()[long];
    let highest = |front: bool| {
        let sign = if (forward[long] > 0.0) == front {
            1.0
        } else {
            -1.0
        };
        let end = placer
            .points()
            .iter()
            .filter(|p| (p[long] - center[long]) * sign > reach);
        end.map(|p| f64::from(p[up]))
            .fold(f64::NEG_INFINITY, f64::max)
    };
    if highest(true) >= highest(false) {
        1.0
    } else {
        -1.0
    }
}
