//! Components, determinism and degenerate meshes.

use super::*;

#[test]
fn every_component_is_kept() {
    let small = |k: usize| {
        let mut part = ball(6, |_, _| 0.02);
        part.positions
            .iter_mut()
            .for_each(|p| p.y += 2.0 + k as f32 * 0.1);
        part
    };
    let parts: Vec<TriMesh> = std::iter::once(ball(40, |_, _| 1.0))
        .chain((0..20).map(small))
        .collect();
    let mesh = together(&parts);
    let result = coarse(&mesh, 600);
    assert_eq!(result.mesh.positions.len(), 600);
    assert_eq!(Topology::of(&result.mesh).components, 21);
    assert_eq!(characteristics(&result.mesh).0, 42);
    // An unreachable target: tetrahedra are the smallest closed components.
    let least = coarse(&mesh, 10);
    assert_eq!(
        (
            Topology::of(&least.mesh).components,
            characteristics(&least.mesh).0
        ),
        (21, 42)
    );
    assert!(
        least.mesh.positions.len() < 21 * 8,
        "{}",
        least.mesh.positions.len()
    );
}

#[test]
fn decimation_is_deterministic_and_cancellable() {
    let mesh = bumpy(40, 0.7);
    assert_eq!(coarse(&mesh, 300), coarse(&mesh, 300));
    let progress = Progress::new();
    progress.cancel();
    assert_eq!(
        decimate(&mesh, &Decimation::default(), &progress),
        Err(Cancelled)
    );
}

#[test]
fn every_vertex_maps_to_its_merged_vertex() {
    let mesh = together(&[bumpy(30, 0.7), rod(0.3, 3.0, 40, 20)]);
    let result = coarse(&mesh, 300);
    let (fine, after) = (Topology::of(&mesh), Topology::of(&result.mesh));
    for (v, coarse) in result.coarse_from_input.iter().enumerate() {
        let coarse = coarse.unwrap() as usize;
        let place = result.places[coarse];
        assert_eq!(
            fine.component_of[v],
            fine.component_of[mesh.triangles[place.triangle as usize][0] as usize]
        );
        assert!((result.mesh.positions[coarse] - mesh.positions[v]).norm() < 0.6);
        assert_eq!(
            fine.component_of[v] == 0,
            after.component_of[coarse] == after.component_of[0]
        );
    }
}

#[test]
fn degenerate_meshes_are_tolerated() {
    let nothing = coarse(&TriMesh::default(), 10);
    assert_eq!(
        (nothing.mesh, nothing.places.len()),
        (TriMesh::default(), 0)
    );
    // A non-finite vertex, one without a triangle, a degenerate triangle, and a fan around a vertex
    // of high valence.
    let mut mesh = bumpy(20, 0.1);
    mesh.positions[7].x = f32::NAN;
    mesh.positions.push(Point::origin());
    mesh.triangles.extend([[5, 5, 9], [100, 101, 102]]);
    let result = coarse(&mesh, 100);
    assert!(result.mesh.positions.len() < 200 && result.coarse_from_input.last() == Some(&None));
    let spokes = 20_000;
    let rim = (0..spokes).map(|k| point((k as f32).cos(), (k as f32).sin(), 1.0));
    let mut fan = TriMesh {
        positions: std::iter::once(Point::origin()).chain(rim).collect(),
        triangles: Vec::new(),
    };
    fan.triangles
        .extend((0..spokes).map(|k| [0, 1 + k, 1 + (k + 1) % spokes]));
    assert!(coarse(&fan, 100).mesh.positions.len() < 20_000);
    let one_place = TriMesh {
        positions: vec![Point::origin(); bumpy(20, 0.1).positions.len()],
        ..bumpy(20, 0.1)
    };
    assert_eq!(characteristics(&coarse(&one_place, 50).mesh).0, 2);
}
