//! Options that every verb takes.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::{Failure, Outcome};
use crate::dynamics::{Collisions, Params, Preset};
use crate::skin::Method;

/// Which character.
#[derive(Debug, Clone, Args)]
pub(super) struct CharacterOptions {
    /// One character: a mesh or scene file, optionally with a skeleton and a motion file; or builtin:NAME.
    #[arg(value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// Radius of the bones that a joint carries, in the file's units, instead of the one fitted to the skin (repeatable).
    #[arg(long, value_name = "JOINT=RADIUS", value_parser = parse_radius)]
    pub(super) bone_radius: Vec<(String, f64)>,
    /// Length of one unit of the file in metres, instead of the one guessed: 0.01 for centimetres.
    #[arg(long, value_name = "METRES", value_parser = parse_unit)]
    pub(super) unit: Option<f64>,
}

fn parse_unit(text: &str) -> Result<f64, String> {
    let parsed = text.trim().parse::<f64>().ok().filter(|unit| (1e-9..=1e9).contains(unit));
    parsed.ok_or_else(|| "expected metres per unit above 0, as in 0.01 for centimetres".to_owned())
}

fn parse_radius(text: &str) -> Result<(String, f64), String> {
    let parsed = text.rsplit_once('=').and_then(|(joint, radius)| Some((joint, radius.trim().parse::<f64>().ok()?)));
    match parsed {
        Some((joint, radius)) if !joint.is_empty() && radius.is_finite() && radius > 0.0 => Ok((joint.to_owned(), radius)),
        _ => Err("expected JOINT=RADIUS with a radius above 0, as in forearm.L=0.01".to_owned()),
    }
}

/// How to work.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Everywhere")]
pub(super) struct Options {
    /// Threads to use [default: one per core].
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) threads: Option<u16>,
    /// Local/global iterations of a simulation step [default: 10].
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(super) iterations: Option<u32>,
    /// Physical parameters of the flesh: firm, natural, soft, jelly, or fps for the numbers of Fast Projective Skinning.
    #[arg(long, global = true, value_parser = parse_preset, default_value = "natural")]
    pub(super) preset: Preset,
    /// Where to simulate.
    #[arg(long, global = true, value_enum, default_value_t)]
    pub(super) device: Device,
    /// Vertices of the simulation mesh [default: as in the file].
    #[arg(long, global = true, value_name = "N")]
    pub(super) sim_vertices: Option<usize>,
    /// How parts that touch are handled: off, local (around joints) or global [default: global, but off for the preset fps].
    #[arg(long, global = true, value_parser = parse_collisions)]
    pub(super) collisions: Option<Collisions>,
    /// Say more; twice for details.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(super) verbose: u8,
    /// Say nothing but errors.
    #[arg(short, long, global = true)]
    pub(super) quiet: bool,
}

/// Where to simulate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub(super) enum Device {
    /// What is fastest here.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// The graphics processor.
    Gpu,
}

impl Options {
    /// Refuses what can't be done yet and applies what concerns the whole process.
    pub(super) fn check(&self) -> Outcome {
        let missing = |what: &str| Err(Failure::Undone(format!("{what} is not available in this version")));
        if self.device == Device::Gpu {
            return missing("simulation on the GPU (--device gpu)");
        }
        if self.sim_vertices.is_some() {
            return missing("a simulation mesh of another resolution than the file's (--sim-vertices)");
        }
        if self.collisions == Some(Collisions::Local) {
            return missing("contact handling around joints (--collisions local)");
        }
        if let Some(threads) = self.threads {
            let built = rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global();
            built.map_err(|error| Failure::Undone(format!("{threads} threads can't be started: {error}")))?;
        }
        Ok(())
    }

    /// Physical parameters as asked for.
    pub(super) fn params(&self) -> Params {
        let mut params = self.preset.params();
        params.iterations = self.iterations.unwrap_or(params.iterations);
        params.collisions = self.collisions.unwrap_or(params.collisions);
        params
    }
}

/// A method by its id.
pub(super) fn parse_method(id: &str) -> Result<Method, String> {
    Method::from_id(id).ok_or_else(|| format!("there are {}", Method::ALL.map(Method::id).join(", ")))
}

fn parse_collisions(id: &str) -> Result<Collisions, String> {
    Collisions::from_id(id).ok_or_else(|| format!("there are {}", Collisions::ALL.map(Collisions::id).join(", ")))
}

fn parse_preset(id: &str) -> Result<Preset, String> {
    Preset::from_id(id).ok_or_else(|| format!("there are {}", Preset::ALL.map(Preset::id).join(", ")))
}
