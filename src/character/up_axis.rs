//! Which way is up: the legs say it, or the ground.

use serde::Serialize;

use crate::math::{Point64, Vec64};
use crate::mesh::Bounds;
use crate::rig::Skeleton;

/// A direction along an axis of the world.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct UpAxis {
    /// Unit vector.
    pub axis: [f64; 3],
    /// What says so: "legs", "spine", "ground" or "nothing" (then it is +Y).
    pub by: &'static str,
}

impl UpAxis {
    /// +Y.
    #[must_use]
    pub fn y() -> Self {
        Self {
            axis: [0.0, 1.0, 0.0],
            by: "nothing",
        }
    }

    /// Whether it is +Y, as everywhere else here.
    #[must_use]
    pub fn is_y(&self) -> bool {
        self.axis == [0.0, 1.0, 0.0]
    }

    /// Gravity of a strength, m s⁻², in this file's axes.
    #[must_use]
    pub fn gravity_m_s2(&self, strength: f64) -> [f64; 3] {
        // Not −0.
        self.axis.map(|c| 0.0 - c * strength)
    }

    /// How strong a gravity pulls down in this file's axes, m s⁻²; the other way round below 0.
    #[must_use]
    pub fn strength_of(&self, gravity_m_s2: [f64; 3]) -> f64 {
        // Not −0.
        0.0 - (0..3).map(|k| gravity_m_s2[k] * self.axis[k]).sum::<f64>()
    }

    /// "+Y", "−Z", …
    #[must_use]
    pub fn name(&self) -> String {
        let axis = (0..3).find(|&k| self.axis[k] != 0.0).unwrap_or(1);
        format!(
            "{}{}",
            if self.axis[axis] < 0.0 { '−' } else { '+' },
            ["X", "Y", "Z"][axis]
        )
    }

    /// Guesses from where thighs and the feet on them, then hips and head are, then from the axis along which the skin stands on the ground.
    #[must_use]
    pub fn guess(skeleton: &Skeleton, skin: &Bounds) -> Self {
        let place = |words: &[&str]| middle(skeleton, words);
        let legs = legs(skeleton);
        let spine = place(&["head", "skull"]).zip(place(&["hips", "pelvis"]));
        let along = |found: Option<(Point64, Point64)>| {
            found.and_then(|(high, low)| main_axis(&(high - low)))
        };
        if let Some(axis) = along(legs) {
            return Self { axis, by: "legs" };
        }
        // A spine may lie; only one that stands on the ground says something.
        if let Some(axis) =
            along(spine).filter(|axis| (0..3).any(|k| axis[k] > 0.0 && stands_on(skin, k)))
        {
            return Self { axis, by: "spine" };
        }
        if stands_on(skin, 2) && !stands_on(skin, 1) {
            return Self {
                axis: [0.0, 0.0, 1.0],
                by: "ground",
            };
        }
        let by = if stands_on(skin, 1) && !stands_on(skin, 2) {
            "ground"
        } else {
            "nothing"
        };
        Self {
            axis: [0.0, 1.0, 0.0],
            by,
        }
    }
}

/// Mean place of the thighs, and of the feet that hang on them: forefeet say nothing about where thighs are.
fn legs(skeleton: &Skeleton) -> Option<(Point64, Point64)> {
    // One hip alone is the pelvis, from which the whole body hangs.
    let thighs = ["thigh", "upleg", "upperleg", "upper_leg", "hip"]
        .iter()
        .map(|word| named(skeleton, word))
        .find(|found| found.len() > 1)?;
    let hangs_on_thigh = |joint: &usize| {
        let above = |joint: &usize| skeleton.joints()[*joint].parent;
        std::iter::successors(above(joint), above).any(|ancestor| thighs.contains(&ancestor))
    };
    let feet = ["foot", "ankle", "paw", "hoof"].iter().find_map(|word| {
        let feet: Vec<usize> = named(skeleton, word)
            .into_iter()
            .filter(hangs_on_thigh)
            .collect();
        mean_place(skeleton, &feet)
    });
    mean_place(skeleton, &thighs).zip(feet)
}

/// Mean place of the joints whose names hold one of the words; the first word that any name holds counts.
fn middle(skeleton: &Skeleton, words: &[&str]) -> Option<Point64> {
    words
        .iter()
        .find_map(|word| mean_place(skeleton, &named(skeleton, word)))
}

fn named(skeleton: &Skeleton, word: &str) -> Vec<usize> {
    (0..skeleton.len())
        .filter(|&joint| skeleton.joints()[joint].name.to_lowercase().contains(word))
        .collect()
}

fn mean_place(skeleton: &Skeleton, joints: &[usize]) -> Option<Point64> {
    let sum: Vec64 = joints
        .iter()
        .map(|&joint| skeleton.bind_position(joint).coords)
        .sum();
    (!joints.is_empty()).then(|| Point64::from(sum / joints.len() as f64))
}

/// The axis that a direction mostly goes along.
fn main_axis(direction: &Vec64) -> Option<[f64; 3]> {
    let axis = direction.iamax();
    let clear = direction[axis].abs() > 0.8 * direction.norm() && direction.norm() > 0.0;
    clear.then(|| {
        std::array::from_fn(|k| {
            if k == axis {
                direction[axis].signum()
            } else {
                0.0
            }
        })
    })
}

/// Whether the least coordinate is about 0 and all the others lie above.
fn stands_on(skin: &Bounds, axis: usize) -> bool {
    !skin.is_empty()
        && skin.min[axis].abs() < 0.01 * skin.size()
        && skin.max[axis] > 0.2 * skin.size()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Point;

    /// A body with two legs on its hips; a biped hangs from no forefeet.
    fn skeleton(up: Vec64, ahead: Option<Vec64>) -> Skeleton {
        let at = |along: Vec64| Point64::from(along + Vec64::new(0.1, 0.1, 0.1));
        let mut joints = vec![("Hips".to_owned(), None, at(up))];
        for side in ["Left", "Right"] {
            let hips = joints.len();
            joints.push((format!("{side}UpLeg"), Some(0), at(up * 0.9)));
            joints.push((format!("{side}Foot"), Some(hips), at(up * 0.1)));
        }
        if let Some(ahead) = ahead {
            joints.push(("ForeFoot".to_owned(), Some(0), at(up * 0.1 + ahead * 9.0)));
        }
        Skeleton::from_positions(&joints).unwrap()
    }

    #[test]
    fn legs_decide_before_the_ground() {
        let flat = Bounds {
            min: Point::new(-1.0, 0.0, -1.0),
            max: Point::new(1.0, 1.8, 1.0),
        };
        for up in [Vec64::y(), Vec64::z(), -Vec64::x()] {
            for ahead in [
                None,
                Some(Vec64::z() - up.z * Vec64::z() + up.z * Vec64::y()),
            ] {
                let found = UpAxis::guess(&skeleton(up, ahead), &flat);
                assert_eq!((Vec64::from(found.axis), found.by), (up, "legs"));
            }
        }
        assert_eq!(
            UpAxis::guess(&Skeleton::default(), &flat),
            UpAxis {
                axis: [0.0, 1.0, 0.0],
                by: "ground"
            }
        );
        let deep = Bounds {
            min: Point::new(-1.0, -0.5, 0.0),
            max: Point::new(1.0, 0.5, 1.8),
        };
        let up = UpAxis::guess(&Skeleton::default(), &deep);
        assert_eq!(
            (up.name().as_str(), up.gravity_m_s2(9.81)),
            ("+Z", [0.0, 0.0, -9.81])
        );
        assert_eq!(
            UpAxis::guess(&Skeleton::default(), &Bounds::of([])).by,
            "nothing"
        );
    }
}
