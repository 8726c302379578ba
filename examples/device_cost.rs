//! What the processor spends on a graphics device: kernels and constants of a character, the first time and again; and then each frame,
//! for uploads, encoding and submission.
//!
//! `cargo run --release --example device_cost [--sim-vertices N] [FILE]` (by default the mannequin, with 5 000).

use std::error::Error;
use std::f64::consts::TAU;
use std::sync::Arc;
use std::time::Instant;

use sinew::character::{FleshBase, FleshSettings, SimVertices};
use sinew::dynamics::{Collisions, Params, Preset};
use sinew::gpu::GpuContext;
use sinew::gpu::actor::{GpuFlesh, GpuModel};
use sinew::math::{Affine, Quat};
use sinew::methods::{Actor, AnyDevice, Frame, MethodId, Subject};
use sinew::progress::Progress;
use sinew::session::{Source, load};

const WARM_UP: usize = 10;
const FRAMES: usize = 100;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let (count, rest) = match &arguments[..] {
        [option, count, rest @ ..] if option == "--sim-vertices" => (count.parse()?, rest),
        rest => (5000, rest),
    };
    let progress = Progress::new();
    let source = rest.first().map_or_else(
        || Source::builtin("mannequin"),
        |file| Source::of_files(vec![file.into()]),
    );
    let subject = Subject::build(Arc::new(load(&source, &progress)?), &progress)?;
    let settings = FleshSettings {
        sim_vertices: SimVertices::About(count),
        // What graphics devices simulate.
        base: FleshBase::Bones,
        ..FleshSettings::default()
    };
    let subject = Arc::new(subject.with_settings(&settings));
    let gpu = GpuContext::headless()?;
    println!(
        "{}, {} simulated vertices",
        gpu.description(),
        subject.sim().mesh.positions.len()
    );
    let natural = Preset::Natural.params();
    for collisions in [Collisions::Off, natural.collisions] {
        measure(
            &gpu,
            &subject,
            &Params {
                collisions,
                ..natural
            },
        )?;
    }
    Ok(())
}

fn measure(
    gpu: &GpuContext,
    subject: &Arc<Subject>,
    params: &Params,
) -> Result<(), Box<dyn Error>> {
    let progress = Progress::new();
    let mut actor = Actor::bind(subject, MethodId::PD, params, &progress)?;
    println!("collisions {:?}", params.collisions);
    let mut model = None;
    for time in ["first", "again"] {
        let start = Instant::now();
        model = Some(Arc::new(GpuModel::new(gpu, &actor)?));
        println!("  kernels and constants, {time}: {:8.2} ms", since(start));
    }
    let Some(model) = model else { return Ok(()) };
    let flesh = GpuFlesh::new(model)?;
    let (step, surface) = flesh.passes();
    actor.set_device(Some(AnyDevice::Flesh(Box::new(flesh))));
    actor.set_reads_back(false);
    let mut host_ms = Vec::new();
    for frame in 0..WARM_UP + FRAMES {
        let dt_secs = if frame == 0 {
            0.0
        } else {
            params.time_step_secs
        };
        let world_from_joint = swayed(subject, frame as f64 * params.time_step_secs);
        actor.advance(&Frame {
            world_from_joint: &world_from_joint,
            dt_secs,
        })?;
        if frame >= WARM_UP && actor.times().host_ms > 0.0 {
            host_ms.push(actor.times().host_ms);
        }
    }
    host_ms.sort_by(f64::total_cmp);
    let contacts = actor
        .projective()
        .and_then(|flesh| flesh.simulation().contacts())
        .map_or(0, |contacts| contacts.report().watched);
    let of = |part: f64| {
        host_ms
            .get((host_ms.len() as f64 * part) as usize)
            .copied()
            .unwrap_or(0.0)
    };
    println!(
        "  {step} passes a step without contacts, {surface} a frame after it; {contacts} contacts at the end"
    );
    println!(
        "  processor, a frame: median {:.3} ms, 90 % below {:.3} ms",
        of(0.5),
        of(0.9)
    );
    Ok(())
}

fn since(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e3
}

/// All joints sway, each at its own phase.
fn swayed(subject: &Subject, time_secs: f64) -> Vec<Affine> {
    let skeleton = &subject.character.skeleton;
    let mut pose = skeleton.rest_pose();
    for (joint, local) in pose.locals.iter_mut().enumerate() {
        let phase = TAU * time_secs + joint as f64 * 0.37;
        local.rotation *= Quat::from_euler_angles(
            0.3 * phase.sin(),
            0.3 * (0.7 * phase).cos(),
            0.3 * (1.3 * phase).sin(),
        );
    }
    skeleton.world_from_joint(&pose)
}
