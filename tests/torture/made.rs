//! Bad input made here, with no data folder: documents broken in one place, files cut short, bytes and words at random.

use std::sync::atomic::{AtomicUsize, Ordering};

use proptest::prelude::*;
use sinew::character::Character;
use sinew::io::{load, read_gltf_bytes};
use sinew::progress::Progress;

use super::guarded;

/// A GLB around a JSON and a binary chunk.
pub fn glb(json: &[u8], binary: &[u8]) -> Vec<u8> {
    let pad = |bytes: &[u8], with: u8| {
        let mut padded = bytes.to_vec();
        padded.resize(bytes.len().next_multiple_of(4), with);
        padded
    };
    let (json, binary) = (pad(json, b' '), pad(binary, 0));
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
    data.extend(
        weights
            .iter()
            .flat_map(|&w| [w, 0.0, 0.0, 0.0])
            .flat_map(f32::to_le_bytes),
    );
    data
}

fn read(json: &str, data: &[u8]) -> Result<Character, String> {
    let bytes = glb(json.as_bytes(), data);
    guarded(json, || read_gltf_bytes("made.glb", &bytes))
}

#[test]
fn a_valid_triangle_loads_and_its_weights_are_repaired() {
    let character = read(TRIANGLE, &triangle_data([1.0; 3])).expect("a character");
    assert_eq!(
        (
            character.source_vertices(),
            character.source_triangles(),
            character.skeleton.len()
        ),
        (3, 1, 2)
    );
    assert!(character.notes.is_empty(), "{:?}", character.notes);
    // The skinned node's own transform is ignored; all vertices ride on joint a.
    let at_rest = character.meshes[0].positions_at(
        &character
            .skeleton
            .world_from_joint(&character.skeleton.rest_pose()),
    );
    assert!((at_rest[1] - sinew::math::Point::new(1.0, 1.0, 0.0)).norm() < 1e-6);
    let mended = read(TRIANGLE, &triangle_data([f32::NAN, 0.0, 2.0])).expect("a character");
    let counts: Vec<usize> = mended.notes.iter().map(|note| note.count).collect();
    assert_eq!(
        counts,
        [1, 2, 1],
        "not a number, none at all, not normalised: {:?}",
        mended.notes
    );
    assert!(
        matches!(&mended.meshes[0].attachment, sinew::character::Attachment::Skinned { weights, .. } if weights.joints.len() == 3)
    );
}

#[test]
fn invalid_documents_are_rejected_with_a_sentence() {
    let data = triangle_data([1.0; 3]);
    let cases: &[(&str, &str)] = &[
        (
            "\"count\":3,\"type\":\"VEC3\"",
            "\"count\":4000000000000,\"type\":\"VEC3\"",
        ),
        ("\"count\":3", "\"count\":18446744073709551615"),
        (
            "\"count\":3,\"type\":\"VEC3\"",
            "\"count\":4,\"type\":\"VEC3\"",
        ),
        ("\"type\":\"VEC3\"", "\"type\":\"VEC4\""),
        (
            "5126,\"count\":3,\"type\":\"VEC3\"",
            "999,\"count\":3,\"type\":\"VEC3\"",
        ),
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
        (
            "\"scene\":0",
            "\"extensionsRequired\":[\"KHR_other_geometry\"],\"scene\":0",
        ),
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
    let zeros = TRIANGLE.replacen(
        "\"bufferView\":0,\"componentType\":5126,\"count\":3",
        "\"componentType\":5126,\"count\":3000000000",
        1,
    );
    read(&zeros, &data).expect_err("too many zeros");
}

#[test]
fn a_chain_of_a_hundred_thousand_nodes_does_not_overflow_the_stack() {
    let count = 100_000;
    let nodes: Vec<String> = (1..count)
        .map(|child| format!("{{\"children\":[{child}]}}"))
        .collect();
    let json = format!(
        "{{\"asset\":{{\"version\":\"2.0\"}},\"scenes\":[{{\"nodes\":[0]}}],\"nodes\":[{},{{}}]}}",
        nodes.join(",")
    );
    read(&json, &[]).expect("nodes alone are no error here");
}

#[test]
fn files_truncated_anywhere_are_rejected_or_load() {
    let whole = glb(TRIANGLE.as_bytes(), &triangle_data([1.0; 3]));
    for end in (0..whole.len()).step_by(7) {
        guarded("cut", || read_gltf_bytes("cut.glb", &whole[..end])).expect_err("it is cut short");
    }
}

/// Writes a file, loads it, removes it.
fn load_text(
    extension: &str,
    bytes: &[u8],
    with: Option<(&str, &[u8])>,
) -> Result<Character, String> {
    static SERIAL: AtomicUsize = AtomicUsize::new(0);
    let serial = SERIAL.fetch_add(1, Ordering::Relaxed);
    let at = |extension: &str| {
        std::env::temp_dir().join(format!(
            "sinew-torture-{}-{serial}.{extension}",
            std::process::id()
        ))
    };
    let mut paths = vec![at(extension)];
    std::fs::write(&paths[0], bytes).expect("a temporary file");
    if let Some((extension, bytes)) = with {
        paths.push(at(extension));
        std::fs::write(&paths[1], bytes).expect("a temporary file");
    }
    let outcome = guarded(extension, || load(&paths, &Progress::new()));
    for path in &paths {
        std::fs::remove_file(path).expect("the temporary file");
    }
    outcome
}

#[test]
fn invalid_text_files_are_rejected() {
    let nan = "v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n";
    let huge = "v 1e38 0 0\nv -1e38 0 0\nv 0 1e38 0\nf 1 2 3\n";
    for text in [
        "",
        "\0\0\0",
        "v 1 2",
        "v 0 0 0\nf 1 1 1\n",
        nan,
        huge,
        "f 1 2 3",
        "v 0 0 0\nv 0 0 0\nv 0 0 0\nf 1 2 3",
    ] {
        load_text("obj", text.as_bytes(), None).expect_err(text);
    }
    let mesh = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 3 4\n";
    let bare = load_text("obj", mesh, None).expect("a mesh without skeleton");
    assert!(
        bare.notes
            .iter()
            .any(|note| note.text.contains("no skeleton"))
    );
    let posed = load_text(
        "obj",
        mesh,
        Some(("skel", b"2\n0.1 0.1 0.1 a root\n0.5 0.1 0.1 b a\n")),
    )
    .expect("a character");
    assert_eq!(posed.skeleton.len(), 2);
    let outside = load_text("obj", mesh, Some(("skel", b"1\n50 50 50 a root\n")))
        .expect_err("the skeleton is outside");
    assert!(outside.contains("outside"), "{outside}");
    load_text("ini", b"SIMMESH nowhere.off\n", None).expect_err("the mesh is missing");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    /// Flipped bytes of a small GLB never break more than the file.
    #[test]
    fn mutated_glb(changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut bytes = glb(TRIANGLE.as_bytes(), &triangle_data([1.0; 3]));
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
            "solid", "facet", "normal", "vertex", "endloop", "endfacet", "MeshVersionFormatted", "Dimension", "Vertices", "Triangles", "Tetrahedra",
            "4/1/1", "1//2", "root", "a", "b", "99999999999", "SIMMESH", "é",
        ]), 0..60),
        kind in prop::sample::select(vec!["obj", "off", "ini", "stl", "mesh"]),
    ) {
        let _ = load_text(kind, words.join(" ").as_bytes(), None);
    }

    /// The same for skeletons and motions.
    #[test]
    fn shuffled_skeletons(
        words in prop::collection::vec(prop::sample::select(vec!["\n", "\n", "#", "0", "1", "2", "-1", "nan", "0.5", "root", "a", "b", "1e300"]), 0..40),
        kind in prop::sample::select(vec!["skel", "anim", "tgf", "dmat"]),
    ) {
        let mesh = b"v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 3 4\n";
        let _ = load_text("obj", mesh, Some((kind, words.join(" ").as_bytes())));
    }
}
