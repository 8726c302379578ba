use super::*;
use crate::numerics::pattern::Cliques;
use nalgebra::{DMatrix, DVector};

/// A strip of triangles.
fn strip(unknowns: u32) -> Cliques {
    let triangles: Vec<[u32; 3]> = (0..unknowns - 2).map(|v| [v, v + 1, v + 2]).collect();
    Cliques::of(triangles.iter().map(|triangle| &triangle[..]))
}

/// A grid of triangles, whose elimination has separators.
pub(crate) fn grid(side: u32) -> Cliques {
    let mut triangles = Vec::new();
    for row in 0..side - 1 {
        for column in 0..side - 1 {
            let v = row * side + column;
            triangles.push([v, v + 1, v + side]);
            triangles.push([v + 1, v + side, v + side + 1]);
        }
    }
    Cliques::of(triangles.iter().map(|triangle| &triangle[..]))
}

/// Values of a positive definite matrix of the partition.
pub(crate) fn values(partition: &Partition) -> Vec<f64> {
    let value = |row: usize, column: usize| {
        if row == column {
            8.0 + (column as f64).sin()
        } else {
            -0.5 - 0.3 * ((row * 7 + column) as f64).cos()
        }
    };
    entries(partition)
        .map(|(row, column)| value(row, column))
        .collect()
}

/// Row and column of every stored value.
fn entries(partition: &Partition) -> impl Iterator<Item = (usize, usize)> {
    let pattern = &partition.pattern;
    (0..partition.unknowns()).flat_map(|column| {
        pattern.rows[pattern.column(column)]
            .iter()
            .map(move |&row| (row as usize, column))
    })
}

#[test]
fn a_window_solves_as_the_whole_matrix_does() {
    for (cliques, n) in [(strip(50), 50_u32), (grid(12), 144), (grid(30), 900)] {
        let partition = Partition::analyse(&cliques, n as usize, &|_| 0).expect("a mesh");
        let values = values(&partition);
        let mut dense = DMatrix::zeros(n as usize, n as usize);
        for ((row, column), &value) in entries(&partition).zip(&values) {
            dense[(row, column)] = value;
            dense[(column, row)] = value;
        }
        let solver = dense.cholesky().expect("positive definite");
        let factor = TiledFactor::of(&partition, &values).expect("positive definite");
        let mut window = Window::new(&partition);
        for vertices in [
            vec![3, 17, 4, n - 1],
            (0..n).step_by(3).collect::<Vec<u32>>(),
            Vec::new(),
        ] {
            window.select(&partition, &vertices);
            let mut slots: Vec<Padded> = vertices
                .iter()
                .map(|&v| [(v as f32).sin(), 1.0, (v as f32).cos(), 0.5])
                .collect();
            let rhs = slots.clone();
            window.solve(&partition, &factor, &mut slots);
            for lane in 0..4 {
                let mut b = DVector::zeros(n as usize);
                for (&v, value) in vertices.iter().zip(&rhs) {
                    b[v as usize] = f64::from(value[lane]);
                }
                let x = solver.solve(&b);
                for (&v, slot) in vertices.iter().zip(&slots) {
                    assert!(
                        (x[v as usize] - f64::from(slot[lane])).abs() < 1e-5,
                        "{v} {} {}",
                        x[v as usize],
                        slot[lane]
                    );
                }
            }
        }
    }
}

/// Several subdomains: A x = b, checked by multiplying back.
#[test]
fn subdomains_and_top_solve_together() {
    let n = 8100;
    let partition = Partition::analyse(&grid(90), n, &|_| 0).expect("a mesh");
    assert!(partition.subdomains.len() > 1 && !partition.top.is_empty());
    // Every unknown is owned once.
    let owned: usize = partition
        .subdomains
        .iter()
        .map(|part| part.unknowns.len())
        .sum();
    assert_eq!(owned + partition.top.len(), n);
    let values = values(&partition);
    let factor = TiledFactor::of(&partition, &values).expect("positive definite");
    let mut window = Window::new(&partition);
    let all: Vec<u32> = (0..n as u32).collect();
    window.select(&partition, &all);
    let rhs: Vec<Padded> = (0..n)
        .map(|v| [(v as f32).sin(), 1.0, (v as f32 * 0.1).cos(), 0.0])
        .collect();
    let mut x = rhs.clone();
    window.solve(&partition, &factor, &mut x);
    let mut product = vec![[0.0_f64; 4]; n];
    for ((row, column), value) in entries(&partition).zip(values) {
        for lane in 0..4 {
            product[row][lane] += value * f64::from(x[column][lane]);
            if row != column {
                product[column][lane] += value * f64::from(x[row][lane]);
            }
        }
    }
    for (product, rhs) in product.iter().flatten().zip(rhs.iter().flatten()) {
        assert!((product - f64::from(*rhs)).abs() < 1e-4, "{product} {rhs}");
    }
}
