//! Property tests of upsampling on generated shapes.

mod degenerate;

use std::f32::consts::TAU;

use nalgebra::{Matrix3, Rotation3};

use super::*;
use crate::math::Vec3;

/// Closed shapes of two densities; no coarse vertex coincides with a fine one.
fn shapes() -> Vec<(&'static str, TriMesh, TriMesh)> {
    let bumpy = |a: f32, b: f32| 1.0 + 0.1 * (3.0 * a).sin() * (2.0 * b).cos();
    vec![
        (
            "torus",
            torus(120, 50, 0.0, |_, _| 1.0),
            torus(40, 17, 0.37, |_, _| 1.0),
        ),
        (
            "bumpy torus",
            torus(150, 60, 0.0, bumpy),
            torus(50, 20, 0.61, bumpy),
        ),
    ]
}

fn torus(around: u32, across: u32, shift: f32, thickness: impl Fn(f32, f32) -> f32) -> TriMesh {
    let at = |i: u32, j: u32| {
        let (a, b) = (
            TAU * (i as f32 + shift) / around as f32,
            TAU * (j as f32 + shift) / across as f32,
        );
        let r = 0.4 * thickness(a, b);
        Point::new(
            (1.0 + r * b.cos()) * a.cos(),
            r * b.sin(),
            -(1.0 + r * b.cos()) * a.sin(),
        )
    };
    let positions = (0..around)
        .flat_map(|i| (0..across).map(move |j| (i, j)))
        .map(|(i, j)| at(i, j))
        .collect();
    let name = |i: u32, j: u32| (i % around) * across + j % across;
    let cells = (0..around).flat_map(|i| (0..across).map(move |j| (i, j)));
    let triangles = cells.flat_map(|(i, j)| {
        let [a, b, c, d] = [
            name(i, j),
            name(i + 1, j),
            name(i + 1, j + 1),
            name(i, j + 1),
        ];
        [[a, b, c], [a, c, d]]
    });
    TriMesh {
        positions,
        triangles: triangles.collect(),
    }
}

/// A square of side 1 with n × n vertices.
fn sheet(n: u32, height: impl Fn(f32, f32) -> f32) -> TriMesh {
    let at = |k: u32| k as f32 / (n - 1) as f32;
    let positions = (0..n * n)
        .map(|k| Point::new(at(k % n), height(at(k % n), at(k / n)), -at(k / n)))
        .collect();
    let cells = (0..(n - 1) * (n - 1)).map(|k| k / (n - 1) * n + k % (n - 1));
    TriMesh {
        positions,
        triangles: cells
            .flat_map(|a| [[a, a + 1, a + n + 1], [a, a + n + 1, a + n]])
            .collect(),
    }
}

fn joined(meshes: &[TriMesh]) -> TriMesh {
    let mut all = TriMesh::default();
    for mesh in meshes {
        let base = all.positions.len() as u32;
        all.positions.extend(&mesh.positions);
        all.triangles
            .extend(mesh.triangles.iter().map(|t| t.map(|v| v + base)));
    }
    all
}

fn build(fine: &TriMesh, coarse: &TriMesh, kind: UpsamplingKind) -> Upsampling {
    Upsampling::build(
        fine,
        coarse,
        &UpsamplingSettings {
            kind,
            ..UpsamplingSettings::default()
        },
        &Progress::new(),
    )
    .unwrap()
}

/// Positions and the normals that the fine mesh had at rest, after the coarse mesh moved.
fn moved(
    upsampling: &Upsampling,
    fine: &TriMesh,
    coarse: &TriMesh,
    motion: impl Fn(&Point) -> Point,
) -> (Vec<Point>, Vec<Vec3>) {
    let mut frames = upsampling.frames();
    let mut positions = vec![Point::new(f32::NAN, f32::NAN, f32::NAN); fine.positions.len()];
    upsampling.positions_into(&coarse.positions, &mut frames, &mut positions);
    let mut normals = fine.vertex_normals();
    let vertex_of: Vec<Option<u32>> = (0..normals.len() as u32).map(Some).collect();
    let directions = Directions::normals(&frames, &vertex_of, &normals);
    let coarse: Vec<Point> = coarse.positions.iter().map(motion).collect();
    upsampling.positions_into(&coarse, &mut frames, &mut positions);
    directions.directions_into(&frames, &mut normals);
    (positions, normals)
}

fn worst<'a>(a: impl IntoIterator<Item = &'a Point>, b: impl IntoIterator<Item = Point>) -> f32 {
    a.into_iter()
        .zip(b)
        .map(|(a, b)| (a - b).norm())
        .fold(0.0, |worst, d| if d <= worst { worst } else { d })
}

const KINDS: [UpsamplingKind; 2] = [
    UpsamplingKind::MovingLeastSquares,
    UpsamplingKind::NormalDisplacement,
];

#[test]
fn the_rest_pose_is_reproduced() {
    for (name, fine, coarse) in shapes() {
        for kind in KINDS {
            let (positions, normals) = moved(&build(&fine, &coarse, kind), &fine, &coarse, |p| *p);
            let off = worst(&positions, fine.positions.iter().copied());
            assert!(
                off <= 1e-6 * fine.bounds().size(),
                "{name}, {kind:?}: {off}"
            );
            let turned = normals
                .iter()
                .zip(fine.vertex_normals())
                .map(|(a, b)| (a - b).norm())
                .fold(0.0, f32::max);
            assert!(turned < 1e-5, "{name}, {kind:?}: {turned}");
        }
    }
}

#[test]
fn a_rigid_motion_is_reproduced() {
    let turn = Rotation3::from_euler_angles(0.4, -2.0, 1.1);
    let rigid = |p: &Point| turn * p + Vec3::new(20.0, -3.0, 7.0);
    for (name, fine, coarse) in shapes() {
        for kind in KINDS {
            let (positions, normals) = moved(&build(&fine, &coarse, kind), &fine, &coarse, rigid);
            // Positions at a distance of 20 are rounded accordingly.
            let off = worst(&positions, fine.positions.iter().map(rigid));
            assert!(off < 8e-6, "{name}, {kind:?}: {off}");
            let turned = normals
                .iter()
                .zip(fine.vertex_normals())
                .map(|(a, b)| (a - turn * b).norm())
                .fold(0.0, f32::max);
            assert!(turned < 2e-4, "{name}, {kind:?}: {turned}");
        }
    }
}

#[test]
fn an_affine_motion_is_reproduced_and_normals_stay_normal() {
    let linear = Matrix3::new(1.2, 0.3, -0.1, 0.0, 0.8, 0.4, 0.2, -0.3, 1.1);
    let affine = |p: &Point| linear * p + Vec3::new(0.1, 0.2, 0.3);
    let cofactors = linear.try_inverse().unwrap().transpose();
    for (name, fine, coarse) in shapes() {
        let (positions, normals) = moved(
            &build(&fine, &coarse, UpsamplingKind::MovingLeastSquares),
            &fine,
            &coarse,
            affine,
        );
        let off = worst(&positions, fine.positions.iter().map(affine));
        assert!(off < 3e-6 * fine.bounds().size(), "{name}: {off}");
        // Exact except for normals that differ from those of the fitted surface: their error is the
        // coarse mesh's detail.
        let turned = normals
            .iter()
            .zip(fine.vertex_normals())
            .map(|(a, b)| (a - (cofactors * b).normalize()).norm())
            .fold(0.0, f32::max);
        assert!(turned < 0.06, "{name}: {turned}");
    }
}

fn quadratic(p: &Point) -> Point {
    let square = Vec3::new(
        p.x * p.y,
        p.y * p.y - p.z * p.x,
        p.z * p.z + 0.5 * p.x * p.x,
    );
    p + 0.3 * square
}

#[test]
fn a_quadratic_motion_of_a_sheet_is_reproduced() {
    // Slanted, so that all three coordinates vary, and every vertex of the fine sheet is between
    // coarse ones.
    let slanted = |n: u32| sheet(n, |x, y| 0.3 * x - 0.5 * y);
    let (fine, coarse) = (slanted(57), slanted(17));
    let (positions, _) = moved(
        &build(&fine, &coarse, UpsamplingKind::MovingLeastSquares),
        &fine,
        &coarse,
        quadratic,
    );
    let off = worst(&positions, fine.positions.iter().map(quadratic));
    assert!(off < 2e-6 * fine.bounds().size(), "{off}");
}

#[test]
fn a_quadratic_motion_has_less_error_than_displacements() {
    for (name, fine, coarse) in shapes() {
        let off = KINDS.map(|kind| {
            let (positions, _) = moved(&build(&fine, &coarse, kind), &fine, &coarse, quadratic);
            worst(&positions, fine.positions.iter().map(quadratic)) / fine.bounds().size()
        });
        // Not exact on a curved surface: functions that nearly vanish at all neighbours are dropped
        // there.
        assert!(off[0] < 1e-3 && off[0] < 0.2 * off[1], "{name}: {off:?}");
    }
}

#[test]
fn a_strong_bend_has_less_error_than_displacements() {
    let tube = |around: u32, along: u32| {
        let mut mesh = torus(along, around, 0.21, |_, _| 1.0);
        for p in &mut mesh.positions {
            // The circumference is mapped along a tube of radius 0.4 and length 2π; the seam is in
            // the unbent region.
            let (a, r) = ((-p.z).atan2(p.x), p.x.hypot(p.z) - 1.0);
            *p = Point::new(r, a, p.y);
        }
        mesh.triangles.retain(|t| {
            t.iter().all(|&v| {
                (mesh.positions[v as usize].y - mesh.positions[t[0] as usize].y).abs() < 3.0
            })
        });
        mesh
    };
    // By 100 degrees over a length of 1.2.
    let bend = |p: &Point| {
        let rate = 100_f32.to_radians() / 1.2;
        let within = p.y.clamp(-0.6, 0.6);
        let (angle, beyond) = (rate * within, p.y - within);
        let (normal, along) = (
            Vec3::new(angle.cos(), -angle.sin(), 0.0),
            Vec3::new(angle.sin(), angle.cos(), 0.0),
        );
        let axis = Vec3::new((1.0 - angle.cos()) / rate, angle.sin() / rate, 0.0);
        Point::from(axis + along * beyond + normal * p.x + Vec3::z() * p.z)
    };
    let (fine, coarse) = (tube(60, 150), tube(12, 30));
    let off = KINDS.map(|kind| {
        let (positions, normals) = moved(&build(&fine, &coarse, kind), &fine, &coarse, bend);
        let square: f32 = positions
            .iter()
            .zip(&fine.positions)
            .map(|(a, b)| (a - bend(b)).norm_squared())
            .sum();
        let truth = TriMesh {
            positions: fine.positions.iter().map(bend).collect(),
            ..fine.clone()
        }
        .vertex_normals();
        let leaning: f32 = normals
            .iter()
            .zip(truth)
            .map(|(a, b)| (a - b).norm_squared())
            .sum();
        [square, leaning].map(|sum| (sum / positions.len() as f32).sqrt())
    });
    assert!(
        off[0][0] < 0.5 * off[1][0] && off[0][1] < off[1][1] && off[0][0] < 0.01,
        "{off:?}"
    );
}

#[test]
fn a_disturbance_is_not_amplified() {
    for (name, fine, coarse) in shapes() {
        let upsampling = build(&fine, &coarse, UpsamplingKind::MovingLeastSquares);
        for k in 0..20 {
            let noise = |p: &Point| {
                let bits = (p.x + 3.0 * p.y + 7.0 * p.z + k as f32)
                    .to_bits()
                    .wrapping_mul(2_654_435_761);
                if bits >> 31 == 0 {
                    p + Vec3::x() * 1e-3
                } else {
                    p - Vec3::x() * 1e-3
                }
            };
            let (positions, _) = moved(&upsampling, &fine, &coarse, noise);
            let off = worst(&positions, fine.positions.iter().copied());
            assert!(off < 2.6e-3, "{name}: {off}");
        }
    }
}

#[test]
fn close_sheets_are_independent() {
    let layer =
        |n: u32, up: f32| sheet(n, move |x, y| up + 0.02 * (5.0 * x).sin() * (4.0 * y).cos());
    let gap = 1e-3;
    let (fine, coarse) = (
        joined(&[layer(60, 0.0), layer(60, gap)]),
        joined(&[layer(17, 0.0), layer(17, gap)]),
    );
    let half = fine.positions.len() / 2;
    for kind in KINDS {
        let upsampling = build(&fine, &coarse, kind);
        let mut frames = upsampling.frames();
        let mut apart = coarse.positions.clone();
        for p in &mut apart[17 * 17..] {
            p.y += 1.0;
        }
        let mut positions = fine.positions.clone();
        upsampling.positions_into(&apart, &mut frames, &mut positions);
        assert!(
            worst(&positions[..half], fine.positions[..half].iter().copied()) < 2e-6,
            "{kind:?}"
        );
        assert!(
            worst(
                &positions[half..],
                fine.positions[half..].iter().map(|p| p + Vec3::y())
            ) < 2e-6,
            "{kind:?}"
        );
    }
}

/// A long closed tube, flattened so that its two sides nearly touch.
#[test]
fn the_sides_of_a_thin_part_are_independent() {
    let flat = |around: u32, across: u32, shift: f32| {
        let mut mesh = torus(around, across, shift, |_, _| 1.0);
        for p in &mut mesh.positions {
            p.y *= 0.004;
        }
        mesh
    };
    let (fine, coarse) = (flat(160, 64, 0.0), flat(60, 24, 0.3));
    let open = |p: &Point| if p.y > 0.0 { p + Vec3::y() * 0.1 } else { *p };
    for kind in KINDS {
        let (positions, _) = moved(&build(&fine, &coarse, kind), &fine, &coarse, open);
        for (position, rest) in positions.iter().zip(&fine.positions) {
            // Away from the two rims, where both sides meet.
            let from_ring = (rest.x.hypot(rest.z) - 1.0).abs();
            if from_ring < 0.15 {
                let moved = position.y - rest.y;
                let expected = if rest.y > 0.0 { 0.1 } else { 0.0 };
                assert!(
                    (moved - expected).abs() < 1e-4,
                    "{kind:?}: {rest} moved by {moved}"
                );
            }
        }
    }
}

#[test]
fn the_thread_count_does_not_change_the_result() {
    let (_, fine, coarse) = shapes().remove(1);
    let bend = |p: &Point| Point::new(p.x * p.x.cos(), p.y + p.x * p.z, p.z - 0.2 * p.x);
    for kind in KINDS {
        let runs = [1, 2, 5].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .unwrap();
            pool.install(|| moved(&build(&fine, &coarse, kind), &fine, &coarse, bend))
        });
        assert!(runs[0] == runs[1] && runs[0] == runs[2], "{kind:?}");
    }
}

#[test]
fn the_same_mesh_is_copied_exactly() {
    let (_, mesh, _) = shapes().remove(0);
    let bend = |p: &Point| Point::new(p.x * p.x.cos(), p.y + p.x * p.z, p.z - 0.2 * p.x);
    for kind in KINDS {
        let (positions, normals) = moved(&build(&mesh, &mesh, kind), &mesh, &mesh, bend);
        assert_eq!(
            positions,
            mesh.positions.iter().map(bend).collect::<Vec<_>>()
        );
        let expected = TriMesh {
            positions,
            triangles: mesh.triangles.clone(),
        }
        .vertex_normals();
        assert!(
            normals
                .iter()
                .zip(expected)
                .all(|(a, b)| (a - b).norm() < 1e-4)
        );
    }
}
