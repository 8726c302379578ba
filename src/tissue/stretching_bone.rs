//! Bones that stretch and twist (FPS figure 3.20).
//!
//! A bone moves with the joint at its start. If the joint at its end is displaced relative to that (by a translation
//! track, or by a length other than in the bind pose), the bone follows both: it rotates by the shortest way to its
//! end's position and stretches linearly along its axis, with unchanged thickness. Let a be the start and b the end,
//! moved by their joints to a′ and b′; T the transform of the start's joint; Q the shortest rotation from T b − T a to
//! b′ − a′; u the unit vector along b′ − a′; and λ = ‖b′ − a′‖ / ‖T b − T a‖:
//!
//! ```text
//!     turned(x) = a′ + Q (T x − T a),     stretched(x) = turned(x) + (λ − 1) u uᵀ (turned(x) − a′)
//! ```
//!
//! It is exactly T where the joints agree. A bone that twists distributes the angle θ by which its end's joint turns
//! about its axis: a point at s (0 at the start, 1 at the end) turns by s θ.

use super::graph::BoneGraph;
use crate::math::{Affine, Point, Point64, Quat, Vec3, Vec64, affine, linear_part};
use crate::rig::{Skeleton, Trs};

/// Tolerance of equal ends relative to the bone's length: within it the transform is exactly that of the joint.
const END_TOLERANCE: f64 = 1e-7;
/// Bounds of the stretch: at most this factor, at least its inverse.
const MAX_STRETCH: f64 = 50.0;

/// A bone at bind time.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub(super) struct StretchingBone {
    joint: usize,
    joint_from_bind: Affine,
    /// The joint at the end, with its inverse bind transform.
    end: Option<(usize, Affine)>,
    /// Ends of the segment at rest.
    a: Point64,
    b: Point64,
    twists: bool,
}

/// Pose of a virtual bone, which replaces that of its joint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct FreeBone {
    /// `posed_from_bind`, before the fit to the ends.
    pub(crate) posed_from_bind: Affine,
    /// Positions of its ends.
    pub(crate) ends: [Point64; 2],
}

impl FreeBone {
    /// The affine map that takes the segment from `a` to `b` at rest to the ends of the bone, and keeps its thickness.
    pub(crate) fn stretched(&self, a: &Point64, b: &Point64) -> Affine {
        let [_, stretched] = fit_to_ends(&self.posed_from_bind, a, b, &self.ends);
        stretched
    }
}

/// A bone in a pose.
pub(super) struct PosedBone {
    /// Transform of its joint, without the fit to the end.
    pub(super) rigid: Affine,
    /// Fitted to the ends by rotation only.
    pub(super) turned: Affine,
    /// Fitted to the ends by rotation and stretch.
    pub(super) stretched: Affine,
    pub(super) twist: Twist,
    /// Factor on its radius, from the joint's scale.
    pub(super) thickening: f64,
}

/// A rotation about the rest axis of a bone, proportional to the position along it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Twist {
    angle: f32,
    a: Point,
    b: Point,
}

impl StretchingBone {
    pub(super) fn bind(graph: &BoneGraph, skeleton: &Skeleton, bone: usize) -> Self {
        let inverse_bind = |joint: usize| {
            skeleton.joints()[joint]
                .world_from_bind
                .try_inverse()
                .unwrap_or_else(Affine::identity)
        };
        let [a, b] = graph.segment(bone);
        let bone = &graph.bones[bone];
        Self {
            joint: bone.joint,
            joint_from_bind: inverse_bind(bone.joint),
            end: bone.end_joint.map(|joint| (joint, inverse_bind(joint))),
            a,
            b,
            twists: bone.twists,
        }
    }

    /// Start and end at rest, the axis of its twist.
    pub(super) fn axis(&self) -> [Point; 2] {
        [self.a.cast::<f32>(), self.b.cast::<f32>()]
    }

    /// The bone in a pose, or as given by `free`.
    pub(super) fn posed(&self, world_from_joint: &[Affine], free: Option<&FreeBone>) -> PosedBone {
        let own = world_from_joint[self.joint] * self.joint_from_bind;
        let end = self
            .end
            .as_ref()
            .map(|(joint, joint_from_bind)| world_from_joint[*joint] * joint_from_bind);
        let (posed, ends) = match (free, &end) {
            (Some(free), _) => (free.posed_from_bind, free.ends),
            (None, Some(end)) => (own, [own * self.a, end * self.b]),
            (None, None) => (own, [own * self.a, own * self.b]),
        };
        let [turned, stretched] = fit_to_ends(&posed, &self.a, &self.b, &ends);
        let angle = match &end {
            Some(end) if self.twists && free.is_none() => {
                twist_angle(&own, end, &(self.b - self.a))
            }
            _ => 0.0,
        };
        let twist = Twist {
            angle: angle as f32,
            a: self.a.cast::<f32>(),
            b: self.b.cast::<f32>(),
        };
        let rigid = if free.is_some() { turned } else { own };
        PosedBone {
            thickening: thickening(&posed, &(self.b - self.a)),
            rigid,
            turned,
            stretched,
            twist,
        }
    }
}

/// The transforms `turned` and `stretched` of the module's documentation.
fn fit_to_ends(posed: &Affine, a: &Point64, b: &Point64, ends: &[Point64; 2]) -> [Affine; 2] {
    let (from, to) = (posed * a, posed * b);
    let (old, new) = (to - from, ends[1] - ends[0]);
    let length = old.norm();
    let apart = (from - ends[0]).norm().max((to - ends[1]).norm());
    // Non-finite values are passed on, so that the caller detects them in the output.
    if apart <= END_TOLERANCE * length || !apart.is_finite() {
        return [*posed, *posed];
    }
    let moved =
        |linear: &nalgebra::Matrix3<f64>| affine(linear, &(ends[0] - linear * a.coords).coords);
    let linear = linear_part(posed);
    let (Some(old_axis), Some(axis)) = (
        old.try_normalize(f64::MIN_POSITIVE),
        new.try_normalize(1e-6 * length),
    ) else {
        let turned = moved(&linear);
        return [turned, turned];
    };
    // For opposite directions any half turn will do.
    let rotation = Quat::rotation_between(&old_axis, &axis).unwrap_or_else(|| half_turn(&axis));
    let turned = rotation.to_rotation_matrix().into_inner() * linear;
    let stretch = (new.norm() / length).clamp(1.0 / MAX_STRETCH, MAX_STRETCH);
    let stretched = turned + axis * (axis.transpose() * turned) * (stretch - 1.0);
    [moved(&turned), moved(&stretched)]
}

fn half_turn(axis: &Vec64) -> Quat {
    let other = if axis.x.abs() < 0.7 {
        Vec64::x()
    } else {
        Vec64::y()
    };
    Quat::from_axis_angle(
        &nalgebra::Unit::new_normalize(axis.cross(&other)),
        std::f64::consts::PI,
    )
}

/// Angle by which `end` turns about the axis more than `own`, rad in −π..=π: the twist of the swing–twist
/// decomposition.
pub(super) fn twist_angle(own: &Affine, end: &Affine, axis: &Vec64) -> f64 {
    let Some(axis) = axis.try_normalize(f64::MIN_POSITIVE) else {
        return 0.0;
    };
    let turn = Trs::from_affine(own).rotation.inverse() * Trs::from_affine(end).rotation;
    let angle = 2.0 * turn.imag().dot(&axis).atan2(turn.w);
    let angle = if angle > std::f64::consts::PI {
        angle - std::f64::consts::TAU
    } else {
        angle
    };
    let angle = if angle < -std::f64::consts::PI {
        angle + std::f64::consts::TAU
    } else {
        angle
    };
    // An angle within rounding of zero is no twist.
    if angle.abs() > 1e-7 { angle } else { 0.0 }
}

/// Scale of a transform across an axis: the root of the area of the image of a unit square perpendicular to it.
fn thickening(posed: &Affine, axis: &Vec64) -> f64 {
    let linear = linear_part(posed);
    let along = axis
        .try_normalize(f64::MIN_POSITIVE)
        .map_or(1.0, |axis| (linear * axis).norm());
    let across = (linear.determinant().abs() / along.max(f64::MIN_POSITIVE)).sqrt();
    if across.is_finite() { across } else { 1.0 }
}

impl Twist {
    pub(super) fn is_none(&self) -> bool {
        self.angle == 0.0
    }

    /// Rotation of the bone's end, rad.
    pub(super) fn angle(&self) -> f32 {
        self.angle
    }

    /// Rotates a rest point of the bone by its share of the twist.
    pub(super) fn apply(&self, point: &Point) -> Point {
        let axis = self.b - self.a;
        let length2 = axis.norm_squared();
        if length2 <= 0.0 {
            return *point;
        }
        let from_a = point - self.a;
        let share = (from_a.dot(&axis) / length2).clamp(0.0, 1.0);
        let unit = axis / length2.sqrt();
        self.a + rotated(&from_a, &unit, self.angle * share)
    }

    /// The rotation of the bone where it meets a node at `position`: with the full twist at its end, none at its start.
    pub(super) fn at_end(&self, rotation: &Quat, position: &Point64) -> Quat {
        let p = position.cast::<f32>();
        if self.is_none() || (p - self.a).norm_squared() < (p - self.b).norm_squared() {
            return *rotation;
        }
        let axis = nalgebra::Unit::new_normalize((self.b - self.a).cast::<f64>());
        rotation * Quat::from_axis_angle(&axis, f64::from(self.angle))
    }
}

/// Rodrigues' formula.
fn rotated(v: &Vec3, axis: &Vec3, angle: f32) -> Vec3 {
    let (sin, cos) = angle.sin_cos();
    v * cos + axis.cross(v) * sin + axis * (axis.dot(v) * (1.0 - cos))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn some_pose() -> Affine {
        Trs {
            translation: Vec64::new(1.0, 2.0, -3.0),
            rotation: Quat::from_euler_angles(0.3, -1.0, 2.0),
            scale: Vec64::new(2.0, 2.0, 2.0),
        }
        .to_affine()
    }

    #[test]
    fn ends_are_met_and_the_thickness_is_kept() {
        let (a, b) = (Point64::new(0.0, 1.0, 0.0), Point64::new(0.5, 2.0, 0.0));
        let posed = some_pose();
        let ends = [posed * a, posed * b + Vec64::new(0.3, -0.2, 0.9)];
        let [turned, stretched] = fit_to_ends(&posed, &a, &b, &ends);
        assert!(
            (stretched * a - ends[0]).norm() < 1e-12 && (stretched * b - ends[1]).norm() < 1e-12
        );
        let across = (b - a).cross(&Vec64::z()).normalize();
        for linear in [linear_part(&turned), linear_part(&stretched)] {
            assert!(((linear * across).norm() - 2.0).abs() < 1e-12);
            assert!((linear * across).dot(&(ends[1] - ends[0])).abs() < 1e-12);
        }
        assert!((thickening(&posed, &(b - a)) - 2.0).abs() < 1e-12);
    }

    #[test]
    fn joints_that_agree_do_not_change_the_transform() {
        let (a, b) = (Point64::new(0.0, 1.0, 0.0), Point64::new(0.5, 2.0, 0.0));
        let posed = some_pose();
        assert_eq!(
            fit_to_ends(&posed, &a, &b, &[posed * a, posed * b]),
            [posed, posed]
        );
    }

    /// Degenerate ends give finite transforms.
    #[test]
    fn degenerate_ends_give_finite_transforms() {
        let (a, b) = (Point64::origin(), Point64::new(0.0, 2.0, 0.0));
        for ends in [[a, a], [b, a], [b, b], [a, Point64::new(0.0, 1e9, 0.0)]] {
            for fitted in fit_to_ends(&Affine::identity(), &a, &b, &ends) {
                assert!(fitted.matrix().iter().all(|c| c.is_finite()));
            }
        }
    }

    #[test]
    fn the_twist_angle_ignores_swing() {
        let own = some_pose();
        for angle in [-3.0, -1.0, 0.0, 0.7, 3.1] {
            let swing = Quat::from_euler_angles(0.0, 0.4, 0.0);
            let axis = nalgebra::Unit::new_normalize(Vec64::x());
            let end = own
                * Trs {
                    rotation: swing * Quat::from_axis_angle(&axis, angle),
                    ..Trs::IDENTITY
                }
                .to_affine();
            assert!(
                (twist_angle(&own, &end, &Vec64::x()) - angle).abs() < 1e-9,
                "{angle}"
            );
        }
    }
}
