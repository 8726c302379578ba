//! The volume of a skin, at rest and in a pose.

use rayon::prelude::*;

use super::MIN_TASK;
use crate::math::{Point, Vec3};
use crate::tissue::GuideFrame;

/// The volume that a skin encloses at rest.
pub(super) struct RestVolume {
    pub(super) triangles: Vec<[u32; 3]>,
    /// Whether the skin is closed; otherwise it encloses nothing.
    pub(super) closed: bool,
    /// World units³.
    pub(super) enclosed: f64,
    /// Volume of the cone between each vertex and its foot point, world units³.
    pub(super) cones: Vec<f32>,
}

impl RestVolume {
    /// Writes a third of the area vector of every triangle, the share of each corner: a sixth of the cross product of two edges.
    pub(super) fn area_vectors_into(&self, skin: &[Point], out: &mut [Vec3]) {
        let corner = |v: u32| skin[v as usize];
        out.par_iter_mut()
            .zip(&self.triangles)
            .with_min_len(MIN_TASK)
            .for_each(|(area, &[a, b, c])| {
                *area = (corner(b) - corner(a)).cross(&(corner(c) - corner(a))) / 6.0;
            });
    }

    /// The volume that a skin with these area vectors encloses, world units³.
    pub(super) fn enclosed_by(&self, skin: &[Point], area_vectors: &[Vec3]) -> f64 {
        let first = skin.first().copied().unwrap_or_else(Point::origin);
        let cones = self.triangles.iter().zip(area_vectors);
        cones
            .map(|(&[corner, ..], area)| f64::from(area.dot(&(skin[corner as usize] - first))))
            .sum()
    }

    /// Volume that a closed skin with these area vectors has lost beyond what the scales of joints change, world units³.
    pub(super) fn lost(&self, skin: &[Point], area_vectors: &[Vec3], frame: &GuideFrame) -> f64 {
        let cones = self.cones.iter().enumerate();
        let intended: f64 = cones
            .map(|(vertex, &cone)| f64::from(cone) * f64::from(frame.volume_factor(vertex) - 1.0))
            .sum();
        self.enclosed + intended - self.enclosed_by(skin, area_vectors)
    }
}
