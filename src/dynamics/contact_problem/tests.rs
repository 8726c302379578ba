use nalgebra::{DMatrix, DVector};

use super::*;
use crate::collision::Release;
use crate::numerics::partition::Partition;
use crate::numerics::pattern::Cliques;
use crate::numerics::tiles::TiledFactor;
use crate::numerics::window::Window;

/// Two sheets of springs, the upper one slightly below the lower one so that they intersect.
struct Sheets {
    side: usize,
    positions: Vec<Point>,
    stiffness: Vec<f32>,
    /// Row, column and value of the lower triangle.
    lower: Vec<(usize, usize, f64)>,
}

impl Sheets {
    fn new(side: usize) -> Self {
        let n = 2 * side * side;
        let mut lower = Vec::new();
        let mut diagonal = vec![0.3; n];
        for v in 0..n {
            let (row, column) = (v / side % side, v % side);
            for (next, inside) in [(v + 1, column + 1 < side), (v + side, row + 1 < side)] {
                if inside {
                    lower.push((next, v, -1.0));
                    diagonal[v] += 1.0;
                    diagonal[next] += 1.0;
                }
            }
        }
        for (v, &entry) in diagonal.iter().enumerate() {
            lower.push((v, v, entry));
        }
        let at = |v: usize| {
            let height = if v < side * side { 0.0 } else { -0.1 };
            Point::new(
                (v % side) as f32,
                height + 0.05 * (v as f32).sin(),
                (v / side % side) as f32,
            )
        };
        let stiffness = diagonal.iter().map(|&d| d as f32).collect();
        Self {
            side,
            positions: (0..n).map(at).collect(),
            stiffness,
            lower,
        }
    }

    /// Partition and factor of the matrix.
    fn factored(&self) -> (Partition, TiledFactor) {
        let (side, n) = (self.side, self.positions.len());
        let cells = (0..n).filter(|v| v % side + 1 < side && v / side % side + 1 < side);
        let triangles = cells.flat_map(|v| [[v, v + 1, v + side], [v + 1, v + side, v + side + 1]]);
        let triangles: Vec<[u32; 3]> = triangles.map(|corners| corners.map(|v| v as u32)).collect();
        let cliques = Cliques::of(triangles.iter().map(|triangle| &triangle[..]));
        let partition = Partition::analyse(&cliques, n, &|_| 0).expect("a mesh");
        let mut values = vec![0.0; partition.pattern.rows.len()];
        for &(row, column, value) in &self.lower {
            values[partition
                .pattern
                .entry(row as u32, column as u32)
                .expect("neighbours")] = value;
        }
        let factor = TiledFactor::of(&partition, &values).expect("positive definite");
        (partition, factor)
    }

    fn contacts(&self) -> Vec<Contact> {
        let (side, sheet) = (self.side, self.side * self.side);
        let inner = |v: usize| v % side + 1 < side && v / side + 1 < side;
        let of = |v: usize| {
            let corners = [v, v + 1, v + side].map(|c| c as u32);
            let normal = Vec3::new(0.2 * (v as f32).cos(), 1.0, 0.1).normalize();
            let (vertex, weights) = ((v + sheet) as u32, [0.5, 0.3, 0.2]);
            let mut contact = Contact {
                vertex,
                triangle: 0,
                corners,
                weights,
                normal,
                gap: 0.0,
                edge: 1.0,
                load: 0.0,
                min_gap: MARGIN,
                increase: 0.0,
                hold: 1.0,
                release: Release::No,
                old: true,
            };
            contact.gap = gap(&contact, &self.positions);
            contact
        };
        (0..sheet).filter(|&v| inner(v)).map(of).collect()
    }
}

/// Reference solution: the matrix including the active contacts, factored densely in f64.
fn refactored(
    sheets: &Sheets,
    contacts: &[Contact],
    problem: &ContactProblem,
    rhs: &[[f32; 4]],
) -> DVector<f64> {
    let n = rhs.len();
    let mut matrix = DMatrix::zeros(3 * n, 3 * n);
    for &(row, column, value) in &sheets.lower {
        for c in 0..3 {
            matrix[(3 * row + c, 3 * column + c)] = value;
            matrix[(3 * column + c, 3 * row + c)] = value;
        }
    }
    let mut b = DVector::from_iterator(
        3 * n,
        rhs.iter().flat_map(|r| [r[0], r[1], r[2]]).map(f64::from),
    );
    for (index, contact) in contacts
        .iter()
        .enumerate()
        .filter(|(index, _)| problem.loads.values[*index] > 0.0)
    {
        let w = 1.0 / f64::from(problem.softness[index]);
        let violation = f64::from(problem.target_gaps[index] - gap(contact, &sheets.positions));
        let mut direction = DVector::zeros(3 * n);
        for (v, weight) in std::iter::once((contact.vertex, 1.0))
            .chain(contact.corners.into_iter().zip(contact.weights.map(|w| -w)))
        {
            for c in 0..3 {
                direction[3 * v as usize + c] += f64::from(weight) * f64::from(contact.normal[c]);
            }
        }
        matrix.ger(w, &direction, &direction, 1.0);
        b += direction * (w * violation);
    }
    matrix.cholesky().expect("positive definite").solve(&b)
}

/// Both for the dense and the matrix-free solve.
#[test]
fn equals_a_solve_with_the_refactored_matrix() {
    let sheets = Sheets::new(9);
    let contacts = sheets.contacts();
    let rhs: Vec<[f32; 4]> = (0..sheets.positions.len())
        .map(|v| {
            [
                0.1 * (v as f32).sin(),
                -0.2 * (0.1 * v as f32).cos(),
                0.05,
                0.0,
            ]
        })
        .collect();
    let (partition, factor) = sheets.factored();
    let mut full_window = Window::new(&partition);
    full_window.select(
        &partition,
        &(0..sheets.positions.len() as u32).collect::<Vec<_>>(),
    );
    for dense in [true, false] {
        let mut window = Window::new(&partition);
        let mut solver = WindowSolver {
            partition: &partition,
            factor: &factor,
            window: &mut window,
        };
        let mut problem = ContactProblem::default();
        problem.set_contacts(&contacts, &sheets.stiffness, 30.0, 0.0);
        let corners = contacts
            .iter()
            .flat_map(|c| [c.vertex, c.corners[0], c.corners[1], c.corners[2]]);
        let mut compliance = Compliance::default();
        compliance.cover(corners, &mut solver);
        let slot = |v: u32| compliance.slot(v) as u32;
        problem.slots.extend(
            contacts
                .iter()
                .map(|c| [c.vertex, c.corners[0], c.corners[1], c.corners[2]].map(slot)),
        );
        // Unconstrained increments at the contacts, the contact forces for them, and the solution with these forces.
        let mut plain = rhs.clone();
        full_window.solve(&partition, &factor, &mut plain);
        let mut own = vec![[0.0; 4]; compliance.slots()];
        let vertices: Vec<u32> = (0..plain.len() as u32)
            .filter(|&v| {
                contacts
                    .iter()
                    .any(|c| c.vertex == v || c.corners.contains(&v))
            })
            .collect();
        for &v in &vertices {
            own[compliance.slot(v)] = plain[v as usize];
        }
        problem.compute_violations(&contacts, &sheets.positions, &own);
        if dense {
            problem.assemble(&compliance);
            problem.solve_dense(1e-7);
        } else {
            problem.estimate_diagonal(&contacts, &sheets.stiffness, 30.0);
            problem.compute_violations(&contacts, &sheets.positions, &own);
            problem.solve_matrix_free(&mut own, &mut solver, 1e-6);
        }
        assert!(problem.write_forces(&mut own));
        let mut solution = rhs.clone();
        for &v in &vertices {
            for c in 0..3 {
                solution[v as usize][c] += own[compliance.slot(v)][c];
            }
        }
        full_window.solve(&partition, &factor, &mut solution);
        let loaded = problem
            .loads
            .values
            .iter()
            .filter(|&&load| load > 0.0)
            .count();
        assert!(
            loaded > 8 && loaded < contacts.len(),
            "{loaded} of {} press",
            contacts.len()
        );
        let expected = refactored(&sheets, &contacts, &problem, &rhs);
        for (v, found) in solution.iter().enumerate() {
            for c in 0..3 {
                let difference = (f64::from(found[c]) - expected[3 * v + c]).abs();
                // The sheets are 12 units across.
                assert!(difference < 1e-5, "dense {dense}, vertex {v}: {difference}");
            }
        }
        // Contact forces are equal and opposite.
        let mut forces = vec![[0.0; 4]; compliance.slots()];
        problem.write_forces(&mut forces);
        let sum = forces
            .iter()
            .fold(Vec3::zeros(), |sum, f| sum + Vec3::new(f[0], f[1], f[2]));
        assert!(sum.norm() < 1e-4, "{sum}");
    }
}

/// A hard contact would have a load in proportion to its overlap.
#[test]
fn the_load_of_a_soft_contact_grows_with_the_square_of_its_overlap() {
    for overlap in [0.3_f32, 0.6, 0.9] {
        // Load times the softness of a hard contact, from step to step over an overlap that stays.
        let mut load = 0.0;
        for _ in 0..40 {
            load = overlap * hardness(load, 1.0);
        }
        assert!((load - overlap * overlap).abs() < 1e-5, "{overlap}: {load}");
    }
    assert_eq!([hardness(7.0, 1.0), hardness(0.0, 0.0)], [1.0, 1.0]);
    assert_eq!(hardness(0.0, 1.0), MIN_HARDNESS);
}
