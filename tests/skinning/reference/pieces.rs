//! Parts of a body that are near but apart.

use sinew::math::{Point64, Vec64};

use super::{lattice, shapes, solve};

/// Two fingers on a palm, a fifth of a cell apart.
fn hand() -> sinew::mesh::TriMesh {
    let cell = 0.25;
    let gap = 0.2 * cell;
    shapes::together(&[
        shapes::cuboid([-1.0, -0.5, -1.0], [1.0, 0.5, 0.2]),
        shapes::cuboid([-0.9, -0.4, 0.0], [-0.5 * gap, 0.4, 2.0]),
        shapes::cuboid([0.5 * gap, -0.4, 0.0], [0.9, 0.4, 2.0]),
    ])
}

#[test]
fn two_fingers_in_one_cell_do_not_fuse() {
    let hand = lattice(&hand(), 3.0);
    assert_eq!(hand.components, 1, "the palm joins them");
    // One finger is bent; only what a little of the palm passes on reaches the other.
    let held = |p: &Point64| {
        if p.z <= -0.1 {
            Some(*p)
        } else if p.z > 1.6 && p.x < -0.4 {
            Some(p + Vec64::new(0.0, 0.5, 0.0))
        } else {
            None
        }
    };
    let (_, nodes, _) = solve(&hand, 0.4, held, |p| *p);
    let tip = |is_other: bool| {
        let of = |(node, rest): (&Point64, &Point64)| {
            let is_tip = rest.z > 1.8 && (rest.x > 0.4) == is_other;
            is_tip.then(|| (node - rest).norm())
        };
        let moved = nodes.iter().zip(&hand.nodes).filter_map(of);
        moved.fold(0.0, f64::max)
    };
    assert!(
        tip(false) > 0.4 && tip(true) < 0.1,
        "{} {}",
        tip(false),
        tip(true)
    );
}

#[test]
fn separate_boxes_are_two_bodies_and_overlapping_ones_are_one() {
    let apart = shapes::together(&[
        shapes::cuboid([-0.9, -0.4, 0.0], [-0.02, 0.4, 2.0]),
        shapes::cuboid([0.02, -0.4, 0.0], [0.9, 0.4, 2.0]),
    ]);
    assert_eq!(lattice(&apart, 2.0).components, 2);
    let overlapping = shapes::together(&[
        shapes::cuboid([-0.9, -0.4, 0.0], [0.02, 0.4, 2.0]),
        shapes::cuboid([-0.02, -0.4, 0.0], [0.9, 0.4, 2.0]),
    ]);
    assert_eq!(lattice(&overlapping, 2.0).components, 1);
}

#[test]
fn a_skin_with_a_hole_has_an_inside() {
    let mut open = shapes::cylinder(1.0, 4.0, 32);
    let whole = lattice(&open, 4.0);
    // Without its upper cap.
    open.triangles
        .retain(|t| t.iter().any(|&v| open.positions[v as usize].z < 3.9));
    let open = lattice(&open, 4.0);
    let volume = |lattice: &sinew::methods::reference::Lattice| -> f64 {
        let of = |e: &sinew::methods::reference::Element| e.fill * e.side.powi(3);
        lattice.elements.iter().map(of).sum()
    };
    let (whole, open) = (volume(&whole), volume(&open));
    assert!((whole - 4.0 * std::f64::consts::PI).abs() < 0.6, "{whole}");
    assert!((open - whole).abs() < 0.15 * whole, "{open} {whole}");
}
