//! Simulated flesh as a rig for game engines: helper joints and weights fitted to clips of a method.

mod keys;
mod measure;
mod simulate;

use std::path::Path;
use std::sync::Arc;

use self::keys::Keyed;
use self::measure::Measure;
use self::simulate::{Run, Skin, range_of};
use crate::character::HelperRig;
use crate::io::{
    IoError, UsdFormat, loses_materials, write_atomically, write_driven_glb, write_refitted_usd,
};
use crate::methods::Actor;
use crate::progress::Progress;
use crate::studio::{Motion, PlayError, Take};
use crate::weights::decomposition::{
    DecompositionError, DecompositionSettings, Residual, decompose,
};

/// Positions that are kept for the fit: 1.2 GB.
const MOST_POSITIONS: usize = 100_000_000;
/// Of the fit, joints take this part and morphs the rest.
const FITTING: f32 = 0.9;
/// Simulation takes this part of the time.
const SIMULATING: f32 = 0.5;

/// What to distill.
#[derive(Debug, Clone, PartialEq)]
pub struct DistillSettings {
    /// Helper joints and influences.
    pub fit: DecompositionSettings,
    /// Largest number of corrective morphs.
    pub morphs: usize,
    /// Clips to fit to, by index.
    pub fitted: Vec<usize>,
    /// Clips that are simulated only to measure the driven helpers.
    pub held_back: Vec<usize>,
    /// Frames per second of simulation and keys.
    pub fps: f64,
    /// Fit to the range of motion, too, each pose settled.
    pub range: bool,
}

/// Distances to the simulated skin in millimetres.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct ClipResidual {
    /// Name of the clip.
    pub clip: String,
    /// Number of frames.
    pub frames: usize,
    /// By linear blending with the weights to start from, without helpers.
    pub before: Residual,
    /// With the keys of this clip; none for a clip that was held back.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keyed: Option<Residual>,
    /// With helpers driven by the pose.
    pub driven: Residual,
}

/// What was fitted, and how well.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct DistillReport {
    /// Vertices of the skin.
    pub vertices: usize,
    /// Joints of the character.
    pub joints: usize,
    /// Joints that were added.
    pub helpers: usize,
    /// Corrective morphs that were added.
    pub morphs: usize,
    /// Most joints of a vertex.
    pub influences: usize,
    /// Poses of the range of motion that were fitted, too.
    pub range_poses: usize,
    /// The clips that were fitted.
    pub fitted: Vec<ClipResidual>,
    /// The clips that were held back.
    pub held_back: Vec<ClipResidual>,
}

impl ClipResidual {
    /// All frames of several clips together; none for no clips.
    #[must_use]
    pub fn together(name: &str, residuals: &[Self]) -> Option<Self> {
        let (first, rest) = residuals.split_first()?;
        let start = Self {
            clip: name.to_owned(),
            ..first.clone()
        };
        Some(rest.iter().fold(start, |sum, more| Self {
            clip: sum.clip,
            frames: sum.frames + more.frames,
            before: sum.before.with(&more.before),
            keyed: sum.keyed.zip(more.keyed).map(|(a, b)| a.with(&b)),
            driven: sum.driven.with(&more.driven),
        }))
    }
}

/// A rig, not yet written.
#[derive(Debug)]
pub struct Distilled {
    /// The character with helpers, weights and clips with keys of the helpers.
    pub rig: Arc<HelperRig>,
    /// How far it is from what was simulated.
    pub report: DistillReport,
    influences: usize,
}

/// Why nothing was distilled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DistillError {
    /// Nothing to key helpers in.
    #[error(
        "{character}: there are no clips to fit to; choose a clip, or add a motion (.bvh) to the character"
    )]
    NoClips {
        /// Name of the character.
        character: String,
    },
    /// Nothing to fit weights on.
    #[error("{character}: no skin is moved by joints, so there are no weights to fit")]
    NoSkin {
        /// Name of the character.
        character: String,
    },
    /// More than memory should hold.
    #[error(
        "{frames} frames of {vertices} vertices are too many to fit to; give fewer clips by --clip, or a lower --fps"
    )]
    TooMany {
        /// Number of frames.
        frames: usize,
        /// Vertices of the skin.
        vertices: usize,
    },
    /// A clip could not be simulated.
    #[error(transparent)]
    Play(#[from] PlayError<std::convert::Infallible>),
    /// The fit failed.
    #[error(transparent)]
    Fit(#[from] DecompositionError),
}

/// Simulates clips, fits helper joints and weights to some of them, and measures on all.
///
/// # Errors
/// [`DistillError`].
pub fn distill(
    actor: &mut Actor,
    settings: &DistillSettings,
    progress: &Progress,
) -> Result<Distilled, DistillError> {
    // Joints cannot do what morphs do; the rig keeps those.
    actor.leave_out_morphs();
    let subject = actor.subject().in_set_unit();
    let character = subject.character.clone();
    let name = || character.name.clone();
    if settings.fitted.is_empty() {
        return Err(DistillError::NoClips { character: name() });
    }
    let skin = Skin::of(&subject);
    if skin.bind.is_empty() || character.skeleton.is_empty() {
        return Err(DistillError::NoSkin { character: name() });
    }
    let takes: Vec<Take> = (settings.fitted.iter().chain(&settings.held_back))
        .map(|&clip| Take::whole(Motion::Clip(clip), &character, settings.fps))
        .collect();
    let (fitted, held_back) = takes.split_at(settings.fitted.len());
    let frames: usize = fitted.iter().map(Take::frame_count).sum();
    let vertices = skin.bind.len();
    if frames.saturating_mul(vertices) > MOST_POSITIONS {
        return Err(DistillError::TooMany { frames, vertices });
    }
    let range = if settings.range {
        range_of(&character.skeleton)
    } else {
        Vec::new()
    };
    let all: usize = takes.iter().map(Take::frame_count).sum::<usize>() + range.len();
    let per_frame = SIMULATING / all.max(1) as f32;
    let run = Run {
        character: &character,
        skin: &skin,
        per_frame,
        progress,
    };
    let simulated = run.simulate(actor, fitted, range)?;
    let from = simulated.len() as f32 * per_frame;
    let rest = 1.0 - SIMULATING;
    let mut found = decompose(
        &character.skeleton,
        &skin.bind,
        &skin.weights,
        &simulated,
        &settings.fit,
        &progress.part(from, from + rest * FITTING),
    )?;
    found.add_morphs(
        &skin.bind,
        &simulated,
        settings.morphs,
        &progress.part(from + rest * FITTING, from + rest),
    )?;
    let measure = Measure {
        character: &character,
        skin: &skin,
        found: &found,
    };
    let mut report = DistillReport {
        vertices,
        joints: character.skeleton.len(),
        helpers: found.drivers.len(),
        morphs: found.morphs.len(),
        influences: (0..vertices)
            .map(|v| found.weights.of(v).count())
            .max()
            .unwrap_or(0),
        range_poses: simulated.len() - frames,
        fitted: measure.fitted(&simulated, &settings.fitted, fitted),
        held_back: Vec::new(),
    };
    let mut done = from + rest;
    for (take, &clip) in held_back.iter().zip(&settings.held_back) {
        let to = done + take.frame_count() as f32 * per_frame;
        let residual = measure.held_back(actor, take, clip, &progress.part(done, to))?;
        report.held_back.push(residual);
        done = to;
    }
    let keyed = Keyed {
        character: &character,
        skin: &skin,
        found: &found,
        simulated: &simulated,
    };
    let (clips, weights) = keyed.clips(settings, fitted);
    let split = skin.split(&found.weights);
    let mut helped = character.with_helpers(&found.skeleton, &split, clips);
    let correctives = helped.add_correctives(&found, &skin.parts());
    keys::add_morph_tracks(&mut helped.clips, &correctives, weights);
    Ok(Distilled {
        rig: Arc::new(HelperRig {
            character: Arc::new(helped),
            decomposition: found,
            correctives,
        }),
        report,
        influences: settings.fit.influences,
    })
}

impl Distilled {
    /// Whether properties of materials are lost because props are attached to joints.
    #[must_use]
    pub fn loses_materials(&self) -> bool {
        loses_materials(&self.rig.character)
    }

    /// Writes the rig as `.glb`, in metres or in the units of the source, or as USD by the extension.
    ///
    /// # Errors
    /// [`IoError::Write`]. A file that could not be completed is removed.
    pub fn write(&self, path: &Path, keep_units: bool) -> Result<(), IoError> {
        let mut character = self.rig.character.clone();
        if let Some(format) = UsdFormat::of_path(path) {
            return write_refitted_usd(path, format, &character, &[], self.influences, &[])
                .map(|_| ());
        }
        if keep_units {
            Arc::make_mut(&mut character).declared_metres_per_unit = Some(1.0);
        }
        let drivers = self.rig.decomposition.driver_records();
        let written = write_driven_glb(&character, self.influences, &drivers);
        let bytes = written.map_err(|error| IoError::Write {
            file: path.display().to_string(),
            source: std::io::Error::other(error),
        })?;
        write_atomically(path, |out| std::io::Write::write_all(out, &bytes))
    }
}

#[cfg(test)]
mod tests;
