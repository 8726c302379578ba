//! `sinew info`: what is in a character.

use std::path::{Path, PathBuf};

use clap::Args;

use super::motion_info::{motion_lines, show_motions};
use super::options::{CharacterOptions, Options};
use super::{CommandResult, Failure, print_json, print_lines, stderr};
use crate::character::Severity;
use crate::io::write_mapping;
use crate::session::{Checkup, ClipSummary, JointSummary, MeshSummary, PartSummary};

/// Number of meshes and clips that are listed individually by default.
const LISTED: usize = 6;
/// Number of morphs that are named by default.
const NAMED: usize = 8;

/// Options of the verb.
#[derive(Debug, Args)]
pub(super) struct Info {
    #[command(flatten)]
    character: CharacterOptions,
    /// Print a JSON report.
    #[arg(long)]
    json: bool,
    /// Write the joint mapping of the (first) motion of another skeleton, to be edited and given to --mapping.
    #[arg(long, value_name = "FILE.json")]
    save_mapping: Option<PathBuf>,
}

impl Info {
    pub(super) fn run(&self, options: &Options) -> CommandResult {
        if self.save_mapping.is_none()
            && !self.character.files.is_empty()
            && self.character.files.iter().all(|file| is_motion(file))
        {
            return show_motions(&self.character.files, self.json);
        }
        // The report contains the notes: do not repeat them on stderr.
        let quiet = Options {
            quiet: true,
            ..options.clone()
        };
        let subject = self.character.open(&quiet)?;
        let checkup = stderr::with_progress(options, "Checking", |progress| {
            Checkup::with_progress(&subject, progress)
        })?;
        if let Some(path) = &self.save_mapping {
            let Some(retarget) = subject.character.retargets.first() else {
                return Err(Failure::Usage(
                    "--save-mapping needs a motion of another skeleton: give a .bvh beside the character".to_owned(),
                ));
            };
            write_mapping(path, &retarget.mapping)?;
        }
        if self.json {
            return print_json(&checkup);
        }
        print_lines(lines(&checkup, options.verbose > 0))
    }
}

fn is_motion(file: &Path) -> bool {
    file.extension()
        .is_some_and(|extension| extension.eq_ignore_ascii_case("bvh"))
}

fn lines(checkup: &Checkup, all: bool) -> Vec<String> {
    let mut lines = summary(checkup);
    lines.extend(listed("mesh", &checkup.meshes, all, mesh_line));
    if all && checkup.parts.len() > 1 {
        lines.extend(listed("part", &checkup.parts, all, part_line));
    }
    lines.push(format!(
        "  joints     {}{}",
        checkup.joints.len(),
        if all || checkup.joints.is_empty() {
            ""
        } else {
            " (-v lists them)"
        }
    ));
    if all {
        lines.extend(checkup.joints.iter().map(joint_line));
    }
    let clips: Vec<(usize, &ClipSummary)> = checkup.clips.iter().enumerate().collect();
    lines.extend(listed("clip", &clips, all, |(index, clip)| {
        format!(
            "{index} {}: {:.3} s, {} tracks",
            clip.name, clip.duration_secs, clip.tracks
        )
    }));
    for (what, names) in [
        ("morphs", &checkup.morphs),
        ("expressions", &checkup.expressions),
    ] {
        lines.extend(names_line(what, names, all));
    }
    lines.extend(
        checkup
            .motions
            .iter()
            .flat_map(|motion| motion_lines(motion, all)),
    );
    lines.extend(found(checkup));
    lines
}

/// The number of names and the first ones, or all; `None` if there are none.
fn names_line(what: &str, names: &[String], all: bool) -> Option<String> {
    let listed = if all { names.len() } else { NAMED };
    let some = names.iter().take(listed).cloned().collect::<Vec<_>>();
    let more = match names.len().saturating_sub(listed) {
        0 => String::new(),
        more => format!(", and {more} more (-v lists them)"),
    };
    let count = names.len();
    (count > 0).then(|| format!("  {what:<10} {count}: {}{more}", some.join(", ")))
}

/// A summary of the character in a few lines.
fn summary(checkup: &Checkup) -> Vec<String> {
    let size_m = f64::from(checkup.size) * checkup.metres_per_unit;
    let unit = checkup.metres_per_unit;
    let height_m = f64::from(checkup.height) * unit;
    let mut lines = vec![
        checkup.name.clone(),
        format!(
            "  height     {height_m:.3} m along {}, diagonal {size_m:.3} m; 1 unit = {unit} m",
            checkup.up_axis.name()
        ),
        format!(
            "  source     {} vertices, {} triangles, {}",
            checkup.source_vertices,
            checkup.source_triangles,
            counted(checkup.meshes.len(), "mesh", "meshes")
        ),
        format!(
            "  skin       {} vertices after welding, {}",
            checkup.skin_vertices,
            counted(checkup.skin_parts, "part", "parts")
        ),
    ];
    let count = |kind: &str| {
        checkup
            .parts
            .iter()
            .filter(|part| part.place.starts_with(kind))
            .count()
    };
    let [flesh, ride, rigid] = ["flesh", "ride", "rigid"].map(count);
    if ride + rigid > 0 {
        lines.push(format!(
            "  parts      {flesh} flesh, {ride} riding on it, {rigid} rigid with a joint (-v lists them, --part changes them)"
        ));
    }
    if let Some(tissue) = &checkup.tissue {
        lines.push(format!(
            "  simulated  {} vertices, {} tets",
            checkup.simulated_vertices, tissue.tets
        ));
        if tissue.flat + tissue.inverted + tissue.thin + tissue.without_hit > 0 {
            lines.push(format!(
                "             of these inverted {}, thin {}, worst aspect {:.1}; left out as flat {}, vertices without a hit {}",
                tissue.inverted, tissue.thin, tissue.worst_aspect, tissue.flat, tissue.without_hit
            ));
        }
    }
    if let Some(why) = &checkup.tissue_refused {
        lines.push(format!("  simulated  nothing: {why}"));
    }
    lines
}

/// Findings and notes, most important first, with their counts.
fn found(checkup: &Checkup) -> Vec<String> {
    let mut rows: Vec<(Severity, String)> = Vec::new();
    for finding in &checkup.findings {
        let option = finding
            .option
            .as_ref()
            .map(|option| format!(" [{option}]"))
            .unwrap_or_default();
        rows.push((
            finding.severity,
            format!("{}; {}{option}", finding.text, finding.remedy),
        ));
    }
    for note in &checkup.notes {
        let has_count = note.count <= 1 || note.text.contains(&note.count.to_string());
        rows.push((
            note.severity,
            if has_count {
                note.text.clone()
            } else {
                format!("{} ({})", note.text, note.count)
            },
        ));
    }
    rows.sort_by_key(|(severity, _)| std::cmp::Reverse(*severity));
    let count = |severity: Severity| rows.iter().filter(|row| row.0 == severity).count();
    let [warnings, mended] = [count(Severity::Warning), count(Severity::Mended)];
    let total = if rows.is_empty() {
        "nothing to remark".to_owned()
    } else {
        format!(
            "{}, {mended} mended, {} good to know",
            counted(warnings, "warning", "warnings"),
            rows.len() - warnings - mended
        )
    };
    let line =
        |(severity, text): (Severity, String)| format!("    {:<8} {text}", name_of(severity));
    std::iter::once(format!("  check-up   {total}"))
        .chain(rows.into_iter().map(line))
        .collect()
}

fn name_of(severity: Severity) -> &'static str {
    match severity {
        Severity::Warning => "warning",
        Severity::Mended => "mended",
        Severity::Info => "note",
    }
}

/// One line each; beyond the limit, the number of the others.
fn listed<T>(name: &str, items: &[T], all: bool, line: impl Fn(&T) -> String) -> Vec<String> {
    let shown = if all || items.len() <= LISTED + 1 {
        items.len()
    } else {
        LISTED
    };
    let mut lines: Vec<String> = items[..shown]
        .iter()
        .map(|item| format!("  {name:<10} {}", line(item)))
        .collect();
    if shown < items.len() {
        lines.push(format!(
            "             and {} more (-v lists them)",
            items.len() - shown
        ));
    }
    lines
}

fn counted(count: usize, one: &str, many: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { many })
}

fn mesh_line(mesh: &MeshSummary) -> String {
    format!(
        "{}: {} vertices, {} triangles, {}",
        mesh.name, mesh.vertices, mesh.triangles, mesh.attachment
    )
}

fn part_line(part: &PartSummary) -> String {
    let by = if part.by_user { "" } else { ": " };
    let reason = if part.by_user {
        " by --part"
    } else {
        part.reason.as_str()
    };
    format!(
        "{}: {} vertices, {:.4} units large, {}{by}{reason}",
        part.name, part.vertices, part.size, part.place
    )
}

fn joint_line(joint: &JointSummary) -> String {
    let [x, y, z] = joint.position;
    let parent = joint.parent.as_deref().unwrap_or("–");
    let helper = if joint.deforms { "" } else { ", moves no skin" };
    format!(
        "    {} (parent {parent}) at {x:.4}, {y:.4}, {z:.4}{helper}",
        joint.name
    )
}
