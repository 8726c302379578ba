//! Ways to a pose without inertia, always on the processor.

use super::poses::{largest_turn, relative_into};
use super::{FollowMode, Projective, STEPS_TO_SLEEP};
use crate::dynamics::FactorError;
use crate::math::{Affine, Point};
use crate::rig::Trs;

/// A pose is walked in pieces in which no joint turns by more than this, rad.
const PIECE_RAD: f64 = 0.25;
/// Iterations on each piece of a walk.
const PIECE_ITERATIONS: usize = 6;
/// Volume returns in at most so many rounds…
const VOLUME_ROUNDS: usize = 16;
/// …of so many iterations each, until none moves the skin by more than this part of the size.
const VOLUME_ITERATIONS: usize = 12;
const VOLUME_STILL: f32 = 3e-6;
/// Virtual bones settle in at most so many pieces…
const SETTLING_PIECES: usize = 200;
/// …of so many iterations each.
const SETTLING_ITERATIONS: usize = 50;

impl Projective {
    /// Walks from the bind pose to the frame's, without inertia. From then on the frame's pose is the last one.
    ///
    /// Not from where the base is: between two poses that have nothing to do with each other lies anything, and skin that was turned
    /// inside out there may stay so. From the bind pose the way is short, and what comes out depends on the pose alone.
    pub(super) fn walk(&mut self, target: &[Affine]) -> Result<(), FactorError> {
        self.discard_device_state();
        if self.guided.is_some() {
            return self.walk_guided(target);
        }
        self.rest_at_bind();
        if self.virtual_bones.is_none() {
            self.carry_with_root();
        }
        self.from.clone_from(&self.at);
        let pieces =
            (largest_turn(&self.from, self.to.iter().copied()) / PIECE_RAD).ceil() as usize;
        for piece in 1..pieces {
            self.place_base(
                Some(piece as f64 / pieces as f64),
                target,
                FollowMode::Creep(PIECE_ITERATIONS),
            );
            self.simulation
                .step_quasistatic(&self.base, PIECE_ITERATIONS)?;
        }
        self.place_base(None, target, FollowMode::Creep(PIECE_ITERATIONS));
        self.simulation
            .step_quasistatic(&self.base, PIECE_ITERATIONS)?;
        self.from.clone_from(&self.to);
        Ok(())
    }

    /// Guided flesh begins at its targets: there is no way on which elements could be turned inside out.
    fn walk_guided(&mut self, target: &[Affine]) -> Result<(), FactorError> {
        if let Some(guided) = &mut self.guided {
            guided.reset();
        }
        self.place_base(None, target, FollowMode::Creep(PIECE_ITERATIONS));
        if let Some(guided) = &self.guided {
            let places: Vec<Point> = (0..guided.len())
                .map(|v| guided.target(v).position)
                .collect();
            self.simulation.set_positions(&places, &self.base);
        }
        self.simulation
            .step_quasistatic(&self.base, PIECE_ITERATIONS)?;
        self.from.clone_from(&self.to);
        Ok(())
    }

    /// Moves the bind pose, flesh and all, to where the frame has its first root: turning as a whole is no deformation.
    fn carry_with_root(&mut self) {
        let (Some(at), Some(to)) = (self.at.first(), self.to.first()) else {
            return;
        };
        let rigid =
            |trs: &Trs| nalgebra::Isometry3::from_parts(trs.translation.into(), trs.rotation);
        let motion = rigid(to) * rigid(at).inverse();
        for (own, joint) in self
            .at
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

    /// The equilibrium in the frame's pose, without a way there.
    pub(super) fn settle(&mut self, target: &[Affine]) -> Result<(), FactorError> {
        self.walk(target)?;
        if self.virtual_bones.is_some() {
            self.let_bones_settle(target)?;
        }
        self.settle_volume(target)?;
        let report = self.simulation.settle()?;
        self.times.local_ms += report.local_ms;
        self.times.global_ms += report.global_ms;
        self.pending_secs = 0.0;
        self.started = true;
        self.still_steps = STEPS_TO_SLEEP;
        Ok(())
    }

    /// Lets volume return until nothing moves any more for it.
    fn settle_volume(&mut self, target: &[Affine]) -> Result<(), FactorError> {
        for _ in 0..VOLUME_ROUNDS {
            let Some(guided) = &mut self.guided else {
                return Ok(());
            };
            let moved = guided.return_volume(self.simulation.positions());
            if moved <= VOLUME_STILL * self.subject.size {
                return Ok(());
            }
            self.place_base(None, target, FollowMode::Creep(PIECE_ITERATIONS));
            self.simulation
                .step_quasistatic(&self.base, VOLUME_ITERATIONS)?;
        }
        Ok(())
    }

    /// Virtual bones go to their equilibrium, the flesh with them: a base that jumped there would turn elements inside out.
    fn let_bones_settle(&mut self, target: &[Affine]) -> Result<(), FactorError> {
        for _ in 0..SETTLING_PIECES {
            let unrest = self.place_base(None, target, FollowMode::Creep(SETTLING_ITERATIONS));
            self.simulation
                .step_quasistatic(&self.base, PIECE_ITERATIONS)?;
            if self
                .virtual_bones
                .as_ref()
                .is_none_or(|bones| bones.is_converged(unrest))
            {
                break;
            }
        }
        Ok(())
    }

    fn rest_at_bind(&mut self) {
        let skeleton = &self.subject.character.skeleton;
        if let Some(bones) = &mut self.virtual_bones {
            bones.reset(&skeleton.bind_transforms());
        }
        self.base = self.flesh.tissue.anchors.at_rest();
        self.simulation
            .set_positions(&self.subject.sim().mesh.positions, &self.base);
        relative_into(skeleton, &skeleton.bind_transforms(), &mut self.at);
    }
}
