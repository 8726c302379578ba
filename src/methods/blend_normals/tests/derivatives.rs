//! Derivatives by formula beside differences.

use nalgebra::Vector3;

use super::*;

/// The derivatives by formula equal differences of positions: weights are linear, so that the fitted gradients are exact.
#[test]
fn derivatives_equal_differences() {
    // A flat sheet in x and y whose weights are linear in both, of three joints.
    let mut mesh = TriMesh::default();
    let side = 9_u32;
    for row in 0..side {
        for column in 0..side {
            let (x, y) = (column as f32 * 0.1, row as f32 * 0.1);
            mesh.positions.push(Point::new(x, y, 0.0));
        }
    }
    for row in 0..side - 1 {
        for column in 0..side - 1 {
            let a = row * side + column;
            mesh.triangles.push([a, a + 1, a + side]);
            mesh.triangles.push([a + 1, a + side + 1, a + side]);
        }
    }
    let skeleton = skeleton(&[-0.5, 0.1, 0.6]);
    let at = |p: &Point| {
        [
            0.2 + 0.3 * p.x,
            0.5 - 0.4 * p.x + 0.1 * p.y,
            0.3 + 0.1 * p.x - 0.1 * p.y,
        ]
    };
    let rows = mesh.positions.iter().map(|p| {
        let [a, b, c] = at(p);
        [(0, a), (1, b), (2, c)]
    });
    let weights = SkinWeights::from_rows(rows).0;
    let step = 1e-2_f32;
    let middle = (4 * side + 4) as usize;
    let character = |mesh: TriMesh, weights| Character {
        meshes: vec![skinned(mesh, None, &skeleton, weights)],
        skeleton: skeleton.clone(),
        ..Character::default()
    };
    // The four points around the middle one.
    let center = mesh.positions[middle];
    let around = [Vec3::x(), -Vec3::x(), Vec3::y(), -Vec3::y()].map(|d| center + d * step);
    let rows = around.iter().map(|p| {
        let [a, b, c] = at(p);
        [(0, a), (1, b), (2, c)]
    });
    let cross = TriMesh {
        positions: around.to_vec(),
        triangles: vec![[0, 2, 1], [0, 1, 3]],
    };
    let (sheet, cross) = (
        subject(character(mesh, weights)),
        subject(character(cross, SkinWeights::from_rows(rows).0)),
    );
    let stretching = |subject: &Subject| {
        let mut world = turned(subject, Vec64::new(0.4, -0.7, 1.0), 1.3);
        let scale = Vector3::new(1.3, 0.8, 1.1);
        world[1] *= affine(&nalgebra::Matrix3::from_diagonal(&scale), &Vec64::zeros());
        world
    };
    for method in [MethodId::LBS, MethodId::DQS] {
        let mut actor = bound(&sheet, method, "exact");
        advance(&mut actor, &stretching(&sheet));
        let mut neighbors = bound(&cross, method, "triangles");
        advance(&mut neighbors, &stretching(&cross));
        let p = neighbors.positions();
        let expected = (p[0] - p[1]).cross(&(p[2] - p[3]));
        let apart = angle(&actor.normals()[middle], &expected);
        assert!(apart < 0.01, "{method}: {apart}°");
    }
}
