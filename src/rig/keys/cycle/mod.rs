//! Clips that repeat without a seam: a walk that goes on, or stays in place.
//!
//! What a body covers over the ground in one cycle is its *travel*: a planar rigid motion (a displacement, and a turn about the vertical
//! where it walks in a curve) of the joints that carry everything else. All else of a cycle ends as it begins.

mod morph_tracks;
mod travel;

use nalgebra::{Isometry3, Unit};

use self::morph_tracks::{close_morph, repeated_morph};
use self::travel::{Carried, Planar};
use super::graph::slope_mut;
use super::spline::{JointChannels, played};
use super::{Ease, Key, KeyRef, KeyedClip, LONGEST_SECS, Side, Slope, canonical, same_time};
use crate::math::{Affine, Vec64};
use crate::rig::{FeetRules, Plant, Skeleton, Trs};

/// Part of the clip, at its end, over which errors are taken back.
const SEAM_PART: f64 = 0.5;
/// Step of a difference quotient, seconds.
const DIFFERENCE_SECS: f64 = 1e-4;

/// What becomes of a cycle's travel over the ground.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Travel {
    /// The body arrives where its travel takes it.
    Kept,
    /// The body stays above one place.
    InPlace,
}

impl KeyedClip {
    /// Makes the end of the clip meet its start: every joint ends with the value and the speed with which it starts, apart from the
    /// travel, which is kept or taken out evenly. What does not meet is taken back over the second half of the clip. Keys after the
    /// clip's end are removed. `up` is the world's vertical, `size` the character's size, in the file's units.
    pub fn close_loop(&mut self, skeleton: &Skeleton, up: Unit<Vec64>, size: f64, travel: Travel) {
        let end = self.duration_secs;
        self.bound_tracks(end);
        let carriers = self.carriers(skeleton, size);
        let mut planar = self.travel(skeleton, &carriers, up, size);
        if travel == Travel::InPlace {
            self.take_out(&carriers, &planar);
            planar = Planar::none(up);
        }
        let whole = planar.part(1.0);
        for (joint, keys) in &mut self.tracks {
            let carrier = carriers.iter().find(|(carrier, _)| carrier == joint);
            let carried = carrier.map(|(_, carried)| carried);
            let start = keys[0].value;
            let target = carried.map_or(start, |carried| carried.moved(&start, &whole));
            close_seam(keys, &target);
            meet(keys, end, carried, &whole);
        }
        for track in &mut self.morphs {
            close_morph(track, end);
        }
        self.played.take();
    }

    /// The clip several times one after the other; each cycle goes on from where the travel of those before ends. Intervals of planted
    /// feet are repeated with it. No more cycles than fit into [`LONGEST_SECS`].
    #[must_use]
    pub fn repeated(&self, skeleton: &Skeleton, up: Unit<Vec64>, size: f64, times: usize) -> Self {
        let mut source = self.clone();
        let end = self.duration_secs;
        let times = times.clamp(1, (LONGEST_SECS / end).max(1.0) as usize);
        source.bound_tracks(end);
        let carriers = source.carriers(skeleton, size);
        let planar = source.travel(skeleton, &carriers, up, size);
        let mut result = source.clone();
        result.set_duration(end * times as f64);
        for (joint, keys) in &mut result.tracks {
            let cycle = std::mem::take(keys);
            if cycle.len() < 2 {
                *keys = cycle;
                continue;
            }
            let carried = carriers.iter().find(|(carrier, _)| carrier == joint);
            for index in 0..times {
                let by = planar.part(index as f64);
                // The end of a cycle is the start of the next one.
                keys.pop();
                keys.extend((0..cycle.len()).map(|key| {
                    let mut moved = cycle[key].clone();
                    if let Some((_, carried)) = carried {
                        moved.value = carried.moved(&moved.value, &by);
                        if let (Ease::Free(slopes), Some(next)) =
                            (&mut moved.ease, cycle.get(key + 1))
                        {
                            slopes[0] = carried.slope(&slopes[0], &cycle[key].value, &by);
                            slopes[1] = carried.slope(&slopes[1], &next.value, &by);
                        }
                    }
                    moved.time_secs += index as f64 * end;
                    moved
                }));
            }
        }
        for track in &mut result.morphs {
            *track = repeated_morph(track, end, times);
        }
        let plants = (0..times).flat_map(|index| {
            let by = index as f64 * end;
            (self.feet.plants().iter()).map(move |plant| Plant {
                from_secs: plant.from_secs + by,
                to_secs: plant.to_secs.min(end) + by,
                ..*plant
            })
        });
        result.feet = FeetRules::new(plants, self.feet.above_ground);
        result.played.take();
        result
    }

    /// Gives every track a key at the start and at the end, and none after it.
    fn bound_tracks(&mut self, end: f64) {
        for (joint, keys) in self.tracks.clone() {
            if keys.len() < 2 {
                continue;
            }
            let only = Self {
                tracks: [(joint, keys)].into(),
                ..Self::new("", self.fps, end)
            };
            let channels = JointChannels::of(&only.tracks[&joint]).channels();
            for time_secs in [0.0, end] {
                let mut value = only.tracks[&joint][0].value;
                for channel in &channels {
                    channel.sample_into(&mut value, time_secs);
                }
                let at = KeyRef::of_joint(joint, time_secs);
                if self.key(at).is_none() {
                    self.set_key(at, value);
                }
            }
            if let Some(keys) = self.tracks.get_mut(&joint) {
                keys.retain(|key| key.time_secs <= end || same_time(key.time_secs, end));
            }
        }
        self.duration_secs = end;
    }

    /// The joints that carry the motion: those that move and hang on none that moves, with their parents' placement.
    fn carriers(&self, skeleton: &Skeleton, size: f64) -> Vec<(usize, Carried)> {
        let moves = |joint: usize| {
            let keys = self.keys(joint);
            keys.iter().any(|key| {
                let (a, b) = (&key.value, &keys[0].value);
                (a.translation - b.translation).norm() > 1e-6 * size
                    || a.rotation.angle_to(&b.rotation) > 1e-6
            })
        };
        let start = played(self).sample(skeleton, 0.0);
        let world = skeleton.world_from_joint(&start);
        let mut hangs = vec![false; skeleton.len()];
        let mut carriers = Vec::new();
        for (joint, known) in skeleton.joints().iter().enumerate() {
            let above = known.parent.is_some_and(|parent| hangs[parent]);
            hangs[joint] = above || moves(joint);
            if hangs[joint] && !above {
                let parent = known.parent.map_or_else(Affine::identity, |p| world[p]);
                let world_from_parent = parent * known.parent_from_base;
                carriers.extend(Carried::by(world_from_parent).map(|carried| (joint, carried)));
            }
        }
        carriers
    }

    /// The travel of the carrier on which most joints hang.
    fn travel(
        &self,
        skeleton: &Skeleton,
        carriers: &[(usize, Carried)],
        up: Unit<Vec64>,
        size: f64,
    ) -> Planar {
        let weight = |joint: usize| {
            let mut below = vec![joint];
            let mut count = 0;
            while let Some(next) = below.pop() {
                count += 1;
                below.extend(skeleton.children(next));
            }
            count
        };
        let main = carriers.iter().max_by_key(|(joint, _)| weight(*joint));
        let Some((joint, carried)) = main else {
            return Planar::none(up);
        };
        let keys = self.keys(*joint);
        let [start, end] = [&keys[0], &keys[keys.len() - 1]]
            .map(|key| carried.world_from_parent * key.value.to_affine());
        Planar::between(&start, &end, up, size)
    }

    /// Takes travel out of the carriers, evenly over time.
    fn take_out(&mut self, carriers: &[(usize, Carried)], planar: &Planar) {
        if *planar == Planar::none(planar.up) {
            return;
        }
        let end = self.duration_secs;
        let back = |time_secs: f64| planar.part(-time_secs / end);
        for (joint, carried) in carriers {
            let count = self.keys(*joint).len();
            for index in 0..count {
                if self.keys(*joint)[index].ease == Ease::Smooth {
                    self.free_piece(*joint, index, Side::After);
                }
            }
            let Some(keys) = self.tracks.get_mut(joint) else {
                continue;
            };
            for index in 0..count {
                let (old, time) = (keys[index].value, keys[index].time_secs);
                let by = back(time);
                let drift = {
                    let (before, after) = (time - DIFFERENCE_SECS, time + DIFFERENCE_SECS);
                    let [before, after] =
                        [before, after].map(|time| carried.moved(&old, &back(time)));
                    rate_between(&before, &after, &carried.moved(&old, &by))
                };
                for side in [Side::Before, Side::After] {
                    if let Some(slope) = slope_mut(keys, index, side) {
                        let moved = carried.slope(slope, &old, &by);
                        *slope = Slope {
                            translation: moved.translation + drift.translation,
                            rotation: moved.rotation + drift.rotation,
                            scale: moved.scale,
                        };
                    }
                }
                keys[index].value = carried.moved(&old, &by);
            }
        }
    }
}

/// The change per second between two transforms 2 [`DIFFERENCE_SECS`] apart, in the sign of the quaternion between them.
fn rate_between(before: &Trs, after: &Trs, between: &Trs) -> Slope {
    let near = |value: &Trs| {
        let q = value.rotation.into_inner();
        if q.coords.dot(&between.rotation.coords) < 0.0 {
            -q
        } else {
            q
        }
    };
    let span = 2.0 * DIFFERENCE_SECS;
    Slope {
        translation: (after.translation - before.translation) / span,
        rotation: (near(after) - near(before)) / span,
        scale: Vec64::zeros(),
    }
}

/// Brings the last key to a value; keys of the second half follow by a part that grows smoothly.
fn close_seam(keys: &mut [Key], target: &Trs) {
    let Some(last) = keys.last().cloned() else {
        return;
    };
    let from = last.time_secs * (1.0 - SEAM_PART);
    let missing = target.rotation * last.value.rotation.inverse();
    let missing = canonical(&missing);
    for key in keys.iter_mut().filter(|key| key.time_secs > from) {
        let t = ((key.time_secs - from) / (last.time_secs - from)).clamp(0.0, 1.0);
        let part = t * t * (3.0 - 2.0 * t);
        key.value.translation += (target.translation - last.value.translation) * part;
        key.value.scale += (target.scale - last.value.scale) * part;
        key.value.rotation = canonical(&(missing.powf(part) * key.value.rotation));
    }
}

/// Gives the first and the last key one slope, that of the cycle at the seam, if the pieces there are curved. `whole` is the travel of a
/// cycle, for a joint that is carried.
fn meet(keys: &mut [Key], end: f64, carried: Option<&Carried>, whole: &Isometry3<f64>) {
    let count = keys.len();
    if count < 3 {
        return;
    }
    let (first, last) = (0, count - 2);
    let curved = |key: &Key| matches!(key.ease, Ease::Smooth | Ease::Free(_));
    if !curved(&keys[first]) || !curved(&keys[last]) {
        return;
    }
    let start = keys[0].value;
    let back = whole.inverse();
    let before = carried.map_or(keys[last].value, |carried| {
        carried.moved(&keys[last].value, &back)
    });
    let around = [
        (keys[last].time_secs - end, before),
        (keys[0].time_secs, start),
        (keys[1].time_secs, keys[1].value),
    ]
    .map(|(time_secs, value)| Key {
        time_secs,
        value,
        ease: Ease::Smooth,
    });
    let leaving = JointChannels::of(&around).slopes(0)[1];
    let arriving = carried.map_or(leaving, |carried| carried.slope(&leaving, &start, whole));
    for (piece, index, side, slope) in [
        (first, 0, Side::After, leaving),
        (last, count - 1, Side::Before, arriving),
    ] {
        if keys[piece].ease == Ease::Smooth {
            keys[piece].ease = Ease::Free(Box::new(JointChannels::of(keys).slopes(piece)));
        }
        if let Some(known) = slope_mut(keys, index, side) {
            *known = slope;
        }
    }
}
