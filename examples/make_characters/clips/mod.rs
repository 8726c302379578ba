//! The clips of each character.

mod gecko;
mod mannequin;
mod simple;

use sinew::rig::{Clip, Skeleton};

/// Axis to the character's left.
const X: [f64; 3] = [1.0, 0.0, 0.0];
/// Axis upwards.
const Y: [f64; 3] = [0.0, 1.0, 0.0];
/// Axis forward.
const Z: [f64; 3] = [0.0, 0.0, 1.0];

/// The clips of a character by its name.
///
/// # Errors
/// A joint name that the skeleton does not have.
pub fn clips(name: &str, skeleton: &Skeleton) -> Result<Vec<Clip>, String> {
    match name {
        "mannequin" => mannequin::clips(skeleton),
        "gecko" => gecko::clips(skeleton),
        "cylinder" => simple::cylinder(skeleton),
        "arm" => simple::arm(skeleton),
        _ => Ok(Vec::new()),
    }
}
