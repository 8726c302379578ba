//! Boxes around the instances of a crowd.

use rayon::prelude::*;

use super::GpuCrowd;
use crate::math::{Affine, Vec3};
use crate::mesh::Bounds;

/// Skin may bulge out of the box of its joints by this fraction of the box.
const BULGE: f32 = 0.05;

impl GpuCrowd {
    /// Boxes around the instances in these poses, slightly enlarged.
    #[must_use]
    pub fn boxes_of(&self, poses: &[Vec<Affine>]) -> Vec<Bounds> {
        let reach = &self.surface.model().recipe().reach;
        let boxed = |(pose, place): (&Vec<Affine>, &Vec3)| {
            let bounds = bulged(&reach.bounds(pose));
            if bounds.is_empty() {
                bounds
            } else {
                Bounds {
                    min: bounds.min + place,
                    max: bounds.max + place,
                }
            }
        };
        let all = poses.par_iter().zip(&self.places);
        all.map(boxed).collect()
    }

    /// A box around all of them.
    #[must_use]
    pub fn bounds(&self) -> Bounds {
        self.boxes
            .iter()
            .filter(|bounds| !bounds.is_empty())
            .fold(Bounds::of([]), |all, one| Bounds {
                min: all.min.inf(&one.min),
                max: all.max.sup(&one.max),
            })
    }
}

fn bulged(tight: &Bounds) -> Bounds {
    if tight.is_empty() {
        return *tight;
    }
    let bulge = (tight.max - tight.min) * BULGE;
    Bounds {
        min: tight.min - bulge,
        max: tight.max + bulge,
    }
}
