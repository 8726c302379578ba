//! The elastic energy of a lattice with its derivatives.
//!
//! Trilinear elements with 2 × 2 × 2 Gauss points: `E = Σₑ Σ_q V_q Ψ(F_q)`, `F_q = Σ_c x_c ∇N_c(q)ᵀ`, with `V_q` an
//! eighth of the filled volume. The second derivative is exact, or with the negative eigenvalues of every Gauss point
//! set to zero.

use std::sync::Arc;

use nalgebra::Matrix3;
use rayon::prelude::*;

use super::blocks::{gauss_gradients, in_blocks, on_nodes};
use super::lattice::{Element, Lattice};
use super::material::NeoHookean;
use crate::math::{Point64, Vec64};
use crate::numerics::SymmetricMatrix;
use crate::numerics::ordering::{elimination_order, inverse_of};
use crate::numerics::pattern::{Cliques, Pattern};

/// Index of an unknown that marks a prescribed node.
const FIXED: u32 = u32::MAX;
/// Rounding error of the energy density, shear moduli.
const ROUNDING: f64 = 1e-14;
/// Elements whose second derivatives are computed together.
const CHUNK: usize = 1024;

/// Kind of second derivative.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SecondDerivative {
    /// Exact; may be indefinite.
    Exact,
    /// Positive semidefinite at every Gauss point.
    Projected,
}

/// The elastic energy of the free nodes, the others being prescribed.
pub struct Elastic {
    lattice: Arc<Lattice>,
    material: NeoHookean,
    /// Elements with a free node.
    active: Vec<u32>,
    /// Per node its unknown, in the order of elimination.
    unknown_of_node: Vec<u32>,
    node_of_unknown: Vec<u32>,
    /// Pattern of the coupling of unknowns, three rows each; and for every pair of an active element's nodes the
    /// position of its block.
    pattern: Pattern,
    blocks: Vec<u32>,
    block_starts: Vec<u32>,
    /// Gradients of the corners' weights at the Gauss points, for edges of length 1.
    gradients: [[Vec64; 8]; 8],
}

impl Elastic {
    /// The energy with these nodes prescribed.
    #[must_use]
    pub fn new(lattice: &Arc<Lattice>, material: NeoHookean, is_fixed: &[bool]) -> Self {
        let elements = &lattice.elements;
        let is_free = |&node: &u32| !is_fixed[node as usize];
        let active: Vec<u32> = (0..elements.len() as u32)
            .filter(|&e| elements[e as usize].nodes.iter().any(is_free))
            .collect();
        let mut used = vec![false; lattice.nodes.len()];
        for &element in &active {
            for &node in elements[element as usize]
                .nodes
                .iter()
                .filter(|n| is_free(n))
            {
                used[node as usize] = true;
            }
        }
        let free: Vec<u32> = (0..used.len() as u32)
            .filter(|&node| used[node as usize])
            .collect();
        let mut number = vec![FIXED; used.len()];
        for (k, &node) in free.iter().enumerate() {
            number[node as usize] = k as u32;
        }
        let cliques = |number: &[u32]| {
            let lists: Vec<Vec<u32>> = active
                .iter()
                .map(|&element| unknowns(&elements[element as usize], number))
                .collect();
            Cliques::of(lists.iter().map(Vec::as_slice))
        };
        let graph = Pattern::of_cliques(&cliques(&number), free.len()).graph();
        let order = elimination_order(&graph).unwrap_or_else(|| (0..free.len() as u32).collect());
        let places = inverse_of(&order);
        for number in number.iter_mut().filter(|number| **number != FIXED) {
            *number = places[*number as usize];
        }
        let coarse = Pattern::of_cliques(&cliques(&number), free.len());
        let pattern = in_blocks(&coarse);
        let mut elastic = Self {
            lattice: lattice.clone(),
            material,
            node_of_unknown: order.iter().map(|&k| free[k as usize]).collect(),
            unknown_of_node: number,
            pattern,
            blocks: Vec::new(),
            block_starts: vec![0],
            gradients: gauss_gradients(),
            active,
        };
        elastic.find_blocks();
        elastic
    }

    fn find_blocks(&mut self) {
        let mut blocks = Vec::new();
        for &element in &self.active {
            let nodes = &self.lattice.elements[element as usize].nodes;
            for (i, &a) in nodes.iter().enumerate() {
                for &b in &nodes[..=i] {
                    let pair = [a, b].map(|node| self.unknown_of_node[node as usize]);
                    let entry = if pair.contains(&FIXED) {
                        None
                    } else {
                        self.pattern.entry(3 * pair[0], 3 * pair[1])
                    };
                    blocks.push(entry.map_or(u32::MAX, |entry| entry as u32));
                }
            }
            self.block_starts.push(blocks.len() as u32);
        }
        self.blocks = blocks;
    }

    /// Nodes that are free, in the order of the unknowns.
    #[must_use]
    pub fn free_nodes(&self) -> &[u32] {
        &self.node_of_unknown
    }

    pub(super) fn unknown_of(&self, node: usize) -> Option<usize> {
        let unknown = self.unknown_of_node[node];
        (unknown != FIXED).then_some(unknown as usize)
    }

    /// Which unknowns are coupled.
    pub(super) fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// A matrix of zeros for [`Elastic::hessian`].
    #[must_use]
    pub fn matrix(&self) -> SymmetricMatrix {
        SymmetricMatrix::zeros(self.pattern.clone())
    }

    /// Length of the shortest edge of a cell, world units.
    #[must_use]
    pub fn spacing(&self) -> f64 {
        self.lattice.octree.spacing
    }

    /// Rounding error of the energy at rest, where it is a difference of larger numbers.
    pub(super) fn rounding(&self) -> f64 {
        let volume = |active| self.element(active).fill * self.element(active).side.powi(3);
        ROUNDING * (0..self.active.len()).map(volume).sum::<f64>()
    }

    fn element(&self, active: usize) -> &Element {
        &self.lattice.elements[self.active[active] as usize]
    }

    /// The deformation gradient at a Gauss point.
    fn gradient_at(&self, q: usize, corners: &[Vec64; 8], side: f64) -> Matrix3<f64> {
        let mut f = Matrix3::zeros();
        for (corner, gradient) in corners.iter().zip(&self.gradients[q]) {
            f += corner * gradient.transpose();
        }
        f / side
    }

    /// The energy, in units of the shear modulus times a cubic world unit.
    #[must_use]
    pub fn energy(&self, nodes: &[Point64]) -> f64 {
        let of = |active: usize| {
            let element = self.element(active);
            let corners = element.corners_at(nodes);
            let density: f64 = (0..8)
                .map(|q| {
                    let f = self.gradient_at(q, &corners, element.side);
                    self.material.energy(&f)
                })
                .sum();
            density * element.fill * element.side.powi(3) / 8.0
        };
        let energies: Vec<f64> = (0..self.active.len()).into_par_iter().map(of).collect();
        energies.iter().sum()
    }

    /// Derivative of the energy by every node's position, prescribed ones included.
    #[must_use]
    pub fn gradient(&self, nodes: &[Point64]) -> Vec<Vec64> {
        let of = |active: usize| {
            let element = self.element(active);
            let corners = element.corners_at(nodes);
            let mut forces = [Vec64::zeros(); 8];
            for q in 0..8 {
                let f = self.gradient_at(q, &corners, element.side);
                let stress = self.material.stress(&f);
                for (force, gradient) in forces.iter_mut().zip(&self.gradients[q]) {
                    *force += stress * gradient;
                }
            }
            forces.map(|force| force * (element.fill * element.side.powi(2) / 8.0))
        };
        let forces: Vec<[Vec64; 8]> = (0..self.active.len()).into_par_iter().map(of).collect();
        let mut sum = vec![Vec64::zeros(); nodes.len()];
        for (active, forces) in forces.iter().enumerate() {
            let element = self.element(active);
            let count = element.nodes.len();
            for (k, &node) in element.nodes.iter().enumerate() {
                match &element.corners {
                    None => sum[node as usize] += forces[k],
                    Some(shape) => {
                        for (corner, force) in forces.iter().enumerate() {
                            sum[node as usize] += force * shape[corner * count + k];
                        }
                    }
                }
            }
        }
        sum
    }

    /// Writes the second derivative by the unknowns: x, y, z of the first free node, then of the next.
    pub fn hessian(&self, nodes: &[Point64], how: SecondDerivative, matrix: &mut SymmetricMatrix) {
        let values = matrix.values_mut();
        values.fill(0.0);
        for first in (0..self.active.len()).step_by(CHUNK) {
            let last = (first + CHUNK).min(self.active.len());
            let stiffness: Vec<Vec<Matrix3<f64>>> = (first..last)
                .into_par_iter()
                .map(|active| self.stiffness(self.element(active), nodes, how))
                .collect();
            for (active, stiffness) in (first..last).zip(&stiffness) {
                self.scatter(active, stiffness, values);
            }
        }
    }

    /// Adds the blocks of one element.
    fn scatter(&self, active: usize, stiffness: &[Matrix3<f64>], values: &mut [f64]) {
        let nodes = &self.element(active).nodes;
        let first = self.block_starts[active] as usize;
        let mut pair = 0;
        for (i, &a) in nodes.iter().enumerate() {
            for (j, &b) in nodes[..=i].iter().enumerate() {
                let (entry, block) = (self.blocks[first + pair], &stiffness[pair]);
                pair += 1;
                if entry == u32::MAX {
                    continue;
                }
                let [a, b] = [a, b].map(|node| self.unknown_of_node[node as usize]);
                let (low, is_turned) = (a.min(b), a < b);
                let length = self.pattern.column(3 * low as usize).len();
                let mut entry = entry as usize;
                for column in 0..3 {
                    let rows = if i == j { column..3 } else { 0..3 };
                    for (k, row) in rows.enumerate() {
                        values[entry + k] += if is_turned {
                            block[(column, row)]
                        } else {
                            block[(row, column)]
                        };
                    }
                    // The next column begins one row further down; a diagonal block begins with it.
                    entry += length - column - usize::from(i != j);
                }
            }
        }
    }

    /// Second derivatives by pairs of an element's nodes (i, j ≤ i).
    fn stiffness(
        &self,
        element: &Element,
        nodes: &[Point64],
        how: SecondDerivative,
    ) -> Vec<Matrix3<f64>> {
        let corners = element.corners_at(nodes);
        let mut blocks = [Matrix3::zeros(); 36];
        for q in 0..8 {
            let f = self.gradient_at(q, &corners, element.side);
            match how {
                SecondDerivative::Exact => self.add_exact(&f, &self.gradients[q], &mut blocks),
                SecondDerivative::Projected => {
                    self.add_projected(&f, &self.gradients[q], &mut blocks);
                }
            }
        }
        // Two gradients of 1/side each, and the volume side³.
        let scale = element.fill * element.side / 8.0;
        for block in &mut blocks {
            *block *= scale;
        }
        match &element.corners {
            None => blocks.to_vec(),
            Some(shape) => on_nodes(&blocks, shape, element.nodes.len()),
        }
    }

    fn add_exact(&self, f: &Matrix3<f64>, gradients: &[Vec64; 8], blocks: &mut [Matrix3<f64>; 36]) {
        let tangent = self.material.tangent(f);
        let stretched = gradients.map(|gradient| f * gradient);
        let volume = gradients.map(|gradient| tangent.cofactor * gradient);
        let mut pair = 0;
        for i in 0..8 {
            for j in 0..=i {
                let across = f * gradients[i].cross(&gradients[j]) * tangent.b;
                let mut block = stretched[i] * (stretched[j] * tangent.c).transpose()
                    + volume[i] * (volume[j] * tangent.lambda).transpose()
                    - across.cross_matrix();
                let diagonal = tangent.a * gradients[i].dot(&gradients[j]);
                for k in 0..3 {
                    block[(k, k)] += diagonal;
                }
                blocks[pair] += block;
                pair += 1;
            }
        }
    }

    fn add_projected(
        &self,
        f: &Matrix3<f64>,
        gradients: &[Vec64; 8],
        blocks: &mut [Matrix3<f64>; 36],
    ) {
        for (value, direction) in self.material.projected(f) {
            if value <= 0.0 {
                continue;
            }
            let moved = gradients.map(|gradient| direction * gradient);
            let mut pair = 0;
            for i in 0..8 {
                let scaled = moved[i] * value;
                for other in &moved[..=i] {
                    blocks[pair] += scaled * other.transpose();
                    pair += 1;
                }
            }
        }
    }

    /// The operator of heat conduction between the unknowns, and the flow into each from prescribed nodes with these
    /// values: k values per node.
    pub(super) fn conduction(
        &self,
        value_of: impl Fn(u32) -> Option<usize>,
        kinds: usize,
    ) -> (SymmetricMatrix, Vec<f64>) {
        let count = self.node_of_unknown.len();
        let mut triplets = Vec::new();
        let mut flow = vec![0.0; count * kinds];
        for active in 0..self.active.len() {
            let element = self.element(active);
            let mut blocks = [Matrix3::zeros(); 36];
            for gradients in &self.gradients {
                let mut pair = 0;
                for i in 0..8 {
                    for j in 0..=i {
                        blocks[pair][(0, 0)] += gradients[i].dot(&gradients[j]);
                        pair += 1;
                    }
                }
            }
            let blocks = match &element.corners {
                None => blocks.to_vec(),
                Some(shape) => on_nodes(&blocks, shape, element.nodes.len()),
            };
            let mut pair = 0;
            for (i, &a) in element.nodes.iter().enumerate() {
                for &b in &element.nodes[..=i] {
                    let value = blocks[pair][(0, 0)] * element.fill * element.side;
                    pair += 1;
                    match [a, b].map(|node| self.unknown_of(node as usize)) {
                        [Some(a), Some(b)] => triplets.push((a, b, value)),
                        [Some(free), None] => {
                            if let Some(kind) = value_of(b) {
                                flow[kind * count + free] -= value;
                            }
                        }
                        [None, Some(free)] => {
                            if let Some(kind) = value_of(a) {
                                flow[kind * count + free] -= value;
                            }
                        }
                        [None, None] => {}
                    }
                }
            }
        }
        (SymmetricMatrix::from_triplets(count, triplets), flow)
    }
}

fn unknowns(element: &Element, number: &[u32]) -> Vec<u32> {
    let of = element.nodes.iter().map(|&node| number[node as usize]);
    of.filter(|&unknown| unknown != FIXED).collect()
}
