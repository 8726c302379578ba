//! What of a subject is kept between runs, and what it depends on.
//!
//! Every function takes the inputs of one stage and the stage itself, `make`, which is called if nothing is known for these inputs. To keep
//! another stage: make its result serialisable, add a function here with all its inputs in the key, and raise its version whenever it
//! makes something else of the same inputs.

use super::body::Body;
use crate::cache::{Cache, Key};
use crate::character::{Character, FleshSettings};
use crate::mesh::{SimMesh, SkinMesh, TriMesh};
use crate::rig::Skeleton;
use crate::tissue::Tissue;
use crate::upsample::{Settings, Upsampling};
use crate::weights::SkinWeights;

const BODY: u32 = 1;
const TISSUE: u32 = 1;
const UPSAMPLING: u32 = 1;

/// The parts of a skin, and the mesh that is simulated of it.
pub(super) fn body<E>(
    cache: &Cache,
    character: &Character,
    skin: &SkinMesh,
    weights: Option<&SkinWeights>,
    settings: &FleshSettings,
    make: impl FnOnce() -> Result<Body, E>,
) -> Result<Body, E> {
    let key = || {
        // Whose vertices they are.
        let meshes: Vec<(&str, usize)> = character.meshes.iter().map(|mesh| (mesh.name.as_str(), mesh.positions.len())).collect();
        let of_file = (&character.skeleton, meshes, weights);
        Key::of("body", BODY, &(&skin.mesh, skin.source_from_skin(), of_file, &settings.parts, settings.sim_vertices))
    };
    cache.derive(key, |known: &Body| known.is_of(skin), make)
}

/// The flesh of a simulation mesh.
pub(super) fn tissue<E>(
    cache: &Cache,
    sim: &SimMesh,
    skeleton: &Skeleton,
    weights: Option<&SkinWeights>,
    settings: &FleshSettings,
    make: impl FnOnce() -> Result<Tissue, E>,
) -> Result<Tissue, E> {
    // Factors on the parameters of bones are not part of the geometry.
    let structure = || -> Vec<_> {
        let said = settings.bones.iter().map(|(joint, bone)| (*joint, [bone.is_virtual, bone.held, bone.twist]));
        said.filter(|(_, flags)| flags.contains(&true)).collect()
    };
    let key = || Key::of("tissue", TISSUE, &(sim, skeleton, weights, structure(), &settings.radii));
    cache.derive(key, |known: &Tissue| known.is_of(sim), make)
}

/// How a fine mesh follows a coarse one.
pub(super) fn upsampling<E>(
    cache: &Cache,
    fine: &TriMesh,
    coarse: &TriMesh,
    settings: &Settings,
    make: impl FnOnce() -> Result<Upsampling, E>,
) -> Result<Upsampling, E> {
    let key = || Key::of("upsampling", UPSAMPLING, &(fine, coarse, settings));
    cache.derive(key, |known: &Upsampling| known.is_between(fine, coarse), make)
}
