//! Simulation of one skin: its data, its state (`state.rs`) and its steps (`step.rs`).

mod state;
mod step;

pub use step::Settling;

use std::sync::Arc;

use rayon::prelude::*;

use super::contact_solver::ContactSolver;
use super::guidance::{Forces, Quadratic, Target};
use super::rows::Rows;
use super::solver::Solver;
use super::{Collisions, Contacts, Equations, Materials, Params, System};
use crate::math::{Point, Vec3};
use crate::numerics::FactorError;
use crate::numerics::lanes::Padded;
use crate::numerics::tiles::TiledFactor;

/// Limit of a vertex's speed relative to its base, sizes per second: a jump of the pose must not accelerate the skin without bound.
pub(crate) const MAX_SPEED_SIZES_PER_S: f32 = 8.0;

/// Largest distance by which inertia may leave guided flesh behind its reference motion in a step, as a fraction of its depth: a
/// jump of the pose must not invert elements.
pub(crate) const MAX_LAG: f32 = 0.5;

/// Smallest number of unknowns per parallel task.
const MIN_TASK: usize = 512;

/// Times and convergence of a step.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct StepReport {
    /// Time of local steps, ms.
    pub local_ms: f64,
    /// Time of global steps and everything else in the iterations, ms.
    pub global_ms: f64,
    /// Number of local/global iterations.
    pub iterations: usize,
    /// Number of accelerated iterates that were rejected because their energy was higher.
    pub rejected: usize,
    /// Largest displacement of a vertex in the last iteration, world units.
    pub last_change: f32,
    /// Largest displacement of a vertex relative to its base in the whole step, world units.
    pub max_displacement: f32,
}

/// Simulation of the skin over a moving base.
pub struct Simulation {
    system: Arc<System>,
    params: Params,
    materials: Materials,
    dynamic_factor: TiledFactor,
    /// Computed when first needed.
    static_factor: Option<TiledFactor>,
    size: f32,
    solver: Solver,
    /// State by vertex, a copy of the solver's state.
    position: Vec<Point>,
    velocity: Vec<Vec3>,
    base: Vec<Point>,
    /// Current guidance targets, and those that become current when the base moves next. Empty without guidance.
    targets: Vec<Target>,
    next_targets: Vec<Target>,
    forces: Forces,
    /// Depth of the flesh at rest, by unknown, world units.
    depths: Vec<f32>,
    /// `None` without collisions.
    contact_solver: Option<ContactSolver>,
}

impl Simulation {
    /// Factors the system and starts at rest with the given skin over the given base, see [`crate::tissue::Anchors::place`].
    ///
    /// # Errors
    /// [`FactorError`] if the matrix is not positive definite.
    pub fn new(
        system: Arc<System>,
        params: &Params,
        position: Vec<Point>,
        base: Vec<Point>,
        size: f32,
    ) -> Result<Self, FactorError> {
        let params = params.sanitized();
        let materials = Materials::uniform(system.unknowns());
        let dynamic_factor = TiledFactor::of(
            &system.partition,
            &system.matrix(&params, &materials, params.simulated_step_secs()),
        )?;
        let depth = |(x, &point): (&Point, &u32)| (x - base[point as usize]).norm();
        let depths = position.iter().zip(&system.references).map(depth).collect();
        let velocity = vec![Vec3::zeros(); position.len()];
        let solver = Solver::new(&system.partition);
        let targets: Vec<Target> = match system.guidance {
            Some(_) => position.iter().copied().map(Target::at_rest).collect(),
            None => Vec::new(),
        };
        let mut simulation = Self {
            system,
            params,
            materials,
            dynamic_factor,
            static_factor: None,
            size,
            solver,
            position,
            velocity,
            base,
            next_targets: targets.clone(),
            targets,
            forces: Forces::default(),
            depths,
            contact_solver: None,
        };
        simulation.update_weights();
        simulation.write_solver_state();
        Ok(simulation)
    }

    /// The skin, world positions.
    #[must_use]
    pub fn positions(&self) -> &[Point] {
        &self.position
    }

    /// The prescribed points: the base, followed by the positions of carried vertices.
    #[must_use]
    pub fn base(&self) -> &[Point] {
        &self.base
    }

    /// Whether the unknowns have guidance targets.
    #[must_use]
    pub fn is_guided(&self) -> bool {
        self.system.guidance.is_some()
    }

    /// The current guidance targets; empty without guidance.
    #[must_use]
    pub fn targets(&self) -> &[Target] {
        &self.targets
    }

    /// Sets the guidance targets, by unknown, that become current when the base moves next. Without guidance, `target_of` is not
    /// called.
    pub fn set_next_targets(&mut self, target_of: impl Fn(usize) -> Target + Sync) {
        self.next_targets
            .par_iter_mut()
            .with_min_len(MIN_TASK)
            .enumerate()
            .for_each(|(unknown, target)| *target = target_of(unknown));
    }

    /// Skin velocities, world units per simulated second.
    #[must_use]
    pub fn velocities(&self) -> &[Vec3] {
        &self.velocity
    }

    /// Sets the contacts; `None` disables collisions.
    pub fn set_contacts(&mut self, contacts: Option<Contacts>) {
        self.contact_solver =
            contacts.map(|contacts| ContactSolver::new(contacts, &self.system.partition));
    }

    /// The contacts; `None` without collisions.
    #[must_use]
    pub fn contacts(&self) -> Option<&Contacts> {
        self.contact_solver
            .as_ref()
            .map(|contact_solver| &contact_solver.contacts)
    }

    /// The contacts, for moving their foot points.
    pub fn contacts_mut(&mut self) -> Option<&mut Contacts> {
        self.contact_solver
            .as_mut()
            .map(|contact_solver| &mut contact_solver.contacts)
    }

    /// The current parameters.
    #[must_use]
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// The simulated system.
    #[must_use]
    pub fn system(&self) -> &Arc<System> {
        &self.system
    }

    /// Changes parameters. Refactors numerically if the matrix changes; the state is kept.
    ///
    /// # Errors
    /// [`FactorError`]; the old parameters are then kept.
    pub fn set_params(&mut self, params: &Params) -> Result<(), FactorError> {
        let params = params.sanitized();
        if !same_matrix(&params, &self.params) {
            let matrix = self
                .system
                .matrix(&params, &self.materials, params.simulated_step_secs());
            self.dynamic_factor = TiledFactor::of(&self.system.partition, &matrix)?;
        }
        let changed = params != self.params;
        self.params = params;
        if changed {
            self.matrix_changed();
        }
        Ok(())
    }

    /// Changes the materials. Refactors numerically; the state is kept.
    ///
    /// # Errors
    /// [`FactorError`]; the old materials are then kept.
    pub fn set_materials(&mut self, materials: &Materials) -> Result<(), FactorError> {
        let materials = materials.sanitized(self.system.unknowns());
        let matrix =
            self.system
                .matrix(&self.params, &materials, self.params.simulated_step_secs());
        self.dynamic_factor = TiledFactor::of(&self.system.partition, &matrix)?;
        self.materials = materials;
        self.matrix_changed();
        Ok(())
    }

    /// The current materials.
    #[must_use]
    pub fn materials(&self) -> &Materials {
        &self.materials
    }

    fn matrix_changed(&mut self) {
        self.static_factor = None;
        self.update_weights();
        self.move_targets();
        if let Some(contact_solver) = &mut self.contact_solver {
            contact_solver
                .contacts
                .set_params(&self.system, &self.params);
        }
    }

    /// E(x) of the last step, J up to the unit of length: every iteration must decrease it.
    #[must_use]
    pub fn energy(&mut self) -> f64 {
        let contacts = self.contact_solver.as_ref().map_or(0.0, |contact_solver| {
            contact_solver.contacts.energy(&self.position)
        });
        self.solver.energy(&self.system) + contacts
    }

    /// The equations of a time step, for other solvers.
    #[must_use]
    pub fn equations(&self) -> Equations {
        self.system.equations(
            &self.params,
            &self.materials,
            self.gravity(),
            self.max_speed(),
        )
    }

    /// The parts that detection and solve of contacts need.
    pub(super) fn contact_context(
        &mut self,
    ) -> (&System, Option<&mut ContactSolver>, &TiledFactor) {
        (
            &self.system,
            self.contact_solver.as_mut(),
            &self.dynamic_factor,
        )
    }

    /// Limit of a vertex's speed relative to its base, world units per simulated second.
    fn max_speed(&self) -> f32 {
        let h = self.params.simulated_step_secs() as f32;
        MAX_SPEED_SIZES_PER_S * self.size * (self.params.time_step_secs as f32 / h)
    }

    fn gravity(&self) -> Vec3 {
        let unit = self.system.unit(&self.params);
        Vec3::from(self.params.gravity_m_s2.map(|g| (g / unit) as f32))
    }

    /// Updates stiffness, mass and damping in the solver.
    fn update_weights(&mut self) {
        let Self {
            system,
            params,
            materials,
            solver,
            depths,
            ..
        } = self;
        let h = params.simulated_step_secs();
        let partition = &system.partition;
        let set_rows = |rows: &mut Rows, vertices: &[u32]| {
            for (row, &v) in vertices.iter().enumerate() {
                let v = v as usize;
                rows.inertia[row] = (system.inertial_mass(v, params, materials) / (h * h)) as f32;
                rows.gravity_scale[row] = (1.0 / materials.inertia(v, params)) as f32;
                rows.damping_factor[row] = (-materials.damping_per_s(v, params) * h).exp() as f32;
                if system.guidance.is_some() {
                    rows.max_lag[row] = MAX_LAG * depths[v];
                }
            }
        };
        solver.total_weight = system.total_volume * system.stiffness_scale(params);
        solver.volume = params.volume as f32;
        for (state, part) in solver.subdomains.iter_mut().zip(&partition.subdomains) {
            set_rows(&mut state.rows, &part.unknowns);
            state.weights = system.weights(part, params, materials);
        }
        set_rows(&mut solver.top, &partition.top);
        if let Some(values) = system.guidance_matrix(params, materials) {
            let mut parts = Quadratic::distribute(partition, &values);
            if let Some(top) = parts.pop() {
                solver.top_guidance = top;
            }
            for (state, part) in solver.subdomains.iter_mut().zip(parts) {
                state.guidance = part;
            }
        }
        if let Some(guidance) = &system.guidance {
            let of_elements = system.guidance_weights(params, materials);
            let of_bending = system.bending_weights(guidance, params, materials);
            let chains = &system.chains.chains;
            self.forces
                .set_weights(guidance, chains, &of_elements, &of_bending);
        }
    }
}

/// Whether both parameter sets have the same system matrix.
fn same_matrix(a: &Params, b: &Params) -> bool {
    let matrix_only = |p: &Params| Params {
        damping_per_s: 0.0,
        gravity_m_s2: [0.0; 3],
        iterations: 1,
        acceleration: 0,
        budget_ms: None,
        collisions: Collisions::Off,
        ..*p
    };
    matrix_only(a) == matrix_only(b)
}

fn slot(v: &Vec3) -> Padded {
    [v.x, v.y, v.z, 0.0]
}
