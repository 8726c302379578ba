//! Many of one character at once: where each stands, and when in the motion it is.

use crate::character::Character;
use crate::math::{Affine, Vec3, Vec64, origin_of};
use crate::methods::Subject;
use crate::studio::{ClipPlay, Motion};

/// How many different moments of a clip there are in a crowd: each is settled once.
const PHASES: usize = 24;
/// Rounds of a clip: for hours.
const ROUNDS: u32 = 100_000;
/// Moments at which a motion is looked at to know how much room it takes.
const LOOKS: usize = 16;
/// Room around the joints for the flesh at least, in sizes of the character.
const FLESH: f64 = 0.07;
/// Half of what is left between neighbours, in sizes of the character.
const GAP: f64 = 0.02;
/// The golden ratio's part behind the point: what follows each other by it is never close.
const GOLDEN: f64 = 0.618_033_988_749_895;

/// What a crowd does: a motion, with a place on the floor and a phase for each instance.
#[derive(Debug, Clone)]
pub struct CrowdMotion {
    motion: Motion,
    phases_secs: Vec<f64>,
    places: Vec<Vec3>,
    up: Vec3,
}

impl CrowdMotion {
    /// So many of a subject on a grid on its floor, the first where it stands itself, and in its time. A clip is played over and over, by
    /// each from another moment on; of a character that is to hold its rest pose, the first clip is played if it has one. Poses are taken
    /// by all at once.
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
        let up = subject.up_axis().axis;
        let places = places(subject, &motion, round_secs, &up, count);
        let up = Vec3::new(up[0] as f32, up[1] as f32, up[2] as f32);
        Self {
            motion,
            phases_secs: (0..count).map(phase).collect(),
            places,
            up,
        }
    }

    /// How far each stands from where the character itself does.
    #[must_use]
    pub fn places(&self) -> &[Vec3] {
        &self.places
    }

    /// Unit vector: what is up for them.
    #[must_use]
    pub fn up(&self) -> Vec3 {
        self.up
    }

    /// The joints of all, `time_secs` after the start, each as if it stood where the character does.
    #[must_use]
    pub fn poses_at(&self, character: &Character, time_secs: f64) -> Vec<Vec<Affine>> {
        let pose = |phase: &f64| {
            character
                .skeleton
                .world_from_joint(&self.motion.pose_at(character, time_secs + phase))
        };
        self.phases_secs.iter().map(pose).collect()
    }
}

/// A grid around where the character stands, as square as can be; every other row stands in the gaps of the one before.
fn places(
    subject: &Subject,
    motion: &Motion,
    round_secs: f64,
    up: &[f64; 3],
    count: usize,
) -> Vec<Vec3> {
    let upright = (0..3).find(|&axis| up[axis] != 0.0).unwrap_or(1);
    // Sideways and forwards; which is which does not matter to a grid.
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
        // The last row may have fewer: it stands in the middle.
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
    // The one in the middle comes first.
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

/// How far the flesh stands out from the box around the joints at rest, sideways.
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

/// How far the joints of a character reach along each axis, whatever moment of the motion it is.
fn extent(subject: &Subject, motion: &Motion, round_secs: f64) -> Vec64 {
    let character = &subject.character;
    let (mut min, mut max) = (
        Vec64::repeat(f64::INFINITY),
        Vec64::repeat(f64::NEG_INFINITY),
    );
    for look in 0..LOOKS {
        let part = look as f64 / LOOKS as f64;
        // Poses are reached within the first second.
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
