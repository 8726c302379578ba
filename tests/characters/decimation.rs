//! Decimation of real characters: topology kept, near the input, and as fine around joints as elsewhere or finer.

use std::path::{Path, PathBuf};

use crate::common::skip;
use sinew::math::Point;
use sinew::mesh::decimate::{Decimated, Decimation, decimate, density_near};
use sinew::mesh::{SkinMesh, Topology, TriMesh};
use sinew::progress::Progress;
use sinew::session::{Source, load};
use sinew::tissue::joint_regions;

const TARGET: usize = 1000;

fn check(name: &str, skin: &TriMesh, density: &[f32]) -> Decimated {
    let wanted = Decimation {
        target_vertices: TARGET,
        density,
        ..Decimation::default()
    };
    let result = decimate(skin, &wanted, &Progress::new()).expect("nobody cancels");
    let (before, after) = (Topology::of(skin), Topology::of(&result.mesh));
    assert_eq!(
        result.mesh.positions.len(),
        TARGET.min(skin.positions.len()),
        "{name}"
    );
    assert_eq!(after.components, before.components, "{name}: parts");
    let euler = |mesh: &TriMesh, topology: &Topology| {
        mesh.positions.len() + mesh.triangles.len() + 1_000_000 - topology.edges.len()
    };
    assert_eq!(
        euler(&result.mesh, &after),
        euler(skin, &before),
        "{name}: Euler characteristic"
    );
    assert_eq!(
        after.boundary_edges() == 0,
        before.boundary_edges() == 0,
        "{name}: holes"
    );
    assert!(
        after.non_manifold_edges() <= before.non_manifold_edges(),
        "{name}: edges of more than two triangles"
    );
    let farthest = result
        .places
        .iter()
        .zip(&result.mesh.positions)
        .map(|(place, p)| (place.on(skin) - p).norm())
        .fold(0.0, f32::max);
    assert!(
        farthest < 0.03 * skin.bounds().size(),
        "{name}: a vertex is {farthest} off the surface"
    );
    result
}

fn skin_of(source: &Source) -> Option<(SkinMesh, Vec<(Point, f32)>)> {
    let character = load(source, &Progress::new()).ok()?;
    let is_skin: Vec<bool> = character
        .meshes
        .iter()
        .flat_map(|mesh| std::iter::repeat_n(mesh.is_skin(), mesh.positions.len()))
        .collect();
    let skin = SkinMesh::weld(
        &character.bind_positions(),
        &character.triangles(),
        &is_skin,
    );
    let regions = joint_regions(&skin.mesh, &character.skeleton, None);
    Some((skin, regions))
}

#[test]
fn the_mannequin_keeps_its_fingers_and_is_finer_around_its_joints() {
    let (skin, regions) = skin_of(&Source::builtin("mannequin")).unwrap();
    assert!(regions.len() > 20, "{} joints bend", regions.len());
    let density = density_near(&skin.mesh, &regions);
    let coarse = check("mannequin", &skin.mesh, &density);
    let (before, after) = (skin.mesh.bounds(), coarse.mesh.bounds());
    assert!(
        (before.min - after.min)
            .norm()
            .max((before.max - after.max).norm())
            < 0.01 * before.size()
    );
    let density = density_near(&coarse.mesh, &regions);
    let mean = |wanted: &dyn Fn(f32) -> bool| {
        let edges = Topology::of(&coarse.mesh).edges;
        let lengths = edges
            .iter()
            .filter(|edge| edge.iter().all(|&v| wanted(density[v as usize])));
        let lengths: Vec<f32> = lengths
            .map(|e| {
                (coarse.mesh.positions[e[0] as usize] - coarse.mesh.positions[e[1] as usize]).norm()
            })
            .collect();
        lengths.iter().sum::<f32>() / lengths.len() as f32
    };
    assert!(mean(&|d| d > 3.5) < 0.8 * mean(&|d| d < 1.2));
}

#[test]
fn real_meshes_keep_their_topology() {
    let Some(data) = skip::data() else {
        return;
    };
    let mut seen = 0;
    for folder in ["A_rigged", "B_unrigged"] {
        for file in files_of(&data.join(folder)) {
            let Some((skin, regions)) = skin_of(&Source::of_files(vec![file.clone()])) else {
                continue;
            };
            if skin.mesh.triangles.is_empty() {
                continue;
            }
            check(
                &file.display().to_string(),
                &skin.mesh,
                &density_near(&skin.mesh, &regions),
            );
            seen += 1;
        }
    }
    assert!(seen > 20, "only {seen} meshes found");
}

/// Meshes one folder down, sorted.
fn files_of(folder: &Path) -> Vec<PathBuf> {
    let inside = |path: &Path| {
        std::fs::read_dir(path)
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path())
            .collect::<Vec<_>>()
    };
    let is_mesh = |path: &PathBuf| {
        path.extension().is_some_and(|e| {
            ["obj", "off", "glb", "gltf"]
                .iter()
                .any(|known| e == *known)
        })
    };
    let mut files: Vec<PathBuf> = inside(folder)
        .iter()
        .flat_map(|entry| inside(entry))
        .filter(is_mesh)
        .collect();
    files.sort();
    files
}
