//! Which way is up: +Y, unless skeleton and skin clearly say otherwise.

use serde::Serialize;

use crate::math::{Point64, Vec3, Vec64, origin_of};
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

    /// The unit vector in single precision.
    #[must_use]
    pub fn direction(&self) -> Vec3 {
        Vec3::from(self.axis.map(|c| c as f32))
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

    /// Guesses from the legs, then the spine, then the axis along which the skin stands on the ground. `skin` is in the bind pose.
    ///
    /// Every format with joints and a convention of axes is +Y up once it is read: glTF by definition, FBX by conversion, BVH by convention.
    /// So legs or a spine along another axis count only if all evidence agrees: in the rest pose, which is the one that is shown, and in
    /// the bind pose, with the skin longest along that axis, and with the head or the ground at the right end. One of these alone is often
    /// a pose: a body that lies, or a mesh that was bound lying and stands in the rest pose.
    #[must_use]
    pub fn guess(skeleton: &Skeleton, skin: &Bounds) -> Self {
        let bind: Vec<Point64> = (0..skeleton.len())
            .map(|joint| skeleton.bind_position(joint))
            .collect();
        let rest: Vec<Point64> = skeleton
            .world_from_joint(&skeleton.rest_pose())
            .iter()
            .map(origin_of)
            .collect();
        let [at_rest, bound] = [&rest, &bind].map(|places| Posture::of(skeleton, places));
        let is_up = |axis: &[f64; 3]| *axis == Y;
        if [at_rest.legs, bound.legs].iter().flatten().any(is_up) {
            return Self {
                axis: Y,
                by: "legs",
            };
        }
        let is_clear = |axis: [f64; 3]| {
            let k = (0..3).find(|&k| axis[k] != 0.0).unwrap_or(1);
            let on_ground = axis[k] > 0.0 && is_on_ground(skin, k) && !is_on_ground(skin, 1);
            let agrees = |posture: &Posture| {
                let spine_agrees = posture.spine.is_none_or(|spine| spine == axis);
                posture.legs.is_none_or(|legs| legs == axis) && spine_agrees
            };
            let has_head = at_rest.legs.is_some() && at_rest.spine.is_some();
            agrees(&at_rest) && agrees(&bound) && is_longest(skin, k) && (has_head || on_ground)
        };
        for (axis, by) in [(at_rest.legs, "legs"), (at_rest.spine, "spine")] {
            // A spine may lie; only one that stands on the ground says something.
            let stands = |axis: &[f64; 3]| match by {
                "spine" if *axis == Y => is_on_ground(skin, 1),
                _ => is_clear(*axis),
            };
            if let Some(axis) = axis.filter(stands) {
                return Self { axis, by };
            }
        }
        let has_posture = at_rest.legs.or(at_rest.spine).is_some();
        let [on_y, on_z] = [1, 2].map(|k| is_on_ground(skin, k));
        if on_z && !on_y && !has_posture {
            return Self {
                axis: [0.0, 0.0, 1.0],
                by: "ground",
            };
        }
        Self {
            axis: Y,
            by: if on_y && !on_z { "ground" } else { "nothing" },
        }
    }
}

const Y: [f64; 3] = [0.0, 1.0, 0.0];

/// The axes along which a body stands in one pose, as far as its joints' names tell.
struct Posture {
    /// From the feet to the thighs.
    legs: Option<[f64; 3]>,
    /// From the hips to the head.
    spine: Option<[f64; 3]>,
}

impl Posture {
    fn of(skeleton: &Skeleton, places: &[Point64]) -> Self {
        let middle = |words: &[&str]| {
            words
                .iter()
                .find_map(|word| mean_place(places, &named(skeleton, word)))
        };
        let along = |ends: Option<(Point64, Point64)>| {
            ends.and_then(|(high, low)| main_axis(&(high - low)))
        };
        Self {
            legs: along(legs(skeleton, places)),
            spine: along(middle(&["head", "skull"]).zip(middle(&["hips", "pelvis"]))),
        }
    }
}

/// Mean place of the thighs, and of the feet that hang on them: forefeet say nothing about where thighs are.
fn legs(skeleton: &Skeleton, places: &[Point64]) -> Option<(Point64, Point64)> {
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
        mean_place(places, &feet)
    });
    mean_place(places, &thighs).zip(feet)
}

/// The joints whose names hold a word.
fn named(skeleton: &Skeleton, word: &str) -> Vec<usize> {
    (0..skeleton.len())
        .filter(|&joint| skeleton.joints()[joint].name.to_lowercase().contains(word))
        .collect()
}

fn mean_place(places: &[Point64], joints: &[usize]) -> Option<Point64> {
    let sum: Vec64 = joints.iter().map(|&joint| places[joint].coords).sum();
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
fn is_on_ground(skin: &Bounds, axis: usize) -> bool {
    !skin.is_empty()
        && skin.min[axis].abs() < 0.01 * skin.size()
        && skin.max[axis] > 0.2 * skin.size()
}

/// Whether the skin is longest along an axis.
fn is_longest(skin: &Bounds, axis: usize) -> bool {
    let extent = |k: usize| skin.max[k] - skin.min[k];
    !skin.is_empty() && (0..3).all(|k| extent(k) <= extent(axis))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::{Affine, Point, Quat};

    /// A body with two legs on its hips, and perhaps a head; a biped hangs from no forefeet.
    fn skeleton(up: Vec64, head: bool, ahead: Option<Vec64>) -> Skeleton {
        let at = |along: Vec64| Point64::from(along + Vec64::new(0.1, 0.1, 0.1));
        let mut joints = vec![("Hips".to_owned(), None, at(up))];
        for side in ["Left", "Right"] {
            let hips = joints.len();
            joints.push((format!("{side}UpLeg"), Some(0), at(up * 0.9)));
            joints.push((format!("{side}Foot"), Some(hips), at(up * 0.1)));
        }
        if head {
            joints.push(("Head".to_owned(), Some(0), at(up * 1.7)));
        }
        if let Some(ahead) = ahead {
            joints.push(("ForeFoot".to_owned(), Some(0), at(up * 0.1 + ahead * 9.0)));
        }
        Skeleton::from_positions(&joints).unwrap()
    }

    /// A skin from the ground to 1.8 along an axis, half as wide and around 0 across it.
    fn standing(up: Vec64) -> Bounds {
        let side = Vec64::new(1.0, 1.0, 1.0) - up.abs();
        let ends = [side * -0.45, side * 0.45 + up * 1.8];
        let point =
            |pick: fn(f64, f64) -> f64| Point::from(ends[0].zip_map(&ends[1], pick).cast::<f32>());
        Bounds {
            min: point(f64::min),
            max: point(f64::max),
        }
    }

    #[test]
    fn legs_decide_where_all_evidence_agrees() {
        for up in [Vec64::y(), Vec64::z(), -Vec64::x(), -Vec64::z()] {
            for ahead in [
                None,
                Some(Vec64::z() - up.z.abs() * Vec64::z() + up.z.abs() * Vec64::y()),
            ] {
                let found = UpAxis::guess(&skeleton(up, true, ahead), &standing(up));
                assert_eq!((Vec64::from(found.axis), found.by), (up, "legs"));
            }
        }
        // Without a head the ground is needed.
        let on_ground = UpAxis::guess(&skeleton(Vec64::z(), false, None), &standing(Vec64::z()));
        assert_eq!((on_ground.name().as_str(), on_ground.by), ("+Z", "legs"));
    }

    #[test]
    fn y_is_up_where_legs_alone_say_otherwise() {
        for up in [Vec64::z(), -Vec64::z(), Vec64::x()] {
            for (head, skin) in [
                (true, standing(Vec64::y())),
                (false, standing(Vec64::y())),
                (false, standing(-Vec64::z())),
            ] {
                let found = UpAxis::guess(&skeleton(up, head, None), &skin);
                assert!(found.is_y(), "{up:?} with {skin:?}: {found:?}");
            }
        }
    }

    /// Some exporters bind a mesh that lies on its back, and turn the skeleton upright in the rest pose.
    #[test]
    fn a_body_bound_lying_stands_up_in_its_rest_pose() {
        let upright = skeleton(Vec64::y(), true, None);
        let lying = Quat::from_axis_angle(&Vec64::x_axis(), -std::f64::consts::FRAC_PI_2);
        let mut joints = upright.joints().to_vec();
        for joint in &mut joints {
            let turn: Affine = nalgebra::convert(lying);
            joint.world_from_bind = turn * joint.world_from_bind;
        }
        let bound_lying = Skeleton::new(joints).unwrap();
        let found = UpAxis::guess(&bound_lying, &standing(-Vec64::z()));
        assert_eq!((found.is_y(), found.by), (true, "legs"));
    }

    #[test]
    fn without_a_skeleton_the_ground_decides() {
        let flat = Bounds {
            min: Point::new(-1.0, 0.0, -1.0),
            max: Point::new(1.0, 1.8, 1.0),
        };
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
