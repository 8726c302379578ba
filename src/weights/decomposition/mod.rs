//! Smooth skinning decomposition: helper joints and weights that reproduce simulated motion by linear blending.
//!
//! Given the joints of a skeleton, whose motion is kept, and the simulated positions x of the skin in some frames, it finds N helper
//! joints with rigid transforms T and sparse weights w that minimise
//!
//! ```text
//!     Σ_f Σ_v |x_vf − Σ_b w_vb T_bf p_v|²     with w_vb ≥ 0, Σ_b w_vb = 1, at most K of them not 0
//! ```
//!
//! by alternating the weights of each vertex and the transforms of each frame: Le and Deng, "Smooth Skinning Decomposition with Rigid
//! Bones", SIGGRAPH Asia 2012, sections 4.1 (weights) and 4.2 (weighted Procrustes, one helper after another). Helpers start where the
//! given joints leave the largest error.
//!
//! So that clips which were never simulated can move the helpers, each is a child of a joint, and its local transform is a linear
//! function of the local rotations of the joints around ([`Driver`]), fitted by ridge regression. The last rounds fit the weights to
//! the frames moved by the driven helpers, too, and pull the helpers of a frame towards the driven ones.
//!
//! What driven helpers leave over can be given to corrective morphs ([`Decomposition::add_morphs`]), and what lags and swings to spring
//! bones ([`Decomposition::fit_springs`]).
//!
//! # Departures
//! - The number of influences is reduced by leaving out, one by one, the bone that costs least (`least_squares.rs`).
//! - Transforms of the given joints are not changed.
//! - Weights are not smoothed: the weights of the file act where frames don't decide.

mod drive;
mod frames;
mod kept;
mod least_squares;
mod morphs;
mod record;
mod residual;
mod rows;
mod seeds;
mod springs;
#[cfg(test)]
mod tests;
mod transforms;

use rayon::prelude::*;

use super::SkinWeights;
use crate::math::{Affine, Point, Quat, Vec64};
use crate::progress::{Cancelled, Progress};
use crate::rig::{Joint, Pose, Skeleton, SkeletonError, Trs};

pub use drive::Driver;
use frames::{Delta, Frames, delta_of};
pub use kept::{KeptDecomposition, KeptError, KeptHelper, KeptMorph};
pub use morphs::{DrivenMorph, WeightDriver};
pub use record::{DriverRecord, InputRecord};
pub use residual::Residual;
use rows::Row;
pub use springs::{
    Motion, NoSpring, Rule, STEP_SECS, STOP_M_PER_SEC, Spring, SpringReport, Swing, Swinging, Tail,
};
use transforms::Guide;

/// A simulated frame.
#[derive(Debug, Clone)]
pub struct SimulatedFrame {
    /// Local transforms of the joints.
    pub pose: Pose,
    /// World positions of all vertices.
    pub positions: Vec<Point>,
}

/// What to fit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DecompositionSettings {
    /// Largest number of helper joints.
    pub helpers: usize,
    /// Largest number of joints per vertex.
    pub influences: usize,
}

impl DecompositionSettings {
    /// Rounds with free helpers.
    const FREE_ROUNDS: usize = 8;
    /// Rounds with helpers that are pulled towards the driven ones.
    const DRIVEN_ROUNDS: usize = 4;
    /// Sweeps over the helpers of every frame with the final weights.
    const FINAL_SWEEPS: usize = 4;
    /// How strongly helpers are pulled, as part of the weight of the data.
    const PULL: f64 = 0.3;
    /// Frames, evenly spread, to which weights are fitted.
    const SAMPLES: usize = 120;
}

/// Why there is no decomposition.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DecompositionError {
    /// Nothing to fit to.
    #[error("there are no simulated frames to fit to")]
    NoFrames,
    /// A frame of another character.
    #[error("frame {frame} has {found} vertices instead of {expected}")]
    Vertices {
        /// Index of the frame.
        frame: usize,
        /// Its number of vertices.
        found: usize,
        /// That of the bind pose.
        expected: usize,
    },
    /// The helpers don't fit into the skeleton.
    #[error(transparent)]
    Skeleton(#[from] SkeletonError),
    /// The work was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// Helper joints and weights.
#[derive(Debug, Clone)]
pub struct Decomposition {
    /// The given joints, then the helpers, each a child of the joint it follows.
    pub skeleton: Skeleton,
    /// At most K influences per vertex, on joints and helpers.
    pub weights: SkinWeights,
    /// Of each helper, how the pose moves it.
    pub drivers: Vec<Driver>,
    /// Of each given frame, the local transforms of the helpers fitted to it.
    pub fitted: Vec<Vec<Trs>>,
    /// Corrective morphs ([`Decomposition::add_morphs`]); none at first.
    pub morphs: Vec<DrivenMorph>,
    /// The joints that can drive morphs, with their rotations at rest.
    inputs: Vec<(usize, Quat)>,
}

impl Decomposition {
    /// A pose of the given joints with the helpers as the drivers move them.
    #[must_use]
    pub fn driven(&self, pose: &Pose) -> Pose {
        self.with_helpers(pose, self.drivers.iter().map(|driver| driver.local(pose)))
    }

    /// The pose of a given frame with the helpers as fitted to it.
    ///
    /// # Panics
    /// If there is no such frame.
    #[must_use]
    pub fn fitted_pose(&self, frame: usize, pose: &Pose) -> Pose {
        self.with_helpers(pose, self.fitted[frame].iter().copied())
    }

    fn with_helpers(&self, pose: &Pose, helpers: impl Iterator<Item = Trs>) -> Pose {
        let joints = self.skeleton.len() - self.drivers.len();
        let given = pose.locals.iter().take(joints).copied();
        Pose {
            locals: given.chain(helpers).collect(),
            morphs: pose.morphs.clone(),
        }
    }
}

/// Fits helpers and weights to simulated frames. `bind` are world positions in the bind pose, `initial` the weights to start from.
///
/// # Errors
/// [`DecompositionError`].
///
/// # Panics
/// If `bind` and `initial` differ in length.
pub fn decompose(
    skeleton: &Skeleton,
    bind: &[Point],
    initial: &SkinWeights,
    frames: &[SimulatedFrame],
    settings: &DecompositionSettings,
    progress: &Progress,
) -> Result<Decomposition, DecompositionError> {
    assert_eq!(bind.len(), initial.len(), "weights of another skin");
    if frames.is_empty() || bind.is_empty() {
        return Err(DecompositionError::NoFrames);
    }
    for (frame, simulated) in frames.iter().enumerate() {
        let found = simulated.positions.len();
        if found != bind.len() {
            let expected = bind.len();
            return Err(DecompositionError::Vertices {
                frame,
                found,
                expected,
            });
        }
    }
    let step = frames.len().div_ceil(DecompositionSettings::SAMPLES);
    let samples = Frames::new(skeleton, frames.iter().step_by(step));
    let mut fit = Fit {
        skeleton,
        bind: bind.iter().map(|p| p.coords.cast()).collect(),
        initial,
        influences: settings.influences.max(1),
        frames: samples,
        rows: Vec::new(),
        helpers: Vec::new(),
    };
    fit.rounds(settings.helpers, &progress.part(0.0, 0.9))?;
    fit.finish(frames, &progress.part(0.9, 1.0))
}

/// A helper while it is fitted.
#[derive(Debug, Clone, PartialEq)]
struct Helper {
    /// Pivot, in the world's bind pose.
    centre: Vec64,
    /// The joint that moves most of the skin at the place where it started.
    region: usize,
    /// The joint it is a child of.
    parent: usize,
}

/// The state of the alternation.
struct Fit<'a> {
    skeleton: &'a Skeleton,
    bind: Vec<Vec64>,
    initial: &'a SkinWeights,
    influences: usize,
    frames: Frames<'a>,
    rows: Vec<Row>,
    helpers: Vec<Helper>,
}

impl<'a> Fit<'a> {
    fn rounds(&mut self, helpers: usize, progress: &Progress) -> Result<(), DecompositionError> {
        let rounds =
            (DecompositionSettings::FREE_ROUNDS + DecompositionSettings::DRIVEN_ROUNDS + 1) as f32;
        let report = |round: usize, stage: &str| {
            progress.report(round as f32 / rounds, stage);
            progress.check()
        };
        report(0, "Fitting the weights of the joints")?;
        self.fit_weights(None, progress)?;
        self.start_helpers(helpers, progress)?;
        if self.helpers.is_empty() {
            return Ok(());
        }
        for round in 0..DecompositionSettings::FREE_ROUNDS {
            report(1 + round, "Fitting helpers")?;
            self.fit_weights(None, progress)?;
            let centres = transforms::fit(&mut self.frames, &self.bind, &self.rows, None, 1);
            self.move_centres(&centres);
        }
        self.choose_parents();
        for round in 0..DecompositionSettings::DRIVEN_ROUNDS {
            report(
                1 + DecompositionSettings::FREE_ROUNDS + round,
                "Driving helpers by the pose",
            )?;
            let drivers = self.drivers(&self.frames);
            let driven = self.driven_deltas(&drivers, &self.frames);
            self.fit_weights(Some(&driven), progress)?;
            self.pull(&driven, 1);
        }
        Ok(())
    }

    /// Fits the transforms, pulled towards the driven ones.
    fn pull(&mut self, driven: &[Vec<Delta>], sweeps: usize) {
        let guide = Guide {
            deltas: driven,
            pull: DecompositionSettings::PULL,
        };
        transforms::fit(
            &mut self.frames,
            &self.bind,
            &self.rows,
            Some(&guide),
            sweeps,
        );
    }

    fn move_centres(&mut self, centres: &[Option<Vec64>]) {
        for (helper, centre) in self.helpers.iter_mut().zip(centres) {
            if let Some(centre) = centre {
                helper.centre = *centre;
            }
        }
    }

    /// Transforms of all frames with the final weights, drivers, and the skeleton with helpers.
    fn finish(
        mut self,
        all: &'a [SimulatedFrame],
        progress: &Progress,
    ) -> Result<Decomposition, DecompositionError> {
        progress.report(0.0, "Fitting all frames");
        self.drop_unused();
        let drivers = self.drivers(&self.frames);
        self.frames = Frames::new(self.skeleton, all.iter());
        let driven = self.driven_deltas(&drivers, &self.frames);
        self.frames.deltas.clone_from(&driven);
        progress.check()?;
        self.pull(&driven, DecompositionSettings::FINAL_SWEEPS);
        progress.check()?;
        let drivers = self.drivers(&self.frames);
        let local = |frame: usize, helper: usize| self.local(&self.frames, frame, helper);
        let fitted = (0..all.len())
            .map(|frame| (0..self.helpers.len()).map(|h| local(frame, h)).collect())
            .collect();
        Ok(Decomposition {
            skeleton: self.with_joints(&drivers)?,
            weights: rows::weights_of(&self.rows),
            drivers,
            fitted,
            morphs: Vec::new(),
            inputs: self.inputs(),
        })
    }

    /// Removes helpers that no vertex follows.
    fn drop_unused(&mut self) {
        let joints = self.skeleton.len();
        let mut used = vec![false; joints + self.helpers.len()];
        let bones = self.rows.iter().flatten();
        bones.for_each(|&(bone, _)| used[bone as usize] = true);
        used[..joints].fill(true);
        let mut place = vec![0_u32; used.len()];
        let mut next = 0;
        for (bone, &used) in used.iter().enumerate() {
            place[bone] = next;
            next += u32::from(used);
        }
        for (bone, _) in self.rows.iter_mut().flatten() {
            *bone = place[*bone as usize];
        }
        let mut bone = joints;
        self.helpers.retain(|_| {
            bone += 1;
            used[bone - 1]
        });
        for deltas in &mut self.frames.deltas {
            let mut bone = 0;
            deltas.retain(|_| {
                bone += 1;
                used[bone - 1]
            });
        }
    }

    /// The skeleton with a joint for each helper.
    fn with_joints(&self, drivers: &[Driver]) -> Result<Skeleton, SkeletonError> {
        let mut joints = self.skeleton.joints().to_vec();
        for (number, (helper, driver)) in (1..).zip(self.helpers.iter().zip(drivers)) {
            let parent = &joints[helper.parent];
            joints.push(Joint {
                name: format!("{}_helper{number}", parent.name),
                parent: Some(helper.parent),
                parent_from_base: Affine::identity(),
                rest: driver.rest(),
                world_from_bind: self.world_from_bind(helper),
                deforms: true,
                tail: None,
            });
        }
        Skeleton::new(joints)
    }

    /// The frame of a helper in the bind pose: its parent's, moved to its centre.
    fn world_from_bind(&self, helper: &Helper) -> Affine {
        let parent = &self.skeleton.joints()[helper.parent].world_from_bind;
        parent * Trs::at(self.offset(helper)).to_affine()
    }

    /// The centre of a helper in the frame of its parent.
    fn offset(&self, helper: &Helper) -> Vec64 {
        let parent = &self.skeleton.joints()[helper.parent].world_from_bind;
        parent.inverse_transform_point(&helper.centre.into()).coords
    }

    /// The local transform of a helper in a frame.
    fn local(&self, frames: &Frames, frame: usize, helper: usize) -> Trs {
        let place = &self.helpers[helper];
        let delta = frames::affine_of(&frames.deltas[frame][self.skeleton.len() + helper]);
        let world = delta * self.world_from_bind(place);
        Trs::from_affine(&(frames.joint_from_world(frame, place.parent) * world))
    }

    /// The transforms of all bones, with driven helpers.
    fn driven_deltas(&self, drivers: &[Driver], frames: &Frames) -> Vec<Vec<Delta>> {
        let joints = self.skeleton.len();
        let frame = |frame: usize| {
            let mut deltas = frames.deltas[frame][..joints].to_vec();
            for (helper, driver) in self.helpers.iter().zip(drivers) {
                let local = driver.local(frames.poses[frame]).to_affine();
                let world = frames.world_from_joint[frame][helper.parent] * local;
                deltas.push(delta_of(&world, &self.world_from_bind(helper)));
            }
            deltas
        };
        (0..frames.len()).into_par_iter().map(frame).collect()
    }
}
