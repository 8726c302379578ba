//! Slots of subdomains and of the top.

use super::tree::EliminationTree;
use super::{PADDING, Subdomain, Triangle};
use crate::numerics::lanes::SLOTS;
use crate::numerics::pattern::Cliques;

/// What [`PartitionLayout::build`] makes.
pub(super) struct Built {
    pub(super) subdomains: Vec<Subdomain>,
    pub(super) top: Vec<u32>,
    pub(super) top_triangle: Triangle,
    pub(super) place: Vec<[u32; 2]>,
}

/// Input of the layout: the subdomain of every supernode, and so of every unknown.
pub(super) struct PartitionLayout<'a> {
    pub(super) tree: &'a EliminationTree,
    pub(super) cliques: &'a Cliques,
    /// Subdomain of every supernode; `u32::MAX` for the top.
    pub(super) owners: &'a [u32],
    pub(super) slots_behind: &'a dyn Fn(&[u32]) -> usize,
}

impl PartitionLayout<'_> {
    /// Lays out `count` subdomains and the top; `None` if something does not fit its slots.
    pub(super) fn build(&self, top: &[usize], count: usize) -> Option<Built> {
        let tree = self.tree;
        let mut place = vec![[0_u32; 2]; tree.position.len()];
        let mut own_unknowns = vec![Vec::new(); count];
        let mut top_unknowns = Vec::new();
        for (s, &owner) in self.owners.iter().enumerate() {
            let (owner, list) = match owner {
                u32::MAX => (count as u32, &mut top_unknowns),
                subdomain => (subdomain, &mut own_unknowns[subdomain as usize]),
            };
            for k in tree.begin[s]..tree.begin[s + 1] {
                let unknown = tree.unknown[k];
                place[unknown as usize] = [owner, list.len() as u32];
                list.push(unknown);
            }
        }
        let top_len = top_unknowns.len();
        if top_len + PADDING >= SLOTS {
            return None;
        }
        let subdomains = own_unknowns
            .into_iter()
            .zip(self.owned_cliques(&place, count)?)
            .enumerate()
            .map(|(index, (unknowns, own))| {
                self.subdomain(index as u32, unknowns, own, &place, top_len)
            })
            .collect::<Option<Vec<Subdomain>>>()?;
        let top_triangle = Triangle::of(tree, top, &place, top_len + PADDING - 1, |row, _| row);
        Some(Built {
            subdomains,
            top: top_unknowns,
            top_triangle,
            place,
        })
    }

    /// The cliques of every subdomain; those that lie wholly in the top go to whichever has least.
    fn owned_cliques(&self, place: &[[u32; 2]], count: usize) -> Option<Vec<Vec<u32>>> {
        let mut owned: Vec<Vec<u32>> = vec![Vec::new(); count];
        for (index, clique) in self.cliques.iter().enumerate() {
            let owner = clique
                .iter()
                .map(|&v| place[v as usize][0] as usize)
                .min()
                .filter(|&owner| owner < count);
            let owner = match owner {
                Some(owner) => owner,
                None => (0..count).min_by_key(|&k| owned[k].len())?,
            };
            owned[owner].push(index as u32);
        }
        Some(owned)
    }

    fn subdomain(
        &self,
        index: u32,
        unknowns: Vec<u32>,
        mut cliques: Vec<u32>,
        place: &[[u32; 2]],
        top_len: usize,
    ) -> Option<Subdomain> {
        let rows = unknowns.len();
        let slot = |row: usize, owner: u32| if owner == index { row } else { rows + row };
        let free_start = rows + top_len + PADDING;
        // Neighbours in elimination are neighbours in memory.
        cliques.sort_by_cached_key(|&clique| {
            let mut slots: Vec<usize> = self
                .cliques
                .get(clique as usize)
                .iter()
                .map(|&v| {
                    let [owner, row] = place[v as usize];
                    slot(row as usize, owner)
                })
                .collect();
            slots.sort_unstable();
            (slots, clique)
        });
        if free_start + (self.slots_behind)(&cliques) > SLOTS {
            return None;
        }
        let supernodes: Vec<usize> = (0..self.owners.len())
            .filter(|&s| self.owners[s] == index)
            .collect();
        let triangle = Triangle::of(self.tree, &supernodes, place, free_start - 1, slot);
        Some(Subdomain {
            unknowns,
            free_start,
            cliques,
            triangle,
        })
    }
}
