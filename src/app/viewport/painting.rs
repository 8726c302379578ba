//! Painting with the pointer: strokes on the skin, and the ring of the brush.

use egui::{Color32, Modifiers, Painter, PointerButton, Pos2, Response, Shape, Stroke, Ui};

use super::picking::{SkinSpot, pick_spot};
use super::screen_map::ScreenMap;
use super::{Viewport, ViewportView};
use crate::app::actions::Actions;
use crate::app::actions::tools::{BrushSettings, Tool};
use crate::app::theme;
use crate::character::{Brush, BrushKind, PaintMap};
use crate::math::Vec64;
use crate::session::{Gesture, PaintCommand};

/// A stroke touches again after this part of the radius.
const STEP: f32 = 0.25;
/// Touches between two passes at most.
const MOST_TOUCHES: f32 = 24.0;
/// Corners of the ring.
const CORNERS: usize = 48;

/// A stroke in progress.
#[derive(Debug)]
pub(super) struct PaintStroke {
    /// The last touched spot, and the pointer there.
    last: SkinSpot,
    pointer: Pos2,
}

/// The brush with the keys that are held: Shift smooths, Ctrl erases.
fn brush_of(settings: &BrushSettings, modifiers: Modifiers, size: f32) -> Brush {
    let kind = match (modifiers.shift, modifiers.command) {
        (true, _) => BrushKind::Smooth,
        (false, true) => BrushKind::Erase,
        _ => settings.kind,
    };
    Brush {
        kind,
        code: settings.map.code(settings.value()),
        radius: settings.radius * size,
        strength: settings.strength,
    }
}

impl Viewport {
    /// Handles the pointer with the tool that paints. Returns whether it is in use, so that the camera must not move.
    pub(super) fn paint_with_pointer(
        &mut self,
        ui: &Ui,
        response: &Response,
        map: &ScreenMap,
        view: &ViewportView<'_>,
        actions: &mut Actions,
    ) -> bool {
        (self.hovered, self.hovered_handle) = (None, None);
        let (modifiers, down) = ui.input(|input| (input.modifiers, input.pointer.primary_down()));
        let settings = &view.tools.brush;
        let brush = brush_of(settings, modifiers, self.size());
        let pointer = response.interact_pointer_pos().or(response.hover_pos());
        let pointer = pointer.filter(|_| self.stroke.is_some() || !self.axis_gizmo.hovered);
        let find = |pointer: Pos2| pick_spot(&map.ray(pointer), view.snapshot?);
        self.brush_spot = pointer.and_then(find);
        let touch = |spot: &SkinSpot| PaintCommand::Touch {
            map: settings.map,
            brush,
            at: spot.at,
            mirrored: settings.mirrored,
        };
        if !down {
            self.given_up = false;
        }
        if self.stroke.is_some() && !down {
            self.stroke = None;
            let lift = PaintCommand::Lift(settings.map);
            actions.send(lift.into(), Gesture::Released);
            return true;
        }
        let pressed = ui.input(|input| input.pointer.button_pressed(PointerButton::Primary));
        let starts = pressed && response.contains_pointer() && !self.given_up && !modifiers.alt;
        match (&mut self.stroke, self.brush_spot, pointer) {
            (Some(stroke), Some(spot), Some(to)) => {
                // A fast pointer leaves no gaps.
                let moved = (spot.at.position - stroke.last.at.position).norm();
                let touches = (moved / (STEP * brush.radius)).floor().min(MOST_TOUCHES);
                let from = stroke.pointer;
                for number in 1..=touches as usize {
                    let between = from.lerp(to, number as f32 / touches);
                    if let Some(spot) = find(between) {
                        actions.send(touch(&spot).into(), Gesture::Dragging);
                    }
                }
                if touches >= 1.0 {
                    (stroke.last, stroke.pointer) = (spot, to);
                }
            }
            (None, Some(spot), Some(pointer)) if starts => {
                self.stroke = Some(PaintStroke {
                    last: spot,
                    pointer,
                });
                actions.send(touch(&spot).into(), Gesture::Dragging);
            }
            _ => {}
        }
        self.stroke.is_some() || self.given_up
    }

    /// What the mouse will do with the tool that paints; `None` beside the skin.
    #[must_use]
    pub fn paint_hint(&self, brush: &BrushSettings) -> Option<String> {
        let value = match (brush.kind, brush.map) {
            (BrushKind::Erase, _) => "erase paint".to_owned(),
            (BrushKind::Smooth, _) => "smooth paint".to_owned(),
            (BrushKind::Paint, PaintMap::Stiffness) => {
                format!("paint stiffness × {:.2}", brush.stiffness)
            }
            (BrushKind::Paint, PaintMap::Held) => format!("paint held {:.2}", brush.held),
            (BrushKind::Paint, PaintMap::Thickness) => {
                format!("paint thickness × {:.2}", brush.thickness)
            }
            (BrushKind::Paint, PaintMap::Relaxation) => {
                format!("paint relaxation {:.2}", brush.relaxation)
            }
        };
        if self.stroke.is_some() {
            return Some("The flesh follows when the stroke ends – Esc takes it back".to_owned());
        }
        self.brush_spot
            .map(|_| format!("Drag to {value} – Ctrl erases, Shift smooths"))
    }

    /// Takes back the stroke in progress. Returns whether there was one.
    pub(super) fn cancel_stroke(&mut self) -> bool {
        let cancelled = self.stroke.take().is_some();
        self.given_up |= cancelled;
        cancelled
    }
}

/// Draws the ring of the brush on the skin under the pointer.
pub(super) fn draw_brush(
    painter: &Painter,
    map: &ScreenMap,
    viewport: &Viewport,
    view: &ViewportView<'_>,
) {
    let spot = viewport.brush_spot.as_ref();
    let Some(spot) = spot.filter(|_| view.tools.tool == Tool::Paint) else {
        return;
    };
    let radius = f64::from(view.tools.brush.radius * viewport.size());
    let across = spot.normal.cross(&Vec64::y());
    let across = across
        .try_normalize(1e-6)
        .unwrap_or_else(|| spot.normal.cross(&Vec64::x()).normalize());
    let along = spot.normal.cross(&across);
    let corner = |index: usize| {
        let (sin, cos) = (index as f64 / CORNERS as f64 * std::f64::consts::TAU).sin_cos();
        map.project(&(spot.place + (across * cos + along * sin) * radius))
    };
    let corners: Option<Vec<Pos2>> = (0..CORNERS).map(corner).collect();
    let Some(corners) = corners else { return };
    let color = theme::colors(painter.ctx()).plate_accent;
    let shadow = Stroke::new(3.5, Color32::from_black_alpha(140));
    painter.add(Shape::closed_line(corners.clone(), shadow));
    painter.add(Shape::closed_line(corners, Stroke::new(1.6, color)));
}
