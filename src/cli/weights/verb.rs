//! `sinew weights`: computes weights, reports on them, and writes them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::{Args, ValueEnum};
use serde::Serialize;

use super::WeightsOption;
use crate::character::{Attachment, Character};
use crate::cli::folder::{check_folder, check_outputs};
use crate::cli::options::{CharacterOptions, Options};
use crate::cli::{CommandResult, Failure, print_json, print_lines, stderr};
use crate::io::{WeightFormat, write_atomically, write_rigged_glb, write_weights};
use crate::methods::Subject;
use crate::weights::finish::MOST_KEPT;
use crate::weights::score::{bleed, nearest_joints, smoothness};
use crate::weights::transfer::TransferReport;
use crate::weights::{
    FinishReport, FinishSettings, Finished, JointMap, MirrorFrom, ReferenceScore, SkinWeights,
    WeightMethod, finish, score_against, transfer,
};

/// Joints that count as near a vertex in the bleed.
const NEAREST: usize = 4;
/// Joints that are named individually.
const MOST_NAMED: usize = 6;

/// Options of the verb.
#[derive(Debug, Args)]
pub(in crate::cli) struct WeightsVerb {
    #[command(flatten)]
    character: CharacterOptions,
    #[command(flatten)]
    weights: WeightsOption,
    /// Output file; without it, only the report is printed. .dmat: a binary matrix of libigl, a row per vertex and a column per joint;
    /// .json and .csv: vertex, joint name and weight of every influence; .glb: the character with these weights. Vertices are those of
    /// the source meshes, mesh after mesh in the order of the file, numbered from 0; joints are in the order that `info -v` lists.
    #[arg(help_heading = "Output", short, long, value_name = "OUT")]
    output: Option<PathBuf>,
    /// Largest number of joints per vertex. The next largest weight is subtracted from those kept, so that none jumps along the skin.
    #[arg(help_heading = "Output", long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=MOST_KEPT as i64))]
    influences: u8,
    /// Number of smoothing passes over the skin.
    #[arg(help_heading = "Output", long, value_name = "PASSES", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=1000))]
    smooth: u16,
    /// Make the weights mirror-symmetric: the mean of both sides, or those of one side copied to the other.
    #[arg(help_heading = "Output", long, value_name = "SIDE", num_args = 0..=1, require_equals = true, default_missing_value = "both", value_enum)]
    mirror: Option<MirrorSide>,
    /// Print a JSON report.
    #[arg(help_heading = "Output", long)]
    json: bool,
}

/// The side whose weights count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum MirrorSide {
    Both,
    Left,
    Right,
}

impl From<MirrorSide> for MirrorFrom {
    fn from(side: MirrorSide) -> Self {
        match side {
            MirrorSide::Both => Self::Both,
            MirrorSide::Left => Self::Left,
            MirrorSide::Right => Self::Right,
        }
    }
}

/// What is written.
#[derive(Debug, Clone, Copy)]
enum Output {
    Table(WeightFormat),
    Glb,
}

#[derive(Serialize)]
struct WeightsReport<'a> {
    character: &'a str,
    weights: WeightMethod,
    /// Computing the weights, without reading and finishing; 0 for those of the file, small from the cache.
    setup_ms: f64,
    /// Vertices of the welded skin, to which all counts refer.
    vertices: usize,
    joints: usize,
    /// Unknowns that were solved for, such as voxel nodes; 0 if none were.
    unknowns: usize,
    /// Vertices that no bone reaches.
    unreached: usize,
    #[serde(flatten)]
    finish: &'a FinishReport,
    /// Joints that move no vertex.
    unseeded_joints: Vec<&'a str>,
    smoothness: f64,
    bleed: f64,
    /// Against the weights of the file; null if it has none.
    against_file: Option<ReferenceScore>,
    #[serde(skip_serializing_if = "Option::is_none")]
    transfer: Option<TransferSummary<'a>>,
    file: Option<&'a Path>,
}

/// How a transfer went.
#[derive(Serialize)]
struct TransferSummary<'a> {
    #[serde(flatten)]
    report: TransferReport,
    /// Joints of the source that no joint stands for.
    unmatched_joints: Vec<&'a str>,
}

impl WeightsVerb {
    pub(in crate::cli) fn run(&self, options: &Options) -> CommandResult {
        let output = self.output.as_deref().map(output_of).transpose()?;
        if let Some(path) = &self.output {
            check_folder(path)?;
        }
        let subject = self.character.open(options)?;
        let saved = self.character.saved(&subject, options)?;
        let subject = self.weights.on(&subject, saved.as_ref())?;
        check_outputs(&self.output)?;
        // All that is worth keeping; the number asked for is kept below.
        let subject = subject.weighted(subject.weight_method().with_influences(MOST_KEPT));
        let name = &subject.character.name;
        if subject.character.skeleton.is_empty() {
            return Err(Failure::Undone(format!(
                "{name}: there is no skeleton, so there are no weights; add one as .skel or as a rigged .glb"
            )));
        }
        stderr::with_progress(options, "Computing weights", |progress| {
            subject.make_weights(progress)
        })
        .map_err(|cancelled| Failure::Undone(cancelled.to_string()))?;
        let settings = FinishSettings {
            influences: self.influences.into(),
            smoothing_passes: self.smooth.into(),
            mirror: self.mirror.map(MirrorFrom::from),
            ..FinishSettings::default()
        };
        let (mesh, skeleton) = (&subject.skin.mesh, &subject.character.skeleton);
        let finished = stderr::with_progress(options, "Finishing weights", |progress| {
            finish(mesh, skeleton, subject.skin_weights(), &settings, progress)
        })?;
        if self.mirror.is_some() && finished.report.mirrored == 0 && !options.quiet {
            stderr::line("note: no plane of symmetry was found, so that nothing was mirrored");
        }
        if let (Some(output), Some(path)) = (output, &self.output) {
            self.write(&subject, &finished.weights, output, path)?;
        }
        self.report(&subject, &finished, options)
    }

    fn write(
        &self,
        subject: &Subject,
        weights: &SkinWeights,
        output: Output,
        path: &Path,
    ) -> CommandResult {
        let of_meshes = subject.on_meshes(weights);
        let character = &subject.character;
        match output {
            Output::Table(format) => {
                let names: Vec<&str> = (character.skeleton.joints().iter())
                    .map(|joint| joint.name.as_str())
                    .collect();
                write_weights(path, format, &table_of(character, &of_meshes), &names)?;
            }
            Output::Glb => {
                let character = Character {
                    flesh: (*subject.settings).clone(),
                    ..(**character).clone()
                };
                let bytes = write_rigged_glb(&character, &of_meshes, self.influences.into())?;
                write_atomically(path, |out| std::io::Write::write_all(out, &bytes))?;
            }
        }
        Ok(())
    }

    fn report(
        &self,
        subject: &Arc<Subject>,
        finished: &Finished,
        options: &Options,
    ) -> CommandResult {
        let (mesh, skeleton) = (&subject.skin.mesh, &subject.character.skeleton);
        let nearest = nearest_joints(mesh, skeleton, NEAREST);
        let against_file = (subject.file_weights())
            .map(|of_file| {
                stderr::with_progress(options, "Comparing", |progress| {
                    score_against(of_file, &finished.weights, mesh, skeleton, progress)
                })
            })
            .transpose()?;
        let noticed = subject.weight_report().cloned().unwrap_or_default();
        let joint_name = |joint: &u32| skeleton.joints()[*joint as usize].name.as_str();
        let report = WeightsReport {
            character: &subject.character.name,
            weights: subject.weight_method(),
            setup_ms: subject.setup().weights_ms,
            vertices: mesh.positions.len(),
            joints: skeleton.len(),
            unknowns: noticed.unknowns,
            unreached: noticed.unreached,
            finish: &finished.report,
            unseeded_joints: finished
                .report
                .unused_joints
                .iter()
                .map(joint_name)
                .collect(),
            smoothness: smoothness(&finished.weights, mesh),
            bleed: bleed(&finished.weights, |vertex| &nearest[vertex]),
            against_file,
            transfer: transfer_summary(subject, options)?,
            file: self.output.as_deref(),
        };
        if self.json {
            return print_json(&report);
        }
        print_lines(report.lines())?;
        if let Some(path) = self.output.as_ref().filter(|_| !options.quiet) {
            stderr::line(&format!("wrote {}", path.display()));
        }
        Ok(())
    }
}

impl WeightsReport<'_> {
    fn lines(&self) -> Vec<String> {
        let (finish, number) = (self.finish, self.vertices);
        let histogram: Vec<String> = (finish.histogram.iter().enumerate())
            .filter(|(_, vertices)| **vertices > 0)
            .map(|(influences, vertices)| format!("{influences}: {vertices}"))
            .collect();
        let mut lines = vec![
            self.character.to_owned(),
            format!(
                "  weights    {}, {:.0} ms, {} unknowns",
                self.weights, self.setup_ms, self.unknowns
            ),
            format!(
                "  skin       {number} vertices, {} of them beyond the reach of bones, {} joints",
                self.unreached, self.joints
            ),
            format!("  influences {}", histogram.join(", ")),
            format!(
                "  finishing  {} vertices changed, by at most {:.3}; mirrored {}, without influence {}",
                finish.changed, finish.largest_change, finish.mirrored, finish.without
            ),
            format!("  unseeded   {}", listed(&self.unseeded_joints)),
            format!(
                "  smoothness {:.3e}, bleed {:.1} % (beyond the {NEAREST} nearest bones)",
                self.smoothness,
                100.0 * self.bleed
            ),
        ];
        if let Some(TransferSummary {
            report,
            unmatched_joints,
        }) = &self.transfer
        {
            lines.push(format!(
                "  transfer   {} of {} vertices matched, {} parts without match, {} turned inside out; source joints without partner: {}",
                report.matched,
                report.vertices,
                report.parts_without_match,
                report.reversed_parts,
                listed(unmatched_joints)
            ));
        }
        lines.push(match &self.against_file {
            Some(score) => format!(
                "  against    the file's own: L1 {:.4}, {:.2} mm rms and {:.1} mm at most over random poses, at 1.75 m",
                score.l1, score.pose_rms_mm, score.pose_max_mm
            ),
            None => "  against    nothing: the file has no weights".to_owned(),
        });
        lines
    }
}

fn listed(names: &[&str]) -> String {
    let shown = names[..names.len().min(MOST_NAMED)].join(", ");
    match names.len() {
        0 => "none".to_owned(),
        count if count > MOST_NAMED => format!("{shown} and {} more", count - MOST_NAMED),
        _ => shown,
    }
}

/// Repeats a transfer to see how it went: its report is not cached.
fn transfer_summary<'a>(
    subject: &Subject,
    options: &Options,
) -> Result<Option<TransferSummary<'a>>, Failure> {
    let Some(source) = subject.weight_method().transfer_source() else {
        return Ok(None);
    };
    let joints = JointMap::between(&source.skeleton, &subject.character.skeleton);
    let transferred = stderr::with_progress(options, "Matching", |progress| {
        transfer(source, &subject.skin.mesh, &joints, progress)
    })?;
    let name = |joint: usize| source.skeleton.joints()[joint].name.as_str();
    Ok(Some(TransferSummary {
        report: transferred.report,
        unmatched_joints: joints.unmatched().map(name).collect(),
    }))
}

fn output_of(path: &Path) -> Result<Output, Failure> {
    let is_glb = path
        .extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("glb"));
    match WeightFormat::of_path(path) {
        Some(format) => Ok(Output::Table(format)),
        None if is_glb => Ok(Output::Glb),
        None => Err(Failure::Usage(format!(
            "{}: can't tell what to write from this extension; there are .dmat, .json, .csv and .glb",
            path.display()
        ))),
    }
}

/// The weights of all vertices of the file in order; those of props that a joint carries are its own, those of static meshes are empty.
fn table_of(character: &Character, of_meshes: &[Option<SkinWeights>]) -> SkinWeights {
    let mut rows: Vec<Vec<(u32, f32)>> = Vec::with_capacity(character.file_vertices());
    for (mesh, weights) in character.meshes.iter().zip(of_meshes) {
        let row = |vertex: usize| match (weights, &mesh.attachment) {
            (Some(weights), _) => weights.row(vertex),
            (None, Attachment::Rigid { joint, .. }) => vec![(*joint as u32, 1.0)],
            (None, _) => Vec::new(),
        };
        rows.extend((0..mesh.file_vertices()).map(row));
    }
    SkinWeights::from_rows(rows).0
}
