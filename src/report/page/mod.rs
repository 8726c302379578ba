//! The report as one HTML file that needs no other file and no network. Everything can be read without scripts; they sort tables,
//! choose curves and enlarge pictures.

mod tables;

use std::fmt::Write;

use base64::Engine;

use self::tables::{all_values, definitions, summary, times};
use super::escape::{html, slug};
use super::{Comparison, CurveChart, PictureCell, PictureKind, ReportClip, charts};

/// Size of a curve in the page, CSS pixels.
const CURVE_SIZE: [u32; 2] = [480, 330];
/// The quantity whose curves and table are shown first, if it was measured.
const FIRST_SHOWN: &str = "volume_change";

/// What a page is made of.
pub struct PageParts<'a> {
    /// The numbers.
    pub comparison: &'a Comparison,
    /// The pictures; may be empty.
    pub pictures: &'a [PictureCell],
    /// The clips; may be empty.
    pub clips: &'a [ReportClip],
    /// Label of the horizontal axis of curves.
    pub x_label: &'a str,
}

/// The page.
#[must_use]
pub fn page(parts: &PageParts<'_>) -> String {
    let comparison = parts.comparison;
    let title = format!("Skinning methods on {}", comparison.about.character);
    let mut text = format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<link rel=\"icon\" href=\"data:,\">\n\
         <title>{}</title>\n<style>\n{}</style>\n</head>\n<body>\n",
        html(&title),
        include_str!("page.css")
    );
    header(&mut text, comparison, &title);
    text.push_str("<main>\n");
    summary(&mut text, comparison);
    failures(&mut text, comparison);
    pictures(&mut text, parts);
    clips(&mut text, parts.clips);
    curves(&mut text, parts);
    all_values(&mut text, comparison);
    times(&mut text, comparison);
    definitions(&mut text, comparison);
    let _ = write!(
        text,
        "</main>\n<dialog id=\"large\"><form method=\"dialog\"><button aria-label=\"Close\">×</button></form><img alt=\"\"><p></p></dialog>\n\
         <script>\n{}</script>\n</body>\n</html>\n",
        include_str!("page.js")
    );
    text
}

/// What was compared, and how to repeat it.
fn header(text: &mut String, comparison: &Comparison, title: &str) {
    let about = &comparison.about;
    let _ = write!(text, "<header>\n<h1>{}</h1>\n<dl>\n", html(title));
    let counts = format!(
        "{} vertices, {} triangles, {} joints",
        about.vertices, about.triangles, about.joints
    );
    let compared = format!(
        "{} methods in {} poses ({})",
        comparison.methods.len(),
        comparison.poses.len(),
        about.set
    );
    let threads = if about.threads == 1 {
        "thread"
    } else {
        "threads"
    };
    let machine = format!("{}, {} {threads}", about.machine, about.threads);
    let files = about.files.join(", ");
    let named = comparison
        .methods
        .iter()
        .filter(|row| !row.settings.is_empty());
    let variants: Vec<String> = named
        .map(|row| format!("{}: {}", row.label, row.settings))
        .collect();
    for (term, value) in [
        ("Character", format!("{} ({counts})", about.character)),
        ("Files", files),
        ("Compared", compared),
        ("Variants", variants.join("; ")),
        ("Skin weights", about.weights.clone()),
        ("Distances to", about.distance_to.clone()),
        ("Machine", machine),
        ("Program", format!("Sinew {}", about.version)),
    ] {
        if !value.is_empty() {
            let _ = writeln!(text, "<dt>{term}</dt><dd>{}</dd>", html(&value));
        }
    }
    let _ = write!(
        text,
        "<dt>Repeat with</dt><dd><code id=\"command\">{}</code> <button class=\"tool\" data-copy=\"command\" hidden>Copy</button></dd>\n</dl>\n</header>\n",
        html(&about.command)
    );
}

/// What could not be computed.
fn failures(text: &mut String, comparison: &Comparison) {
    let mut items = String::new();
    for (row, method) in comparison.methods.iter().enumerate() {
        if let Some(failure) = &method.failure {
            let _ = writeln!(items, "<li>{}: {}</li>", html(&method.label), html(failure));
            continue;
        }
        for (column, pose) in comparison.poses.iter().enumerate() {
            if let Some(failure) = &comparison.cell(row, column).failure {
                let _ = writeln!(
                    items,
                    "<li>{}, {}: {}</li>",
                    html(&method.label),
                    html(&pose.label),
                    html(failure)
                );
            }
        }
    }
    if !items.is_empty() {
        let _ = write!(
            text,
            "<section id=\"failures\">\n<h2>What could not be computed</h2>\n<ul>\n{items}</ul>\n</section>\n"
        );
    }
}

/// Methods as rows, poses as columns.
fn pictures(text: &mut String, parts: &PageParts<'_>) {
    let kinds = [
        (
            PictureKind::Skin,
            "Pictures",
            "The same camera for all methods of a pose.",
        ),
        (
            PictureKind::Inset,
            "Close-ups",
            "The place where the methods of a pose differ most, by one camera for all methods.",
        ),
        (
            PictureKind::Difference,
            "Distances",
            "Distance of each vertex from the first method, or from the one that distances are measured to; one scale for all pictures.",
        ),
    ];
    for (kind, title, doc) in kinds {
        let shown: Vec<&PictureCell> = parts
            .pictures
            .iter()
            .filter(|picture| picture.kind == kind)
            .collect();
        if !shown.is_empty() {
            picture_table(text, parts.comparison, &shown, [title, doc]);
        }
    }
}

fn picture_table(
    text: &mut String,
    comparison: &Comparison,
    shown: &[&PictureCell],
    [title, doc]: [&str; 2],
) {
    let mut columns: Vec<usize> = shown.iter().map(|picture| picture.pose).collect();
    columns.sort_unstable();
    columns.dedup();
    let _ = write!(
        text,
        "<section id=\"{}\">\n<h2>{title}</h2>\n<p>{doc}</p>\n<div class=\"scroll\"><table class=\"pictures\">\n<thead><tr><th scope=\"col\">Method</th>",
        slug(title)
    );
    for &column in &columns {
        let _ = write!(
            text,
            "<th scope=\"col\">{}</th>",
            html(&comparison.poses[column].label)
        );
    }
    text.push_str("</tr></thead>\n<tbody>\n");
    for (row, method) in comparison.methods.iter().enumerate() {
        if !shown.iter().any(|picture| picture.method == row) {
            continue;
        }
        let _ = write!(text, "<tr><th scope=\"row\">{}</th>", html(&method.label));
        for &column in &columns {
            let picture = shown
                .iter()
                .find(|picture| picture.method == row && picture.pose == column);
            text.push_str("<td>");
            if let Some(picture) = picture {
                let data = base64::engine::general_purpose::STANDARD.encode(&picture.jpeg);
                let _ = write!(
                    text,
                    "<img width=\"{}\" height=\"{}\" alt=\"{}\" src=\"data:image/jpeg;base64,{data}\">",
                    picture.size[0],
                    picture.size[1],
                    html(&picture.caption)
                );
            }
            text.push_str("</td>");
        }
        text.push_str("</tr>\n");
    }
    text.push_str("</tbody>\n</table></div>\n</section>\n");
}

/// Each can be closed, because it plays for ever.
fn clips(text: &mut String, clips: &[ReportClip]) {
    if clips.is_empty() {
        return;
    }
    text.push_str(
        "<section id=\"clips\">\n<h2>Clips</h2>\n<p>All methods side by side, by one camera. A click on the name stops a clip.</p>\n",
    );
    for clip in clips {
        let data = base64::engine::general_purpose::STANDARD.encode(&clip.webp);
        let [width, height] = clip.size;
        let _ = writeln!(
            text,
            "<details class=\"clip\" open><summary>{}</summary><div class=\"scroll\"><img width=\"{width}\" height=\"{height}\" alt=\"{}\" \
             src=\"data:image/webp;base64,{data}\"></div></details>",
            html(&clip.label),
            html(&clip.caption)
        );
    }
    text.push_str("</section>\n");
}

/// Index of the quantity that is shown first.
fn first_shown(comparison: &Comparison) -> usize {
    let quantities = comparison.quantities.iter();
    quantities
        .enumerate()
        .find(|(_, quantity)| quantity.id == FIRST_SHOWN)
        .map_or(0, |(index, _)| index)
}

/// A list of the quantities that scripts show one by one; hidden without scripts.
fn chooser(text: &mut String, comparison: &Comparison, of: &str, has: impl Fn(&str) -> bool) {
    let _ = write!(
        text,
        "<p class=\"tool\" hidden><label>Show <select data-choose=\"{of}\">"
    );
    for (index, quantity) in comparison.quantities.iter().enumerate() {
        if has(quantity.id) {
            let selected = if index == first_shown(comparison) {
                " selected"
            } else {
                ""
            };
            let _ = write!(
                text,
                "<option value=\"{}\"{selected}>{}</option>",
                quantity.id,
                html(quantity.label)
            );
        }
    }
    text.push_str("</select></label></p>\n");
}

/// Curves, grouped by quantity.
fn curves(text: &mut String, parts: &PageParts<'_>) {
    let comparison = parts.comparison;
    let charts: Vec<CurveChart> = charts(comparison, parts.x_label);
    if charts.is_empty() {
        return;
    }
    text.push_str("<section id=\"curves\">\n<h2>Curves</h2>\n");
    chooser(text, comparison, "curves", |id| {
        charts.iter().any(|chart| chart.quantity == id)
    });
    for (index, quantity) in comparison.quantities.iter().enumerate() {
        let mut own = charts
            .iter()
            .filter(|chart| chart.quantity == quantity.id)
            .peekable();
        if own.peek().is_none() {
            continue;
        }
        let open = if index == first_shown(comparison) {
            " open"
        } else {
            ""
        };
        let _ = write!(
            text,
            "<details data-of=\"curves\" data-quantity=\"{}\"{open}><summary>{}</summary>\n<div class=\"charts\">\n",
            quantity.id,
            html(quantity.label)
        );
        for chart in own {
            let _ = writeln!(text, "<figure>{}</figure>", chart.chart.svg(CURVE_SIZE));
        }
        text.push_str("</div></details>\n");
    }
    text.push_str("</section>\n");
}
