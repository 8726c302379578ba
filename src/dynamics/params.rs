//! Physical parameters and their presets.

use serde::{Deserialize, Serialize};

use super::declared::{
    ACCELERATION, BENDING, DAMPING, DENSITY, FLOOR, GUIDANCE, ITERATIONS, JIGGLE, PHYSICS,
    STIFFNESS, TIME_STEP, VOLUME,
};

/// Named parameter sets.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Preset {
    /// Stiff flesh with little jiggle.
    Firm,
    /// Average human flesh.
    #[default]
    Natural,
    /// Fat.
    Soft,
    /// Jelly.
    Jelly,
    /// The parameters of Fast Projective Skinning (strain weight 85, mass 4000, time step 0.2 per frame), for comparison.
    Fps,
}

/// Parameters of the simulation. They do not affect the rest shape.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Params {
    /// Resistance of the flesh to changes of shape, Pa (the weight of the strain energy per volume).
    pub stiffness_pa: f64,
    /// Mass per volume, kg m⁻³.
    pub density_kg_m3: f64,
    /// Decay rate of the velocity relative to the skeleton, s⁻¹, in addition to the integrator's numerical damping.
    pub damping_per_s: f64,
    /// Acceleration of gravity, m s⁻², world axes.
    pub gravity_m_s2: [f64; 3],
    /// Factor on the inertial mass: 0 follows the equilibrium at once, 1 is physical, more is exaggerated. See
    /// [`super::Materials`].
    pub jiggle: f64,
    /// Resistance of the flesh to changes of volume, relative to its resistance to changes of shape; 0 for none. It makes flesh
    /// bulge where it is compressed.
    pub volume: f64,
    /// Weight of the energies with prescribed rotations of guided flesh, relative to the resistance to changes of shape; see
    /// [`crate::character::FleshBase::Weights`].
    pub guidance: f64,
    /// Factor on the bending stiffness of guided flesh's skin.
    pub bending: f64,
    /// How much the floor under the bind pose presses guided flesh flat, from 0 for not at all to 1 for up to 0.3 of the way to the
    /// bone.
    pub floor: f64,
    /// Whether the parameters are for a human of 1.7 m. A character of any other size then moves as if it had that size: the motion
    /// is the same, scaled. Otherwise the parameters apply to the actual size, and a larger character is softer.
    ///
    /// Elastic flesh of size L sags by ρ g L / E relative to its size and oscillates with √(E / ρ) / L. So this option scales
    /// stiffness with L² and gravity with L (as in films of scale models). L is the mean distance from the skin to the bone lines:
    /// the size of the oscillating parts, which does not depend on a raised arm or a long tail.
    pub human_sized: bool,
    /// Local/global iterations per step.
    pub iterations: u32,
    /// Number of earlier iterations that Anderson acceleration combines with the newest; 0 for plain iterations.
    pub acceleration: u32,
    /// Time limit of a frame's iterations on this machine, ms; every step still makes one iteration. With a limit the result
    /// depends on the speed of the machine, so there is none by default.
    pub budget_ms: Option<f64>,
    /// Time step of the simulation, s of playback.
    pub time_step_secs: f64,
    /// Handling of self-contact.
    pub collisions: Collisions,
    /// The paper's units. The character is scaled to the size of the FPS demos, `total_mass_kg` is distributed by volume (there is
    /// no density), and a step simulates `paper_step_secs` regardless of the time step of playback.
    pub paper: Option<PaperUnits>,
}

/// Handling of contacts between parts of the skin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Collisions {
    /// No contacts: parts intersect.
    Off,
    /// Contacts between precomputed pairs around each joint.
    Local,
    /// Contacts between all parts, by collision detection.
    #[default]
    Global,
}

impl Collisions {
    /// All variants.
    pub const ALL: [Self; 3] = [Self::Off, Self::Local, Self::Global];

    /// Identifier on the command line and in files.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Local => "local",
            Self::Global => "global",
        }
    }

    /// The variant with that identifier.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|collisions| collisions.id() == id)
    }

    /// Display name.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Off => "Off",
            Self::Local => "Around joints",
            Self::Global => "Everywhere",
        }
    }
}

/// Mass and time in the units of Fast Projective Skinning.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PaperUnits {
    /// Mass of the whole body, kg.
    pub total_mass_kg: f64,
    /// Simulated time of one step, s.
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
        self.paper
            .map_or(self.time_step_secs, |paper| paper.paper_step_secs)
    }

    /// The same parameters with every number finite and clamped to its declared range.
    #[must_use]
    pub fn sanitized(&self) -> Self {
        let mut clean = *self;
        for param in &PHYSICS {
            param.sanitize(&mut clean);
        }
        clean.paper = self.paper.map(PaperUnits::sanitized);
        clean
    }
}

impl PaperUnits {
    /// The values of the paper's demos.
    const DEMO: Self = Self {
        total_mass_kg: 4000.0,
        paper_step_secs: 0.2,
    };

    fn sanitized(self) -> Self {
        let clean = |value: f64, low: f64, high: f64, fallback: f64| {
            if value.is_finite() {
                value.clamp(low, high)
            } else {
                fallback
            }
        };
        Self {
            total_mass_kg: clean(self.total_mass_kg, 1e-3, 1e9, Self::DEMO.total_mass_kg),
            paper_step_secs: clean(self.paper_step_secs, 1e-4, 10.0, Self::DEMO.paper_step_secs),
        }
    }
}

impl Preset {
    /// All presets, stiffest first.
    pub const ALL: [Self; 5] = [
        Self::Firm,
        Self::Natural,
        Self::Soft,
        Self::Jelly,
        Self::Fps,
    ];

    /// Identifier on the command line and in files.
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

    /// The preset with that identifier.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|preset| preset.id() == id)
    }

    /// Display name.
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

    /// The parameters of the preset.
    #[must_use]
    pub fn params(self) -> Params {
        let (stiffness_pa, damping_per_s, paper) = match self {
            Self::Firm => (60_000.0, 8.0, None),
            Self::Natural => (STIFFNESS.spec.default, DAMPING.spec.default, None),
            Self::Soft => (6_000.0, 3.0, None),
            Self::Jelly => (2_000.0, 1.0, None),
            Self::Fps => (85.0, 0.0, Some(PaperUnits::DEMO)),
        };
        Params {
            stiffness_pa,
            density_kg_m3: DENSITY.spec.default,
            damping_per_s,
            gravity_m_s2: [0.0; 3],
            jiggle: JIGGLE.spec.default,
            volume: VOLUME.spec.default,
            guidance: GUIDANCE.spec.default,
            bending: BENDING.spec.default,
            floor: FLOOR.spec.default,
            human_sized: paper.is_none(),
            // The paper's preset has plain iterations; accelerated ones converge in fewer (`examples/convergence.rs`).
            iterations: if paper.is_none() {
                ITERATIONS.spec.default as u32
            } else {
                10
            },
            acceleration: if paper.is_none() {
                ACCELERATION.spec.default as u32
            } else {
                0
            },
            budget_ms: None,
            time_step_secs: TIME_STEP.spec.default,
            // The paper's reference demos run without collisions.
            collisions: if self == Self::Fps {
                Collisions::Off
            } else {
                Collisions::default()
            },
            paper,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::dynamics::MAX_ACCELERATION;

    #[test]
    fn invalid_numbers_become_valid() {
        let wild = Params {
            stiffness_pa: f64::NAN,
            density_kg_m3: f64::INFINITY,
            damping_per_s: -1.0,
            gravity_m_s2: [f64::NAN, -1e30, 0.0],
            iterations: 0,
            acceleration: 1_000,
            budget_ms: Some(-3.0),
            time_step_secs: 0.0,
            ..Params::default()
        };
        let clean = wild.sanitized();
        assert_eq!(clean, clean.sanitized());
        assert_eq!(
            (clean.iterations, clean.acceleration, clean.budget_ms),
            (1, MAX_ACCELERATION, Some(0.0))
        );
        assert_eq!(
            Params {
                budget_ms: Some(f64::NAN),
                ..Params::default()
            }
            .sanitized()
            .budget_ms,
            None
        );
        assert!(
            clean.stiffness_pa > 0.0
                && clean.density_kg_m3 > 0.0
                && clean.damping_per_s == 0.0
                && clean.time_step_secs > 0.0
        );
        assert!(
            Preset::ALL
                .iter()
                .all(|preset| preset.params().sanitized() == preset.params())
        );
    }
}
