//! Curves → keys: the file's own keys if all channels of a joint have equal key times; otherwise
//! keys at the union of their times.

mod curve;

use nalgebra::SVector;

use self::curve::{keys_of, short_way, straight};
use super::spline::{ChannelKeys, SplinePiece};
use super::{Ease, Key, KeyRef, KeyedClip, Slope, canonical, same_time};
use crate::math::Quat;
use crate::rig::{Channel, Clip, SAME_SECS, Skeleton, Trs};

/// The animated channels of one joint.
#[derive(Default)]
struct JointChannels {
    translation: Option<ChannelKeys<3>>,
    rotation: Option<ChannelKeys<4>>,
    scale: Option<ChannelKeys<3>>,
}

/// One channel's contribution to a key: value, and interpolation with slopes at both ends. `None`:
/// constant.
type ChannelKey<const D: usize> = (
    SVector<f64, D>,
    Option<(SplinePiece<D>, [SVector<f64, D>; 2])>,
);

impl KeyedClip {
    /// The keys of a clip of this skeleton. The keyed clip plays like the clip.
    #[must_use]
    pub fn from_clip(clip: &Clip, skeleton: &Skeleton, fps: f64) -> Self {
        let mut keyed = Self::new(clip.name.clone(), fps, clip.duration_secs);
        for (joint, rest) in skeleton
            .joints()
            .iter()
            .enumerate()
            .map(|(joint, known)| (joint, &known.rest))
        {
            let mut channels = JointChannels::default();
            for track in clip.tracks.iter().filter(|track| track.joint == joint) {
                match &track.channel {
                    Channel::Translation(curve) => channels.translation = keys_of(curve, |v| *v),
                    Channel::Rotation(curve) => {
                        channels.rotation = keys_of(curve, |q| q.coords).map(short_way);
                    }
                    Channel::Scale(curve) => channels.scale = keys_of(curve, |v| *v),
                }
            }
            let keys = channels.joined(rest);
            if !keys.is_empty() {
                keyed.tracks.insert(joint, keys);
            }
        }
        keyed.morphs.clone_from(&clip.morphs);
        keyed.duration_secs = keyed
            .duration_secs
            .max(clip.duration_secs.min(super::LONGEST_SECS));
        keyed
    }

    /// Whether it has too many keys for manual editing: motion capture, or a bake.
    #[must_use]
    pub fn is_dense(&self) -> bool {
        let longest = self.tracks.values().map(Vec::len).max().unwrap_or(0);
        longest > 24 && longest as f64 > self.duration_secs * 8.0
    }

    /// A single key of the whole pose, at a time.
    pub fn key_pose(&mut self, pose: &crate::rig::Pose, time_secs: f64) {
        for (joint, local) in pose.locals.iter().enumerate() {
            self.set_key(KeyRef::of_joint(joint, time_secs), *local);
        }
        self.key_morphs(pose, time_secs);
    }
}

impl<const D: usize> ChannelKeys<D> {
    /// The same curve with lines in place of steps: a key just before the next one.
    fn without_steps(self) -> Self {
        let mut keys = ChannelKeys {
            times: Vec::new(),
            values: Vec::new(),
            pieces: Vec::new(),
        };
        for key in 0..self.times.len() {
            keys.times.push(self.times[key]);
            keys.values.push(self.values[key]);
            match self.pieces.get(key) {
                Some(SplinePiece::Step) => {
                    let held = (self.times[key + 1] - 2.0 * SAME_SECS)
                        .max(f64::midpoint(self.times[key], self.times[key + 1]));
                    keys.times.push(held);
                    keys.values.push(self.values[key]);
                    keys.pieces
                        .extend([SplinePiece::Linear, SplinePiece::Linear]);
                }
                Some(piece) => keys.pieces.push(*piece),
                None => {}
            }
        }
        keys
    }

    /// Value and slope inside a piece.
    fn inside(&self, piece: usize, time: f64) -> (SVector<f64, D>, SVector<f64, D>) {
        let (from, to) = (self.values[piece], self.values[piece + 1]);
        let length = self.times[piece + 1] - self.times[piece];
        let t = (time - self.times[piece]) / length;
        match self.pieces[piece] {
            SplinePiece::Step => (from, SVector::zeros()),
            SplinePiece::Linear => (straight(&from, &to, t), self.chord(piece)),
            SplinePiece::Smooth | SplinePiece::Free(_) => {
                let [leaving, arriving] = self.slopes(piece).map(|slope| slope * length);
                let (t2, t3) = (t * t, t * t * t);
                let value = from * (2.0 * t3 - 3.0 * t2 + 1.0)
                    + leaving * (t3 - 2.0 * t2 + t)
                    + to * (3.0 * t2 - 2.0 * t3)
                    + arriving * (t3 - t2);
                let slope = from * (6.0 * t2 - 6.0 * t)
                    + leaving * (3.0 * t2 - 4.0 * t + 1.0)
                    + to * (6.0 * t - 6.0 * t2)
                    + arriving * (3.0 * t2 - 2.0 * t);
                (value, slope / length)
            }
        }
    }

    /// The channel's keys at given times, which include its own.
    fn at(&self, times: &[f64]) -> Vec<ChannelKey<D>> {
        let piece_after = |time: f64| {
            self.times
                .partition_point(|known| *known <= time + 0.5 * SAME_SECS)
                .checked_sub(1)
        };
        let value_at = |time: f64| match piece_after(time) {
            None => (self.values[0], SVector::zeros()),
            Some(key) if same_time(self.times[key], time) || key + 1 == self.times.len() => {
                (self.values[key], SVector::zeros())
            }
            Some(key) => self.inside(key, time),
        };
        let said = |index: usize| {
            let (from, to) = (times[index], times.get(index + 1).copied());
            let value = value_at(from).0;
            let piece = piece_after(from)
                .filter(|piece| *piece < self.pieces.len())
                .zip(to)
                .map(|(piece, to)| {
                    let whole =
                        same_time(self.times[piece], from) && same_time(self.times[piece + 1], to);
                    let slopes = if whole {
                        self.slopes(piece)
                    } else {
                        [self.slope_at(piece, from), self.slope_at(piece, to)]
                    };
                    match self.pieces[piece] {
                        SplinePiece::Smooth | SplinePiece::Free(_) if !whole => {
                            (SplinePiece::Free(slopes), slopes)
                        }
                        known => (known, slopes),
                    }
                });
            (value, piece)
        };
        (0..times.len()).map(said).collect()
    }

    fn slope_at(&self, piece: usize, time: f64) -> SVector<f64, D> {
        self.inside(piece, time.clamp(self.times[piece], self.times[piece + 1]))
            .1
    }

    fn has_only_steps(&self) -> bool {
        self.pieces.iter().all(|piece| *piece == SplinePiece::Step)
    }

    fn has_steps(&self) -> bool {
        self.pieces.contains(&SplinePiece::Step)
    }
}

impl JointChannels {
    /// The keys of the joint.
    fn joined(mut self, rest: &Trs) -> Vec<Key> {
        self.agree_on_steps();
        let lists = [
            self.translation.as_ref().map(|k| &k.times),
            self.rotation.as_ref().map(|k| &k.times),
            self.scale.as_ref().map(|k| &k.times),
        ];
        let mut times: Vec<f64> = lists.into_iter().flatten().flatten().copied().collect();
        times.sort_by(f64::total_cmp);
        times.dedup_by(|later, earlier| same_time(*later, *earlier));
        let translation = self.translation.map_or_else(
            || vec![(rest.translation, None); times.len()],
            |keys| keys.at(&times),
        );
        let rotation = self.rotation.map_or_else(
            || vec![(rest.rotation.coords, None); times.len()],
            |keys| keys.at(&times),
        );
        let scale = self.scale.map_or_else(
            || vec![(rest.scale, None); times.len()],
            |keys| keys.at(&times),
        );
        let mut keys: Vec<Key> = Vec::with_capacity(times.len());
        for (at, &time_secs) in times.iter().enumerate() {
            let raw = Quat::try_new(nalgebra::Quaternion::from(rotation[at].0), 1e-12)
                .unwrap_or_else(Quat::identity);
            // A unit quaternion of the file is kept bit-exactly.
            let unit = if (rotation[at].0.norm() - 1.0).abs() < 1e-9 {
                Quat::new_unchecked(rotation[at].0.into())
            } else {
                raw
            };
            let value = Trs {
                translation: translation[at].0,
                rotation: canonical(&unit),
                scale: scale[at].0,
            };
            let ease = if at + 1 < times.len() {
                let ends =
                    |values: &[ChannelKey<3>]| (values[at].1, [values[at].0, values[at + 1].0]);
                ease_of(
                    &ends(&translation),
                    &(rotation[at].1, [rotation[at].0, rotation[at + 1].0]),
                    &ends(&scale),
                )
            } else {
                keys.last()
                    .map_or(Ease::Linear, |before| before.ease.split())
            };
            keys.push(Key {
                time_secs,
                value,
                ease,
            });
        }
        keys
    }

    /// Steps are kept where all channels step; otherwise they are represented by constant lines.
    fn agree_on_steps(&mut self) {
        let Self {
            translation,
            rotation,
            scale,
        } = &*self;
        let vectors = || translation.iter().chain(scale.iter());
        let any =
            vectors().any(ChannelKeys::has_steps) || rotation.iter().any(ChannelKeys::has_steps);
        let all = vectors().all(ChannelKeys::has_only_steps)
            && rotation.iter().all(ChannelKeys::has_only_steps);
        let alike = {
            let mut shapes = vectors()
                .filter(|k| k.times.len() > 1)
                .map(|k| (&k.times, steps(k)));
            let turns = rotation
                .iter()
                .filter(|k| k.times.len() > 1)
                .map(|k| (&k.times, steps(k)));
            let first = shapes.next().or_else(|| turns.clone().next());
            first.is_none_or(|first| shapes.chain(turns).all(|other| other == first))
        };
        if any && !all && !alike {
            self.translation = self.translation.take().map(ChannelKeys::without_steps);
            self.rotation = self.rotation.take().map(ChannelKeys::without_steps);
            self.scale = self.scale.take().map(ChannelKeys::without_steps);
        }
    }
}

fn steps<const D: usize>(keys: &ChannelKeys<D>) -> Vec<bool> {
    keys.pieces
        .iter()
        .map(|piece| *piece == SplinePiece::Step)
        .collect()
}

/// A piece of one channel with the values at its ends.
type ChannelPiece<const D: usize> = (
    Option<(SplinePiece<D>, [SVector<f64, D>; 2])>,
    [SVector<f64, D>; 2],
);

/// Whether a channel's piece can be represented by this interpolation: it equals it, or is
/// constant.
fn may_be<const D: usize>((said, ends): &ChannelPiece<D>, wanted: &SplinePiece<D>) -> bool {
    match said.map(|(piece, _)| piece) {
        None => true,
        Some(piece) if piece == *wanted => true,
        Some(SplinePiece::Linear | SplinePiece::Step | SplinePiece::Smooth) => {
            ends[0] == ends[1] && *wanted != SplinePiece::Step
        }
        Some(SplinePiece::Free(_)) => false,
    }
}

fn is_linear<const D: usize>(part: &ChannelPiece<D>) -> bool {
    matches!(part.0, Some((SplinePiece::Linear, _)))
}

/// The common interpolation for all channels of a joint.
fn ease_of(
    translation: &ChannelPiece<3>,
    rotation: &ChannelPiece<4>,
    scale: &ChannelPiece<3>,
) -> Ease {
    let all = |vector: SplinePiece<3>, turn: SplinePiece<4>| {
        may_be(translation, &vector) && may_be(rotation, &turn) && may_be(scale, &vector)
    };
    if all(SplinePiece::Step, SplinePiece::Step) {
        return Ease::Step;
    }
    let any_linear = is_linear(translation) || is_linear(rotation) || is_linear(scale);
    if !any_linear && all(SplinePiece::Smooth, SplinePiece::Smooth) {
        return Ease::Smooth;
    }
    if all(SplinePiece::Linear, SplinePiece::Linear) {
        return Ease::Linear;
    }
    let (t, r, s) = (
        slopes_of(translation),
        slopes_of(rotation),
        slopes_of(scale),
    );
    // Keys are stored with w ≥ 0: the sign of slopes follows.
    let sign = |at: usize| {
        let raw = Quat::new_unchecked(nalgebra::Quaternion::from(rotation.1[at]));
        if canonical(&raw).coords == raw.coords {
            1.0
        } else {
            -1.0
        }
    };
    let slope = |at: usize| Slope {
        translation: t[at],
        rotation: (r[at] * sign(at)).into(),
        scale: s[at],
    };
    Ease::Free(Box::new([slope(0), slope(1)]))
}

fn slopes_of<const D: usize>(part: &ChannelPiece<D>) -> [SVector<f64, D>; 2] {
    part.0.map_or([SVector::zeros(); 2], |(_, slopes)| slopes)
}
