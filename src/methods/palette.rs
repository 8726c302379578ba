//! Collects the palette of a recipe: every transform once.

use std::collections::HashMap;

use super::blending::PaletteEntry;
use crate::math::Affine;

/// Palette entries added so far, to find equal ones.
#[derive(Default)]
pub(super) struct PaletteBuilder {
    known: HashMap<EntryKey, u32>,
}

/// The joint and the bits of its matrix.
type EntryKey = (usize, [u64; 16]);

fn entry_key(joint: usize, joint_from_rest: &Affine) -> EntryKey {
    let mut bits = [0; 16];
    for (bits, value) in bits.iter_mut().zip(joint_from_rest.matrix()) {
        *bits = value.to_bits();
    }
    (joint, bits)
}

impl PaletteBuilder {
    /// Continues a palette.
    pub(super) fn of(palette: &[PaletteEntry]) -> Self {
        let key = |entry: &PaletteEntry| entry_key(entry.joint, &entry.joint_from_rest);
        Self {
            known: palette.iter().map(key).zip(0..).collect(),
        }
    }

    /// The index of an entry, which is added if it is new.
    pub(super) fn entry(
        &mut self,
        palette: &mut Vec<PaletteEntry>,
        joint: usize,
        joint_from_rest: &Affine,
    ) -> u32 {
        let key = entry_key(joint, joint_from_rest);
        *self.known.entry(key).or_insert_with(|| {
            palette.push(PaletteEntry {
                joint,
                joint_from_rest: *joint_from_rest,
            });
            palette.len() as u32 - 1
        })
    }
}
