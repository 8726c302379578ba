//! Who owns what: the sparsity of the matrix, its elimination tree, and the parts that threads work on.
//!
//! The supernodes of a Cholesky factor form a tree in which a column only ever touches its ancestors. A few of the uppermost
//! supernodes, the *top*, are set aside; what remains falls into subtrees that have nothing to do with each other, and these are
//! shared out to *parts* of equal work. The three skin vertices of a prism lie on one path to the root, so that every prism belongs
//! to a part as well. Within an iteration a part needs the others only once: for the sums on the top.
//!
//! The parts depend on the mesh alone, never on the number of threads, and sums over parts are always taken in the same order.

use faer::sparse::linalg::cholesky::{SymbolicCholesky, SymbolicCholeskyRaw};

use super::factor::FactorError;
use super::lanes::{LANES, SLOTS};
use super::local::{Block, Element};
use super::pattern::Pattern;

/// Vertices that are worth a part.
const VERTICES_PER_PART: usize = 1200;
/// More parts than this are only made when a part would not fit its slots.
const MAX_PARTS: usize = 8;
/// Slots behind the last row that may be read, and a dummy.
pub(super) const PADDING: usize = 4;

/// Work of a supernode, in units that suit [`PRISM_WORK`]: measured on AVX-512.
fn supernode_work(columns: usize, rows: usize) -> f64 {
    let (c, r) = (columns.div_ceil(4) as f64, rows.div_ceil(4) as f64);
    30.0 + 10.0 * c * r + 20.0 * r + 5.0 * c * c
}
const PRISM_WORK: f64 = 50.0;

/// A supernode as a part or the top sees it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Supernode {
    /// Slot of its first column; the others follow.
    pub(super) first: u32,
    pub(super) columns: u32,
    /// Where its rows begin in [`Triangle::rows`]; they are padded to whole tiles with the dummy.
    pub(super) rows: u32,
    pub(super) row_count: u32,
    /// Where its values begin, in tiles.
    pub(super) tiles: u32,
    /// Which supernode of the factorisation it is.
    pub(super) source: u32,
}

impl Supernode {
    /// Slots of its columns.
    pub(super) fn range(&self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.columns) as usize
    }

    pub(super) fn column_tiles(&self) -> usize {
        (self.columns as usize).div_ceil(4)
    }

    pub(super) fn row_tiles(&self) -> usize {
        (self.row_count as usize).div_ceil(4)
    }
}

/// The supernodes of a part or of the top, children before parents.
#[derive(Debug, Default)]
pub(super) struct Triangle {
    pub(super) supernodes: Vec<Supernode>,
    /// Slots of the rows of each supernode.
    pub(super) rows: Vec<u16>,
    /// Tiles of all supernodes together.
    pub(super) tiles: usize,
    /// Which supernode each column belongs to.
    pub(super) supernode_of: Vec<u32>,
}

/// What one thread owns. Its slots: own rows, rows of the top, padding, dummy, base.
#[derive(Debug)]
pub(super) struct Part {
    /// Skin vertices eliminated here; slot k is `vertices[k]`.
    pub(super) vertices: Vec<u32>,
    /// Base vertices its prisms hang on; they lie in the slots from `base_start` on.
    pub(super) base: Vec<u32>,
    pub(super) base_start: usize,
    pub(super) blocks: Vec<Block>,
    /// Elements of the blocks, sixteen each but the last.
    pub(super) elements: Vec<u32>,
    pub(super) triangle: Triangle,
}

/// Parts and top.
pub(super) struct Structure {
    pub(super) parts: Vec<Part>,
    /// Skin vertices of the top.
    pub(super) top: Vec<u32>,
    pub(super) top_triangle: Triangle,
    pub(super) symbolic: SymbolicCholesky<u32>,
    pub(super) pattern: Pattern,
    /// For every skin vertex its part (the number of parts: the top) and its row there.
    pub(super) place: Vec<[u32; 2]>,
}

/// The tree of supernodes, in the order of elimination.
struct Tree {
    /// First column of each supernode, and the number of columns at the end.
    begin: Vec<usize>,
    rows: Vec<Vec<u32>>,
    parent: Vec<Option<usize>>,
    children: Vec<Vec<usize>>,
    /// Work for the supernode's own columns.
    solve_work: Vec<f64>,
    /// Work for the prisms whose first eliminated vertex is a column of the supernode.
    prism_work: Vec<f64>,
    /// Vertex → position in the order of elimination, and back.
    position: Vec<u32>,
    vertex: Vec<u32>,
}

impl Structure {
    /// Analyses the system of these elements.
    ///
    /// # Errors
    /// [`FactorError::Symbolic`] if the solver refuses it, or if it is too large.
    pub(super) fn analyse(elements: &[Element], vertices: usize) -> Result<Self, FactorError> {
        let refused = |reason: String| FactorError::Symbolic { unknowns: vertices, reason };
        let pattern = Pattern::of(elements, vertices);
        let symbolic = pattern.analyse().map_err(refused)?;
        let tree = Tree::of(&symbolic, elements, vertices).ok_or_else(|| refused("no supernodes".to_owned()))?;
        // A power of two is dealt out evenly to two, four or eight threads.
        let mut wanted = 1 << (vertices / VERTICES_PER_PART).clamp(1, MAX_PARTS).ilog2();
        loop {
            let (owners, top) = tree.share_out(wanted);
            if let Some((parts, top, top_triangle, place)) = build(&tree, &owners, &top, elements, wanted) {
                return Ok(Self { parts, top, top_triangle, symbolic, pattern, place });
            }
            if wanted > vertices {
                return Err(refused("the mesh is too entangled; simplify it".to_owned()));
            }
            wanted *= 2;
        }
    }
}

impl Tree {
    fn of(symbolic: &SymbolicCholesky<u32>, elements: &[Element], vertices: usize) -> Option<Self> {
        let SymbolicCholeskyRaw::Supernodal(nodes) = symbolic.raw() else { return None };
        let count = nodes.n_supernodes();
        let mut begin: Vec<usize> = nodes.supernode_begin().iter().map(|&b| b as usize).collect();
        begin.truncate(count);
        begin.push(vertices);
        let vertex: Vec<u32> = match symbolic.perm() {
            Some(perm) => perm.arrays().0.to_vec(),
            None => (0..vertices as u32).collect(),
        };
        let mut position = vec![0; vertices];
        for (k, &v) in vertex.iter().enumerate() {
            position[v as usize] = k as u32;
        }
        let mut supernode = vec![0; vertices];
        for s in 0..count {
            supernode[begin[s]..begin[s + 1]].fill(s as u32);
        }
        let rows: Vec<Vec<u32>> = (0..count).map(|s| nodes.supernode(s).pattern().to_vec()).collect();
        let parent: Vec<Option<usize>> = rows.iter().map(|rows| rows.iter().min().map(|&r| supernode[r as usize] as usize)).collect();
        let mut children = vec![Vec::new(); count];
        for (s, parent) in parent.iter().enumerate() {
            if let Some(parent) = parent {
                children[*parent].push(s);
            }
        }
        let solve_work = (0..count).map(|s| supernode_work(begin[s + 1] - begin[s], rows[s].len())).collect();
        let mut prism_work = vec![0.0; count];
        for element in elements {
            let first = element.corners.iter().map(|&v| position[v as usize]).min()?;
            prism_work[supernode[first as usize] as usize] += PRISM_WORK;
        }
        Some(Self { begin, rows, parent, children, solve_work, prism_work, position, vertex })
    }

    /// Shares the supernodes out to `wanted` parts of about equal work: the owner of each, and those of the top in order.
    fn share_out(&self, wanted: usize) -> (Vec<u32>, Vec<usize>) {
        let count = self.parent.len();
        let mut subtree: Vec<f64> = (0..count).map(|s| self.solve_work[s] + self.prism_work[s]).collect();
        for s in 0..count {
            if let Some(parent) = self.parent[s] {
                subtree[parent] += subtree[s];
            }
        }
        let mut roots: Vec<usize> = (0..count).filter(|&s| self.parent[s].is_none()).collect();
        let mut top = Vec::new();
        let mut top_work = 0.0;
        let mut best: Option<(f64, Vec<Vec<usize>>, Vec<usize>)> = None;
        for _ in 0..16 * wanted {
            let (bins, heaviest) = deal(&mut roots, &subtree, wanted);
            let time = heaviest + top_work;
            if best.as_ref().is_none_or(|(least, ..)| time < *least) {
                best = Some((time, bins, top.clone()));
            }
            // The heaviest is split next; only what it has itself can't be shared.
            let Some(&heaviest) = roots.first() else { break };
            if wanted == 1 || self.children[heaviest].is_empty() {
                break;
            }
            roots.swap_remove(0);
            roots.extend(&self.children[heaviest]);
            top.push(heaviest);
            top_work += self.solve_work[heaviest];
        }
        let (_, bins, mut top) = best.unwrap_or_default();
        top.sort_unstable();
        let mut owners = vec![u32::MAX; count];
        for (part, bin) in bins.iter().enumerate() {
            let mut stack = bin.clone();
            while let Some(s) = stack.pop() {
                owners[s] = part as u32;
                stack.extend(&self.children[s]);
            }
        }
        (owners, top)
    }
}

/// Deals subtrees, the heaviest first, to the least loaded of `wanted` bins; returns the load of the fullest.
fn deal(roots: &mut [usize], work: &[f64], wanted: usize) -> (Vec<Vec<usize>>, f64) {
    roots.sort_by(|&a, &b| work[b].total_cmp(&work[a]).then(a.cmp(&b)));
    let mut bins = vec![Vec::new(); wanted];
    let mut loads = vec![0.0; wanted];
    for &root in &*roots {
        let least = (0..wanted).min_by(|&a, &b| f64::total_cmp(&loads[a], &loads[b])).unwrap_or(0);
        bins[least].push(root);
        loads[least] += work[root];
    }
    (bins, loads.into_iter().fold(0.0, f64::max))
}

type Built = (Vec<Part>, Vec<u32>, Triangle, Vec<[u32; 2]>);

/// Lays out parts and top; `None` if something does not fit its slots.
fn build(tree: &Tree, owners: &[u32], top: &[usize], elements: &[Element], count: usize) -> Option<Built> {
    let vertices = tree.position.len();
    let mut place = vec![[0_u32; 2]; vertices];
    let mut part_vertices = vec![Vec::new(); count];
    let mut top_vertices = Vec::new();
    for (s, &owner) in owners.iter().enumerate() {
        let (owner, list) = match owner {
            u32::MAX => (count as u32, &mut top_vertices),
            part => (part, &mut part_vertices[part as usize]),
        };
        for k in tree.begin[s]..tree.begin[s + 1] {
            let vertex = tree.vertex[k];
            place[vertex as usize] = [owner, list.len() as u32];
            list.push(vertex);
        }
    }
    let top_len = top_vertices.len();
    if top_len + PADDING >= SLOTS {
        return None;
    }
    let mut part_elements = vec![Vec::new(); count];
    for (index, element) in elements.iter().enumerate() {
        let owner = element.corners.iter().map(|&v| place[v as usize][0]).min()? as usize;
        // Those that lie wholly in the top go to whoever has least.
        let owner = if owner < count { owner } else { (0..count).min_by_key(|&p| part_elements[p].len())? };
        part_elements[owner].push(index as u32);
    }
    let parts = part_vertices
        .into_iter()
        .zip(part_elements)
        .enumerate()
        .map(|(index, (vertices, own))| {
            let supernodes: Vec<usize> = (0..owners.len()).filter(|&s| owners[s] == index as u32).collect();
            build_part(tree, &supernodes, index as u32, vertices, own, elements, &place, top_len)
        })
        .collect::<Option<Vec<Part>>>()?;
    let top_triangle = Triangle::of(tree, top, &place, top_len + PADDING - 1, |row, _| row);
    Some((parts, top_vertices, top_triangle, place))
}

#[expect(clippy::too_many_arguments, reason = "one place, called once")]
fn build_part(
    tree: &Tree,
    supernodes: &[usize],
    index: u32,
    vertices: Vec<u32>,
    mut own: Vec<u32>,
    elements: &[Element],
    place: &[[u32; 2]],
    top_len: usize,
) -> Option<Part> {
    let rows = vertices.len();
    let slot_of = |place: [u32; 2]| if place[0] == index { place[1] as usize } else { rows + place[1] as usize };
    let dummy = rows + top_len + PADDING - 1;
    let base_start = dummy + 1;
    // Neighbours in elimination are neighbours in memory.
    let key = |&element: &u32| {
        let mut slots = elements[element as usize].corners.map(|v| slot_of(place[v as usize]));
        slots.sort_unstable();
        (slots, element)
    };
    own.sort_by_cached_key(key);
    let mut base = Vec::new();
    let mut base_slots = std::collections::HashMap::new();
    for &element in &own {
        for corner in elements[element as usize].corners {
            base_slots.entry(corner).or_insert_with(|| {
                base.push(corner);
                base_start + base.len() - 1
            });
        }
    }
    if base_start + base.len() > SLOTS {
        return None;
    }
    let slots = |element: &Element| {
        let [i, j, k] = element.corners;
        let (skin, base) = (|v: u32| slot_of(place[v as usize]) as u16, |v: u32| base_slots[&v] as u16);
        [skin(i), skin(j), skin(k), base(i), base(j), base(k)]
    };
    let blocks = own
        .chunks(LANES)
        .map(|chunk| {
            let chunk: Vec<&Element> = chunk.iter().map(|&e| &elements[e as usize]).collect();
            Block::pack(&chunk, slots, dummy as u16)
        })
        .collect();
    let triangle = Triangle::of(tree, supernodes, place, dummy, |row, owner| if owner == index { row } else { rows + row });
    Some(Part { vertices, base, base_start, blocks, elements: own, triangle })
}

impl Triangle {
    /// The supernode that the first row below a supernode belongs to; `None` if that is not one of this triangle's.
    pub(super) fn parent(&self, supernode: usize) -> Option<usize> {
        let node = &self.supernodes[supernode];
        let first = *self.rows.get(node.rows as usize).filter(|_| node.row_count > 0)?;
        self.supernode_of.get(first as usize).map(|&parent| parent as usize)
    }

    fn of(tree: &Tree, supernodes: &[usize], place: &[[u32; 2]], dummy: usize, slot: impl Fn(usize, u32) -> usize) -> Self {
        let slot_at = |position: usize| {
            let [owner, row] = place[tree.vertex[position] as usize];
            slot(row as usize, owner)
        };
        let mut triangle = Self::default();
        for &s in supernodes {
            let node = Supernode {
                first: slot_at(tree.begin[s]) as u32,
                columns: (tree.begin[s + 1] - tree.begin[s]) as u32,
                rows: triangle.rows.len() as u32,
                row_count: tree.rows[s].len() as u32,
                tiles: triangle.tiles as u32,
                source: s as u32,
            };
            triangle.rows.extend(tree.rows[s].iter().map(|&r| slot_at(r as usize) as u16));
            triangle.rows.resize(triangle.rows.len().next_multiple_of(4), dummy as u16);
            triangle.supernode_of.resize(triangle.supernode_of.len() + node.columns as usize, triangle.supernodes.len() as u32);
            triangle.tiles += node.column_tiles() * (node.column_tiles() + node.row_tiles());
            triangle.supernodes.push(node);
        }
        triangle
    }
}
