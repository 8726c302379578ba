//! Nodes of bones, and the way from nodes to vertices.

use super::*;

#[test]
fn bones_are_volumes_on_their_own_side() {
    let bar = tube(1.0, 10.0, 80, 48, true);
    let skeleton = chain(&[[0.0, 0.0, 0.0], [0.0, 5.0, 0.0], [0.0, 10.0, 0.0]]);
    let domain = solid(&bar, 40);
    let bones = BoneNodes::of(&domain, &skeleton, 0.5, &Progress::new()).expect("nobody cancels");
    // The last joint is a point at the end of the second bone.
    let mut both = [0, 0];
    for (&node, joints) in bones.nodes.iter().zip(&bones.joints) {
        let at = domain.position(node as usize);
        assert!(at.x.hypot(at.z) < 0.5 + 0.25, "{at}");
        if at.y < 4.9 {
            assert_eq!(joints, &[0]);
            both[0] += 1;
        } else if at.y > 5.1 && at.y < 9.4 {
            assert_eq!(joints, &[1]);
            both[1] += 1;
        } else if (at.y - 5.0).abs() < 1e-9 {
            assert_eq!(joints, &[0, 1]);
        }
    }
    assert!(both[0] > 100 && both[1] > 100, "{both:?}");
    // Symmetric in x and z although the axis lies between cells.
    let (mut sum, mut count) = (Vec64::zeros(), 0.0);
    for &node in &bones.nodes {
        sum += domain.position(node as usize).coords;
        count += 1.0;
    }
    assert!((sum.x / count).abs() < 1e-9 && (sum.z / count).abs() < 1e-9);
}

#[test]
fn bones_outside_are_drawn_in_or_reported() {
    let bar = tube(1.0, 10.0, 40, 24, true);
    // Nodes at the height of the joints, so that it is clear whose they are.
    let domain = solid(&bar, 80);
    let near = chain(&[
        [1.3, 2.0, 0.0],
        [1.3, 3.0, 0.0],
        [1.3, 9.0, 0.0],
        [50.0, 9.0, 0.0],
    ]);
    let bones =
        BoneNodes::of(&domain, &near, BONE_RADIUS, &Progress::new()).expect("nobody cancels");
    assert_eq!(bones.unseeded, [3]);
    assert!(bones.joints.iter().any(|joints| joints == &[0]));
    let far = chain(&[[1e30, 0.0, 0.0], [-1e30, 1e30, 5.0]]);
    let bones =
        BoneNodes::of(&domain, &far, BONE_RADIUS, &Progress::new()).expect("nobody cancels");
    assert!(bones.unseeded.contains(&1));
}

#[test]
fn transfer_reproduces_linear_functions_inside() {
    let mesh = ball(Point::new(1.0, 2.0, 3.0), 1.0, 16, 24);
    let domain = solid(&mesh, 30);
    let linear = |p: &Point64| 2.0 * p.x - p.y + 0.5 * p.z;
    let transfer = Transfer::to(&mesh.positions, &domain);
    assert!(transfer.outside.is_empty());
    for vertex in 0..transfer.len() {
        let value: f64 = transfer
            .of(vertex)
            .map(|(node, share)| share * linear(&domain.position(node)))
            .sum();
        let sum: f64 = transfer.of(vertex).map(|(_, share)| share).sum();
        assert!((sum - 1.0).abs() < 1e-12);
        assert!((value - linear(&mesh.positions[vertex].cast())).abs() < 1e-6);
    }
    let strange = [
        Point::new(f32::NAN, 0.0, 0.0),
        Point::new(1e30, 0.0, 0.0),
        Point::new(4.0, 2.0, 3.0),
    ];
    let transfer = Transfer::to(&strange, &domain);
    assert_eq!(transfer.outside, [0, 1, 2]);
    for vertex in 0..3 {
        assert!((transfer.of(vertex).map(|(_, share)| share).sum::<f64>() - 1.0).abs() < 1e-12);
    }
}
