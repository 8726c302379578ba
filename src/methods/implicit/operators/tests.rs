use super::*;
use crate::methods::implicit::composed::FAINT;

fn tables() -> &'static Tables {
    Tables::shared().expect("solves")
}

fn g(operator: Operator, f1: f32, f2: f32, depth: f32) -> f32 {
    tables().at(&operator.into(), f1, f2, depth).value
}

/// Values that were measured with another implementation.
#[test]
fn the_union_and_the_contact_have_their_known_values() {
    for (f1, f2, depth, expected) in [
        (0.25, 0.25, 0.0, 0.330),
        (0.75, 0.25, 0.0, 0.726),
        (0.75, 0.75, 0.0, 0.823),
        (0.625, 0.625, 0.0, 0.650),
        (0.25, 0.25, 0.5, 0.333),
        (0.75, 0.25, 0.5, 0.708),
        (0.625, 0.625, 0.5, 0.5),
        (0.75, 0.75, 0.5, 0.5),
    ] {
        let value = g(Operator::Contact, f1, f2, depth);
        assert!(
            (value - expected).abs() < 0.005,
            "{f1} {f2} {depth}: {value}"
        );
    }
}

#[test]
fn operators_are_symmetric_and_leave_a_single_field_alone() {
    for operator in Operator::ALL {
        for depth in [0.0, 0.2, 0.45, 0.7, 1.0] {
            for k in 0..=40 {
                let f = k as f32 / 40.0;
                assert!((g(operator, f, 0.0, depth) - f).abs() < 1e-6);
                assert!((g(operator, f, 1.0, depth) - 1.0).abs() < 1e-6);
                for l in 0..=40 {
                    let h = l as f32 / 40.0;
                    let (a, b) = (g(operator, f, h, depth), g(operator, h, f, depth));
                    assert!((a - b).abs() < 1e-6 && (0.0..=1.0).contains(&a));
                }
            }
        }
    }
}

#[test]
fn a_faint_field_hardly_changes_another_one() {
    for operator in [Operator::Contact, Operator::Bulge, Operator::Union] {
        for depth in [0.0, 0.2, 0.45, 0.7, 1.0] {
            for f in [0.45, 0.5, 0.55, 0.6, 0.7, 0.8] {
                let change = (g(operator, f, FAINT, depth) - f).abs();
                assert!(change < 5e-4, "{operator:?} {f} {depth}: {change}");
            }
        }
    }
}

#[test]
fn slopes_are_those_of_the_interpolant() {
    let step = 1e-3;
    for operator in Operator::ALL {
        for (f1, f2, depth) in [(0.31, 0.42, 0.3), (0.618, 0.2, 0.6), (0.55, 0.77, 0.1)] {
            let at = tables().at(&operator.into(), f1, f2, depth);
            let first = g(operator, f1 + step, f2, depth) - g(operator, f1 - step, f2, depth);
            let second = g(operator, f1, f2 + step, depth) - g(operator, f1, f2 - step, depth);
            for (slope, change) in at.slopes.iter().zip([first, second]) {
                assert!((slope - change / (2.0 * step)).abs() < 1e-2, "{operator:?}");
            }
        }
    }
}

#[test]
fn a_contact_line_is_as_long_as_the_depth() {
    for depth in [0.2_f32, 0.4, 0.6] {
        let inside = 0.5 + 0.8 * depth / std::f32::consts::SQRT_2;
        let beyond = 0.5 + depth / std::f32::consts::SQRT_2 + 0.06;
        assert!((g(Operator::Contact, inside, inside, depth) - 0.5).abs() < 0.01);
        assert!(g(Operator::Contact, beyond, beyond, depth) > 0.52);
    }
}

#[test]
fn bulges_dip_beside_the_fold_and_blends_fill_it() {
    // A surface that bulges is where one field alone is below ½.
    assert!(g(Operator::Bulge, 0.4, 0.46, 0.6) > 0.5);
    assert!(g(Operator::Contact, 0.4, 0.46, 0.6) < 0.5);
    assert!(g(Operator::Blend, 0.42, 0.42, 1.0) > 0.5);
    assert!(g(Operator::Blend, 0.42, 0.42, 0.0) < 0.5);
    assert!(g(Operator::Union, 0.42, 0.42, 0.0) < 0.5);
}

#[test]
fn depth_grows_with_the_angle() {
    let of = |operator: Operator, degrees: f32| {
        Meets::from(operator).depth(degrees.to_radians().cos(), 0.0)
    };
    assert_eq!(of(Operator::Contact, 79.0), 0.0);
    assert!((of(Operator::Contact, 100.0) - 0.5).abs() < 1e-3);
    assert!(of(Operator::Contact, 121.0) > 0.999);
    assert_eq!(of(Operator::Bulge, 18.0), 0.0);
    assert!((of(Operator::Bulge, 70.0) - 0.5).abs() < 1e-3);
    assert!(of(Operator::Bulge, 121.0) > 0.999);
    assert_eq!(of(Operator::Blend, 9.0), 0.0);
    assert!(of(Operator::Blend, 61.0) > 0.999);
    assert_eq!(of(Operator::Union, 180.0), 0.0);
}

/// Settings of a joint in text.
fn asked(operator: Operator, text: &str) -> Meets {
    let mut bone = BoneSettings::default();
    bone.edit(text).expect("is read");
    Meets::asked_for(operator, &bone)
}

#[test]
fn joints_that_ask_for_nothing_have_the_plain_operator() {
    for operator in Operator::ALL {
        let plain = Meets::from(operator);
        assert_eq!(asked(operator, "depth:1,bulge:1,opening:usual"), plain);
        // The values of the closed form, bit by bit.
        for degrees in 0..=180 {
            let cosine = (degrees as f32).to_radians().cos();
            for folded in [0.0, 0.3, 1.0] {
                let depth = plain.depth(cosine, folded);
                let opened = smoothstep(operator.opening(), cosine.acos());
                let expected = match operator {
                    Operator::Union => 0.0,
                    _ => opened.max(folded),
                };
                assert!(
                    depth == expected,
                    "{operator:?} {degrees}: {depth} {expected}"
                );
            }
        }
    }
}

#[test]
fn an_opening_moves_the_angles_and_a_depth_limits_them() {
    let meets = asked(Operator::Contact, "opening:30-60,depth:0.5");
    let of = |degrees: f32, folded: f32| meets.depth(degrees.to_radians().cos(), folded);
    assert_eq!(of(29.0, 0.0), 0.0);
    assert!((of(45.0, 0.0) - 0.25).abs() < 1e-3);
    assert!((of(61.0, 0.0) - 0.5).abs() < 1e-6);
    assert_eq!(of(0.0, 1.0), 0.5, "of folds, too");
}

#[test]
fn less_bulge_is_between_contact_and_bulge() {
    let at = |meets: Meets| tables().at(&meets, 0.4, 0.46, 0.6);
    let [none, half, all] =
        ["bulge:0", "bulge:0.5", "bulge:1"].map(|text| at(asked(Operator::Bulge, text)));
    assert_eq!(none, at(Operator::Contact.into()));
    assert_eq!(all, at(Operator::Bulge.into()));
    assert!((half.value - 0.5 * (none.value + all.value)).abs() < 1e-6);
    // The contact line stays.
    let meets = asked(Operator::Bulge, "bulge:0.5");
    for f in [0.55, 0.6, 0.7] {
        assert!(
            (tables().at(&meets, f, f, 0.6).value - 0.5).abs() < 0.01,
            "{f}"
        );
    }
    // It is no matter of other operators.
    assert_eq!(
        asked(Operator::Contact, "bulge:0.5"),
        Operator::Contact.into()
    );
}
