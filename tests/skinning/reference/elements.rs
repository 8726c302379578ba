//! Derivatives, and fields that elements represent exactly.

use nalgebra::Matrix3;
use sinew::math::{Point64, Quat, Vec64};
use sinew::mesh::{TriMesh, TriangleTree};
use sinew::methods::reference::{Elastic, Lattice, NeoHookean, SecondDerivative};

use super::{lattice, shapes, solve};

/// A body with cells of several sizes.
fn club() -> std::sync::Arc<Lattice> {
    lattice(&club_mesh(), 4.0)
}

fn club_mesh() -> TriMesh {
    let ring = |k: u16| {
        [
            0.2 + 0.7 * ((f32::from(k) - 12.0) / 8.0).clamp(0.0, 1.0),
            0.1 * f32::from(k),
        ]
    };
    let mut profile = vec![[0.0, 0.0]];
    profile.extend((0..=40).map(ring));
    profile.push([0.0, 4.0]);
    shapes::turned(&profile, 24)
}

fn bent(point: &Point64) -> Point64 {
    let [x, y, z] = [point.x, point.y, point.z];
    point + Vec64::new((1.3 * z).sin() - 0.3 * y, 0.4 * (x * z).cos(), 0.5 * x * y) * 0.3
}

#[test]
fn cells_of_different_sizes_meet() {
    let club = club();
    let hanging = club.elements.iter().filter(|e| e.nodes.len() != 8).count();
    assert!(hanging >= 8, "{hanging} of {}", club.elements.len());
    assert_eq!(club.components, 1);
}

#[test]
fn an_affine_boundary_makes_an_affine_field() {
    let club = club();
    let skin = TriangleTree::new(&club_mesh());
    let mut is_inner = vec![true; club.nodes.len()];
    for element in &club.elements {
        for &node in &element.nodes {
            let nearest = skin
                .closest(&club.nodes[node as usize], 9.0, |_| true)
                .expect("a skin");
            is_inner[node as usize] &=
                nearest.distance > 1.01 * element.side && element.fill == 1.0;
        }
    }
    let linear = Matrix3::new(1.2, 0.3, 0.0, -0.1, 0.8, 0.2, 0.1, 0.0, 1.1);
    let affine =
        |point: &Point64| Point64::from(linear * point.coords + Vec64::new(0.3, 0.1, -2.0));
    let inner = |point: &Point64| {
        let node = club
            .nodes
            .iter()
            .position(|node| node == point)
            .expect("a node");
        is_inner[node]
    };
    let free = is_inner.iter().filter(|inner| **inner).count();
    assert!(free > 20, "{free}");
    let (_, nodes, _) = solve(
        &club,
        0.45,
        |point| (!inner(point)).then(|| affine(point)),
        affine,
    );
    for (node, rest) in nodes.iter().zip(&club.nodes) {
        let error = (node - affine(rest)).norm();
        assert!(error < 1e-6, "{rest}: {error}");
    }
}

#[test]
fn forces_are_the_derivative_of_the_energy() {
    let club = club();
    let elastic = Elastic::new(&club, NeoHookean::new(0.45), &vec![false; club.nodes.len()]);
    let mut nodes: Vec<Point64> = club.nodes.iter().map(bent).collect();
    let gradient = elastic.gradient(&nodes);
    let scale = gradient.iter().map(Vec64::norm).fold(0.0, f64::max);
    let step = 1e-5;
    for node in (0..nodes.len()).step_by(37) {
        for axis in 0..3 {
            let at = nodes[node][axis];
            let mut energy = |offset: f64| {
                nodes[node][axis] = at + offset;
                elastic.energy(&nodes)
            };
            let difference = (energy(step) - energy(-step)) / (2.0 * step);
            nodes[node][axis] = at;
            assert!(
                (difference - gradient[node][axis]).abs() < 1e-5 * scale,
                "node {node}: {difference} {}",
                gradient[node][axis]
            );
        }
    }
}

#[test]
fn the_hessian_is_the_derivative_of_the_forces() {
    let club = club();
    let is_fixed: Vec<bool> = club.nodes.iter().map(|node| node.z < 0.3).collect();
    let elastic = Elastic::new(&club, NeoHookean::new(0.45), &is_fixed);
    let nodes: Vec<Point64> = club.nodes.iter().map(bent).collect();
    let mut matrix = elastic.matrix();
    elastic.hessian(&nodes, SecondDerivative::Exact, &mut matrix);
    let count = elastic.free_nodes().len();
    let direction: Vec<f64> = (0..3 * count).map(|k| (k as f64 * 0.7).sin()).collect();
    let product = matrix.multiply(&direction);
    let moved = |step: f64| {
        let mut nodes = nodes.clone();
        for (unknown, &node) in elastic.free_nodes().iter().enumerate() {
            let along = Vec64::from_column_slice(&direction[3 * unknown..3 * unknown + 3]);
            nodes[node as usize] += along * step;
        }
        elastic.gradient(&nodes)
    };
    let step = 1e-5;
    let (ahead, behind) = (moved(step), moved(-step));
    let scale = product.iter().fold(0.0, |most: f64, p| most.max(p.abs()));
    for (unknown, &node) in elastic.free_nodes().iter().enumerate() {
        let difference = (ahead[node as usize] - behind[node as usize]) / (2.0 * step);
        for axis in 0..3 {
            let error = (difference[axis] - product[3 * unknown + axis]).abs();
            assert!(error < 1e-5 * scale, "{unknown}: {error} of {scale}");
        }
    }
    // The projected one is never below it.
    let mut projected = elastic.matrix();
    elastic.hessian(&nodes, SecondDerivative::Projected, &mut projected);
    let dot = |a: &[f64]| a.iter().zip(&direction).map(|(a, b)| a * b).sum::<f64>();
    let upper = dot(&projected.multiply(&direction));
    assert!(upper >= dot(&product) && upper >= 0.0);
}

#[test]
fn rest_and_rigid_motions_have_no_energy() {
    let club = club();
    let turn = Quat::from_euler_angles(0.7, -1.9, 2.5);
    for moved in [
        (|p: &Point64, _: &Quat| *p) as fn(&Point64, &Quat) -> Point64,
        |p, turn| turn * p + Vec64::new(1.0, 2.0, 3.0),
    ] {
        let held = |p: &Point64| (p.z < 0.4).then(|| moved(p, &turn));
        let nodes: Vec<Point64> = club.nodes.iter().map(|p| moved(p, &turn)).collect();
        let elastic = Elastic::new(&club, NeoHookean::new(0.45), &vec![false; nodes.len()]);
        assert!(elastic.energy(&nodes).abs() < 1e-12);
        let noisy = |p: &Point64| moved(p, &turn) + Vec64::new((9.0 * p.z).sin(), p.x, p.y) * 0.01;
        let (_, nodes, _) = solve(&club, 0.45, held, noisy);
        for (node, rest) in nodes.iter().zip(&club.nodes) {
            let error = (node - moved(rest, &turn)).norm();
            assert!(error < 1e-9, "{rest}: {error}");
        }
    }
}
