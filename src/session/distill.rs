//! Simulated flesh as a rig for game engines: helper joints and weights fitted to clips of a method.

mod fit;
mod kept;
mod keys;
mod measure;
mod simulate;
mod springs;

use std::path::Path;
use std::sync::Arc;

pub(in crate::session) use self::fit::{KeptFit, Made, RigToKeep};
pub use self::kept::{KeptRig, RestoreError};
use self::keys::{FittedKeys, Keyed};
use self::measure::Measure;
use self::simulate::{Run, Skin, range_of};
use self::springs::{Jolt, Swinging};
use crate::character::{Character, HelperRig};
use crate::io::{
    IoError, UsdFormat, loses_materials, write_atomically, write_driven_glb, write_refitted_usd,
};
use crate::methods::{Actor, Subject};
use crate::progress::Progress;
use crate::studio::{Motion, PlayError, Take};
use crate::weights::decomposition::{
    Decomposition, DecompositionError, DecompositionSettings, Residual, SimulatedFrame, Spring,
    SpringReport, decompose,
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
    /// Add spring bones to helpers whose flesh swings.
    pub springs: bool,
}

/// Distances to the simulated skin in millimetres.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct ClipResidual {
    /// Name of the clip.
    pub clip: String,
    /// Number of frames.
    pub frames: usize,
    /// By linear blending with the weights to start from, without helpers.
    pub before: Residual,
    /// With the keys of this clip, and the springs; none for a clip that was held back.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keyed: Option<Residual>,
    /// With helpers driven by the pose, of a rig without springs.
    pub driven: Residual,
    /// With helpers driven by the pose, and the springs; none without springs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sprung: Option<Residual>,
}

/// What was fitted, and how well.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
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
    /// What was found about the flesh of each helper, if springs were asked for.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub springs: Vec<SpringReport>,
    /// The clips that were fitted.
    pub fitted: Vec<ClipResidual>,
    /// The clips that were held back.
    pub held_back: Vec<ClipResidual>,
    /// The sudden stops that springs were fitted to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stops: Option<ClipResidual>,
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
            sprung: sum.sprung.zip(more.sprung).map(|(a, b)| a.with(&b)),
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
    /// Of the clips that were fitted.
    keys: Vec<FittedKeys>,
    /// Frames per second of the keys.
    fps: f64,
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
    let skin = skin_of(&subject, settings)?;
    let takes: Vec<Take> = (settings.fitted.iter().chain(&settings.held_back))
        .map(|&clip| Take::whole(Motion::Clip(clip), &character, settings.fps))
        .collect();
    let (fitted, held_back) = takes.split_at(settings.fitted.len());
    let frames: usize = fitted.iter().map(Take::frame_count).sum();
    let jolted = if settings.springs {
        springs::JOLT_FRAMES
    } else {
        0
    };
    let vertices = skin.bind.len();
    if (frames + jolted).saturating_mul(vertices) > MOST_POSITIONS {
        return Err(DistillError::TooMany { frames, vertices });
    }
    let range = if settings.range {
        range_of(&character.skeleton)
    } else {
        Vec::new()
    };
    let all: usize = takes.iter().map(Take::frame_count).sum::<usize>() + range.len() + jolted;
    let per_frame = SIMULATING / all.max(1) as f32;
    let run = Run {
        character: &character,
        skin: &skin,
        per_frame,
        progress,
    };
    let simulated = run.simulate(actor, fitted, range)?;
    let jolts = if settings.springs {
        run.jolts(actor, simulated.len())?
    } else {
        Vec::new()
    };
    let from = (simulated.len() + jolted) as f32 * per_frame;
    let mut done = from + 1.0 - SIMULATING;
    let moved = Moved {
        character: &character,
        skin: &skin,
        simulated: &simulated,
        fitted,
        jolts: &jolts,
    };
    let Fitted {
        found,
        without_springs,
        swinging,
    } = moved.fit(settings, &progress.part(from, done))?;
    let measure = Measure {
        character: &character,
        skin: &skin,
        found: &found,
        without_springs: without_springs.as_ref().unwrap_or(&found),
        swinging: &swinging,
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
        springs: swinging.reports.clone(),
        fitted: measure.fitted(&simulated, &settings.fitted, fitted),
        held_back: Vec::new(),
        stops: measure.stops(&jolts),
    };
    for (take, &clip) in held_back.iter().zip(&settings.held_back) {
        let to = done + take.frame_count() as f32 * per_frame;
        let residual = measure.held_back(actor, take, clip, &progress.part(done, to))?;
        report.held_back.push(residual);
        done = to;
    }
    let of = (&found, &swinging);
    let keys = FittedKeys::of(of, &skin, &simulated, &settings.fitted, fitted);
    let of = (&*character, &skin);
    let rig = rig_of(of, found, swinging.springs, &keys, settings.fps)?;
    Ok(Distilled {
        rig: Arc::new(rig),
        report,
        influences: settings.fit.influences,
        keys,
        fps: settings.fps,
    })
}

/// The character with what was fitted.
fn rig_of(
    (character, skin): (&Character, &Skin),
    found: Decomposition,
    springs: Vec<Spring>,
    fitted: &[FittedKeys],
    fps: f64,
) -> Result<HelperRig, DecompositionError> {
    let keyed = Keyed {
        character,
        skin,
        found: &found,
        springs: &springs,
        fitted,
        fps,
    };
    let (helped, correctives) = keyed.helped()?;
    Ok(HelperRig {
        character: Arc::new(helped),
        decomposition: found,
        correctives,
        springs,
    })
}

/// The skin, if there is something to fit.
fn skin_of(subject: &Subject, settings: &DistillSettings) -> Result<Skin, DistillError> {
    let character = &subject.character;
    let name = || character.name.clone();
    if settings.fitted.is_empty() {
        return Err(DistillError::NoClips { character: name() });
    }
    let skin = Skin::of(subject);
    if skin.bind.is_empty() || character.skeleton.is_empty() {
        return Err(DistillError::NoSkin { character: name() });
    }
    Ok(skin)
}

/// What was simulated.
struct Moved<'a> {
    character: &'a Character,
    skin: &'a Skin,
    simulated: &'a [SimulatedFrame],
    /// The clips that come first.
    fitted: &'a [Take],
    jolts: &'a [Jolt],
}

/// What was fitted.
struct Fitted {
    found: Decomposition,
    /// As it is without springs, if there are some.
    without_springs: Option<Decomposition>,
    swinging: Swinging,
}

impl Moved<'_> {
    fn fit(&self, settings: &DistillSettings, progress: &Progress) -> Result<Fitted, DistillError> {
        let Self {
            character,
            skin,
            simulated,
            ..
        } = self;
        let first = progress.part(0.0, FITTING);
        let (bind, weights) = (&skin.bind, &skin.weights);
        let skeleton = &character.skeleton;
        let mut found = decompose(skeleton, bind, weights, simulated, &settings.fit, &first)?;
        let last = progress.part(FITTING, 1.0);
        let before = settings.springs.then(|| found.clone());
        let clips = (*simulated, self.fitted);
        let of = (self.character, self.skin);
        let swinging = Swinging::fit(&mut found, of, clips, self.jolts, &last)?;
        let mut without_springs = before.filter(|_| !swinging.springs.is_empty());
        for found in std::iter::once(&mut found).chain(&mut without_springs) {
            found.add_morphs(bind, simulated, settings.morphs, &last)?;
        }
        Ok(Fitted {
            found,
            without_springs,
            swinging,
        })
    }
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
            if !self.rig.springs.is_empty() {
                return Err(refused(
                    path,
                    "springs are written as .glb; name the file so",
                ));
            }
            return write_refitted_usd(path, format, &character, &[], self.influences, &[])
                .map(|_| ());
        }
        if keep_units {
            Arc::make_mut(&mut character).declared_metres_per_unit = Some(1.0);
        }
        let drivers = self.rig.decomposition.driver_records();
        let springs = self.rig.spring_joints();
        let written = write_driven_glb(&character, self.influences, &drivers, &springs);
        let bytes = written.map_err(|error| refused(path, error))?;
        write_atomically(path, |out| std::io::Write::write_all(out, &bytes))
    }
}

fn refused(path: &Path, why: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> IoError {
    IoError::Write {
        file: path.display().to_string(),
        source: std::io::Error::other(why),
    }
}

#[cfg(test)]
mod tests;
