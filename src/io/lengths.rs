//! Lengths, counts and offsets that files declare: the largest and other awkward numbers are refused in one sentence.
//!
//! The continuous checks run these tests with overflow checks, too, so a sum or product that wraps around is found although it is not
//! checked in a release build.

use super::error::IoError;
use super::{load_from_memory, read_bvh_bytes, read_gltf_bytes};
use crate::progress::Progress;

/// Around the limits of the types that sizes are kept in.
const AWKWARD: [u64; 14] = [
    1 << 20,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_fff0,
    0xffff_fffe,
    0xffff_ffff,
    0x1_0000_0000,
    0x5555_5555_5555_5556,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0xffff_ffff_ffff_fff0,
    0xffff_ffff_ffff_fffc,
    0xffff_ffff_ffff_fffe,
    0xffff_ffff_ffff_ffff,
];

fn assert_refused<T>(what: &str, read: Result<T, IoError>) {
    let sentence = read
        .err()
        .unwrap_or_else(|| panic!("{what} is not refused"))
        .to_string();
    assert!(
        !sentence.contains('\n') && sentence.len() < 500,
        "{what}: {sentence}"
    );
}

fn read(name: &str, bytes: &[u8]) -> Result<crate::character::Character, IoError> {
    let mut files = vec![(name, bytes)];
    if ["a.dmat", "a.anim"].contains(&name) {
        files.push((
            "m.obj",
            b"v 0 0 0\nv 2 0 0\nv 0 2 0\nv 0 0 2\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n",
        ));
        files.push(("s.skel", b"2\n0.1 0.1 0.1 a root\n0.5 0.1 0.1 b a\n"));
    }
    load_from_memory(&files, &Progress::new())
}

/// One triangle. `@` stands before every number that is replaced.
const DOCUMENT: &str = r#"{"asset":{"version":"2.0"},"scene":0,"scenes":[{"nodes":[0]}],"nodes":[{"mesh":0}],
"meshes":[{"primitives":[{"attributes":{"POSITION":0},"indices":1}]}],
"accessors":[{"bufferView":0,"byteOffset":@0,"componentType":5126,"count":@3,"type":"VEC3",
"sparse":{"count":@1,"indices":{"bufferView":1,"byteOffset":@0,"componentType":5123},"values":{"bufferView":0,"byteOffset":@0}}},
{"bufferView":1,"byteOffset":@0,"componentType":5123,"count":@3,"type":"SCALAR"}],
"bufferViews":[{"buffer":0,"byteOffset":@0,"byteLength":@36,"byteStride":@12},{"buffer":0,"byteOffset":@36,"byteLength":@6}],
"buffers":[{"byteLength":@44}]}"#;

fn glb(json: &str) -> Vec<u8> {
    let mut json = json.as_bytes().to_vec();
    json.resize(json.len().next_multiple_of(4), b' ');
    let mut data: Vec<u8> = [0.0_f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0]
        .iter()
        .flat_map(|c| c.to_le_bytes())
        .collect();
    data.extend([0, 0, 1, 0, 2, 0, 0, 0]);
    let word = |number: usize| (number as u32).to_le_bytes();
    let mut out = [*b"glTF", word(2), word(28 + json.len() + data.len())].concat();
    for (kind, chunk) in [(b"JSON", json), (b"BIN\0", data)] {
        out.extend(word(chunk.len()));
        out.extend(kind);
        out.extend(chunk);
    }
    out
}

#[test]
fn lengths_of_glb_chunks_are_checked() {
    let whole = glb(&DOCUMENT.replace('@', ""));
    read_gltf_bytes("a.glb", &whole).unwrap();
    let json = u32::from_le_bytes(whole[12..16].try_into().unwrap()) as usize;
    for at in [8, 12, 20 + json] {
        for number in AWKWARD
            .iter()
            .filter_map(|&number| u32::try_from(number).ok())
        {
            let mut bytes = whole.clone();
            bytes[at..at + 4].copy_from_slice(&number.to_le_bytes());
            assert_refused(
                &format!("{number} at byte {at}"),
                read_gltf_bytes("a.glb", &bytes),
            );
        }
    }
}

#[test]
fn offsets_and_strides_of_gltf_are_checked() {
    let numbers = DOCUMENT.matches('@').count();
    for place in 0..numbers {
        for number in AWKWARD {
            let mut parts = DOCUMENT.split('@');
            let mut json = parts.next().unwrap().to_owned();
            for (other, part) in parts.enumerate() {
                let digits = part.find(|c: char| !c.is_ascii_digit()).unwrap();
                let rest = if other == place {
                    &part[digits..]
                } else {
                    part
                };
                if other == place {
                    json += &number.to_string();
                }
                json += rest;
            }
            assert_refused(&json.clone(), read_gltf_bytes("a.glb", &glb(&json)));
        }
    }
}

/// Meshopt data has lengths of its own.
#[test]
fn lengths_of_compressed_views_are_checked() {
    let view = r#""buffer":0,"byteOffset":@0,"byteLength":@36,"byteStride":@12,"count":@3,"mode":"ATTRIBUTES""#;
    for key in ["byteOffset", "byteLength", "byteStride", "count"] {
        for number in AWKWARD {
            let before = format!("\"{key}\":@");
            let (start, rest) = view.split_once(&before).unwrap();
            let rest = rest.trim_start_matches(|c: char| c.is_ascii_digit());
            let view = format!("{start}\"{key}\":{number}{rest}").replace('@', "");
            let extension = format!("\"extensions\":{{\"EXT_meshopt_compression\":{{{view}}}}},");
            let json = DOCUMENT.replace('@', "");
            let json = json.replacen(
                "[{\"buffer\":0,",
                &format!("[{{{extension}\"buffer\":0,"),
                1,
            );
            assert_refused(&view, read_gltf_bytes("a.glb", &glb(&json)));
        }
    }
}

#[test]
fn counts_of_ply_are_checked() {
    let vertices = [0.0_f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    let vertices: Vec<u8> = vertices.iter().flat_map(|c| c.to_le_bytes()).collect();
    let file = |vertex: &str, face: &str, list: &str, length: &[u8]| {
        let header = format!(
            "ply\nformat binary_little_endian 1.0\nelement vertex {vertex}\nproperty float x\nproperty float y\nproperty float z\n\
             element face {face}\nproperty list {list} uchar vertex_indices\nend_header\n"
        );
        [header.as_bytes(), &vertices, length, &[0, 1, 2]].concat()
    };
    read("a.ply", &file("3", "1", "uchar", &[3])).unwrap();
    for number in AWKWARD.map(|number| number.to_string()) {
        assert_refused(&number, read("a.ply", &file(&number, "1", "uchar", &[3])));
        assert_refused(&number, read("a.ply", &file("3", &number, "uchar", &[3])));
    }
    for number in AWKWARD {
        let whole = (number as u32 | 0x100).to_le_bytes();
        assert_refused("uint", read("a.ply", &file("3", "1", "uint", &whole)));
        let real = (number as f32).to_le_bytes();
        assert_refused("float", read("a.ply", &file("3", "1", "float", &real)));
    }
    for real in [
        f64::NAN,
        f64::INFINITY,
        -1.0,
        0.5,
        1e300,
        18_446_744_073_709_551_616.0,
    ] {
        assert_refused(
            "double",
            read("a.ply", &file("3", "1", "double", &real.to_le_bytes())),
        );
    }
}

#[test]
fn counts_of_other_formats_are_checked() {
    for number in AWKWARD {
        let mut stl = vec![b'x'; 80];
        stl.extend((number as u32 | 0x100).to_le_bytes());
        stl.extend([0; 100]);
        assert_refused("stl", read("a.stl", &stl));
        for sizes in [
            format!("{number} 2"),
            format!("2 {number}"),
            format!("{number} {number}"),
        ] {
            let text = format!("{sizes}\n{}", "0.5\n".repeat(8));
            assert_refused(&text, read("a.dmat", text.as_bytes()));
            let binary = [format!("0 0\n{sizes}\n").as_bytes(), &[0; 64]].concat();
            assert_refused(&sizes, read("a.dmat", &binary));
            let text = format!("{sizes}\n{}", "1 0 0 0 1 0 0 0 1 0.5 0.25 1\n".repeat(2));
            assert_refused(&text, read("a.anim", text.as_bytes()));
            let text = format!("OFF\n{sizes} 0\n0 0 0\n1 0 0\n0 1 0\n3 0 1 2\n");
            assert_refused(&text, read("a.off", text.as_bytes()));
            let text = text
                .replace(&format!("{sizes} 0"), "3 1 0")
                .replace("3 0 1 2", &format!("{number} 0 1 2"));
            assert_refused(&text, read("a.off", text.as_bytes()));
        }
        let text = format!(
            "MeshVersionFormatted 1\nDimension 3\nVertices {number}\n0 0 0 0\n1 0 0 0\n0 1 0 0\nTriangles 1\n1 2 3 0\nEnd\n"
        );
        assert_refused(&text, read("a.mesh", text.as_bytes()));
        let text = text
            .replace(&format!("Vertices {number}"), "Vertices 3")
            .replace("Triangles 1", &format!("Triangles {number}"));
        assert_refused(&text, read("a.mesh", text.as_bytes()));
        let text = format!(
            "HIERARCHY\nROOT a\n{{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Xrotation Yrotation\nEnd Site\n{{\nOFFSET 0 1 0\n}}\n}}\n\
             MOTION\nFrames: {number}\nFrame Time: 0.1\n0 0 0\n"
        );
        // Frames that are missing are left out with a note, but room is made only for those there are.
        if let Ok(motion) = read_bvh_bytes("a.bvh", text.as_bytes()) {
            assert!(motion.clip.duration_secs < 1.0, "{number}");
        }
        let channels = text.replace("CHANNELS 3", &format!("CHANNELS {number}"));
        assert_refused(&channels, read_bvh_bytes("a.bvh", channels.as_bytes()));
    }
}

#[test]
fn counts_of_point_caches_are_checked() {
    let folder = crate::test_folder::TestFolder::new("lengths");
    let path = folder.file("a.pc2");
    for (points, frames) in AWKWARD.iter().flat_map(|&a| [(a, 1), (1, a), (a, a)]) {
        let mut bytes = b"POINTCACHE2\0\x01\0\0\0".to_vec();
        bytes.extend((points as u32 | 0x100).to_le_bytes());
        bytes.extend([0; 8]);
        bytes.extend((frames as u32 | 0x100).to_le_bytes());
        bytes.extend([0; 48]);
        std::fs::write(&path, bytes).unwrap();
        assert_refused(
            &format!("{points} × {frames}"),
            super::read_positions(&path),
        );
    }
}
