//! What the document says of joints, carried over to another rig of the same character.

use std::sync::Arc;

use crate::rig::edit::{Remap, Rig, pose_on};
use crate::rig::{NamedPose, Skeleton};
use crate::session::Document;

impl Document {
    /// The skeleton as edited, or as in the files; `None` while nothing is open.
    #[must_use]
    pub fn rig(&self) -> Option<&Arc<Rig>> {
        let subject = self.subject.as_ref()?;
        Some(self.rig.as_ref().unwrap_or_else(|| subject.base.as_ref().map_or(&subject.rig, |base| &base.rig)))
    }

    /// Says of the joints of `new` what was said of those of `old`.
    pub(in crate::session) fn carry(&mut self, remap: &Remap, old: &Skeleton, new: &Skeleton) {
        for pose in std::iter::once(&mut self.pose).chain(self.free_poses.values_mut()) {
            if pose.locals.len() == old.len() {
                *pose = pose_on(old, pose, remap, new);
            }
        }
        self.takes = self.takes.iter().map(|take| Arc::new(take.remapped(&remap.old_from_new))).collect();
        let carried = |named: &Arc<NamedPose>| Arc::new(NamedPose { pose: pose_on(old, &named.pose, remap, new), ..(**named).clone() });
        self.pose_library = self.pose_library.iter().map(carried).collect();
        self.limits = remap.carry(&self.limits);
        self.pins = self.pins.iter().filter_map(|&joint| remap.new_from_old(joint)).collect();
        self.flesh = self.flesh.on(remap);
    }
}
