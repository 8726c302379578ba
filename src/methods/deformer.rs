//! One deformer: bound to a bone, posed once per frame, applied to vertices.

use nalgebra::{Matrix3, Unit};

use crate::math::{
    Affine, Point, Point64, Quat, Vec3, Vec64, closest_rotation, linear_part, origin_of, smoothstep,
};
use crate::numerics::lanes::{Padded, add, scaled};
use crate::weights::elastic::frame_of;

/// Vectors of four numbers that describe the motion of a deformer in one pose to a device.
pub const MOTION: usize = 7;

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

/// Columns of an affine transform, the translation last.
type Columns = [Padded; 4];

/// The motion of a joint from the bind pose.
#[derive(Debug, Clone, Copy)]
pub(super) struct Skinning {
    columns: Columns,
    world_from_bind: Affine,
}

impl Default for Skinning {
    fn default() -> Self {
        Self::of(&Affine::identity(), &Affine::identity())
    }
}

impl Skinning {
    pub fn of(world_from_joint: &Affine, joint_from_bind: &Affine) -> Self {
        let world_from_bind = world_from_joint * joint_from_bind;
        Self {
            columns: columns(
                &linear_part(&world_from_bind),
                &origin_of(&world_from_bind).coords,
            ),
            world_from_bind,
        }
    }

    #[inline]
    pub fn apply(&self, point: &Point) -> Padded {
        image(&self.columns, [point.x, point.y, point.z])
    }
}

fn columns(linear: &Matrix3<f64>, translation: &Vec64) -> Columns {
    std::array::from_fn(|column| {
        let entry = |row: usize| {
            let value = if column < 3 {
                linear[(row, column)]
            } else {
                translation[row]
            };
            value as f32
        };
        [entry(0), entry(1), entry(2), 0.0]
    })
}

/// The image of a point.
#[inline]
fn image(columns: &Columns, [x, y, z]: [f32; 3]) -> Padded {
    let [a, b, c, d] = *columns;
    add(add(scaled(a, x), scaled(b, y)), add(scaled(c, z), d))
}

/// A joint with a parent, and the direction of one of its bones.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Deformer {
    /// The joint.
    pub joint: u32,
    /// Its parent.
    pub parent: u32,
    /// The joint's position in the bind pose, world.
    pub pivot: Point64,
    /// z of the canonical frame in the bind pose, world, of length 1.
    pub axis: Vec64,
}

/// A deformer in one pose. p = (A + s B) `Q_twist`ᵗ C v̄, with C into the canonical frame at the joint.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Posed {
    canonical_from_bind: Columns,
    /// A: the parent's motion.
    still: Columns,
    /// B: the parent's motion of `Q_swing` − I, and of the translation.
    swinging: Columns,
    /// Twist, rad.
    twist: f32,
    /// What else than a rotation by at most 90° and a translation the motion is.
    general: Option<General>,
}

/// A motion with stretch, with a large swing, or one that cannot be taken apart.
#[derive(Debug, Clone, Copy)]
struct General {
    joint: u32,
    parent: u32,
    pivot: Vec3,
    /// Twist axis z.
    axis: Vec3,
    /// `Q_swing` − I.
    swing: Matrix3<f32>,
    /// Translation of the joint relative to its parent.
    shift: Vec3,
    /// The stretch minus I.
    stretch: Matrix3<f32>,
    /// Axis and angle (rad) of the swing, and how far it is interpolated spherically; `None` for 0.
    spherical: Option<(Vec3, f32, f32)>,
    /// Whether the motions of parent and joint are blended as a whole.
    is_linear: bool,
}

/// The motion of a joint relative to its parent, taken apart.
struct Apart {
    general: General,
    /// rad.
    twist: f64,
    /// `Q_swing` − I.
    turn: Matrix3<f64>,
    shift: Vec64,
    /// Whether there is more than a rotation by at most 90° and a translation.
    is_general: bool,
}

impl Deformer {
    /// The deformer in a pose, for the processor.
    pub(super) fn posed(&self, skinning: &[Skinning]) -> Posed {
        let [parent, joint] =
            [self.parent, self.joint].map(|index| skinning[index as usize].world_from_bind);
        let apart = self.apart(&parent, &joint);
        let general = apart.is_general.then_some(apart.general);
        if apart.general.is_linear {
            return Posed {
                general,
                ..Posed::default()
            };
        }
        let canonical = frame_of(&self.axis);
        let (of_parent, back) = (linear_part(&parent), canonical.transpose());
        Posed {
            canonical_from_bind: columns(&canonical, &-(canonical * self.pivot.coords)),
            still: columns(&(of_parent * back), &(parent * self.pivot).coords),
            swinging: columns(&(of_parent * apart.turn * back), &(of_parent * apart.shift)),
            twist: apart.twist as f32,
            general,
        }
    }

    /// The motion for a device, from those of parent and joint from the bind pose: the columns of `Q_swing` − I with the twist, the angle
    /// of the swing and how far it is interpolated spherically; the translation with 1 if the motions are blended as a whole; the diagonal
    /// of the stretch minus I; its xy, xz and yz; the axis of the swing.
    #[must_use]
    pub fn motion(&self, parent: &Affine, joint: &Affine) -> [[f32; 4]; MOTION] {
        let Apart { general, twist, .. } = self.apart(parent, joint);
        let (axis, angle, share) = general.spherical.unwrap_or((Vec3::zeros(), 0.0, 0.0));
        let with = |v: Vec3, w: f32| [v.x, v.y, v.z, w];
        let column = |index: usize| general.swing.column(index).into_owned();
        let s = &general.stretch;
        [
            with(column(0), twist as f32),
            with(column(1), angle),
            with(column(2), share),
            with(general.shift, f32::from(u8::from(general.is_linear))),
            [s.m11, s.m22, s.m33, 0.0],
            [s.m12, s.m13, s.m23, 0.0],
            with(axis, 0.0),
        ]
    }

    fn apart(&self, parent: &Affine, joint: &Affine) -> Apart {
        let mut general = General {
            joint: self.joint,
            parent: self.parent,
            pivot: self.pivot.coords.cast::<f32>(),
            axis: self.axis.cast::<f32>(),
            swing: Matrix3::zeros(),
            shift: Vec3::zeros(),
            stretch: Matrix3::zeros(),
            spherical: None,
            is_linear: false,
        };
        let Some(relative) = relative(parent, joint) else {
            general.is_linear = true;
            return Apart {
                general,
                twist: 0.0,
                turn: Matrix3::zeros(),
                shift: Vec64::zeros(),
                is_general: true,
            };
        };
        let linear = linear_part(&relative);
        let rotation = closest_rotation(&linear);
        let stretch = rotation.transpose() * linear - Matrix3::identity();
        let is_stretched = stretch.amax() > NO_STRETCH;
        let rotation =
            Quat::from_rotation_matrix(&nalgebra::Rotation3::from_matrix_unchecked(rotation));
        let (swing, twist) = swing_and_twist(&rotation, &self.axis);
        let half = swing.imag().norm();
        let angle = 2.0 * half.atan2(swing.w.abs());
        let share = smoothstep(SPHERICAL, angle);
        let turn = swing.to_rotation_matrix().into_inner() - Matrix3::identity();
        let shift = relative * self.pivot - self.pivot;
        if is_stretched {
            general.stretch = stretch.cast::<f32>();
        }
        if share > 0.0 {
            let direction = swing.imag() / half * swing.w.signum();
            general.spherical = Some((direction.cast::<f32>(), angle as f32, share as f32));
        }
        general.swing = turn.cast::<f32>();
        general.shift = shift.cast::<f32>();
        Apart {
            general,
            twist,
            turn,
            shift,
            is_general: is_stretched || share > 0.0,
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

impl Posed {
    /// Twist about the canonical axis, rad.
    pub fn twist(&self) -> f32 {
        self.twist
    }

    /// Where the deformer takes a vertex, world.
    #[inline]
    pub fn apply(&self, rest: &Point, bent: &Bent, skinning: &[Skinning]) -> Padded {
        if let Some(general) = &self.general {
            return general.apply(rest, bent, self.twist, skinning);
        }
        let [x, y, z, _] = image(&self.canonical_from_bind, [rest.x, rest.y, rest.z]);
        let [sin, cos] = sin_cos(bent.twist * self.twist);
        let turned = [cos * x - sin * y, sin * x + cos * y, z];
        let s = bent.swing;
        let columns: Columns =
            std::array::from_fn(|column| add(self.still[column], scaled(self.swinging[column], s)));
        image(&columns, turned)
    }
}

impl General {
    fn apply(&self, rest: &Point, bent: &Bent, twist: f32, skinning: &[Skinning]) -> Padded {
        let parent = &skinning[self.parent as usize];
        let s = bent.swing;
        if self.is_linear {
            let joint = &skinning[self.joint as usize];
            return add(
                scaled(parent.apply(rest), 1.0 - s),
                scaled(joint.apply(rest), s),
            );
        }
        let mut x = rest.coords - self.pivot;
        x += self.stretch * x * s;
        let y = turned(&x, &self.axis, bent.twist * twist);
        let mut moved = y + self.swing * y * s;
        if let Some((axis, angle, share)) = &self.spherical {
            moved += (turned(&y, axis, angle * s) - moved) * *share;
        }
        parent.apply(&Point::from(self.pivot + self.shift * s + moved))
    }
}

/// The vector, turned by an angle (rad) about an axis of length 1.
fn turned(vector: &Vec3, axis: &Vec3, angle: f32) -> Vec3 {
    let [sin, cos] = sin_cos(angle);
    vector * cos + axis.cross(vector) * sin + axis * (axis.dot(vector) * (1.0 - cos))
}

/// Sine and cosine of an angle in −π…π, by their series about 0 and π: off by less than 3e-7. Without branches, so that it costs less
/// than the library's.
#[inline]
pub(super) fn sin_cos(angle: f32) -> [f32; 2] {
    let size = angle.abs();
    let is_far = size > std::f32::consts::FRAC_PI_2;
    let near = if is_far {
        std::f32::consts::PI - size
    } else {
        size
    };
    let square = near * near;
    let series = |terms: [f32; 6]| {
        let sum = terms.iter().rev();
        sum.fold(0.0, |sum, term| sum * square + term)
    };
    let sin = near
        * series([
            1.0,
            -1.0 / 6.0,
            1.0 / 120.0,
            -1.0 / 5040.0,
            1.0 / 362_880.0,
            -1.0 / 39_916_800.0,
        ]);
    let cos = 1.0
        + square
            * series([
                -1.0 / 2.0,
                1.0 / 24.0,
                -1.0 / 720.0,
                1.0 / 40_320.0,
                -1.0 / 3_628_800.0,
                1.0 / 479_001_600.0,
            ]);
    [sin.copysign(angle), if is_far { -cos } else { cos }]
}
