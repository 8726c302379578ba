//! Export of the character's motion to files for other programs, in the background.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Projects;
use super::report::{ReportInput, write_report};
use super::scores::{ScoreFormat, is_partial, write_scores};
use crate::dynamics::Params;
use crate::io::{UsdFormat, compress_glb, refuse_input};
use crate::methods::{Actor, MethodId, MethodValues, Subject};
use crate::progress::Progress;
use crate::report::{Columns, Comparison, Variant};
use crate::rig::{Pose, motion_range};
use crate::session::bake::MATERIALS_LOST;
use crate::session::job::{Job, JobState};
use crate::session::message::Messages;
use crate::session::{
    BakeFormat, BakeSettings, ClipPlay, DEFAULT_FPS, Document, Level, Moments, Motion, Take, Views,
    Waker, bake, with_takes, write_motion, write_rig,
};

/// Joints per vertex in an exported rig: the usual limit of game engines.
const INFLUENCES: usize = 4;

/// Said of scores of which some were not measured yet.
const SCORES_MISSING: &str =
    "Not all frames were measured yet: the scoreboard is still being filled.";

/// Kind of export.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportAs {
    /// The deformed skin, frame by frame.
    Skin(BakeFormat),
    /// The character with skeleton, weights and all clips, as `.glb`.
    Rig,
    /// The same as `.usdc`.
    UsdRig,
    /// The motion of the joints, as `.bvh`.
    Motion,
    /// A comparison of methods, as `.html`.
    Report,
    /// What the scoreboard shows.
    Scores(ScoreFormat),
}

impl ExportAs {
    /// All kinds, most common first.
    pub const ALL: [Self; 16] = [
        Self::Skin(BakeFormat::Glb),
        Self::Rig,
        Self::UsdRig,
        Self::Motion,
        Self::Skin(BakeFormat::Pc2),
        Self::Skin(BakeFormat::Mdd),
        Self::Skin(BakeFormat::Obj),
        Self::Skin(BakeFormat::Ply),
        Self::Skin(BakeFormat::Json),
        Self::Skin(BakeFormat::Npz),
        Self::Skin(BakeFormat::Usd(UsdFormat::Binary)),
        Self::Skin(BakeFormat::Usd(UsdFormat::Text)),
        Self::Report,
        Self::Scores(ScoreFormat::Svg),
        Self::Scores(ScoreFormat::Png),
        Self::Scores(ScoreFormat::Csv),
    ];

    /// Description for users.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Skin(BakeFormat::Glb) => "Baked skin, glTF (.glb)",
            Self::Rig => "Rig with weights and clips, glTF (.glb)",
            Self::UsdRig => "Rig with weights and clips, USD (.usdc)",
            Self::Motion => "Motion of the skeleton (.bvh)",
            Self::Skin(BakeFormat::Pc2) => "Baked skin, point cache (.pc2)",
            Self::Skin(BakeFormat::Mdd) => "Baked skin, point cache (.mdd)",
            Self::Skin(BakeFormat::Obj) => "Baked skin, one file a frame (.obj)",
            Self::Skin(BakeFormat::Ply) => "Baked skin, one file a frame (.ply)",
            Self::Skin(BakeFormat::Json) => "Baked skin, positions (.json)",
            Self::Skin(BakeFormat::Npz) => "Baked skin, arrays for NumPy (.npz)",
            Self::Skin(BakeFormat::Usd(UsdFormat::Binary)) => "Baked skin, USD (.usdc)",
            Self::Skin(BakeFormat::Usd(UsdFormat::Text)) => "Baked skin, USD text (.usda)",
            Self::Report => "Report that compares methods (.html)",
            Self::Scores(ScoreFormat::Svg) => "Plots of the scoreboard (.svg)",
            Self::Scores(ScoreFormat::Png) => "Plots of the scoreboard, picture (.png)",
            Self::Scores(ScoreFormat::Csv) => "Values of the scoreboard (.csv)",
        }
    }

    /// File extension, without dot.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Skin(BakeFormat::Glb) | Self::Rig => "glb",
            Self::Motion => "bvh",
            Self::Skin(BakeFormat::Pc2) => "pc2",
            Self::Skin(BakeFormat::Mdd) => "mdd",
            Self::Skin(BakeFormat::Obj) => "obj",
            Self::Skin(BakeFormat::Ply) => "ply",
            Self::Skin(BakeFormat::Json) => "json",
            Self::Skin(BakeFormat::Npz) => "npz",
            Self::UsdRig | Self::Skin(BakeFormat::Usd(UsdFormat::Binary)) => "usdc",
            Self::Skin(BakeFormat::Usd(UsdFormat::Text)) => "usda",
            Self::Report => "html",
            Self::Scores(ScoreFormat::Svg) => "svg",
            Self::Scores(ScoreFormat::Png) => "png",
            Self::Scores(ScoreFormat::Csv) => "csv",
        }
    }
}

/// Request of an export.
#[derive(Debug, Clone, PartialEq)]
pub struct Export {
    /// Its kind.
    pub what: ExportAs,
    /// The skinning method and its parameters.
    pub method: MethodId,
    /// The methods of a report.
    pub methods: Vec<MethodId>,
    /// The clip; `None` exports the shown pose, and for a report the range of motion.
    pub clip: Option<usize>,
    /// The range of the clip, seconds; `None` is the whole clip.
    pub range_secs: Option<[f64; 2]>,
    /// Frames per second.
    pub fps: f64,
    /// Whether a `.glb` is quantised and compressed.
    pub compress: bool,
}

impl Default for Export {
    fn default() -> Self {
        Self {
            what: ExportAs::ALL[0],
            method: MethodId::default(),
            methods: Vec::new(),
            clip: None,
            range_secs: None,
            fps: DEFAULT_FPS,
            compress: false,
        }
    }
}

impl Export {
    /// Whether [`Export::compress`] applies.
    #[must_use]
    pub fn can_be_compressed(&self) -> bool {
        matches!(self.what, ExportAs::Rig | ExportAs::Skin(BakeFormat::Glb))
    }

    /// Compresses what was written, if that is wanted.
    fn compressed(&self, mut exported: Exported, path: &Path) -> Result<Exported, String> {
        if self.compress && self.can_be_compressed() {
            // Exports are in metres.
            let done = compress_glb(path).map_err(|error| error.to_string())?;
            exported.compressed = Some(format!("The file was {}.", done.sentence(1.0)));
        }
        Ok(exported)
    }

    /// The take to be baked.
    fn take(&self, subject: &Subject, pose: Pose) -> Take {
        let fps = self.fps.clamp(1.0, 1000.0);
        let clip = self
            .clip
            .filter(|&clip| clip < subject.character.clips.len());
        match clip {
            Some(clip) => {
                let play = ClipPlay {
                    range_secs: self.range_secs,
                    ..ClipPlay::once(clip)
                };
                Take::whole(Motion::Play(play), &subject.character, fps)
            }
            None if self.what == ExportAs::Motion => {
                Take::whole(Motion::Pose(pose), &subject.character, fps)
            }
            None => Take {
                motion: Motion::Pose(pose),
                moments: Moments::Settled { time_secs: 0.0 },
            },
        }
    }

    /// What a report is made of.
    fn report(&self, subject: &Subject, pose: Pose, input: &ExportInput) -> ReportInput {
        let name = self
            .clip
            .and_then(|clip| subject.character.clips.get(clip))
            .map(|clip| clip.name.clone());
        let (columns, set) = if let Some(name) = name {
            let take = self.take(subject, pose);
            let columns = Columns::of_take(take, &format!("Clip {name}"));
            (columns, format!("clip {name}"))
        } else {
            let range = motion_range(&subject.character.skeleton);
            (Columns::of_range(&range), "range of motion".to_owned())
        };
        let row =
            |&method: &MethodId| Variant::of(method, input.shared.1.of(method), input.shared.0);
        ReportInput {
            variants: self
                .methods
                .iter()
                .map(row)
                .chain(input.variants.iter().cloned())
                .collect(),
            columns,
            set,
            files: input.files.clone(),
        }
    }

    /// Runs the export; the error is a sentence.
    fn run(
        &self,
        subject: &Arc<Subject>,
        pose: Pose,
        input: &ExportInput,
        path: &Path,
        progress: &Progress,
    ) -> Result<Exported, String> {
        let said = |error: &dyn std::fmt::Display| error.to_string();
        let subject = &subject.in_set_unit();
        let take = self.take(subject, pose.clone());
        match self.what {
            ExportAs::Report => {
                let report = self.report(subject, pose, input);
                write_report(subject, report, path, progress)?;
            }
            ExportAs::Scores(format) => write_scores(input.scores.as_ref(), format, path)?,
            ExportAs::Rig | ExportAs::UsdRig => {
                let written = write_rig(subject, path, INFLUENCES, false);
                let files = written.map_err(|error| said(&error))?.files;
                let is_glb = self.what == ExportAs::Rig;
                let lost = is_glb && crate::io::loses_materials(&subject.character);
                let lost = lost.then_some(MATERIALS_LOST);
                let exported = Exported {
                    files,
                    lost,
                    compressed: None,
                };
                return self.compressed(exported, path);
            }
            ExportAs::Motion => {
                write_motion(&subject.character, &take, 1, path).map_err(|error| said(&error))?;
            }
            ExportAs::Skin(format) => {
                let actor = Actor::bind_with(
                    subject,
                    self.method,
                    &input.params,
                    &input.values.of(self.method),
                    &progress.part(0.0, 0.3),
                );
                let mut actor = actor.map_err(|error| said(&error))?;
                let baked = bake(
                    &mut actor,
                    &take,
                    path,
                    &BakeSettings::of(format),
                    &progress.part(0.3, 1.0),
                );
                let baked = baked.map_err(|error| said(&error))?;
                let exported = Exported {
                    files: baked.files,
                    lost: None,
                    compressed: None,
                };
                return self.compressed(exported, path);
            }
        }
        let is_partial = input.scores.as_ref().is_some_and(is_partial);
        let lost = matches!(self.what, ExportAs::Scores(_)) && is_partial;
        Ok(Exported {
            files: vec![path.to_owned()],
            lost: lost.then_some(SCORES_MISSING),
            compressed: None,
        })
    }
}

/// What views show with variants, each once: rows of a report.
fn shown_variants(views: &Views, document: &Document) -> Vec<Variant> {
    let mut rows: Vec<Variant> = Vec::new();
    let needs = views.list().iter();
    let needs = needs.flat_map(|view| std::iter::once(view.need()).chain(view.compared_need()));
    for need in needs {
        let Some((id, variant)) = need.variant.zip(document.variant(need.variant)) else {
            continue;
        };
        let name = document.short_label_of(need.method, Some(id));
        if rows.iter().all(|row| row.id != name) {
            rows.push(Variant {
                id: name.clone(),
                label: name,
                settings: document.variant_text(need.method, id),
                ..Variant::of(
                    need.method,
                    variant.method_values.of(need.method),
                    variant.params,
                )
            });
        }
    }
    rows
}

/// What an export takes from the document, beside the character and the pose.
struct ExportInput {
    /// Settings of the active view.
    params: Params,
    values: MethodValues,
    /// The settings that views without a variant share.
    shared: (Params, MethodValues),
    /// What views show with variants.
    variants: Vec<Variant>,
    files: Vec<String>,
    /// What the scoreboard shows.
    scores: Option<Comparison>,
}

/// An export in progress.
pub(in crate::session) type Exporting = Job<Result<Exported, String>>;

/// Result of an export.
pub(in crate::session) struct Exported {
    files: Vec<PathBuf>,
    /// A sentence about what the file does not contain.
    lost: Option<&'static str>,
    /// A sentence about its compression.
    compressed: Option<String>,
}

impl Projects {
    /// Starts an export of the pose or a clip, unless one is in progress.
    pub(in crate::session) fn export(
        &mut self,
        export: Export,
        path: PathBuf,
        document: &Document,
        (pose, views, scores): (&Pose, &Views, Option<Comparison>),
        messages: &mut Messages,
        waker: Option<&Waker>,
    ) {
        let Some(subject) = &document.subject else {
            return;
        };
        let subject = subject.with_factors_of(&document.flesh);
        if self.exporting.is_some() {
            return messages.push(
                Level::Warning,
                "An export is in progress; wait for it, or cancel it.",
            );
        }
        if let Err(error) = refuse_input(&path, document.inputs()) {
            return messages.push(Level::Error, format!("Nothing was exported: {error}."));
        }
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let (takes, pose) = (document.takes.clone(), pose.clone());
        let files = document.source.files.iter();
        let (variant, weights) = (views.active().variant, views.active().weights);
        let input = ExportInput {
            params: *document.params_of(variant),
            values: document.method_values_of(variant).clone(),
            shared: (document.params, document.method_values.clone()),
            variants: shown_variants(views, document),
            files: files.map(|file| file.display().to_string()).collect(),
            scores,
        };
        let work = move |progress: &Progress| {
            export.run(
                &with_takes(&subject, &takes).weighted(weights),
                pose,
                &input,
                &path,
                progress,
            )
        };
        match Job::start(format!("Exporting {name}"), waker.cloned(), work) {
            Ok(job) => self.exporting = Some(job),
            Err(error) => messages.push(
                Level::Error,
                format!("No thread could be started for the export: {error}."),
            ),
        }
    }

    /// Takes over the result of an export. Returns whether there was one.
    pub(in crate::session) fn take_exported(&mut self, messages: &mut Messages) -> bool {
        let outcome = match self.exporting.as_ref().map(Job::poll) {
            None | Some(JobState::Running) => return false,
            Some(outcome) => outcome,
        };
        self.exporting = None;
        let (level, text) = match outcome {
            JobState::Done(Ok(exported)) => exported.sentence(),
            JobState::Done(Err(error)) => (Level::Error, format!("Nothing was exported: {error}.")),
            JobState::Lost | JobState::Running => {
                (Level::Error, "The export stopped unexpectedly.".to_owned())
            }
        };
        messages.push(level, text);
        true
    }
}

impl Exported {
    /// Message to the user about a finished export.
    fn sentence(&self) -> (Level, String) {
        let written = match self.files.as_slice() {
            [] => {
                let text = "Nothing was exported: the clip has no frames there.";
                return (Level::Warning, text.to_owned());
            }
            [file] => format!("Exported {}.", file.display()),
            [first, ..] => format!(
                "Exported {} files, the first is {}.",
                self.files.len(),
                first.display()
            ),
        };
        let level = if self.lost.is_some() {
            Level::Warning
        } else {
            Level::Info
        };
        let parts = std::iter::once(written.as_str())
            .chain(self.lost)
            .chain(self.compressed.as_deref());
        (level, parts.collect::<Vec<_>>().join(" "))
    }
}
