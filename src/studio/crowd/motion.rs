//! Positions and motion phases of the instances of a crowd.

use rayon::prelude::*;

use crate::character::Character;
use crate::math::{Affine, Vec3, Vec64, origin_of};
use crate::methods::Subject;
use crate::studio::{ClipPlay, Motion};

/// Number of different phases in a crowd: each is settled once.
const PHASES: usize = 24;
/// Repetitions of a clip: enough for hours.
const ROUNDS: u32 = 100_000;
/// Number of times at which a motion is sampled to measure its extent.
const LOOKS: usize = 16;
/// Minimum margin for the flesh around the joints, in sizes of the character.
const FLESH: f64 = 0.07;
/// Half the gap between neighbours, in sizes of the character.
const GAP: f64 = 0.02;
/// Fractional part of the golden ratio: consecutive multiples are well distributed.
const GOLDEN: f64 = 0.618_033_988_749_895;

/// A motion, with a position on the floor and a phase for each instance.
#[derive(Debug, Clone)]
pub struct CrowdMotion {
    motion: Motion,
    phases_secs: Vec<f64>,
    places: Vec<Vec3>,
    up: Vec3,
}

impl CrowdMotion {
    /// `count` instances on a grid on the floor, the first at the character's own position and phase. A clip is repeated, by
    /// each instance with its own phase; for the rest pose, the first clip is played if there is one. A pose is shown by
    /// all instances alike.
    #[must_use]
    pub fn new(subject: &Subject, motion: Motion, count: usize) -> Self {
        let character = &subject.character;
        let first_clip = || {
            character
                .clips
                .iter()
                .position(|clip| clip.duration_secs > 0.0)
        };
        let again = |play: ClipPlay| {
            Motion::Play(ClipPlay {
                loops: ROUNDS,
                ..play
            })
        };
        let motion = match motion {
            Motion::Rest => first_clip().map_or(Motion::Rest, |clip| again(ClipPlay::once(clip))),
            Motion::Clip(clip) => again(ClipPlay::once(clip)),
            Motion::Play(play) => again(play),
            Motion::Pose(pose) => Motion::Pose(pose),
        };
        let round_secs = match &motion {
            Motion::Play(_) => motion.duration_secs(character) / f64::from(ROUNDS),
            _ => 0.0,
        };
        let moments = PHASES.min(count.max(1)) as f64;
        let phase = |instance: usize| {
            ((instance as f64 * GOLDEN).fract() * moments).floor() / moments * round_secs
        };
        let up_axis = subject.up_axis();
        let places = places(subject, &motion, round_secs, &up_axis.axis, count);
        Self {
            motion,
            phases_secs: (0..count).map(phase).collect(),
            places,
            up: up_axis.direction(),
        }
    }

    /// Offsets of the instances from the character's own position.
    #[must_use]
    pub fn places(&self) -> &[Vec3] {
        &self.places
    }

    /// The unit up vector.
    #[must_use]
    pub fn up(&self) -> Vec3 {
        self.up
    }

    /// World transforms of all instances' joints `time_secs` after the start, at the character's own position.
    #[must_use]
    pub fn poses_at(&self, character: &Character, time_secs: f64) -> Vec<Vec<Affine>> {
        let pose = |phase: &f64| {
            character
                .skeleton
                .world_from_joint(&self.motion.pose_at(character, time_secs + phase))
        };
        self.phases_secs.par_iter().map(pose).collect()
    }
}

/// A nearly square grid around the character; every other row is offset by half a gap.
fn places(
    subject: &Subject,
    motion: &Motion,
    round_secs: f64,
    up: &[f64; 3],
    count: usize,
) -> Vec<Vec3> {
    let upright = (0..3).find(|&axis| up[axis] != 0.0).unwrap_or(1);
    // Sideways and forwards, in any order.
    let [across, along] = match upright {
        0 => [1, 2],
        1 => [0, 2],
        _ => [0, 1],
    };
    let extent = extent(subject, motion, round_secs);
    let flesh = flesh_around(subject, [across, along]);
    let room = |axis: usize| extent[axis] + 2.0 * (flesh + GAP * f64::from(subject.size));
    let columns = (count as f64 * room(along) / room(across))
        .sqrt()
        .round()
        .clamp(1.0, count.max(1) as f64) as usize;
    let rows = count.div_ceil(columns);
    let place = |instance: usize| {
        let (row, column) = (instance / columns, instance % columns);
        // The last row may have fewer instances: it is centred.
        let in_row = columns.min(count - row * columns);
        let shift = if row % 2 == 1 && in_row == columns {
            0.25
        } else if in_row == columns {
            -0.25
        } else {
            0.0
        };
        let shift = if rows > 1 && columns > 1 { shift } else { 0.0 };
        let mut place = Vec3::zeros();
        place[across] =
            ((column as f64 - (in_row as f64 - 1.0) / 2.0 + shift) * room(across)) as f32;
        place[along] = (((rows as f64 - 1.0) / 2.0 - row as f64) * room(along)) as f32;
        place
    };
    let mut places: Vec<Vec3> = (0..count).map(place).collect();
    // The instance nearest to the centre comes first.
    let middle = (0..count)
        .min_by(|&a, &b| {
            places[a]
                .norm_squared()
                .total_cmp(&places[b].norm_squared())
        })
        .unwrap_or(0);
    let shift = places.get(middle).copied().unwrap_or_default();
    for place in &mut places {
        *place -= shift;
    }
    if count > 0 {
        places.swap(0, middle);
    }
    places
}

/// Extent of the flesh beyond the box of the joints at rest, sideways.
fn flesh_around(subject: &Subject, axes: [usize; 2]) -> f64 {
    let surface = subject.bounds_of_surface(&subject.bind_positions);
    let joints = subject.character.skeleton.bind_transforms();
    let out = |axis: usize| {
        let along = joints.iter().map(|joint| origin_of(joint)[axis]);
        let (min, max) = along.fold((f64::INFINITY, f64::NEG_INFINITY), |(min, max), at| {
            (min.min(at), max.max(at))
        });
        (min - f64::from(surface.min[axis])).max(f64::from(surface.max[axis]) - max)
    };
    let most = out(axes[0]).max(out(axes[1]));
    let least = FLESH * f64::from(subject.size);
    if most.is_finite() {
        most.max(least)
    } else {
        least
    }
}

/// Extent of a character's joints along each axis, over the whole motion.
fn extent(subject: &Subject, motion: &Motion, round_secs: f64) -> Vec64 {
    let character = &subject.character;
    let (mut min, mut max) = (
        Vec64::repeat(f64::INFINITY),
        Vec64::repeat(f64::NEG_INFINITY),
    );
    for look in 0..LOOKS {
        let part = look as f64 / LOOKS as f64;
        // A pose is reached within the first second.
        let time_secs = if round_secs > 0.0 {
            part * round_secs
        } else {
            part * 2.0
        };
        for joint in character
            .skeleton
            .world_from_joint(&motion.pose_at(character, time_secs))
        {
            let place = joint.matrix().fixed_view::<3, 1>(0, 3).into_owned();
            min = min.inf(&place);
            max = max.sup(&place);
        }
    }
    (max - min).map(|side| if side.is_finite() { side.max(0.0) } else { 0.0 })
}
