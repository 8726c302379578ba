//! What `bake` writes as `.glb`, read again: a rig moves its skin as before, morph targets give the baked positions, and of the source
//! document nothing is lost.

#![expect(clippy::unwrap_used, reason = "a test that can't go on shall panic")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::common::folder::TestFolder;
use crate::common::{fbx_text, skip};
use serde_json::{Value, json};
use sinew::character::Character;
use sinew::dynamics::Params;
use sinew::io::{
    MOST_INFLUENCES, MorphFile, MorphSettings, load, read_gltf_bytes, write_rigged_glb,
};
use sinew::math::{Point, Vec3};
use sinew::mesh::Bounds;
use sinew::methods::{Actor, MethodId, Subject};
use sinew::progress::Progress;
use sinew::session::{BakeFormat, BakeSettings, Motion, Take, bake};

fn read(files: &[&Path]) -> Character {
    let files: Vec<PathBuf> = files.iter().map(|file| file.to_path_buf()).collect();
    load(&files, &Progress::new()).unwrap()
}

fn subject(character: Character) -> Arc<Subject> {
    Arc::new(Subject::build(Arc::new(character), &Progress::new()).unwrap())
}

/// Linear blend skinning at some moments of the first clip, or at rest.
fn blended(subject: &Arc<Subject>) -> Vec<Vec<Point>> {
    let mut actor =
        Actor::bind(subject, MethodId::LBS, &Params::default(), &Progress::new()).unwrap();
    let motion = if subject.character.clips.is_empty() {
        Motion::Rest
    } else {
        Motion::Clip(0)
    };
    let mut frames = Vec::new();
    let take = Take::whole(motion, &subject.character, 7.0);
    take.play(&mut actor, &Progress::new(), |_, actor| {
        frames.push(actor.positions().to_vec());
        Ok::<(), std::convert::Infallible>(())
    })
    .unwrap();
    frames
}

fn worst(a: &[Vec<Point>], b: &[Vec<Point>]) -> f32 {
    assert_eq!(a.len(), b.len());
    let size = Bounds::of(&a[0]).size();
    let pairs = a.iter().zip(b).flat_map(|(a, b)| {
        assert_eq!(a.len(), b.len());
        a.iter().zip(b)
    });
    pairs
        .map(|(a, b)| (a - b).norm() / size)
        .fold(0.0, |worst, d| if d <= worst { worst } else { d })
}

fn assert_rig_comes_back(name: &str, character: Character) {
    let before = subject(character);
    let bytes =
        write_rigged_glb(&before.character, before.mesh_weights(), MOST_INFLUENCES).unwrap();
    let back = subject(read_gltf_bytes(name, &bytes).unwrap());
    assert_eq!(
        before.character.clips.len(),
        back.character.clips.len(),
        "{name}"
    );
    let names = |character: &Character| {
        character
            .meshes
            .iter()
            .map(|mesh| mesh.name.clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(names(&before.character), names(&back.character));
    assert_eq!(
        before.character.triangles(),
        back.character.triangles(),
        "{name}"
    );
    assert_has_normals("source", &bytes);
    let off = worst(&blended(&before), &blended(&back));
    assert!(off <= 1e-5, "{name}: off by {off} of the size");
}

/// Viewers draw triangles without normals flat.
fn assert_has_normals(name: &str, glb: &[u8]) {
    let (document, _) = document_of(glb);
    let meshes = document["meshes"].as_array().unwrap();
    for primitive in meshes
        .iter()
        .flat_map(|mesh| mesh["primitives"].as_array().unwrap())
    {
        if primitive["mode"].as_u64().unwrap_or(4) == 4 {
            assert!(
                !primitive["attributes"]["NORMAL"].is_null(),
                "{name}: {primitive}"
            );
        }
        // Targets of the source document are left as they are.
        let targets = primitive["targets"].as_array();
        for target in targets.filter(|_| name != "source").into_iter().flatten() {
            assert!(!target["NORMAL"].is_null(), "{name}: {target}");
        }
    }
}

#[test]
fn a_rig_moves_its_skin_as_before() {
    for name in ["cylinder", "arm", "gecko", "mannequin"] {
        assert_rig_comes_back(name, read(&[Path::new(&format!("builtin:{name}"))]));
    }
}

#[test]
fn rigs_of_other_programs_move_as_before() {
    let Some(folder) = skip::data() else {
        return;
    };
    for name in [
        "RobotExpressive/RobotExpressive.glb",
        "q_Enemy_Large/Enemy_Large.glb",
        "mh_female_cmu/mh_female_cmu.glb",
        "q_Wolf/Wolf.glb",
    ] {
        assert_rig_comes_back(name, read(&[&folder.join("A_rigged").join(name)]));
    }
    // A mesh in one file, its skeleton in another.
    let trio = folder.join("B_unrigged/m2m_human_trio");
    assert_rig_comes_back(
        "two files",
        read(&[&trio.join("model-human.glb"), &trio.join("rig-human.glb")]),
    );
}

#[test]
fn a_bare_mesh_with_a_skeleton_is_exported_as_a_rig() {
    let folder = TestFolder::new("export-bare");
    let (mesh, bones) = (folder.0.join("rod.obj"), folder.0.join("rod.skel"));
    let square = |y: f32| {
        [
            [-0.1, y, -0.1],
            [0.1, y, -0.1],
            [0.1, y, 0.1],
            [-0.1, y, 0.1],
        ]
    };
    let mut text = String::from("o rod\n");
    for ring in 0..9_u8 {
        for [x, y, z] in square(f32::from(ring) * 0.25) {
            writeln!(text, "v {x} {y} {z}").unwrap();
        }
    }
    for ring in 0..8 {
        for side in 0..4 {
            let (a, b) = (ring * 4 + side + 1, ring * 4 + (side + 1) % 4 + 1);
            writeln!(text, "f {a} {} {} {b}", a + 4, b + 4).unwrap();
        }
    }
    std::fs::write(&mesh, text).unwrap();
    std::fs::write(
        &bones,
        "3\n0 0.1 0 lower root\n0 1 0 upper lower\n0 1.9 0 tip upper\n",
    )
    .unwrap();
    assert_rig_comes_back("rod", read(&[&mesh, &bones]));
}

/// The seam, both materials and the size of a character in centimetres are in what is written, and the rest is per vertex of the file.
#[test]
fn an_fbx_keeps_its_look_and_its_size() {
    let folder = TestFolder::new("export-fbx");
    let path = folder.0.join("tube.fbx");
    std::fs::write(&path, fbx_text::seamed_tube()).unwrap();
    let before = subject(read(&[&path]));
    let character = &before.character;
    let expected = blended(&before);
    let bake_as = |name: &str, settings: BakeSettings| {
        let mut actor =
            Actor::bind(&before, MethodId::LBS, &Params::default(), &Progress::new()).unwrap();
        let take = Take::whole(Motion::Clip(0), character, 7.0);
        let out = folder.0.join(name);
        let baked = bake(&mut actor, &take, &out, &settings, &Progress::new()).unwrap();
        (baked.files[0].clone(), baked.files)
    };
    for (keep_units, metres) in [(false, 0.01), (true, 1.0)] {
        let settings = BakeSettings {
            keep_units,
            tolerance: 0.0,
            ..BakeSettings::of(BakeFormat::Glb)
        };
        let bytes = std::fs::read(bake_as("tube.glb", settings).0).unwrap();
        assert_has_normals("tube", &bytes);
        let glb = document_of(&bytes);
        let primitives = glb.0["meshes"][0]["primitives"].as_array().unwrap();
        let materials: Vec<_> = primitives.iter().map(|p| p["material"].as_u64()).collect();
        assert_eq!(materials, [Some(0), Some(1)]);
        // Both primitives hold all vertices, so every frame has them twice.
        let count = character.source_vertices();
        for (frame, expected) in expected.iter().enumerate() {
            let played = played(&glb, frame as f32 / 7.0);
            assert_eq!(played.len(), 2 * count);
            let scaled: Vec<Point> = expected.iter().map(|p| p * metres).collect();
            assert!(worst(&[scaled], &[played[..count].to_vec()]) < 2e-6);
        }
    }
    let rig = write_rigged_glb(character, &[], 4).unwrap();
    assert_has_normals("rig", &rig);
    let back = subject(read_gltf_bytes("tube", &rig).unwrap());
    let again = blended(&back);
    for (expected, again) in expected.iter().zip(&again) {
        let scaled: Vec<Point> = expected.iter().map(|p| p * 0.01).collect();
        let count = scaled.len();
        assert!(worst(&[scaled], &[again[..count].to_vec()]) < 1e-5);
    }
    let mesh = &back.character.meshes[0];
    assert_eq!(mesh.tex_coords, character.meshes[0].tex_coords);
    // Caches and positions have the control points of the file.
    let points = fbx_text::points().len();
    let (cache, _) = bake_as("tube.pc2", BakeSettings::of(BakeFormat::Pc2));
    let frames = sinew::io::read_positions(&cache).unwrap().frames;
    for (frame, expected) in frames.iter().zip(&expected) {
        assert_eq!(frame[..], expected[..points]);
    }
    let (_, files) = bake_as("tube.obj", BakeSettings::of(BakeFormat::Obj));
    let library = folder.0.join("tube.mtl");
    assert!(files.contains(&library) && library.is_file());
    let again = read(&[&files[0]]);
    assert_eq!(again.file_vertices(), points);
    assert_eq!(again.meshes[0].tex_coords, character.meshes[0].tex_coords);
    assert_eq!(again.triangles(), character.triangles());
    assert_eq!(again.meshes[0].sections().count(), 2);
    let polygons = |character: &Character| character.meshes[0].faces.polygons.clone().unwrap();
    assert_eq!(polygons(&again).ends, polygons(character).ends);
    assert_eq!(polygons(&again).corners, polygons(character).corners);
}

/// Characters of several meshes get a cache for each, in the order of their vertices.
#[test]
fn every_mesh_has_a_point_cache() {
    let folder = TestFolder::new("export-caches");
    let path = folder.0.join("two.obj");
    let cube = |first: usize, at: f32| {
        let corner = |c: usize| {
            let [x, y, z] = [c & 1, c >> 1 & 1, c >> 2].map(|bit| bit as f32);
            format!("v {} {y} {z}\n", x + at)
        };
        let corners: String = (0..8).map(corner).collect();
        let faces = [
            [1, 3, 4, 2],
            [5, 6, 8, 7],
            [1, 2, 6, 5],
            [3, 7, 8, 4],
            [1, 5, 7, 3],
            [2, 4, 8, 6],
        ];
        let face = |face: [usize; 4]| {
            let [a, b, c, d] = face.map(|v| v + first);
            format!("f {a} {b} {c} {d}\n")
        };
        corners + &faces.map(face).concat()
    };
    let text = format!("o left/eye\n{}o body\n{}", cube(0, 0.0), cube(8, 3.0));
    std::fs::write(&path, text).unwrap();
    let subject = subject(read(&[&path]));
    let mut actor = Actor::bind(
        &subject,
        MethodId::RIGID,
        &Params::default(),
        &Progress::new(),
    )
    .unwrap();
    let take = Take::whole(Motion::Rest, &subject.character, 10.0);
    for (format, extension) in [(BakeFormat::Pc2, "pc2"), (BakeFormat::Mdd, "mdd")] {
        for one_cache in [false, true] {
            let settings = BakeSettings {
                one_cache,
                ..BakeSettings::of(format)
            };
            let out = folder.0.join(format!("o.{extension}"));
            let baked = bake(&mut actor, &take, &out, &settings, &Progress::new()).unwrap();
            let names = if one_cache {
                vec![out]
            } else {
                ["left_eye", "body"]
                    .map(|name| folder.0.join(format!("o/{name}.{extension}")))
                    .to_vec()
            };
            assert_eq!(baked.files, names);
            if format == BakeFormat::Pc2 {
                let frames = names
                    .iter()
                    .map(|name| sinew::io::read_positions(name).unwrap());
                let first: Vec<Point> = frames.flat_map(|mut read| read.frames.remove(0)).collect();
                assert_eq!(first[..], actor.positions()[..]);
            }
        }
    }
}

#[test]
fn engines_get_no_more_influences_than_asked_for() {
    let character = read(&[Path::new("builtin:mannequin")]);
    for influences in [1, 2, 4] {
        let bytes = write_rigged_glb(&character, &[], influences).unwrap();
        let back = read_gltf_bytes("m", &bytes).unwrap();
        let sinew::character::Attachment::Skinned { weights, .. } = &back.meshes[0].attachment
        else {
            panic!("not skinned")
        };
        for vertex in 0..weights.len() {
            let row: Vec<f32> = weights.of(vertex).map(|(_, weight)| weight).collect();
            assert!(
                row.len() <= influences && (row.iter().sum::<f32>() - 1.0).abs() < 1e-6,
                "{row:?}"
            );
        }
        let document = document_of(&bytes).0;
        assert!(document["meshes"][0]["primitives"][0]["attributes"]["JOINTS_1"].is_null());
    }
}

/// JSON and binary chunk.
fn document_of(glb: &[u8]) -> (Value, Vec<u8>) {
    let length = u32::from_le_bytes(glb[12..16].try_into().unwrap()) as usize;
    let binary = glb.get(28 + length..).unwrap_or(&[]).to_vec();
    (
        serde_json::from_slice(&glb[20..20 + length]).unwrap(),
        binary,
    )
}

/// Vectors of an accessor, by the letter of the standard: zeros, dense or sparse.
fn vectors((document, binary): &(Value, Vec<u8>), accessor: &Value) -> Vec<Vec3> {
    let accessor = &document["accessors"][accessor.as_u64().unwrap() as usize];
    let number = |value: &Value| value.as_u64().unwrap_or(0) as usize;
    let start = |view: &Value| number(&document["bufferViews"][number(view)]["byteOffset"]);
    let float = |at: usize| f32::from_le_bytes(binary[at..at + 4].try_into().unwrap());
    let vector = |at: usize| Vec3::new(float(at), float(at + 4), float(at + 8));
    let mut all = vec![Vec3::zeros(); number(&accessor["count"])];
    if !accessor["bufferView"].is_null() {
        let first = start(&accessor["bufferView"]) + number(&accessor["byteOffset"]);
        all.iter_mut()
            .enumerate()
            .for_each(|(i, v)| *v = vector(first + 12 * i));
    }
    if let Some(sparse) = accessor.get("sparse") {
        let wide = if sparse["indices"]["componentType"] == 5123 {
            2
        } else {
            4
        };
        let (indices, values) = (
            start(&sparse["indices"]["bufferView"]),
            start(&sparse["values"]["bufferView"]),
        );
        for i in 0..number(&sparse["count"]) {
            let bytes = &binary[indices + wide * i..indices + wide * (i + 1)];
            let index = bytes
                .iter()
                .rev()
                .fold(0, |n, &byte| n << 8 | usize::from(byte));
            all[index] = vector(values + 12 * i);
        }
    }
    let bound = |key: &str, i: usize| accessor[key][i].as_f64().unwrap() as f32;
    if !accessor["min"].is_null() {
        assert!(
            all.iter()
                .all(|v| (0..3).all(|i| (bound("min", i)..=bound("max", i)).contains(&v[i])))
        );
    }
    all
}

/// Positions at a time, with the animation's weights.
fn played(glb: &(Value, Vec<u8>), time: f32) -> Vec<Point> {
    let document = &glb.0;
    let animation = &document["animations"][0]["samplers"][0];
    let scalars = |accessor: &Value| -> Vec<f32> {
        let accessor = &document["accessors"][accessor.as_u64().unwrap() as usize];
        let view = &document["bufferViews"][accessor["bufferView"].as_u64().unwrap() as usize];
        let start = view["byteOffset"].as_u64().unwrap_or(0) as usize;
        let count = accessor["count"].as_u64().unwrap() as usize;
        glb.1[start..start + 4 * count]
            .chunks_exact(4)
            .map(|b| f32::from_le_bytes(b.try_into().unwrap()))
            .collect()
    };
    let (times, weights) = (scalars(&animation["input"]), scalars(&animation["output"]));
    let targets = weights.len() / times.len();
    let after = times
        .partition_point(|&t| t <= time)
        .clamp(1, times.len() - 1);
    let t = ((time - times[after - 1]) / (times[after] - times[after - 1])).clamp(0.0, 1.0);
    let weight = |target: usize| {
        weights[(after - 1) * targets + target] * (1.0 - t) + weights[after * targets + target] * t
    };
    let mut all = Vec::new();
    for root in document["scenes"][0]["nodes"].as_array().unwrap() {
        let node = &document["nodes"][root.as_u64().unwrap() as usize];
        let Some(mesh) = node["mesh"].as_u64().filter(|_| node["camera"].is_null()) else {
            continue;
        };
        assert!(
            ["matrix", "translation", "rotation", "scale", "skin"]
                .iter()
                .all(|key| node[key].is_null())
        );
        for primitive in document["meshes"][mesh as usize]["primitives"]
            .as_array()
            .unwrap()
        {
            let mut positions = vectors(glb, &primitive["attributes"]["POSITION"]);
            for (index, target) in primitive["targets"]
                .as_array()
                .into_iter()
                .flatten()
                .enumerate()
                .filter(|(i, _)| weight(*i) > 0.0)
            {
                let moved = vectors(glb, &target["POSITION"]);
                positions
                    .iter_mut()
                    .zip(moved)
                    .for_each(|(p, d)| *p += d * weight(index));
            }
            all.extend(positions.into_iter().map(Point::from));
        }
    }
    all
}

#[test]
fn morph_targets_give_the_baked_positions() {
    let folder = TestFolder::new("export-morph");
    for (name, method, tolerance) in [
        ("cylinder", MethodId::PD, 1e-5),
        ("arm", MethodId::LBS, 0.03),
        ("gecko", MethodId::LBS, 0.0),
    ] {
        let subject = subject(read(&[Path::new(&format!("builtin:{name}"))]));
        let mut actor =
            Actor::bind(&subject, method, &Params::default(), &Progress::new()).unwrap();
        let take = Take::whole(Motion::Clip(0), &subject.character, 12.0);
        let mut expected = Vec::new();
        take.play(&mut actor, &Progress::new(), |_, actor| {
            expected.push(actor.positions().to_vec());
            Ok::<(), std::convert::Infallible>(())
        })
        .unwrap();
        let path = folder.0.join("baked.glb");
        let settings = BakeSettings {
            tolerance,
            ..BakeSettings::of(BakeFormat::Glb)
        };
        let baked = bake(&mut actor, &take, &path, &settings, &Progress::new()).unwrap();
        let targets = baked.morph_targets.unwrap();
        assert!(targets < expected.len(), "{name}");
        if tolerance > 1e-4 {
            assert!(
                targets * 2 < expected.len(),
                "{name}: {targets} of {} frames",
                expected.len()
            );
        }
        assert_has_normals(name, &std::fs::read(&path).unwrap());
        let glb = document_of(&std::fs::read(&path).unwrap());
        let frames: Vec<_> = (0..expected.len())
            .map(|frame| played(&glb, frame as f32 / 12.0))
            .collect();
        let off = worst(&expected, &frames);
        assert!(off <= tolerance + 2e-6, "{name}: off by {off} of the size");
        assert_eq!(
            std::fs::read_dir(&folder.0).unwrap().count(),
            1,
            "nothing is left beside"
        );
    }
}

/// A triangle on a node deep down, with all that a file can have besides.
fn furnished() -> Value {
    let data =
        "data:application/octet-stream;base64,AAAAAAAAAAAAAAAAAACAPwAAAAAAAAAAAAAAAAAAgD8AAAAA";
    json!({
        "asset": {"version": "2.0", "generator": "By hand", "copyright": "somebody", "extras": {"a": 1}},
        "extensionsUsed": ["KHR_lights_punctual", "ACME_unheard_of", "KHR_materials_clearcoat"],
        "extensions": {"KHR_lights_punctual": {"lights": [{"type": "point", "name": "lamp"}]}, "ACME_unheard_of": {"x": [1, 2]}},
        "extras": {"note": "of the file"},
        "scene": 0,
        "scenes": [{"name": "stage", "nodes": [0, 3], "extras": 7}],
        "nodes": [
            {"name": "top", "children": [1, 2], "translation": [0.0, 2.0, 0.0]},
            {"name": "flag", "mesh": 0, "scale": [-2.0, 2.0, 2.0], "extras": {"of": "flag"}},
            {"name": "lamp", "extensions": {"KHR_lights_punctual": {"light": 0}}},
            {"name": "eye", "camera": 0, "mesh": 0, "translation": [5.0, 0.0, 0.0]},
        ],
        "cameras": [{"type": "perspective", "name": "eye", "perspective": {"yfov": 1.0, "znear": 0.1}}],
        "meshes": [{
            "name": "cloth", "extras": {"thread": "wool"},
            "primitives": [{"attributes": {"POSITION": 0}, "material": 0, "extras": {"p": 1}}, {"attributes": {"POSITION": 0}, "mode": 0}],
        }],
        "materials": [{
            "name": "red", "extras": {"paint": "oil"}, "emissiveFactor": [0.5, 0.0, 0.0],
            "pbrMetallicRoughness": {"metallicFactor": 0.25, "baseColorFactor": [1.0, 0.0, 0.0, 1.0]},
            "extensions": {"KHR_materials_clearcoat": {"clearcoatFactor": 1.0}},
        }],
        "samplers": [{"wrapS": 33071}],
        "accessors": [{"bufferView": 0, "componentType": 5126, "count": 3, "type": "VEC3", "min": [0.0, 0.0, 0.0], "max": [1.0, 1.0, 0.0]}],
        "bufferViews": [{"buffer": 0, "byteLength": 36, "name": "corners"}],
        "buffers": [{"byteLength": 36, "uri": data, "name": "all"}],
    })
}

#[test]
fn nothing_of_the_document_is_lost() {
    let folder = TestFolder::new("export-furnished");
    let character = read_gltf_bytes("furnished", furnished().to_string().as_bytes()).unwrap();
    assert_eq!(character.meshes.len(), 2);
    let path = folder.0.join("out.glb");
    let settings = MorphSettings {
        animation: "up".to_owned(),
        size: 3.0,
        tolerance: 0.0,
        keep_units: false,
    };
    let mut file = MorphFile::create(&path, &character, settings).unwrap();
    let rest = character.bind_positions();
    let risen: Vec<Point> = rest
        .iter()
        .enumerate()
        .map(|(v, p)| if v < 2 { p + Vec3::y() } else { *p })
        .collect();
    for (time, positions) in [(0.5, &rest), (1.0, &rest), (1.5, &risen)] {
        file.frame(time, positions, &[Vec3::z(); 6]).unwrap();
    }
    // Two keys: still until 1 s, then up.
    assert_eq!(file.finish().unwrap().targets, 2);
    let glb = document_of(&std::fs::read(&path).unwrap());
    let (after, before) = (&glb.0, furnished());
    for key in [
        "extensions",
        "extras",
        "cameras",
        "materials",
        "samplers",
        "extensionsUsed",
    ] {
        assert_eq!(after[key], before[key], "{key}");
    }
    assert_eq!(after["asset"]["copyright"], "somebody");
    assert_eq!(after["asset"]["extras"], before["asset"]["extras"]);
    assert_eq!(after["scenes"][0]["name"], "stage");
    assert_eq!(after["scenes"][0]["extras"], 7);
    let nodes = after["nodes"].as_array().unwrap();
    for name in ["top", "flag", "lamp", "eye"] {
        assert!(nodes.iter().any(|node| node["name"] == name), "{name}");
    }
    let holders: Vec<&Value> = nodes
        .iter()
        .filter(|node| node["mesh"].as_u64().is_some())
        .collect();
    assert!(
        holders
            .iter()
            .any(|node| node["name"] == "flag" && node["extras"]["of"] == "flag")
    );
    // Each keeps its points where they were, and its camera.
    assert_eq!(holders.len(), 4);
    assert!(
        nodes
            .iter()
            .any(|node| node["camera"] == 0 && node["translation"] == json!([5.0, 0.0, 0.0]))
    );
    for mesh in after["meshes"].as_array().unwrap() {
        assert_eq!(
            (&mesh["name"], &mesh["extras"]["thread"]),
            (&json!("cloth"), &json!("wool"))
        );
        assert_eq!(mesh["primitives"].as_array().unwrap().len(), 1);
    }
    // The mirrored one turns its triangle; only its first two corners move.
    let off = |time, expected: &Vec<Point>| {
        worst(
            std::slice::from_ref(expected),
            &[played(&glb, time)[..6].to_vec()],
        )
    };
    assert!(off(0.5, &rest) < 1e-6 && off(1.0, &rest) < 1e-6 && off(1.5, &risen) < 1e-6);
    let back = load(&[path], &Progress::new()).unwrap();
    assert_eq!(back.triangles(), character.triangles());
    assert!(worst(&[back.bind_positions()], &[rest]) < 1e-6);
    assert_eq!(back.meshes[0].name, "flag");
}
