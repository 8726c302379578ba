//! Contacts on the device are those of the processor.

use std::sync::Arc;

use sinew::character::{FleshBase, FleshSettings, SimVertices};
use sinew::collision::CollisionBody;
use sinew::dynamics::{Contacts, Params, Preset, Simulation, State, StepContacts};
use sinew::gpu::GpuContext;
use sinew::gpu::actor::{GpuFlesh, GpuModel};
use sinew::gpu::compute::fetch;
use sinew::gpu::flesh::solve::{GlobalSolver, Kind};
use sinew::gpu::flesh::{ContactKernel, ContactKernelBuffers, FleshModel, FleshState, FleshStep};
use sinew::math::{Affine, Point, Quat, Vec64};
use sinew::methods::{
    Actor, AnyDevice, Device as FleshDevice, DeviceError, DeviceFrameReport, DeviceStep,
    DeviceTimes, FoundContacts, Frame, MethodId, Projective, StepCollision, Subject, SurfaceDevice,
    SurfaceMut,
};
use sinew::progress::Progress;
use sinew::tissue::BaseFrame;

use crate::common::moved::worst;
use crate::common::on_bones::on_bones;
use crate::common::on_device;

/// A step, with the loads solved to a millionth of the size.
const STEP_TOLERANCE: f32 = 1e-5;
/// A bend with all its contacts.
const BEND_TOLERANCE: f32 = 1e-3;
const FRAMES: usize = 40;

/// A built-in character whose parts collide.
pub struct Case {
    pub subject: Subject,
    pub frame: BaseFrame,
    pub base: Vec<Point>,
}

impl Case {
    pub fn new(name: &str, sim_vertices: usize) -> Self {
        let character = sinew::io::builtin::load_builtin(name).expect("built in");
        let subject =
            Subject::build(Arc::new(on_bones(character)), &Progress::new()).expect("builds");
        let settings = FleshSettings {
            sim_vertices: SimVertices::About(sim_vertices),
            base: FleshBase::Bones,
            ..FleshSettings::default()
        };
        let subject = subject.with_settings(&settings);
        let base = subject.flesh().expect("has flesh").tissue.anchors.at_rest();
        Self {
            subject,
            frame: BaseFrame::default(),
            base,
        }
    }

    pub fn simulation(&self, params: &Params) -> Simulation {
        let Ok(flesh) = self.subject.flesh() else {
            panic!("has no flesh")
        };
        let position = self.subject.sim().mesh.positions.clone();
        let mut simulation = Simulation::new(
            flesh.system.clone(),
            params,
            position,
            self.base.clone(),
            self.subject.size,
        )
        .expect("factors");
        let body = Arc::new(CollisionBody::new(&self.subject.sim().mesh, &flesh.tissue));
        simulation.set_contacts(Some(Contacts::new(
            body,
            &flesh.system,
            params,
            self.subject.size,
        )));
        simulation
    }

    /// Every joint but the first bent about z, so far.
    pub fn bent(&self, angle: f64) -> Vec<Affine> {
        let skeleton = &self.subject.character.skeleton;
        let mut pose = skeleton.rest_pose();
        for local in pose.locals.iter_mut().skip(1) {
            local.rotation *= Quat::from_axis_angle(&Vec64::z_axis(), angle);
        }
        skeleton.world_from_joint(&pose)
    }

    /// Moves the base and, with it, where contacts are looked for.
    fn move_to(&mut self, world: &[Affine], [one, other]: [&mut Simulation; 2]) {
        let Ok(flesh) = self.subject.flesh() else {
            panic!("has no flesh")
        };
        flesh
            .tissue
            .anchors
            .place(world, &mut self.frame, &mut self.base);
        other
            .contacts_mut()
            .expect("they collide")
            .move_foot_points(self.frame.bones());
        let contacts = one.contacts_mut().expect("they collide");
        contacts.move_foot_points(self.frame.bones());
        contacts.separate_base(&mut self.base);
    }
}

/// Steps of a device, with a simulation that finds contacts for it.
struct Device {
    gpu: &'static GpuContext,
    finder: Simulation,
    model: FleshModel,
    state: FleshState,
    solver: GlobalSolver,
    press: ContactKernel,
    buffers: ContactKernelBuffers,
    met: usize,
}

impl Device {
    fn new(gpu: &'static GpuContext, finder: Simulation, kind: Kind) -> Self {
        let equations = Arc::new(finder.equations());
        let model = FleshModel::new(gpu, equations.clone()).expect("fits");
        let state = FleshState::new(gpu, &model, 1).expect("fits");
        state.upload(gpu, 0, &finder.state()).expect("fits");
        let solver = GlobalSolver::new(gpu, &equations, kind).expect("fits");
        let buffers = ContactKernelBuffers::new(gpu, state.dims().row_stride, 1);
        Self {
            gpu,
            finder,
            model,
            state,
            solver,
            press: ContactKernel::new(gpu),
            buffers,
            met: 0,
        }
    }

    fn step(&mut self, base: &[Point]) -> Vec<Point> {
        let Self {
            gpu,
            finder,
            model,
            state,
            solver,
            press,
            buffers,
            met,
        } = self;
        let mut predicted = Vec::new();
        state.download(gpu, 0).expect("comes back").predict_into(
            model.equations(),
            base,
            &mut predicted,
        );
        state.move_base(gpu, 0, base).expect("fits");
        let bound = solver.on(gpu, 1, state.right_hand_side(), state.increment());
        let count = match finder.begin_contacts(&predicted) {
            StepContacts::Empty => 0,
            StepContacts::Contacts(problem) => {
                buffers.write(gpu, 0, &problem, model.row_of_vertex());
                problem.contacts.len()
            }
            StepContacts::TooMany => panic!("too many contacts"),
        };
        let step = if count > 0 {
            FleshStep::with_contacts(gpu, model, state, bound.dispatches(), press, buffers)
        } else {
            FleshStep::new(gpu, model, state, bound.dispatches())
        };
        step.run(gpu);
        let positions = state.download(gpu, 0).expect("comes back").position;
        let loads: Vec<f32> = fetch(gpu, buffers.loads(), count).expect("comes back");
        finder.end_contacts(&positions, &loads);
        *met = (*met).max(loads.iter().filter(|&&load| load > 0.0).count());
        positions
    }
}

/// An arm is bent until it touches itself.
fn bend(acceleration: u32, kind: Kind) {
    let Some(gpu) = on_device::gpu() else { return };
    let mut case = Case::new("cylinder", 500);
    let params = Params {
        acceleration,
        iterations: if acceleration > 0 { 7 } else { 10 },
        ..Preset::Natural.params()
    };
    let mut simulation = case.simulation(&params);
    let mut device = Device::new(gpu, case.simulation(&params), kind);
    let size = case.subject.size;
    for frame in 1..=FRAMES {
        let world = case.bent(2.4 * frame as f64 / FRAMES as f64);
        case.move_to(&world, [&mut simulation, &mut device.finder]);
        simulation.step(&case.base);
        let positions = device.step(&case.base);
        let apart = worst(simulation.positions(), &positions) / size;
        let tolerance = if frame == 1 {
            STEP_TOLERANCE
        } else {
            BEND_TOLERANCE
        };
        assert!(
            apart < tolerance,
            "frame {frame}: {apart} of the size, {} press",
            device.met
        );
    }
    assert!(device.met > 8, "only {} contacts", device.met);
}

#[test]
fn plain_steps_with_contacts_agree() {
    bend(0, Kind::Gradients);
}

#[test]
fn accelerated_steps_with_contacts_agree() {
    bend(3, Kind::Inverse);
}

/// A whole character whose parts collide, frame by frame, with a jump in between: as on the processor.
#[test]
fn self_contacts_agree_with_the_cpu() {
    let Some(gpu) = on_device::gpu() else { return };
    let case = Case::new("cylinder", 500);
    let subject = Arc::new(case.subject.clone());
    let params = Preset::Natural.params();
    let bind = || Actor::bind(&subject, MethodId::PD, &params, &Progress::new()).expect("binds");
    let (mut cpu, mut device) = (bind(), bind());
    let model = Arc::new(GpuModel::new(gpu, &device).expect("fits"));
    device.set_device(Some(AnyDevice::Flesh(Box::new(
        GpuFlesh::new(model).expect("fits"),
    ))));
    let mut pressing = 0;
    for frame in 0..FRAMES {
        let angle = if frame < FRAMES / 2 {
            2.4 * frame as f64 / (FRAMES / 2) as f64
        } else {
            1.9
        };
        let world_from_joint = case.bent(angle);
        let dt_secs = if frame == 0 {
            0.0
        } else {
            params.time_step_secs
        };
        let frame_of = Frame {
            world_from_joint: &world_from_joint,
            dt_secs,
        };
        cpu.advance(&frame_of).expect("is skinned");
        device.advance(&frame_of).expect("is skinned");
        let apart = worst(cpu.positions(), device.positions()) / subject.size;
        assert!(apart < BEND_TOLERANCE, "frame {frame}: {apart} of the size");
        let of = |actor: &Actor| {
            actor
                .projective()
                .and_then(|flesh| flesh.simulation().contacts())
                .map(|c| c.report().pressing)
        };
        pressing = pressing.max(of(&device).unwrap_or(0));
        assert!(
            device.projective().is_some_and(Projective::is_on_device),
            "frame {frame}: the processor steps"
        );
    }
    assert!(pressing > 8, "only {pressing} contacts");
}

/// A device that finds more contacts than it solves for: it keeps its state, and says so.
#[derive(Default)]
struct Crowded {
    state: State,
    steps: u64,
    report: Option<DeviceFrameReport>,
}

impl SurfaceDevice for Crowded {
    fn present(&mut self, _joints: &[Affine], _ahead_secs: f32) -> Result<(), DeviceError> {
        let found = FoundContacts {
            pressing: 900,
            watched: 3000,
            deepest: 0.5,
            crowded: true,
        };
        self.report = Some(DeviceFrameReport {
            steps: self.steps,
            farthest: 0.0,
            finite: true,
            contacts: (self.steps > 0).then_some(found),
            work_ms: DeviceTimes::default(),
            host_ms: 0.0,
        });
        Ok(())
    }

    fn watched(&mut self) -> Option<DeviceFrameReport> {
        self.report.take()
    }

    fn fetch(&mut self, _surface: SurfaceMut<'_>) -> Result<(), DeviceError> {
        Ok(())
    }
}

impl FleshDevice for Crowded {
    fn set_state(&mut self, state: &State) -> Result<(), DeviceError> {
        self.state = state.clone();
        Ok(())
    }

    fn step(&mut self, step: DeviceStep<'_>) -> Result<(), DeviceError> {
        assert!(matches!(step.collision, StepCollision::Own));
        self.steps += 1;
        Ok(())
    }

    fn state(&mut self) -> Result<State, DeviceError> {
        Ok(self.state.clone())
    }

    fn last_state(&mut self) -> Option<State> {
        None
    }

    fn finds_contacts(&self) -> bool {
        true
    }
}

#[test]
fn the_cpu_goes_on_where_a_device_finds_too_many_contacts() {
    let case = Case::new("cylinder", 200);
    let subject = Arc::new(case.subject.clone());
    let params = Preset::Natural.params();
    let mut actor = Actor::bind(&subject, MethodId::PD, &params, &Progress::new()).expect("binds");
    actor.set_device(Some(AnyDevice::Flesh(Box::<Crowded>::default())));
    let advance = |actor: &mut Actor, angle: f64, dt_secs: f64| {
        let world_from_joint = case.bent(angle);
        let frame = Frame {
            world_from_joint: &world_from_joint,
            dt_secs,
        };
        actor.advance(&frame).expect("is skinned");
    };
    advance(&mut actor, 0.0, 0.0);
    advance(&mut actor, 0.01, params.time_step_secs);
    assert!(actor.projective().is_some_and(Projective::is_on_device));
    advance(&mut actor, 0.02, params.time_step_secs);
    assert!(!actor.projective().is_some_and(Projective::is_on_device));
    assert_eq!(actor.take_fault(), Some(DeviceError::Crowded));
    for frame in 3..10 {
        advance(&mut actor, 0.01 * f64::from(frame), params.time_step_secs);
    }
    assert!(actor.take_fault().is_none());
    assert!(
        actor
            .positions()
            .iter()
            .all(|p| (p.x + p.y + p.z).is_finite())
    );
}
