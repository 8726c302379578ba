//! Options that every verb takes.

use std::path::PathBuf;

use clap::Args;

use super::{Failure, Outcome};
use crate::cache::Cache;
use crate::character::{BoneSettings, LEAST_SIM_VERTICES, MOST_JIGGLE, SimVertices};
use crate::dynamics::{Collisions, MAX_ACCELERATION, Params, Preset};
use crate::session::{DeviceChoice, ProjectState, up_axis};
use crate::skin::{Method, Subject};

/// Which character.
#[derive(Debug, Clone, Args)]
pub(super) struct CharacterOptions {
    /// A project (.sinew); or one character, in any order: a mesh or scene (.glb .gltf .vrm .fbx .obj .off .ply .stl .mesh); for a mesh without joints a
    /// skeleton (.skel .tgf, or another scene) and perhaps weights (.dmat); motions (.anim, or further scenes); or an .ini that names
    /// them; or builtin:NAME.
    #[arg(value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// Radius of the bones that a joint carries, in the file's units, instead of the one fitted to the skin (repeatable).
    #[arg(long, value_name = "JOINT=RADIUS", value_parser = parse_radius)]
    pub(super) bone_radius: Vec<(String, f64)>,
    /// What the bones that a joint carries do, and the flesh on them (repeatable): factors on the whole body's stiffness, density,
    /// damping or jiggle, as in thigh.L=stiffness:0.5,density:1.2; virtual: the bone shapes the flesh but doesn't hold it; held: the
    /// skin there is rigid with the bone; twist: the bone twists with the joint at its end.
    #[arg(long, value_name = "JOINT=KEY[:VALUE],…", value_parser = parse_bone)]
    pub(super) bone: Vec<(String, String)>,
    /// Which joints of a .bvh move which joints of the character, instead of what their names say; `info --save-mapping` writes one.
    #[arg(long, value_name = "FILE.json")]
    pub(super) mapping: Option<PathBuf>,
    /// How a connected part of the skin moves, by its name or number as `info -v` lists them, or all parts of a mesh by the mesh's
    /// name (repeatable): flesh for tissue of its own, ride to follow the flesh next to it, or rigid:JOINT.
    #[arg(long, value_name = "NAME=flesh|ride|rigid:JOINT", value_parser = parse_part)]
    pub(super) part: Vec<(String, String)>,
    /// Length of one unit of the file in metres, instead of the one guessed: 0.01 for centimetres.
    #[arg(long, value_name = "METRES", value_parser = parse_unit)]
    pub(super) unit: Option<f64>,
}

fn parse_unit(text: &str) -> Result<f64, String> {
    let parsed = text.trim().parse::<f64>().ok().filter(|unit| (1e-9..=1e9).contains(unit));
    parsed.ok_or_else(|| "expected metres per unit above 0, as in 0.01 for centimetres".to_owned())
}

fn parse_budget(text: &str) -> Result<f64, String> {
    let parsed = text.trim().parse::<f64>().ok().filter(|ms| (0.0..=1e4).contains(ms));
    parsed.ok_or_else(|| "expected milliseconds from 0 to 10000, as in 2.5".to_owned())
}

fn parse_radius(text: &str) -> Result<(String, f64), String> {
    let parsed = text.rsplit_once('=').and_then(|(joint, radius)| Some((joint, radius.trim().parse::<f64>().ok()?)));
    match parsed {
        Some((joint, radius)) if !joint.is_empty() && radius.is_finite() && radius > 0.0 => Ok((joint.to_owned(), radius)),
        _ => Err("expected JOINT=RADIUS with a radius above 0, as in forearm.L=0.01".to_owned()),
    }
}

fn parse_bone(text: &str) -> Result<(String, String), String> {
    let (joint, edit) = text
        .rsplit_once('=')
        .filter(|(joint, _)| !joint.is_empty())
        .ok_or("expected JOINT=KEY[:VALUE],… as in belly=virtual or thigh.L=stiffness:0.5,damping:2")?;
    BoneSettings::default().edit(edit).map_err(|error| error.to_string())?;
    Ok((joint.to_owned(), edit.to_owned()))
}

fn parse_part(text: &str) -> Result<(String, String), String> {
    let parsed = text.rsplit_once('=').filter(|(name, place)| {
        let place = place.trim();
        !name.is_empty() && (matches!(place, "flesh" | "ride") || place.strip_prefix("rigid:").is_some_and(|joint| !joint.is_empty()))
    });
    let (name, place) = parsed.ok_or("expected NAME=flesh, NAME=ride or NAME=rigid:JOINT, as in Eyes=rigid:head")?;
    Ok((name.to_owned(), place.trim().to_owned()))
}

/// How to work.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Everywhere")]
pub(super) struct Options {
    /// Threads to use [default: one per core].
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) threads: Option<u16>,
    /// Local/global iterations of a simulation step [default: 7, but 10 for the preset fps].
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    pub(super) iterations: Option<u32>,
    /// Earlier iterations that Anderson acceleration combines with the newest, 0 for plain iterations [default: 3, but 0 for the preset fps].
    #[arg(long, global = true, value_name = "M", value_parser = clap::value_parser!(u32).range(0..=i64::from(MAX_ACCELERATION)))]
    pub(super) acceleration: Option<u32>,
    /// Let the iterations of a frame end after so many milliseconds; the result then depends on this machine's speed [default: never].
    #[arg(long, global = true, value_name = "MS", value_parser = parse_budget)]
    pub(super) budget: Option<f64>,
    /// Physical parameters of the flesh: firm, natural, soft, jelly, or fps for the numbers of Fast Projective Skinning.
    #[arg(long, global = true, value_parser = parse_preset, default_value = "natural")]
    pub(super) preset: Preset,
    #[command(flatten)]
    pub(super) physics: Physics,
    /// Where pd simulates and the other methods move the skin: cpu, gpu, or auto. In the window and for bench, auto measures which is faster
    /// for the character and the method; what bake and render write comes from the CPU unless gpu is said, so that it is the same on every
    /// machine [default: auto, in the window as last set].
    #[arg(long, global = true, value_name = "DEVICE", value_parser = parse_device)]
    pub(super) device: Option<DeviceChoice>,
    /// About how many vertices the simulation mesh has, or all for as many as the skin [default: 4000].
    #[arg(long, global = true, value_name = "N", value_parser = parse_sim_vertices)]
    pub(super) sim_vertices: Option<SimVertices>,
    /// How parts that touch are handled: off, local (around joints) or global [default: global, but off for the preset fps].
    #[arg(long, global = true, value_parser = parse_collisions)]
    pub(super) collisions: Option<Collisions>,
    /// Keep what is derived from characters in this folder, so that they open faster next time [default: the user's folder of caches].
    #[arg(long, global = true, value_name = "FOLDER", conflicts_with = "no_cache")]
    pub(super) cache: Option<PathBuf>,
    /// Derive everything anew, and keep nothing.
    #[arg(long, global = true)]
    pub(super) no_cache: bool,
    /// Say more; twice for details.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(super) verbose: u8,
    /// Say nothing but errors.
    #[arg(short, long, global = true)]
    pub(super) quiet: bool,
    /// Those of the project that was named: they go before the preset's if nothing is said about them.
    #[arg(skip)]
    pub(super) saved_params: Option<Params>,
}

/// Numbers that replace those of the preset.
#[derive(Debug, Clone, Args)]
pub(super) struct Physics {
    /// Stiffness of the flesh in pascals of this character, instead of the preset's for a human of 1.7 m.
    #[arg(long, global = true, value_name = "PA", value_parser = number_in(1e-3, 1e12))]
    stiffness: Option<f64>,
    /// Mass per volume, kg/m³.
    #[arg(long, global = true, value_name = "KG/M3", value_parser = number_in(1e-3, 1e6))]
    density: Option<f64>,
    /// How fast jiggling dies out, 1/s.
    #[arg(long, global = true, value_name = "1/S", value_parser = number_in(0.0, 1e4))]
    damping: Option<f64>,
    /// Gravity downwards, m/s², along the axis that `info` says is up; on the ground 9.81 [default: 0].
    #[arg(long, global = true, value_name = "M/S2", value_parser = number_in(-1e4, 1e4), allow_hyphen_values = true)]
    gravity: Option<f64>,
    /// How much the flesh jiggles: 0 follows without inertia, 1 is physical, up to 4 is exaggerated.
    #[arg(long, global = true, value_name = "FACTOR", value_parser = number_in(0.0, MOST_JIGGLE))]
    jiggle: Option<f64>,
    /// Resistance to changes of volume, relative to that against changes of shape: flesh bulges where it is squeezed [default: 0].
    #[arg(long, global = true, value_name = "WEIGHT", value_parser = number_in(0.0, 100.0))]
    volume: Option<f64>,
}

impl Physics {
    fn apply(&self, params: &mut Params) {
        if let Some(stiffness_pa) = self.stiffness {
            (params.stiffness_pa, params.human_sized) = (stiffness_pa, false);
        }
        params.density_kg_m3 = self.density.unwrap_or(params.density_kg_m3);
        params.damping_per_s = self.damping.unwrap_or(params.damping_per_s);
        if let Some(gravity) = self.gravity {
            params.gravity_m_s2 = [0.0, -gravity, 0.0];
        }
        params.jiggle = self.jiggle.unwrap_or(params.jiggle);
        params.volume = self.volume.unwrap_or(params.volume);
    }
}

/// Parses a number in a range.
fn number_in(least: f64, most: f64) -> impl Fn(&str) -> Result<f64, String> + Clone + Send + Sync + 'static {
    move |text| {
        let parsed = text.trim().parse::<f64>().ok().filter(|number| (least..=most).contains(number));
        parsed.ok_or_else(|| format!("expected a number from {least} to {most}"))
    }
}

impl Options {
    /// Applies what concerns the whole process.
    pub(super) fn check(&self) -> Outcome {
        if let Some(threads) = self.threads {
            let built = rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build_global();
            built.map_err(|error| Failure::Undone(format!("{threads} threads can't be started: {error}")))?;
        }
        Ok(())
    }

    /// The same with the physics of a project.
    pub(super) fn with_saved(&self, saved: Option<&ProjectState>) -> Self {
        Self { saved_params: saved.map(|saved| saved.params), ..self.clone() }
    }

    /// Where derived data is kept.
    pub(super) fn cache(&self) -> Cache {
        match &self.cache {
            Some(folder) => Cache::in_folder(folder),
            None if self.no_cache => Cache::none(),
            None => Cache::of_user(),
        }
    }

    /// Physical parameters as asked for, with gravity in the axes of the character.
    pub(super) fn params_for(&self, subject: &Subject) -> Params {
        let mut params = self.params();
        if let Some(saved) = self.saved_params.filter(|_| params == Params::default()) {
            params = saved;
        }
        if let Some(strength) = self.physics.gravity {
            params.gravity_m_s2 = up_axis(subject).gravity_m_s2(strength);
        }
        params
    }

    /// Physical parameters as asked for, with gravity along −Y.
    pub(super) fn params(&self) -> Params {
        let mut params = self.preset.params();
        params.iterations = self.iterations.unwrap_or(params.iterations);
        params.acceleration = self.acceleration.unwrap_or(params.acceleration);
        params.budget_ms = self.budget.or(params.budget_ms);
        params.collisions = self.collisions.unwrap_or(params.collisions);
        self.physics.apply(&mut params);
        params
    }
}

/// A method by its id.
pub(super) fn parse_method(id: &str) -> Result<Method, String> {
    Method::from_id(id).ok_or_else(|| format!("there are {}", Method::ALL.map(Method::id).join(", ")))
}

fn parse_sim_vertices(text: &str) -> Result<SimVertices, String> {
    if text.eq_ignore_ascii_case("all") {
        return Ok(SimVertices::All);
    }
    let parsed = text.trim().parse::<usize>().ok().filter(|&number| number >= LEAST_SIM_VERTICES);
    parsed.map(SimVertices::About).ok_or_else(|| format!("expected a number of at least {LEAST_SIM_VERTICES}, or all"))
}

fn parse_collisions(id: &str) -> Result<Collisions, String> {
    Collisions::from_id(id).ok_or_else(|| format!("there are {}", Collisions::ALL.map(Collisions::id).join(", ")))
}

fn parse_device(id: &str) -> Result<DeviceChoice, String> {
    DeviceChoice::from_id(id).ok_or_else(|| format!("there are {}", DeviceChoice::ALL.map(DeviceChoice::id).join(", ")))
}

fn parse_preset(id: &str) -> Result<Preset, String> {
    Preset::from_id(id).ok_or_else(|| format!("there are {}", Preset::ALL.map(Preset::id).join(", ")))
}
