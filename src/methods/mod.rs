//! Skinning methods behind one trait, a registry of them, and the [`Actor`] that turns any of them into full-resolution output.
//!
//! A method is bound once (everything that does not depend on the pose) and then follows poses, frame by frame. Methods that
//! are cheap per vertex (`rigid`, `lbs`, `dqs`, `cor`, `swing-twist`) bind the source vertices; `pd` simulates a reduced mesh and is
//! upsampled.
//!
//! # Adding a method
//! A method is one file or folder here: a type that implements [`Skinner`], and a [`Descriptor`] with its names, needs,
//! capabilities, parameters and `bind`. It is registered by one line of `BUILT_IN` (and its `mod` line), or from outside of
//! the crate by [`register`]. `tests/skinning/toy.rs` is a complete example.
//!
//! # Which is the best?
#![doc = include_str!("../../assets/suite.md")]

mod actor;
mod bind_surface;
mod blend_normals;
mod blended_mesh;
mod blending;
mod check;
mod cor;
mod ddm;
mod deformer;
mod delta_mush;
pub mod device;
mod direct;
mod distilled;
mod dqs;
mod explain;
mod implicit;
mod lbs;
mod measure;
mod morph_offsets;
mod morphing;
mod palette;
mod position_based;
mod projective;
mod quads;
mod reach;
pub mod recipe;
pub mod reference;
mod registry;
pub mod riding;
mod rigid;
mod smoothing;
mod source_map;
mod state;
mod swing_twist;
#[cfg(test)]
mod test_bar;
mod times;
mod values;

pub use actor::Actor;
pub use device::{
    AnyDevice, Colliding, Device, DeviceError, DeviceFrameReport, DeviceStep, Fetched,
    FoundContacts, OnDevice, StepCollision, SurfaceDevice, SurfaceMut,
};
pub use explain::{Explanation, Influence, Term, TermValue, explain_blending};
pub use implicit::{
    BodyField, FieldLine, FieldPlane, FieldRegion, FieldSlice, JointMeeting, MuscleGrip,
    MusclePlace,
};
pub use morph_offsets::{MeshOffsets, MorphOffsets};
pub use projective::{PoseStepper, Projective, SettledState};
pub use reach::Reach;
pub use recipe::Recipe;
pub use registry::{
    Bind, BindInput, Capability, Descriptor, MethodId, RegisterError, Requirement, register,
    registry,
};
pub use riding::Riding;
pub use state::{ActorState, MethodState, StateError};
pub use times::{DeviceTimes, StepTimes};
pub use values::MethodValues;

pub use crate::stages::{BindError, Body, Flesh, SetupTimes, Subject};

use std::sync::Arc;

use crate::character::FleshFactors;
use crate::dynamics::Params;
use crate::math::{Affine, Point, Vec3};
use crate::param::ParamValues;

/// The built-in methods, simplest first.
const BUILT_IN: &[MethodId] = &[
    rigid::METHOD,
    lbs::METHOD,
    dqs::METHOD,
    cor::METHOD,
    swing_twist::METHOD,
    ddm::METHOD,
    delta_mush::METHOD,
    implicit::METHOD,
    projective::METHOD,
    position_based::PBD,
    position_based::XPBD,
    reference::METHOD,
];

/// One frame of input.
#[derive(Debug, Clone, Copy)]
pub struct Frame<'a> {
    /// Current transform of every joint of the skeleton.
    pub world_from_joint: &'a [Affine],
    /// Seconds since the last frame; 0 means "settle, do not simulate": the equilibrium of this pose.
    pub dt_secs: f64,
}

/// Why a frame could not be skinned.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum SkinError {
    /// The frame belongs to another skeleton.
    #[error("the pose has {actual} joints, the skeleton {expected}")]
    JointCount {
        /// Joints bound.
        expected: usize,
        /// Joints given.
        actual: usize,
    },
    /// A joint transform has NaN, infinity, or an entry of 1e15 or more, whose square overflows `f32`; nothing was moved.
    #[error("the pose puts joints infinitely far away")]
    BadPose,
    /// A position became NaN or infinite; the output holds the last valid frame and the solver was restarted.
    #[error("the simulation left the finite numbers and was restarted")]
    Diverged,
    /// A method that solves for an equilibrium found none; the output holds the last valid frame.
    #[error(
        "no equilibrium was found in this pose: the solver stopped at a residual of {residual:.1e}"
    )]
    Unsolved {
        /// What was left, as a part of the forces or lengths involved; NaN where numbers were not finite.
        residual: f64,
    },
}

/// A bound method: deforms the source vertices of one character to follow a pose.
///
/// Only [`Skinner::skin`] has to be implemented by a method whose frames depend on the pose alone. The other functions belong to a
/// [`Capability`]: a method that declares it implements them.
///
/// # Contract (checked for every registered method by the conformance suite in `tests/skinning/skinners.rs`)
/// - **rest**: the bind pose with `dt = 0` returns the bind positions;
/// - **rigid**: one rigid motion of all joints, with `dt = 0`, moves the whole skin by it;
/// - **deterministic**: `reset`, then equal frames, gives bit-equal output, with any number of threads;
/// - **saved**: `restore` of a saved state, then equal frames, gives bit-equal output.
pub trait Skinner: Send {
    /// Writes the deformed position (world space) of every source vertex into `out`. The number of joints and their transforms have
    /// been checked. A frame that a device has presented ([`OnDevice::is_presented`]) is not written.
    ///
    /// # Errors
    /// [`SkinError::Diverged`] on a non-finite position; `out` is then not written.
    fn skin(&mut self, frame: &Frame<'_>, out: &mut [Point]) -> Result<(), SkinError>;

    /// Displaces the vertices in the bind pose by morphs from the next frame on, or no longer. Returns whether the method does that;
    /// otherwise the [`Actor`] displaces what it has skinned. `None` restores the bind pose exactly. Allocates at most once.
    fn displace(&mut self, _offsets: Option<&MorphOffsets>) -> bool {
        false
    }

    /// Forgets the state ([`Capability::State`]): the next frame is the equilibrium of its pose.
    fn reset(&mut self) {}

    /// A copy of the state ([`Capability::State`]); empty for methods without one. A state on a device is read back.
    fn save(&mut self) -> MethodState {
        MethodState::default()
    }

    /// Restores a state that [`Skinner::save`] returned for the same binding.
    ///
    /// # Errors
    /// [`StateError`] if it is the state of another method or character; then nothing is changed.
    fn restore(&mut self, state: &MethodState) -> Result<(), StateError> {
        state.check_empty()
    }

    /// What the method computes at a source vertex in the last frame, beside the blending of its joints.
    fn explain(&self, _vertex: usize) -> Vec<Term> {
        Vec::new()
    }

    /// Whether nothing moves any more until the pose or a parameter changes ([`Capability::State`]).
    fn is_at_rest(&self) -> bool {
        true
    }

    /// Changes the method's own parameters ([`Descriptor::params`]); takes effect with the next frame.
    ///
    /// # Errors
    /// [`BindError`]; then the old values are kept.
    fn set_values(&mut self, _values: &ParamValues) -> Result<(), BindError> {
        Ok(())
    }

    /// Changes physical parameters ([`Capability::Physics`]); takes effect with the next frame.
    ///
    /// # Errors
    /// [`BindError::Factor`] if the system cannot be factored with them; then the old ones are kept.
    fn set_physics(&mut self, _physics: &Params) -> Result<(), BindError> {
        Ok(())
    }

    /// Changes the settings of bones that are no part of the tissue, and what is painted ([`Capability::Physics`],
    /// [`Capability::Meetings`]); takes effect with the next frame.
    ///
    /// # Errors
    /// [`BindError::Factor`] if the system cannot be factored with them; then the old ones are kept.
    fn set_factors(&mut self, _factors: &FleshFactors) -> Result<(), BindError> {
        Ok(())
    }

    /// Writes the normals that the method itself computes for the last frame.
    /// Unless [`Skinner::has_all_normals`], `normals` contains those computed from the triangles, and entries that are not
    /// written are kept.
    fn normals_into(&self, _normals: &mut [Vec3]) {}

    /// Whether [`Skinner::normals_into`] writes the normals of all source vertices.
    fn has_all_normals(&self) -> bool {
        false
    }

    /// World positions of the simulation mesh in the last frame ([`Capability::Upsampling`]).
    fn simulated(&self) -> &[Point] {
        &[]
    }

    /// Where the time of the last frame went; `None` if only the total is known.
    fn times(&self) -> Option<StepTimes> {
        None
    }

    /// The composed field of the body ([`Capability::Meetings`]).
    fn body_field(&self) -> Option<&Arc<BodyField>> {
        None
    }

    /// The simulation by projective dynamics, of methods that have one.
    fn projective(&self) -> Option<&Projective> {
        None
    }

    /// That simulation, mutable.
    fn projective_mut(&mut self) -> Option<&mut Projective> {
        None
    }

    /// The form that a graphics device computes ([`Capability::Device`]).
    fn on_device(&self) -> Option<&dyn OnDevice> {
        None
    }

    /// The device form, mutable.
    fn on_device_mut(&mut self) -> Option<&mut dyn OnDevice> {
        None
    }
}
