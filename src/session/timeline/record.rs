//! A take of live dragging: while it is recorded, real time passes and the pose shown is kept frame by frame. At the end it becomes
//! a clip with few keys. Nothing that is done meanwhile is an undo step; the recording as a whole is one.

use crate::rig::{KeyTolerance, KeyedClip, NEW_FPS, Pose};
use crate::session::ChannelId;
use crate::session::{Document, KeysCommand, Level, Session};

/// A recording ends by itself after so long.
const LONGEST_SECS: f64 = 300.0;

/// A recording under way.
pub(super) struct Recording {
    before: Document,
    channel: ChannelId,
    secs: f64,
    last: Pose,
    /// One pose a frame of [`NEW_FPS`].
    frames: Vec<Pose>,
}

impl Recording {
    pub(super) fn secs(&self) -> f64 {
        self.secs
    }

    /// The pose is this one now, so much later; between, it went straight.
    fn pass(&mut self, pose: &Pose, dt_secs: f64) {
        let now = self.secs + dt_secs;
        loop {
            let due = self.frames.len() as f64 / NEW_FPS;
            if due > now + 1e-9 || dt_secs <= 0.0 {
                break;
            }
            // What stands still stays the same to the last bit.
            let still = *pose == self.last;
            self.frames.push(if still {
                pose.clone()
            } else {
                self.last
                    .lerp(pose, ((due - self.secs) / dt_secs).clamp(0.0, 1.0))
            });
        }
        self.last.clone_from(pose);
        self.secs = now;
    }
}

impl Session {
    pub(super) fn start_recording(&mut self) {
        self.channels.active_mut().refresh(&self.document);
        if self.timeline.is_recording()
            || self
                .document
                .skeleton()
                .is_none_or(crate::rig::Skeleton::is_empty)
        {
            return;
        }
        let pose = self.channels.active().pose().clone();
        self.timeline.recording = Some(Recording {
            before: self.document.clone(),
            channel: self.channels.active_id(),
            secs: 0.0,
            last: pose.clone(),
            frames: vec![pose],
        });
    }

    /// Real time has passed.
    pub(super) fn record(&mut self, dt_secs: f64) {
        let Some(recording) = &mut self.timeline.recording else {
            return;
        };
        if recording.channel != self.channels.active_id()
            || recording.last.locals.len() != self.channels.active().pose().locals.len()
        {
            return self.cancel_recording();
        }
        recording.pass(self.channels.active().pose(), dt_secs);
        if recording.secs > LONGEST_SECS {
            self.tell(Level::Info, "The recording was ended after five minutes.");
            self.apply_once(KeysCommand::StopRecording.into());
        }
    }

    pub(super) fn stop_recording(&mut self) {
        let Some(recording) = self.timeline.recording.take() else {
            return;
        };
        let pose = recording.before.pose_in(recording.channel).clone();
        *self.document.pose_in_mut(recording.channel) = pose;
        self.timeline.recorded_from = Some(recording.before);
        let Some(subject) = self.document.subject.clone() else {
            return;
        };
        if recording
            .frames
            .iter()
            .all(|frame| *frame == recording.frames[0])
        {
            self.channels.active_mut().playback.leave_clip();
            return self.tell(
                Level::Info,
                "Nothing moved while recording, so there is no take.",
            );
        }
        let name = self.document.clips().free_name("Take");
        let dense = KeyedClip::of_poses(
            name,
            NEW_FPS,
            &recording.frames,
            &subject.character.skeleton,
        );
        self.add_take(dense.reduced(&KeyTolerance::of_size(f64::from(subject.size))));
    }

    /// Forgets the recording under way: all is as it was before it.
    pub(in crate::session) fn cancel_recording(&mut self) {
        if let Some(recording) = self.timeline.recording.take() {
            let pose = recording.before.pose_in(recording.channel).clone();
            if pose.locals.len() == self.document.pose.locals.len() {
                *self.document.pose_in_mut(recording.channel) = pose;
            }
        }
    }
}
