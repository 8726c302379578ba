use nalgebra::{Rotation3, Translation3};

use super::*;

fn contact() -> (Contact, Vec<Point>) {
    let positions = [
        [0.3, 0.2, 0.5],
        [0.0, 0.0, 0.0],
        [1.0, 0.1, 0.0],
        [0.2, 0.9, 0.1],
    ];
    let contact = Contact {
        vertex: 0,
        triangle: 0,
        corners: [1, 2, 3],
        weights: [0.5, 0.3, 0.2],
        normal: Vec3::z(),
        gap: 0.0,
        edge: 1.0,
        load: 1.0,
        min_gap: 0.0,
        increase: 0.0,
        hold: 1.0,
        release: Release::No,
        old: true,
    };
    (contact, positions.map(Point::from).to_vec())
}

#[test]
fn rigid_motion_is_no_motion_of_a_contact() {
    let (contact, rest) = contact();
    assert!(relative_motion(&contact, &rest, &rest) < 1e-6);
    let turn = Translation3::new(3.0, -2.0, 5.0) * Rotation3::from_euler_angles(0.4, 1.9, -2.5);
    let mut moved: Vec<Point> = rest.iter().map(|p| turn * p).collect();
    assert!(relative_motion(&contact, &rest, &moved) < 1e-6);
    moved[0] += Vec3::new(0.0, 0.3, 0.4);
    let motion = relative_motion(&contact, &rest, &moved);
    assert!((motion - 0.5).abs() < 1e-5, "{motion}");
}

#[test]
fn a_degenerate_triangle_limits_nothing() {
    let (contact, rest) = contact();
    let mut flat = rest.clone();
    flat[3] = flat[2];
    flat[2] = flat[1];
    assert_eq!(relative_motion(&contact, &rest, &flat), f32::INFINITY);
}

/// In a held pose the contacts become constant, but those that are being released end: the flesh would stay where they hold it.
#[test]
fn contacts_freeze_in_a_held_pose_but_releases_go_on() {
    let (mut contact, targets) = contact();
    let mut limits = ContactLimits::default();
    for _ in 0..=STATIC_STEPS {
        assert!(!limits.is_frozen());
        limits.set_targets(targets.iter().copied());
        limits.count_static_step(1.0);
    }
    assert!(limits.is_frozen());
    for _ in 0..1000 {
        assert!(ContactLimits::keep_frozen(&mut contact));
    }
    assert!(contact.hold == 1.0);
    contact.release = Release::Refused;
    let steps = (0..1000).take_while(|_| ContactLimits::keep_frozen(&mut contact));
    assert!((30..60).contains(&steps.count()));
}

/// A contact of flesh that is thin compared with the mesh does not end at once in a motion that is small compared with the mesh.
#[test]
fn a_motion_is_a_jump_by_the_thickness_of_the_flesh_or_by_the_mesh() {
    let (contact, targets) = contact();
    let has_jumped = |press: f32, way: f32| {
        let mut limits = ContactLimits {
            max_press: vec![press; targets.len()],
            ..ContactLimits::default()
        };
        limits.set_targets(targets.iter().copied());
        let moved = targets.iter().enumerate();
        limits.set_targets(moved.map(|(vertex, p)| match vertex {
            0 => p + Vec3::x() * way,
            _ => *p,
        }));
        limits.has_jumped(&contact)
    };
    for (press, least) in [(1e-3, 2.0), (3.0, 12.0)] {
        assert!(!has_jumped(press, 0.99 * least) && has_jumped(press, 1.01 * least));
    }
}

/// In an even motion contacts begin gradually; where the motion changes within a step, faster.
#[test]
fn contacts_change_as_their_targets_change_speed() {
    let (contact, targets) = contact();
    let at = |x: f32| {
        let mut moved = targets.clone();
        moved[0].x += x;
        moved
    };
    let acceleration = |way: &[f32]| {
        let mut limits = ContactLimits::default();
        for x in way {
            limits.set_targets(at(*x).into_iter());
        }
        limits.press_acceleration(&contact, limits.moved(&contact))
    };
    let is = |value: f32, expected: f32| (value - expected).abs() < 1e-5 * expected.max(1.0);
    assert!(is(acceleration(&[0.0, 0.0, 0.0]), PRESS_ACCELERATION));
    assert!(is(acceleration(&[0.0, 1.0, 2.0]), PRESS_OF_MOTION));
    assert!(is(acceleration(&[0.0, 0.0, 1.0]), PRESS_OF_CHANGE));
    assert!(is(acceleration(&[0.0, 1.0, 1.0]), PRESS_OF_CHANGE));
    assert!(is(acceleration(&[0.0, 1.0]), PRESS_OF_MOTION));
}

/// The targets before a jump of the whole body say nothing of its motion.
#[test]
fn the_first_step_after_a_reset_has_no_motion() {
    let (contact, targets) = contact();
    let mut limits = ContactLimits::default();
    let step = |limits: &mut ContactLimits, x: f32| {
        let mut moved = targets.clone();
        moved[0].x += x;
        limits.set_targets(moved.into_iter());
        (limits.moved(&contact), limits.change_of_motion(&contact))
    };
    for x in [0.0, 1.0, 3.0] {
        step(&mut limits, x);
    }
    limits.forget();
    assert_eq!(step(&mut limits, 9.0), (Vec3::zeros(), Vec3::zeros()));
    assert_eq!(step(&mut limits, 9.5).1, Vec3::zeros());
    assert!((step(&mut limits, 9.5).1 + 0.5 * Vec3::x()).norm() < 1e-5);
}

/// A released pair gives up its hold by steps that are small at first.
#[test]
fn a_contact_is_released_without_a_jolt() {
    let (mut contact, _) = contact();
    let (mut before, mut last_rate, mut steps) = (contact.hold, 0.0, 0);
    while contact.hold >= MIN_HOLD {
        soften(&mut contact);
        let rate = 1.0 - contact.hold / before;
        assert!(rate >= last_rate - 1e-5 && rate <= MAX_RELEASE_RATE + 1e-5);
        assert!(rate <= RELEASE_START.max((1.0 + 1.5 * RELEASE_GROWTH) * last_rate));
        (before, last_rate, steps) = (contact.hold, rate, steps + 1);
    }
    assert!((30..60).contains(&steps), "{steps}");
}
