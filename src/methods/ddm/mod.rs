//! Direct delta mush: skinning by weights that were smoothed together with the positions they move.
//!
//! Le, Lewis, "Direct Delta Mush Skinning and Variants", SIGGRAPH 2019. At bind, with u = (v̄, 1):
//!
//! ```text
//! Ψ_ij = Σ_k b_ki w_kj u_k u_kᵀ,   (p_i, 1) = last column of Σ_j Ψ_ij,   w'_ij = Σ_k c_ki w_kj
//! Ω_ij = (1 − α) Ψ_ij + α w'_ij [ p_i p_iᵀ, p_i; p_iᵀ, 1 ]
//! ```
//! Per frame, for every vertex:
//!
//! ```text
//! Σ_j M_j Ω_ij = [ Q, q; pᵀ, 1 ],   R = rotation closest to Q − q pᵀ,   v' = R v̄ + q − R p
//! ```
//!
//! | paper     | here                    | shape           | unit          | note                                      |
//! |-----------|-------------------------|-----------------|---------------|-------------------------------------------|
//! | B, C      | `Powers` in `omega.rs`  | n × n           | –             | p implicit steps; only ever applied       |
//! | λ, κ      | [`Form`](options::Form) | 1               | limb radii    | reach of rotations, of translations       |
//! | α         | `Options::translation`  | 1               | –             |                                           |
//! | p (power) | `STEPS`                 | 1               | –             |                                           |
//! | `Ω_ij`    | `Omegas::matrices`      | 4 × 4 symmetric | local lengths | ten numbers an influence                  |
//! | `p_i`     | `VertexRest::offset`    | 3               | local lengths | relative to `v̄_i`                         |
//! | `M_j`     | [`BindJoints`]          | 3 × 4           | –, length     | relative to the bind pose of the skeleton |
//!
//! # Departures
//! - The smoothing is `(M + L_τ) y = M x`, p times, with τ = (c r)²/p and r the thickness of the limb ([`super::smoothing`]): it reaches
//!   equally far on meshes of every resolution. *Count edges* gives the paper's `(D + λ L) y = D x` with the paper's numbers.
//! - Systems are symmetric positive definite, so that rows of B and C sum to 1 and the bind pose is exact.
//! - Coordinates of Ω are relative to the vertex and in units of the deviation of its neighbourhood: `f32` is enough, wherever the
//!   character is and however large.
//! - Every vertex counts as a small ball instead of a point: the closest rotation is then unique on flat and on isolated parts.
//! - Of the influences of a vertex the eight largest are kept, faded out so that none jumps, and what the others had is shared by them:
//!   `Σ_j` `Ω_ij` stays what it was.
//! - Joints that scale: with `M_j` = `R_j` `S_j` and S the blend of the `S_j` by the smoothed weights, the skin is stretched by S before it is
//!   turned: R = rotation closest to (Q − q pᵀ) S, v' = R S (v̄ − p) + q. So what is smoothed and what is added back stretch alike
//!   ("Enhanced Direct Delta Mush", 2021). S = 1 is the paper's method.

mod fields;
mod frame;
mod moments;
mod omega;
mod on_device;
mod options;
#[cfg(test)]
mod tests;

use std::sync::Arc;

use frame::move_skin;
use omega::Omegas;
use options::{Options, PARAMS};

use super::blend_normals::{ByEdges, WithNormals};
use super::direct::{Direct, HasRecipe};
use super::registry::{Capability, Descriptor, MethodId, Requirement};
use super::smoothing::{BindJoints, Sources, Surface, bridges, limb_radii};
use super::{BindError, Frame, Recipe, SkinError, Skinner, Subject};
use crate::cache::CacheKey;
use crate::math::Point;
use crate::mesh::NormalGroups;
use crate::param::ParamValues;
use crate::progress::Progress;

/// Version of Ω in the cache: increased when it changes for the same inputs.
const VERSION: u32 = 1;

impl MethodId {
    /// Direct delta mush.
    pub const DDM: Self = METHOD;
}

pub(super) const METHOD: MethodId = MethodId::of(&Descriptor {
    id: "ddm",
    label: "Direct delta mush",
    short_label: "DDM",
    doc: "Blends joints smoothed over the skin. Smooth even with rough weights; keeps more volume than linear blending.",
    cost: "1 ms",
    source: "Le, Lewis, Direct Delta Mush Skinning and Variants, SIGGRAPH 2019",
    departures: &[
        "Reaches are in limb radii instead of edges, so that the resolution of the mesh does not matter.",
        "The eight largest influences of a vertex are kept; the rest position stays exact.",
        "Skin stretches with joints that scale.",
    ],
    needs: &[Requirement::Weights],
    capabilities: &[Capability::Device],
    params: PARAMS,
    bind: |input| {
        let options = Options::of(input.values);
        let progress = input.progress.part(0.1, 1.0);
        let skinner = DirectDeltaMush::bind(input.subject, options, &progress)?;
        let skinner = ByEdges::new(skinner, input.subject, input.subject.skin_weights());
        Ok(Box::new(Direct::new(WithNormals::bind(skinner, input)?)))
    },
});

/// All of a character, bound.
struct DirectDeltaMush {
    subject: Arc<Subject>,
    options: Options,
    omegas: Omegas,
    /// Number of changes of Ω.
    revision: u64,
    joints: BindJoints,
    sources: Sources,
    skin: Vec<Point>,
}

impl DirectDeltaMush {
    fn bind(
        subject: &Arc<Subject>,
        options: Options,
        progress: &Progress,
    ) -> Result<Self, BindError> {
        let (mesh, weights) = (&subject.skin.mesh, subject.skin_weights());
        let skeleton = &subject.character.skeleton;
        let omegas = omegas_of(subject, &options, progress)?;
        let center = mesh.bounds().center().cast();
        Ok(Self {
            options,
            omegas,
            revision: 0,
            joints: BindJoints::new(skeleton, &center, weights),
            sources: Sources::of(subject, weights),
            skin: mesh.positions.clone(),
            subject: subject.clone(),
        })
    }
}

/// Ω of the skin of a character, from the cache or computed.
fn omegas_of(
    subject: &Subject,
    options: &Options,
    progress: &Progress,
) -> Result<Omegas, BindError> {
    let (mesh, skeleton) = (&subject.skin.mesh, &subject.character.skeleton);
    let key = || {
        let inputs = (mesh, skeleton, subject.skin_weights(), options);
        CacheKey::of("direct delta mush", VERSION, &inputs)
    };
    let fits = |known: &Omegas| known.fits(mesh.positions.len(), skeleton.len());
    let compute = || computed(subject, options, progress);
    subject.cache().derive(key, fits, compute)
}

fn computed(
    subject: &Subject,
    options: &Options,
    progress: &Progress,
) -> Result<Omegas, BindError> {
    let (mesh, weights) = (&subject.skin.mesh, subject.skin_weights());
    let mut surface = Surface::of(mesh);
    let radii = limb_radii(&surface, &subject.character.skeleton, weights)?;
    progress.check()?;
    let joined = bridges(&surface, mesh, progress)?;
    surface.edges.extend(joined);
    Omegas::of(&surface, &radii, weights, options, progress)
}

impl Skinner for DirectDeltaMush {
    fn skin(&mut self, frame: &Frame<'_>, out: &mut [Point]) -> Result<(), SkinError> {
        self.sources.place_others(frame, out)?;
        self.joints.update(frame.world_from_joint);
        move_skin(&self.omegas, &self.joints, &mut self.skin);
        self.sources.copy(&self.skin, out);
        Ok(())
    }

    fn set_values(&mut self, values: &ParamValues) -> Result<(), BindError> {
        let options = Options::of(values);
        if options != self.options {
            self.omegas = omegas_of(&self.subject, &options, &Progress::new())?;
            self.options = options;
            self.revision += 1;
        }
        Ok(())
    }
}

impl HasRecipe for DirectDeltaMush {
    fn recipe(&self, subject: &Subject, groups: &NormalGroups) -> Recipe {
        Recipe::of_joints(subject, groups, |recipe| self.fill(recipe, subject))
    }

    fn revision(&self) -> u64 {
        self.revision
    }
}
