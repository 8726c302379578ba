//! Conversion between the state by vertex and the solver's rows.

use rayon::prelude::*;

use super::{MIN_TASK, Simulation, slot};
use crate::dynamics::State;
use crate::dynamics::rows::Rows;
use crate::math::{Point, Vec3};
use crate::numerics::partition::for_each_subdomain;

impl Simulation {
    /// Sets all positions; velocities become zero. Guidance targets that were set become current, so that the next step does not move
    /// the positions by the way of the targets before.
    ///
    /// # Panics
    /// If the slices have other lengths than the system.
    pub fn set_positions(&mut self, position: &[Point], base: &[Point]) {
        self.position.copy_from_slice(position);
        self.base.copy_from_slice(base);
        self.velocity.fill(Vec3::zeros());
        self.targets.clone_from(&self.next_targets);
        if let Some(contacts) = self.contacts_mut() {
            contacts.clear();
        }
        self.write_solver_state();
    }

    /// The positions by vertex that others read, not those that the solver goes on from.
    pub(crate) fn visible_positions_mut(&mut self) -> &mut [Point] {
        &mut self.position
    }

    /// A copy of the current state.
    #[must_use]
    pub fn state(&self) -> State {
        let velocity_of = |&place: &[u32; 2]| {
            let (rows, row) = self.solver.rows_at(place);
            let [x, y, z, _] = rows.base_velocity[row];
            Vec3::new(x, y, z)
        };
        let base_velocity = self
            .system
            .partition
            .place
            .iter()
            .map(velocity_of)
            .collect();
        State {
            position: self.position.clone(),
            velocity: self.velocity.clone(),
            base_velocity,
            base: self.base.clone(),
        }
    }

    /// Restores a state from [`Simulation::state`] or from another solver of the same equations.
    ///
    /// # Panics
    /// If the state belongs to another system.
    pub fn set_state(&mut self, state: &State) {
        self.position.copy_from_slice(&state.position);
        self.velocity.copy_from_slice(&state.velocity);
        self.base.copy_from_slice(&state.base);
        if let Some(contacts) = self.contacts_mut() {
            contacts.clear();
        }
        self.write_solver_state();
        let partition = &self.system.partition;
        let owners = self
            .solver
            .subdomains
            .iter_mut()
            .zip(&partition.subdomains)
            .map(|(state, part)| (&mut state.rows, &part.unknowns));
        for (rows, vertices) in owners.chain([(&mut self.solver.top, &partition.top)]) {
            for (velocity, &v) in rows.base_velocity.iter_mut().zip(vertices) {
                *velocity = slot(&state.base_velocity[v as usize]);
            }
        }
    }

    /// Moves the prescribed points and makes the next guidance targets current.
    pub(super) fn move_base(&mut self, base: &[Point]) {
        self.base.copy_from_slice(base);
        let partition = &self.system.partition;
        for_each_subdomain(&mut self.solver.subdomains, 0, &|index, state| {
            let slots = &mut state.rows.x[partition.subdomains[index].free_start..];
            for (point, &v) in slots.iter_mut().zip(&self.system.blocks[index].prescribed) {
                *point = slot(&base[v as usize].coords);
            }
        });
        for rows in self
            .solver
            .subdomains
            .iter_mut()
            .map(|part| &mut part.rows)
            .chain([&mut self.solver.top])
        {
            rows.carried.clear();
        }
        for &[unknown, point] in &self.system.carried {
            let position = &base[point as usize];
            let [part, row] = partition.place[unknown as usize].map(|k| k as usize);
            let rows = self
                .solver
                .subdomains
                .get_mut(part)
                .map_or(&mut self.solver.top, |part| &mut part.rows);
            rows.carried.push((row, slot(&position.coords)));
        }
        self.targets.clone_from(&self.next_targets);
        self.move_targets();
    }

    /// Copies guidance targets and forces to the solver's rows.
    pub(super) fn move_targets(&mut self) {
        let Self {
            system,
            solver,
            forces,
            targets,
            base,
            depths,
            contact_solver,
            ..
        } = self;
        if system.guidance.is_none() {
            return;
        }
        forces.compute(targets, base);
        if let Some(contact_solver) = contact_solver {
            let positions = targets.iter().map(|target| target.position);
            contact_solver.contacts.set_guidance(positions, depths);
        }
        let partition = &system.partition;
        let write = |rows: &mut Rows, unknowns: &[u32], behind: &[u32]| {
            for (target, &unknown) in rows
                .target_position
                .iter_mut()
                .zip(unknowns.iter().chain(behind))
            {
                *target = slot(&targets[unknown as usize].position.coords);
            }
            for (force, &unknown) in rows.guidance_force.iter_mut().zip(unknowns) {
                *force = forces.values[unknown as usize];
            }
        };
        for_each_subdomain(&mut solver.subdomains, 0, &|index, state| {
            let unknowns = &partition.subdomains[index].unknowns;
            write(&mut state.rows, unknowns, &partition.top);
        });
        write(&mut solver.top, &partition.top, &[]);
    }

    /// Copies the state by vertex to the solver.
    pub(super) fn write_solver_state(&mut self) {
        let partition = &self.system.partition;
        let (position, velocity) = (&self.position, &self.velocity);
        let write = |rows: &mut Rows, vertices: &[u32]| {
            for (row, &v) in vertices.iter().enumerate() {
                rows.x[row] = slot(&position[v as usize].coords);
                rows.velocity[row] = slot(&velocity[v as usize]);
                rows.base_velocity[row] = [0.0; 4];
            }
        };
        for (state, part) in self.solver.subdomains.iter_mut().zip(&partition.subdomains) {
            write(&mut state.rows, &part.unknowns);
        }
        write(&mut self.solver.top, &partition.top);
        let base = std::mem::take(&mut self.base);
        self.base.clone_from(&base);
        self.move_base(&base);
    }

    /// Copies the solver's state to the state by vertex.
    pub(super) fn read_solver_state(&mut self) {
        let Self {
            system,
            solver,
            position,
            velocity,
            ..
        } = self;
        let solver = &*solver;
        position
            .par_iter_mut()
            .zip(velocity)
            .zip(&system.partition.place)
            .with_min_len(MIN_TASK)
            .for_each(|((position, velocity), &place)| {
                let (rows, row) = solver.rows_at(place);
                let ([x, y, z, _], [u, v, w, _]) = (rows.x[row], rows.velocity[row]);
                *position = Point::new(x, y, z);
                *velocity = Vec3::new(u, v, w);
            });
    }
}
