//! Spring bones for what swings: helpers whose flesh lags and swings get a joint that programs which show VRM move ([`rule`]).
//!
//! A function of the pose cannot follow flesh that goes on moving when the joints stand still. So the spring's joint is a child of a helper
//! that the pose drives, and takes over the helper's weights. It stands between the helper's centre and the bone of the helper's parent,
//! and its tail on the other side of the centre: the flesh swings across that line.
//!
//! Which helpers swing is seen in [`Motion`]s that end with a sudden stop ([`Motion::free_from`]). Lever, length, stiffness and drag are
//! those that leave the least square distance to all motions, found by pattern search from the swing that was measured after the stops;
//! the rule itself is played in every trial ([`fit`]). A spring that does not bring clips and stops nearer is left out.

mod fit;
mod free;
mod joints;
mod live;
mod moments;
mod rule;
mod search;
#[cfg(test)]
mod tests;

use nalgebra::Rotation3;
use rayon::prelude::*;

use super::{Decomposition, SimulatedFrame};
use crate::math::{Affine, Point64, Quat, Vec64};
use crate::rig::{Pose, Trs};

pub use live::Swinging;
use moments::frame_of;
pub use rule::{Rule, STEP_SECS, Swing, Tail};
use search::{direction_at, directions, turned};

/// The flesh of a helper swings if its middle moves so far after a stop from [`STOP_M_PER_SEC`], metres.
const LEAST_SWING_M: f64 = 0.004;
/// Speed before a sudden stop, metres per second.
pub const STOP_M_PER_SEC: f64 = 1.0;

/// A motion of the joints, and simulated frames of it.
pub struct Motion<'a> {
    /// Poses, [`STEP_SECS`] apart.
    pub ticks: Vec<Pose>,
    /// Simulated frames.
    pub frames: &'a [SimulatedFrame],
    /// The tick of each frame.
    pub at: Vec<f64>,
    /// The first frame after a stop from [`STOP_M_PER_SEC`], from which on joints stand still; its frames are a tick apart. None for
    /// clips.
    pub free_from: Option<usize>,
}

/// A spring bone below a helper.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Spring {
    /// Index of the helper among the helpers.
    pub helper: usize,
    /// Place of the spring's joint in the frame of the helper.
    pub pivot: Vec64,
    /// Place of its tail at rest in the frame of the helper.
    pub tail: Vec64,
    /// How it swings.
    pub rule: Rule,
}

impl Spring {
    /// A rotation about the spring's joint, in the frame of the helper.
    fn about_pivot(&self, turn: &Quat) -> Affine {
        let [to, from] = [self.pivot, -self.pivot].map(|shift| Trs::at(shift).to_affine());
        let turn = Trs {
            rotation: *turn,
            ..Trs::IDENTITY
        };
        to * turn.to_affine() * from
    }
}

/// What was found about the flesh of a helper.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct SpringReport {
    /// Name of the helper.
    pub helper: String,
    /// Largest distance of the middle of its flesh from rest after a stop from 1 m/s, millimetres.
    pub swing_mm: f64,
    /// The swing after the stop.
    #[serde(flatten)]
    pub swing: Option<Swing>,
    /// Root mean square of the distances of its flesh from the fitted clips, driven by the pose, millimetres: without a spring, and with the
    /// best one. None where none was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rms: Option<[f64; 2]>,
    /// The same over the sudden stops.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rms_of_stops: Option<[f64; 2]>,
    /// Why there is no spring; none where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<NoSpring>,
}

/// Why a helper has no spring.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoSpring {
    /// Its flesh swings by less than 4 mm after a stop.
    Still,
    /// No spring brings its flesh nearer to clips and stops without moving it away from the clips.
    NoGain,
    /// Its flesh lies around the bone, so that there is no side to swing on.
    NoSide,
}

impl NoSpring {
    /// A few words about the flesh, for the reader.
    #[must_use]
    pub fn reason(self) -> &'static str {
        match self {
            Self::Still => "hardly swings",
            Self::NoGain => "comes no nearer by a spring",
            Self::NoSide => "lies around its bone",
        }
    }
}

impl Decomposition {
    /// The pose with each spring's helper turned as the spring is.
    #[must_use]
    pub fn swung(&self, pose: &Pose, springs: &[Spring], turns: &[Quat]) -> Pose {
        let mut swung = pose.clone();
        let first = self.skeleton.len() - self.drivers.len();
        for (spring, turn) in springs.iter().zip(turns) {
            let local = &mut swung.locals[first + spring.helper];
            *local = Trs::from_affine(&(local.to_affine() * spring.about_pivot(turn)));
        }
        swung
    }

    /// Of each frame, the rotation of each spring, in a motion that starts still. `ticks` are poses [`STEP_SECS`] apart, `at` the tick of
    /// each frame.
    #[must_use]
    pub fn swings(&self, springs: &[Spring], ticks: &[Pose], at: &[f64]) -> Vec<Vec<Quat>> {
        swings_of(springs, &self.places(ticks), at)
    }

    /// The transforms of all helpers, driven, in poses.
    fn places(&self, ticks: &[Pose]) -> Vec<Vec<Affine>> {
        let first = self.skeleton.len() - self.drivers.len();
        let of_tick = |pose: &Pose| {
            let world = self.skeleton.world_from_joint(&self.driven(pose));
            world[first..].to_vec()
        };
        ticks.par_iter().map(of_tick).collect()
    }
}

/// Of each frame, the rotation of each spring, for the transforms of all helpers in every tick.
fn swings_of(springs: &[Spring], places: &[Vec<Affine>], at: &[f64]) -> Vec<Vec<Quat>> {
    let mut turns = vec![Vec::with_capacity(springs.len()); at.len()];
    for spring in springs {
        let world = || places.iter().map(|helpers| &helpers[spring.helper]);
        let ends = world().map(|world| {
            let place = |local: &Vec64| (world * Point64::from(*local)).coords;
            (place(&spring.pivot), place(&spring.tail))
        });
        let directions = directions(&spring.rule, ends);
        let axis = (spring.tail - spring.pivot).normalize();
        let rotations: Vec<Quat> = world().map(|world| frame_of(world).0).collect();
        for (turns, &at) in turns.iter_mut().zip(at) {
            let tick = (at.floor() as usize).min(rotations.len() - 1);
            let local = rotations[tick].inverse() * direction_at(&directions, at);
            let turn = Rotation3::from_matrix_unchecked(turned(&axis, &local));
            turns.push(Quat::from_rotation_matrix(&turn));
        }
    }
    turns
}
