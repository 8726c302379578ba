//! Quasi-static solves for a pose, without inertia, always on the CPU.

use super::poses::{largest_turn, relative_into};
use super::{FollowMode, Projective, STEPS_TO_SLEEP};
use crate::dynamics::{self, Contacts, FactorError};
use crate::math::{Affine, Point};
use crate::rig::Trs;

/// A part of a solve for an equilibrium makes this many rounds of volume…
const VOLUME_ROUNDS_PER_PART: usize = 2;
/// …or this many iterations at the end.
const ITERATIONS_PER_PART: usize = 24;

/// Substeps to a pose: no joint turns by more than this in one, rad.
const SUBSTEP_RAD: f64 = 0.25;
/// Iterations per substep.
const SUBSTEP_ITERATIONS: usize = 6;
/// Volume is restored in at most this many rounds…
const VOLUME_ROUNDS: usize = 16;
/// …of this many iterations each, until none displaces the skin by more than this fraction of the size.
const VOLUME_ITERATIONS: usize = 12;
const VOLUME_TOLERANCE: f32 = 3e-6;
/// Virtual bones settle in at most this many rounds…
const SETTLING_ROUNDS: usize = 200;
/// …of this many iterations each.
const SETTLING_ITERATIONS: usize = 50;

/// A solve for the equilibrium in a pose that is made in parts, see [`Projective::settle_part`].
#[derive(Default)]
pub(super) struct Settling {
    stage: Stage,
}

#[derive(Default)]
enum Stage {
    #[default]
    Start,
    /// Restores the volume; this many rounds are done.
    Volume(usize),
    Equilibrium(Box<dynamics::Settling>),
}

impl Projective {
    /// Moves from the bind pose to the frame's pose in substeps, without inertia. The frame's pose then counts as the
    /// last one.
    ///
    /// The start is the bind pose, not the current one: on the way between two unrelated poses skin could be inverted
    /// and stay so. From the bind pose the way is short, and the result depends on the pose alone.
    pub(super) fn solve_from_bind(&mut self, target: &[Affine]) -> Result<(), FactorError> {
        self.discard_device_state();
        if self.guided.is_some() {
            return self.solve_from_guide(target);
        }
        self.reset_to_bind_pose();
        if self.virtual_bones.is_none() {
            self.move_bind_pose_to_root();
        }
        self.last_pose.clone_from(&self.base_pose);
        let substeps = (largest_turn(&self.last_pose, self.target_pose.iter().copied())
            / SUBSTEP_RAD)
            .ceil() as usize;
        for substep in 1..substeps {
            self.place_base(
                Some(substep as f64 / substeps as f64),
                target,
                FollowMode::Relax(SUBSTEP_ITERATIONS),
            );
            self.simulation
                .step_quasistatic(&self.base, SUBSTEP_ITERATIONS)?;
        }
        self.place_base(None, target, FollowMode::Relax(SUBSTEP_ITERATIONS));
        self.simulation
            .step_quasistatic(&self.base, SUBSTEP_ITERATIONS)?;
        self.last_pose.clone_from(&self.target_pose);
        Ok(())
    }

    /// Starts guided flesh at its targets in the pose, without substeps: the targets do not invert elements.
    fn solve_from_guide(&mut self, target: &[Affine]) -> Result<(), FactorError> {
        if let Some(guided) = &mut self.guided {
            guided.reset();
        }
        if let Some(bones) = &mut self.virtual_bones {
            bones.reset(target);
        }
        self.place_base(None, target, FollowMode::Relax(SUBSTEP_ITERATIONS));
        self.place_at_targets()?;
        self.last_pose.clone_from(&self.target_pose);
        Ok(())
    }

    /// Places guided flesh at its targets, and relaxes it from there.
    fn place_at_targets(&mut self) -> Result<(), FactorError> {
        if let Some(guided) = &self.guided {
            let places: Vec<Point> = (0..guided.len())
                .map(|v| guided.target(v).position)
                .collect();
            self.simulation.set_positions(&places, &self.base);
        }
        self.simulation
            .step_quasistatic(&self.base, SUBSTEP_ITERATIONS)?;
        Ok(())
    }

    /// Moves the bind pose with the flesh rigidly to the frame's first root: a rigid motion is no deformation.
    fn move_bind_pose_to_root(&mut self) {
        let (Some(at), Some(to)) = (self.base_pose.first(), self.target_pose.first()) else {
            return;
        };
        let rigid =
            |trs: &Trs| nalgebra::Isometry3::from_parts(trs.translation.into(), trs.rotation);
        let motion = rigid(to) * rigid(at).inverse();
        for (own, joint) in self
            .base_pose
            .iter_mut()
            .zip(self.subject.character.skeleton.joints())
        {
            if joint.parent.is_none() {
                let moved = motion * rigid(own);
                *own = Trs {
                    translation: moved.translation.vector,
                    rotation: moved.rotation,
                    ..*own
                };
            }
        }
        let carried = |p: &Point| (motion * p.cast::<f64>()).cast::<f32>();
        let skin: Vec<Point> = self
            .subject
            .sim()
            .mesh
            .positions
            .iter()
            .map(carried)
            .collect();
        for point in &mut self.base {
            *point = carried(point);
        }
        self.simulation.set_positions(&skin, &self.base);
    }

    /// Solves for the equilibrium in the frame's pose, independent of the state before.
    pub(super) fn settle(&mut self, target: &[Affine]) -> Result<(), FactorError> {
        (self.reseat, self.fading, self.calm_steps) = (None, None, 0);
        let mut settling = Settling::default();
        while !self.settle_part(target, &mut settling)? {}
        self.pending_secs = 0.0;
        self.started = true;
        self.still_steps = STEPS_TO_SLEEP;
        self.seated = true;
        Ok(())
    }

    /// Makes the next part of a solve for the equilibrium in the frame's pose. Returns whether it was the last one.
    pub(super) fn settle_part(
        &mut self,
        target: &[Affine],
        settling: &mut Settling,
    ) -> Result<bool, FactorError> {
        match &mut settling.stage {
            Stage::Start => {
                self.solve_from_bind(target)?;
                if self.virtual_bones.is_some() {
                    self.settle_virtual_bones(target)?;
                }
                settling.stage = Stage::Volume(0);
            }
            Stage::Volume(rounds) => {
                for _ in 0..VOLUME_ROUNDS_PER_PART {
                    *rounds += 1;
                    if !self.restore_volume(target)? || *rounds >= VOLUME_ROUNDS {
                        settling.stage = Stage::Equilibrium(Box::default());
                        break;
                    }
                }
            }
            Stage::Equilibrium(iterations) => {
                let report = self
                    .simulation
                    .settle_part(iterations, ITERATIONS_PER_PART)?;
                if let Some(report) = report {
                    self.times.local_ms += report.local_ms;
                    self.times.global_ms += report.global_ms;
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Restores the volume by a round of iterations. Returns `false` if the bulges did not change.
    fn restore_volume(&mut self, target: &[Affine]) -> Result<bool, FactorError> {
        let Some(guided) = &mut self.guided else {
            return Ok(false);
        };
        let contacts = self.simulation.contacts().map(Contacts::contacts);
        let moved =
            guided.restore_volume(self.simulation.positions(), contacts.unwrap_or_default());
        // Also in the last round: the steps that follow would place the base elsewhere, and wake the flesh.
        self.place_base(None, target, FollowMode::Relax(SUBSTEP_ITERATIONS));
        self.simulation
            .step_quasistatic(&self.base, VOLUME_ITERATIONS)?;
        Ok(moved > VOLUME_TOLERANCE * self.subject.size)
    }

    /// Moves virtual bones to their equilibrium, and the flesh with them round by round: a base that jumped there would
    /// invert elements.
    fn settle_virtual_bones(&mut self, target: &[Affine]) -> Result<(), FactorError> {
        for _ in 0..SETTLING_ROUNDS {
            let last_change = self.place_base(None, target, FollowMode::Relax(SETTLING_ITERATIONS));
            if self.guided.is_none() {
                self.simulation
                    .step_quasistatic(&self.base, SUBSTEP_ITERATIONS)?;
            }
            if self
                .virtual_bones
                .as_ref()
                .is_none_or(|bones| bones.is_converged(last_change))
            {
                break;
            }
        }
        if self.guided.is_some() {
            self.place_at_targets()?;
        }
        Ok(())
    }

    fn reset_to_bind_pose(&mut self) {
        let skeleton = &self.subject.character.skeleton;
        if let Some(bones) = &mut self.virtual_bones {
            bones.reset(&skeleton.bind_transforms());
        }
        self.base = self.flesh.tissue.anchors.at_rest();
        self.simulation
            .set_positions(&self.subject.sim().mesh.positions, &self.base);
        relative_into(skeleton, &skeleton.bind_transforms(), &mut self.base_pose);
    }
}
