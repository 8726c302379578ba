//! Upsampling: a coarse mesh moves, a fine one follows.
//!
//! Komaritzan's thesis, section 3.2.4. Each fine vertex is a weighted sum of coarse ones, xⱼ = Σᵢ Nᵢⱼ xᵢ, with the shape functions of
//! moving least squares: of all fields that are quadratic around xⱼ, the one that fits the coarse displacements best. Distances are
//! measured on the fine surface.
//!
//! | thesis | here | shape | note |
//! |---|---|---|---|
//! | i, j | `coarse`, `fine` | | coarse vertices need not be fine ones, only lie close to the same surface |
//! | k | [`Settings::neighbours`] | | 20 |
//! | ρⱼ, ω | `fit.rs` | | ω(r) = (1 − r/ρ)³, ρ the geodesic distance to the (k+1)-th neighbour (`front.rs`) |
//! | ψ | `fit.rs` | 10 | 1, x, y, z, x², y², z², xy, xz, yz, mean-centred, scaled to the unit ball |
//! | K⁺ | `fit.rs` | | an orthonormal basis of the monomials in place of the pseudo-inverse |
//! | Nᵢⱼ | `rows.rs` | k | sum to one exactly; 16 bits each |
//!
//! # Departures
//! - Geodesics by unfolding triangles, from the coarse vertices outwards (`front.rs`), not from each fine vertex.
//! - Rank, amplification and extrapolation are limited function by function (`fit.rs`), so that a badly placed vertex loses precision, not
//!   stability: Σ|Nᵢ| ≤ 2.5.
//! - What the sum then misses at rest (details that stand out of a flat patch can't be a sum of its vertices) is added back in a local frame
//!   that turns along: the rest pose is reproduced to rounding, and a rigid motion moves all rigidly, whatever the meshes.
//! - The local frame is the derivative of the same fit, two tangents a vertex. Normals are carried by it and not fitted to coarse normals
//!   (ψ(n) in the thesis): they are exact under every affine map, don't blur along a limb (where coarse normals that are equal at rest say
//!   nothing about position), need no coarse normals, and serve any number of normals at one vertex, hard edges among them, and tangents.
//!
//! Types by lifetime: [`Upsampling`] and [`Directions`] are made once, [`Frames`] is the room for a frame.
//! ```
//! # use sinew::{mesh::TriMesh, math::{Point, Vec3}, progress::Progress, upsample::{Directions, Settings, Upsampling}};
//! # let coarse = TriMesh { positions: vec![Point::origin(), Point::new(1.0, 0.0, 0.0), Point::new(0.0, 1.0, 0.0)], triangles: vec![[0, 1, 2]] };
//! # let fine = coarse.clone();
//! let upsampling = Upsampling::build(&fine, &coarse, &Settings::default(), &Progress::new())?;
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
mod rows;
mod surface;

pub use directions::Directions;
pub use fit::MAX_NEIGHBOURS;
pub use frames::Frames;
pub use plain::{PlainStand, PlainSums, PlainUpsampling};

use crate::math::Point;
use crate::mesh::TriMesh;
use crate::progress::{Cancelled, Progress};

use displacement::Displacement;
use rows::Block;

/// How a fine mesh follows a coarse one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Moving least squares over neighbours on the surface: smooth in strong bends.
    #[default]
    MovingLeastSquares,
    /// Each fine vertex stands on one coarse triangle: cheaper to make, faceted in strong bends.
    NormalDisplacement,
}

/// What to build.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Settings {
    /// Coarse vertices that move a fine one, 1..=[`MAX_NEIGHBOURS`]; other numbers are clamped.
    pub neighbours: usize,
    /// The method.
    pub kind: Kind,
}

impl Default for Settings {
    fn default() -> Self {
        Self { neighbours: 20, kind: Kind::default() }
    }
}

/// Makes the positions of a fine mesh from those of a coarse one. Immutable; serves any number of [`Frames`].
///
/// - At rest it reproduces the fine mesh, and rigid motions rigidly.
/// - Connected parts of the fine mesh don't hear of each other. A part that no coarse vertex lies on moves with the closest point of the
///   others, as rigidly as that; with one or two coarse vertices (or a straight line of them) it can't tell how it turns, and only shifts.
/// - Output is bit-equal for any number of threads.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Upsampling {
    coarse: usize,
    fine: usize,
    method: Method,
}

#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
enum Method {
    /// The coarse mesh is the fine one; only frames are made.
    Copy(Displacement),
    Sums(Vec<Block>),
    Displacement(Displacement),
    /// There is nothing to follow.
    Still(Vec<Point>),
}

impl Upsampling {
    /// Finds the weights of every fine vertex: about 10 µs a vertex on one core, shared by all threads.
    ///
    /// Triangle indices must be in range. Vertices that are not finite take no part.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn build(fine: &TriMesh, coarse: &TriMesh, settings: &Settings, progress: &Progress) -> Result<Self, Cancelled> {
        progress.report(0.0, "Upsampling");
        progress.check()?;
        let neighbours = settings.neighbours.clamp(1, MAX_NEIGHBOURS);
        let is_finite = |point: &Point| point.iter().all(|c| c.is_finite());
        let method = if fine == coarse {
            Method::Copy(Displacement::identity(coarse))
        } else if !coarse.positions.iter().any(is_finite) {
            Method::Still(fine.positions.clone())
        } else {
            let displacement = match settings.kind {
                Kind::MovingLeastSquares => None,
                Kind::NormalDisplacement => Displacement::build(fine, coarse),
            };
            match displacement {
                Some(displacement) => Method::Displacement(displacement),
                None => Method::Sums(mls::build(fine, coarse, neighbours, progress)?),
            }
        };
        progress.set_fraction(1.0);
        Ok(Self { coarse: coarse.positions.len(), fine: fine.positions.len(), method })
    }

    /// Whether it is of the sizes of these meshes.
    #[must_use]
    pub fn is_between(&self, fine: &TriMesh, coarse: &TriMesh) -> bool {
        (self.fine, self.coarse) == (fine.positions.len(), coarse.positions.len())
    }

    /// Room for one frame. It belongs to this upsampling, or to one of meshes of the same sizes and the same kind.
    #[must_use]
    pub fn frames(&self) -> Frames {
        let with_normals = matches!(self.method, Method::Copy(_) | Method::Displacement(_));
        Frames::new(self.coarse, self.fine, with_normals)
    }

    /// How many coarse vertices there are.
    #[must_use]
    pub fn coarse_vertices(&self) -> usize {
        self.coarse
    }

    /// How many fine vertices there are.
    #[must_use]
    pub fn fine_vertices(&self) -> usize {
        self.fine
    }

    /// Writes the positions of the fine vertices and leaves their local frames in `frames`. Allocates nothing.
    ///
    /// # Panics
    /// If `coarse`, `fine` or `frames` are of other sizes than the meshes it was built for.
    pub fn positions_into(&self, coarse: &[Point], frames: &mut Frames, fine: &mut [Point]) {
        assert_eq!(coarse.len(), self.coarse, "positions of all coarse vertices");
        assert_eq!(fine.len(), self.fine, "room for all fine vertices");
        assert_eq!(frames.tangents.len(), self.fine, "frames made by this upsampling");
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
            Method::Still(rest) => fine.copy_from_slice(rest),
        }
    }
}

#[cfg(test)]
mod tests;
