//! `sinew distill`: simulated flesh as helper joints and weights, for game engines.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::compress::{CompressionReport, check_compressible, compress};
use super::folder::{check_folder, check_outputs};
use super::options::{CharacterOptions, Options, method_help, parse_method};
use super::pose::{find_clip, parse_fps};
use super::weights::WeightsOption;
use super::{CommandResult, Failure, character, print_json, stderr};
use crate::io::{MOST_INFLUENCES, UsdFormat};
use crate::methods::{MethodId, Subject};
use crate::session::{
    ClipResidual, DEFAULT_FPS, DistillReport, DistillSettings, MATERIALS_LOST, distill,
};
use crate::weights::decomposition::{DecompositionSettings, Residual, SpringReport};

/// `--held-back none`.
const NONE: &str = "none";

/// Options of the verb.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "independent options")]
pub(super) struct Distill {
    #[command(flatten)]
    character: CharacterOptions,
    #[arg(long, value_parser = parse_method, default_value = "pd", help = method_help(""))]
    method: MethodId,
    #[command(flatten)]
    weights: WeightsOption,
    /// Fit to this clip, by name or by index from 0 (repeatable) [default: all clips].
    #[arg(long, value_name = "NAME|INDEX", allow_hyphen_values = true)]
    clip: Vec<String>,
    /// Simulate this clip only to measure (repeatable), or none [default: the clips that are not fitted].
    #[arg(long, value_name = "NAME|INDEX|none", allow_hyphen_values = true)]
    held_back: Vec<String>,
    /// Frames per second of the simulation and of the helpers' keys.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_FPS, value_parser = parse_fps)]
    fps: f64,
    /// Largest number of helper joints.
    #[arg(long, value_name = "N", default_value_t = 24, value_parser = clap::value_parser!(u16).range(0..=512))]
    bones: u16,
    /// Largest number of joints per vertex; game engines expect at most 4.
    #[arg(long, value_name = "N", default_value_t = 4, value_parser = clap::value_parser!(u16).range(1..=MOST_INFLUENCES as i64))]
    influences: u16,
    /// Largest number of corrective morph targets, fitted to what the helper joints leave over and driven by the pose, too.
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = clap::value_parser!(u16).range(0..=128))]
    morphs: u16,
    /// Add spring bones of VRM to helpers whose flesh swings, fitted to the clips and to a sudden stop (.glb only).
    #[arg(long)]
    springs: bool,
    /// Fit to the clips alone, and not to the range of motion of all joints, which makes helpers better in clips never simulated.
    #[arg(long)]
    clips_only: bool,
    /// Output file, .glb, .usda or .usdc, or .vrm for a character that was read from VRM: skeleton, helpers, weights, and all clips with keys of the helpers.
    #[arg(help_heading = "Output", short, long, value_name = "OUT")]
    output: PathBuf,
    /// Write the file's units instead of metres.
    #[arg(help_heading = "Output", long)]
    keep_units: bool,
    /// Write a .glb that is about half as large: quantised and compressed by the meshopt extension of glTF.
    #[arg(help_heading = "Output", long)]
    compress: bool,
    /// Print a JSON report.
    #[arg(help_heading = "Output", long)]
    json: bool,
}

#[derive(Serialize)]
struct Report<'a> {
    character: &'a str,
    method: MethodId,
    #[serde(flatten)]
    distilled: &'a DistillReport,
    file: &'a PathBuf,
    #[serde(skip_serializing_if = "Option::is_none")]
    compression: Option<CompressionReport>,
}

impl Distill {
    pub(super) fn run(&self, options: &Options) -> CommandResult {
        let ending = self.output.extension().unwrap_or_default();
        let is_vrm = ending.eq_ignore_ascii_case("vrm");
        let is_glb = is_vrm || ending.eq_ignore_ascii_case("glb");
        if !is_glb && UsdFormat::of_path(&self.output).is_none() {
            return Err(Failure::Usage(format!(
                "{}: a rig is written as .glb, .usda or .usdc, or as .vrm if it was read from VRM; name the file so",
                self.output.display()
            )));
        }
        if !is_glb && self.springs {
            return Err(Failure::Usage(format!(
                "{}: springs are written as .glb; name the file so, or leave out --springs",
                self.output.display()
            )));
        }
        if self.compress {
            check_compressible(Some(&self.output))?;
        }
        check_folder(&self.output)?;
        let subject = self.character.open(options)?;
        check_outputs([&self.output])?;
        let not_vrm = |why: &str| {
            let shown = self.output.display();
            Failure::Undone(format!("{shown}: {why}; name the file .glb"))
        };
        let read = &subject.character;
        if is_vrm && (read.humanoid.is_empty() || read.document.is_none()) {
            return Err(not_vrm(
                "only a character that was read from VRM can be written as .vrm",
            ));
        }
        let saved = self.character.saved(&subject, options)?;
        let subject = self.weights.on(&subject, saved.as_ref())?;
        let options = &options.with_saved(saved.as_ref());
        let settings = self.settings(&subject)?;
        let mut actor = character::bind(&subject, self.method, options)?;
        let distilled = stderr::with_progress(options, "Distilling", |progress| {
            distill(&mut actor, &settings, progress)
        })?;
        if is_vrm && distilled.loses_materials() {
            return Err(not_vrm(
                "props are attached to joints, so that the data of VRM are lost",
            ));
        }
        if !options.quiet {
            note(&distilled.report);
            if distilled.loses_materials() {
                stderr::line(&format!("note: {MATERIALS_LOST}"));
            }
        }
        distilled.write(&self.output, self.keep_units)?;
        let metres = if self.keep_units {
            subject.metres_per_unit()
        } else {
            1.0
        };
        let compressed = (self.compress)
            .then(|| compress(&self.output, metres, options.quiet || self.json))
            .transpose()?;
        if self.json {
            return print_json(&Report {
                character: &subject.character.name,
                method: self.method,
                distilled: &distilled.report,
                file: &self.output,
                compression: compressed,
            });
        }
        if !options.quiet {
            stderr::line(&format!("wrote {}", self.output.display()));
        }
        Ok(())
    }

    fn settings(&self, subject: &Subject) -> Result<DistillSettings, Failure> {
        let found = |names: &[String]| -> Result<Vec<usize>, Failure> {
            let mut clips = Vec::new();
            for name in names {
                let clip = find_clip(&subject.character, name)?;
                if !clips.contains(&clip) {
                    clips.push(clip);
                }
            }
            Ok(clips)
        };
        let all = 0..subject.character.clips.len();
        let held_back = match self.held_back.as_slice() {
            [one] if one == NONE => Some(Vec::new()),
            [] => None,
            names => Some(found(names)?),
        };
        let fitted = if self.clip.is_empty() {
            let is_held = |clip: &usize| held_back.as_ref().is_some_and(|held| held.contains(clip));
            all.clone().filter(|clip| !is_held(clip)).collect()
        } else {
            found(&self.clip)?
        };
        let others = || all.filter(|clip| !fitted.contains(clip)).collect();
        let held_back = held_back.unwrap_or_else(others);
        if let Some(&both) = held_back.iter().find(|clip| fitted.contains(clip)) {
            return Err(Failure::Usage(format!(
                "clip \"{}\" can't be fitted and held back",
                subject.character.clips[both].name
            )));
        }
        Ok(DistillSettings {
            fit: DecompositionSettings {
                helpers: self.bones.into(),
                influences: self.influences.into(),
            },
            morphs: self.morphs.into(),
            fitted,
            held_back,
            fps: self.fps,
            range: !self.clips_only,
            springs: self.springs,
        })
    }
}

/// Says before anything is written how far the rig is from what was simulated.
fn note(report: &DistillReport) {
    let morphs = match report.morphs {
        0 => String::new(),
        count => format!(", {count} morphs"),
    };
    stderr::line(&format!(
        "{} vertices on {} joints and {} helpers, at most {} each{morphs}; distance to the simulated skin, rms and largest, in mm:",
        report.vertices, report.joints, report.helpers, report.influences
    ));
    for clip in report.fitted.iter().chain(&report.held_back) {
        stderr::line(&format!("  {}", sentence(clip, "held back, ")));
    }
    if let Some(stops) = &report.stops {
        stderr::line(&format!("  {}", sentence(stops, "")));
    }
    if !report.springs.is_empty() {
        let count = report.springs.iter().filter(|s| s.left_out.is_none());
        stderr::line(&format!(
            "{} springs; of each helper the swing after a sudden stop from 1 m/s, and the distance of its flesh, rms, in mm:",
            count.count()
        ));
        for spring in &report.springs {
            stderr::line(&format!("  {}", spring_sentence(spring)));
        }
    }
}

fn spring_sentence(spring: &SpringReport) -> String {
    let swing = spring.swing.map_or_else(String::new, |swing| {
        format!(
            " at {:.1} Hz, decay {:.0} /s",
            swing.frequency_hz, swing.decay_per_sec
        )
    });
    let rms = spring.rms.zip(spring.rms_of_stops);
    let rms = rms.map_or_else(String::new, |([before, after], stops)| {
        format!(
            "; in clips {before:.2}, with a spring {after:.2}, in stops {:.2}, {:.2}",
            stops[0], stops[1]
        )
    });
    let why = spring.left_out.map_or_else(String::new, |why| {
        format!("; no spring: the flesh {}", why.reason())
    });
    format!(
        "{}: {:.1} mm{swing}{rms}{why}",
        spring.helper, spring.swing_mm
    )
}

/// `unkeyed` stands for the keys of a clip that was held back.
fn sentence(residual: &ClipResidual, unkeyed: &str) -> String {
    let shown = |residual: &Residual| format!("{:.2} ({:.1})", residual.rms, residual.max);
    let keyed = residual.keyed.as_ref();
    let keyed = keyed.map_or_else(
        || unkeyed.to_owned(),
        |keyed| format!("by its keys {}, ", shown(keyed)),
    );
    let sprung = residual.sprung.as_ref();
    let sprung = sprung.map_or_else(String::new, |sprung| {
        format!(", with springs {}", shown(sprung))
    });
    format!(
        "{}, {} frames: {keyed}driven by the pose {}{sprung}, without helpers {}",
        residual.clip,
        residual.frames,
        shown(&residual.driven),
        shown(&residual.before)
    )
}
