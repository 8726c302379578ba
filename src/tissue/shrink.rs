//! The base surface: every skin vertex goes along its segment to the foot point until it hits the volumetric skeleton.
//!
//! FPS appendix A; equations in the form l(λ) = l₀ + λ l against a frustum (c₀, r₀) → (c₁, r₁) with the sphere and the cylinder as
//! special cases.

use super::foot::FootPoints;
use super::graph::BoneGraph;
use crate::math::{Point64, Vec64};
use crate::mesh::TriMesh;

/// The frusta between joint spheres and bone cylinders have this part of their radii (FPS 3.2.1).
const FRUSTUM: f64 = 0.8;
/// Flesh is never thinner than this part of the size.
const THINNEST_FLESH: f64 = 1e-4;

/// The shrunken skin.
#[derive(Debug, Clone, PartialEq)]
pub struct Shrunken {
    /// Base vertices, world space.
    pub base: Vec<Point64>,
    /// Vertices whose segment hit nothing or that lay inside the bones already; they got a base point on the way.
    pub without_hit: usize,
}

/// Shrinks all vertices.
pub(super) fn shrink(mesh: &TriMesh, graph: &BoneGraph, feet: &FootPoints) -> Shrunken {
    let least = THINNEST_FLESH * f64::from(mesh.bounds().size());
    let normals = mesh.vertex_normals();
    let mut without_hit = 0;
    let base = (0..mesh.positions.len())
        .map(|vertex| {
            let skin = mesh.positions[vertex].cast::<f64>();
            let foot = feet.points[vertex];
            let way = foot - skin;
            let length = way.norm();
            if length <= 2.0 * least {
                // The skin touches the bone line: give it flesh along its normal.
                without_hit += 1;
                return skin - normals[vertex].cast::<f64>() * least;
            }
            let hit = first_hit(graph, feet.bones[vertex] as usize, &skin, &way);
            match hit {
                Some(t) if t * length > least => skin + way * t,
                _ => {
                    without_hit += 1;
                    skin + way * 0.5_f64.max(least / length)
                }
            }
        })
        .collect();
    Shrunken { base, without_hit }
}

/// Smallest parameter in 0..=1 at which the way meets the volumes of a bone, of its joints, and of the bones that meet there;
/// `None` if it starts inside of one or meets none.
fn first_hit(graph: &BoneGraph, bone: usize, start: &Point64, way: &Vec64) -> Option<f64> {
    let mut best: Option<f64> = None;
    let mut inside = false;
    let mut offer = |hit: Option<f64>| match hit {
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
            offer(hit_sphere(&node.position, node.radius, start, way));
        }
    }
    for bone in bones {
        hit_bone(graph, bone, start, way, &mut offer);
    }
    if inside { None } else { best }
}

/// Offers the hits with one bone: cylinder, round caps, and frusta towards its joints.
fn hit_bone(
    graph: &BoneGraph,
    bone: usize,
    start: &Point64,
    way: &Vec64,
    offer: &mut impl FnMut(Option<f64>),
) {
    let radius = graph.bones[bone].radius;
    let [n0, n1] = graph.bones[bone].nodes.map(|node| &graph.nodes[node]);
    let [v0, v1] = cylinder_ends(graph, bone);
    offer(hit_sphere(&v0, radius, start, way));
    offer(hit_sphere(&v1, radius, start, way));
    offer(hit_frustum(&v0, radius, &v1, radius, start, way));
    for (node, end) in [(n0, &v0), (n1, &v1)] {
        if node.radius > 0.0 {
            offer(hit_frustum(
                &node.position,
                FRUSTUM * node.radius,
                end,
                FRUSTUM * radius,
                start,
                way,
            ));
        }
    }
}

/// Where the cylinder of a bone begins and ends: a joint radius and a cap away from its joints; at the tip of a leaf.
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

/// First hit of a ray with a sphere: Some(t) with t in 0..=1, Some(−1) if it starts inside, None if it misses.
fn hit_sphere(center: &Point64, radius: f64, start: &Point64, way: &Vec64) -> Option<f64> {
    let offset = start - center;
    let g = offset.norm_squared() - radius * radius;
    if g < 0.0 {
        return Some(-1.0);
    }
    let a = way.norm_squared();
    let b = way.dot(&offset);
    let d = b * b - a * g;
    if d < 0.0 || b > 0.0 {
        return None;
    }
    let t = (-b - d.sqrt()) / a;
    (t <= 1.0).then_some(t)
}

/// First hit of a ray with the side of a frustum, as [`hit_sphere`]. Its flat ends are open: spheres close them.
fn hit_frustum(
    c0: &Point64,
    r0: f64,
    c1: &Point64,
    r1: f64,
    start: &Point64,
    way: &Vec64,
) -> Option<f64> {
    let axis = c1 - c0;
    let height = axis.norm();
    if height < 1e-12 {
        return None;
    }
    let c = axis / height;
    let slope = (r1 - r0) / height;
    let offset = start - c0;
    let (along_way, along_offset) = (way.dot(&c), offset.dot(&c));
    let k = 1.0 + slope * slope;
    let a = way.norm_squared() - along_way * along_way * k;
    let b = way.dot(&offset) - along_way * along_offset * k - along_way * slope * r0;
    let g = offset.norm_squared()
        - r0 * r0
        - along_offset * along_offset * k
        - 2.0 * slope * r0 * along_offset;
    let within = |t: f64| (0.0..=height).contains(&(along_offset + t * along_way));
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
        let way = Point64::new(0.0, 0.0, 1.1) - start;
        let t = hit_frustum(&c0, 1.0, &c1, 0.5, &start, &way).expect("hits");
        let hit = start + way * t;
        let radius = 1.0 + (0.5 - 1.0) * hit.z / 2.0;
        assert!((hit.xy().coords.norm() - radius).abs() < 1e-12);
    }

    #[test]
    fn a_ray_that_starts_inside_says_so() {
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
