//! Radii of bones and joints.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::BoneGraph;
use super::foot::FootPoints;
use crate::math::Point64;
use crate::mesh::{TriMesh, closest_on_triangle};

/// Radius of a bone relative to its smallest distance to the skin (PS 3.1, FPS 3.2.1).
const RADIUS_FRACTION: f64 = 0.75;
/// Minimum radius as a fraction of the size: every bone needs a surface onto which the skin shrinks.
const MIN_RADIUS: f64 = 5e-4;
/// A bone crosses a shell (an eye, a ball joint) if its distance to the skin is below this fraction of the median
/// distance of its own skin vertices…
const CROSSING_DISTANCE: f64 = 0.1;
/// …and its distance then counts as this fraction of the median. With a radius near zero the flesh could twist around
/// it without any strain (FPS figure 3.3).
const CROSSING_FRACTION: f64 = 0.3;
/// Samples on a bone whose distance to the skin is measured.
const SAMPLES: usize = 9;

/// Sets all radii. A bone has the radius `wanted` for its joint, or 75 % of its smallest distance to the skin; a joint
/// has the largest radius of its bones. While a bone of length l with joint radii r₁, r₂ violates r₁ + r₂ + 2 r ≤ l,
/// its three radii are scaled by l / (r₁ + r₂ + 2 r).
pub(super) fn fit_radii(
    graph: &mut BoneGraph,
    mesh: &TriMesh,
    feet: &FootPoints,
    wanted: &BTreeMap<usize, f64>,
) {
    let thinnest = MIN_RADIUS * f64::from(mesh.bounds().size());
    let distances: Vec<f64> = (0..graph.bones.len())
        .into_par_iter()
        .map(|bone| distance_to_skin(graph, bone, mesh))
        .collect();
    let medians = median_distances(graph, mesh, feet);
    for ((bone, distance), median) in graph.bones.iter_mut().zip(distances).zip(medians) {
        let free = if distance < CROSSING_DISTANCE * median {
            CROSSING_FRACTION * median
        } else {
            distance
        };
        bone.radius = wanted
            .get(&bone.joint)
            .copied()
            .unwrap_or(RADIUS_FRACTION * free)
            .max(thinnest);
    }
    for node in &mut graph.nodes {
        let largest = node
            .bones
            .iter()
            .map(|&bone| graph.bones[bone].radius)
            .fold(0.0, f64::max);
        // The end of a leaf has no sphere: the bone's round cap closes it.
        node.radius = if node.bones.len() > 1 { largest } else { 0.0 };
    }
    shrink_to_fit(graph, thinnest);
}

/// For every bone the median distance of its skin vertices to their foot points; 0 for a bone without skin.
fn median_distances(graph: &BoneGraph, mesh: &TriMesh, feet: &FootPoints) -> Vec<f64> {
    let mut distances: Vec<Vec<f64>> = vec![Vec::new(); graph.bones.len()];
    for ((position, foot), &bone) in mesh.positions.iter().zip(&feet.points).zip(&feet.bones) {
        distances[bone as usize].push((position.cast::<f64>() - foot).norm());
    }
    let median = |mut own: Vec<f64>| {
        own.sort_by(f64::total_cmp);
        own.get(own.len() / 2).copied().unwrap_or_default()
    };
    distances.into_iter().map(median).collect()
}

/// Reduces radii until every bone fits between its joints. It terminates because every pass only reduces.
fn shrink_to_fit(graph: &mut BoneGraph, thinnest: f64) {
    for _ in 0..1000 {
        let mut all_fit = true;
        for bone in 0..graph.bones.len() {
            let [a, b] = graph.bones[bone].nodes;
            let length = graph.length(bone);
            let needed =
                graph.nodes[a].radius + graph.nodes[b].radius + 2.0 * graph.bones[bone].radius;
            if needed > length * (1.0 + 1e-9) {
                all_fit = false;
                let scale = length / needed;
                graph.bones[bone].radius =
                    (graph.bones[bone].radius * scale).max(thinnest.min(0.25 * length));
                for node in [a, b] {
                    graph.nodes[node].radius *= scale;
                }
            }
        }
        if all_fit {
            break;
        }
    }
}

/// Smallest distance between a bone's segment and the skin.
fn distance_to_skin(graph: &BoneGraph, bone: usize, mesh: &TriMesh) -> f64 {
    let [a, b] = graph.segment(bone);
    let samples: Vec<Point64> = (0..SAMPLES)
        .map(|k| a + (b - a) * (k as f64 / (SAMPLES - 1) as f64))
        .collect();
    let mut best = f64::INFINITY;
    for position in &mesh.positions {
        let p = position.cast::<f64>();
        let t = crate::mesh::closest_on_segment(&p, &a, &b);
        best = best.min((a + (b - a) * t - p).norm());
    }
    for triangle in 0..mesh.triangles.len() {
        let [p, q, r] = mesh.corners(triangle).map(nalgebra::OPoint::cast::<f64>);
        let center = Point64::from((p.coords + q.coords + r.coords) / 3.0);
        let reach = (p - center)
            .norm()
            .max((q - center).norm())
            .max((r - center).norm());
        let t = crate::mesh::closest_on_segment(&center, &a, &b);
        if (a + (b - a) * t - center).norm() - reach >= best {
            continue;
        }
        for sample in &samples {
            best = best.min((closest_on_triangle(sample, &p, &q, &r) - sample).norm());
        }
    }
    best
}
