//! The weights of a skin's surface, summed over small cells for every pair of joints.

use std::collections::HashMap;

use rayon::prelude::*;

use super::pieces::{Scratch, for_each_piece};
use crate::math::{Point64, Vec64};
use crate::methods::bind_surface::BindSurface;
use crate::progress::{Cancelled, Progress};

/// σ of the paper.
pub(super) const SIGMA: f64 = 0.1;

/// Edge of a cell in the plane of the two weights.
const CELL: f64 = 0.0125;

/// A product of two weights of a piece below this is 0.
const LEAST_PRODUCT: f64 = 1e-8;

/// Similarities below exp(−this) are 0.
const FARTHEST: f64 = 40.0;

/// Triangles that are summed by one thread, in order: sums do not depend on the number of threads.
const CHUNK: usize = 1024;

/// A cell of a pair of joints j < k: sums over pieces of area A, centre v and weights (`w_j`, `w_k`), with the mass
/// m = A `w_j` `w_k`.
#[derive(Debug, Clone, Copy, Default)]
struct Cell {
    /// Σ m.
    mass: f64,
    /// Σ m v, first; then the mean of v about the origin of the table.
    place: Vec64,
    /// Σ m (`w_j`, `w_k`), first; then their mean.
    weights: [f64; 2],
}

/// Pair of joints, then the cell in the plane of their weights.
type Key = (u32, u32, u16, u16);

/// All cells, by pair of joints.
pub(super) struct PairTable {
    /// Pairs of joints, ascending, with the end of their cells; they begin where those of the pair before end.
    pairs: Vec<([u32; 2], usize)>,
    cells: Vec<Cell>,
    /// Places are relative to this point.
    origin: Point64,
}

impl Cell {
    fn add(&mut self, other: &Self) {
        self.mass += other.mass;
        self.place += other.place;
        self.weights[0] += other.weights[0];
        self.weights[1] += other.weights[1];
    }
}

impl PairTable {
    /// Sums up the surface.
    pub(super) fn new(
        surface: &BindSurface<'_>,
        origin: Point64,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        let whole: f64 = area(surface);
        let chunks: Vec<&[[u32; 3]]> = surface.triangles().chunks(CHUNK).collect();
        let sums: Result<Vec<Vec<(Key, Cell)>>, Cancelled> = chunks
            .into_par_iter()
            .map(|triangles| sum(surface, triangles, &origin, whole, progress))
            .collect();
        let mut all: Vec<(Key, Cell)> = sums?.into_iter().flatten().collect();
        progress.check()?;
        // Stable: cells of equal key stay in the order of the triangles.
        all.par_sort_by_key(|(key, _)| *key);
        let mut merged: Vec<(Key, Cell)> = Vec::with_capacity(all.len());
        for (key, cell) in all {
            match merged.last_mut() {
                Some((last, sum)) if *last == key => sum.add(&cell),
                _ => merged.push((key, cell)),
            }
        }
        let mut pairs: Vec<([u32; 2], usize)> = Vec::new();
        let mut cells = Vec::with_capacity(merged.len());
        for ((j, k, ..), sum) in merged {
            cells.push(Cell {
                mass: sum.mass,
                place: sum.place / sum.mass,
                weights: sum.weights.map(|weight| weight / sum.mass),
            });
            match pairs.last_mut() {
                Some((pair, end)) if *pair == [j, k] => *end = cells.len(),
                _ => pairs.push(([j, k], cells.len())),
            }
        }
        Ok(Self {
            pairs,
            cells,
            origin,
        })
    }

    fn cells_of(&self, pair: [u32; 2]) -> &[Cell] {
        let Ok(place) = self.pairs.binary_search_by_key(&pair, |(pair, _)| *pair) else {
            return &[];
        };
        let start = place
            .checked_sub(1)
            .map_or(0, |before| self.pairs[before].1);
        &self.cells[start..self.pairs[place].1]
    }

    /// The centre of rotation of a vertex with these weights, world space; `None` if hardly anything is similar to it.
    pub(super) fn center(&self, weights: &[(u32, f64)]) -> Option<Point64> {
        let (mut mass, mut moment) = (0.0, Vec64::zeros());
        for (index, &(j, a)) in weights.iter().enumerate() {
            for &(k, b) in &weights[index + 1..] {
                let (pair, [a, b]) = if j < k {
                    ([j, k], [a, b])
                } else {
                    ([k, j], [b, a])
                };
                let (mut pair_mass, mut pair_moment) = (0.0, Vec64::zeros());
                for cell in self.cells_of(pair) {
                    let apart = (a * cell.weights[1] - b * cell.weights[0]) * (1.0 / SIGMA);
                    let square = apart * apart;
                    if square < FARTHEST {
                        let similar = (-square).exp() * cell.mass;
                        pair_mass += similar;
                        pair_moment += cell.place * similar;
                    }
                }
                // The paper's sum has every pair in both orders.
                mass += 2.0 * a * b * pair_mass;
                moment += pair_moment * (2.0 * a * b);
            }
        }
        (mass > super::LEAST_SIMILARITY).then(|| self.origin + moment / mass)
    }
}

/// The area of all triangles, world units².
pub(super) fn area(surface: &BindSurface<'_>) -> f64 {
    let of = |triangle: &[u32; 3]| {
        let [a, b, c] = triangle.map(|v| surface.positions()[v as usize].cast::<f64>());
        let area = (b - a).cross(&(c - a)).norm() * 0.5;
        if area.is_finite() { area } else { 0.0 }
    };
    surface.triangles().iter().map(of).sum()
}

/// The cells of some triangles. Areas are parts of `whole`.
fn sum(
    surface: &BindSurface<'_>,
    triangles: &[[u32; 3]],
    origin: &Point64,
    whole: f64,
    progress: &Progress,
) -> Result<Vec<(Key, Cell)>, Cancelled> {
    let mut cells: Vec<(Key, Cell)> = Vec::new();
    let mut known: HashMap<Key, usize> = HashMap::new();
    let mut scratch = Scratch::default();
    for &triangle in triangles {
        progress.check()?;
        for_each_piece(surface, triangle, &mut scratch, |piece| {
            let place = piece.center - origin;
            for (index, &(j, x)) in piece.weights.iter().enumerate() {
                for &(k, y) in &piece.weights[index + 1..] {
                    if x * y < LEAST_PRODUCT {
                        continue;
                    }
                    let mass = piece.area / whole * x * y;
                    let key = (j, k, (x / CELL) as u16, (y / CELL) as u16);
                    let at = *known.entry(key).or_insert_with(|| {
                        cells.push((key, Cell::default()));
                        cells.len() - 1
                    });
                    cells[at].1.add(&Cell {
                        mass,
                        place: place * mass,
                        weights: [x * mass, y * mass],
                    });
                }
            }
        });
    }
    Ok(cells)
}
