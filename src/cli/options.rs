//! Options that every verb takes.

use std::path::PathBuf;

use clap::Args;

use super::physics::PhysicsOptions;
use super::{CommandResult, Failure};
use crate::cache::Cache;
use crate::character::{BoneSettings, FleshBase, LEAST_SIM_VERTICES, MuscleText, SimVertices};
use crate::dynamics::{Collisions, GRAVITY, Params, Preset};
use crate::methods::{MethodId, MethodValues, Subject, registry};
use crate::param::{ParamSpec, ParamValues};
use crate::report::Variant;
use crate::session::{DeviceChoice, ProjectState};

/// Which character.
#[derive(Debug, Clone, Default, Args)]
pub(super) struct CharacterOptions {
    /// A project (.sinew); or one character, in any order: a mesh or scene (.glb .gltf .vrm .fbx .usd .obj .off .ply .stl .mesh); for a mesh without joints a
    /// skeleton (.skel .tgf, or another scene) and perhaps weights (.dmat); motions (.anim, or further scenes); or an .ini that names
    /// them; or builtin:NAME.
    #[arg(value_name = "FILE")]
    pub(super) files: Vec<PathBuf>,
    /// Radius of the bones that a joint carries, in the file's units, instead of the one fitted to the skin (repeatable).
    #[arg(long, value_name = "JOINT=RADIUS", value_parser = parse_radius)]
    pub(super) bone_radius: Vec<(String, f64)>,
    /// Settings of the bones that a joint carries and of the flesh on them (repeatable). Factors on the body's stiffness, density,
    /// damping or jiggle: thigh.L=stiffness:0.5,density:1.2; virtual: the bone shapes the flesh but does not hold it; held: the
    /// skin there is rigid with the bone; twist: the bone twists with the joint at its end; meeting:contact, bulge, union or blend: how
    /// the joint's part meets its parent's in implicit skinning, with opening:20-120 for the angles in degrees between which it begins and
    /// is full, depth:0.8 for less of it and bulge:0.5 for smaller bulges.
    #[arg(long, value_name = "JOINT=KEY[:VALUE],…", value_parser = parse_bone)]
    pub(super) bone: Vec<(String, String)>,
    /// A muscle of implicit skinning (repeatable): an ellipsoid beside a bone that swells as a joint bends. bone: the joint that carries
    /// it; driver: the joint whose bend it follows [default: the next one that bends the limb]; from, to: its ends along the limb, 0 to 1;
    /// angle: degrees about the limb, 0 on the side that the driver bends to; depth and thickness: distance of its middle from the axis
    /// and half its width, in radii of the limb; bulge: how much wider it gets; range: degrees of the driver's bend between which it
    /// swells; meets:union or blend. Only bone is required:
    /// biceps.L=bone:upper_arm.L,from:0.15,to:0.9,angle:0,depth:0.45,thickness:0.5,bulge:0.7,range:20-120,meets:union
    #[arg(long, value_name = "NAME=bone:JOINT[,KEY:VALUE]…", value_parser = parse_muscle)]
    pub(super) muscle: Vec<String>,
    /// Joint mapping for a .bvh, instead of matching by name; `info --save-mapping` writes one.
    #[arg(long, value_name = "FILE.json")]
    pub(super) mapping: Option<PathBuf>,
    /// Joint of the motions that drives a joint of the character, instead of the one that was matched (repeatable): hand.L=LeftHand;
    /// nothing after the sign: it is not driven. For motions of other skeletons; `info` shows what is matched.
    #[arg(long, value_name = "JOINT=[MOTION_JOINT]", value_parser = parse_map)]
    pub(super) map: Vec<(String, Option<String>)>,
    /// How a connected part of the skin moves (repeatable). The part is given by its name or number from `info -v`, or by the name of a
    /// mesh for all of its parts. flesh: simulated; ride: follows the flesh next to it; rigid:JOINT: rigid with the joint.
    #[arg(long, value_name = "NAME=flesh|ride|rigid:JOINT", value_parser = parse_part)]
    pub(super) part: Vec<(String, String)>,
    /// Length of one unit of the file in metres, instead of the guessed one: 0.01 for centimetres.
    #[arg(long, value_name = "METRES", value_parser = parse_unit)]
    pub(super) unit: Option<f64>,
    /// Also read textures and other files that lie in the folder above the file that names them. Without it only its own folder
    /// and folders within it are read, because a file can name any file of this computer.
    #[arg(long)]
    pub(super) parent_folder: bool,
}

fn parse_unit(text: &str) -> Result<f64, String> {
    let parsed = text
        .trim()
        .parse::<f64>()
        .ok()
        .filter(|unit| (1e-9..=1e9).contains(unit));
    parsed.ok_or_else(|| "expected metres per unit above 0, as in 0.01 for centimetres".to_owned())
}

fn parse_radius(text: &str) -> Result<(String, f64), String> {
    let parsed = text
        .rsplit_once('=')
        .and_then(|(joint, radius)| Some((joint, radius.trim().parse::<f64>().ok()?)));
    match parsed {
        Some((joint, radius)) if !joint.is_empty() && radius.is_finite() && radius > 0.0 => {
            Ok((joint.to_owned(), radius))
        }
        _ => Err("expected JOINT=RADIUS with a radius above 0, as in forearm.L=0.01".to_owned()),
    }
}

fn parse_bone(text: &str) -> Result<(String, String), String> {
    let (joint, edit) = text
        .rsplit_once('=')
        .filter(|(joint, _)| !joint.is_empty())
        .ok_or(
            "expected JOINT=KEY[:VALUE],… as in belly=virtual or thigh.L=stiffness:0.5,damping:2",
        )?;
    BoneSettings::default()
        .edit(edit)
        .map_err(|error| error.to_string())?;
    Ok((joint.to_owned(), edit.to_owned()))
}

fn parse_muscle(text: &str) -> Result<String, String> {
    MuscleText::parse(text).map_err(|error| error.to_string())?;
    Ok(text.to_owned())
}

fn parse_map(text: &str) -> Result<(String, Option<String>), String> {
    let (joint, source) = text
        .split_once('=')
        .map(|(joint, source)| (joint.trim(), source.trim()))
        .filter(|(joint, _)| !joint.is_empty())
        .ok_or("expected JOINT=MOTION_JOINT as in hand.L=LeftHand, or JOINT= for none")?;
    let source = (!source.is_empty()).then(|| source.to_owned());
    Ok((joint.to_owned(), source))
}

fn parse_part(text: &str) -> Result<(String, String), String> {
    let parsed = text.rsplit_once('=').filter(|(name, place)| {
        let place = place.trim();
        !name.is_empty()
            && (matches!(place, "flesh" | "ride")
                || place
                    .strip_prefix("rigid:")
                    .is_some_and(|joint| !joint.is_empty()))
    });
    let (name, place) = parsed
        .ok_or("expected NAME=flesh, NAME=ride or NAME=rigid:JOINT, as in Eyes=rigid:head")?;
    Ok((name.to_owned(), place.trim().to_owned()))
}

/// Options of every verb.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Everywhere")]
pub(super) struct Options {
    /// Threads to use [default: one per core].
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    pub(super) threads: Option<u16>,
    /// Preset of the physical parameters: firm, natural, soft, jelly, or fps for the values of Fast Projective Skinning [default:
    /// natural; of a project, its own].
    #[arg(long, global = true, value_parser = parse_preset)]
    pub(super) preset: Option<Preset>,
    #[command(flatten)]
    pub(super) physics: PhysicsOptions,
    /// A method's own parameter, as in normals=exact (repeatable).
    #[arg(long = "set", global = true, value_name = "KEY=VALUE", value_parser = parse_value)]
    pub(super) values: Vec<(String, String)>,
    /// Where to compute methods: cpu, gpu, or auto. In the window and in bench, auto measures which is faster
    /// for the character and the method. bake and render use the CPU unless gpu is given, so that the output is the same on every
    /// machine [default: auto; in the window, the last setting].
    #[arg(long, global = true, value_name = "DEVICE", value_parser = parse_device)]
    pub(super) device: Option<DeviceChoice>,
    /// Approximate number of vertices of the simulation mesh, or all for as many as the skin has [default: 8000].
    #[arg(long, global = true, value_name = "N", value_parser = parse_sim_vertices)]
    pub(super) sim_vertices: Option<SimVertices>,
    /// What the inner surface of the flesh follows: weights (the skin's) or bones (as in the papers) [default: weights; bones
    /// for the preset fps].
    #[arg(long, global = true, value_parser = parse_base)]
    pub(super) base: Option<FleshBase>,
    /// Collision handling: off, local (around joints) or global [default: global; off for the preset fps].
    #[arg(long, global = true, value_parser = parse_collisions)]
    pub(super) collisions: Option<Collisions>,
    /// Folder of the cache of derived data, which makes a character open faster the next time [default: the user's cache folder].
    #[arg(
        long,
        global = true,
        value_name = "FOLDER",
        conflicts_with = "no_cache"
    )]
    pub(super) cache: Option<PathBuf>,
    /// Do not read or write the cache.
    #[arg(long, global = true)]
    pub(super) no_cache: bool,
    /// Print more messages; twice for details, three times for the times of passes on the device.
    #[arg(short, long, global = true, action = clap::ArgAction::Count)]
    pub(super) verbose: u8,
    /// Print errors only.
    #[arg(short, long, global = true)]
    pub(super) quiet: bool,
    /// Print progress to stdout as a render farm of Open Job Description reads it.
    #[arg(long, global = true, hide = true)]
    pub(super) openjd: bool,
    /// The project's values, used if no preset is given.
    #[arg(skip)]
    pub(super) saved_params: Option<Params>,
    /// The project's values of the methods' own parameters.
    #[arg(skip)]
    pub(super) saved_values: MethodValues,
}

/// A sentence about a folder of the cache that cannot be written to.
fn unwritable(folder: &std::path::Path) -> Option<String> {
    let error = crate::files::make_writable(folder).err()?;
    let folder = folder.display();
    Some(format!(
        "the cache {folder} can't be written to ({error}); derived data are computed again each time"
    ))
}

impl Options {
    /// The values given for a method's own parameters; where none are given, the project's.
    pub(super) fn values_for(&self, method: MethodId) -> Result<ParamValues, Failure> {
        let specs = method.descriptor().params;
        let mut values = self.saved_values.of(method);
        for (key, value) in &self.values {
            if specs.iter().any(|spec| spec.key == key) {
                values.set_text(specs, key, value)?;
            }
        }
        Ok(values)
    }

    /// The row of a method in a comparison.
    pub(super) fn variant(&self, method: MethodId, subject: &Subject) -> Result<Variant, Failure> {
        Ok(Variant::of(
            method,
            self.values_for(method)?,
            self.params_for(subject),
        ))
    }

    /// Applies options of the whole process.
    pub(super) fn check(&self) -> CommandResult {
        if let Some(threads) = self.threads {
            let built = rayon::ThreadPoolBuilder::new()
                .num_threads(threads.into())
                .build_global();
            built.map_err(|error| {
                Failure::Undone(format!("{threads} threads can't be started: {error}"))
            })?;
        }
        Ok(())
    }

    /// The same with the project's physics as the default.
    pub(super) fn with_saved(&self, saved: Option<&ProjectState>) -> Self {
        Self {
            saved_params: saved.map(|saved| saved.params),
            saved_values: saved
                .map_or_else(MethodValues::default, |saved| saved.method_values.clone()),
            ..self.clone()
        }
    }

    /// Location of derived data.
    pub(super) fn cache(&self) -> Cache {
        // Once in a process: verbs ask for the cache several times.
        static SAID: std::sync::Once = std::sync::Once::new();
        let (cache, notice) = match &self.cache {
            Some(folder) => (Cache::in_folder(folder), unwritable(folder)),
            None if self.no_cache => (Cache::none(), None),
            None => Cache::of_user_with_notice(),
        };
        if let Some(notice) = notice.filter(|_| !self.quiet) {
            SAID.call_once(|| super::lines::line(&format!("note: {notice}")));
        }
        cache
    }

    /// What the base of the flesh follows, if it was given.
    pub(super) fn flesh_base(&self) -> Option<FleshBase> {
        let of_preset = || {
            self.preset
                .filter(|preset| *preset == Preset::Fps)
                .map(|_| FleshBase::Bones)
        };
        self.base.or_else(of_preset)
    }

    /// The requested physical parameters, with gravity in the axes of the character.
    pub(super) fn params_for(&self, subject: &Subject) -> Params {
        let mut params = self.params();
        if let Some(strength) = self.physics.value(&GRAVITY) {
            params.gravity_m_s2 = subject.up_axis().gravity_m_s2(strength);
        }
        params
    }

    /// The requested physical parameters, with gravity along −Y.
    pub(super) fn params(&self) -> Params {
        let mut params = self
            .preset
            .map(Preset::params)
            .or(self.saved_params)
            .unwrap_or_default();
        params.collisions = self.collisions.unwrap_or(params.collisions);
        self.physics.apply(&mut params);
        params
    }
}

/// An unknown id with at most this many wrong letters is taken for a mistyped one.
const MISTYPED: usize = 2;

/// A method by its id.
pub(super) fn parse_method(id: &str) -> Result<MethodId, String> {
    MethodId::from_id(id).ok_or_else(|| {
        let known = registry();
        let distance = |known: &&str| strsim::damerau_levenshtein(known, id);
        let nearest = known
            .iter()
            .map(|method| method.id())
            .min_by_key(distance)
            .filter(|nearest| distance(nearest) <= MISTYPED.min(id.len() / 2));
        let meant = nearest.map_or_else(String::new, |nearest| format!("did you mean {nearest}? "));
        format!("{meant}there are {}", method_ids())
    })
}

/// The value of a parameter, checked against the methods that declare it.
fn parse_value(text: &str) -> Result<(String, String), String> {
    let (key, value) = text
        .split_once('=')
        .ok_or("expected KEY=VALUE, as in turns=2")?;
    let declared: Vec<&ParamSpec> = registry()
        .iter()
        .flat_map(|method| method.descriptor().params)
        .collect();
    // Several methods may declare a key; a value is checked again for the method that is used.
    let mut results = declared
        .iter()
        .filter(|spec| spec.key == key)
        .map(|spec| spec.parse(value));
    let Some(first) = results.next() else {
        let mut keys: Vec<&str> = Vec::new();
        for spec in &declared {
            if !keys.contains(&spec.key) {
                keys.push(spec.key);
            }
        }
        let known = if keys.is_empty() {
            "no method has parameters of its own".to_owned()
        } else {
            format!("there are {}", keys.join(", "))
        };
        return Err(format!("no method has a parameter \"{key}\"; {known}"));
    };
    if let Err(error) = first
        && !results.any(|result| result.is_ok())
    {
        return Err(error.to_string());
    }
    Ok((key.to_owned(), value.to_owned()))
}

/// The ids of all methods, as in "rigid, lbs, dqs, pd".
pub(super) fn method_ids() -> String {
    let ids: Vec<&str> = registry().iter().map(|method| method.id()).collect();
    ids.join(", ")
}

/// The help of an option that takes a method.
pub(super) fn method_help(rest: &str) -> String {
    format!("The method: {}{rest}", method_ids())
}

/// The help of an option that takes several methods.
pub(super) fn methods_help() -> String {
    format!(
        "The methods, side by side in one row (more than four: in a grid), as in lbs,dqs,pd; there are {} [default: of a project, what \
         its active view shows]",
        method_ids()
    )
}

pub(super) fn parse_sim_vertices(text: &str) -> Result<SimVertices, String> {
    if text.eq_ignore_ascii_case("all") {
        return Ok(SimVertices::All);
    }
    let parsed = text
        .trim()
        .parse::<usize>()
        .ok()
        .filter(|&number| number >= LEAST_SIM_VERTICES);
    parsed
        .map(SimVertices::About)
        .ok_or_else(|| format!("expected a number of at least {LEAST_SIM_VERTICES}, or all"))
}

pub(super) fn parse_collisions(id: &str) -> Result<Collisions, String> {
    Collisions::from_id(id).ok_or_else(|| {
        format!(
            "there are {}",
            Collisions::ALL.map(Collisions::id).join(", ")
        )
    })
}

fn parse_device(id: &str) -> Result<DeviceChoice, String> {
    DeviceChoice::from_id(id).ok_or_else(|| {
        format!(
            "there are {}",
            DeviceChoice::ALL.map(DeviceChoice::id).join(", ")
        )
    })
}

pub(super) fn parse_base(id: &str) -> Result<FleshBase, String> {
    FleshBase::from_id(id)
        .ok_or_else(|| format!("there are {}", FleshBase::ALL.map(FleshBase::id).join(", ")))
}

pub(super) fn parse_preset(id: &str) -> Result<Preset, String> {
    Preset::from_id(id)
        .ok_or_else(|| format!("there are {}", Preset::ALL.map(Preset::id).join(", ")))
}
