//! Smallest vertex separators: sets of vertices that divide a graph into two parts of about equal size.

use super::ordering::Graph;

/// Where a vertex lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Region {
    Near,
    Cut,
    Far,
}

/// Bands of vertex numbers, as parts of all, between which the separator is searched. A wider band gives a shorter but less balanced one.
const BANDS: [[f64; 2]; 3] = [[0.46, 0.54], [0.38, 0.62], [0.25, 0.75]];
/// Separators of more than this part of the vertices are rejected.
const MOST: f64 = 0.2;
/// So are those that leave less than this part of the vertices on a side.
const LEAST: f64 = 0.1;
/// Connected components are distributed without a separator if neither side gets more than this part of the vertices.
const EVEN: f64 = 0.7;
/// Penalty of an unbalanced separator: this times its length if all vertices lie on one side.
const UNEVENNESS: f64 = 2.0;

const NONE: u32 = u32::MAX;
/// Before the first and behind the last vertex of a path.
const OUTSIDE: u32 = u32::MAX - 1;

/// The region of every vertex; no near and far vertex are neighbours. `None` if every separator is too long.
pub(crate) fn separate(graph: &Graph) -> Option<Vec<Region>> {
    let components = components(graph);
    let (mut sides, mut counts) = (vec![Region::Far; graph.len()], [0, 0]);
    let (first, rest) = components.split_first()?;
    if first.len() as f64 > EVEN * graph.len() as f64 {
        let part = graph.part(first);
        let part_sides = cut_connected(&part)?;
        for (&v, side) in first.iter().zip(part_sides) {
            sides[v as usize] = side;
            match side {
                Region::Near => counts[0] += 1,
                Region::Far => counts[1] += 1,
                Region::Cut => {}
            }
        }
    } else {
        counts[1] = first.len();
    }
    for component in rest {
        let side = usize::from(counts[1] < counts[0]);
        counts[side] += component.len();
        for &v in component {
            sides[v as usize] = [Region::Near, Region::Far][side];
        }
    }
    Some(sides)
}

/// Connected components, the largest first, each in the order of a breadth-first search from one of its ends.
fn components(graph: &Graph) -> Vec<Vec<u32>> {
    let mut seen = vec![NONE; graph.len()];
    let mut components = Vec::new();
    for vertex in 0..graph.len() as u32 {
        if seen[vertex as usize] != NONE {
            continue;
        }
        let mut component = breadth_first(graph, vertex, &mut seen, 0);
        // What is found last lies at an end; from there it is found once more.
        for mark in [1, 2] {
            let end = *component.last().unwrap_or(&vertex);
            component = breadth_first(graph, end, &mut seen, mark);
        }
        components.push(component);
    }
    components.sort_by_key(|component| std::cmp::Reverse(component.len()));
    components
}

fn breadth_first(graph: &Graph, start: u32, seen: &mut [u32], mark: u32) -> Vec<u32> {
    let mut found = vec![start];
    seen[start as usize] = mark;
    let mut next = 0;
    while let Some(&vertex) = found.get(next) {
        next += 1;
        for &w in graph.neighbours(vertex) {
            if seen[w as usize] != mark {
                seen[w as usize] = mark;
                found.push(w);
            }
        }
    }
    found
}

/// Cuts a connected graph whose vertices are numbered from one end to the other.
fn cut_connected(graph: &Graph) -> Option<Vec<Region>> {
    let count = graph.len() as f64;
    let mut best: Option<(f64, Vec<Region>)> = None;
    for [near, far] in BANDS {
        let mut paths =
            DisjointPaths::new(graph, (near * count) as u32, (far * count).ceil() as u32);
        while paths.find_another() {}
        for sides in paths.cuts() {
            let number = |side: Region| sides.iter().filter(|&&s| s == side).count() as f64;
            let (near, cut, far) = (
                number(Region::Near),
                number(Region::Cut),
                number(Region::Far),
            );
            let cost = cut * (1.0 + UNEVENNESS * (near - far).abs() / count);
            if near.min(far) >= LEAST * count
                && cut <= MOST * count
                && best.as_ref().is_none_or(|(least, _)| cost < *least)
            {
                best = Some((cost, sides));
            }
        }
    }
    best.map(|(_, sides)| sides)
}

/// Whether a state is that of entering its vertex, not of leaving it.
fn is_entered(state: u32) -> bool {
    state.is_multiple_of(2)
}

/// Vertex-disjoint paths from the near end to the far one: a maximum flow by augmenting paths (Ford and Fulkerson).
///
/// A vertex is split into two states, entered (2 v) and left (2 v + 1), joined by an edge of capacity 1.
struct DisjointPaths<'a> {
    graph: &'a Graph,
    /// Vertices below are the near end, those from `far` on the far end.
    near: u32,
    far: u32,
    /// The vertex before and behind on the path through a vertex.
    before: Vec<u32>,
    behind: Vec<u32>,
    /// From which state a state was reached, in which search.
    from: Vec<u32>,
    search: Vec<u32>,
    searches: u32,
    stack: Vec<u32>,
    /// Vertices next to the near end.
    starts: Vec<u32>,
}

impl<'a> DisjointPaths<'a> {
    fn new(graph: &'a Graph, near: u32, far: u32) -> Self {
        let count = graph.len();
        let starts = (near..count as u32)
            .filter(|&v| graph.neighbours(v).iter().any(|&w| w < near))
            .collect();
        let nothing = || vec![NONE; count];
        Self {
            graph,
            near,
            far,
            before: nothing(),
            behind: nothing(),
            from: vec![NONE; 2 * count],
            search: vec![0; 2 * count],
            searches: 0,
            stack: Vec::new(),
            starts,
        }
    }

    /// Looks for an augmenting path.
    fn find_another(&mut self) -> bool {
        self.searches += 1;
        self.stack.clear();
        for k in 0..self.starts.len() {
            self.reach(2 * self.starts[k], NONE);
        }
        while let Some(state) = self.stack.pop() {
            let vertex = state / 2;
            let used = self.before[vertex as usize] != NONE;
            if is_entered(state) {
                if !used && vertex >= self.far {
                    self.augment(state);
                    return true;
                }
                let before = self.before[vertex as usize];
                if !used {
                    self.reach(state + 1, state);
                } else if before != OUTSIDE {
                    self.reach(2 * before + 1, state);
                }
            } else {
                if used {
                    self.reach(state - 1, state);
                }
                let graph = self.graph;
                for &w in graph.neighbours(vertex) {
                    if w >= self.near {
                        self.reach(2 * w, state);
                    }
                }
            }
        }
        false
    }

    fn reach(&mut self, state: u32, from: u32) {
        if self.search[state as usize] != self.searches {
            self.search[state as usize] = self.searches;
            self.from[state as usize] = from;
            self.stack.push(state);
        }
    }

    /// Applies the augmenting path that ends where a vertex is entered.
    fn augment(&mut self, end: u32) {
        self.behind[end as usize / 2] = OUTSIDE;
        let mut state = end;
        loop {
            let from = self.from[state as usize];
            let vertex = state / 2;
            if from == NONE {
                self.before[vertex as usize] = OUTSIDE;
                return;
            }
            // Only steps into a vertex change the flow.
            if is_entered(state) && from == state + 1 {
                self.before[vertex as usize] = NONE;
                self.behind[vertex as usize] = NONE;
            } else if is_entered(state) {
                self.before[vertex as usize] = from / 2;
                self.behind[from as usize / 2] = vertex;
            }
            state = from;
        }
    }

    /// After the last path: the smallest separators nearest to the near end and to the far end.
    fn cuts(&mut self) -> [Vec<Region>; 2] {
        let count = self.graph.len() as u32;
        let reached =
            |search: &[u32], searches: u32, state: u32| search[state as usize] == searches;
        let at_near = (0..count)
            .map(|v| {
                match (
                    v < self.near || reached(&self.search, self.searches, 2 * v + 1),
                    reached(&self.search, self.searches, 2 * v),
                ) {
                    (true, _) => Region::Near,
                    (false, true) => Region::Cut,
                    (false, false) => Region::Far,
                }
            })
            .collect();
        self.search_back();
        let at_far = (0..count)
            .map(|v| {
                match (
                    reached(&self.search, self.searches, 2 * v),
                    reached(&self.search, self.searches, 2 * v + 1),
                ) {
                    (true, _) => Region::Far,
                    (false, true) => Region::Cut,
                    (false, false) => Region::Near,
                }
            })
            .collect();
        [at_near, at_far]
    }

    /// Marks all states from which an augmenting path would lead to the far end.
    fn search_back(&mut self) {
        self.searches += 1;
        self.stack.clear();
        for v in self.far..self.graph.len() as u32 {
            self.reach(2 * v + 1, NONE);
        }
        while let Some(state) = self.stack.pop() {
            let vertex = state / 2;
            let used = self.before[vertex as usize] != NONE;
            if is_entered(state) {
                if used {
                    self.reach(state + 1, state);
                }
                let graph = self.graph;
                for &w in graph.neighbours(vertex) {
                    if w >= self.near {
                        self.reach(2 * w + 1, state);
                    }
                }
            } else {
                let behind = self.behind[vertex as usize];
                if !used {
                    self.reach(state - 1, state);
                } else if behind != OUTSIDE {
                    self.reach(2 * behind, state);
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A grid of squares with one diagonal each.
    fn grid(columns: u32, rows: u32) -> Graph {
        Graph::of_pairs((columns * rows) as usize, |pair| {
            for row in 0..rows {
                for column in 0..columns {
                    let v = row * columns + column;
                    for [right, down] in [[1, 0], [0, 1], [1, 1]] {
                        if column + right < columns && row + down < rows {
                            pair(v, v + right + down * columns);
                        }
                    }
                }
            }
        })
    }

    fn counts(graph: &Graph) -> [usize; 3] {
        let sides = separate(graph).expect("a cut");
        for v in 0..graph.len() as u32 {
            for &w in graph.neighbours(v) {
                assert!(
                    ![sides[v as usize], sides[w as usize]].contains(&Region::Near)
                        || sides[v as usize] != Region::Far,
                    "{v} {w}"
                );
            }
        }
        [Region::Near, Region::Cut, Region::Far]
            .map(|side| sides.iter().filter(|&&s| s == side).count())
    }

    #[test]
    fn strips_are_cut_crosswise() {
        let [near, cut, far] = counts(&grid(90, 7));
        assert_eq!(cut, 7);
        assert!(near.abs_diff(far) < 100, "{near} {far}");
    }

    /// Two squares that hang together by a narrow strip.
    #[test]
    fn a_waist_is_found() {
        let graph = Graph::of_pairs(2 * 400 + 3, |pair| {
            for square in 0..2 {
                for v in 0..400 {
                    for (step, inside) in [(1, v % 20 < 19), (20, v < 380)] {
                        if inside {
                            pair(square * 400 + v, square * 400 + v + step);
                        }
                    }
                }
            }
            for (a, b) in [(399, 800), (800, 801), (801, 802), (802, 400)] {
                pair(a, b);
            }
        });
        let [_, cut, _] = counts(&graph);
        assert_eq!(cut, 1);
    }

    #[test]
    fn components_are_distributed() {
        let graph = Graph::of_pairs(1000, |pair| {
            for v in (0..1000).filter(|v| v % 10 != 9) {
                pair(v, v + 1);
            }
        });
        assert_eq!(counts(&graph), [500, 0, 500]);
    }

    #[test]
    fn dense_graphs_are_not_cut() {
        let clique = Graph::of_pairs(60, |pair| {
            for v in 0..60 {
                for w in 0..v {
                    pair(v, w);
                }
            }
        });
        assert!(separate(&clique).is_none());
        let star = Graph::of_pairs(500, |pair| (1..500).for_each(|v| pair(0, v)));
        if let Some(sides) = separate(&star) {
            assert!(sides.iter().filter(|&&side| side == Region::Cut).count() <= 100);
        }
    }
}
