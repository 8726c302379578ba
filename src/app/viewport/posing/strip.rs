//! The tool strip at the left edge of a view.

use egui::{Area, Id, Order, Rect, RichText, Ui, vec2};

use crate::app::actions::PosingRequest;
use crate::app::actions::tools::GizmoAxes;
use crate::app::actions::tools::Tool;
use crate::app::actions::tools::Toolbox;
use crate::app::actions::{Action, Actions};
use crate::app::icons::{self, Icon};
use crate::app::theme;

/// Distance from the view's edges, points.
const MARGIN: f32 = 8.0;

/// Draws the strip over a view. Returns its rectangle, if there is room for it.
pub fn strip_ui(
    ui: &Ui,
    body: Rect,
    id: Id,
    tools: &Toolbox,
    actions: &mut Actions,
) -> Option<Rect> {
    if body.width() < 160.0 || body.height() < 170.0 {
        return None;
    }
    let colors = theme::colors(ui.ctx());
    let area = Area::new(id)
        .order(Order::Middle)
        .fixed_pos(body.min + vec2(MARGIN, MARGIN))
        .constrain_to(body);
    let shown = area.show(ui.ctx(), |ui| {
        egui::Frame::new()
            .fill(colors.panel)
            .corner_radius(5.0)
            .inner_margin(3.0)
            .show(ui, |ui| {
                ui.spacing_mut().item_spacing = vec2(0.0, 2.0);
                ui.vertical(|ui| {
                    for tool in Tool::ALL {
                        let icon = match tool {
                            Tool::Drag => Icon::Pull,
                            Tool::Rotate => Icon::Rotate,
                            Tool::Move => Icon::Move,
                            Tool::Explain => Icon::Info,
                            Tool::Paint => Icon::Brush,
                        };
                        let response = icons::toggle(ui, icon, tool.label(), tools.tool == tool)
                            .on_hover_text(tool.sentence());
                        if response.clicked() {
                            actions.push(Action::Posing(PosingRequest::Tool(tool)));
                        }
                    }
                    if matches!(tools.tool, Tool::Rotate | Tool::Move) {
                        axes_ui(ui, tools, actions);
                    }
                });
            });
    });
    Some(shown.response.rect)
}

fn axes_ui(ui: &mut Ui, tools: &Toolbox, actions: &mut Actions) {
    let letter = match tools.axes {
        GizmoAxes::Own => "O",
        GizmoAxes::World => "W",
        GizmoAxes::View => "V",
    };
    let button = egui::Button::new(RichText::new(letter).small()).min_size(vec2(30.0, 22.0));
    let response = ui
        .add(button)
        .on_hover_text(format!("{}: click for the next (G)", tools.axes.label()));
    response
        .widget_info(|| egui::WidgetInfo::labeled(egui::Role::Button, true, tools.axes.label()));
    if response.clicked() {
        actions.push(Action::Posing(PosingRequest::NextAxes));
    }
}
