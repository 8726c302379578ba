//! Comparisons as Markdown tables, for README files and documentation.

use std::fmt::Write;

use super::statistics::heading;
use super::{Comparison, Summary, printed};

/// Medians over the poses, a row for each method, the best in bold; the worst pose follows in brackets.
#[must_use]
pub fn markdown(comparison: &Comparison) -> String {
    let columns = comparison.main_quantities();
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

/// Which methods are the best in each quantity of [`markdown`]: by their medians, and by their worst poses. A row for each quantity.
#[must_use]
pub fn winners(comparison: &Comparison) -> String {
    let mut text = String::from("| the best by | median | worst pose |\n|---|---|---|\n");
    for column in comparison.main_quantities() {
        let quantity = &comparison.quantities[column];
        // One method alone wins nothing.
        if comparison.best(column).is_empty() {
            continue;
        }
        let cell = |best: Vec<usize>, of: fn(&Summary) -> f64| {
            let first = best
                .first()
                .and_then(|&row| comparison.summary(row, column));
            first.map_or_else(
                || "–".to_owned(),
                |first| {
                    let value = printed(of(&first), quantity);
                    format!("{} {value}", names(comparison, column, &best))
                },
            )
        };
        let _ = writeln!(
            text,
            "| {} | {} | {} |",
            heading(quantity).to_lowercase(),
            cell(comparison.best(column), |summary| summary.median),
            cell(comparison.best_at_worst(column), |summary| summary.worst),
        );
    }
    text
}

/// Names of some of the methods that have a quantity; of most of them the names of the others.
fn names(comparison: &Comparison, column: usize, rows: &[usize]) -> String {
    let listed = |rows: &mut dyn Iterator<Item = usize>| {
        let ids = rows.map(|row| format!("`{}`", comparison.methods[row].id));
        ids.collect::<Vec<_>>().join(", ")
    };
    let others: Vec<usize> = (0..comparison.methods.len())
        .filter(|row| !rows.contains(row) && comparison.summary(*row, column).is_some())
        .collect();
    match (rows.len(), others.len()) {
        (2.., 0) => "all:".to_owned(),
        (most, few) if most > 2 * few && few > 0 => {
            format!("all but {}:", listed(&mut others.into_iter()))
        }
        _ => listed(&mut rows.iter().copied()),
    }
}
