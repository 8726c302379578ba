//! Sparse matrices times points, for the available instruction set: eight rows at a time, one per lane.

use pulp::{Arch, Simd, WithSimd};

use super::frames::PaddedPoint;
use super::lanes::{LANES, Numbers, VertexOps, minus};

/// The rows of a sparse matrix in groups of [`LANES`]; the shorter rows of a group are filled with zeros.
#[derive(Debug, Clone)]
pub(super) struct RowGroups {
    /// The entries of group g are `entries[starts[g]..starts[g + 1]]`.
    starts: Vec<u32>,
    entries: Vec<Entry>,
}

/// One entry of every row of a group.
#[derive(Debug, Clone, Copy)]
struct Entry {
    columns: [u32; LANES],
    values: Numbers,
}

impl RowGroups {
    /// `rows`: columns and values of every row. Zeros that fill a row are in the column `unused`.
    pub(super) fn of(rows: &[Vec<(u32, f32)>], unused: u32) -> Self {
        let mut groups = Self {
            starts: vec![0],
            entries: Vec::new(),
        };
        for group in rows.chunks(LANES) {
            let width = group.iter().map(Vec::len).max().unwrap_or_default();
            for place in 0..width {
                let mut entry = Entry {
                    columns: [unused; LANES],
                    values: [0.0; LANES],
                };
                for (lane, row) in group.iter().enumerate() {
                    if let Some(&(column, value)) = row.get(place) {
                        entry.columns[lane] = column;
                        entry.values[lane] = value;
                    }
                }
                groups.entries.push(entry);
            }
            groups.starts.push(groups.entries.len() as u32);
        }
        groups
    }

    /// Computes the products of the rows from `first` on (a multiple of [`LANES`]) with `points`, and calls `write` with each of `out`,
    /// the index of its row and the product.
    pub(super) fn for_each<T>(
        &self,
        first: usize,
        points: &[PaddedPoint],
        out: &mut [T],
        write: impl Fn(&mut T, usize, PaddedPoint),
    ) {
        Arch::new().dispatch(Multiply::<_, _, false> {
            groups: self,
            first,
            points,
            out,
            write,
        });
    }

    /// As [`RowGroups::for_each`], with the differences between `points` and that of the row. Of a matrix whose rows sum to zero this is the
    /// same product without cancellation.
    pub(super) fn for_each_difference<T>(
        &self,
        first: usize,
        points: &[PaddedPoint],
        out: &mut [T],
        write: impl Fn(&mut T, usize, PaddedPoint),
    ) {
        Arch::new().dispatch(Multiply::<_, _, true> {
            groups: self,
            first,
            points,
            out,
            write,
        });
    }
}

struct Multiply<'a, T, W, const DIFFERENCES: bool> {
    groups: &'a RowGroups,
    first: usize,
    points: &'a [PaddedPoint],
    out: &'a mut [T],
    write: W,
}

impl<T, W: Fn(&mut T, usize, PaddedPoint), const DIFFERENCES: bool> WithSimd
    for Multiply<'_, T, W, DIFFERENCES>
{
    type Output = ();

    #[expect(
        clippy::inline_always,
        reason = "vector code must be inlined into the function that enables the instructions"
    )]
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let ops = VertexOps(simd);
        let Self {
            groups,
            first,
            points,
            out,
            write,
        } = self;
        let starts = &groups.starts[first / LANES..];
        for ((index, out), range) in out.chunks_mut(LANES).enumerate().zip(starts.windows(2)) {
            let mut named = [[0.0; 4]; LANES];
            let mut own = [[0.0; LANES]; 3];
            if DIFFERENCES {
                for (slot, point) in named.iter_mut().zip(&points[first + index * LANES..]) {
                    *slot = *point;
                }
                own = ops.gathered(named);
            }
            let mut sum = [[0.0; LANES]; 3];
            for Entry { columns, values } in &groups.entries[range[0] as usize..range[1] as usize] {
                for (slot, &column) in named.iter_mut().zip(columns) {
                    *slot = points[column as usize];
                }
                let mut neighbors = ops.gathered(named);
                if DIFFERENCES {
                    neighbors = minus(neighbors, own);
                }
                sum = ops.fma3(neighbors, *values, sum);
            }
            let products = ops.scattered(sum);
            for (lane, (out, product)) in out.iter_mut().zip(products).enumerate() {
                write(out, first + index * LANES + lane, product);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_are_those_of_the_rows() {
        let rows: Vec<Vec<(u32, f32)>> = (0..21_u32)
            .map(|row| {
                let width = row * 7 % 5;
                (0..width)
                    .map(|k| ((row + 3 * k) % 21, 0.5 + k as f32 - 0.1 * row as f32))
                    .collect()
            })
            .collect();
        let mut points: Vec<PaddedPoint> = (0..21)
            .map(|k| {
                let x = (k as f32 * 12.9898).sin();
                [x, 2.0 * x * x, 1.0 - x, 0.0]
            })
            .collect();
        points.push([0.0; 4]);
        let groups = RowGroups::of(&rows, 21);
        for first in [0, LANES] {
            let mut out = vec![(usize::MAX, [0.0; 4]); 21 - first];
            groups.for_each(first, &points, &mut out, |out, row, product| {
                *out = (row, product);
            });
            let mut differences = out.clone();
            groups.for_each_difference(first, &points, &mut differences, |out, row, product| {
                *out = (row, product);
            });
            for (products, origin) in [(out, 0.0), (differences, 1.0)] {
                for (k, (row, product)) in products.iter().enumerate() {
                    assert_eq!(*row, first + k);
                    for (axis, sum) in product.iter().enumerate() {
                        let own = origin * points[*row][axis];
                        let terms = rows[*row].iter();
                        let expected: f32 = terms
                            .map(|&(column, value)| (points[column as usize][axis] - own) * value)
                            .sum();
                        assert!((sum - expected).abs() < 1e-5, "{sum} {expected}");
                    }
                }
            }
        }
    }
}
