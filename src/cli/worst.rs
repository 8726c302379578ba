//! `sinew worst`: the poses in which methods are worst, as a contact sheet.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use serde::Serialize;

use super::folder::{check_folder, check_outputs};
use super::options::{CharacterOptions, Options, method_ids, parse_method};
use super::render::parse_view;
use super::weights::WeightsOption;
use super::{CommandResult, Failure, print_json, print_lines, stderr};
use crate::gpu::GpuContext;
use crate::io::{write_atomically, write_pose};
use crate::methods::{Actor, MethodId, Subject};
use crate::progress::Progress;
use crate::render::{NamedView, PictureSheet};
use crate::report::{
    WorstError, WorstPose, WorstSettings, draw_each, printed, printed_unit, searched_quantity,
    worst_poses,
};
use crate::rig::PoseFile;

/// Size of one picture of the sheet, pixels.
const PICTURE_SIZE: [u32; 2] = [420, 520];
/// At most this many movements are named below a picture.
const MOST_NAMED: usize = 2;

/// Options of the verb.
#[derive(Debug, Args)]
pub(super) struct Worst {
    #[command(flatten)]
    character: CharacterOptions,
    #[arg(long, visible_alias = "methods", value_parser = parse_method, value_delimiter = ',', required = true, help = methods_help())]
    method: Vec<MethodId>,
    /// What is worst: pairs (new intersections), volume, creases, roughness, stretch, girth, depth, or the id of any quantity that
    /// `bake --json` prints.
    #[arg(long, value_name = "METRIC", default_value = "pairs")]
    metric: String,
    #[command(flatten)]
    weights: WeightsOption,
    /// Number of poses to show for each method.
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = clap::value_parser!(u16).range(1..=100))]
    count: u16,
    /// Number of quasi-random poses of the range of motion that are tried first.
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u16).range(1..=10_000))]
    samples: u16,
    /// Number of poses that are tried around each of the worst ones.
    #[arg(long, value_name = "N", default_value_t = 12, value_parser = clap::value_parser!(u16).range(0..=10_000))]
    refinements: u16,
    /// The contact sheet.
    #[arg(help_heading = "Output", short, long, value_name = "OUT.png")]
    output: Option<PathBuf>,
    /// Also write each pose into this folder, in the format of `bake --pose`.
    #[arg(help_heading = "Output", long, value_name = "FOLDER")]
    poses_out: Option<PathBuf>,
    /// Print a JSON report.
    #[arg(help_heading = "Output", long)]
    json: bool,
    /// View direction of the pictures: front, back, side, left, right, top, bottom or three-quarter [default: three-quarter].
    #[arg(help_heading = "Output", long, value_parser = parse_view)]
    view: Option<NamedView>,
}

fn methods_help() -> String {
    format!(
        "The methods: a row of the sheet for each; there are {}",
        method_ids()
    )
}

#[derive(Serialize)]
struct WorstReport<'a> {
    character: &'a str,
    metric: &'static str,
    /// For each method, the worst pose first.
    methods: Vec<MethodWorst>,
    file: Option<&'a Path>,
}

#[derive(Serialize)]
struct MethodWorst {
    method: MethodId,
    poses: Vec<PoseReport>,
}

#[derive(Serialize)]
struct PoseReport {
    value: f64,
    /// Movements with the part of their way, −1 to 1.
    movements: Vec<(String, f64)>,
    /// As `bake --pose` reads it.
    pose: PoseFile,
}

impl Worst {
    pub(super) fn run(&self, options: &Options) -> CommandResult {
        self.output
            .iter()
            .chain(&self.poses_out)
            .try_for_each(|path| check_folder(path))?;
        if let Some(path) = self.output.as_deref().filter(|path| {
            !path
                .extension()
                .is_some_and(|extension| extension.eq_ignore_ascii_case("png"))
        }) {
            return Err(Failure::Undone(format!(
                "{}: a contact sheet is written as .png; name the output so",
                path.display()
            )));
        }
        let subject = self.character.open(options)?;
        check_outputs(&self.output)?;
        let saved = self.character.saved(&subject, options)?;
        let subject = self.weights.on(&subject, saved.as_ref())?;
        let options = &options.with_saved(saved.as_ref());
        let mut found: Vec<(MethodId, Vec<Arc<WorstPose>>)> = Vec::new();
        for &method in &self.method {
            found.push((method, self.search(&subject, method, options)?));
        }
        if let Some(path) = &self.output {
            self.sheet(&subject, &found, path, options)?;
        }
        let name = &subject.character.name;
        if let Some(folder) = &self.poses_out {
            std::fs::create_dir_all(folder).map_err(|error| {
                Failure::Undone(format!("{} can't be made: {error}", folder.display()))
            })?;
            for (method, poses) in &found {
                for (rank, worst) in (1..).zip(poses) {
                    let path = folder.join(format!("{}-{rank}.json", method.id()));
                    write_pose(&path, &worst.pose.to_file(&subject.character.skeleton))?;
                }
            }
        }
        if self.json {
            return print_json(&self.report(&subject, &found));
        }
        print_lines(found.iter().flat_map(|(method, poses)| {
            let none = poses.is_empty().then(|| self.none(name, *method));
            let lines = (1..)
                .zip(poses)
                .map(move |(rank, worst): (usize, &Arc<WorstPose>)| {
                    let found = sentence(worst, usize::MAX);
                    format!("{name}, {} {rank}: {found}", method.id())
                });
            none.into_iter().chain(lines)
        }))
    }

    /// What is said of a method that is nowhere bad.
    fn none(&self, character: &str, method: MethodId) -> String {
        let quantity = searched_quantity(&self.metric);
        let label = quantity.map_or(String::new(), |quantity| quantity.label.to_lowercase());
        format!(
            "{character}, {}: no pose was found in which the metric \"{label}\" is not ideal",
            method.id()
        )
    }

    fn search(
        &self,
        subject: &Arc<Subject>,
        method: MethodId,
        options: &Options,
    ) -> Result<Vec<Arc<WorstPose>>, Failure> {
        let settings = WorstSettings {
            quantity: self.metric.clone(),
            samples: self.samples.into(),
            refinements: self.refinements.into(),
            count: self.count.into(),
        };
        let (values, params) = (options.values_for(method)?, options.params_for(subject));
        let found = stderr::with_progress(options, method.label(), |progress| {
            let bind =
                |progress: &Progress| Actor::bind_with(subject, method, &params, &values, progress);
            worst_poses(bind, &settings, &mut |_| {}, progress)
        });
        found.map_err(|error| match error {
            WorstError::UnknownQuantity { .. } => Failure::Usage(format!("--metric: {error}")),
            error => Failure::Undone(format!("{}: {error}", subject.character.name)),
        })
    }

    /// Draws a row for each method.
    fn sheet(
        &self,
        subject: &Arc<Subject>,
        found: &[(MethodId, Vec<Arc<WorstPose>>)],
        path: &Path,
        options: &Options,
    ) -> CommandResult {
        let gpu = stderr::without_wayland_errors(GpuContext::headless)?;
        let columns = found
            .iter()
            .map(|(_, poses)| poses.len())
            .max()
            .unwrap_or(0)
            .max(1);
        let size = [
            PICTURE_SIZE[0] * columns as u32,
            PICTURE_SIZE[1] * found.len() as u32,
        ];
        gpu.check_size(size[0], size[1])?;
        let view = self.view.unwrap_or(NamedView::ThreeQuarter);
        let sheet = PictureSheet::table(size, [columns, found.len()]);
        let mut pictures = Vec::new();
        let mut captions = Vec::new();
        for (method, poses) in found {
            let states: Vec<_> = poses.iter().map(|worst| worst.state.clone()).collect();
            let drawn = stderr::with_progress(options, "Drawing", |progress| {
                draw_each(&gpu, subject, &states, (sheet.cell(0), view), progress)
            })?;
            pictures.extend(drawn);
            captions.extend(
                poses.iter().map(|worst| {
                    format!("{}: {}", method.short_label(), sentence(worst, MOST_NAMED))
                }),
            );
            for column in poses.len()..columns {
                pictures.push(image::RgbaImage::new(1, 1));
                captions.push(match column {
                    0 => format!("{}: none found", method.short_label()),
                    _ => String::new(),
                });
            }
        }
        let captions: Vec<&str> = captions.iter().map(String::as_str).collect();
        let image = sheet.compose(&pictures, &captions);
        write_atomically(path, |out| {
            image
                .write_to(out, image::ImageFormat::Png)
                .map_err(std::io::Error::other)
        })?;
        if !options.quiet {
            stderr::line(&format!("wrote {}", path.display()));
        }
        Ok(())
    }

    fn report<'a>(
        &'a self,
        subject: &'a Subject,
        found: &[(MethodId, Vec<Arc<WorstPose>>)],
    ) -> WorstReport<'a> {
        let skeleton = &subject.character.skeleton;
        let methods = found.iter().map(|(method, poses)| MethodWorst {
            method: *method,
            poses: poses
                .iter()
                .map(|worst| PoseReport {
                    value: worst.value,
                    movements: worst.movements.clone(),
                    pose: worst.pose.to_file(skeleton),
                })
                .collect(),
        });
        WorstReport {
            character: &subject.character.name,
            metric: searched_quantity(&self.metric).map_or("", |quantity| quantity.id),
            methods: methods.collect(),
            file: self.output.as_deref(),
        }
    }
}

/// Value and movements of a found pose, for people.
fn sentence(worst: &WorstPose, most: usize) -> String {
    let value = printed(worst.value, worst.quantity);
    let unit = match printed_unit(worst.quantity) {
        "" => String::new(),
        unit => format!(" {unit}"),
    };
    let named = worst.movements.iter().take(most);
    let movements: Vec<String> = named
        .map(|(name, part)| format!("{name} {:.0} %", part * 100.0))
        .collect();
    format!(
        "{} {value}{unit}; {}",
        worst.quantity.label.to_lowercase(),
        movements.join(", ")
    )
}
