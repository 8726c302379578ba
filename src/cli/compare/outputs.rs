//! The files of a comparison. All are computed before the first is written.

use std::path::{Path, PathBuf};

use image::{ExtendedColorType, ImageEncoder, RgbaImage};

use super::{Compare, Pictures};
use crate::cli::Failure;
use crate::cli::folder::check_folder;
use crate::io::write_atomically;
use crate::report::{
    Comparison, CurveChart, PageParts, PictureCell, PictureKind, ReportPicture, charts, csv, latex,
    page,
};

/// Size of the curves that are written as files, in CSS pixels.
const FIGURE_SIZE: [u32; 2] = [640, 420];

/// Where a comparison is written to.
pub(super) struct Outputs<'a> {
    page: Option<&'a Path>,
    csv: Option<&'a Path>,
    latex: Option<&'a Path>,
    figures: Option<&'a Path>,
}

impl<'a> Outputs<'a> {
    /// Checks the paths before any work.
    pub(super) fn new(verb: &'a Compare) -> Result<Self, Failure> {
        let outputs = Self {
            page: verb.output.as_deref(),
            csv: verb.csv.as_deref(),
            latex: verb.latex.as_deref(),
            figures: verb.figures.as_deref(),
        };
        let paths: Vec<&Path> = outputs.paths().collect();
        if paths.is_empty() && !verb.json {
            return Err(Failure::Usage(
                "say where to write the report, as in -o report.html; or --json to print it"
                    .to_owned(),
            ));
        }
        if let Some(page) = outputs.page
            && !page
                .extension()
                .is_some_and(|extension| extension.eq_ignore_ascii_case("html"))
        {
            return Err(Failure::Undone(format!(
                "{}: a report is written as .html; name the output so",
                page.display()
            )));
        }
        paths.into_iter().try_for_each(check_folder)?;
        if let Some(folder) = outputs
            .figures
            .filter(|folder| folder.exists() && !folder.is_dir())
        {
            return Err(Failure::Undone(format!(
                "{}: --figures expects a folder, and this is a file",
                folder.display()
            )));
        }
        Ok(outputs)
    }

    fn paths(&self) -> impl Iterator<Item = &'a Path> {
        [self.page, self.csv, self.latex, self.figures]
            .into_iter()
            .flatten()
    }

    /// Writes all files; returns their names.
    pub(super) fn write(
        &self,
        comparison: &Comparison,
        pictures: &Pictures,
        axis: &str,
    ) -> Result<Vec<PathBuf>, Failure> {
        let mut files: Vec<(PathBuf, Vec<u8>)> = Vec::new();
        let mut add = |path: &Path, bytes: Vec<u8>| files.push((path.to_path_buf(), bytes));
        if let Some(path) = self.page {
            let cells: Vec<PictureCell> = pictures
                .still
                .iter()
                .map(|picture| picture.cell(comparison))
                .collect::<Result<_, _>>()?;
            let parts = PageParts {
                comparison,
                pictures: &cells,
                clips: &pictures.clips,
                x_label: axis,
            };
            add(path, page(&parts).into_bytes());
        }
        if let Some(path) = self.csv {
            add(path, csv(comparison).into_bytes());
        }
        if let Some(path) = self.latex {
            add(path, latex(comparison).into_bytes());
        }
        if let Some(folder) = self.figures {
            std::fs::create_dir_all(folder)
                .map_err(|error| cannot_write(folder, &error.to_string()))?;
            for CurveChart {
                file_stem, chart, ..
            } in charts(comparison, axis)
            {
                let path = folder.join(format!("{file_stem}.svg"));
                add(&path, chart.svg(FIGURE_SIZE).into_bytes());
            }
            for picture in &pictures.still {
                let path = folder.join(format!("{}.png", picture_name(comparison, picture)));
                add(&path, png(&picture.image)?);
            }
            for clip in &pictures.clips {
                let path = folder.join(format!("clip-{}.webp", file_name(&clip.label)));
                add(&path, clip.webp.clone());
            }
        }
        for (path, bytes) in &files {
            write_atomically(path, |out| std::io::Write::write_all(out, bytes))?;
        }
        Ok(files.into_iter().map(|(path, _)| path).collect())
    }
}

fn cannot_write(path: &Path, why: &str) -> Failure {
    Failure::Undone(format!("{} can't be written: {why}", path.display()))
}

fn png(image: &RgbaImage) -> Result<Vec<u8>, Failure> {
    let mut bytes = Vec::new();
    image::codecs::png::PngEncoder::new(&mut bytes).write_image(
        image,
        image.width(),
        image.height(),
        ExtendedColorType::Rgba8,
    )?;
    Ok(bytes)
}

/// Name of a picture's file without extension: letters, digits, dots and hyphens.
fn picture_name(comparison: &Comparison, picture: &ReportPicture) -> String {
    let kind = match picture.kind {
        PictureKind::Skin => "",
        PictureKind::Difference => "-distance",
        PictureKind::Inset => "-close-up",
    };
    let name = format!(
        "{}-{}{kind}",
        comparison.poses[picture.pose].id, comparison.methods[picture.method].id
    );
    file_name(&name)
}

/// Other characters than letters, digits, dots and hyphens become hyphens.
fn file_name(name: &str) -> String {
    name.chars()
        .map(|c| {
            if c.is_alphanumeric() || matches!(c, '.' | '-') {
                c
            } else {
                '-'
            }
        })
        .collect()
}
