//! A take of live dragging: while it is recorded, real time passes and the pose shown is kept frame by frame. At the end it becomes
//! a clip with few keys. Nothing that is done meanwhile is an undo step; the recording as a whole is one.

use crate::rig::{KeyTolerance, KeyedClip, NEW_FPS, Pose};
use crate::session::ChannelId;
use crate::session::editing::{Beside, Editor};
use crate::session::{Document, Level};

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

impl Editor {
    pub(super) fn start_recording(&mut self, with: &mut Beside<'_>) {
        self.refresh(with.channels);
        if self.keying.is_recording()
            || self
                .document
                .skeleton()
                .is_none_or(crate::rig::Skeleton::is_empty)
        {
            return;
        }
        let pose = with.channels.active().pose().clone();
        self.keying.recording = Some(Recording {
            before: self.document.clone(),
            channel: with.channels.active_id(),
            secs: 0.0,
            last: pose.clone(),
            frames: vec![pose],
        });
    }

    /// Real time has passed. Returns whether the recording under way has to end.
    pub(in crate::session) fn record(&mut self, with: &mut Beside<'_>, dt_secs: f64) -> bool {
        let Some(recording) = &mut self.keying.recording else {
            return false;
        };
        if recording.channel != with.channels.active_id()
            || recording.last.locals.len() != with.channels.active().pose().locals.len()
        {
            self.cancel_recording();
            return false;
        }
        recording.pass(with.channels.active().pose(), dt_secs);
        let is_over = recording.secs > LONGEST_SECS;
        if is_over {
            with.tell(Level::Info, "The recording was ended after five minutes.");
        }
        is_over
    }

    pub(super) fn stop_recording(&mut self, with: &mut Beside<'_>) {
        let Some(recording) = self.keying.recording.take() else {
            return;
        };
        let pose = recording.before.pose_in(recording.channel).clone();
        *self.document.pose_in_mut(recording.channel) = pose;
        self.keying.recorded_from = Some(recording.before);
        let Some(subject) = self.document.subject.clone() else {
            return;
        };
        if recording
            .frames
            .iter()
            .all(|frame| *frame == recording.frames[0])
        {
            with.channels.active_mut().playback.leave_clip();
            return with.tell(
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
        self.add_take(
            with,
            dense.reduced(&KeyTolerance::of_size(f64::from(subject.size))),
        );
    }

    /// Forgets the recording under way: all is as it was before it.
    pub(in crate::session) fn cancel_recording(&mut self) {
        if let Some(recording) = self.keying.recording.take() {
            let pose = recording.before.pose_in(recording.channel).clone();
            if pose.locals.len() == self.document.pose.locals.len() {
                *self.document.pose_in_mut(recording.channel) = pose;
            }
        }
    }
}
