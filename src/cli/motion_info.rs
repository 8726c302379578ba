//! `sinew info` of motions.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{Outcome, print_json, print_line};
use crate::character::Note;
use crate::io::{BvhFile, read_motion};
use crate::rig::Joint;
use crate::rig::retarget::{Pair, Roles};
use crate::session::MotionSummary;

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

/// Prints what is in a motion that comes without a character.
pub(super) fn show_motion(file: &Path, json: bool) -> Outcome {
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
    if json {
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

/// What moves whom.
pub(super) fn motion_lines(motion: &MotionSummary, all: bool) -> Vec<String> {
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
