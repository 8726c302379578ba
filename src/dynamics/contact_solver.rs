//! The contact step of an iteration, between forward and backward substitution.

use super::contacts::{Contacts, FactorKind};
use super::solver::Solver;
use crate::math::Point;
use crate::numerics::lanes::Padded;
use crate::numerics::partition::Partition;
use crate::numerics::tiles::TiledFactor;
use crate::numerics::window::{Window, WindowSolver};

/// A solve for an equilibrium detects contacts again every this many iterations.
const DETECTION_INTERVAL: usize = 8;

/// The contacts of a simulation, and the solver restricted to their vertices; kept from step to step.
pub(super) struct ContactSolver {
    pub(super) contacts: Contacts,
    window: Window,
    values: Vec<Padded>,
}

impl ContactSolver {
    pub(super) fn new(contacts: Contacts, partition: &Partition) -> Self {
        Self {
            contacts,
            window: Window::new(partition),
            values: Vec::new(),
        }
    }

    /// Detects the contacts at these positions. Returns whether a pair began or ended.
    pub(super) fn begin(
        &mut self,
        partition: &Partition,
        factor: &TiledFactor,
        kind: FactorKind,
        positions: &[Point],
    ) -> bool {
        let Self {
            contacts, window, ..
        } = self;
        contacts.begin(
            positions,
            &mut WindowSolver {
                partition,
                factor,
                window,
            },
            kind,
        )
    }

    /// Whether a solve for an equilibrium should detect contacts before this iteration, counted from 1.
    pub(super) fn is_detection_due(iteration: usize) -> bool {
        iteration % DETECTION_INTERVAL == 1
    }

    /// Copies the solver's current positions of the vertices in contact. Returns the energy of the contacts there.
    pub(super) fn read_positions(&mut self, solver: &Solver, positions: &mut [Point]) -> f64 {
        if self.contacts.is_empty() {
            return 0.0;
        }
        for (vertex, place) in self.window.places() {
            let (rows, row) = solver.rows_at(place);
            let [x, y, z, _] = rows.x[row];
            positions[vertex as usize] = Point::new(x, y, z);
        }
        self.contacts.energy(positions)
    }

    /// Solves for the loads and adds the contact forces to the forward-substituted right-hand side.
    pub(super) fn add_forces(
        &mut self,
        partition: &Partition,
        factor: &TiledFactor,
        solver: &mut Solver,
        positions: &[Point],
    ) {
        if self.contacts.is_empty() {
            return;
        }
        let Self {
            contacts,
            window,
            values,
        } = self;
        values.resize(window.len(), [0.0; 4]);
        let substituted = solver.subdomains.iter().map(|state| &*state.rows.b);
        let top = &solver.top.b[..solver.top.count];
        window.peek(partition, factor, substituted, top, values);
        if contacts.solve_loads(
            positions,
            values,
            &mut WindowSolver {
                partition,
                factor,
                window,
            },
        ) {
            let Solver {
                subdomains, top, ..
            } = solver;
            let substituted = subdomains.iter_mut().map(|state| &mut *state.rows.b);
            let top = &mut top.b[..top.count];
            window.push(partition, factor, values, substituted, top);
        }
    }
}
