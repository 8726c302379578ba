//! Cost against size: a tube with a few bones, of 1 000 to 200 000 simulated vertices.
//!
//! `cargo run --release --example scaling -- [VERTICES…]`

use std::error::Error;
use std::f64::consts::{PI, TAU};
use std::fmt::Write;
use std::sync::Arc;
use std::time::Instant;

use sinew::character::{
    Attachment, Character, FleshSettings, SimVertices, SourceFaces, SourceMesh,
};
use sinew::dynamics::{Params, Preset};
use sinew::math::{Affine, Point, Point64, Quat};
use sinew::methods::{Actor, BindError, Frame, MethodId, StepTimes, Subject};
use sinew::progress::Progress;
use sinew::rig::Skeleton;

const SIZES: [usize; 8] = [
    1_000, 2_000, 5_000, 10_000, 20_000, 50_000, 100_000, 200_000,
];
/// Steps before measuring, and measured.
const WARM_UP: usize = 10;
const STEPS: usize = 60;
/// Of the tube, m.
const LENGTH: f64 = 1.6;
const RADIUS: f64 = 0.16;
const BONES: usize = 4;

fn main() -> Result<(), Box<dyn Error>> {
    let asked: Vec<usize> = std::env::args()
        .skip(1)
        .map(|word| word.parse())
        .collect::<Result<_, _>>()?;
    let sizes = if asked.is_empty() {
        SIZES.to_vec()
    } else {
        asked
    };
    println!(
        "                    ---------- 1 thread, ms -----------------  --------- 2 threads, ms -----------------              - bytes/vertex -"
    );
    println!(
        "vertices      tets  set-up    local   global     step  ns/vert  set-up    local   global     step  ns/vert  memory MB   local  global"
    );
    for vertices in sizes {
        reset_peak_memory();
        let character = Arc::new(tube(vertices)?);
        let mut line = String::new();
        let (mut tets, mut simulated, mut bytes) = (0, 0, [0; 2]);
        for threads in [1, 2] {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()?;
            let Measured {
                setup_ms,
                step_ms,
                local_ms,
                global_ms,
                tets: t,
                vertices,
                bytes: b,
            } = pool.install(|| measure(&character))?;
            (tets, simulated, bytes) = (t, vertices, b);
            let per_vertex_ns = step_ms * 1e6 / vertices as f64;
            write!(
                line,
                "  {setup_ms:6.0}  {local_ms:7.3}  {global_ms:7.3}  {step_ms:7.3}  {per_vertex_ns:7.1}"
            )?;
        }
        let [local, global] = bytes.map(|bytes| bytes / simulated as u64);
        println!(
            "{simulated:8}  {tets:8}{line}  {:9.1}  {local:6}  {global:6}",
            peak_memory_mb()
        );
    }
    Ok(())
}

struct Measured {
    setup_ms: f64,
    step_ms: f64,
    /// All local steps of the step, and all global ones.
    local_ms: f64,
    global_ms: f64,
    tets: usize,
    vertices: usize,
    /// That an iteration touches, in its local and in its global step.
    bytes: [u64; 2],
}

/// Set-up, and the median of the steps of ten iterations while the tube writhes.
fn measure(character: &Arc<Character>) -> Result<Measured, BindError> {
    let start = Instant::now();
    let progress = Progress::new();
    let subject = Arc::new(Subject::build(character.clone(), &progress)?);
    let params = Params {
        acceleration: 0,
        iterations: 10,
        ..Preset::Natural.params()
    };
    let mut actor = Actor::bind(&subject, MethodId::PD, &params, &progress)?;
    let setup_ms = start.elapsed().as_secs_f64() * 1e3;
    let mut times = Vec::with_capacity(STEPS);
    for step in 0..WARM_UP + STEPS {
        let world = writhing(&character.skeleton, step as f64 * params.time_step_secs);
        let dt_secs = if step == 0 {
            0.0
        } else {
            params.time_step_secs
        };
        if actor
            .advance(&Frame {
                world_from_joint: &world,
                dt_secs,
            })
            .is_err()
        {
            return Err(BindError::NoTriangles);
        }
        if step >= WARM_UP {
            times.push(actor.times());
        }
    }
    let median = |part: fn(&StepTimes) -> f64| {
        let mut sorted: Vec<f64> = times.iter().map(part).collect();
        sorted.sort_by(f64::total_cmp);
        sorted[STEPS / 2]
    };
    let (step_ms, local_ms, global_ms) = (
        median(|t| t.step_ms),
        median(|t| t.local_ms),
        median(|t| t.global_ms),
    );
    let (tets, work) = subject
        .flesh()
        .map(|flesh| (flesh.tissue.quality.tets, flesh.system.work()))
        .unwrap_or_default();
    let bytes = [work.local_bytes, work.global_bytes];
    Ok(Measured {
        setup_ms,
        step_ms,
        local_ms,
        global_ms,
        tets,
        vertices: subject.sim().mesh.positions.len(),
        bytes,
    })
}

fn writhing(skeleton: &Skeleton, time_secs: f64) -> Vec<Affine> {
    let mut pose = skeleton.rest_pose();
    for (joint, local) in pose.locals.iter_mut().enumerate() {
        let phase = TAU * time_secs + joint as f64;
        local.rotation *= Quat::from_euler_angles(
            0.3 * phase.sin(),
            0.2 * phase.cos(),
            0.3 * (0.7 * phase).sin(),
        );
    }
    skeleton.world_from_joint(&pose)
}

/// A closed tube with round ends and about so many vertices, as even as can be.
fn tube(vertices: usize) -> Result<Character, Box<dyn Error>> {
    // Rings at equal distances along the profile: half a circle, a line, half a circle.
    let profile = LENGTH + PI * RADIUS;
    let around = ((vertices as f64 * TAU * RADIUS / profile).sqrt().round() as usize).max(6);
    let rings = (vertices.saturating_sub(2) / around).max(4);
    let mut positions = vec![Point::new(0.0, -RADIUS as f32, 0.0)];
    for ring in 0..rings {
        let way = profile * (ring + 1) as f64 / (rings + 1) as f64;
        let (radius, height) = on_profile(way);
        for k in 0..around {
            // Every second ring is turned by half an edge.
            let angle = TAU * (k as f64 + 0.5 * (ring % 2) as f64) / around as f64;
            positions.push(
                Point64::new(radius * angle.cos(), height, radius * angle.sin()).cast::<f32>(),
            );
        }
    }
    positions.push(Point::new(0.0, (LENGTH + RADIUS) as f32, 0.0));
    let last = positions.len() as u32 - 1;
    let at = |ring: usize, k: usize| (1 + ring * around + k % around) as u32;
    let mut triangles = Vec::with_capacity(2 * vertices);
    for k in 0..around {
        triangles.push([0, at(0, k), at(0, k + 1)]);
        triangles.push([last, at(rings - 1, k + 1), at(rings - 1, k)]);
        for ring in 0..rings - 1 {
            // Odd rings are half an edge further than even ones.
            let [apex, foot] = if ring % 2 == 0 {
                [k, k + 1]
            } else {
                [k + 1, k]
            };
            triangles.push([at(ring, k), at(ring + 1, apex), at(ring, k + 1)]);
            triangles.push([at(ring, foot), at(ring + 1, k), at(ring + 1, k + 1)]);
        }
    }
    let mesh = SourceMesh {
        name: "tube".to_owned(),
        positions,
        triangles,
        normals: None,
        tex_coords: None,
        faces: SourceFaces::default(),
        material: None,
        attachment: Attachment::Unweighted,
    };
    let joint = |k: usize| {
        let height = LENGTH * k as f64 / BONES as f64;
        (
            format!("bone{k}"),
            k.checked_sub(1),
            Point64::new(0.0, height, 0.0),
        )
    };
    let skeleton = Skeleton::from_positions(&(0..=BONES).map(joint).collect::<Vec<_>>())?;
    let flesh = FleshSettings {
        sim_vertices: SimVertices::All,
        ..FleshSettings::default()
    };
    Ok(Character {
        name: "tube".to_owned(),
        meshes: vec![mesh],
        skeleton,
        metres_per_unit: 1.0,
        flesh,
        ..Character::default()
    })
}

/// Radius and height of a place on the profile.
fn on_profile(way: f64) -> (f64, f64) {
    let quarter = PI / 2.0 * RADIUS;
    if way < quarter {
        let angle = way / RADIUS;
        (RADIUS * angle.sin(), -RADIUS * angle.cos())
    } else if way < quarter + LENGTH {
        (RADIUS, way - quarter)
    } else {
        let angle = (way - quarter - LENGTH) / RADIUS;
        (RADIUS * angle.cos(), LENGTH + RADIUS * angle.sin())
    }
}

/// Most memory held since [`reset_peak_memory`]; 0 where the system does not tell.
fn peak_memory_mb() -> f64 {
    let told = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let kilobytes = told
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .and_then(|rest| rest.split_whitespace().next());
    kilobytes
        .and_then(|number| number.parse::<f64>().ok())
        .map_or(0.0, |kilobytes| kilobytes / 1024.0)
}

/// Linux forgets the peak when asked to; elsewhere it is the peak of all sizes so far.
fn reset_peak_memory() {
    let _ = std::fs::write("/proc/self/clear_refs", "5");
}
