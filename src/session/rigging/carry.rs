//! Transfers joint data of the document to another rig of the same character.

use std::sync::Arc;

use crate::rig::edit::{Remap, Rig, pose_on};
use crate::rig::{NamedPose, Skeleton};
use crate::session::editing::timeline::transfer_clip;
use crate::session::{Document, clips};

impl Document {
    /// The edited skeleton, or that of the files; `None` while nothing is open.
    #[must_use]
    pub fn rig(&self) -> Option<&Arc<Rig>> {
        let subject = self.subject.as_ref()?;
        Some(
            self.rig
                .as_ref()
                .unwrap_or_else(|| subject.base.as_ref().map_or(&subject.rig, |base| &base.rig)),
        )
    }

    /// The document with the character as read instead of the one on its edited rig, which is made again when this document is
    /// restored. Data of joints that the files do not have is lost, except for the rig itself. Does nothing if clips
    /// have been added since.
    pub(in crate::session) fn rest_on_file(&mut self) {
        let Some((subject, rig)) = self.subject.clone().zip(self.rig().cloned()) else {
            return;
        };
        let Some(base) = subject
            .base
            .clone()
            .filter(|base| base.character.clips.len() == subject.character.clips.len())
        else {
            return;
        };
        self.carry(
            &Remap::between(&subject.rig, &base.rig),
            &subject.character.skeleton,
            &base.character.skeleton,
        );
        clips::stand(&mut self.takes, &base.character);
        (self.subject, self.rig) = (Some(base), Some(rig));
    }

    /// Transfers the data of `old`'s joints to those of `new`.
    pub(in crate::session) fn carry(&mut self, remap: &Remap, old: &Skeleton, new: &Skeleton) {
        for pose in std::iter::once(&mut self.pose).chain(self.free_poses.values_mut()) {
            if pose.locals.len() == old.len() {
                *pose = pose_on(old, pose, remap, new);
            }
        }
        for take in &mut self.takes {
            *take = Arc::new(transfer_clip(old, take, remap, new));
        }
        for kept in &mut self.pose_library {
            if kept.pose.locals.len() == old.len() {
                let pose = pose_on(old, &kept.pose, remap, new);
                *kept = Arc::new(NamedPose {
                    name: kept.name.clone(),
                    pose,
                });
            }
        }
        self.limits = remap.carry(&self.limits);
        self.pins = self
            .pins
            .iter()
            .filter_map(|&joint| remap.new_from_old(joint))
            .collect();
        self.flesh = self.flesh.on(remap);
        for choices in self.motions.values_mut() {
            *choices = remap.carry(choices);
        }
    }
}
