//! Muscles of the selected bone over the skin: their outlines, and handles that place them.

use egui::{
    Color32, CursorIcon, Id, Painter, Pos2, Rect, Response, Sense, Shape, Stroke, Ui, Vec2,
    WidgetInfo, vec2,
};

use super::PaneContext;
use crate::app::actions::tools::Tool;
use crate::app::theme;
use crate::app::viewport::label::label;
use crate::app::viewport::screen_map::ScreenMap;
use crate::character::Muscle;
use crate::math::{Affine, Point64};
use crate::methods::{BodyField, MuscleGrip, MusclePlace};
use crate::session::{Gesture, MuscleCommand, Snapshot, ViewId};

/// Corners of an ellipse.
const CORNERS: usize = 48;
/// Radius of a handle, and half the side of its interactive area, points.
const RADIUS: f32 = 5.0;
const REACH: f32 = 10.0;
/// The handles, with what they do. The middle one comes last: it is above the others where they meet.
const GRIPS: [(MuscleGrip, &str, &str); 3] = [
    (
        MuscleGrip::Start,
        "Beginning of the muscle",
        "Drag to move the beginning of the muscle along the limb",
    ),
    (
        MuscleGrip::End,
        "End of the muscle",
        "Drag to move the end of the muscle along the limb",
    ),
    (
        MuscleGrip::Middle,
        "Middle of the muscle",
        "Drag to move the muscle along the limb, around it and off its axis",
    ),
];

/// A drag of a handle.
#[derive(Debug, Clone)]
struct MuscleDrag {
    /// The muscle at the start, and where its grip was.
    muscle: Muscle,
    start: Point64,
    /// From the pointer to the grip on the screen.
    offset: Vec2,
}

impl MuscleDrag {
    /// The muscle under the pointer.
    fn moved(
        &self,
        field: &BodyField,
        world_from_joint: &[Affine],
        map: &ScreenMap,
        grip: MuscleGrip,
        pointer: Pos2,
    ) -> Option<Muscle> {
        let ray = map.ray(pointer + self.offset);
        let to = ray.meet_plane(&self.start, &map.back())?;
        Some(Muscle {
            shape: field.moved_muscle(&self.muscle, grip, &to, world_from_joint),
            ..self.muscle.clone()
        })
    }
}

/// Draws the muscles of the selected bone, and raises a command when a handle is dragged. Returns the rectangles of the handles.
pub(super) fn muscles_ui(
    ui: &mut Ui,
    id: ViewId,
    map: &ScreenMap,
    own: &Snapshot,
    context: &mut PaneContext<'_>,
) -> Vec<Rect> {
    let session = context.session;
    let (Some(field), Some(joint)) = (&own.body_field, session.selection().active()) else {
        return Vec::new();
    };
    let poses = !matches!(context.tools.tool, Tool::Paint | Tool::Explain);
    let is_still = !session.channels().active().playback().playing;
    let mut plates = Vec::new();
    let muscles = session.document().flesh.muscles.iter().enumerate();
    for (index, muscle) in muscles.filter(|(_, muscle)| muscle.bone == joint) {
        let Some(place) = field.muscle(muscle, &own.world_from_joint) else {
            continue;
        };
        let colors = theme::colors(ui.ctx());
        let painter = ui.painter().with_clip_rect(map.rect());
        outline(
            &painter,
            map,
            &place,
            colors.plate_accent.gamma_multiply(0.8),
        );
        if !(poses && is_still) {
            continue;
        }
        for (grip, name, hover) in GRIPS {
            let Some(centre) = map.project(&place.grip(grip)) else {
                continue;
            };
            let rect = Rect::from_center_size(centre, vec2(2.0 * REACH, 2.0 * REACH));
            if !map.rect().contains_rect(rect) {
                continue;
            }
            let handle = Id::unique(("muscle", id, index, name));
            let response = ui
                .interact(rect, handle, Sense::drag())
                .on_hover_cursor(CursorIcon::Grab);
            response.widget_info(|| WidgetInfo::labeled(egui::Role::Button, true, name));
            let drag = drag_of(ui, &response, muscle, place.grip(grip), centre);
            let pointer = response.interact_pointer_pos();
            let moved = drag.zip(pointer).and_then(|(drag, pointer)| {
                drag.moved(field, &own.world_from_joint, map, grip, pointer)
            });
            if let Some(muscle) = moved {
                let gesture = if response.drag_stopped() {
                    Gesture::Released
                } else {
                    Gesture::Dragging
                };
                let set = MuscleCommand::Set { index, muscle };
                context.actions.send(set.into(), gesture);
            }
            let is_active = response.hovered() || response.dragged();
            let color = if is_active {
                colors.plate_accent
            } else {
                colors.plate_text
            };
            painter.circle(centre, RADIUS, colors.plate, Stroke::new(1.5, color));
            if response.dragged() {
                let beside = centre + vec2(REACH + 6.0, 0.0);
                label(
                    &painter,
                    map.rect(),
                    beside,
                    &muscle.name,
                    colors.plate_text,
                );
            } else {
                response.on_hover_text(hover);
            }
            plates.push(rect);
        }
    }
    plates
}

/// The drag of a handle that is held.
fn drag_of(
    ui: &Ui,
    response: &Response,
    muscle: &Muscle,
    start: Point64,
    centre: Pos2,
) -> Option<MuscleDrag> {
    if response.drag_started() {
        let pressed = ui.input(|input| input.pointer.press_origin())?;
        let drag = MuscleDrag {
            muscle: muscle.clone(),
            start,
            offset: centre - pressed,
        };
        ui.data_mut(|data| data.insert_temp(response.id, drag));
    }
    let is_held = response.dragged() || response.drag_stopped();
    let drag = ui.data(|data| data.get_temp::<MuscleDrag>(response.id));
    drag.filter(|_| is_held)
}

/// The three ellipses of a muscle.
fn outline(painter: &Painter, map: &ScreenMap, place: &MusclePlace, color: Color32) {
    for (a, b) in [(0, 1), (0, 2), (1, 2)] {
        let corner = |k: usize| {
            let (sin, cos) = (std::f64::consts::TAU * k as f64 / CORNERS as f64).sin_cos();
            map.project(&(place.center + place.half_axes[a] * cos + place.half_axes[b] * sin))
        };
        let corners: Vec<Pos2> = (0..CORNERS).filter_map(corner).collect();
        if corners.len() == CORNERS {
            painter.add(Shape::closed_line(corners, Stroke::new(1.2, color)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::character::MuscleShape;
    use crate::dynamics::Params;
    use crate::methods::{Actor, MethodId};
    use crate::progress::Progress;
    use crate::render::{Camera, NamedView};
    use crate::session::{Source, open};
    use egui::pos2;

    /// In a bent pose and from several sides, what is dragged stays under the pointer.
    #[test]
    fn a_dragged_handle_stays_under_the_pointer() {
        let subject = open(&Source::builtin("cylinder"), &Progress::new()).expect("is built in");
        let (implicit, params) = (MethodId::IMPLICIT, Params::default());
        let actor = Actor::bind(&subject, implicit, &params, &Progress::new()).expect("binds");
        let field = actor.body_field().expect("composes fields");
        let mut joints = subject.character.skeleton.bind_transforms();
        let turn = nalgebra::Rotation3::new(crate::math::Vec64::new(0.4, 0.2, 0.9));
        joints[1] *= nalgebra::convert::<_, Affine>(turn);
        let muscle = Muscle {
            name: "muscle".to_owned(),
            bone: 0,
            driver: None,
            shape: MuscleShape::default(),
        };
        let place = field.muscle(&muscle, &joints).expect("has a place");
        for (view, grip, by) in [
            (NamedView::Front, MuscleGrip::Middle, vec2(9.0, 5.0)),
            (
                NamedView::ThreeQuarter,
                MuscleGrip::Middle,
                vec2(-4.0, -6.0),
            ),
            (NamedView::Left, MuscleGrip::Middle, vec2(3.0, 8.0)),
        ] {
            let mut camera = Camera::default();
            camera.look_from(view);
            camera.frame(&subject.bounds, 1.0);
            let map = ScreenMap::new(
                camera.clip_from_world(1.0).cast(),
                camera.eye().cast(),
                camera.axes().0.cast(),
                Rect::from_min_size(pos2(10.0, 20.0), vec2(600.0, 600.0)),
            )
            .expect("has a size");
            let start = place.grip(grip);
            let centre = map.project(&start).expect("is seen");
            let drag = MuscleDrag {
                muscle: muscle.clone(),
                start,
                offset: vec2(2.0, -1.0),
            };
            let moved = |pointer: Pos2| {
                let muscle = drag.moved(field, &joints, &map, grip, pointer - drag.offset);
                let place = field.muscle(&muscle.expect("is moved"), &joints);
                map.project(&place.expect("has a place").grip(grip))
                    .expect("is seen")
            };
            for pointer in [centre, centre + by] {
                let off = moved(pointer).distance(pointer);
                assert!(off < 2.5, "{view:?} {grip:?}: {off}");
            }
        }
    }
}
