//! The pose library.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::rig::{NamedPose, Pose};
use crate::session::clips::free_name;
use crate::session::editing::{EditContext, Editor};
use crate::session::{Level, read_pose};

/// Largest number of poses.
const MOST_POSES: usize = 1000;

impl Editor {
    pub(super) fn add_pose(&mut self, with: &mut EditContext<'_>) {
        self.refresh(with.channels);
        if self.document.subject.is_some() {
            self.keep_pose("Pose", with.channels.active().pose().clone());
        }
    }

    fn keep_pose(&mut self, name: &str, pose: Pose) {
        let library = &mut self.document.pose_library;
        if library.len() < MOST_POSES {
            let name = free_name(name, |name| library.iter().any(|known| known.name == name));
            library.push(Arc::new(NamedPose { name, pose }));
        }
    }

    pub(super) fn blend_pose(
        &mut self,
        with: &mut EditContext<'_>,
        pose: usize,
        blend: f64,
        from: Option<&Pose>,
    ) {
        self.refresh(with.channels);
        let Some(wanted) = self.document.pose_library.get(pose).cloned() else {
            return;
        };
        let from = from.unwrap_or(with.channels.active().pose());
        if blend.is_finite()
            && wanted.pose.locals.len() == with.channels.active().pose().locals.len()
            && from.locals.len() == wanted.pose.locals.len()
        {
            let blended = match blend.clamp(0.0, 1.0) {
                1.0 => wanted.pose.clone(),
                blend => from.lerp(&wanted.pose, blend),
            };
            self.take_pose(with, blended);
        }
    }

    pub(super) fn rename_pose(&mut self, pose: usize, name: &str) {
        let library = &mut self.document.pose_library;
        let name = name.trim();
        if name.is_empty() || library.get(pose).is_none_or(|known| known.name == name) {
            return;
        }
        let name = free_name(name, |name| library.iter().any(|known| known.name == name));
        Arc::make_mut(&mut library[pose]).name = name;
    }

    pub(super) fn load_poses(&mut self, with: &mut EditContext<'_>, files: &[PathBuf]) {
        let Some(subject) = self.document.subject.clone() else {
            return;
        };
        for file in files {
            match read_pose(file, &subject.character) {
                Ok(pose) => {
                    let name = file.file_stem().map_or_else(
                        || "Pose".to_owned(),
                        |stem| stem.to_string_lossy().into_owned(),
                    );
                    self.keep_pose(&name, pose);
                }
                Err(error) => with.add_message(Level::Error, error.to_string()),
            }
        }
    }

    pub(super) fn save_poses(&mut self, with: &mut EditContext<'_>, folder: &Path) {
        let Some(subject) = &self.document.subject else {
            return;
        };
        let library = &self.document.pose_library;
        for pose in library {
            let path = folder.join(format!("{}.json", file_name(&pose.name)));
            let file = subject.character.pose_to_file(&pose.pose);
            if let Err(error) = crate::io::write_pose(&path, &file) {
                return with.add_message(Level::Error, error.to_string());
            }
        }
        let text = format!(
            "{} poses were written to {}.",
            library.len(),
            folder.display()
        );
        with.add_message(Level::Info, text);
    }
}

/// A file name that is valid on every file system.
fn file_name(name: &str) -> String {
    let safe = |c: char| {
        if c.is_alphanumeric() || " -_.()".contains(c) {
            c
        } else {
            '_'
        }
    };
    let name: String = name.chars().map(safe).take(100).collect();
    let name = name.trim_matches(['.', ' ']);
    if name.is_empty() {
        "pose".to_owned()
    } else {
        name.to_owned()
    }
}
