//! The fold between a part and the one that it hangs at: inside of a bent joint both press each other over the whole width of the limbs.
//!
//! Vaillant et al. 2014 (section 4.2) decide by the angle between the gradients whether two parts are in contact. In a deep fold that angle is
//! small beside the middle of the limbs, where both surfaces look sideways; the union of both is the surface there, and the skin of the fold
//! splays out onto it. A fold therefore is a contact between its bones, from the joint on, at any angle of the gradients.

use crate::math::{Affine, Point64, Vec64, smooth_and_slope, smoothstep};

use super::motions::dot;

/// No part: of a field that hangs at none.
const NO_PARENT: u16 = u16::MAX;
/// The bend from which a fold begins to be a contact, and at which it is full, rad.
const BENT: [f32; 2] = [60.0 * DEGREE, 110.0 * DEGREE];
/// The bend from which fields end between the bones, and at which they end fully, rad.
const CLOSED: [f32; 2] = [90.0 * DEGREE, 130.0 * DEGREE];
/// The cosine of the largest angle between the bones of a straight joint, as a knee and an elbow, at rest.
const STRAIGHT: f64 = 0.6;
const DEGREE: f32 = std::f32::consts::PI / 180.0;
/// The contact is full at this distance from the joint, in radii of the limb at the joint.
const FULL: f32 = 1.25;
/// Beyond this distance on the other side of the plane between the bones, in the same unit, a field ends.
const CUT: f32 = 1.0;
/// It ends at this distance outside of the bones, in the same unit.
const BESIDE: f32 = 0.6;

/// The joint between two parts in the bind pose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Fold {
    /// The field of the part that this one hangs at.
    pub(super) parent: u16,
    pub(super) joint: u32,
    pub(super) parent_joint: u32,
    /// Where the joint is, and that of the parent.
    pub(super) at: Point64,
    pub(super) parent_at: Point64,
    /// From the joint along its bones; zero for none.
    pub(super) along: Vec64,
    /// Radius of the limb at the joint.
    pub(super) radius: f32,
}

/// A fold in a pose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PosedFold {
    pub(super) parent: u16,
    at: [f32; 3],
    /// Unit vectors: between the bones, and across.
    between: [f32; 3],
    across: [f32; 3],
    /// Tangent of half the angle between the bones.
    opening: f32,
    radius: f32,
    /// The depth of the contact, from 0 to 1.
    amount: f32,
    /// How far fields end between the bones, from 0 to 1.
    closed: f32,
}

impl Fold {
    /// Of a field that hangs at no other.
    pub(super) const NONE: Self = Self {
        parent: NO_PARENT,
        joint: 0,
        parent_joint: 0,
        at: Point64::new(0.0, 0.0, 0.0),
        parent_at: Point64::new(0.0, 0.0, 0.0),
        along: Vec64::new(0.0, 0.0, 0.0),
        radius: 0.0,
    };

    /// Whether the bones continue each other at rest.
    pub(super) fn is_straight(&self) -> bool {
        (self.at - self.parent_at).angle(&self.along).cos() > STRAIGHT
    }

    /// The angle by which the bones are bent out of a straight line, rad, and the depth of the contact where it is deepest, 0 to 1.
    pub(super) fn bend(&self, now_from_bind: &[Affine]) -> [f32; 2] {
        let [own, parent] =
            [self.joint, self.parent_joint].map(|joint| &now_from_bind[joint as usize]);
        let (down, up) = (own * self.along, parent * self.parent_at - own * self.at);
        let bend = down.angle(&-up) as f32;
        [bend, smoothstep(BENT, bend)]
    }

    /// The fold when joints have moved from the bind pose.
    pub(super) fn posed(&self, now_from_bind: &[Affine]) -> PosedFold {
        if self.parent == NO_PARENT {
            return PosedFold::NONE;
        }
        let [own, parent] =
            [self.joint, self.parent_joint].map(|joint| &now_from_bind[joint as usize]);
        let at = own * self.at;
        let down = (own * self.along).try_normalize(1e-12);
        let up = (parent * self.parent_at - at).try_normalize(1e-12);
        let Some((down, up)) = down.zip(up) else {
            return PosedFold::NONE;
        };
        let between = (down + up).try_normalize(1e-9);
        let across = (down - up).try_normalize(1e-9);
        let Some((between, across)) = between.zip(across) else {
            return PosedFold::NONE;
        };
        let bend = (-down.dot(&up)).clamp(-1.0, 1.0).acos() as f32;
        let array = |v: &Vec64| [v.x, v.y, v.z].map(|c| c as f32);
        PosedFold {
            parent: self.parent,
            at: array(&at.coords),
            between: array(&between),
            across: array(&across),
            opening: (0.5 * (std::f32::consts::PI - bend)).tan(),
            radius: self.radius,
            amount: smoothstep(BENT, bend),
            closed: if self.is_straight() {
                smoothstep(CLOSED, bend)
            } else {
                0.0
            },
        }
    }
}

impl PosedFold {
    pub(super) const NONE: Self = Self {
        parent: NO_PARENT,
        at: [0.0; 3],
        between: [0.0; 3],
        across: [0.0; 3],
        opening: 0.0,
        radius: 0.0,
        amount: 0.0,
        closed: 0.0,
    };

    /// Whether the limb is so far bent that fields end between its bones.
    pub(super) fn is_closed(&self) -> bool {
        self.closed > 0.0
    }

    /// What is left of a field at a point, 0 to 1, and its gradient: in the fold a limb ends on the other side of the plane between the
    /// bones. It would stick out of the back of the other limb in a deep fold. `is_parent`: the field above the joint.
    pub(super) fn left(&self, at: [f32; 3], is_parent: bool) -> (f32, [f32; 3]) {
        let d: [f32; 3] = std::array::from_fn(|c| at[c] - self.at[c]);
        let out = dot(d, self.between) / (FULL * self.radius);
        let sign = if is_parent { 1.0 } else { -1.0 };
        let width = CUT * self.radius;
        let beyond = sign * dot(d, self.across) / width;
        if out <= 0.0 || beyond <= 0.0 {
            return (1.0, [0.0; 3]);
        }
        let ([inside, deeper], [cut, more]) = (smooth_and_slope(out), smooth_and_slope(beyond));
        let (along, across) = (
            -self.closed * cut * deeper / (FULL * self.radius),
            -self.closed * inside * more * sign / width,
        );
        let gradient = std::array::from_fn(|c| along * self.between[c] + across * self.across[c]);
        (1.0 - self.closed * inside * cut, gradient)
    }

    /// The depth of the contact at a point, from 0 to 1.
    pub(super) fn depth(&self, at: [f32; 3]) -> f32 {
        if self.amount <= 0.0 {
            return 0.0;
        }
        let d: [f32; 3] = std::array::from_fn(|c| at[c] - self.at[c]);
        let out = dot(d, self.between);
        if out <= 0.0 {
            return 0.0;
        }
        let outside = dot(d, self.across).abs() - out * self.opening;
        let beside = smoothstep([0.0, BESIDE * self.radius], outside);
        self.amount * smoothstep([0.0, FULL * self.radius], out) * (1.0 - beside)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two bones along x that meet in the origin, bent about z.
    fn bent(degrees: f64) -> PosedFold {
        let fold = Fold {
            parent: 0,
            joint: 1,
            parent_joint: 0,
            parent_at: Point64::new(-1.0, 0.0, 0.0),
            along: Vec64::x(),
            radius: 0.2,
            ..Fold::NONE
        };
        let turn = nalgebra::Rotation3::from_axis_angle(&Vec64::z_axis(), degrees.to_radians());
        fold.posed(&[Affine::identity(), nalgebra::convert(turn)])
    }

    #[test]
    fn fields_end_on_the_other_side_of_a_deep_fold_alone() {
        for degrees in [0.0, 89.0] {
            assert!(!bent(degrees).is_closed());
        }
        let fold = bent(150.0);
        assert!(fold.is_closed());
        // The bones lie at 180° and 150°, and the plane between them at 165°.
        let at = |degrees: f32, r: f32| {
            let (sin, cos) = degrees.to_radians().sin_cos();
            [r * cos, r * sin, 0.05]
        };
        let left =
            |angle: f32| [true, false].map(|is_parent| fold.left(at(angle, 0.9), is_parent).0);
        assert_eq!(left(230.0), [1.0, 0.0]);
        assert!(left(165.0).iter().all(|&part| part > 0.999));
        assert_eq!(left(100.0), [0.0, 1.0]);
        assert_eq!(left(-30.0), [1.0, 1.0], "not outside of the joint");
        for (is_parent, angle) in [(true, 140.0), (true, 120.0), (false, 190.0), (false, 210.0)] {
            let here = at(angle, 0.2);
            let (part, gradient) = fold.left(here, is_parent);
            assert!(part > 0.0 && part < 1.0);
            for c in 0..3 {
                let moved = |by: f32| {
                    let mut here = here;
                    here[c] += by;
                    fold.left(here, is_parent).0
                };
                let change = (moved(1e-3) - moved(-1e-3)) / 2e-3;
                assert!(
                    (gradient[c] - change).abs() < 0.02,
                    "{angle}: {gradient:?} {change}"
                );
            }
        }
    }

    #[test]
    fn a_straight_limb_has_no_fold_and_a_bent_one_only_inside() {
        for degrees in [0.0, 30.0, 59.0] {
            assert_eq!(bent(degrees).depth([-0.3, 0.3, 0.0]), 0.0);
        }
        for degrees in [111.0, 150.0] {
            let fold = bent(degrees);
            let half = (0.5 * degrees).to_radians();
            let inward = [-half.sin(), half.cos()].map(|c| c as f32);
            let at = |r: f32, z: f32| fold.depth([r * inward[0], r * inward[1], z]);
            assert_eq!(at(0.5, 0.0), 1.0);
            assert_eq!(at(0.5, 0.3), 1.0, "over the whole width");
            assert_eq!(at(0.0, 0.0), 0.0);
            assert_eq!(at(-0.2, 0.0), 0.0, "not outside of the joint");
            assert!(at(0.1, 0.0) > 0.0 && at(0.1, 0.0) < 1.0);
            assert_eq!(fold.depth([-0.5, -0.3, 0.0]), 0.0, "not beyond the bones");
        }
    }
}
