//! Penetration measures for reports and panels. They run a full detection and are too slow for every frame.

use super::{CollisionBody, Detector, PosedFootPoints};
use crate::math::Point;

/// Number and depth of self-intersections.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct Penetration {
    /// Number of penetrating vertices.
    pub vertices: usize,
    /// Largest penetration depth, world units.
    pub deepest: f32,
    /// Largest penetration depth in mean edge lengths.
    pub deepest_edges: f32,
    /// World position of the deepest vertex.
    #[serde(skip)]
    pub deepest_at: Option<Point>,
}

/// Measures all vertices against all wedges, independently of the tracked contacts.
pub fn deepest_penetration(
    body: &CollisionBody,
    positions: &[Point],
    foot_points: &PosedFootPoints,
    detector: &mut Detector,
) -> Penetration {
    let mut found = Penetration::default();
    let hits = detector.detect(body, positions, foot_points);
    for of_vertex in hits.chunk_by(|a, b| a.vertex == b.vertex) {
        // Depth at the closest point over all wedges that contain the vertex.
        let depth = of_vertex.iter().filter_map(|hit| {
            let p = positions[hit.vertex as usize];
            let closest = body.closest_point_from(&p, hit.triangle, positions);
            let neighbor = body.triangle(closest.triangle).contains(&hit.vertex)
                || body.is_excluded(hit.vertex, closest.triangle);
            let distance = (p - closest.point).norm();
            (!neighbor).then(|| (distance, -closest.normal.dot(&(p - closest.point))))
        });
        let Some((_, depth)) = depth.min_by(|a, b| a.0.total_cmp(&b.0)) else {
            continue;
        };
        if depth > 0.0 {
            found.vertices += 1;
            if depth > found.deepest {
                found.deepest = depth;
                found.deepest_at = of_vertex.first().map(|hit| positions[hit.vertex as usize]);
            }
        }
    }
    found.deepest_edges = found.deepest / body.mean_edge().max(f32::MIN_POSITIVE);
    found
}
