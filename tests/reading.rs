//! What the readers make of files that are whole: all formats that say the same give the same character.

#![expect(clippy::unwrap_used, reason = "a test that can't go on shall panic")]

use std::path::{Path, PathBuf};

use sinew::character::{Attachment, Character};
use sinew::io::{load, load_from_memory};
use sinew::math::{Point, Point64};
use sinew::mesh::Bounds;
use sinew::progress::Progress;

mod skip;

#[path = "reading/fbx_text.rs"]
mod fbx_text;

fn read(files: &[(&str, &[u8])]) -> Character {
    load_from_memory(files, &Progress::new()).unwrap_or_else(|error| panic!("{error}"))
}

fn refusal(files: &[(&str, &[u8])]) -> String {
    load_from_memory(files, &Progress::new()).unwrap_err().to_string()
}

fn has_note(character: &Character, part: &str) -> bool {
    character.notes.iter().any(|note| note.text.contains(part))
}

/// A cube of edge 2 with one quad left open, in every format.
const CORNERS: [[i32; 3]; 8] = [[0, 0, 0], [2, 0, 0], [2, 2, 0], [0, 2, 0], [0, 0, 2], [2, 0, 2], [2, 2, 2], [0, 2, 2]];
const QUADS: [[usize; 4]; 5] = [[0, 3, 2, 1], [0, 1, 5, 4], [1, 2, 6, 5], [2, 3, 7, 6], [3, 0, 4, 7]];

fn lines(prefix: &str, suffix: &str) -> String {
    CORNERS.map(|[x, y, z]| format!("{prefix}{x} {y} {z}{suffix}\n")).concat()
}

fn faces(prefix: &str, first: usize, suffix: &str) -> String {
    QUADS.map(|[a, b, c, d]| format!("{prefix}{} {} {} {}{suffix}\n", a + first, b + first, c + first, d + first)).concat()
}

fn stl() -> String {
    let corner = |v: usize| format!("vertex {} {} {}\n", CORNERS[v][0], CORNERS[v][1], CORNERS[v][2]);
    let facet = |t: [usize; 3]| format!("facet normal 0 0 0\nouter loop\n{}endloop\nendfacet\n", t.map(corner).concat());
    let facets: String = QUADS.iter().flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]]).map(facet).collect();
    format!("solid box\n{facets}endsolid box\n")
}

fn boxes() -> Vec<(&'static str, String)> {
    let ply = "ply\nformat ascii 1.0\nelement vertex 8\nproperty float x\nproperty float y\nproperty float z\nelement face 5\nproperty list uchar int vertex_indices\nend_header\n";
    vec![
        ("box.obj", format!("{}{}", lines("v ", ""), faces("f ", 1, ""))),
        ("box.off", format!("OFF\n8 5 0\n{}{}", lines("", ""), faces("4 ", 0, ""))),
        ("box.ply", format!("{ply}{}{}", lines("", ""), faces("4 ", 0, ""))),
        (
            "box.mesh",
            format!("MeshVersionFormatted 1\nDimension 3\nVertices 8\n{}Quadrilaterals 5\n{}End\n", lines("", " 0"), faces("", 1, " 0")),
        ),
        ("box.stl", stl()),
    ]
}

#[test]
fn every_format_says_the_same() {
    let surface = |character: &Character| {
        let p = character.bind_positions();
        let rounded = |v: &u32| p[*v as usize].coords.map(|c| c as i32).into();
        let mut all: Vec<Vec<[i32; 3]>> = character.triangles().iter().map(|t| t.iter().map(rounded).collect()).collect();
        all.sort();
        all
    };
    let first = read(&[("box.obj", boxes()[0].1.as_bytes())]);
    assert_eq!((first.source_vertices(), first.source_triangles()), (8, 10));
    for (name, text) in boxes() {
        let character = read(&[(name, text.as_bytes())]);
        assert_eq!(character.source_vertices(), 8, "{name}");
        assert_eq!(surface(&character), surface(&first), "{name}");
        assert_eq!(character.name, "box", "{name}");
    }
}

const TGF: &str = "1 1 0.2 1\n2 1 1 1\n3 1 1.8 1\n#\n1 2\n2 3\n";
const DMAT: &str = "2 8\n1 1 0.5 0.5 1 1 0.5 0\n0 0 0.5 0.5 0 0 0.5 0\n";

#[test]
fn a_skeleton_and_weights_beside_a_mesh_in_any_order() {
    let mesh = &boxes()[0].1;
    let [mesh, tgf, dmat] = [("a.obj", mesh.as_bytes()), ("b.tgf", TGF.as_bytes()), ("c.dmat", DMAT.as_bytes())];
    for files in [[mesh, tgf, dmat], [dmat, tgf, mesh], [tgf, dmat, mesh]] {
        let character = read(&files);
        assert_eq!(character.skeleton.len(), 3);
        let Attachment::Skinned { weights, .. } = &character.meshes[0].attachment else { panic!("not skinned") };
        let of = |v: usize| weights.of(v).collect::<Vec<_>>();
        assert_eq!((of(0), of(2)), (vec![(0, 1.0)], vec![(0, 0.5), (1, 0.5)]));
        assert!(has_note(&character, "without a usable skin weight, which follow the nearest bone: 1"));
        // Turning the second joint by 180° about the vertical axis moves the half-bound corners half the way.
        let mut pose = character.skeleton.rest_pose();
        pose.locals[1].rotation = sinew::math::Quat::from_axis_angle(&nalgebra::Vector3::y_axis(), std::f64::consts::PI);
        let posed = character.meshes[0].positions_at(&character.skeleton.world_from_joint(&pose));
        assert!((posed[2] - Point::new(1.0, 2.0, 1.0)).norm() < 1e-5, "{}", posed[2]);
        assert!((posed[0] - Point::new(0.0, 0.0, 0.0)).norm() < 1e-5);
    }
    let bare = read(&[mesh, dmat]);
    assert!(has_note(&bare, "c.dmat is not used: weights need the skeleton"), "{:?}", bare.notes);
    let odd = read(&[mesh, tgf, ("pose.dmat", b"1 4\n1 0 0 0\n")]);
    assert!(has_note(&odd, "pose.dmat is not used"), "{:?}", odd.notes);
    let three = read(&[mesh, tgf, ("three.dmat", format!("3 8\n{}", "1 ".repeat(24)).as_bytes())]);
    assert!(has_note(&three, "weights for 3 bones, the skeleton has 2"), "{:?}", three.notes);
}

#[test]
fn what_can_not_be_one_character_is_said() {
    let mesh = boxes()[0].1.clone();
    let ply = boxes()[2].1.clone();
    assert!(refusal(&[("a.obj", mesh.as_bytes()), ("b.ply", ply.as_bytes())]).contains("two meshes are given, a.obj and b.ply"));
    assert!(refusal(&[("a.tgf", TGF.as_bytes()), ("b.tgf", TGF.as_bytes()), ("a.obj", mesh.as_bytes())]).contains("two skeletons"));
    assert!(refusal(&[("a.tgf", TGF.as_bytes())]).contains("a mesh is needed"));
    let far = TGF.replace(" 1\n", " 99\n");
    assert!(refusal(&[("a.obj", mesh.as_bytes()), ("far.tgf", far.as_bytes())]).contains("wholly outside"));
}

fn tube(mesh_at: [f64; 3]) -> Character {
    read(&[("tube.fbx", fbx_text::bending_tube(mesh_at).as_bytes())])
}

#[test]
fn an_fbx_stands_upright_in_its_own_unit_and_bends() {
    for mesh_at in [[0.0; 3], [30.0, -10.0, 5.0]] {
        let character = tube(mesh_at);
        let names: Vec<_> = character.skeleton.joints().iter().map(|j| (j.name.as_str(), j.parent, j.deforms)).collect();
        assert_eq!(names, [("lower", None, true), ("upper", Some(0), true), ("tip", Some(1), false)]);
        assert!((character.metres_per_unit - 0.01).abs() < 1e-12);
        assert!(character.notes.iter().all(|note| note.text.contains("as it says")), "{:?}", character.notes);
        // +Z of the file is +Y here, +Y is −Z.
        let upright = |p: &[f64; 3]| Point::new(p[0] as f32, p[2] as f32, -p[1] as f32);
        let expected: Vec<Point> = fbx_text::points().iter().map(upright).collect();
        let off = |actual: &[Point]| actual.iter().zip(&expected).map(|(a, e)| (a - e).norm()).fold(0.0, f32::max);
        assert_eq!(character.source_vertices(), expected.len());
        assert!(off(&character.bind_positions()) < 1e-3);
        let rest = character.skeleton.world_from_joint(&character.skeleton.rest_pose());
        assert!(off(&character.meshes[0].positions_at(&rest)) < 1e-3);
        assert!((character.skeleton.bind_position(1) - Point64::new(0.0, fbx_text::JOINT, 0.0)).norm() < 1e-6);
        let volume: f32 = volume(&character);
        assert!(volume > 0.0, "turned inside out: {volume}");
        // After a second the upper half points where the file's −Y was: +Z.
        let clip = &character.clips[0];
        assert_eq!((clip.name.as_str(), character.clips.len()), ("bend", 1));
        assert!((clip.duration_secs - 1.0).abs() < 1e-6);
        let world = character.skeleton.world_from_joint(&clip.sample(&character.skeleton, 1.0));
        let tip = sinew::math::origin_of(&world[2]);
        assert!((tip - Point64::new(0.0, fbx_text::JOINT, fbx_text::HEIGHT - fbx_text::JOINT)).norm() < 1e-4, "{tip}");
        let half = sinew::math::origin_of(&character.skeleton.world_from_joint(&clip.sample(&character.skeleton, 0.5))[2]);
        let diagonal = (fbx_text::HEIGHT - fbx_text::JOINT) / 2.0_f64.sqrt();
        assert!((half - Point64::new(0.0, fbx_text::JOINT + diagonal, diagonal)).norm() < 1e-3, "{half}");
    }
}

fn volume(character: &Character) -> f32 {
    let p = character.bind_positions();
    character.triangles().iter().map(|t| t.map(|v| p[v as usize].coords)).map(|[a, b, c]| a.dot(&b.cross(&c)) / 6.0).sum()
}

#[test]
fn the_skeleton_and_clip_of_an_fbx_go_to_a_bare_mesh() {
    let character = tube([0.0; 3]);
    let vertices = character.bind_positions().into_iter().map(|p| format!("v {} {} {}\n", p.x, p.y, p.z));
    let faces = character.triangles().into_iter().map(|[a, b, c]| format!("f {} {} {}\n", a + 1, b + 1, c + 1));
    let obj = vertices.chain(faces).collect::<Vec<_>>().concat();
    let fbx = fbx_text::bending_tube([0.0; 3]);
    for files in [[("a.fbx", fbx.as_bytes()), ("b.obj", obj.as_bytes())], [("b.obj", obj.as_bytes()), ("a.fbx", fbx.as_bytes())]] {
        let both = read(&files);
        assert_eq!((both.skeleton.len(), both.clips.len(), both.name.as_str()), (3, 1, "b"));
        assert!(matches!(both.meshes[0].attachment, Attachment::Unweighted));
    }
    let twice = refusal(&[("b.obj", obj.as_bytes()), ("c.obj", obj.as_bytes())]);
    assert!(twice.contains("two meshes"), "{twice}");
}

#[test]
fn an_fbx_cut_short_is_refused() {
    let whole = fbx_text::bending_tube([0.0; 3]);
    for end in (0..whole.len() - 700).step_by(97) {
        let outcome = load_from_memory(&[("cut.fbx", &whole.as_bytes()[..end])], &Progress::new());
        assert!(outcome.is_err(), "{end}");
    }
}

fn data() -> Option<PathBuf> {
    let folder = std::env::var_os("SINEW_TEST_DATA").map(PathBuf::from);
    if folder.is_none() {
        skip::skipped("SINEW_TEST_DATA is not set");
    }
    folder
}

fn load_all(folder: &Path, files: &[&str]) -> Character {
    let paths: Vec<PathBuf> = files.iter().map(|file| folder.join(file)).collect();
    load(&paths, &Progress::new()).unwrap_or_else(|error| panic!("{error}"))
}

/// The weights of libigl's arm have a column for each bone: every joint but the last holds the flesh around its bone.
#[test]
fn the_arm_of_libigl_brings_its_weights() {
    let Some(folder) = data() else { return };
    let arm = load_all(&folder.join("B_unrigged/libigl_arm"), &["arm-weights.dmat", "arm.tgf", "arm.obj"]);
    assert_eq!((arm.source_vertices(), arm.skeleton.len()), (8311, 5));
    let Attachment::Skinned { weights, .. } = &arm.meshes[0].attachment else { panic!("not skinned") };
    assert!((0..4).all(|joint| weights.joints.contains(&joint)) && !weights.joints.contains(&4));
    // Flesh follows the bone that it is around: its strongest joint is at most one bone from the nearest.
    let positions = arm.bind_positions();
    let nearest = |p: &Point| {
        let distance = |j: &usize| {
            let [a, b] = [*j, j + 1].map(|j| arm.skeleton.bind_position(j));
            let p: Point64 = p.cast();
            let t = ((p - a).dot(&(b - a)) / (b - a).norm_squared()).clamp(0.0, 1.0);
            (p - (a + (b - a) * t)).norm()
        };
        (0..4).min_by(|i, j| distance(i).total_cmp(&distance(j))).unwrap()
    };
    let off = positions.iter().enumerate().filter(|(v, p)| nearest(p).abs_diff(weights.strongest(*v).unwrap()) > 1).count();
    assert_eq!(off, 0);
    let hand = load_all(&folder.join("B_unrigged/libigl_hand"), &["hand.mesh", "hand.tgf", "hand-pose.dmat"]);
    assert_eq!((hand.source_vertices(), hand.source_triangles(), hand.skeleton.len()), (7234, 9556, 21));
    assert!(has_note(&hand, "hand-pose.dmat is not used") && has_note(&hand, "tetrahedra"));
    assert_eq!(hand.skeleton.joints().iter().filter(|joint| joint.parent.is_none()).count(), 1);
}

#[test]
fn a_mesh_compressed_by_meshoptimizer_is_a_box() {
    let Some(folder) = data() else { return };
    let character = load_all(&folder, &["D_torture/gt_BoxMeshopt_glb/BoxMeshopt.glb"]);
    assert_eq!((character.source_vertices(), character.source_triangles()), (24, 12));
    let bounds = Bounds::of(&character.bind_positions());
    assert!((bounds.extent() - sinew::math::Vec3::repeat(1.0)).norm() < 1e-3 && bounds.center().coords.norm() < 1e-3);
    assert!((volume(&character) - 1.0).abs() < 1e-3);
    let normals = character.meshes[0].normals.as_ref().unwrap();
    assert!(normals.iter().all(|n| (n.abs().max() - 1.0).abs() < 0.02), "{normals:?}");
}

#[test]
fn rigs_and_motions_from_several_scenes_in_any_order() {
    let Some(folder) = data() else { return };
    let folder = folder.join("B_unrigged/m2m_dragon_trio");
    let files = ["model-dragon.glb", "rig-dragon.glb", "dragon-animations.glb"];
    let first = load_all(&folder, &files);
    assert_eq!((first.clips.len(), first.name.as_str()), (5, "model-dragon"));
    for order in [[2, 1, 0], [1, 0, 2], [1, 2, 0]] {
        let again = load_all(&folder, &order.map(|i| files[i]));
        assert_eq!((again.name, again.clips.len(), again.skeleton.len()), (first.name.clone(), 5, first.skeleton.len()));
    }
}

#[test]
fn vrm_characters_say_which_joint_is_what() {
    let Some(folder) = data() else { return };
    for (file, springs) in [("A_rigged/vrm_armature_transform/armature_transform.vrm", 0), ("A_rigged/vrm_sphere/sphere.vrm", 0)] {
        let character = load_all(&folder, &[file]);
        let name = |part: &str| character.skeleton.joints()[character.humanoid[part]].name.clone();
        println!("{file}: {:?}, notes {:?}", character.humanoid, character.notes);
        assert!(character.humanoid.len() >= 15, "{:?}", character.humanoid);
        assert_ne!(name("leftUpperArm"), name("rightUpperArm"));
        assert!(has_note(&character, "VRM 0"));
        assert_eq!(character.flesh.bones.len(), springs, "{:?}", character.flesh.bones);
    }
}

/// A GLB around a JSON and a binary chunk.
fn glb(json: &str, binary: &[u8]) -> Vec<u8> {
    let padded = |bytes: &[u8], with: u8| {
        let mut padded = bytes.to_vec();
        padded.resize(bytes.len().next_multiple_of(4), with);
        padded
    };
    let mut out = b"glTF\x02\0\0\0".to_vec();
    let chunks = [(b"JSON", padded(json.as_bytes(), b' ')), (b"BIN\0", padded(binary, 0))];
    let length: usize = 12 + chunks.iter().map(|(_, chunk)| 8 + chunk.len()).sum::<usize>();
    out.extend(&length.to_le_bytes()[..4]);
    for (kind, chunk) in chunks {
        out.extend(&chunk.len().to_le_bytes()[..4]);
        out.extend(kind);
        out.extend(chunk);
    }
    out
}

/// A triangle on a chain of four joints, nodes 1 to 4; `%X%` is put among the members of the document.
fn chain(more: &str) -> Vec<u8> {
    let json = r#"{"asset":{"version":"2.0"},%X%"scenes":[{"nodes":[0,1]}],"nodes":[{"mesh":0,"skin":0},{"name":"head","children":[2]},
        {"name":"hair1","translation":[0,1,0],"children":[3]},{"name":"hair2","translation":[0,1,0],"children":[4]},
        {"name":"hair3","translation":[0,1,0]}],"skins":[{"joints":[1,2,3,4]}],
        "meshes":[{"primitives":[{"attributes":{"POSITION":0,"JOINTS_0":1,"WEIGHTS_0":2,"TEXCOORD_0":3},"material":0}]}],
        "materials":[{"pbrMetallicRoughness":{"baseColorTexture":{"index":0,"extensions":{"KHR_texture_transform":{"offset":[0.5,0],"scale":[2,1]}}}}}],
        "textures":[{"extensions":{"KHR_texture_basisu":{"source":0}}}],
        "accessors":[{"bufferView":0,"componentType":5122,"count":3,"type":"VEC3","normalized":true},
        {"bufferView":1,"componentType":5121,"count":3,"type":"VEC4"},{"bufferView":2,"componentType":5121,"count":3,"type":"VEC4","normalized":true},
        {"bufferView":3,"componentType":5123,"count":3,"type":"VEC2","normalized":true}],
        "bufferViews":[{"buffer":0,"byteLength":24,"byteStride":8},{"buffer":0,"byteOffset":24,"byteLength":12},
        {"buffer":0,"byteOffset":36,"byteLength":12},{"buffer":0,"byteOffset":48,"byteLength":12}],"buffers":[{"byteLength":60}]}"#;
    let mut data: Vec<u8> =
        [[0_i16, 0, 0, 0], [32767, 0, 0, 0], [0, -32768, 0, 0]].as_flattened().iter().flat_map(|c| c.to_le_bytes()).collect();
    data.extend([[0, 0, 0, 0], [1, 0, 0, 0], [2, 0, 0, 0]].as_flattened());
    data.extend([[255, 0, 0, 0]; 3].as_flattened());
    data.extend([0_u16, 0, 65535, 0, 0, 65535].iter().flat_map(|c| c.to_le_bytes()));
    glb(&json.replace("%X%", more), &data)
}

#[test]
fn quantised_and_transformed_attributes_are_unfolded() {
    let required = r#""extensionsUsed":["KHR_mesh_quantization","EXT_something"],"extensionsRequired":["KHR_mesh_quantization"],"#;
    let character = read(&[("a.glb", &chain(required))]);
    let mesh = &character.meshes[0];
    assert_eq!(mesh.positions, [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, -1.0, 0.0]].map(Point::from));
    assert_eq!(mesh.tex_coords.as_deref(), Some(&[[0.5, 0.0], [2.5, 0.0], [0.5, 1.0]][..]));
    assert!(has_note(&character, "KHR_texture_basisu") && has_note(&character, "EXT_something"), "{:?}", character.notes);
    let refused = refusal(&[("a.glb", &chain(r#""extensionsRequired":["KHR_draco_mesh_compression"],"#))]);
    assert!(refused.contains("KHR_draco_mesh_compression"), "{refused}");
}

#[test]
fn springs_of_both_vrm_versions_swing_and_humans_are_known() {
    let first = r#""extensions":{"VRM":{"humanoid":{"humanBones":[{"bone":"head","node":1},{"bone":"leftThumbProximal","node":77}]},
        "secondaryAnimation":{"boneGroups":[{"bones":[2]},{"bones":[3,1000]}]}}},"#;
    let second = r#""extensions":{"VRMC_vrm":{"humanoid":{"humanBones":{"head":{"node":1}}}},
        "VRMC_springBone":{"springs":[{"joints":[{"node":1},{"node":2},{"node":3},{"node":4}]},{}]}},"#;
    for (version, text) in [("VRM 0", first), ("VRM 1", second)] {
        let character = read(&[("a.vrm", &chain(text))]);
        assert_eq!(character.humanoid.iter().map(|(name, &joint)| (name.as_str(), joint)).collect::<Vec<_>>(), [("head", 0)], "{version}");
        let swinging: Vec<usize> = character.flesh.bones.iter().filter(|(_, bone)| bone.is_virtual).map(|(&joint, _)| joint).collect();
        assert_eq!(swinging, [1, 2, 3], "{version}");
        assert_eq!(has_note(&character, "VRM 0"), version == "VRM 0");
        assert!(has_note(&character, "springs"));
    }
    let torn = r#""extensions":{"VRM":{"humanoid":7,"secondaryAnimation":{"boneGroups":[{"bones":"x"},5]}},"VRMC_vrm":[],"VRMC_springBone":{"springs":{}}},"#;
    assert!(read(&[("a.vrm", &chain(torn))]).humanoid.is_empty());
}
