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
    /// How often the simulation steps, s of playback.
    pub time_step_secs: f64,
    /// How parts of the skin that touch are handled.
    pub collisions: Collisions,
    /// The paper's bookkeeping: the character counts as large as the demos of FPS, `total_mass_kg` is shared out by volume instead of a density, and a step
    /// simulates `paper_step_secs` whatever its length on the clock.
    pub paper: Option<PaperUnits>,
}

/// How parts of the skin that touch are handled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Collisions {
    /// Parts pass through each other.
    Off,
    /// Pairs found beforehand around each joint.
    Local,
    /// Whatever touches.
    #[default]
    Global,
}

impl Collisions {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Off, Self::Local, Self::Global];

    /// Key on the command line and in files.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Local => "local",
            Self::Global => "global",
        }
    }

    /// The one with that id.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|collisions| collisions.id() == id)
    }

    /// Name on screen.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Off => "Off",
            Self::Local => "Around joints",
            Self::Global => "Everywhere",
        }
    }
}

/// How Fast Projective Skinning counts mass and time.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PaperUnits {
    /// Mass of the whole body.
    pub total_mass_kg: f64,
    /// Simulated time of one step.
    pub paper_step_secs: f64,
}

impl Default for Params {
    fn default() -> Self {
        Preset::Natural.params()
    }
}

impl Params {
    /// Simulated time of one step, s.
    #[must_use]
    pub fn simulated_step_secs(&self) -> f64 {
        self.paper.map_or(self.time_step_secs, |paper| paper.paper_step_secs)
    }

    /// The same parameters with every number finite and inside the range that the solver is made for.
    #[must_use]
    pub fn sanitized(&self) -> Self {
        let clean = |value: f64, low: f64, high: f64, fallback: f64| if value.is_finite() { value.clamp(low, high) } else { fallback };
        let natural = Preset::Natural.params();
        Self {
            stiffness_pa: clean(self.stiffness_pa, 1e-3, 1e12, natural.stiffness_pa),
            density_kg_m3: clean(self.density_kg_m3, 1e-3, 1e6, natural.density_kg_m3),
            damping_per_s: clean(self.damping_per_s, 0.0, 1e4, natural.damping_per_s),
            gravity_m_s2: self.gravity_m_s2.map(|g| clean(g, -1e4, 1e4, 0.0)),
            iterations: self.iterations.clamp(1, 1000),
            time_step_secs: clean(self.time_step_secs, 1e-4, 1.0, natural.time_step_secs),
            collisions: self.collisions,
            paper: self.paper.map(|paper| PaperUnits {
                total_mass_kg: clean(paper.total_mass_kg, 1e-3, 1e9, 4000.0),
                paper_step_secs: clean(paper.paper_step_secs, 1e-4, 10.0, 0.2),
            }),
        }
    }
}

impl Preset {
    /// All presets, stiffest first.
    pub const ALL: [Self; 5] = [Self::Firm, Self::Natural, Self::Soft, Self::Jelly, Self::Fps];

    /// Key on the command line and in files.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Firm => "firm",
            Self::Natural => "natural",
            Self::Soft => "soft",
            Self::Jelly => "jelly",
            Self::Fps => "fps",
        }
    }

    /// The preset with that id.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|preset| preset.id() == id)
    }

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

    /// The numbers of the preset.
    #[must_use]
    pub fn params(self) -> Params {
        let (stiffness_pa, damping_per_s, paper) = match self {
            Self::Firm => (60_000.0, 8.0, None),
            Self::Natural => (20_000.0, 5.0, None),
            Self::Soft => (6_000.0, 3.0, None),
            Self::Jelly => (2_000.0, 1.0, None),
            Self::Fps => (85.0, 0.0, Some(PaperUnits { total_mass_kg: 4000.0, paper_step_secs: 0.2 })),
        };
        Params {
            stiffness_pa,
            density_kg_m3: 1_000.0,
            damping_per_s,
            gravity_m_s2: [0.0; 3],
            iterations: 10,
            time_step_secs: 1.0 / 60.0,
            // The reference demos of the paper's numbers run without.
            collisions: if self == Self::Fps { Collisions::Off } else { Collisions::default() },
            paper,
        }
    }
}
