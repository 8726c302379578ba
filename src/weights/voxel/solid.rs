//! Which cells of a grid are inside of a skin.
//!
//! A cell is solid if a triangle touches it, or if the generalised winding number at its centre is above ½ in magnitude (Jacobson, Kavan,
//! Sorkine-Hornung, "Robust Inside-Outside Segmentation using Generalized Winding Numbers", SIGGRAPH 2013, equation 6). The first keeps
//! thin shells and open sheets; the second fills the inside, holes or not.

use super::inside::inside_cells;
use super::touched::{Corners, touched_cells};
use super::{Grid, VoxelDomain};
use crate::math::{Point64, Vec64};
use crate::mesh::TriMesh;
use crate::progress::{Cancelled, Progress};

/// Cells along the longest side unless asked otherwise. A human's finger is about 15 mm wide; this gives cells of 17 mm for a human of
/// 1.75 m, 180 gives 10 mm.
pub const RESOLUTION: u32 = 100;
/// Most cells along the longest side: 256³ cells take 17 MB while they are classified.
pub const MOST_CELLS: u32 = 256;
/// Most solid cells at [`RESOLUTION`] and below; a slender body has fewer. A ball would have 520 000, and its weights took minutes and gigabytes.
const SOLID_CELLS: f64 = 26_000.0;
/// Most solid cells at any resolution.
const MOST_SOLID_CELLS: f64 = 150_000.0;
/// Cells along the longest side that are not gone below.
const LEAST_RESOLUTION: u32 = 8;

impl Grid {
    /// The grid around points with `resolution` cells along the longest side, and one or two cells more at both ends of every axis. Its
    /// centre is the centre of the points' bounding box, so that it is symmetric where the points are. `None` without a point.
    #[must_use]
    pub fn around(points: impl IntoIterator<Item = Point64>, resolution: u32) -> Option<Self> {
        let mut bounds: Option<[Point64; 2]> = None;
        for point in points {
            let [low, high] = bounds.unwrap_or([point; 2]);
            bounds = Some([low.inf(&point), high.sup(&point)]);
        }
        let [low, high] = bounds?;
        let extent = high - low;
        let longest = extent.max();
        let resolution = f64::from(resolution.clamp(1, MOST_CELLS));
        let edge = if longest > 0.0 {
            longest / resolution
        } else {
            1.0
        };
        // Rounding must not decide whether there is one more cell.
        let counts = extent.map(|side| (side / edge - 1e-6).ceil().max(0.0) + 2.0);
        let center = nalgebra::center(&low, &high);
        Some(Self {
            origin: center - counts * (0.5 * edge),
            edge,
            cells: [counts.x as u32, counts.y as u32, counts.z as u32],
        })
    }

    /// The place of a cell in an array of all cells, sorted by z, y, x.
    pub(super) fn place(&self, [x, y, z]: [u32; 3]) -> usize {
        let [nx, ny, _] = self.cells.map(|count| count as usize);
        (z as usize * ny + y as usize) * nx + x as usize
    }

    /// The cell at a place.
    pub(super) fn cell(&self, place: usize) -> [u32; 3] {
        let [nx, ny, _] = self.cells.map(|count| count as usize);
        [place % nx, place / nx % ny, place / nx / ny].map(|at| at as u32)
    }

    /// How many cells there are.
    pub(super) fn len(&self) -> usize {
        self.cells.iter().map(|&count| count as usize).product()
    }
}

impl VoxelDomain {
    /// The solid cells of a mesh, with `resolution` cells along its longest side, at most [`MOST_CELLS`]. A body that is so thick that it
    /// would have more solid cells than a slender one may get coarser cells, so that its weights do not take longer.
    ///
    /// Corners that are not finite leave out their triangles. A mesh without any triangle has the cells of its vertices; without a finite
    /// vertex it has none. The mesh need not be welded, closed or oriented: closed connected parts that are inside out are turned first.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn of(mesh: &TriMesh, resolution: u32, progress: &Progress) -> Result<Self, Cancelled> {
        let (used, soup) = usable(mesh);
        let most = most_solid(resolution);
        let mut resolution = resolution;
        loop {
            let (grid, solid) = Self::solid(mesh, &used, &soup, resolution, progress)?;
            let count = solid.iter().filter(|&&is_solid| is_solid).count();
            let excess = count as f64 / most;
            if excess <= 1.0 || resolution <= LEAST_RESOLUTION {
                let cells = (0..solid.len()).filter(|&place| solid[place]);
                let cells = cells.map(|place| grid.cell(place)).collect();
                return Ok(Self::from_cells(grid, cells));
            }
            let coarser = f64::from(resolution.min(MOST_CELLS)) * 0.98 / excess.cbrt();
            resolution = (coarser as u32).max(LEAST_RESOLUTION);
        }
    }

    /// The grid, and which of its cells are solid.
    fn solid(
        mesh: &TriMesh,
        used: &[[u32; 3]],
        soup: &[[Point64; 3]],
        resolution: u32,
        progress: &Progress,
    ) -> Result<(Grid, Vec<bool>), Cancelled> {
        let Some(grid) = Grid::around(soup.iter().flatten().copied(), resolution) else {
            let grid = Grid {
                origin: Point64::origin(),
                edge: 1.0,
                cells: [0; 3],
            };
            return Ok((grid, Vec::new()));
        };
        let on_grid = |point: &Point64| Vec64::from(grid.coordinates(point));
        let corners: Vec<Corners> = soup
            .iter()
            .map(|points| [0, 1, 2].map(|k| on_grid(&points[k])))
            .collect();
        progress.report(0.0, "Finding solid cells");
        let touched = touched_cells(&grid, &corners, progress)?;
        progress.set_fraction(0.4);
        let solid = inside_cells(&grid, mesh, used, touched, progress)?;
        progress.set_fraction(0.8);
        Ok((grid, solid))
    }
}

/// How many solid cells a domain of that resolution may have.
fn most_solid(resolution: u32) -> f64 {
    let finer = f64::from(resolution) / f64::from(RESOLUTION);
    (SOLID_CELLS * finer.max(1.0).powi(3)).min(MOST_SOLID_CELLS)
}

/// The triangles with finite corners, and their corners; without any, the finite vertices as triangles of one point.
fn usable(mesh: &TriMesh) -> (Vec<[u32; 3]>, Vec<[Point64; 3]>) {
    let finite = |vertex: u32| {
        let position = mesh.positions.get(vertex as usize)?;
        position
            .iter()
            .all(|c| c.is_finite())
            .then(|| position.cast::<f64>())
    };
    let (mut used, mut soup) = (Vec::new(), Vec::new());
    for &triangle in &mesh.triangles {
        if let [Some(a), Some(b), Some(c)] = triangle.map(finite) {
            used.push(triangle);
            soup.push([a, b, c]);
        }
    }
    if used.is_empty() {
        soup.extend(
            (0..mesh.positions.len() as u32)
                .filter_map(finite)
                .map(|point| [point; 3]),
        );
    }
    (used, soup)
}
