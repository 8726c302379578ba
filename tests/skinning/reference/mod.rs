//! The reference against closed forms, and its contract beyond that of every method.

mod closed_forms;
mod elements;
mod pieces;
mod poses;
mod shapes;

use std::sync::Arc;

use sinew::math::Point64;
use sinew::mesh::TriMesh;
use sinew::methods::reference::{
    Elastic, Lattice, NeoHookean, Newton, PenaltyContacts, Resolution, Solved, StopCriterion,
    TOLERANCE,
};
use sinew::progress::Progress;

/// A lattice with so many cells across the thickness.
fn lattice(mesh: &TriMesh, through: f64) -> Arc<Lattice> {
    let resolution = Resolution {
        through,
        cells: 100_000,
    };
    Arc::new(Lattice::build(mesh, resolution, &Progress::new()).expect("not cancelled"))
}

/// The equilibrium where `prescribed` gives the places of some rest points; the search begins at a `guess`.
fn solve(
    lattice: &Arc<Lattice>,
    poisson: f64,
    prescribed: impl Fn(&Point64) -> Option<Point64>,
    guess: impl Fn(&Point64) -> Point64,
) -> (Newton, Vec<Point64>, Solved) {
    let is_fixed: Vec<bool> = (lattice.nodes.iter())
        .map(|node| prescribed(node).is_some())
        .collect();
    let mut nodes: Vec<Point64> = (lattice.nodes.iter())
        .map(|node| prescribed(node).unwrap_or_else(|| guess(node)))
        .collect();
    let elastic = Elastic::new(lattice, NeoHookean::new(poisson), &is_fixed);
    let mut newton = Newton::new(elastic);
    let until = StopCriterion {
        tolerance: TOLERANCE,
        iterations: 60,
    };
    let solved = newton
        .minimise(&mut nodes, &PenaltyContacts::none(), until)
        .expect("finite");
    assert!(solved.converged, "{solved:?}");
    (newton, nodes, solved)
}
