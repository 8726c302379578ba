//! `sinew bake`: the deformed skin, frame by frame.

use std::path::PathBuf;

use clap::Args;
use serde::Serialize;

use super::options::{CharacterOptions, Options, parse_method};
use super::pose::PoseOptions;
use super::{Failure, Outcome, character, print_json, stderr};
use crate::session::{BakeFormat, ContactSummary, Moments, Take, bake};
use crate::skin::Method;

/// Options of the verb.
#[derive(Debug, Args)]
pub(super) struct Bake {
    #[command(flatten)]
    character: CharacterOptions,
    /// The method: rigid, lbs, dqs or pd.
    #[arg(long, value_parser = parse_method)]
    method: Method,
    #[command(flatten)]
    pose: PoseOptions,
    /// Where to write: .obj (several frames: NAME.0000.obj …), .pc2 or .json.
    #[arg(short, long, value_name = "OUT")]
    output: PathBuf,
    /// Print a report for machines.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Report {
    character: String,
    method: Method,
    vertices: usize,
    frames: usize,
    first_frame: u32,
    fps: Option<f64>,
    settled: bool,
    max_displacement: f32,
    method_ms: f64,
    #[serde(flatten)]
    contact: ContactSummary,
    files: Vec<PathBuf>,
}

impl Bake {
    pub(super) fn run(&self, options: &Options) -> Outcome {
        let format = self.format()?;
        check_folder(&self.output)?;
        let subject = self.character.open(options)?;
        let take = self.pose.take(&subject.character)?;
        let mut actor = character::bind(&subject, self.method, options)?;
        let baked = stderr::with_progress(options, "Baking", |progress| bake(&mut actor, &take, &self.output, format, progress))?;
        if self.json {
            let (first_frame, fps) = frames_of(&take);
            return print_json(&Report {
                character: subject.character.name.clone(),
                method: self.method,
                vertices: actor.positions().len(),
                frames: take.frame_count(),
                first_frame,
                fps,
                settled: fps.is_none(),
                max_displacement: baked.max_displacement,
                method_ms: baked.method_ms,
                contact: baked.contact,
                files: baked.files,
            });
        }
        if !options.quiet {
            stderr::line(&format!("wrote {}", list(&baked.files)));
        }
        Ok(())
    }

    fn format(&self) -> Result<BakeFormat, Failure> {
        BakeFormat::of_path(&self.output).ok_or_else(|| {
            let path = self.output.display();
            Failure::Undone(format!("{path}: can't tell what to write from this extension; there are .obj, .pc2 and .json"))
        })
    }
}

fn frames_of(take: &Take) -> (u32, Option<f64>) {
    match take.moments {
        Moments::Frames { first, fps, .. } => (first, Some(fps)),
        Moments::Settled { .. } => (0, None),
    }
}

fn list(files: &[PathBuf]) -> String {
    match files {
        [] => "nothing".to_owned(),
        [one] => one.display().to_string(),
        [first, .., last] => format!("{} files, {} to {}", files.len(), first.display(), last.display()),
    }
}

/// Says early, before any work, that the output has no place to go.
pub(super) fn check_folder(output: &std::path::Path) -> Outcome {
    let folder = match output.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => std::path::Path::new("."),
    };
    if !folder.is_dir() {
        let (path, folder) = (output.display(), folder.display());
        return Err(Failure::Undone(format!("{path} can't be written: there is no folder {folder}; make it first")));
    }
    Ok(())
}
