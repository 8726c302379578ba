//! Elements over points that are each unknown or prescribed, in any mix.

use nalgebra::{Rotation3, Vector3};
use sinew::dynamics::{Params, Simulation};
use sinew::math::Point;

use crate::common::bar::{Bar, Split, plain};

const SPLITS: [Split; 2] = [Split::Paths, Split::Prisms];

/// Several elements through the thickness.
fn bars() -> impl Iterator<Item = Bar> {
    SPLITS.into_iter().map(|split| Bar::new([9, 3, 3], split))
}

/// Largest distance of the unknowns from where a map takes their rest positions.
fn farthest(bar: &Bar, simulation: &Simulation, map: impl Fn(Point) -> Point) -> f32 {
    bar.unknowns
        .iter()
        .zip(simulation.positions())
        .map(|(&rest, now)| (map(rest) - now).norm())
        .max_by(f32::total_cmp)
        .unwrap_or(0.0)
}

#[test]
fn a_bar_at_rest_stays_at_rest() {
    for bar in bars() {
        let mut simulation = bar.simulation(&plain());
        for _ in 0..5 {
            simulation.step(&bar.prescribed);
        }
        assert!(farthest(&bar, &simulation, |rest| rest) < 1e-5);
    }
}

/// ‖F − R‖² has no lateral contraction, so that F = diag(1 + ε, 1, 1) everywhere leaves the sides free of forces: the solution under
/// stretch is linear in the position.
#[test]
fn a_stretched_bar_settles_to_the_linear_solution() {
    for bar in bars() {
        let mut simulation = bar.simulation(&plain());
        let stretched = |p: Point| Point::new(1.1 * p.x, p.y, p.z);
        let ends: Vec<Point> = bar.prescribed.iter().map(|&p| stretched(p)).collect();
        simulation.step(&ends);
        simulation.settle().expect("factors");
        let off = farthest(&bar, &simulation, stretched);
        assert!(off < 1e-4, "{off}");
    }
}

#[test]
fn a_rigid_motion_of_the_prescribed_points_moves_everything_rigidly() {
    let turn = Rotation3::new(Vector3::new(0.3_f32, -0.5, 0.9));
    let moved = |p: Point| turn * p + Vector3::new(1.0, 2.0, -3.0);
    for bar in bars() {
        for volume in [0.0, 1.0] {
            let mut simulation = bar.simulation(&Params { volume, ..plain() });
            let ends: Vec<Point> = bar.prescribed.iter().map(|&p| moved(p)).collect();
            simulation.step(&ends);
            simulation.settle().expect("factors");
            let off = farthest(&bar, &simulation, moved);
            assert!(off < 1e-3, "{off}");
        }
    }
}

/// Forces of a tet add up to zero and make no torque: four unknowns fall as a rigid body, by h² g n (n + 1)/2 in n steps.
#[test]
fn a_tet_of_four_unknowns_falls_freely() {
    let bar = Bar::free_tet();
    let params = Params {
        gravity_m_s2: [0.0, -9.81, 0.0],
        ..plain()
    };
    let mut simulation = bar.simulation(&params);
    for _ in 0..20 {
        simulation.step(&bar.prescribed);
    }
    let h = params.time_step_secs as f32;
    let fallen = -9.81 * h * h * 20.0 * 21.0 / 2.0;
    let off = farthest(&bar, &simulation, |p| Point::new(p.x, p.y + fallen, p.z));
    assert!(off < 1e-4, "{off} of {fallen}");
}

/// A tet that starts deformed springs back, and its centre stays.
#[test]
fn a_deformed_free_tet_keeps_its_momentum() {
    let bar = Bar::free_tet();
    let mut simulation = bar.simulation(&Params {
        damping_per_s: 6.0,
        ..plain()
    });
    let mut state = simulation.state();
    state.position[3].z += 0.4;
    simulation.set_state(&state);
    let centre = |points: &[Point]| {
        points.iter().map(|p| p.coords).sum::<Vector3<f32>>() / points.len() as f32
    };
    let before = centre(simulation.positions());
    for _ in 0..200 {
        simulation.step(&bar.prescribed);
    }
    let after = simulation.positions();
    assert!((centre(after) - before).norm() < 1e-4);
    for a in 0..4 {
        for b in 0..a {
            let rest = (bar.unknowns[a] - bar.unknowns[b]).norm();
            let now = (after[a] - after[b]).norm();
            assert!((now - rest).abs() < 5e-3 * rest, "{a} {b}: {now} {rest}");
        }
    }
}

/// Parts of the mesh that threads own solve for interior points as one does.
#[test]
fn a_large_bar_is_solved_by_several_threads() {
    let bar = Bar::new([60, 7, 7], Split::Prisms);
    let mut simulation = bar.simulation(&plain());
    let moved = |p: Point| p + Vector3::new(0.0, 0.5, 0.0);
    let ends: Vec<Point> = bar.prescribed.iter().map(|&p| moved(p)).collect();
    simulation.step_quasistatic(&ends, 5).expect("factors");
    assert!(farthest(&bar, &simulation, moved) < 1e-4);
}
