//! Saving and restoring the state of a simulation.

use super::Projective;
use super::fading::Fading;
use super::guided_base::{GuidedBase, SavedGuide, heap_bytes_of_guide};
use super::poses::compose;
use crate::dynamics::{Contacts, SavedContacts, State, Target, VirtualBones};
use crate::math::Point;
use crate::methods::StateError;
use crate::rig::Trs;
use crate::tissue::BaseFrame;

/// All state that the next frame depends on, except for parameters: tissue, contacts, virtual bones, poses and the time not yet
/// simulated.
#[derive(Clone)]
pub(super) struct SavedState {
    state: State,
    virtual_bones: Option<VirtualBones>,
    frame: BaseFrame,
    base: Vec<Point>,
    base_pose: Vec<Trs>,
    last_pose: Vec<Trs>,
    target_pose: Vec<Trs>,
    pub(super) pending_secs: f64,
    started: bool,
    still_steps: u32,
    calm_steps: u32,
    seated: bool,
    fading: Option<Fading>,
    contacts: Option<SavedContacts>,
    targets: Vec<Target>,
    guided: Option<SavedGuide>,
}

impl SavedState {
    /// Approximate memory of its vectors.
    pub(super) fn heap_bytes(&self) -> usize {
        let bones = self.virtual_bones.as_ref();
        let fading = self.fading.as_ref();
        let guided = self.guided.as_ref();
        self.state.heap_bytes()
            + bones.map_or(0, VirtualBones::heap_bytes)
            + self.frame.heap_bytes()
            + size_of_val(&*self.base)
            + 3 * size_of_val(&*self.base_pose)
            + fading.map_or(0, Fading::heap_bytes)
            + self.contacts.as_ref().map_or(0, SavedContacts::heap_bytes)
            + size_of_val(&*self.targets)
            + guided.map_or(0, heap_bytes_of_guide)
    }
}

impl Projective {
    /// A copy of the state, read back from the device if it is there. Of flesh whose equilibrium is being computed, it is the state
    /// before that.
    pub(super) fn save(&mut self) -> SavedState {
        if let Some(held) = self.held_state() {
            return held;
        }
        self.sync_from_device();
        SavedState {
            state: self.simulation.state(),
            virtual_bones: self.virtual_bones.clone(),
            frame: self.frame.clone(),
            base: self.base.clone(),
            base_pose: self.base_pose.clone(),
            last_pose: self.last_pose.clone(),
            target_pose: self.target_pose.clone(),
            pending_secs: self.pending_secs,
            started: self.started,
            still_steps: self.still_steps,
            calm_steps: self.calm_steps,
            seated: self.seated,
            fading: self.fading.clone(),
            contacts: self.simulation.contacts().map(Contacts::save),
            targets: self.simulation.targets().to_vec(),
            guided: self.guided.as_ref().map(GuidedBase::save),
        }
    }

    /// Continues from a saved state; a device gets it with its next step.
    ///
    /// # Errors
    /// [`StateError::OtherCharacter`] if it is of another mesh or skeleton.
    pub(super) fn restore(&mut self, saved: &SavedState) -> Result<(), StateError> {
        let fits = saved.state.position.len() == self.simulation.positions().len()
            && saved.base.len() == self.base.len()
            && saved.base_pose.len() == self.base_pose.len()
            && saved.targets.len() == self.simulation.targets().len()
            && saved.virtual_bones.is_some() == self.virtual_bones.is_some();
        if !fits {
            return Err(StateError::OtherCharacter);
        }
        self.reseat = None;
        self.discard_device_state();
        self.simulation
            .set_next_targets(|vertex| saved.targets[vertex]);
        self.simulation.set_state(&saved.state);
        if let (Some(guided), Some(saved)) = (&mut self.guided, &saved.guided) {
            guided.restore(saved);
        }
        self.virtual_bones.clone_from(&saved.virtual_bones);
        // The saved virtual bones contain the parameters of their time.
        self.update_virtual_bones();
        self.frame.clone_from(&saved.frame);
        self.base.clone_from(&saved.base);
        self.base_pose.clone_from(&saved.base_pose);
        self.last_pose.clone_from(&saved.last_pose);
        self.target_pose.clone_from(&saved.target_pose);
        compose(
            &self.subject.character.skeleton,
            &self.base_pose,
            &mut self.world,
        );
        (self.pending_secs, self.started) = (saved.pending_secs, saved.started);
        self.still_steps = saved.still_steps;
        (self.calm_steps, self.seated) = (saved.calm_steps, saved.seated);
        self.fading.clone_from(&saved.fading);
        self.last_good.clone_from(&saved.state.position);
        if let Some(contacts) = self.simulation.contacts_mut()
            && !self.frame.bones().is_empty()
        {
            contacts.move_foot_points(self.frame.bones());
        }
        if let (Some(contacts), Some(saved)) = (self.simulation.contacts_mut(), &saved.contacts) {
            contacts.restore(saved);
        }
        Ok(())
    }
}
