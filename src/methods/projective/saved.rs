//! The state of a simulation, saved and restored.

use super::Projective;
use super::guided::{Guided, SavedGuide};
use super::poses::compose;
use crate::dynamics::{State, Target, VirtualBones};
use crate::math::Point;
use crate::methods::StateError;
use crate::rig::Trs;
use crate::tissue::BaseFrame;

/// Everything that the next frame depends on beside parameters: tissue, virtual bones, poses and the time not yet simulated.
#[derive(Clone)]
pub(super) struct Saved {
    state: State,
    virtual_bones: Option<VirtualBones>,
    frame: BaseFrame,
    base: Vec<Point>,
    at: Vec<Trs>,
    from: Vec<Trs>,
    to: Vec<Trs>,
    pending_secs: f64,
    started: bool,
    still_steps: u32,
    targets: Vec<Target>,
    guided: Option<SavedGuide>,
}

impl Projective {
    /// A copy of the state. One on a device is read back; contacts are found anew with the next step and are no part of it.
    pub(super) fn save(&mut self) -> Saved {
        self.sync_from_device();
        Saved {
            state: self.simulation.state(),
            virtual_bones: self.virtual_bones.clone(),
            frame: self.frame.clone(),
            base: self.base.clone(),
            at: self.at.clone(),
            from: self.from.clone(),
            to: self.to.clone(),
            pending_secs: self.pending_secs,
            started: self.started,
            still_steps: self.still_steps,
            targets: self.simulation.targets().to_vec(),
            guided: self.guided.as_ref().map(Guided::save),
        }
    }

    /// Goes on from a saved state; a device is given it with its next step.
    ///
    /// # Errors
    /// [`StateError::OtherCharacter`] if it is of another mesh or skeleton.
    pub(super) fn restore(&mut self, saved: &Saved) -> Result<(), StateError> {
        let fits = saved.state.position.len() == self.simulation.positions().len()
            && saved.base.len() == self.base.len()
            && saved.at.len() == self.at.len()
            && saved.targets.len() == self.simulation.targets().len()
            && saved.virtual_bones.is_some() == self.virtual_bones.is_some();
        if !fits {
            return Err(StateError::OtherCharacter);
        }
        self.discard_device_state();
        self.simulation
            .set_next_targets(|vertex| saved.targets[vertex]);
        self.simulation.set_state(&saved.state);
        if let (Some(guided), Some(saved)) = (&mut self.guided, &saved.guided) {
            guided.restore(saved);
        }
        self.virtual_bones.clone_from(&saved.virtual_bones);
        // They were saved with the parameters of that time.
        self.tell_virtual_bones();
        self.frame.clone_from(&saved.frame);
        self.base.clone_from(&saved.base);
        self.at.clone_from(&saved.at);
        self.from.clone_from(&saved.from);
        self.to.clone_from(&saved.to);
        compose(&self.subject.character.skeleton, &self.at, &mut self.world);
        (self.pending_secs, self.started) = (saved.pending_secs, saved.started);
        self.still_steps = saved.still_steps;
        self.good.clone_from(&saved.state.position);
        if let Some(contacts) = self.simulation.contacts_mut()
            && !self.frame.bones().is_empty()
        {
            contacts.move_foot_points(self.frame.bones());
        }
        Ok(())
    }
}
