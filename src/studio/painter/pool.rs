//! Characters and their states on the device, shared by all views.

use std::sync::Arc;

use crate::character::Character;
use crate::math::{Point, Vec3};
use crate::mesh::Bounds;
use crate::methods::{MethodId, Subject};
use crate::render::{MeshFrame, MeshModel, MeshStyle, Renderer};
use crate::studio::{CrowdFrame, GhostSkins, Snapshot};

/// Number of passes for which unused resources are kept.
pub(super) const KEPT_PASSES: u64 = 120;

/// Identifies a state.
///
/// Buffers of snapshots are reused: the address identifies the state only together with the
/// sequence number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct StateKey {
    address: *const (),
    sequence: u64,
    /// Index among several skins at that address.
    part: usize,
    method: Option<MethodId>,
    character: *const Character,
}

impl StateKey {
    pub(super) fn of(snapshot: &Arc<Snapshot>) -> Self {
        Self::new(
            Arc::as_ptr(snapshot).cast(),
            snapshot.sequence,
            snapshot.method,
            &snapshot.subject,
        )
    }

    /// A frame of a crowd.
    pub(super) fn of_crowd(crowd: &Arc<CrowdFrame>) -> Self {
        Self::new(
            Arc::as_ptr(crowd).cast(),
            crowd.sequence,
            crowd.method,
            &crowd.subject,
        )
    }

    fn new(address: *const (), sequence: u64, method: MethodId, subject: &Subject) -> Self {
        Self {
            address,
            sequence,
            part: 0,
            method: Some(method),
            character: Arc::as_ptr(&subject.character),
        }
    }

    /// The first of the onion skins.
    pub(super) fn of_ghosts(ghosts: &Arc<GhostSkins>) -> Self {
        Self {
            address: Arc::as_ptr(ghosts).cast(),
            sequence: ghosts.sequence,
            part: 0,
            method: None,
            character: Arc::as_ptr(&ghosts.subject.character),
        }
    }
}

/// Results computed on the device.
struct DeviceArrays<'a> {
    /// Positions and normals.
    buffers: [&'a wgpu::Buffer; 2],
    instances: u32,
    bounds: Bounds,
}

struct StateSlot {
    state: StateKey,
    frame: MeshFrame,
    used: u64,
    /// Positions, if computed on the device.
    made_in: Option<wgpu::Buffer>,
}

/// Models by character, and states by snapshot.
#[derive(Default)]
pub(super) struct Pool {
    /// The character is kept alive so that its address is not reused.
    models: Vec<(Arc<Character>, Arc<MeshModel>, u64)>,
    slots: Vec<StateSlot>,
    /// Number of states uploaded so far.
    writes: u64,
}

impl Pool {
    /// The model of a character.
    pub(super) fn model(
        &mut self,
        renderer: &Renderer,
        character: &Arc<Character>,
        pass: u64,
    ) -> Arc<MeshModel> {
        if let Some((_, model, used)) = self
            .models
            .iter_mut()
            .find(|(mine, ..)| Arc::ptr_eq(mine, character))
        {
            *used = pass;
            return model.clone();
        }
        let model = MeshModel::of_character(renderer, character);
        self.models.push((character.clone(), model.clone(), pass));
        model
    }

    /// The state of a snapshot, uploaded if necessary. Results that are already on the device are
    /// used directly.
    pub(super) fn state(
        &mut self,
        renderer: &Renderer,
        snapshot: &Arc<Snapshot>,
        pass: u64,
    ) -> usize {
        let character = &snapshot.subject.character;
        match snapshot
            .on_device()
            .filter(|skin| skin.gpu().is_same(renderer.gpu()))
        {
            Some(skin) => {
                let made = DeviceArrays {
                    buffers: [skin.positions(), skin.normals()],
                    instances: 1,
                    bounds: skin.bounds(),
                };
                self.made(renderer, StateKey::of(snapshot), character, &made, pass)
            }
            None => self.shape(
                renderer,
                StateKey::of(snapshot),
                character,
                (snapshot.positions(), snapshot.normals()),
                pass,
            ),
        }
    }

    /// The state of a crowd, if its results are on the drawing device, where they are used
    /// directly.
    pub(super) fn crowd(
        &mut self,
        renderer: &Renderer,
        crowd: &Arc<CrowdFrame>,
        pass: u64,
    ) -> Option<usize> {
        let skin = Some(&crowd.skin).filter(|skin| skin.gpu().is_same(renderer.gpu()))?;
        let made = DeviceArrays {
            buffers: [skin.positions(), skin.normals()],
            instances: skin.instances(),
            bounds: skin.bounds(),
        };
        Some(self.made(
            renderer,
            StateKey::of_crowd(crowd),
            &crowd.subject.character,
            &made,
            pass,
        ))
    }

    fn made(
        &mut self,
        renderer: &Renderer,
        state: StateKey,
        character: &Arc<Character>,
        made: &DeviceArrays<'_>,
        pass: u64,
    ) -> usize {
        let model = self.model(renderer, character, pass);
        let [positions, normals] = made.buffers;
        let is_here = |slot: &StateSlot| {
            slot.made_in.as_ref() == Some(positions) && Arc::ptr_eq(slot.frame.model(), &model)
        };
        let index = self.slots.iter().position(is_here).unwrap_or_else(|| {
            let frame =
                MeshFrame::on_device(renderer, &model, positions, normals, 0..made.instances);
            self.slots.push(StateSlot {
                state,
                frame,
                used: pass,
                made_in: Some(positions.clone()),
            });
            self.slots.len() - 1
        });
        let slot = &mut self.slots[index];
        slot.frame.set_bounds(made.bounds);
        (slot.state, slot.used) = (state, pass);
        index
    }

    /// The states of ghosts, as [`Pool::state`], with their styles.
    pub(super) fn ghosts(
        &mut self,
        renderer: &Renderer,
        ghosts: &Arc<GhostSkins>,
        pass: u64,
    ) -> Vec<(usize, MeshStyle)> {
        let mut placed = Vec::with_capacity(ghosts.skins.len());
        for (part, skin) in ghosts.skins.iter().enumerate() {
            let key = StateKey {
                part,
                ..StateKey::of_ghosts(ghosts)
            };
            let index = self.shape(
                renderer,
                key,
                &ghosts.subject.character,
                (&skin.positions, &skin.normals),
                pass,
            );
            placed.push((index, MeshStyle::ghost(skin.offset_secs)));
        }
        placed
    }

    fn shape(
        &mut self,
        renderer: &Renderer,
        state: StateKey,
        character: &Arc<Character>,
        (positions, normals): (&[Point], &[Vec3]),
        pass: u64,
    ) -> usize {
        if let Some(index) = self.slots.iter().position(|slot| slot.state == state) {
            self.slots[index].used = pass;
            return index;
        }
        let model = self.model(renderer, character, pass);
        // Overwrites a state of the same character that was not used in this pass.
        let free = self.slots.iter().position(|slot| {
            slot.used < pass && slot.made_in.is_none() && Arc::ptr_eq(slot.frame.model(), &model)
        });
        let index = free.unwrap_or_else(|| {
            self.slots.push(StateSlot {
                state,
                frame: MeshFrame::new(renderer, &model),
                used: pass,
                made_in: None,
            });
            self.slots.len() - 1
        });
        let slot = &mut self.slots[index];
        slot.frame.update(renderer.gpu(), positions, normals);
        (slot.state, slot.used) = (state, pass);
        self.writes += 1;
        index
    }

    /// The state in a slot; valid until the next pass.
    pub(super) fn frame(&self, index: usize) -> &MeshFrame {
        &self.slots[index].frame
    }

    /// Drops resources that have not been used recently.
    pub(super) fn prune(&mut self, pass: u64) {
        self.slots.retain(|slot| slot.used + KEPT_PASSES >= pass);
        let Self { models, slots, .. } = self;
        models.retain(|(_, model, used)| {
            *used + KEPT_PASSES >= pass
                || slots
                    .iter()
                    .any(|slot| Arc::ptr_eq(slot.frame.model(), model))
        });
    }

    /// Marks a state as used by a view that is not redrawn.
    pub(super) fn keep(&mut self, state: StateKey, pass: u64) {
        if let Some(slot) = self.slots.iter_mut().find(|slot| slot.state == state) {
            slot.used = pass;
        }
    }

    /// Number of states uploaded so far.
    #[cfg(test)]
    pub(super) fn writes(&self) -> u64 {
        self.writes
    }
}
