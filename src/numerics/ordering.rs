//! Elimination orders: nested dissection, and minimum degree on the pieces.
//!
//! George, "Nested Dissection of a Regular Finite Element Mesh", SIAM J. Numer. Anal. 10(2), 1973; Amestoy, Davis, Duff, "An
//! Approximate Minimum Degree Ordering Algorithm", SIAM J. Matrix Anal. 17(4), 1996 (as faer has it).
//!
//! A surface mesh is separated by few vertices, at narrow places by fewer still. The smallest separator is found exactly:
//! vertices are numbered by breadth-first search from one end, the first and the last of them are kept separate, and the largest number of
//! vertex-disjoint paths between them equals the size of the smallest separator (Menger). The two sides are then dissected in turn, down
//! to pieces of [`LEAF`] vertices.
//!
//! # Departures
//! - No multilevel scheme: breadth-first search and one maximum flow find short separators of surfaces.

use faer::dyn_stack::{MemBuffer, MemStack};
use faer::sparse::SymbolicSparseColMatRef;
use faer::sparse::linalg::amd;

use super::separator::{Region, separate};

/// Pieces of at most so many vertices are left to minimum degree.
const LEAF: usize = 400;

/// Adjacency, symmetric and without the diagonal: neighbours of v are `neighbours[starts[v]..starts[v + 1]]`.
#[derive(Debug, Clone)]
pub(crate) struct Graph {
    starts: Vec<u32>,
    neighbours: Vec<u32>,
}

impl Graph {
    /// From the lower triangle, column by column.
    pub(crate) fn of_triangle(column_starts: &[u32], rows: &[u32]) -> Self {
        let count = column_starts.len() - 1;
        Self::of_pairs(count, |pair| {
            for column in 0..count {
                let range = column_starts[column] as usize..column_starts[column + 1] as usize;
                for &row in rows[range].iter().filter(|&&row| row as usize != column) {
                    pair(column as u32, row);
                }
            }
        })
    }

    /// From pairs of neighbours. `report` is called twice and must report each pair once per call.
    pub(crate) fn of_pairs(count: usize, report: impl Fn(&mut dyn FnMut(u32, u32))) -> Self {
        let mut starts = vec![0; count + 1];
        report(&mut |a, b| {
            starts[a as usize + 1] += 1;
            starts[b as usize + 1] += 1;
        });
        for v in 0..count {
            starts[v + 1] += starts[v];
        }
        let mut next = starts.clone();
        let mut neighbours = vec![0; starts[count] as usize];
        report(&mut |a, b| {
            for [from, to] in [[a, b], [b, a]] {
                neighbours[next[from as usize] as usize] = to;
                next[from as usize] += 1;
            }
        });
        let mut graph = Self { starts, neighbours };
        for v in 0..count {
            graph.neighbours[graph.starts[v] as usize..graph.starts[v + 1] as usize]
                .sort_unstable();
        }
        graph
    }

    pub(crate) fn len(&self) -> usize {
        self.starts.len() - 1
    }

    pub(crate) fn neighbours(&self, vertex: u32) -> &[u32] {
        &self.neighbours
            [self.starts[vertex as usize] as usize..self.starts[vertex as usize + 1] as usize]
    }

    /// The part of the graph on these vertices; vertex k of it is `vertices[k]`.
    pub(crate) fn part(&self, vertices: &[u32]) -> Self {
        let mut new = vec![u32::MAX; self.len()];
        for (k, &v) in vertices.iter().enumerate() {
            new[v as usize] = k as u32;
        }
        let mut starts = Vec::with_capacity(vertices.len() + 1);
        let mut neighbours = Vec::new();
        starts.push(0);
        for &v in vertices {
            let first = neighbours.len();
            neighbours.extend(
                self.neighbours(v)
                    .iter()
                    .map(|&w| new[w as usize])
                    .filter(|&w| w != u32::MAX),
            );
            neighbours[first..].sort_unstable();
            starts.push(neighbours.len() as u32);
        }
        Self { starts, neighbours }
    }
}

/// Vertices in the order of their elimination, children before parents in its tree; `None` if the solver refuses the graph.
pub(crate) fn elimination_order(graph: &Graph) -> Option<Vec<u32>> {
    let vertices: Vec<u32> = (0..graph.len() as u32).collect();
    let mut order = vec![0; graph.len()];
    dissect(graph, &vertices, &mut order)?;
    Some(postordered(graph, &order))
}

/// Approximate minimum degree alone.
pub(crate) fn minimum_degree(graph: &Graph) -> Option<Vec<u32>> {
    let vertices: Vec<u32> = (0..graph.len() as u32).collect();
    let mut order = vec![0; graph.len()];
    by_degree(graph, &vertices, &mut order)?;
    Some(postordered(graph, &order))
}

/// The place of each vertex in an order.
pub(crate) fn inverse_of(order: &[u32]) -> Vec<u32> {
    let mut places = vec![0; order.len()];
    for (k, &v) in order.iter().enumerate() {
        places[v as usize] = k as u32;
    }
    places
}

/// Orders a graph whose vertices are known outside by the names `vertices`.
fn dissect(graph: &Graph, vertices: &[u32], order: &mut [u32]) -> Option<()> {
    let sides = if graph.len() > LEAF {
        separate(graph)
    } else {
        None
    };
    let Some(sides) = sides else {
        return by_degree(graph, vertices, order);
    };
    let members = |side: Region| -> Vec<u32> {
        (0..graph.len() as u32)
            .filter(|&v| sides[v as usize] == side)
            .collect()
    };
    let (near, far, between) = (
        members(Region::Near),
        members(Region::Far),
        members(Region::Cut),
    );
    let (near_order, rest) = order.split_at_mut(near.len());
    let (far_order, cut_order) = rest.split_at_mut(far.len());
    for (slot, &v) in cut_order.iter_mut().zip(&between) {
        *slot = vertices[v as usize];
    }
    let piece = |members: &[u32], order: &mut [u32]| {
        let names: Vec<u32> = members.iter().map(|&v| vertices[v as usize]).collect();
        dissect(&graph.part(members), &names, order)
    };
    let (a, b) = rayon::join(|| piece(&near, near_order), || piece(&far, far_order));
    a.and(b)
}

/// Approximate minimum degree.
fn by_degree(graph: &Graph, vertices: &[u32], order: &mut [u32]) -> Option<()> {
    let count = graph.len();
    let matrix =
        SymbolicSparseColMatRef::new_checked(count, count, &graph.starts, None, &graph.neighbours);
    let (mut forward, mut inverse) = (vec![0_u32; count], vec![0_u32; count]);
    let mut memory = MemBuffer::new(amd::order_scratch::<u32>(count, graph.neighbours.len()));
    amd::order(
        &mut forward,
        &mut inverse,
        matrix,
        amd::Control::default(),
        MemStack::new(&mut memory),
    )
    .ok()?;
    for (slot, v) in order.iter_mut().zip(forward) {
        *slot = vertices[v as usize];
    }
    Some(())
}

/// Postorder of the elimination tree, the largest subtree of a vertex last: columns with equal rows become neighbours.
fn postordered(graph: &Graph, order: &[u32]) -> Vec<u32> {
    let parents = elimination_tree(graph, order);
    let count = order.len();
    let mut sizes = vec![1_u32; count];
    let mut children = vec![Vec::new(); count + 1];
    for k in 0..count {
        let parent = parents[k] as usize;
        if parent < count {
            sizes[parent] += sizes[k];
        }
        children[parent.min(count)].push(k as u32);
    }
    for list in &mut children {
        list.sort_by_key(|&k| (sizes[k as usize], k));
    }
    // Backwards: a vertex, then its subtrees, the largest first.
    let mut stack = std::mem::take(&mut children[count]);
    let mut result = Vec::with_capacity(count);
    while let Some(k) = stack.pop() {
        result.push(order[k as usize]);
        stack.append(&mut children[k as usize]);
    }
    result.reverse();
    result
}

/// Parent of each place in the order; at a root `u32::MAX`. Liu's algorithm.
fn elimination_tree(graph: &Graph, order: &[u32]) -> Vec<u32> {
    let count = order.len();
    let place = inverse_of(order);
    let mut parents = vec![u32::MAX; count];
    let mut ancestors = vec![u32::MAX; count];
    for k in 0..count as u32 {
        for &neighbour in graph.neighbours(order[k as usize]) {
            let mut below = place[neighbour as usize];
            while below < k {
                let next = std::mem::replace(&mut ancestors[below as usize], k);
                if next == u32::MAX {
                    parents[below as usize] = k;
                    break;
                }
                below = next;
            }
        }
    }
    parents
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries of the factor below the diagonal.
    fn fill(graph: &Graph, order: &[u32]) -> usize {
        let parents = elimination_tree(graph, order);
        let places = inverse_of(order);
        let mut columns: Vec<std::collections::BTreeSet<u32>> =
            vec![std::collections::BTreeSet::new(); order.len()];
        let mut fill = 0;
        for k in 0..order.len() {
            let mut column = std::mem::take(&mut columns[k]);
            column.extend(
                graph
                    .neighbours(order[k])
                    .iter()
                    .map(|&w| places[w as usize])
                    .filter(|&row| row > k as u32),
            );
            assert_eq!(column.first().copied().unwrap_or(u32::MAX), parents[k]);
            fill += column.len();
            if let Some(&parent) = column.first() {
                columns[parent as usize].extend(column.iter().copied().filter(|&row| row > parent));
            }
        }
        fill
    }

    fn grid(side: u32) -> Graph {
        Graph::of_pairs((side * side) as usize, |pair| {
            for v in 0..side * side {
                for (step, inside) in [
                    (1, v % side < side - 1),
                    (side, v < side * (side - 1)),
                    (side + 1, v % side < side - 1 && v < side * (side - 1)),
                ] {
                    if inside {
                        pair(v, v + step);
                    }
                }
            }
        })
    }

    #[test]
    fn every_vertex_comes_once_and_children_right_before_parents() {
        for graph in [
            grid(1),
            grid(2),
            grid(50),
            Graph::of_pairs(0, |_| {}),
            Graph::of_pairs(1000, |_| {}),
        ] {
            let order = elimination_order(&graph).expect("an order");
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert!(sorted.into_iter().eq(0..graph.len() as u32));
            // In postorder the vertex before is a child, or the vertex is a leaf.
            let parents = elimination_tree(&graph, &order);
            for (k, &parent) in parents.iter().enumerate().skip(1) {
                let leaf = !parents.contains(&(k as u32));
                assert!(leaf || parents[k - 1] == k as u32, "{k} {parent}");
            }
        }
    }

    /// n log n, where minimum degree alone grows faster.
    #[test]
    fn the_fill_of_a_surface_grows_slowly() {
        let per_vertex = |side: u32| {
            let graph = grid(side);
            fill(&graph, &elimination_order(&graph).expect("an order")) as f64
                / f64::from(side * side)
        };
        let (small, large) = (per_vertex(40), per_vertex(160));
        assert!(large < 2.0 * small && large < 60.0, "{small} {large}");
    }

    #[test]
    fn the_order_does_not_depend_on_the_threads() {
        let orders = [1, 2, 4].map(|threads| {
            let pool = rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .expect("a pool");
            pool.install(|| elimination_order(&grid(90)).expect("an order"))
        });
        assert!(orders[0] == orders[1] && orders[1] == orders[2]);
    }
}
