//! The tables from which a device computes frames.

use super::binding::Binding;
use crate::methods::Recipe;
use crate::methods::recipe::{Blending, Deformers, Influence, PaletteEntry, VertexSource};

impl Binding {
    /// Sets what moves all source vertices.
    pub(super) fn fill(&self, recipe: &mut Recipe) {
        let joints = self.bind_from_world.iter().enumerate();
        recipe.palette = joints
            .map(|(joint, &joint_from_rest)| PaletteEntry {
                joint,
                joint_from_rest,
            })
            .collect();
        let first_deformer = recipe.palette.len() as u32;
        let mut bends = Vec::new();
        for (vertex, &rest) in self.rest.iter().enumerate() {
            let first = recipe.influences.len() as u32;
            let influences = self.of_vertex(vertex);
            let rigid = influences.rigid.iter().map(|own| (own.0, own.1, [0.0; 2]));
            let bent = influences.bent.iter().map(|bent| {
                let entry = first_deformer + bent.deformer;
                (entry, bent.blend, [bent.swing, bent.twist])
            });
            for (entry, weight, bend) in rigid.chain(bent) {
                bends.push(bend);
                recipe.influences.push(Influence {
                    entry,
                    weight,
                    is_last: false,
                });
            }
            match recipe.influences[first as usize..].last_mut() {
                Some(last) => {
                    last.is_last = true;
                    recipe.sources[vertex] = VertexSource::Deformed { rest, first };
                }
                None => recipe.positions[vertex] = rest,
            }
        }
        recipe.blending = Blending::Deformers(Deformers {
            deformers: self.deformers.clone(),
            bends,
        });
    }
}
