//! Blocks of 3 × 3 of element matrices and of the assembled matrix.

use nalgebra::Matrix3;

use crate::math::Vec64;
use crate::numerics::pattern::Pattern;

/// Gradients of the eight weights at the eight Gauss points of the unit cube.
pub(super) fn gauss_gradients() -> [[Vec64; 8]; 8] {
    let places = [0.5 - 0.5 / 3.0_f64.sqrt(), 0.5 + 0.5 / 3.0_f64.sqrt()];
    std::array::from_fn(|q| {
        let at = [0, 1, 2].map(|axis| places[q >> axis & 1]);
        std::array::from_fn(|corner| {
            Vec64::from_fn(|along, _| {
                (0..3)
                    .map(|axis| {
                        let upper = corner >> axis & 1 == 1;
                        match (axis == along, upper) {
                            (true, true) => 1.0,
                            (true, false) => -1.0,
                            (false, true) => at[axis],
                            (false, false) => 1.0 - at[axis],
                        }
                    })
                    .product()
            })
        })
    })
}

/// The pattern with every row and column replaced by three.
pub(super) fn in_blocks(coarse: &Pattern) -> Pattern {
    let (mut column_starts, mut rows) = (vec![0], Vec::new());
    for column in 0..coarse.unknowns() {
        let below = &coarse.rows[coarse.column(column)][1..];
        for k in 0..3 {
            rows.extend((k..3).map(|row| 3 * column as u32 + row));
            rows.extend(
                below
                    .iter()
                    .flat_map(|&row| (0..3).map(move |k| 3 * row + k)),
            );
            column_starts.push(rows.len() as u32);
        }
    }
    Pattern {
        column_starts,
        rows,
    }
}

/// Second derivatives by nodes, computed from those by corners.
pub(super) fn on_nodes(
    blocks: &[Matrix3<f64>; 36],
    shape: &[f64],
    count: usize,
) -> Vec<Matrix3<f64>> {
    let block = |i: usize, j: usize| {
        if i >= j {
            blocks[i * (i + 1) / 2 + j]
        } else {
            blocks[j * (j + 1) / 2 + i].transpose()
        }
    };
    let mut half = vec![Matrix3::zeros(); 8 * count];
    for i in 0..8 {
        for j in 0..8 {
            let block = block(i, j);
            for k in 0..count {
                let weight = shape[j * count + k];
                if weight != 0.0 {
                    half[i * count + k] += block * weight;
                }
            }
        }
    }
    let mut result = Vec::with_capacity(count * (count + 1) / 2);
    for a in 0..count {
        for b in 0..=a {
            let mut sum = Matrix3::zeros();
            for i in 0..8 {
                let weight = shape[i * count + a];
                if weight != 0.0 {
                    sum += half[i * count + b] * weight;
                }
            }
            result.push(sum);
        }
    }
    result
}
