//! Posed foot points.

use super::CollisionBody;
use crate::math::{Affine, Point, Vec3};

/// Foot points and outward directions in a pose, one per skin vertex.
#[derive(Debug, Clone, Default)]
pub struct PosedFootPoints {
    pub(super) points: Vec<Point>,
    /// Unit vectors from the foot points to the skin at rest, rotated with the bones.
    pub(super) outward: Vec<Vec3>,
    bones: Vec<nalgebra::Matrix3x4<f32>>,
}

impl PosedFootPoints {
    /// The foot points in the bind pose.
    #[must_use]
    pub fn at_rest(body: &CollisionBody) -> Self {
        let points = body.foot_points.iter().map(|p| p.cast::<f32>()).collect();
        Self {
            points,
            outward: body.outward.clone(),
            bones: Vec::new(),
        }
    }

    /// World positions of the foot points.
    #[must_use]
    pub fn points(&self) -> &[Point] {
        &self.points
    }

    /// `posed_from_bind` of a bone; `None` before the first [`Self::update`].
    pub(super) fn bone(&self, bone: u32) -> Option<&nalgebra::Matrix3x4<f32>> {
        self.bones.get(bone as usize)
    }

    /// Moves the foot points with their bones. `posed_from_bind`: one transform per bone, as in
    /// [`crate::tissue::BaseFrame::bones`].
    pub fn update(&mut self, body: &CollisionBody, posed_from_bind: &[Affine]) {
        self.bones.clear();
        self.bones.extend(posed_from_bind.iter().map(|t| {
            t.matrix()
                .fixed_view::<3, 4>(0, 0)
                .into_owned()
                .cast::<f32>()
        }));
        self.points.clear();
        let moved = |(&bone, rest): (&u32, &crate::math::Point64)| {
            let transform = &self.bones[bone as usize];
            let linear: Vec3 = transform.fixed_view::<3, 3>(0, 0) * rest.cast::<f32>().coords;
            Point::from(linear + transform.column(3))
        };
        self.points
            .extend(body.foot_bones.iter().zip(&body.foot_points).map(moved));
        self.outward.clear();
        let turned = |(&bone, rest): (&u32, &Vec3)| {
            let direction: Vec3 = self.bones[bone as usize].fixed_view::<3, 3>(0, 0) * rest;
            direction.try_normalize(1e-30).unwrap_or(*rest)
        };
        self.outward
            .extend(body.foot_bones.iter().zip(&body.outward).map(turned));
    }
}
