//! `sinew info` for motions.

use std::path::{Path, PathBuf};

use serde::Serialize;

use super::{CommandResult, print_json, print_lines};
use crate::character::Note;
use crate::io::{BvhFile, IoError, read_motion};
use crate::rig::Joint;
use crate::rig::retarget::{JointPair, JointRoles};
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

/// Prints a summary of motions that come without a character.
pub(super) fn show_motions(files: &[PathBuf], json: bool) -> CommandResult {
    let reports = files
        .iter()
        .map(|file| MotionReport::of(file))
        .collect::<Result<Vec<_>, _>>()?;
    match reports.as_slice() {
        [report] if json => print_json(report),
        _ if json => print_json(&reports),
        _ => print_lines(reports.iter().flat_map(MotionReport::lines)),
    }
}

impl MotionReport {
    fn of(file: &Path) -> Result<Self, IoError> {
        let BvhFile {
            skeleton,
            clip,
            frames,
            notes,
        } = read_motion(file)?;
        let roles = JointRoles::of(&skeleton);
        let role_of = |joint: usize| {
            roles
                .iter()
                .find(|(_, joints)| joints.contains(&joint))
                .map(|(role, _)| role.id())
        };
        let joint = |(index, joint): (usize, &Joint)| MotionJoint {
            name: joint.name.clone(),
            parent: joint
                .parent
                .map(|parent| skeleton.joints()[parent].name.clone()),
            offset: joint.rest.translation.into(),
            role: role_of(index),
        };
        let joints: Vec<MotionJoint> = skeleton.joints().iter().enumerate().map(joint).collect();
        Ok(Self {
            file: file.to_owned(),
            name: clip.name,
            frames,
            duration_secs: clip.duration_secs,
            joints,
            notes,
        })
    }

    fn lines(&self) -> Vec<String> {
        let mut lines = vec![
            format!("{}: a motion without a character", self.name),
            format!(
                "  motion     {} frames, {:.3} s",
                self.frames, self.duration_secs
            ),
            format!("  joints     {}", self.joints.len()),
        ];
        lines.extend(self.joints.iter().map(|joint| {
            let [parent, role] =
                [&joint.parent, &joint.role].map(|name| name.as_deref().unwrap_or("–"));
            format!("    {} (parent {parent}): {role}", joint.name)
        }));
        let severity = |note: &Note| format!("{:?}", note.severity).to_lowercase();
        lines.extend(
            self.notes
                .iter()
                .map(|note| format!("  {:<10} {}", severity(note), note.text)),
        );
        lines
    }
}

/// The mapping between joints.
pub(super) fn motion_lines(motion: &MotionSummary, all: bool) -> Vec<String> {
    let moved: usize = motion.pairs.iter().map(|pair| pair.target.len()).sum();
    let mut lines = vec![format!(
        "  motion     {}: from {}, {moved} joints moved, scaled by {:.5}; {} joints are not{}",
        motion.clip,
        motion.file.display(),
        motion.scale,
        motion.unmatched.len(),
        if all || motion.unmatched.is_empty() {
            ""
        } else {
            " (-v lists them)"
        }
    )];
    let pair = |pair: &JointPair| {
        format!(
            "    {:<18} {} ← {}",
            pair.role,
            pair.target.join(", "),
            pair.source.join(", ")
        )
    };
    lines.extend(motion.pairs.iter().map(pair));
    if all {
        lines.extend(
            motion
                .unmatched
                .iter()
                .map(|joint| format!("    {:<18} {joint}", "–")),
        );
    }
    lines
}
