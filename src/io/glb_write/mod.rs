//! Writes characters as binary glTF 2.0 (GLB).
//!
//! - [`write_glb`]: a character without a source document ([`fresh`]);
//! - [`write_rigged_glb`]: with skin weights for all meshes that a skeleton moves, limited in
//!   influences for game engines ([`rigged`]);
//! - [`MorphFile`]: frame by frame, with one morph target per key frame ([`morph`], [`keys`]).
//!
//! The latter two start from the document that the character was read from, if there is one. Its
//! JSON is preserved except for the required changes ([`draft`], [`relocate`], [`repair`]), so that
//! no material, texture, camera, light, name, extra or extension is lost. With the feature `cli`, a finished file can be made
//! smaller (`compress`).

mod blocks;
mod bones;
mod clips;
#[cfg(feature = "gpu")]
mod compress;
mod draft;
mod fresh;
mod keys;
mod morph;
mod relocate;
mod repair;
mod rigged;
mod rotations;
mod springs;
mod sweep;
mod targets;

use crate::character::Character;

#[cfg(feature = "gpu")]
pub use compress::{Compression, compress_glb};
pub use draft::SealedGlb;
pub(super) use fresh::{encode_png, normals_of};
pub use morph::{MorphFile, MorphSettings, MorphSummary};
pub(super) use rigged::bound_and_limited;
pub use rigged::{
    MOST_INFLUENCES, loses_materials, write_driven_glb, write_refitted_glb, write_rigged_glb,
};

/// Why a character cannot be written as GLB.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GlbWriteError {
    /// GLB stores lengths in 32 bits.
    #[error(
        "the file would have {bytes} bytes, more than the GLB limit of 4 GiB; write fewer frames, or a point cache (.pc2)"
    )]
    TooLarge {
        /// Size of the file.
        bytes: u64,
    },
    /// A mesh with inconsistent arrays.
    #[error("mesh \"{mesh}\" cannot be written: {what}")]
    Inconsistent {
        /// Name of the mesh.
        mesh: String,
        /// The inconsistency.
        what: &'static str,
    },
    /// A texture could not be encoded.
    #[error("the texture of material \"{material}\" cannot be encoded as PNG")]
    Texture {
        /// Name of the material.
        material: String,
        /// The encoder's error.
        #[source]
        source: image::ImageError,
    },
    /// The JSON could not be written, or the source document's JSON not be read.
    #[error("the character cannot be written as glTF: {source}")]
    Encode {
        /// The JSON library's error.
        #[source]
        source: serde_json::Error,
    },
    /// The character has no joints.
    #[error("the character has no skeleton; add one as .skel or as a rigged .glb")]
    NoSkeleton,
}

/// A character as the bytes of a `.glb` file: the data of [`Character`] and nothing else.
/// Deterministic: equal characters give equal bytes.
///
/// # Errors
/// [`GlbWriteError`].
pub fn write_glb(character: &Character) -> Result<Vec<u8>, GlbWriteError> {
    in_memory(&fresh::whole(character)?.seal()?)
}

/// The bytes of a document without spooled frames.
fn in_memory(sealed: &SealedGlb) -> Result<Vec<u8>, GlbWriteError> {
    sealed.to_vec().map_err(|error| GlbWriteError::Encode {
        source: serde_json::Error::io(error),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::character::Attachment;
    use crate::io::{load, read_gltf_bytes};
    use crate::progress::Progress;

    #[test]
    fn a_written_character_reads_back_equal() {
        for name in crate::io::builtin::NAMES {
            let character = load(&[format!("builtin:{name}").into()], &Progress::new()).unwrap();
            let bytes = write_glb(&character).unwrap();
            // With the full validation of the `gltf` crate, which the reader does not use.
            gltf::Gltf::from_slice(&bytes).unwrap();
            let read = read_gltf_bytes(&character.name, &bytes).unwrap();
            assert_eq!(read.clips, character.clips, "{name}");
            assert_eq!(read.skeleton.len(), character.skeleton.len(), "{name}");
            for (joint, same) in character
                .skeleton
                .joints()
                .iter()
                .zip(read.skeleton.joints())
            {
                assert_eq!(
                    (&joint.name, joint.parent),
                    (&same.name, same.parent),
                    "{name}"
                );
                // One rounding to f32 of a number of at most a few metres.
                let moved = joint.rest.to_affine().matrix() - same.rest.to_affine().matrix();
                assert!(
                    moved.norm() < 1e-6 && joint.parent_from_base == same.parent_from_base,
                    "{name}: {}",
                    joint.name
                );
            }
            assert_eq!(read.meshes.len(), character.meshes.len(), "{name}");
            for (mesh, same) in character.meshes.iter().zip(&read.meshes) {
                assert_eq!(
                    (&mesh.name, &mesh.positions, &mesh.triangles),
                    (&same.name, &same.positions, &same.triangles),
                    "{name}"
                );
                assert_eq!(mesh.tex_coords, same.tex_coords, "{name}");
                match &mesh.normals {
                    Some(normals) => assert_eq!(Some(normals), same.normals.as_ref(), "{name}"),
                    None => assert_smooth(same),
                }
                assert_attached_alike(&mesh.attachment, &same.attachment, name);
            }
        }
    }

    /// Normals that the file has not are those of the surface: unit vectors, within 60° of the triangles on a smooth body.
    fn assert_smooth(mesh: &crate::character::SourceMesh) {
        let normals = mesh.normals.as_ref().unwrap();
        assert!(
            normals
                .iter()
                .all(|normal| (normal.norm() - 1.0).abs() < 1e-4)
        );
        let agrees = |triangle: &&[u32; 3]| {
            let [a, b, c] = triangle.map(|v| mesh.positions[v as usize]);
            let face = (b - a).cross(&(c - a)).normalize();
            triangle
                .iter()
                .all(|&v| normals[v as usize].dot(&face) > 0.5)
        };
        let agreeing = mesh.triangles.iter().filter(agrees).count();
        assert!(agreeing * 100 > mesh.triangles.len() * 95, "{agreeing}");
    }

    /// The reader renormalises weights: one or two roundings.
    fn assert_attached_alike(a: &Attachment, b: &Attachment, name: &str) {
        let (
            Attachment::Skinned {
                weights: a,
                joint_from_mesh: binds,
            },
            Attachment::Skinned {
                weights: b,
                joint_from_mesh: same_binds,
            },
        ) = (a, b)
        else {
            assert_eq!(a, b, "{name}");
            return;
        };
        assert_eq!(
            (binds, &a.offsets, &a.joints),
            (same_binds, &b.offsets, &b.joints),
            "{name}"
        );
        assert!(
            a.values
                .iter()
                .zip(&b.values)
                .all(|(a, b)| (a - b).abs() < 1e-6),
            "{name}"
        );
    }
}
