//! The constants of a surface.

use std::sync::Arc;

use super::passes::{Builder, SurfacePass};
use super::{SurfaceError, check_groups, palette};
use crate::gpu::GpuContext;
use crate::methods::Recipe;

/// How one method computes a character's source vertices: kernels and constants, shared by all instances.
#[derive(Debug)]
pub struct SurfaceModel {
    pub(super) recipe: Arc<Recipe>,
    pub(super) passes: Vec<SurfacePass>,
    pub(super) extrapolate: Option<SurfacePass>,
}

impl SurfaceModel {
    /// Uploads a recipe. `row_of_vertex` is the simulated row of each vertex of the simulation mesh (see
    /// [`crate::dynamics::Equations::vertex_of_row`]); empty for methods that do not simulate.
    ///
    /// # Errors
    /// [`SurfaceError`] if the rows do not match the recipe, or the device is too small.
    pub fn new(
        gpu: &GpuContext,
        recipe: Arc<Recipe>,
        row_of_vertex: &[u32],
    ) -> Result<Self, SurfaceError> {
        let rows = row_of_vertex.len();
        if rows != recipe.simulated || row_of_vertex.iter().any(|&row| row as usize >= rows) {
            return Err(SurfaceError::Rows {
                expected: recipe.simulated,
                actual: rows,
            });
        }
        let builder = Builder {
            gpu,
            recipe: &recipe,
            row_of_vertex,
        };
        let passes = builder.passes()?;
        for pass in &passes {
            check_groups(gpu, "vertices", pass.workgroups as usize)?;
        }
        let extrapolate = (recipe.simulated > 0).then(|| builder.extrapolate());
        Ok(Self {
            recipe,
            passes,
            extrapolate,
        })
    }

    /// The recipe.
    #[must_use]
    pub fn recipe(&self) -> &Arc<Recipe> {
        &self.recipe
    }

    /// Passes of a frame at a step (not between steps).
    #[must_use]
    pub fn passes(&self) -> usize {
        self.passes.len()
    }

    /// Bytes per instance with this number of simulated rows: total, and in the largest buffer.
    #[must_use]
    pub fn bytes_per_instance(&self, row_stride: usize) -> [u64; 2] {
        let recipe = &self.recipe;
        let vertices = recipe.positions.len() * size_of::<[f32; 3]>();
        let joints = palette::stride(recipe) * size_of::<[f32; 4]>();
        let controls = recipe
            .cloth
            .as_ref()
            .map_or(0, |cloth| cloth.controls.len() * size_of::<[[f32; 4]; 3]>());
        let rows = row_stride * size_of::<[f32; 4]>();
        let all = 2 * vertices + joints + controls + 2 * rows;
        let largest = vertices.max(joints).max(controls).max(rows);
        [all as u64, largest as u64]
    }

    /// Bytes of constants read per frame, the same for all instances.
    #[must_use]
    pub fn constant_bytes(&self) -> u64 {
        self.passes
            .iter()
            .flat_map(|pass| &pass.constants)
            .map(|(_, buffer)| buffer.size())
            .sum()
    }
}

/// The row of each simulated vertex.
#[must_use]
pub fn row_of_vertex(vertex_of_row: &[u32]) -> Vec<u32> {
    let mut rows = vec![0; vertex_of_row.len()];
    for (row, &vertex) in vertex_of_row.iter().enumerate() {
        if let Some(slot) = rows.get_mut(vertex as usize) {
            *slot = row as u32;
        }
    }
    rows
}
