//! A comparison as CSV, JSON and LaTeX.

use std::fmt::Write;

use serde_json::{Map, Value, json};

use super::{Comparison, Summary, escape, printed, printed_unit};
use crate::metrics::{Better, Quantity, Unit};

/// Every value: a line for each method and pose, with a line of heads. Units are those of the metrics; fields that are not defined are
/// empty.
#[must_use]
pub fn csv(comparison: &Comparison) -> String {
    let mut heads = vec!["method", "pose", "movement", "at"];
    heads.extend(comparison.quantities.iter().map(|quantity| quantity.id));
    heads.push("failure");
    let mut text = heads.join(",");
    text.push_str("\r\n");
    for (row, method) in comparison.methods.iter().enumerate() {
        for (column, pose) in comparison.poses.iter().enumerate() {
            let cell = comparison.cell(row, column);
            let number =
                |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
            let mut fields = vec![
                escape::csv(&method.id),
                escape::csv(&pose.id),
                escape::csv(&pose.movement),
                number(pose.at),
            ];
            let values = (0..comparison.quantities.len())
                .map(|index| cell.values.get(index).copied().flatten());
            fields.extend(values.map(number));
            fields.push(escape::csv(cell.failure.as_deref().unwrap_or_default()));
            text.push_str(&fields.join(","));
            text.push_str("\r\n");
        }
    }
    text
}

/// The whole comparison with its summary, for machines.
#[must_use]
pub fn json(comparison: &Comparison) -> Value {
    let quantities = comparison.quantities.iter().map(|quantity| {
        json!({
            "id": quantity.id,
            "label": quantity.label,
            "unit": unit_id(quantity.unit),
            "better": better_id(quantity.better),
            "doc": quantity.doc,
        })
    });
    let cells = comparison
        .methods
        .iter()
        .enumerate()
        .flat_map(|(row, method)| {
            comparison
                .poses
                .iter()
                .enumerate()
                .map(move |(column, pose)| {
                    let cell = comparison.cell(row, column);
                    let values: Map<String, Value> = comparison
                        .quantities
                        .iter()
                        .zip(&cell.values)
                        .map(|(quantity, value)| (quantity.id.to_owned(), number(quantity, *value)))
                        .collect();
                    json!({
                        "method": method.id,
                        "pose": pose.id,
                        "values": values,
                        "failure": cell.failure,
                    })
                })
        });
    let summary: Map<String, Value> = comparison
        .methods
        .iter()
        .enumerate()
        .map(|(row, method)| (method.id.clone(), summary_of(comparison, row)))
        .collect();
    json!({
        "about": comparison.about,
        "methods": comparison.methods,
        "poses": comparison.poses,
        "quantities": quantities.collect::<Vec<_>>(),
        "cells": cells.collect::<Vec<_>>(),
        "summary": summary,
    })
}

fn number(quantity: &Quantity, value: Option<f64>) -> Value {
    match (quantity.unit, value) {
        (Unit::Count, Some(count)) => json!(count as u64),
        (_, value) => json!(value),
    }
}

fn summary_of(comparison: &Comparison, row: usize) -> Value {
    let quantities = comparison.quantities.iter().enumerate();
    let summaries: Map<String, Value> = quantities
        .filter_map(|(index, quantity)| {
            let Summary {
                median,
                interval,
                worst,
                count,
            } = comparison.summary(row, index)?;
            let best = comparison.best(index).contains(&row);
            let value = json!({
                "median": median,
                "interval": interval,
                "worst": worst,
                "count": count,
                "best": best,
            });
            Some((quantity.id.to_owned(), value))
        })
        .collect();
    Value::Object(summaries)
}

fn unit_id(unit: Unit) -> &'static str {
    match unit {
        Unit::Ratio => "ratio",
        Unit::Count => "count",
        Unit::Millimetres => "mm",
        Unit::Degrees => "degrees",
        Unit::Milliseconds => "ms",
    }
}

fn better_id(better: Better) -> &'static str {
    match better {
        Better::Lower => "lower",
        Better::NearZero => "near zero",
        Better::NearOne => "near one",
    }
}

/// Medians with their intervals as LaTeX tables for the package `booktabs`, the best in bold, with units in the heads.
#[must_use]
pub fn latex(comparison: &Comparison) -> String {
    let about = &comparison.about;
    let mut text = format!(
        "% {}\n% Sinew {}, {}\n% Needs \\usepackage{{booktabs,textcomp}}\n",
        // A line break would end the comment.
        about.command.replace(char::is_control, " "),
        about.version,
        about.machine.replace(char::is_control, " ")
    );
    let main = comparison.main_quantities();
    let others: Vec<usize> = (0..comparison.quantities.len())
        .filter(|index| !main.contains(index))
        .collect();
    for columns in [main, others] {
        if !columns.is_empty() {
            latex_table(&mut text, comparison, &columns);
        }
    }
    text
}

fn latex_table(text: &mut String, comparison: &Comparison, columns: &[usize]) {
    let about = &comparison.about;
    let _ = write!(
        text,
        "\\begin{{table}}\n\\centering\\small\\setlength{{\\tabcolsep}}{{4pt}}\n\\caption{{Medians over {} poses ({}) of {}; in brackets the 95\\,\\% confidence interval of the \
         median. The best value is bold.}}\n\\begin{{tabular}}{{l{}}}\n\\toprule\nMethod",
        comparison.poses.len(),
        escape::latex(&about.set),
        escape::latex(&about.character),
        "r".repeat(columns.len())
    );
    for &index in columns {
        let _ = write!(text, " & {}", latex_head(&comparison.quantities[index]));
    }
    text.push_str(" \\\\\n\\midrule\n");
    for row in 0..comparison.methods.len() {
        latex_row(text, comparison, row, columns);
    }
    text.push_str("\\bottomrule\n\\end{tabular}\n\\end{table}\n");
}

/// Label and unit of a quantity, a word a line: columns are then as narrow as their numbers.
fn latex_head(quantity: &Quantity) -> String {
    let mut lines: Vec<String> = quantity
        .label
        .split_whitespace()
        .map(escape::latex)
        .collect();
    let unit = printed_unit(quantity);
    if !unit.is_empty() {
        lines.push(format!("[{}]", escape::latex(unit)));
    }
    // The braces keep `\\` from reading a bracket as its option.
    format!("\\shortstack[r]{{{}}}", lines.join("\\\\{}"))
}

/// Medians of a method, and below them their intervals.
fn latex_row(text: &mut String, comparison: &Comparison, row: usize, columns: &[usize]) {
    text.push_str(&escape::latex(&comparison.methods[row].label));
    let mut intervals = String::new();
    for &index in columns {
        let quantity = &comparison.quantities[index];
        intervals.push_str(" & ");
        let Some(summary) = comparison.summary(row, index) else {
            text.push_str(" & --");
            continue;
        };
        let median = printed(summary.median, quantity);
        let _ = if comparison.best(index).contains(&row) {
            write!(text, " & $\\mathbf{{{median}}}$")
        } else {
            write!(text, " & ${median}$")
        };
        if let Some(interval) = summary.interval {
            let [low, high] = interval.map(|value| printed(value, quantity));
            let _ = write!(intervals, "{{\\scriptsize [${low}$, ${high}$]}}");
        }
    }
    if intervals.contains('[') {
        let _ = write!(text, " \\\\\n{intervals}");
    }
    text.push_str(" \\\\\\addlinespace\n");
}
