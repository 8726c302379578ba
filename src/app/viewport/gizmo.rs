//! Rotation rings: one about each axis of the joint and one in the screen plane.
//!
//! Geometry only: which ring is under the pointer, and the angle of a drag. The angle is computed
//! from the pointer's projection onto the ring's plane or, if that plane is seen edge-on, from the
//! movement along the ring on the screen.

use std::f64::consts::{PI, TAU};

use egui::{Pos2, Vec2};

use super::screen_map::ScreenMap;
use crate::math::{Point64, Quat, Vec64};

/// Radius of the axes' rings, points.
const RADIUS: f64 = 84.0;
/// Radius of the ring in the screen plane, relative to the others.
const SCREEN_RADIUS: f64 = 1.22;
/// Pick radius of a ring, points.
const REACH: f32 = 7.0;
/// Below this sine between line of sight and plane, the plane counts as edge-on.
const EDGE_ON: f64 = 0.2;
/// Number of corners of a drawn ring.
pub const SEGMENTS: usize = 96;

/// A ring.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ring {
    /// About the joint's own axis 0, 1 or 2.
    Axis(usize),
    /// About the line of sight.
    Screen,
}

impl Ring {
    /// All rings, in drawing order.
    pub const ALL: [Self; 4] = [Self::Screen, Self::Axis(0), Self::Axis(1), Self::Axis(2)];

    /// Name for the status line.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Axis(0) => "X",
            Self::Axis(1) => "Y",
            Self::Axis(_) => "Z",
            Self::Screen => "view axis",
        }
    }
}

/// The rings around one joint in this frame.
#[derive(Debug, Clone, Copy)]
pub struct Gizmo {
    centre: Point64,
    axes: [Vec64; 3],
    towards_eye: Vec64,
    radius: f64,
}

/// One corner of a ring.
#[derive(Debug, Clone, Copy)]
pub struct RingCorner {
    /// Screen position.
    pub position: Pos2,
    /// Whether it is on the half facing the eye.
    pub front: bool,
}

impl Gizmo {
    /// Rings around `centre` along the axes of `orientation`; `None` if the joint is behind the
    /// eye.
    #[must_use]
    pub fn new(map: &ScreenMap, centre: Point64, orientation: &Quat) -> Option<Self> {
        let radius = map.world_per_point(&centre) * RADIUS;
        let axes = [Vec64::x(), Vec64::y(), Vec64::z()].map(|axis| orientation * axis);
        (radius > 0.0 && radius.is_finite()).then(|| Self {
            centre,
            axes,
            towards_eye: map.towards_eye(&centre),
            radius,
        })
    }

    /// Radius of the axes' rings, points of the screen.
    #[must_use]
    pub fn radius_on_screen() -> f64 {
        RADIUS
    }

    /// Whether the pointer is between the rings.
    #[must_use]
    pub fn is_inside(&self, map: &ScreenMap, pointer: Pos2) -> bool {
        map.project(&self.centre)
            .is_some_and(|centre| f64::from(centre.distance(pointer)) < RADIUS)
    }

    /// The unit axis of a ring.
    #[must_use]
    pub fn axis(&self, ring: Ring) -> Vec64 {
        match ring {
            Ring::Axis(axis) => self.axes[axis.min(2)],
            Ring::Screen => self.towards_eye,
        }
    }

    /// The corners of a ring on the screen, closed (the first again at the end).
    #[must_use]
    pub fn corners(&self, map: &ScreenMap, ring: Ring) -> Vec<RingCorner> {
        let axis = self.axis(ring);
        let radius = if ring == Ring::Screen {
            self.radius * SCREEN_RADIUS
        } else {
            self.radius
        };
        let (u, v) = plane_basis(&axis);
        (0..=SEGMENTS)
            .filter_map(|corner| {
                let (sin, cos) = (corner as f64 / SEGMENTS as f64 * TAU).sin_cos();
                let spoke = u * cos + v * sin;
                let position = map.project(&(self.centre + spoke * radius))?;
                let front = ring == Ring::Screen || spoke.dot(&self.towards_eye) > -0.02;
                Some(RingCorner { position, front })
            })
            .collect()
    }

    /// The ring under the pointer: the nearest one whose front half is within reach.
    #[must_use]
    pub fn hit(&self, map: &ScreenMap, pointer: Pos2) -> Option<Ring> {
        Ring::ALL
            .into_iter()
            .map(|ring| {
                let corners = self.corners(map, ring);
                let front = corners
                    .windows(2)
                    .filter(|pair| pair[0].front && pair[1].front);
                let nearest = front
                    .map(|pair| distance_to_segment(pointer, pair[0].position, pair[1].position))
                    .fold(f32::MAX, f32::min);
                (ring, nearest)
            })
            .filter(|(_, distance)| *distance <= REACH)
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(ring, _)| ring)
    }
}

/// A drag of a ring.
#[derive(Debug, Clone, Copy)]
pub struct RingDrag {
    /// Which one.
    pub ring: Ring,
    /// The axis at the start of the drag, world space; constant during the drag.
    pub axis: Vec64,
    centre: Point64,
    /// Start of the drag on the ring: unit vector from the centre.
    spoke: Vec64,
    edge_on: Option<EdgeOn>,
    last: f64,
    total: f64,
}

/// State of a ring seen edge-on.
#[derive(Debug, Clone, Copy)]
struct EdgeOn {
    start: Pos2,
    /// Unit direction on the screen for positive rotation.
    along: Vec2,
    radius: f64,
}

impl RingDrag {
    /// Starts at the pointer's position.
    #[must_use]
    pub fn start(gizmo: &Gizmo, map: &ScreenMap, ring: Ring, pointer: Pos2) -> Self {
        let axis = gizmo.axis(ring);
        let spoke = direction_under(map, &gizmo.centre, &axis, pointer);
        let edge_on = (axis.dot(&gizmo.towards_eye).abs() < EDGE_ON)
            .then(|| edge_on(gizmo, map, &axis, pointer))
            .flatten();
        let spoke = if edge_on.is_some() {
            gizmo.towards_eye
        } else {
            spoke.unwrap_or_else(|| plane_basis(&axis).0)
        };
        let spoke = (spoke - axis * spoke.dot(&axis))
            .try_normalize(1e-9)
            .unwrap_or_else(|| plane_basis(&axis).0);
        Self {
            ring,
            axis,
            centre: gizmo.centre,
            spoke,
            edge_on,
            last: 0.0,
            total: 0.0,
        }
    }

    /// Follows the pointer; returns the angle since the start, radians, not limited to one turn.
    pub fn update(&mut self, map: &ScreenMap, pointer: Pos2) -> f64 {
        if let Some(edge) = &self.edge_on {
            self.total = f64::from((pointer - edge.start).dot(edge.along)) / edge.radius;
        } else if let Some(now) = direction_under(map, &self.centre, &self.axis, pointer) {
            let angle = self
                .spoke
                .cross(&now)
                .dot(&self.axis)
                .atan2(self.spoke.dot(&now));
            self.total += (angle - self.last + PI).rem_euclid(TAU) - PI;
            self.last = angle;
        }
        self.total
    }

    /// The angle, or the nearest multiple of a step (radians).
    #[must_use]
    pub fn angle(&self, snap: Option<f64>) -> f64 {
        match snap.filter(|step| *step > 1e-6) {
            Some(step) => (self.total / step).round() * step,
            None => self.total,
        }
    }

    /// The swept sector on the screen: the centre, then points along the ring.
    #[must_use]
    pub fn slice(&self, gizmo: &Gizmo, map: &ScreenMap, angle: f64) -> Vec<Pos2> {
        let radius = if self.ring == Ring::Screen {
            gizmo.radius * SCREEN_RADIUS
        } else {
            gizmo.radius
        };
        let swept = angle.clamp(-TAU, TAU);
        let steps = ((swept.abs() / TAU * SEGMENTS as f64).ceil() as usize).max(1);
        let side = self.axis.cross(&self.spoke);
        let along = (0..=steps).map(|step| {
            let (sin, cos) = (swept * step as f64 / steps as f64).sin_cos();
            self.centre + (self.spoke * cos + side * sin) * radius
        });
        std::iter::once(self.centre)
            .chain(along)
            .filter_map(|point| map.project(&point))
            .collect()
    }
}

fn edge_on(gizmo: &Gizmo, map: &ScreenMap, axis: &Vec64, pointer: Pos2) -> Option<EdgeOn> {
    // For positive rotation the front of the ring moves along axis × towards_eye.
    let tangent = axis.cross(&gizmo.towards_eye).try_normalize(1e-9)?;
    let from = map.project(&gizmo.centre)?;
    let to = map.project(&(gizmo.centre + tangent * gizmo.radius))?;
    let radius = f64::from(from.distance(to));
    (radius > 1.0).then(|| EdgeOn {
        start: pointer,
        along: (to - from).normalized(),
        radius,
    })
}

/// Unit vector from the centre to the intersection of the pointer's ray with the plane.
fn direction_under(
    map: &ScreenMap,
    centre: &Point64,
    axis: &Vec64,
    pointer: Pos2,
) -> Option<Vec64> {
    (map.ray(pointer).meet_plane(centre, axis)? - centre).try_normalize(1e-9)
}

/// Two unit vectors that form a right-handed frame with the axis.
fn plane_basis(axis: &Vec64) -> (Vec64, Vec64) {
    let helper = if axis.x.abs() < 0.7 {
        Vec64::x()
    } else {
        Vec64::y()
    };
    let u = axis.cross(&helper).normalize();
    (u, axis.cross(&u))
}

/// Distance from a point to a segment on the screen.
#[must_use]
pub fn distance_to_segment(point: Pos2, a: Pos2, b: Pos2) -> f32 {
    let ab = b - a;
    let length = ab.length_sq();
    let t = if length > 0.0 {
        ((point - a).dot(ab) / length).clamp(0.0, 1.0)
    } else {
        0.0
    };
    point.distance(a + ab * t)
}

#[cfg(test)]
mod tests {
    use super::super::screen_map::tests::front_map;
    use super::*;
    use egui::{pos2, vec2};

    fn front_gizmo() -> (ScreenMap, Gizmo) {
        let map = front_map();
        let gizmo = Gizmo::new(&map, Point64::origin(), &Quat::identity()).unwrap();
        (map, gizmo)
    }

    fn at(angle_deg: f32, radius: f32) -> Pos2 {
        let (sin, cos) = angle_deg.to_radians().sin_cos();
        pos2(110.0, 120.0) + vec2(cos, -sin) * radius
    }

    #[test]
    fn rings_are_hit_only_where_they_are_drawn() {
        let (map, gizmo) = front_gizmo();
        // Facing the camera, the z ring is a circle, x and y rings are lines through the centre,
        // the screen ring is outside.
        assert_eq!(
            gizmo.hit(&map, at(45.0, RADIUS as f32)),
            Some(Ring::Axis(2))
        );
        assert_eq!(
            gizmo.hit(&map, at(45.0, (RADIUS * SCREEN_RADIUS) as f32)),
            Some(Ring::Screen)
        );
        assert_eq!(gizmo.hit(&map, at(90.0, 40.0)), Some(Ring::Axis(0)));
        assert_eq!(gizmo.hit(&map, at(0.0, 40.0)), Some(Ring::Axis(1)));
        assert_eq!(gizmo.hit(&map, at(45.0, 40.0)), None);
        assert_eq!(gizmo.hit(&map, at(45.0, 150.0)), None);
    }

    #[test]
    fn a_ring_drag_rotates_by_the_visible_angle_across_the_seam() {
        let (map, gizmo) = front_gizmo();
        let mut drag = RingDrag::start(&gizmo, &map, Ring::Axis(2), at(20.0, 84.0));
        let mut angle = 0.0;
        for degrees in (20..=420).step_by(10) {
            angle = drag.update(&map, at(degrees as f32, 84.0));
        }
        assert!(
            (angle - 400.0_f64.to_radians()).abs() < 1e-3,
            "{}",
            angle.to_degrees()
        );
        let back = drag.update(&map, at(390.0, 84.0));
        assert!((back - 370.0_f64.to_radians()).abs() < 1e-3);
        assert!(
            (drag.angle(Some(PI / 12.0)) - 375.0_f64.to_radians()).abs() < 1e-9,
            "snaps to the next 15°"
        );
    }

    #[test]
    fn a_ring_seen_edge_on_follows_the_pointer_along_itself() {
        let (map, gizmo) = front_gizmo();
        let mut drag = RingDrag::start(&gizmo, &map, Ring::Axis(1), at(0.0, 10.0));
        // A positive rotation about y moves the front of a body (towards the eye, +z) to +x: to the
        // right.
        let angle = drag.update(&map, at(0.0, 10.0) + vec2(30.0, 5.0));
        assert!((angle - 30.0 / 84.0).abs() < 0.01, "{angle}");
    }
}
