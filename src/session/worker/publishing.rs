//! Publishes the thread's state as a snapshot.

use std::sync::Arc;

use super::lock;
use super::running::{WorkerThread, next_of};
use crate::dynamics::{ContactReport, Contacts};
use crate::math::Point;
use crate::methods::Actor;
use crate::studio::Snapshot;

/// Number of buffers: one in the cell, one presented, one with the reader, one being written.
const BUFFERS: usize = 4;

fn contacts_of(actor: &Actor) -> Option<&Contacts> {
    actor.projective()?.simulation().contacts()
}

fn contact_of(actor: &Actor) -> Option<ContactReport> {
    Some(contacts_of(actor)?.report())
}

impl WorkerThread {
    /// Largest movement of a vertex since a state. Results only on a device count as moving until the thread sleeps; a method without
    /// simulation moves only with its joints.
    fn movement_since(&self, latest: &Snapshot) -> f32 {
        if self.actor.is_on_device() {
            return if self.actor.is_at_rest() {
                0.0
            } else {
                f32::INFINITY
            };
        }
        let distance = |(a, b): (&Point, &Point)| (a - b).norm_squared();
        latest
            .positions()
            .iter()
            .zip(self.actor.positions())
            .map(distance)
            .fold(0.0_f32, f32::max)
            .sqrt()
    }

    /// Puts the actor's state into the cell; returns the largest movement of a vertex since the last one, `dt` earlier.
    pub(super) fn publish(&mut self, dt_secs: f64) -> f32 {
        let latest = lock(&self.shared.latest).clone();
        let movement = self.movement_since(&latest);
        let free = self
            .buffers
            .iter()
            .position(|buffer| !Arc::ptr_eq(buffer, &latest) && Arc::strong_count(buffer) == 1);
        let slot = free.unwrap_or_else(|| {
            if self.buffers.len() >= BUFFERS {
                self.buffers.remove(0); // A reader keeps this buffer.
            }
            self.buffers.push(Arc::new(Snapshot::clone(&latest)));
            self.buffers.len() - 1
        });
        let wants = self.wants;
        if let Some(snapshot) = Arc::get_mut(&mut self.buffers[slot]) {
            snapshot.sequence = next_of(&self.sequences);
            // The buffers of a lost device may not exist any more.
            let skin = self
                .shown
                .as_ref()
                .filter(|_| self.actor.is_on_device() && !self.actor.is_morphed() && !self.restored)
                .and_then(|shown| shown.latest());
            match skin {
                Some(skin) if !self.actor.is_here() => snapshot.shape.put_on_device(skin),
                skin => {
                    snapshot.shape.write(
                        self.actor.positions(),
                        self.actor.normals(),
                        self.actor.simulated(),
                    );
                    snapshot.shape.also_on_device(skin);
                }
            }
            snapshot.world_from_joint.clone_from(&self.world);
            snapshot.time_secs = self.time_secs;
            snapshot.times = self.actor.times();
            snapshot.contact = contact_of(&self.actor);
            snapshot.contacts.clear();
            if let (true, Some(contacts)) = (wants.contacts, contacts_of(&self.actor)) {
                snapshot.contacts.extend_from_slice(contacts.contacts());
            }
            let vertices = self.actor.positions().len();
            snapshot.explained = wants
                .explains
                .filter(|&vertex| (vertex as usize) < vertices && self.actor.is_here())
                .map(|vertex| (vertex, self.actor.method_terms(vertex as usize)));
            snapshot.body_field = self.actor.body_field().cloned();
            snapshot.velocities.clear();
            if wants.velocities {
                let per_sec = if dt_secs > 0.0 {
                    (1.0 / dt_secs) as f32
                } else {
                    0.0
                };
                let ways = latest
                    .positions()
                    .iter()
                    .zip(self.actor.positions())
                    .map(|(before, now)| (now - before) * per_sec);
                snapshot.velocities.extend(ways);
            }
        }
        *lock(&self.shared.latest) = self.buffers[slot].clone();
        movement
    }
}
