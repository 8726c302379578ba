//! Whole files of every format, changed at random: bytes and words replaced, pieces cut out, doubled and exchanged.
//!
//! A few hundred changes of each are tried; `SINEW_FUZZ_CASES=100000 cargo test --release --test torture mutated` tries more.
//! `tests/fuzz` does the same with coverage.

use std::path::Path;

use sinew::io::load_from_memory;
use sinew::progress::Progress;

use super::{Value, guarded, manifest};
use crate::common::fbx_text;
use crate::common::random::Random;

/// Words that have hurt readers before.
const WORDS: [&str; 28] = [
    "0",
    "-1",
    "1",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "99999999999999999999",
    "1e308",
    "1e39",
    "-1e400",
    "nan",
    "inf",
    "2147483648",
    "255",
    "0.5",
    "\n",
    "\n\n",
    "#",
    " ",
    "\0",
    "\r",
    "é",
    "{",
    "}",
    "[",
    "*1000000000",
    "list",
    "\"",
];

fn mutate(seed: &[u8], random: &mut Random) -> Vec<u8> {
    let mut bytes = seed.to_vec();
    for _ in 0..=random.below(4) {
        let at = random.below(bytes.len());
        let length = random.below(bytes.len() - at).min(1 << random.below(12));
        match random.below(9) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..at + length)),
            2 => {
                let piece = bytes[at..at + length].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, piece);
            }
            3 => drop(bytes.splice(at..at, WORDS[random.below(WORDS.len())].bytes())),
            4 => {
                // A word for a word.
                let is_end = |b: &u8| b.is_ascii_whitespace() || b",:/".contains(b);
                let start = bytes[..at].iter().rposition(is_end).map_or(0, |i| i + 1);
                let end = bytes[at..]
                    .iter()
                    .position(is_end)
                    .map_or(bytes.len(), |i| at + i);
                bytes.splice(
                    start..end.max(start),
                    WORDS[random.below(WORDS.len())].bytes(),
                );
            }
            5 => {
                // A number of four bytes.
                let number = [
                    0,
                    1,
                    u32::MAX,
                    i32::MAX as u32,
                    0x7fc0_0000,
                    0x7f80_0000,
                    0xff00_0000,
                ][random.below(7)]
                .to_le_bytes();
                bytes
                    .iter_mut()
                    .skip(at)
                    .zip(number)
                    .for_each(|(byte, new)| *byte = new);
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = if random.below(2) == 0 {
                        random.bits() as u8
                    } else {
                        *byte ^ (1 << random.below(8))
                    };
                }
            }
        }
    }
    bytes
}

const MESH: &str =
    "v 0 0 0\nv 2 0 0\nv 2 2 0\nv 0 2 0\nv 0 0 2\nf 1 2 3 4\nf 1 2 5\nf 2 3 5\nf 3 4 5\nf 4 1 5\n";
const SKEL: &str = "3\n1 0.2 0.5 hip root\n1 1 0.5 knee hip\n1 1.8 0.5 toe knee\n";

const INI: &str = "SIMMESH mesh.obj\nVISMESH gone.obj\nSKELETON a.skel\n";
const BVH: &str = "HIERARCHY\nROOT hip\n{\nOFFSET 1 0.2 0.5\nCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\nJOINT knee\n{\n\
    OFFSET 0 0.8 0\nCHANNELS 3 Zrotation Xrotation Yrotation\nEnd Site\n{\nOFFSET 0 0.8 0\n}\n}\n}\nMOTION\nFrames: 2\nFrame Time: 0.1\n\
    1 0.2 0.5 0 0 0 0 0 0\n1 0.3 0.5 10 20 30 45 0 0\n";

/// Names and contents.
type Files = &'static [(&'static str, &'static [u8])];

/// Small whole files, each with what it needs beside it.
fn seeds() -> Vec<(&'static str, Vec<u8>, Files)> {
    const BESIDE: Files = &[("mesh.obj", MESH.as_bytes())];
    const RIGGED: Files = &[("mesh.obj", MESH.as_bytes()), ("a.skel", SKEL.as_bytes())];
    let ply = "ply\nformat ascii 1.0\ncomment TextureFile a.png\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nproperty float nx\nproperty float ny\nproperty float nz\nproperty float s\nproperty float t\nelement face 3\nproperty list uchar int vertex_indices\nend_header\n0 0 0 0 0 1 0 0\n2 0 0 0 0 1 0 0\n0 2 0 0 0 1 0 0\n0 0 2 0 0 1 0 0\n3 0 1 2\n4 0 1 2 3\n3 1 2 3\n";
    let mut binary_ply = b"ply\nformat binary_little_endian 1.0\nelement vertex 4\nproperty float x\nproperty float y\nproperty float z\nelement face 2\nproperty list uchar ushort vertex_indices\nelement tristrips 1\nproperty list int int vertex_indices\nend_header\n".to_vec();
    binary_ply.extend(
        [
            0.0_f32, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0, 0.0, 0.0, 0.0, 2.0,
        ]
        .iter()
        .flat_map(|c| c.to_le_bytes()),
    );
    binary_ply.extend([3, 0, 0, 1, 0, 2, 0, 4, 0, 0, 1, 0, 2, 0, 3, 0]);
    binary_ply.extend([4, 0, 1, 2, -1].iter().flat_map(|v: &i32| v.to_le_bytes()));
    let facet = |z: u32| {
        format!(
            "facet normal 0 0 1\nouter loop\nvertex 0 0 {z}\nvertex 1 0 {z}\nvertex 0 1 {z}\nendloop\nendfacet\n"
        )
    };
    let mut binary_stl = vec![b's'; 80];
    binary_stl.extend(2_u32.to_le_bytes());
    binary_stl.extend((0..100).map(|i| if i % 4 == 3 { 0x3f } else { i as u8 }));
    let medit = "MeshVersionFormatted 1\nDimension 3\nVertices 4\n0 0 0 0\n1 0 0 0\n0 1 0 0\n0 0 1 0\nTriangles 2\n1 2 3 0\n1 3 4 0\nTetrahedra 1\n1 2 3 4 0\nEnd\n";
    vec![
        (
            "a.obj",
            format!("o a\n{MESH}vt 0 0\nvn 0 0 1\no b\nv 3 3 3\nf 1/1/1 2/1/1 -1/1/1\n")
                .into_bytes(),
            &[],
        ),
        (
            "a.off",
            b"OFF\n4 3 0\n0 0 0\n1 0 0\n0 1 0\n0 0 1\n3 0 1 2\n4 0 1 2 3\n3 1 2 3 255 0 0\n"
                .to_vec(),
            &[],
        ),
        ("a.ply", ply.as_bytes().to_vec(), &[]),
        ("b.ply", binary_ply, &[]),
        (
            "a.stl",
            format!(
                "solid a\n{}endsolid a\nsolid b\n{}endsolid b\n",
                facet(0),
                facet(1)
            )
            .into_bytes(),
            &[],
        ),
        ("b.stl", binary_stl, &[]),
        ("a.mesh", medit.as_bytes().to_vec(), &[]),
        (
            "a.fbx",
            fbx_text::bending_tube([1.0, 2.0, 3.0]).into_bytes(),
            &[],
        ),
        ("b.skel", SKEL.as_bytes().to_vec(), BESIDE),
        (
            "b.tgf",
            b"1 1 0.2 0.5\n2 1 1 0.5\n3 1 1.8 0.5\n#\n1 2 1 0 0\n2 3\n#\n".to_vec(),
            BESIDE,
        ),
        (
            "b.dmat",
            format!("3 5\n{}", "0.5\n0.25\n".repeat(8)).into_bytes(),
            RIGGED,
        ),
        (
            "b.anim",
            format!("2 3\n{}", "1\n1 0 0 0 1 0 0 0 1 0.5 0.25 1\n".repeat(2)).into_bytes(),
            RIGGED,
        ),
        ("b.bvh", BVH.as_bytes().to_vec(), RIGGED),
        ("c.bvh", BVH.as_bytes().to_vec(), BESIDE),
        ("b.ini", INI.as_bytes().to_vec(), RIGGED),
    ]
}

fn cases() -> usize {
    std::env::var("SINEW_FUZZ_CASES")
        .ok()
        .and_then(|cases| cases.parse().ok())
        .unwrap_or(200)
}

fn try_changes(
    name: &str,
    seed: &[u8],
    beside: &[(&str, &[u8])],
    cases: usize,
    salt: u64,
) -> usize {
    let mut random = Random(salt);
    let mut loaded = 0;
    for case in 0..cases {
        let bytes = mutate(seed, &mut random);
        let mut files = vec![(name, bytes.as_slice())];
        files.extend(beside);
        let what = format!("{name}, salt {salt}, case {case}");
        loaded +=
            usize::from(guarded(&what, || load_from_memory(&files, &Progress::new())).is_ok());
    }
    loaded
}

#[test]
fn mutated_files_of_every_format() {
    let cases = cases();
    for (i, (name, seed, beside)) in seeds().iter().enumerate() {
        let mut files = vec![(*name, seed.as_slice())];
        files.extend(*beside);
        if *name != "b.stl" {
            load_from_memory(&files, &Progress::new())
                .unwrap_or_else(|error| panic!("{name} is whole: {error}"));
        }
        let loaded = try_changes(name, seed, beside, cases, i as u64);
        println!("{name}: {loaded} of {cases} load");
    }
}

/// The small ones of the test data.
#[test]
fn mutated_files_of_the_test_data() {
    let Some(folder) = super::skip::data() else {
        return;
    };
    let small = |item: &&Value| item["size"].as_u64().is_some_and(|size| size < 60_000);
    for (i, item) in manifest(&folder).iter().filter(small).enumerate() {
        let file = item["file"].as_str().expect("a file");
        let bytes = std::fs::read(folder.join(file)).expect("the file");
        let name = Path::new(file)
            .file_name()
            .and_then(|name| name.to_str())
            .expect("a name");
        if !bytes.is_empty() {
            try_changes(name, &bytes, &[], cases() / 20, i as u64);
        }
    }
}
