//! Morphs as blend shapes.

use super::*;
use crate::character::{Morph, MorphShape, MorphTarget};
use crate::rig::{Curve, MorphTrack};

/// A character with morphs at rest and in a clip: one with an in-between shape, of a mesh whose vertices have copies.
fn with_morphs() -> Character {
    let mut character = builtin("cylinder");
    let mesh = &character.meshes[0];
    let half = mesh.file_vertices() as u32 / 2;
    let shape = |at: f64, vertices: std::ops::Range<u32>, up: f32| MorphShape {
        at,
        targets: vec![MorphTarget {
            mesh: 0,
            offsets: vertices
                .clone()
                .map(|v| Vec3::new(up, v as f32 * 1e-3, -up))
                .collect(),
            vertices: vertices.collect(),
            normals: Vec::new(),
        }],
    };
    let morph = |name: &str, rest_weight: f64, shapes: Vec<MorphShape>| Morph {
        name: name.into(),
        mesh: mesh.name.clone(),
        rest_weight,
        shapes,
    };
    character.morphs = vec![
        morph("puff", 0.25, vec![shape(1.0, 0..half, 0.1)]),
        morph(
            "puff",
            0.0,
            vec![shape(0.5, 3..9, 0.2), shape(1.0, 0..half, -0.1)],
        ),
    ]
    .into();
    let track = |control: usize, values: Vec<f64>| MorphTrack {
        control,
        curve: Curve::linear(vec![0.0, 0.5, 1.0], values),
    };
    let clip = &mut character.clips[0];
    clip.morphs = vec![
        track(0, vec![0.0, 0.5, -0.25]),
        track(1, vec![0.0, 1.0, 0.25]),
    ];
    character
}

#[test]
fn morphs_are_blend_shapes_with_weights_relative_to_rest() {
    let character = with_morphs();
    let mesh = &character.meshes[0];
    for (format, _) in FORMATS {
        let bytes = usd_bytes(&character, format).unwrap();
        let layer = match format {
            UsdFormat::Text => text::read(&bytes),
            UsdFormat::Binary => binary::read(&bytes),
        };
        let layer = layer.unwrap();
        let all = &layer.roots[0].children;
        let find = |kind: &str| all.iter().find(|prim| prim.kind == kind).unwrap();
        let prim = find("Mesh");
        let tokens = prim.texts("skel:blendShapes");
        assert_eq!(tokens, ["puff", "puff_50__", "puff_100__"]);
        let targets = &prim.property("skel:blendShapeTargets").unwrap().targets;
        let paths = tokens
            .iter()
            .map(|token| format!("/{}/{}/{token}", layer.roots[0].name, prim.name));
        assert_eq!(*targets, paths.collect::<Vec<_>>());
        let animations = all.iter().find(|prim| prim.name == "Animations").unwrap();
        let animation = &animations.children[0];
        assert_eq!(animation.texts("blendShapes"), tokens);
        let weights = &animation.property("blendShapeWeights").unwrap().samples;
        assert!(weights.len() > 3, "{}", weights.len());
        for (code, weights) in weights {
            let pose = character.clips[0].sample(&character.skeleton, code / joints_write::FPS);
            let mut told = vec![Vec3::zeros(); mesh.positions.len()];
            for (child, &weight) in prim
                .children
                .iter()
                .filter(|c| c.kind == "BlendShape")
                .zip(weights.numbers())
            {
                let offsets = child.numbers("offsets").chunks_exact(3);
                for (&vertex, offset) in child.numbers("pointIndices").iter().zip(offsets) {
                    let offset = Vec3::new(offset[0] as f32, offset[1] as f32, offset[2] as f32);
                    told[vertex as usize] += offset * weight as f32;
                }
            }
            let mut wanted = vec![Vec3::zeros(); mesh.positions.len()];
            for (index, morph) in character.morphs.iter().enumerate() {
                let weight = morph.rest_weight + pose.morphs.get(index);
                for (shape, of_shape) in morph.shapes.iter().enumerate() {
                    let share = morph.share_beyond_rest(shape, weight) as f32;
                    let target = &of_shape.targets[0];
                    for (&vertex, offset) in target.vertices.iter().zip(&target.offsets) {
                        wanted[vertex as usize] += offset * share;
                    }
                }
            }
            let off = told.iter().zip(&wanted).map(|(a, b)| (a - b).norm());
            assert!(off.fold(0.0, f32::max) < 1e-6, "at {code}");
        }
        let rest: Vec<Point> = prim
            .numbers("points")
            .chunks_exact(3)
            .map(|p| Point::new(p[0] as f32, p[1] as f32, p[2] as f32))
            .collect();
        assert_eq!(rest, mesh.positions[..mesh.file_vertices()]);
    }
}

/// Positions of a mesh at a time of the first clip.
fn positions_at(character: &Character, time_secs: f64) -> Vec<Point> {
    let pose = character.clips[0].sample(&character.skeleton, time_secs);
    let mesh = &character.meshes[0];
    let mut positions = mesh.positions.clone();
    let own = character.morphs.iter().enumerate();
    for (index, morph) in own.filter(|(_, morph)| morph.mesh == mesh.name) {
        let weight = morph.rest_weight + pose.morphs.get(index);
        for (shape, of_shape) in morph.shapes.iter().enumerate() {
            let share = morph.share_beyond_rest(shape, weight) as f32;
            for target in &of_shape.targets {
                for (&vertex, offset) in target.vertices.iter().zip(&target.offsets) {
                    positions[vertex as usize] += offset * share;
                }
            }
        }
    }
    positions
}

#[test]
fn blend_shapes_move_a_mesh_that_was_read_back_as_before() {
    let character = with_morphs();
    let written = character.meshes[0].file_vertices();
    for (format, file) in FORMATS {
        let read = read_back(&usd_bytes(&character, format).unwrap(), file);
        let names: Vec<&str> = read.morphs.iter().map(|m| m.name.as_str()).collect();
        assert_eq!(names, ["puff", "puff 50 %", "puff 100 %"], "{file}");
        assert!(
            read.notes
                .iter()
                .all(|note| !note.text.contains("blend shapes"))
        );
        let mut most = 0_f32;
        for part in 0..=60 {
            // At all keys, and where the writer samples what is no line.
            let time = f64::from(part) / 60.0;
            let (all, same) = (positions_at(&character, time), positions_at(&read, time));
            let pairs = all[..written].iter().zip(&same[..written]);
            let off = pairs.map(|(a, b)| (a - b).norm()).fold(0.0, f32::max);
            assert!(off < 1e-5, "{file} at {time}: {off}");
            let rest = &character.meshes[0].positions;
            let moved = all.iter().zip(rest).map(|(a, b)| (a - b).norm());
            most = moved.fold(most, f32::max);
        }
        assert!(most > 0.1, "{most}");
    }
}

#[test]
fn morphs_with_one_shape_read_back_equal() {
    let mut character = with_morphs();
    let mut morphs = character.morphs.to_vec();
    morphs[0].rest_weight = 0.0;
    morphs[0].name = "grosse Nase/é".into();
    morphs[1].shapes.remove(0);
    character.morphs = morphs.into();
    for (format, file) in FORMATS {
        let read = read_back(&usd_bytes(&character, format).unwrap(), file);
        assert_eq!(read.morphs, character.morphs, "{file}");
        let (tracks, same) = (&character.clips[0].morphs, &read.clips[0].morphs);
        assert_eq!(tracks.len(), same.len(), "{file}");
        for (track, same) in tracks.iter().zip(same) {
            assert_eq!(track.control, same.control);
            for part in 0..=20 {
                let time = f64::from(part) / 20.0;
                assert!(
                    (track.sample(time) - same.sample(time)).abs() < 1e-6,
                    "{file}"
                );
            }
        }
    }
}

/// A square with a seam of the texture between its triangles, a face that moves without joints, and shapes that cannot be read.
const FACE: &str = r#"#usda 1.0
( upAxis = "Y" )
def SkelRoot "root" ( prepend apiSchemas = ["SkelBindingAPI"] )
{
    rel skel:skeleton = </root/skel>
    def Skeleton "skel" { rel skel:animationSource = </root/anim> }
    def SkelAnimation "anim"
    {
        uniform token[] blendShapes = ["other", "smile", "gone"]
        float[] blendShapeWeights.timeSamples = { 24: [1, 0, 1], 36: [1, 0.25, 1], 48: [1, 1, 1], 50: [1, 2] }
    }
    def Mesh "face" ( prepend apiSchemas = ["SkelBindingAPI"] )
    {
        int[] faceVertexCounts = [3, 3]
        int[] faceVertexIndices = [0, 1, 2, 0, 2, 3]
        point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]
        texCoord2f[] primvars:st = [(0, 0), (1, 0), (1, 1), (0.5, 0), (0.5, 1), (0, 1)] ( interpolation = "faceVarying" )
        uniform token[] skel:blendShapes = ["smile", "gone", "far", "short", "unbound"]
        rel skel:blendShapeTargets = [</root/face/a>, </root/none>, </root/face/far>, </root/face/short>]
        def BlendShape "a"
        {
            uniform vector3f[] offsets = [(0, 0, 1), (0, 0, 0)]
            uniform int[] pointIndices = [2, 1]
            uniform vector3f[] normalOffsets = [(1, 0, 0), (0, 0, 0)]
            uniform vector3f[] inbetweens:half = [(2, 0, 0), (0, 0, 0)] ( weight = 0.5 )
        }
        def BlendShape "far"
        {
            uniform vector3f[] offsets = [(0, 0, 1)]
            uniform int[] pointIndices = [4]
        }
        def BlendShape "short" { uniform vector3f[] offsets = [(0, 0, 1)] }
    }
}
"#;

#[test]
fn shapes_of_other_programs_are_read_with_those_in_between() {
    let read = read_back(FACE.as_bytes(), "face.usda");
    let [smile] = &read.morphs[..] else {
        panic!("{:?}", read.morphs)
    };
    assert_eq!(
        (smile.name.as_str(), smile.mesh.as_str()),
        ("smile", "face")
    );
    let of: Vec<(f64, &MorphTarget)> = (smile.shapes.iter())
        .map(|shape| (shape.at, &shape.targets[0]))
        .collect();
    // The copy at the seam moves, too; the point that does not move is left out.
    assert_eq!(read.meshes[0].faces.copies, [0, 2]);
    assert_eq!(
        (of[0].0, &of[0].1.offsets[..]),
        (0.5, &[Vec3::x() * 2.0; 2][..])
    );
    assert_eq!((of[1].0, &of[1].1.offsets[..]), (1.0, &[Vec3::z(); 2][..]));
    assert_eq!(of[1].1.vertices, [2, 5]);
    assert_eq!(of[1].1.normals, [Vec3::x(); 2]);
    let [clip] = &read.clips[..] else {
        panic!("{:?}", read.clips)
    };
    let [track] = &clip.morphs[..] else {
        panic!("{:?}", clip.morphs)
    };
    // A sample with another number of weights is left out.
    let at = [0.0, 0.25, 0.5, 1.0].map(|time| track.sample(time));
    assert_eq!((track.control, at), (0, [0.0, 0.125, 0.25, 1.0]));
    let said = "blend shapes omitted because they are missing or do not fit their mesh: 4";
    assert!(
        read.notes.iter().any(|note| note.text == said),
        "{:?}",
        read.notes
    );
}
