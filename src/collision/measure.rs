//! Numbers about contact: for reports and panels, not for every frame.

use super::{CollisionBody, Detector, Feet};
use crate::math::{Point, Vec3};

/// How far the skin is inside itself.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct Penetration {
    /// Vertices inside another part.
    pub vertices: usize,
    /// Depth of the deepest, world units.
    pub deepest: f32,
    /// The same in mean edge lengths.
    pub deepest_edges: f32,
}

/// Triangles of the skin that cut through each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct SelfIntersections {
    /// Pairs of triangles without a common vertex.
    pub pairs: usize,
}

/// Measures all vertices against all wedges, whatever the contacts are.
pub fn deepest_penetration(body: &CollisionBody, positions: &[Point], feet: &Feet, detector: &mut Detector) -> Penetration {
    let mut found = Penetration::default();
    let hits = detector.detect(body, positions, feet);
    for of_vertex in hits.chunk_by(|a, b| a.vertex == b.vertex) {
        // The closest skin that is found from any of the wedges.
        let depth = of_vertex.iter().filter_map(|hit| {
            let p = positions[hit.vertex as usize];
            let foot = body.walk(&p, hit.triangle, positions);
            let neighbor = body.triangle(foot.triangle).contains(&hit.vertex) || body.is_left_alone(hit.vertex, foot.triangle);
            let distance = (p - foot.point).norm();
            (!neighbor).then(|| (distance, -foot.normal.dot(&(p - foot.point))))
        });
        let Some((_, depth)) = depth.min_by(|a, b| a.0.total_cmp(&b.0)) else { continue };
        if depth > 0.0 {
            found.vertices += 1;
            found.deepest = found.deepest.max(depth);
        }
    }
    found.deepest_edges = found.deepest / body.mean_edge().max(f32::MIN_POSITIVE);
    found
}

/// Counts pairs of triangles that intersect and share no vertex: sorted along x, then boxes, then edges against triangles.
#[must_use]
pub fn self_intersections(positions: &[Point], triangles: &[[u32; 3]]) -> SelfIntersections {
    let bounds = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| positions[v as usize].coords);
        (a.inf(&b).inf(&c), a.sup(&b).sup(&c))
    };
    let mut boxes: Vec<(Vec3, Vec3, u32)> = triangles
        .iter()
        .enumerate()
        .map(|(index, t)| {
            let (low, high) = bounds(t);
            (low, high, index as u32)
        })
        .filter(|(low, high, _)| low.iter().chain(high.iter()).all(|c| c.is_finite()))
        .collect();
    // Along the longest extent, so that as few as possible overlap.
    let whole = boxes.iter().fold((Vec3::repeat(f32::INFINITY), Vec3::repeat(f32::NEG_INFINITY)), |(l, h), b| (l.inf(&b.0), h.sup(&b.1)));
    let axis = (whole.1 - whole.0).imax();
    boxes.sort_unstable_by(|a, b| a.0[axis].total_cmp(&b.0[axis]).then(a.2.cmp(&b.2)));
    let mut pairs = 0;
    for (index, (low, high, first)) in boxes.iter().enumerate() {
        for (other_low, other_high, second) in &boxes[index + 1..] {
            if other_low[axis] > high[axis] {
                break;
            }
            let apart = (0..3).any(|c| other_low[c] > high[c] || low[c] > other_high[c]);
            if apart {
                continue;
            }
            let (s, t) = (triangles[*first as usize], triangles[*second as usize]);
            if s.iter().any(|v| t.contains(v)) {
                continue;
            }
            let corners = |t: [u32; 3]| t.map(|v| positions[v as usize].coords.cast::<f64>());
            pairs += usize::from(intersect(&corners(s), &corners(t)));
        }
    }
    SelfIntersections { pairs }
}

type Vec64 = crate::math::Vec64;

/// Whether an edge of one triangle goes through the other; two triangles in one plane don't intersect.
fn intersect(s: &[Vec64; 3], t: &[Vec64; 3]) -> bool {
    let pierces = |s: &[Vec64; 3], t: &[Vec64; 3]| (0..3).any(|k| segment_hits(&s[k], &s[(k + 1) % 3], t));
    pierces(s, t) || pierces(t, s)
}

fn segment_hits(p: &Vec64, q: &Vec64, [a, b, c]: &[Vec64; 3]) -> bool {
    let volume = |a: &Vec64, b: &Vec64, c: &Vec64, d: &Vec64| (b - a).cross(&(c - a)).dot(&(d - a));
    if volume(a, b, c, p) * volume(a, b, c, q) >= 0.0 {
        return false;
    }
    let sides = [volume(p, q, a, b), volume(p, q, b, c), volume(p, q, c, a)];
    sides.iter().all(|&v| v > 0.0) || sides.iter().all(|&v| v < 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_triangles_that_cross_are_one_pair() {
        let at = |x: f32, y: f32, z: f32| Point::new(x, y, z);
        let positions = vec![
            at(0.0, 0.0, 0.0),
            at(2.0, 0.0, 0.0),
            at(0.0, 2.0, 0.0),
            at(0.5, 0.5, -1.0),
            at(0.5, 0.5, 1.0),
            at(-5.0, -5.0, 0.5),
            at(9.0, 9.0, 9.0),
        ];
        assert_eq!(self_intersections(&positions, &[[0, 1, 2], [3, 4, 5]]).pairs, 1);
        assert_eq!(self_intersections(&positions, &[[0, 1, 2], [3, 4, 6]]).pairs, 1);
        assert_eq!(self_intersections(&positions, &[[0, 1, 2], [0, 4, 6]]).pairs, 0);
        assert_eq!(self_intersections(&positions, &[[0, 1, 2], [4, 5, 6]]).pairs, 0);
    }
}
