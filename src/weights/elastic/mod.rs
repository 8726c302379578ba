//! Elastic weights: those with which skinning changes the shape of a solid body least.
//!
//! Kavan, Sorkine, "Elasticity-Inspired Deformers for Character Articulation", ACM TOG 31(6), 2012, sections 3.1 and 3.2. The energy of
//! Chao et al. 2010 on voxels, where every voxel has the rotation that fits it best:
//!
//! ```text
//! E(v) = Σ over voxels  ½ Σ over their 12 edges ‖e − R ẽ‖²
//! ```
//!
//! Below a joint at o the whole skeleton turns by a sample rotation Sₖ, the rest stands still. With two weights that sum to 1 one field
//! w is left: vₖ = ṽ + w (Sₖ − I)(ṽ − o). Σₖ E(vₖ(w)) is minimised by turns over the rotations and over w:
//!
//! ```text
//! Y_ff w_f = r_f − Y_fh w_h,    Y_ab = L_ab Σₖ dₖ(a)·dₖ(b),    dₖ(a) = (Sₖ − I)(ṽ_a − o)
//! ```
//!
//! | paper     | here                            | shape           | unit | note                                                        |
//! |-----------|---------------------------------|-----------------|------|-------------------------------------------------------------|
//! | ṽ − o     | `region::Region::positions`     | n × 3           | cell edges | in the frame of the joint, z along its bone           |
//! | L         | `VoxelDomain::laplacian`        | n × n           | –    | an edge counts once per cell                                |
//! | Sₖ        | [`Turns`]                       | 4 or 2          | –    | ±90° about x and y (swing), ±90° about z (twist)            |
//! | Y         | `region::Region::system`        | f × f           | –    | for quarter turns dₖ(a)·dₖ(b) is a weighted product of ṽ − o |
//! | R         | `rounds::LocalStep`             | 3 × 3 per cell and sample | – | closest to Σ e ẽᵀ                                     |
//!
//! # Departures
//! - Only nodes between the sub-tree and the rest are free, those where the harmonic start value is in 0.003…0.997.
//! - Bones have a volume (the authors name that as future work). Fields are then centred on the joint at every size of the cells.
//! - The field is regularised by 10⁻⁶ of the mean diagonal of Y times L: on the axis of a twist nothing moves.
//! - Skin weights are the differences of the fields of a joint and its children, so that turning one joint is what was optimised.

pub mod energy;
mod fields;
mod frame;
mod partition;
mod region;
mod rounds;
#[cfg(test)]
pub(crate) mod tests;
mod vertices;

pub(super) use fields::DESCRIPTOR;
pub use fields::{VERSION, computed_fields, elastic_fields, elastic_weights, fields_of};
pub use frame::{bone_direction, frame_of, unit};
pub use rounds::Turns;
pub use vertices::{ElasticFields, JointFields};
