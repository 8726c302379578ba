//! Joint transforms in upload format.

use crate::math::Affine;
use crate::math::SplitTransform;
use crate::methods::Recipe;

/// The transforms of all instances as the shaders read them: computed in `f64`, rounded once.
#[derive(Debug)]
pub(super) struct Palette {
    dual_quaternions: bool,
    entries: usize,
    values: Vec<[f32; 4]>,
}

impl Palette {
    /// All instances in the bind pose.
    pub fn new(recipe: &Recipe, instances: usize) -> Self {
        let entries = recipe.palette.len();
        let mut palette = Self {
            dual_quaternions: recipe.dual_quaternions,
            entries,
            values: Vec::new(),
        };
        palette.values = vec![[0.0; 4]; palette.stride() * instances];
        for instance in 0..instances {
            palette.set(recipe, instance, &recipe.bind);
        }
        palette
    }

    /// Elements per instance.
    pub fn stride(&self) -> usize {
        self.entries * if self.dual_quaternions { 4 } else { 3 }
    }

    pub fn values(&self) -> &[[f32; 4]] {
        &self.values
    }

    /// Sets an instance's pose; missing joints keep their transform.
    pub fn set(&mut self, recipe: &Recipe, instance: usize, world_from_joint: &[Affine]) {
        let width = if self.dual_quaternions { 4 } else { 3 };
        let own = self.values.chunks_mut(width).skip(instance * self.entries);
        for (slots, entry) in own.zip(&recipe.palette) {
            let Some(world) = world_from_joint.get(entry.joint) else {
                continue;
            };
            let transform = world * entry.joint_from_rest;
            if self.dual_quaternions {
                let SplitTransform {
                    real,
                    dual,
                    stretch: s,
                } = SplitTransform::of(&transform);
                let quaternion = |q: nalgebra::Quaternion<f32>| q.coords.into();
                let diagonal = [s[(0, 0)], s[(1, 1)], s[(2, 2)], 0.0];
                slots.copy_from_slice(&[
                    quaternion(real),
                    quaternion(dual),
                    diagonal,
                    [s[(0, 1)], s[(0, 2)], s[(1, 2)], 0.0],
                ]);
            } else {
                for (row, slot) in slots.iter_mut().enumerate() {
                    *slot = std::array::from_fn(|column| transform.matrix()[(row, column)] as f32);
                }
            }
        }
    }
}
