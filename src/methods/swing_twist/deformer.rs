//! One deformer: bound to a bone, posed once per frame, applied to vertices.

use nalgebra::{Matrix3, Unit};

use crate::math::{
    Affine, Point, Point64, Quat, Vec3, Vec64, closest_rotation, linear_part, origin_of, smoothstep,
};

/// The share of one deformer in the position of a vertex.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bent {
    pub deformer: u32,
    /// d.
    pub blend: f32,
    /// s.
    pub swing: f32,
    /// t.
    pub twist: f32,
}

/// Swings, in rad, between which linear turns into spherical interpolation.
const SPHERICAL: [f64; 2] = [
    std::f64::consts::FRAC_PI_2,
    std::f64::consts::FRAC_PI_2 + std::f64::consts::FRAC_PI_3,
];
/// A stretch that differs from none by no more than this is none: so much is rounding.
const NO_STRETCH: f64 = 1e-6;
/// Where cos of half the swing is below this, the twist is rounding and taken for none.
const NO_TWIST: f64 = 1e-7;
/// Determinants below this part of the cube of the largest entry have no usable inverse.
const SINGULAR: f64 = 1e-12;

/// The motion of a joint from the bind pose.
#[derive(Debug, Clone, Copy)]
pub(super) struct Skinning {
    world_from_bind: Affine,
    linear: Matrix3<f32>,
    translation: Vec3,
}

impl Default for Skinning {
    fn default() -> Self {
        Self {
            world_from_bind: Affine::identity(),
            linear: Matrix3::identity(),
            translation: Vec3::zeros(),
        }
    }
}

impl Skinning {
    pub fn of(world_from_joint: &Affine, joint_from_bind: &Affine) -> Self {
        let world_from_bind = world_from_joint * joint_from_bind;
        Self {
            linear: linear_part(&world_from_bind).cast::<f32>(),
            translation: origin_of(&world_from_bind).coords.cast::<f32>(),
            world_from_bind,
        }
    }

    pub fn apply(&self, point: &Point) -> Vec3 {
        self.linear * point.coords + self.translation
    }
}

/// A joint with a parent, and the direction of one of its bones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Deformer {
    pub joint: u32,
    pub parent: u32,
    /// The joint's position in the bind pose, world.
    pub pivot: Point64,
    /// z of the canonical frame in the bind pose, world, of length 1.
    pub axis: Vec64,
}

/// A deformer in one pose.
#[derive(Debug, Clone, Copy)]
pub(super) struct Posed {
    joint: u32,
    parent: u32,
    pivot: Vec3,
    /// Twist axis z.
    axis: Vec3,
    /// Twist, rad.
    twist: f32,
    /// `Q_swing` − I.
    swing: Matrix3<f32>,
    /// Translation of the joint relative to its parent.
    shift: Vec3,
    /// The stretch minus I, if there is one.
    stretch: Option<Matrix3<f32>>,
    /// Axis and angle (rad) of the swing, and how far it is interpolated spherically; `None` for 0.
    spherical: Option<(Vec3, f32, f32)>,
    /// Whether the motions of parent and joint are blended as a whole.
    is_linear: bool,
}

impl Default for Posed {
    fn default() -> Self {
        Self {
            joint: 0,
            parent: 0,
            pivot: Vec3::zeros(),
            axis: Vec3::z(),
            twist: 0.0,
            swing: Matrix3::zeros(),
            shift: Vec3::zeros(),
            stretch: None,
            spherical: None,
            is_linear: false,
        }
    }
}

impl Deformer {
    pub fn posed(&self, skinning: &[Skinning]) -> Posed {
        let posed = Posed {
            joint: self.joint,
            parent: self.parent,
            pivot: self.pivot.coords.cast::<f32>(),
            axis: self.axis.cast::<f32>(),
            ..Posed::default()
        };
        let [parent, joint] =
            [self.parent, self.joint].map(|index| skinning[index as usize].world_from_bind);
        let Some(relative) = relative(&parent, &joint) else {
            return Posed {
                is_linear: true,
                ..posed
            };
        };
        let linear = linear_part(&relative);
        let rotation = closest_rotation(&linear);
        let stretch = rotation.transpose() * linear - Matrix3::identity();
        let stretch = (stretch.amax() > NO_STRETCH).then(|| stretch.cast::<f32>());
        let rotation =
            Quat::from_rotation_matrix(&nalgebra::Rotation3::from_matrix_unchecked(rotation));
        let (swing, twist) = swing_and_twist(&rotation, &self.axis);
        let half = swing.imag().norm();
        let angle = 2.0 * half.atan2(swing.w.abs());
        let share = smoothstep(SPHERICAL, angle);
        let spherical = (share > 0.0).then(|| {
            let direction = swing.imag() / half * swing.w.signum();
            (direction.cast::<f32>(), angle as f32, share as f32)
        });
        Posed {
            twist: twist as f32,
            swing: (swing.to_rotation_matrix().into_inner() - Matrix3::identity()).cast::<f32>(),
            shift: (relative * self.pivot - self.pivot).cast::<f32>(),
            stretch,
            spherical,
            ..posed
        }
    }
}

/// The motion of a joint relative to its parent, both from the bind pose; `None` if the parent has no inverse, or it reflects.
fn relative(parent: &Affine, joint: &Affine) -> Option<Affine> {
    let linear = linear_part(parent);
    if linear.determinant().abs() <= SINGULAR * linear.amax().powi(3) {
        return None;
    }
    let relative = parent.try_inverse()? * joint;
    let is_finite = relative.matrix().iter().all(|entry| entry.is_finite());
    (is_finite && linear_part(&relative).determinant() > 0.0).then_some(relative)
}

/// Splits a rotation Q into `Q_swing` `Q_twist`: the swing about an axis across z, and the angle of the twist about z in (−π, π].
pub(super) fn swing_and_twist(rotation: &Quat, z: &Vec64) -> (Quat, f64) {
    let (along, w) = (rotation.imag().dot(z), rotation.w);
    if along.hypot(w) < NO_TWIST {
        return (*rotation, 0.0);
    }
    let mut twist = 2.0 * along.atan2(w);
    if twist > std::f64::consts::PI {
        twist -= std::f64::consts::TAU;
    } else if twist <= -std::f64::consts::PI {
        twist += std::f64::consts::TAU;
    }
    let untwist = Quat::from_axis_angle(&Unit::new_unchecked(*z), -twist);
    (rotation * untwist, twist)
}

/// The vector, turned by an angle (rad) about an axis of length 1.
fn turned(vector: &Vec3, axis: &Vec3, angle: f32) -> Vec3 {
    let (sin, cos) = angle.sin_cos();
    vector * cos + axis.cross(vector) * sin + axis * (axis.dot(vector) * (1.0 - cos))
}

impl Posed {
    /// Where the deformer takes a vertex, world.
    pub fn apply(&self, rest: &Point, bent: &Bent, skinning: &[Skinning]) -> Vec3 {
        let parent = &skinning[self.parent as usize];
        let s = bent.swing;
        if self.is_linear {
            let joint = &skinning[self.joint as usize];
            return parent.apply(rest) * (1.0 - s) + joint.apply(rest) * s;
        }
        let mut x = rest.coords - self.pivot;
        if let Some(stretch) = &self.stretch {
            x += stretch * x * s;
        }
        let y = turned(&x, &self.axis, bent.twist * self.twist);
        let mut moved = y + self.swing * y * s;
        if let Some((axis, angle, share)) = &self.spherical {
            moved += (turned(&y, axis, angle * s) - moved) * *share;
        }
        parent.apply(&Point::from(self.pivot + self.shift * s + moved))
    }
}
