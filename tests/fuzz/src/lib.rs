//! What every target does: reads the bytes as one file of its format and checks what must hold of whatever was read.
//!
//! `cargo +nightly fuzz run --fuzz-dir tests/fuzz obj -- -rss_limit_mb=1000 -timeout=20`; whole files of a format in `corpus/obj` help it
//! along. What it finds becomes a test in `tests/torture`.

use sinew::character::Character;
use sinew::io::load_from_memory;
use sinew::progress::Progress;

/// Files beside the one that is tried.
pub type Beside = &'static [(&'static str, &'static [u8])];

/// A mesh alone.
pub const MESH: Beside = &[("mesh.obj", b"v 0 0 0\nv 2 0 0\nv 2 2 0\nv 0 2 0\nv 0 0 2\nf 1 2 3 4\nf 1 2 5\nf 2 3 5\nf 3 4 5\nf 4 1 5\n")];

/// A mesh with a skeleton.
pub const RIGGED: Beside = &[MESH[0], ("mesh.skel", b"3\n1 0.2 0.5 hip root\n1 1 0.5 knee hip\n1 1.8 0.5 toe knee\n")];

/// Reads one file.
pub fn read(name: &str, data: &[u8]) {
    read_with(name, data, &[]);
}

/// Reads one file with others beside it.
pub fn read_with(name: &str, data: &[u8], beside: Beside) {
    let mut files = vec![(name, data)];
    files.extend(beside);
    if let Ok(character) = load_from_memory(&files, &Progress::new()) {
        check(&character);
    }
}

/// Indices inside, no number that is not finite, in any pose.
fn check(character: &Character) {
    let skeleton = &character.skeleton;
    let poses = character.clips.iter().flat_map(|clip| [0.0, 0.4, 1.0].map(|t| clip.sample(skeleton, t * clip.duration_secs)));
    for pose in std::iter::once(skeleton.rest_pose()).chain(poses) {
        let world = skeleton.world_from_joint(&pose);
        for mesh in &character.meshes {
            assert!(mesh.positions_at(&world).iter().all(|p| p.iter().all(|c| c.is_finite())), "posed positions of {}", mesh.name);
        }
    }
    for mesh in &character.meshes {
        let count = mesh.positions.len();
        assert!(mesh.triangles.iter().flatten().all(|&v| (v as usize) < count), "triangle indices");
        assert!(mesh.normals.as_ref().is_none_or(|n| n.len() == count), "normals");
        assert!(mesh.tex_coords.as_ref().is_none_or(|t| t.len() == count), "texture coordinates");
        assert!(mesh.material.is_none_or(|m| m < character.materials.len()), "material");
    }
    assert!(character.humanoid.values().chain(character.flesh.bones.keys()).all(|&joint| joint < skeleton.len()), "joints");
    assert!(character.metres_per_unit > 0.0 && character.metres_per_unit.is_finite(), "unit");
}
