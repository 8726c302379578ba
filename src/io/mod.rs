//! Reading and writing files.
//!
//! [`load`] reads the files that make up *one* character: a mesh or scene, optionally a skeleton,
//! weights, motions, or an `.ini` of the Fast Projective Skinning demos that lists them. Every file
//! is read whole and parsed by code that checks every count against the file's length before
//! allocating. It either becomes a [`Character`](crate::character::Character) with
//! [`Note`](crate::character::Note)s on repairs, or is rejected with a single sentence.
//!
//! Output uses [`AtomicFile`]: written beside its target, then renamed.

mod animation;
pub mod builtin;
mod bvh;
mod by_material;
mod bytes;
mod corners;
mod dmat;
mod error;
mod fbx;
mod finish;
mod fps;
mod glb_write;
mod gltf;
mod hierarchy;
mod kind;
#[cfg(test)]
mod lengths;
mod load;
mod mdd;
mod medit;
mod motion;
#[cfg(feature = "gpu")]
mod npz;
mod obj;
mod obj_write;
mod off;
mod picture;
mod ply;
mod ply_write;
mod polygon;
mod pose;
mod positions;
mod reads;
mod referenced;
mod rigging;
mod roles;
mod shapes;
mod skel_write;
mod stl;
mod tgf;
mod tissue;
mod unfinished;
mod usd;
mod weights_write;
mod write;

pub use animation::{AnimationFormat, AnimationWriter, animated_webp};
pub use bvh::{BvhFile, write_bvh, write_bvh_poses};
#[cfg(feature = "gpu")]
pub(crate) use bytes::{read_file, text_of};
pub use error::{IoError, ParseProblem};
#[cfg(feature = "gpu")]
pub use glb_write::{Compression, compress_glb};
pub use glb_write::{
    GlbWriteError, MOST_INFLUENCES, MorphFile, MorphSettings, MorphSummary, loses_materials,
    write_driven_glb, write_glb, write_refitted_glb, write_rigged_glb,
};
pub use gltf::read_gltf_bytes;
pub use kind::extensions;
pub use load::{load, load_from_memory, load_with};
pub use mdd::MddCache;
pub use motion::{add_motion, read_bvh_bytes, read_mapping, read_motion, write_mapping};
#[cfg(feature = "gpu")]
pub use npz::NpzFrames;
pub use obj_write::{ObjLook, write_obj, write_obj_with};
pub use ply_write::write_ply;
pub use pose::{read_pose, write_pose};
pub use positions::{PositionFrames, read_positions};
pub use reads::{FileRead, protect_inputs, recorded, refuse_input, refuse_protected};
pub use referenced::{Reach, with_reach};
pub use skel_write::write_skel;
pub use tissue::write_tissue;
#[cfg(feature = "gpu")]
pub(crate) use unfinished::clear_unfinished;
pub use unfinished::{UnkeptFile, remove_unfinished};
pub use usd::{UsdFormat, UsdFrames, usd_bytes, write_refitted_usd};
pub use weights_write::{WeightFormat, write_weights};
pub use write::{AtomicFile, FrameNames, JsonPositions, PointCache, write_atomically};
