//! The voxel domain as lines and coloured faces, to be drawn.

use std::collections::BTreeMap;

use super::{VoxelBinding, VoxelDomain};
use crate::math::{Point, Vec64};

/// Most edges and most faces that are drawn. A slender body has about 25 000 edges with 100 cells along its longest side.
const MOST_DRAWN: usize = 60_000;

/// The surface of the solid cells and the nodes inside of bones, in the bind pose.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct VoxelOutline {
    /// Edge of a cell, in the units of the mesh.
    pub edge: f64,
    /// How many solid cells there are.
    pub cells: usize,
    /// Ends of the edges on the surface of the solid cells, at most 60 000.
    pub lines: Vec<[Point; 2]>,
    /// Faces of the cubes around the bone nodes that are not between two bone nodes of the same joint, at most 60 000.
    pub bone_faces: Vec<BoneFace>,
}

/// A face of the cube around a bone node. The cube is as large as a cell, with the node at its centre.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoneFace {
    /// Its corners, counter-clockwise seen from outside.
    pub corners: [Point; 4],
    /// The joint of the bone; the first one where several bones are equally near.
    pub joint: u32,
}

impl VoxelOutline {
    /// The outline of a domain with its bone nodes. Where there is more than can be drawn, edges between two cells side by side are left
    /// out first, and then all but every n-th.
    #[must_use]
    pub fn of(binding: &VoxelBinding) -> Self {
        let domain = &binding.domain;
        Self {
            edge: domain.grid.edge,
            cells: domain.cells.len(),
            lines: surface_edges(domain),
            bone_faces: thinned(bone_faces(binding)),
        }
    }
}

/// Edges that fewer than four solid cells have.
fn surface_edges(domain: &VoxelDomain) -> Vec<[Point; 2]> {
    let of_surface = || domain.edges.iter().filter(|edge| edge.cells < 4);
    let flat_too = of_surface().count() <= MOST_DRAWN;
    let lines = of_surface()
        .filter(|edge| flat_too || edge.cells != 2)
        .map(|edge| {
            edge.nodes
                .map(|node| domain.position(node as usize).cast::<f32>())
        });
    thinned(lines.collect())
}

fn bone_faces(binding: &VoxelBinding) -> Vec<BoneFace> {
    let (domain, bones) = (&binding.domain, &binding.bones);
    let joint_at: BTreeMap<[u32; 3], u32> = bones
        .nodes
        .iter()
        .zip(&bones.joints)
        .filter_map(|(&node, joints)| Some((domain.nodes[node as usize], *joints.first()?)))
        .collect();
    let mut faces = Vec::new();
    for (&at, &joint) in &joint_at {
        for axis in 0..3 {
            for step in [-1, 1] {
                let mut beside = at;
                let neighbour = at[axis].checked_add_signed(step).and_then(|moved| {
                    beside[axis] = moved;
                    joint_at.get(&beside)
                });
                if neighbour != Some(&joint) {
                    faces.push(BoneFace {
                        corners: face(domain, at, axis, f64::from(step)),
                        joint,
                    });
                }
            }
        }
    }
    faces
}

/// The face of the cube around a node towards `side` (1 or -1) along an axis.
fn face(domain: &VoxelDomain, node: [u32; 3], axis: usize, side: f64) -> [Point; 4] {
    // Along the other two axes; they go around the opposite way on the lower side.
    let around = [[-0.5, -0.5], [0.5, -0.5], [0.5, 0.5], [-0.5, 0.5]];
    around.map(|[across, up]| {
        let mut offset = Vec64::zeros();
        offset[axis] = 0.5 * side;
        offset[(axis + 1) % 3] = across * side;
        offset[(axis + 2) % 3] = up;
        let at = Vec64::from(node.map(f64::from)) + offset;
        domain.grid.position(at.into()).cast()
    })
}

/// Every n-th entry, with the smallest n that leaves at most [`MOST_DRAWN`].
fn thinned<T>(all: Vec<T>) -> Vec<T> {
    let every = all.len().div_ceil(MOST_DRAWN).max(1);
    all.into_iter().step_by(every).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Point64;
    use crate::mesh::shapes::tube;
    use crate::progress::Progress;
    use crate::rig::Skeleton;
    use crate::weights::voxel::BONE_RADIUS;

    #[test]
    fn the_outline_encloses_the_bones_of_a_limb() {
        let joint = |name: &str, parent, y| (name.to_owned(), parent, Point64::new(0.0, y, 0.0));
        let joints = [joint("a", None, 0.3), joint("b", Some(0), 1.5)];
        let skeleton = Skeleton::from_positions(&joints).expect("a valid skeleton");
        let mesh = tube(0.2, 3.0, 40, 20, true);
        let binding = VoxelBinding::of(&mesh, &skeleton, 40, BONE_RADIUS, &Progress::new())
            .expect("nobody cancels");
        let outline = VoxelOutline::of(&binding);
        assert_eq!(outline.cells, binding.domain.cells.len());
        assert!((outline.edge - 3.0 / 40.0).abs() < 1e-6);
        let radius = |p: &Point| p.x.hypot(p.z);
        let outermost = outline.lines.iter().flatten().map(radius);
        let outermost = outermost.fold(0.0, f32::max);
        assert!(!outline.bone_faces.is_empty());
        for face in &outline.bone_faces {
            let [a, b, c, _] = face.corners;
            let normal = (b - a).cross(&(c - a));
            assert!((normal.norm() - (outline.edge * outline.edge) as f32).abs() < 1e-5);
            let inside = a - normal / normal.norm() * (0.5 * outline.edge as f32);
            assert!(radius(&inside) < outermost, "{face:?}");
            assert!(face.joint < 2);
        }
    }

    #[test]
    fn a_node_alone_has_six_faces_that_look_outwards() {
        let grid = crate::weights::voxel::Grid {
            origin: Point64::origin(),
            edge: 2.0,
            cells: [3; 3],
        };
        let domain = VoxelDomain::from_cells(grid, vec![[1, 1, 1]]);
        let centre = Point::new(2.0, 2.0, 2.0);
        for axis in 0..3 {
            for side in [-1.0, 1.0] {
                let [a, b, c, d] = face(&domain, [1, 1, 1], axis, side);
                let middle = nalgebra::center(&a, &c);
                assert_eq!(middle, nalgebra::center(&b, &d));
                let outwards = middle - centre;
                let normal = (b - a).cross(&(c - a)) / 4.0;
                assert_eq!(normal, outwards);
            }
        }
    }

    #[test]
    fn lists_are_thinned_evenly() {
        assert_eq!(thinned(vec![1, 2, 3]), [1, 2, 3]);
        let many: Vec<usize> = (0..3 * MOST_DRAWN).collect();
        let kept = thinned(many);
        assert_eq!((kept.len(), kept[1]), (MOST_DRAWN, 3));
    }
}
