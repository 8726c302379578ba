//! The tables from which a device computes frames.

use super::DirectDeltaMush;
use crate::methods::lbs::LinearBlend;
use crate::methods::recipe::{Blending, Influence, PaletteEntry, Smoothed, VertexSource};
use crate::methods::{Recipe, Subject};

impl DirectDeltaMush {
    /// Sets what moves all source vertices. The palette begins with the joint whose place all joints of the skin are relative to; then come
    /// the transforms of vertices that are not skin, then the joints of the skin.
    pub(super) fn fill(&self, recipe: &mut Recipe, subject: &Subject) {
        let Some(main) = self.palette_entry(self.joints.main()) else {
            return;
        };
        recipe.palette.push(main);
        let pairs = self.sources.pairs();
        let mut is_skin = vec![false; recipe.sources.len()];
        for &[source, _] in pairs {
            is_skin[source as usize] = true;
        }
        let others = LinearBlend::bind(&subject.character, subject.mesh_weights());
        recipe.add_blended(&others.parts, |source| !is_skin[source]);
        let mut tables = Smoothed {
            hoods: vec![[0.0, 0.0, 0.0, 1.0]; recipe.sources.len()],
            moments: vec![[0.0; 9]; recipe.influences.len()],
            first_relative: recipe.palette.len(),
        };
        let joints = 0..subject.character.skeleton.len();
        let entries = joints.filter_map(|joint| self.palette_entry(joint));
        recipe.palette.extend(entries);
        let firsts = self.add_influences(recipe, &mut tables);
        for &[source, vertex] in pairs {
            let rest = &self.omegas.rests[vertex as usize];
            let [x, y, z] = rest.offset;
            tables.hoods[source as usize] = [x, y, z, rest.length];
            if let Some(first) = firsts[vertex as usize] {
                let rest = rest.position.into();
                recipe.sources[source as usize] = VertexSource::Deformed { rest, first };
            }
        }
        recipe.blending = Blending::Smoothed(tables);
    }

    fn palette_entry(&self, joint: usize) -> Option<PaletteEntry> {
        Some(PaletteEntry {
            joint,
            joint_from_rest: self.joints.joint_from_center(joint)?,
        })
    }

    /// Adds the influences on all vertices of the skin; returns the first of each vertex that has some.
    fn add_influences(&self, recipe: &mut Recipe, tables: &mut Smoothed) -> Vec<Option<u32>> {
        let omegas = &self.omegas;
        let rows = omegas.starts.windows(2);
        rows.map(|row| {
            let first = recipe.influences.len() as u32;
            let own = row[0] as usize..row[1] as usize;
            for (&joint, omega) in omegas.joints[own.clone()].iter().zip(&omegas.matrices[own]) {
                let [moments @ .., weight] = *omega;
                tables.moments.push(moments);
                recipe.influences.push(Influence {
                    entry: tables.first_relative as u32 + joint,
                    weight,
                    is_last: false,
                });
            }
            if recipe.influences.len() == first as usize {
                return None;
            }
            recipe.influences.last_mut()?.is_last = true;
            Some(first)
        })
        .collect()
    }
}
