//! The cylinder: regular rings instead of a remeshed solid, so that twisting and bending show undisturbed.

use sinew::math::{Point64, smoothstep};
use sinew::rig::Skeleton;

use crate::polygonise::Mesh;

/// Radius in metres.
const RADIUS: f64 = 0.12;
/// Length in metres; the axis is Y, from the ground up.
const LENGTH: f64 = 1.0;
/// Vertices on a ring.
const AROUND: u32 = 40;
/// Rows of triangles along the length.
const ALONG: u32 = 50;
/// Half the length over which the two bones share the skin, in metres.
const SHARED: f64 = 0.18;

/// The closed surface.
pub fn mesh() -> Mesh {
    let mut mesh = Mesh::default();
    // Rings from the middle of the lower cap, up the side, to the middle of the upper cap: radius, height, count.
    let lower = [
        (0.0, 1),
        (0.15, 6),
        (0.32, 13),
        (0.49, 20),
        (0.66, 27),
        (0.83, 34),
    ];
    let mut rings: Vec<(f64, f64, u32)> =
        lower.iter().map(|&(r, n)| (r * RADIUS, 0.0, n)).collect();
    rings.extend((0..=ALONG).map(|i| (RADIUS, LENGTH * f64::from(i) / f64::from(ALONG), AROUND)));
    rings.extend(lower.iter().rev().map(|&(r, n)| (r * RADIUS, LENGTH, n)));
    let mut before: Option<(u32, u32)> = None;
    for (index, &(radius, y, count)) in rings.iter().enumerate() {
        let first = mesh.positions.len() as u32;
        // Every other ring of the side is turned by half a step: nearly equilateral triangles.
        let turned = if radius >= RADIUS && index % 2 == 1 {
            0.5
        } else {
            0.0
        };
        mesh.positions.extend((0..count).map(|i| {
            let angle = std::f64::consts::TAU * (f64::from(i) + turned) / f64::from(count);
            Point64::new(radius * angle.sin(), y, radius * angle.cos())
        }));
        if let Some(below) = before {
            stitch(&mut mesh, below, (first, count));
        }
        before = Some((first, count));
    }
    mesh
}

/// Triangles between two rings given by first vertex and count, always taking the shorter diagonal.
fn stitch(mesh: &mut Mesh, lower: (u32, u32), upper: (u32, u32)) {
    let at = |ring: (u32, u32), i: u32| ring.0 + i % ring.1;
    let (mut i, mut j) = (0, 0);
    while i < lower.1 || j < upper.1 {
        let p = |v: u32| mesh.positions[v as usize];
        let can_lower = i < lower.1 && lower.1 > 1;
        let can_upper = j < upper.1 && upper.1 > 1;
        if !can_lower && !can_upper {
            break;
        }
        let step_lower = (p(at(lower, i + 1)) - p(at(upper, j))).norm();
        let step_upper = (p(at(upper, j + 1)) - p(at(lower, i))).norm();
        if can_lower && (!can_upper || step_lower <= step_upper) {
            mesh.triangles
                .push([at(lower, i), at(lower, i + 1), at(upper, j)]);
            i += 1;
        } else {
            mesh.triangles
                .push([at(lower, i), at(upper, j + 1), at(upper, j)]);
            j += 1;
        }
    }
}

/// Weights that pass smoothly from the lower to the upper bone around the joint.
pub fn weights(mesh: &Mesh, skeleton: &Skeleton) -> Vec<Vec<f64>> {
    let middle = skeleton.bind_position(1).y;
    let row = |p: &Point64| {
        let upper = smoothstep([0.0, 1.0], (p.y - middle) / (2.0 * SHARED) + 0.5);
        let mut row = vec![0.0; skeleton.len()];
        (row[0], row[1]) = (1.0 - upper, upper);
        row
    };
    mesh.positions.iter().map(row).collect()
}
