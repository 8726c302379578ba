//! A joint's transform as six numbers that people read: angles and offsets from rest.

use nalgebra::{Matrix3, Quaternion};

use super::Slope;
use crate::math::{Affine, Quat, Vec64, linear_part};
use crate::rig::{Skeleton, Trs};

/// What a number of a joint measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum JointNumber {
    /// Angle about an axis of the world (0, 1, 2: X, Y, Z), degrees.
    Turn(usize),
    /// Offset along an axis of the world, in the file's units.
    Move(usize),
}

impl JointNumber {
    /// Index among the six numbers of a joint, turns first.
    #[must_use]
    pub fn index(self) -> usize {
        match self {
            Self::Turn(axis) => axis,
            Self::Move(axis) => 3 + axis,
        }
    }

    /// The axis: 0, 1, 2 for X, Y, Z.
    #[must_use]
    pub fn axis(self) -> usize {
        match self {
            Self::Turn(axis) | Self::Move(axis) => axis,
        }
    }
}

/// The frame in which a joint's numbers are measured.
///
/// A joint's angles are degrees about the world's X, then Y, then Z axis through the joint, on top of the rest pose, with the joint's
/// parents at rest; rotations of the parents are applied afterwards. So the angles of different joints are independent, and the window
/// shows the same numbers that `--rotate JOINT=X,Y,Z` takes. Offsets are along the same axes, from the joint's place at rest.
#[derive(Debug, Clone, Copy)]
pub struct JointAxes {
    world_from_base: Quat,
    /// With the scale of the parents, for offsets.
    world_from_offset: Matrix3<f64>,
    offset_from_world: Matrix3<f64>,
    rest: Trs,
}

impl JointAxes {
    /// The axes of a joint.
    ///
    /// # Panics
    /// If the skeleton has no such joint.
    #[must_use]
    pub fn of(skeleton: &Skeleton, joint: usize) -> Self {
        let mut base = skeleton.joints()[joint].parent_from_base;
        let mut parent = skeleton.joints()[joint].parent;
        while let Some(index) = parent {
            let above = &skeleton.joints()[index];
            base = Affine::from_matrix_unchecked(
                (above.parent_from_base * above.rest.to_affine() * base).into_inner(),
            );
            parent = above.parent;
        }
        let linear = linear_part(&base);
        let inverse = linear.try_inverse();
        Self {
            world_from_base: Trs::from_affine(&base).rotation,
            world_from_offset: inverse.map_or_else(Matrix3::identity, |_| linear),
            offset_from_world: inverse.unwrap_or_else(Matrix3::identity),
            rest: skeleton.joints()[joint].rest,
        }
    }

    /// The rotation from rest about the world's axes.
    #[must_use]
    pub fn turn_of(&self, local: &Quat) -> Quat {
        self.world_from_base * local * self.rest.rotation.inverse() * self.world_from_base.inverse()
    }

    /// The local rotation of a rotation from rest.
    #[must_use]
    pub fn local_of(&self, turn: &Quat) -> Quat {
        self.world_from_base.inverse() * turn * self.world_from_base * self.rest.rotation
    }

    /// The six numbers: angles in degrees, each in ±180 (Y in ±90), and offsets.
    #[must_use]
    pub fn numbers(&self, value: &Trs) -> [f64; 6] {
        let (x, y, z) = self.turn_of(&value.rotation).euler_angles();
        let offset = self.world_from_offset * (value.translation - self.rest.translation);
        let [x, y, z] = [x, y, z].map(f64::to_degrees);
        [x, y, z, offset.x, offset.y, offset.z]
    }

    /// The six numbers with the angles nearest to other ones: a rotation has two triples of angles, and each angle repeats after a turn.
    #[must_use]
    pub fn numbers_near(&self, value: &Trs, near: &[f64; 6]) -> [f64; 6] {
        let plain = self.numbers(value);
        let nearest = |angle: f64, near: f64| angle + 360.0 * ((near - angle) / 360.0).round();
        let triples = [
            [plain[0], plain[1], plain[2]],
            [plain[0] + 180.0, 180.0 - plain[1], plain[2] + 180.0],
        ]
        .map(|triple| std::array::from_fn::<f64, 3, _>(|axis| nearest(triple[axis], near[axis])));
        let distance = |triple: &[f64; 3]| -> f64 {
            (0..3).map(|axis| (triple[axis] - near[axis]).abs()).sum()
        };
        let [first, second] = triples;
        // The triple of the rotation itself wins a tie.
        let [x, y, z] = if distance(&second) < distance(&first) - 1e-6 {
            second
        } else {
            first
        };
        [x, y, z, plain[3], plain[4], plain[5]]
    }

    /// The transform with these numbers and a given scale.
    #[must_use]
    pub fn value(&self, numbers: &[f64; 6], scale: Vec64) -> Trs {
        let [x, y, z] = [numbers[0], numbers[1], numbers[2]].map(f64::to_radians);
        let offset = Vec64::new(numbers[3], numbers[4], numbers[5]);
        Trs {
            translation: self.rest.translation + self.offset_from_world * offset,
            rotation: self.local_of(&Quat::from_euler_angles(x, y, z)),
            scale,
        }
    }

    /// The change of the six numbers per second where a curve has a slope. Where X and Z turn about the same axis (Y = ±90°) the
    /// smallest rates that give the rotation.
    #[must_use]
    pub fn rates(&self, numbers: &[f64; 6], value: &Trs, slope: &Slope) -> [f64; 6] {
        let turning = self.turning(&value.rotation, &slope.rotation);
        let angles = axes_of(numbers)
            .svd(true, true)
            .solve(&turning, 1e-6)
            .unwrap_or_else(|_| Vec64::zeros());
        let moving = self.world_from_offset * slope.translation;
        let [x, y, z] = [angles.x, angles.y, angles.z].map(f64::to_degrees);
        [x, y, z, moving.x, moving.y, moving.z]
    }

    /// The slope with one rate changed by an amount.
    #[must_use]
    pub fn with_rate_changed(
        &self,
        numbers: &[f64; 6],
        value: &Trs,
        slope: &Slope,
        which: JointNumber,
        by: f64,
    ) -> Slope {
        let mut changed = *slope;
        match which {
            JointNumber::Turn(axis) => {
                let turning = axes_of(numbers).column(axis) * by.to_radians();
                let turn = self.turn_of(&value.rotation).into_inner();
                let change = Quaternion::from_imag(turning) * turn * 0.5;
                let base = self.world_from_base.into_inner();
                changed.rotation +=
                    base.conjugate() * change * base * self.rest.rotation.into_inner();
            }
            JointNumber::Move(axis) => {
                changed.translation += self.offset_from_world.column(axis) * by;
            }
        }
        changed
    }

    /// Angular velocity about the world's axes (rad/s), of a rotation whose components change at a rate.
    fn turning(&self, rotation: &Quat, rate: &Quaternion<f64>) -> Vec64 {
        let base = self.world_from_base.into_inner();
        let change = base * rate * self.rest.rotation.into_inner().conjugate() * base.conjugate();
        let turn = self.turn_of(rotation).into_inner();
        (change * turn.conjugate()).imag() * 2.0
    }
}

/// The axes about which X, Y and Z turn, as columns: Z is applied last, so that it turns about the world's axis.
fn axes_of(numbers: &[f64; 6]) -> Matrix3<f64> {
    let [y, z] = [numbers[1], numbers[2]].map(f64::to_radians);
    let ((sin_y, cos_y), (sin_z, cos_z)) = (y.sin_cos(), z.sin_cos());
    Matrix3::from_columns(&[
        Vec64::new(cos_z * cos_y, sin_z * cos_y, -sin_y),
        Vec64::new(-sin_z, cos_z, 0.0),
        Vec64::z(),
    ])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Point64;

    /// A joint under a turned, scaled parent, with a rest rotation of its own.
    fn axes() -> JointAxes {
        let mut skeleton = Skeleton::from_positions(&[
            ("a".into(), None, Point64::origin()),
            ("b".into(), Some(0), Point64::new(0.0, 1.0, 0.0)),
        ])
        .unwrap();
        let mut joints = skeleton.joints().to_vec();
        joints[0].rest.rotation = Quat::from_euler_angles(0.4, -0.9, 1.3);
        joints[0].rest.scale = Vec64::repeat(0.01);
        joints[1].rest.rotation = Quat::from_euler_angles(-1.1, 0.2, 0.7);
        skeleton = Skeleton::new(joints).unwrap();
        JointAxes::of(&skeleton, 1)
    }

    const NUMBERS: [[f64; 6]; 4] = [
        [0.0; 6],
        [20.0, -35.0, 130.0, 0.01, -0.2, 0.3],
        [-170.0, 60.0, -10.0, 1.0, 2.0, -3.0],
        [15.0, 89.0, 40.0, 0.0, 0.0, 0.5],
    ];

    #[test]
    fn numbers_and_transforms_are_inverse() {
        let axes = axes();
        for numbers in NUMBERS {
            let value = axes.value(&numbers, Vec64::repeat(1.0));
            for (a, b) in axes.numbers(&value).iter().zip(&numbers) {
                assert!((a - b).abs() < 1e-9, "{a} {b}");
            }
        }
        assert!(axes.numbers(&axes.rest).iter().all(|n| n.abs() < 1e-9));
    }

    #[test]
    fn angles_go_on_past_half_a_turn_and_past_the_pole() {
        let axes = axes();
        for axis in 0..3 {
            let mut near = [0.0; 6];
            for step in 1..=100 {
                let mut numbers = [0.0; 6];
                numbers[axis] = 5.0 * f64::from(step);
                near = axes.numbers_near(&axes.value(&numbers, Vec64::repeat(1.0)), &near);
                assert!((near[axis] - numbers[axis]).abs() < 1e-6, "{near:?}");
            }
        }
    }

    #[test]
    fn rates_are_the_derivatives_of_the_numbers() {
        let (axes, step) = (axes(), 1e-6);
        for numbers in &NUMBERS[..3] {
            for which in (0..3).flat_map(|axis| [JointNumber::Turn(axis), JointNumber::Move(axis)])
            {
                let still = Slope::default();
                let value = axes.value(numbers, Vec64::repeat(1.0));
                let slope = axes.with_rate_changed(numbers, &value, &still, which, 7.0);
                let later = Trs {
                    translation: value.translation + slope.translation * step,
                    rotation: Quat::new_normalize(
                        value.rotation.into_inner() + slope.rotation * step,
                    ),
                    scale: value.scale,
                };
                let (after, rates) = (
                    axes.numbers_near(&later, numbers),
                    axes.rates(numbers, &value, &slope),
                );
                for index in 0..6 {
                    let wanted = if index == which.index() { 7.0 } else { 0.0 };
                    assert!((rates[index] - wanted).abs() < 1e-9, "{rates:?}");
                    assert!(((after[index] - numbers[index]) / step - wanted).abs() < 1e-3);
                }
            }
        }
    }
}
