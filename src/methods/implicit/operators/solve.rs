//! One slice of a table: the biharmonic function with given values.

use super::profile::Profile;
use super::{CELLS, NODES};
use crate::numerics::{Cholesky, FactorError, Ordering, SymmetricMatrix};

/// Minimises Σ (Δg)² over the free nodes: five-point Δ at the nodes inside, and at those on the axes, beyond which g is mirrored (no
/// slope across them). g(f₁, 0) = f₁, g(0, f₂) = f₂, g(f₁, 1) = g(1, f₂) = 1, and what the profile gives.
pub(super) fn slice(profile: &Profile) -> Result<Vec<f32>, FactorError> {
    let given = given(profile);
    let mut unknown_of = vec![usize::MAX; given.len()];
    let mut unknowns = 0;
    for (unknown, given) in unknown_of.iter_mut().zip(&given) {
        if given.is_none() {
            *unknown = unknowns;
            unknowns += 1;
        }
    }
    let mut triplets = Vec::with_capacity(unknowns * 15);
    let mut sides = vec![0.0; unknowns];
    for i in 0..CELLS {
        for j in 0..CELLS {
            let stencil = laplacian(i, j);
            let known: f64 = stencil
                .iter()
                .map(|&(node, factor)| factor * given[node].unwrap_or(0.0))
                .sum();
            for (place, &(node, factor)) in stencil.iter().enumerate() {
                let row = unknown_of[node];
                if row == usize::MAX {
                    continue;
                }
                sides[row] -= factor * known;
                for &(other, second) in &stencil[..=place] {
                    let column = unknown_of[other];
                    if column != usize::MAX {
                        triplets.push((row, column, factor * second));
                    }
                }
            }
        }
    }
    let matrix = SymmetricMatrix::from_triplets(unknowns, triplets);
    Cholesky::<f64>::factor(&matrix, Ordering::default())?.solve(&mut sides);
    let value = |(given, &unknown): (&Option<f64>, &usize)| {
        given.unwrap_or_else(|| sides[unknown]).clamp(0.0, 1.0) as f32
    };
    Ok(given.iter().zip(&unknown_of).map(value).collect())
}

fn index(i: usize, j: usize) -> usize {
    i * NODES + j
}

/// The values that are given, at their nodes.
fn given(profile: &Profile) -> Vec<Option<f64>> {
    let mut given = vec![None; NODES * NODES];
    for &(i, j, value) in profile {
        given[index(i, j)] = Some(value);
    }
    for k in 0..NODES {
        let value = k as f64 / CELLS as f64;
        given[index(k, 0)] = Some(value);
        given[index(0, k)] = Some(value);
    }
    for k in 0..NODES {
        given[index(k, CELLS)] = Some(1.0);
        given[index(CELLS, k)] = Some(1.0);
    }
    given
}

/// Δ at a node that is not on the far borders: nodes and factors, each node once.
fn laplacian(i: usize, j: usize) -> Vec<(usize, f64)> {
    let mut stencil = vec![(index(i, j), -4.0)];
    for (along, low, high) in [
        (i, (i.wrapping_sub(1), j), (i + 1, j)),
        (j, (i, j.wrapping_sub(1)), (i, j + 1)),
    ] {
        if along == 0 {
            stencil.push((index(high.0, high.1), 2.0));
        } else {
            stencil.push((index(low.0, low.1), 1.0));
            stencil.push((index(high.0, high.1), 1.0));
        }
    }
    stencil
}
