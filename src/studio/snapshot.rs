//! States of a simulation, for whoever shows or measures them.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::collision::Contact;
use crate::dynamics::{ContactReport, Contacts};
use crate::gpu::actor::DeviceSkin;
use crate::math::{Affine, Point, Vec3};
use crate::methods::{Actor, MethodId, StepTimes, Subject, SurfaceMut};

/// What a snapshot holds beyond what every view needs. Nothing of it is made for nobody.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Wants {
    /// [`Snapshot::contacts`].
    pub contacts: bool,
    /// [`Snapshot::velocities`].
    pub velocities: bool,
    /// Numbers in every snapshot, where a device draws from its own: [`Snapshot::positions`] does not wait then.
    pub numbers: bool,
}

impl Wants {
    /// What either of two wants.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            contacts: self.contacts || other.contacts,
            velocities: self.velocities || other.velocities,
            numbers: self.numbers || other.numbers,
        }
    }
}

/// A surface: as numbers, or on the device that made it, or both. What is only there is read back when it is first asked for.
#[derive(Debug, Clone, Default)]
pub struct Shape {
    numbers: OnceLock<Numbers>,
    on_device: Option<Arc<DeviceSkin>>,
    /// Room that numbers had before.
    spare: Numbers,
}

#[derive(Debug, Clone, Default)]
struct Numbers {
    positions: Vec<Point>,
    normals: Vec<Vec3>,
    simulated: Vec<Point>,
}

impl Numbers {
    fn write(&mut self, positions: &[Point], normals: &[Vec3], simulated: &[Point]) {
        self.positions.clear();
        self.positions.extend_from_slice(positions);
        self.normals.clear();
        self.normals.extend_from_slice(normals);
        self.simulated.clear();
        self.simulated.extend_from_slice(simulated);
    }

    fn fetched(skin: &DeviceSkin) -> Self {
        let (vertices, simulated) = skin.counts();
        let mut numbers = Self {
            positions: vec![Point::origin(); vertices],
            normals: vec![Vec3::y(); vertices],
            simulated: vec![Point::origin(); simulated],
        };
        let Self {
            positions,
            normals,
            simulated,
        } = &mut numbers;
        if let Err(error) = skin.fetch_into(&mut SurfaceMut {
            positions,
            normals,
            simulated,
        }) {
            log::warn!("{error}");
        }
        numbers
    }
}

impl Shape {
    /// From numbers.
    #[must_use]
    pub fn new(positions: Vec<Point>, normals: Vec<Vec3>, simulated: Vec<Point>) -> Self {
        Self {
            numbers: OnceLock::from(Numbers {
                positions,
                normals,
                simulated,
            }),
            ..Self::default()
        }
    }

    /// From what is on a device.
    #[must_use]
    pub fn on_device(skin: Arc<DeviceSkin>) -> Self {
        Self {
            on_device: Some(skin),
            ..Self::default()
        }
    }

    /// Takes other numbers. Allocates nothing after the first time.
    pub fn write(&mut self, positions: &[Point], normals: &[Vec3], simulated: &[Point]) {
        let mut numbers = self
            .numbers
            .take()
            .unwrap_or_else(|| std::mem::take(&mut self.spare));
        numbers.write(positions, normals, simulated);
        *self = Self {
            numbers: OnceLock::from(numbers),
            ..Self::default()
        };
    }

    /// Takes what is on a device, without numbers.
    pub(crate) fn put_on_device(&mut self, skin: Arc<DeviceSkin>) {
        if let Some(numbers) = self.numbers.take() {
            self.spare = numbers;
        }
        self.on_device = Some(skin);
    }

    /// The same numbers are on a device, too.
    pub(crate) fn also_on_device(&mut self, skin: Option<Arc<DeviceSkin>>) {
        self.on_device = skin;
    }

    fn numbers(&self) -> &Numbers {
        self.numbers.get_or_init(|| {
            self.on_device
                .as_deref()
                .map_or_else(Numbers::default, Numbers::fetched)
        })
    }
}

/// The latest state of a simulation.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// No two states of a session have the same; grows with every new state of a view.
    pub sequence: u64,
    /// Whose state it is.
    pub subject: Arc<Subject>,
    /// Which method made it.
    pub method: MethodId,
    /// Where the surface is.
    pub shape: Shape,
    /// The joints that the flesh follows in this state.
    pub world_from_joint: Vec<Affine>,
    /// Where the time went.
    pub times: StepTimes,
    /// What touches, while collisions are on.
    pub contact: Option<ContactReport>,
    /// The pairs that touch; empty unless they are wanted ([`Wants::contacts`]).
    pub contacts: Vec<Contact>,
    /// World units per second of all source vertices, from the state before; empty unless they are wanted ([`Wants::velocities`]).
    pub velocities: Vec<Vec3>,
}

impl Snapshot {
    /// The present state of an actor, under a number of its own. Without velocities.
    #[must_use]
    pub(crate) fn of_actor(actor: &Actor, world_from_joint: Vec<Affine>) -> Self {
        static SEQUENCE: AtomicU64 = AtomicU64::new(1);
        let contacts = actor
            .projective()
            .and_then(|flesh| flesh.simulation().contacts());
        Self {
            sequence: SEQUENCE.fetch_add(1, Ordering::Relaxed),
            subject: actor.subject().clone(),
            method: actor.method(),
            shape: Shape::new(
                actor.positions().to_vec(),
                actor.normals().to_vec(),
                actor.simulated().to_vec(),
            ),
            world_from_joint,
            times: actor.times(),
            contact: contacts.map(Contacts::report),
            contacts: contacts.map_or_else(Vec::new, |contacts| contacts.contacts().to_vec()),
            velocities: Vec::new(),
        }
    }

    /// World positions of all source vertices. Waits for the device if only that has them; only the first time.
    #[must_use]
    pub fn positions(&self) -> &[Point] {
        &self.shape.numbers().positions
    }

    /// Unit normals of all source vertices, likewise.
    #[must_use]
    pub fn normals(&self) -> &[Vec3] {
        &self.shape.numbers().normals
    }

    /// World positions of the simulation mesh, likewise; empty for methods that do not simulate.
    #[must_use]
    pub fn simulated(&self) -> &[Point] {
        &self.shape.numbers().simulated
    }

    /// The same on the device that made it, to draw from.
    #[must_use]
    pub fn on_device(&self) -> Option<&Arc<DeviceSkin>> {
        self.shape.on_device.as_ref()
    }
}
