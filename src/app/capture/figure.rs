//! Figures: all views in one picture, for papers.

use std::io::Write;
use std::sync::Arc;

use image::{Rgba, RgbaImage};

use super::CaptureError;
use super::job::{CaptureResult, CaptureTarget};
use super::studio::{Shot, keep, plain_picture};
use crate::app::score_line::percent;
use crate::app::settings::capture::{CaptureSettings, FigureFormat};
use crate::gpu::GpuContext;
use crate::io::write_atomically;
use crate::methods::Subject;
use crate::metrics::{Score, Scorer};
use crate::progress::Progress;
use crate::report::{Figure, FigurePanel};
use crate::studio::{Compare, Snapshot};

/// Draws, measures and arranges the views, and writes the figure.
pub(super) fn export(
    shots: &[Shot],
    columns: usize,
    settings: &CaptureSettings,
    target: &CaptureTarget,
    progress: &Progress,
) -> Result<CaptureResult, CaptureError> {
    progress.report(0.0, "Setting up");
    let gpu = GpuContext::headless()?;
    let mut scores = Measurer::default();
    let mut panels = Vec::with_capacity(shots.len());
    for (index, shot) in shots.iter().enumerate() {
        progress.check()?;
        let stage = format!("View {} of {}", index + 1, shots.len());
        progress.report(index as f32 / shots.len() as f32, &stage);
        let (mut picture, legends) = plain_picture(&gpu, shot, settings)?;
        if let Some((_, Compare::Wipe(at))) = shot.compare {
            draw_seam(&mut picture, at);
        }
        let with = &settings.figure;
        panels.push(FigurePanel {
            picture,
            label: if with.labels {
                label(shot)
            } else {
                String::new()
            },
            notes: if with.scores {
                scores.notes(shot, progress)?
            } else {
                Vec::new()
            },
            legends: if with.legends { legends } else { Vec::new() },
        });
    }
    let figure = Figure {
        panels,
        columns,
        transparent: settings.transparent,
    };
    match (target, settings.figure.format) {
        (CaptureTarget::File(path), FigureFormat::Svg) => {
            let name = shots.first().map_or("", |shot| shot.name.as_str());
            let svg = figure.svg(name).map_err(CaptureError::Encode)?;
            write_atomically(path, |out| out.write_all(svg.as_bytes()))?;
            Ok(CaptureResult::Files(vec![path.clone()]))
        }
        _ => keep(&figure.picture(), target),
    }
}

/// What a view shows.
fn label(shot: &Shot) -> String {
    let [own, named] = &shot.labels;
    let own = own.as_deref().unwrap_or(shot.snapshot.method.label());
    let name = |other: &Snapshot| named.clone().unwrap_or(other.method.label().to_owned());
    match &shot.compare {
        None | Some((_, Compare::Flicker)) => own.to_owned(),
        Some((other, Compare::Wipe(_))) => format!("{own} | {}", name(other)),
        Some((other, Compare::Difference)) => format!("{own} against {}", name(other)),
    }
}

/// A white line between the sides of a wipe.
fn draw_seam(picture: &mut RgbaImage, at: f32) {
    let column = (at * picture.width() as f32).round() as u32;
    if column > 0 && column < picture.width() {
        for y in 0..picture.height() {
            picture.put_pixel(column, y, Rgba([255; 4]));
        }
    }
}

/// Measures the states that are drawn, with one scorer for all of a character.
#[derive(Default)]
struct Measurer {
    scorer: Option<(Arc<Subject>, Scorer)>,
}

impl Measurer {
    fn score(&mut self, snapshot: &Snapshot, progress: &Progress) -> Result<Score, CaptureError> {
        let silent = progress.silent();
        let subject = &snapshot.subject;
        let mut scorer = match self.scorer.take() {
            Some((known, scorer)) if Arc::ptr_eq(&known, subject) => scorer,
            _ => Scorer::new(subject, &silent)?,
        };
        let score = scorer.score(snapshot.positions(), &silent);
        self.scorer = Some((subject.clone(), scorer));
        Ok(score?)
    }

    /// The lines below a view; of a wipe one for each side.
    fn notes(&mut self, shot: &Shot, progress: &Progress) -> Result<Vec<String>, CaptureError> {
        let own = note(&self.score(&shot.snapshot, progress)?, &shot.snapshot);
        match &shot.compare {
            Some((other, Compare::Wipe(_))) => {
                let second = note(&self.score(other, progress)?, other);
                Ok(vec![format!("left: {own}"), format!("right: {second}")])
            }
            _ => Ok(vec![own]),
        }
    }
}

/// A score in one line.
fn note(score: &Score, snapshot: &Snapshot) -> String {
    let volume = score
        .volume_change
        .map_or_else(|| "–".to_owned(), |part| format!("{} %", percent(part)));
    let time = snapshot
        .time_secs
        .map_or_else(String::new, |time| format!(", at {time:.2} s"));
    format!(
        "volume {volume}, {} new cuts, stretch {:.2}×{time}",
        score.new_pairs, score.stretch_p99
    )
}
