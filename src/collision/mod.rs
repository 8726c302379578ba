//! Self-contact of the skin: detects vertices inside wedges, computes contact normals, and tracks contact pairs.
//!
//! Komaritzan's thesis (FPS), section 3.2.5; Komaritzan & Botsch, "Projective Skinning" (PS), section 5.
//!
//! Types by lifetime: [`CollisionBody`] and [`JointPairs`] are built once per tissue; [`Detector`] holds the buffers of a
//! detection; [`ContactList`] is the state that is kept from step to step.
//!
//! | paper  | here                  | unit  | note                                                                |
//! |--------|-----------------------|-------|---------------------------------------------------------------------|
//! | sᵢ     | [`PosedFootPoints`]   | world | foot points, moved rigidly with their bones                         |
//! | `δ_col` | [`KEEP_DISTANCE`]    | edges | a pair is kept while its gap is below this fraction of the local edge length |
//! | t      | [`Contact::triangle`] |       | triangle whose wedge, the volume between it and the bone line, contains a vertex |
//!
//! # Departures
//! - A vertex is not projected to the plane of the wedge's triangle. Instead the closest point is searched along the surface from
//!   there, and the contact's normal is interpolated between vertex normals. Contacts slide continuously instead of jumping from
//!   plane to plane.
//! - Vertices are sorted into cells around every bone instead of a spatial hash of cubes (Teschner et al., VMV 2003). Wedges are
//!   long and thin and point at the bone line; they overlap many cubes but few of these cells.
//! - A vertex collides with wedges of other bones only. The tets prevent intersections of the flesh around one bone, and the
//!   closest exit is never on the opposite side of the bone. Exception: around bones that are shorter than their flesh is thick, as
//!   in a groin, the exit may lie on a fold of the same bone's skin.
//! - Pairs that intersect at rest are recorded and excluded, together with their neighbourhood.

mod axes;
mod base_separation;
mod bend;
mod body;
mod bone_cells;
mod bone_search;
mod closest_point;
mod contact;
mod contact_list;
mod contact_search;
mod detect;
mod foot_points;
mod joint_pairs;
mod measure;
mod sweep;
mod tables;
mod wedge;

pub use base_separation::{PlaneSide, PosedPlane};
pub use body::CollisionBody;
pub use closest_point::ClosestPoint;
pub use contact::{Contact, Release};
pub use contact_list::{ContactList, KEEP_DISTANCE, Refresh};
pub use detect::{Detector, Hit};
pub use foot_points::PosedFootPoints;
pub use joint_pairs::JointPairs;
pub use measure::{Penetration, deepest_penetration};
pub use tables::{TriangleTable, VertexTable};
