//! Methods that blend joint transforms per source vertex, on the CPU or on another device.

use super::blend_normals::{ByEdges, Differentiable, WithNormals};
use super::device::{AnyDevice, Fetched, OnDevice, SurfaceDevice, SurfaceMut};
use super::{
    BindError, DeviceError, DeviceTimes, Frame, MorphOffsets, Recipe, SkinError, Skinner,
    StepTimes, Subject, Term,
};
use crate::math::{Affine, Point, Vec3};
use crate::mesh::NormalGroups;
use crate::param::ParamValues;

/// A skinner without a state whose frames a device can compute.
pub(super) trait HasRecipe: Skinner {
    /// Builds the tables that a device blends with.
    fn recipe(&self, subject: &Subject, groups: &NormalGroups) -> Recipe;

    /// A number that changes with the tables: a device with the old ones is of no use then.
    fn revision(&self) -> u64 {
        0
    }
}

impl<S: Differentiable + HasRecipe> HasRecipe for WithNormals<S> {
    fn recipe(&self, subject: &Subject, groups: &NormalGroups) -> Recipe {
        let mut recipe = self.skinner().recipe(subject, groups);
        self.choose_in(&mut recipe);
        recipe
    }

    fn revision(&self) -> u64 {
        // The choice of normals is a digit of base 3.
        self.skinner().revision() * 3 + self.normals() as u64
    }
}

impl<S: HasRecipe> HasRecipe for ByEdges<S> {
    fn recipe(&self, subject: &Subject, groups: &NormalGroups) -> Recipe {
        self.skinner().recipe(subject, groups)
    }

    fn revision(&self) -> u64 {
        self.skinner().revision()
    }
}

/// A skinner without a state, and the device that computes its frames, if there is one.
pub(super) struct Direct<S> {
    skinner: S,
    device: Option<Box<dyn SurfaceDevice>>,
    fault: Option<DeviceError>,
    /// Joints of the device's last frame, so that the CPU can compute it again.
    presented: Vec<Affine>,
    /// Whether the device's frame is the last one.
    there: bool,
    /// Whether the last frame is the device's.
    is_presented: bool,
    /// Whether morphs displace the bind pose: the device has it without them.
    is_displaced: bool,
    last_times: (DeviceTimes, f64),
    step_ms: f64,
}

impl<S: HasRecipe> Direct<S> {
    pub fn new(skinner: S) -> Self {
        Self {
            skinner,
            device: None,
            fault: None,
            presented: Vec::new(),
            there: false,
            is_presented: false,
            is_displaced: false,
            last_times: (DeviceTimes::default(), 0.0),
            step_ms: 0.0,
        }
    }

    fn set_surface(&mut self, device: Option<Box<dyn SurfaceDevice>>) {
        self.device = device;
        (self.there, self.last_times) = (false, (DeviceTimes::default(), 0.0));
    }

    /// Computes a frame on the device. Returns whether it did; otherwise the CPU must.
    fn present(&mut self, frame: &Frame<'_>) -> bool {
        let Some(device) = self.device.as_mut().filter(|_| !self.is_displaced) else {
            return false;
        };
        if let Err(error) = device.present(frame.world_from_joint, 0.0) {
            self.note_loss(error);
            return false;
        }
        while let Some(watched) = device.watched() {
            self.last_times = (watched.work_ms, watched.host_ms);
        }
        self.presented.clear();
        self.presented.extend_from_slice(frame.world_from_joint);
        self.there = true;
        true
    }

    fn note_loss(&mut self, error: DeviceError) {
        log::warn!("{error}; the processor goes on");
        self.set_surface(None);
        self.fault = Some(error);
    }
}

impl<S: HasRecipe> Skinner for Direct<S> {
    fn skin(&mut self, frame: &Frame<'_>, out: &mut [Point]) -> Result<(), SkinError> {
        let start = std::time::Instant::now();
        self.is_presented = self.present(frame);
        if !self.is_presented {
            self.skinner.skin(frame, out)?;
        }
        self.step_ms = start.elapsed().as_secs_f64() * 1e3;
        Ok(())
    }

    fn set_values(&mut self, values: &ParamValues) -> Result<(), BindError> {
        let before = self.skinner.revision();
        let set = self.skinner.set_values(values);
        if self.skinner.revision() != before {
            self.set_surface(None);
        }
        set
    }

    fn normals_into(&self, normals: &mut [Vec3]) {
        self.skinner.normals_into(normals);
    }

    fn displace(&mut self, offsets: Option<&MorphOffsets>) -> bool {
        self.is_displaced = offsets.is_some();
        self.skinner.displace(offsets)
    }

    fn explain(&self, vertex: usize) -> Vec<Term> {
        // A device's frame is not here.
        if self.is_presented {
            return Vec::new();
        }
        self.skinner.explain(vertex)
    }

    fn has_all_normals(&self) -> bool {
        self.skinner.has_all_normals()
    }

    fn times(&self) -> Option<StepTimes> {
        let (device, host_ms) = self.last_times;
        Some(StepTimes {
            step_ms: self.step_ms,
            device,
            host_ms,
            ..StepTimes::default()
        })
    }

    fn on_device(&self) -> Option<&dyn OnDevice> {
        Some(self)
    }

    fn on_device_mut(&mut self) -> Option<&mut dyn OnDevice> {
        Some(self)
    }
}

impl<S: HasRecipe> OnDevice for Direct<S> {
    fn recipe(&self, subject: &Subject, groups: &NormalGroups) -> Recipe {
        self.skinner.recipe(subject, groups)
    }

    fn set_device(&mut self, device: Option<AnyDevice>) {
        match device {
            Some(AnyDevice::Surface(device)) => self.set_surface(Some(device)),
            Some(AnyDevice::Flesh(_)) => {}
            None => self.set_surface(None),
        }
    }

    fn has_device(&self) -> bool {
        self.device.is_some()
    }

    fn is_active(&self) -> bool {
        self.device.is_some()
    }

    fn is_presented(&self) -> bool {
        self.is_presented
    }

    fn take_fault(&mut self) -> Option<DeviceError> {
        self.fault.take()
    }

    fn fetch(&mut self, positions: &mut [Point], normals: &mut [Vec3]) -> Fetched {
        if let Some(device) = self.device.as_mut().filter(|_| self.there) {
            match device.fetch(SurfaceMut {
                positions,
                normals,
                simulated: &mut [],
            }) {
                Ok(()) => return Fetched::All,
                Err(error) => self.note_loss(error),
            }
        }
        let again = Frame {
            world_from_joint: &self.presented,
            dt_secs: 0.0,
        };
        match self.skinner.skin(&again, positions) {
            Ok(()) => Fetched::Positions,
            Err(_) => Fetched::Nothing,
        }
    }
}
