//! The guidance matrix, distributed over the subdomains and the top.

use crate::dynamics::rows::Rows;
use crate::numerics::lanes::{add, dot, scaled, sub};
use crate::numerics::partition::Partition;

/// The lower triangle of Q in the slots of one owner: all entries with at least one of the owner's rows.
#[derive(Default)]
pub(in crate::dynamics) struct Quadratic {
    starts: Vec<u32>,
    columns: Vec<u16>,
    values: Vec<f32>,
}

impl Quadratic {
    /// Distributes values in the order of the partition's pattern: one part per subdomain, followed by that of the top.
    pub(in crate::dynamics) fn distribute(partition: &Partition, values: &[f64]) -> Vec<Self> {
        let owners = partition.subdomains.len();
        let counts = partition
            .subdomains
            .iter()
            .map(|part| part.unknowns.len())
            .chain([partition.top.len()]);
        let mut rows: Vec<Vec<Vec<(u16, f32)>>> =
            counts.map(|count| vec![Vec::new(); count]).collect();
        for column in 0..partition.unknowns() {
            let range = partition.pattern.column(column);
            for (&row, &value) in partition.pattern.rows[range.clone()]
                .iter()
                .zip(&values[range])
            {
                if value == 0.0 {
                    continue;
                }
                let [[owner, own], [other_owner, other]] =
                    [partition.place[column], partition.place[row as usize]];
                let (owner, own, is_coupling, other) = if owner <= other_owner {
                    (owner, own, owner != other_owner, other)
                } else {
                    (other_owner, other, true, own)
                };
                let rows = &mut rows[owner as usize];
                let (row, column) = if is_coupling {
                    (own, rows.len() as u32 + other)
                } else {
                    (own.max(other), own.min(other))
                };
                rows[row as usize].push((column as u16, value as f32));
            }
        }
        debug_assert_eq!(rows.len(), owners + 1, "one part for each owner");
        rows.into_iter().map(Self::of_rows).collect()
    }

    fn of_rows(rows: Vec<Vec<(u16, f32)>>) -> Self {
        let mut part = Self {
            starts: vec![0],
            ..Self::default()
        };
        for mut row in rows {
            row.sort_unstable_by_key(|&(column, _)| column);
            part.columns.extend(row.iter().map(|&(column, _)| column));
            part.values.extend(row.iter().map(|&(_, value)| value));
            part.starts.push(part.columns.len() as u32);
        }
        part
    }

    /// Adds r − Q (x − y) to the right-hand side of the owner's rows, and the coupling terms to the `top` rows behind them. Returns
    /// the energy. Without guidance it does nothing.
    pub(in crate::dynamics) fn add_forces(&self, rows: &mut Rows, top: usize) -> f64 {
        if self.values.is_empty() {
            return 0.0;
        }
        let count = rows.count;
        for ((delta, x), y) in rows
            .delta
            .iter_mut()
            .zip(rows.x.iter())
            .zip(rows.target_position.iter())
            .take(count + top)
        {
            *delta = sub(*x, *y);
        }
        let (delta, b) = (&rows.delta, &mut rows.b);
        let mut energy = 0.0_f64;
        for row in 0..count {
            let own = delta[row];
            let mut sum = [0.0_f32; 4];
            let mut half = [0.0_f32; 4];
            let range = self.starts[row] as usize..self.starts[row + 1] as usize;
            for (&column, &value) in self.columns[range.clone()].iter().zip(&self.values[range]) {
                let column = column as usize;
                if column == row {
                    half = scaled(own, value);
                    continue;
                }
                sum = add(sum, scaled(delta[column], value));
                b[column] = sub(b[column], scaled(own, value));
            }
            let force = rows.guidance_force[row];
            energy += f64::from(dot(own, sum) + 0.5 * dot(own, half) - dot(own, force));
            b[row] = add(b[row], sub(force, add(sum, half)));
        }
        energy
    }
}
