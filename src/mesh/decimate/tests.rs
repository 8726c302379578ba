mod robustness;

use std::collections::BTreeSet;
use std::f32::consts::{PI, TAU};

use proptest::prelude::*;

use super::*;
use crate::mesh::{Topology, closest_on_triangle};

fn point(x: f32, y: f32, z: f32) -> Point {
    Point::new(x, y, z)
}

/// `rows` × `columns` cells over the unit square, mapped by `place`. Rows may close to a ring.
fn sheet(rows: u32, columns: u32, is_ring: bool, place: impl Fn(f32, f32) -> Point) -> TriMesh {
    let across = if is_ring { columns } else { columns + 1 };
    let at = |row: u32, column: u32| row * across + column % across;
    let mut mesh = TriMesh::default();
    for row in 0..=rows {
        for column in 0..across {
            mesh.positions.push(place(
                row as f32 / rows as f32,
                column as f32 / columns as f32,
            ));
        }
    }
    for row in 0..rows {
        for column in 0..columns {
            let [a, b, c, d] = [
                at(row, column),
                at(row, column + 1),
                at(row + 1, column + 1),
                at(row + 1, column),
            ];
            mesh.triangles.extend([[a, b, c], [a, c, d]]);
        }
    }
    mesh
}

/// An open tube along X from 0 to `length`.
fn tube(radius: f32, length: f32, rows: u32, columns: u32) -> TriMesh {
    sheet(rows, columns, true, |s, t| {
        point(
            s * length,
            radius * (t * TAU).cos(),
            radius * (t * TAU).sin(),
        )
    })
}

/// A closed tube with flat ends.
fn rod(radius: f32, length: f32, rows: u32, columns: u32) -> TriMesh {
    let mut mesh = tube(radius, length, rows, columns);
    let (first, last) = (mesh.positions.len() as u32, mesh.positions.len() as u32 + 1);
    mesh.positions
        .extend([point(0.0, 0.0, 0.0), point(length, 0.0, 0.0)]);
    for k in 0..columns {
        let next = (k + 1) % columns;
        mesh.triangles.push([first, next, k]);
        mesh.triangles
            .push([last, rows * columns + k, rows * columns + next]);
    }
    mesh
}

/// A closed surface around the origin.
fn ball(rows: u32, radius: impl Fn(f32, f32) -> f32) -> TriMesh {
    let at = |s: f32, t: f32| {
        let (polar, turn) = ((0.02 + 0.96 * s) * PI, t * TAU);
        let direction = point(
            polar.cos(),
            polar.sin() * turn.cos(),
            polar.sin() * turn.sin(),
        );
        direction * radius(polar, turn)
    };
    let mut mesh = sheet(rows, 2 * rows, true, at);
    let (first, last) = (mesh.positions.len() as u32, mesh.positions.len() as u32 + 1);
    mesh.positions.extend([
        point(radius(0.0, 0.0), 0.0, 0.0),
        point(-radius(PI, 0.0), 0.0, 0.0),
    ]);
    let columns = 2 * rows;
    for k in 0..columns {
        let next = (k + 1) % columns;
        mesh.triangles.push([first, next, k]);
        mesh.triangles
            .push([last, rows * columns + k, rows * columns + next]);
    }
    mesh
}

fn bumpy(rows: u32, seed: f32) -> TriMesh {
    ball(rows, |polar, turn| {
        1.0 + polar.sin()
            * (0.2 * (3.0 * polar + seed).sin() + 0.15 * (3.0 * turn - seed).cos() * polar.sin())
    })
}

/// A torus: no boundary, one handle.
fn ring(rows: u32, columns: u32) -> TriMesh {
    let mesh = sheet(rows, columns, true, |s, t| {
        let around = 1.0 + 0.3 * (t * TAU).cos();
        point(
            around * (s * TAU).cos(),
            around * (s * TAU).sin(),
            0.3 * (t * TAU).sin(),
        )
    });
    let welded = crate::mesh::weld(&mesh.positions, &mesh.triangles, 1e-5);
    assert_eq!(welded.mesh.positions.len() as u32, rows * columns);
    welded.mesh
}

fn together(parts: &[TriMesh]) -> TriMesh {
    let mut all = TriMesh::default();
    for part in parts {
        let first = all.positions.len() as u32;
        all.positions.extend(&part.positions);
        all.triangles
            .extend(part.triangles.iter().map(|t| t.map(|v| v + first)));
    }
    all
}

fn coarse(mesh: &TriMesh, target_vertices: usize) -> Decimated {
    decimate(
        mesh,
        &Decimation {
            target_vertices,
            ..Decimation::default()
        },
        &Progress::new(),
    )
    .unwrap()
}

/// Vertices − edges + triangles, and the number of closed boundary curves.
fn characteristics(mesh: &TriMesh) -> (i64, usize) {
    let topology = Topology::of(mesh);
    let used: BTreeSet<u32> = mesh.triangles.as_flattened().iter().copied().collect();
    let [vertices, edges, triangles] = [used.len(), topology.edges.len(), mesh.triangles.len()]
        .map(|count| i64::try_from(count).unwrap());
    let euler = vertices - edges + triangles;
    let rim: Vec<[u32; 2]> = topology
        .edges
        .iter()
        .zip(&topology.edge_faces)
        .filter(|(_, faces)| **faces == 1)
        .map(|(edge, _)| *edge)
        .collect();
    // Loops: the connected components of the boundary, each edge taken as a degenerate triangle.
    let threads = TriMesh {
        positions: mesh.positions.clone(),
        triangles: rim.iter().map(|&[a, b]| [a, b, b]).collect(),
    };
    let loose = mesh.positions.len() - rim.as_flattened().iter().collect::<BTreeSet<_>>().len();
    (euler, Topology::of(&threads).components - loose)
}

/// Two-sided Hausdorff distance between vertices of one mesh and the other.
fn distances(fine: &TriMesh, coarse: &Decimated) -> [f32; 2] {
    let mesh = &coarse.mesh;
    let to_coarse = |p: &Point| {
        let p = p.cast::<f64>();
        let distance = |t: usize| {
            let [a, b, c] = mesh.corners(t).map(nalgebra::OPoint::cast::<f64>);
            (closest_on_triangle(&p, &a, &b, &c) - p).norm()
        };
        (0..mesh.triangles.len())
            .map(distance)
            .fold(f64::INFINITY, f64::min) as f32
    };
    let back = coarse
        .places
        .iter()
        .zip(&mesh.positions)
        .map(|(place, position)| (place.on(fine) - position).norm());
    [
        fine.positions.iter().map(to_coarse).fold(0.0, f32::max),
        back.fold(0.0, f32::max),
    ]
}

/// Normals of the triangles; fails on a degenerate one.
fn unit_normals(mesh: &TriMesh) -> Vec<crate::math::Vec3> {
    let normal = |t| {
        let [a, b, c] = mesh.corners(t);
        let twice_area = (b - a).cross(&(c - a));
        let longest = (b - a).norm().max((c - b).norm()).max((a - c).norm());
        assert!(
            twice_area.norm() > 0.02 * longest * longest,
            "triangle {t} is a sliver"
        );
        twice_area.normalize()
    };
    (0..mesh.triangles.len()).map(normal).collect()
}

#[test]
fn a_small_mesh_is_returned_unchanged() {
    let mesh = rod(0.2, 1.0, 4, 8);
    let same = coarse(&mesh, mesh.positions.len());
    assert_eq!(same.mesh, mesh);
    assert!(
        same.coarse_from_input
            .iter()
            .enumerate()
            .all(|(v, coarse)| *coarse == Some(v as u32))
    );
    assert!(
        same.places
            .iter()
            .zip(&mesh.positions)
            .all(|(place, position)| place.on(&mesh) == *position)
    );
}

#[test]
fn closed_shapes_stay_closed_near_and_oriented() {
    for (mesh, target, tolerance) in [
        (ball(40, |_, _| 1.0), 300, 0.03),
        (bumpy(50, 0.3), 500, 0.06),
        (bumpy(50, 1.9), 500, 0.06),
        (rod(0.3, 3.0, 80, 32), 200, 0.03),
        (ring(60, 30), 300, 0.03),
    ] {
        let before = characteristics(&mesh);
        let result = coarse(&mesh, target);
        assert_eq!(result.mesh.positions.len(), target);
        assert_eq!(characteristics(&result.mesh), before);
        assert_eq!(Topology::of(&result.mesh).boundary_edges(), 0);
        let found = distances(&mesh, &result);
        assert!(found.iter().all(|&d| d < tolerance), "{found:?}");
        // The normal of a coarse triangle approximates that of the fine surface at its corners.
        let (normals, fine) = (unit_normals(&result.mesh), unit_normals(&mesh));
        for (triangle, normal) in result.mesh.triangles.iter().zip(&normals) {
            let sum = triangle
                .map(|v| fine[result.places[v as usize].triangle as usize])
                .iter()
                .sum::<crate::math::Vec3>();
            assert!(normal.dot(&sum) > 0.0, "a triangle is flipped");
        }
    }
}

#[test]
fn boundaries_stay_on_their_curves() {
    let flat = sheet(40, 40, false, |s, t| point(s, 0.2 * (3.0 * s).sin(), t));
    let with_hole = TriMesh {
        triangles: flat
            .triangles
            .iter()
            .copied()
            .filter(|t| {
                !t.iter()
                    .all(|&v| (flat.positions[v as usize] - point(0.5, 0.2, 0.5)).norm() < 0.21)
            })
            .collect(),
        positions: flat.positions.clone(),
    };
    for mesh in [flat, with_hole, tube(0.5, 2.0, 40, 40)] {
        let result = coarse(&mesh, 150);
        assert_eq!(result.mesh.positions.len(), 150);
        assert_eq!(characteristics(&result.mesh), characteristics(&mesh));
        let (fine_rim, coarse_rim) = (rim_of(&mesh), rim_of(&result.mesh));
        let from = |points: &[[Point; 2]], to: &[[Point; 2]]| {
            let distance = |p: &Point| {
                let one = |[a, b]: &[Point; 2]| {
                    let t = ((p - a).dot(&(b - a)) / (b - a).norm_squared()).clamp(0.0, 1.0);
                    (a + (b - a) * t - p).norm()
                };
                to.iter().map(one).fold(f32::INFINITY, f32::min)
            };
            points.iter().flatten().map(distance).fold(0.0, f32::max)
        };
        let found = [from(&fine_rim, &coarse_rim), from(&coarse_rim, &fine_rim)];
        assert!(found.iter().all(|&d| d < 0.04), "{found:?}");
    }
    // Straight boundaries within rounding, corners exactly.
    let square = coarse(&sheet(30, 30, false, |s, t| point(s, 0.0, t)), 40);
    let bounds = square.mesh.bounds();
    assert!(
        (bounds.min - point(0.0, 0.0, 0.0)).norm() < 1e-3
            && (bounds.max - point(1.0, 0.0, 1.0)).norm() < 1e-3
    );
    for [a, b] in rim_of(&square.mesh) {
        assert!(
            [a, b].iter().all(|p| [p.x, p.z]
                .iter()
                .any(|c| c.abs() < 1e-3 || (c - 1.0).abs() < 1e-3)),
            "{a} {b}"
        );
    }
}

fn rim_of(mesh: &TriMesh) -> Vec<[Point; 2]> {
    let topology = Topology::of(mesh);
    let rim = topology
        .edges
        .iter()
        .zip(&topology.edge_faces)
        .filter(|(_, faces)| **faces == 1);
    rim.map(|(edge, _)| edge.map(|v| mesh.positions[v as usize]))
        .collect()
}

#[test]
fn edge_lengths_scale_with_the_inverse_root_of_the_density() {
    let mesh = tube(0.5, 8.0, 300, 50);
    let density = density_near(&mesh, &[(point(4.0, 0.0, 0.0), 0.5)]);
    assert!(
        density.iter().all(|d| (1.0..=JOINT_DENSITY).contains(d))
            && density[0] == 1.0
            && density.contains(&JOINT_DENSITY)
    );
    let wanted = Decimation {
        target_vertices: 1500,
        density: &density,
        ..Decimation::default()
    };
    let result = decimate(&mesh, &wanted, &Progress::new()).unwrap();
    let mean_edge = |from: f32, to: f32| {
        let p = &result.mesh.positions;
        let topology = Topology::of(&result.mesh);
        let lengths: Vec<f32> = (topology.edges.iter())
            .filter(|edge| {
                edge.iter()
                    .all(|&v| (from..to).contains(&(p[v as usize].x - 4.0).abs()))
            })
            .map(|[a, b]| (p[*a as usize] - p[*b as usize]).norm())
            .collect();
        lengths.iter().sum::<f32>() / lengths.len() as f32
    };
    let ratio = mean_edge(1.6, 3.5) / mean_edge(0.0, 0.4);
    let expected = JOINT_DENSITY.sqrt();
    assert!(
        (0.75 * expected..1.25 * expected).contains(&ratio),
        "{ratio}"
    );
}

#[test]
fn thin_limbs_keep_six_vertices_per_ring() {
    let mesh = together(&[
        ball(60, |_, _| 1.0),
        TriMesh {
            positions: rod(0.03, 1.0, 60, 12)
                .positions
                .iter()
                .map(|p| p + nalgebra::Vector3::new(2.0, 0.0, 0.0))
                .collect(),
            ..rod(0.03, 1.0, 60, 12)
        },
    ]);
    let result = coarse(&mesh, 800);
    for x in [2.2, 2.35, 2.5, 2.65, 2.8] {
        let side = |v: u32| result.mesh.positions[v as usize].x > x;
        let topology = Topology::of(&result.mesh);
        let crossing = topology
            .edges
            .iter()
            .filter(|[a, b]| result.mesh.positions[*a as usize].x > 1.5 && side(*a) != side(*b))
            .count();
        // Each vertex of a ring has about two crossing edges.
        assert!(crossing >= 9, "{crossing} edges cross at {x}");
    }
}

fn soups() -> impl Strategy<Value = (TriMesh, usize)> {
    let positions = proptest::collection::vec([-1.0_f32..1.0, -1.0..1.0, -1.0..1.0], 3..40);
    (positions, 1_usize..40).prop_flat_map(|(positions, target)| {
        let n = positions.len() as u32;
        let triangles = proptest::collection::vec([0..n, 0..n, 0..n], 0..120);
        let positions: Vec<Point> = positions.iter().map(|&p| Point::from(p)).collect();
        triangles.prop_map(move |triangles| {
            (
                TriMesh {
                    positions: positions.clone(),
                    triangles,
                },
                target,
            )
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn triangle_soups_keep_their_topology((mesh, target) in soups()) {
        let mut proper = mesh.clone();
        proper.triangles.retain(|&[a, b, c]| a != b && b != c && c != a);
        let used: BTreeSet<u32> = proper.triangles.as_flattened().iter().copied().collect();
        let result = coarse(&mesh, target);
        let after = &result.mesh;
        prop_assert!(after.positions.len() >= target.min(used.len()) && after.positions.len() <= used.len());
        prop_assert_eq!(characteristics(after).0, characteristics(&proper).0);
        let loose = proper.positions.len() - used.len();
        prop_assert_eq!(Topology::of(after).components, Topology::of(&proper).components - loose);
        prop_assert!(Topology::of(after).non_manifold_edges() <= Topology::of(&proper).non_manifold_edges());
        prop_assert!(after.triangles.iter().all(|&[a, b, c]| a != b && b != c && c != a));
        prop_assert!(after.positions.iter().all(|p| p.iter().all(|c| c.is_finite())));
        prop_assert_eq!(result.places.len(), after.positions.len());
        for (v, coarse) in result.coarse_from_input.iter().enumerate() {
            prop_assert_eq!(coarse.is_some(), used.contains(&(v as u32)));
        }
        for place in &result.places {
            prop_assert!((place.barycentric.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        }
    }
}
