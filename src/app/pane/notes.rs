//! The lines about the voxel domain and the field over a view: what is drawn, or why nothing is drawn yet.

use std::sync::Arc;

use egui::{FontId, Rect, Role, Sense, Ui, WidgetInfo, pos2, vec2};

use crate::app::look::Look;
use crate::app::panels::overlays::VoxelState;
use crate::app::theme;
use crate::render::{field_note, voxel_note};
use crate::session::{Session, Snapshot, ViewId};

/// Distance from the upper edge of the view, points.
const MARGIN: f32 = 8.0;
/// Kept free on both sides for the tools and the axes, points.
const SIDES: f32 = 110.0;
/// Least width of the text, points.
const LEAST_WIDTH: f32 = 120.0;
/// Padding of the text.
const PADDING: egui::Vec2 = vec2(6.0, 3.0);

/// Draws the lines at the upper edge of a view. Returns its rectangle, if there is something to say and room for it.
pub(super) fn notes_ui(
    ui: &Ui,
    body: Rect,
    id: ViewId,
    look: &Look,
    own: Option<&Arc<Snapshot>>,
    session: &Session,
) -> Option<Rect> {
    let voxels = match VoxelState::of(id, look, session).sentence() {
        Some(sentence) => Some(sentence.to_owned()),
        None => own
            .filter(|_| look.voxels)
            .and_then(|own| voxel_note(&own.subject)),
    };
    let joint = session.selection().active();
    let field = own
        .filter(|own| look.fields && own.body_field.is_some())
        .map(|own| field_note(&own.subject, &look.field_cut, joint));
    let lines: Vec<String> = voxels.into_iter().chain(field).collect();
    if lines.is_empty() {
        return None;
    }
    let text = lines.join("\n");
    let width = body.width() - 2.0 * SIDES;
    if width < LEAST_WIDTH {
        return None;
    }
    let colors = theme::colors(ui.ctx());
    let galley = ui.painter().layout(
        text.clone(),
        FontId::proportional(12.5),
        colors.plate_text,
        width,
    );
    let size = galley.size() + 2.0 * PADDING;
    let corner = pos2(body.center().x - 0.5 * size.x, body.top() + MARGIN);
    let plate = Rect::from_min_size(corner, size);
    let response = ui.interact(plate, ui.scope_id().with(("notes", id)), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Label, true, &text));
    let painter = ui.painter().with_clip_rect(body);
    painter.rect_filled(plate, 4.0, colors.plate);
    painter.galley(plate.min + PADDING, galley, colors.plate_text);
    Some(plate)
}
