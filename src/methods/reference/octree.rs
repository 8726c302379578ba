//! Octree of the cells that cover a body, finer where the body is thin; neighbours differ by at most one level.

use std::collections::{HashMap, HashSet};

use super::inside::Inside;
use crate::math::{Point64, Vec64};
use crate::mesh::Bounds;
use crate::progress::{Cancelled, Progress};

/// Maximum number of levels above the finest cells.
const LEVELS: u8 = 7;
/// Minimum cell size as a fraction of the body's size: thinner features count as details of the surface.
const MIN_CELL_SIZE: f64 = 1.0 / 1200.0;
/// Attempts at finding the finest octree within the number of cells.
const ATTEMPTS: usize = 7;
/// Offset of the lattice from the bounding box of the skin in cells, so that no modelled face lies in a face of cells.
const LATTICE_OFFSET: [f64; 3] = [0.317, 0.433, 0.371];

/// A cell, in units of the finest cells from the lattice's origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Cell {
    pub min: [i32; 3],
    pub level: u8,
}

impl Cell {
    /// Length of its edges, finest cells.
    pub fn side(&self) -> i32 {
        1 << self.level
    }

    /// The cell of a level that contains a finest cell.
    pub fn around(place: [i32; 3], level: u8) -> Self {
        let min = place.map(|c| (c >> level) << level);
        Self { min, level }
    }

    fn children(self) -> impl Iterator<Item = Self> {
        let half = self.side() / 2;
        (0..8).map(move |corner| Self {
            min: std::array::from_fn(|axis| self.min[axis] + half * (corner >> axis & 1)),
            level: self.level - 1,
        })
    }
}

/// Cells that contain a part of the body or may do so.
pub(super) struct Octree {
    /// Origin of the lattice.
    pub origin: Point64,
    /// Edge of the finest cells, world units.
    pub spacing: f64,
    /// The cells, sorted.
    pub cells: Vec<Cell>,
    pub index: HashMap<Cell, u32>,
}

/// Resolution of an octree.
pub(super) struct Fineness<'a> {
    /// Thickness of the body under every triangle, world units.
    pub thickness: &'a [f64],
    /// Cells across the thickness.
    pub through: f64,
    /// Largest number of cells.
    pub cells: usize,
}

impl Octree {
    /// The finest octree within the number of cells, with up to `through` cells across the body's thickness.
    pub fn build(
        inside: &Inside<'_>,
        wanted: &Fineness<'_>,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        let (mut low, mut high) = (0.5_f64.min(wanted.through), wanted.through);
        let mut best = Self::with(inside, wanted, high);
        if best.cells.len() <= wanted.cells {
            return Ok(best);
        }
        best = Self::with(inside, wanted, low);
        for attempt in 0..ATTEMPTS {
            progress.check()?;
            progress.set_fraction(attempt as f32 / ATTEMPTS as f32);
            let middle = (low * high).sqrt();
            let tried = Self::with(inside, wanted, middle);
            if tried.cells.len() <= wanted.cells {
                (best, low) = (tried, middle);
            } else {
                high = middle;
            }
        }
        Ok(best)
    }

    fn with(inside: &Inside<'_>, wanted: &Fineness<'_>, through: f64) -> Self {
        let bounds = inside.mesh.bounds();
        let size = f64::from(bounds.size());
        let thinnest = wanted.thickness.iter().copied().fold(size, f64::min);
        let spacing = (thinnest / through).max(MIN_CELL_SIZE * size);
        let edge = |triangle: u32| (wanted.thickness[triangle as usize] / through).max(spacing);
        let askew = Vec64::from(LATTICE_OFFSET) * spacing;
        let mut octree = Self {
            origin: bounds.min.cast::<f64>() - askew,
            spacing,
            cells: Vec::new(),
            index: HashMap::new(),
        };
        let top = 1 << LEVELS;
        let extent = (bounds.extent().cast::<f64>() + askew) / spacing;
        let counts = extent.map(|length| (length / f64::from(top)).floor() as i32 + 1);
        let mut open: Vec<Cell> = Vec::new();
        for x in 0..counts.x {
            for y in 0..counts.y {
                for z in 0..counts.z {
                    let min = [x * top, y * top, z * top];
                    open.push(Cell { min, level: LEVELS });
                }
            }
        }
        let mut leaves: HashSet<Cell> = HashSet::new();
        while let Some(cell) = open.pop() {
            let Some(needed) = octree.needed(inside, cell, edge) else {
                continue;
            };
            // Half a level of tolerance: a body of just the required thickness is not divided further.
            if cell.level > 0 && f64::from(cell.side()) * spacing > 1.01 * needed {
                open.extend(cell.children());
            } else {
                leaves.insert(cell);
            }
        }
        octree.balance(inside, leaves);
        octree
    }

    /// The required cell edge inside this cell; `None` if it is empty.
    fn needed(&self, inside: &Inside<'_>, cell: Cell, edge: impl Fn(u32) -> f64) -> Option<f64> {
        let (min, side) = (self.corner(cell), f64::from(cell.side()) * self.spacing);
        let max = min + Vec64::repeat(side);
        let bounds = Bounds {
            min: min.cast(),
            max: max.cast(),
        };
        let mut least = f64::INFINITY;
        inside
            .tree
            .meeting(&bounds, |triangle| least = least.min(edge(triangle)));
        let centre = nalgebra::center(&min, &max);
        if least.is_infinite() && inside.winding(&centre) == 0 {
            return None;
        }
        let nearest = inside.tree.closest(&centre, f64::INFINITY, |_| true)?;
        Some(least.min(edge(nearest.triangle)))
    }

    /// Splits cells until neighbours, across faces, edges and corners, are at most one level apart.
    fn balance(&mut self, inside: &Inside<'_>, mut leaves: HashSet<Cell>) {
        let mut queue: Vec<Cell> = leaves.iter().copied().collect();
        queue.sort_unstable();
        while let Some(cell) = queue.pop() {
            if !leaves.contains(&cell) {
                continue;
            }
            let side = cell.side();
            for neighbour in 0..27 {
                let offset = [neighbour % 3 - 1, neighbour / 3 % 3 - 1, neighbour / 9 - 1];
                let place = std::array::from_fn(|axis| cell.min[axis] + offset[axis] * side);
                let coarse = (cell.level + 2..=LEVELS)
                    .map(|level| Cell::around(place, level))
                    .find(|other| leaves.contains(other));
                let Some(coarse) = coarse else { continue };
                leaves.remove(&coarse);
                for child in coarse.children() {
                    if self.needed(inside, child, |_| 0.0).is_some() {
                        leaves.insert(child);
                        queue.push(child);
                    }
                }
                queue.push(cell);
            }
        }
        self.cells = leaves.into_iter().collect();
        self.cells.sort_unstable();
        self.index = (self.cells.iter().enumerate())
            .map(|(index, &cell)| (cell, index as u32))
            .collect();
    }

    /// Smallest corner of a cell, world.
    pub fn corner(&self, cell: Cell) -> Point64 {
        self.origin + Vec64::from(cell.min.map(f64::from)) * self.spacing
    }

    /// The leaf that contains a finest cell.
    pub fn leaf_at(&self, place: [i32; 3]) -> Option<u32> {
        (0..=LEVELS).find_map(|level| self.index.get(&Cell::around(place, level)).copied())
    }

    /// The finest cell around a point.
    pub fn place_of(&self, point: &Point64) -> [i32; 3] {
        let at = (point - self.origin) / self.spacing;
        std::array::from_fn(|axis| at[axis].floor() as i32)
    }
}
