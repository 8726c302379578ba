//! Recording: while it runs, the shown pose is sampled in real time, one pose per frame. At its end the samples become
//! a clip with few keys. The recording is one undo step; edits during it are not steps of their own.

use crate::rig::{KeyTolerance, KeyedClip, NEW_FPS, Pose};
use crate::session::ChannelId;
use crate::session::editing::{EditContext, Editor};
use crate::session::{Document, Level};

/// A recording ends automatically after this time.
const LONGEST_SECS: f64 = 300.0;

/// A recording in progress.
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

    /// Appends a pose after a time step; frames between are interpolated linearly.
    fn pass(&mut self, pose: &Pose, dt_secs: f64) {
        let now = self.secs + dt_secs;
        loop {
            let due = self.frames.len() as f64 / NEW_FPS;
            if due > now + 1e-9 || dt_secs <= 0.0 {
                break;
            }
            // Equal values are copied, so that unmoved joints stay bit-equal.
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
    pub(super) fn start_recording(&mut self, with: &mut EditContext<'_>) {
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

    /// Advances real time. Returns whether the recording has reached its end.
    pub(in crate::session) fn record(&mut self, with: &mut EditContext<'_>, dt_secs: f64) -> bool {
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
            with.add_message(
                Level::Info,
                "The recording ended after five minutes, the limit.",
            );
        }
        is_over
    }

    pub(super) fn stop_recording(&mut self, with: &mut EditContext<'_>) {
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
            return with.add_message(
                Level::Info,
                "Nothing moved during the recording, so no take was created.",
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

    /// Cancels the recording and restores the document from before it.
    pub(in crate::session) fn cancel_recording(&mut self) {
        if let Some(recording) = self.keying.recording.take() {
            let pose = recording.before.pose_in(recording.channel).clone();
            if pose.locals.len() == self.document.pose.locals.len() {
                *self.document.pose_in_mut(recording.channel) = pose;
            }
        }
    }
}
