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
