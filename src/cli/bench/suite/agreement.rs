//! How far the device is from the CPU.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::play::{joints, pressing, step_secs};
use super::record::{Missed, Record, Run};
use crate::character::{Character, FleshBase, FleshSettings, SimVertices};
use crate::cli::CommandResult;
use crate::dynamics::{Collisions, Params};
use crate::gpu::actor::{GpuDevice, GpuFlesh, GpuModel};
use crate::gpu::flesh::solve::Kind;
use crate::io::builtin::load_builtin;
use crate::math::Point;
use crate::methods::{Actor, Capability, Frame, MethodId, Projective, Subject, registry};
use crate::progress::Progress;

/// Largest distance after one step, of the size: some dozen roundings.
const STEP_BAR: f32 = 1e-5;
/// The same over all frames of flesh, where rounding tips what the acceleration and the contacts do.
const FLESH_BAR: f32 = 1e-3;
/// The same of the other methods: direct delta mush turns a vertex as flat neighbourhoods do.
const SKIN_BAR: f32 = 5e-5;
/// Longest time of a comparison: software is slow.
const LONGEST: Duration = Duration::from_secs(20);
/// Simulated vertices where the suite itself is tried.
const TINY: usize = 300;

/// A distance.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub(super) struct Distance {
    /// As a part of the character's size, the diagonal of its box.
    pub(super) of_size: f32,
    pub(super) metres: f64,
}

impl Distance {
    pub(super) fn new(distance: f32, subject: &Subject) -> Self {
        Self {
            of_size: distance / subject.size,
            metres: f64::from(distance) * subject.metres_per_unit(),
        }
    }
}

/// A method that was played on both.
#[derive(Debug, Serialize)]
pub(super) struct Agreement {
    pub(super) character: String,
    pub(super) method: MethodId,
    /// Instances of a crowd, of which each is compared; absent for single characters.
    pub(super) crowd: Option<usize>,
    /// The global solver, for methods that simulate; absent if the program chose.
    pub(super) solver: Option<&'static str>,
    pub(super) contacts: bool,
    /// Most contacts that pressed at once.
    pub(super) contacts_most: usize,
    pub(super) frames: u32,
    /// Largest distance of a vertex of the skin after the first step.
    pub(super) first: Distance,
    /// Largest distance in any frame.
    pub(super) worst: Distance,
    /// The frame of it.
    pub(super) worst_frame: u32,
    /// Bars for both, as parts of the size.
    pub(super) bars: [f32; 2],
    /// How far the skin moved from where it was bound, as a part of the size.
    pub(super) moved: f32,
    pub(super) passes: bool,
}

impl Agreement {
    /// Notes the distance in a frame.
    pub(super) fn note(&mut self, frame: u32, distance: Distance) {
        let is_farther =
            |than: &Distance| distance.of_size > than.of_size || distance.of_size.is_nan();
        if frame == 1 && is_farther(&self.first) {
            self.first = distance;
        }
        if is_farther(&self.worst) {
            (self.worst, self.worst_frame) = (distance, frame);
        }
    }

    /// Decides.
    pub(super) fn decided(mut self) -> Self {
        self.passes = self.first.of_size <= self.bars[0] && self.worst.of_size <= self.bars[1];
        self
    }
}

impl Record for Agreement {
    const KIND: &'static str = "agreement";

    fn line(&self) -> String {
        let of = |distance: &Distance| {
            format!(
                "{:.1e} of the size ({:.4} mm)",
                distance.of_size,
                distance.metres * 1e3
            )
        };
        let crowd = self
            .crowd
            .map_or_else(String::new, |count| format!(", crowd of {count}"));
        let solver = self
            .solver
            .map_or_else(String::new, |solver| format!(", {solver}"));
        let contacts = if self.contacts {
            format!(", {} contacts", self.contacts_most)
        } else {
            String::new()
        };
        format!(
            "{} {} {}{crowd}{solver}{contacts}: {} after a step, {} in {} frames",
            if self.passes { "ok  " } else { "FAIL" },
            self.character,
            self.method.id(),
            of(&self.first),
            of(&self.worst),
            self.frames
        )
    }

    fn is_failure(&self) -> bool {
        !self.passes
    }
}

/// The name of a solver in the report.
pub(super) fn solver_name(kind: Kind) -> &'static str {
    match kind {
        Kind::Inverse => "inverse",
        _ => "gradients",
    }
}

/// Largest distance; NaN counts as largest.
pub(super) fn worst(a: &[Point], b: &[Point]) -> f32 {
    let distances = a.iter().zip(b).map(|(a, b)| (a - b).norm());
    distances.max_by(f32::total_cmp).unwrap_or(f32::NAN)
}

/// The bars of a method: after a step, and at any time.
pub(super) fn bars(method: MethodId) -> [f32; 2] {
    if method.has(Capability::Physics) {
        [STEP_BAR, FLESH_BAR]
    } else {
        [SKIN_BAR; 2]
    }
}

/// A built-in character with its flesh on the bones.
pub(super) fn on_bones(run: &Run<'_>, name: &str) -> Result<Arc<Subject>, Missed> {
    let character = load_builtin(name)?;
    let flesh = FleshSettings {
        base: FleshBase::Bones,
        sim_vertices: run
            .scale
            .of(SimVertices::default(), SimVertices::About(TINY)),
        ..character.flesh.clone()
    };
    let character = Arc::new(Character { flesh, ..character });
    Ok(Arc::new(Subject::build(character, &Progress::new())?))
}

/// Every method with a form on the device, on every character.
pub(super) fn measure(run: &mut Run<'_>) -> CommandResult {
    for (index, name) in run.scale.characters().iter().enumerate() {
        let subject = match run.prepare(name, |run| on_bones(run, name)) {
            Ok(subject) => subject,
            Err(missed) => {
                run.tell::<Agreement>(name, Err(missed))?;
                continue;
            }
        };
        for method in registry() {
            if !method.has(Capability::Device) {
                continue;
            }
            let mut cases = vec![(None, Collisions::Off)];
            if method.has(Capability::Contacts) {
                cases.push((None, Collisions::Global));
            }
            // Both solvers, whichever suits this size.
            if method.has(Capability::Physics) && index == 0 {
                cases.push((Some(Kind::Gradients), Collisions::Off));
                cases.push((Some(Kind::Inverse), Collisions::Off));
            }
            for (kind, collisions) in cases {
                let what = format!("{name} by {} on both", method.id());
                run.measure(&what, |run| {
                    compare(run, name, &subject, method, (kind, collisions))
                })?;
            }
        }
    }
    Ok(())
}

/// Plays a method on both.
fn compare(
    run: &mut Run<'_>,
    name: &str,
    subject: &Arc<Subject>,
    method: MethodId,
    (kind, collisions): (Option<Kind>, Collisions),
) -> Result<Agreement, Missed> {
    let params = Params {
        collisions,
        ..Params::default()
    };
    let bind = || Actor::bind(subject, method, &params, &Progress::new());
    let (mut cpu, mut device) = (bind()?, bind()?);
    if device.projective().is_some() {
        let model = GpuModel::with_solver(run.gpu, &device, kind)?;
        let flesh = GpuFlesh::new(Arc::new(model))?;
        GpuDevice::Flesh(Box::new(flesh)).give_to(&mut device);
    } else {
        GpuDevice::new(run.gpu, &device)?.give_to(&mut device);
    }
    let mut agreement = Agreement {
        character: name.to_owned(),
        method,
        crowd: None,
        solver: kind.map(solver_name),
        contacts: collisions != Collisions::Off && method.has(Capability::Contacts),
        contacts_most: 0,
        frames: 0,
        first: Distance::default(),
        worst: Distance::default(),
        worst_frame: 0,
        bars: bars(method),
        moved: 0.0,
        passes: false,
    };
    let step_secs = step_secs(&cpu);
    let start = Instant::now();
    for frame in 0..run.scale.compared_frames() {
        if start.elapsed() > LONGEST {
            break;
        }
        let world_from_joint = joints(subject, frame, step_secs, run.scale);
        let dt_secs = if frame == 0 { 0.0 } else { step_secs };
        for actor in [&mut cpu, &mut device] {
            actor.advance(&Frame {
                world_from_joint: &world_from_joint,
                dt_secs,
            })?;
        }
        if let Some(fault) = device.take_fault() {
            return Err(Missed::Failed(format!("frame {frame}: {fault}")));
        }
        let steps_there = device.projective().is_none_or(Projective::is_on_device);
        if !device.is_on_device() || !steps_there {
            return Err(Missed::Failed(format!(
                "frame {frame}: the CPU has taken over"
            )));
        }
        let distance = worst(cpu.positions(), device.positions());
        agreement.note(frame, Distance::new(distance, subject));
        agreement.contacts_most = agreement.contacts_most.max(pressing(&device));
        let moved = worst(cpu.positions(), &subject.bind_positions) / subject.size;
        agreement.moved = agreement.moved.max(moved);
        agreement.frames = frame + 1;
    }
    Ok(agreement.decided())
}
