//! Smoothing on a bent grid.

use super::*;

/// A grid of `SIDE` × `SIDE` vertices, bent a little so that it has curvature at rest; every third vertex in both directions is
/// simulated.
const SIDE: usize = 16;

fn grid() -> TriMesh {
    let at = |i: usize, j: usize| {
        let (x, y) = (i as f32, j as f32);
        Point::new(x, y, 0.02 * (x - 7.0).powi(2) + 0.1 * (0.7 * y).sin())
    };
    let index = |i: usize, j: usize| (i * SIDE + j) as u32;
    let cells = (0..SIDE - 1).flat_map(|i| (0..SIDE - 1).map(move |j| (i, j)));
    TriMesh {
        positions: (0..SIDE * SIDE).map(|v| at(v / SIDE, v % SIDE)).collect(),
        triangles: cells
            .flat_map(|(i, j)| {
                let [a, b, c, d] = [
                    index(i, j),
                    index(i + 1, j),
                    index(i + 1, j + 1),
                    index(i, j + 1),
                ];
                [[a, b, c], [a, c, d]]
            })
            .collect(),
    }
}

fn simulated() -> impl Iterator<Item = u32> {
    (0..SIDE * SIDE)
        .filter(|v| (v / SIDE).is_multiple_of(3) && (v % SIDE).is_multiple_of(3))
        .map(|v| v as u32)
}

/// Weights that change at every vertex.
fn blend(mesh: &TriMesh) -> SkinWeights {
    let row = |v: usize| {
        let share = v as f32 / mesh.positions.len() as f32;
        vec![(0, share), (1, 1.0 - share)]
    };
    SkinWeights::from_rows((0..mesh.positions.len()).map(row)).0
}

fn smoothing_of(mesh: &TriMesh) -> Smoothing {
    Smoothing::of(mesh, &blend(mesh), simulated())
}

fn farthest(a: &[Point], b: &[Point]) -> f32 {
    a.iter()
        .zip(b)
        .map(|(a, b)| (a - b).norm())
        .fold(0.0, f32::max)
}

/// Σ A ‖L x / A − R L x̄ / A‖² with R = 1.
fn energy(mesh: &TriMesh, points: &[Point]) -> f64 {
    let bending = Bending::of(mesh, 1.0);
    let of_vertex = |vertex: usize| {
        let own = points[vertex].cast::<f64>();
        let bent = bending
            .row(vertex)
            .map(|(column, value)| (points[column as usize].cast::<f64>() - own) * value);
        let sum = bent.fold(-bending.curvature[vertex], |sum, b| sum + b);
        sum.norm_squared() / bending.areas[vertex]
    };
    (0..points.len()).map(of_vertex).sum()
}

#[test]
fn rest_and_rigid_motions_are_not_corrected() {
    let mesh = grid();
    let mut smoothing = smoothing_of(&mesh);
    let turn = UnitQuaternion::from_euler_angles(0.4, -1.1, 2.0);
    for rotation in [UnitQuaternion::identity(), turn] {
        let moved = |p: &Point| rotation * p + Vec3::new(3.0, -1.0, 0.5);
        let expected: Vec<Point> = mesh.positions.iter().map(moved).collect();
        let mut points = expected.clone();
        smoothing.apply(|_| rotation, &mut points);
        assert!(farthest(&points, &expected) < 1e-4);
    }
}

#[test]
fn a_crease_between_simulated_vertices_becomes_flat() {
    let mesh = grid();
    let mut smoothing = smoothing_of(&mesh);
    let creased = |(v, p): (usize, &Point)| {
        let outside = if v / SIDE == 7 { 0.5 } else { 0.0 };
        p + Vec3::z() * outside
    };
    let before: Vec<Point> = mesh.positions.iter().enumerate().map(creased).collect();
    let mut points = before.clone();
    smoothing.apply(|_| UnitQuaternion::identity(), &mut points);
    let (first, last) = (energy(&mesh, &before), energy(&mesh, &points));
    assert!(last < 0.1 * first, "{first} to {last}");
    assert!(farthest(&points, &mesh.positions) < 0.25);
}

#[test]
fn only_regions_with_changing_weights_are_corrected() {
    let mesh = grid();
    // The first bone has the first half.
    let row = |v: usize| vec![(u32::from(v / SIDE >= SIDE / 2), 1.0)];
    let weights = SkinWeights::from_rows((0..SIDE * SIDE).map(row)).0;
    let mut smoothing = Smoothing::of(&mesh, &weights, simulated());
    let bumpy = |(v, p): (usize, &Point)| p + Vec3::z() * (v as f32 * 1.3).sin() * 0.1;
    let before: Vec<Point> = mesh.positions.iter().enumerate().map(bumpy).collect();
    let mut points = before.clone();
    smoothing.apply(|_| UnitQuaternion::identity(), &mut points);
    let row_moved = |i: usize| {
        let row = i * SIDE..(i + 1) * SIDE;
        farthest(&points[row.clone()], &before[row])
    };
    let (near, far) = (RINGS + 1, SIDE / 2);
    assert!((far - near..far + near).all(|i| row_moved(i) > 1e-3));
    assert!((0..far - near).all(|i| row_moved(i) == 0.0));
    assert!((far + near..SIDE).all(|i| row_moved(i) == 0.0));
}

/// The iteration is stable on thin triangles too.
#[test]
fn noise_never_grows() {
    let mut mesh = grid();
    for point in &mut mesh.positions {
        point.x = point.x.powi(2) * 0.03;
    }
    let mut smoothing = smoothing_of(&mesh);
    let noisy = |(v, p): (usize, &Point)| {
        let x = (v as f32 * 78.233).sin() * 4_375.5;
        p + Vec3::new(x.fract(), (1.7 * x).fract(), (2.3 * x).fract()) * 0.1
    };
    let before: Vec<Point> = mesh.positions.iter().enumerate().map(noisy).collect();
    let mut points = before.clone();
    smoothing.apply(|_| UnitQuaternion::identity(), &mut points);
    assert!(energy(&mesh, &points) < 0.5 * energy(&mesh, &before));
    assert!(farthest(&points, &before) < 0.5);
}

#[test]
fn isolated_and_non_finite_vertices_are_not_corrected() {
    let mut mesh = grid();
    mesh.positions.push(Point::new(50.0, 0.0, 0.0));
    mesh.positions.push(Point::new(f32::NAN, 0.0, 0.0));
    let mut smoothing = smoothing_of(&mesh);
    let mut points = mesh.positions.clone();
    points[5 * SIDE + 5].z += 1.0;
    smoothing.apply(|_| UnitQuaternion::identity(), &mut points);
    assert_eq!(points[SIDE * SIDE], mesh.positions[SIDE * SIDE]);
    assert!(
        points[..=SIDE * SIDE]
            .iter()
            .all(|p| p.iter().all(|c| c.is_finite()))
    );
    assert_eq!(Topology::of(&mesh).neighbors(SIDE * SIDE).len(), 0);
}
