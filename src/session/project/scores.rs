//! The plots and values of the scoreboard as files.

use std::io::Write;
use std::path::Path;

use crate::io::write_atomically;
use crate::report::{Chart, Comparison, chart_of, charts_png, charts_svg, csv};

/// Size of a plot, CSS pixels.
const PLOT: [u32; 2] = [900, 300];
/// Pixels of a picture in a CSS pixel.
const PICTURE_SCALE: u32 = 2;

/// Format of exported scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ScoreFormat {
    /// All plots, as curves.
    Svg,
    /// All plots, as a picture.
    Png,
    /// All values, in the units of the metrics.
    Csv,
}

/// Writes what is measured so far. The error is a sentence.
pub(super) fn write_scores(
    scores: Option<&Comparison>,
    format: ScoreFormat,
    path: &Path,
) -> Result<(), String> {
    let has_value = |scores: &&Comparison| {
        let mut values = scores.cells.iter().flat_map(|cell| &cell.values);
        values.any(Option::is_some)
    };
    let Some(scores) = scores.filter(has_value) else {
        return Err(
            "the scoreboard has no values; open it, choose a clip and a metric, and wait for the first values"
                .to_owned(),
        );
    };
    let written = match format {
        ScoreFormat::Svg => {
            let text = charts_svg(&charts(scores), PLOT);
            write_atomically(path, |out| out.write_all(text.as_bytes()))
        }
        ScoreFormat::Csv => {
            let text = csv(scores);
            write_atomically(path, |out| out.write_all(text.as_bytes()))
        }
        ScoreFormat::Png => write_atomically(path, |out| {
            out.write_all(&charts_png(&charts(scores), PLOT, PICTURE_SCALE)?)
        }),
    };
    written.map_err(|error| error.to_string())
}

/// Whether some frame has no values yet.
pub(super) fn is_partial(scores: &Comparison) -> bool {
    let is_open = |cell: &crate::report::Cell| {
        cell.failure.is_none() && cell.values.iter().all(Option::is_none)
    };
    scores.cells.iter().any(is_open)
}

/// A chart for each quantity. Frames that are not measured yet are left out, so that a rough curve is one line.
fn charts(scores: &Comparison) -> Vec<Chart> {
    let poses: Vec<usize> = (0..scores.poses.len()).collect();
    let movement = scores
        .poses
        .first()
        .map_or("", |pose| pose.movement.as_str());
    let quantities = 0..scores.quantities.len();
    quantities
        .map(|quantity| {
            let mut chart = chart_of(scores, quantity, movement, &poses, "Time, seconds");
            for curve in &mut chart.curves {
                curve.points.retain(|(_, value)| value.is_some());
            }
            chart
        })
        .collect()
}
