//! Guidance: energies with prescribed rotations, from a kinematic deformation of the skin ([`crate::tissue::Guide`]).
//!
//! ```text
//!     E_g(x) = μ Σ_t w_t V_t/2 ‖F_t − R_t‖² + k/2 Σᵢ Aᵢ ‖(L x)ᵢ/Aᵢ − Rᵢ (L x̄)ᵢ/Aᵢ‖²
//! ```
//!
//! Rᵢ is the rotation of the target of vertex i, and `R_t` the mean of these matrices over the unknowns of the tet's chain. The
//! second term is the bending energy of the skin, see [`Bending`]. The first term makes the energy of a tet nearly convex:
//! iterations converge fast, and no element stays inverted. The second term keeps the skin smooth.
//!
//! Both are quadratic in x. Their matrix Q is constant and part of the system matrix. About the targets y,
//!
//! ```text
//!     E_g(x) = ½ (x − y)ᵀ Q (x − y) − r·(x − y) + const
//! ```
//!
//! Only the forces `r = −∇E_g(y)` depend on the pose. They are computed once per step (`forces.rs`), from differences between
//! neighbours to avoid cancellation.

mod forces;
mod quadratic;

use nalgebra::UnitQuaternion;

use crate::math::{Point, Vec3};
use crate::mesh::Bending;
use crate::numerics::partition::Partition;
pub(super) use forces::Forces;
pub(super) use quadratic::Quadratic;

/// Target of an unknown: its kinematic position and rotation, without elasticity.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Target {
    /// World position.
    pub position: Point,
    /// Rotation from the bind pose.
    pub rotation: UnitQuaternion<f32>,
}

impl Target {
    /// The target at rest: no rotation.
    #[must_use]
    pub fn at_rest(position: Point) -> Self {
        Self {
            position,
            rotation: UnitQuaternion::identity(),
        }
    }

    /// Moves a point rigidly with the motion of the target from `before` to `self`.
    #[must_use]
    #[inline]
    pub fn transport(&self, before: &Self, point: &Point) -> Point {
        let rotation = self.rotation * before.rotation.inverse();
        let offset: Vec3 = point - before.position;
        self.position + rotation * offset
    }
}

/// Constants of the guidance energies; independent of parameters and pose.
pub(super) struct Guidance {
    pub(super) bending: Bending,
    /// Matrix entries that the bending of each vertex contributes to, in the order of [`pairs`].
    pub(super) entries: Vec<u32>,
    pub(super) entry_starts: Vec<usize>,
}

/// The star of each vertex: the vertices that its bending energy depends on.
pub(super) fn stars(bending: &Bending) -> Vec<Vec<u32>> {
    (0..bending.len())
        .map(|vertex| bending.row(vertex).map(|(column, _)| column).collect())
        .collect()
}

/// All pairs of entries of a row of the Laplacian.
pub(super) fn pairs(
    bending: &Bending,
    vertex: usize,
) -> impl Iterator<Item = [(u32, f64); 2]> + '_ {
    let row = bending.row(vertex);
    row.clone().enumerate().flat_map(move |(k, a)| {
        let others = bending.row(vertex).skip(k);
        others.map(move |b| [a, b])
    })
}

impl Guidance {
    pub(super) fn of(bending: &Bending, partition: &Partition) -> Self {
        let (mut entries, mut entry_starts) = (Vec::new(), vec![0]);
        for vertex in 0..bending.len() {
            entries.extend(
                pairs(bending, vertex).map(|[(a, _), (b, _)]| {
                    partition.pattern.entry(a, b).unwrap_or_default() as u32
                }),
            );
            entry_starts.push(entries.len());
        }
        Self {
            bending: bending.clone(),
            entries,
            entry_starts,
        }
    }
}
