use nalgebra::{DMatrix, DVector};

use super::*;

const ORDERINGS: [Ordering; 3] = [
    Ordering::NestedDissection,
    Ordering::MinimumDegree,
    Ordering::Natural,
];

/// Laplacian of a grid of side³ nodes plus a small multiple of the identity.
fn grid(side: usize) -> SymmetricMatrix {
    let index = |x: usize, y: usize, z: usize| (z * side + y) * side + x;
    let mut triplets = Vec::new();
    for z in 0..side {
        for y in 0..side {
            for x in 0..side {
                let node = index(x, y, z);
                triplets.push((node, node, 0.05));
                for (inside, other) in [
                    (x + 1 < side, node + 1),
                    (y + 1 < side, node + side),
                    (z + 1 < side, node + side * side),
                ] {
                    if inside {
                        let weight = 1.0 + 0.3 * ((node * 7 + other) as f64).sin();
                        triplets.extend([
                            (node, node, weight),
                            (other, other, weight),
                            (node, other, -weight),
                        ]);
                    }
                }
            }
        }
    }
    SymmetricMatrix::from_triplets(side * side * side, triplets)
}

fn numbers(count: usize) -> Vec<f64> {
    (0..count).map(|k| (k as f64 * 0.7).sin() + 0.3).collect()
}

/// solve(A x) = x, in every order, for more right-hand sides than are solved together.
#[test]
fn a_solve_undoes_a_product() {
    let matrix = grid(9);
    let n = matrix.unknowns();
    for ordering in ORDERINGS {
        let factor = Cholesky::<f64>::factor(&matrix, ordering).expect("positive definite");
        let narrow = Cholesky::<f32>::factor(&matrix, ordering).expect("positive definite");
        let expected = numbers(19 * n);
        let mut x: Vec<f64> = expected
            .chunks(n)
            .flat_map(|column| matrix.multiply(column))
            .collect();
        let mut x32: Vec<f32> = x.iter().map(|&x| x as f32).collect();
        factor.solve(&mut x);
        narrow.solve(&mut x32);
        for ((x, x32), expected) in x.iter().zip(x32).zip(expected) {
            assert!((x - expected).abs() < 1e-10, "{ordering:?} {x} {expected}");
            assert!((f64::from(x32) - expected).abs() < 2e-3, "{x32} {expected}");
        }
    }
}

#[test]
fn nested_dissection_fills_in_less_than_the_natural_order() {
    let matrix = grid(12);
    let stored = |ordering| {
        Cholesky::<f64>::factor(&matrix, ordering)
            .expect("positive definite")
            .stored()
    };
    assert!(stored(Ordering::NestedDissection) < stored(Ordering::Natural));
    assert!(stored(Ordering::MinimumDegree) < stored(Ordering::Natural));
}

/// Renumbering the unknowns renumbers the solution.
#[test]
fn a_permutation_of_the_unknowns_permutes_the_solution() {
    let matrix = grid(7);
    let n = matrix.unknowns();
    let permuted = |k: usize| (k * 100 + 17) % n; // 343 and 100 have no common divisor
    let other = SymmetricMatrix::from_triplets(
        n,
        matrix
            .entries()
            .map(|(row, column, value)| (permuted(row), permuted(column), value)),
    );
    let b = numbers(n);
    let mut x = b.clone();
    let mut y = vec![0.0; n];
    for (k, b) in b.iter().enumerate() {
        y[permuted(k)] = *b;
    }
    let factor =
        |matrix| Cholesky::<f64>::factor(matrix, Ordering::default()).expect("positive definite");
    factor(&matrix).solve(&mut x);
    factor(&other).solve(&mut y);
    for (k, x) in x.iter().enumerate() {
        assert!((x - y[permuted(k)]).abs() < 1e-10, "{k}");
    }
}

#[test]
fn small_systems_agree_with_dense_ones() {
    for n in 1..12_usize {
        let entry = |row: usize, column: usize| {
            if row == column {
                4.0 + (row as f64).cos()
            } else {
                0.3 * ((row + 3) as f64 * (column + 3) as f64).sin()
            }
        };
        let lower = (0..n).flat_map(|row| (0..=row).map(move |column| (row, column)));
        let matrix = SymmetricMatrix::from_triplets(
            n,
            lower.map(|(row, column)| (row, column, entry(row, column))),
        );
        let dense = DMatrix::from_fn(n, n, |row, column| matrix.get(row, column));
        let b = numbers(n);
        let expected = dense
            .cholesky()
            .expect("positive definite")
            .solve(&DVector::from_vec(b.clone()));
        for ordering in ORDERINGS {
            let mut x = b.clone();
            Cholesky::<f64>::factor(&matrix, ordering)
                .expect("positive definite")
                .solve(&mut x);
            assert!(
                (DVector::from_vec(x) - &expected).norm() < 1e-12,
                "{n} {ordering:?}"
            );
        }
    }
}

#[test]
fn indefinite_matrices_are_rejected() {
    for ordering in ORDERINGS {
        let refused = |triplets: Vec<(usize, usize, f64)>| {
            Cholesky::<f64>::factor(&SymmetricMatrix::from_triplets(3, triplets), ordering)
                .err()
                .expect("an error")
        };
        // Indefinite, singular, an unknown that nothing holds, and a NaN.
        assert!(matches!(
            refused(vec![(0, 0, 1.0), (1, 1, 1.0), (2, 2, 1.0), (0, 1, 2.0)]),
            FactorError::NotPositiveDefinite {
                unknowns: 3,
                unknown: 0 | 1
            }
        ));
        assert_eq!(
            refused(vec![(0, 0, 1.0), (1, 1, 1.0)]),
            FactorError::NotPositiveDefinite {
                unknowns: 3,
                unknown: 2
            }
        );
        assert!(matches!(
            refused(vec![
                (0, 0, 1.0),
                (1, 1, 1.0),
                (2, 2, 1.0),
                (2, 1, f64::NAN)
            ]),
            FactorError::NotFinite {
                row: 2,
                column: 1,
                ..
            }
        ));
    }
}

#[test]
fn refactoring_is_factoring() {
    let matrix = grid(6);
    let n = matrix.unknowns();
    let mut factor =
        Cholesky::<f64>::factor(&matrix, Ordering::default()).expect("positive definite");
    for other in [matrix.plus_diagonal(&vec![2.0; n]), grid(5)] {
        factor.refactor(&other).expect("positive definite");
        let expected = numbers(other.unknowns());
        let mut x = other.multiply(&expected);
        factor.solve(&mut x);
        assert!(x.iter().zip(expected).all(|(x, e)| (x - e).abs() < 1e-10));
    }
    let indefinite = matrix.plus_diagonal(&vec![-10.0; n]);
    assert!(factor.refactor(&indefinite).is_err());
    assert_eq!(factor.unknowns(), 125, "the old factor stays");
}

#[test]
fn solutions_do_not_depend_on_the_threads() {
    let matrix = grid(8);
    let factor = Cholesky::<f32>::factor(&matrix, Ordering::default()).expect("positive definite");
    let solved = [1, 2, 3].map(|threads| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .expect("a pool");
        let mut x: Vec<f32> = numbers(20 * 512).iter().map(|&x| x as f32).collect();
        pool.install(|| factor.solve(&mut x));
        x
    });
    assert!(solved[0] == solved[1] && solved[1] == solved[2]);
}

#[test]
fn one_right_hand_side_is_solved_as_many_are() {
    let entries = (0..50).map(|k| (k, (k * 7 + 3) % 50, -1.0));
    let matrix = SymmetricMatrix::from_triplets(50, entries).plus_diagonal(&[9.0; 50]);
    let factor = Cholesky::<f64>::factor(&matrix, Ordering::default()).expect("is definite");
    let right: Vec<f64> = (0..50).map(|k| f64::from(k).sin()).collect();
    let (mut one, mut many) = (right.clone(), right);
    factor.solve_one(&mut one, &mut factor.memory());
    factor.solve(&mut many);
    assert_eq!(one, many);
}
