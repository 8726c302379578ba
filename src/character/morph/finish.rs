//! Checks of morphs that were read, and their part in the positions.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Expression, Morph, MorphTarget};
use crate::character::{Character, Severity, SourceMesh};
use crate::math::Point;
use crate::mesh::Bounds;
use crate::rig::{MOST_MORPH_WEIGHT, Skeleton};

impl Character {
    /// Offsets of a mesh become those of the same mesh placed in the world's bind pose. `before` is the mesh until now.
    pub(crate) fn place_morphs(&mut self, mesh: usize, before: &SourceMesh, skeleton: &Skeleton) {
        let shapes = Arc::make_mut(&mut self.morphs)
            .iter_mut()
            .flat_map(|morph| &mut morph.shapes);
        let targets = shapes.flat_map(|shape| &mut shape.targets);
        for target in targets.filter(|target| target.mesh == mesh) {
            target.normals.clear();
            for (vertex, offset) in target.vertices.iter().zip(&mut target.offsets) {
                let linear = before.bind_linear(skeleton, *vertex as usize);
                *offset = (linear * offset.cast::<f64>()).cast::<f32>();
            }
        }
    }

    /// Positions of a mesh with all morphs at weight 0.
    #[must_use]
    pub fn positions_without_morphs(&self, mesh: usize) -> Vec<Point> {
        let mut positions = self.meshes[mesh].positions.clone();
        self.add_rest_offsets(mesh, -1.0, &mut positions);
        positions
    }

    fn add_rest_offsets(&self, mesh: usize, factor: f32, positions: &mut [Point]) {
        for morph in self.morphs.iter().filter(|m| m.rest_weight != 0.0) {
            for (index, shape) in morph.shapes.iter().enumerate() {
                let share = factor * morph.share(index, morph.rest_weight) as f32;
                for target in shape.targets.iter().filter(|t| t.mesh == mesh) {
                    for (vertex, offset) in target.vertices.iter().zip(&target.offsets) {
                        positions[*vertex as usize] += offset * share;
                    }
                }
            }
        }
    }

    /// Checks the morphs that were read, makes names unique, and adds the displacements at rest to the positions. Morphs with
    /// numbers that are not finite or far beyond their mesh, and weights beyond the limit, are dropped.
    pub(crate) fn finish_morphs(&mut self, morphs: Vec<Morph>, expressions: Vec<Expression>) {
        let sizes: Vec<f32> = self
            .meshes
            .iter()
            .map(|mesh| Bounds::of(&mesh.positions).size())
            .collect();
        let is_usable = |morph: &Morph| {
            let near = |target: &MorphTarget| {
                let most = FARTHEST_OFFSET * sizes[target.mesh].max(f32::MIN_POSITIVE);
                let counts = target.vertices.len() == target.offsets.len()
                    && (target.normals.is_empty() || target.normals.len() == target.offsets.len());
                let vertices = self.meshes[target.mesh].positions.len();
                counts
                    && target.vertices.iter().all(|&v| (v as usize) < vertices)
                    && target
                        .offsets
                        .iter()
                        .all(|o| o.iter().all(|c| c.abs() <= most))
            };
            morph.rest_weight.abs() <= MOST_MORPH_WEIGHT
                && morph.shapes.iter().flat_map(|s| &s.targets).all(near)
        };
        let usable: Vec<bool> = morphs.iter().map(is_usable).collect();
        let dropped = usable.iter().filter(|usable| !**usable).count();
        if dropped > 0 {
            self.note(
                Severity::Mended,
                dropped,
                format!("morph targets left at rest because of numbers that are not finite, or displacements beyond 1000 times the mesh: {dropped}"),
            );
        }
        let mut morphs = morphs;
        // They keep their index, which clips refer to.
        for (morph, usable) in morphs.iter_mut().zip(&usable) {
            for shape in &mut morph.shapes {
                shape.targets.retain(|_| *usable);
            }
            if !morph.rest_weight.is_finite() || morph.rest_weight.abs() > MOST_MORPH_WEIGHT {
                morph.rest_weight = 0.0;
            }
        }
        let mut known = HashMap::new();
        for morph in &mut morphs {
            let id = |name: &str| format!("{}/{name}", morph.mesh);
            morph.name = unique(&morph.name, &mut known, id);
        }
        let mut expressions = expressions;
        let mut known = HashMap::new();
        for expression in &mut expressions {
            let sound = |weight: f64| weight.abs() <= MOST_MORPH_WEIGHT;
            expression
                .binds
                .retain(|&(morph, weight)| morph < morphs.len() && sound(weight));
            expression.name = unique(&expression.name, &mut known, str::to_owned);
        }
        (self.morphs, self.expressions) = (morphs.into(), expressions.into());
        for mesh in 0..self.meshes.len() {
            let mut positions = std::mem::take(&mut self.meshes[mesh].positions);
            self.add_rest_offsets(mesh, 1.0, &mut positions);
            self.meshes[mesh].positions = positions;
        }
    }
}

/// Offsets beyond this many sizes of their mesh are treated as damage.
const FARTHEST_OFFSET: f32 = 1e3;

/// The name, with a number if it is taken.
fn unique(name: &str, known: &mut HashMap<String, usize>, id: impl Fn(&str) -> String) -> String {
    let name = if name.is_empty() { "morph" } else { name };
    let mut tried = name.to_owned();
    loop {
        let count = known.entry(id(&tried)).or_insert(0);
        *count += 1;
        if *count == 1 {
            return tried;
        }
        let next = known.entry(id(name)).or_insert(1);
        tried = format!("{name}.{next}");
        *next += 1;
    }
}
