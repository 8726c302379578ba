//! What of a subject is kept between runs, and what it depends on.
//!
//! Every function takes the inputs of one stage and the stage itself, `make`, which is called if nothing is known for these inputs. To keep
//! another stage: make its result serialisable, add a function here with all its inputs in the key, and raise its version whenever it
//! makes something else of the same inputs.

use crate::cache::{Cache, Key};
use crate::character::FleshSettings;
use crate::mesh::{SimMesh, TriMesh};
use crate::rig::Skeleton;
use crate::tissue::Tissue;
use crate::upsample::{Settings, Upsampling};
use crate::weights::SkinWeights;

const SIMULATION_MESH: u32 = 1;
const TISSUE: u32 = 1;
const UPSAMPLING: u32 = 1;

/// The skin decimated to about so many vertices, finer around the joints that move it.
pub(super) fn simulation_mesh<E>(
    cache: &Cache,
    skin: &TriMesh,
    skeleton: &Skeleton,
    weights: Option<&SkinWeights>,
    target_vertices: usize,
    make: impl FnOnce() -> Result<SimMesh, E>,
) -> Result<SimMesh, E> {
    let key = || Key::of("simulation mesh", SIMULATION_MESH, &(skin, skeleton, weights, target_vertices));
    cache.derive(key, |known: &SimMesh| known.is_of(skin), make)
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

/// How a skin follows its simulation mesh.
pub(super) fn upsampling<E>(
    cache: &Cache,
    skin: &TriMesh,
    sim: &TriMesh,
    settings: &Settings,
    make: impl FnOnce() -> Result<Upsampling, E>,
) -> Result<Upsampling, E> {
    let key = || Key::of("upsampling", UPSAMPLING, &(skin, sim, settings));
    cache.derive(key, |known: &Upsampling| known.is_between(skin, sim), make)
}
