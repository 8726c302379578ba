//! Generalised winding numbers in logarithmic time.
//!
//! Barill, Dickson, Schmidt, Levin, Jacobson, "Fast Winding Numbers for Soups and Clouds", SIGGRAPH 2018: a group of triangles that is
//! far away counts as one dipole, equation 6 of the paper with the first term of the expansion,
//!
//! ```text
//! w(q) ≈ Σ groups  N · (c − q) / (4 π |c − q|³)          N = Σ area · normal,  c = area-weighted centroid
//! ```
//!
//! and a group that is near is opened; triangles of a leaf are added exactly (van Oosterom, Strackee 1983).
//!
//! # Departures
//! - The tree is a binary one split at medians, not an octree.
//! - The expansion ends after its first term; groups are opened up to [`FAR`] = 3 radii instead of 2. The error stays below 0.05,
//!   which is enough to tell 0 from 1.

use crate::math::Vec64;

/// A group counts as one dipole from this multiple of its radius on.
const FAR: f64 = 3.0;
/// Most triangles of a leaf.
const LEAF: usize = 6;

/// Groups of triangles, for winding numbers.
#[derive(Debug, Clone, Default)]
pub struct WindingTree {
    groups: Vec<Group>,
    /// Triangles in the order of the leaves.
    triangles: Vec<[Vec64; 3]>,
}

#[derive(Debug, Clone, Copy)]
struct Group {
    center: Vec64,
    /// Sum of area times normal.
    dipole: Vec64,
    /// Largest distance of a corner from the centre.
    radius: f64,
    /// Leaf: its first triangle. Otherwise the second child; the first child follows the group.
    first: u32,
    /// Triangles of a leaf; 0 for others.
    count: u32,
}

impl WindingTree {
    /// The tree of triangles with finite corners, counter-clockwise seen from outside.
    #[must_use]
    pub fn new(mut triangles: Vec<[Vec64; 3]>) -> Self {
        let mut groups = Vec::with_capacity(triangles.len() / 2 + 1);
        if !triangles.is_empty() {
            split(&mut triangles, 0, &mut groups);
        }
        Self { groups, triangles }
    }

    /// The winding number at a point: 1 inside of a closed mesh, 0 outside, values between near holes.
    #[must_use]
    pub fn at(&self, point: &Vec64) -> f64 {
        let mut solid_angle = 0.0;
        // The tree is balanced: as deep as the number of triangles has binary digits.
        let mut stack = [0_u32; 64];
        let mut height = usize::from(!self.groups.is_empty());
        while height > 0 {
            height -= 1;
            let index = stack[height];
            let group = &self.groups[index as usize];
            let away = group.center - point;
            let distance = away.norm();
            if distance > FAR * group.radius {
                solid_angle += group.dipole.dot(&away) / distance.powi(3).max(f64::MIN_POSITIVE);
            } else if group.count > 0 {
                let first = group.first as usize;
                let own = &self.triangles[first..first + group.count as usize];
                solid_angle += own.iter().map(|t| angle(t, point)).sum::<f64>();
            } else {
                stack[height] = group.first;
                stack[height + 1] = index + 1;
                height += 2;
            }
        }
        solid_angle / (4.0 * std::f64::consts::PI)
    }
}

/// Adds the group of a part of the triangles, which begins at `first` of all, and its children.
fn split(triangles: &mut [[Vec64; 3]], first: usize, groups: &mut Vec<Group>) {
    let index = groups.len();
    groups.push(group_of(triangles, first));
    if triangles.len() <= LEAF {
        return;
    }
    let sum_of = |t: &[Vec64; 3]| t[0] + t[1] + t[2];
    let (mut low, mut high) = (sum_of(&triangles[0]), sum_of(&triangles[0]));
    for triangle in &*triangles {
        low = low.inf(&sum_of(triangle));
        high = high.sup(&sum_of(triangle));
    }
    let axis = (high - low).imax();
    let half = triangles.len() / 2;
    triangles.select_nth_unstable_by(half, |a, b| sum_of(a)[axis].total_cmp(&sum_of(b)[axis]));
    let (near, far) = triangles.split_at_mut(half);
    split(near, first, groups);
    groups[index].first = groups.len() as u32;
    groups[index].count = 0;
    split(far, first + half, groups);
}

fn group_of(triangles: &[[Vec64; 3]], first: usize) -> Group {
    let (mut dipole, mut weighted, mut area, mut plain) =
        (Vec64::zeros(), Vec64::zeros(), 0.0, Vec64::zeros());
    for [a, b, c] in triangles {
        let normal = (b - a).cross(&(c - a)) * 0.5;
        let (own, center) = (normal.norm(), (a + b + c) / 3.0);
        dipole += normal;
        weighted += center * own;
        plain += center;
        area += own;
    }
    let center = if area > 0.0 {
        weighted / area
    } else {
        plain / triangles.len().max(1) as f64
    };
    let corners = triangles.iter().flatten();
    Group {
        center,
        dipole,
        radius: corners
            .map(|corner| (corner - center).norm())
            .fold(0.0, f64::max),
        first: first as u32,
        count: triangles.len() as u32,
    }
}

/// The solid angle of a triangle.
fn angle(triangle: &[Vec64; 3], point: &Vec64) -> f64 {
    let [a, b, c] = triangle.map(|corner| corner - point);
    let (la, lb, lc) = (a.norm(), b.norm(), c.norm());
    let numerator = a.dot(&b.cross(&c));
    let denominator = la * lb * lc + a.dot(&b) * lc + b.dot(&c) * la + c.dot(&a) * lb;
    2.0 * numerator.atan2(denominator)
}
