//! The constraints of a tissue: what does not depend on parameters and pose.

use std::collections::HashSet;

use nalgebra::Matrix3;

use super::coloring::Coloring;
use crate::math::Point;
use crate::tissue::{Corner, CornerKind, Tissue};

/// A tet at rest.
#[derive(Debug, Clone)]
pub(super) struct RestTet {
    /// Indices of its points: unknowns first, then prescribed points.
    pub(super) corners: [u32; 4],
    /// Inverse of the matrix of edges from the first corner, 1/world unit: row k is the gradient of the shape function of corner k + 1.
    pub(super) inverse: Matrix3<f64>,
    /// World units³, positive.
    pub(super) volume: f64,
    /// The cell that it belongs to.
    cell: u32,
}

impl RestTet {
    /// Gradients of the four shape functions, 1/world unit.
    pub(super) fn gradients(&self) -> [nalgebra::Vector3<f64>; 4] {
        let [a, b, c] = [0, 1, 2].map(|k| self.inverse.row(k).transpose());
        [-(a + b + c), a, b, c]
    }
}

/// Tets and edges over the points of a tissue. An unknown is *free* unless the bones carry it.
pub(super) struct Model {
    pub(super) unknowns: usize,
    pub(super) prescribed: usize,
    pub(super) is_free: Vec<bool>,
    /// Unknowns that are not free, each with the prescribed point that it is placed at.
    pub(super) carried: Vec<[u32; 2]>,
    /// Per unknown, the prescribed point that it moves with.
    pub(super) references: Vec<u32>,
    /// Per unknown, its distance from that point at rest, world units.
    pub(super) depths: Vec<f32>,
    /// Lumped volume of the usable tets, by unknown, world units³.
    pub(super) volumes: Vec<f64>,
    /// Usable tets that have a free corner.
    pub(super) tets: Vec<RestTet>,
    pub(super) tet_colors: Coloring,
    /// Unknowns of each cell, without repetitions.
    cells: Vec<Vec<u32>>,
    /// Edges of these tets that have a free end, each once.
    pub(super) edges: Vec<[u32; 2]>,
    pub(super) edge_colors: Coloring,
}

impl Model {
    /// `skin` are the unknowns at rest, `base` the prescribed points.
    pub(super) fn of(tissue: &Tissue, skin: &[Point], base: &[Point]) -> Self {
        let unknowns = tissue.unknowns();
        let mut is_free = vec![true; unknowns];
        let mut carried = Vec::new();
        for (index, &unknown) in tissue.carried.iter().enumerate() {
            is_free[unknown as usize] = false;
            carried.push([unknown, tissue.carried_place(index)]);
        }
        let index_of = |corner: Corner| match corner.kind() {
            CornerKind::Unknown(index) => index,
            CornerKind::Prescribed(index) => unknowns as u32 + index,
        };
        let moves = |point: u32| is_free.get(point as usize).copied().unwrap_or(false);
        let mut cells: Vec<Vec<u32>> = Vec::new();
        let (mut tets, mut first_cell) = (Vec::new(), 0);
        let mut volumes = vec![0.0; unknowns];
        for layer in &tissue.layers {
            cells.resize(first_cell + layer.cells, Vec::new());
            for tet in &layer.tets {
                let cell = first_cell + tet.cell as usize;
                for unknown in tet.corners.iter().filter_map(|corner| corner.as_unknown()) {
                    if !cells[cell].contains(&unknown) {
                        cells[cell].push(unknown);
                    }
                    if tet.is_usable() {
                        volumes[unknown as usize] += tet.volume / 4.0;
                    }
                }
                let corners = tet.corners.map(index_of);
                if let Some(inverse) = tet.rest_inverse
                    && corners.iter().any(|&corner| moves(corner))
                {
                    tets.push(RestTet {
                        corners,
                        inverse,
                        volume: tet.volume,
                        cell: cell as u32,
                    });
                }
            }
            first_cell += layer.cells;
        }
        let edges = edges_of(&tets, moves);
        let free_of = |points: &[u32]| {
            let free: Vec<u32> = points.iter().copied().filter(|&p| moves(p)).collect();
            free.into_iter()
        };
        let depth = |(x, &point): (&Point, &u32)| (x - base[point as usize]).norm();
        Self {
            tet_colors: Coloring::of(tets.iter().map(|tet| free_of(&tet.corners)), unknowns),
            edge_colors: Coloring::of(edges.iter().map(|edge| free_of(edge)), unknowns),
            depths: skin.iter().zip(&tissue.references).map(depth).collect(),
            references: tissue.references.clone(),
            prescribed: base.len(),
            unknowns,
            is_free,
            carried,
            volumes,
            tets,
            cells,
            edges,
        }
    }

    /// Number of points, unknown and prescribed.
    pub(super) fn points(&self) -> usize {
        self.unknowns + self.prescribed
    }

    /// Unknowns of the cell of a tet.
    pub(super) fn cell(&self, tet: &RestTet) -> &[u32] {
        &self.cells[tet.cell as usize]
    }
}

/// The edges of the tets with an end that moves, each once, in the order of the tets.
fn edges_of(tets: &[RestTet], moves: impl Fn(u32) -> bool) -> Vec<[u32; 2]> {
    let mut seen = HashSet::new();
    let mut edges = Vec::new();
    for tet in tets {
        for (k, &a) in tet.corners.iter().enumerate() {
            for &b in &tet.corners[k + 1..] {
                let edge = [a.min(b), a.max(b)];
                if (moves(a) || moves(b)) && seen.insert(edge) {
                    edges.push(edge);
                }
            }
        }
    }
    edges
}
