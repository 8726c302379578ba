use super::*;
use crate::methods::smoothing::tests::{bar, turned};
use crate::methods::{Actor, MethodId};
use crate::{dynamics::Params, math::origin_of};

/// A bar along y of radius 1, bent in its middle, in the plane of the bend.
fn bent(degrees: f64) -> FieldSlice {
    let subject = bar(24, 41);
    let physics = Params::default();
    let actor = Actor::bind(&subject, MethodId::IMPLICIT, &physics, &Progress::new());
    let actor = actor.expect("binds");
    let joints = turned(&subject, Vec64::new(0.0, 0.0, degrees.to_radians()));
    assert!(origin_of(&joints[1]).coords.norm() < 1e-9);
    let plane = FieldPlane {
        center: Point64::origin(),
        axes: [Vec64::x(), Vec64::y()],
        half: 3.0,
    };
    let field = actor.body_field().expect("composes fields");
    field
        .slice(&joints, &plane, &Progress::new())
        .expect("goes on")
}

#[test]
fn a_straight_bar_has_a_surface_and_two_regions() {
    let slice = bent(0.0);
    let surface = slice.lines.iter().filter(|line| line.is_surface());
    let ends: Vec<Point> = surface.flat_map(|line| line.ends).collect();
    assert!(ends.len() > 100);
    for end in ends {
        assert!(
            (end.x.abs() - 1.0).abs() < 0.06 && end.z.abs() < 1e-5,
            "{end}"
        );
    }
    // The round ends of both fields press each other, but only inside of the bar.
    for at in slice.contacts.iter().flatten() {
        assert!(at.y.abs() < 0.1 && at.x.abs() < 0.95, "{at}");
    }
    // Both parts, divided at the joint; together as large as the bar in the plane.
    let area = |region: &FieldRegion| {
        let [a, b, c] = region.corners;
        0.5 * (b - a).cross(&(c - a)).norm()
    };
    let inside = slice.regions.iter().filter(|region| region.inside);
    let total: f32 = inside.clone().map(area).sum();
    assert!((total - 12.0).abs() < 0.4, "{total}");
    // Without gaps or overlaps: as large as what the iso-line encloses.
    let surface = slice.lines.iter().filter(|line| line.is_surface());
    let wide = surface.flat_map(|line| line.ends).filter(|end| end.x > 0.0);
    let (sum, count) = wide.fold((0.0, 0.0), |(sum, count), end| (sum + end.x, count + 1.0));
    assert!(
        (total - 12.0 * sum / count).abs() < 0.05,
        "{total} {sum} {count}"
    );
    for region in inside {
        let middle = region.corners.iter().map(|corner| corner.y).sum::<f32>() / 3.0;
        assert!(
            (region.joint == 1) == (middle > 0.0) || middle.abs() < 0.1,
            "{middle}"
        );
    }
}

#[test]
fn a_bent_bar_touches_itself_between_its_halves() {
    let slice = bent(120.0);
    assert!(slice.contacts.len() > 5);
    // The upper half turns to −x: the contact is on the bisector, inside of the bend.
    let (sin, cos) = 60.0_f32.to_radians().sin_cos();
    for at in slice.contacts.iter().flatten() {
        assert!(at.x < 0.0, "{at}");
        assert!((at.y * cos - at.x * sin).abs() < 0.06, "{at}");
    }
}

#[test]
fn a_slice_ends_when_it_is_cancelled() {
    let subject = bar(24, 41);
    let physics = Params::default();
    let actor = Actor::bind(&subject, MethodId::IMPLICIT, &physics, &Progress::new());
    let actor = actor.expect("binds");
    let plane = FieldPlane {
        center: Point64::origin(),
        axes: [Vec64::x(), Vec64::y()],
        half: 1.0,
    };
    let progress = Progress::new();
    progress.cancel();
    let joints = subject.character.skeleton.bind_transforms();
    let field = actor.body_field().expect("composes fields");
    assert!(field.slice(&joints, &plane, &progress).is_err());
    assert!(
        field
            .slice(&[], &plane, &Progress::new())
            .expect("goes on")
            .lines
            .is_empty()
    );
}
