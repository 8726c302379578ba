//! Entries of an inverse P⁻¹ between a set of unknowns that changes slowly, kept from call to call.
//!
//! An entry stays valid as long as the factor of P does. Only unknowns that are new in the set cost solves, four columns each.

use super::window::WindowSolver;

/// Larger sets take more memory than they save time.
pub(crate) const MAX_COVERED: usize = 2048;
/// Entries of unused unknowns are dropped when there are this many times more than are used.
const STALE: usize = 2;

const NONE: u32 = u32::MAX;

/// Entries of P⁻¹ between the unknowns of a window.
#[derive(Debug, Clone, Default)]
pub(crate) struct Compliance {
    /// The unknowns, in the order of their slots.
    unknowns: Vec<u32>,
    /// Slot of every unknown.
    slot_of: Vec<u32>,
    /// `stride` × `stride`, symmetric; the first `unknowns.len()` rows and columns count.
    entries: Vec<f32>,
    stride: usize,
    wanted: Vec<bool>,
    values: Vec<[f32; 4]>,
}

impl Compliance {
    /// Forgets all entries: another factor.
    pub(crate) fn clear(&mut self) {
        self.unknowns.clear();
        self.slot_of.clear();
    }

    pub(crate) fn slots(&self) -> usize {
        self.unknowns.len()
    }

    /// The slot of an unknown that was covered.
    pub(crate) fn slot(&self, unknown: u32) -> usize {
        self.slot_of[unknown as usize] as usize
    }

    /// Row of P⁻¹ for a slot.
    pub(crate) fn row(&self, slot: usize) -> &[f32] {
        &self.entries[slot * self.stride..slot * self.stride + self.unknowns.len()]
    }

    /// Makes sure that the entries between all of these unknowns are there; at most [`MAX_COVERED`] distinct ones.
    pub(crate) fn cover(
        &mut self,
        unknowns: impl Iterator<Item = u32> + Clone,
        solver: &mut WindowSolver<'_>,
    ) {
        let n = solver.unknowns();
        if self.slot_of.len() != n {
            self.unknowns.clear();
            self.slot_of.clear();
            self.slot_of.resize(n, NONE);
        }
        let present = self.unknowns.len();
        self.wanted.clear();
        self.wanted.resize(present, false);
        let mut used = 0;
        let mut added = 0;
        for v in unknowns.clone() {
            let slot = self.slot_of[v as usize];
            if slot == NONE {
                // Marked as seen; it gets its slot below.
                self.slot_of[v as usize] = NONE - 1;
                added += 1;
            } else if slot != NONE - 1 && !self.wanted[slot as usize] {
                self.wanted[slot as usize] = true;
                used += 1;
            }
        }
        let is_full =
            present + added > MAX_COVERED || present + added > STALE * (used + added) + 64;
        if added == 0 && !is_full {
            return;
        }
        if is_full && used < present {
            self.drop_unwanted();
        }
        let first = self.unknowns.len();
        for v in unknowns {
            if self.slot_of[v as usize] == NONE - 1 {
                self.slot_of[v as usize] = self.unknowns.len() as u32;
                self.unknowns.push(v);
            }
        }
        self.grow();
        solver.set_window(&self.unknowns);
        self.fill(first, solver);
    }

    fn drop_unwanted(&mut self) {
        let mut kept = 0;
        for slot in 0..self.unknowns.len() {
            let unknown = self.unknowns[slot];
            if !self.wanted[slot] {
                self.slot_of[unknown as usize] = NONE;
                continue;
            }
            let mut column = 0;
            for other in 0..self.unknowns.len() {
                if self.wanted[other] {
                    // Rows and columns only move towards the beginning.
                    self.entries[kept * self.stride + column] =
                        self.entries[slot * self.stride + other];
                    column += 1;
                }
            }
            self.slot_of[unknown as usize] = kept as u32;
            kept += 1;
        }
        let mut wanted = self.wanted.iter();
        self.unknowns
            .retain(|_| wanted.next().copied().unwrap_or(false));
    }

    fn grow(&mut self) {
        let needed = self.unknowns.len();
        if needed <= self.stride {
            return;
        }
        let stride = (needed + needed / 4).next_multiple_of(64);
        let mut entries = vec![0.0; stride * stride];
        if self.stride > 0 {
            for (new, old) in entries
                .chunks_mut(stride)
                .zip(self.entries.chunks(self.stride))
            {
                new[..self.stride].copy_from_slice(old);
            }
        }
        (self.entries, self.stride) = (entries, stride);
    }

    /// Columns from `first` on: unit forces, four at a time.
    fn fill(&mut self, first: usize, solver: &mut WindowSolver<'_>) {
        let count = self.unknowns.len();
        for block in (first..count).step_by(4) {
            let lanes = (count - block).min(4);
            self.values.clear();
            self.values.resize(count, [0.0; 4]);
            for lane in 0..lanes {
                self.values[block + lane][lane] = 1.0;
            }
            solver.solve_window(&mut self.values);
            for (row, value) in self.values.iter().enumerate() {
                for (lane, &entry) in value.iter().enumerate().take(lanes) {
                    self.entries[row * self.stride + block + lane] = entry;
                    self.entries[(block + lane) * self.stride + row] = entry;
                }
            }
        }
    }
}
