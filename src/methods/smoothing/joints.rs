//! Joint transforms relative to the bind pose.

use nalgebra::Matrix3;

use crate::math::{Affine, Point64, SplitTransform, linear_part, origin_of};
use crate::numerics::lanes::Padded;
use crate::rig::Skeleton;
use crate::weights::SkinWeights;

/// The identity.
const NO_STRETCH: [f32; 6] = [1.0, 0.0, 0.0, 1.0, 0.0, 1.0];

/// M = `world_from_bind` of every joint in the current pose, in `f32` relative to two centres: it maps a point given relative to the
/// centre of the skin in the bind pose to a point relative to [`BindJoints::origin`].
pub(in crate::methods) struct BindJoints {
    joint_from_bind: Vec<Affine>,
    /// Places `center` in the world.
    center: Affine,
    /// The joint that moves most of the skin.
    main: usize,
    /// Where that joint takes the centre of the skin, world space.
    pub(in crate::methods) origin: Point64,
    /// The columns of M and its translation, a joint after the other.
    pub(in crate::methods) columns: Vec<[Padded; 4]>,
    /// The symmetric stretch S of M = R S, a joint after the other: xx, xy, xz, yy, yz, zz.
    pub(in crate::methods) stretches: Vec<[f32; 6]>,
    /// Whether any joint that moves the skin has a stretch.
    pub(in crate::methods) has_stretch: bool,
    moves_skin: Vec<bool>,
}

impl BindJoints {
    pub(in crate::methods) fn new(
        skeleton: &Skeleton,
        center: &Point64,
        weights: &SkinWeights,
    ) -> Self {
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
        Self {
            joint_from_bind: skeleton.joints().iter().map(inverse).collect(),
            center: nalgebra::convert(nalgebra::Translation3::from(center.coords)),
            main,
            origin: Point64::origin(),
            columns: vec![[[0.0; 4]; 4]; skeleton.len()],
            stretches: vec![NO_STRETCH; skeleton.len()],
            has_stretch: false,
            moves_skin: totals.iter().map(|&total| total > 0.0).collect(),
        }
    }

    /// The joint that moves most of the skin.
    pub(in crate::methods) fn main(&self) -> usize {
        self.main
    }

    /// Maps positions of the bind pose, relative to the centre of the skin, to the space of a joint.
    pub(in crate::methods) fn joint_from_center(&self, joint: usize) -> Option<Affine> {
        Some(self.joint_from_bind.get(joint)? * self.center)
    }

    /// Follows the joints. Allocates nothing.
    pub(in crate::methods) fn update(&mut self, world_from_joint: &[Affine]) {
        let moved =
            |joint: usize| world_from_joint[joint] * self.joint_from_bind[joint] * self.center;
        if self.columns.is_empty() {
            return;
        }
        self.origin = origin_of(&moved(self.main));
        self.has_stretch = false;
        for joint in 0..self.columns.len() {
            let moved = moved(joint);
            let (linear, at) = (linear_part(&moved), origin_of(&moved) - self.origin);
            let column = |c: usize| [0, 1, 2].map(|r| linear[(r, c)] as f32);
            let padded = |[x, y, z]: [f32; 3]| [x, y, z, 0.0];
            self.columns[joint] = [
                padded(column(0)),
                padded(column(1)),
                padded(column(2)),
                padded([at.x as f32, at.y as f32, at.z as f32]),
            ];
            self.stretches[joint] = if is_rigid(&linear) {
                NO_STRETCH
            } else {
                let s: Matrix3<f32> = SplitTransform::of(&moved).stretch;
                [s.m11, s.m12, s.m13, s.m22, s.m23, s.m33]
            };
            self.has_stretch |= self.moves_skin[joint] && self.stretches[joint] != NO_STRETCH;
        }
    }
}

/// Whether a matrix is a rotation up to rounding.
fn is_rigid(linear: &Matrix3<f64>) -> bool {
    let off = linear.tr_mul(linear) - Matrix3::identity();
    off.amax() <= 1e-6 && linear.determinant() > 0.0
}

/// F S for a symmetric S.
pub(in crate::methods) fn stretched(f: &[[f32; 3]; 3], s: &[f32; 6]) -> [[f32; 3]; 3] {
    let [xx, xy, xz, yy, yz, zz] = *s;
    [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]].map(|column| product(f, column))
}

/// F v.
#[expect(clippy::inline_always, reason = "called in vector code")]
#[inline(always)]
pub(in crate::methods) fn product(f: &[[f32; 3]; 3], v: [f32; 3]) -> [f32; 3] {
    [0, 1, 2].map(|row| f[0][row] * v[0] + f[1][row] * v[1] + f[2][row] * v[2])
}
