//! Posed foot points.

use rayon::prelude::*;

use super::CollisionBody;
use crate::math::{Affine, Point, Vec3};

/// Minimum number of vertices per task.
const MIN_TASK: usize = 512;

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
        let bones = &self.bones;
        self.points.resize(body.foot_bones.len(), Point::origin());
        self.outward.resize(body.foot_bones.len(), Vec3::zeros());
        let rest = body.foot_bones.par_iter().zip(&body.foot_points);
        let posed = self.points.par_iter_mut().zip(&mut self.outward);
        posed
            .zip(rest.zip(&body.outward))
            .with_min_len(MIN_TASK)
            .for_each(|((point, outward), ((&bone, foot), rest))| {
                let transform = &bones[bone as usize];
                let linear = transform.fixed_view::<3, 3>(0, 0);
                *point = Point::from(linear * foot.cast::<f32>().coords + transform.column(3));
                let direction: Vec3 = linear * rest;
                *outward = direction.try_normalize(1e-30).unwrap_or(*rest);
            });
    }
}
