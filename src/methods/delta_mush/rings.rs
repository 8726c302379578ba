//! The neighbours of vertices.

use crate::methods::smoothing::{Padded, Surface};

/// The neighbours of every vertex, with a weight of the edge to each.
pub(super) struct Rings {
    starts: Vec<u32>,
    /// Neighbour, conductance.
    entries: Vec<(u32, f32)>,
}

impl Rings {
    /// `weight` is that of an edge, by its index.
    pub(super) fn of(surface: &Surface, weight: impl Fn(usize) -> f64) -> Self {
        let mut starts = vec![0_u32; surface.len() + 1];
        for &vertex in surface.edges.iter().flat_map(|edge| &edge.ends) {
            starts[vertex as usize + 1] += 1;
        }
        for vertex in 0..surface.len() {
            starts[vertex + 1] += starts[vertex];
        }
        let mut next = starts.clone();
        let mut entries = vec![(0, 0.0); surface.edges.len() * 2];
        for (index, edge) in surface.edges.iter().enumerate() {
            let [a, b] = edge.ends;
            for (from, to) in [(a, b), (b, a)] {
                let place = &mut next[from as usize];
                entries[*place as usize] = (to, weight(index) as f32);
                *place += 1;
            }
        }
        Self { starts, entries }
    }

    /// The neighbours of a vertex and the weights of the edges to them.
    pub(super) fn around(&self, vertex: usize) -> &[(u32, f32)] {
        &self.entries[self.starts[vertex] as usize..self.starts[vertex + 1] as usize]
    }

    /// Σ weight (`x_j` − `x_i`) over the neighbours j of vertex i.
    pub(super) fn flow(&self, vertex: usize, x: &[Padded]) -> Padded {
        let (mut sum, own) = ([0.0; 4], x[vertex]);
        for &(next, weight) in self.around(vertex) {
            let next = x[next as usize];
            for c in 0..4 {
                sum[c] += weight * (next[c] - own[c]);
            }
        }
        sum
    }
}

/// The neighbours of every vertex with the conductances of the edges between them.
pub(super) fn rings(surface: &Surface) -> Rings {
    Rings::of(surface, |edge| surface.edges[edge].conductance)
}
