//! Upsampling: computes a fine mesh from the motion of a coarse one.
//!
//! Komaritzan's thesis, section 3.2.4. Each fine vertex is a weighted sum of coarse ones, xⱼ = Σᵢ
//! Nᵢⱼ xᵢ, with the shape functions of moving least squares: the field, quadratic around xⱼ, that
//! best fits the coarse displacements. Distances are measured on the fine surface.
//!
//! | thesis | here | shape | note |
//! |---|---|---|---|
//! | i, j | `coarse`, `fine` | | coarse vertices need not be fine ones, only lie close to the same surface |
//! | k | [`UpsamplingSettings::neighbours`] | | 20 |
//! | ρⱼ, ω | `fit.rs` | | ω(r) = (1 − r/ρ)³, ρ the geodesic distance to the (k+1)-th neighbour (`front.rs`) |
//! | ψ | `fit.rs` | 10 | 1, x, y, z, x², y², z², xy, xz, yz, mean-centred, scaled to the unit ball |
//! | K⁺ | `fit.rs` | | an orthonormal basis of the monomials in place of the pseudo-inverse |
//! | Nᵢⱼ | `rows.rs` | k | sum to one exactly; 16 bits each |
//!
//! # Departures
//! - Geodesics by unfolding triangles, propagated from the coarse vertices (`front.rs`), not from
//!   each fine vertex.
//! - Rank, amplification and extrapolation are limited per function (`fit.rs`), so that a badly
//!   placed vertex loses accuracy, not stability: Σ|Nᵢ| ≤ 2.5.
//! - The remainder at rest (details off a flat patch are not a sum of its vertices) is added in the
//!   co-rotating local frame: the rest pose is reproduced within rounding, and rigid motions are
//!   reproduced rigidly, for all meshes.
//! - The local frame is the derivative of the same fit, two tangents per vertex. It transports the
//!   normals, which are not fitted to coarse normals (ψ(n) in the thesis): they are exact under
//!   every affine map, are not blurred along a limb (where equal coarse rest normals carry no
//!   information about position), need no coarse normals, and allow several normals per vertex, at
//!   hard edges for example, and tangents.
//!
//! Types by lifetime: [`Upsampling`] and [`Directions`] are computed once, [`Frames`] holds the
//! buffers of a frame.
//! ```
//! # use sinew::{mesh::TriMesh, math::{Point, Vec3}, progress::Progress, upsample::{Directions, UpsamplingSettings, Upsampling}};
//! # let coarse = TriMesh { positions: vec![Point::origin(), Point::new(1.0, 0.0, 0.0), Point::new(0.0, 1.0, 0.0)], triangles: vec![[0, 1, 2]] };
//! # let fine = coarse.clone();
//! let upsampling = Upsampling::build(&fine, &coarse, &UpsamplingSettings::default(), &Progress::new())?;
//! let mut frames = upsampling.frames();
//! let mut positions = fine.positions.clone();
//! upsampling.positions_into(&coarse.positions, &mut frames, &mut positions);
//! let (vertex_of, rest_normals) = ([Some(0), Some(1), Some(2)], [Vec3::z(); 3]);
//! let directions = Directions::normals(&frames, &vertex_of, &rest_normals);
//! // Every frame:
//! let mut normals = rest_normals;
//! upsampling.positions_into(&coarse.positions, &mut frames, &mut positions);
//! directions.directions_into(&frames, &mut normals);
//! # Ok::<(), sinew::progress::Cancelled>(())
//! ```

mod directions;
mod displacement;
mod fit;
mod frames;
mod front;
mod lanes;
mod locate;
mod mls;
mod plain;
mod row_groups;
mod rows;
mod shells;
mod smoothing;
mod surface;

pub use directions::Directions;
pub use fit::MAX_NEIGHBOURS;
pub use frames::Frames;
pub use plain::{PlainDisplacement, PlainSums, PlainUpsampling};
pub use shells::ShellCoupling;
pub use smoothing::Smoothing;

use crate::math::Point;
use crate::mesh::TriMesh;
use crate::progress::{Cancelled, Progress};

use displacement::Displacement;
use rows::WeightBlock;

/// Upsampling method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum UpsamplingKind {
    /// Moving least squares over neighbours on the surface: smooth in strong bends.
    #[default]
    MovingLeastSquares,
    /// Each fine vertex is bound to one coarse triangle: cheaper to set up, faceted in strong
    /// bends.
    NormalDisplacement,
}

/// Parameters of an upsampling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct UpsamplingSettings {
    /// Coarse vertices per fine vertex, 1..=[`MAX_NEIGHBOURS`]; clamped.
    pub neighbours: usize,
    /// The method.
    pub kind: UpsamplingKind,
}

impl Default for UpsamplingSettings {
    fn default() -> Self {
        Self {
            neighbours: 20,
            kind: UpsamplingKind::default(),
        }
    }
}

/// Computes the positions of a fine mesh from those of a coarse one. Immutable; serves any number
/// of [`Frames`].
///
/// - It reproduces the fine mesh at rest, and rigid motions.
/// - Connected components of the fine mesh are independent. A component without coarse vertices
///   moves rigidly with the closest point of the others; with one or two coarse vertices (or
///   collinear ones) its rotation is undetermined, and it only translates.
/// - Output is bit-equal for any number of threads.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Upsampling {
    coarse: usize,
    fine: usize,
    method: Method,
}

#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
enum Method {
    /// The coarse mesh is the fine one; only frames are computed.
    Copy(Displacement),
    Sums(Vec<WeightBlock>),
    Displacement(Displacement),
    /// There is no coarse vertex.
    Constant(Vec<Point>),
}

impl Upsampling {
    /// Computes the weights of every fine vertex: about 10 µs per vertex on one core, in parallel.
    ///
    /// Triangle indices must be in range. Non-finite vertices are ignored.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn build(
        fine: &TriMesh,
        coarse: &TriMesh,
        settings: &UpsamplingSettings,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        progress.report(0.0, "Upsampling");
        progress.check()?;
        let neighbours = settings.neighbours.clamp(1, MAX_NEIGHBOURS);
        let is_finite = |point: &Point| point.iter().all(|c| c.is_finite());
        let method = if fine == coarse {
            Method::Copy(Displacement::identity(coarse))
        } else if !coarse.positions.iter().any(is_finite) {
            Method::Constant(fine.positions.clone())
        } else {
            let displacement = match settings.kind {
                UpsamplingKind::MovingLeastSquares => None,
                UpsamplingKind::NormalDisplacement => Displacement::build(fine, coarse),
            };
            match displacement {
                Some(displacement) => Method::Displacement(displacement),
                None => Method::Sums(mls::build(fine, coarse, neighbours, progress)?),
            }
        };
        progress.set_fraction(1.0);
        Ok(Self {
            coarse: coarse.positions.len(),
            fine: fine.positions.len(),
            method,
        })
    }

    /// Whether it matches the sizes of these meshes.
    #[must_use]
    pub fn is_between(&self, fine: &TriMesh, coarse: &TriMesh) -> bool {
        (self.fine, self.coarse) == (fine.positions.len(), coarse.positions.len())
    }

    /// Buffers of one frame, for this upsampling or one of equal sizes and kind.
    #[must_use]
    pub fn frames(&self) -> Frames {
        let with_normals = matches!(self.method, Method::Copy(_) | Method::Displacement(_));
        Frames::new(self.coarse, self.fine, with_normals)
    }

    /// Number of coarse vertices.
    #[must_use]
    pub fn coarse_vertices(&self) -> usize {
        self.coarse
    }

    /// Number of fine vertices.
    #[must_use]
    pub fn fine_vertices(&self) -> usize {
        self.fine
    }

    /// Writes the positions of the fine vertices, and their local frames into `frames`. Does not
    /// allocate.
    ///
    /// # Panics
    /// If the sizes of `coarse`, `fine` or `frames` do not match.
    pub fn positions_into(&self, coarse: &[Point], frames: &mut Frames, fine: &mut [Point]) {
        assert_eq!(coarse.len(), self.coarse, "one position per coarse vertex");
        assert_eq!(fine.len(), self.fine, "one entry per fine vertex");
        assert_eq!(
            frames.tangents.len(),
            self.fine,
            "frames made by this upsampling"
        );
        match &self.method {
            Method::Copy(displacement) => {
                displacement.apply(coarse, frames, fine);
                fine.copy_from_slice(coarse);
            }
            Method::Sums(blocks) => {
                frames.set_coarse(coarse);
                rows::apply(blocks, frames, fine);
            }
            Method::Displacement(displacement) => displacement.apply(coarse, frames, fine),
            Method::Constant(rest) => fine.copy_from_slice(rest),
        }
    }
}

#[cfg(test)]
mod tests;
