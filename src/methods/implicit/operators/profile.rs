//! Where a composed field is ½.

use super::{CELLS, LONGEST, NODES, SLICES};

/// A point of the square of two values.
type Place = [f64; 2];

/// The middle of the square.
const MIDDLE: usize = CELLS / 2;
/// Points of a curve that distances are measured to.
const POINTS: usize = 257;

/// Nodes of a slice whose values are given: i, j, g.
pub(super) type Profile = Vec<(usize, usize, f64)>;

/// The legs of a straight corner as a cubic Bézier curve.
const STRAIGHT: [Place; 4] = [[0.0, 0.5], [1.0 / 6.0, 0.5], [1.0 / 3.0, 0.5], [0.5, 0.5]];
/// The leg that dips below ½ beside a fold.
const BULGED: [Place; 4] = [[0.0, 0.5], [0.25, 0.5], [0.36, 0.45], [0.43, 0.43]];
/// The leg of a rounded corner.
const ROUND: [Place; 4] = [[0.0, 0.5], [0.2, 0.5], [0.34, 0.46], [0.4, 0.4]];

/// Straight legs with contact lines from none to the longest.
pub(super) fn contact() -> Vec<Profile> {
    (0..SLICES)
        .map(|slice| {
            let legs = (0..=MIDDLE).flat_map(|k| [(k, MIDDLE, 0.5), (MIDDLE, k, 0.5)]);
            legs.chain(line(slice, MIDDLE)).collect()
        })
        .collect()
}

/// Legs that dip more the deeper the contact is.
pub(super) fn bulge() -> Vec<Profile> {
    (0..SLICES)
        .map(|slice| {
            let leg = leg(slice, &BULGED);
            let corner = (leg[3][0] * CELLS as f64).ceil() as usize;
            let mut profile: Profile = line(slice, corner).collect();
            profile.extend(beside(&leg).into_iter().filter(|&(i, j, _)| i != j));
            profile
        })
        .collect()
}

/// A corner that is filled the more the deeper.
pub(super) fn blend() -> Vec<Profile> {
    (0..SLICES)
        .map(|slice| beside(&leg(slice, &ROUND)))
        .collect()
}

/// The leg of a slice between the straight one and that of the last slice.
fn leg(slice: usize, last: &[Place; 4]) -> [Place; 4] {
    let amount = slice as f64 / (SLICES - 1) as f64;
    std::array::from_fn(|k| {
        let of = |c: usize| STRAIGHT[k][c] + amount * (last[k][c] - STRAIGHT[k][c]);
        [of(0), of(1)]
    })
}

/// The contact line along f₁ = f₂ from a node to the end that belongs to the slice.
fn line(slice: usize, first: usize) -> impl Iterator<Item = (usize, usize, f64)> {
    let length = (LONGEST * slice + (SLICES - 1) / 2) / (SLICES - 1);
    (first..=MIDDLE + length).map(|k| (k, k, 0.5))
}

/// The nodes of the cells that a leg and its mirror image cross, with ½ plus their distance to the curve, positive on the far side of the
/// origin.
fn beside(leg: &[Place; 4]) -> Profile {
    let curve: Vec<Place> = (0..POINTS)
        .map(|k| bezier(leg, k as f64 / (POINTS - 1) as f64))
        .collect();
    let reach = 1.0 / CELLS as f64;
    let mut profile = Profile::new();
    // Nodes on the border have values of their own.
    for i in 1..NODES - 1 {
        for j in i..NODES - 1 {
            let at = [i as f64 / CELLS as f64, j as f64 / CELLS as f64];
            let distance = signed_distance(&curve, at);
            if distance.abs() < reach {
                profile.push((i, j, 0.5 + distance));
                if i != j {
                    profile.push((j, i, 0.5 + distance));
                }
            }
        }
    }
    profile
}

fn bezier(points: &[Place; 4], t: f64) -> Place {
    let s = 1.0 - t;
    let weights = [s * s * s, 3.0 * s * s * t, 3.0 * s * t * t, t * t * t];
    [0, 1].map(|c| points.iter().zip(weights).map(|(p, w)| w * p[c]).sum())
}

/// The distance to a curve that runs from left to right, positive above it.
fn signed_distance(curve: &[Place], at: Place) -> f64 {
    let mut nearest = f64::INFINITY;
    let mut side = 1.0;
    for pair in curve.windows(2) {
        let ([x, y], [u, v]) = (pair[0], pair[1]);
        let (dx, dy) = (u - x, v - y);
        let squared = dx * dx + dy * dy;
        let along = ((at[0] - x) * dx + (at[1] - y) * dy) / squared.max(f64::MIN_POSITIVE);
        let along = along.clamp(0.0, 1.0);
        let (ex, ey) = (at[0] - x - along * dx, at[1] - y - along * dy);
        let distance = ex * ex + ey * ey;
        if distance < nearest {
            nearest = distance;
            side = if dx * ey - dy * ex < 0.0 { -1.0 } else { 1.0 };
        }
    }
    side * nearest.sqrt()
}
