//! FBX files: axes, units, skeleton and clip, and files cut short.

use sinew::character::{Attachment, Character};
use sinew::io::load_from_memory;
use sinew::math::{Point, Point64};
use sinew::progress::Progress;

use super::{read, refusal, volume};
use crate::common::{fbx_binary, fbx_text};

fn tube(mesh_at: [f64; 3]) -> Character {
    read(&[("tube.fbx", fbx_text::bending_tube(mesh_at).as_bytes())])
}

#[test]
fn an_fbx_stands_upright_in_its_own_unit_and_bends() {
    for mesh_at in [[0.0; 3], [30.0, -10.0, 5.0]] {
        let character = tube(mesh_at);
        let names: Vec<_> = character
            .skeleton
            .joints()
            .iter()
            .map(|j| (j.name.as_str(), j.parent, j.deforms))
            .collect();
        assert_eq!(
            names,
            [
                ("lower", None, true),
                ("upper", Some(0), true),
                ("tip", Some(1), false)
            ]
        );
        assert!((character.metres_per_unit - 0.01).abs() < 1e-12);
        assert!(
            character
                .notes
                .iter()
                .all(|note| note.text.contains("as the file specifies")),
            "{:?}",
            character.notes
        );
        // +Z of the file is +Y here, +Y is −Z.
        let upright = |p: &[f64; 3]| Point::new(p[0] as f32, p[2] as f32, -p[1] as f32);
        let expected: Vec<Point> = fbx_text::points().iter().map(upright).collect();
        let off = |actual: &[Point]| {
            actual
                .iter()
                .zip(&expected)
                .map(|(a, e)| (a - e).norm())
                .fold(0.0, f32::max)
        };
        assert_eq!(character.source_vertices(), expected.len());
        assert!(off(&character.bind_positions()) < 1e-3);
        let rest = character
            .skeleton
            .world_from_joint(&character.skeleton.rest_pose());
        assert!(off(&character.meshes[0].positions_at(&rest)) < 1e-3);
        assert!(
            (character.skeleton.bind_position(1) - Point64::new(0.0, fbx_text::JOINT, 0.0)).norm()
                < 1e-6
        );
        let volume: f32 = volume(&character);
        assert!(volume > 0.0, "turned inside out: {volume}");
        // After a second the upper half points where the file's −Y was: +Z.
        let clip = &character.clips[0];
        assert_eq!((clip.name.as_str(), character.clips.len()), ("bend", 1));
        assert!((clip.duration_secs - 1.0).abs() < 1e-6);
        let world = character
            .skeleton
            .world_from_joint(&clip.sample(&character.skeleton, 1.0));
        let tip = sinew::math::origin_of(&world[2]);
        assert!(
            (tip - Point64::new(0.0, fbx_text::JOINT, fbx_text::HEIGHT - fbx_text::JOINT)).norm()
                < 1e-4,
            "{tip}"
        );
        let half = sinew::math::origin_of(
            &character
                .skeleton
                .world_from_joint(&clip.sample(&character.skeleton, 0.5))[2],
        );
        let diagonal = (fbx_text::HEIGHT - fbx_text::JOINT) / 2.0_f64.sqrt();
        assert!(
            (half - Point64::new(0.0, fbx_text::JOINT + diagonal, diagonal)).norm() < 1e-3,
            "{half}"
        );
    }
}

#[test]
fn the_skeleton_and_clip_of_an_fbx_go_to_a_bare_mesh() {
    let character = tube([0.0; 3]);
    let vertices = character
        .bind_positions()
        .into_iter()
        .map(|p| format!("v {} {} {}\n", p.x, p.y, p.z));
    let faces = character
        .triangles()
        .into_iter()
        .map(|[a, b, c]| format!("f {} {} {}\n", a + 1, b + 1, c + 1));
    let obj = vertices.chain(faces).collect::<Vec<_>>().concat();
    let fbx = fbx_text::bending_tube([0.0; 3]);
    for files in [
        [("a.fbx", fbx.as_bytes()), ("b.obj", obj.as_bytes())],
        [("b.obj", obj.as_bytes()), ("a.fbx", fbx.as_bytes())],
    ] {
        let both = read(&files);
        assert_eq!(
            (both.skeleton.len(), both.clips.len(), both.name.as_str()),
            (3, 1, "b")
        );
        assert!(matches!(both.meshes[0].attachment, Attachment::Unweighted));
    }
    let twice = refusal(&[("b.obj", obj.as_bytes()), ("c.obj", obj.as_bytes())]);
    assert!(twice.contains("two meshes"), "{twice}");
}

#[test]
fn a_binary_fbx_is_the_same_character_as_its_text() {
    let mesh_at = [30.0, -10.0, 5.0];
    let binary = fbx_binary::of_text(&fbx_text::bending_tube(mesh_at));
    let (text, binary) = (tube(mesh_at), read(&[("tube.fbx", &binary)]));
    assert_eq!(binary.bind_positions(), text.bind_positions());
    assert_eq!(binary.triangles(), text.triangles());
    assert_eq!(binary.skeleton, text.skeleton);
    assert_eq!(binary.clips.len(), 1);
    let pose = |character: &Character| character.clips[0].sample(&character.skeleton, 0.5);
    assert_eq!(pose(&binary), pose(&text));
}

/// A vertex of the seam has both texture coordinates, and each face its material.
#[test]
fn seams_and_materials_of_an_fbx_are_read() {
    let text = fbx_text::seamed_tube();
    for character in [
        read(&[("tube.fbx", text.as_bytes())]),
        read(&[("tube.fbx", &fbx_binary::of_text(&text))]),
    ] {
        let plain = tube([0.0; 3]);
        let (mesh, same) = (&character.meshes[0], &plain.meshes[0]);
        let points = same.positions.len();
        assert_eq!(mesh.file_vertices(), points);
        assert_eq!(mesh.positions[..points], same.positions);
        // A copy at each of 11 rings, and of the 8 corners of both ends.
        assert_eq!(mesh.faces.copies.len(), 11 + 16);
        let uvs = mesh.tex_coords.as_ref().unwrap();
        let Attachment::Skinned { weights, .. } = &mesh.attachment else {
            panic!("not skinned")
        };
        for vertex in points..mesh.positions.len() {
            let of_file = mesh.file_vertex(vertex);
            assert_eq!(mesh.positions[vertex], mesh.positions[of_file]);
            assert_eq!(weights.row(vertex), weights.row(of_file));
            assert_ne!(uvs[vertex], uvs[of_file]);
        }
        // No triangle of the sides goes back over the whole texture.
        let sections: Vec<_> = mesh.sections().collect();
        assert_eq!(sections, [(0..160, Some(0)), (160..172, Some(1))]);
        for triangle in &mesh.triangles[..160] {
            let u = triangle.map(|v| uvs[v as usize][0]);
            let [low, high] = [f32::min, f32::max].map(|of| u.into_iter().reduce(of).unwrap());
            assert!(high - low < 0.2, "{u:?}");
        }
        let names: Vec<&str> = (character.materials.iter())
            .map(|m| m.name.as_str())
            .collect();
        assert_eq!(names, ["side", "end"]);
        let polygons = mesh.faces.polygons.as_ref().unwrap();
        assert_eq!((polygons.len(), polygons.ring(81).len()), (82, 8));
        assert!(volume(&character) > 0.0);
    }
}

/// Files of many programs: all that have texture coordinates keep them, whatever their seams.
#[test]
fn texture_coordinates_of_other_programs_are_kept() {
    let Some(data) = crate::common::skip::data() else {
        return;
    };
    let mut with_uvs = 0;
    for file in std::fs::read_dir(data.join("H_fbx")).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "fbx") {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let Ok(character) = load_from_memory(&[("a.fbx", &bytes)], &Progress::new()) else {
            continue;
        };
        for mesh in &character.meshes {
            let copies = &mesh.faces.copies;
            let own = mesh.file_vertices();
            assert!(copies.iter().all(|&v| (v as usize) < own), "{path:?}");
            let used = mesh.sections().last().map_or(0, |(range, _)| range.end);
            assert_eq!(used, mesh.triangles.len(), "{path:?}");
            with_uvs += usize::from(mesh.tex_coords.is_some());
        }
    }
    assert!(with_uvs >= 15, "{with_uvs} meshes have texture coordinates");
}

#[test]
fn a_truncated_fbx_is_rejected() {
    let whole = fbx_text::bending_tube([0.0; 3]);
    for end in (0..whole.len() - 700).step_by(97) {
        let outcome = load_from_memory(&[("cut.fbx", &whole.as_bytes()[..end])], &Progress::new());
        assert!(outcome.is_err(), "{end}");
    }
}
