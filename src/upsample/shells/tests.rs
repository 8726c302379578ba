//! Coupling of two parallel sheets.

use super::*;

const SIDE: usize = 9;
/// Distance of the sheets, in edges.
const GAP: f32 = 0.2;

/// Two sheets of `SIDE` × `SIDE` vertices with edges of length 1 above each other, and their shells.
fn sheets() -> (TriMesh, Vec<u32>) {
    let mut mesh = TriMesh::default();
    for sheet in 0..2 {
        let first = mesh.positions.len();
        for v in 0..SIDE * SIDE {
            let (x, y) = ((v / SIDE) as f32, (v % SIDE) as f32);
            mesh.positions.push(Point::new(x, y, sheet as f32 * GAP));
        }
        for cell in 0..SIDE * SIDE {
            if cell / SIDE + 1 < SIDE && cell % SIDE + 1 < SIDE {
                let a = first + cell;
                let [a, b, c, d] = [a, a + SIDE, a + SIDE + 1, a + 1].map(|v| v as u32);
                mesh.triangles.extend([[a, b, c], [a, c, d]]);
            }
        }
    }
    let shells = (0..2).flat_map(|sheet| vec![sheet; SIDE * SIDE]).collect();
    (mesh, shells)
}

fn all_flesh(mesh: &TriMesh) -> Vec<Option<u32>> {
    (0..mesh.positions.len() as u32).map(Some).collect()
}

fn coupling_of(mesh: &TriMesh, shells: &[u32]) -> ShellCoupling {
    ShellCoupling::of(mesh, shells, &all_flesh(mesh), |_| false, 1.0).expect("near")
}

/// A displacement that differs between the sheets and varies along them.
fn rough(vertex: usize) -> Vec3 {
    let t = vertex as f32;
    Vec3::new((1.3 * t).sin(), (0.7 * t).cos(), (2.1 * t).sin()) * 0.05
}

#[test]
fn guided_points_and_constant_displacements_stay_as_they_are() {
    let (mesh, shells) = sheets();
    let mut coupling = coupling_of(&mesh, &shells);
    assert_eq!(coupling.partners().len(), 2 * SIDE * SIDE);
    for displacement in [Vec3::zeros(), Vec3::new(0.3, -0.2, 0.1)] {
        let mut points: Vec<Point> = mesh.positions.iter().map(|p| p + displacement).collect();
        let before = points.clone();
        coupling.apply(|v| mesh.positions[v], |_| 0.0, &mut points);
        for (now, before) in points.iter().zip(&before) {
            assert!((now - before).norm() < 1e-6, "{now} {before}");
        }
    }
}

#[test]
fn the_displacement_of_one_shell_is_shared_by_the_other() {
    let (mesh, shells) = sheets();
    let mut coupling = coupling_of(&mesh, &shells);
    let moved = |v: usize| if v < SIDE * SIDE { 0.2 } else { 0.0 };
    let mut points: Vec<Point> = (0..mesh.positions.len())
        .map(|v| mesh.positions[v] + Vec3::z() * moved(v))
        .collect();
    coupling.apply(|v| mesh.positions[v], |_| 0.0, &mut points);
    for (now, rest) in points.iter().zip(&mesh.positions) {
        assert!((now.z - rest.z - 0.1).abs() < 1e-2, "{rest}: {now}");
    }
}

#[test]
fn neighbours_of_two_shells_are_displaced_alike() {
    let (mesh, shells) = sheets();
    let mut coupling = coupling_of(&mesh, &shells);
    let mut points: Vec<Point> = (0..mesh.positions.len())
        .map(|v| mesh.positions[v] + rough(v))
        .collect();
    let difference = |points: &[Point]| {
        (0..SIDE * SIDE)
            .map(|v| {
                let [low, high] = [v, v + SIDE * SIDE].map(|v| points[v] - mesh.positions[v]);
                (low - high).norm()
            })
            .fold(0.0, f32::max)
    };
    let before = difference(&points);
    coupling.apply(|v| mesh.positions[v], |_| 0.0, &mut points);
    assert!(
        difference(&points) < 0.1 * before,
        "{} {before}",
        difference(&points)
    );
}

#[test]
fn shells_that_drift_apart_are_not_coupled() {
    let (mesh, shells) = sheets();
    let mut coupling = coupling_of(&mesh, &shells);
    let mut points: Vec<Point> = (0..mesh.positions.len())
        .map(|v| mesh.positions[v] + rough(v))
        .collect();
    let before = points.clone();
    coupling.apply(|v| mesh.positions[v], |_| 1.0, &mut points);
    assert_eq!(points, before);
}

#[test]
fn still_parts_hold_the_flesh_beside_them() {
    let (mesh, shells) = sheets();
    let count = SIDE * SIDE;
    let flesh: Vec<Option<u32>> = (0..2 * count as u32)
        .map(|v| (v < count as u32).then_some(v))
        .collect();
    let mut coupling =
        ShellCoupling::of(&mesh, &shells, &flesh, |v| v >= count, 1.0).expect("near");
    let rest = &mesh.positions[..count];
    let mut points: Vec<Point> = rest.iter().map(|p| p + Vec3::z() * 0.2).collect();
    coupling.apply(|v| rest[v], |_| 0.0, &mut points);
    for (now, rest) in points.iter().zip(rest) {
        assert!((now.z - rest.z - 0.1).abs() < 1e-2, "{now}");
    }
}

#[test]
fn one_shell_or_a_wide_gap_has_no_coupling() {
    let (mesh, shells) = sheets();
    let flesh = all_flesh(&mesh);
    assert!(ShellCoupling::of(&mesh, &vec![0; shells.len()], &flesh, |_| false, 1.0).is_none());
    assert!(ShellCoupling::of(&mesh, &shells, &flesh, |_| false, 0.5 * GAP).is_none());
    assert!(ShellCoupling::of(&mesh, &shells, &flesh, |_| false, f32::NAN).is_none());
    assert!(ShellCoupling::of(&TriMesh::default(), &[], &[], |_| false, 1.0).is_none());
}
