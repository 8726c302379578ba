//! User settings of the tissue.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{BoneMap, FleshPaint, Muscle, PaintMap, PartMap, same_structure};

/// Resolution of the simulation mesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SimVertices {
    /// The resolution of the skin.
    All,
    /// Approximate number of vertices; a skin with few more is simulated at its own resolution.
    About(usize),
}

/// Minimum number of vertices.
pub const LEAST_SIM_VERTICES: usize = 100;

impl Default for SimVertices {
    fn default() -> Self {
        Self::About(8000)
    }
}

impl SimVertices {
    /// Number of vertices with which a skin of a given count is simulated; `None`: all of them.
    #[must_use]
    pub fn target(self, skin_vertices: usize) -> Option<usize> {
        match self {
            Self::All => None,
            // A reduction of less than a third does not justify a second mesh.
            Self::About(wanted) => {
                (skin_vertices > wanted + wanted / 2).then_some(wanted.max(LEAST_SIM_VERTICES))
            }
        }
    }
}

/// What the base of the flesh, its inner surface, follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FleshBase {
    /// The joints, by the skin's weights, as dual quaternion skinning would move it.
    #[default]
    Weights,
    /// Cylinders around the bones, as in the papers. No weights are used.
    Bones,
}

impl FleshBase {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Weights, Self::Bones];

    /// Key on the command line and in files.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Weights => "weights",
            Self::Bones => "bones",
        }
    }

    /// The one with that id.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|base| base.id() == id)
    }

    /// Name on screen.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Weights => "Skin weights",
            Self::Bones => "Bones",
        }
    }
}

/// User settings of the tissue.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FleshSettings {
    /// Settings of the bones that joints carry.
    pub bones: BoneMap,
    /// Radius, world units, of the bones that a joint carries, replacing the one fitted to the
    /// skin. Bones must still fit between their joints.
    pub radii: BTreeMap<usize, f64>,
    /// Resolution of the simulation mesh.
    pub sim_vertices: SimVertices,
    /// What the inner surface of the flesh follows.
    pub base: FleshBase,
    /// Motion of parts of the skin, where set by the user.
    pub parts: PartMap,
    /// Length of one unit of the file in metres, if the user set it; else that of the character.
    pub metres_per_unit: Option<f64>,
    /// Materials painted onto the skin.
    pub paint: FleshPaint,
    /// Muscles of implicit skinning; at most [`MOST_MUSCLES`](super::MOST_MUSCLES).
    pub muscles: Vec<Muscle>,
}

/// Settings of the flesh that take effect without building it again.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct FleshFactors {
    /// Factors in the settings of bones.
    pub bones: BoneMap,
    /// Materials painted onto the skin.
    pub paint: FleshPaint,
    /// Muscles of implicit skinning.
    pub muscles: Vec<Muscle>,
}

/// Range of units, metres.
pub const UNIT_RANGE: std::ops::RangeInclusive<f64> = 1e-9..=1e9;

impl FleshSettings {
    /// The settings that take effect without building the flesh again.
    #[must_use]
    pub fn factors(&self) -> FleshFactors {
        FleshFactors {
            bones: self.bones.clone(),
            paint: self.paint.clone(),
            muscles: self.muscles.clone(),
        }
    }

    /// Whether these factors are those of the settings.
    #[must_use]
    pub fn has_factors(&self, factors: &FleshFactors) -> bool {
        self.bones == factors.bones
            && self.paint == factors.paint
            && self.muscles == factors.muscles
    }

    /// Whether two settings give the same tissue: factors of bones, painted stiffness and painted hold are no part of it.
    #[must_use]
    pub fn same_structure(&self, other: &Self) -> bool {
        self.radii == other.radii
            && self.sim_vertices == other.sim_vertices
            && self.parts == other.parts
            && self.base == other.base
            && self.metres_per_unit == other.metres_per_unit
            && self.paint.has_same(&other.paint, PaintMap::Thickness)
            && same_structure(&self.bones, &other.bones)
    }

    /// As [`Self::same_structure`], whatever is painted.
    #[must_use]
    pub fn same_structure_but_paint(&self, other: &Self) -> bool {
        let paint = other.paint.clone();
        let repainted = Self {
            paint,
            ..self.clone()
        };
        repainted.same_structure(other)
    }
}
