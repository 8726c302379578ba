//! Greedy colouring: constraints of a colour move no vertex in common.

use std::ops::Range;

/// Constraints by colour.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Coloring {
    /// Indices of the constraints, colour by colour, ascending within one.
    pub(super) order: Vec<u32>,
    /// Start of every colour in `order`, then the end.
    starts: Vec<usize>,
}

impl Coloring {
    /// Gives every constraint, in the order given, the first colour that no constraint with one of its vertices has yet. `vertices`
    /// are those that a constraint moves, all less than `count`.
    pub(super) fn of<V: Iterator<Item = u32>>(
        constraints: impl Iterator<Item = V>,
        count: usize,
    ) -> Self {
        // Bit c of a vertex: it has a constraint of colour c.
        let mut taken: Vec<Vec<u64>> = vec![Vec::new(); count];
        let mut members: Vec<Vec<u32>> = Vec::new();
        for (constraint, vertices) in (0..).zip(constraints) {
            let vertices: Vec<u32> = vertices.collect();
            let word = |vertex: u32, word: usize| taken[vertex as usize].get(word).copied();
            let all = |w: usize| {
                let words = vertices.iter().filter_map(|&vertex| word(vertex, w));
                words.fold(0, |all, one| all | one)
            };
            let color = (0..)
                .find_map(|w| {
                    let free = (!all(w)).trailing_zeros() as usize;
                    (free < 64).then_some(64 * w + free)
                })
                .unwrap_or_default();
            for vertex in vertices {
                let words = &mut taken[vertex as usize];
                words.resize(words.len().max(color / 64 + 1), 0);
                words[color / 64] |= 1 << (color % 64);
            }
            if color == members.len() {
                members.push(Vec::new());
            }
            members[color].push(constraint);
        }
        let mut starts = vec![0];
        for color in &members {
            starts.push(starts[starts.len() - 1] + color.len());
        }
        Self {
            order: members.concat(),
            starts,
        }
    }

    /// The range of every colour in [`Coloring::order`].
    pub(super) fn colors(&self) -> impl ExactSizeIterator<Item = Range<usize>> + '_ {
        self.starts.windows(2).map(|pair| pair[0]..pair[1])
    }
}
