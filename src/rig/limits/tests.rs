use super::*;

fn limit() -> Limit {
    Limit {
        base_from_limit: Quat::from_euler_angles(0.3, -0.8, 1.9),
        twist: [-0.5, 0.7],
        swing_y: [-0.1, 2.4],
        swing_z: [-0.4, 0.6],
    }
}

fn turns() -> impl Iterator<Item = Quat> {
    (0..400).map(|i| {
        let t = f64::from(i);
        Quat::new(Vec64::new((t * 0.77).sin(), (t * 1.31).cos(), (t * 0.53).sin()) * (t * 0.007))
    })
}

#[test]
fn clamping_is_permitted_and_keeps_permitted_rotations() {
    let limit = limit();
    let mut left = 0;
    for turn in turns() {
        let clamped = limit.clamped(&turn);
        assert!(
            limit.allows(&clamped),
            "{:?} of {:?}",
            limit.angles_of(&clamped),
            limit.angles_of(&turn)
        );
        if limit.allows(&turn) {
            left += 1;
            assert!(clamped.angle_to(&turn) < 2e-4);
        }
    }
    assert!((10..390).contains(&left), "{left}");
    assert_eq!(
        limit.clamped(&Quat::identity()),
        Quat::identity(),
        "rest is allowed"
    );
}

#[test]
fn angles_round_trip() {
    let limit = limit();
    for angles in [[0.3, 1.2, -0.2], [-0.5, 0.0, 0.4], [0.0, 2.3, 0.1]] {
        let back = limit.angles_of(&limit.turn_of(angles));
        assert!(
            (Vec64::from(back) - Vec64::from(angles)).norm() < 1e-9,
            "{back:?} for {angles:?}"
        );
    }
}

#[test]
fn a_hinge_rotates_about_one_axis_in_one_direction() {
    let hinge = Limit {
        swing_y: [0.0, 2.5],
        swing_z: [0.0, 0.0],
        twist: [0.0, 0.0],
        base_from_limit: Quat::identity(),
    };
    for turn in turns() {
        let [x, y, z] = hinge.angles_of(&hinge.clamped(&turn));
        assert!(x.abs() < 1e-9 && z.abs() < 1e-9 && (-1e-9..=2.5 + 1e-9).contains(&y));
    }
    assert!(hinge.clamped(&Quat::new(Vec64::y() * -0.5)).angle() < 1e-9);
}

#[test]
fn clamping_is_continuous() {
    let limit = limit();
    let axis = Vec64::new(0.2, 0.9, -0.4).normalize();
    let at = |i: i32| limit.clamped(&Quat::new(axis * (f64::from(i) * 0.005)));
    for i in 0..500 {
        let step = at(i).angle_to(&at(i + 1));
        assert!(step < 0.05, "a jump of {step} at {i}");
    }
}

#[test]
fn files_store_degrees_and_reject_invalid_limits() {
    let limit = Limit {
        swing_y: [-0.5_f64.to_radians(), 150.0_f64.to_radians()],
        ..limit()
    }
    .sanitized();
    let json = serde_json::to_string(&limit).unwrap();
    assert!(json.contains("\"flex_deg\":[-0.5,150.0]"), "{json}");
    let back: Limit = serde_json::from_str(&json).unwrap();
    assert_eq!(back, limit, "to the last bit");
    assert!(serde_json::from_str::<Limit>(&json.replace("150.0", "1e999")).is_err());
    let wrong = Limit {
        twist: [f64::NAN, -3.0],
        ..limit
    }
    .sanitized();
    assert_eq!(wrong.twist, [-PI, 0.0]);
}
