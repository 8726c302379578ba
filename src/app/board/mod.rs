//! The scoreboard between views and timeline: a plot of each chosen metric over the time of the clip, with a line for each shown method.
//!
//! | file      | what                                                             |
//! |-----------|------------------------------------------------------------------|
//! | `header`  | choice of metrics, legend, progress, export                       |
//! | `plots`   | what is plotted, taken from the session when it changes           |
//! | `plot`    | one plot: lines, peaks, pointer                                   |
//! | `mark`    | the worst place, on the skin in a view                            |
//!
//! Its times are those of the timeline: both zoom and pan together. The session measures ([`crate::session::Board`]).

mod header;
pub(in crate::app) mod mark;
mod plot;
mod plots;

use egui::scroll_area::ScrollSource;
use egui::{Rect, ScrollArea, Ui, vec2};

use super::actions::Actions;
use super::theme;
use super::timeline::{TimeStrip, TimelineState, TimelineView};
use crate::session::{Board, BoardRequest, BoardState, Session, Views};
use plots::Plots;

/// Initial height of the board, points.
pub(in crate::app) const HEIGHT: f32 = 218.0;
/// Heights that it can be dragged to.
pub(in crate::app) const HEIGHTS: std::ops::RangeInclusive<f32> = 110.0..=560.0;
/// Minimum height of a plot.
const PLOT_HEIGHT: f32 = 66.0;

/// State of the scoreboard in the window.
#[derive(Debug, Default)]
pub struct BoardPanel {
    /// What projects save.
    pub state: BoardState,
    /// Id of the quantity whose worst places are marked on the skin: that of the plot clicked last.
    marked: Option<String>,
    plots: Plots,
}

/// Data for the scoreboard.
#[derive(Clone, Copy)]
pub struct BoardView<'a> {
    /// The measured values.
    pub board: &'a Board,
    /// The views, for their numbers.
    pub views: &'a Views,
    /// The clip and the clock.
    pub timeline: TimelineView<'a>,
}

impl<'a> BoardView<'a> {
    /// The scoreboard's data of a session.
    #[must_use]
    pub fn of(session: &'a Session) -> Self {
        Self {
            board: session.board(),
            views: session.views(),
            timeline: TimelineView::of(session),
        }
    }
}

impl BoardPanel {
    /// What the session shall measure; `None` while the board is closed.
    #[must_use]
    pub fn request(&self) -> Option<BoardRequest> {
        self.state.open.then(|| BoardRequest {
            quantities: self.state.quantities.clone(),
            distance_to: self.state.distance_to,
        })
    }

    /// Id of the quantity whose worst places are marked on the skin, while the board is open.
    #[must_use]
    pub fn marked(&self) -> Option<&str> {
        let marked = self.marked.as_deref().filter(|_| self.state.open)?;
        let is_plotted = self.state.quantities.iter().any(|id| id == marked);
        is_plotted.then_some(marked)
    }

    /// Opens or closes it.
    pub fn toggle(&mut self) {
        self.state.open = !self.state.open;
    }
}

/// Draws the board into the available space.
pub fn board_ui(
    ui: &mut Ui,
    view: &BoardView<'_>,
    panel: &mut BoardPanel,
    timeline: &mut TimelineState,
    actions: &mut Actions,
) {
    panel.plots.follow(view.board, &panel.state);
    header::header_ui(ui, view, panel, actions);
    if let Some(sentence) = hint(view, panel) {
        let colors = theme::colors(ui.ctx());
        ui.centered_and_justified(|ui| {
            ui.label(egui::RichText::new(sentence).color(colors.text_weak));
        });
        return;
    }
    let strip = TimeStrip::of(ui.available_rect_before_wrap());
    timeline.lay_out(&strip, &view.timeline);
    plots_ui(ui, view, panel, timeline, &strip, actions);
}

/// Says what to do where there is nothing to plot.
fn hint(view: &BoardView<'_>, panel: &BoardPanel) -> Option<&'static str> {
    if view.timeline.skeleton.is_none() {
        Some("Open a character to see scores over the time of a clip.")
    } else if view.timeline.clips.is_empty() {
        Some("This character has no clip: record one, or drop a motion onto the window.")
    } else if view.timeline.by_hand {
        Some("Choose a clip under the views to see its scores over time.")
    } else if panel.plots.list.is_empty() {
        Some("Choose a metric to see it over the time of the clip.")
    } else {
        None
    }
}

fn plots_ui(
    ui: &mut Ui,
    view: &BoardView<'_>,
    panel: &mut BoardPanel,
    timeline: &mut TimelineState,
    strip: &TimeStrip,
    actions: &mut Actions,
) {
    let room = ui.available_rect_before_wrap();
    let foot = if timeline.open { 0.0 } else { plot::FOOT };
    let count = panel.plots.list.len();
    let height = ((room.height() - foot) / count as f32).max(PLOT_HEIGHT);
    // Over the plots the wheel zooms the time, as on the timeline.
    let over_plots = ui
        .ctx()
        .pointer_hover_pos()
        .is_some_and(|at| at.x >= strip.times.left() && at.x < strip.times.right() - 12.0);
    let source = ScrollSource {
        mouse_wheel: !over_plots,
        ..ScrollSource::default()
    };
    let mut clicked = None;
    ScrollArea::vertical()
        .auto_shrink(false)
        .max_height(room.height() - foot)
        .scroll_source(source)
        .show(ui, |ui| {
            ui.spacing_mut().item_spacing.y = 0.0;
            for index in 0..count {
                let (_, rect) = ui.allocate_space(vec2(room.width(), height));
                if !ui.is_rect_visible(rect) {
                    continue;
                }
                let area = plot::PlotArea::of(rect, strip);
                let is_marked =
                    panel.marked.as_deref() == Some(panel.plots.list[index].quantity.id);
                let plot = &panel.plots.list[index];
                let axis = timeline.axis_mut();
                if plot::plot_ui(ui, &area, view, plot, axis, is_marked, actions) {
                    clicked = Some(plot.quantity.id.to_owned());
                }
            }
        });
    if !timeline.open {
        let top = room.bottom() - foot;
        let rect = Rect::from_x_y_ranges(strip.times.x_range(), top..=room.bottom());
        plot::foot_ui(ui, rect, view, timeline.axis_mut());
    }
    ui.advance_cursor_after_rect(room);
    panel.marked = clicked.or(panel.marked.take());
}
