//! The guidance matrix, distributed over the subdomains and the top.

use crate::dynamics::rows::Rows;
use crate::numerics::lane_rows::LaneRows;
use crate::numerics::lanes::{add, dot, scaled, sub};
use crate::numerics::partition::Partition;

/// Slots of the columns of a row, with values.
type Row = Vec<(u16, f32)>;
/// Row, slot of a row of the top, value.
type Coupling = (u16, u16, f32);

/// The rows of Q that belong to one owner, in its slots.
#[derive(Default)]
pub(in crate::dynamics) struct Quadratic {
    /// Its entries with the owner's own rows.
    own: LaneRows,
    /// A subdomain's entries with rows of the top.
    couplings: Vec<Coupling>,
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
        let mut parts: Vec<(Vec<Row>, Vec<Coupling>)> = counts
            .map(|count| (vec![Vec::new(); count], Vec::new()))
            .collect();
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
                let (rows, couplings) = &mut parts[owner as usize];
                let value = value as f32;
                if is_coupling {
                    let slot = rows.len() as u32 + other;
                    couplings.push((own as u16, slot as u16, value));
                    continue;
                }
                rows[own as usize].push((other as u16, value));
                if own != other {
                    rows[other as usize].push((own as u16, value));
                }
            }
        }
        debug_assert_eq!(parts.len(), owners + 1, "one part for each owner");
        parts
            .into_iter()
            .map(|(rows, couplings)| Self {
                own: LaneRows::of(&rows),
                couplings,
            })
            .collect()
    }

    /// Adds r − Q (x − y) to the right-hand side of the owner's rows, and the coupling terms to the `top` rows behind them. Returns
    /// the energy. Without guidance it does nothing.
    pub(in crate::dynamics) fn add_forces(&self, rows: &mut Rows, top: usize) -> f64 {
        if self.own.is_empty() {
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
        let (delta, b) = (&*rows.delta, &mut *rows.b);
        let mut energy = 0.5 * self.own.subtract_product(delta, b);
        for ((b, delta), force) in b.iter_mut().zip(delta).zip(&rows.guidance_force) {
            energy -= f64::from(dot(*delta, *force));
            *b = add(*b, *force);
        }
        for &(row, slot, value) in &self.couplings {
            let (row, slot) = (usize::from(row), usize::from(slot));
            energy += f64::from(value * dot(delta[row], delta[slot]));
            b[row] = sub(b[row], scaled(delta[slot], value));
            b[slot] = sub(b[slot], scaled(delta[row], value));
        }
        energy
    }
}
