//! Clips made by the user, and their keys.

use std::collections::BTreeSet;
use std::sync::Arc;

use super::KeysCommand;
use crate::progress::Progress;
use crate::rig::{FeetRules, KeyRef, KeyTolerance, KeyedClip, NEW_FPS, Pose, SAME_SECS, Trs};
use crate::session::editing::{EditContext, Editor};
use crate::session::job::{Job, JobState};
use crate::session::{DEFAULT_FPS, Level};

/// Smaller rotations are rounding, not edits.
const TURNED: f64 = 1e-9;

impl Editor {
    pub(in crate::session) fn apply_keys(
        &mut self,
        with: &mut EditContext<'_>,
        command: KeysCommand,
    ) {
        match command {
            KeysCommand::NewClip { duration_secs } => self.new_clip(with, duration_secs),
            KeysCommand::Duplicate { clip } => self.duplicate(with, clip),
            KeysCommand::Rename { clip, name } => self.rename_take(with, clip, &name),
            KeysCommand::Delete { clip } => self.delete_take(with, clip),
            KeysCommand::SetKeys {
                clip,
                joints,
                time_secs,
            } => self.set_keys(with, clip, &joints, time_secs),
            KeysCommand::MoveKeys {
                clip,
                keys,
                by_secs,
                from,
            } => self.edit_take_from(with, clip, from, |take| take.move_keys(&keys, by_secs)),
            KeysCommand::ScaleKeys {
                clip,
                keys,
                pivot_secs,
                factor,
                from,
            } => {
                self.edit_take_from(with, clip, from, |take| {
                    take.scale_keys(&keys, pivot_secs, factor);
                });
            }
            KeysCommand::DeleteKeys { clip, keys } => {
                self.edit_take(with, clip, |take| take.remove_keys(&keys));
            }
            KeysCommand::SetInterpolation { clip, keys, ease } => {
                self.edit_take(with, clip, |take| take.set_ease(&keys, &ease));
            }
            KeysCommand::Curve { clip, edit, from } => self.edit_curves(with, clip, &edit, from),
            KeysCommand::SetDuration {
                clip,
                duration_secs,
            } => self.edit_take(with, clip, |take| take.set_duration(duration_secs)),
            KeysCommand::SetFeet { clip, rules, from } => self.set_feet(with, clip, &rules, from),
            KeysCommand::PlantStanding { clip } => self.plant_standing(with, clip),
            KeysCommand::SetAutoKey(on) => self.keying.auto_key = on,
            // Handled by the session: not part of the edited state.
            KeysCommand::SetScrubbing(_) => {}
            KeysCommand::StartRecording => self.start_recording(with),
            KeysCommand::StopRecording => self.stop_recording(with),
            KeysCommand::AddPose => self.add_pose(with),
            KeysCommand::ApplyPose { pose, blend, from } => {
                self.blend_pose(with, pose, blend, from.as_deref());
            }
            KeysCommand::RenamePose { pose, name } => self.rename_pose(pose, &name),
            KeysCommand::DeletePose { pose } if pose < self.document.pose_library.len() => {
                drop(self.document.pose_library.remove(pose));
            }
            KeysCommand::DeletePose { .. } => {}
            KeysCommand::LoadPoses(files) => self.load_poses(with, &files),
            KeysCommand::SavePoses(folder) => self.save_poses(with, &folder),
        }
    }

    fn new_clip(&mut self, with: &mut EditContext<'_>, duration_secs: f64) {
        self.refresh(with.channels);
        if self
            .document
            .skeleton()
            .is_none_or(crate::rig::Skeleton::is_empty)
        {
            return with.add_message(Level::Info, "A clip needs a skeleton; add joints first.");
        }
        let mut clip = KeyedClip::new(
            self.document.clips().free_name("Clip"),
            NEW_FPS,
            duration_secs,
        );
        clip.key_pose(with.channels.active().pose(), 0.0);
        if let Some(stance) = self.stance() {
            clip.set_feet(FeetRules::new([], true), Some(stance));
        }
        self.add_take(with, clip);
    }

    /// Adds a take and shows it at its start.
    pub(super) fn add_take(&mut self, with: &mut EditContext<'_>, clip: KeyedClip) {
        self.document.takes.push(Arc::new(clip));
        let index = self.document.clips().len() - 1;
        with.channels.active_mut().playback.leave_clip();
        let channel = with.channels.active_mut();
        with.cut = channel
            .select_clip(&self.document, Some(index))
            .or(with.cut);
        self.refresh(with.channels);
    }

    fn duplicate(&mut self, with: &mut EditContext<'_>, clip: usize) {
        let clips = self.document.clips();
        let name = clips
            .get(clip)
            .map(|clip| clips.free_name(&format!("{} copy", clip.name)));
        let Some((name, subject)) = name.zip(self.document.subject.clone()) else {
            return;
        };
        if let Some(take) = clips.take(clip) {
            let mut copy = (**take).clone();
            copy.rename(name);
            return self.add_take(with, copy);
        }
        let work = move |_: &Progress| {
            let character = &subject.character;
            let keyed =
                KeyedClip::from_clip(&character.clips[clip], &character.skeleton, DEFAULT_FPS);
            let mut keyed = if keyed.is_dense() {
                keyed.reduced(&KeyTolerance::of_size(f64::from(subject.size)))
            } else {
                keyed
            };
            keyed.rename(name);
            // Done here so that the window does not have to.
            let _ = keyed.clip();
            keyed
        };
        match Job::start(
            "Making an editable copy".to_owned(),
            with.waker.cloned(),
            work,
        ) {
            Ok(job) => self.keying.copying = Some(job),
            Err(error) => with.add_message(
                Level::Error,
                format!("No thread could be started to copy the clip: {error}."),
            ),
        }
    }

    /// Adds an editable copy that has become ready. Returns whether there was one.
    pub(in crate::session) fn take_finished_copy(&mut self, with: &mut EditContext<'_>) -> bool {
        let outcome = match &self.keying.copying {
            Some(job) => job.poll(),
            None => return false,
        };
        if matches!(outcome, JobState::Running) {
            return false;
        }
        self.keying.copying = None;
        match outcome {
            JobState::Done(mut clip) => {
                clip.rename(self.document.clips().free_name(clip.name()));
                self.add_take(with, clip);
            }
            _ => with.add_message(
                Level::Error,
                "The copy of the clip stopped unexpectedly; try again.",
            ),
        }
        true
    }

    fn rename_take(&mut self, with: &mut EditContext<'_>, clip: usize, name: &str) {
        let (names, name) = (self.document.clips().names(), name.trim());
        if name.is_empty() || names.get(clip).is_none_or(|known| known == name) {
            return;
        }
        let name = self.document.clips().free_name(name);
        self.edit_take(with, clip, |take| take.rename(name));
        with.channels
            .follow_clips(&names, &self.document.clips().names());
    }

    fn delete_take(&mut self, with: &mut EditContext<'_>, clip: usize) {
        let clips = self.document.clips();
        let (names, first) = (clips.names(), clips.first_take());
        if clips.take(clip).is_some() {
            self.document.takes.remove(clip - first);
            with.channels
                .follow_clips(&names, &self.document.clips().names());
        }
    }

    /// Edits a take. A clip of a file is left unchanged and the user gets a message.
    fn edit_take(
        &mut self,
        with: &mut EditContext<'_>,
        clip: usize,
        edit: impl FnOnce(&mut KeyedClip),
    ) {
        self.edit_take_from(with, clip, None, edit);
    }

    pub(super) fn edit_take_from(
        &mut self,
        with: &mut EditContext<'_>,
        clip: usize,
        from: Option<Arc<KeyedClip>>,
        edit: impl FnOnce(&mut KeyedClip),
    ) {
        let clips = self.document.clips();
        let first = clips.first_take();
        if let Some(known) = clips.get(clip).filter(|_| clip < first) {
            let text = format!(
                "\"{}\" belongs to the file; make an editable copy to change its keys.",
                known.name
            );
            return with.add_message(Level::Info, text);
        }
        let Some(take) = self.document.takes.get_mut(clip - first) else {
            return;
        };
        if let Some(from) = from {
            *take = from;
        }
        edit(Arc::make_mut(take));
        let channel = with.channels.active_mut();
        if channel.playback.clip.is_some() {
            let duration = channel.clip_duration_secs(&self.document.clips());
            channel.playback.time_secs = channel.playback.time_secs.min(duration);
        }
    }

    fn set_keys(
        &mut self,
        with: &mut EditContext<'_>,
        clip: usize,
        joints: &[usize],
        time_secs: f64,
    ) {
        self.refresh(with.channels);
        let Some((take, skeleton)) = self
            .document
            .clips()
            .take(clip)
            .zip(self.document.skeleton())
        else {
            return self.edit_take(with, clip, |_| {});
        };
        if !time_secs.is_finite() || time_secs < 0.0 {
            return;
        }
        let pose = with.channels.active().pose().clone();
        let held = take.sample(skeleton, time_secs);
        let mut which: BTreeSet<usize> = turned(&pose, &held).collect();
        which.extend(
            joints
                .iter()
                .copied()
                .filter(|joint| *joint < pose.locals.len()),
        );
        if joints.is_empty() {
            which.extend(0..pose.locals.len());
        }
        self.put_keys(with, clip, &pose, &which, time_secs);
        let moved = pose.morphs != held.morphs;
        if moved || joints.is_empty() {
            self.edit_take(with, clip, |take| take.key_morphs(&pose, time_secs));
        }
        self.show_take_at(with, clip, time_secs);
    }

    /// Sets keys of some joints. A joint without keys also gets one at the start with its previous value.
    fn put_keys(
        &mut self,
        with: &mut EditContext<'_>,
        clip: usize,
        pose: &Pose,
        joints: &BTreeSet<usize>,
        time_secs: f64,
    ) {
        let Some(rest) = self
            .document
            .skeleton()
            .map(crate::rig::Skeleton::rest_pose)
        else {
            return;
        };
        self.edit_take(with, clip, |take| {
            for &joint in joints {
                if take.keys(joint).is_empty() && time_secs > SAME_SECS {
                    take.set_key(KeyRef::of_joint(joint, 0.0), rest.locals[joint]);
                }
                take.set_key(KeyRef::of_joint(joint, time_secs), pose.locals[joint]);
            }
        });
    }

    /// Pauses at a time of a take.
    fn show_take_at(&mut self, with: &mut EditContext<'_>, clip: usize, time_secs: f64) {
        let channel = with.channels.active_mut();
        let playback = &mut channel.playback;
        if playback.clip != Some(clip) {
            playback.range_secs = playback.range_secs.filter(|_| playback.resume.0 == clip);
        }
        playback.fading = None;
        (playback.clip, playback.playing) = (Some(clip), false);
        channel.playback.time_secs =
            time_secs.min(channel.clip_duration_secs(&self.document.clips()));
        channel.refresh(&self.document);
    }

    /// After an edit of the pose: with auto-key, sets keys in the shown take. Returns whether it did.
    pub(in crate::session::editing) fn key_changes(
        &mut self,
        with: &mut EditContext<'_>,
        pose: &Pose,
    ) -> bool {
        let Some(clip) = with
            .channels
            .active()
            .playback
            .clip
            .filter(|_| self.keying.auto_key && !self.keying.is_recording())
        else {
            return false;
        };
        let Some(take) = self.document.clips().take(clip) else {
            return false;
        };
        let (fps, duration) = (take.fps(), take.duration_secs());
        let joints: BTreeSet<usize> = turned(pose, with.channels.active().pose()).collect();
        let time_secs =
            ((with.channels.active().playback.time_secs * fps).round() / fps).min(duration);
        if !joints.is_empty() {
            self.put_keys(with, clip, pose, &joints, time_secs);
        }
        if pose.morphs != with.channels.active().pose().morphs {
            self.edit_take(with, clip, |take| take.key_morphs(pose, time_secs));
        }
        self.show_take_at(with, clip, time_secs);
        true
    }

    /// Removes the keys that a drag with auto-key has set.
    pub(in crate::session::editing) fn revert_keys(&mut self, with: &mut EditContext<'_>) {
        let playing = with
            .channels
            .active()
            .playback
            .clip
            .is_some_and(|clip| self.document.clips().take(clip).is_some());
        if let Some(before) = self
            .history
            .gesture_start()
            .filter(|_| playing && self.keying.auto_key)
        {
            self.document.takes.clone_from(&before.takes);
        }
    }
}

/// The joints whose transforms differ.
fn turned(a: &Pose, b: &Pose) -> impl Iterator<Item = usize> {
    let apart = |a: &Trs, b: &Trs| {
        let moved = (a.translation - b.translation).norm() + (a.scale - b.scale).norm();
        moved > TURNED * (1.0 + a.translation.norm()) || a.rotation.angle_to(&b.rotation) > 1e-7
    };
    let differ: Vec<usize> = a
        .locals
        .iter()
        .zip(&b.locals)
        .enumerate()
        .filter(|(_, (a, b))| apart(a, b))
        .map(|(joint, _)| joint)
        .collect();
    differ.into_iter()
}
