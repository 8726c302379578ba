//! What the user says about how the flesh is made.

use std::collections::BTreeMap;

use super::{BoneMap, same_structure};

/// Vertices of the simulation mesh, unless the user wants another number.
pub const DEFAULT_SIM_VERTICES: usize = 4000;

/// Everything the user can say about how the flesh is made.
#[derive(Debug, Clone, PartialEq)]
pub struct FleshSettings {
    /// Of the bones that joints carry.
    pub bones: BoneMap,
    /// Radius, world units, of the bones that a joint carries, instead of the one fitted to the skin. Bones must still fit between
    /// their joints.
    pub radii: BTreeMap<usize, f64>,
    /// About how many vertices the simulation mesh may have; `None`: as many as the skin.
    pub sim_vertices: Option<usize>,
}

impl Default for FleshSettings {
    fn default() -> Self {
        Self { bones: BoneMap::new(), radii: BTreeMap::new(), sim_vertices: Some(DEFAULT_SIM_VERTICES) }
    }
}

impl FleshSettings {
    /// Whether two settings make the same tissue, whatever the factors of bones.
    #[must_use]
    pub fn same_structure(&self, other: &Self) -> bool {
        self.radii == other.radii && self.sim_vertices == other.sim_vertices && same_structure(&self.bones, &other.bones)
    }
}
