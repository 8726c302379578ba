//! Decimation: fewer vertices, the same shape, finer where it is wanted.
//!
//! Garland & Heckbert, "Surface simplification using quadric error metrics" (QEM), SIGGRAPH 1997: every vertex sums the squared
//! distances to the planes of the input around all vertices that went into it; the edge whose merging adds least is collapsed first,
//! to where the sum is least. PS section 6 decimates the skin so, but not near joints.
//!
//! # Departures
//! - A small multiple of the squared distance to the input's *points* is added (Trettner & Kobbelt, "Fast and robust QEM simplification
//!   using probabilistic quadrics", Eurographics 2020, come to the same term): the sum has one well-placed least point everywhere,
//!   and triangles become even, which the flesh below them needs.
//! - Errors are weighted by the square of a density: points of the plane quantised with weight w settle at a density ∝ √w.
//! - Joining patches that face apart costs more, so that limbs and fingers keep enough vertices around them: their error is as
//!   small as they are thin.
//! - A triangle may not turn far nor become a sliver, no part falls below a handful of vertices, and the topology stays (link
//!   condition). Boundaries, and curves where more than two sheets meet, are collapsed along themselves only; their ends stay.
//! - If the limits leave too many vertices, they are loosened twice.

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

use collapse::{Collapser, Limits};
use place::Finder;

use super::TriMesh;
use crate::math::{Point, Point64, Vec64};
use crate::progress::{Cancelled, Progress};

/// Densities outside this range count as its ends.
const DENSITIES: [f32; 2] = [1.0 / 16.0, 16.0];

/// A connected part keeps this many vertices if it can: those of a tetrahedron,…
const LEAST: u32 = 4;
/// …or these if all parts together don't need a larger share of what is wanted than that.
const ENOUGH: u32 = 12;
const SMALL_SHARE: f64 = 0.25;

/// What is wanted of a decimation.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decimation<'a> {
    /// How many vertices shall be left. Fewer never are; more where topology or shape allow no less.
    pub target_vertices: usize,
    /// How dense the vertices of the result shall be around every vertex of the input, relative to each other; 1 where there is
    /// no entry.
    pub density: &'a [f32],
    /// Weight of the squared distance to the input's points beside that to its planes: 0.001 follows the shape, 1 makes all triangles
    /// alike.
    pub evenness: f64,
    /// The least quality of a triangle, 4 √3 area / Σ lengths² (1 equilateral, 0 without area), as long as the target can be reached so.
    pub least_quality: f64,
}

impl Default for Decimation<'_> {
    fn default() -> Self {
        Self { target_vertices: 4000, density: &[], evenness: 0.1, least_quality: 0.25 }
    }
}

/// A point of the surface of a mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// Index of the triangle.
    pub triangle: u32,
    /// Shares of its corners: none negative, sum 1.
    pub barycentric: [f32; 3],
}

impl Place {
    /// Where it is.
    #[must_use]
    pub fn on(&self, mesh: &TriMesh) -> Point {
        let corners = mesh.corners(self.triangle as usize);
        let sum = corners.iter().zip(self.barycentric).fold(Vec64::zeros(), |sum, (p, share)| sum + p.coords.cast() * f64::from(share));
        Point::from(sum.cast())
    }
}

/// A coarser mesh and how it lies on the input.
#[derive(Debug, Clone, PartialEq)]
pub struct Decimated {
    /// The mesh; its vertices in the order of the input's. Vertices without a triangle are left out.
    pub mesh: TriMesh,
    /// For every vertex of `mesh` the closest place on the input, on the same part and sheet.
    pub places: Vec<Place>,
    /// For every vertex of the input the vertex of `mesh` that it was merged into, on the same part and nearby; `None` for those
    /// without a triangle.
    pub coarse_from_input: Vec<Option<u32>>,
}

/// Makes a mesh coarser. A mesh that has no more vertices than wanted comes back as it is.
///
/// Every connected part, its boundary loops and its topology are kept. Equal input gives bit-equal output.
///
/// # Errors
/// [`Cancelled`].
///
/// # Panics
/// If a triangle index is out of range.
pub fn decimate(mesh: &TriMesh, wanted: &Decimation<'_>, progress: &Progress) -> Result<Decimated, Cancelled> {
    progress.check()?;
    let frame = Frame::of(mesh);
    let positions: Vec<Vec64> = mesh.positions.iter().map(|position| frame.enter(position)).collect();
    let importance: Vec<f64> = (0..positions.len())
        .map(|v| {
            let density = wanted.density.get(v).copied().filter(|density| density.is_finite()).unwrap_or(1.0);
            f64::from(density.clamp(DENSITIES[0], DENSITIES[1])).powi(2)
        })
        .collect();
    let mut collapser = Collapser::new(mesh, &positions, &importance, wanted.evenness.max(1e-6));
    let floor = collapser.floor(wanted.target_vertices);
    let limits = [
        Limits { quality: wanted.least_quality, turn_cos: 0.5, degree: 10, floor },
        Limits { quality: wanted.least_quality / 3.0, turn_cos: 0.2, degree: 14, floor: floor.min(8) },
        Limits { quality: wanted.least_quality / 10.0, turn_cos: 0.0, degree: 24, floor: LEAST },
    ];
    for limits in &limits {
        collapser.run(wanted.target_vertices, limits, progress)?;
    }
    Ok(finish(mesh, &frame, collapser))
}

/// The frame to compute in: the middle of the mesh at the origin, its size 1.
struct Frame {
    center: Point64,
    size: f64,
}

impl Frame {
    fn of(mesh: &TriMesh) -> Self {
        let bounds = mesh.bounds();
        let size = f64::from(bounds.size());
        Self { center: bounds.center().cast(), size: if size.is_finite() && size > 0.0 { size } else { 1.0 } }
    }

    fn enter(&self, point: &Point) -> Vec64 {
        (point.cast::<f64>() - self.center) / self.size
    }

    fn leave(&self, position: &Vec64) -> Point64 {
        self.center + position * self.size
    }
}

/// Numbers what is left and finds its places.
fn finish(mesh: &TriMesh, frame: &Frame, collapser: Collapser) -> Decimated {
    let survivors = collapser.survivors();
    let finder = Finder::new(mesh);
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
            coarse.positions.push(mesh.positions[survivor.origin as usize]);
            places.push(finder.at_vertex(survivor.origin));
        }
    }
    let number = |v: u32| coarse_from_input[v as usize].unwrap_or_default();
    coarse.triangles = collapser.triangles().iter().map(|triangle| triangle.map(number)).collect();
    let coarse_from_input = collapser.roots().iter().map(|&root| coarse_from_input[root as usize]).collect();
    Decimated { mesh: coarse, places, coarse_from_input }
}
