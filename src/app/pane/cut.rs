//! The cutting plane as a handle: its outline around the character, and an arrow that moves it.

use egui::{
    Color32, CursorIcon, EventFilter, Id, Key, Painter, Pos2, Rect, Response, Sense, Shape, Stroke,
    Ui, Vec2, WidgetInfo, vec2,
};

use super::PaneContext;
use crate::app::actions::Action;
use crate::app::look::{CutPlane, Look};
use crate::app::theme;
use crate::app::viewport::label::label;
use crate::app::viewport::screen_map::ScreenMap;
use crate::math::{Point64, Vec64};
use crate::mesh::Bounds;
use crate::session::ViewId;

/// Half the side of the interactive area, points.
const REACH: f32 = 18.0;
/// From the centre of the handle to the tips of its arrows, points.
const TIP: f32 = 17.0;
/// Distance of the outline from the character's box, relative to its size.
const BEYOND: f64 = 0.03;
/// Step of the arrow keys, relative to the range of motion.
const NUDGE: f32 = 0.01;
/// If the axis appears shorter than this fraction of its length, vertical pointer motion moves the plane.
const END_ON: f64 = 0.2;

/// A plane perpendicular to an axis, in the box of the bind pose.
struct Plane {
    axis: usize,
    /// Start and length of the range of motion.
    from: f64,
    length: f64,
    low: Vec64,
    high: Vec64,
    up: usize,
}

impl Plane {
    fn new(bounds: &Bounds, cut: &CutPlane, up: usize) -> Option<Self> {
        let axis = cut.axis.min(2);
        let (min, max) = (
            bounds.min.cast::<f64>().coords,
            bounds.max.cast::<f64>().coords,
        );
        let length = max[axis] - min[axis];
        let pad = Vec64::repeat((max - min).norm() * BEYOND);
        let plane = Self {
            axis,
            from: min[axis],
            length,
            low: min - pad,
            high: max + pad,
            up,
        };
        (length > 0.0 && length.is_finite()).then_some(plane)
    }

    /// A point of the plane, by fractions of the box's other two sides.
    fn at(&self, offset: f64, [first, second]: [f64; 2]) -> Point64 {
        let [u, v] = self.others();
        let mut point = Point64::origin();
        point[self.axis] = self.from + self.length * offset;
        point[u] = self.low[u] + (self.high[u] - self.low[u]) * first;
        point[v] = self.low[v] + (self.high[v] - self.low[v]) * second;
        point
    }

    /// The two axes in the plane; the up axis last, if it is one of them.
    fn others(&self) -> [usize; 2] {
        let [u, v] = [(self.axis + 1) % 3, (self.axis + 2) % 3];
        if u == self.up { [v, u] } else { [u, v] }
    }

    fn corners(&self, offset: f64) -> [Point64; 4] {
        [[0.0, 0.0], [1.0, 0.0], [1.0, 1.0], [0.0, 1.0]].map(|part| self.at(offset, part))
    }

    /// Position of the handle: above the character, or beside it for a horizontal plane.
    fn handle(&self, offset: f64) -> Point64 {
        self.at(offset, [0.5, 1.0])
    }

    /// The offset under the pointer; vertical motion counts if the axis points at the eye.
    fn offset_under(&self, map: &ScreenMap, held: &CutDrag, pointer: Pos2) -> Option<f64> {
        let start = self.handle(held.offset);
        let moved = pointer - held.grabbed;
        let mut direction = Vec64::zeros();
        direction[self.axis] = 1.0;
        let per_point = map.world_per_point(&start);
        if direction.dot(&map.towards_eye(&start)).abs() > (1.0 - END_ON * END_ON).sqrt() {
            return Some(held.offset - f64::from(moved.y) * per_point / self.length);
        }
        // The point of the line that is closest to the ray through the pointer.
        let ray = map.ray(map.project(&start)? + moved);
        let between = start - ray.origin;
        let along = direction.dot(&ray.direction);
        let distance = (along * ray.direction.dot(&between) - direction.dot(&between))
            / (1.0 - along * along).max(1e-9);
        Some(held.offset + distance / self.length)
    }

    /// Direction of the plane's motion on the screen, as a unit vector; `None` if it points at the eye.
    fn direction_on_screen(&self, map: &ScreenMap, offset: f64) -> Option<Vec2> {
        let from = map.project(&self.handle(offset - 0.01))?;
        let way = map.project(&self.handle(offset + 0.01))? - from;
        let whole = self.length * 0.02 / map.world_per_point(&self.handle(offset)).max(1e-12);
        (f64::from(way.length()) > END_ON * whole).then(|| way.normalized())
    }
}

/// State at the start of a drag.
#[derive(Debug, Clone, Copy)]
struct CutDrag {
    offset: f64,
    grabbed: Pos2,
}

/// Draws the plane and its handle if the look cuts the flesh open, and raises an action when a drag or the arrow keys move it.
/// Returns the handle's rectangle.
pub(super) fn cut_ui(
    ui: &mut Ui,
    id: ViewId,
    map: &ScreenMap,
    look: &Look,
    context: &mut PaneContext<'_>,
) -> Option<Rect> {
    let cut = look.cut.filter(|_| look.tets)?;
    let subject = context
        .session
        .subject()
        .filter(|subject| subject.has_flesh())?;
    let up = subject.up_axis().axis;
    let up = (0..3)
        .max_by(|a, b| up[*a].abs().total_cmp(&up[*b].abs()))
        .unwrap_or(1);
    let plane = Plane::new(&subject.bounds, &cut, up)?;
    let offset = f64::from(cut.offset.clamp(0.0, 1.0));
    let inside = map.rect().shrink(REACH + 2.0);
    if !inside.is_positive() {
        return None;
    }
    // The handle stays inside of the view.
    let centre = map
        .project(&plane.handle(offset))?
        .clamp(inside.min, inside.max);
    let rect = Rect::from_center_size(centre, vec2(2.0 * REACH, 2.0 * REACH));
    let response = ui
        .interact(rect, Id::unique(("cut", id)), Sense::click_and_drag())
        .on_hover_cursor(CursorIcon::Grab);
    response.widget_info(|| WidgetInfo::slider(true, offset, "Cut plane"));
    let wanted = offset_from_input(ui, &response, map, &plane, cut.offset);
    if wanted != cut.offset && wanted.is_finite() {
        let cut = Some(CutPlane {
            offset: wanted,
            ..cut
        });
        let look = Look { cut, ..*look };
        context.actions.push(Action::SetLook(id, look));
    }
    let colors = theme::colors(ui.ctx());
    let active = response.hovered() || response.dragged() || response.has_focus();
    let color = if active {
        colors.plate_accent
    } else {
        colors.plate_text
    };
    let painter = ui.painter().with_clip_rect(map.rect());
    outline(
        &painter,
        map,
        &plane.corners(offset),
        color.gamma_multiply(if active { 0.9 } else { 0.45 }),
    );
    handle(
        &painter,
        centre,
        plane
            .direction_on_screen(map, offset)
            .unwrap_or(vec2(0.0, -1.0)),
        colors.plate,
        color,
    );
    if response.dragged() {
        label(
            &painter,
            map.rect(),
            centre + vec2(REACH + 8.0, 0.0),
            &format!("{:.0} %", cut.offset * 100.0),
            colors.plate_text,
        );
    } else {
        response.on_hover_text("Drag to move the cut");
    }
    Some(rect)
}

/// The plane's offset after a drag of its handle and the arrow keys.
fn offset_from_input(
    ui: &Ui,
    response: &Response,
    map: &ScreenMap,
    plane: &Plane,
    offset: f32,
) -> f32 {
    let mut wanted = offset;
    if let (true, Some(grabbed)) = (
        response.drag_started(),
        ui.input(|input| input.pointer.press_origin()),
    ) {
        let offset = f64::from(offset.clamp(0.0, 1.0));
        ui.data_mut(|data| data.insert_temp(response.id, CutDrag { offset, grabbed }));
    }
    if let (true, Some(pointer)) = (response.dragged(), response.interact_pointer_pos()) {
        let held = ui.data(|data| data.get_temp::<CutDrag>(response.id));
        wanted = held
            .and_then(|held| plane.offset_under(map, &held, pointer))
            .map_or(wanted, |offset| offset as f32);
    }
    if response.has_focus() {
        let filter = EventFilter {
            horizontal_arrows: true,
            vertical_arrows: true,
            ..EventFilter::default()
        };
        ui.memory_mut(|memory| memory.set_focus_lock_filter(response.id, filter));
        let pressed = |key: Key| ui.input(|input| input.num_presses(key)) as f32;
        wanted += NUDGE
            * (pressed(Key::ArrowRight) + pressed(Key::ArrowUp)
                - pressed(Key::ArrowLeft)
                - pressed(Key::ArrowDown));
    }
    wanted.clamp(0.0, 1.0)
}

fn outline(painter: &Painter, map: &ScreenMap, corners: &[Point64; 4], color: Color32) {
    let corners: Vec<Pos2> = corners
        .iter()
        .filter_map(|corner| map.project(corner))
        .collect();
    if corners.len() == 4 {
        painter.add(Shape::closed_line(corners, Stroke::new(1.0, color)));
    }
}

/// A disc with an arrow to either side.
fn handle(painter: &Painter, centre: Pos2, way: Vec2, plate: Color32, color: Color32) {
    painter.circle(centre, 6.0, plate, Stroke::new(1.5, color));
    let across = way.rot90();
    for side in [-1.0, 1.0] {
        let tip = centre + way * (side * TIP);
        let foot = tip - way * (side * 6.0);
        let points = vec![tip, foot + across * 4.0, foot - across * 4.0];
        painter.add(Shape::convex_polygon(
            points,
            color,
            Stroke::new(1.0, plate),
        ));
    }
}

#[cfg(test)]
mod tests {
    use egui::pos2;

    use super::*;
    use crate::math::Point;
    use crate::render::{Camera, NamedView};

    /// From the side, oblique and along the axis: the plane follows the pointer in every view.
    #[test]
    fn the_plane_stays_under_the_pointer() {
        let bounds = Bounds {
            min: Point::new(-1.0, 0.0, -0.3),
            max: Point::new(1.0, 2.0, 0.4),
        };
        for (view, axis) in [
            (NamedView::Front, 0),
            (NamedView::Front, 1),
            (NamedView::ThreeQuarter, 0),
            (NamedView::ThreeQuarter, 2),
        ] {
            let mut camera = Camera::default();
            camera.look_from(view);
            camera.frame(&bounds, 1.0);
            let rect = Rect::from_min_size(pos2(10.0, 20.0), vec2(600.0, 600.0));
            let map = ScreenMap::new(
                camera.clip_from_world(1.0).cast(),
                camera.eye().cast(),
                camera.axes().0.cast(),
                rect,
            )
            .unwrap();
            let plane = Plane::new(
                &bounds,
                &CutPlane {
                    axis,
                    ..CutPlane::default()
                },
                1,
            )
            .unwrap();
            let held = CutDrag {
                offset: 0.5,
                grabbed: map.project(&plane.handle(0.5)).unwrap(),
            };
            for offset in [0.5, 0.2, 0.9] {
                let there = map.project(&plane.handle(offset)).unwrap();
                let found = plane.offset_under(&map, &held, there).unwrap();
                assert!(
                    (found - offset).abs() < 1e-4,
                    "{view:?} {axis}: {found} for {offset}"
                );
            }
        }
    }

    #[test]
    fn a_plane_facing_the_eye_moves_by_vertical_drags() {
        let bounds = Bounds {
            min: Point::new(-1.0, 0.0, -0.3),
            max: Point::new(1.0, 2.0, 0.4),
        };
        let mut camera = Camera::default();
        camera.look_from(NamedView::Front);
        camera.frame(&bounds, 1.0);
        let rect = Rect::from_min_size(pos2(0.0, 0.0), vec2(600.0, 600.0));
        let map = ScreenMap::new(
            camera.clip_from_world(1.0).cast(),
            camera.eye().cast(),
            camera.axes().0.cast(),
            rect,
        )
        .unwrap();
        let plane = Plane::new(
            &bounds,
            &CutPlane {
                axis: 2,
                ..CutPlane::default()
            },
            1,
        )
        .unwrap();
        let held = CutDrag {
            offset: 0.5,
            grabbed: pos2(300.0, 300.0),
        };
        let up = plane.offset_under(&map, &held, pos2(300.0, 280.0)).unwrap();
        assert!(up > 0.5 && up < 1.0, "{up}");
        let flat = Bounds {
            min: bounds.min,
            max: Point::new(1.0, 2.0, -0.3),
        };
        assert!(
            Plane::new(
                &flat,
                &CutPlane {
                    axis: 2,
                    ..CutPlane::default()
                },
                1
            )
            .is_none()
        );
    }
}
