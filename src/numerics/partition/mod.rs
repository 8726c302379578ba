//! Distribution of a sparse factorisation over threads: the elimination tree, cut into subdomains and a top.
//!
//! The supernodes of a Cholesky factor form a tree in which a column only ever touches its ancestors. A few of the uppermost
//! supernodes, the *top*, are set aside; what remains falls into subtrees that have nothing to do with each other, and these are
//! assigned to *subdomains* of equal work. The unknowns of a clique lie on one path to the root, so that every clique belongs to one
//! subdomain as well. Subdomains exchange data only once per solve: for the sums on the top.
//!
//! The subdomains depend on the matrix alone, never on the number of threads, and sums over them are always taken in the same order.

mod layout;
mod tree;

use faer::sparse::linalg::cholesky::SymbolicCholesky;

use super::FactorError;
use super::pattern::{Cliques, Pattern};
use layout::PartitionLayout;
use tree::EliminationTree;

/// Unknowns of a subdomain at least, as long as there are fewer than [`MAX_SUBDOMAINS`].
const UNKNOWNS_PER_SUBDOMAIN: usize = 1200;
/// More subdomains than this are only made when one would not fit its slots.
const MAX_SUBDOMAINS: usize = 8;
/// Slots behind the last row that may be read, and a dummy.
pub(crate) const PADDING: usize = 4;

/// A supernode in the slots of a subdomain or of the top.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Supernode {
    /// Slot of its first column; the others follow.
    pub(crate) first: u32,
    pub(crate) columns: u32,
    /// Where its rows begin in [`Triangle::rows`]; they are padded to whole tiles with the dummy.
    pub(crate) rows: u32,
    pub(crate) row_count: u32,
    /// Where its values begin, in tiles.
    pub(crate) tiles: u32,
    /// Which supernode of the factorisation it is.
    pub(crate) source: u32,
}

impl Supernode {
    /// Slots of its columns.
    pub(crate) fn range(&self) -> std::ops::Range<usize> {
        self.first as usize..(self.first + self.columns) as usize
    }

    pub(crate) fn column_tiles(&self) -> usize {
        (self.columns as usize).div_ceil(4)
    }

    pub(crate) fn row_tiles(&self) -> usize {
        (self.row_count as usize).div_ceil(4)
    }
}

/// The supernodes of a subdomain or of the top, children before parents.
#[derive(Debug, Default)]
pub(crate) struct Triangle {
    pub(crate) supernodes: Vec<Supernode>,
    /// Slots of the rows of each supernode.
    pub(crate) rows: Vec<u16>,
    /// Tiles of all supernodes together.
    pub(crate) tiles: usize,
    /// Which supernode each column belongs to.
    pub(crate) supernode_of: Vec<u32>,
}

/// Data of one thread. Its slots: own unknowns, those of the top, padding, the dummy, and the caller's slots.
#[derive(Debug)]
pub(crate) struct Subdomain {
    /// Unknowns eliminated here; slot k is `unknowns[k]`.
    pub(crate) unknowns: Vec<u32>,
    /// The first slot reserved for the caller.
    pub(crate) free_start: usize,
    /// Cliques that belong here; neighbours in elimination follow each other.
    pub(crate) cliques: Vec<u32>,
    pub(crate) triangle: Triangle,
}

impl Subdomain {
    /// A slot that reads as zero and whose written values are ignored.
    pub(crate) fn dummy(&self) -> usize {
        self.free_start - 1
    }
}

/// Subdomains and top.
pub(crate) struct Partition {
    pub(crate) subdomains: Vec<Subdomain>,
    /// Unknowns of the top.
    pub(crate) top: Vec<u32>,
    pub(crate) top_triangle: Triangle,
    pub(crate) symbolic: SymbolicCholesky<u32>,
    pub(crate) pattern: Pattern,
    /// For every unknown its subdomain (the number of subdomains: the top) and its row there.
    pub(crate) place: Vec<[u32; 2]>,
}

impl Partition {
    /// Orders and analyses the matrix that couples the unknowns of every clique, and distributes it. The caller reserves
    /// `slots_behind(cliques)` slots of its own in a subdomain with these cliques.
    ///
    /// # Errors
    /// [`FactorError::Symbolic`] if the solver refuses the pattern, or if a subdomain does not fit [`super::lanes::SLOTS`] however small it is.
    pub(crate) fn analyse(
        cliques: &Cliques,
        unknowns: usize,
        slots_behind: &dyn Fn(&[u32]) -> usize,
    ) -> Result<Self, FactorError> {
        let refused = |reason: String| FactorError::Symbolic { unknowns, reason };
        let pattern = Pattern::of_cliques(cliques, unknowns);
        let symbolic = pattern.analyse().map_err(refused)?;
        let tree = EliminationTree::of(&symbolic, cliques, unknowns)
            .ok_or_else(|| refused("no supernodes".to_owned()))?;
        // A power of two is distributed evenly to two, four or eight threads.
        let mut wanted = 1
            << (unknowns / UNKNOWNS_PER_SUBDOMAIN)
                .clamp(1, MAX_SUBDOMAINS)
                .ilog2();
        loop {
            let (owners, top) = tree.assign_subdomains(wanted);
            let layout = PartitionLayout {
                tree: &tree,
                cliques,
                owners: &owners,
                slots_behind,
            };
            if let Some(built) = layout.build(&top, wanted) {
                return Ok(Self {
                    subdomains: built.subdomains,
                    top: built.top,
                    top_triangle: built.top_triangle,
                    symbolic,
                    pattern,
                    place: built.place,
                });
            }
            if wanted > unknowns {
                return Err(refused(
                    "the matrix couples too many unknowns with each other; use a coarser mesh"
                        .to_owned(),
                ));
            }
            wanted *= 2;
        }
    }

    /// Slot of an unknown in a subdomain that reads it: one of its own, or one of the top.
    pub(crate) fn slot(&self, subdomain: usize, unknown: u32) -> usize {
        let [owner, row] = self.place[unknown as usize];
        if owner as usize == subdomain {
            row as usize
        } else {
            self.subdomains[subdomain].unknowns.len() + row as usize
        }
    }

    /// How many unknowns there are.
    pub(crate) fn unknowns(&self) -> usize {
        self.place.len()
    }
}

impl Triangle {
    /// The supernode that the first row below a supernode belongs to; `None` if that is not one of this triangle's.
    pub(crate) fn parent(&self, supernode: usize) -> Option<usize> {
        let node = &self.supernodes[supernode];
        let first = *self
            .rows
            .get(node.rows as usize)
            .filter(|_| node.row_count > 0)?;
        self.supernode_of
            .get(first as usize)
            .map(|&parent| parent as usize)
    }

    fn of(
        tree: &EliminationTree,
        supernodes: &[usize],
        place: &[[u32; 2]],
        dummy: usize,
        slot: impl Fn(usize, u32) -> usize,
    ) -> Self {
        let slot_at = |position: usize| {
            let [owner, row] = place[tree.unknown[position] as usize];
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
            triangle
                .rows
                .extend(tree.rows[s].iter().map(|&r| slot_at(r as usize) as u16));
            triangle
                .rows
                .resize(triangle.rows.len().next_multiple_of(4), dummy as u16);
            triangle.supernode_of.resize(
                triangle.supernode_of.len() + node.columns as usize,
                triangle.supernodes.len() as u32,
            );
            triangle.tiles += node.column_tiles() * (node.column_tiles() + node.row_tiles());
            triangle.supernodes.push(node);
        }
        triangle
    }
}

/// Runs `work` for every subdomain, in parallel. `first` is the index of the first one.
pub(crate) fn for_each_subdomain<T: Send>(
    subdomains: &mut [T],
    first: usize,
    work: &(impl Fn(usize, &mut T) + Sync),
) {
    match subdomains {
        [] => {}
        [one] => work(first, one),
        _ => {
            let middle = subdomains.len() / 2;
            let (left, right) = subdomains.split_at_mut(middle);
            rayon::join(
                || for_each_subdomain(left, first, work),
                || for_each_subdomain(right, first + middle, work),
            );
        }
    }
}
