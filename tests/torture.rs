//! Bad and odd input: every file of the test data and many made here either load or are refused with one clear sentence; none
//! panics, hangs, takes more than 1 GB or yields a number that isn't finite.

// A counting allocator can't be written without it.
#![expect(unsafe_code, reason = "the global allocator's trait is unsafe")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use proptest::prelude::*;
use serde_json::Value;
use sinew::character::Character;
use sinew::io::{IoError, load, read_gltf_bytes};
use sinew::progress::Progress;

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

/// One at a time, so that memory is counted for one file.
static ONE: Mutex<()> = Mutex::new(());

/// Runs a reader under the guards and checks what every outcome must keep.
fn guarded(what: &str, read: impl FnOnce() -> Result<Character, IoError>) -> Result<Character, String> {
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let before = LIVE.load(Ordering::Relaxed);
    PEAK.store(before, Ordering::Relaxed);
    let start = Instant::now();
    let outcome = catch_unwind(AssertUnwindSafe(read)).unwrap_or_else(|_| panic!("{what}: panicked"));
    assert!(start.elapsed() < TIME_LIMIT, "{what}: took {:?}", start.elapsed());
    let peak = PEAK.load(Ordering::Relaxed).saturating_sub(before);
    assert!(peak < MEMORY_LIMIT, "{what}: took {peak} bytes");
    match outcome {
        Ok(character) => {
            check_finite(what, &character);
            Ok(character)
        }
        Err(error) => {
            let sentence = error.to_string();
            assert!(!sentence.contains('\n') && sentence.len() < 700, "{what}: not one sentence: {sentence}");
            Err(sentence)
        }
    }
}

fn check_finite(what: &str, character: &Character) {
    let finite = |positions: &[sinew::math::Point]| positions.iter().all(|p| p.iter().all(|c| c.is_finite()));
    assert!(finite(&character.bind_positions()), "{what}: bind positions");
    let skeleton = &character.skeleton;
    let poses = character.clips.iter().flat_map(|clip| [0.0, 0.37, 1.0].map(|t| clip.sample(skeleton, t * clip.duration_secs)));
    for pose in std::iter::once(skeleton.rest_pose()).chain(poses) {
        let world = skeleton.world_from_joint(&pose);
        for mesh in &character.meshes {
            assert!(finite(&mesh.positions_at(&world)), "{what}: posed positions of {}", mesh.name);
        }
    }
    for mesh in &character.meshes {
        let count = mesh.positions.len();
        assert!(mesh.triangles.iter().flatten().all(|&v| (v as usize) < count), "{what}: triangle indices");
        assert!(mesh.normals.as_ref().is_none_or(|n| n.len() == count), "{what}: normals");
        assert!(mesh.tex_coords.as_ref().is_none_or(|t| t.len() == count), "{what}: texture coordinates");
    }
    assert!(character.metres_per_unit > 0.0 && character.metres_per_unit.is_finite(), "{what}: unit");
}

fn data() -> Option<PathBuf> {
    let folder = std::env::var_os("SINEW_TEST_DATA").map(PathBuf::from);
    if folder.is_none() {
        println!("SKIPPED: SINEW_TEST_DATA is not set");
    }
    folder
}

fn manifest(folder: &Path) -> Vec<Value> {
    let text = std::fs::read(folder.join("manifest.json")).expect("the manifest");
    serde_json::from_slice(&text).expect("a list of files")
}

fn load_one(path: &Path) -> Result<Character, String> {
    let paths = [path.to_owned()];
    guarded(&path.display().to_string(), || load(&paths, &Progress::new()))
}

/// Formats that later versions read; until then they must be refused by name.
const LATER: [&str; 3] = ["ply", "stl", "bvh"];

#[test]
fn every_torture_file_loads_or_is_refused_as_the_manifest_says() {
    let Some(folder) = data() else { return };
    let mut wrong = Vec::new();
    let (mut loaded, mut refused, mut later) = (0, 0, 0);
    for item in manifest(&folder).iter().filter(|item| item["group"] == "D_torture") {
        let file = item["file"].as_str().expect("a file");
        let path = folder.join(file);
        let name = path.file_name().expect("a name").to_string_lossy().into_owned();
        let outcome = load_one(&path);
        println!("{} {file}: {}", item["expect"], describe(&outcome));
        if LATER.iter().any(|extension| file.ends_with(extension)) {
            later += 1;
            match outcome {
                Err(sentence) if sentence.contains("can't be read yet") => {}
                other => wrong.push(format!("{file} should be refused as a later format, but: {}", describe(&other))),
            }
            continue;
        }
        match (&outcome, item["expect"].as_str()) {
            (Ok(_), Some("LOAD" | "EITHER")) => loaded += 1,
            (Err(sentence), Some("ERROR" | "EITHER")) if sentence.contains(&name) => refused += 1,
            (other, expected) => wrong.push(format!("{file} should {expected:?}, but: {}", describe(other))),
        }
    }
    println!("{loaded} loaded, {refused} refused, {later} of formats not read yet");
    assert!(loaded + refused + later > 100, "the torture folder is not complete");
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn describe(outcome: &Result<Character, String>) -> String {
    match outcome {
        Ok(c) => {
            let notes: Vec<&str> = c.notes.iter().map(|note| note.text.as_str()).collect();
            let (v, t) = (c.source_vertices(), c.source_triangles());
            format!("{v} vertices, {t} triangles, {} joints, {} clips {notes:?}", c.skeleton.len(), c.clips.len())
        }
        Err(sentence) => format!("refused: {sentence}"),
    }
}

#[test]
fn every_rigged_character_loads_whole() {
    let Some(folder) = data() else { return };
    let mut count = 0;
    for item in manifest(&folder).iter().filter(|item| item["group"] == "A_rigged") {
        let file = item["file"].as_str().expect("a file");
        let character = load_one(&folder.join(file)).unwrap_or_else(|error| panic!("{error}"));
        println!("{file}: {}", describe(&Ok(character.clone())));
        let measured = &item["measured"]["gl"];
        assert_eq!(character.source_vertices() as u64, measured["verts"].as_u64().expect("a count"), "{file}: vertices");
        assert_eq!(character.source_triangles() as u64, measured["tris"].as_u64().expect("a count"), "{file}: triangles");
        assert_eq!(character.clips.len() as u64, measured["anims"].as_u64().expect("a count"), "{file}: clips");
        let largest = measured["joints"].as_array().expect("a list").iter().filter_map(Value::as_u64).max();
        let deforming = character.skeleton.joints().iter().filter(|joint| joint.deforms).count() as u64;
        println!("  deforming joints {deforming}, largest skin {largest:?}");
        assert!(Some(deforming) >= largest, "{file}: joints");
        count += 1;
    }
    assert_eq!(count, 19);
}

#[test]
fn the_reference_demos_load() {
    let Some(folder) = data() else { return };
    for (demo, vertices, joints) in [("armadillo", 5189, 40), ("cylinder", 800, 4), ("tbone", 2461, 7)] {
        let character = load_one(&folder.join(format!("E_fps/{demo}/{demo}.ini"))).unwrap_or_else(|error| panic!("{error}"));
        println!("{demo}: {}", describe(&Ok(character.clone())));
        assert_eq!((character.source_vertices(), character.skeleton.len()), (vertices, joints), "{demo}");
        assert_eq!(character.clips.len(), 1, "{demo}");
    }
}

/// A GLB around a JSON and a binary chunk.
fn glb(json: &str, binary: &[u8]) -> Vec<u8> {
    let pad = |bytes: &[u8], with: u8| {
        let mut padded = bytes.to_vec();
        padded.resize(bytes.len().next_multiple_of(4), with);
        padded
    };
    let (json, binary) = (pad(json.as_bytes(), b' '), pad(binary, 0));
    let mut out = b"glTF\x02\0\0\0".to_vec();
    out.extend((28 + json.len() + binary.len()).to_le_bytes()[..4].iter());
    for (kind, chunk) in [(b"JSON", &json), (b"BIN\0", &binary)] {
        out.extend(&chunk.len().to_le_bytes()[..4]);
        out.extend(kind);
        out.extend(chunk);
    }
    out
}

/// A triangle on two joints; `%NAME%` may be replaced to break it.
const TRIANGLE: &str = r#"{"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0,1]}],
"nodes":[{"mesh":0,"skin":0,"translation":[9,9,9]},{"name":"a","children":[2],"translation":[0,1,0]},{"name":"b","translation":[0,1,0]}],
"skins":[{"joints":[1,2]}],
"meshes":[{"primitives":[{"attributes":{"POSITION":0,"JOINTS_0":1,"WEIGHTS_0":2}}]}],
"accessors":[{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3"},
{"bufferView":1,"componentType":5121,"count":3,"type":"VEC4"},{"bufferView":2,"componentType":5126,"count":3,"type":"VEC4"}],
"bufferViews":[{"buffer":0,"byteLength":36},{"buffer":0,"byteOffset":36,"byteLength":12},{"buffer":0,"byteOffset":48,"byteLength":48}],
"buffers":[{"byteLength":96}]}"#;

/// Positions, joints and weights of the triangle.
fn triangle_data(weights: [f32; 3]) -> Vec<u8> {
    let positions = [0.0_f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    let mut data: Vec<u8> = positions.iter().flat_map(|p| p.to_le_bytes()).collect();
    data.extend([0, 1, 0, 0].repeat(3));
    data.extend(weights.iter().flat_map(|&w| [w, 0.0, 0.0, 0.0]).flat_map(f32::to_le_bytes));
    data
}

fn read(json: &str, data: &[u8]) -> Result<Character, String> {
    let bytes = glb(json, data);
    guarded(json, || read_gltf_bytes("made.glb", &bytes))
}

#[test]
fn a_whole_triangle_loads_and_its_weights_are_mended() {
    let character = read(TRIANGLE, &triangle_data([1.0; 3])).expect("a character");
    assert_eq!((character.source_vertices(), character.source_triangles(), character.skeleton.len()), (3, 1, 2));
    assert!(character.notes.is_empty(), "{:?}", character.notes);
    // The skinned node's own transform is ignored; all vertices ride on joint a.
    let at_rest = character.meshes[0].positions_at(&character.skeleton.world_from_joint(&character.skeleton.rest_pose()));
    assert!((at_rest[1] - sinew::math::Point::new(1.0, 1.0, 0.0)).norm() < 1e-6);
    let mended = read(TRIANGLE, &triangle_data([f32::NAN, 0.0, 2.0])).expect("a character");
    let counts: Vec<usize> = mended.notes.iter().map(|note| note.count).collect();
    assert_eq!(counts, [1, 2, 1], "not a number, none at all, not normalised: {:?}", mended.notes);
    assert!(matches!(&mended.meshes[0].attachment, sinew::character::Attachment::Skinned { weights, .. } if weights.joints.len() == 3));
}

#[test]
fn broken_documents_are_refused_in_a_sentence() {
    let data = triangle_data([1.0; 3]);
    let cases: &[(&str, &str)] = &[
        ("\"count\":3,\"type\":\"VEC3\"", "\"count\":4000000000000,\"type\":\"VEC3\""),
        ("\"count\":3", "\"count\":18446744073709551615"),
        ("\"count\":3,\"type\":\"VEC3\"", "\"count\":4,\"type\":\"VEC3\""),
        ("\"type\":\"VEC3\"", "\"type\":\"VEC4\""),
        ("5126,\"count\":3,\"type\":\"VEC3\"", "999,\"count\":3,\"type\":\"VEC3\""),
        ("\"byteLength\":36", "\"byteLength\":9999"),
        ("\"byteOffset\":48", "\"byteOffset\":18446744073709551615"),
        ("\"byteLength\":96", "\"byteLength\":97777"),
        ("\"bufferView\":0", "\"bufferView\":7"),
        ("\"children\":[2]", "\"children\":[1]"),
        ("\"children\":[2]", "\"children\":[99]"),
        ("\"children\":[2]", "\"children\":[2,2]"),
        ("\"translation\":[0,1,0]}]", "\"translation\":[0,1e999,0]}]"),
        ("\"translation\":[0,1,0]}]", "\"translation\":[0,1e300,0]}]"),
        ("\"joints\":[1,2]", "\"joints\":[]"),
        ("\"joints\":[1,2]", "\"joints\":[1,22]"),
        ("\"version\":\"2.0\"", "\"version\":\"1.0\""),
        ("\"scene\":0", "\"extensionsRequired\":[\"EXT_meshopt_compression\"],\"scene\":0"),
        ("\"skin\":0", "\"skin\":1"),
        ("\"mesh\":0", "\"mesh\":-1"),
        ("{\"asset\"", "{{\"asset\""),
    ];
    for (from, to) in cases {
        let json = TRIANGLE.replacen(from, to, 1);
        assert_ne!(json, TRIANGLE, "{from} is not there");
        match read(&json, &data) {
            Err(sentence) => assert!(sentence.starts_with("made.glb"), "{sentence}"),
            Ok(_) => panic!("{to} should be refused"),
        }
    }
    // An accessor without data is zeros, but not without end.
    let zeros = TRIANGLE.replacen("\"bufferView\":0,\"componentType\":5126,\"count\":3", "\"componentType\":5126,\"count\":3000000000", 1);
    read(&zeros, &data).expect_err("too many zeros");
}

#[test]
fn a_chain_of_a_hundred_thousand_nodes_does_not_overflow_the_stack() {
    let mut json = String::from(r#"{"asset":{"version":"2.0"},"scenes":[{"nodes":[0]}],"nodes":["#);
    let count = 100_000;
    for i in 1..count {
        json.push_str(&format!("{{\"children\":[{i}]}},"));
    }
    json.push_str("{}]}");
    read(&json, &[]).expect("nodes alone are no error here");
}

#[test]
fn files_cut_short_anywhere_are_refused_or_load() {
    let whole = glb(TRIANGLE, &triangle_data([1.0; 3]));
    for end in (0..whole.len()).step_by(7) {
        guarded("cut", || read_gltf_bytes("cut.glb", &whole[..end])).expect_err("it is cut short");
    }
}

/// Writes a file, loads it, removes it.
fn load_text(extension: &str, bytes: &[u8], with: Option<(&str, &[u8])>) -> Result<Character, String> {
    static SERIAL: AtomicUsize = AtomicUsize::new(0);
    let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
    let at = |extension: &str| std::env::temp_dir().join(format!("sinew-torture-{}-{serial}.{extension}", std::process::id()));
    let mut paths = vec![at(extension)];
    std::fs::write(&paths[0], bytes).expect("a temporary file");
    if let Some((extension, bytes)) = with {
        paths.push(at(extension));
        std::fs::write(&paths[1], bytes).expect("a temporary file");
    }
    let outcome = guarded(extension, || load(&paths, &Progress::new()));
    paths.iter().for_each(|path| std::fs::remove_file(path).expect("the temporary file"));
    outcome
}

#[test]
fn broken_text_files_are_refused() {
    let nan = "v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    let huge = "v 1e38 0 0\nv -1e38 0 0\nv 0 1e38 0\nf 1 2 3\n";
    for text in ["", "\0\0\0", "v 1 2", "v 0 0 0\nf 1 1 1\n", nan, huge, "f 1 2 3", "v 0 0 0\nv 0 0 0\nv 0 0 0\nf 1 2 3"] {
        load_text("obj", text.as_bytes(), None).expect_err(text);
    }
    let mesh = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 3 4\n";
    let bare = load_text("obj", mesh, None).expect("a mesh without skeleton");
    assert!(bare.notes.iter().any(|note| note.text.contains("no skeleton")));
    let posed = load_text("obj", mesh, Some(("skel", b"2\n0.1 0.1 0.1 a root\n0.5 0.1 0.1 b a\n"))).expect("a character");
    assert_eq!(posed.skeleton.len(), 2);
    let outside = load_text("obj", mesh, Some(("skel", b"1\n50 50 50 a root\n"))).expect_err("the skeleton is outside");
    assert!(outside.contains("outside"), "{outside}");
    load_text("ini", b"SIMMESH nowhere.off\n", None).expect_err("the mesh is missing");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Flipped bytes of a small GLB never break more than the file.
    #[test]
    fn mutated_glb(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut bytes = glb(TRIANGLE, &triangle_data([1.0; 3]));
        for (at, value) in changes {
            let at = at.index(bytes.len());
            bytes[at] = value;
        }
        let _ = guarded("mutated", || read_gltf_bytes("mutated.glb", &bytes));
    }

    /// Words that mean something to the text formats, in any order.
    #[test]
    fn shuffled_words(
        words in prop::collection::vec(prop::sample::select(vec![
            "OFF", "COFF", "\n", "\n", "\n", "v", "f", "vt", "vn", "g a", "usemtl m", "\\", "#", "0", "1", "2", "3", "-1", "1e39", "nan", "3.5",
            "4/1/1", "1//2", "root", "a", "b", "99999999999", "SIMMESH", "é",
        ]), 0..60),
        kind in prop::sample::select(vec!["obj", "off", "ini"]),
    ) {
        let _ = load_text(kind, words.join(" ").as_bytes(), None);
    }

    /// The same for skeletons and motions.
    #[test]
    fn shuffled_skeletons(
        words in prop::collection::vec(prop::sample::select(vec!["\n", "\n", "0", "1", "2", "-1", "nan", "0.5", "root", "a", "b", "1e300"]), 0..40),
        kind in prop::sample::select(vec!["skel", "anim"]),
    ) {
        let mesh = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 3 4\n";
        let _ = load_text("obj", mesh, Some((kind, words.join(" ").as_bytes())));
    }
}
