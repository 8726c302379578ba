//! The built-in characters: what is promised of them, and that writing and reading a character changes nothing.

use std::collections::HashMap;
use std::time::Instant;

use sinew::character::{Attachment, Character, Severity, UpAxis};
use sinew::io::builtin::{NAMES, load_builtin};
use sinew::io::{read_gltf_bytes, write_glb};
use sinew::math::Point;
use sinew::mesh::{Bounds, Topology, TriMesh};
use sinew::rig::{Channel, Skeleton};
use sinew::weights::SkinWeights;

fn all() -> Vec<Character> {
    NAMES
        .iter()
        .map(|name| load_builtin(name).unwrap_or_else(|error| panic!("{name}: {error}")))
        .collect()
}

fn weights(character: &Character) -> &SkinWeights {
    match &character.meshes[0].attachment {
        Attachment::Skinned { weights, .. } => weights,
        _ => panic!("{} is not skinned", character.name),
    }
}

fn key(p: &Point) -> [u32; 3] {
    // −0 and 0 are one place.
    [p.x, p.y, p.z].map(|c| (c + 0.0).to_bits())
}

fn mirrored(name: &str) -> String {
    match (name.strip_suffix(".L"), name.strip_suffix(".R")) {
        (Some(stem), _) => format!("{stem}.R"),
        (_, Some(stem)) => format!("{stem}.L"),
        _ => name.to_owned(),
    }
}

#[test]
fn each_loads_without_notes() {
    for name in NAMES {
        let start = Instant::now();
        let character = load_builtin(name).unwrap();
        println!(
            "{name}: {} vertices in {:.1} ms",
            character.source_vertices(),
            start.elapsed().as_secs_f64() * 1e3
        );
        assert_eq!(character.name, name);
        let complaints: Vec<_> = character
            .notes
            .iter()
            .filter(|note| note.severity != Severity::Info)
            .collect();
        assert!(complaints.is_empty(), "{name}: {complaints:?}");
    }
    assert!(load_builtin("dragon").is_err());
}

#[test]
fn each_is_one_closed_manifold_surface() {
    for character in all() {
        let mesh = TriMesh {
            positions: character.meshes[0].positions.clone(),
            triangles: character.triangles(),
        };
        let topology = Topology::of(&mesh);
        assert_eq!(character.meshes.len(), 1);
        assert_eq!(topology.components, 1, "{}", character.name);
        assert!(
            topology.edge_faces.iter().all(|&faces| faces == 2),
            "{}",
            character.name
        );
        // A sphere, topologically: V − E + F = 2.
        assert_eq!(
            mesh.positions.len() + mesh.triangles.len(),
            topology.edges.len() + 2,
            "{}",
            character.name
        );
        let volume: f32 = (0..mesh.triangles.len())
            .map(|t| mesh.corners(t))
            .map(|[a, b, c]| a.coords.dot(&b.coords.cross(&c.coords)) / 6.0)
            .sum();
        assert!(volume > 0.0, "{} is inside out", character.name);
    }
}

#[test]
fn each_has_the_promised_joints_vertices_and_clips() {
    type Promise<'a> = (&'a str, [usize; 2], [usize; 2], &'a [&'a str]);
    let promised: [Promise<'_>; 4] = [
        (
            "mannequin",
            [45, 55],
            [17_000, 23_000],
            &["walk", "stretch", "wave"],
        ),
        ("gecko", [25, 35], [7_000, 11_000], &["crawl", "wiggle"]),
        ("cylinder", [2, 3], [1_800, 2_500], &["bend", "twist"]),
        ("arm", [4, 8], [3_000, 5_000], &["curl"]),
    ];
    for (name, joints, vertices, clips) in promised {
        let character = load_builtin(name).unwrap();
        assert!(
            (joints[0]..=joints[1]).contains(&character.skeleton.len()),
            "{name}: {} joints",
            character.skeleton.len()
        );
        assert!(
            (vertices[0]..=vertices[1]).contains(&character.source_vertices()),
            "{name}: {} vertices",
            character.source_vertices()
        );
        assert_eq!(
            character
                .clips
                .iter()
                .map(|clip| clip.name.as_str())
                .collect::<Vec<_>>(),
            clips
        );
    }
}

#[test]
fn weights_are_few_and_sum_to_one() {
    for character in all() {
        let weights = weights(&character);
        for vertex in 0..weights.len() {
            let row: Vec<(usize, f32)> = weights.of(vertex).collect();
            let sum: f32 = row.iter().map(|(_, w)| w).sum();
            assert!(
                (1..=4).contains(&row.len()),
                "{}: vertex {vertex}",
                character.name
            );
            assert!(
                (sum - 1.0).abs() < 1e-5 && row.iter().all(|(_, w)| *w > 0.0),
                "{}: vertex {vertex}: {sum}",
                character.name
            );
        }
    }
}

#[test]
fn rest_and_bind_pose_are_equal_and_stand_on_the_ground() {
    for character in all() {
        let skeleton = &character.skeleton;
        let rest = skeleton.world_from_joint(&skeleton.rest_pose());
        for (joint, world) in skeleton.joints().iter().zip(&rest) {
            assert!(
                (joint.world_from_bind.matrix() - world.matrix()).norm() < 1e-6,
                "{}: {}",
                character.name,
                joint.name
            );
        }
        let lowest = character
            .bind_positions()
            .iter()
            .map(|p| p.y)
            .fold(f32::INFINITY, f32::min);
        assert!(
            lowest.abs() < 0.002 || character.name == "arm",
            "{}: {lowest}",
            character.name
        );
    }
}

#[test]
fn mannequin_and_gecko_are_exactly_symmetric() {
    for name in ["mannequin", "gecko"] {
        let character = load_builtin(name).unwrap();
        let (mesh, weights) = (&character.meshes[0], weights(&character));
        let at: HashMap<[u32; 3], usize> = mesh
            .positions
            .iter()
            .enumerate()
            .map(|(v, p)| (key(p), v))
            .collect();
        assert_eq!(
            at.len(),
            mesh.positions.len(),
            "{name}: two vertices in one place"
        );
        let mirror: Vec<usize> = mesh
            .positions
            .iter()
            .map(|p| at[&key(&Point::new(-p.x, p.y, p.z))])
            .collect();
        let other = |joint: usize| {
            character
                .skeleton
                .find(&mirrored(&character.skeleton.joints()[joint].name))
                .unwrap()
        };
        let sorted = |rows: Vec<(usize, f32)>| {
            let mut rows = rows;
            rows.sort_by_key(|row| row.0);
            rows
        };
        for (vertex, &image) in mirror.iter().enumerate() {
            let here = sorted(
                weights
                    .of(vertex)
                    .map(|(joint, w)| (other(joint), w))
                    .collect(),
            );
            let there = sorted(weights.of(image).collect());
            assert_eq!(here, there, "{name}: vertex {vertex}");
        }
        let faces: std::collections::HashSet<[u32; 3]> =
            mesh.triangles.iter().map(|t| smallest_first(*t)).collect();
        for &[a, b, c] in &mesh.triangles {
            let image = [a, c, b].map(|v| mirror[v as usize] as u32);
            assert!(faces.contains(&smallest_first(image)), "{name}");
        }
    }
}

fn smallest_first([a, b, c]: [u32; 3]) -> [u32; 3] {
    [[a, b, c], [b, c, a], [c, a, b]]
        .into_iter()
        .min()
        .unwrap_or([a, b, c])
}

#[test]
fn writing_and_reading_changes_nothing() {
    for character in all() {
        let bytes = write_glb(&character).unwrap();
        assert_eq!(bytes, write_glb(&character).unwrap(), "not deterministic");
        let back = read_gltf_bytes(&character.name, &bytes).unwrap();
        let (mesh, again) = (&character.meshes[0], &back.meshes[0]);
        assert_eq!(mesh.positions, again.positions);
        assert_eq!(mesh.triangles, again.triangles);
        assert_eq!(character.materials, back.materials);
        same_weights(weights(&character), weights(&back));
        same_skeleton(&character.skeleton, &back.skeleton);
        assert_eq!(character.clips.len(), back.clips.len());
        for (clip, other) in character.clips.iter().zip(&back.clips) {
            assert_eq!(clip, other, "{}: clip {}", character.name, clip.name);
        }
    }
}

fn same_weights(a: &SkinWeights, b: &SkinWeights) {
    assert_eq!(a.len(), b.len());
    for vertex in 0..a.len() {
        let (a, b): (HashMap<usize, f32>, HashMap<usize, f32>) =
            (a.of(vertex).collect(), b.of(vertex).collect());
        assert_eq!(a.len(), b.len());
        // Reading makes the sum 1 once more: an ulp at most.
        assert!(
            a.iter().all(|(joint, w)| (b[joint] - w).abs() <= 2e-7),
            "vertex {vertex}"
        );
    }
}

fn same_skeleton(a: &Skeleton, b: &Skeleton) {
    assert_eq!(a.len(), b.len());
    for (a, b) in a.joints().iter().zip(b.joints()) {
        assert_eq!((&a.name, a.parent), (&b.name, b.parent));
        assert!(
            (a.rest.to_affine().matrix() - b.rest.to_affine().matrix()).norm() < 1e-7,
            "{}",
            a.name
        );
        assert!(
            (a.world_from_bind.matrix() - b.world_from_bind.matrix()).norm() < 1e-6,
            "{}",
            a.name
        );
        assert!(
            (a.parent_from_base.matrix() - b.parent_from_base.matrix()).norm() < 1e-7,
            "{}",
            a.name
        );
    }
}

#[test]
fn every_frame_of_every_clip_is_finite_and_above_the_ground() {
    for character in all() {
        for clip in &character.clips {
            assert!(clip.duration_secs > 0.5);
            assert!(
                clip.tracks
                    .iter()
                    .all(|track| !matches!(track.channel, Channel::Scale(_)))
            );
            for frame in 0..20 {
                let pose = clip.sample(
                    &character.skeleton,
                    clip.duration_secs * f64::from(frame) / 20.0,
                );
                let positions =
                    character.meshes[0].positions_at(&character.skeleton.world_from_joint(&pose));
                assert!(positions.iter().all(|p| p.iter().all(|c| c.is_finite())));
                let lowest = positions.iter().map(|p| p.y).fold(f32::INFINITY, f32::min);
                assert!(
                    lowest > -0.06 || character.name == "cylinder",
                    "{} {}: {lowest} below the ground",
                    character.name,
                    clip.name
                );
            }
        }
    }
}

#[test]
fn the_up_axis_of_built_in_characters_is_found() {
    for character in all() {
        let skin = Bounds::of(character.meshes.iter().flat_map(|mesh| &mesh.positions));
        assert!(
            UpAxis::guess(&character.skeleton, &skin).is_y(),
            "{}",
            character.name
        );
    }
}

#[test]
fn every_pose_of_a_scaled_character_is_the_scaled_pose() {
    let character = load_builtin("gecko").unwrap();
    let large = character.scaled(100.0);
    assert!((large.metres_per_unit * 100.0 - character.metres_per_unit).abs() < 1e-12);
    let (clip, larger) = (&character.clips[0], &large.clips[0]);
    for time in [0.0, 0.3, 0.9] {
        let posed = |character: &Character, clip: &sinew::rig::Clip| {
            let pose = clip.sample(&character.skeleton, time);
            let world = character.skeleton.world_from_joint(&pose);
            character.meshes[0].positions_at(&world)
        };
        for (a, b) in posed(&character, clip).iter().zip(&posed(&large, larger)) {
            assert!((a * 100.0 - b).norm() < 1e-3, "{time}: {a} {b}");
        }
    }
}
