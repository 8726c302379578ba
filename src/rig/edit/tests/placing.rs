//! Placement of joints inside the skin.

use super::*;

/// Distance of a point from the y axis, relative to the tube's radius.
fn off_axis(point: &Point64, radius: f64) -> f64 {
    point.x.hypot(point.z) / radius
}

fn tube_along_y() -> TriMesh {
    tube(0.2, 2.0, 40, 48, true)
}

#[test]
fn a_click_on_a_cylinder_finds_its_axis() {
    let placer = Placer::new(&tube_along_y());
    for across in [0.0, 0.1, 0.17, -0.19] {
        for height in [0.5, 1.0, 1.5] {
            let placed = placer
                .under(&p(across, height, 5.0), &Vec64::new(0.0, 0.0, -1.0))
                .expect("flesh");
            assert!(off_axis(&placed.position, 0.2) < 0.01, "{placed:?}");
            assert!(
                (placed.position.y - height).abs() < 0.01 && (placed.radius - 0.2).abs() < 0.005,
                "{placed:?}"
            );
            assert!(placed.axis.y.abs() > 0.999);
        }
    }
    // Also for oblique rays.
    let placed = placer
        .under(&p(1.0, 2.0, 4.0), &Vec64::new(-1.05, -1.0, -4.0))
        .expect("flesh");
    assert!(off_axis(&placed.position, 0.2) < 0.01, "{placed:?}");
    assert!(
        placer
            .under(&p(1.0, 1.0, 5.0), &Vec64::new(0.0, 0.0, -1.0))
            .is_none()
    );
}

#[test]
fn holes_inner_walls_sheets_and_reversed_triangles_are_handled() {
    let at = |mesh: &TriMesh| {
        Placer::new(mesh)
            .under(&p(0.05, 1.0, 5.0), &Vec64::new(0.0, 0.0, -1.0))
            .expect("flesh")
    };
    let open = tube(0.2, 2.0, 40, 48, false);
    let mut holed = tube_along_y();
    let is_cut = |t: &[u32; 3]| {
        t.iter().any(|&v| {
            (holed.positions[v as usize] - crate::math::Point::new(0.1, 0.75, 0.17)).norm() < 0.08
        })
    };
    let kept: Vec<_> = holed
        .triangles
        .iter()
        .copied()
        .filter(|t| !is_cut(t))
        .collect();
    assert!(kept.len() < holed.triangles.len());
    holed.triangles = kept;
    let eye = joined(&[
        tube_along_y(),
        moved(
            ball(crate::math::Point::origin(), 0.05, 10, 12),
            crate::math::Vec3::new(0.04, 1.0, 0.05),
        ),
    ]);
    let sheet = joined(&[tube_along_y(), tube(0.23, 1.5, 20, 48, false)]);
    let mut inside_out = tube_along_y();
    for triangle in &mut inside_out.triangles {
        triangle.swap(0, 1);
    }
    for (name, mesh) in [
        ("open", open),
        ("holed", holed),
        ("eye", eye),
        ("sheet", sheet),
        ("inside out", inside_out),
    ] {
        let placed = at(&mesh);
        assert!(off_axis(&placed.position, 0.2) < 0.03, "{name}: {placed:?}");
    }
}

#[test]
fn a_point_is_kept_inside() {
    let placer = Placer::new(&tube_along_y());
    let inside = p(0.1, 1.0, 0.05);
    assert_eq!(placer.kept_inside(&inside), inside);
    for outside in [p(0.5, 1.0, 0.0), p(0.0, 3.0, 0.1), p(-0.4, -1.0, 0.4)] {
        let kept = placer.kept_inside(&outside);
        assert!(placer.is_inside(&kept), "{outside} {kept}");
    }
    let empty = Placer::new(&TriMesh::default());
    assert!(
        !empty.is_inside(&inside)
            && empty.kept_inside(&inside) == inside
            && empty.mirror().is_none()
    );
    assert!(
        empty.under(&inside, &Vec64::x()).is_none()
            && placer.under(&p(f64::NAN, 0.0, 0.0), &Vec64::x()).is_none()
    );
}

#[test]
fn the_plane_between_two_sides_is_found() {
    let legs = |x: f32| {
        moved(
            tube(0.1, 1.0, 10, 12, true),
            crate::math::Vec3::new(x, 0.0, 0.0),
        )
    };
    let mesh = joined(&[
        legs(0.7),
        legs(0.1),
        moved(
            ball(crate::math::Point::origin(), 0.2, 8, 12),
            crate::math::Vec3::new(0.4, 1.2, 0.15),
        ),
    ]);
    let mirror = Placer::new(&mesh).mirror().copied().expect("two sides");
    assert!(
        mirror.normal.x > 0.99 && mirror.side(&p(0.4, 3.0, 1.0)).abs() < 0.02,
        "{mirror:?}"
    );
    let lame = joined(&[
        legs(0.7),
        tube(0.1, 0.4, 4, 12, true),
        moved(
            ball(crate::math::Point::origin(), 0.2, 8, 12),
            crate::math::Vec3::new(0.3, 1.2, 0.5),
        ),
    ]);
    assert!(
        Placer::new(&lame)
            .mirror()
            .is_none_or(|mirror| mirror.normal.x < 0.5)
    );
}
