//! Bad and odd input: every file of the test data and many made here either load or are refused with one clear sentence; none
//! panics, hangs, takes more than 1 GB or yields a number that is not finite.
//!
//! A binary of its own: its allocator measures how much memory the whole process has.

// A counting allocator cannot be written without it.
#![expect(unsafe_code, reason = "the global allocator's trait is unsafe")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde_json::Value;
use sinew::character::Character;
use sinew::io::{IoError, load, read_motion};
use sinew::progress::Progress;

#[path = "../common/mod.rs"]
mod common;
#[path = "../fuzz/src/pipeline.rs"]
mod pipeline;

mod bombs;
mod made;
mod mutated;
#[cfg(feature = "gpu")]
mod projects;
mod seeds;

use common::skip;

struct Counting;

static LIVE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: hands everything on to the system's allocator and only counts.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let live = LIVE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK.fetch_max(live, Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        LIVE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: as the caller promises.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Live bytes that no file may reach.
const MEMORY_LIMIT: usize = 1_000_000_000;
/// What the largest file takes here is a hundredth of this.
const TIME_LIMIT: Duration = Duration::from_secs(20);
/// All stages of a small character take a hundredth of this, also beside other programs.
const STAGES_LIMIT: Duration = Duration::from_mins(2);
const NOTED: Duration = Duration::from_secs(5);

/// One at a time, so that memory is counted for one file.
static ONE: Mutex<()> = Mutex::new(());

/// Runs work under the guards of memory, time and panics.
fn limited<T>(what: &str, limit: Duration, work: impl FnOnce() -> T) -> T {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let before = LIVE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let start = Instant::now();
    let outcome =
        catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|_| panic!("{what}: panicked"));
    assert!(
        start.elapsed() < limit,
        "{what}: took {:?}",
        start.elapsed()
    );
    if start.elapsed() > NOTED {
        println!("{what}: took {:?}", start.elapsed());
    }
    let peak = PEAK.load(Ordering::Relaxed).saturating_sub(before);
    assert!(peak < MEMORY_LIMIT, "{what}: took {peak} bytes");
    outcome
}

/// Runs a reader under the guards and checks what every outcome must keep.
fn guarded(
    what: &str,
    read: impl FnOnce() -> Result<Character, IoError>,
) -> Result<Character, String> {
    match limited(what, TIME_LIMIT, read) {
        Ok(character) => {
            pipeline::check(what, &character);
            Ok(character)
        }
        Err(error) => {
            let sentence = error.to_string();
            assert!(
                !sentence.contains('\n') && sentence.len() < 700,
                "{what}: not one sentence: {sentence}"
            );
            Err(sentence)
        }
    }
}

fn manifest(folder: &Path) -> Vec<Value> {
    let text = std::fs::read(folder.join("manifest.json")).expect("the manifest");
    serde_json::from_slice(&text).expect("a list of files")
}

fn load_one(path: &Path) -> Result<Character, String> {
    if path.extension().is_some_and(|extension| extension == "bvh") {
        // A motion is shown by a character; any will do to see whether the file can be read.
        return guarded(&path.display().to_string(), || {
            read_motion(path).map(|_| Character {
                metres_per_unit: 1.0,
                ..Character::default()
            })
        });
    }
    let paths = [path.to_owned()];
    guarded(&path.display().to_string(), || {
        load(&paths, &Progress::new())
    })
}

#[test]
fn torture_files_load_or_fail_as_the_manifest_says() {
    let Some(folder) = skip::data() else {
        return;
    };
    let mut wrong = Vec::new();
    let (mut loaded, mut refused) = (0, 0);
    for item in manifest(&folder)
        .iter()
        .filter(|item| item["group"] == "D_torture")
    {
        let file = item["file"].as_str().expect("a file");
        let path = folder.join(file);
        let name = path
            .file_name()
            .expect("a name")
            .to_string_lossy()
            .into_owned();
        let outcome = load_one(&path);
        println!("{} {file}: {}", item["expect"], describe(&outcome));
        match (&outcome, item["expect"].as_str()) {
            (Ok(character), Some("LOAD" | "EITHER")) => {
                loaded += 1;
                wrong.extend(miscounted(file, item, character));
            }
            (Err(sentence), Some("ERROR" | "EITHER")) if sentence.contains(&name) => refused += 1,
            (other, expected) => wrong.push(format!(
                "{file} should {expected:?}, but: {}",
                describe(other)
            )),
        }
    }
    println!("{loaded} loaded, {refused} refused");
    assert!(loaded + refused > 130, "the torture folder is not complete");
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}

fn is_a(file: &str, extensions: &[&str]) -> bool {
    Path::new(file)
        .extension()
        .is_some_and(|extension| extensions.iter().any(|e| extension == *e))
}

/// Triangles of PLY and STL files, which programs do not disagree on, must be as many as others found.
fn miscounted(file: &str, item: &Value, character: &Character) -> Option<String> {
    let counts = [
        item["measured"]["assimp"]["f"].as_u64(),
        item["measured"]["trimesh"][1].as_u64(),
    ];
    let found = character.source_triangles() as u64;
    let compared = is_a(file, &["ply", "stl"]);
    let agrees = counts.contains(&Some(found)) || counts == [None; 2];
    (compared && !agrees)
        .then(|| format!("{file} has {found} triangles here, {counts:?} elsewhere"))
}

fn describe(outcome: &Result<Character, String>) -> String {
    match outcome {
        Ok(c) => {
            let notes: Vec<&str> = c.notes.iter().map(|note| note.text.as_str()).collect();
            let (v, t) = (c.source_vertices(), c.source_triangles());
            format!(
                "{v} vertices, {t} triangles, {} joints, {} clips {notes:?}",
                c.skeleton.len(),
                c.clips.len()
            )
        }
        Err(sentence) => format!("refused: {sentence}"),
    }
}

#[test]
fn every_rigged_character_loads_completely() {
    let Some(folder) = skip::data() else {
        return;
    };
    let mut count = 0;
    for item in manifest(&folder)
        .iter()
        .filter(|item| item["group"] == "A_rigged")
    {
        let file = item["file"].as_str().expect("a file");
        let character = load_one(&folder.join(file)).unwrap_or_else(|error| panic!("{error}"));
        println!("{file}: {}", describe(&Ok(character.clone())));
        let measured = &item["measured"]["gl"];
        assert_eq!(
            character.source_vertices() as u64,
            measured["verts"].as_u64().expect("a count"),
            "{file}: vertices"
        );
        assert_eq!(
            character.source_triangles() as u64,
            measured["tris"].as_u64().expect("a count"),
            "{file}: triangles"
        );
        assert_eq!(
            character.clips.len() as u64,
            measured["anims"].as_u64().expect("a count"),
            "{file}: clips"
        );
        let largest = measured["joints"]
            .as_array()
            .expect("a list")
            .iter()
            .filter_map(Value::as_u64)
            .max();
        let deforming = character
            .skeleton
            .joints()
            .iter()
            .filter(|joint| joint.deforms)
            .count() as u64;
        println!("  deforming joints {deforming}, largest skin {largest:?}");
        assert!(Some(deforming) >= largest, "{file}: joints");
        count += 1;
    }
    assert_eq!(count, 19);
}

/// Where the flesh is built: one constant transform of each mesh, about as large as the character at rest.
#[test]
fn the_bind_pose_of_every_rigged_character_is_intact() {
    let Some(folder) = skip::data() else {
        return;
    };
    for item in manifest(&folder)
        .iter()
        .filter(|item| item["group"] == "A_rigged")
    {
        let file = item["file"].as_str().expect("a file");
        let character = load_one(&folder.join(file)).unwrap_or_else(|error| panic!("{error}"));
        let rest = character
            .skeleton
            .world_from_joint(&character.skeleton.rest_pose());
        let at_rest: Vec<_> = character
            .meshes
            .iter()
            .flat_map(|mesh| mesh.positions_at(&rest))
            .collect();
        let at_bind = character.bind_positions();
        let (bind, rest) = (
            sinew::mesh::Bounds::of(&at_bind),
            sinew::mesh::Bounds::of(&at_rest),
        );
        let mut bent = 0.0_f64;
        for mesh in &character.meshes {
            if let sinew::character::Attachment::Skinned {
                joint_from_mesh,
                weights,
            } = &mesh.attachment
            {
                let used: std::collections::BTreeSet<usize> =
                    weights.joints.iter().map(|&j| j as usize).collect();
                let placed: Vec<_> = used
                    .iter()
                    .map(|&j| character.skeleton.joints()[j].world_from_bind * joint_from_mesh[j])
                    .collect();
                for (a, b) in placed.iter().zip(placed.iter().skip(1)) {
                    let apart =
                        |p: &sinew::math::Point| (a * p.cast::<f64>() - b * p.cast::<f64>()).norm();
                    bent = mesh.positions.iter().map(apart).fold(bent, f64::max);
                }
            }
        }
        let part = bent / f64::from(bind.size());
        println!(
            "{file}: bind {:.3?}, rest {:.3?}, inverse binds contradict each other by {part:.1e}",
            bind.extent().as_slice(),
            rest.extent().as_slice()
        );
        assert!(
            (0.5..2.0).contains(&(bind.size() / rest.size())),
            "{file}: bind and rest pose differ in size"
        );
        assert!(part < 1e-3, "{file}: the bind pose is bent by {part}");
    }
}

/// A bake must have the source's vertices, in their order.
#[test]
fn every_bare_mesh_loads_and_obj_vertices_are_the_lines_of_the_file() {
    let Some(folder) = skip::data() else {
        return;
    };
    let mut files = 0;
    for item in manifest(&folder)
        .iter()
        .filter(|item| item["group"] == "B_unrigged")
    {
        let file = item["file"].as_str().expect("a file");
        let is_obj = Path::new(file).extension().is_some_and(|e| e == "obj");
        let character = load_one(&folder.join(file)).unwrap_or_else(|error| panic!("{error}"));
        println!("{file}: {}", describe(&Ok(character.clone())));
        if is_obj {
            let text = std::fs::read_to_string(folder.join(file)).expect("the file");
            let coordinates = |line: &str| {
                line.strip_prefix("v ").map(|rest| {
                    rest.split_whitespace()
                        .map(|c| c.parse().unwrap())
                        .collect()
                })
            };
            let expected: Vec<Vec<f32>> = text.lines().filter_map(coordinates).collect();
            let actual = character.bind_positions();
            // Behind them are copies, for corners with different texture coordinates or normals.
            let (own, copies) = actual.split_at(expected.len());
            assert!(copies.iter().all(|copy| own.contains(copy)), "{file}");
            assert!(
                expected
                    .iter()
                    .zip(own)
                    .all(|(e, a)| e[..3] == a.coords.as_slice()[..3]),
                "{file}"
            );
        }
        files += 1;
    }
    assert_eq!(files, 19);
}

#[test]
fn mesh_and_rig_from_two_files_make_one_character() {
    let Some(folder) = skip::data() else {
        return;
    };
    for (trio, creature) in [
        ("m2m_human_trio", "human"),
        ("m2m_dragon_trio", "dragon"),
        ("m2m_spider_trio", "spider"),
    ] {
        let paths = ["model", "rig"]
            .map(|part| folder.join(format!("B_unrigged/{trio}/{part}-{creature}.glb")));
        let character = guarded(trio, || load(&paths, &Progress::new()))
            .unwrap_or_else(|error| panic!("{error}"));
        println!("{trio}: {}", describe(&Ok(character.clone())));
        assert!(character.skeleton.len() > 10, "{trio}");
        assert!(
            character
                .meshes
                .iter()
                .all(sinew::character::SourceMesh::is_skin),
            "{trio}"
        );
    }
}

#[test]
fn the_reference_demos_load() {
    let Some(folder) = skip::data() else {
        return;
    };
    for (demo, vertices, joints) in [
        ("armadillo", 5189, 40),
        ("cylinder", 800, 4),
        ("tbone", 2461, 7),
    ] {
        let character = load_one(&folder.join(format!("E_fps/{demo}/{demo}.ini")))
            .unwrap_or_else(|error| panic!("{error}"));
        println!("{demo}: {}", describe(&Ok(character.clone())));
        assert_eq!(
            (character.source_vertices(), character.skeleton.len()),
            (vertices, joints),
            "{demo}"
        );
        assert_eq!(character.clips.len(), 1, "{demo}");
    }
}
