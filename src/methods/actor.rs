//! A bound method with full-resolution output.

use std::sync::Arc;
use std::time::Instant;

use super::bind_surface::{bind_normals, normals_in_file};
use super::check::check_joints;
use super::morphing::Morphing;
use super::{
    ActorState, AnyDevice, BindError, BindInput, BodyField, DeviceError, Explanation, Fetched,
    Frame, MethodId, Projective, Recipe, Requirement, SettledState, SkinError, Skinner, StateError,
    StepTimes, Subject, Term, explain_blending,
};
use crate::character::FleshFactors;
use crate::dynamics::Params;
use crate::math::{Affine, Point, Vec3};
use crate::mesh::{NormalGroups, WELD_TOLERANCE};
use crate::numerics::in_pool;
use crate::param::ParamValues;
use crate::progress::Progress;
use crate::rig::MorphWeights;

/// A method bound to a subject; computes source positions and normals frame by frame.
pub struct Actor {
    subject: Arc<Subject>,
    method: MethodId,
    skinner: Box<dyn Skinner>,
    positions: Vec<Point>,
    normals: Vec<Vec3>,
    groups: NormalGroups,
    /// `None` for a character without morphs.
    morphing: Option<Morphing>,
    times: StepTimes,
    /// Whether positions and normals are those of the last frame; otherwise the device has them.
    here: bool,
    /// Whether frames of a device are read back at once.
    reads_back: bool,
}

impl Actor {
    /// Binds a method with the defaults of its own parameters.
    ///
    /// # Errors
    /// [`BindError`] if the method does not support this subject, or the work was cancelled.
    pub fn bind(
        subject: &Arc<Subject>,
        method: MethodId,
        physics: &Params,
        progress: &Progress,
    ) -> Result<Self, BindError> {
        Self::bind_with(subject, method, physics, &ParamValues::default(), progress)
    }

    /// Binds a method with values of its own parameters.
    ///
    /// # Errors
    /// [`BindError`] if the method does not support this subject, or the work was cancelled.
    pub fn bind_with(
        subject: &Arc<Subject>,
        method: MethodId,
        physics: &Params,
        values: &ParamValues,
        progress: &Progress,
    ) -> Result<Self, BindError> {
        progress.check()?;
        let character = &subject.character;
        if method.needs(Requirement::Weights) {
            subject.make_weights(&progress.part(0.0, 0.1))?;
        }
        let positions = subject.bind_positions.to_vec();
        let mut normals = vec![Vec3::y(); positions.len()];
        let mut groups = NormalGroups::new(
            &positions,
            &character.triangles(),
            &normals_in_file(character),
            WELD_TOLERANCE * subject.size,
        );
        groups.normals_into(&positions, &mut normals);
        let normals = bind_normals(character, &normals);
        if method.needs(Requirement::Tissue) {
            subject.make_flesh(&progress.part(0.0, 0.8))?;
        }
        let mut skinner = (method.descriptor().bind)(&BindInput {
            subject,
            physics,
            values,
            normals: &normals,
            progress,
        })?;
        // Device forms compute normals from the triangles alone.
        if skinner.on_device().is_none() {
            groups.keep_normals(&positions, &normals);
        }
        let morphing = Morphing::bind(subject, &groups, &normals, &mut *skinner);
        progress.check()?;
        Ok(Self {
            subject: subject.clone(),
            method,
            skinner,
            morphing,
            positions,
            normals,
            groups,
            times: StepTimes::default(),
            here: true,
            reads_back: true,
        })
    }

    /// Whether joints have a pose that [`Actor::advance`] accepts.
    ///
    /// # Errors
    /// [`SkinError::JointCount`], [`SkinError::BadPose`].
    pub fn check(&self, world_from_joint: &[Affine]) -> Result<(), SkinError> {
        check_joints(self.subject.character.skeleton.len(), world_from_joint)
    }

    /// Sets the weights of morphs and expressions of the next frames ([`crate::rig::Pose::morphs`]); at rest until then.
    pub fn set_morphs(&mut self, weights: &MorphWeights) {
        if let Some(morphing) = &mut self.morphing {
            morphing.set(weights, &mut *self.skinner);
        }
    }

    /// From now on morphs stay at rest, whatever is set.
    pub fn leave_out_morphs(&mut self) {
        self.set_morphs(&MorphWeights::default());
        self.morphing = None;
    }

    /// Whether morphs displace vertices. Then frames are not left on a device.
    #[must_use]
    pub fn is_morphed(&self) -> bool {
        self.morphing.as_ref().is_some_and(Morphing::is_active)
    }

    /// Advances to the next frame.
    ///
    /// # Errors
    /// [`SkinError`]; the output is then that of the last valid frame.
    pub fn advance(&mut self, frame: &Frame<'_>) -> Result<(), SkinError> {
        if self.is_on_device() {
            self.advance_here(frame)
        } else {
            in_pool(|| self.advance_here(frame))
        }
    }

    fn advance_here(&mut self, frame: &Frame<'_>) -> Result<(), SkinError> {
        let start = Instant::now();
        self.check(frame.world_from_joint)?;
        let skinned = self.skinner.skin(frame, &mut self.positions);
        self.times = self.skinner.times().unwrap_or_else(|| StepTimes {
            step_ms: start.elapsed().as_secs_f64() * 1e3,
            ..StepTimes::default()
        });
        skinned?;
        self.here = !self
            .skinner
            .on_device()
            .is_some_and(super::device::OnDevice::is_presented);
        if self.here {
            self.add_morphs(frame.world_from_joint);
            self.find_normals();
        } else if self.is_morphed() {
            self.read_back();
            if self.here {
                self.add_morphs(frame.world_from_joint);
                self.find_normals();
            }
        } else if self.reads_back {
            self.read_back();
        }
        self.times.total_ms = start.elapsed().as_secs_f64() * 1e3;
        Ok(())
    }

    /// Displaces a frame that was skinned without morphs.
    fn add_morphs(&mut self, world_from_joint: &[Affine]) {
        if let Some(morphing) = &mut self.morphing {
            morphing.add_to(world_from_joint, &mut self.positions);
        }
    }

    /// Normals of the positions on the CPU.
    fn find_normals(&mut self) {
        let start = Instant::now();
        if !self.skinner.has_all_normals() {
            self.groups.normals_into(&self.positions, &mut self.normals);
        }
        self.skinner.normals_into(&mut self.normals);
        if let Some(morphing) = &mut self.morphing {
            morphing.add_normals(&self.positions, &mut self.normals);
        }
        self.times.normals_ms = start.elapsed().as_secs_f64() * 1e3;
    }

    /// Explains a source vertex in the last frame, whose joints are `world_from_joint`. The frame must have been read back from a
    /// device ([`Actor::read_back`]).
    ///
    /// # Panics
    /// If there is no such vertex, or there are other joints.
    #[must_use]
    pub fn explain(&self, vertex: usize, world_from_joint: &[Affine]) -> Explanation {
        let at = self.positions()[vertex];
        let mut explanation = explain_blending(self.subject(), vertex, world_from_joint, &at);
        explanation.terms.extend(self.method_terms(vertex));
        explanation
    }

    /// What the method itself says about a source vertex in the last frame, beside the blending of its joints; empty for a frame that is
    /// on a device.
    #[must_use]
    pub fn method_terms(&self, vertex: usize) -> Vec<Term> {
        self.skinner.explain(vertex)
    }

    /// Forgets velocities: the next frame starts settled in its pose.
    pub fn reset(&mut self) {
        self.skinner.reset();
    }

    /// A copy of the state with the visible frame. Reads back from a device, which waits.
    #[must_use]
    pub fn save(&mut self) -> ActorState {
        self.read_back();
        ActorState {
            method: self.method,
            state: self.skinner.save(),
            positions: self.positions.as_slice().into(),
            normals: self.normals.as_slice().into(),
        }
    }

    /// Restores a saved state and its frame.
    ///
    /// # Errors
    /// [`StateError`] if it was saved by another method or for another character; then nothing is changed.
    pub fn restore(&mut self, saved: &ActorState) -> Result<(), StateError> {
        if saved.method != self.method {
            return Err(StateError::OtherMethod);
        }
        if saved.positions.len() != self.positions.len() {
            return Err(StateError::OtherCharacter);
        }
        self.skinner.restore(&saved.state)?;
        self.positions.copy_from_slice(&saved.positions);
        self.normals.copy_from_slice(&saved.normals);
        self.here = true;
        Ok(())
    }

    /// Whether the skin is still until the pose or a parameter changes.
    #[must_use]
    pub fn is_at_rest(&self) -> bool {
        self.skinner.is_at_rest()
    }

    /// Changes the method's own parameters; takes effect with the next frame.
    ///
    /// # Errors
    /// [`BindError`]; then the old values are kept.
    pub fn set_values(&mut self, values: &ParamValues) -> Result<(), BindError> {
        let Some(morphing) = &mut self.morphing else {
            return self.skinner.set_values(values);
        };
        // Tables are made of the bind pose.
        self.skinner.displace(None);
        let set = self.skinner.set_values(values);
        morphing.resume(&mut *self.skinner);
        set
    }

    /// Changes physical parameters; takes effect with the next frame. Does nothing for methods without physics.
    ///
    /// # Errors
    /// [`BindError::Factor`] if the system cannot be factored with them; then the old ones are kept.
    pub fn set_params(&mut self, params: &Params) -> Result<(), BindError> {
        self.skinner.set_physics(params)
    }

    /// Changes the factors in the settings of bones, and what is painted; takes effect with the next frame. Does nothing for methods without physics.
    ///
    /// # Errors
    /// [`BindError::Factor`] if the system cannot be factored with them; then the old ones are kept.
    pub fn set_factors(&mut self, factors: &FleshFactors) -> Result<(), BindError> {
        self.skinner.set_factors(factors)
    }

    /// The composed field of the body, of methods that have one ([`Capability::Meetings`](super::Capability::Meetings)).
    #[must_use]
    pub fn body_field(&self) -> Option<&Arc<BodyField>> {
        self.skinner.body_field()
    }

    /// The simulation by projective dynamics, of methods that have one.
    #[must_use]
    pub fn projective(&self) -> Option<&Projective> {
        self.skinner.projective()
    }

    /// Settles in a pose and returns the initial state of other instances of the character ([`super::PoseStepper`]); `None` for
    /// methods other than projective dynamics. A device is dropped.
    ///
    /// # Errors
    /// As [`Actor::advance`].
    pub fn settled_in(
        &mut self,
        world_from_joint: &[Affine],
    ) -> Result<Option<SettledState>, SkinError> {
        self.skinner
            .projective_mut()
            .map(|projective| projective.settled_in(world_from_joint))
            .transpose()
    }

    /// Computes the frames on another device from now on, or on the CPU again. The state is transferred. Does nothing for
    /// methods without a device form.
    pub fn set_device(&mut self, device: Option<AnyDevice>) {
        if let Some(form) = self.skinner.on_device_mut() {
            form.set_device(device);
        }
    }

    /// Why the device was lost, if it was since the last call. The CPU has taken over.
    pub fn take_fault(&mut self) -> Option<DeviceError> {
        self.skinner.on_device_mut()?.take_fault()
    }

    /// Whether there is a device, working or lost.
    #[must_use]
    pub fn has_device(&self) -> bool {
        self.skinner
            .on_device()
            .is_some_and(super::device::OnDevice::has_device)
    }

    /// Whether a device computes the frames now.
    #[must_use]
    pub fn is_on_device(&self) -> bool {
        self.skinner
            .on_device()
            .is_some_and(super::device::OnDevice::is_active)
    }

    /// Sets whether frames of a device are read back at once, which waits for it. That is the default; it is not needed when
    /// drawing from the device's buffers.
    pub fn set_reads_back(&mut self, reads_back: bool) {
        self.reads_back = reads_back;
    }

    /// Whether [`Actor::positions`], [`Actor::normals`] and [`Actor::simulated`] are those of the last frame.
    #[must_use]
    pub fn is_here(&self) -> bool {
        self.here
    }

    /// Reads back the last frame if a device has it. Waits. If the device is lost meanwhile, the CPU computes the frame;
    /// simulated vertices keep their last readback.
    pub fn read_back(&mut self) {
        if self.here {
            return;
        }
        let Some(form) = self.skinner.on_device_mut() else {
            return;
        };
        let fetched = form.fetch(&mut self.positions, &mut self.normals);
        self.here = fetched != Fetched::Nothing;
        if fetched == Fetched::Positions {
            self.find_normals();
        }
    }

    /// World positions of all source vertices.
    #[must_use]
    pub fn positions(&self) -> &[Point] {
        &self.positions
    }

    /// World positions of the simulation mesh; none for methods that do not simulate.
    #[must_use]
    pub fn simulated(&self) -> &[Point] {
        self.skinner.simulated()
    }

    /// Unit normals of all source vertices; smooth across the seams of the source, sharp where the file is.
    #[must_use]
    pub fn normals(&self) -> &[Vec3] {
        &self.normals
    }

    /// Data that a device needs besides the simulated vertices and the pose; `None` for methods without a device form.
    #[must_use]
    pub fn recipe(&self) -> Option<Recipe> {
        let form = self.skinner.on_device()?;
        Some(form.recipe(&self.subject, &self.groups))
    }

    /// The method bound.
    #[must_use]
    pub fn method(&self) -> MethodId {
        self.method
    }

    /// The subject it is bound to.
    #[must_use]
    pub fn subject(&self) -> &Arc<Subject> {
        &self.subject
    }

    /// Where the time of the last frame went.
    #[must_use]
    pub fn times(&self) -> StepTimes {
        self.times
    }
}
