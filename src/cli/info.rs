//! `sinew info`: what is in a character.

use clap::Args;

use super::options::{CharacterOptions, Options};
use super::{Outcome, print_json, print_line};
use crate::session::{Checkup, JointSummary};

/// Options of the verb.
#[derive(Debug, Args)]
pub(super) struct Info {
    #[command(flatten)]
    character: CharacterOptions,
    /// Print a report for machines.
    #[arg(long)]
    json: bool,
}

impl Info {
    pub(super) fn run(&self, options: &Options) -> Outcome {
        // The notes are part of the report, so nothing is repeated on stderr.
        let quiet = Options { quiet: true, ..options.clone() };
        let subject = self.character.open(&quiet)?;
        let checkup = Checkup::of(&subject);
        if self.json {
            return print_json(&checkup);
        }
        for line in lines(&checkup, options.verbose > 0) {
            print_line(&line);
        }
        Ok(())
    }
}

fn lines(checkup: &Checkup, all_joints: bool) -> Vec<String> {
    let size_m = f64::from(checkup.size) * checkup.metres_per_unit;
    let mut lines = vec![
        checkup.name.clone(),
        format!("  size       {:.4} units, {size_m:.3} m (1 unit = {} m)", checkup.size, checkup.metres_per_unit),
        format!(
            "  source     {} vertices, {} triangles, {} meshes",
            checkup.source_vertices,
            checkup.source_triangles,
            checkup.meshes.len()
        ),
        format!(
            "  skin       {} vertices after welding, {} parts, {} boundary edges, {} edges with more than two triangles",
            checkup.simulated_vertices, checkup.skin_parts, checkup.boundary_edges, checkup.non_manifold_edges
        ),
    ];
    for mesh in &checkup.meshes {
        lines.push(format!("  mesh       {}: {} vertices, {} triangles, {}", mesh.name, mesh.vertices, mesh.triangles, mesh.attachment));
    }
    lines.push(format!("  joints     {}{}", checkup.joints.len(), if all_joints { "" } else { " (-v lists them)" }));
    if all_joints {
        lines.extend(checkup.joints.iter().map(joint_line));
    }
    for (index, clip) in checkup.clips.iter().enumerate() {
        lines.push(format!("  clip {index:<5} {}: {:.3} s, {} tracks", clip.name, clip.duration_secs, clip.tracks));
    }
    if let Some(tissue) = &checkup.tissue {
        lines.push(format!(
            "  flesh      {} tets; left out as flat {}, inverted {}, thin {}, worst aspect {:.1}, vertices without a hit {}",
            tissue.tets, tissue.flat, tissue.inverted, tissue.thin, tissue.worst_aspect, tissue.without_hit
        ));
    }
    if let Some(why) = &checkup.tissue_refused {
        lines.push(format!("  flesh      none: {why}"));
    }
    for note in &checkup.notes {
        let told = note.count <= 1 || note.text.contains(&note.count.to_string());
        let count = if told { String::new() } else { format!(" ({})", note.count) };
        lines.push(format!("  {:<10} {}{count}", format!("{:?}", note.severity).to_lowercase(), note.text));
    }
    lines
}

fn joint_line(joint: &JointSummary) -> String {
    let [x, y, z] = joint.position;
    let parent = joint.parent.as_deref().unwrap_or("–");
    let helper = if joint.deforms { "" } else { ", moves no skin" };
    format!("    {} (parent {parent}) at {x:.4}, {y:.4}, {z:.4}{helper}", joint.name)
}
