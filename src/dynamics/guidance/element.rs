//! Elements as guidance sees them: the stiffness of a whole chain.

use nalgebra::UnitQuaternion;

use super::Target;
use crate::dynamics::chain::{Chain, POINTS};
use crate::math::{Point, Vec3};
use crate::numerics::lanes::Padded;
use crate::tissue::{Corner, CornerKind};

/// Forces on the points of a chain.
pub(super) type ChainForces = [Padded; POINTS];

/// The tets of a chain with one rotation for all of them.
pub(super) struct GuidedElement {
    corners: [Corner; POINTS],
    points: usize,
    /// `Σ V gₐ·g_b` over the tets.
    stiffness: [[f32; POINTS]; POINTS],
    /// `Σ V gₐ`: the pull on each point at rest, before it is turned.
    pull: [Vec3; POINTS],
}

impl GuidedElement {
    pub(super) fn of(chain: &Chain) -> Self {
        let mut element = Self {
            corners: chain.corners,
            points: chain.points,
            stiffness: [[0.0; POINTS]; POINTS],
            pull: [Vec3::zeros(); POINTS],
        };
        for a in 0..chain.points {
            element.pull[a] = chain.pull(a).cast::<f32>();
            for b in 0..chain.points {
                element.stiffness[a][b] = chain.stiffness(a, b) as f32;
            }
        }
        element
    }

    /// Its unknowns, each with its place among the points.
    pub(super) fn unknowns(&self) -> impl Iterator<Item = (usize, u32)> {
        self.corners[..self.points]
            .iter()
            .enumerate()
            .filter_map(|(k, corner)| Some((k, corner.as_unknown()?)))
    }

    /// Mean rotation of its unknowns.
    fn rotation(&self, targets: &[Target]) -> UnitQuaternion<f32> {
        let mut sum = nalgebra::Vector4::zeros();
        for (_, unknown) in self.unknowns() {
            let own = targets[unknown as usize].rotation.coords;
            sum += if own.dot(&sum) < 0.0 { -own } else { own };
        }
        UnitQuaternion::try_new(nalgebra::Quaternion::from(sum), 1e-6)
            .unwrap_or_else(UnitQuaternion::identity)
    }

    /// `weight Σ V (R − F) gₐ` on every unknown point, with all points at their targets.
    pub(super) fn forces(&self, weight: f32, targets: &[Target], base: &[Point]) -> ChainForces {
        let place = |corner: Corner| match corner.kind() {
            CornerKind::Unknown(unknown) => targets[unknown as usize].place,
            CornerKind::Prescribed(point) => base[point as usize],
        };
        let rotation = self.rotation(targets).to_rotation_matrix().into_inner();
        let first = place(self.corners[0]);
        let mut offsets = [Vec3::zeros(); POINTS];
        for (offset, &corner) in offsets.iter_mut().zip(&self.corners[..self.points]) {
            *offset = place(corner) - first;
        }
        let mut forces = [[0.0; 4]; POINTS];
        for (a, _) in self.unknowns() {
            let mut force = rotation * self.pull[a];
            for (offset, stiffness) in offsets.iter().zip(&self.stiffness[a]) {
                force -= offset * *stiffness;
            }
            forces[a] = [force.x * weight, force.y * weight, force.z * weight, 0.0];
        }
        forces
    }
}
