//! Delta mush: another method's result smoothed, with the detail that smoothing removes from the bind pose added back.
//!
//! Mancewicz, Derksen, Rijpkema, Wilson, "Delta Mush: Smoothing Deformations While Preserving Detail", `DigiPro` 2014. At bind and per
//! frame, with x from another method:
//!
//! ```text
//! s̄ = S v̄,   δ_i = F̄_iᵀ (v̄_i − s̄_i);        s' = S x,   v'_i = s'_i + F'_i δ_i
//! ```
//!
//! | paper       | here                | shape | unit   | note                                                                |
//! |-------------|---------------------|-------|--------|---------------------------------------------------------------------|
//! | S           | [`Smoother`]        | n × n | –      | `(M + L_τ)⁻¹ M`, τ = (c r)², or passes of averaging with neighbours |
//! | F'_i `F̄_iᵀ` | [`Frames::restore`] | 3 × 3 | –      | one rotation from bind to pose                                      |
//! | v̄ − s̄       | `deltas`            | n × 3 | length |                                                                     |
//!
//! # Departures
//! - One implicit step instead of passes: the reach is a length, in radii of the limb, and the result does not depend on the resolution of
//!   the mesh. *Passes* gives the paper's smoothing, with a factor of ½.
//! - The rotation is the one closest to `Σ_j k_ij e'_ij ē_ijᵀ + n' n̄ᵀ` over all edges and the normal of a vertex, instead of frames on one
//!   edge: it stays steady where that edge has no length or is parallel to the normal.
//! - Border vertices are pinned by a switch.
//! - Joints that scale: the detail is stretched by the blend S of their stretches before it is turned, and the rotation is the one
//!   closest to that matrix times S. S = 1 is the paper's method.
//!
//! Shells of the skin that do not share vertices do not influence each other.

mod frames;
mod options;
mod rings;
mod smoother;
#[cfg(test)]
mod tests;

use std::sync::{Arc, Mutex, PoisonError};

use frames::{Frames, Posed};
use options::{Options, PARAMS};
use rings::rings;
use smoother::{Smoother, pinned};

use super::blend_normals::{ByEdges, WithNormals};
use super::registry::{BindInput, Descriptor, MethodId, Requirement};
use super::smoothing::{BindJoints, Padded, Sources, Surface, limb_radii};
use super::{BindError, Frame, SkinError, Skinner, Subject};
use crate::dynamics::Params;
use crate::math::{Point, Point64};
use crate::methods::Term;
use crate::methods::explain::length;
use crate::param::ParamValues;
use crate::progress::Progress;

impl MethodId {
    /// Delta mush.
    pub const DELTA_MUSH: Self = METHOD;
}

pub(super) const METHOD: MethodId = MethodId::of(&Descriptor {
    id: "delta-mush",
    label: "Delta mush",
    short_label: "Delta mush",
    doc: "Smooths the result of a simpler method and adds the skin's detail back. Forgives rough weights.",
    cost: "2 ms",
    source: "Mancewicz, Derksen, Rijpkema, Wilson, Delta Mush: Smoothing Deformations While Preserving Detail, DigiPro 2014",
    departures: &[
        "One implicit step whose reach is in limb radii instead of passes, which count edges.",
        "The turn of the detail is fitted to all edges of a vertex and its normal.",
        "Detail stretches with joints that scale.",
    ],
    needs: &[Requirement::Weights],
    capabilities: &[],
    params: PARAMS,
    bind: |input| {
        let options = Options::of(input.values);
        let progress = input.progress.part(0.1, 1.0);
        let skinner = DeltaMush::bind(input.subject, options, &progress)?;
        let skinner = ByEdges::new(skinner, input.subject, input.subject.skin_weights());
        Ok(Box::new(WithNormals::bind(skinner, input)?))
    },
});

/// All of a character, bound.
struct DeltaMush {
    subject: Arc<Subject>,
    options: Options,
    /// Never locked: a mutex makes what is only [`Send`] shareable, so that normals can be read from several threads.
    over: Mutex<Box<dyn Skinner>>,
    sources: Sources,
    /// The first source vertex of every vertex of the skin.
    source_from_skin: Vec<u32>,
    smoother: Smoother,
    frames: Frames,
    joints: BindJoints,
    /// Positions of the skin before and after smoothing, relative to the origin of `joints`, and at the end.
    positions: Vec<Padded>,
    smoothed: Vec<Padded>,
    skin: Vec<Point>,
}

impl DeltaMush {
    fn bind(
        subject: &Arc<Subject>,
        options: Options,
        progress: &Progress,
    ) -> Result<Self, BindError> {
        let (mesh, weights) = (&subject.skin.mesh, subject.skin_weights());
        let skeleton = &subject.character.skeleton;
        progress.report(0.0, "Factoring the skin");
        let surface = Surface::of(mesh);
        let radii = limb_radii(&surface, skeleton, weights)?;
        progress.check()?;
        let mut smoother = Smoother::of(&surface, &radii, pinned(mesh, &options), options.form)?;
        progress.check()?;
        let padded = |p: &Point64| [p.x as f32, p.y as f32, p.z as f32, 0.0];
        let bind: Vec<Padded> = surface.positions.iter().map(padded).collect();
        let mut smoothed = bind.clone();
        smoother.smooth(&bind, &mut smoothed);
        let frames = Frames::of(mesh, &rings(&surface), &bind, &smoothed);
        let over = bound(options.over, subject, progress)?;
        Ok(Self {
            options,
            over: Mutex::new(over),
            sources: Sources::of(subject, weights),
            source_from_skin: subject.skin.source_from_skin(),
            smoother,
            frames,
            joints: BindJoints::new(skeleton, &surface.center, weights),
            positions: bind,
            smoothed,
            skin: mesh.positions.clone(),
            subject: subject.clone(),
        })
    }
}

/// A method with the defaults of its parameters, without normals of its own.
fn bound(
    method: MethodId,
    subject: &Arc<Subject>,
    progress: &Progress,
) -> Result<Box<dyn Skinner>, BindError> {
    let Descriptor { params, bind, .. } = method.descriptor();
    let mut values = ParamValues::default();
    // Methods without this parameter have no normals of their own.
    let _ = values.set_text(params, "normals", "triangles");
    bind(&BindInput {
        subject,
        physics: &Params::default(),
        values: &values,
        normals: &[],
        progress,
    })
}

impl Skinner for DeltaMush {
    fn skin(&mut self, frame: &Frame<'_>, out: &mut [Point]) -> Result<(), SkinError> {
        let over = self.over.get_mut().unwrap_or_else(PoisonError::into_inner);
        over.skin(frame, out)?;
        self.joints.update(frame.world_from_joint);
        let origin = self.joints.origin;
        for (position, &source) in self.positions.iter_mut().zip(&self.source_from_skin) {
            let Some(at) = out.get(source as usize) else {
                continue;
            };
            let at = at.cast::<f64>() - origin;
            let finite = at.iter().all(|c| c.is_finite());
            *position = if finite {
                [at.x as f32, at.y as f32, at.z as f32, 0.0]
            } else {
                [0.0; 4]
            };
        }
        self.smoother.smooth(&self.positions, &mut self.smoothed);
        let posed = Posed {
            smoothed: &self.smoothed,
            origin,
            joints: &self.joints,
            weights: self.subject.skin_weights(),
        };
        self.frames.restore(&posed, &mut self.skin);
        self.sources.copy(&self.skin, out);
        Ok(())
    }

    fn explain(&self, vertex: usize) -> Vec<Term> {
        let skin = self.subject.skin.skin_from_source.get(vertex);
        let Some(skin) = skin.copied().flatten().map(|skin| skin as usize) else {
            return Vec::new();
        };
        let at = |relative: &Padded| {
            let [x, y, z, _] = relative.map(f64::from);
            (self.joints.origin + crate::math::Vec64::new(x, y, z)).cast::<f32>()
        };
        let (before, smoothed) = (at(&self.positions[skin]), at(&self.smoothed[skin]));
        vec![
            Term::new(
                "moved_by_mush",
                "Moved from the method below",
                length(&before, &self.skin[skin]),
                "Distance between where the method below put the vertex and where it is after smoothing and restoring detail.",
            ),
            Term::new(
                "detail",
                "Detail put back",
                length(&smoothed, &self.skin[skin]),
                "Distance from the smoothed skin to the vertex: what smoothing removed at rest and the turned frame puts back.",
            ),
        ]
    }

    fn set_values(&mut self, values: &ParamValues) -> Result<(), BindError> {
        let options = Options::of(values);
        if options != self.options {
            *self = Self::bind(&self.subject.clone(), options, &Progress::new())?;
        }
        Ok(())
    }
}
