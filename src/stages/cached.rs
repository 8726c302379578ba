//! Stages in the cache: the key of each, and a check that a cached value fits its inputs.
//!
//! Each function takes the inputs of one stage and the computation, which runs if the cache has no entry for these inputs. The key
//! contains all inputs; increase the version of a stage whenever its result for the same inputs changes.
//!
//! The welded skin and the assembled system are not cached: computing either takes no longer than reading it.

use super::body::Body;
use crate::cache::{Cache, CacheKey};
use crate::character::{Character, FleshSettings, PartMap};
use crate::mesh::{SimMesh, SkinMesh, TriMesh};
use crate::rig::Skeleton;
use crate::tissue::Tissue;
use crate::upsample::{Upsampling, UpsamplingSettings};
use crate::weights::elastic::{self, ElasticFields};
use crate::weights::{ComputedWeights, SkinWeights, WeightMethod};

const BODY: u32 = 2;
const SIM: u32 = 1;
const TISSUE: u32 = 3;
const UPSAMPLING: u32 = 1;

/// Weights of the skin by a weight method.
pub(super) fn weights<E>(
    cache: &Cache,
    method: WeightMethod,
    mesh: &TriMesh,
    skeleton: &Skeleton,
    make: impl FnOnce() -> Result<ComputedWeights, E>,
) -> Result<ComputedWeights, E> {
    let version = method.descriptor().version;
    // The id of a transfer says where its source is, not what is in it.
    let key = || {
        let inputs = (method.id(), method.transfer_source(), mesh, skeleton);
        CacheKey::of("weights", version, &inputs)
    };
    let fits = |known: &ComputedWeights| known.weights.len() == mesh.positions.len();
    cache.derive(key, fits, make)
}

/// The elastic fields of a skin, at a resolution.
pub(super) fn elastic_fields<E>(
    cache: &Cache,
    mesh: &TriMesh,
    skeleton: &Skeleton,
    resolution: u32,
    make: impl FnOnce() -> Result<ElasticFields, E>,
) -> Result<ElasticFields, E> {
    let key = || {
        let inputs = (mesh, skeleton, resolution);
        CacheKey::of("elastic fields", elastic::VERSION, &inputs)
    };
    let fits = |known: &ElasticFields| known.offsets.len() == mesh.positions.len() + 1;
    cache.derive(key, fits, make)
}

/// The parts of a skin.
pub(super) fn body<E>(
    cache: &Cache,
    character: &Character,
    skin: &SkinMesh,
    weights: Option<&SkinWeights>,
    parts: &PartMap,
    make: impl FnOnce() -> Result<Body, E>,
) -> Result<Body, E> {
    let key = || {
        // The source mesh of each vertex is an input.
        let meshes: Vec<(&str, usize)> = character
            .meshes
            .iter()
            .map(|mesh| (mesh.name.as_str(), mesh.positions.len()))
            .collect();
        let of_file = (&character.skeleton, meshes, weights);
        let skin = (&skin.mesh, skin.source_from_skin());
        CacheKey::of("body", BODY, &(skin, of_file, parts))
    };
    cache.derive(key, |known: &Body| known.is_of(skin), make)
}

/// The flesh, decimated to the simulation mesh.
pub(super) fn sim<E>(
    cache: &Cache,
    body: &Body,
    skeleton: &Skeleton,
    weights: Option<&SkinWeights>,
    target_vertices: usize,
    skin: &SkinMesh,
    make: impl FnOnce() -> Result<SimMesh, E>,
) -> Result<SimMesh, E> {
    let key = || {
        let flesh = (&body.flesh, &body.skin_from_flesh);
        let inputs = (flesh, skeleton, weights, target_vertices);
        CacheKey::of("simulation mesh", SIM, &inputs)
    };
    cache.derive(key, |known: &SimMesh| known.is_of(&skin.mesh), make)
}

/// The tissue of a simulation mesh.
pub(super) fn tissue<E>(
    cache: &Cache,
    sim: &SimMesh,
    skeleton: &Skeleton,
    weights: Option<&SkinWeights>,
    (settings, thickness): (&FleshSettings, Option<&[f32]>),
    make: impl FnOnce() -> Result<Tissue, E>,
) -> Result<Tissue, E> {
    // Factors on the parameters of bones are not part of the geometry.
    let structure = || -> Vec<_> {
        let flags = settings
            .bones
            .iter()
            .map(|(joint, bone)| (*joint, [bone.is_virtual, bone.held, bone.twist]));
        flags.filter(|(_, flags)| flags.contains(&true)).collect()
    };
    let key = || {
        let inputs = (
            sim,
            skeleton,
            weights,
            structure(),
            &settings.radii,
            settings.base,
        );
        match thickness {
            Some(thickness) => CacheKey::of("painted tissue", TISSUE, &(inputs, thickness)),
            None => CacheKey::of("tissue", TISSUE, &inputs),
        }
    };
    cache.derive(key, |known: &Tissue| known.is_of(sim), make)
}

/// The upsampling from a coarse mesh to a fine one.
pub(super) fn upsampling<E>(
    cache: &Cache,
    fine: &TriMesh,
    coarse: &TriMesh,
    settings: &UpsamplingSettings,
    make: impl FnOnce() -> Result<Upsampling, E>,
) -> Result<Upsampling, E> {
    let key = || CacheKey::of("upsampling", UPSAMPLING, &(fine, coarse, settings));
    cache.derive(
        key,
        |known: &Upsampling| known.is_between(fine, coarse),
        make,
    )
}
