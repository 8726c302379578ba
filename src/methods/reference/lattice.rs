//! A body of hexahedral elements in cells of an octree.
//!
//! Every connected piece of the body in a cell is an element of its own with the cell's eight corners, so that pieces
//! that are near but separate do not fuse: Nesme, Kry, Jeřábková, Faure, "Preserving Topology and Elasticity for
//! Embedded Deformable Models", ACM TOG 28(3), 2009. An element is weighted by the fraction of its cell that it fills.
//! Corners in the middle of an edge or face of a larger neighbour are not unknowns but the mean of its corners, so that
//! displacements are continuous.

use std::collections::HashMap;

use super::cell_connectivity::{self, Hanging, Joins};
use super::inside::Inside;
use super::octree::{Fineness, Octree};
use super::pieces::{self, Pieces};
use crate::math::{Point64, Vec64};
use crate::mesh::{Topology, TriMesh, TriangleTree, thickness};
use crate::progress::{Cancelled, Progress};

/// Number of rays besides the normal by which the thickness of the body is measured.
const RAYS: usize = 6;
/// Minimum fill fraction of an element, so that its stiffness does not vanish compared with that of its neighbours.
const MIN_FILL: f64 = 0.05;

/// A trilinear element: a piece of the body in one cell.
#[derive(Debug, Clone)]
pub struct Element {
    /// The nodes on which its corners depend.
    pub nodes: Box<[u32]>,
    /// Weight of every node in every corner, 8 × nodes by corners; `None` where the eight nodes are the corners.
    pub(super) corners: Option<Box<[f64]>>,
    /// Smallest corner at rest, world units.
    pub origin: Point64,
    /// Length of its edges at rest, world units.
    pub side: f64,
    /// Fill fraction of the cell, 0 to 1.
    pub fill: f64,
    /// The connected body it belongs to.
    pub component: u32,
    pub(super) cell: u32,
    pub(super) piece: u8,
}

/// A body divided into elements. Immutable.
pub struct Lattice {
    /// Nodes at rest, world units.
    pub nodes: Vec<Point64>,
    /// Elements, by cell.
    pub elements: Vec<Element>,
    /// Number of connected bodies.
    pub components: usize,
    pub(super) octree: Octree,
    pub(super) pieces: Vec<Pieces>,
    /// The first element of every cell.
    pub(super) first: Vec<u32>,
}

/// Resolution of the division into elements.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Resolution {
    /// Cells across the local thickness of the body; fewer where that would take too many.
    pub through: f64,
    /// Largest number of cells.
    pub cells: usize,
}

/// The weights of the eight corners at a point of a cell, in units of its edges from its smallest corner.
pub(super) fn trilinear(local: &Vec64) -> [f64; 8] {
    std::array::from_fn(|corner| {
        (0..3)
            .map(|axis| {
                if corner >> axis & 1 == 1 {
                    local[axis]
                } else {
                    1.0 - local[axis]
                }
            })
            .product()
    })
}

impl Element {
    /// Weight of each of its nodes at a point, in units of its edges from its smallest corner.
    pub fn weights(&self, local: &Vec64) -> impl Iterator<Item = (u32, f64)> + '_ {
        let corners = trilinear(local);
        let count = self.nodes.len();
        self.nodes.iter().enumerate().map(move |(k, &node)| {
            let weight = match &self.corners {
                None => corners[k],
                Some(shape) => (0..8).map(|c| corners[c] * shape[c * count + k]).sum(),
            };
            (node, weight)
        })
    }

    /// Coordinates of a rest point in it, in units of its edges.
    #[must_use]
    pub fn local(&self, point: &Point64) -> Vec64 {
        (point - self.origin) / self.side
    }

    /// Its eight corners for positions of all nodes.
    pub(super) fn corners_at(&self, nodes: &[Point64]) -> [Vec64; 8] {
        match &self.corners {
            None => std::array::from_fn(|corner| nodes[self.nodes[corner] as usize].coords),
            Some(shape) => {
                let count = self.nodes.len();
                std::array::from_fn(|corner| {
                    (self.nodes.iter().enumerate())
                        .map(|(k, &node)| nodes[node as usize].coords * shape[corner * count + k])
                        .sum()
                })
            }
        }
    }
}

impl Lattice {
    /// Divides the inside of a skin into elements. Holes of the skin are closed by its winding numbers.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn build(
        mesh: &TriMesh,
        resolution: Resolution,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        let (tree, topology) = (TriangleTree::new(mesh), Topology::of(mesh));
        let inside = Inside::new(mesh, &tree);
        progress.report(0.0, "Measuring thickness");
        let of_vertices = thickness(mesh, &topology, &tree, RAYS);
        let under = |corners: &[u32; 3]| {
            let product: f64 = corners.iter().map(|&v| of_vertices[v as usize]).product();
            product.cbrt()
        };
        let thickness: Vec<f64> = mesh.triangles.iter().map(under).collect();
        progress.check()?;
        progress.report(0.2, "Cutting into cells");
        let wanted = Fineness {
            thickness: &thickness,
            through: resolution.through,
            cells: resolution.cells,
        };
        let octree = Octree::build(&inside, &wanted, &progress.part(0.2, 0.6))?;
        progress.report(0.6, "Filling cells");
        let pieces = pieces::find(&octree, &inside);
        progress.check()?;
        progress.report(0.9, "Joining cells");
        let mut first = vec![0];
        for piece in &pieces {
            first.push(first[first.len() - 1] + u32::from(piece.count));
        }
        let count = first[pieces.len()] as usize;
        let joins = cell_connectivity::find(&octree, &inside, &pieces, &first, count);
        Ok(Self::of(octree, pieces, first, joins))
    }

    fn of(octree: Octree, pieces: Vec<Pieces>, first: Vec<u32>, mut joins: Joins) -> Self {
        let count = first[pieces.len()] as usize;
        let mut numbering = Numbering::new(&mut joins, 8 * count);
        let mut nodes = vec![Point64::origin(); numbering.independent];
        let mut elements = Vec::with_capacity(count);
        let mut component_of = HashMap::new();
        for (cell, own) in pieces.iter().enumerate() {
            let origin = octree.corner(octree.cells[cell]);
            let side = f64::from(octree.cells[cell].side()) * octree.spacing;
            for piece in 0..own.count {
                let index = elements.len() as u32;
                let corners: [Vec<(u32, f64)>; 8] =
                    std::array::from_fn(|corner| numbering.of(8 * index + corner as u32));
                for (corner, on) in corners.iter().enumerate() {
                    if let [(node, _)] = on[..] {
                        let bits = [0, 1, 2].map(|axis| (corner >> axis & 1) as f64);
                        nodes[node as usize] = origin + Vec64::from(bits) * side;
                    }
                }
                let root = joins.elements.root(index);
                let next = component_of.len() as u32;
                let (members, shape) = gathered(&corners);
                elements.push(Element {
                    nodes: members,
                    corners: shape,
                    origin,
                    side,
                    fill: own.fill(piece).max(MIN_FILL),
                    component: *component_of.entry(root).or_insert(next),
                    cell: cell as u32,
                    piece,
                });
            }
        }
        Self {
            nodes,
            elements,
            components: component_of.len(),
            octree,
            pieces,
            first,
        }
    }

    /// Number of cells.
    #[must_use]
    pub fn cells(&self) -> usize {
        self.octree.cells.len()
    }
}

/// The distinct nodes of the corners, and their weights in each corner; no weights if the nodes are the corners.
fn gathered(corners: &[Vec<(u32, f64)>; 8]) -> (Box<[u32]>, Option<Box<[f64]>>) {
    if corners.iter().all(|corner| corner.len() == 1) {
        let mut members: Vec<u32> = corners.iter().map(|corner| corner[0].0).collect();
        let nodes = members.clone().into_boxed_slice();
        members.sort_unstable();
        members.dedup();
        if members.len() == 8 {
            return (nodes, None);
        }
    }
    let mut members: Vec<u32> = corners.iter().flatten().map(|&(node, _)| node).collect();
    members.sort_unstable();
    members.dedup();
    let mut shape = vec![0.0; 8 * members.len()];
    for (corner, on) in corners.iter().enumerate() {
        for (node, weight) in on {
            let place = members.iter().position(|member| member == node);
            shape[corner * members.len() + place.unwrap_or_default()] += weight;
        }
    }
    (members.into_boxed_slice(), Some(shape.into_boxed_slice()))
}

/// Numbering of the independent nodes.
struct Numbering {
    /// By slot: its set of merged slots.
    roots: Vec<u32>,
    /// By root: its number among the independent nodes.
    numbers: HashMap<u32, u32>,
    /// By root: the roots that it is the mean of.
    masters: HashMap<u32, Vec<u32>>,
    independent: usize,
}

impl Numbering {
    fn new(joins: &mut Joins, slots: usize) -> Self {
        let roots: Vec<u32> = (0..slots as u32)
            .map(|slot| joins.slots.root(slot))
            .collect();
        let mut masters: HashMap<u32, Vec<u32>> = HashMap::new();
        for Hanging { slot, masters: on } in &joins.hanging {
            let on: Vec<u32> = on.iter().map(|&master| roots[master as usize]).collect();
            let root = roots[*slot as usize];
            if !on.contains(&root) {
                masters.entry(root).or_insert(on);
            }
        }
        let mut numbers = HashMap::new();
        for &root in &roots {
            let next = numbers.len() as u32;
            if !masters.contains_key(&root) {
                numbers.entry(root).or_insert(next);
            }
        }
        Self {
            independent: numbers.len(),
            roots,
            numbers,
            masters,
        }
    }

    /// The independent nodes that a corner is the mean of, with their weights.
    fn of(&mut self, slot: u32) -> Vec<(u32, f64)> {
        let mut sum = Vec::new();
        self.add(self.roots[slot as usize], 1.0, &mut sum);
        sum
    }

    /// Masters are corners of larger cells, so this ends.
    fn add(&self, root: u32, weight: f64, sum: &mut Vec<(u32, f64)>) {
        if let Some(&number) = self.numbers.get(&root) {
            match sum.iter_mut().find(|(node, _)| *node == number) {
                Some((_, total)) => *total += weight,
                None => sum.push((number, weight)),
            }
        } else if let Some(masters) = self.masters.get(&root) {
            for &master in masters {
                self.add(master, weight / masters.len() as f64, sum);
            }
        }
    }
}
