//! The window of the worst poses: a search for a shown method by a metric, and what it found as pictures to click.

use std::sync::Arc;

use egui::{
    Align2, ComboBox, Context, ProgressBar, RichText, ScrollArea, Sense, Ui, WidgetInfo, Window,
    vec2,
};

use super::actions::{Action, Actions, WorstAction};
use super::panels::poses::{Thumbnails, paint_cell, stage_of};
use super::popup::title_ui;
use super::theme;
use super::viewport::painter::ViewportPainter;
use super::widgets;
use crate::report::{WorstPose, printed, printed_unit, searched_quantities};
use crate::session::{Command, Session, ViewId};

/// Side of a picture, points.
const SIDE: f32 = 112.0;
/// Height of the two lines below it, points.
const WORDS: f32 = 34.0;
const COLUMNS: usize = 3;
/// Ids of the pictures' canvases start here, above those of the pose library.
const FIRST_CANVAS: u32 = 3 << 30;
/// The quantity that is searched first.
const FIRST_QUANTITY: &str = "new_pairs";

/// State of the window.
#[derive(Default)]
pub struct WorstWindow {
    /// Whether it is open.
    pub open: bool,
    /// The view whose method is searched; the active one if there is none.
    view: Option<ViewId>,
    /// Id of the quantity by which poses are compared.
    quantity: Option<&'static str>,
    /// The found pose that was opened last.
    opened: Option<Arc<WorstPose>>,
}

impl WorstWindow {
    /// Draws the window while it is open.
    pub fn window(
        &mut self,
        ctx: &Context,
        session: &Session,
        painter: &mut dyn ViewportPainter,
        actions: &mut Actions,
    ) {
        if !self.open || session.subject().is_none() {
            return;
        }
        let mut open = true;
        let content = ctx.content_rect();
        Window::new("Worst poses")
            .title_bar(false)
            .resizable(false)
            .pivot(Align2::CENTER_TOP)
            .default_pos(content.center_top() + vec2(0.0, 90.0))
            .show(ctx, |ui| {
                ui.set_width(COLUMNS as f32 * (SIDE + 8.0));
                title_ui(ui, "Worst poses", &mut open);
                self.choices(ui, session, actions);
                self.results(ui, session, painter, actions);
            });
        self.open = open;
    }

    /// The method and the metric, and the button.
    fn choices(&mut self, ui: &mut Ui, session: &Session, actions: &mut Actions) {
        let views = session.views();
        let view = self.view.and_then(|id| views.get(id));
        let view = view.unwrap_or(views.active());
        widgets::row(ui, "Method", "The method of a view", |ui, label| {
            let shown = view.method.label();
            let response = ComboBox::from_id_salt("worst method")
                .selected_text(shown)
                .width(ui.available_width())
                .show_ui(ui, |ui| {
                    for other in views.list() {
                        let is_shown = other.id == view.id;
                        if ui
                            .selectable_label(is_shown, other.method.label())
                            .clicked()
                        {
                            self.view = Some(other.id);
                        }
                    }
                });
            response.response.labelled_by(label);
        });
        let wanted = self.quantity.unwrap_or(FIRST_QUANTITY);
        let quantity = searched_quantities().find(|quantity| quantity.id == wanted);
        let text = quantity.map_or(wanted, |quantity| quantity.label);
        widgets::row(
            ui,
            "Worst by",
            "What is worst in the poses that are searched",
            |ui, label| {
                let response = ComboBox::from_id_salt("worst quantity")
                    .selected_text(text)
                    .width(ui.available_width())
                    .show_ui(ui, |ui| {
                        for other in searched_quantities() {
                            let entry = ui.selectable_label(other.id == wanted, other.label);
                            if entry.on_hover_text(other.doc).clicked() {
                                self.quantity = Some(other.id);
                            }
                        }
                    });
                response.response.labelled_by(label);
            },
        );
        ui.add_space(4.0);
        ui.horizontal(|ui| {
            if let Some(job) = session.worst().progress() {
                let button = ui.button("Stop");
                let button = button.on_hover_text("Ends the search; what it has found stays");
                if button.clicked() {
                    actions.push(Action::Worst(WorstAction::Stop));
                }
                let bar = ProgressBar::new(job.fraction).desired_width(ui.available_width());
                ui.add(bar).on_hover_text(job.title);
                return;
            }
            let button = ui.button("Search").on_hover_text(
                "Tries poses of the whole range of motion, then others near the worst of them",
            );
            if button.clicked() {
                self.opened = None;
                let (view, quantity) = (view.id, wanted.to_owned());
                actions.push(Action::Worst(WorstAction::Search { view, quantity }));
            }
        });
    }

    fn results(
        &mut self,
        ui: &mut Ui,
        session: &Session,
        painter: &mut dyn ViewportPainter,
        actions: &mut Actions,
    ) {
        let weak = theme::colors(ui.ctx()).text_weak;
        let search = session.worst();
        if let Some(failure) = search.failure() {
            ui.label(failure);
            return;
        }
        let found = search.found();
        let Some((method, _)) = search.searched().filter(|_| !found.is_empty()) else {
            let text = if search.has_ended() {
                "No pose was found in which this is not ideal."
            } else {
                "The poses in which the method is worst are shown here; a click opens one."
            };
            ui.label(RichText::new(text).color(weak));
            return;
        };
        let text = format!("{}, the worst first; a click opens a pose.", method.label());
        ui.label(RichText::new(text).color(weak));
        let mut thumbnails = Thumbnails {
            painter,
            world_from_stage: stage_of(session),
            side: SIDE,
            pixels_per_point: ui.ctx().pixels_per_point(),
        };
        let most = ui.ctx().content_rect().height() * 0.6;
        ScrollArea::vertical().max_height(most).show(ui, |ui| {
            for (row, poses) in found.chunks(COLUMNS).enumerate() {
                ui.horizontal(|ui| {
                    ui.spacing_mut().item_spacing.x = 8.0;
                    for (column, pose) in poses.iter().enumerate() {
                        let index = row * COLUMNS + column;
                        if self.cell(ui, index, pose, &mut thumbnails) {
                            self.opened = Some(pose.clone());
                            actions.once(Command::SetPose(Arc::new(pose.pose.clone())));
                        }
                    }
                });
            }
        });
    }

    /// Draws one of the found poses. Returns whether it was clicked.
    fn cell(
        &self,
        ui: &mut Ui,
        index: usize,
        worst: &Arc<WorstPose>,
        thumbnails: &mut Thumbnails<'_>,
    ) -> bool {
        let (rect, response) = ui.allocate_exact_size(vec2(SIDE, SIDE + WORDS), Sense::click());
        let opened = self.opened.as_ref();
        let is_opened = opened.is_some_and(|opened| Arc::ptr_eq(opened, worst));
        let unit = printed_unit(worst.quantity);
        let value = format!("{} {unit}", printed(worst.value, worst.quantity));
        let named = |(name, part): &(String, f64)| format!("{name} {:.0} %", part * 100.0);
        let movements: Vec<String> = worst.movements.iter().map(named).collect();
        let label = format!("Pose {}: {}", index + 1, value.trim_end());
        response.widget_info(|| WidgetInfo::selected(egui::Role::Button, true, is_opened, &label));
        if ui.is_rect_visible(rect) {
            let square = egui::Rect::from_min_size(rect.min, vec2(SIDE, SIDE));
            let picture = thumbnails.draw(FIRST_CANVAS + index as u32, &worst.state);
            paint_cell(ui, square, &response, is_opened, picture);
            let words = egui::Rect::from_min_max(square.left_bottom(), rect.max);
            let first = movements.first().map_or("", String::as_str);
            let [above, below] = words.split_top_bottom_at_fraction(0.5).into();
            for (line, text) in [(above, value.trim_end()), (below, first)] {
                let text = egui::Label::new(RichText::new(text).small()).truncate();
                ui.put(line, text.halign(egui::Align::Center).selectable(false));
            }
        }
        let hint = movements.join("\n");
        response.on_hover_text(hint).clicked()
    }
}
