//! Sparse matrices times points in slots: sixteen rows at a time, one per lane.

use pulp::{Arch, Simd, WithSimd};

use super::lanes::{Indices, LANES, Lanes, Ops, Slots};

/// A sparse matrix over the first slots, its rows in groups of [`LANES`]; the shorter rows of a group are filled with zeros.
#[derive(Debug, Clone, Default)]
pub(crate) struct LaneRows {
    /// The rows of every group; in the last one the last row may be repeated, without entries.
    rows: Vec<Indices>,
    /// The entries of group g are `entries[starts[g]..starts[g + 1]]`.
    starts: Vec<u32>,
    entries: Vec<LaneEntry>,
}

/// One entry of every row of a group.
#[derive(Debug, Clone, Copy)]
#[repr(align(32))]
struct LaneEntry {
    values: Lanes,
    columns: Indices,
}

impl LaneRows {
    /// Columns and values of every row.
    pub(crate) fn of(rows: &[Vec<(u16, f32)>]) -> Self {
        let mut built = Self {
            starts: vec![0],
            ..Self::default()
        };
        for (group, rows) in rows.chunks(LANES).enumerate() {
            let row = |lane: usize| (group * LANES + lane.min(rows.len() - 1)) as u16;
            built.rows.push(std::array::from_fn(row));
            let width = rows.iter().map(Vec::len).max().unwrap_or_default();
            for place in 0..width {
                let of_lane = |lane: usize| rows.get(lane)?.get(place).copied();
                built.entries.push(LaneEntry {
                    values: std::array::from_fn(|lane| of_lane(lane).map_or(0.0, |entry| entry.1)),
                    columns: std::array::from_fn(|lane| {
                        of_lane(lane).map_or_else(|| row(lane), |entry| entry.0)
                    }),
                });
            }
            built.starts.push(built.entries.len() as u32);
        }
        built
    }

    /// Whether there are no entries.
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// b ← b − A x. Returns xᵀ A x.
    pub(crate) fn subtract_product(&self, x: &Slots, b: &mut Slots) -> f64 {
        Arch::new().dispatch(SubtractProduct { rows: self, x, b })
    }
}

struct SubtractProduct<'a> {
    rows: &'a LaneRows,
    x: &'a Slots,
    b: &'a mut Slots,
}

impl WithSimd for SubtractProduct<'_> {
    type Output = f64;

    #[expect(
        clippy::inline_always,
        reason = "vector code must be inlined into the function that enables the instructions"
    )]
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) -> f64 {
        let ops = Ops(simd);
        let Self { rows, x, b } = self;
        let mut product = 0.0;
        for (own, range) in rows.rows.iter().zip(rows.starts.windows(2)) {
            let entries = &rows.entries[range[0] as usize..range[1] as usize];
            for part in 0..LANES / S::F32_LANES {
                // Two independent sums, for instruction-level parallelism.
                let (mut sum, mut other) = (ops.zero3(), ops.zero3());
                let (pairs, rest) = entries.as_chunks::<2>();
                for [first, second] in pairs {
                    let points = ops.gather(x, &first.columns, part);
                    sum = ops.fma3(points, ops.load(&first.values, part), sum);
                    let points = ops.gather(x, &second.columns, part);
                    other = ops.fma3(points, ops.load(&second.values, part), other);
                }
                for entry in rest {
                    let points = ops.gather(x, &entry.columns, part);
                    sum = ops.fma3(points, ops.load(&entry.values, part), sum);
                }
                let sum = ops.add3(sum, other);
                let along = ops.dot(ops.gather(x, own, part), sum);
                product += f64::from(simd.reduce_sum_f32s(along));
                ops.scatter_add(b, own, part, ops.sub3(ops.zero3(), sum));
            }
        }
        product
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numerics::lanes::zeroed_slots;

    #[test]
    fn products_are_those_of_the_rows() {
        let count = 2 * LANES + 5;
        let rows: Vec<Vec<(u16, f32)>> = (0..count as u16)
            .map(|row| {
                let width = row * 7 % 6;
                (0..width)
                    .map(|k| {
                        let column = (row + 3 * k) % count as u16;
                        (column, 0.5 + f32::from(k) - 0.1 * f32::from(row))
                    })
                    .collect()
            })
            .collect();
        let (mut x, mut b) = (zeroed_slots(), zeroed_slots());
        for row in 0..count {
            let value = (row as f32 * 12.9898).sin();
            x[row] = [value, 2.0 * value * value, 1.0 - value, 0.0];
            b[row] = [1.0, 2.0, row as f32, 0.0];
        }
        let before = b.clone();
        let product = LaneRows::of(&rows).subtract_product(&x, &mut b);
        let mut expected = 0.0;
        for (row, entries) in rows.iter().enumerate() {
            for axis in 0..3 {
                let terms = entries.iter();
                let sum: f32 = terms.map(|&(c, value)| value * x[c as usize][axis]).sum();
                expected += f64::from(sum * x[row][axis]);
                let error = before[row][axis] - sum - b[row][axis];
                assert!(error.abs() < 1e-4, "{error}");
            }
        }
        assert!((product - expected).abs() < 1e-3, "{product} {expected}");
        assert_eq!(b[count], [0.0; 4]);
    }
}
