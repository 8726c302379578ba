//! Contacts that the device finds itself: the detection of `crate::collision` and the problem of `crate::dynamics::Contacts`, for
//! flesh whose base hangs on the bones. The host waits for nothing: it uploads the bisecting planes of the joints with the bones.
//!
//! ```text
//! separate       the base of adjacent bones in sharp bends (before the prediction)
//! pose           foot points, outward directions and normals; forgets the hits
//! boxes          bounding boxes of patches of vertices and of groups of patches, refitted
//! find_hits      32 threads a wedge, down that hierarchy: the vertices inside
//! refresh        one vertex a thread: updates its contacts, removes ended ones, adds new ones at its hits
//! list_contacts  one list of all contacts, in the order of the rows
//! assemble       the matrix of the complementarity problem, from the inverse of the system
//! K times        press (`flesh::ContactKernel`), push: Δ += P⁻¹ U N λ
//! end_contacts   gaps for the next step, and a report
//! ```
//!
//! | lifetime                     | type                                                       |
//! |------------------------------|------------------------------------------------------------|
//! | per character and parameters | [`CollisionModel`]: tables and the dense inverse            |
//! | per state                    | [`Collision`]: contacts between the steps, buffers, passes |
//!
//! # The inverse
//! The problem needs P⁻¹ between the vertices in contact, and forces need its product with their columns. On the CPU its entries are
//! computed where they are needed. Here the whole inverse is computed once, by the device's solver with unit vectors as
//! right-hand sides: 4 n² bytes, 256 MB for 8 000 rows. Products with it replace the second solve of every iteration. Where it is
//! too large ([`CollisionModel::new`] returns `None`), the host detects contacts.
//!
//! # Departures
//! - A vertex's hits are the sixteen triangles with the smallest numbers in each half of the bones; the CPU looks at all. More
//!   than a few occur in tangled skin only.
//! - A search that finds more than [`crate::gpu::flesh::MOST_CONTACTS`] contacts solves for the first ones and reports the number.
//! - Rounding differs from the CPU's: a vertex on the face of a wedge may be found a step earlier or later.

mod inverse;
mod layout;
mod model;
mod pack;
mod state;

pub(super) use layout::struct_layouts;
pub use model::CollisionModel;
pub use state::Collision;
