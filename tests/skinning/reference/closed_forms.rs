//! Bars and pipes against the theory of elasticity for small strains: Timoshenko & Goodier, "Theory of Elasticity".

use sinew::math::{Point64, Quat, Vec64};

use super::{lattice, shapes, solve};

/// A long bar that is stretched gets thinner by Poisson's ratio.
#[test]
fn a_stretched_bar_gets_thinner() {
    let bar = lattice(&shapes::cuboid([-0.5, -0.5, 0.0], [0.5, 0.5, 6.0]), 4.0);
    let strain = 1e-3;
    for poisson in [0.0, 0.3, 0.45] {
        let ends = |p: &Point64| {
            let is_end = p.z <= 0.3 || p.z >= 5.7;
            is_end.then(|| p + Vec64::z() * (strain * p.z))
        };
        let (_, nodes, _) = solve(&bar, poisson, ends, |p| *p);
        // Through the middle, where the ends are far.
        let (mut thinner, mut across, mut longer, mut along) = (0.0, 0.0, 0.0, 0.0);
        for (node, rest) in nodes.iter().zip(&bar.nodes) {
            if (rest.z - 3.0).abs() < 0.8 {
                thinner -= (node.x - rest.x) * rest.x + (node.y - rest.y) * rest.y;
                across += rest.x * rest.x + rest.y * rest.y;
                longer += (node.z - rest.z - 3.0 * strain) * (rest.z - 3.0);
                along += (rest.z - 3.0) * (rest.z - 3.0);
            }
        }
        let ratio = (thinner / across) / (longer / along);
        assert!((ratio - poisson).abs() < 0.02, "{ratio} for {poisson}");
    }
}

/// A round bar that is twisted stays flat in every section; each turns by its part of the angle, and the torque is that of its polar
/// moment.
#[test]
fn sections_of_a_twisted_round_bar_turn_evenly() {
    let (length, radius) = (6.0_f64, 1.0_f64);
    let bar = lattice(&shapes::cylinder(radius as f32, length as f32, 48), 5.0);
    let angle = 0.06;
    let expected = |p: &Point64| Quat::from_axis_angle(&Vec64::z_axis(), angle * p.z / length) * p;
    let ends = |p: &Point64| (p.z <= 0.4 || p.z >= length - 0.4).then(|| expected(p));
    let (newton, nodes, _) = solve(&bar, 0.45, ends, |p| *p);
    let inside = |rest: &Point64| rest.x.hypot(rest.y) <= radius;
    for (node, rest) in nodes
        .iter()
        .zip(&bar.nodes)
        .filter(|(_, rest)| inside(rest))
    {
        let error = (node - expected(rest)).norm();
        assert!(error < 0.02 * angle, "{rest}: {error}");
    }
    let polar = std::f64::consts::PI / 2.0 * radius.powi(4);
    let energy = newton.elastic().energy(&nodes);
    // Elements between two prescribed sections don't count.
    let free = length - 0.8;
    let closed = 0.5 * polar / length * angle * angle * free / length;
    let (low, high) = (0.95 * closed, 1.15 * closed * length / free);
    assert!((low..high).contains(&energy), "{energy} for {closed}");
}

/// Radial displacement in a pipe whose inner wall is moved outwards by 1 while its outer wall is free (Lamé), in plane strain.
fn lame(inner: f64, outer: f64, poisson: f64, radius: f64) -> f64 {
    let lambda = 2.0 * poisson / (1.0 - 2.0 * poisson);
    let a_of_b = 1.0 / ((lambda + 1.0) * outer * outer);
    let b = 1.0 / (a_of_b * inner + 1.0 / inner);
    a_of_b * b * radius + b / radius
}

/// Root mean square error of the radial displacement, as a part of that of the inner wall.
fn error_in_pipe(through: f64) -> f64 {
    let (inner, outer, length, poisson, step) = (1.0, 2.0, 1.0, 0.3, 1e-3);
    // What is prescribed lies inside of the body, as bones do.
    let pipe = shapes::pipe(0.5, outer as f32, 1.4, 64);
    let pipe = lattice(&pipe, through);
    let expected = |p: &Point64| {
        let radius = p.x.hypot(p.y);
        let out = Vec64::new(p.x, p.y, 0.0) / radius;
        p + out * (step * lame(inner, outer, poisson, radius))
    };
    let held = |p: &Point64| {
        let is_held = p.x.hypot(p.y) <= inner || p.z <= 0.2 || p.z >= length + 0.2;
        is_held.then(|| expected(p))
    };
    let (_, nodes, _) = solve(&pipe, poisson, held, |p| *p);
    let (mut sum, mut count) = (0.0, 0.0);
    for (node, rest) in nodes.iter().zip(&pipe.nodes) {
        if held(rest).is_none() && rest.x.hypot(rest.y) <= outer {
            sum += (node - expected(rest)).norm_squared();
            count += 1.0;
        }
    }
    (sum / count).sqrt() / step
}

#[test]
fn a_pipe_widens_as_lame_says_and_finer_cells_come_nearer() {
    let errors = [2.5, 5.0, 10.0].map(error_in_pipe);
    println!("{errors:?}");
    assert!(errors[2] < 0.01, "{errors:?}");
    assert!(
        errors[0] > 1.6 * errors[1] && errors[1] > 1.6 * errors[2],
        "{errors:?}"
    );
}
