use super::*;
use crate::character::{Attachment, Character};
use crate::io::{MorphFile, MorphSettings, load, read_gltf_bytes, write_rigged_glb};
use crate::math::{Affine, Point, Vec3, linear_part};
use crate::mesh::Bounds;
use crate::progress::Progress;

/// Half a step along each axis, and the roundings of `f32`.
fn tolerance(step: f64, size: f32) -> f32 {
    (step * 0.5 * 3_f64.sqrt()) as f32 + 1e-6 * size
}

/// Transforms of the joints in the middle of the first clip.
fn posed(character: &Character) -> Vec<Affine> {
    let clip = &character.clips[0];
    let pose = clip.sample(&character.skeleton, clip.duration_secs * 0.4);
    character.skeleton.world_from_joint(&pose)
}

fn assert_near(a: &[Point], b: &[Point], tolerance: f32, what: &str) {
    assert_eq!(a.len(), b.len(), "{what}");
    let worst = a
        .iter()
        .zip(b)
        .map(|(a, b)| (a - b).norm())
        .fold(0.0, f32::max);
    assert!(
        worst <= tolerance,
        "{what}: off by {worst}, not {tolerance}"
    );
    assert!(worst > 0.0, "{what}: not rounded at all");
}

/// Each triangle from its smallest corner: the codec may turn them.
fn turned(triangles: &[[u32; 3]]) -> Vec<[u32; 3]> {
    let turn = |triangle: &[u32; 3]| {
        let mut triangle = *triangle;
        let first = (0..3).min_by_key(|&c| triangle[c]).unwrap_or(0);
        triangle.rotate_left(first);
        triangle
    };
    triangles.iter().map(turn).collect()
}

#[test]
fn a_compressed_rig_is_the_same_within_half_a_step() {
    for name in crate::io::builtin::NAMES {
        let character = load(&[format!("builtin:{name}").into()], &Progress::new()).unwrap();
        let plain = write_rigged_glb(&character, &[], 4).unwrap();
        let (small, step) = compressed(&plain).unwrap();
        assert!(
            small.len() * 3 < plain.len() * 2,
            "{name}: {} {}",
            small.len(),
            plain.len()
        );
        let before = read_gltf_bytes(name, &plain).unwrap();
        let after = read_gltf_bytes(name, &small).unwrap();
        assert_eq!(before.clips, after.clips, "{name}");
        let size = Bounds::of(&before.bind_positions()).size();
        assert!(step > 0.0 && step < f64::from(size) / 2e4, "{name}: {step}");
        let within = tolerance(step, size);
        assert_near(
            &before.bind_positions(),
            &after.bind_positions(),
            within,
            name,
        );
        let (world, same) = (posed(&before), posed(&after));
        for (a, b) in before.meshes.iter().zip(&after.meshes) {
            assert_eq!(a.name, b.name);
            assert_eq!(turned(&a.triangles), turned(&b.triangles), "{name}");
            // Four weights, each rounded to a part of 65535.
            let within = within + 4.0 / 65535.0 * size;
            assert_near(
                &a.positions_at(&world),
                &b.positions_at(&same),
                within,
                name,
            );
            let (a, b) = (a.normals.as_ref().unwrap(), b.normals.as_ref().unwrap());
            assert!(a.iter().zip(b).all(|(a, b)| a.angle(b) < 0.02), "{name}");
        }
        // Again: what is compressed already can be read, and stays as it is.
        let (again, _) = compressed(&small).unwrap();
        assert_eq!(
            read_gltf_bytes(name, &again).unwrap().bind_positions(),
            after.bind_positions(),
            "{name}"
        );
    }
}

/// World positions with the target of each key.
fn at_keys(character: &Character) -> Vec<Vec<Point>> {
    let mesh = &character.meshes[0];
    let Attachment::Static { world_from_mesh } = &mesh.attachment else {
        panic!("a bake has no joints");
    };
    let base = mesh.positions_at(&[]);
    let turn = linear_part(world_from_mesh).cast::<f32>();
    let key = |morph: &crate::character::Morph| {
        let mut positions = base.clone();
        for target in &morph.shapes[0].targets {
            for (&vertex, offset) in target.vertices.iter().zip(&target.offsets) {
                positions[vertex as usize] += turn * offset;
            }
        }
        positions
    };
    character.morphs.iter().map(key).collect()
}

#[test]
fn frames_of_a_compressed_bake_are_within_half_a_step() {
    let character = load(&["builtin:cylinder".into()], &Progress::new()).unwrap();
    let size = Bounds::of(&character.bind_positions()).size();
    let path = std::env::temp_dir().join(format!("sinew-{}.glb", crate::files::random_digits()));
    let settings = MorphSettings {
        animation: "bend".to_owned(),
        size,
        tolerance: 0.0,
        keep_units: false,
    };
    let mut file = MorphFile::create(&path, &character, settings).unwrap();
    let clip = &character.clips[0];
    for frame in 0..6 {
        let time = clip.duration_secs * f64::from(frame) / 6.0;
        let pose = clip.sample(&character.skeleton, time);
        let world = character.skeleton.world_from_joint(&pose);
        let positions: Vec<Point> = (character.meshes.iter())
            .flat_map(|mesh| mesh.positions_at(&world))
            .collect();
        let normals: Vec<Vec3> = positions.iter().map(|p| p.coords.normalize()).collect();
        file.frame(time, &positions, &normals).unwrap();
    }
    file.finish().unwrap();
    let plain = std::fs::read(&path).unwrap();
    let done = compress_glb(&path).unwrap();
    let small = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    assert_eq!(
        (done.before, done.after),
        (plain.len() as u64, small.len() as u64)
    );
    assert!(done.after * 3 < done.before * 2, "{done:?}");
    let before = read_gltf_bytes("bend", &plain).unwrap();
    let after = read_gltf_bytes("bend", &small).unwrap();
    let (keys, same) = (at_keys(&before), at_keys(&after));
    assert!(keys.len() > 3 && keys.len() == same.len());
    let within = tolerance(done.step, size);
    for (key, same) in keys.iter().zip(&same) {
        assert_near(key, same, within, "bend");
    }
    let tracks = |character: &Character| character.tracks_of_morphs(&character.clips[0]).to_vec();
    assert_eq!(tracks(&before), tracks(&after));
}
