//! The neighbours of vertices, for the relaxation in the surface.

use crate::methods::smoothing::Surface;
use crate::numerics::lanes::Padded;

/// A move is at most this part of the shortest edge of its vertex.
const REACH: f32 = 0.5;

/// The edges of every vertex in the bind pose.
pub(super) struct Rings {
    starts: Vec<u32>,
    /// Neighbour, and its weight; those of a vertex sum to 1.
    entries: Vec<(u32, f32)>,
    /// The longest move of a vertex in one step.
    pub(super) reaches: Vec<f32>,
}

impl Rings {
    pub(super) fn of(surface: &Surface, rest: &[Padded]) -> Self {
        let count = surface.len();
        let mut starts = vec![0_u32; count + 1];
        for &vertex in surface.edges.iter().flat_map(|edge| &edge.ends) {
            starts[vertex as usize + 1] += 1;
        }
        for vertex in 0..count {
            starts[vertex + 1] += starts[vertex];
        }
        let mut next = starts.clone();
        let mut entries = vec![(0, 0.0); surface.edges.len() * 2];
        let mut reaches = vec![f32::INFINITY; count];
        for edge in &surface.edges {
            let [a, b] = edge.ends;
            let [p, q] = [a, b].map(|v| rest[v as usize]);
            let length = (0..3).map(|c| (p[c] - q[c]).powi(2)).sum::<f32>().sqrt();
            for (from, to) in [(a, b), (b, a)] {
                let place = &mut next[from as usize];
                entries[*place as usize] = (to, edge.conductance as f32);
                *place += 1;
                let reach = &mut reaches[from as usize];
                // Edges without length would hold their vertices.
                if length > 1e-6 * surface.size as f32 {
                    *reach = reach.min(REACH * length);
                }
            }
        }
        for vertex in 0..count {
            let own = &mut entries[starts[vertex] as usize..starts[vertex + 1] as usize];
            let sum: f32 = own.iter().map(|entry| entry.1).sum();
            for entry in own {
                entry.1 /= sum;
            }
        }
        for reach in reaches.iter_mut().filter(|reach| reach.is_infinite()) {
            *reach = 0.0;
        }
        Self {
            starts,
            entries,
            reaches,
        }
    }

    /// The neighbours of a vertex with their weights.
    pub(super) fn around(&self, vertex: usize) -> &[(u32, f32)] {
        &self.entries[self.starts[vertex] as usize..self.starts[vertex + 1] as usize]
    }
}
