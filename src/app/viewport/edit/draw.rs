//! Draws joints, bones and the preview of the next joint over the picture.

use egui::{Align2, Color32, FontId, Painter, Pos2, Shape, Stroke, vec2};

use super::pick::ring_corners;
use super::{EditDrag, EditTool, EditView, LandmarkHandle, PickedItem, carrier};
use crate::app::look::Backdrop;
use crate::app::theme::Colors;
use crate::app::viewport::Viewport;
use crate::app::viewport::dots::dots;
use crate::app::viewport::screen_map::ScreenMap;
use crate::math::Point64;
use crate::rig::edit::{Placed, RigBone};

/// Position of an octahedral bone's maximum width, as a fraction of its length.
const WAIST: f32 = 0.16;
/// Half the maximum width, as a fraction of the length, and its bounds in points.
const GIRTH: f32 = 0.085;
const GIRTHS: [f32; 2] = [2.0, 11.0];

/// Colour of bones that are neither selected nor hovered, on dark and on light backdrops.
const BONES: [Color32; 2] = [
    Color32::from_rgb(196, 200, 208),
    Color32::from_rgb(70, 76, 88),
];

/// Draws everything that can be dragged.
pub fn draw(
    painter: &Painter,
    viewport: &Viewport,
    tool: &EditTool,
    view: &EditView<'_>,
    colors: &Colors,
    backdrop: Backdrop,
) {
    let Some(map) = viewport.map() else { return };
    let painter = painter.with_clip_rect(map.rect());
    let pen = EditPainter {
        painter: &painter,
        map: &map,
        view,
        colors,
        bone: BONES[usize::from(backdrop.background().ink()[0] < 128)],
    };
    let faint = tool.fitting.is_some();
    pen.bones(tool, faint);
    pen.tails(tool);
    if let Some(fitting) = &tool.fitting {
        let hovered = match (tool.under, &tool.drag) {
            (_, Some(EditDrag::Landmark(handle))) => Some(*handle),
            (Some(PickedItem::Landmark(handle)), None) => Some(handle),
            _ => None,
        };
        pen.landmarks(fitting, hovered);
        return;
    }
    pen.ring(tool);
    pen.joints(tool);
    if let Some(placed) = tool.ghost() {
        pen.ghost(&placed);
    }
    if let Some(EditDrag::Joint {
        joint,
        from,
        axis: Some(axis),
        ..
    }) = &tool.drag
    {
        let at = view
            .rig
            .joints()
            .get(*joint)
            .map_or(*from, |joint| joint.position);
        pen.axis(&at, *axis);
    }
}

struct EditPainter<'a> {
    painter: &'a Painter,
    map: &'a ScreenMap,
    view: &'a EditView<'a>,
    colors: &'a Colors,
    /// Colour of bones that are neither selected nor hovered.
    bone: Color32,
}

impl EditPainter<'_> {
    fn bones(&self, tool: &EditTool, faint: bool) {
        let hovered = match tool.under {
            Some(PickedItem::Bone { bone, .. }) => Some(bone),
            _ => None,
        };
        let mut bones: Vec<(RigBone, [Point64; 2])> = self.view.rig.bones().collect();
        let nearness = |[a, b]: &[Point64; 2]| nalgebra::center(a, b).coords.dot(&self.map.back());
        bones.sort_by(|a, b| nearness(&a.1).total_cmp(&nearness(&b.1)));
        for (bone, [from, to]) in bones {
            let (Some(from), Some(to)) = (self.map.project(&from), self.map.project(&to)) else {
                continue;
            };
            let color = if self.view.selected == Some(carrier(self.view.rig, bone)) {
                self.colors.plate_accent
            } else if hovered == Some(bone) {
                self.colors.plate_text
            } else {
                self.bone
            };
            // Long bones to rig handles would hide the bones with flesh.
            let is_handle =
                matches!(bone, RigBone::To(joint) if self.view.without_flesh.contains(&joint));
            if is_handle && color == self.bone {
                self.painter
                    .line_segment([from, to], Stroke::new(1.0, color.gamma_multiply(0.25)));
            } else {
                self.octahedron(
                    from,
                    to,
                    if faint {
                        color.gamma_multiply(0.35)
                    } else {
                        color
                    },
                );
            }
        }
    }

    fn octahedron(&self, from: Pos2, to: Pos2, color: Color32) {
        let along = to - from;
        let length = along.length();
        if length < 1.0 {
            return;
        }
        let girth = (GIRTH * length).clamp(GIRTHS[0], GIRTHS[1]);
        let side = along.rot90() / length * girth;
        let waist = from + along * WAIST;
        let outline = Stroke::new(1.2, color);
        let (lit, dark) = (color.gamma_multiply(0.42), color.gamma_multiply(0.22));
        self.painter.add(Shape::convex_polygon(
            vec![from, waist + side, to],
            lit,
            Stroke::NONE,
        ));
        self.painter.add(Shape::convex_polygon(
            vec![from, to, waist - side],
            dark,
            Stroke::NONE,
        ));
        self.painter.add(Shape::closed_line(
            vec![from, waist + side, to, waist - side],
            outline,
        ));
        self.painter
            .line_segment([from, to], Stroke::new(0.8, color.gamma_multiply(0.6)));
    }

    fn tails(&self, tool: &EditTool) {
        for joint in 0..self.view.rig.len() {
            let Some(tail) = self.view.tail(joint) else {
                continue;
            };
            let said = self.view.rig.tail(joint).is_some();
            let (Some(from), Some(to)) = (
                self.map.project(&self.view.rig.joints()[joint].position),
                self.map.project(&tail),
            ) else {
                continue;
            };
            let hovered = tool.under == Some(PickedItem::Tail(joint));
            let color = if hovered {
                self.colors.plate_accent
            } else {
                self.bone
            };
            if !said {
                self.painter.extend(Shape::dashed_line(
                    &[from, to],
                    Stroke::new(1.0, color.gamma_multiply(0.55)),
                    4.0,
                    4.0,
                ));
            }
            self.painter.circle(
                to,
                if hovered { 4.5 } else { 3.2 },
                Color32::from_black_alpha(120),
                Stroke::new(1.3, color),
            );
        }
    }

    fn joints(&self, tool: &EditTool) {
        let hovered = match tool.under {
            Some(PickedItem::Joint(joint)) => Some(joint),
            _ => None,
        };
        let partner = |joint: usize| {
            self.view
                .mirror
                .and_then(|mirror| mirror.partner(self.view.rig, joint).joint(joint))
        };
        let mirrored = self.view.selected.and_then(partner);
        let positions = self.view.rig.joints().iter().map(|joint| joint.position);
        for dot in dots(self.map, positions, 12.0) {
            let index = dot.joint;
            let (radius, color) = if self.view.selected == Some(index) {
                (5.5, self.colors.plate_accent)
            } else if hovered == Some(index) {
                (5.5, self.colors.plate_text)
            } else if mirrored == Some(index) {
                (4.5, self.colors.plate_accent.gamma_multiply(0.7))
            } else {
                let white = Color32::from_rgb(232, 234, 238);
                (dot.radius(4.0), white.gamma_multiply(dot.strength))
            };
            let rim = (radius * 0.35).min(1.4);
            self.painter.circle(
                dot.at,
                radius,
                color,
                Stroke::new(rim, Color32::from_black_alpha(210)),
            );
        }
        for joint in [self.view.selected, hovered].into_iter().flatten() {
            let Some(at) = self
                .view
                .rig
                .joints()
                .get(joint)
                .and_then(|joint| self.map.project(&joint.position))
            else {
                continue;
            };
            let color = if self.view.selected == Some(joint) {
                self.colors.plate_accent
            } else {
                self.colors.plate_text
            };
            self.label(at, &self.view.rig.joints()[joint].name, color);
        }
    }

    fn label(&self, at: Pos2, text: &str, color: Color32) {
        let galley =
            self.painter
                .layout_no_wrap(text.to_owned(), FontId::proportional(12.5), color);
        let plate = egui::Rect::from_min_size(
            at + vec2(12.0, -14.0 - galley.size().y / 2.0),
            galley.size(),
        )
        .expand2(vec2(6.0, 3.0));
        let inside = self.map.rect();
        let plate = plate.translate(vec2(
            (inside.right() - 4.0 - plate.right()).min(0.0),
            (inside.top() + 4.0 - plate.top()).max(0.0),
        ));
        self.painter.rect_filled(plate, 4.0, self.colors.plate);
        self.painter
            .galley(plate.min + vec2(6.0, 3.0), galley, color);
    }

    fn ring(&self, tool: &EditTool) {
        let Some(volume) = self.view.ring() else {
            return;
        };
        let hot = matches!(tool.under, Some(PickedItem::Ring(_)))
            || matches!(tool.drag, Some(EditDrag::Radius { .. }));
        let color = if hot {
            self.colors.plate_accent
        } else {
            self.colors.mended.gamma_multiply(0.8)
        };
        let corners: Option<Vec<Pos2>> = ring_corners(self.map, volume).into_iter().collect();
        if let Some(corners) = corners {
            self.painter.add(Shape::line(
                corners,
                Stroke::new(if hot { 2.5 } else { 1.4 }, color),
            ));
        }
    }

    /// Preview: where a click would place a joint, and its parent; mirrored if mirroring is on.
    fn ghost(&self, placed: &Placed) {
        let accent = self.colors.plate_accent;
        let parent = self.view.selected;
        let centred = self
            .view
            .mirror
            .filter(|mirror| mirror.is_on_plane(&placed.position));
        let place = centred.map_or(placed.position, |mirror| {
            mirror.onto_plane(&placed.position)
        });
        self.one_ghost(&place, parent, placed.radius, accent);
        let Some(mirror) = self.view.mirror.filter(|_| centred.is_none()) else {
            return;
        };
        let other = match parent {
            None => Some(None),
            Some(parent) => mirror
                .partner(self.view.rig, parent)
                .joint(parent)
                .map(Some),
        };
        if let Some(other) = other {
            self.one_ghost(
                &mirror.reflect(&placed.position),
                other,
                placed.radius,
                accent.gamma_multiply(0.55),
            );
        }
    }

    fn one_ghost(&self, place: &Point64, parent: Option<usize>, radius: f64, color: Color32) {
        let Some(at) = self.map.project(place) else {
            return;
        };
        let from = parent
            .and_then(|parent| self.view.rig.joints().get(parent))
            .and_then(|joint| self.map.project(&joint.position));
        if let Some(from) = from {
            self.painter.extend(Shape::dashed_line(
                &[from, at],
                Stroke::new(1.5, color.gamma_multiply(0.8)),
                6.0,
                4.0,
            ));
        }
        let per_point = self.map.world_per_point(place);
        if per_point > 0.0 {
            self.painter.circle_stroke(
                at,
                (radius / per_point) as f32,
                Stroke::new(1.0, color.gamma_multiply(0.5)),
            );
        }
        self.painter
            .circle(at, 4.5, color.gamma_multiply(0.55), Stroke::new(1.4, color));
    }

    fn axis(&self, at: &Point64, axis: usize) {
        let mut along = crate::math::Vec64::zeros();
        along[axis.min(2)] = self.map.world_per_point(at) * 4000.0;
        let ends = [
            self.map.project(&(at - along)),
            self.map.project(&(at + along)),
        ];
        if let [Some(a), Some(b)] = ends {
            self.painter
                .line_segment([a, b], Stroke::new(1.2, self.colors.axes[axis.min(2)]));
        }
    }

    fn landmarks(&self, fitting: &super::Fitting, hovered: Option<LandmarkHandle>) {
        for (from, to) in fitting.lines() {
            if let (Some(a), Some(b)) = (self.map.project(&from), self.map.project(&to)) {
                self.painter.extend(Shape::dashed_line(
                    &[a, b],
                    Stroke::new(1.2, self.colors.plate_accent.gamma_multiply(0.6)),
                    5.0,
                    4.0,
                ));
            }
        }
        // Drawn in reverse order of picking priority.
        let handles: Vec<_> = fitting.handles(self.view.mirror).collect();
        for (handle, place) in handles.into_iter().rev() {
            let Some(at) = self.map.project(&place) else {
                continue;
            };
            let hot = hovered == Some(handle);
            let accent = self.colors.plate_accent;
            if handle.mirrored && !hot {
                self.painter
                    .circle_stroke(at, 4.5, Stroke::new(1.4, accent.gamma_multiply(0.6)));
                continue;
            }
            let (radius, color) = if hot {
                (8.0, accent)
            } else {
                (6.5, accent.gamma_multiply(0.85))
            };
            self.painter.circle(
                at,
                radius,
                color,
                Stroke::new(1.5, Color32::from_black_alpha(220)),
            );
            let name = fitting.name(handle.landmark);
            if hot {
                self.label(at, name, accent);
            } else {
                self.painter.text(
                    at + vec2(11.0, 0.0),
                    Align2::LEFT_CENTER,
                    name,
                    FontId::proportional(11.5),
                    self.colors.plate_text,
                );
            }
        }
    }
}
