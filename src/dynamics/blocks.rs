//! The elements of a subdomain in blocks for the local step, and the prescribed points that they use.

use std::collections::{HashMap, HashSet};

use super::chain::{Chain, POINTS};
use super::local::Block;
use crate::numerics::lanes::LANES;
use crate::numerics::partition::{Partition, Subdomain};
use crate::tissue::CornerKind;

/// Constant data of a subdomain's local step.
pub(super) struct SubdomainBlocks {
    /// Prescribed points of its elements. Their positions are stored in the subdomain's free slots, in this order.
    pub(super) prescribed: Vec<u32>,
    /// Its elements in blocks of sixteen (the last block may be partly empty), in the order of the subdomain's cliques.
    pub(super) blocks: Vec<Block>,
    /// Whether only the first three points of its chains are unknown. Forces on the others are then not computed.
    pub(super) first_three_only: bool,
}

impl SubdomainBlocks {
    /// The distinct prescribed points of these elements, in order of appearance. Cliques behind the last chain are no elements
    /// (they belong to bending) and are skipped.
    pub(super) fn prescribed_of(chains: &[Chain], own: &[u32]) -> Vec<u32> {
        let mut seen = HashSet::new();
        own.iter()
            .filter_map(|&index| chains.get(index as usize))
            .flat_map(Chain::own_corners)
            .filter_map(|corner| corner.as_prescribed())
            .filter(|&point| seen.insert(point))
            .collect()
    }

    /// Packs the elements of a subdomain.
    pub(super) fn pack(partition: &Partition, index: usize, chains: &[Chain]) -> Self {
        let subdomain = &partition.subdomains[index];
        let prescribed = Self::prescribed_of(chains, &subdomain.cliques);
        let slot_of: HashMap<u32, usize> = prescribed
            .iter()
            .enumerate()
            .map(|(k, &point)| (point, subdomain.free_start + k))
            .collect();
        let slots = |chain: &Chain| -> [u16; POINTS] {
            chain.corners.map(|corner| match corner.kind() {
                CornerKind::Unknown(unknown) => partition.slot(index, unknown) as u16,
                CornerKind::Prescribed(point) => slot_of[&point] as u16,
            })
        };
        let blocks = subdomain
            .cliques
            .chunks(LANES)
            .map(|chunk| {
                let chunk: Vec<&Chain> = chunk.iter().map(|&k| &chains[k as usize]).collect();
                Block::pack(&chunk, slots, subdomain.dummy() as u16)
            })
            .collect();
        let first_three_only = subdomain
            .cliques
            .iter()
            .all(|&k| chains[k as usize].has_only_first_three_unknown());
        Self {
            prescribed,
            blocks,
            first_three_only,
        }
    }

    /// End of the slots that the local step writes forces to.
    pub(super) fn forces_end(&self, subdomain: &Subdomain) -> usize {
        if self.first_three_only {
            subdomain.free_start
        } else {
            subdomain.free_start + self.prescribed.len()
        }
    }
}
