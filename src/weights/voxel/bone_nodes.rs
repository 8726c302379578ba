//! Nodes inside of bones, on which the weights are given.
//!
//! A bone is a volume around its segment, with a radius that is a part of the segment's distance from the skin there, and the cells that
//! the segment runs through, so that thin bones have nodes, too. The bone of a joint without child and tail, as that of a head, goes on in
//! the direction from its parent. A line has no capacity in space: the values at nodes on lines alone
//! would hardly reach the skin.

use rayon::prelude::*;

use super::{Lookup, NodeTree, VoxelDomain};
use crate::math::{Point64, Vec64};
use crate::mesh::closest_on_segment;
use crate::progress::{Cancelled, Progress};
use crate::rig::Skeleton;
use crate::weights::Segment;

/// Radius of a bone as a part of the distance of its segment to the skin.
pub const BONE_RADIUS: f64 = 0.5;
/// Distances that differ by less than this, in cells, are equal: the joints share the node.
const TIE: f64 = 1e-6;
/// A bone outside of the solid cells takes the nearest node up to this far away, in cells.
const SNAP: f64 = 4.5;
/// Length of the bone of a joint without child and tail, as a part of the way from the joint to the skin.
const TAIL: f64 = 0.8;
/// How far the skin lies within the outermost nodes on average, in cells.
const INSET: f64 = 0.5;

/// The nodes of a domain whose values are given, and the joints they belong to.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BoneNodes {
    /// The nodes, ascending.
    pub nodes: Vec<u32>,
    /// The joints of each of them, ascending; the weights of all are equal.
    pub joints: Vec<Vec<u32>>,
    /// Joints without any node, ascending. Joints that carry no skin are not among them.
    pub unseeded: Vec<u32>,
}

impl BoneNodes {
    /// The bone nodes of a skeleton in the bind pose. `radius` is that of the bones as a part of the distance from segment to skin,
    /// [`BONE_RADIUS`] by default; 0 keeps the cells on the segments.
    ///
    /// A node that lies in several bones belongs to the one with the nearest segment, or to several at the same distance.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn of(
        domain: &VoxelDomain,
        skeleton: &Skeleton,
        radius: f64,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        let deforms = |joint: u32| {
            skeleton
                .joints()
                .get(joint as usize)
                .is_some_and(|j| j.deforms)
        };
        let any_deforms = skeleton.joints().iter().any(|joint| joint.deforms);
        let carries = |joint: u32| !any_deforms || deforms(joint);
        let mut segments = Segment::of(skeleton);
        segments.retain(|segment| carries(segment.joint));
        let shape = Shape::of(domain, radius);
        for segment in &mut segments {
            shape.prolong(segment, skeleton);
        }
        let mut claims: Vec<Claim> = Vec::new();
        for block in segments.chunks(16) {
            progress.check()?;
            let found: Vec<Vec<Claim>> = block
                .par_iter()
                .map(|segment| shape.claims(segment))
                .collect();
            claims.extend(found.into_iter().flatten());
        }
        claims.sort_unstable_by_key(|claim| (claim.node, claim.joint));
        let mut bones = Self::default();
        let mut seeded = vec![false; skeleton.len()];
        for own in claims.chunk_by(|a, b| a.node == b.node) {
            let nearest = own
                .iter()
                .map(|claim| claim.distance)
                .fold(f64::INFINITY, f64::min);
            let tied = own.iter().filter(|claim| claim.distance <= nearest + TIE);
            let mut joints: Vec<u32> = tied.map(|claim| claim.joint).collect();
            joints.dedup();
            for &joint in &joints {
                seeded[joint as usize] = true;
            }
            bones.nodes.push(own[0].node);
            bones.joints.push(joints);
        }
        let without = |&joint: &u32| carries(joint) && !seeded[joint as usize];
        bones.unseeded = (0..skeleton.len() as u32).filter(without).collect();
        Ok(bones)
    }
}

/// A bone wants a node.
struct Claim {
    node: u32,
    joint: u32,
    /// Distance from the segment, in cells.
    distance: f64,
}

/// What the shape of bones depends on.
struct Shape<'a> {
    domain: &'a VoxelDomain,
    nodes: Lookup<'a>,
    cells: Lookup<'a>,
    /// The outermost nodes.
    border: NodeTree,
    radius: f64,
}

impl<'a> Shape<'a> {
    fn of(domain: &'a VoxelDomain, radius: f64) -> Self {
        let mut cells_at = vec![0_u8; domain.nodes.len()];
        for &node in domain.corners.iter().flatten() {
            cells_at[node as usize] += 1;
        }
        let outermost = (0..domain.nodes.len() as u32).filter(|&node| cells_at[node as usize] < 8);
        Self {
            domain,
            nodes: Lookup::of(&domain.nodes),
            cells: Lookup::of(&domain.cells),
            border: NodeTree::of(domain, outermost),
            radius: if radius.is_finite() {
                radius.clamp(0.0, 1.0)
            } else {
                BONE_RADIUS
            },
        }
    }

    /// Gives the bone of a joint without child and tail a length: it goes on in the direction from the parent, up to a part of the way
    /// to the skin.
    fn prolong(&self, segment: &mut Segment, skeleton: &Skeleton) {
        let parent = skeleton.joints()[segment.joint as usize].parent;
        let (true, Some(parent)) = (segment.ends[0] == segment.ends[1], parent) else {
            return;
        };
        let grid = &self.domain.grid;
        let start = Vec64::from(grid.coordinates(&segment.ends[0]));
        let along = start - Vec64::from(grid.coordinates(&skeleton.bind_position(parent)));
        let Some(direction) = along.try_normalize(1e-6) else {
            return;
        };
        let most = grid.cells.iter().sum::<u32>() * 2;
        let is_solid = |step: &u32| self.is_solid(&(start + direction * (f64::from(*step) * 0.5)));
        let steps = (0..most).take_while(is_solid).count();
        let end = start + direction * (steps as f64 * 0.5 * TAIL);
        segment.ends[1] = grid.position(end.into());
    }

    fn is_solid(&self, at: &Vec64) -> bool {
        let cell: [f64; 3] = at.map(f64::floor).into();
        cell.iter().all(|&c| (0.0..1e6).contains(&c))
            && self.cells.find(cell.map(|c| c as u32)).is_some()
    }

    /// The nodes that a bone wants, each once or more.
    fn claims(&self, segment: &Segment) -> Vec<Claim> {
        let ends = segment
            .ends
            .map(|end| Vec64::from(self.domain.grid.coordinates(&end)));
        let claim = |node: u32| Claim {
            node,
            joint: segment.joint,
            distance: self.distance(&ends, node),
        };
        let Some(clipped) = clipped(ends, self.domain.grid.cells) else {
            return self.snapped(&ends).into_iter().map(claim).collect();
        };
        let mut nodes = self.on_segment(&clipped);
        nodes.extend(self.in_volume(&clipped));
        if nodes.is_empty() {
            nodes = self.snapped(&ends);
        }
        nodes.sort_unstable();
        nodes.dedup();
        nodes.into_iter().map(claim).collect()
    }

    fn distance(&self, ends: &[Vec64; 2], node: u32) -> f64 {
        let at = Vec64::from(self.domain.nodes[node as usize].map(f64::from));
        (at - foot(ends, &at).1).norm()
    }

    /// Corners of the solid cells that a segment within the grid runs through or touches.
    fn on_segment(&self, ends: &[Vec64; 2]) -> Vec<u32> {
        let mut crossings = vec![0.0, 1.0];
        let along = ends[1] - ends[0];
        for axis in 0..3 {
            if along[axis] != 0.0 {
                let (low, high) = (
                    ends[0][axis].min(ends[1][axis]),
                    ends[0][axis].max(ends[1][axis]),
                );
                let planes = low.ceil() as u32..=high.floor().max(0.0) as u32;
                let at = planes.map(|plane| (f64::from(plane) - ends[0][axis]) / along[axis]);
                crossings.extend(at.filter(|t| (0.0..=1.0).contains(t)));
            }
        }
        crossings.sort_unstable_by(f64::total_cmp);
        let between = crossings.windows(2).map(|pair| (pair[0] + pair[1]) * 0.5);
        let tried: Vec<f64> = crossings.iter().copied().chain(between).collect();
        let mut found = Vec::new();
        for t in tried {
            let at = ends[0] + along * t;
            // A segment in the plane between two cells runs through both.
            let sides = [0, 1, 2].map(|axis| [at[axis] - TIE, at[axis] + TIE].map(f64::floor));
            for k in 0..8 {
                let corner = [0, 1, 2].map(|axis| sides[axis][k >> axis & 1]);
                if corner.iter().all(|&c| c >= 0.0)
                    && let Some(cell) = self.cells.find(corner.map(|c| c as u32))
                {
                    found.extend(self.domain.corners[cell as usize]);
                }
            }
        }
        found
    }

    /// Nodes inside of the volume around a segment within the grid.
    fn in_volume(&self, ends: &[Vec64; 2]) -> Vec<u32> {
        let steps = ((ends[1] - ends[0]).norm().ceil() as usize).max(1);
        let radii: Vec<f64> = (0..=steps)
            .map(|step| {
                self.radius_at(&(ends[0] + (ends[1] - ends[0]) * (step as f64 / steps as f64)))
            })
            .collect();
        let largest = radii.iter().copied().fold(0.0, f64::max);
        if largest <= 0.0 {
            return Vec::new();
        }
        let range = |axis: usize| {
            let low = ends[0][axis].min(ends[1][axis]) - largest;
            let high = ends[0][axis].max(ends[1][axis]) + largest;
            low.ceil().max(0.0) as u32..=high.floor().max(0.0) as u32
        };
        let mut found = Vec::new();
        for z in range(2) {
            for y in range(1) {
                for x in range(0) {
                    let at = Vec64::from([x, y, z].map(f64::from));
                    let (t, foot) = foot(ends, &at);
                    let place = t * steps as f64;
                    let step = (place.floor() as usize).min(steps - 1);
                    let share = place - step as f64;
                    let radius = radii[step] * (1.0 - share) + radii[step + 1] * share;
                    if (at - foot).norm_squared() <= radius * radius
                        && let Some(node) = self.nodes.find([x, y, z])
                    {
                        found.push(node);
                    }
                }
            }
        }
        found
    }

    /// Radius of a bone around a point, in cells; 0 outside of the solid cells.
    fn radius_at(&self, at: &Vec64) -> f64 {
        if !self.is_solid(at) {
            return 0.0;
        }
        (self.border.distance((*at).into()) - INSET).max(0.0) * self.radius
    }

    /// The outermost nodes nearest to a segment outside of the solid cells, if they are near enough.
    fn snapped(&self, ends: &[Vec64; 2]) -> Vec<u32> {
        let nodes = 0..self.domain.nodes.len() as u32;
        let distances: Vec<f64> = nodes
            .clone()
            .map(|node| self.distance(ends, node))
            .collect();
        let nearest = distances.iter().copied().fold(f64::INFINITY, f64::min);
        let is_nearest = |&node: &u32| distances[node as usize] <= nearest + TIE;
        if nearest <= SNAP {
            nodes.filter(is_nearest).collect()
        } else {
            Vec::new()
        }
    }
}

/// The point of a segment nearest to a point, and its place between the ends.
fn foot(ends: &[Vec64; 2], at: &Vec64) -> (f64, Vec64) {
    let [a, b] = ends.map(Point64::from);
    let t = closest_on_segment(&Point64::from(*at), &a, &b);
    (t, ends[0] + (ends[1] - ends[0]) * t)
}

/// The part of a segment within the grid, in its coordinates.
fn clipped(ends: [Vec64; 2], cells: [u32; 3]) -> Option<[Vec64; 2]> {
    let along = ends[1] - ends[0];
    let (mut from, mut to) = (0.0_f64, 1.0_f64);
    for axis in 0..3 {
        let (low, high) = (-ends[0][axis], f64::from(cells[axis]) - ends[0][axis]);
        if along[axis] == 0.0 {
            if low > 0.0 || high < 0.0 {
                return None;
            }
        } else {
            let (one, other) = (low / along[axis], high / along[axis]);
            from = from.max(one.min(other));
            to = to.min(one.max(other));
        }
    }
    // Not a number where a coordinate is not finite.
    (from <= to).then(|| [ends[0] + along * from, ends[0] + along * to])
}
