//! `sinew info`: what is in a character.

use std::path::{Path, PathBuf};

use clap::Args;
use serde::Serialize;

use super::options::{CharacterOptions, Options};
use super::{Failure, Outcome, print_json, print_line};
use crate::character::Note;
use crate::io::{BvhFile, read_motion, write_mapping};
use crate::rig::Joint;
use crate::rig::retarget::{Pair, Roles};
use crate::session::{Checkup, JointSummary, MotionSummary};

/// Options of the verb.
#[derive(Debug, Args)]
pub(super) struct Info {
    #[command(flatten)]
    character: CharacterOptions,
    /// Print a report for machines.
    #[arg(long)]
    json: bool,
    /// Write who moves whom in the (first) motion of another skeleton, to be edited and given to --mapping.
    #[arg(long, value_name = "FILE.json")]
    save_mapping: Option<PathBuf>,
}

impl Info {
    pub(super) fn run(&self, options: &Options) -> Outcome {
        if self.save_mapping.is_none() && !self.character.files.is_empty() && self.character.files.iter().all(|file| is_motion(file)) {
            return self.character.files.iter().try_for_each(|file| self.show_motion(file));
        }
        // The notes are part of the report, so nothing is repeated on stderr.
        let quiet = Options { quiet: true, ..options.clone() };
        let subject = self.character.open(&quiet)?;
        let checkup = Checkup::of(&subject);
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
        for line in lines(&checkup, options.verbose > 0) {
            print_line(&line);
        }
        Ok(())
    }
}

fn is_motion(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("bvh"))
}

/// A motion without a character.
#[derive(Serialize)]
struct MotionReport {
    file: PathBuf,
    name: String,
    frames: usize,
    duration_secs: f64,
    joints: Vec<MotionJoint>,
    notes: Vec<Note>,
}

#[derive(Serialize)]
struct MotionJoint {
    name: String,
    parent: Option<String>,
    offset: [f64; 3],
    role: Option<String>,
}

impl Info {
    fn show_motion(&self, file: &Path) -> Outcome {
        let BvhFile { skeleton, clip, frames, notes } = read_motion(file)?;
        let roles = Roles::of(&skeleton);
        let role_of = |joint: usize| roles.iter().find(|(_, joints)| joints.contains(&joint)).map(|(role, _)| role.id());
        let joint = |(index, joint): (usize, &Joint)| MotionJoint {
            name: joint.name.clone(),
            parent: joint.parent.map(|parent| skeleton.joints()[parent].name.clone()),
            offset: joint.rest.translation.into(),
            role: role_of(index),
        };
        let joints: Vec<MotionJoint> = skeleton.joints().iter().enumerate().map(joint).collect();
        let report = MotionReport { file: file.to_owned(), name: clip.name, frames, duration_secs: clip.duration_secs, joints, notes };
        if self.json {
            return print_json(&report);
        }
        print_line(&format!("{}: a motion without a character", report.name));
        print_line(&format!("  motion     {} frames, {:.3} s", report.frames, report.duration_secs));
        print_line(&format!("  joints     {}", report.joints.len()));
        for joint in &report.joints {
            let role = joint.role.as_deref().unwrap_or("–");
            print_line(&format!("    {} (parent {}): {role}", joint.name, joint.parent.as_deref().unwrap_or("–")));
        }
        for note in &report.notes {
            print_line(&format!("  {:<10} {}", format!("{:?}", note.severity).to_lowercase(), note.text));
        }
        Ok(())
    }
}

fn motion_lines(motion: &MotionSummary, all: bool) -> Vec<String> {
    let moved: usize = motion.pairs.iter().map(|pair| pair.target.len()).sum();
    let mut lines = vec![format!(
        "  motion     {}: from {}, {moved} joints moved, scaled by {:.5}; {} joints are not{}",
        motion.clip,
        motion.file.display(),
        motion.scale,
        motion.unmatched.len(),
        if all || motion.unmatched.is_empty() { "" } else { " (-v lists them)" }
    )];
    let pair = |pair: &Pair| format!("    {:<18} {} ← {}", pair.role, pair.target.join(", "), pair.source.join(", "));
    lines.extend(motion.pairs.iter().map(pair));
    if all {
        lines.extend(motion.unmatched.iter().map(|joint| format!("    {:<18} {joint}", "–")));
    }
    lines
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
    lines.extend(checkup.motions.iter().flat_map(|motion| motion_lines(motion, all_joints)));
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
