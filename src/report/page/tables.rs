//! The tables of the page.

use std::fmt::Write;

use super::{chooser, first_shown, html};
use crate::report::statistics::heading;
use crate::report::{Comparison, Summary, printed};

/// A head of a column that sorts the table when scripts run.
fn sortable_head(text: &mut String, label: &str, doc: &str) {
    let _ = write!(
        text,
        "<th scope=\"col\" title=\"{}\">{}</th>",
        html(doc),
        html(label)
    );
}

/// Medians of all quantities.
pub(super) fn summary(text: &mut String, comparison: &Comparison) {
    text.push_str(
        "<section id=\"summary\">\n<h2>Medians over the poses</h2>\n<p>Each cell has the median over the poses in which all methods have a \
         value; in square brackets its 95 % confidence interval, which needs at least six poses and no assumption about the distribution; \
         then the worst pose. The best median of a column is bold. A click on a head sorts.</p>\n<div class=\"scroll\"><table class=\"sortable\">\n\
         <thead><tr><th scope=\"col\">Method</th>",
    );
    for (index, quantity) in comparison.quantities.iter().enumerate() {
        sortable_head(text, &heading(&comparison.quantities[index]), quantity.doc);
    }
    text.push_str("</tr></thead>\n<tbody>\n");
    for (row, method) in comparison.methods.iter().enumerate() {
        let _ = write!(text, "<tr><th scope=\"row\">{}</th>", html(&method.label));
        for index in 0..comparison.quantities.len() {
            summary_cell(text, comparison, row, index);
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</tbody>\n</table></div>\n</section>\n");
}

fn summary_cell(text: &mut String, comparison: &Comparison, row: usize, index: usize) {
    let quantity = &comparison.quantities[index];
    let Some(Summary {
        median,
        interval,
        worst,
        ..
    }) = comparison.summary(row, index)
    else {
        text.push_str("<td data-value=\"\">–</td>");
        return;
    };
    let _ = write!(text, "<td data-value=\"{median}\">");
    let median = printed(median, quantity);
    if comparison.best(index).contains(&row) {
        let _ = write!(
            text,
            "<strong>{median}<span class=\"hidden\"> (best)</span></strong>"
        );
    } else {
        text.push_str(&median);
    }
    if let Some([low, high]) = interval {
        let _ = write!(
            text,
            "<br><small>[{}, {}]</small>",
            printed(low, quantity),
            printed(high, quantity)
        );
    }
    let _ = write!(
        text,
        "<br><small>worst {}</small></td>",
        printed(worst, quantity)
    );
}

/// Every value: poses as rows, methods as columns, a table for each quantity.
pub(super) fn all_values(text: &mut String, comparison: &Comparison) {
    text.push_str("<section id=\"values\">\n<h2>All values</h2>\n");
    chooser(text, comparison, "values", |_| true);
    for (index, quantity) in comparison.quantities.iter().enumerate() {
        let open = if index == first_shown(comparison) {
            " open"
        } else {
            ""
        };
        let _ = write!(
            text,
            "<details data-of=\"values\" data-quantity=\"{}\"{open}><summary>{}</summary>\n<div class=\"scroll\"><table class=\"sortable\">\n\
             <thead><tr><th scope=\"col\">Pose</th>",
            quantity.id,
            html(&heading(&comparison.quantities[index]))
        );
        for method in &comparison.methods {
            let _ = write!(text, "<th scope=\"col\">{}</th>", html(&method.label));
        }
        text.push_str("</tr></thead>\n<tbody>\n");
        for (column, pose) in comparison.poses.iter().enumerate() {
            let _ = write!(text, "<tr><th scope=\"row\">{}</th>", html(&pose.label));
            for row in 0..comparison.methods.len() {
                match comparison.value(row, column, index) {
                    Some(value) => {
                        let _ = write!(
                            text,
                            "<td data-value=\"{value}\">{}</td>",
                            printed(value, quantity)
                        );
                    }
                    None => text.push_str("<td data-value=\"\">–</td>"),
                }
            }
            text.push_str("</tr>\n");
        }
        text.push_str("</tbody>\n</table></div></details>\n");
    }
    text.push_str("</section>\n");
}

/// Where the time goes.
pub(super) fn times(text: &mut String, comparison: &Comparison) {
    text.push_str(
        "<section id=\"times\">\n<h2>Times</h2>\n<p>Milliseconds. Binding is done once for a character; the parts are means over the poses.</p>\n\
         <div class=\"scroll\"><table>\n<thead><tr><th scope=\"col\">Method</th><th scope=\"col\">Binding</th><th scope=\"col\" class=\"words\">Parts of a pose or frame</th></tr></thead>\n<tbody>\n",
    );
    for method in &comparison.methods {
        let bind = method
            .bind_ms
            .map_or_else(|| "–".to_owned(), |ms| format!("{ms:.0}"));
        let parts: Vec<String> = method
            .stages_ms
            .iter()
            .map(|(name, ms)| format!("{} {ms:.2}", html(name)))
            .collect();
        let _ = writeln!(
            text,
            "<tr><th scope=\"row\">{}</th><td>{bind}</td><td class=\"words\">{}</td></tr>",
            html(&method.label),
            parts.join(", ")
        );
    }
    text.push_str("</tbody>\n</table></div>\n</section>\n");
}

/// What every quantity means.
pub(super) fn definitions(text: &mut String, comparison: &Comparison) {
    text.push_str("<section id=\"definitions\">\n<h2>What is measured</h2>\n<dl>\n");
    for (index, quantity) in comparison.quantities.iter().enumerate() {
        let _ = writeln!(
            text,
            "<dt>{} <code>{}</code></dt><dd>{}</dd>",
            html(&heading(&comparison.quantities[index])),
            quantity.id,
            html(quantity.doc)
        );
    }
    text.push_str("</dl>\n</section>\n");
}
