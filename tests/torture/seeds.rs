//! Small whole files of every format, made here.

use sinew::character::Character;
use sinew::io::{UsdFormat, load_from_memory, usd_bytes, write_glb};
use sinew::progress::Progress;

use super::made::glb;
use crate::common::{fbx_binary, fbx_text};

const MESH: &str =
    "v 0 0 0\nv 2 0 0\nv 2 2 0\nv 0 2 0\nv 0 0 2\nf 1 2 3 4\nf 1 2 5\nf 2 3 5\nf 3 4 5\nf 4 1 5\n";
const SKEL: &str = "3\n1 0.2 0.5 hip root\n1 1 0.5 knee hip\n1 1.8 0.5 toe knee\n";

const INI: &str = "SIMMESH mesh.obj\nVISMESH gone.obj\nSKELETON a.skel\n";
const BVH: &str = "HIERARCHY\nROOT hip\n{\nOFFSET 1 0.2 0.5\nCHANNELS 6 Xposition Yposition Zposition Zrotation Xrotation Yrotation\nJOINT knee\n{\n\
    OFFSET 0 0.8 0\nCHANNELS 3 Zrotation Xrotation Yrotation\nEnd Site\n{\nOFFSET 0 0.8 0\n}\n}\n}\nMOTION\nFrames: 2\nFrame Time: 0.1\n\
    1 0.2 0.5 0 0 0 0 0 0\n1 0.3 0.5 10 20 30 45 0 0\n";

/// Names and contents.
type Files = &'static [(&'static str, &'static [u8])];

/// What a whole file consists of.
pub enum Content {
    Bytes(Vec<u8>),
    /// Chunks of a `.glb`, changed one by one, with the lengths that belong to them.
    Glb {
        json: String,
        binary: Vec<u8>,
    },
}

impl Content {
    /// The bytes of the file.
    pub fn whole(&self) -> Vec<u8> {
        match self {
            Self::Bytes(bytes) => bytes.clone(),
            Self::Glb { json, binary } => glb(json.as_bytes(), binary),
        }
    }
}

/// A small whole file.
pub struct Seed {
    pub name: &'static str,
    pub content: Content,
    /// What it needs beside it.
    pub beside: Files,
    /// The number of changes that are tried, a few seconds' worth.
    pub cases: usize,
    /// How many of those that are read go through all stages. Weights that a file does not have take a second to compute.
    pub runs: usize,
}

/// A tube on bones with a clip.
pub fn tube_character() -> Character {
    let text = fbx_text::bending_tube([1.0, 2.0, 3.0]);
    let files: &[(&str, &[u8])] = &[("tube.fbx", text.as_bytes())];
    load_from_memory(files, &Progress::new()).expect("a whole file")
}

/// A tube with a blend channel, and a clip that moves it.
fn smiling_character() -> Character {
    let text = fbx_text::smiling_tube();
    let files: &[(&str, &[u8])] = &[("tube.fbx", text.as_bytes())];
    load_from_memory(files, &Progress::new()).expect("a whole file")
}

/// A character as the chunks of a `.glb`.
fn chunks(character: &Character) -> (String, Vec<u8>) {
    let bytes = write_glb(character).expect("a whole character");
    let length = |at: usize| {
        let bytes = bytes[at..at + 4].try_into().expect("four bytes");
        u32::from_le_bytes(bytes) as usize
    };
    let (json, binary) = (20..20 + length(12), 28 + length(12)..bytes.len());
    let json = String::from_utf8(bytes[json].to_vec()).expect("text");
    (json.trim_end().to_owned(), bytes[binary].to_vec())
}

fn usd(format: UsdFormat) -> Vec<u8> {
    usd_bytes(&tube_character(), format).expect("a whole character")
}

/// As text with the data inside.
fn gltf(json: &str, binary: &[u8]) -> Vec<u8> {
    use base64::Engine;
    let data = base64::engine::general_purpose::STANDARD.encode(binary);
    let uri = format!("\"uri\":\"data:application/octet-stream;base64,{data}\",\"byteLength\"");
    let (before, buffers) = json.split_once("\"buffers\"").expect("a buffer");
    format!(
        "{before}\"buffers\"{}",
        buffers.replacen("\"byteLength\"", &uri, 1)
    )
    .into_bytes()
}

/// With the names of a human's bones.
fn vrm(json: &str) -> String {
    let names = "{\"extensionsUsed\":[\"VRMC_vrm\"],\"extensions\":{\"VRMC_vrm\":{\"specVersion\":\"1.0\",\"humanoid\":{\"humanBones\":{\
        \"hips\":{\"node\":0},\"spine\":{\"node\":1}}}}},";
    json.replacen('{', names, 1)
}

/// Small whole files of every format.
pub fn seeds() -> Vec<Seed> {
    let (json, binary) = chunks(&tube_character());
    let (smile, of_smile) = chunks(&smiling_character());
    let scenes = [
        (
            "c.glb",
            Content::Glb {
                json: smile,
                binary: of_smile,
            },
        ),
        ("a.gltf", Content::Bytes(gltf(&json, &binary))),
        (
            "a.vrm",
            Content::Glb {
                json: vrm(&json),
                binary: binary.clone(),
            },
        ),
        ("a.glb", Content::Glb { json, binary }),
    ];
    let scenes = scenes.map(|(name, content)| (name, content, &[][..]));
    let others = small_files().into_iter();
    let others = others.map(|(name, bytes, beside)| (name, Content::Bytes(bytes), beside));
    let limits = |name: &str| match name {
        "b.skel" | "b.tgf" | "b.anim" | "b.bvh" | "c.bvh" | "b.ini" => (800, 3),
        "b.dmat" | "c.dmat" => (800, 50),
        _ => (1500, usize::MAX),
    };
    let all = scenes.into_iter().chain(others);
    all.map(|(name, content, beside)| {
        let (cases, runs) = limits(name);
        Seed {
            name,
            content,
            beside,
            cases,
            runs,
        }
    })
    .collect()
}

/// Files of all other formats.
fn small_files() -> Vec<(&'static str, Vec<u8>, Files)> {
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
        ("c.fbx", fbx_text::smiling_tube().into_bytes(), &[]),
        (
            "b.fbx",
            fbx_binary::of_text(&fbx_text::bending_tube([1.0, 2.0, 3.0])),
            &[],
        ),
        ("a.usda", usd(UsdFormat::Text), &[]),
        ("a.usdc", usd(UsdFormat::Binary), &[]),
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
            "c.dmat",
            [&b"0 0\n3 5\n"[..], &0.5_f64.to_le_bytes().repeat(15)].concat(),
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
