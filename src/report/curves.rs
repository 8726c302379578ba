//! Curves: a quantity over the angle of a movement, or over the time of a clip, for all methods.

use super::escape::slug;
use super::statistics::heading;
use super::{Axis, Chart, Comparison, Curve, printed, shown};

/// The chart of one quantity over one movement.
#[derive(Debug, Clone, PartialEq)]
pub struct CurveChart {
    /// The movement.
    pub movement: String,
    /// Id of the quantity.
    pub quantity: &'static str,
    /// Name of its file without extension: lower-case letters, digits and hyphens; unique in the comparison.
    pub file_stem: String,
    /// The chart.
    pub chart: Chart,
}

/// Charts of all movements with at least two poses, for the quantities whose printed values differ. `x_label` names angle or time.
#[must_use]
pub fn charts(comparison: &Comparison, x_label: &str) -> Vec<CurveChart> {
    let mut charts: Vec<CurveChart> = Vec::new();
    for (movement, mut poses) in comparison.movements() {
        poses.retain(|&pose| comparison.poses[pose].at.is_some_and(f64::is_finite));
        let at = |pose: usize| comparison.poses[pose].at.unwrap_or_default();
        poses.sort_by(|&a, &b| at(a).total_cmp(&at(b)));
        if poses.len() < 2 {
            continue;
        }
        for (index, quantity) in comparison.quantities.iter().enumerate() {
            // Differences that are not printed are rounding errors, and an axis over them shows nothing else.
            let mut texts = poses.iter().flat_map(|&pose| {
                (0..comparison.methods.len()).filter_map(move |method| {
                    let value = comparison.value(method, pose, index)?;
                    Some(printed(value, quantity))
                })
            });
            let first = texts.next();
            if !texts.any(|text| Some(&text) != first.as_ref()) {
                continue;
            }
            let stem = slug(&format!("{movement}-{}", quantity.id));
            let taken = |stem: &str| charts.iter().any(|chart| chart.file_stem == stem);
            let (mut file_stem, mut number) = (stem.clone(), 2);
            while taken(&file_stem) {
                file_stem = format!("{stem}-{number}");
                number += 1;
            }
            charts.push(CurveChart {
                movement: movement.to_owned(),
                quantity: quantity.id,
                file_stem,
                chart: chart_of(comparison, index, movement, &poses, x_label),
            });
        }
    }
    charts
}

/// Points by angle or time, with a gap where a movement goes both ways from rest and rest itself is not among its poses: a line across
/// would say something about rest that nobody has measured.
fn with_break(mut points: Vec<(f64, Option<f64>)>) -> Vec<(f64, Option<f64>)> {
    let first = points.partition_point(|(at, _)| *at < 0.0);
    if first > 0 && points.get(first).is_some_and(|(at, _)| *at > 0.0) {
        points.insert(first, (0.0, None));
    }
    points
}

/// The chart of a quantity, by index, over these poses of a movement by ascending position.
///
/// # Panics
/// If an index is out of range.
#[must_use]
pub fn chart_of(
    comparison: &Comparison,
    quantity: usize,
    movement: &str,
    poses: &[usize],
    x_label: &str,
) -> Chart {
    let described = &comparison.quantities[quantity];
    let at = |pose: usize| comparison.poses[pose].at.unwrap_or_default();
    let value = |method: usize, pose: usize| {
        let value = comparison.value(method, pose, quantity)?;
        Some(shown(value, described).0)
    };
    let curves = comparison.methods.iter().enumerate();
    let curves = curves.map(|(method, row)| Curve {
        label: row.label.clone(),
        style: method,
        points: with_break(
            poses
                .iter()
                .map(|&pose| (at(pose), value(method, pose)))
                .collect(),
        ),
    });
    Chart {
        title: format!("{}: {movement}", described.label),
        x: Axis {
            label: x_label.to_owned(),
        },
        y: Axis {
            label: heading(described),
        },
        curves: curves
            .filter(|curve| curve.points.iter().any(|(_, value)| value.is_some()))
            .collect(),
    }
}
