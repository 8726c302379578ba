//! Flesh on the device: sizes × plain or accelerated × solvers × contacts.

use std::sync::Arc;
use std::time::Instant;

use super::agreement::solver_name;
use super::flesh_record::{FleshRecord, Rates};
use super::play::Player;
use super::record::{Missed, Run};
use super::sizes::{Bodies, Body, BodySize};
use crate::character::{FleshSettings, SimVertices};
use crate::cli::CommandResult;
use crate::cli::bench::report::{CharacterSize, peak_memory_mb};
use crate::dynamics::{Collisions, Params};
use crate::gpu::GpuContext;
use crate::gpu::actor::{GpuDevice, GpuFlesh, GpuModel};
use crate::gpu::flesh::solve::{GlobalSolver, Kind, Limits};
use crate::io::builtin::load_builtin;
use crate::methods::{Actor, DeviceError, MethodId, Subject};
use crate::progress::Progress;

/// Simulated vertices of the character that guided flesh is tried with.
const GUIDED: usize = 300;
/// Earlier iterations that the accelerated variants combine, and iterations of a step.
const ACCELERATED: [u32; 2] = [3, 5];
/// Iterations of a plain step.
const PLAIN: [u32; 2] = [0, 10];

/// A sentence if the flesh that a character has by default has no form on the device; everything here is measured with flesh on the bones.
pub(super) fn guided_note(gpu: &GpuContext) -> Option<String> {
    let character = Arc::new(load_builtin("cylinder").ok()?);
    let subject = Subject::build(character, &Progress::new()).ok()?;
    let settings = FleshSettings {
        sim_vertices: SimVertices::About(GUIDED),
        ..subject.settings.as_ref().clone()
    };
    let subject = Arc::new(subject.with_settings(&settings));
    let actor = Actor::bind(&subject, MethodId::PD, &Params::default(), &Progress::new()).ok()?;
    if !actor.projective()?.is_guided() {
        return None;
    }
    let error = GpuModel::new(gpu, &actor).err()?;
    Some(format!(
        "flesh as it is by default: {error}. All flesh here has --base bones."
    ))
}

/// All variants of a size.
pub(super) fn measure(run: &mut Run<'_>, bodies: &mut Bodies, size: BodySize) -> CommandResult {
    let what = format!("flesh {}", size.name);
    let bound = run.prepare(&what, |_| Bound::new(bodies, size));
    let mut bound = match bound {
        Ok(bound) => bound,
        Err(missed) => return run.tell::<FleshRecord>(&what, Err(missed)),
    };
    for [acceleration, iterations] in [ACCELERATED, PLAIN] {
        for kind in [Kind::Gradients, Kind::Inverse] {
            let way = if acceleration > 0 {
                "accelerated"
            } else {
                "plain"
            };
            let what = format!("{what}, {way}, {}", solver_name(kind));
            let params = Params {
                acceleration,
                iterations,
                // So that the constants include those of contacts.
                collisions: Collisions::Global,
                ..Params::default()
            };
            let model = match run.prepare(&what, |run| bound.model(run, &params, kind)) {
                Ok(model) => model,
                Err(missed) => {
                    run.tell::<FleshRecord>(&what, Err(missed))?;
                    continue;
                }
            };
            for collisions in [Collisions::Off, Collisions::Global] {
                let with = if collisions == Collisions::Off {
                    "no contacts"
                } else {
                    "contacts"
                };
                let params = Params {
                    collisions,
                    ..params
                };
                run.measure(&format!("{what}, {with}"), |run| {
                    bound.variant(run, &model, &params)
                })?;
            }
        }
    }
    Ok(())
}

/// Constants of a variant on the device.
struct Model {
    model: Arc<GpuModel>,
    /// Time to compute and upload them, ms.
    model_ms: f64,
}

/// A size, bound.
struct Bound {
    size: BodySize,
    body: Body,
    actor: Actor,
    /// Time to make the tissue and to bind, ms.
    bind_ms: f64,
    /// The solver that suits it, with the reason.
    chosen: Option<(Kind, String)>,
}

impl Bound {
    fn new(bodies: &mut Bodies, size: BodySize) -> Result<Self, Missed> {
        let body = bodies.of(size)?;
        let start = Instant::now();
        let actor = Actor::bind(
            &body.subject,
            MethodId::PD,
            &Params {
                collisions: Collisions::Off,
                ..Params::default()
            },
            &Progress::new(),
        )?;
        Ok(Self {
            size,
            body,
            actor,
            bind_ms: start.elapsed().as_secs_f64() * 1e3,
            chosen: None,
        })
    }

    /// The constants of a kind of solver, for an actor with these parameters.
    fn model(&mut self, run: &Run<'_>, params: &Params, kind: Kind) -> Result<Model, Missed> {
        self.actor.set_device(None);
        self.actor.set_params(params)?;
        let Some(flesh) = self.actor.projective() else {
            return Err(Missed::Failed("nothing is simulated".to_owned()));
        };
        let start = Instant::now();
        if self.chosen.is_none() {
            let equations = flesh.simulation().equations();
            let choice = GlobalSolver::choose(&equations, Limits::of(run.gpu));
            self.chosen = Some((choice.kind, choice.reason));
        }
        match GpuModel::with_solver(run.gpu, &self.actor, Some(kind)) {
            Ok(model) => Ok(Model {
                model: Arc::new(model),
                model_ms: start.elapsed().as_secs_f64() * 1e3,
            }),
            // What does not fit is no fault: the sentence says what it takes.
            Err(error @ DeviceError::Unfit { .. }) if kind == Kind::Inverse => {
                Err(Missed::Skipped(error.to_string()))
            }
            Err(error) => Err(error.into()),
        }
    }

    fn variant(
        &mut self,
        run: &Run<'_>,
        Model { model, model_ms }: &Model,
        params: &Params,
    ) -> Result<FleshRecord, Missed> {
        self.actor.set_device(None);
        self.actor.set_params(params)?;
        let collides = params.collisions != Collisions::Off;
        let device = GpuFlesh::new(model.clone())?;
        let passes_step = if collides {
            device.passes_with_contacts()
        } else {
            device.passes().0
        };
        let passes_surface = device.passes().1;
        GpuDevice::Flesh(Box::new(device)).give_to(&mut self.actor);
        let mut player = Player::new(&mut self.actor, run.scale);
        player.play(run.gpu, run.scale.ramp() + 1)?;
        let played = player.play(run.gpu, run.scale.frames())?;
        // Passes that are measured one by one can't overlap: separately.
        let mut profiled = GpuDevice::Flesh(Box::new(GpuFlesh::new(model.clone())?));
        profiled.set_profiled(true);
        profiled.give_to(player.actor);
        let stages_ms = player.play(run.gpu, run.scale.profiled_frames())?.stages_ms;
        let bytes = model.step_bytes();
        let chosen = self.chosen.clone();
        let rates =
            (!collides).then(|| Rates::of(&bytes, stages_ms, played.frame_ms, run.copy_gb_s));
        Ok(FleshRecord {
            size: self.size.name,
            character: CharacterSize::of(&self.body.subject, MethodId::PD),
            acceleration: params.acceleration,
            iterations: params.iterations,
            solver: solver_name(model.solver_kind()),
            chosen: chosen
                .as_ref()
                .is_some_and(|(kind, _)| *kind == model.solver_kind()),
            choice: chosen.map(|(_, reason)| reason),
            contacts: collides,
            contacts_mean: played.contacts_mean,
            contacts_most: played.contacts_most,
            detection_ms: played.detection_ms,
            skin_ms: self.body.setup_ms,
            bind_ms: self.bind_ms,
            model_ms: *model_ms,
            frames: played.frames,
            frames_per_s: 1e3 / played.frame_ms.max(1e-6),
            frame_ms: played.frame_ms,
            host_ms: played.host_ms,
            stages_ms,
            passes_step,
            passes_surface,
            model: model.size(),
            bytes_step: bytes,
            rates,
            memory_mb: peak_memory_mb(),
        })
    }
}
