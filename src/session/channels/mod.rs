//! Channels: clock, pose and joints that one or several views follow.
//!
//! Linked views share one clock and one pose, the *shared channel*. A free view has a channel of its own, so that it can show another
//! pose or another time. Commands that pose or play act on the *active* channel, that of the active view. Channels are derived from
//! the document and a clock: after undo they are derived again from the restored document.

mod moments;
mod playback;

pub use playback::Playback;

use std::collections::BTreeMap;

use self::moments::Moments;
use super::{ChannelId, Clips, Document, ViewId};
use crate::math::{Affine, origin_of};
use crate::rig::{MorphWeights, Pose};
use crate::studio::GhostPose;

/// Poses that differ by more than this at every joint, relative to the character's size, are not blended.
const CUT: f64 = 0.25;

/// A clock and the pose at its time.
#[derive(Debug, Clone, Default)]
pub struct PoseChannel {
    id: ChannelId,
    /// Which clip is shown and when in it.
    pub(super) playback: Playback,
    pose: Pose,
    world_from_joint: Vec<Affine>,
    moments: Moments,
}

/// The motion jumps too far to be blended: the flesh has to settle in the new pose.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Cut;

impl PoseChannel {
    /// The channel's identity.
    #[must_use]
    pub fn id(&self) -> ChannelId {
        self.id
    }

    /// Which clip is shown and when in it.
    #[must_use]
    pub fn playback(&self) -> &Playback {
        &self.playback
    }

    /// The pose that the flesh follows: the clip's at the clock's time, or the one made by hand.
    #[must_use]
    pub fn pose(&self) -> &Pose {
        &self.pose
    }

    /// World transforms of the joints of [`Self::pose`], without the simulation's delay.
    #[must_use]
    pub fn world_from_joint(&self) -> &[Affine] {
        &self.world_from_joint
    }

    /// Length of the clip shown; 0 without one.
    #[must_use]
    pub fn clip_duration_secs(&self, clips: &Clips<'_>) -> f64 {
        self.playback
            .clip
            .and_then(|clip| clips.get(clip))
            .map_or(0.0, |clip| clip.duration_secs)
    }

    /// The clip that keys are set in, by index, and the time: the clip shown, or the take from which the edited pose was copied.
    #[must_use]
    pub fn edited_clip(&self, clips: &Clips<'_>) -> Option<(usize, f64)> {
        let Playback {
            clip,
            time_secs,
            resume,
            ..
        } = self.playback;
        match clip {
            Some(clip) => Some((clip, time_secs)),
            None => Some(resume).filter(|(clip, _)| clips.take(*clip).is_some()),
        }
    }

    /// The poses of the clip shown at the given offsets (seconds) from now, without those outside the played range. Empty
    /// without a clip.
    #[must_use]
    pub fn ghost_poses(
        &self,
        document: &Document,
        offsets_secs: impl Iterator<Item = f64>,
    ) -> Vec<GhostPose> {
        if self.playback.clip.is_none() {
            return Vec::new();
        }
        let [from, to] = self
            .playback
            .range_in(self.clip_duration_secs(&document.clips()));
        let at = |offset_secs: f64| {
            let time_secs = self.playback.time_secs + offset_secs;
            let pose = self
                .wanted_pose(document, time_secs)
                .filter(|_| (from..=to).contains(&time_secs))?;
            Some(GhostPose {
                offset_secs,
                world_from_joint: document.skeleton()?.world_from_joint(&pose),
                morphs: pose.morphs,
            })
        };
        offsets_secs.filter_map(at).collect()
    }

    /// The pose that clip, clock and document define; `None` while nothing is open.
    fn wanted_pose(&self, document: &Document, time_secs: f64) -> Option<Pose> {
        let skeleton = document.skeleton()?;
        let clips = document.clips();
        Some(match self.playback.clip.and_then(|clip| clips.get(clip)) {
            Some(clip) => clip.sample(skeleton, time_secs),
            None => document.pose_in(self.id).clone(),
        })
    }

    /// Updates the pose from clip, clock and document.
    pub(super) fn refresh(&mut self, document: &Document) {
        self.moments.follow(&self.playback, document);
        let wanted = self.wanted_pose(document, self.playback.time_secs);
        if let Some((wanted, skeleton)) = wanted.zip(document.skeleton()) {
            self.pose = wanted;
            self.playback.add_fading(&mut self.pose);
            skeleton.world_from_joint_into(&self.pose, &mut self.world_from_joint);
        }
    }

    /// Advances the clock and updates the pose.
    pub(super) fn advance(&mut self, document: &Document, dt_secs: f64) -> Option<Cut> {
        let duration_secs = self.clip_duration_secs(&document.clips());
        let before = self.playback.time_secs;
        if self.playback.playing {
            self.moments.held = false;
        }
        // A blending that was recorded in progress stands still with its clock.
        let dt_secs = if self.moments.held { 0.0 } else { dt_secs };
        let starts_over = self.playback.advance(dt_secs, duration_secs);
        let cut = starts_over.then(|| self.blend(document)).flatten();
        self.refresh(document);
        if starts_over || self.playback.time_secs != before {
            let [from, to] = self.playback.range_in(duration_secs);
            let start = if self.playback.speed < 0.0 { to } else { from };
            self.moments
                .note(&self.playback, before, starts_over.then_some(start));
        }
        cut
    }

    /// The clip has restarted or was changed: blends from the pose shown into the new motion. Where the two are too far apart
    /// (for example the end and the start of a walk) it cuts instead, and the flesh settles.
    pub(super) fn blend(&mut self, document: &Document) -> Option<Cut> {
        let subject = document.subject.as_deref()?;
        let skeleton = &subject.character.skeleton;
        let wanted = self.wanted_pose(document, self.playback.time_secs)?;
        if wanted.locals.len() != self.pose.locals.len() {
            return None;
        }
        let before = skeleton.world_from_joint(&self.pose);
        let after = skeleton.world_from_joint(&wanted);
        let step = |(a, b): (&Affine, &Affine)| (origin_of(a) - origin_of(b)).norm();
        let nearest = before
            .iter()
            .zip(&after)
            .map(step)
            .fold(f64::INFINITY, f64::min);
        if nearest > CUT * f64::from(subject.size) {
            self.playback.fading = None;
            self.refresh(document);
            return Some(Cut);
        }
        self.playback.fade(&self.pose, &wanted);
        None
    }

    /// Shows a clip from the start of its range, or the pose made by hand.
    pub(super) fn select_clip(&mut self, document: &Document, clip: Option<usize>) -> Option<Cut> {
        let before = self.playback.clip;
        let clips = document.clips();
        self.moments.leave();
        match clip {
            Some(clip) if clip < clips.len() => {
                // The range is kept when coming back from the pose made by hand.
                if before.unwrap_or(self.playback.resume.0) != clip {
                    self.playback.range_secs = None;
                }
                self.playback.clip = Some(clip);
                self.playback.time_secs =
                    self.playback.range_in(self.clip_duration_secs(&clips))[0];
            }
            Some(_) => return None,
            None => self.playback.leave_clip(),
        }
        // A paused view changes without blending.
        if self.playback.playing || (before.is_some() && clip.is_none()) {
            self.blend(document)
        } else {
            None
        }
    }

    /// Sets which part of the clip is played, seconds; all of it for `None` or an empty range.
    pub(super) fn set_range(&mut self, clips: &Clips<'_>, range: Option<[f64; 2]>) {
        let duration = self.clip_duration_secs(clips);
        let wanted = range.filter(|[from, to]| from.is_finite() && to.is_finite() && from < to);
        self.playback.range_secs = wanted
            .map(|[from, to]| [from.clamp(0.0, duration), to.clamp(0.0, duration)])
            .filter(|[from, to]| from < to);
    }

    /// Starts or stops the clock. It stops at the nearest frame, so that the window shows the same frame as a bake.
    pub(super) fn set_playing(&mut self, clips: &Clips<'_>, playing: bool) {
        let durations: Vec<f64> = clips.iter().map(|clip| clip.duration_secs).collect();
        let played = self.playback.playing;
        self.playback
            .set_playing(playing, durations.len(), |clip| durations[clip]);
        if let (true, false, Some(clip)) = (played, playing, self.playback.clip) {
            self.moments.leave();
            let fps = clips
                .take(clip)
                .map_or(super::DEFAULT_FPS, |take| take.fps());
            self.playback.time_secs = ((self.playback.time_secs * fps).round() / fps)
                .clamp(0.0, self.clip_duration_secs(clips));
        }
    }

    /// Sets the clock; a non-finite time is ignored. Returns whether it moved.
    pub(super) fn scrub(&mut self, clips: &Clips<'_>, time_secs: f64) -> bool {
        if !time_secs.is_finite() {
            return false;
        }
        let time_secs = time_secs.clamp(0.0, self.clip_duration_secs(clips));
        if self.moments.held && time_secs == self.playback.time_secs {
            return false;
        }
        self.playback.fading = None;
        self.moments.leave();
        let before = std::mem::replace(&mut self.playback.time_secs, time_secs);
        time_secs != before
    }

    /// Whether the pose changes as time passes.
    pub(super) fn is_moving(&self) -> bool {
        self.playback.playing || (self.playback.is_blending() && !self.moments.held)
    }

    /// Keeps showing the same clip after clips were added, removed or reordered. `before` and `now` are the names by index.
    fn follow_clips(&mut self, before: &[String], now: &[String]) {
        let place = |clip: usize| {
            let name = before.get(clip)?;
            let same = now.iter().position(|known| known == name);
            // A renamed clip keeps its index.
            same.or_else(|| {
                (before.len() == now.len() && !before.contains(&now[clip])).then_some(clip)
            })
        };
        let playback = &mut self.playback;
        playback.resume =
            place(playback.resume.0).map_or((0, 0.0), |clip| (clip, playback.resume.1));
        match playback.clip.map(place) {
            Some(Some(clip)) => playback.clip = Some(clip),
            Some(None) => {
                playback.leave_clip();
                playback.resume = (0, 0.0);
            }
            None => {}
        }
    }
}

/// All channels: the shared one, and one for each free view.
#[derive(Debug, Default)]
pub struct Channels {
    shared: PoseChannel,
    free: BTreeMap<ViewId, PoseChannel>,
    active: ChannelId,
}

impl Channels {
    /// The active channel: that of the active view.
    #[must_use]
    pub fn active(&self) -> &PoseChannel {
        self.get(self.active).unwrap_or(&self.shared)
    }

    /// Identity of the active channel.
    #[must_use]
    pub fn active_id(&self) -> ChannelId {
        self.active
    }

    /// A channel; `None` if no view follows it.
    #[must_use]
    pub fn get(&self, id: ChannelId) -> Option<&PoseChannel> {
        match id {
            Some(view) => self.free.get(&view),
            None => Some(&self.shared),
        }
    }

    /// All channels, the shared one first.
    pub fn iter(&self) -> impl Iterator<Item = &PoseChannel> {
        std::iter::once(&self.shared).chain(self.free.values())
    }

    pub(super) fn active_mut(&mut self) -> &mut PoseChannel {
        let free = self.active.and_then(|view| self.free.get_mut(&view));
        free.unwrap_or(&mut self.shared)
    }

    pub(super) fn get_mut(&mut self, id: ChannelId) -> Option<&mut PoseChannel> {
        match id {
            Some(view) => self.free.get_mut(&view),
            None => Some(&mut self.shared),
        }
    }

    pub(super) fn iter_mut(&mut self) -> impl Iterator<Item = &mut PoseChannel> {
        std::iter::once(&mut self.shared).chain(self.free.values_mut())
    }

    /// World transforms of a channel's joints; empty if no view follows it.
    pub(super) fn joints_in(&self, id: ChannelId) -> &[Affine] {
        self.get(id).map_or(&[], PoseChannel::world_from_joint)
    }

    /// Weights of morphs in a channel; at rest if no view follows it.
    pub(super) fn morphs_in(&self, id: ChannelId) -> MorphWeights {
        self.get(id)
            .map_or_else(MorphWeights::default, |channel| channel.pose.morphs.clone())
    }

    /// The clock of a channel.
    pub(super) fn playback_in(&self, id: ChannelId) -> Option<&Playback> {
        self.get(id).map(PoseChannel::playback)
    }

    /// Keeps only the channels of these free views and sets the active one. A new channel starts as a copy of the shared one.
    pub(super) fn keep(&mut self, free: impl Iterator<Item = ViewId>, active: ChannelId) {
        let mut before = std::mem::take(&mut self.free);
        for view in free {
            let channel = before.remove(&view).unwrap_or_else(|| PoseChannel {
                id: Some(view),
                ..self.shared.clone()
            });
            self.free.insert(view, channel);
        }
        self.active = active;
    }

    /// Updates the poses of all channels from the document.
    pub(super) fn refresh(&mut self, document: &Document) {
        for channel in self.iter_mut() {
            channel.refresh(document);
        }
    }

    /// For another character: resets the clocks, keeps their settings.
    pub(super) fn start_over(&mut self) {
        for channel in self.iter_mut() {
            channel.playback = channel.playback.for_other_character();
        }
    }

    /// Keeps all clocks on the same clips after clips were added, removed or reordered. `before` and `now` are the names by index.
    pub(super) fn follow_clips(&mut self, before: &[String], now: &[String]) {
        if before != now {
            for channel in self.iter_mut() {
                channel.follow_clips(before, now);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::progress::Progress;
    use crate::session::{Source, open};

    #[test]
    fn moments_outside_of_the_clip_have_no_ghosts() {
        let (mut channel, mut document) = (PoseChannel::default(), Document::default());
        let ghosts = |channel: &PoseChannel, document: &Document| -> Vec<f64> {
            channel
                .ghost_poses(document, [-0.2, -0.1, 0.1, 1e6].into_iter())
                .iter()
                .map(|ghost| ghost.offset_secs)
                .collect()
        };
        assert!(ghosts(&channel, &document).is_empty(), "nothing is open");
        document.subject = Some(open(&Source::builtin("mannequin"), &Progress::new()).unwrap());
        assert!(ghosts(&channel, &document).is_empty(), "no clip is shown");
        channel.playback.clip = Some(0);
        channel.playback.time_secs = 0.15;
        assert_eq!(ghosts(&channel, &document), [-0.1, 0.1]);
    }
}
