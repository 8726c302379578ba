//! Masses and stiffnesses of the constraints, from the physical parameters and the materials.

use super::block::Weights;
use super::model::{Model, RestTet};
use super::options::Options;
use crate::dynamics::{MAX_LAG, MAX_SPEED_SIZES_PER_S, Materials, Params, System};
use crate::math::Vec3;

/// The step to an equilibrium is so long that the stiffness of a typical tet is this many times its inertia.
const STATIC_STIFFNESS: f64 = 10.0;

/// What constraints and masses follow from.
#[derive(Debug, Clone, Copy)]
pub(super) struct Setup<'a> {
    pub(super) params: &'a Params,
    pub(super) materials: &'a Materials,
    pub(super) options: Options,
    /// Of the character, world units.
    pub(super) size: f32,
}

/// All numbers that follow from parameters and materials.
pub(super) struct Physics {
    /// Of all points, 1/kg; 0 for points that stay.
    pub(super) inverse_masses: Vec<f32>,
    /// Physical over inertial mass of the unknowns.
    pub(super) gravity_scale: Vec<f32>,
    /// Decay rate of the velocity relative to the base, by unknown, s⁻¹.
    pub(super) damping_per_s: Vec<f32>,
    /// Distance by which inertia may leave an unknown behind its reference in a time step, world units.
    pub(super) max_lag: Vec<f32>,
    /// Stiffness times volume of every tet of the model.
    stiffness: Vec<f64>,
    /// k V/d² of every unknown: the stiffness of its spring to linear blend skinning, for a relative stiffness of 1.
    springs: Vec<f64>,
    /// World units s⁻².
    pub(super) gravity: Vec3,
    /// World units per simulated second, relative to the base.
    pub(super) max_speed: f32,
    /// Simulated time of a step, s.
    pub(super) step_secs: f64,
    /// Of a step to an equilibrium.
    pub(super) static_step_secs: f64,
}

impl Physics {
    pub(super) fn of(model: &Model, system: &System, setup: Setup<'_>) -> Self {
        let Setup {
            params,
            materials,
            size,
            ..
        } = setup;
        let unknowns = 0..model.unknowns;
        let scale = system.stiffness_scale(params);
        let inverse_mass = |unknown: usize| {
            if model.is_free[unknown] {
                (1.0 / system.inertial_mass(unknown, params, materials)) as f32
            } else {
                0.0
            }
        };
        let mut inverse_masses: Vec<f32> = unknowns.clone().map(inverse_mass).collect();
        inverse_masses.resize(model.points(), 0.0);
        let of_tet = |tet: &RestTet| scale * materials.cell_stiffness(model.cell(tet)) * tet.volume;
        let stiffness: Vec<f64> = model.tets.iter().map(of_tet).collect();
        let spring = |unknown: usize| {
            let depth = f64::from(model.depths[unknown]).max(f64::from(f32::MIN_POSITIVE));
            let stiffness = f64::from(materials.stiffness[unknown]);
            scale * stiffness * model.volumes[unknown] / (depth * depth)
        };
        let step_secs = params.simulated_step_secs();
        let unit = system.unit(params);
        let playback = params.time_step_secs / step_secs;
        Self {
            gravity_scale: unknowns
                .clone()
                .map(|v| (1.0 / materials.inertia(v, params)) as f32)
                .collect(),
            damping_per_s: unknowns
                .clone()
                .map(|v| materials.damping_per_s(v, params) as f32)
                .collect(),
            max_lag: model.depths.iter().map(|depth| MAX_LAG * depth).collect(),
            springs: unknowns.map(spring).collect(),
            gravity: Vec3::from(params.gravity_m_s2.map(|g| (g / unit) as f32)),
            max_speed: MAX_SPEED_SIZES_PER_S * size * playback as f32,
            static_step_secs: static_step(model, &inverse_masses, &stiffness),
            inverse_masses,
            stiffness,
            step_secs,
        }
    }

    /// What the constraints with compliance need; `volume` is their resistance to changes of volume relative to that of shape.
    pub(super) fn weights(&self, volume: f64) -> Weights<'_> {
        Weights {
            inverse_masses: &self.inverse_masses,
            stiffness: &self.stiffness,
            volume,
        }
    }

    /// w/α̃ of the springs to linear blend skinning, for a step of this length (s).
    pub(super) fn spring_masses(&self, relative: f64, step_secs: f64, out: &mut Vec<f32>) {
        out.clear();
        let factor = relative * step_secs * step_secs;
        let springs = self.springs.iter().zip(&self.inverse_masses);
        out.extend(springs.map(|(k, &w)| (factor * k * f64::from(w)) as f32));
    }
}

/// The h for which h² k V Σ w |g|² is [`STATIC_STIFFNESS`] in the median tet, s.
fn static_step(model: &Model, inverse_masses: &[f32], stiffness: &[f64]) -> f64 {
    let rate = |(tet, k): (&RestTet, &f64)| {
        let weights = tet.corners.map(|c| f64::from(inverse_masses[c as usize]));
        let gradients = tet.gradients().into_iter().zip(weights);
        k * gradients.map(|(g, w)| w * g.norm_squared()).sum::<f64>()
    };
    let mut rates: Vec<f64> = model.tets.iter().zip(stiffness).map(rate).collect();
    rates.sort_by(f64::total_cmp);
    let median = rates.get(rates.len() / 2).copied().unwrap_or(1.0);
    (STATIC_STIFFNESS / median.max(f64::MIN_POSITIVE)).sqrt()
}
