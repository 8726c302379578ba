//! Physical parameters and their presets.

use serde::{Deserialize, Serialize};

/// Named parameter sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// Barely jiggles.
    Firm,
    /// Flesh.
    #[default]
    Natural,
    /// Fat.
    Soft,
    /// A jelly figure.
    Jelly,
    /// The numbers of Fast Projective Skinning (strain weight 85, mass 4000, time step 0.2 a frame), for comparison.
    Fps,
}

impl Preset {
    /// All presets, stiffest first.
    pub const ALL: [Self; 5] = [Self::Firm, Self::Natural, Self::Soft, Self::Jelly, Self::Fps];

    /// Name on screen.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Firm => "Firm",
            Self::Natural => "Natural",
            Self::Soft => "Soft",
            Self::Jelly => "Jelly",
            Self::Fps => "FPS paper",
        }
    }
}

/// What the simulation can be tuned by. Changing any of them never changes the rest shape.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Params {
    /// Resistance of the flesh to any change of shape, Pa (the weight of the strain energy per volume).
    pub stiffness_pa: f64,
    /// Mass per volume, kg m⁻³.
    pub density_kg_m3: f64,
    /// Rate at which velocity relative to the skeleton dies out, s⁻¹, on top of the integrator's own damping.
    pub damping_per_s: f64,
    /// Acceleration of gravity, m s⁻², world axes.
    pub gravity_m_s2: [f64; 3],
    /// Local/global iterations a step.
    pub iterations: u32,
    /// Simulated time of one step, s.
    pub time_step_secs: f64,
}

impl Default for Params {
    fn default() -> Self {
        Preset::Natural.params()
    }
}

impl Preset {
    /// The numbers of the preset.
    #[must_use]
    pub fn params(self) -> Params {
        let (stiffness_pa, damping_per_s) = match self {
            Self::Firm => (60_000.0, 8.0),
            Self::Natural => (15_000.0, 4.0),
            Self::Soft => (5_000.0, 2.5),
            Self::Jelly => (1_500.0, 1.0),
            Self::Fps => (15_000.0, 0.0),
        };
        Params { stiffness_pa, density_kg_m3: 1_000.0, damping_per_s, gravity_m_s2: [0.0; 3], iterations: 10, time_step_secs: 1.0 / 60.0 }
    }
}
