//! Clips of the cylinder and the arm.

use sinew::rig::{Clip, Skeleton};

use super::{X, Y, Z};
use crate::motion::{Stance, bake, eased};

/// `bend`: 0° → 120° → 0° sideways; `twist`: 0° → 170° → 0° about the axis.
pub fn cylinder(skeleton: &Skeleton) -> Result<Vec<Clip>, String> {
    let there_and_back = |most: f64| {
        [
            (0.0, 0.0),
            (0.3, 0.0),
            (1.7, most),
            (2.3, most),
            (3.7, 0.0),
            (4.0, 0.0),
        ]
    };
    let turning = |axis: [f64; 3], most: f64| {
        move |t: f64| {
            let mut stance = Stance::default();
            stance.turn("upper", axis, eased(&there_and_back(most), t));
            Ok(stance)
        }
    };
    Ok(vec![
        bake(skeleton, "bend", 4.0, turning(Z, 120.0))?,
        bake(skeleton, "twist", 4.0, turning(Y, 170.0))?,
    ])
}

/// `curl`: the elbow bends to 130°, the wrist and fingers follow, then the forearm twists and comes back.
pub fn arm(skeleton: &Skeleton) -> Result<Vec<Clip>, String> {
    let curl = |t: f64| {
        let mut stance = Stance::default();
        stance.turn(
            "hand",
            X,
            eased(&[(0.3, 0.0), (1.6, 80.0), (2.0, 80.0), (3.1, 0.0)], t),
        );
        stance.turn(
            "forearm",
            Y,
            eased(&[(0.1, 0.0), (1.4, -130.0), (2.0, -130.0), (3.4, 0.0)], t),
        );
        stance.turn(
            "hand",
            Y,
            eased(&[(0.4, 0.0), (1.5, -35.0), (2.1, -25.0), (3.2, 0.0)], t),
        );
        let grip = eased(&[(0.3, 0.0), (1.3, -55.0), (2.2, -55.0), (3.2, 0.0)], t);
        for finger in ["fingers.1", "fingers.2"] {
            stance.turn(finger, Y, grip);
        }
        stance.turn(
            "thumb",
            Z,
            eased(&[(0.5, 0.0), (1.4, -25.0), (2.2, -25.0), (3.2, 0.0)], t),
        );
        Ok(stance)
    };
    Ok(vec![bake(skeleton, "curl", 3.5, curl)?])
}
