//! The nodes and cells of a domain on which the field of one joint varies.

use nalgebra::Matrix3;

use crate::math::Point64;
use crate::numerics::SymmetricMatrix;
use crate::weights::voxel::VoxelDomain;

/// Start values in this open interval are optimised; others are set to 0 or 1.
const ACTIVE: [f64; 2] = [0.003, 0.997];
/// Pieces of at most so many nodes are not dissected.
const LEAF: usize = 24;
/// Factor of the Laplacian that regularises the system, as a part of the mean diagonal.
const REGULARISATION: f64 = 1e-6;

/// What is solved for, and what it depends on. Local nodes are numbered in the order of elimination, fixed ones last.
pub(super) struct Region {
    /// Node of the domain of every local node.
    pub nodes: Vec<u32>,
    /// How many nodes are free; they are the first.
    pub free: usize,
    /// Local nodes of every cell that has a free corner; corners as in [`VoxelDomain::corners`].
    pub cells: Vec<[u32; 8]>,
    /// Positions in the joint's frame, in cells from the joint.
    pub positions: Vec<[f32; 3]>,
    /// Values of the local nodes to begin with; those of fixed nodes stay.
    pub values: Vec<f64>,
    /// Local nodes of every edge at a free node, and the number of cells that have it.
    edges: Vec<([u32; 2], f64)>,
}

impl Region {
    /// The region of a joint. `fixed` and `start` have one entry per node; `joint_from_world` is a rotation.
    pub fn new(
        domain: &VoxelDomain,
        fixed: &[bool],
        start: &[f64],
        origin: &Point64,
        joint_from_world: &Matrix3<f64>,
    ) -> Self {
        let is_free =
            |node: usize| !fixed[node] && start[node] > ACTIVE[0] && start[node] < ACTIVE[1];
        let mut nodes: Vec<u32> = (0..domain.nodes.len() as u32)
            .filter(|&node| is_free(node as usize))
            .collect();
        dissect(&mut nodes, &domain.nodes);
        let free = nodes.len();
        let mut local = vec![u32::MAX; domain.nodes.len()];
        for (index, &node) in nodes.iter().enumerate() {
            local[node as usize] = index as u32;
        }
        let mut cells = Vec::new();
        for corners in &domain.corners {
            // A fixed node that is numbered already has a number of at least `free`.
            if !corners
                .iter()
                .any(|&node| (local[node as usize] as usize) < free)
            {
                continue;
            }
            cells.push(corners.map(|node| {
                let index = &mut local[node as usize];
                if *index == u32::MAX {
                    *index = nodes.len() as u32;
                    nodes.push(node);
                }
                *index
            }));
        }
        let edges = domain
            .edges
            .iter()
            .filter_map(|edge| {
                let ends = edge.nodes.map(|node| local[node as usize]);
                let touches = ends.iter().any(|&end| (end as usize) < free);
                touches.then_some((ends, f64::from(edge.cells)))
            })
            .collect();
        let positions = nodes
            .iter()
            .map(|&node| {
                let from_joint = domain.position(node as usize) - origin;
                (joint_from_world * from_joint / domain.grid.edge)
                    .cast::<f32>()
                    .into()
            })
            .collect();
        let value = |&node: &u32| {
            let node = node as usize;
            if is_free(node) || fixed[node] {
                start[node]
            } else {
                start[node].round()
            }
        };
        let values = nodes.iter().map(value).collect();
        Self {
            nodes,
            free,
            cells,
            positions,
            values,
            edges,
        }
    }

    /// Y of the free nodes, and −Y w of the fixed ones as a right-hand side. `metric` are the diagonal entries of
    /// Σₖ (Sₖ − I)ᵀ (Sₖ − I) in the joint's frame.
    pub fn system(&self, metric: [f64; 3]) -> (SymmetricMatrix, Vec<f64>) {
        let product = |a: u32, b: u32| {
            let [a, b] = [a, b].map(|node| self.positions[node as usize].map(f64::from));
            (0..3)
                .map(|axis| metric[axis] * a[axis] * b[axis])
                .sum::<f64>()
        };
        let mut degree = vec![0.0; self.nodes.len()];
        for &(ends, count) in &self.edges {
            for end in ends {
                degree[end as usize] += count;
            }
        }
        let diagonal: f64 = (0..self.free)
            .map(|node| degree[node] * product(node as u32, node as u32))
            .sum();
        let least = REGULARISATION * diagonal / self.free.max(1) as f64;
        let mut right = vec![0.0; self.free];
        let mut entries: Vec<(usize, usize, f64)> = (0..self.free)
            .map(|node| {
                let own = product(node as u32, node as u32) + least;
                (node, node, degree[node] * own)
            })
            .collect();
        for &([a, b], count) in &self.edges {
            let value = count * (product(a, b) + least);
            let [i, j] = [a, b].map(|end| end as usize);
            match (i < self.free, j < self.free) {
                (true, true) => entries.push((i, j, -value)),
                (true, false) => right[i] += value * self.values[j],
                (false, true) => right[j] += value * self.values[i],
                (false, false) => {}
            }
        }
        (SymmetricMatrix::from_triplets(self.free, entries), right)
    }
}

/// Nested dissection by planes of the grid: every edge of a grid leads to the next plane at most, so that a plane separates what lies on
/// both sides of it.
fn dissect(nodes: &mut [u32], coordinates: &[[u32; 3]]) {
    if nodes.len() <= LEAF {
        return;
    }
    let at = |node: &u32| coordinates[*node as usize];
    let (mut low, mut high) = ([u32::MAX; 3], [0; 3]);
    for node in nodes.iter() {
        for (axis, &coordinate) in at(node).iter().enumerate() {
            low[axis] = low[axis].min(coordinate);
            high[axis] = high[axis].max(coordinate);
        }
    }
    let mut axis = 0;
    for other in 1..3 {
        if high[other] - low[other] > high[axis] - low[axis] {
            axis = other;
        }
    }
    if high[axis] - low[axis] < 2 {
        return;
    }
    let mut along: Vec<u32> = nodes.iter().map(|node| at(node)[axis]).collect();
    let middle = along.len() / 2;
    let plane = *along.select_nth_unstable(middle).1;
    let plane = plane.clamp(low[axis] + 1, high[axis] - 1);
    nodes.sort_by_key(|node| {
        let coordinate = at(node)[axis];
        match coordinate.cmp(&plane) {
            std::cmp::Ordering::Less => 0,
            std::cmp::Ordering::Greater => 1,
            std::cmp::Ordering::Equal => 2,
        }
    });
    let below = nodes.partition_point(|node| at(node)[axis] < plane);
    let above = nodes[below..].partition_point(|node| at(node)[axis] > plane);
    dissect(&mut nodes[..below], coordinates);
    dissect(&mut nodes[below..below + above], coordinates);
}
