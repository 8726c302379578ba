//! The state of one simulated skin, and its steps.

use std::sync::Arc;
use std::time::Instant;

use super::contacts::Factor as FactorKind;
use super::factor::{Factor, FactorError};
use super::lanes::Slot;
use super::rows::{Rows, add, dot, scaled, sub};
use super::solver::{Done, Plan, Solver, Touching, each};
use super::touch::Touch;
use super::{Collisions, Contacts, Equations, Materials, Params, State, System};
use crate::math::{Point, Vec3};

/// "Time step" of the solve for an equilibrium, s: so long that inertia plays no part.
const STATIC_STEP_SECS: f64 = 100.0;
/// An equilibrium is reached when no vertex moves farther in an iteration than this part of the size…
const STILL: f32 = 1e-8;
/// …or when so many iterations brought nothing…
const PATIENCE: usize = 60;
/// …or after this many.
const MAX_STATIC_ITERATIONS: usize = 1500;
/// Differences remembered on the way to an equilibrium.
const STATIC_MEMORY: usize = 6;
/// No vertex is faster relative to its base than this many sizes a second: a jump of the pose must not shoot the skin away.
const MAX_SPEED_SIZES_PER_S: f32 = 8.0;

/// What a step did.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct StepReport {
    /// Milliseconds in local steps.
    pub local_ms: f64,
    /// Milliseconds in global steps, with everything between the iterations.
    pub global_ms: f64,
    /// Local/global iterations done.
    pub iterations: usize,
    /// Accelerated iterates that were taken back because their energy was higher.
    pub taken_back: usize,
    /// How far the vertex that moved most in the last iteration went, world units.
    pub last_change: f32,
    /// How far the vertex that moved most relative to its base went in the whole step, world units.
    pub farthest: f32,
}

/// Positions and velocities of the skin over a moving base, with everything a step needs.
pub struct Simulation {
    system: Arc<System>,
    params: Params,
    materials: Materials,
    dynamic: Factor,
    /// Factored when first asked for.
    equilibrium: Option<Factor>,
    size: f32,
    solver: Solver,
    /// The state by vertex, for others to read.
    position: Vec<Point>,
    velocity: Vec<Vec3>,
    base: Vec<Point>,
    /// None while parts pass through each other.
    touch: Option<Touch>,
}

impl Simulation {
    /// Factors the system and starts at rest with the given skin over the given base, as [`crate::tissue::Anchors::place`] gives it.
    ///
    /// # Errors
    /// [`FactorError`] if the matrix is not positive definite.
    pub fn new(system: Arc<System>, params: &Params, position: Vec<Point>, base: Vec<Point>, size: f32) -> Result<Self, FactorError> {
        let params = params.sanitized();
        let materials = Materials::uniform(system.unknowns());
        let dynamic = Factor::of(&system.structure, &system.matrix(&params, &materials, params.simulated_step_secs()))?;
        let velocity = vec![Vec3::zeros(); position.len()];
        let solver = Solver::new(&system.structure);
        let mut simulation =
            Self { system, params, materials, dynamic, equilibrium: None, size, solver, position, velocity, base, touch: None };
        simulation.weigh();
        simulation.take_in();
        Ok(simulation)
    }

    /// The skin, world space.
    #[must_use]
    pub fn positions(&self) -> &[Point] {
        &self.position
    }

    /// The base under it, and after it the places of the loose vertices.
    #[must_use]
    pub fn base(&self) -> &[Point] {
        &self.base
    }

    /// Skin velocities, world units per simulated second.
    #[must_use]
    pub fn velocities(&self) -> &[Vec3] {
        &self.velocity
    }

    /// Lets parts of the skin collide, or no more.
    pub fn set_contacts(&mut self, contacts: Option<Contacts>) {
        self.touch = contacts.map(|contacts| Touch::new(contacts, &self.system.structure));
    }

    /// The contacts, if parts collide.
    #[must_use]
    pub fn contacts(&self) -> Option<&Contacts> {
        self.touch.as_ref().map(|touch| &touch.contacts)
    }

    /// The contacts, to move what they are found by.
    pub fn contacts_mut(&mut self) -> Option<&mut Contacts> {
        self.touch.as_mut().map(|touch| &mut touch.contacts)
    }

    /// The parameters in force.
    #[must_use]
    pub fn params(&self) -> &Params {
        &self.params
    }

    /// What is simulated.
    #[must_use]
    pub fn system(&self) -> &Arc<System> {
        &self.system
    }

    /// Puts the skin somewhere, without velocity.
    ///
    /// # Panics
    /// If the slices have other lengths than the system.
    pub fn place(&mut self, position: &[Point], base: &[Point]) {
        self.position.copy_from_slice(position);
        self.base.copy_from_slice(base);
        self.velocity.fill(Vec3::zeros());
        if let Some(contacts) = self.contacts_mut() {
            contacts.clear();
        }
        self.take_in();
    }

    /// Changes parameters. Refactors numerically when a number of the matrix changes; the state stays.
    ///
    /// # Errors
    /// [`FactorError`]; the old parameters then stay.
    pub fn set_params(&mut self, params: &Params) -> Result<(), FactorError> {
        let params = params.sanitized();
        if !same_matrix(&params, &self.params) {
            let matrix = self.system.matrix(&params, &self.materials, params.simulated_step_secs());
            self.dynamic = Factor::of(&self.system.structure, &matrix)?;
        }
        let changed = params != self.params;
        self.params = params;
        if changed {
            self.matrix_changed();
        }
        Ok(())
    }

    /// Changes what the flesh is made of. Refactors numerically; the state stays.
    ///
    /// # Errors
    /// [`FactorError`]; the old materials then stay.
    pub fn set_materials(&mut self, materials: &Materials) -> Result<(), FactorError> {
        let materials = materials.sanitized(self.system.unknowns());
        let matrix = self.system.matrix(&self.params, &materials, self.params.simulated_step_secs());
        self.dynamic = Factor::of(&self.system.structure, &matrix)?;
        self.materials = materials;
        self.matrix_changed();
        Ok(())
    }

    /// What the flesh is made of.
    #[must_use]
    pub fn materials(&self) -> &Materials {
        &self.materials
    }

    fn matrix_changed(&mut self) {
        self.equilibrium = None;
        self.weigh();
        if let Some(touch) = &mut self.touch {
            touch.contacts.set_params(&self.system, &self.params);
        }
    }

    /// One time step: the base moves to `base`, the skin follows.
    ///
    /// # Panics
    /// If `base` has another length than the system.
    pub fn step(&mut self, base: &[Point]) -> StepReport {
        self.step_until(base, None)
    }

    /// As [`Simulation::step`], but begins no iteration after the first when it is later than `deadline`.
    ///
    /// # Panics
    /// If `base` has another length than the system.
    pub fn step_until(&mut self, base: &[Point], deadline: Option<Instant>) -> StepReport {
        let h = self.params.simulated_step_secs() as f32;
        let gravity = slot(&(self.gravity() * (h * h)));
        let fastest = self.fastest();
        let iterations = self.params.iterations as usize;
        let memory = self.params.acceleration as usize;
        self.in_pool(|simulation| {
            let old = &simulation.base;
            let predicted = |rows: &mut Rows, vertices: &[u32]| predict(rows, vertices, old, base, gravity, h);
            let structure = &simulation.system.structure;
            each(&mut simulation.solver.parts, 0, &|index, state| predicted(&mut state.rows, &structure.parts[index].vertices));
            predicted(&mut simulation.solver.top, &structure.top);
            simulation.move_base(base);
            if let Some(touch) = &mut simulation.touch {
                let structure = &simulation.system.structure;
                simulation.solver.give_positions(structure, &mut simulation.position);
                touch.begin(structure, &simulation.dynamic, FactorKind::Dynamic, &simulation.position);
            }
            let done = simulation.iterate(Pull::Dynamic, iterations, memory, 0.0, deadline);
            each(&mut simulation.solver.parts, 0, &|_, state| state.farthest = finish(&mut state.rows, h, fastest));
            let top = finish(&mut simulation.solver.top, h, fastest);
            simulation.give_out();
            if let Some(touch) = &mut simulation.touch {
                touch.contacts.end(&simulation.position);
            }
            let farthest = simulation.solver.parts.iter().fold(top, |most, part| most.max(part.farthest));
            StepReport { farthest, ..report(&done) }
        })
    }

    /// Follows the base to `base` without inertia: a few iterations towards the equilibrium there, no velocity kept. For ramps.
    ///
    /// # Errors
    /// [`FactorError`].
    pub fn creep(&mut self, base: &[Point], iterations: usize) -> Result<StepReport, FactorError> {
        self.factor_equilibrium()?;
        let structure = &self.system.structure;
        let old = &self.base;
        let carry = |rows: &mut Rows, vertices: &[u32]| {
            for (row, &v) in vertices.iter().enumerate() {
                rows.x[row] = add(rows.x[row], slot(&(base[v as usize] - old[v as usize])));
            }
        };
        for (state, part) in self.solver.parts.iter_mut().zip(&structure.parts) {
            carry(&mut state.rows, &part.vertices);
        }
        carry(&mut self.solver.top, &structure.top);
        self.move_base(base);
        Ok(self.relax(iterations, 0.0))
    }

    /// The equilibrium over the present base: iterates until nothing moves any more, then stands still.
    ///
    /// # Errors
    /// [`FactorError`].
    pub fn settle(&mut self) -> Result<StepReport, FactorError> {
        self.factor_equilibrium()?;
        let report = self.relax(MAX_STATIC_ITERATIONS, STILL * self.size);
        for rows in self.solver.parts.iter_mut().map(|part| &mut part.rows).chain([&mut self.solver.top]) {
            rows.base_velocity.fill([0.0; 4]);
        }
        Ok(report)
    }

    /// E(x) of the step that was made last, J up to the unit of length: what every iteration must lower.
    #[must_use]
    pub fn energy(&mut self) -> f64 {
        let contacts = self.touch.as_ref().map_or(0.0, |touch| touch.contacts.energy(&self.position));
        self.solver.energy(&self.system.structure) + contacts
    }

    /// The equations of its time steps.
    #[must_use]
    pub fn equations(&self) -> Equations {
        self.system.equations(&self.params, &self.materials, self.gravity(), self.fastest())
    }

    /// A copy of where it is and where it goes.
    #[must_use]
    pub fn state(&self) -> State {
        let mut base_velocity = vec![Vec3::zeros(); self.position.len()];
        let structure = &self.system.structure;
        let owners = self.solver.parts.iter().zip(&structure.parts).map(|(state, part)| (&state.rows, &part.vertices));
        for (rows, vertices) in owners.chain([(&self.solver.top, &structure.top)]) {
            for (&[x, y, z, _], &v) in rows.base_velocity.iter().zip(vertices) {
                base_velocity[v as usize] = Vec3::new(x, y, z);
            }
        }
        State { position: self.position.clone(), velocity: self.velocity.clone(), base_velocity, base: self.base.clone() }
    }

    /// Goes on from there: what [`Simulation::state`] gave, or another solver of the same equations.
    ///
    /// # Panics
    /// If it is of another system.
    pub fn set_state(&mut self, state: &State) {
        self.position.copy_from_slice(&state.position);
        self.velocity.copy_from_slice(&state.velocity);
        self.base.copy_from_slice(&state.base);
        if let Some(contacts) = self.contacts_mut() {
            contacts.clear();
        }
        self.take_in();
        let structure = &self.system.structure;
        let owners = self.solver.parts.iter_mut().zip(&structure.parts).map(|(state, part)| (&mut state.rows, &part.vertices));
        for (rows, vertices) in owners.chain([(&mut self.solver.top, &structure.top)]) {
            for (velocity, &v) in rows.base_velocity.iter_mut().zip(vertices) {
                *velocity = slot(&state.base_velocity[v as usize]);
            }
        }
    }

    /// What contacts are found and prepared with.
    pub(super) fn for_contacts(&mut self) -> (&System, Option<&mut Touch>, &Factor) {
        (&self.system, self.touch.as_mut(), &self.dynamic)
    }

    /// No vertex is faster relative to its base, world units per simulated second.
    fn fastest(&self) -> f32 {
        let h = self.params.simulated_step_secs() as f32;
        MAX_SPEED_SIZES_PER_S * self.size * (self.params.time_step_secs as f32 / h)
    }

    fn factor_equilibrium(&mut self) -> Result<(), FactorError> {
        if self.equilibrium.is_none() {
            self.equilibrium =
                Some(Factor::of(&self.system.structure, &self.system.matrix(&self.params, &self.materials, STATIC_STEP_SECS))?);
        }
        Ok(())
    }

    fn relax(&mut self, iterations: usize, still: f32) -> StepReport {
        self.in_pool(|simulation| {
            for rows in simulation.solver.parts.iter_mut().map(|part| &mut part.rows).chain([&mut simulation.solver.top]) {
                rows.velocity.fill([0.0; 4]);
            }
            let done = simulation.iterate(Pull::Static, iterations, STATIC_MEMORY, still, None);
            simulation.give_out();
            if let Some(touch) = &mut simulation.touch {
                touch.contacts.end(&simulation.position);
            }
            report(&done)
        })
    }

    fn iterate(&mut self, pull: Pull, iterations: usize, memory: usize, still: f32, deadline: Option<Instant>) -> Done {
        let own_h = self.params.simulated_step_secs();
        let (factor, constant) = match (pull, &self.equilibrium) {
            (Pull::Static, Some(factor)) => (factor, Some(slot(&(self.gravity() * (own_h * own_h) as f32)))),
            _ => (&self.dynamic, None),
        };
        let structure = &self.system.structure;
        let refreshed = constant.is_some();
        let touching = self.touch.as_mut().map(|touch| Touching { touch, positions: &mut self.position, refreshed });
        self.solver.iterate(&Plan { structure, factor, iterations, memory, constant, still, patience: PATIENCE, deadline }, touching)
    }

    fn gravity(&self) -> Vec3 {
        let unit = self.system.unit(&self.params);
        Vec3::from(self.params.gravity_m_s2.map(|g| (g / unit) as f32))
    }

    /// Puts stiffness and mass into the solver.
    fn weigh(&mut self) {
        let Self { system, params, materials, solver, .. } = self;
        let h = params.simulated_step_secs();
        let structure = &system.structure;
        let weigh = |rows: &mut Rows, vertices: &[u32]| {
            for (row, &v) in vertices.iter().enumerate() {
                let v = v as usize;
                rows.inertia[row] = (system.inertial_mass(v, params, materials) / (h * h)) as f32;
                rows.heaviness[row] = (1.0 / materials.inertia(v, params)) as f32;
                rows.kept[row] = (-materials.damping_per_s(v, params) * h).exp() as f32;
            }
        };
        solver.total_weight = system.total_volume * system.stiffness_scale(params);
        solver.volume = params.volume as f32;
        for (state, part) in solver.parts.iter_mut().zip(&structure.parts) {
            weigh(&mut state.rows, &part.vertices);
            state.weights = system.weights(part, params, materials);
        }
        weigh(&mut solver.top, &structure.top);
    }

    /// The base moves, and with it what hangs on it.
    fn move_base(&mut self, base: &[Point]) {
        self.base.copy_from_slice(base);
        let structure = &self.system.structure;
        for (state, part) in self.solver.parts.iter_mut().zip(&structure.parts) {
            for (slot_, &v) in state.rows.x[part.base_start..].iter_mut().zip(&part.base) {
                *slot_ = slot(&base[v as usize].coords);
            }
        }
        for rows in self.solver.parts.iter_mut().map(|part| &mut part.rows).chain([&mut self.solver.top]) {
            rows.carried.clear();
        }
        for (&vertex, place) in self.system.carried.iter().zip(&base[self.position.len()..]) {
            let [part, row] = structure.place[vertex as usize].map(|k| k as usize);
            let rows = self.solver.parts.get_mut(part).map_or(&mut self.solver.top, |part| &mut part.rows);
            rows.carried.push((row, slot(&place.coords)));
        }
    }

    /// State by vertex → solver.
    fn take_in(&mut self) {
        let structure = &self.system.structure;
        let (position, velocity) = (&self.position, &self.velocity);
        let take = |rows: &mut Rows, vertices: &[u32]| {
            for (row, &v) in vertices.iter().enumerate() {
                rows.x[row] = slot(&position[v as usize].coords);
                rows.velocity[row] = slot(&velocity[v as usize]);
                rows.base_velocity[row] = [0.0; 4];
            }
        };
        for (state, part) in self.solver.parts.iter_mut().zip(&structure.parts) {
            take(&mut state.rows, &part.vertices);
        }
        take(&mut self.solver.top, &structure.top);
        let base = std::mem::take(&mut self.base);
        self.base.clone_from(&base);
        self.move_base(&base);
    }

    /// Solver → state by vertex.
    fn give_out(&mut self) {
        let structure = &self.system.structure;
        let (position, velocity) = (&mut self.position, &mut self.velocity);
        let mut give = |rows: &Rows, vertices: &[u32]| {
            for (row, &v) in vertices.iter().enumerate() {
                let ([x, y, z, _], [u, v_, w, _]) = (rows.x[row], rows.velocity[row]);
                position[v as usize] = Point::new(x, y, z);
                velocity[v as usize] = Vec3::new(u, v_, w);
            }
        };
        for (state, part) in self.solver.parts.iter().zip(&structure.parts) {
            give(&state.rows, &part.vertices);
        }
        give(&self.solver.top, &structure.top);
    }

    /// Works inside of the thread pool, so that every fork is cheap.
    fn in_pool<R: Send>(&mut self, work: impl FnOnce(&mut Self) -> R + Send) -> R {
        if self.solver.parts.len() < 2 || rayon::current_thread_index().is_some() { work(self) } else { rayon::scope(|_| work(self)) }
    }
}

/// What stands for inertia.
enum Pull {
    /// M/h² (y − x).
    Dynamic,
    /// Gravity alone.
    Static,
}

/// Guess: carried along by the base, with what it had of its own motion. The minimiser does not depend on the guess.
fn predict(rows: &mut Rows, vertices: &[u32], old: &[Point], base: &[Point], gravity: Slot, h: f32) {
    for (row, &v) in vertices.iter().enumerate() {
        let carried = slot(&(base[v as usize] - old[v as usize]));
        let (x, way) = (rows.x[row], scaled(rows.velocity[row], h));
        let own = sub(way, scaled(rows.base_velocity[row], h));
        rows.before[row] = x;
        rows.target[row] = add(add(x, way), scaled(gravity, rows.heaviness[row]));
        rows.x[row] = add(x, add(carried, own));
        rows.base_velocity[row] = scaled(carried, 1.0 / h);
    }
}

/// New velocities; how far the vertex that moved most relative to its base went.
fn finish(rows: &mut Rows, h: f32, fastest: f32) -> f32 {
    for &(row, _) in &rows.carried {
        rows.base_velocity[row] = scaled(sub(rows.x[row], rows.before[row]), 1.0 / h);
    }
    let mut farthest = 0.0_f32;
    for row in 0..rows.count {
        let base = rows.base_velocity[row];
        let relative = sub(scaled(sub(rows.x[row], rows.before[row]), 1.0 / h), base);
        let speed = dot(relative, relative).sqrt();
        farthest = farthest.max(speed * h);
        let kept = if speed > fastest { rows.kept[row] * fastest / speed } else { rows.kept[row] };
        rows.velocity[row] = add(base, scaled(relative, kept));
    }
    farthest
}

/// Whether the matrix depends on none of the differences.
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

fn slot(v: &Vec3) -> Slot {
    [v.x, v.y, v.z, 0.0]
}

fn report(done: &Done) -> StepReport {
    StepReport {
        local_ms: done.local_secs * 1e3,
        global_ms: done.global_secs * 1e3,
        iterations: done.iterations,
        taken_back: done.taken_back,
        last_change: done.last_change,
        farthest: 0.0,
    }
}
