//! The pose made by hand, and settings of single bones and parts.

use std::path::Path;

use super::{EditContext, Editor};
use crate::character::{BoneSettings, Place};
use crate::rig::limits::clamp_joint;
use crate::rig::{Pose, PoseFile, Skeleton};
use crate::session::posing;
use crate::session::{Channels, Level};

impl Editor {
    /// Changes the settings of a joint's bones. Returns whether they are valid.
    pub(in crate::session) fn set_bone(&mut self, joint: usize, settings: BoneSettings) -> bool {
        let BoneSettings {
            stiffness,
            density,
            damping,
            jiggle,
            ..
        } = settings;
        let finite = [stiffness, density, damping, jiggle]
            .iter()
            .all(|factor| factor.is_finite());
        if !finite || joint >= self.document.pose.locals.len() {
            return false;
        }
        let settings = settings.sanitized();
        if settings == BoneSettings::default() {
            self.document.flesh.bones.remove(&joint);
        } else {
            self.document.flesh.bones.insert(joint, settings);
        }
        true
    }

    /// Sets how a part of the skin moves. Returns whether that is possible.
    pub(in crate::session) fn set_part(&mut self, name: String, place: Option<Place>) -> bool {
        let there = |place: &Place| !matches!(place, Place::Rigid { joint } if *joint >= self.document.pose.locals.len());
        if !place.as_ref().is_none_or(there) {
            return false;
        }
        match place {
            Some(place) => self.document.flesh.parts.insert(name, place),
            None => self.document.flesh.parts.remove(&name),
        };
        true
    }

    /// Updates the pose shown in the active channel.
    pub(super) fn refresh(&self, channels: &mut Channels) {
        channels.active_mut().refresh(&self.document);
    }

    /// Edits the shown pose. A clip's current pose is copied to the document, and the clip is no longer shown.
    pub(in crate::session) fn edit_pose(
        &mut self,
        with: &mut EditContext<'_>,
        edit: impl FnOnce(&Skeleton, &mut Pose),
    ) {
        self.refresh(with.channels);
        let Some(subject) = self.document.subject.clone() else {
            return;
        };
        let mut pose = with.channels.active().pose().clone();
        edit(&subject.character.skeleton, &mut pose);
        self.take_pose(with, pose);
    }

    /// After an edit of the pose: sets keys, or shows the pose in place of the clip.
    pub(super) fn take_pose(&mut self, with: &mut EditContext<'_>, pose: Pose) {
        if !self.key_changes(with, &pose) {
            *self.document.pose_in_mut(with.channels.active_id()) = pose;
            with.channels.active_mut().playback.leave_clip();
        }
    }

    /// Sets a joint's angles; non-finite numbers are ignored.
    pub(in crate::session) fn set_joint_angles(
        &mut self,
        with: &mut EditContext<'_>,
        joint: usize,
        degrees: [f64; 3],
    ) {
        if joint < self.document.pose.locals.len() && degrees.iter().all(|angle| angle.is_finite())
        {
            let limits = self.document.limits.clone();
            self.edit_pose(with, |skeleton, pose| {
                posing::set_joint_angles_deg(skeleton, pose, joint, degrees);
                clamp_joint(skeleton, &limits, pose, joint);
            });
        }
    }

    /// Resets one joint to rest.
    pub(in crate::session) fn reset_joint(&mut self, with: &mut EditContext<'_>, joint: usize) {
        if joint < self.document.pose.locals.len() {
            self.edit_pose(with, |skeleton, pose| {
                pose.locals[joint] = skeleton.joints()[joint].rest;
            });
        }
    }

    /// Sets the weights of morph controls, relative to rest.
    pub(in crate::session) fn set_morphs(
        &mut self,
        with: &mut EditContext<'_>,
        weights: &[(usize, f64)],
    ) {
        let count = (self.document.subject.as_ref())
            .map_or(0, |subject| subject.character.morph_control_count());
        self.edit_pose(with, |_, pose| {
            for &(control, weight) in weights.iter().filter(|(control, _)| *control < count) {
                pose.morphs.set(control, weight);
            }
        });
    }

    /// Resets all joints and morphs to rest.
    pub(in crate::session) fn reset_pose(&mut self, with: &mut EditContext<'_>) {
        if let Some(rest) = self.document.skeleton().map(Skeleton::rest_pose) {
            self.refresh(with.channels);
            self.take_pose(with, rest);
        }
    }

    /// Sets all joints.
    pub(in crate::session) fn set_pose(&mut self, with: &mut EditContext<'_>, pose: &Pose) {
        let joints = self.document.skeleton().map(crate::rig::Skeleton::len);
        if joints == Some(pose.locals.len()) {
            self.refresh(with.channels);
            self.take_pose(with, pose.clone());
        }
    }

    /// Reads a pose file.
    pub(in crate::session) fn load_pose(&mut self, with: &mut EditContext<'_>, path: &Path) {
        let Some(subject) = &self.document.subject else {
            return;
        };
        match posing::read_pose(path, &subject.character) {
            Ok(pose) => {
                self.refresh(with.channels);
                self.take_pose(with, pose);
            }
            Err(error) => with.add_message(Level::Error, error.to_string()),
        }
    }

    /// Writes the shown pose to a pose file.
    pub(in crate::session) fn save_pose(&self, with: &mut EditContext<'_>, path: &Path) {
        self.refresh(with.channels);
        let Some(subject) = &self.document.subject else {
            return;
        };
        let file: PoseFile = subject
            .character
            .pose_to_file(with.channels.active().pose());
        match crate::io::write_pose(path, &file) {
            Ok(()) => with.add_message(
                Level::Info,
                format!("The pose was written to {}.", path.display()),
            ),
            Err(error) => with.add_message(Level::Error, error.to_string()),
        }
    }
}
