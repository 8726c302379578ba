//! `sinew bake`: the deformed skin, frame by frame; or the rig, a motion or a pose.

mod batch;
mod stdout;

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use self::stdout::OutputKind;
use super::compress::{CompressionReport, check_compressible, compress};
use super::options::{CharacterOptions, Options, method_help, parse_method};
use super::pose::PoseOptions;
use super::weights::WeightsOption;
use super::{CommandResult, Failure, character, print_json, stderr};
use crate::character::Character;
use crate::io::MOST_INFLUENCES;
use crate::methods::{Actor, MethodId, Subject};
use crate::metrics::{self, Measurements, Meter, MeterFrame, RestSkin};
use crate::progress::{Cancelled, Progress};
use crate::session::{
    BakeFormat, BakeSettings, ContactSummary, RigReport, Take, bake, write_last_pose, write_motion,
    write_rig,
};

/// Options of the verb.
#[derive(Debug, Clone, Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is an option of the command line"
)]
pub(super) struct Bake {
    #[command(flatten)]
    character: CharacterOptions,
    #[arg(long, value_parser = parse_method, help = method_help(" [default: of a project, that of its active view]"))]
    method: Option<MethodId>,
    /// Bake by each of these methods; {method} in the output's name is replaced by its id.
    #[arg(
        long,
        value_name = "M,M…",
        value_delimiter = ',',
        value_parser = parse_method,
        conflicts_with_all = ["method", "rig"]
    )]
    methods: Vec<MethodId>,
    /// Bake each of these clips, or all; {clip} in the output's name is replaced by its name.
    #[arg(
        long,
        value_name = "all|NAME,…",
        value_delimiter = ',',
        conflicts_with_all = ["clip", "pose", "rotate", "morph", "rig"]
    )]
    clips: Vec<String>,
    #[command(flatten)]
    weights: WeightsOption,
    #[command(flatten)]
    pose: PoseOptions,
    /// Output file: .glb (morph targets, with the source's materials, textures, names and extras; or --rig), .usda or .usdc (USD: meshes
    /// at all frames; or --rig), .pc2 or .mdd (point caches), .obj or .ply (several frames: NAME.0000.obj …), .npz (numpy arrays), .json (positions), or .bvh (the motion alone,
    /// without a method). "-" is standard output, with --kind. With {character} in its name every FILE that is not a motion, a skeleton or weights is a character of its own.
    #[arg(
        help_heading = "Output",
        short,
        long,
        value_name = "OUT",
        required_unless_present = "pose_out"
    )]
    output: Option<PathBuf>,
    /// With -o -: the kind of the file that goes to standard output.
    #[arg(help_heading = "Output", long, value_name = "KIND", value_enum)]
    kind: Option<OutputKind>,
    /// Write only every N-th frame; a .glb interpolates between them.
    #[arg(help_heading = "Output", long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    every: u32,
    /// Tolerance for leaving out frames of a .glb that interpolation reproduces, as a fraction of the character's size; 0 keeps all.
    #[arg(help_heading = "Output", long, value_name = "PART", default_value_t = BakeSettings::DEFAULT_TOLERANCE, value_parser = parse_tolerance)]
    tolerance: f32,
    /// Write the rigged character instead of a take: skeleton, skin weights and all clips, as .glb, .usda or .usdc.
    #[arg(help_heading = "Output", long, conflicts_with_all = ["method", "every", "tolerance", "clip", "pose", "rotate", "morph", "frames", "settle"])]
    rig: bool,
    /// With --rig: largest number of joints per vertex; game engines expect at most 4 [default: 4].
    #[arg(help_heading = "Output", long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=MOST_INFLUENCES as i64))]
    influences: Option<u16>,
    /// Write a .glb in the file's units instead of metres.
    #[arg(help_heading = "Output", long)]
    keep_units: bool,
    /// Write a .glb that is two to four times smaller: quantised and compressed by the meshopt extension of glTF.
    #[arg(help_heading = "Output", long)]
    compress: bool,
    /// Write the point cache of a character of several meshes as one file, instead of NAME/MESH.pc2 for each.
    #[arg(help_heading = "Output", long)]
    one_cache: bool,
    /// Also write OUT.seam.json: the frames at both ends, by which `sinew seams` measures the distance to the parts before and after.
    #[arg(
        help_heading = "Output",
        long,
        requires = "frames",
        conflicts_with = "rig"
    )]
    seam: bool,
    /// Also write the pose of the last frame, in the format of --pose.
    #[arg(help_heading = "Output", long, value_name = "POSE.json")]
    pose_out: Option<PathBuf>,
    /// Write more than 4 GB without an error.
    #[arg(help_heading = "Output", long)]
    yes: bool,
    /// Print a JSON report.
    #[arg(help_heading = "Output", long)]
    json: bool,
}

fn parse_tolerance(text: &str) -> Result<f32, String> {
    let parsed = text
        .trim()
        .parse::<f32>()
        .ok()
        .filter(|part| (0.0..=0.1).contains(part));
    parsed.ok_or_else(|| "expected a number from 0 to 0.1, as in 0.0001".to_owned())
}

/// Writing more than this requires `--yes`.
const MANY_BYTES: u64 = 4_000_000_000;
/// Some viewers support no more morph targets than the 256 texture layers that WebGL 2 guarantees.
const MANY_TARGETS: usize = 256;

/// A report for machines.
#[derive(Serialize)]
#[serde(untagged)]
enum Report {
    Skin(Box<BakeReport>),
    Files(FilesReport),
}

#[derive(Serialize)]
struct BakeReport {
    character: String,
    method: MethodId,
    vertices: usize,
    frames: usize,
    first_frame: u32,
    fps: Option<f64>,
    settled: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    morph_targets: Option<usize>,
    max_displacement: f32,
    method_ms: f64,
    #[serde(flatten)]
    contact: ContactSummary,
    /// Number of intersecting pairs in the bind pose.
    self_intersections_before: usize,
    /// Number in the last frame.
    self_intersections_after: usize,
    /// All metrics of the last frame against the bind pose.
    score: Measurements,
    files: Vec<PathBuf>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compression: Option<CompressionReport>,
}

#[derive(Serialize)]
struct FilesReport {
    character: String,
    files: Vec<PathBuf>,
    /// What a rig lost with the joints beyond --influences, in millimetres over its clips.
    #[serde(skip_serializing_if = "Option::is_none")]
    influences: Option<RigReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    compression: Option<CompressionReport>,
}

impl Report {
    fn files(&self) -> &[PathBuf] {
        match self {
            Self::Skin(report) => &report.files,
            Self::Files(report) => &report.files,
        }
    }
}

/// What the bake writes.
enum BakeKind<'a> {
    /// The skin of every frame.
    Skin {
        path: &'a Path,
        format: BakeFormat,
        method: MethodId,
    },
    /// The character with skeleton, weights and clips.
    Rig(&'a Path),
    /// The skeleton of every frame.
    Motion(&'a Path),
    /// Only `--pose-out`.
    Pose,
}

impl Bake {
    pub(super) fn run(&self, options: &Options) -> CommandResult {
        if self.is_batch() {
            return self.batch(options);
        }
        if self.is_to_stdout() {
            return self.to_stdout(options);
        }
        if self.kind.is_some() {
            return Err(Failure::Usage(
                "--kind is for -o -; the name of a file says its kind".to_owned(),
            ));
        }
        let report = self.single(options)?;
        if self.json {
            return print_json(&report);
        }
        Ok(())
    }

    /// One output of one character.
    fn single(&self, options: &Options) -> Result<Report, Failure> {
        self.check(self.output.as_deref())?;
        let subject = self.character.open(options)?;
        self.on(&subject, options)
    }

    /// Checks before any work what the options and the output can say.
    fn check(&self, output: Option<&Path>) -> CommandResult {
        let work = output.map_or(Ok(BakeKind::Pose), |path| self.work(path))?;
        if self.seam && !matches!(work, BakeKind::Skin { .. }) {
            return Err(Failure::Usage(
                "--seam is for a baked skin; a motion has no seams".to_owned(),
            ));
        }
        if self.influences.is_some() && !self.rig {
            return Err(Failure::Usage(
                "--influences is for --rig; a baked skin needs no joints".to_owned(),
            ));
        }
        if self.compress {
            check_compressible(self.output.as_deref())?;
        }
        let mut outputs = output.into_iter().chain(self.pose_out.as_deref());
        outputs.try_for_each(super::folder::check_folder)
    }

    /// The output for a character that was opened.
    fn on(&self, subject: &std::sync::Arc<Subject>, options: &Options) -> Result<Report, Failure> {
        let report = self.written(subject, options)?;
        self.compressed(report, subject, options)
    }

    /// Compresses the output, if that is wanted.
    fn compressed(
        &self,
        mut report: Report,
        subject: &Subject,
        options: &Options,
    ) -> Result<Report, Failure> {
        let Some(path) = self.output.as_deref().filter(|_| self.compress) else {
            return Ok(report);
        };
        let metres = if self.keep_units {
            subject.metres_per_unit()
        } else {
            1.0
        };
        let done = Some(compress(path, metres, options.quiet || self.json)?);
        match &mut report {
            Report::Skin(report) => report.compression = done,
            Report::Files(report) => report.compression = done,
        }
        Ok(report)
    }

    fn written(
        &self,
        subject: &std::sync::Arc<Subject>,
        options: &Options,
    ) -> Result<Report, Failure> {
        let mut work = self
            .output
            .as_deref()
            .map_or(Ok(BakeKind::Pose), |path| self.work(path))?;
        super::folder::check_outputs(self.output.iter().chain(&self.pose_out))?;
        let saved = self.character.saved(subject, options)?;
        let subject = self.weights.on(subject, saved.as_ref())?;
        if let (BakeKind::Skin { method, .. }, None, Some(saved)) = (&mut work, self.method, &saved)
        {
            *method = saved.method;
        }
        let options = &options.with_saved(saved.as_ref());
        let take = self
            .pose
            .with_saved(saved.as_ref())
            .take(&subject.character)?;
        if let Some(path) = &self.pose_out {
            write_last_pose(&subject.character, &take, path)?;
        }
        let (mut fitted, mut beside) = (None, self.output.iter().cloned().collect());
        match work {
            BakeKind::Skin {
                path,
                format,
                method,
            } => return self.skin(options, &subject, &take, path, format, method),
            BakeKind::Rig(path) => {
                let influences = self.influences.unwrap_or(4);
                let written = write_rig(&subject, path, influences.into(), self.keep_units)?;
                note_cut(&written.report, influences, options);
                fitted = Some(written.report);
                beside = written.files;
            }
            BakeKind::Motion(path) => write_motion(&subject.character, &take, self.every, path)?,
            BakeKind::Pose => {}
        }
        beside.extend(self.pose_out.clone());
        Ok(self.wrote(options, &subject, beside, fitted))
    }

    fn skin(
        &self,
        options: &Options,
        subject: &std::sync::Arc<Subject>,
        take: &Take,
        path: &Path,
        format: BakeFormat,
        method: MethodId,
    ) -> Result<Report, Failure> {
        let settings = BakeSettings {
            format,
            every: self.every,
            tolerance: self.tolerance,
            keep_units: self.keep_units,
            one_cache: self.one_cache,
            seam: self.seam,
        };
        let bytes = settings.estimated_bytes(&subject.character, take);
        if bytes > MANY_BYTES && !self.yes {
            return Err(Failure::Undone(format!(
                "{}: this may take {:.1} GB; give --yes to write it all the same, or fewer frames by --frames, --fps or --every",
                path.display(),
                bytes as f64 / 1e9
            )));
        }
        self.weights.note_unused(&[method], options);
        let mut actor = character::bind(subject, method, options)?;
        log::debug!("set-up of {method}: {:?}", subject.setup());
        let mut baked = stderr::with_progress(options, "Baking", |progress| {
            bake(&mut actor, take, path, &settings, progress)
        })?;
        log::debug!(
            "{} frames of {} vertices, {:.3} ms by {method} each",
            baked.frames,
            actor.positions().len(),
            baked.method_ms / baked.frames.max(1) as f64
        );
        baked.files.extend(self.pose_out.clone());
        if let Some(targets) = baked
            .morph_targets
            .filter(|&targets| targets > MANY_TARGETS && !options.quiet)
        {
            stderr::line(&format!(
                "note: {targets} morph targets are more than some viewers take; --every N or --tolerance PART leaves frames out, a .pc2 has no limit"
            ));
        }
        if self.json {
            let measure = |progress: &Progress| measure(&actor, take, progress);
            let [rest, score] = stderr::with_progress(options, "Measuring", measure)?;
            return Ok(Report::Skin(Box::new(BakeReport {
                character: subject.character.name.clone(),
                method,
                vertices: actor.positions().len(),
                frames: baked.frames,
                first_frame: take.first_frame(),
                fps: take.fps(),
                settled: take.fps().is_none(),
                morph_targets: baked.morph_targets,
                max_displacement: baked.max_displacement,
                method_ms: baked.method_ms,
                contact: baked.contact,
                self_intersections_before: rest.count("intersecting_pairs"),
                self_intersections_after: score.count("intersecting_pairs"),
                score,
                files: baked.files,
                compression: None,
            })));
        }
        if !options.quiet {
            stderr::line(&format!("wrote {}", list(&baked.files)));
        }
        Ok(Report::Files(FilesReport {
            character: subject.character.name.clone(),
            files: baked.files,
            influences: None,
            compression: None,
        }))
    }

    fn wrote(
        &self,
        options: &Options,
        subject: &Subject,
        files: Vec<PathBuf>,
        influences: Option<RigReport>,
    ) -> Report {
        if !options.quiet && !self.json {
            for file in &files {
                stderr::line(&format!("wrote {}", file.display()));
            }
        }
        Report::Files(FilesReport {
            character: subject.character.name.clone(),
            files,
            influences,
            compression: None,
        })
    }

    fn work<'a>(&self, path: &'a Path) -> Result<BakeKind<'a>, Failure> {
        let shown = path.display();
        let is_bvh = path
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("bvh"));
        // The method is known after the project was read.
        let saved = self.character.project().map(|_| MethodId::default());
        match (BakeFormat::of_path(path), self.method.or(saved)) {
            (Some(BakeFormat::Glb | BakeFormat::Usd(_)), _) if self.rig => Ok(BakeKind::Rig(path)),
            _ if self.rig => Err(Failure::Usage(format!(
                "{shown}: a rig is written as .glb, .usda or .usdc; name the file so"
            ))),
            _ if is_bvh => Ok(BakeKind::Motion(path)),
            (Some(format), Some(method)) => Ok(BakeKind::Skin {
                path,
                format,
                method,
            }),
            (Some(_), None) => {
                let sentence = "say how to move the skin with --method rigid, lbs, dqs or pd; or give --rig for the rig alone";
                Err(Failure::Usage(sentence.to_owned()))
            }
            (None, _) => Err(Failure::Usage(format!(
                "{shown}: can't tell what to write from this extension; there are .glb, .usda, .usdc, .pc2, .mdd, .obj, .ply, .npz, .json and .bvh"
            ))),
        }
    }
}

impl Bake {
    /// First and last frame of a clip, with the other options of this bake; nothing if it is settled.
    pub(super) fn frames_of(
        &self,
        clip: usize,
        character: &Character,
    ) -> Result<Option<(u32, u32)>, Failure> {
        let mut pose = self.pose.clone();
        pose.clip = Some(clip.to_string());
        let take = pose.take(character)?;
        let frames = (take.first_frame(), take.last_frame());
        Ok(take.fps().map(|_| frames))
    }

    /// Every which frame is written.
    pub(super) fn every(&self) -> u32 {
        self.every
    }
}

/// The files of each character, with the motions, skeletons and weights that go with every one.
pub(super) fn characters_of(files: &[PathBuf]) -> Vec<Vec<PathBuf>> {
    batch::characters(files, batch::CHARACTER)
}

/// Says what a rig lost with the joints that it has too many.
fn note_cut(report: &RigReport, influences: u16, options: &Options) {
    let RigReport { fit: report, over } = report;
    if report.cut == 0 || options.quiet {
        return;
    }
    stderr::line(&format!(
        "note: {} of {} vertices had more than {influences} joints (up to {}); their weights were fitted again: the skin is off by {:.3} mm rms and {:.2} mm at most over {over}, instead of {:.3} and {:.2} mm with the largest weights; --influences {} keeps all",
        report.cut,
        report.vertices,
        report.most,
        report.rms,
        report.max,
        report.plain_rms,
        report.plain_max,
        report.most
    ));
}

/// Measures the bind pose and the current frame of an actor.
fn measure(
    actor: &Actor,
    take: &Take,
    progress: &Progress,
) -> Result<[Measurements; 2], Cancelled> {
    let subject = actor.subject();
    let character = &subject.character;
    let pose = take
        .motion
        .pose_at(character, take.time_of(take.last_frame()));
    let mut meter = Meter::new(
        RestSkin::of(subject),
        metrics::without_reference(),
        progress,
    )?;
    let rest = MeterFrame {
        positions: &subject.bind_positions,
        ..MeterFrame::default()
    };
    let world = character.skeleton.world_from_joint(&pose);
    Ok([
        meter.measure(&rest, progress)?,
        meter.measure(&actor.meter_frame(&world), progress)?,
    ])
}

fn list(files: &[PathBuf]) -> String {
    match files {
        [] => "nothing".to_owned(),
        [one] => one.display().to_string(),
        [first, .., last] => format!(
            "{} files, {} to {}",
            files.len(),
            first.display(),
            last.display()
        ),
    }
}
