//! The check-up against what other tools measured on real meshes. Needs `SINEW_TEST_DATA`.

#![expect(clippy::unwrap_used, reason = "a test that can't go on shall panic")]

use std::path::{Path, PathBuf};

use crate::common::skip;
use sinew::mesh::{MeshCheckup, TriMesh, weld};
use sinew::progress::Progress;
use sinew::session::{Checkup, Source, open};

/// Items of the manifest with numbers of a mesh.
fn measured(folder: &Path) -> Vec<(String, PathBuf, serde_json::Value)> {
    let text = std::fs::read_to_string(folder.join("manifest.json")).unwrap();
    let items: Vec<serde_json::Value> = serde_json::from_str(&text).unwrap();
    items
        .into_iter()
        .filter(|item| item["group"] == "B_unrigged" && item["measured"]["mesh"]["comp"].is_u64())
        .map(|item| {
            let file = folder.join(item["file"].as_str().unwrap());
            (
                item["name"].as_str().unwrap().to_owned(),
                file,
                item["measured"]["mesh"].clone(),
            )
        })
        .filter(|(_, file, _)| {
            file.extension()
                .is_some_and(|extension| extension == "obj" || extension == "off")
        })
        .collect()
}

fn signed(count: usize) -> i64 {
    i64::try_from(count).unwrap()
}

#[test]
fn counts_agree_with_the_manifest() {
    let Some(folder) = skip::data() else {
        return;
    };
    let mut compared = 0;
    for (name, file, expected) in measured(&folder) {
        let character = sinew::io::load(&[file], &Progress::new()).unwrap();
        let mesh = TriMesh {
            positions: character.bind_positions(),
            triangles: character.triangles(),
        };
        let count = |key: &str| expected[key].as_i64().unwrap();
        if signed(mesh.positions.len()) != count("v") {
            println!(
                "{name}: the reader splits vertices by normals or texture coordinates, not compared"
            );
            continue;
        }
        let found = MeshCheckup::of(&mesh, &Progress::new()).unwrap();
        let doubles = mesh.positions.len()
            - weld(&mesh.positions, &[], 1e-6 * mesh.bounds().size())
                .mesh
                .positions
                .len();
        let of = signed;
        if count("nmv") == 0 {
            // Parts that touch in a vertex only are one here and several in the manifest.
            assert_eq!(of(found.parts), count("comp"), "{name}: parts");
        }
        assert_eq!(
            of(found.boundary_edges),
            count("bnd"),
            "{name}: boundary edges"
        );
        assert_eq!(
            of(found.non_manifold_edges.len()),
            count("nme"),
            "{name}: edges with more than two faces"
        );
        assert_eq!(
            of(found.non_manifold_vertices.len()),
            count("nmv"),
            "{name}: vertices where surfaces touch"
        );
        assert_eq!(
            of(found.unreferenced.len()),
            count("unref"),
            "{name}: vertices without a face"
        );
        assert_eq!(
            of(found.degenerate_faces.len()),
            count("degen"),
            "{name}: faces without an area"
        );
        assert_eq!(
            of(doubles),
            count("dup_v"),
            "{name}: vertices at the place of another"
        );
        if count("holes") >= 0 {
            assert_eq!(
                of(found.boundaries.len()),
                count("holes"),
                "{name}: borders"
            );
        }
        let (cut, others) = (of(found.intersecting_faces.len()), count("selfint_faces"));
        println!("{name}: {cut} faces cut through others, manifest {others}");
        // Faces that only touch are decided by rounding, and quads can be cut along either diagonal.
        assert_eq!(cut == 0, others == 0, "{name}");
        if name != "spot_control_quads" {
            assert!(
                (cut - others).abs() <= 2 + others / 20,
                "{name}: {cut} faces cut through others, {others} expected"
            );
        }
        compared += 1;
    }
    assert!(compared >= 10, "only {compared} meshes could be compared");
}

#[test]
fn every_character_gets_a_report_without_nan() {
    let Some(folder) = skip::data() else {
        return;
    };
    let mut files = Vec::new();
    for group in ["A_rigged", "B_unrigged"] {
        for item in std::fs::read_dir(folder.join(group)).unwrap() {
            let inside = std::fs::read_dir(item.unwrap().path())
                .unwrap()
                .map(|entry| entry.unwrap().path());
            let known = ["glb", "gltf", "vrm", "obj", "off"];
            files.extend(inside.filter(|path| {
                path.extension()
                    .is_some_and(|e| known.iter().any(|known| e == *known))
            }));
        }
    }
    files.sort();
    for file in files {
        let Ok(subject) = open(&Source::of_files(vec![file.clone()]), &Progress::new()) else {
            continue;
        };
        let checkup = Checkup::of(&subject);
        for finding in &checkup.findings {
            let places = finding
                .places
                .iter()
                .flat_map(|place| place.position.iter().chain([&place.radius]));
            assert!(
                places.clone().all(|value| value.is_finite()),
                "{}: {finding:?}",
                file.display()
            );
            assert!(
                !finding.text.is_empty() && !finding.remedy.is_empty(),
                "{}: {finding:?}",
                file.display()
            );
        }
        let parts = &subject.body().parts;
        let riders = parts
            .part_of_vertex
            .iter()
            .filter(|&&part| parts.parts[part as usize].place != sinew::character::Place::Flesh);
        let flesh = subject.body().flesh.positions.len();
        assert_eq!(
            riders.count() + flesh,
            subject.skin.mesh.positions.len(),
            "{}: a vertex is lost",
            file.display()
        );
        assert!(
            subject.skin.mesh.triangles.is_empty() || flesh > 0,
            "{}: nothing is flesh",
            file.display()
        );
    }
}
