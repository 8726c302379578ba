//! How far vertices in contact give way: the entries of P⁻¹ between them, kept from step to step.
//!
//! P is constant, so an entry stays right as long as the factor does. Only vertices that come into contact anew cost solves, four
//! columns each.

use super::touch::WindowSolver;

/// Beyond so many vertices the matrix would take more memory than it saves time.
pub(super) const MOST: usize = 2048;
/// The window is cleaned when it holds this much more than is in contact.
const STALE: usize = 2;

const NONE: u32 = u32::MAX;

/// P⁻¹ between the vertices of a window.
#[derive(Debug, Clone, Default)]
pub(super) struct Compliance {
    /// The vertices, in the order of their slots.
    vertices: Vec<u32>,
    /// Per vertex of the skin its slot.
    slot_of: Vec<u32>,
    /// `stride` × `stride`, symmetric; the first `vertices.len()` rows and columns count.
    entries: Vec<f32>,
    stride: usize,
    wanted: Vec<bool>,
    values: Vec<[f32; 4]>,
}

impl Compliance {
    /// Forgets all entries: another factor.
    pub(super) fn clear(&mut self) {
        self.vertices.clear();
        self.slot_of.clear();
    }

    pub(super) fn slots(&self) -> usize {
        self.vertices.len()
    }

    /// The slot of a vertex that was covered.
    pub(super) fn slot(&self, vertex: u32) -> usize {
        self.slot_of[vertex as usize] as usize
    }

    /// Row of P⁻¹ for a slot.
    pub(super) fn row(&self, slot: usize) -> &[f32] {
        &self.entries[slot * self.stride..slot * self.stride + self.vertices.len()]
    }

    /// Makes sure that the entries between all of these vertices are there; no more than [`MOST`] distinct ones.
    pub(super) fn cover(&mut self, vertices: impl Iterator<Item = u32> + Clone, solver: &mut WindowSolver<'_>) {
        let n = solver.unknowns();
        if self.slot_of.len() != n {
            self.vertices.clear();
            self.slot_of.clear();
            self.slot_of.resize(n, NONE);
        }
        let present = self.vertices.len();
        self.wanted.clear();
        self.wanted.resize(present, false);
        let mut used = 0;
        let mut added = 0;
        for v in vertices.clone() {
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
        let crowded = present + added > MOST || present + added > STALE * (used + added) + 64;
        if added == 0 && !crowded {
            return;
        }
        if crowded && used < present {
            self.drop_unwanted();
        }
        let first = self.vertices.len();
        for v in vertices {
            if self.slot_of[v as usize] == NONE - 1 {
                self.slot_of[v as usize] = self.vertices.len() as u32;
                self.vertices.push(v);
            }
        }
        self.grow();
        solver.set_window(&self.vertices);
        self.fill(first, solver);
    }

    fn drop_unwanted(&mut self) {
        let mut kept = 0;
        for slot in 0..self.vertices.len() {
            let vertex = self.vertices[slot];
            if !self.wanted[slot] {
                self.slot_of[vertex as usize] = NONE;
                continue;
            }
            let mut column = 0;
            for other in 0..self.vertices.len() {
                if self.wanted[other] {
                    // Rows and columns only move towards the beginning.
                    self.entries[kept * self.stride + column] = self.entries[slot * self.stride + other];
                    column += 1;
                }
            }
            self.slot_of[vertex as usize] = kept as u32;
            kept += 1;
        }
        let mut wanted = self.wanted.iter();
        self.vertices.retain(|_| wanted.next().copied().unwrap_or(false));
    }

    fn grow(&mut self) {
        let needed = self.vertices.len();
        if needed <= self.stride {
            return;
        }
        let stride = (needed + needed / 4).next_multiple_of(64);
        let mut entries = vec![0.0; stride * stride];
        if self.stride > 0 {
            for (new, old) in entries.chunks_mut(stride).zip(self.entries.chunks(self.stride)) {
                new[..self.stride].copy_from_slice(old);
            }
        }
        (self.entries, self.stride) = (entries, stride);
    }

    /// Columns from `first` on: unit forces, four at a time.
    fn fill(&mut self, first: usize, solver: &mut WindowSolver<'_>) {
        let count = self.vertices.len();
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
