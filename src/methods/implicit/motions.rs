//! The motions of joints from the bind pose, seen from the joint that moves most of the skin.
//!
//! All of the method works in this space: one motion of all joints changes nothing in it.

use crate::math::{Affine, Point64, Quat, affine, closest_rotation, linear_part, origin_of};
use crate::numerics::lanes::Padded;
use crate::rig::Skeleton;
use crate::weights::SkinWeights;

/// Determinants below this part of the cube of the largest entry have no usable inverse.
const SINGULAR: f64 = 1e-9;

/// The rotation of a joint that has not turned.
pub(super) const UNTURNED: Padded = [0.0, 0.0, 0.0, 1.0];

/// The rotation of the second joint as the first one sees it, both since the bind pose, from all rotations as x, y, z, w.
pub(super) fn between(rotations: &[Padded], joints: [u32; 2]) -> Quat {
    let [first, second] = joints.map(|joint| {
        let [x, y, z, w] = rotations[joint as usize].map(f64::from);
        Quat::new_normalize(nalgebra::Quaternion::new(w, x, y, z))
    });
    first.inverse() * second
}

/// The motions of all joints in a pose.
#[derive(Debug, Clone)]
pub(super) struct Motions {
    /// `bind_from_joint` at binding, inverted.
    joint_from_bind: Vec<Affine>,
    /// Places the centre of the skin in the world.
    center: Affine,
    main: usize,
    /// Maps a point of the space of the method to the world.
    pub(super) world_from_here: Affine,
    /// The motions from the bind pose; points are relative to the centre of the skin.
    pub(super) now_from_bind: Vec<Affine>,
    /// Their rotations as quaternions x, y, z, w.
    pub(super) rotations: Vec<Padded>,
    /// Their mean stretches.
    pub(super) stretches: Vec<f32>,
}

impl Motions {
    pub(super) fn new(skeleton: &Skeleton, center: &Point64, weights: &SkinWeights) -> Self {
        let mut totals = vec![0.0_f64; skeleton.len()];
        for (&joint, &value) in weights.joints.iter().zip(&weights.values) {
            if let Some(total) = totals.get_mut(joint as usize) {
                *total += f64::from(value);
            }
        }
        let main = (0..totals.len()).fold(0, |a, b| if totals[b] > totals[a] { b } else { a });
        let inverse = |joint: &crate::rig::Joint| {
            let inverse = joint.world_from_bind.try_inverse();
            inverse.unwrap_or_else(Affine::identity)
        };
        let count = skeleton.len();
        Self {
            joint_from_bind: skeleton.joints().iter().map(inverse).collect(),
            center: nalgebra::convert(nalgebra::Translation3::from(center.coords)),
            main,
            world_from_here: Affine::identity(),
            now_from_bind: vec![Affine::identity(); count],
            rotations: vec![UNTURNED; count],
            stretches: vec![1.0; count],
        }
    }

    /// Follows the joints. Allocates nothing.
    pub(super) fn follow(&mut self, world_from_joint: &[Affine]) {
        if world_from_joint.is_empty() {
            return;
        }
        let moved =
            |joint: usize| world_from_joint[joint] * self.joint_from_bind[joint] * self.center;
        let main = moved(self.main);
        let linear = linear_part(&main);
        let is_regular = linear.determinant().abs() > SINGULAR * linear.amax().powi(3);
        let shifted: Affine =
            nalgebra::convert(nalgebra::Translation3::from(origin_of(&main).coords));
        let here = main.try_inverse().filter(|_| is_regular);
        let (world_from_here, here_from_world) = match here {
            Some(inverse) => (main, inverse),
            None => (shifted, shifted.inverse()),
        };
        self.world_from_here = world_from_here;
        for joint in 0..world_from_joint.len() {
            let own = here_from_world * moved(joint);
            let own = if own.matrix().iter().all(|c| c.is_finite()) {
                own
            } else {
                affine(&nalgebra::Matrix3::identity(), &nalgebra::zero())
            };
            self.now_from_bind[joint] = own;
            let linear = linear_part(&own);
            let rotation = nalgebra::Rotation3::from_matrix_unchecked(closest_rotation(&linear));
            let q = Quat::from_rotation_matrix(&rotation);
            self.rotations[joint] = [q.i, q.j, q.k, q.w].map(|c| c as f32);
            self.stretches[joint] = linear.determinant().abs().cbrt() as f32;
        }
    }
}

/// The columns of a transform, the translation last, in `f32`.
pub(super) fn columns(transform: &Affine) -> [Padded; 4] {
    let m = transform.matrix();
    std::array::from_fn(|c| [m[(0, c)] as f32, m[(1, c)] as f32, m[(2, c)] as f32, 0.0])
}

/// The image of a point.
#[inline]
pub(super) fn image(columns: &[Padded; 4], p: [f32; 3]) -> [f32; 3] {
    let [a, b, c, d] = columns;
    std::array::from_fn(|k| a[k] * p[0] + b[k] * p[1] + c[k] * p[2] + d[k])
}

/// A vector turned by a quaternion x, y, z, w of length 1.
#[inline]
pub(super) fn rotated(q: &Padded, v: [f32; 3]) -> [f32; 3] {
    let [x, y, z, w] = *q;
    let t = [
        2.0 * (y * v[2] - z * v[1]),
        2.0 * (z * v[0] - x * v[2]),
        2.0 * (x * v[1] - y * v[0]),
    ];
    [
        v[0] + w * t[0] + y * t[2] - z * t[1],
        v[1] + w * t[1] + z * t[0] - x * t[2],
        v[2] + w * t[2] + x * t[1] - y * t[0],
    ]
}

/// The dot product.
#[inline]
pub(super) fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

/// The cross product.
#[inline]
pub(super) fn cross(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [
        a[1] * b[2] - a[2] * b[1],
        a[2] * b[0] - a[0] * b[2],
        a[0] * b[1] - a[1] * b[0],
    ]
}
