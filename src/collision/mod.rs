//! Self-contact of the skin: which vertices are inside which wedges, the direction out, and which pairs stay in contact.
//!
//! Komaritzan's thesis (FPS), section 3.2.5; Komaritzan & Botsch, "Projective Skinning" (PS), section 5.
//!
//! Types by lifetime: [`CollisionBody`] and [`JointPairs`] are made once per tissue; [`Detector`] holds the scratch of a detection; [`ContactList`] is the
//! state that is kept from step to step.
//!
//! | paper  | here                  | unit  | note                                                                |
//! |--------|-----------------------|-------|---------------------------------------------------------------------|
//! | sᵢ     | `Feet`                | world | foot points, moved rigidly with their bones                         |
//! | `δ_col` | [`KEEP`]              | edges | a pair is kept while its distance is below this fraction of the local edge |
//! | t      | [`Contact::triangle`] |       | the skin triangle whose wedge, down to the bone line, contains a vertex |
//!
//! # Departures
//! - A vertex is not projected to the plane of the wedge's triangle: from there the closest point is searched along the surface,
//!   and the contact's normal is interpolated between vertex normals. Contacts slide instead of jumping from plane to plane.
//! - Instead of a hash of cubes (Teschner et al., VMV 2003) vertices are sorted into cells around every bone: wedges are long and thin
//!   and point at the bone line, so that they occupy many cubes but few of these cells.
//! - A vertex collides with wedges of other bones only: the tets prevent intersections of the flesh around one bone, and the side across
//!   the bone is never the nearest exit. Around bones that are shorter than their flesh is thick, as in a groin, the exit may lie on a
//!   fold of the same bone's skin.
//! - Pairs that intersect at rest are recorded, with their neighbourhood, and ignored.

mod axes;
mod base_separation;
mod bend;
mod body;
mod bone_cells;
mod bone_search;
mod closest_point;
mod contact_list;
mod detect;
mod foot_points;
mod joint_pairs;
mod measure;
mod sweep;
mod wedge;

pub use body::CollisionBody;
pub use closest_point::ClosestPoint;
pub use contact_list::{Contact, ContactList, KEEP_DISTANCE};
pub use detect::{Detector, Hit};
pub use foot_points::PosedFootPoints;
pub use joint_pairs::JointPairs;
pub use measure::{Penetration, deepest_penetration};
