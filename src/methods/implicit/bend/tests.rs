use super::*;

/// A limb along x that bends about z in the origin.
fn posed(degrees: f64) -> [PosedBend; 2] {
    let joint = Joint {
        joints: [0, 1],
        at: Vec64::zeros(),
        along: Vec64::x(),
        radius: 1.0,
        spread: Spread::even(Vec64::x()),
    };
    let half = 0.5 * degrees.to_radians();
    let turn = [0.0, 0.0, half.sin(), half.cos()].map(|c| c as f32);
    let rotations = [[0.0, 0.0, 0.0, 1.0], turn];
    [false, true].map(|is_below| joint.posed(&rotations, is_below))
}

fn about_z(degrees: f32, v: V) -> V {
    let (sin, cos) = degrees.to_radians().sin_cos();
    turned([0.0, 0.0, 1.0], sin, cos, v)
}

#[test]
fn both_fields_agree_outside_of_the_fold_and_are_rigid_inside() {
    for degrees in [30.0_f32, 90.0, 150.0] {
        let [above, below] = posed(f64::from(degrees));
        // From the limb above over the outside to the limb below; the inside is at positive y.
        for k in 1..=20_i16 {
            let outside = 180.0 + (180.0 + degrees) * f32::from(k) / 21.0;
            let at = about_z(outside, [0.8, 0.0, 0.3]);
            let (from_above, _) = PosedBend::seen(&[above], at);
            let (from_below, _) = PosedBend::seen(&[below], about_z(-degrees, at));
            for c in 0..3 {
                assert!(
                    (from_above[c] - from_below[c]).abs() < 1e-5,
                    "{degrees} {k}"
                );
            }
            let length = |v: V| v[0].hypot(v[1]);
            assert!((length(from_above) - 0.8).abs() < 1e-5);
        }
        let middle = about_z(0.5 * (180.0 + degrees), [0.8, 0.0, 0.3]);
        assert_eq!(PosedBend::seen(&[above], middle).0, middle);
        let far = about_z(-45.0, [3.0, 0.0, 0.0]);
        assert_eq!(PosedBend::seen(&[above], far).0, far);
    }
}

#[test]
fn the_gradient_is_the_derivative() {
    let [above, below] = posed(100.0);
    let field = |at: V| 0.3 * at[0] * at[0] + at[1] * at[2] + 0.5 * at[2] - 0.2 * at[1];
    let slope = |at: V| [0.6 * at[0], at[2] - 0.2, at[1] + 0.5];
    for bend in [above, below] {
        for at in [
            [0.5, -0.6, 0.2],
            [-0.4, -0.7, 0.1],
            [0.7, -1.1, 0.4],
            [-0.9, -0.2, 0.3],
        ] {
            let (source, turns) = PosedBend::seen(&[bend], at);
            assert!(turns.count == 1, "{at:?}");
            let found = turns.gradient(slope(source));
            for c in 0..3 {
                let moved = |by: f32| {
                    let mut at = at;
                    at[c] += by;
                    field(PosedBend::seen(&[bend], at).0)
                };
                let change = (moved(2e-3) - moved(-2e-3)) / 4e-3;
                assert!((found[c] - change).abs() < 5e-3, "{at:?} {c}");
            }
        }
    }
}
