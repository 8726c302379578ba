//! Degenerate meshes, isolated components and normals.

use super::*;

#[test]
fn hard_edges_stay_hard_and_tangents_rotate() {
    // A roof: two flat halves that meet at a right angle.
    let roof = |n: u32| sheet(n, |x, _| 0.5 - (x - 0.5).abs());
    let (fine, coarse) = (roof(41), roof(11));
    let upsampling = build(&fine, &coarse, UpsamplingKind::MovingLeastSquares);
    let mut frames = upsampling.frames();
    let mut positions = fine.positions.clone();
    upsampling.positions_into(&coarse.positions, &mut frames, &mut positions);
    let ridge: Vec<u32> = (0..fine.positions.len() as u32)
        .filter(|&v| (fine.positions[v as usize].x - 0.5).abs() < 1e-6)
        .collect();
    let [left, right] = [
        Vec3::new(-1.0, 1.0, 0.0).normalize(),
        Vec3::new(1.0, 1.0, 0.0).normalize(),
    ];
    let mut vertex_of: Vec<Option<u32>> = ridge.iter().flat_map(|&v| [Some(v), Some(v)]).collect();
    vertex_of.push(None);
    let mut normals: Vec<Vec3> = ridge.iter().flat_map(|_| [left, right]).collect();
    normals.push(Vec3::new(0.1, 0.2, 0.3));
    let directions = Directions::normals(&frames, &vertex_of, &normals);
    let tangents_at_rest = vec![Vec3::z(); normals.len()];
    let along = Directions::tangents(&frames, &vertex_of, &tangents_at_rest);
    let turn = Rotation3::from_euler_angles(1.0, 0.5, -0.7);
    let turned: Vec<Point> = coarse.positions.iter().map(|p| turn * p).collect();
    upsampling.positions_into(&turned, &mut frames, &mut positions);
    directions.directions_into(&frames, &mut normals);
    let mut tangents = tangents_at_rest.clone();
    along.directions_into(&frames, &mut tangents);
    for (pair, tangents) in normals.chunks_exact(2).zip(tangents.chunks_exact(2)) {
        assert!((pair[0] - turn * left).norm() < 1e-4 && (pair[1] - turn * right).norm() < 1e-4);
        assert!((tangents[0] - turn * Vec3::z()).norm() < 1e-4);
    }
    assert_eq!(normals.last(), Some(&Vec3::new(0.1, 0.2, 0.3)));
}

#[test]
fn details_on_a_flat_patch_rotate_with_it() {
    let fine = sheet(61, |x, y| {
        if (x - 0.5).hypot(y - 0.5) < 0.1 {
            0.05
        } else {
            0.0
        }
    });
    let coarse = sheet(13, |_, _| 0.0);
    let turn = Rotation3::from_euler_angles(1.0, 0.5, -0.7);
    for kind in KINDS {
        let (positions, _) = moved(&build(&fine, &coarse, kind), &fine, &coarse, |p| turn * p);
        assert!(
            worst(&positions, fine.positions.iter().map(|p| turn * p)) < 2e-6,
            "{kind:?}"
        );
    }
}

#[test]
fn a_component_without_coarse_vertices_moves_rigidly() {
    let (_, ring, coarse) = shapes().remove(0);
    let mut bead = torus(12, 8, 0.0, |_, _| 1.0);
    for p in &mut bead.positions {
        *p = Point::new(1.5 + 0.05 * p.x, 0.05 * p.y, 0.05 * p.z);
    }
    let turn = Rotation3::from_euler_angles(1.0, 0.5, -0.7);
    let fine = joined(&[ring.clone(), bead]);
    for kind in KINDS {
        let (positions, _) = moved(&build(&fine, &coarse, kind), &fine, &coarse, |p| turn * p);
        assert!(
            worst(&positions, fine.positions.iter().map(|p| turn * p)) < 3e-6,
            "{kind:?}"
        );
    }
    // In a bend the bead keeps its shape.
    let bend = |p: &Point| Point::new(p.x + 0.2 * p.z * p.z, p.y + 0.3 * p.x * p.x, p.z);
    let (positions, _) = moved(
        &build(&fine, &coarse, UpsamplingKind::MovingLeastSquares),
        &fine,
        &coarse,
        bend,
    );
    let first = ring.positions.len();
    for v in first..fine.positions.len() {
        let (now, before) = (
            (positions[v] - positions[first]).norm(),
            (fine.positions[v] - fine.positions[first]).norm(),
        );
        assert!(
            (now - before).abs() <= 0.5 * before + 1e-6,
            "{now} {before}"
        );
    }
}

#[test]
fn nothing_degenerate_panics_or_yields_nan() {
    let (_, torus_fine, torus_coarse) = shapes().remove(0);
    let few = |n: usize, triangles: Vec<[u32; 3]>| TriMesh {
        positions: torus_coarse.positions[..n].to_vec(),
        triangles,
    };
    let same = |n: usize| TriMesh {
        positions: vec![torus_coarse.positions[0]; n],
        triangles: vec![[0, 1, 2], [1, 2, 3]],
    };
    let line = TriMesh {
        positions: (0..30).map(|k| Point::new(k as f32, 0.0, 0.0)).collect(),
        triangles: vec![[0, 1, 2], [7, 8, 9]],
    };
    let mut broken = torus_coarse.clone();
    broken.positions[5].x = f32::NAN;
    let mut broken_fine = torus_fine.clone();
    broken_fine.positions[100].y = f32::INFINITY;
    let points = TriMesh {
        positions: torus_fine.positions.clone(),
        triangles: Vec::new(),
    };
    let fan = TriMesh {
        positions: torus_fine.positions[..9].to_vec(),
        triangles: (2..9).map(|k| [0, 1, k]).collect(),
    };
    let flat = sheet(9, |_, _| 0.0);
    let fines = [
        torus_fine,
        broken_fine,
        points,
        fan,
        sheet(20, |_, _| 0.0),
        TriMesh::default(),
        line.clone(),
    ];
    let coarses = [
        few(1, Vec::new()),
        few(2, vec![[0, 1, 1]]),
        few(3, vec![[0, 1, 2]]),
        few(5, vec![[0, 1, 2], [2, 3, 4]]),
        same(4),
        same(60),
        line,
        broken,
        flat,
        TriMesh::default(),
    ];
    for (f, fine) in fines.iter().enumerate() {
        for (c, coarse) in coarses.iter().enumerate() {
            for kind in KINDS {
                let upsampling = build(fine, coarse, kind);
                let mut clean = coarse.clone();
                for p in &mut clean.positions {
                    *p = if p.iter().all(|c| c.is_finite()) {
                        *p
                    } else {
                        Point::origin()
                    };
                }
                for turn in [
                    Rotation3::identity(),
                    Rotation3::from_euler_angles(1.0, 2.0, 0.3),
                ] {
                    let (positions, normals) = moved(&upsampling, fine, &clean, |p| turn * p);
                    for (v, (p, n)) in positions.iter().zip(&normals).enumerate() {
                        let sound = p.iter().all(|c| c.is_finite()) && p.coords.norm() < 1e3;
                        assert!(
                            sound || !fine.positions[v].iter().all(|c| c.is_finite()),
                            "fine {f}, coarse {c}, {kind:?}: vertex {v} at {p}"
                        );
                        assert!(
                            (n.norm() - 1.0).abs() < 1e-4,
                            "fine {f}, coarse {c}, {kind:?}: normal {n}"
                        );
                    }
                }
            }
        }
    }
}

#[test]
fn neighbours_are_clamped_and_work_can_be_cancelled() {
    let (_, fine, coarse) = shapes().remove(0);
    for neighbours in [0, 1, 2, 5, 1000] {
        let settings = UpsamplingSettings {
            neighbours,
            ..UpsamplingSettings::default()
        };
        let upsampling = Upsampling::build(&fine, &coarse, &settings, &Progress::new()).unwrap();
        let (positions, _) = moved(&upsampling, &fine, &coarse, |p| *p);
        assert!(
            worst(&positions, fine.positions.iter().copied()) < 3e-6,
            "{neighbours}"
        );
    }
    let progress = Progress::new();
    progress.cancel();
    assert!(Upsampling::build(&fine, &coarse, &UpsamplingSettings::default(), &progress).is_err());
}
