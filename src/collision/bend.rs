//! The bisecting plane between two bones of a joint, and the test whether two vertices have crossed each other there.

use crate::math::{Point, Vec3};

/// Vectors shorter than this are treated as zero: bones that are collinear or coincide define no plane.
const MIN_DIRECTION_NORM: f32 = 1e-3;

/// Geometry of two posed bones that meet in a joint.
#[derive(Debug, Clone, Copy)]
pub(super) struct Bend {
    joint: Point,
    /// Basis of the plane that contains both bones: the unit vector along the first bone, and the one perpendicular to it towards
    /// the second.
    axes: [Vec3; 2],
    /// Unit vector that bisects the angle between the bones; it points into the bend.
    pub(super) bisector: Vec3,
    /// Unit normal of the bisecting plane, towards the first bone.
    pub(super) plane_normal: Vec3,
}

impl Bend {
    /// `along`: unit vectors from the joint along both bones. Returns `None` if the bones are collinear.
    pub(super) fn of(joint: Point, along: [Vec3; 2]) -> Option<Self> {
        let [first, second] = along;
        let across = (second - first * first.dot(&second)).try_normalize(MIN_DIRECTION_NORM)?;
        let bisector = (first + second).try_normalize(MIN_DIRECTION_NORM)?;
        let plane_normal = (first - second).try_normalize(MIN_DIRECTION_NORM)?;
        Some(Self {
            joint,
            axes: [first, across],
            bisector,
            plane_normal,
        })
    }

    /// Whether a vertex of the first bone and a vertex of the second bone have crossed each other. Angles are measured at the
    /// joint, in the plane of the bones: the vertices have crossed if the angle from the first bone to its vertex exceeds the angle
    /// to the vertex of the second bone. Vertices outside the bend never cross.
    ///
    /// PS 5.2 compares cosines of the angles (cos α − cos β < 0). Here the sign of the sine of their difference is used; it is also
    /// correct when the vertices lie on both sides of the bone.
    pub(super) fn has_crossed(&self, of_first: &Point, of_second: &Point) -> bool {
        let (a, b) = (of_first - self.joint, of_second - self.joint);
        if self.bisector.dot(&a) <= 0.0 || self.bisector.dot(&b) <= 0.0 {
            return false;
        }
        let [x, y] = &self.axes;
        x.dot(&a) * y.dot(&b) < y.dot(&a) * x.dot(&b)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bones at 0° and 60°, vertices at given angles.
    #[test]
    fn vertices_have_crossed_when_their_angles_have() {
        let at = |degrees: f32, radius: f32, height: f32| {
            let (sin, cos) = degrees.to_radians().sin_cos();
            Point::new(1.0 + radius * cos, 2.0 + radius * sin, 3.0 + height)
        };
        let joint = Point::new(1.0, 2.0, 3.0);
        let along = [0.0, 60.0].map(|degrees| at(degrees, 1.0, 0.0) - joint);
        let bend = Bend::of(joint, along).expect("bent");
        for (first, second, crossed) in [
            (20.0, 40.0, false),
            (40.0, 20.0, true),
            (-30.0, 20.0, false),
            (31.0, 29.0, true),
            (70.0, 5.0, true),
            (-70.0, 130.0, false),
        ] {
            for (radius, height) in [(1.0, 0.0), (0.3, 0.7), (2.0, -0.4)] {
                assert_eq!(
                    bend.has_crossed(&at(first, 1.0, 0.2), &at(second, radius, height)),
                    crossed,
                    "{first}° {second}°"
                );
            }
        }
        // On the outer side of the joint there is no contact.
        assert!(!bend.has_crossed(&at(200.0, 1.0, 0.0), &at(190.0, 1.0, 0.0)));
        assert!(Bend::of(joint, [Vec3::x(), -Vec3::x()]).is_none());
    }
}
