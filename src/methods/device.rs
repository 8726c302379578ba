//! Skinning and simulation on another device than the CPU.
//!
//! For a method that only follows joints, a [`SurfaceDevice`] computes whole frames: `{ present → watched } … fetch (only if
//! positions are needed)`. For flesh, [`super::Projective`] stays in control: it divides time into steps, interpolates
//! between poses, subdivides jumps and settles on the CPU, puts flesh to sleep and restarts it after divergence. A
//! [`Device`] computes the steps between, and the surface:
//!
//! ```text
//! set_state → { step … step → present → watched } … → state (only to continue elsewhere) | fetch (only if positions are
//! needed)
//! ```
//! A frame never waits for the device. Reports of steps arrive later ([`SurfaceDevice::watched`]), in order.

use super::times::DeviceTimes;
use super::{Recipe, Subject};
use crate::collision::Contact;
use crate::dynamics::{Simulation, State};
use crate::math::{Affine, Point, Vec3};
use crate::mesh::NormalGroups;
use crate::tissue::BaseFrame;

/// Why a device cannot continue.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// The device is lost: unplugged, reset by its driver, or overloaded.
    #[error("the graphics device was lost ({reason})")]
    Lost {
        /// The driver's words.
        reason: String,
    },
    /// There are more contacts than the device solves for; the CPU must compute this step. The device's state is still the
    /// previous one.
    #[error("more parts of the skin touch each other than the graphics device solves for")]
    Crowded,
    /// It does not support this character.
    #[error("the graphics device can't take this character: {reason}")]
    Unfit {
        /// What is missing.
        reason: String,
    },
}

/// One step.
pub struct DeviceStep<'a> {
    /// Bones and joint spheres at the end of the step.
    pub frame: &'a BaseFrame,
    /// Whether parts collide, and who finds the contacts.
    pub collision: StepCollision<'a>,
}

/// How a step treats contacts.
pub enum StepCollision<'a> {
    /// Nothing collides.
    Off,
    /// The device finds them ([`Device::finds_contacts`]).
    Own,
    /// The CPU finds them; only for devices that take contacts.
    Given(Colliding<'a>),
}

/// Contact data of a step.
pub struct Colliding<'a> {
    /// The base at the end of the step, computed on the CPU, which detects contacts with it.
    pub base: &'a [Point],
    /// Detects contacts ([`Simulation::begin_contacts`]); its feet are up to date. Its own state is not that of the flesh.
    pub finder: &'a mut Simulation,
}

/// What the device reports of a finished frame and of its steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeviceFrameReport {
    /// Number of steps since the device was created, up to the end of the frame.
    pub steps: u64,
    /// Largest displacement of a vertex relative to its base in one of the frame's steps, world units.
    pub farthest: f32,
    /// Whether all values were finite.
    pub finite: bool,
    /// The contacts of the last step, if the device found them itself.
    pub contacts: Option<FoundContacts>,
    /// Device time, ms; 0 if it cannot be measured.
    pub work_ms: DeviceTimes,
    /// CPU time to prepare the frame, ms: uploads, encoding, submission; without contact detection and waiting.
    pub host_ms: f64,
}

/// Contacts that a device found in a step.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FoundContacts {
    /// Number of pairs with a load.
    pub pressing: usize,
    /// Number of all pairs.
    pub watched: usize,
    /// Largest depth, world units.
    pub deepest: f32,
    /// Whether there were more than the device solves for.
    pub crowded: bool,
}

/// Output arrays of a surface.
pub struct SurfaceMut<'a> {
    /// World positions of all source vertices.
    pub positions: &'a mut [Point],
    /// Their unit normals.
    pub normals: &'a mut [Vec3],
    /// World positions of the simulated vertices, if there are any.
    pub simulated: &'a mut [Point],
}

/// Computes the drawable surface of one character.
///
/// # Contract
/// Surfaces agree with those of [`super::Actor`] up to rounding; equal calls give bit-equal results.
pub trait SurfaceDevice: Send {
    /// Ends a frame: computes all source vertices for these joints; with flesh, from its state extrapolated by `ahead_secs`
    /// with its velocities. Waits only if the device is several frames late.
    ///
    /// # Errors
    /// [`DeviceError::Lost`].
    fn present(&mut self, world_from_joint: &[Affine], ahead_secs: f32) -> Result<(), DeviceError>;

    /// The report of the next finished frame. Never waits.
    fn watched(&mut self) -> Option<DeviceFrameReport>;

    /// Reads back the last presented frame. Waits.
    ///
    /// # Errors
    /// [`DeviceError::Lost`].
    fn fetch(&mut self, surface: SurfaceMut<'_>) -> Result<(), DeviceError>;
}

/// Simulates the flesh of one character and computes its surface.
///
/// # Contract
/// - Steps agree with those of [`crate::dynamics::Simulation`] up to rounding; equal calls give bit-equal results.
/// - Values that are not finite are never presented: the surface stays the last valid one until the next
///   [`Device::set_state`].
pub trait Device: SurfaceDevice {
    /// Sets the state to continue from.
    ///
    /// # Errors
    /// [`DeviceError::Lost`].
    fn set_state(&mut self, state: &State) -> Result<(), DeviceError>;

    /// Sets the contacts to continue from, after [`Device::set_state`], and the number of searches that led to them
    /// ([`crate::collision::Detector::searches`]); only for devices that find contacts.
    fn set_contacts(&mut self, _contacts: &[Contact], _searches: usize) {}

    /// The current contacts of a device that finds them, sorted by vertex, then by triangle. Waits.
    ///
    /// # Errors
    /// [`DeviceError::Lost`].
    fn contacts(&mut self) -> Result<Vec<Contact>, DeviceError> {
        Ok(Vec::new())
    }

    /// Computes one step. Does not wait for it; with contacts from the CPU it waits for the previous one.
    ///
    /// # Errors
    /// [`DeviceError::Lost`], [`DeviceError::Crowded`].
    fn step(&mut self, step: DeviceStep<'_>) -> Result<(), DeviceError>;

    /// The current state of the flesh. Waits.
    ///
    /// # Errors
    /// [`DeviceError::Lost`].
    fn state(&mut self) -> Result<State, DeviceError>;

    /// The latest state that was read back, for recovery after a device loss: a few frames old.
    fn last_state(&mut self) -> Option<State>;

    /// Whether the device finds contacts itself ([`StepCollision::Own`]).
    fn finds_contacts(&self) -> bool {
        false
    }

    /// Whether steps take contacts from the CPU ([`StepCollision::Given`]); otherwise the CPU computes them while parts collide, unless
    /// the device finds contacts itself.
    fn takes_contacts(&self) -> bool {
        false
    }
}

/// A device for an actor.
pub enum AnyDevice {
    /// Skins a method that only follows joints.
    Surface(Box<dyn SurfaceDevice>),
    /// Computes the steps of a simulation, and its surface.
    Flesh(Box<dyn Device>),
}

/// What [`OnDevice::fetch`] read back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fetched {
    /// Positions and normals of the last presented frame.
    All,
    /// Positions only: the device is lost, and the CPU computed them.
    Positions,
    /// Nothing: the device is lost, or has not presented a frame.
    Nothing,
}

/// The form of a bound method that a graphics device computes ([`super::Capability::Device`]).
pub trait OnDevice {
    /// Data that a frame needs besides the pose and the simulated vertices.
    fn recipe(&self, subject: &Subject, groups: &NormalGroups) -> Recipe;

    /// Computes the frames on another device from now on, or on the CPU again. The state is transferred. A device of the
    /// wrong kind is dropped.
    fn set_device(&mut self, device: Option<AnyDevice>);

    /// Whether there is a device, working or lost.
    fn has_device(&self) -> bool;

    /// Whether a device computes the frames now.
    fn is_active(&self) -> bool;

    /// Whether the last frame is on the device instead of in the output of [`super::Skinner::skin`].
    fn is_presented(&self) -> bool;

    /// Why the device was lost, if it was since the last call. The CPU has taken over.
    fn take_fault(&mut self) -> Option<DeviceError>;

    /// Reads back the last presented frame. Waits.
    fn fetch(&mut self, positions: &mut [Point], normals: &mut [Vec3]) -> Fetched;
}
