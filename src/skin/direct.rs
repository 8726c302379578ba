//! Methods that move the source vertices by the joints alone: here, or on another device.

use super::device::{SurfaceDevice, SurfaceMut};
use super::lbs::check_joints;
use super::{DeviceError, DeviceTimes, Frame, SkinError, Skinner};
use crate::math::{Affine, Point, Vec3};

/// A skinner of source vertices, and the device that does its work, if one does.
pub(super) struct Direct {
    skinner: Box<dyn Skinner>,
    device: Option<Box<dyn SurfaceDevice>>,
    fault: Option<DeviceError>,
    /// Joints of the skeleton.
    joints: usize,
    /// The joints of the last frame on a device: the processor can make it again.
    presented: Vec<Affine>,
    /// Whether the device has that frame, rather than one before it.
    there: bool,
    told: DeviceTimes,
}

impl Direct {
    pub fn new(skinner: Box<dyn Skinner>, joints: usize) -> Self {
        Self { skinner, device: None, fault: None, joints, presented: Vec::new(), there: false, told: DeviceTimes::default() }
    }

    /// Has another device move the vertices from now on, or the processor again.
    pub fn set_device(&mut self, device: Option<Box<dyn SurfaceDevice>>) {
        self.device = device;
        (self.there, self.told) = (false, DeviceTimes::default());
    }

    pub fn has_device(&self) -> bool {
        self.device.is_some()
    }

    /// Why the device was lost, if it was since the last call.
    pub fn take_fault(&mut self) -> Option<DeviceError> {
        self.fault.take()
    }

    /// Moves the vertices here.
    pub fn skin(&mut self, frame: &Frame<'_>, out: &mut [Point]) -> Result<(), SkinError> {
        self.skinner.skin(frame, out)
    }

    /// Moves the vertices on the device. Returns whether that did; if not, the processor has to.
    pub fn present(&mut self, frame: &Frame<'_>) -> Result<bool, SkinError> {
        let Some(device) = &mut self.device else { return Ok(false) };
        check_joints(self.joints, frame)?;
        if let Err(error) = device.present(frame.world_from_joint, 0.0) {
            self.lose(error);
            return Ok(false);
        }
        while let Some(watched) = device.watched() {
            self.told = watched.work_ms;
        }
        self.presented.clear();
        self.presented.extend_from_slice(frame.world_from_joint);
        self.there = true;
        Ok(true)
    }

    /// What the device spent on the latest frame that it has told of.
    pub fn told(&self) -> DeviceTimes {
        self.told
    }

    /// Reads back what was presented last. Returns whether that gave normals, too: where the device is gone, the processor places the
    /// vertices.
    pub fn fetch(&mut self, positions: &mut [Point], normals: &mut [Vec3]) -> bool {
        if let Some(device) = self.device.as_mut().filter(|_| self.there) {
            match device.fetch(SurfaceMut { positions, normals, simulated: &mut [] }) {
                Ok(()) => return true,
                Err(error) => self.lose(error),
            }
        }
        // These joints were checked when they were presented.
        let _ = self.skinner.skin(&Frame { world_from_joint: &self.presented, dt_secs: 0.0 }, positions);
        false
    }

    pub fn reset(&mut self) {
        self.skinner.reset();
    }

    fn lose(&mut self, error: DeviceError) {
        log::warn!("{error}; the processor goes on");
        self.set_device(None);
        self.fault = Some(error);
    }
}
