//! Cylinder coordinates around a bone, divided into slices along the bone and sectors around it.

use super::bone_cells::BoneCells;
use crate::math::{Point, Vec3};

/// Number of sectors around a bone.
pub(super) const SECTORS: usize = 8;

/// Posed coordinate system of a bone: origin at its start, world units.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct BoneAxes {
    origin: Vec3,
    /// Unit vectors along the bone and in the two perpendicular directions.
    along: Vec3,
    across: [Vec3; 2],
}

/// Cell of a point in the grid around a bone, and its distance from the bone's axis (world units).
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct CylinderCell {
    pub(super) slice: u8,
    pub(super) sector: u8,
    pub(super) radius: f32,
}

impl BoneCells {
    pub(super) fn axes(&self, posed_from_bind: Option<&nalgebra::Matrix3x4<f32>>) -> BoneAxes {
        let [along, u, v] = self.axes;
        let Some(transform) = posed_from_bind else {
            return BoneAxes {
                origin: self.origin.coords,
                along,
                across: [u, v],
            };
        };
        let turned = |direction: &Vec3| -> Vec3 { transform.fixed_view::<3, 3>(0, 0) * direction };
        let origin = turned(&self.origin.coords) + transform.column(3);
        BoneAxes {
            origin,
            along: turned(&along),
            across: [turned(&u), turned(&v)],
        }
    }
}

impl BoneAxes {
    pub(super) fn cell_of(&self, own: &BoneCells, p: &Point) -> CylinderCell {
        let offset = p.coords - self.origin;
        let [u, v] = [self.across[0].dot(&offset), self.across[1].dot(&offset)];
        // Points beyond the ends belong to the first or last slice: casts from float to integer saturate.
        let slice = ((self.along.dot(&offset) - own.first) * own.per_slice)
            .clamp(0.0, (own.slices - 1) as f32) as u8;
        CylinderCell {
            slice,
            sector: sector(u, v),
            radius: (u * u + v * v).sqrt(),
        }
    }
}

/// Octant of the plane, counted counter-clockwise from +u.
fn sector(u: f32, v: f32) -> u8 {
    let steep = u.abs() < v.abs();
    match (u >= 0.0, v >= 0.0) {
        (true, true) => u8::from(steep),
        (false, true) => 3 - u8::from(steep),
        (false, false) => 4 + u8::from(steep),
        (true, false) => 7 - u8::from(steep),
    }
}
