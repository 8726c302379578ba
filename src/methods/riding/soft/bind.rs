//! Binding of cloth: control points with the patches that their frames are fitted to, and what each vertex follows.

use std::collections::HashSet;

use nalgebra::{Matrix2, Matrix3};

use super::{BindTarget, CLOSE, Control, FRAMES, PATCH, Rider, TangentCoefficients};
use crate::math::{Point, Vec64};

/// Control points, about one in every cell of a grid, with the patches that their frames are fitted to.
pub(super) fn controls(
    ground: &BindTarget<'_>,
    spacing: f64,
    origin: &Point,
    patches: &mut Vec<TangentCoefficients>,
) -> Vec<Control> {
    let topology = crate::mesh::Topology::of(ground.mesh);
    let mut taken: HashSet<(u32, [i64; 3])> = HashSet::new();
    let mut controls = Vec::new();
    for (vertex, position) in ground.mesh.positions.iter().enumerate() {
        if !ground.is_flesh(vertex as u32) || topology.neighbors(vertex).is_empty() {
            continue;
        }
        let cell =
            [position.x, position.y, position.z].map(|c| (f64::from(c) / spacing).floor() as i64);
        let key = (ground.parts.part_of_vertex[vertex], cell);
        if taken.contains(&key) {
            continue;
        }
        let start = patches.len();
        if let Some(axes) = patch(ground, &topology, vertex as u32, spacing, patches) {
            taken.insert(key);
            let patch = [start as u32, patches.len() as u32];
            controls.push(Control {
                vertex: vertex as u32,
                patch,
                rest: position - origin,
                axes,
            });
        } else {
            patches.truncate(start);
        }
    }
    controls
}

/// Appends the neighbours that a control point's frame is fitted to, by least squares in its tangent plane, and returns the frame at
/// rest; `None` if they do not span a plane.
fn patch(
    ground: &BindTarget<'_>,
    topology: &crate::mesh::Topology,
    vertex: u32,
    spacing: f64,
    patches: &mut Vec<TangentCoefficients>,
) -> Option<Matrix3<f32>> {
    let at = |v: u32| ground.mesh.positions[v as usize].cast::<f64>();
    let here = at(vertex);
    // Grows ring by ring; at least the first ring.
    let mut ring: Vec<u32> = topology.neighbors(vertex as usize).to_vec();
    let mut next = 0;
    while next < ring.len() && ring.len() < 4 * PATCH {
        let from = ring[next];
        next += 1;
        for &v in topology.neighbors(from as usize) {
            if v != vertex && !ring.contains(&v) && (at(v) - here).norm() < spacing {
                ring.push(v);
            }
        }
    }
    let step = ring.len().div_ceil(PATCH).max(1);
    let neighbors: Vec<(u32, Vec64)> = ring
        .into_iter()
        .step_by(step)
        .map(|v| (v, at(v) - here))
        .collect();
    // The plane that fits best.
    let spread: Matrix3<f64> = neighbors.iter().map(|(_, o)| o * o.transpose()).sum();
    let eigen = spread.symmetric_eigen();
    let mut order = [0, 1, 2];
    order.sort_by(|&a, &b| eigen.eigenvalues[b].total_cmp(&eigen.eigenvalues[a]));
    if eigen.eigenvalues[order[1]] <= 1e-4 * eigen.eigenvalues[order[0]]
        || eigen.eigenvalues[order[1]] <= 0.0
    {
        return None;
    }
    let axes = [0, 1].map(|k| eigen.eigenvectors.column(order[k]).into_owned());
    // Least squares: g_j = S⁻¹ p_j, so that Σ g_j p_jᵀ is the identity.
    let flat: Vec<nalgebra::Vector2<f64>> = neighbors
        .iter()
        .map(|(_, o)| nalgebra::Vector2::new(o.dot(&axes[0]), o.dot(&axes[1])))
        .collect();
    let inverse = flat
        .iter()
        .map(|p| p * p.transpose())
        .sum::<Matrix2<f64>>()
        .try_inverse()?;
    let coefficients: Vec<nalgebra::Vector2<f64>> = flat.iter().map(|p| inverse * p).collect();
    // What they give at rest, made orthonormal by the coefficients themselves (Gram–Schmidt).
    let sum = |k: usize| {
        neighbors
            .iter()
            .zip(&coefficients)
            .map(|((_, o), g)| o * g[k])
            .sum::<Vec64>()
    };
    let (u, v) = (sum(0), sum(1));
    let (length, along) = (u.norm(), u.dot(&v) / u.norm_squared());
    let across = v - u * along;
    let height = across.norm();
    if !(length > 1e-6 && height > 1e-6) {
        return None;
    }
    for ((neighbor, _), g) in neighbors.iter().zip(&coefficients) {
        patches.push(TangentCoefficients {
            vertex: *neighbor,
            along: [(g.x / length) as f32, ((g.y - along * g.x) / height) as f32],
        });
    }
    let (u, v) = (u / length, across / height);
    Some(Matrix3::from_columns(&[u, v, u.cross(&v)]).cast::<f32>())
}

/// Binds one vertex of cloth; `None` if there is no flesh.
pub(super) fn rider(
    ground: &BindTarget<'_>,
    vertex: u32,
    controls: &[Control],
    spacing: f64,
    origin: &Point,
) -> Option<Rider> {
    let position = ground.mesh.positions[vertex as usize];
    let offset = position - origin;
    let mut near: Vec<(f32, u32)> = Vec::with_capacity(controls.len());
    near.extend(
        controls
            .iter()
            .enumerate()
            .map(|(index, control)| ((control.rest - offset).norm_squared(), index as u32)),
    );
    // The candidates by distance; similarity is tested among these only.
    let some = (8 * FRAMES).min(near.len());
    if some < near.len() {
        near.select_nth_unstable_by(some, |a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
        near.truncate(some);
    }
    for (distance, index) in &mut near {
        let alike = 0.1 + 0.9 * ground.motion_similarity(vertex, controls[*index as usize].vertex);
        *distance /= alike * alike;
    }
    near.sort_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1)));
    let least = near.first()?.0;
    // The first control that is left out defines where weights vanish, so that they vary smoothly over the cloth.
    let last = near
        .get(FRAMES)
        .or(near.last())
        .map_or(least, |last| last.0)
        * (1.0 + 1e-3)
        + f32::MIN_POSITIVE;
    let (mut frames, mut weights) = ([near[0].1; FRAMES], [0.0; FRAMES]);
    for (slot, &(distance, index)) in near.iter().take(FRAMES).enumerate() {
        frames[slot] = index;
        weights[slot] = (1.0 - (distance - least) / (last - least)).powi(2);
    }
    let sum: f32 = weights.iter().sum();
    for weight in &mut weights {
        *weight /= sum;
    }
    let closest = ground.closest_flesh(vertex)?;
    let close = (1.0 - (closest.distance / (CLOSE * spacing)).powi(2))
        .max(0.0)
        .powi(2) as f32;
    let triangle = ground.mesh.triangles[closest.triangle as usize];
    let barycentric = barycentric(ground, triangle, &closest.point);
    let below = closest.point.cast::<f32>() - origin;
    Some(Rider {
        vertex,
        arm: offset - below * close,
        close,
        triangle,
        barycentric,
        frames,
        weights,
    })
}

/// Barycentric coordinates of a point of a triangle, by areas; a flat triangle gives its nearest corner.
fn barycentric(
    ground: &BindTarget<'_>,
    triangle: [u32; 3],
    point: &crate::math::Point64,
) -> [f32; 3] {
    let [a, b, c] = triangle.map(|v| ground.mesh.positions[v as usize].cast::<f64>());
    let normal = (b - a).cross(&(c - a));
    let square = normal.norm_squared();
    if square > 0.0 {
        let part = |p: &crate::math::Point64, q: &crate::math::Point64| {
            ((p - point).cross(&(q - point)).dot(&normal) / square).clamp(0.0, 1.0)
        };
        let (first, second) = (part(&b, &c), part(&c, &a));
        return [first as f32, second as f32, (1.0 - first - second) as f32];
    }
    let distance = [a, b, c].map(|corner| (corner - point).norm());
    let nearest = (0..3)
        .min_by(|&i, &j| distance[i].total_cmp(&distance[j]))
        .unwrap_or(0);
    std::array::from_fn(|k| if k == nearest { 1.0 } else { 0.0 })
}
