//! Common parts of `bench` and `render` with crowds.

use super::options::Options;
use super::{Failure, stderr};
use crate::dynamics::Collisions;
use crate::gpu::GpuContext;
use crate::methods::{Capability, MethodId, Subject};
use crate::session::DeviceChoice;

/// The device for crowds.
pub(super) fn device(options: &Options) -> Result<GpuContext, Failure> {
    if options.device == Some(DeviceChoice::Cpu) {
        return Err(Failure::Usage(
            "a crowd is made on the graphics device: leave out --device cpu".to_owned(),
        ));
    }
    stderr::without_wayland_errors(GpuContext::headless)
        .map_err(|error| Failure::Undone(format!("--crowd: {error}")))
}

/// Crowds have no collisions: report it if they were requested.
pub(super) fn note_collisions(subject: &Subject, method: MethodId, options: &Options) {
    if method.has(Capability::Contacts)
        && !options.quiet
        && options.params_for(subject).collisions != Collisions::Off
    {
        stderr::line("note: in a crowd nothing collides");
    }
}
