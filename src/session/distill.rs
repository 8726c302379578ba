//! Simulated flesh as a rig for game engines: helper joints and weights fitted to clips of a method.

use std::ops::Range;
use std::path::Path;

use crate::character::Character;
use crate::io::{IoError, loses_materials, write_atomically, write_rigged_glb};
use crate::math::Point;
use crate::methods::{Actor, Subject};
use crate::progress::Progress;
use crate::rig::{Channel, Clip, Curve, Pose, Track};
use crate::studio::{Motion, PlayError, Take};
use crate::weights::SkinWeights;
use crate::weights::decomposition::{
    Decomposition, DecompositionError, DecompositionSettings, Residual, SimulatedFrame, decompose,
};

/// Positions that are kept for the fit: 1.2 GB.
const MOST_POSITIONS: usize = 100_000_000;
/// Simulation takes this part of the time.
const SIMULATING: f32 = 0.5;

/// What to distill.
#[derive(Debug, Clone, PartialEq)]
pub struct DistillSettings {
    /// Helper joints and influences.
    pub fit: DecompositionSettings,
    /// Clips to fit to, by index.
    pub fitted: Vec<usize>,
    /// Clips that are simulated only to measure the driven helpers.
    pub held_back: Vec<usize>,
    /// Frames per second of simulation and keys.
    pub fps: f64,
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
    /// Most joints of a vertex.
    pub influences: usize,
    /// The clips that were fitted.
    pub fitted: Vec<ClipResidual>,
    /// The clips that were held back.
    pub held_back: Vec<ClipResidual>,
}

/// A rig, not yet written.
#[derive(Debug)]
pub struct Distilled {
    /// The character with helpers, weights and clips with keys of the helpers.
    pub character: Character,
    /// How far it is from what was simulated.
    pub report: DistillReport,
    influences: usize,
}

/// Why nothing was distilled.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DistillError {
    /// Nothing to key helpers in.
    #[error("{character}: there are no clips to fit to; give a motion (.bvh) after the character")]
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

/// The skin of all meshes that joints move.
struct Skin {
    /// Vertices of each mesh; `None` for props.
    parts: Vec<Option<Range<usize>>>,
    bind: Vec<Point>,
    weights: SkinWeights,
}

impl Skin {
    fn of(subject: &Subject) -> Self {
        let (mut parts, mut bind, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        let mut first = 0;
        for (index, mesh) in subject.character.meshes.iter().enumerate() {
            let own = first..first + mesh.positions.len();
            first = own.end;
            let weights = subject.weights_of_mesh(index);
            let weights = weights.filter(|_| mesh.is_skin());
            parts.push(weights.map(|weights| {
                bind.extend_from_slice(&subject.bind_positions[own.clone()]);
                rows.extend((0..weights.len()).map(|vertex| weights.row(vertex)));
                own
            }));
        }
        let weights = SkinWeights::from_rows(rows).0;
        Self {
            parts,
            bind,
            weights,
        }
    }

    /// The positions of the skin among those of all meshes.
    fn positions(&self, all: &[Point]) -> Vec<Point> {
        let parts = self.parts.iter().flatten();
        parts.flat_map(|part| &all[part.clone()]).copied().collect()
    }

    /// Weights of the skin, mesh by mesh.
    fn split(&self, weights: &SkinWeights) -> Vec<Option<SkinWeights>> {
        let mut first = 0;
        let own = |part: &Option<Range<usize>>| {
            let vertices = first..first + part.as_ref()?.len();
            first = vertices.end;
            Some(SkinWeights::from_rows(vertices.map(|vertex| weights.row(vertex))).0)
        };
        self.parts.iter().map(own).collect()
    }
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
    let subject = actor.subject().clone();
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
    let all: usize = takes.iter().map(Take::frame_count).sum();
    let per_frame = SIMULATING / all.max(1) as f32;
    let mut simulated: Vec<SimulatedFrame> = Vec::with_capacity(frames);
    for take in fitted {
        let from = simulated.len() as f32 * per_frame;
        let part = progress.part(from, from + take.frame_count() as f32 * per_frame);
        take.play(actor, &part, |frame, actor| {
            simulated.push(SimulatedFrame {
                pose: take.motion.pose_at(&character, take.time_of(frame)),
                positions: skin.positions(actor.positions()),
            });
            Ok(())
        })?;
    }
    let from = frames as f32 * per_frame;
    let rest = 1.0 - SIMULATING;
    let found = decompose(
        &character.skeleton,
        &skin.bind,
        &skin.weights,
        &simulated,
        &settings.fit,
        &progress.part(from, from + rest),
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
        influences: (0..vertices)
            .map(|v| found.weights.of(v).count())
            .max()
            .unwrap_or(0),
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
    let clips = keyed_clips(&character, &found, settings, fitted);
    Ok(Distilled {
        character: character.with_helpers(&found.skeleton, &skin.split(&found.weights), clips),
        report,
        influences: settings.fit.influences,
    })
}

/// Compares a rig with simulated frames.
struct Measure<'a> {
    character: &'a Character,
    skin: &'a Skin,
    found: &'a Decomposition,
}

impl Measure<'_> {
    /// Of a frame: before, with driven helpers, and with its keys if it has some.
    fn frame(&self, pose: &Pose, positions: &[Point], keyed: Option<&Pose>) -> [Residual; 3] {
        let (skeleton, bind) = (&self.found.skeleton, &self.skin.bind);
        let helped =
            |pose: &Pose| Residual::of_frame(skeleton, &self.found.weights, bind, pose, positions);
        let given = &self.character.skeleton;
        [
            Residual::of_frame(given, &self.skin.weights, bind, pose, positions),
            helped(&self.found.driven(pose)),
            keyed.map(helped).unwrap_or_default(),
        ]
    }

    fn report(
        &self,
        clip: usize,
        frames: usize,
        sums: [Residual; 3],
        is_keyed: bool,
    ) -> ClipResidual {
        let millimetres = self.character.metres_per_unit * 1e3;
        let [before, driven, keyed] = sums.map(|sum| sum.in_units(millimetres));
        ClipResidual {
            clip: self.character.clips[clip].name.clone(),
            frames,
            before,
            keyed: is_keyed.then_some(keyed),
            driven,
        }
    }

    fn fitted(
        &self,
        simulated: &[SimulatedFrame],
        clips: &[usize],
        takes: &[Take],
    ) -> Vec<ClipResidual> {
        let mut first = 0;
        let of_clip = |(&clip, take): (&usize, &Take)| {
            let frames = first..first + take.frame_count();
            first = frames.end;
            let count = frames.len();
            let sums = frames.fold([Residual::default(); 3], |sums, frame| {
                let SimulatedFrame { pose, positions } = &simulated[frame];
                let keyed = self.found.fitted_pose(frame, pose);
                added(sums, self.frame(pose, positions, Some(&keyed)))
            });
            self.report(clip, count, sums, true)
        };
        clips.iter().zip(takes).map(of_clip).collect()
    }

    fn held_back(
        &self,
        actor: &mut Actor,
        take: &Take,
        clip: usize,
        progress: &Progress,
    ) -> Result<ClipResidual, DistillError> {
        let mut sums = [Residual::default(); 3];
        take.play(actor, progress, |frame, actor| {
            let pose = take.motion.pose_at(self.character, take.time_of(frame));
            let positions = self.skin.positions(actor.positions());
            sums = added(sums, self.frame(&pose, &positions, None));
            Ok(())
        })?;
        Ok(self.report(clip, take.frame_count(), sums, false))
    }
}

fn added(sums: [Residual; 3], more: [Residual; 3]) -> [Residual; 3] {
    [0, 1, 2].map(|i| sums[i].with(&more[i]))
}

/// All clips of the character, with keys of the helpers: those fitted to the simulation, or where there are none those of the drivers.
fn keyed_clips(
    character: &Character,
    found: &Decomposition,
    settings: &DistillSettings,
    fitted: &[Take],
) -> Vec<Clip> {
    let mut clips = character.clips.clone();
    let first_helper = character.skeleton.len();
    let mut simulated = vec![None; clips.len()];
    let mut first = 0;
    for (&clip, take) in settings.fitted.iter().zip(fitted) {
        simulated[clip] = Some(first);
        first += take.frame_count();
    }
    for (index, clip) in clips.iter_mut().enumerate() {
        let take = Take::whole(Motion::Clip(index), character, settings.fps);
        let times_secs: Vec<f64> = take.frames().map(|frame| take.time_of(frame)).collect();
        let poses: Vec<Pose> = (times_secs.iter().enumerate())
            .map(|(frame, &time)| {
                let pose = clip.sample(&character.skeleton, time);
                match simulated[index] {
                    Some(first) => found.fitted_pose(first + frame, &pose),
                    None => found.driven(&pose),
                }
            })
            .collect();
        for joint in first_helper..found.skeleton.len() {
            clip.tracks.extend(tracks(joint, &times_secs, &poses));
        }
    }
    clips
}

/// Translation and rotation of a joint in each pose.
fn tracks(joint: usize, times_secs: &[f64], poses: &[Pose]) -> [Track; 2] {
    let locals = || poses.iter().map(|pose| &pose.locals[joint]);
    let mut rotations: Vec<nalgebra::Quaternion<f64>> = Vec::with_capacity(poses.len());
    for local in locals() {
        let rotation = *local.rotation.quaternion();
        // On the side of the key before, so that interpolation takes the short way.
        let is_far = rotations
            .last()
            .is_some_and(|last| last.dot(&rotation) < 0.0);
        rotations.push(if is_far { -rotation } else { rotation });
    }
    let translations = locals().map(|local| local.translation).collect();
    let times = times_secs.to_vec();
    [
        Channel::Translation(Curve::linear(times.clone(), translations)),
        Channel::Rotation(Curve::linear(times, rotations)),
    ]
    .map(|channel| Track { joint, channel })
}

impl Distilled {
    /// Whether properties of materials are lost because props are attached to joints.
    #[must_use]
    pub fn loses_materials(&self) -> bool {
        loses_materials(&self.character)
    }

    /// Writes the rig as `.glb`, in metres or in the units of the source.
    ///
    /// # Errors
    /// [`IoError::Write`]. A file that could not be completed is removed.
    pub fn write(&mut self, path: &Path, keep_units: bool) -> Result<(), IoError> {
        if keep_units {
            self.character.declared_metres_per_unit = Some(1.0);
        }
        let written = write_rigged_glb(&self.character, &[], self.influences);
        let bytes = written.map_err(|error| IoError::Write {
            file: path.display().to_string(),
            source: std::io::Error::other(error),
        })?;
        write_atomically(path, |out| std::io::Write::write_all(out, &bytes))
    }
}

#[cfg(test)]
mod tests;
