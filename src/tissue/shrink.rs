//! Base surface: every skin vertex moves along its segment to the foot point until it hits the volumetric skeleton.
//!
//! FPS appendix A; equations in the form l(λ) = l₀ + λ l against a frustum (c₀, r₀) → (c₁, r₁) with the sphere and the cylinder as
//! special cases.

use super::foot::FootPoints;
use super::graph::BoneGraph;
use crate::math::{Point64, Vec64};
use crate::mesh::TriMesh;

/// Radius of the frusta between joint spheres and bone cylinders, relative to these (FPS 3.2.1).
const FRUSTUM_RADIUS: f64 = 0.8;
/// Minimum thickness of the flesh as a fraction of the size.
const MIN_THICKNESS: f64 = 1e-4;

/// The shrunken skin.
#[derive(Debug, Clone, PartialEq)]
pub struct Shrunken {
    /// Base vertices, world space.
    pub base: Vec<Point64>,
    /// Vertices whose segment hit no bone volume or started inside one; their base vertex lies halfway to the foot
    /// point, or just below the skin where that touches the bone line.
    pub without_hit: usize,
}

/// Computes the base vertices of all skin vertices.
pub(super) fn shrink(mesh: &TriMesh, graph: &BoneGraph, feet: &FootPoints) -> Shrunken {
    let least = MIN_THICKNESS * f64::from(mesh.bounds().size());
    let normals = mesh.vertex_normals();
    let mut without_hit = 0;
    let base = (0..mesh.positions.len())
        .map(|vertex| {
            let skin = mesh.positions[vertex].cast::<f64>();
            let foot = feet.points[vertex];
            let ray = foot - skin;
            let length = ray.norm();
            if length <= 2.0 * least {
                // The skin touches the bone line: the base vertex is offset along the normal.
                without_hit += 1;
                return skin - normals[vertex].cast::<f64>() * least;
            }
            let hit = first_hit(graph, feet.bones[vertex] as usize, &skin, &ray);
            match hit {
                Some(t) if t * length > least => skin + ray * t,
                _ => {
                    without_hit += 1;
                    skin + ray * 0.5_f64.max(least / length)
                }
            }
        })
        .collect();
    Shrunken { base, without_hit }
}

/// Smallest parameter in 0..=1 at which a segment hits the volumes of a bone, of its joints, or of the bones that meet
/// there; `None` if it starts inside one or hits none.
fn first_hit(graph: &BoneGraph, bone: usize, start: &Point64, ray: &Vec64) -> Option<f64> {
    let mut best: Option<f64> = None;
    let mut inside = false;
    let mut add_hit = |hit: Option<f64>| match hit {
        Some(t) if t < 0.0 => inside = true,
        Some(t) if best.is_none_or(|b| t < b) => best = Some(t),
        _ => {}
    };
    let own = graph.bones[bone].nodes;
    let mut bones: Vec<usize> = own
        .iter()
        .flat_map(|&node| graph.nodes[node].bones.iter().copied())
        .collect();
    bones.sort_unstable();
    bones.dedup();
    for node in own {
        let node = &graph.nodes[node];
        if node.radius > 0.0 {
            add_hit(hit_sphere(&node.position, node.radius, start, ray));
        }
    }
    for bone in bones {
        hit_bone(graph, bone, start, ray, &mut add_hit);
    }
    if inside { None } else { best }
}

/// Passes the hits with the volumes of one bone to `add_hit`: cylinder, round caps, and frusta towards its joints.
fn hit_bone(
    graph: &BoneGraph,
    bone: usize,
    start: &Point64,
    ray: &Vec64,
    add_hit: &mut impl FnMut(Option<f64>),
) {
    let radius = graph.bones[bone].radius;
    let [n0, n1] = graph.bones[bone].nodes.map(|node| &graph.nodes[node]);
    let [v0, v1] = cylinder_ends(graph, bone);
    add_hit(hit_sphere(&v0, radius, start, ray));
    add_hit(hit_sphere(&v1, radius, start, ray));
    add_hit(hit_frustum(&v0, radius, &v1, radius, start, ray));
    for (node, end) in [(n0, &v0), (n1, &v1)] {
        if node.radius > 0.0 {
            add_hit(hit_frustum(
                &node.position,
                FRUSTUM_RADIUS * node.radius,
                end,
                FRUSTUM_RADIUS * radius,
                start,
                ray,
            ));
        }
    }
}

/// Ends of a bone's cylinder: a joint radius and a cap radius away from its joints; the tip itself at the end of a
/// leaf.
#[must_use]
pub fn cylinder_ends(graph: &BoneGraph, bone: usize) -> [Point64; 2] {
    let [a, b] = graph.segment(bone);
    let length = (b - a).norm();
    let axis = (b - a) / length.max(f64::MIN_POSITIVE);
    let radius = graph.bones[bone].radius;
    let inset = |node: usize| {
        let node = &graph.nodes[node];
        if node.radius > 0.0 {
            node.radius + radius
        } else {
            0.0
        }
    };
    let [i0, i1] = graph.bones[bone].nodes.map(inset);
    let scale = (length / (i0 + i1).max(f64::MIN_POSITIVE)).min(1.0);
    [a + axis * (i0 * scale), b - axis * (i1 * scale)]
}

/// First hit of a segment with a sphere: `Some(t)` with t in 0..=1, `Some(−1)` if it starts inside, `None` if it
/// misses.
fn hit_sphere(center: &Point64, radius: f64, start: &Point64, ray: &Vec64) -> Option<f64> {
    let offset = start - center;
    let g = offset.norm_squared() - radius * radius;
    if g < 0.0 {
        return Some(-1.0);
    }
    let a = ray.norm_squared();
    let b = ray.dot(&offset);
    let d = b * b - a * g;
    if d < 0.0 || b > 0.0 {
        return None;
    }
    let t = (-b - d.sqrt()) / a;
    (t <= 1.0).then_some(t)
}

/// First hit of a segment with the side of a frustum, as [`hit_sphere`]. Its flat ends are open: spheres close them.
fn hit_frustum(
    c0: &Point64,
    r0: f64,
    c1: &Point64,
    r1: f64,
    start: &Point64,
    ray: &Vec64,
) -> Option<f64> {
    let axis = c1 - c0;
    let height = axis.norm();
    if height < 1e-12 {
        return None;
    }
    let c = axis / height;
    let slope = (r1 - r0) / height;
    let offset = start - c0;
    let (along_ray, along_offset) = (ray.dot(&c), offset.dot(&c));
    let k = 1.0 + slope * slope;
    let a = ray.norm_squared() - along_ray * along_ray * k;
    let b = ray.dot(&offset) - along_ray * along_offset * k - along_ray * slope * r0;
    let g = offset.norm_squared()
        - r0 * r0
        - along_offset * along_offset * k
        - 2.0 * slope * r0 * along_offset;
    let within = |t: f64| (0.0..=height).contains(&(along_offset + t * along_ray));
    if g < 0.0 && within(0.0) {
        return Some(-1.0);
    }
    let d = b * b - a * g;
    if d < 0.0 || a.abs() < 1e-300 {
        return None;
    }
    let t = (-b - d.sqrt()) / a;
    ((0.0..=1.0).contains(&t) && within(t)).then_some(t)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hit_with_a_frustum_lies_on_it() {
        let (c0, c1) = (Point64::new(0.0, 0.0, 0.0), Point64::new(0.0, 0.0, 2.0));
        let start = Point64::new(3.0, 1.0, 0.8);
        let ray = Point64::new(0.0, 0.0, 1.1) - start;
        let t = hit_frustum(&c0, 1.0, &c1, 0.5, &start, &ray).expect("hits");
        let hit = start + ray * t;
        let radius = 1.0 + (0.5 - 1.0) * hit.z / 2.0;
        assert!((hit.xy().coords.norm() - radius).abs() < 1e-12);
    }

    #[test]
    fn a_segment_that_starts_inside_returns_minus_one() {
        let center = Point64::origin();
        assert_eq!(
            hit_sphere(&center, 1.0, &Point64::new(0.2, 0.0, 0.0), &Vec64::x()),
            Some(-1.0)
        );
        assert_eq!(
            hit_sphere(&center, 1.0, &Point64::new(3.0, 0.0, 0.0), &Vec64::x()),
            None
        );
        assert_eq!(
            hit_sphere(
                &center,
                1.0,
                &Point64::new(-3.0, 0.0, 0.0),
                &(Vec64::x() * 4.0)
            ),
            Some(0.5)
        );
    }
}
