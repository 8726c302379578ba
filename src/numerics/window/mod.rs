//! Entries of the inverse of a factored matrix between a few unknowns, without the others.
//!
//! A right-hand side that is zero outside of some unknowns only reaches the supernodes on their paths to the root, and the solution
//! at these unknowns needs only those. Low-rank changes of the matrix on few unknowns (Schur complements) need no more.

use super::lanes::{Padded, Slots, add, zeroed_slots};
use super::partition::{Partition, Subdomain, Triangle};
use super::substitution::{Scratch, backward, forward};
use super::tiles::{Tile, TiledFactor};

/// A set of unknowns, with everything that a solve between them needs.
pub(crate) struct Window {
    unknowns: Vec<u32>,
    /// Subdomain (their number: the top) and row of every unknown.
    places: Vec<[u32; 2]>,
    subdomains: Vec<Workspace>,
    top: Workspace,
}

/// Part of a window in a subdomain, or in the top.
struct Workspace {
    /// Supernodes on the paths to the root, ascending.
    supernodes: Vec<u32>,
    marked: Vec<bool>,
    b: Box<Slots>,
    scratch: Scratch,
}

impl Workspace {
    fn new(triangle: &Triangle) -> Self {
        Self {
            supernodes: Vec::with_capacity(triangle.supernodes.len()),
            marked: vec![false; triangle.supernodes.len()],
            b: zeroed_slots(),
            scratch: Scratch::for_triangle(triangle),
        }
    }

    /// Marks the path from a row to the root.
    fn mark(&mut self, triangle: &Triangle, row: usize) {
        let mut next = Some(triangle.supernode_of[row] as usize);
        while let Some(supernode) = next.filter(|&s| !self.marked[s]) {
            self.marked[supernode] = true;
            self.supernodes.push(supernode as u32);
            next = triangle.parent(supernode);
        }
    }

    /// All ranges of rows that are reached.
    fn rows(&self, triangle: &Triangle) -> impl Iterator<Item = std::ops::Range<usize>> {
        self.supernodes
            .iter()
            .map(|&s| triangle.supernodes[s as usize].range())
    }
}

impl Window {
    /// An empty window on a partition.
    pub(crate) fn new(partition: &Partition) -> Self {
        let mut top = Workspace::new(&partition.top_triangle);
        top.supernodes
            .extend(0..partition.top_triangle.supernodes.len() as u32);
        Self {
            unknowns: Vec::new(),
            places: Vec::new(),
            subdomains: partition
                .subdomains
                .iter()
                .map(|subdomain| Workspace::new(&subdomain.triangle))
                .collect(),
            top,
        }
    }

    /// Selects these unknowns from now on. Allocates nothing once there was room for as many.
    pub(crate) fn select(&mut self, partition: &Partition, unknowns: &[u32]) {
        for workspace in &mut self.subdomains {
            workspace.supernodes.clear();
            workspace.marked.fill(false);
        }
        self.places.clear();
        self.unknowns.clear();
        self.unknowns.extend_from_slice(unknowns);
        for &unknown in unknowns {
            let [part, row] = partition.place[unknown as usize];
            self.places.push([part, row]);
            if let Some(workspace) = self.subdomains.get_mut(part as usize) {
                workspace.mark(&partition.subdomains[part as usize].triangle, row as usize);
            }
        }
        for workspace in &mut self.subdomains {
            workspace.supernodes.sort_unstable();
        }
    }

    /// How many unknowns are selected.
    pub(crate) fn len(&self) -> usize {
        self.unknowns.len()
    }

    /// Replaces values at the selected unknowns, as a right-hand side that is zero elsewhere, by the solution at the selected unknowns.
    pub(crate) fn solve(
        &mut self,
        partition: &Partition,
        factor: &TiledFactor,
        values: &mut [Padded],
    ) {
        self.put(partition, values);
        self.descend(partition, factor);
        self.ascend(partition, factor);
        self.take(values);
    }

    /// The solution at the selected unknowns for a right-hand side that was substituted forward in all subdomains: their slots, and
    /// those of the top.
    pub(crate) fn peek<'a>(
        &mut self,
        partition: &Partition,
        factor: &TiledFactor,
        substituted: impl Iterator<Item = &'a Slots>,
        top: &[Padded],
        values: &mut [Padded],
    ) {
        for ((workspace, part), from) in self
            .subdomains
            .iter_mut()
            .zip(&partition.subdomains)
            .zip(substituted)
        {
            let Workspace { supernodes, b, .. } = workspace;
            for &s in &*supernodes {
                let range = part.triangle.supernodes[s as usize].range();
                b[range.clone()].copy_from_slice(&from[range]);
            }
        }
        self.top.b[..top.len()].copy_from_slice(top);
        forward(
            &partition.top_triangle,
            &factor.top,
            None,
            &mut self.top.b,
            &mut self.top.scratch,
        );
        self.ascend(partition, factor);
        self.take(values);
    }

    /// Adds values at the selected unknowns to a right-hand side that was substituted forward in all subdomains.
    pub(crate) fn push<'a>(
        &mut self,
        partition: &Partition,
        factor: &TiledFactor,
        values: &[Padded],
        substituted: impl Iterator<Item = &'a mut Slots>,
        top: &mut [Padded],
    ) {
        self.put(partition, values);
        self.descend_subdomains(partition, factor);
        for ((workspace, part), to) in self
            .subdomains
            .iter()
            .zip(&partition.subdomains)
            .zip(substituted)
        {
            for range in workspace.rows(&part.triangle) {
                add_to(&mut to[range.clone()], &workspace.b[range]);
            }
        }
        add_to(top, &self.top.b[..top.len()]);
    }

    /// The selected unknowns, each with its subdomain (their number: the top) and its row there.
    pub(crate) fn places(&self) -> impl Iterator<Item = (u32, [u32; 2])> {
        self.unknowns
            .iter()
            .copied()
            .zip(self.places.iter().copied())
    }

    fn put(&mut self, partition: &Partition, values: &[Padded]) {
        let top = partition.top.len();
        for (workspace, part) in self.subdomains.iter_mut().zip(&partition.subdomains) {
            let own = part.unknowns.len();
            let Workspace { supernodes, b, .. } = workspace;
            for &s in &*supernodes {
                b[part.triangle.supernodes[s as usize].range()].fill([0.0; 4]);
            }
            b[own..own + top].fill([0.0; 4]);
        }
        self.top.b[..top].fill([0.0; 4]);
        for (&[part, row], value) in self.places.iter().zip(values) {
            let b = self
                .subdomains
                .get_mut(part as usize)
                .map_or(&mut self.top.b, |workspace| &mut workspace.b);
            b[row as usize] = *value;
        }
    }

    /// Forward substitution up to the sums on the top.
    fn descend_subdomains(&mut self, partition: &Partition, factor: &TiledFactor) {
        let top = partition.top.len();
        for (workspace, part, tiles) in reached(&mut self.subdomains, partition, factor) {
            let Workspace {
                supernodes,
                b,
                scratch,
                ..
            } = workspace;
            forward(&part.triangle, tiles, Some(supernodes), b, scratch);
            let own = part.unknowns.len();
            for (sum, b) in self.top.b[..top].iter_mut().zip(&workspace.b[own..]) {
                *sum = add(*sum, *b);
            }
        }
    }

    fn descend(&mut self, partition: &Partition, factor: &TiledFactor) {
        self.descend_subdomains(partition, factor);
        forward(
            &partition.top_triangle,
            &factor.top,
            None,
            &mut self.top.b,
            &mut self.top.scratch,
        );
    }

    fn ascend(&mut self, partition: &Partition, factor: &TiledFactor) {
        let top = partition.top.len();
        let Workspace { b, scratch, .. } = &mut self.top;
        backward(&partition.top_triangle, &factor.top, None, b, scratch);
        for (workspace, part, tiles) in reached(&mut self.subdomains, partition, factor) {
            let own = part.unknowns.len();
            let Workspace {
                supernodes,
                b,
                scratch,
                ..
            } = workspace;
            b[own..own + top].copy_from_slice(&self.top.b[..top]);
            backward(&part.triangle, tiles, Some(supernodes), b, scratch);
        }
    }

    fn take(&self, values: &mut [Padded]) {
        for (&[part, row], value) in self.places.iter().zip(values) {
            let b = self
                .subdomains
                .get(part as usize)
                .map_or(&self.top.b, |workspace| &workspace.b);
            *value = b[row as usize];
        }
    }
}

/// The subdomains that the window reaches, with their part of the factor.
fn reached<'a>(
    subdomains: &'a mut [Workspace],
    partition: &'a Partition,
    factor: &'a TiledFactor,
) -> impl Iterator<Item = (&'a mut Workspace, &'a Subdomain, &'a [Tile])> {
    let parts = partition.subdomains.iter().zip(&factor.subdomains);
    subdomains
        .iter_mut()
        .zip(parts)
        .filter(|(workspace, _)| !workspace.supernodes.is_empty())
        .map(|(workspace, (part, tiles))| (workspace, part, &tiles[..]))
}

/// Solves between the unknowns of a window.
pub(crate) struct WindowSolver<'a> {
    pub(crate) partition: &'a Partition,
    pub(crate) factor: &'a TiledFactor,
    pub(crate) window: &'a mut Window,
}

impl WindowSolver<'_> {
    /// How many unknowns there are in all.
    pub(crate) fn unknowns(&self) -> usize {
        self.partition.unknowns()
    }

    /// Chooses the unknowns of the window.
    pub(crate) fn set_window(&mut self, unknowns: &[u32]) {
        self.window.select(self.partition, unknowns);
    }

    /// Replaces the values at the window's unknowns, as a right-hand side that is zero elsewhere, by the solution there; all four
    /// lanes.
    pub(crate) fn solve_window(&mut self, values: &mut [Padded]) {
        self.window.solve(self.partition, self.factor, values);
    }
}

fn add_to(to: &mut [Padded], what: &[Padded]) {
    for (a, b) in to.iter_mut().zip(what) {
        *a = add(*a, *b);
    }
}

#[cfg(test)]
pub(crate) mod tests;
