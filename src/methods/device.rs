//! Skin that is moved, and flesh that is simulated, on another device than the processor.
//!
//! Of a method that only follows the joints, a [`SurfaceDevice`] makes all of a frame: `{ present → watched } … fetch (only for who wants
//! numbers)`. Of flesh, [`super::Projective`] stays in charge: it shares time out into steps, interpolates between poses, walks jumps and settles on the
//! processor, puts flesh to sleep and starts over when it diverged. A [`Device`] makes the steps between, and the surface over them:
//!
//! ```text
//! set_state → { step … step → present → watched } … → state (only to go on elsewhere) | fetch (only for who wants numbers)
//! ```
//! Nothing of a frame waits for the device. What became of a step is told later ([`SurfaceDevice::watched`]), in order.

use super::{Recipe, Subject};
use crate::dynamics::{Simulation, State};
use crate::math::{Affine, Point, Vec3};
use crate::mesh::NormalGroups;
use crate::tissue::BaseFrame;

/// Why a device does not go on.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum DeviceError {
    /// It is gone: unplugged, reset by its driver, or overwhelmed.
    #[error("the graphics device was lost ({reason})")]
    Lost {
        /// The driver's words.
        reason: String,
    },
    /// More parts touch each other than it solves for; a step of the processor's is needed. Its state is still the one before.
    #[error("more parts of the skin touch each other than the graphics device solves for")]
    Crowded,
    /// It can't move this character.
    #[error("the graphics device can't take this character: {reason}")]
    Unfit {
        /// What is missing.
        reason: String,
    },
}

/// One step to make.
pub struct DeviceStep<'a> {
    /// Bones and joint spheres at the end of the step.
    pub frame: &'a BaseFrame,
    /// What a step needs while parts collide; only given to devices that take contacts.
    pub colliding: Option<Colliding<'a>>,
}

/// What a step needs while parts collide.
pub struct Colliding<'a> {
    /// The base at the end of the step, placed on the processor, since contacts hold it on its side.
    pub base: &'a [Point],
    /// Finds what touches ([`Simulation::begin_contacts`]); the feet are placed. Its own state is not that of the flesh.
    pub finder: &'a mut Simulation,
}

/// What the device reports of a finished frame and of its steps.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DeviceFrameReport {
    /// How many steps had been made when the frame ended, since the device began.
    pub steps: u64,
    /// How far the vertex that moved most relative to its base went in any of its steps, world units.
    pub farthest: f32,
    /// Whether all numbers were finite.
    pub finite: bool,
    /// The time the device worked on it, ms; 0 where it can't tell.
    pub work_ms: DeviceTimes,
    /// The time the processor took to set it up, ms: uploads, encoding, submission; neither finding contacts nor waiting.
    pub host_ms: f64,
}

/// Where the time of a frame went on the device, ms; 0 where it can't tell.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct DeviceTimes {
    /// Moving the base.
    pub anchors_ms: f64,
    /// Prediction, iterations and velocities.
    pub step_ms: f64,
    /// Of these: local steps, with the sums over elements.
    pub local_ms: f64,
    /// Of these: global steps.
    pub global_ms: f64,
    /// From the simulated mesh to the source vertices, and their normals.
    pub surface_ms: f64,
    /// All of it.
    pub total_ms: f64,
}

/// Numbers of a surface, to write to.
pub struct SurfaceMut<'a> {
    /// World positions of all source vertices.
    pub positions: &'a mut [Point],
    /// Their unit normals.
    pub normals: &'a mut [Vec3],
    /// World positions of the simulated vertices, if there are any.
    pub simulated: &'a mut [Point],
}

/// What brings the surface of one character to where it is drawn from.
///
/// # Contract
/// Surfaces are those of [`super::Actor`] up to rounding, and the same bits for the same calls.
pub trait SurfaceDevice: Send {
    /// Ends a frame: brings all source vertices to where these joints have them; over flesh, that is its state, taken on by so many
    /// seconds of its velocities. Waits only if the device is frames behind.
    ///
    /// # Errors
    /// [`DeviceError::Lost`].
    fn present(&mut self, world_from_joint: &[Affine], ahead_secs: f32) -> Result<(), DeviceError>;

    /// The next frame of which something has become known. Never waits.
    fn watched(&mut self) -> Option<DeviceFrameReport>;

    /// Reads back what was presented last. Waits.
    ///
    /// # Errors
    /// [`DeviceError::Lost`].
    fn fetch(&mut self, surface: SurfaceMut<'_>) -> Result<(), DeviceError>;
}

/// What simulates the flesh of one character, and carries its surface along.
///
/// # Contract
/// - Steps are those of [`crate::dynamics::Simulation`] up to rounding, and the same bits for the same calls.
/// - Nothing that is not finite is ever presented: the surface then stays the last good one until the next [`Device::set_state`].
pub trait Device: SurfaceDevice {
    /// Goes on from there.
    ///
    /// # Errors
    /// [`DeviceError::Lost`].
    fn set_state(&mut self, state: &State) -> Result<(), DeviceError>;

    /// Makes one step. Does not wait for it; while parts collide, it waits for the one before.
    ///
    /// # Errors
    /// [`DeviceError::Lost`], [`DeviceError::Crowded`].
    fn step(&mut self, step: DeviceStep<'_>) -> Result<(), DeviceError>;

    /// Where the flesh is now. Waits.
    ///
    /// # Errors
    /// [`DeviceError::Lost`].
    fn state(&mut self) -> Result<State, DeviceError>;

    /// The latest state that can be had without the device, for when it is lost: a few frames old.
    fn last_state(&mut self) -> Option<State>;

    /// Whether steps take contacts: otherwise the processor makes them while parts collide.
    fn takes_contacts(&self) -> bool {
        false
    }
}

/// A device that an actor can be given.
pub enum AnyDevice {
    /// Moves the skin of a method that follows the joints alone.
    Surface(Box<dyn SurfaceDevice>),
    /// Makes the steps of a simulation, and the surface over them.
    Flesh(Box<dyn Device>),
}

/// What [`OnDevice::fetch`] has read back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fetched {
    /// Positions and normals of the frame presented last.
    All,
    /// Positions alone: the device is gone, and the CPU computed them.
    Positions,
    /// Nothing: the device is gone or has presented nothing.
    Nothing,
}

/// The form of a bound method that a graphics device computes ([`super::Capability::Device`]).
pub trait OnDevice {
    /// Everything that a frame needs beside the pose and the simulated vertices.
    fn recipe(&self, subject: &Subject, groups: &NormalGroups) -> Recipe;

    /// Has another device compute the frames from now on, or the CPU again. The state goes along. A device of the wrong kind is
    /// dropped.
    fn set_device(&mut self, device: Option<AnyDevice>);

    /// Whether there is a device, whether it works now or not.
    fn has_device(&self) -> bool;

    /// Whether a device computes the frames now.
    fn is_active(&self) -> bool;

    /// Whether the last frame is on the device rather than in the output of [`super::Skinner::skin`].
    fn is_presented(&self) -> bool;

    /// Why the device was lost, if it was since the last call: the CPU has gone on without it.
    fn take_fault(&mut self) -> Option<DeviceError>;

    /// Reads back the frame presented last. Waits.
    fn fetch(&mut self, positions: &mut [Point], normals: &mut [Vec3]) -> Fetched;
}
