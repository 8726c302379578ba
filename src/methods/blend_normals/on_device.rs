//! The tables of normals in the form that a graphics device reads.

use super::{Differentiable, Normals, WithNormals};
use crate::methods::palette::PaletteBuilder;
use crate::methods::recipe::{
    BlendNormals, EdgeRow, EdgeTangents, NormalRow, Recipe, TangentEdge, WeightSlope,
};

impl<S: Differentiable> WithNormals<S> {
    /// Replaces the normals from triangles in a recipe, unless triangles are chosen.
    pub(in crate::methods) fn choose_in(&self, recipe: &mut Recipe) {
        let Some(tables) = self.tables_in_use() else {
            return;
        };
        let mut palette = PaletteBuilder::of(&recipe.palette);
        let mut normals = BlendNormals {
            is_exact: self.normals == Normals::Exact,
            ..BlendNormals::default()
        };
        let mut edges = EdgeTangents::default();
        for (mesh, part) in self.skinner.meshes().enumerate() {
            for (vertex, &rest) in part.rest.iter().enumerate() {
                let tangents = tables.tangents(mesh, vertex);
                let slopes = tables.slopes(mesh, vertex);
                normals.rows.push(NormalRow {
                    rest,
                    normal: tables.normal(mesh, vertex),
                    tangent: tangents.along[0],
                    first: (!slopes.is_empty()).then_some(normals.slopes.len() as u32),
                });
                let first = edges.edges.len() as u32;
                let (own, lift) = tables.edges(mesh).of(vertex);
                let parts = own.iter().map(|edge| TangentEdge {
                    to: edge.to,
                    along: edge.along,
                });
                edges.edges.extend(parts);
                edges.rows.push(EdgeRow {
                    edges: [first, edges.edges.len() as u32],
                    lift: lift.along,
                    up: lift.up,
                });
                for (index, slope) in slopes.iter().enumerate() {
                    let joint = slope.joint as usize;
                    normals.slopes.push(WeightSlope {
                        // Neighbours may belong to another mesh: an entry of their joint may be new.
                        entry: palette.entry(
                            &mut recipe.palette,
                            joint,
                            &part.joint_from_mesh[joint],
                        ),
                        weight: slope.weight,
                        along: slope.along,
                        is_last: index + 1 == slopes.len(),
                    });
                }
            }
        }
        normals.edges = S::BY_EDGES.then_some(edges);
        recipe.blend_normals = Some(normals);
        recipe.normal_targets.clear();
        recipe.corners.clear();
    }
}
