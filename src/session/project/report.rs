//! A comparison of methods as a page, in the background.

use std::path::Path;
use std::sync::Arc;

use crate::gpu::GpuContext;
use crate::io::write_atomically;
use crate::methods::Subject;
use crate::progress::Progress;
use crate::render::NamedView;
use crate::report::{
    About, CLIPS, Columns, CompareSettings, Illustrations, MOST_DRAWN, PICTURE_SIZE, PageParts,
    PictureError, PictureSettings, Variant, compare, draw_clips, draw_pictures, page, shell_word,
};

/// Part of the progress that measuring takes, and up to which pictures are drawn; the rest is drawing clips.
const MEASURING: f32 = 0.8;
const PICTURES: f32 = 0.9;

/// What a report is made of.
pub(super) struct ReportInput {
    /// The methods and variants.
    pub(super) variants: Vec<Variant>,
    /// The poses.
    pub(super) columns: Columns,
    /// The set of poses, for people.
    pub(super) set: String,
    /// The character's files.
    pub(super) files: Vec<String>,
}

/// Measures, draws and writes the page. The error is a sentence. Without a graphics device the page has no pictures.
pub(super) fn write_report(
    subject: &Arc<Subject>,
    input: ReportInput,
    path: &Path,
    progress: &Progress,
) -> Result<(), String> {
    let said = |error: &dyn std::fmt::Display| error.to_string();
    if input.variants.is_empty() {
        return Err("no method is chosen; choose at least one".to_owned());
    }
    if input.columns.is_empty() {
        return Err(
            "no joint was found that bends, so there is no range of motion; choose a clip"
                .to_owned(),
        );
    }
    let gpu = GpuContext::headless();
    let reference = |variant: &Variant| variant.id == "reference";
    let illustrations = if gpu.is_ok() {
        let (methods, vertices) = (input.variants.len(), subject.bind_positions.len());
        Illustrations::choose(&input.columns, [MOST_DRAWN, CLIPS], methods, vertices)
    } else {
        Illustrations::default()
    };
    let settings = CompareSettings {
        distance_to: input.variants.iter().position(reference),
        kept: illustrations.kept(),
        variants: input.variants,
        results: Vec::new(),
        columns: input.columns,
    };
    let measuring = progress.part(0.0, MEASURING);
    let mut measured = compare(subject, &settings, &measuring).map_err(|error| said(&error))?;
    if let Some(why) = measured.comparison.whole_failure() {
        return Err(format!("Nothing could be measured: {why}."));
    }
    measured.comparison.about = About {
        command: command(&input.files, &settings, subject, path),
        files: input.files,
        set: input.set,
        ..About::of(subject, &settings)
    };
    let comparison = &measured.comparison;
    let (mut pictures, mut clips) = (Vec::new(), Vec::new());
    if let Ok(gpu) = gpu {
        let shown = PictureSettings {
            states: &measured.states_in(&illustrations.drawn),
            columns: &illustrations.drawn,
            against: settings.distance_to.unwrap_or(0),
            size: PICTURE_SIZE,
            view: NamedView::ThreeQuarter,
        };
        let drawing = progress.part(MEASURING, PICTURES);
        let drawn = draw_pictures(&gpu, subject, &shown, &drawing, |picture| {
            pictures.push(picture.cell(comparison));
        });
        let drawn = drawn.and_then(|()| {
            let drawing = progress.part(PICTURES, 1.0);
            let plans = (&illustrations.clips[..], &shown);
            clips = draw_clips(&gpu, subject, &measured, plans, &drawing)?;
            Ok(())
        });
        match drawn {
            Ok(()) => {}
            Err(PictureError::Cancelled(cancelled)) => return Err(said(&cancelled)),
            Err(error) => log::warn!("the report lacks pictures: {error}"),
        }
    }
    let pictures: Result<Vec<_>, _> = pictures.into_iter().collect();
    let text = page(&PageParts {
        comparison,
        pictures: &pictures.map_err(|error| said(&error))?,
        clips: &clips,
        x_label: settings.columns.axis(),
    });
    progress.check().map_err(|error| said(&error))?;
    write_atomically(path, |out| std::io::Write::write_all(out, text.as_bytes()))
        .map_err(|error| said(&error))
}

/// A command that compares the same methods on the same files; edits that are not in the files are not in it.
fn command(files: &[String], settings: &CompareSettings, subject: &Subject, path: &Path) -> String {
    let (named, plain): (Vec<&Variant>, Vec<&Variant>) = settings
        .variants
        .iter()
        .partition(|row| !row.settings.is_empty());
    let methods: Vec<&str> = plain.iter().map(|row| row.id.as_str()).collect();
    let mut rows = String::new();
    if !methods.is_empty() {
        rows = format!(" --methods {}", methods.join(","));
    }
    for row in named {
        let text = format!("{}: {}", row.id.replace(':', " "), row.settings);
        rows = format!("{rows} --variant {}", shell_word(&text));
    }
    let files = files.iter().map(|file| shell_word(file));
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    format!(
        "sinew compare {}{rows} --weights {} -o {}",
        files.collect::<Vec<_>>().join(" "),
        shell_word(&subject.weight_method().to_string()),
        shell_word(&name)
    )
}
