//! What the readers make of files that are whole: all formats that say the same give the same character.

#![expect(clippy::unwrap_used, reason = "a test that can't go on shall panic")]

mod draco;
mod fbx;
mod gltf;
mod morphs;

use sinew::character::{Attachment, Character};
use sinew::io::{load, load_from_memory};
use sinew::math::{Point, Point64};
use sinew::progress::Progress;
use std::path::{Path, PathBuf};

use crate::common::skip;

fn read(files: &[(&str, &[u8])]) -> Character {
    load_from_memory(files, &Progress::new()).unwrap_or_else(|error| panic!("{error}"))
}

fn refusal(files: &[(&str, &[u8])]) -> String {
    load_from_memory(files, &Progress::new())
        .unwrap_err()
        .to_string()
}

fn has_note(character: &Character, part: &str) -> bool {
    character.notes.iter().any(|note| note.text.contains(part))
}

/// A cube of edge 2 with one quad left open, in every format.
const CORNERS: [[i32; 3]; 8] = [
    [0, 0, 0],
    [2, 0, 0],
    [2, 2, 0],
    [0, 2, 0],
    [0, 0, 2],
    [2, 0, 2],
    [2, 2, 2],
    [0, 2, 2],
];

const QUADS: [[usize; 4]; 5] = [
    [0, 3, 2, 1],
    [0, 1, 5, 4],
    [1, 2, 6, 5],
    [2, 3, 7, 6],
    [3, 0, 4, 7],
];

fn lines(prefix: &str, suffix: &str) -> String {
    CORNERS
        .map(|[x, y, z]| format!("{prefix}{x} {y} {z}{suffix}\n"))
        .concat()
}

fn faces(prefix: &str, first: usize, suffix: &str) -> String {
    QUADS
        .map(|[a, b, c, d]| {
            format!(
                "{prefix}{} {} {} {}{suffix}\n",
                a + first,
                b + first,
                c + first,
                d + first
            )
        })
        .concat()
}

fn stl() -> String {
    let corner = |v: usize| {
        format!(
            "vertex {} {} {}\n",
            CORNERS[v][0], CORNERS[v][1], CORNERS[v][2]
        )
    };
    let facet = |t: [usize; 3]| {
        format!(
            "facet normal 0 0 0\nouter loop\n{}endloop\nendfacet\n",
            t.map(corner).concat()
        )
    };
    let facets: String = QUADS
        .iter()
        .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]])
        .map(facet)
        .collect();
    format!("solid box\n{facets}endsolid box\n")
}

fn boxes() -> Vec<(&'static str, String)> {
    let ply = "ply\nformat ascii 1.0\nelement vertex 8\nproperty float x\nproperty float y\nproperty float z\nelement face 5\nproperty list uchar int vertex_indices\nend_header\n";
    vec![
        (
            "box.obj",
            format!("{}{}", lines("v ", ""), faces("f ", 1, "")),
        ),
        (
            "box.off",
            format!("OFF\n8 5 0\n{}{}", lines("", ""), faces("4 ", 0, "")),
        ),
        (
            "box.ply",
            format!("{ply}{}{}", lines("", ""), faces("4 ", 0, "")),
        ),
        (
            "box.mesh",
            format!(
                "MeshVersionFormatted 1\nDimension 3\nVertices 8\n{}Quadrilaterals 5\n{}End\n",
                lines("", " 0"),
                faces("", 1, " 0")
            ),
        ),
        ("box.stl", stl()),
    ]
}

#[test]
fn every_format_reads_equal() {
    let surface = |character: &Character| {
        let p = character.bind_positions();
        let rounded = |v: &u32| p[*v as usize].coords.map(|c| c as i32).into();
        let mut all: Vec<Vec<[i32; 3]>> = character
            .triangles()
            .iter()
            .map(|t| t.iter().map(rounded).collect())
            .collect();
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
    let [mesh, tgf, dmat] = [
        ("a.obj", mesh.as_bytes()),
        ("b.tgf", TGF.as_bytes()),
        ("c.dmat", DMAT.as_bytes()),
    ];
    for files in [[mesh, tgf, dmat], [dmat, tgf, mesh], [tgf, dmat, mesh]] {
        let character = read(&files);
        assert_eq!(character.skeleton.len(), 3);
        let Attachment::Skinned { weights, .. } = &character.meshes[0].attachment else {
            panic!("not skinned")
        };
        let of = |v: usize| weights.of(v).collect::<Vec<_>>();
        assert_eq!((of(0), of(2)), (vec![(0, 1.0)], vec![(0, 0.5), (1, 0.5)]));
        assert!(has_note(
            &character,
            "without a usable skin weight, bound to the nearest bone: 1"
        ));
        // Turning the second joint by 180° about the vertical axis moves the half-bound corners half the way.
        let mut pose = character.skeleton.rest_pose();
        pose.locals[1].rotation =
            sinew::math::Quat::from_axis_angle(&nalgebra::Vector3::y_axis(), std::f64::consts::PI);
        let posed = character.meshes[0].positions_at(&character.skeleton.world_from_joint(&pose));
        assert!(
            (posed[2] - Point::new(1.0, 2.0, 1.0)).norm() < 1e-5,
            "{}",
            posed[2]
        );
        assert!((posed[0] - Point::new(0.0, 0.0, 0.0)).norm() < 1e-5);
    }
    let bare = read(&[mesh, dmat]);
    assert!(
        has_note(&bare, "c.dmat is not used: weights need the skeleton"),
        "{:?}",
        bare.notes
    );
    let odd = read(&[mesh, tgf, ("pose.dmat", b"1 4\n1 0 0 0\n")]);
    assert!(has_note(&odd, "pose.dmat is not used"), "{:?}", odd.notes);
    let three = read(&[
        mesh,
        tgf,
        ("three.dmat", format!("3 8\n{}", "1 ".repeat(24)).as_bytes()),
    ]);
    assert!(
        has_note(&three, "weights for 3 bones, the skeleton has 2"),
        "{:?}",
        three.notes
    );
}

#[test]
fn files_of_several_characters_are_rejected_with_a_reason() {
    let mesh = boxes()[0].1.clone();
    let ply = boxes()[2].1.clone();
    assert!(
        refusal(&[("a.obj", mesh.as_bytes()), ("b.ply", ply.as_bytes())])
            .contains("two meshes are given, a.obj and b.ply")
    );
    assert!(
        refusal(&[
            ("a.tgf", TGF.as_bytes()),
            ("b.tgf", TGF.as_bytes()),
            ("a.obj", mesh.as_bytes())
        ])
        .contains("two skeletons")
    );
    assert!(refusal(&[("a.tgf", TGF.as_bytes())]).contains("a mesh is missing"));
    let far = TGF.replace(" 1\n", " 99\n");
    assert!(
        refusal(&[("a.obj", mesh.as_bytes()), ("far.tgf", far.as_bytes())])
            .contains("lies outside")
    );
}

fn volume(character: &Character) -> f32 {
    let p = character.bind_positions();
    character
        .triangles()
        .iter()
        .map(|t| t.map(|v| p[v as usize].coords))
        .map(|[a, b, c]| a.dot(&b.cross(&c)) / 6.0)
        .sum()
}

fn load_all(folder: &Path, files: &[&str]) -> Character {
    let paths: Vec<PathBuf> = files.iter().map(|file| folder.join(file)).collect();
    load(&paths, &Progress::new()).unwrap_or_else(|error| panic!("{error}"))
}

/// The weights of libigl's arm have a column for each bone: every joint but the last holds the flesh around its bone.
#[test]
fn the_arm_of_libigl_brings_its_weights() {
    let Some(folder) = skip::data() else {
        return;
    };
    let arm = load_all(
        &folder.join("B_unrigged/libigl_arm"),
        &["arm-weights.dmat", "arm.tgf", "arm.obj"],
    );
    assert_eq!((arm.source_vertices(), arm.skeleton.len()), (8311, 5));
    let Attachment::Skinned { weights, .. } = &arm.meshes[0].attachment else {
        panic!("not skinned")
    };
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
        (0..4)
            .min_by(|i, j| distance(i).total_cmp(&distance(j)))
            .unwrap()
    };
    let off = positions
        .iter()
        .enumerate()
        .filter(|(v, p)| nearest(p).abs_diff(weights.strongest(*v).unwrap()) > 1)
        .count();
    assert_eq!(off, 0);
    let hand = load_all(
        &folder.join("B_unrigged/libigl_hand"),
        &["hand.mesh", "hand.tgf", "hand-pose.dmat"],
    );
    assert_eq!(
        (
            hand.source_vertices(),
            hand.source_triangles(),
            hand.skeleton.len()
        ),
        (7234, 9556, 21)
    );
    assert!(has_note(&hand, "hand-pose.dmat is not used") && has_note(&hand, "tetrahedra"));
    assert_eq!(
        hand.skeleton
            .joints()
            .iter()
            .filter(|joint| joint.parent.is_none())
            .count(),
        1
    );
}

#[test]
fn rigs_and_motions_from_several_scenes_in_any_order() {
    let Some(folder) = skip::data() else {
        return;
    };
    let folder = folder.join("B_unrigged/m2m_dragon_trio");
    let files = [
        "model-dragon.glb",
        "rig-dragon.glb",
        "dragon-animations.glb",
    ];
    let first = load_all(&folder, &files);
    assert_eq!(
        (first.clips.len(), first.name.as_str()),
        (5, "model-dragon")
    );
    for order in [[2, 1, 0], [1, 0, 2], [1, 2, 0]] {
        let again = load_all(&folder, &order.map(|i| files[i]));
        assert_eq!(
            (again.name, again.clips.len(), again.skeleton.len()),
            (first.name.clone(), 5, first.skeleton.len())
        );
    }
}
