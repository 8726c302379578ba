//! Plain position-based dynamics: a distance constraint per edge and a volume constraint per tet.
//!
//! ```text
//!     distance: C = |x_i − x_j| − l                                    Δx_i = −k w_i/(w_i + w_j) C n
//!     volume:   C = (x₁−x₀)·((x₂−x₀)×(x₃−x₀))/6 − V                    Δx_i = −k w_i C / Σ w_j |g_j|² · g_i,   g_j = ∂C/∂x_j
//! ```

use rayon::prelude::*;

use super::coloring::Coloring;
use super::model::Model;
use super::points::{Points, Vector, add, cross, dot, scaled, sub};
use crate::math::Point;

/// Constraints per parallel task at least.
const MIN_TASK: usize = 384;
/// Gradients of a volume constraint are too small to divide by if the squares of those of its free corners add up to less than this part
/// of their sum at rest.
const MIN_GRADIENTS: f32 = 1e-6;

struct Distance {
    ends: [u32; 2],
    rest: f32,
}

struct Volume {
    corners: [u32; 4],
    /// Signed, world units³.
    rest: f32,
    /// Σ |gⱼ|² of the free corners at rest.
    rest_gradients: f32,
}

/// Distance and volume constraints, colour by colour.
pub(super) struct Plain {
    distances: Vec<Distance>,
    volumes: Vec<Volume>,
    distance_colors: Coloring,
    volume_colors: Coloring,
    /// Stiffness of both per sweep.
    stiffness: [f32; 2],
}

/// Stiffness per sweep such that n sweeps reach stiffness k in the absence of other constraints.
pub(super) fn per_sweep(k: f64, sweeps: u32) -> f32 {
    (1.0 - (1.0 - k.clamp(0.0, 1.0)).powf(1.0 / f64::from(sweeps.max(1)))) as f32
}

/// C and n of a distance constraint, where n is its gradient in the first point and −n that in the second; `None` where the points
/// coincide.
#[inline]
pub(super) fn distance(ends: [Vector; 2], rest: f32) -> Option<(f32, Vector)> {
    let along = sub(ends[0], ends[1]);
    let length = dot(along, along).sqrt();
    (length > f32::MIN_POSITIVE).then(|| (length - rest, scaled(along, 1.0 / length)))
}

/// C and its gradients in all four corners.
#[inline]
pub(super) fn volume(corners: &[Vector; 4], rest: f32) -> (f32, [Vector; 4]) {
    let [a, b, c] = [1, 2, 3].map(|k| sub(corners[k], corners[0]));
    let of_b = cross(b, c);
    let [g1, g2, g3] = [of_b, cross(c, a), cross(a, b)].map(|g| scaled(g, 1.0 / 6.0));
    let g0 = scaled(add(g1, add(g2, g3)), -1.0);
    (dot(a, of_b) / 6.0 - rest, [g0, g1, g2, g3])
}

impl Plain {
    /// `rest` are the positions of all points at rest.
    pub(super) fn of(model: &Model, rest: &[Point]) -> Self {
        let at = |point: u32| rest[point as usize];
        let of_edge = |&index: &u32| {
            let ends = model.edges[index as usize];
            Distance {
                rest: (at(ends[0]) - at(ends[1])).norm(),
                ends,
            }
        };
        let of_tet = |&index: &u32| {
            let corners = model.tets[index as usize].corners;
            let places = corners.map(|corner| <[f32; 3]>::from(at(corner)));
            let (rest, gradients) = volume(&places, 0.0);
            let free = |k: &usize| *model.is_free.get(corners[*k] as usize).unwrap_or(&false);
            Volume {
                rest_gradients: (0..4)
                    .filter(free)
                    .map(|k| dot(gradients[k], gradients[k]))
                    .sum(),
                corners,
                rest,
            }
        };
        Self {
            distances: model.edge_colors.order.iter().map(of_edge).collect(),
            volumes: model.tet_colors.order.iter().map(of_tet).collect(),
            distance_colors: model.edge_colors.clone(),
            volume_colors: model.tet_colors.clone(),
            stiffness: [1.0; 2],
        }
    }

    /// Sets the stiffness of distance and volume constraints per sweep, 0 to 1.
    pub(super) fn set_stiffness(&mut self, stiffness: [f32; 2]) {
        self.stiffness = stiffness;
    }

    /// Moves the points once by every constraint; `inverse_masses` are 0 for points that stay.
    pub(super) fn sweep(&self, points: &Points, inverse_masses: &[f32]) {
        let [k_distance, k_volume] = self.stiffness;
        let w = |point: u32| inverse_masses[point as usize];
        for color in self.distance_colors.colors() {
            self.distances[color]
                .par_iter()
                .with_min_len(MIN_TASK)
                .for_each(|constraint| {
                    let ends = constraint.ends.map(|end| points.get(end));
                    let weights = constraint.ends.map(w);
                    let Some((c, n)) = distance(ends, constraint.rest) else {
                        return;
                    };
                    let step = -k_distance * c / (weights[0] + weights[1]);
                    for (k, sign) in [(0, 1.0), (1, -1.0)] {
                        if weights[k] > 0.0 {
                            let moved = add(ends[k], scaled(n, sign * step * weights[k]));
                            points.set(constraint.ends[k], moved);
                        }
                    }
                });
        }
        for color in self.volume_colors.colors() {
            self.volumes[color]
                .par_iter()
                .with_min_len(MIN_TASK)
                .for_each(|constraint| {
                    let corners = constraint.corners.map(|corner| points.get(corner));
                    let weights = constraint.corners.map(w);
                    let (c, gradients) = volume(&corners, constraint.rest);
                    let (mut sum, mut squares) = (0.0, 0.0);
                    for (g, w) in gradients.iter().zip(weights).filter(|(_, w)| *w > 0.0) {
                        sum += w * dot(*g, *g);
                        squares += dot(*g, *g);
                    }
                    if squares <= MIN_GRADIENTS * constraint.rest_gradients {
                        return;
                    }
                    let step = -k_volume * c / sum;
                    for k in (0..4).filter(|&k| weights[k] > 0.0) {
                        let moved = add(corners[k], scaled(gradients[k], step * weights[k]));
                        points.set(constraint.corners[k], moved);
                    }
                });
        }
    }
}
