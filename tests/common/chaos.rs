//! Poses at random, with jumps, as no animation has them: what the flesh must live through.
//!
//! Shared by `tests/flesh/robust.rs` (a sample) and `examples/torture_flesh.rs` (everything).

use std::f64::consts::PI;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use sinew::character::Character;
use sinew::dynamics::{Collisions, Params, Preset};
use sinew::math::{Affine, Point, Quat, Vec64};
use sinew::methods::{Actor, Frame, MethodId, Subject};
use sinew::progress::Progress;
use sinew::rig::{Pose, Skeleton, Trs};

use super::random::Random;
use super::scaled;

/// Time steps, s.
const STEPS_SECS: [f64; 5] = [1.0 / 240.0, 1.0 / 120.0, 1.0 / 60.0, 1.0 / 30.0, 1.0 / 15.0];
/// Stiffness over six decades, Pa.
const STIFFNESS_PA: [f64; 7] = [2e4, 20.0, 2e7, 2e3, 2e6, 2e2, 2e5];
/// Scales of the geometry, and of the unit.
const SCALES: [(f64, f64); 7] = [
    (1.0, 1.0),
    (1e-3, 1e3),
    (1e3, 1e-3),
    (1.0, 10.0),
    (10.0, 1.0),
    (1.0, 1e-3),
    (1e-3, 1.0),
];
/// Threads.
const THREADS: [usize; 3] = [1, 4, 2];

/// Farther from its base than this many sizes no skin vertex may ever be.
pub const FARTHEST: f32 = 10.0;
/// Back in the rest pose every vertex must come this close to where it was at rest, in parts of the size.
pub const REST: f32 = 1e-3;

/// How many steps the flesh may take to swing back by itself.
const STEPS_BACK: u32 = 500;

/// One set of circumstances.
#[derive(Debug, Clone, Copy)]
pub struct Ordeal {
    pub seed: u64,
    pub step_secs: f64,
    pub stiffness_pa: f64,
    pub geometry_scale: f64,
    pub unit_scale: f64,
    pub threads: usize,
    pub collisions: Collisions,
}

impl Ordeal {
    /// Number `index` of a series in which everything meets everything sooner or later.
    pub fn number(index: usize) -> Self {
        let (geometry_scale, unit_scale) = SCALES[index / 3 % SCALES.len()];
        Self {
            seed: index as u64,
            step_secs: STEPS_SECS[(index + 2) % STEPS_SECS.len()],
            stiffness_pa: STIFFNESS_PA[index % STIFFNESS_PA.len()],
            geometry_scale,
            unit_scale,
            threads: THREADS[index % THREADS.len()],
            collisions: Collisions::Off,
        }
    }
}

impl fmt::Display for Ordeal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            seed,
            step_secs,
            stiffness_pa,
            geometry_scale,
            unit_scale,
            threads,
            collisions,
        } = self;
        let rate = 1.0 / step_secs;
        write!(
            f,
            "ordeal {seed}: 1/{rate:.0} s, {stiffness_pa:e} Pa, geometry x{geometry_scale}, unit x{unit_scale}, {threads} threads, collisions {}",
            collisions.id()
        )
    }
}

/// What became of the flesh.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// What went wrong, if anything; one sentence each.
    pub failures: Vec<String>,
    /// Steps gone through.
    pub steps: usize,
    /// Largest distance of a skin vertex from its base, sizes.
    pub farthest: f32,
    /// Distance from rest after swinging back, if the flesh had the time for it, sizes.
    pub swung: Option<f32>,
    /// Distance from rest after settling there, sizes.
    pub settled: f32,
}

/// Goes through an ordeal of `steps` steps.
pub fn endure(character: &Character, ordeal: Ordeal, steps: usize) -> Outcome {
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(ordeal.threads)
        .build()
        .expect("threads");
    pool.install(|| Trial::new(character, ordeal).run(steps))
}

struct Trial {
    subject: Arc<Subject>,
    actor: Actor,
    random: Random,
    ordeal: Ordeal,
    outcome: Outcome,
    rest: Vec<Point>,
}

impl Trial {
    fn new(character: &Character, ordeal: Ordeal) -> Self {
        let mut character = if ordeal.geometry_scale == 1.0 {
            character.clone()
        } else {
            scaled::scaled(character, ordeal.geometry_scale)
        };
        character.metres_per_unit *= ordeal.unit_scale;
        let subject =
            Arc::new(Subject::build(Arc::new(character), &Progress::new()).expect("builds"));
        let actor =
            Actor::bind(&subject, MethodId::PD, &params(ordeal), &Progress::new()).expect("binds");
        let outcome = Outcome::default();
        let mut trial = Self {
            subject,
            actor,
            random: Random(ordeal.seed ^ 0x9e37_79b9_7f4a_7c15),
            ordeal,
            outcome,
            rest: Vec::new(),
        };
        trial.frame(
            "at rest",
            &Place::rest(&trial.subject.character.skeleton),
            0.0,
        );
        trial.rest = trial.actor.positions().to_vec();
        trial
    }

    fn run(mut self, steps: usize) -> Outcome {
        let step_secs = self.ordeal.step_secs;
        let skeleton = self.subject.character.skeleton.clone();
        let mut place = Place::rest(&skeleton);
        let mut script = Script::new(
            &mut self.random,
            &skeleton,
            &place,
            f64::from(self.subject.size),
        );
        while self.outcome.steps < steps && self.outcome.failures.is_empty() {
            if script.is_over() {
                script = Script::new(
                    &mut self.random,
                    &skeleton,
                    &place,
                    f64::from(self.subject.size),
                );
            }
            place = script.next();
            // Displays of all speeds.
            let dt_secs = step_secs * [1.0, 1.0, 1.0, 0.4, 2.5][self.random.below(5)];
            self.frame("in chaos", &place, dt_secs);
            self.outcome.steps += 1;
        }
        if self.outcome.failures.is_empty() {
            self.come_back(&Place::rest(&skeleton));
        }
        self.outcome
    }

    /// Back to rest: first by itself, as far as it has the time for it, then settled.
    fn come_back(&mut self, rest: &Place) {
        for _ in 0..STEPS_BACK {
            self.frame("on the way back", rest, self.ordeal.step_secs);
            if self.farthest_from_rest().1 < 0.02 * REST || !self.outcome.failures.is_empty() {
                break;
            }
        }
        if f64::from(STEPS_BACK) * self.ordeal.step_secs > 20.0 * self.relaxation_secs() {
            let (vertex, swung) = self.farthest_from_rest();
            self.outcome.swung = Some(swung);
            if swung >= REST || swung.is_nan() {
                self.outcome.failures.push(format!(
                    "swings back to {swung:e} of the size from rest (vertex {vertex})"
                ));
            }
        }
        self.frame("settling", rest, 0.0);
        let (vertex, settled) = self.farthest_from_rest();
        self.outcome.settled = settled;
        if settled >= REST || settled.is_nan() {
            self.outcome.failures.push(format!(
                "settles {settled:e} of the size from rest (vertex {vertex})"
            ));
        }
    }

    /// In which time a disturbance of flesh that is a tenth of the size thick becomes a third: damped swings, or creeping.
    fn relaxation_secs(&self) -> f64 {
        let params = params(self.ordeal);
        let thickness_m =
            0.1 * f64::from(self.subject.size) * self.subject.character.metres_per_unit;
        let frequency = (params.stiffness_pa / params.density_kg_m3).sqrt() / thickness_m;
        (2.0 / params.damping_per_s).max(params.damping_per_s / (frequency * frequency))
    }

    fn frame(&mut self, when: &str, place: &Place, dt_secs: f64) {
        let root = place.root.to_affine();
        let world: Vec<Affine> = self
            .subject
            .character
            .skeleton
            .world_from_joint(&place.pose)
            .iter()
            .map(|joint| root * joint)
            .collect();
        let step = self.outcome.steps;
        if let Err(error) = self.actor.advance(&Frame {
            world_from_joint: &world,
            dt_secs,
        }) {
            self.outcome
                .failures
                .push(format!("{when}, step {step}: {error}"));
            return;
        }
        let finite = |c: &f32| c.is_finite();
        let good = self.actor.positions().iter().all(|p| p.iter().all(finite))
            && self.actor.normals().iter().all(|n| n.iter().all(finite));
        if !good {
            self.outcome.failures.push(format!(
                "{when}, step {step}: a number that is not finite came out"
            ));
        }
        let Some(simulation) = self
            .actor
            .projective()
            .map(sinew::methods::Projective::simulation)
        else {
            return;
        };
        let distances = simulation
            .positions()
            .iter()
            .zip(simulation.base())
            .map(|(skin, base)| (skin - base).norm());
        let farthest = distances.fold(0.0, f32::max) / self.subject.size;
        self.outcome.farthest = self.outcome.farthest.max(farthest);
        if farthest > FARTHEST {
            self.outcome.failures.push(format!(
                "{when}, step {step}: skin is {farthest} sizes away from its bone"
            ));
        }
    }

    /// The source vertex that is farthest from where it was at rest, and how far that is, sizes.
    fn farthest_from_rest(&self) -> (usize, f32) {
        let distances = self
            .actor
            .positions()
            .iter()
            .zip(&self.rest)
            .map(|(a, b)| (a - b).norm() / self.subject.size)
            .enumerate();
        distances
            .max_by(|a, b| a.1.total_cmp(&b.1))
            .unwrap_or_default()
    }
}

fn params(ordeal: Ordeal) -> Params {
    let Ordeal {
        stiffness_pa,
        step_secs: time_step_secs,
        collisions,
        ..
    } = ordeal;
    // The scale shall count.
    Params {
        stiffness_pa,
        time_step_secs,
        collisions,
        human_sized: false,
        ..Preset::Natural.params()
    }
}

/// A pose, and where in the world.
#[derive(Clone)]
struct Place {
    pose: Pose,
    root: Trs,
}

impl Place {
    fn rest(skeleton: &Skeleton) -> Self {
        Self {
            pose: skeleton.rest_pose(),
            root: Trs::IDENTITY,
        }
    }
}

/// A few frames: from one pose to another in no time, or in several frames, and then some rest there.
struct Script {
    from: Place,
    to: Place,
    frame: usize,
    moving: usize,
    all: usize,
}

impl Script {
    fn new(random: &mut Random, skeleton: &Skeleton, from: &Place, size: f64) -> Self {
        let mut to = Place::rest(skeleton);
        let locals = &mut to.pose.locals;
        match random.below(6) {
            0 => {}
            1 => {
                let joint = random.below(skeleton.len());
                locals[joint].rotation *= random.rotation(PI, PI);
            }
            2 => {
                locals.clone_from(&from.pose.locals);
                for local in locals {
                    local.rotation *= random.rotation(0.0, 0.4);
                }
            }
            3 => {
                locals.clone_from(&from.pose.locals);
                to.root = Trs {
                    translation: random.direction() * size,
                    rotation: random.rotation(0.0, PI),
                    ..Trs::IDENTITY
                };
            }
            _ => {
                for local in locals {
                    local.rotation *= random.rotation(0.0, PI);
                }
            }
        }
        let moving = [1, 1, 1, 3, 12][random.below(5)];
        let all = moving + random.below(10);
        Self {
            from: from.clone(),
            to,
            frame: 0,
            moving,
            all,
        }
    }

    fn is_over(&self) -> bool {
        self.frame >= self.all
    }

    fn next(&mut self) -> Place {
        self.frame += 1;
        let t = (self.frame as f64 / self.moving as f64).min(1.0);
        let locals = self
            .from
            .pose
            .locals
            .iter()
            .zip(&self.to.pose.locals)
            .map(|(a, b)| a.lerp(b, t))
            .collect();
        Place {
            pose: Pose {
                locals,
                ..Pose::default()
            },
            root: self.from.root.lerp(&self.to.root, t),
        }
    }
}

impl Random {
    /// Between 0 and 1.
    fn part(&mut self) -> f64 {
        (self.bits() >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn direction(&mut self) -> Vec64 {
        let way = Vec64::from_fn(|_, _| self.part() - 0.5);
        way.try_normalize(1e-9).unwrap_or_else(Vec64::x)
    }

    fn rotation(&mut self, least: f64, most: f64) -> Quat {
        let angle = least + (most - least) * self.part();
        Quat::from_scaled_axis(self.direction() * angle)
    }
}

/// The file itself, or all characters below a folder.
pub fn characters_in(path: &Path) -> std::io::Result<Vec<PathBuf>> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in std::fs::read_dir(path)? {
        let path = entry?.path();
        let is_character = path
            .extension()
            .is_some_and(|e| e == "glb" || e == "gltf" || e == "vrm");
        if path.is_dir() || is_character {
            files.extend(characters_in(&path)?);
        }
    }
    files.sort();
    Ok(files)
}
