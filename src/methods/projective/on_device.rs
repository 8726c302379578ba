//! Time steps on another device, such as the GPU.
//!
//! The simulation state is either on the CPU, in `Projective::simulation`, or on the device. It is uploaded with the
//! first step or output after the CPU has set it, and read back only when the device is removed. No frame waits for a
//! read-back.

use super::poses::compose;
use super::{Projective, STEPS_TO_SLEEP};
use crate::math::{Affine, Point, Vec3};
use crate::methods::device::{Colliding, DeviceStep, StepCollision};
use crate::methods::{Device, DeviceError, SurfaceMut};

/// A device, and what the CPU knows of the state on it.
pub(super) struct DeviceLink {
    device: Box<dyn Device>,
    /// Whether the current state is on the device.
    has_state: bool,
    /// Steps submitted since the device was set.
    steps: u64,
    /// Value of `steps` at the last upload; reports of earlier steps are ignored.
    steps_at_upload: u64,
    /// Value of `steps` at the last step in which bones moved.
    last_moved_step: u64,
    /// Steps that the device has reported as done.
    steps_reported: u64,
    /// Bone transforms of the last step.
    bones: Vec<Affine>,
    /// Extrapolation time of the output computed since the last step, s; `None` if there is no output of that step.
    presented_ahead_secs: Option<f32>,
    /// Joint transforms of that output.
    presented_joints: Vec<Affine>,
}

impl DeviceLink {
    fn new(device: Box<dyn Device>) -> Self {
        Self {
            device,
            has_state: false,
            steps: 0,
            steps_at_upload: 0,
            last_moved_step: 0,
            steps_reported: 0,
            bones: Vec::new(),
            presented_ahead_secs: None,
            presented_joints: Vec::new(),
        }
    }

    /// Stores the bone transforms; returns whether one of them changed by more than the tolerance since the last step.
    fn update_bones(&mut self, bones: &[Affine], tolerance: f64) -> bool {
        let same = |(a, b): (&Affine, &Affine)| (a.matrix() - b.matrix()).amax() <= tolerance;
        let still = self.bones.len() == bones.len() && self.bones.iter().zip(bones).all(same);
        if !still {
            self.bones.clear();
            self.bones.extend_from_slice(bones);
        }
        !still
    }
}

impl Projective {
    /// Makes the steps on this device from now on, or on the CPU if `None`. The state is kept.
    pub(in crate::methods) fn set_device(&mut self, device: Option<Box<dyn Device>>) {
        self.keep_on_cpu();
        self.device_link = device.map(DeviceLink::new);
    }

    /// Whether the device makes the steps. It does not while self-contact is on and the device does not support
    /// contacts.
    #[must_use]
    pub fn is_on_device(&self) -> bool {
        let able = |device_link: &DeviceLink| {
            self.simulation.contacts().is_none()
                || device_link.device.takes_contacts()
                || self.does_device_find_contacts()
        };
        self.device_link.as_ref().is_some_and(able)
    }

    /// Whether there are contacts, and the device finds them.
    pub(super) fn does_device_find_contacts(&self) -> bool {
        let finds = |device_link: &DeviceLink| device_link.device.finds_contacts();
        self.simulation
            .contacts()
            .is_some_and(crate::dynamics::Contacts::are_global)
            && self.device_link.as_ref().is_some_and(finds)
    }

    /// Whether a device is set, even if it cannot make steps at present.
    pub(in crate::methods) fn has_device(&self) -> bool {
        self.device_link.is_some()
    }

    /// The error for which the device was removed, if that happened since the last call.
    pub(in crate::methods) fn take_fault(&mut self) -> Option<DeviceError> {
        self.fault.take()
    }

    /// Reads the state back and removes the device.
    pub(super) fn keep_on_cpu(&mut self) {
        self.sync_from_device();
        self.device_link = None;
    }

    /// Reads the state back; the device is kept.
    pub(super) fn sync_from_device(&mut self) {
        let Some(device_link) = self
            .device_link
            .as_mut()
            .filter(|device_link| device_link.has_state)
        else {
            return;
        };
        device_link.has_state = false;
        let device = &mut device_link.device;
        match device
            .state()
            .and_then(|state| Ok((state, device.contacts()?)))
        {
            Ok((state, found)) => {
                self.simulation.set_state(&state);
                if let Some(contacts) = self.simulation.contacts_mut() {
                    contacts.set_contacts(&found);
                }
            }
            Err(error) => {
                device_link.has_state = true;
                self.fall_back_to_cpu(error);
            }
        }
    }

    /// Discards the state on the device: the CPU is about to set a new one.
    pub(super) fn discard_device_state(&mut self) {
        if let Some(device_link) = &mut self.device_link {
            device_link.has_state = false;
        }
    }

    /// Removes the device after an error. Continues from its last known finite state, or else settles anew in the pose.
    pub(super) fn fall_back_to_cpu(&mut self, error: DeviceError) {
        log::warn!("{error}; the processor goes on");
        self.fault = Some(error);
        let Some(mut device_link) = self.device_link.take() else {
            return;
        };
        self.still_steps = 0;
        if device_link.has_state {
            match device_link
                .device
                .last_state()
                .filter(|state| state.position.iter().all(|p| (p.x + p.y + p.z).is_finite()))
            {
                Some(state) => self.simulation.set_state(&state),
                None => self.started = false,
            }
        }
        compose(
            &self.subject.character.skeleton,
            &self.base_pose,
            &mut self.world,
        );
        self.flesh
            .tissue
            .anchors
            .place(&self.world, &mut self.frame, &mut self.base);
        if let Some(contacts) = self.simulation.contacts_mut() {
            contacts.move_foot_points(self.frame.bones());
            contacts.separate_base(&mut self.base);
        }
    }

    /// Uploads the state if it is not on the device. `is_placed`: whether the current bones are those of the state, rather than of the next
    /// step.
    fn upload_state(&mut self, is_placed: bool) -> Result<(), DeviceError> {
        let Some(device_link) = self
            .device_link
            .as_mut()
            .filter(|device_link| !device_link.has_state)
        else {
            return Ok(());
        };
        device_link.device.set_state(&self.simulation.state())?;
        if let Some(contacts) = self.simulation.contacts() {
            let device = &mut device_link.device;
            device.set_contacts(contacts.contacts(), contacts.searches());
        }
        (device_link.has_state, device_link.presented_ahead_secs) = (true, None);
        (device_link.steps_at_upload, device_link.last_moved_step) =
            (device_link.steps, device_link.steps);
        device_link.bones.clear();
        if is_placed {
            device_link.bones.extend_from_slice(self.frame.bones());
        }
        Ok(())
    }

    /// Makes one step with the current bones on the device; skipped if the flesh is asleep and the bones have not
    /// moved.
    pub(super) fn step_on_device(&mut self, tolerance: f32) -> Result<(), DeviceError> {
        self.upload_state(false)?;
        let finds = self.does_device_find_contacts();
        let Self {
            device_link: Some(device_link),
            simulation,
            frame,
            base,
            still_steps,
            times,
            ..
        } = self
        else {
            return Ok(());
        };
        let moved = device_link.update_bones(frame.bones(), f64::from(tolerance));
        if !moved && *still_steps >= STEPS_TO_SLEEP {
            return Ok(());
        }
        let start = std::time::Instant::now();
        let collision = if finds {
            StepCollision::Own
        } else if simulation.contacts().is_some() {
            StepCollision::Given(Colliding {
                base,
                finder: simulation,
            })
        } else {
            StepCollision::Off
        };
        device_link.device.step(DeviceStep { frame, collision })?;
        device_link.steps += 1;
        device_link.presented_ahead_secs = None;
        if moved {
            (*still_steps, device_link.last_moved_step) = (0, device_link.steps);
        }
        times.step_ms += start.elapsed().as_secs_f64() * 1e3;
        times.iterations += simulation.params().iterations;
        Ok(())
    }

    /// Reads the device's reports of finished steps. Returns whether all of them are finite.
    pub(super) fn poll(&mut self) -> bool {
        let tolerance = super::SLEEP_TOLERANCE * self.subject.size;
        let Some(device_link) = &mut self.device_link else {
            return true;
        };
        let (mut sound, mut is_crowded) = (true, false);
        while let Some(watched) = device_link.device.watched() {
            let before = std::mem::replace(&mut device_link.steps_reported, watched.steps);
            (self.times.device, self.times.host_ms) = (watched.work_ms, watched.host_ms);
            if watched.steps <= device_link.steps_at_upload {
                continue;
            }
            sound &= watched.finite;
            if let (Some(found), Some(contacts)) =
                (watched.contacts, self.simulation.contacts_mut())
            {
                contacts.report_step(found.pressing, found.watched, found.deepest);
                is_crowded |= found.crowded;
            }
            if before >= device_link.last_moved_step && watched.steps > before {
                let steps = (watched.steps - before) as u32;
                self.still_steps = if watched.farthest > tolerance {
                    0
                } else {
                    self.still_steps.saturating_add(steps)
                };
            }
        }
        if sound && is_crowded {
            // The device solved for a part of the contacts only.
            self.keep_on_cpu();
            self.fault.get_or_insert(DeviceError::Crowded);
        }
        sound
    }

    /// Computes the output of the frame on the device. Returns whether that succeeded; if not, the CPU has the state.
    pub(in crate::methods) fn present(&mut self, world_from_joint: &[Affine]) -> bool {
        if !self.is_on_device() {
            return false;
        }
        let ahead = self.ahead_secs();
        match self
            .upload_state(true)
            .and_then(|()| self.present_on_device(world_from_joint, ahead))
        {
            Ok(()) => true,
            Err(error) => {
                self.fall_back_to_cpu(error);
                // If settling fails, the next frame reports it.
                self.started = self.started || self.settle(world_from_joint).is_ok();
                false
            }
        }
    }

    fn present_on_device(
        &mut self,
        world_from_joint: &[Affine],
        ahead: f32,
    ) -> Result<(), DeviceError> {
        let Some(device_link) = &mut self.device_link else {
            return Ok(());
        };
        if device_link.presented_ahead_secs == Some(ahead)
            && device_link.presented_joints == world_from_joint
        {
            return Ok(());
        }
        device_link.device.present(world_from_joint, ahead)?;
        device_link.presented_ahead_secs = Some(ahead);
        device_link.presented_joints.clear();
        device_link
            .presented_joints
            .extend_from_slice(world_from_joint);
        Ok(())
    }

    /// Reads the last output back, with the contacts if the device finds them. Returns whether that succeeded; if not, the CPU has the
    /// state.
    pub(in crate::methods) fn fetch(
        &mut self,
        positions: &mut [Point],
        normals: &mut [Vec3],
        simulated: &mut [Point],
    ) -> bool {
        let finds = self.does_device_find_contacts();
        // A newly set device has no output yet.
        let Some(device_link) = self
            .device_link
            .as_mut()
            .filter(|device_link| device_link.presented_ahead_secs.is_some())
        else {
            return false;
        };
        let surface = SurfaceMut {
            positions,
            normals,
            simulated,
        };
        let fetched = device_link.device.fetch(surface).and_then(|()| {
            let contacts = finds.then(|| device_link.device.contacts());
            contacts.transpose()
        });
        match fetched {
            Ok(found) => {
                self.last_good.copy_from_slice(simulated);
                if let (Some(found), Some(contacts)) = (found, self.simulation.contacts_mut()) {
                    contacts.set_contacts(&found);
                }
                true
            }
            Err(error) => {
                self.fall_back_to_cpu(error);
                false
            }
        }
    }
}
