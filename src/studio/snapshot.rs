//! States of methods, for display and measurement.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crate::collision::Contact;
use crate::dynamics::{ContactReport, Contacts};
use crate::gpu::actor::DeviceSkin;
use crate::math::{Affine, Point, Vec3};
use crate::methods::{Actor, BodyField, MethodId, StepTimes, Subject, SurfaceMut, Term};

/// Optional content of a snapshot, which is computed only if it is requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[expect(clippy::struct_excessive_bools, reason = "independent requests")]
pub struct SnapshotContent {
    /// [`Snapshot::contacts`].
    pub contacts: bool,
    /// [`Snapshot::velocities`].
    pub velocities: bool,
    /// Positions and normals on the CPU in every snapshot of a device: [`Snapshot::positions`] then does not wait.
    pub numbers: bool,
    /// The bind pose of edit mode has the latest weights that are ready.
    pub weights: bool,
    /// [`Snapshot::explained`] of this source vertex.
    pub explains: Option<u32>,
}

impl SnapshotContent {
    /// The content requested by either of two.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        Self {
            contacts: self.contacts || other.contacts,
            velocities: self.velocities || other.velocities,
            numbers: self.numbers || other.numbers,
            weights: self.weights || other.weights,
            explains: self.explains.or(other.explains),
        }
    }
}

/// A surface: on the CPU, on the device that computed it, or both. Data only on the device is read back on the first request.
#[derive(Debug, Clone, Default)]
pub struct Shape {
    numbers: OnceLock<Numbers>,
    on_device: Option<Arc<DeviceSkin>>,
    /// Previous CPU buffers, for reuse.
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
    /// A surface on the CPU.
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

    /// A surface on a device.
    #[must_use]
    pub fn on_device(skin: Arc<DeviceSkin>) -> Self {
        Self {
            on_device: Some(skin),
            ..Self::default()
        }
    }

    /// Replaces the data on the CPU. Allocates only the first time.
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

    /// Replaces the surface by one on a device.
    pub(crate) fn put_on_device(&mut self, skin: Arc<DeviceSkin>) {
        if let Some(numbers) = self.numbers.take() {
            self.spare = numbers;
        }
        self.on_device = Some(skin);
    }

    /// Adds the same data on a device.
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

/// A state of a method.
#[derive(Debug, Clone)]
pub struct Snapshot {
    /// Unique among all states of a session; increases with every new state of a view.
    pub sequence: u64,
    /// Its character.
    pub subject: Arc<Subject>,
    /// Its method.
    pub method: MethodId,
    /// The surface.
    pub shape: Shape,
    /// World transforms of the joints in this state.
    pub world_from_joint: Vec<Affine>,
    /// The clip's time, seconds from its start; `None` for a pose made by hand.
    pub time_secs: Option<f64>,
    /// Computation times.
    pub times: StepTimes,
    /// Report on contacts, while collisions are on.
    pub contact: Option<ContactReport>,
    /// The contact pairs; empty unless requested ([`SnapshotContent::contacts`]).
    pub contacts: Vec<Contact>,
    /// Velocities of all source vertices, world units per second, from the previous state; empty unless requested ([`SnapshotContent::velocities`]).
    pub velocities: Vec<Vec3>,
    /// What the method says about a source vertex ([`SnapshotContent::explains`]).
    pub explained: Option<(u32, Vec<Term>)>,
    /// The composed field of the body, of methods that have one.
    pub body_field: Option<Arc<BodyField>>,
}

impl Snapshot {
    /// The present state of an actor, with a unique number. Without velocities.
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
            time_secs: None,
            times: actor.times(),
            contact: contacts.map(Contacts::report),
            contacts: contacts.map_or_else(Vec::new, |contacts| contacts.contacts().to_vec()),
            velocities: Vec::new(),
            explained: None,
            body_field: actor.body_field().cloned(),
        }
    }

    /// World positions of all source vertices. The first call waits for the device if only that has them.
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

    /// The surface on the device that computed it, for drawing.
    #[must_use]
    pub fn on_device(&self) -> Option<&Arc<DeviceSkin>> {
        self.shape.on_device.as_ref()
    }
}
