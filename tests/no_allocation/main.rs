//! A frame allocates nothing, on no thread that computes it.
//!
//! Frames are asked for on a thread of rayon's pool: from any other thread rayon itself takes a new block for its queue of jobs from
//! outside now and then. Only that pool's threads are counted: the harness's own thread allocates when it prints that a test has been
//! running for over a minute.
//!
//! A binary of its own: its allocator counts.

#![expect(
    unsafe_code,
    reason = "an allocator that counts can't be written without; it hands everything on to the system's"
)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use sinew::character::{Morph, MorphShape, MorphTarget, SimVertices};
use sinew::dynamics::{Collisions, Params, Preset};
use sinew::math::{Affine, Vec3};
use sinew::methods::{Actor, Capability, Frame, Subject, registry};
use sinew::progress::Progress;
use sinew::rig::MorphWeights;

/// Frames before counting, and counted.
const WARM_UP: usize = 120;
const FRAMES: usize = 60;

/// Methods whose frames of the largest character take tens of milliseconds; the others are enough for them.
const SLOW: [&str; 3] = ["implicit", "pbd", "xpbd"];

/// Whether allocations are counted now.
static COUNTING: AtomicBool = AtomicBool::new(false);
static COUNT: AtomicUsize = AtomicUsize::new(0);
/// Whether it is also noted where they happen.
static TRACING: AtomicBool = AtomicBool::new(false);
static TRACES: Mutex<BTreeMap<String, usize>> = Mutex::new(BTreeMap::new());

thread_local! {
    /// Whether this thread computes frames.
    static COUNTED: Cell<bool> = const { Cell::new(false) };
    /// Taking a trace allocates itself.
    static INSIDE: Cell<bool> = const { Cell::new(false) };
}

struct Counting;

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        note();
        // SAFETY: the caller's promise is handed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise is handed on.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        note();
        // SAFETY: the caller's promise is handed on.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        note();
        // SAFETY: the caller's promise is handed on.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn note() {
    if !COUNTING.load(Ordering::Relaxed) || !COUNTED.get() || INSIDE.get() {
        return;
    }
    COUNT.fetch_add(1, Ordering::Relaxed);
    if TRACING.load(Ordering::Relaxed) {
        INSIDE.set(true);
        let trace = std::backtrace::Backtrace::force_capture().to_string();
        // The functions of this crate and of rayon that lead there, innermost first.
        let ours = trace.lines().map(str::trim).filter(|line| {
            line.contains("sinew") || line.contains("rayon") || line.contains("crossbeam")
        });
        let names: Vec<&str> = ours
            .filter(|line| !line.starts_with("at "))
            .take(4)
            .collect();
        *TRACES
            .lock()
            .expect("no panic inside")
            .entry(names.join(" <- "))
            .or_default() += 1;
        INSIDE.set(false);
    }
}

/// The first clip over and over; made before anything is counted.
fn playing(subject: &Subject) -> Vec<Vec<Affine>> {
    let character = &subject.character;
    let clip = character.clips.first().expect("built in with clips");
    let at = |frame: usize| {
        let time_secs = (frame as f64 / 60.0).rem_euclid(clip.duration_secs);
        character
            .skeleton
            .world_from_joint(&clip.sample(&character.skeleton, time_secs))
    };
    (0..WARM_UP + FRAMES).map(at).collect()
}

fn allocations(actor: &mut Actor, poses: &[Vec<Affine>], dt_secs: f64) -> usize {
    // Of the gecko a morph comes and goes.
    let weights = [0.0, 0.5, 0.75].map(|weight| {
        let mut weights = MorphWeights::default();
        weights.set(0, weight);
        weights
    });
    counted(|| {
        for (world, weights) in poses.iter().zip(weights.iter().cycle()) {
            actor.set_morphs(weights);
            actor
                .advance(&Frame {
                    world_from_joint: world,
                    dt_secs,
                })
                .expect("moves");
        }
    })
}

/// The allocations of `work`.
fn counted(work: impl FnOnce()) -> usize {
    COUNT.store(0, Ordering::Relaxed);
    COUNTING.store(true, Ordering::SeqCst);
    work();
    COUNTING.store(false, Ordering::SeqCst);
    COUNT.load(Ordering::Relaxed)
}

/// One test for all: what other tests do meanwhile would be counted too.
#[test]
fn frames_allocate_nothing() {
    let subjects = ["mannequin", "gecko", "cylinder"].map(|name| (name, subject(name)));
    let mut failures = Vec::new();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(2)
        .start_handler(|_| COUNTED.set(true))
        .build()
        .expect("threads");
    assert_eq!(
        pool.install(|| counted(|| drop(std::hint::black_box(Box::new(1_usize))))),
        1,
        "the pool's threads are counted"
    );
    for collisions in [Collisions::Off, Collisions::Local, Collisions::Global] {
        failures.extend(pool.install(|| failures_with(collisions, &subjects)));
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

/// A built-in character, with few simulated vertices but for the mannequin; of the gecko some bones swing by themselves, twist, and hold.
fn subject(name: &str) -> Arc<Subject> {
    let mut character = sinew::io::builtin::load_builtin(name).expect("built in");
    if name != "mannequin" {
        character.flesh.sim_vertices = SimVertices::About(1000);
    }
    if name == "gecko" {
        let vertices: Vec<u32> = (0..50).collect();
        let target = MorphTarget {
            offsets: vec![Vec3::new(0.0, 1e-3, 0.0); vertices.len()],
            vertices,
            ..MorphTarget::default()
        };
        character.morphs = Arc::new([Morph {
            name: "bump".to_owned(),
            mesh: "gecko".to_owned(),
            rest_weight: 0.0,
            shapes: vec![MorphShape {
                at: 1.0,
                targets: vec![target],
            }],
        }]);
    }
    for (joint, edit) in [
        ("tail.3", "virtual"),
        ("tail.4", "virtual"),
        ("spine.1", "twist"),
        ("head", "held,stiffness:2"),
    ] {
        if let Some(joint) = character.skeleton.find(joint).filter(|_| name == "gecko") {
            character
                .flesh
                .bones
                .entry(joint)
                .or_default()
                .edit(edit)
                .expect("an edit");
        }
    }
    Arc::new(Subject::build(Arc::new(character), &Progress::new()).expect("builds"))
}

fn failures_with(collisions: Collisions, subjects: &[(&str, Arc<Subject>)]) -> Vec<String> {
    let mut failures = Vec::new();
    for (name, subject) in subjects {
        let poses = playing(subject);
        let methods = registry()
            .into_iter()
            .filter(|method| !method.has(Capability::Offline))
            .filter(|method| method.has(Capability::Contacts) || collisions == Collisions::Off)
            .filter(|method| *name != "mannequin" || !SLOW.contains(&method.id()));
        for method in methods {
            let params = Params {
                collisions,
                ..Preset::Natural.params()
            };
            let mut actor = Actor::bind(subject, method, &params, &Progress::new()).expect("binds");
            allocations(&mut actor, &poses[..WARM_UP], params.time_step_secs);
            let counted = allocations(&mut actor, &poses[WARM_UP..], params.time_step_secs);
            if counted > 0 {
                failures.push(format!(
                    "{name} by {}, collisions {}: {counted} allocations in {FRAMES} frames",
                    method.id(),
                    collisions.id()
                ));
                TRACING.store(true, Ordering::SeqCst);
                allocations(
                    &mut actor,
                    &poses[WARM_UP..WARM_UP + 100],
                    params.time_step_secs,
                );
                TRACING.store(false, Ordering::SeqCst);
                let traces = std::mem::take(&mut *TRACES.lock().expect("no panic inside"));
                failures.extend(
                    traces
                        .into_iter()
                        .map(|(place, count)| format!("    {count} in {place}")),
                );
            }
        }
    }
    failures
}
