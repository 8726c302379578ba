//! Behaviour of the tiles.

use std::collections::BTreeMap;

use egui::{Style, Ui, Visuals, WidgetText};
use egui_tiles::{Behavior, EditAction, ResizeState, SimplificationOptions, TileId, UiResponse};

use crate::app::pane::{Pane, PaneContext};
use crate::app::theme;
use crate::session::ViewId;

/// Smallest side of a view, points.
const LEAST_SIDE: f32 = 120.0;
/// Gap between two views, points.
const GAP: f32 = 3.0;

/// Panes in a tree of tiles.
pub(super) struct PaneTiles<'a, 'c> {
    pub(super) panes: &'a mut BTreeMap<ViewId, Pane>,
    pub(super) context: &'a mut PaneContext<'c>,
    /// Whether a tile was dropped or resized.
    pub(super) edited: bool,
}

impl Behavior<ViewId> for PaneTiles<'_, '_> {
    fn pane_ui(&mut self, ui: &mut Ui, _tile: TileId, view: &mut ViewId) -> UiResponse {
        let dragged = self
            .panes
            .get_mut(view)
            .is_some_and(|pane| pane.ui(ui, *view, self.context));
        if dragged {
            UiResponse::DragStarted
        } else {
            UiResponse::None
        }
    }

    fn tab_title_for_pane(&mut self, view: &ViewId) -> WidgetText {
        self.context
            .session
            .views()
            .get(*view)
            .map_or("View".to_owned(), |view| {
                self.context.session.label_of(view)
            })
            .into()
    }

    fn gap_width(&self, _style: &Style) -> f32 {
        GAP
    }

    fn min_size(&self) -> f32 {
        LEAST_SIDE
    }

    fn resize_stroke(&self, style: &Style, state: ResizeState) -> egui::Stroke {
        match state {
            ResizeState::Idle => {
                egui::Stroke::new(GAP, style.visuals.widgets.noninteractive.bg_stroke.color)
            }
            ResizeState::Hovering => {
                egui::Stroke::new(GAP, style.visuals.widgets.hovered.bg_stroke.color)
            }
            ResizeState::Dragging => egui::Stroke::new(GAP, style.visuals.selection.stroke.color),
        }
    }

    fn tab_bar_color(&self, visuals: &Visuals) -> egui::Color32 {
        visuals.panel_fill
    }

    fn drag_ui(&mut self, tiles: &egui_tiles::Tiles<ViewId>, ui: &mut Ui, tile: TileId) {
        let title = self.tab_title_for_tile(tiles, tile);
        let colors = theme::colors(ui.ctx());
        egui::Frame::popup(ui.style())
            .fill(colors.accent_fill)
            .show(ui, |ui| ui.label(title));
    }

    fn on_edit(&mut self, edit: EditAction) {
        self.edited |= matches!(edit, EditAction::TileDropped | EditAction::TileResized);
    }

    fn simplification_options(&self) -> SimplificationOptions {
        SimplificationOptions {
            all_panes_must_have_tabs: false,
            ..SimplificationOptions::default()
        }
    }
}
