//! Medians as a Markdown table, for README files and documentation.

use std::fmt::Write;

use super::statistics::heading;
use super::{Comparison, printed};

/// The quantities of the table, by id, in this order.
const COLUMNS: [&str; 8] = [
    "volume_change",
    "girth_change_min",
    "stretch_p99",
    "roughness_deg",
    "new_creases",
    "new_pairs",
    "contact_depth_mm",
    "frame_ms",
];

/// Medians over the poses, a row for each method, the best in bold. For values whose ideal is 0 from both sides, and for counts, the
/// worst pose follows in brackets.
#[must_use]
pub fn markdown(comparison: &Comparison) -> String {
    let columns: Vec<usize> = COLUMNS
        .iter()
        .filter_map(|id| {
            comparison
                .quantities
                .iter()
                .position(|quantity| quantity.id == *id)
        })
        .collect();
    let mut text = String::from("| method |");
    for &column in &columns {
        let head = heading(&comparison.quantities[column]).to_lowercase();
        let _ = write!(text, " {head} |");
    }
    text.push_str("\n|---|");
    text.push_str(&"---|".repeat(columns.len()));
    for (row, method) in comparison.methods.iter().enumerate() {
        let _ = write!(text, "\n| `{}` |", method.id);
        for &column in &columns {
            let quantity = &comparison.quantities[column];
            let Some(summary) = comparison.summary(row, column) else {
                text.push_str(" – |");
                continue;
            };
            let median = printed(summary.median, quantity);
            let worst = printed(summary.worst, quantity);
            let strong = if comparison.best(column).contains(&row) {
                "**"
            } else {
                ""
            };
            let _ = write!(text, " {strong}{median}{strong} ({worst}) |");
        }
    }
    text.push('\n');
    text
}

/// The quantities of [`markdown`] in which each method has the best median, as sentences.
#[must_use]
pub fn winners(comparison: &Comparison) -> String {
    let mut text = String::new();
    for (row, method) in comparison.methods.iter().enumerate() {
        let won: Vec<String> = comparison
            .quantities
            .iter()
            .enumerate()
            .filter(|(column, quantity)| {
                COLUMNS.contains(&quantity.id) && comparison.best(*column).contains(&row)
            })
            .map(|(_, quantity)| quantity.label.to_lowercase())
            .collect();
        let wins = match won.as_slice() {
            [] => "in none of these".to_owned(),
            _ => won.join(", "),
        };
        let _ = writeln!(text, "- `{}`: {wins}", method.id);
    }
    text
}
