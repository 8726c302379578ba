//! What the user says about how the flesh is made.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{BoneMap, PartMap, same_structure};

/// How fine the simulation mesh is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SimVertices {
    /// As fine as the skin.
    All,
    /// About so many vertices; a skin that hardly has more is simulated as it is.
    About(usize),
}

/// Fewest vertices that can be asked for: less is no body any more.
pub const LEAST_SIM_VERTICES: usize = 100;

impl Default for SimVertices {
    fn default() -> Self {
        Self::About(4000)
    }
}

impl SimVertices {
    /// How many vertices a skin of so many is to be simulated with; `None` if all of them.
    #[must_use]
    pub fn target(self, skin_vertices: usize) -> Option<usize> {
        match self {
            Self::All => None,
            // Less than a third off is not worth a second mesh.
            Self::About(wanted) => (skin_vertices > wanted + wanted / 2).then_some(wanted.max(LEAST_SIM_VERTICES)),
        }
    }
}

/// Everything the user can say about how the flesh is made.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FleshSettings {
    /// Of the bones that joints carry.
    pub bones: BoneMap,
    /// Radius, world units, of the bones that a joint carries, instead of the one fitted to the skin. Bones must still fit between
    /// their joints.
    pub radii: BTreeMap<usize, f64>,
    /// How fine the simulation mesh is.
    pub sim_vertices: SimVertices,
    /// How parts of the skin move that the user had something to say about.
    pub parts: PartMap,
}

impl FleshSettings {
    /// Whether two settings make the same tissue, whatever the factors of bones.
    #[must_use]
    pub fn same_structure(&self, other: &Self) -> bool {
        self.radii == other.radii
            && self.sim_vertices == other.sim_vertices
            && self.parts == other.parts
            && same_structure(&self.bones, &other.bones)
    }
}
