//! Contacts that the device finds itself are those of the processor.

use std::collections::BTreeSet;
use std::sync::Arc;

use sinew::collision::{
    CollisionBody, Contact, ContactList, Detector, Hit, PosedFootPoints, Refresh,
};
use sinew::dynamics::{Params, Preset, State};
use sinew::gpu::GpuContext;
use sinew::gpu::collision::{Collision, CollisionModel};
use sinew::gpu::compute::{Dispatch, fetch};
use sinew::gpu::flesh::solve::{BoundSolver, GlobalSolver, Kind};
use sinew::gpu::flesh::{FleshModel, FleshState};
use sinew::gpu::surface::{Base, BaseModel};
use sinew::math::{Affine, Point, Vec3};

use crate::common::on_device;
use crate::touch::Case;

/// Pairs whose verdict hangs on rounding may differ from the processor's.
const SAME: f64 = 0.99;
/// Rounding of positions, relative to the size.
const ROUNDING: f32 = 1e-6;
/// Of normals and barycentric coordinates of contacts.
const CONTACT_TOLERANCE: f32 = 2e-3;

/// A character on the device, step by step.
struct Steps {
    gpu: &'static GpuContext,
    case: Case,
    body: Arc<CollisionBody>,
    flesh: FleshModel,
    state: FleshState,
    // Its passes hold the solver's buffers.
    _solver: BoundSolver,
    base: Base,
    collision: Collision,
}

impl Steps {
    fn new(gpu: &'static GpuContext, case: Case, params: &Params, kind: Kind) -> Self {
        let simulation = case.simulation(params);
        let equations = Arc::new(simulation.equations());
        let flesh = FleshModel::new(gpu, equations.clone()).expect("fits");
        let state = FleshState::new(gpu, &flesh, 1).expect("fits");
        state.upload(gpu, 0, &simulation.state()).expect("fits");
        let solver = GlobalSolver::new(gpu, &equations, kind).expect("fits");
        let contacts = simulation.contacts().expect("they collide");
        let body = contacts.body().clone();
        let model = CollisionModel::new(gpu, contacts, &flesh, &solver).expect("fits");
        let bound = solver.on(gpu, 1, state.right_hand_side(), state.increment());
        let anchors = &case.subject.flesh().expect("has flesh").tissue.anchors;
        let base = BaseModel::new(gpu, anchors)
            .and_then(|base| base.on(gpu, state.base(), 1, 1))
            .expect("fits");
        let model = Arc::new(model);
        let collision = Collision::new(gpu, &model, &flesh, &state, bound.dispatches(), &base);
        Self {
            gpu,
            case,
            body,
            flesh,
            state,
            _solver: bound,
            base,
            collision,
        }
    }

    fn run<'a>(&self, dispatches: impl IntoIterator<Item = &'a Dispatch>) {
        let mut encoder = self
            .gpu
            .device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        {
            let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
            for dispatch in dispatches {
                dispatch.encode(&mut pass);
            }
        }
        self.gpu.queue.submit([encoder.finish()]);
    }

    /// Makes a step; `found` sees the contacts before they are solved for, and where the vertices are then.
    fn step(&mut self, world: &[Affine], found: impl FnOnce(&Self, &[Point])) {
        let anchors = &self.case.subject.flesh().expect("has flesh").tissue.anchors;
        anchors.move_volumes(world, &mut self.case.frame);
        let bones: Vec<_> = self
            .case
            .frame
            .plain_bones()
            .map(|bone| bone.stretched)
            .collect();
        self.base.set(0, 0, &self.case.frame);
        self.base.upload(self.gpu, 1);
        // So that the hits are those of a whole search.
        self.collision.search_all();
        self.collision.prepare(self.gpu, &bones);
        let dispatches = self.collision.step().dispatches();
        let solved = |dispatch: &Dispatch| dispatch.label() == "assemble";
        let found_at = dispatches
            .iter()
            .position(solved)
            .expect("there is a matrix");
        self.run(self.base.step(0).into_iter().chain(&dispatches[..found_at]));
        let rows: Vec<[f32; 4]> = fetch(
            self.gpu,
            self.state.positions(),
            self.flesh.row_of_vertex().len(),
        )
        .expect("comes back");
        let by_vertex = self.flesh.row_of_vertex().iter().map(|&row| {
            let [x, y, z, _] = rows[row as usize];
            Point::new(x, y, z)
        });
        found(self, &by_vertex.collect::<Vec<_>>());
        self.run(&self.collision.step().dispatches()[found_at..]);
    }

    fn feet(&self) -> PosedFootPoints {
        let mut feet = PosedFootPoints::at_rest(&self.body);
        feet.update(&self.body, self.case.frame.bones());
        feet
    }

    fn device_contacts(&self) -> Vec<Contact> {
        self.collision.contacts(self.gpu).expect("comes back")
    }
}

/// Hits of the processor: those that rounding does not change, and all that it may bring about.
fn host_hits(steps: &Steps, positions: &[Point]) -> [BTreeSet<Hit>; 2] {
    let body = &steps.body;
    let feet = steps.feet();
    let mut seed = 7_u32;
    let mut random = || {
        seed = seed.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (seed >> 8) as f32 / (1 << 23) as f32 - 1.0
    };
    let amount = ROUNDING * steps.case.subject.size;
    let mut hits = |scale: f32| -> BTreeSet<Hit> {
        let moved: Vec<Point> = positions
            .iter()
            .map(|p| p + Vec3::new(random(), random(), random()) * scale)
            .collect();
        let mut detector = Detector::default();
        detector
            .detect(body, &moved, &feet)
            .iter()
            .copied()
            .collect()
    };
    let exact = hits(0.0);
    let (mut sure, mut possible) = (exact.clone(), exact);
    for _ in 0..8 {
        let other = hits(amount);
        sure = sure.intersection(&other).copied().collect();
        possible.extend(other);
    }
    [sure, possible]
}

/// Bends a character until it touches itself. In every step the hits are the processor's, and so are the contacts that follow from
/// those of the step before.
fn detect(name: &str, sim_vertices: usize, last_angle: f64, kind: Kind) {
    let Some(gpu) = on_device::gpu() else { return };
    let params = Preset::Natural.params();
    let mut steps = Steps::new(gpu, Case::new(name, sim_vertices), &params, kind);
    let (mut hits_seen, mut same, mut all) = (0, 0, 0);
    for frame in 1..=24 {
        let world = steps
            .case
            .bent(last_angle * f64::from(frame.min(20)) / 20.0);
        let before = steps.device_contacts();
        steps.step(&world, |steps, positions| {
            let device: BTreeSet<Hit> = steps
                .collision
                .hits(gpu)
                .expect("comes back")
                .into_iter()
                .collect();
            let [sure, possible] = host_hits(steps, positions);
            let missed: Vec<_> = sure.difference(&device).collect();
            let invented: Vec<_> = device.difference(&possible).collect();
            assert!(
                missed.is_empty(),
                "frame {frame}: misses {missed:?} of {}",
                sure.len()
            );
            assert!(
                invented.is_empty(),
                "frame {frame}: invents {invented:?} of {}",
                device.len()
            );
            hits_seen += sure.len();
            let now = steps.device_contacts();
            let expected = refreshed(steps, &before, positions);
            let key = |contact: &Contact| (contact.vertex, contact.triangle);
            all += expected.len().max(now.len());
            for contact in &expected {
                let twin = now.iter().find(|other| key(other) == key(contact));
                same += usize::from(twin.is_some_and(|twin| are_same(contact, twin)));
            }
        });
    }
    assert!(hits_seen > 100, "{name}: only {hits_seen} hits");
    assert!(all > 100, "{name}: only {all} contacts");
    assert!(
        same as f64 >= SAME * all as f64,
        "{name}: {same} of {all} contacts agree"
    );
}

/// The contacts of the processor that follow from these.
fn refreshed(steps: &Steps, before: &[Contact], positions: &[Point]) -> Vec<Contact> {
    let body = &steps.body;
    // A new list searches all bones in its first step.
    let mut list = ContactList::default();
    list.set_contacts(before);
    list.refresh(body, positions, &steps.feet(), Refresh::Step);
    list.contacts().to_vec()
}

fn are_same(a: &Contact, b: &Contact) -> bool {
    let apart = a.weights.iter().zip(b.weights).map(|(a, b)| (a - b).abs());
    apart.fold((a.normal - b.normal).norm(), f32::max) < CONTACT_TOLERANCE
        && (a.gap - b.gap).abs() < CONTACT_TOLERANCE * a.edge
        && a.load == b.load
}

#[test]
fn contacts_of_a_bent_arm_are_those_of_the_cpu() {
    detect("cylinder", 500, 2.4, Kind::Inverse);
}

#[test]
fn contacts_of_a_curled_up_body_are_those_of_the_cpu() {
    detect("mannequin", 1500, 0.5, Kind::Gradients);
}

/// Contacts come back as they were set.
#[test]
fn contacts_can_be_set_and_read() {
    let Some(gpu) = on_device::gpu() else { return };
    let params = Preset::Natural.params();
    let mut steps = Steps::new(gpu, Case::new("cylinder", 300), &params, Kind::Inverse);
    for frame in 1..=12 {
        let world = steps.case.bent(0.2 * f64::from(frame));
        steps.step(&world, |_, _| ());
    }
    let contacts = steps.device_contacts();
    assert!(contacts.iter().any(|contact| contact.load > 0.0));
    steps.collision.set_contacts(gpu, &[], 0);
    assert!(steps.device_contacts().is_empty());
    steps.collision.set_contacts(gpu, &contacts, 1);
    assert_eq!(steps.device_contacts(), contacts);
    let state: State = steps.state.download(gpu, 0).expect("comes back");
    assert!(state.position.iter().all(|p| (p.x + p.y + p.z).is_finite()));
}
