//! Collects the palette of a recipe: every transform once.

use std::collections::HashMap;

use super::blended_mesh::BlendedMesh;
use super::recipe::{Influence, PaletteEntry, Recipe, VertexSource};
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
    /// Continues the palette of a recipe.
    pub(super) fn of(recipe: &Recipe) -> Self {
        let key = |entry: &PaletteEntry| entry_key(entry.joint, &entry.joint_from_rest);
        Self {
            known: recipe.palette.iter().map(key).zip(0..).collect(),
        }
    }

    /// The index of an entry, which is added if it is new.
    pub(super) fn entry(
        &mut self,
        recipe: &mut Recipe,
        joint: usize,
        joint_from_rest: &Affine,
    ) -> u32 {
        let key = entry_key(joint, joint_from_rest);
        *self.known.entry(key).or_insert_with(|| {
            recipe.palette.push(PaletteEntry {
                joint,
                joint_from_rest: *joint_from_rest,
            });
            recipe.palette.len() as u32 - 1
        })
    }

    /// Adds the blends of the requested vertices; those without influences keep their rest position.
    pub(super) fn add<'a>(
        &mut self,
        recipe: &mut Recipe,
        parts: impl IntoIterator<Item = &'a BlendedMesh>,
        is_wanted: impl Fn(usize) -> bool,
    ) {
        let mut source = 0;
        for part in parts {
            for (vertex, &rest) in part.rest.iter().enumerate() {
                if is_wanted(source) {
                    let first = recipe.influences.len();
                    for (joint, weight) in part.weights.of(vertex) {
                        let entry = self.entry(recipe, joint, &part.joint_from_mesh[joint]);
                        recipe.influences.push(Influence {
                            entry,
                            weight,
                            is_last: false,
                        });
                    }
                    let any = recipe.influences.len() > first;
                    recipe.sources[source] = if any {
                        VertexSource::Blended {
                            rest,
                            first: first as u32,
                        }
                    } else {
                        VertexSource::Still
                    };
                    match recipe.influences.last_mut().filter(|_| any) {
                        Some(last) => last.is_last = true,
                        None => recipe.positions[source] = rest,
                    }
                }
                source += 1;
            }
        }
    }
}
