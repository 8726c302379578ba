//! How the joint's part meets the part that it hangs at: the operator, its shape, and a plot of it at the present angle.

use egui::{
    Button, Color32, ComboBox, Pos2, Rect, RichText, Role, Sense, Shape, Slider, SliderClamping,
    Stroke, Ui, WidgetInfo, pos2, vec2,
};

use super::{BoneView, factor};
use crate::app::actions::{Actions, edit_of};
use crate::app::theme::{self, Colors};
use crate::app::widgets::{row, size_slider};
use crate::character::{BoneSettings, MEETING_FACTORS, Meeting};
use crate::math::iso_line;
use crate::methods::JointMeeting;
use crate::session::{Command, Gesture};

/// Side of the plot of the operator, and height of that of its depth, points.
const SIDE: f32 = 168.0;
const STRIP: f32 = 44.0;
/// Iso-values of the faint lines.
const FAINT: [f32; 8] = [0.1, 0.2, 0.3, 0.4, 0.6, 0.7, 0.8, 0.9];
/// The contact line, as in the views.
const CONTACT: Color32 = Color32::from_rgb(255, 40, 30);
/// Angles of the strip, degrees, and samples of its curve.
const ANGLES: f32 = 180.0;
const SAMPLES: usize = 91;
/// Least difference of the angles of an opening, degrees.
const LEAST: f64 = 1.0;

/// Draws the choice of the operator and its shape.
pub(super) fn meeting_ui(ui: &mut Ui, view: &BoneView<'_>, actions: &mut Actions) {
    let mut edited = view.settings;
    let hover = "The fold at this joint. Where several parts hang at one, as fingers at a palm, the choice of most of them holds.";
    row(ui, "Meets by", hover, |ui, label| {
        let list = ComboBox::from_id_salt("meeting").selected_text(words(edited.meeting));
        let shown = list.show_ui(ui, |ui| {
            for (meeting, _) in Meeting::ALL {
                ui.selectable_value(&mut edited.meeting, meeting, words(meeting));
            }
        });
        shown.response.labelled_by(label);
    });
    if edited != view.settings {
        send(view, edited, Gesture::Once, actions);
    }
    let Some(meeting) = &view.meeting else {
        return;
    };
    if meeting.asked_operator() != Meeting::Union {
        shape_ui(ui, view, meeting, actions);
    }
    if !meeting.holds() {
        let text = format!(
            "More parts that hang here meet by: {}. That is what holds.",
            words(meeting.operator()).to_lowercase()
        );
        let weak = theme::colors(ui.ctx()).text_weak;
        ui.label(RichText::new(text).small().color(weak));
    }
    plot_ui(ui, meeting);
}

fn words(meeting: Meeting) -> &'static str {
    match meeting {
        Meeting::Usual => "As usual",
        Meeting::Contact => "Contact",
        Meeting::Bulge => "Contact with bulges",
        Meeting::Union => "Crease",
        Meeting::Blend => "Filled crease",
    }
}

fn send(view: &BoneView<'_>, settings: BoneSettings, gesture: Gesture, actions: &mut Actions) {
    let joint = view.joint;
    actions.send(Command::SetBone { joint, settings }, gesture);
}

/// Sliders of the shape.
fn shape_ui(ui: &mut Ui, view: &BoneView<'_>, meeting: &JointMeeting, actions: &mut Actions) {
    let mut edited = view.settings;
    // The shape that the joint asks for, also where that of others holds.
    let usual = meeting.asked_opening().map(f64::from);
    let opening = edited.opening.unwrap_or(usual).map(f64::to_degrees);
    let mut responses = Vec::new();
    let rows = [
        (
            "Acts from",
            "Angle between the surfaces of both parts from which on they meet in this way; below it there is a crease",
        ),
        ("Fully at", "Angle at which they do so fully"),
    ];
    for (k, (name, hover)) in rows.into_iter().enumerate() {
        let mut angle = opening[k];
        let limits = [
            [0.0, opening[1] - LEAST],
            [opening[0] + LEAST, f64::from(ANGLES)],
        ];
        let response = row(ui, name, hover, |ui, label| {
            size_slider(ui);
            let slider = Slider::new(&mut angle, 0.0..=f64::from(ANGLES))
                .clamping(SliderClamping::Edits)
                .suffix("°")
                .fixed_decimals(0);
            ui.add(slider).labelled_by(label)
        });
        if response.changed() {
            let [least, most] = limits[k];
            let mut changed = opening;
            changed[k] = angle.clamp(least, most.max(least));
            edited.opening = Some(changed.map(f64::to_radians));
        }
        responses.push(response);
    }
    let bulges = meeting.asked_operator() == Meeting::Bulge;
    for declared in MEETING_FACTORS
        .iter()
        .filter(|declared| bulges || declared.spec.key != "bulge")
    {
        responses.push(factor(ui, declared, &mut edited));
    }
    for response in &responses {
        if let Some(gesture) = edit_of(response) {
            send(view, edited, gesture, actions);
        }
    }
    let plain = BoneSettings::default();
    let reset = BoneSettings {
        opening: plain.opening,
        depth: plain.depth,
        bulge: plain.bulge,
        ..view.settings
    };
    if ui
        .add_enabled(view.settings != reset, Button::new("Reset shape"))
        .on_hover_text("The usual angles and all of the depth")
        .clicked()
    {
        send(view, reset, Gesture::Once, actions);
    }
}

/// The operator at the present bend, and its depth by the angle.
fn plot_ui(ui: &mut Ui, meeting: &JointMeeting) {
    ui.add_space(4.0);
    let (bend, depth) = (meeting.bend().to_degrees(), meeting.depth());
    let side = SIDE.min(ui.available_width());
    let (rect, response) = ui.allocate_exact_size(vec2(side, side), Sense::hover());
    let told = format!("Operator at {bend:.0}°: depth {depth:.2}");
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, &told));
    response.on_hover_text("The two fields, 0 outside to 1 inside, to the right and upwards. Bold: where the surface is; red: where both parts press each other");
    let colors = theme::colors(ui.ctx());
    let painter = ui.painter().with_clip_rect(rect);
    painter.rect_filled(rect, 2.0, colors.sunken);
    draw_operator(&painter, rect, meeting, depth, colors);
    let weak = colors.text_weak;
    let (rect, response) = ui.allocate_exact_size(vec2(side, STRIP), Sense::hover());
    response.widget_info(|| WidgetInfo::labeled(Role::Image, true, "Depth by the angle"));
    response.on_hover_text(
        "How deep the parts meet, by the angle between their surfaces from 0 to 180 degrees. Line: the present bend",
    );
    draw_depth(&ui.painter().with_clip_rect(rect), rect, meeting, colors);
    ui.label(RichText::new(told).small().color(weak));
}

fn draw_operator(
    painter: &egui::Painter,
    rect: Rect,
    meeting: &JointMeeting,
    depth: f32,
    colors: &Colors,
) {
    let values = meeting.slice(depth);
    let cells = (JointMeeting::NODES - 1) as f32;
    // Columns of the values are f₂, upwards.
    let place = |[f2, f1]: [f32; 2]| -> Pos2 {
        pos2(
            rect.left() + f1 / cells * rect.width(),
            rect.bottom() - f2 / cells * rect.height(),
        )
    };
    let draw = |level: f32, stroke: Stroke| {
        let segments = iso_line(&values, JointMeeting::NODES, level).into_iter();
        painter.extend(segments.map(|ends| Shape::line_segment(ends.map(place), stroke)));
    };
    for level in FAINT {
        draw(
            level,
            Stroke::new(1.0, colors.text_weak.gamma_multiply(0.55)),
        );
    }
    draw(0.5, Stroke::new(2.5, colors.text_strong));
    if let Some(ends) = meeting.contact_line(depth) {
        let ends = ends.map(|f| place([f * cells; 2]));
        painter.line_segment(ends, Stroke::new(3.0, CONTACT));
    }
}

fn draw_depth(painter: &egui::Painter, rect: Rect, meeting: &JointMeeting, colors: &Colors) {
    painter.rect_filled(rect, 2.0, colors.sunken);
    let inner = rect.shrink(3.0);
    let place = |degrees: f32, depth: f32| {
        pos2(
            inner.left() + degrees / ANGLES * inner.width(),
            inner.bottom() - depth * inner.height(),
        )
    };
    let bend = meeting.bend().to_degrees();
    let now = [place(bend, 0.0), place(bend, 1.0)];
    painter.line_segment(now, Stroke::new(1.0, colors.accent));
    let curve = (0..SAMPLES).map(|k| {
        let degrees = ANGLES * k as f32 / (SAMPLES - 1) as f32;
        place(degrees, meeting.depth_at(degrees.to_radians()))
    });
    painter.line(curve.collect(), Stroke::new(2.0, colors.text_strong));
    painter.circle_filled(place(bend, meeting.depth()), 3.5, colors.accent);
}
