//! Steps that another device makes.
//!
//! The state is either here, in `Projective::simulation`, or there. It goes there with the first step or picture after the processor
//! placed it, and comes back only when the device is taken away: nothing of a frame waits for numbers.

use super::poses::compose;
use super::{Projective, STEPS_TO_SLEEP};
use crate::math::{Affine, Point, Vec3};
use crate::methods::device::{Colliding, DeviceStep};
use crate::methods::{Device, DeviceError, SurfaceMut};

/// A device with what is known of its state.
pub(super) struct Elsewhere {
    device: Box<dyn Device>,
    /// Whether the state is there.
    there: bool,
    /// Steps asked for since the device began.
    steps: u64,
    /// Steps asked for when the state was set last: what is heard of earlier ones is of no interest.
    placed: u64,
    /// The last step over bones that moved.
    disturbed: u64,
    /// Steps of the frames heard of.
    heard: u64,
    /// Bones at the last step.
    bones: Vec<Affine>,
    /// How far ahead of the last step is presented; nothing since that step.
    presented: Option<f32>,
    /// The joints that go with it.
    joints: Vec<Affine>,
}

impl Elsewhere {
    fn new(device: Box<dyn Device>) -> Self {
        Self {
            device,
            there: false,
            steps: 0,
            placed: 0,
            disturbed: 0,
            heard: 0,
            bones: Vec::new(),
            presented: None,
            joints: Vec::new(),
        }
    }

    /// Notes where the bones are; returns whether they moved by more than the tolerance since the last step.
    fn note_bones(&mut self, bones: &[Affine], tolerance: f64) -> bool {
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
    /// Has another device make the steps from now on, or the processor again. The state goes along.
    pub(in crate::methods) fn set_device(&mut self, device: Option<Box<dyn Device>>) {
        self.keep_on_cpu();
        self.elsewhere = device.map(Elsewhere::new);
    }

    /// Whether a device makes the steps. It doesn't while parts collide and it takes no contacts.
    #[must_use]
    pub fn is_on_device(&self) -> bool {
        let able = |elsewhere: &Elsewhere| {
            self.simulation.contacts().is_none() || elsewhere.device.takes_contacts()
        };
        self.elsewhere.as_ref().is_some_and(able)
    }

    /// Whether there is a device, whether it may make the steps now or not.
    pub(in crate::methods) fn has_device(&self) -> bool {
        self.elsewhere.is_some()
    }

    /// Why the device was lost, if it was since the last call.
    pub(in crate::methods) fn take_fault(&mut self) -> Option<DeviceError> {
        self.fault.take()
    }

    /// The processor has the state again, and the device is let go of.
    pub(super) fn keep_on_cpu(&mut self) {
        self.sync_from_device();
        self.elsewhere = None;
    }

    /// The processor has the state again; the device stays.
    pub(super) fn sync_from_device(&mut self) {
        let Some(elsewhere) = self.elsewhere.as_mut().filter(|elsewhere| elsewhere.there) else {
            return;
        };
        elsewhere.there = false;
        match elsewhere.device.state() {
            Ok(state) => self.simulation.set_state(&state),
            Err(error) => {
                elsewhere.there = true;
                self.lose_device(error);
            }
        }
    }

    /// What the device has is of no use any more: the processor places the flesh anew.
    pub(super) fn discard_device_state(&mut self) {
        if let Some(elsewhere) = &mut self.elsewhere {
            elsewhere.there = false;
        }
    }

    /// Goes on without the device, from the last state known of it, or else settled in the pose.
    pub(super) fn lose_device(&mut self, error: DeviceError) {
        log::warn!("{error}; the processor goes on");
        self.fault = Some(error);
        let Some(mut elsewhere) = self.elsewhere.take() else {
            return;
        };
        self.still_steps = 0;
        if elsewhere.there {
            match elsewhere
                .device
                .last_state()
                .filter(|state| state.position.iter().all(|p| (p.x + p.y + p.z).is_finite()))
            {
                Some(state) => self.simulation.set_state(&state),
                None => self.started = false,
            }
        }
        compose(&self.subject.character.skeleton, &self.at, &mut self.world);
        self.flesh
            .tissue
            .anchors
            .place(&self.world, &mut self.frame, &mut self.base);
        if let Some(contacts) = self.simulation.contacts_mut() {
            contacts.move_foot_points(self.frame.bones());
            contacts.separate_base(&mut self.base);
        }
    }

    /// Brings the state there, if it is here.
    fn load_device(&mut self) -> Result<(), DeviceError> {
        let Some(elsewhere) = self.elsewhere.as_mut().filter(|elsewhere| !elsewhere.there) else {
            return Ok(());
        };
        elsewhere.device.set_state(&self.simulation.state())?;
        (elsewhere.there, elsewhere.presented) = (true, None);
        (elsewhere.placed, elsewhere.disturbed) = (elsewhere.steps, elsewhere.steps);
        elsewhere.bones.clear();
        Ok(())
    }

    /// One step over the placed bones, unless everything sleeps and they have not moved.
    pub(super) fn step_there(&mut self, tolerance: f32) -> Result<(), DeviceError> {
        self.load_device()?;
        let Self {
            elsewhere: Some(elsewhere),
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
        let moved = elsewhere.note_bones(frame.bones(), f64::from(tolerance));
        if !moved && *still_steps >= STEPS_TO_SLEEP {
            return Ok(());
        }
        let start = std::time::Instant::now();
        let collides = simulation.contacts().is_some();
        let colliding = collides.then_some(Colliding {
            base,
            finder: simulation,
        });
        elsewhere.device.step(DeviceStep { frame, colliding })?;
        elsewhere.steps += 1;
        elsewhere.presented = None;
        if moved {
            (*still_steps, elsewhere.disturbed) = (0, elsewhere.steps);
        }
        times.step_ms += start.elapsed().as_secs_f64() * 1e3;
        times.iterations += simulation.params().iterations;
        Ok(())
    }

    /// Takes note of what has become of steps made there. Returns whether all of it is sound.
    pub(super) fn poll(&mut self) -> bool {
        let tolerance = super::ASLEEP * self.subject.size;
        let Some(elsewhere) = &mut self.elsewhere else {
            return true;
        };
        let mut sound = true;
        while let Some(watched) = elsewhere.device.watched() {
            let before = std::mem::replace(&mut elsewhere.heard, watched.steps);
            (self.times.device, self.times.host_ms) = (watched.work_ms, watched.host_ms);
            if watched.steps <= elsewhere.placed {
                continue;
            }
            sound &= watched.finite;
            if before >= elsewhere.disturbed && watched.steps > before {
                let steps = (watched.steps - before) as u32;
                self.still_steps = if watched.farthest > tolerance {
                    0
                } else {
                    self.still_steps.saturating_add(steps)
                };
            }
        }
        sound
    }

    /// Ends the frame on the device: what it draws is that of this frame. Returns whether it does; if not, the processor has the state.
    pub(in crate::methods) fn present(&mut self, world_from_joint: &[Affine]) -> bool {
        if !self.is_on_device() {
            return false;
        }
        let ahead = self.ahead_secs();
        match self
            .load_device()
            .and_then(|()| self.present_there(world_from_joint, ahead))
        {
            Ok(()) => true,
            Err(error) => {
                self.lose_device(error);
                // Of what can't be settled the next frame tells.
                self.started = self.started || self.settle(world_from_joint).is_ok();
                false
            }
        }
    }

    fn present_there(
        &mut self,
        world_from_joint: &[Affine],
        ahead: f32,
    ) -> Result<(), DeviceError> {
        let Some(elsewhere) = &mut self.elsewhere else {
            return Ok(());
        };
        if elsewhere.presented == Some(ahead) && elsewhere.joints == world_from_joint {
            return Ok(());
        }
        elsewhere.device.present(world_from_joint, ahead)?;
        elsewhere.presented = Some(ahead);
        elsewhere.joints.clear();
        elsewhere.joints.extend_from_slice(world_from_joint);
        Ok(())
    }

    /// Reads back what was presented last. Returns whether that was possible; if not, the processor has the state.
    pub(in crate::methods) fn fetch(
        &mut self,
        positions: &mut [Point],
        normals: &mut [Vec3],
        simulated: &mut [Point],
    ) -> bool {
        // A device that has only just come has shown nothing yet.
        let Some(elsewhere) = self
            .elsewhere
            .as_mut()
            .filter(|elsewhere| elsewhere.presented.is_some())
        else {
            return false;
        };
        let surface = SurfaceMut {
            positions,
            normals,
            simulated,
        };
        match elsewhere.device.fetch(surface) {
            Ok(()) => {
                self.good.copy_from_slice(simulated);
                true
            }
            Err(error) => {
                self.lose_device(error);
                false
            }
        }
    }
}
