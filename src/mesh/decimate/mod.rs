//! Decimation: reduces the vertex count while preserving the shape, with a given density.
//!
//! Garland & Heckbert, "Surface simplification using quadric error metrics" (QEM), SIGGRAPH 1997:
//! every vertex accumulates the squared distances to the planes of the input around all vertices
//! merged into it. The edge with the smallest added error is collapsed first, to the position of
//! minimum error. PS section 6 decimates the skin this way, but not near joints.
//!
//! # Departures
//! - A small multiple of the squared distance to the input's *points* is added (Trettner & Kobbelt,
//!   "Fast and robust QEM simplification using probabilistic quadrics", Eurographics 2020, derive
//!   the same term): the minimum is then unique and well-conditioned, and triangles become more
//!   regular, which the tissue needs.
//! - Errors are weighted by the square of a density: points of a plane quantised with weight w
//!   reach a density ∝ √w.
//! - Merging patches with different normals costs more, so that limbs and fingers keep enough
//!   vertices around them: their geometric error is small because they are thin.
//! - Triangles must not rotate far nor become slivers, every component keeps a minimum number of
//!   vertices, and the topology is preserved (link condition). Boundaries and non-manifold curves
//!   are collapsed only along themselves; their end points stay.
//! - If the limits leave too many vertices, they are relaxed twice.

mod collapse;
mod density;
mod kind;
mod live;
mod place;
mod quadric;
mod queue;
#[cfg(test)]
mod tests;

pub use density::{JOINT_DENSITY, density_near};

use collapse::{CollapseLimits, Collapser};
use place::SurfaceFinder;

use super::TriMesh;
use crate::math::{Point, Point64, Vec64};
use crate::progress::{Cancelled, Progress};

/// Densities are clamped to this range.
const DENSITIES: [f32; 2] = [1.0 / 16.0, 16.0];

/// A connected component keeps at least this many vertices if possible: a tetrahedron,…
const LEAST: u32 = 4;
/// …or this many, if all components together do not need more than that share of the target.
const ENOUGH: u32 = 12;
const SMALL_SHARE: f64 = 0.25;

/// Parameters of a decimation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decimation<'a> {
    /// Target number of vertices. The result never has fewer; it has more if topology or quality
    /// require it.
    pub target_vertices: usize,
    /// Relative density of the result around every vertex of the input; 1 where there is no entry.
    pub density: &'a [f32],
    /// Weight of the squared distance to the input's points relative to that to its planes: 0.001
    /// follows the shape, 1 makes triangles uniform.
    pub evenness: f64,
    /// Minimum quality of a triangle, 4 √3 area / Σ lengths² (1 equilateral, 0 without area), as
    /// long as the target can be reached.
    pub least_quality: f64,
}

impl Default for Decimation<'_> {
    fn default() -> Self {
        Self {
            target_vertices: 4000,
            density: &[],
            evenness: 0.1,
            least_quality: 0.25,
        }
    }
}

/// A point on the surface of a mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SurfacePoint {
    /// Index of the triangle.
    pub triangle: u32,
    /// Barycentric coordinates: non-negative, sum 1.
    pub barycentric: [f32; 3],
}

impl SurfacePoint {
    /// The point's position.
    #[must_use]
    pub fn on(&self, mesh: &TriMesh) -> Point {
        let corners = mesh.corners(self.triangle as usize);
        let sum = corners
            .iter()
            .zip(self.barycentric)
            .fold(Vec64::zeros(), |sum, (p, share)| {
                sum + p.coords.cast() * f64::from(share)
            });
        Point::from(sum.cast())
    }
}

/// A decimated mesh and its mapping to the input.
#[derive(Debug, Clone, PartialEq)]
pub struct Decimated {
    /// The mesh; vertices in input order. Vertices without a triangle are omitted.
    pub mesh: TriMesh,
    /// For every vertex of `mesh` the closest point on the input, on the same component and sheet.
    pub places: Vec<SurfacePoint>,
    /// For every vertex of the input the vertex of `mesh` it was merged into, on the same component
    /// and nearby; `None` for vertices without a triangle.
    pub coarse_from_input: Vec<Option<u32>>,
}

/// Decimates a mesh. A mesh with no more vertices than the target is returned unchanged.
///
/// Components, boundary loops and topology are preserved. Equal input gives bit-equal output.
///
/// # Errors
/// [`Cancelled`].
///
/// # Panics
/// If a triangle index is out of range.
pub fn decimate(
    mesh: &TriMesh,
    wanted: &Decimation<'_>,
    progress: &Progress,
) -> Result<Decimated, Cancelled> {
    progress.check()?;
    let frame = UnitFrame::of(mesh);
    let positions: Vec<Vec64> = mesh
        .positions
        .iter()
        .map(|position| frame.enter(position))
        .collect();
    let importance: Vec<f64> = (0..positions.len())
        .map(|v| {
            let density = wanted
                .density
                .get(v)
                .copied()
                .filter(|density| density.is_finite())
                .unwrap_or(1.0);
            f64::from(density.clamp(DENSITIES[0], DENSITIES[1])).powi(2)
        })
        .collect();
    let mut collapser = Collapser::new(mesh, &positions, &importance, wanted.evenness.max(1e-6));
    let floor = collapser.floor(wanted.target_vertices);
    let limits = [
        CollapseLimits {
            quality: wanted.least_quality,
            turn_cos: 0.5,
            degree: 10,
            floor,
        },
        CollapseLimits {
            quality: wanted.least_quality / 3.0,
            turn_cos: 0.2,
            degree: 14,
            floor: floor.min(8),
        },
        CollapseLimits {
            quality: wanted.least_quality / 10.0,
            turn_cos: 0.0,
            degree: 24,
            floor: LEAST,
        },
    ];
    for limits in &limits {
        collapser.run(wanted.target_vertices, limits, progress)?;
    }
    Ok(finish(mesh, &frame, collapser))
}

/// The normalised frame of the computation: the mesh centred at the origin, with size 1.
struct UnitFrame {
    center: Point64,
    size: f64,
}

impl UnitFrame {
    fn of(mesh: &TriMesh) -> Self {
        let bounds = mesh.bounds();
        let size = f64::from(bounds.size());
        Self {
            center: bounds.center().cast(),
            size: if size.is_finite() && size > 0.0 {
                size
            } else {
                1.0
            },
        }
    }

    fn enter(&self, point: &Point) -> Vec64 {
        (point.cast::<f64>() - self.center) / self.size
    }

    fn leave(&self, position: &Vec64) -> Point64 {
        self.center + position * self.size
    }
}

/// Numbers the remaining vertices and finds their closest points.
fn finish(mesh: &TriMesh, frame: &UnitFrame, collapser: Collapser) -> Decimated {
    let survivors = collapser.survivors();
    let finder = SurfaceFinder::new(mesh);
    let mut coarse_from_input = vec![None; mesh.positions.len()];
    let mut coarse = TriMesh::default();
    let mut places = Vec::with_capacity(survivors.len());
    for (index, survivor) in survivors.iter().enumerate() {
        coarse_from_input[survivor.index as usize] = Some(index as u32);
        if survivor.moved {
            let position = frame.leave(&survivor.position);
            coarse.positions.push(position.cast());
            places.push(finder.near(&position, survivor.origin));
        } else {
            coarse
                .positions
                .push(mesh.positions[survivor.origin as usize]);
            places.push(finder.at_vertex(survivor.origin));
        }
    }
    let number = |v: u32| coarse_from_input[v as usize].unwrap_or_default();
    coarse.triangles = collapser
        .triangles()
        .iter()
        .map(|triangle| triangle.map(number))
        .collect();
    let coarse_from_input = collapser
        .roots()
        .iter()
        .map(|&root| coarse_from_input[root as usize])
        .collect();
    Decimated {
        mesh: coarse,
        places,
        coarse_from_input,
    }
}
