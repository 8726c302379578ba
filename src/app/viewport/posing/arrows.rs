//! Translation arrows of a joint, and a square in the centre that moves it in the screen plane.

use egui::{Pos2, Rect, vec2};

use super::super::gizmo::distance_to_segment;
use super::super::screen_map::ScreenMap;
use crate::math::{Point64, Quat, Vec64};

/// Length of an arrow, points.
const LENGTH: f64 = 78.0;
/// Start of an arrow, relative to its length.
const FROM: f64 = 0.2;
/// Pick radius of an arrow, points.
const REACH: f32 = 8.0;
/// Half the side of the square in the centre, points.
pub const SQUARE: f32 = 8.0;
/// An arrow closer than this cosine to the view direction cannot be dragged.
const END_ON: f64 = 0.97;

/// A translation handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Arrow {
    /// Along axis 0, 1 or 2.
    Axis(usize),
    /// In the screen plane.
    View,
}

/// The arrows at a joint in this frame.
#[derive(Debug, Clone, Copy)]
pub struct Arrows {
    centre: Point64,
    axes: [Vec64; 3],
    towards_eye: Vec64,
    length: f64,
}

impl Arrows {
    /// Arrows along the axes of `orientation`; `None` if the joint is behind the eye.
    #[must_use]
    pub fn new(map: &ScreenMap, centre: Point64, orientation: &Quat) -> Option<Self> {
        let length = map.world_per_point(&centre) * LENGTH;
        let axes = [Vec64::x(), Vec64::y(), Vec64::z()].map(|axis| orientation * axis);
        (length > 0.0 && length.is_finite()).then(|| Self {
            centre,
            axes,
            towards_eye: map.towards_eye(&centre),
            length,
        })
    }

    /// Both ends of an arrow on the screen; `None` if it points at the eye.
    #[must_use]
    pub fn ends(&self, map: &ScreenMap, axis: usize) -> Option<[Pos2; 2]> {
        let direction = self.axes[axis.min(2)];
        if direction.dot(&self.towards_eye).abs() > END_ON {
            return None;
        }
        let at = |part: f64| map.project(&(self.centre + direction * (self.length * part)));
        Some([at(FROM)?, at(1.0)?])
    }

    /// The square in the centre.
    #[must_use]
    pub fn square(&self, map: &ScreenMap) -> Option<Rect> {
        Some(Rect::from_center_size(
            map.project(&self.centre)?,
            vec2(2.0 * SQUARE, 2.0 * SQUARE),
        ))
    }

    /// The handle under the pointer.
    #[must_use]
    pub fn hit(&self, map: &ScreenMap, pointer: Pos2) -> Option<Arrow> {
        if self
            .square(map)
            .is_some_and(|square| square.contains(pointer))
        {
            return Some(Arrow::View);
        }
        (0..3)
            .filter_map(|axis| {
                self.ends(map, axis)
                    .map(|[from, to]| (axis, distance_to_segment(pointer, from, to)))
            })
            .filter(|(_, distance)| *distance <= REACH)
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map(|(axis, _)| Arrow::Axis(axis))
    }
}

/// A drag of a translation handle.
#[derive(Debug, Clone, Copy)]
pub struct ArrowDrag {
    /// The handle.
    pub arrow: Arrow,
    /// The joint's initial position.
    pub start: Point64,
    axis: Vec64,
    grabbed: Point64,
    /// The displacement so far.
    pub moved: Vec64,
}

impl ArrowDrag {
    /// Starts at the pointer's position.
    #[must_use]
    pub fn start(arrows: &Arrows, map: &ScreenMap, arrow: Arrow, pointer: Pos2) -> Option<Self> {
        let axis = match arrow {
            Arrow::Axis(axis) => arrows.axes[axis.min(2)],
            Arrow::View => map.back(),
        };
        let start = arrows.centre;
        let grabbed = under(map, &start, arrow, &axis, pointer)?;
        Some(Self {
            arrow,
            start,
            axis,
            grabbed,
            moved: Vec64::zeros(),
        })
    }

    /// Follows the pointer; in steps of `snap` along an axis if given.
    pub fn update(&mut self, map: &ScreenMap, pointer: Pos2, snap: Option<f64>) -> Point64 {
        if let Some(now) = under(map, &self.start, self.arrow, &self.axis, pointer) {
            let mut moved = now - self.grabbed;
            if let (Arrow::Axis(_), Some(snap)) = (self.arrow, snap.filter(|snap| *snap > 0.0)) {
                moved = self.axis * ((moved.dot(&self.axis) / snap).round() * snap);
            }
            self.moved = moved;
        }
        self.start + self.moved
    }

    /// Displacement along the arrow, or in the screen plane.
    #[must_use]
    pub fn distance(&self) -> f64 {
        match self.arrow {
            Arrow::Axis(_) => self.moved.dot(&self.axis),
            Arrow::View => self.moved.norm(),
        }
    }
}

/// The point of the line or plane under the pointer.
fn under(
    map: &ScreenMap,
    start: &Point64,
    arrow: Arrow,
    axis: &Vec64,
    pointer: Pos2,
) -> Option<Point64> {
    if arrow == Arrow::View {
        return map.ray(pointer).meet_plane(start, axis);
    }
    // The nearest position on the projected arrow, so that the pointer's offset is irrelevant.
    let (from, to) = (
        map.project(start)?,
        map.project(&(start + axis * map.world_per_point(start) * LENGTH))?,
    );
    let along = (to - from) / (to - from).length_sq().max(1e-6).sqrt();
    let ray = map.ray(from + along * (pointer - from).dot(along));
    let (between, along) = (ray.origin - start, axis.dot(&ray.direction));
    let apart = 1.0 - along * along;
    let t = (axis.dot(&between) - along * ray.direction.dot(&between)) / apart;
    (apart > 1e-4 && t.is_finite()).then(|| start + axis * t)
}

#[cfg(test)]
mod tests {
    use super::super::super::screen_map::tests::front_map;
    use super::*;
    use egui::pos2;

    #[test]
    fn arrows_are_hit_where_drawn_and_move_along_their_axis() {
        let map = front_map();
        let arrows = Arrows::new(&map, Point64::origin(), &Quat::identity()).unwrap();
        assert_eq!(arrows.hit(&map, pos2(150.0, 121.0)), Some(Arrow::Axis(0)));
        assert_eq!(arrows.hit(&map, pos2(110.0, 70.0)), Some(Arrow::Axis(1)));
        assert_eq!(arrows.hit(&map, pos2(111.0, 119.0)), Some(Arrow::View));
        assert_eq!(
            arrows.hit(&map, pos2(150.0, 160.0)),
            None,
            "the third points at the eye"
        );
        let mut drag = ArrowDrag::start(&arrows, &map, Arrow::Axis(0), pos2(150.0, 120.0)).unwrap();
        // 20 points are 1 at distance 5; the vertical offset is irrelevant.
        let at = drag.update(&map, pos2(170.0, 180.0), None);
        assert!((at - Point64::new(1.0, 0.0, 0.0)).norm() < 1e-3, "{at}");
        let at = drag.update(&map, pos2(170.0, 120.0), Some(0.4));
        assert!(
            (at.x - 0.8).abs() < 1e-9 || (at.x - 1.2).abs() < 1e-9,
            "snapped: {at}"
        );
        let mut drag = ArrowDrag::start(&arrows, &map, Arrow::View, pos2(110.0, 120.0)).unwrap();
        let at = drag.update(&map, pos2(120.0, 110.0), None);
        assert!((at - Point64::new(0.5, 0.5, 0.0)).norm() < 1e-3);
    }
}
