//! Where contacts come into an iteration: between forward and backward substitution.

use super::contacts::{Contacts, Factor as FactorKind};
use super::factor::Factor;
use super::lanes::Slot;
use super::solver::Solver;
use super::structure::Structure;
use super::window::Window;
use crate::math::Point;

/// An equilibrium looks for contacts anew after so many iterations.
const REFRESH: usize = 8;

/// Solves between the vertices of a window.
pub(super) struct WindowSolver<'a> {
    pub(super) structure: &'a Structure,
    pub(super) factor: &'a Factor,
    pub(super) window: &'a mut Window,
}

impl WindowSolver<'_> {
    /// How many vertices there are in all.
    pub(super) fn unknowns(&self) -> usize {
        self.structure.place.len()
    }

    /// Chooses the vertices of the window.
    pub(super) fn set_window(&mut self, vertices: &[u32]) {
        self.window.look_at(self.structure, vertices);
    }

    /// Replaces the values at the window's vertices, as a right-hand side that is zero elsewhere, by the solution there; all four
    /// lanes.
    pub(super) fn solve_window(&mut self, values: &mut [Slot]) {
        self.window.solve(self.structure, self.factor, values);
    }
}

/// The contacts of a simulation with what they need of the solver; kept from step to step.
pub(super) struct Touch {
    pub(super) contacts: Contacts,
    window: Window,
    values: Vec<Slot>,
}

impl Touch {
    pub(super) fn new(contacts: Contacts, structure: &Structure) -> Self {
        Self { contacts, window: Window::new(structure), values: Vec::new() }
    }

    /// Finds the contacts at these positions; returns whether a pair began or ended.
    pub(super) fn begin(&mut self, structure: &Structure, factor: &Factor, kind: FactorKind, positions: &[Point]) -> bool {
        let Self { contacts, window, .. } = self;
        contacts.begin(positions, &mut WindowSolver { structure, factor, window }, kind)
    }

    /// Whether an equilibrium should look for contacts before this iteration, counted from 1.
    pub(super) fn is_due(iteration: usize) -> bool {
        iteration % REFRESH == 1
    }

    /// Copies the present positions of the vertices in contact; returns the energy of the contacts there.
    pub(super) fn look(&mut self, solver: &Solver, positions: &mut [Point]) -> f64 {
        if self.contacts.is_empty() {
            return 0.0;
        }
        self.window.positions(solver, positions);
        self.contacts.energy(positions)
    }

    /// Adds the forces of the contacts to the right-hand side that was just substituted forward.
    pub(super) fn press(&mut self, structure: &Structure, factor: &Factor, solver: &mut Solver, positions: &[Point]) {
        if self.contacts.is_empty() {
            return;
        }
        let Self { contacts, window, values } = self;
        values.resize(window.len(), [0.0; 4]);
        window.peek(structure, factor, solver, values);
        if contacts.press(positions, values, &mut WindowSolver { structure, factor, window }) {
            window.push(structure, factor, solver, values);
        }
    }
}
