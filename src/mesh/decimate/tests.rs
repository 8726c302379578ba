#![expect(clippy::unwrap_used, reason = "a test that can't go on shall panic")]

use super::*;

#[test]
fn a_small_mesh_comes_back_as_it_is() {
    let mesh = TriMesh {
        positions: vec![Point::origin(), Point::new(1.0, 0.0, 0.0), Point::new(0.0, 1.0, 0.0), Point::new(0.0, 0.0, 1.0)],
        triangles: vec![[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]],
    };
    let same = decimate(&mesh, &Decimation::default(), &Progress::new()).unwrap();
    assert_eq!(same.mesh, mesh);
    assert_eq!(same.coarse_from_input, [0, 1, 2, 3].map(Some));
    for (place, position) in same.places.iter().zip(&mesh.positions) {
        assert_eq!(place.on(&mesh), *position);
    }
}
