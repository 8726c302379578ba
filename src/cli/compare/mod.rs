//! `sinew compare`: methods in many poses, as a page, tables and figures.

mod outputs;
mod poses;
mod variant;

use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;

use self::outputs::Outputs;
use self::poses::ComparePoses;
use self::variant::{VariantOption, check_names, parse_variant, variants};
use super::options::{CharacterOptions, Options, method_ids, parse_method};
use super::render::{parse_size, parse_view};
use super::weights::WeightsOption;
use super::{CommandResult, Failure, print_json, stderr};
use crate::gpu::GpuContext;
use crate::io::read_positions;
use crate::methods::{MethodId, Subject};
use crate::render::NamedView;
use crate::report::{
    About, CLIPS, CompareSettings, ForeignResult, Illustrations, MOST_DRAWN, Measured,
    PICTURE_SIZE, PictureError, PictureSettings, ReportClip, ReportPicture, Variant, compare,
    draw_clips, draw_pictures, json, shell_word,
};

/// Options of the verb.
#[derive(Debug, Args)]
pub(super) struct Compare {
    #[command(flatten)]
    character: CharacterOptions,
    #[arg(long, visible_alias = "method", value_parser = parse_method, value_delimiter = ',', required_unless_present = "variant", help = methods_help())]
    methods: Vec<MethodId>,
    /// A method with settings of its own as a further row (repeatable), as in "soft: pd stiffness=5000". Settings are the method's own
    /// parameters (as for --set), those of physics, and preset, collisions, sim-vertices, base and weights; what is not set is as for the
    /// other rows.
    #[arg(long, value_name = "NAME: METHOD KEY=VALUE …", value_parser = parse_variant)]
    variant: Vec<VariantOption>,
    #[command(flatten)]
    weights: WeightsOption,
    #[command(flatten)]
    poses: ComparePoses,
    /// Another program's result as a further row (repeatable): NAME=FILE with the positions of all vertices in every pose, a .pc2 point
    /// cache, an .obj for a single pose, or a .json of `bake`. With other numbers of vertices only distances are measured.
    #[arg(long, value_name = "NAME=FILE", value_parser = parse_result)]
    result: Vec<(String, PathBuf)>,
    /// Measure distances to this method, --variant or --result [default: reference, if it is compared].
    #[arg(long, value_name = "METHOD|NAME")]
    distance_to: Option<String>,
    /// The report: one .html file that needs no other files.
    #[arg(help_heading = "Output", short, long, value_name = "OUT.html")]
    output: Option<PathBuf>,
    /// Also write every value as a table: a line for each method and pose.
    #[arg(help_heading = "Output", long, value_name = "OUT.csv")]
    csv: Option<PathBuf>,
    /// Also write the medians as a LaTeX table (booktabs).
    #[arg(help_heading = "Output", long, value_name = "OUT.tex")]
    latex: Option<PathBuf>,
    /// Also write the curves (.svg), the pictures (.png) and the clips (.webp) into this folder.
    #[arg(help_heading = "Output", long, value_name = "FOLDER")]
    figures: Option<PathBuf>,
    /// Print a JSON report.
    #[arg(help_heading = "Output", long)]
    json: bool,
    /// Draw no pictures; no graphics device is needed then.
    #[arg(help_heading = "Output", long)]
    no_pictures: bool,
    /// Size of each picture in pixels.
    #[arg(help_heading = "Output", long, value_name = "WxH", value_parser = parse_size, conflicts_with = "no_pictures")]
    size: Option<[u32; 2]>,
    /// Number of poses that are drawn, of all of them those at the ends of the movements first.
    #[arg(help_heading = "Output", long, value_name = "N", default_value_t = MOST_DRAWN as u16, value_parser = clap::value_parser!(u16).range(1..=1000))]
    drawn: u16,
    /// Number of moving pictures: movements through their poses, or 1 for the middle of a clip; 0 for none.
    #[arg(help_heading = "Output", long, value_name = "N", default_value_t = CLIPS as u16, value_parser = clap::value_parser!(u16).range(0..=100))]
    clips: u16,
    /// View direction of the pictures: front, back, side, left, right, top, bottom or three-quarter [default: three-quarter].
    #[arg(help_heading = "Output", long, value_parser = parse_view)]
    view: Option<NamedView>,
}

/// What was drawn.
#[derive(Default)]
struct Pictures {
    still: Vec<ReportPicture>,
    clips: Vec<ReportClip>,
}

fn parse_result(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, file)) if !name.is_empty() && !file.is_empty() => {
            Ok((name.to_owned(), file.into()))
        }
        _ => Err("expected NAME=FILE, as in maya=arm.pc2".to_owned()),
    }
}

fn methods_help() -> String {
    format!(
        "The methods to compare, as in lbs,dqs,pd; there are {}",
        method_ids()
    )
}

impl Compare {
    pub(super) fn run(&self, options: &Options) -> CommandResult {
        let outputs = Outputs::new(self)?;
        let methods = self.distinct_methods()?;
        let results = self.results()?;
        let subject = self.character.open(options)?;
        let saved = self.character.saved(&subject, options)?;
        let subject = self.weights.on(&subject, saved.as_ref())?;
        let options = &options.with_saved(saved.as_ref());
        let of_variants = self.variant.iter().map(VariantOption::method);
        let all: Vec<MethodId> = methods.iter().copied().chain(of_variants).collect();
        self.weights.note_unused(&all, options);
        let chosen = self.poses.columns(&subject)?;
        let draws = !self.no_pictures && (self.output.is_some() || self.figures.is_some());
        let illustrations = if draws {
            let most = [self.drawn.into(), self.clips.into()];
            let vertices = subject.bind_positions.len();
            Illustrations::choose(&chosen.columns, most, all.len(), vertices)
        } else {
            Illustrations::default()
        };
        let of_method = |&method: &MethodId| options.variant(method, &subject);
        let mut rows: Vec<Variant> = methods.iter().map(of_method).collect::<Result<_, _>>()?;
        rows.extend(variants(&self.variant, &subject, options)?);
        let settings = CompareSettings {
            distance_to: self.target(&rows)?,
            results,
            kept: illustrations.kept(),
            variants: rows,
            columns: chosen.columns,
        };
        let mut measured = stderr::with_progress(options, "Comparing", |progress| {
            compare(&subject, &settings, progress)
        })?;
        if let Some(why) = measured.comparison.whole_failure() {
            return Err(Failure::Undone(format!(
                "{}: nothing could be measured, and nothing was written: {why}",
                subject.character.name
            )));
        }
        measured.comparison.about = self.about(&subject, &settings, chosen.set, options);
        let pictures = if draws {
            self.pictures(&subject, &settings, &measured, &illustrations, options)?
        } else {
            Pictures::default()
        };
        let comparison = &measured.comparison;
        let files = outputs.write(comparison, &pictures, settings.columns.axis())?;
        if self.json {
            return print_json(&json(comparison));
        }
        if !options.quiet {
            let is_figure = |file: &&PathBuf| {
                self.figures
                    .as_deref()
                    .is_some_and(|folder| file.parent() == Some(folder))
            };
            for file in files.iter().filter(|file| !is_figure(file)) {
                stderr::line(&format!("wrote {}", file.display()));
            }
            if let Some(folder) = &self.figures {
                let count = files.iter().filter(is_figure).count();
                stderr::line(&format!("wrote {count} figures into {}", folder.display()));
            }
        }
        Ok(())
    }

    /// The methods, each once, with the target of distances.
    fn distinct_methods(&self) -> Result<Vec<MethodId>, Failure> {
        let mut methods: Vec<MethodId> = Vec::new();
        let target = self
            .distance_to
            .as_deref()
            .filter(|target| !self.is_named(target));
        let target = target.map(parse_method).transpose();
        let target = target.map_err(|error| Failure::Usage(format!("--distance-to: {error}")))?;
        for method in self.methods.iter().copied().chain(target) {
            if !methods.contains(&method) {
                methods.push(method);
            }
        }
        check_names(
            self.methods
                .iter()
                .map(|method| method.id())
                .chain(self.names()),
        )?;
        Ok(methods)
    }

    /// The names of rows that are not methods.
    fn names(&self) -> impl Iterator<Item = &str> {
        let variants = self.variant.iter().map(|variant| variant.name.as_str());
        variants.chain(self.result.iter().map(|(name, _)| name.as_str()))
    }

    fn is_named(&self, name: &str) -> bool {
        self.names().any(|row| row == name)
    }

    /// Reads the results of other programs.
    fn results(&self) -> Result<Vec<ForeignResult>, Failure> {
        let read = |(name, path): &(String, PathBuf)| {
            Ok(ForeignResult {
                name: name.clone(),
                frames: read_positions(path)?.frames,
            })
        };
        self.result.iter().map(read).collect()
    }

    /// The row that distances are measured to.
    fn target(&self, rows: &[Variant]) -> Result<Option<usize>, Failure> {
        let ids = rows.iter().map(|row| row.id.as_str());
        let mut rows = ids.chain(self.result.iter().map(|(name, _)| name.as_str()));
        let wanted = self.distance_to.as_deref();
        let row = rows.position(|id| id == wanted.unwrap_or("reference"));
        match (wanted, row) {
            (Some(wanted), None) => Err(Failure::Usage(format!(
                "--distance-to: there is no row \"{wanted}\""
            ))),
            (_, row) => Ok(row),
        }
    }

    fn about(
        &self,
        subject: &Subject,
        settings: &CompareSettings,
        set: String,
        options: &Options,
    ) -> About {
        let files = self.character.files.iter();
        About {
            files: files.map(|file| file.display().to_string()).collect(),
            set,
            command: command_line(),
            threads: options
                .threads
                .map_or_else(rayon::current_num_threads, usize::from),
            ..About::of(subject, settings)
        }
    }

    /// Draws the pictures. Without a graphics device there are none, and a note says so.
    fn pictures(
        &self,
        subject: &Arc<Subject>,
        settings: &CompareSettings,
        measured: &Measured,
        illustrations: &Illustrations,
        options: &Options,
    ) -> Result<Pictures, Failure> {
        let gpu = match stderr::without_wayland_errors(GpuContext::headless) {
            Ok(gpu) => gpu,
            Err(error) => {
                if !options.quiet {
                    stderr::line(&format!("note: the report has no pictures: {error}"));
                }
                return Ok(Pictures::default());
            }
        };
        let size = self.size.unwrap_or(PICTURE_SIZE);
        gpu.check_size(size[0], size[1])?;
        let shown = PictureSettings {
            states: &measured.states_in(&illustrations.drawn),
            columns: &illustrations.drawn,
            against: settings
                .distance_to
                .filter(|row| *row < settings.variants.len())
                .unwrap_or(0),
            size,
            view: self.view.unwrap_or(NamedView::ThreeQuarter),
        };
        let mut pictures = Pictures::default();
        let drawn = stderr::with_progress(options, "Drawing", |progress| {
            let still = progress.part(0.0, 0.5);
            draw_pictures(&gpu, subject, &shown, &still, |picture| {
                pictures.still.push(picture);
            })?;
            let plans = (&illustrations.clips[..], &shown);
            let moving = progress.part(0.5, 1.0);
            pictures.clips = draw_clips(&gpu, subject, measured, plans, &moving)?;
            Ok(())
        });
        match drawn {
            Ok(()) => Ok(pictures),
            Err(PictureError::Cancelled(cancelled)) => Err(cancelled.into()),
            Err(error) => Err(error.into()),
        }
    }
}

/// The command of this process, to be repeated in a shell.
fn command_line() -> String {
    let words = std::env::args_os().skip(1);
    let quoted = words.map(|word| shell_word(&word.to_string_lossy()));
    std::iter::once("sinew".to_owned())
        .chain(quoted)
        .collect::<Vec<_>>()
        .join(" ")
}
