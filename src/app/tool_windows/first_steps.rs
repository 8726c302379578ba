//! The introduction: three exercises on the mannequin, each ticked when done. After it is dismissed
//! it appears only on request.

use egui::{Align2, Area, Context, Frame, Id, Margin, Order, Rect, RichText, Stroke, Ui, vec2};

use crate::app::actions::ToolWindowAction;
use crate::app::actions::{Action, Actions};
use crate::app::clearing::clear_place;
use crate::app::icons::{self, Icon};
use crate::app::settings::FirstSteps;
use crate::app::theme;

/// The exercises, each with its effect.
const STEPS: [(&str, &str); 3] = [
    ("Drag a hand", "The body follows, and the flesh with it"),
    ("Press Space", "A clip plays; Space again stops it"),
    (
        "Drop a file of your own",
        "A mesh, a skeleton, a motion, or several at once",
    ),
];

/// Width, points.
const WIDTH: f32 = 288.0;

/// Whether the card leaves enough of the views visible.
pub fn fits(viewport: Rect) -> bool {
    viewport.width() > WIDTH + 48.0 && viewport.height() > 260.0
}

/// Draws the card in the lower left corner of the views, beside existing plates. Returns its
/// rectangle.
pub fn first_steps_ui(
    ctx: &Context,
    viewport: Rect,
    plates: &[Rect],
    steps: FirstSteps,
    actions: &mut Actions,
) -> Rect {
    let room = viewport.shrink(14.0);
    let id = Id::unique("first steps");
    // The size of the last frame is used; the card grows upwards.
    let size = ctx
        .memory(|memory| memory.area_rect(id))
        .map_or(vec2(WIDTH, 0.0), |area| area.size());
    let place = clear_place(
        room,
        Align2::LEFT_BOTTOM.align_size_within_rect(size, room),
        plates,
    );
    let area = Area::new(id)
        .order(Order::Middle)
        .fixed_pos(place.left_bottom())
        .pivot(Align2::LEFT_BOTTOM);
    let shown = area.constrain_to(viewport).show(ctx, |ui| {
        let colors = theme::colors(ui.ctx());
        let frame = Frame::new()
            .fill(colors.panel)
            .stroke(Stroke::new(1.0, colors.line))
            .corner_radius(8.0);
        frame
            .inner_margin(Margin::symmetric(14, 12))
            .show(ui, |ui| {
                ui.set_width(WIDTH.min(viewport.width() - 60.0));
                let all = steps.done == [true; 3];
                ui.horizontal(|ui| {
                    ui.label(
                        theme::strong(
                            ui,
                            if all {
                                "That is all you need"
                            } else {
                                "First steps"
                            },
                        )
                        .color(colors.text_strong),
                    );
                    ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                        if icons::plain_button(ui, Icon::Close, "Close first steps").clicked() {
                            actions.push(Action::ToolWindows(ToolWindowAction::DismissFirstSteps));
                        }
                    });
                });
                ui.add_space(2.0);
                for (number, ((title, sentence), done)) in STEPS.iter().zip(steps.done).enumerate()
                {
                    step_ui(ui, number + 1, title, sentence, done);
                }
                if all {
                    ui.label(
                        RichText::new(
                            "Everything else is a key away: Ctrl+K finds it, ? lists it.",
                        )
                        .color(colors.text_weak),
                    );
                }
            });
    });
    if shown.response.rect.size() != size {
        ctx.request_discard("the steps have another size");
    }
    shown.response.rect
}

fn step_ui(ui: &mut Ui, number: usize, title: &str, sentence: &str, done: bool) {
    let colors = theme::colors(ui.ctx());
    ui.horizontal_top(|ui| {
        let (rect, response) = ui.allocate_exact_size(vec2(20.0, 20.0), egui::Sense::hover());
        let said = if done {
            format!("{title}: done")
        } else {
            title.to_owned()
        };
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Label, true, &said));
        let center = rect.center() + vec2(0.0, 1.0);
        if done {
            ui.painter().circle_filled(center, 9.0, colors.accent);
            icons::paint(
                ui.painter(),
                Rect::from_center_size(center, vec2(10.0, 10.0)),
                Icon::Check,
                colors.panel,
            );
        } else {
            ui.painter()
                .circle_stroke(center, 9.0, Stroke::new(1.2, colors.accent));
            let font = egui::TextStyle::Small.resolve(ui.style());
            ui.painter().text(
                center,
                Align2::CENTER_CENTER,
                number.to_string(),
                font,
                colors.accent,
            );
        }
        ui.vertical(|ui| {
            ui.spacing_mut().item_spacing.y = 1.0;
            ui.label(RichText::new(title).color(if done {
                colors.text_weak
            } else {
                colors.text_strong
            }));
            ui.label(RichText::new(sentence).small().color(colors.text_weak));
        });
    });
}
