//! The pose library: thumbnails to click.

use std::sync::Arc;

use egui::{
    Color32, CornerRadius, Rect, Response, RichText, ScrollArea, Sense, Slider, Stroke, StrokeKind,
    TextureId, Ui, WidgetInfo, pos2, vec2,
};

use crate::app::actions::{Action, Actions, TimelineAction, edit_of};
use crate::app::icons::{self, Icon};
use crate::app::theme;
use crate::app::viewport::painter::{Picture, ViewportPainter, texture_of};
use crate::math::Turn;
use crate::mesh::Bounds;
use crate::render::{Camera, Look, NamedView};
use crate::rig::{NamedPose, Pose};
use crate::session::{Command, Gesture, KeysCommand, Session, Snapshot};

/// Input of the panel.
#[derive(Debug, Clone, Copy)]
pub struct PosesView<'a> {
    /// The poses.
    pub library: &'a [Arc<NamedPose>],
    /// Their thumbnails, where ready.
    pub pictures: &'a [Option<TextureId>],
    /// The pose shown.
    pub shown: &'a Pose,
}

/// The panel's state.
#[derive(Debug, Default)]
pub struct PosesState {
    /// Index of the pose applied last, and the pose before it.
    chosen: Option<(usize, Arc<Pose>)>,
    /// Blend factor from the pose before to the pose applied last.
    blend: f64,
    /// Horizontal start of a blending drag.
    dragging: Option<f32>,
    /// Index and new name of a pose being renamed.
    renaming: Option<(usize, String)>,
}

/// Side of a thumbnail, points.
const SIDE: f32 = 74.0;
/// Height of the name below it, points.
const NAME: f32 = 17.0;
/// Drag distance from 0 to 100 % of a pose, points.
const BLEND_POINTS: f32 = 120.0;
/// View ids of thumbnails start here, above those of ordinary views.
const FIRST_VIEW: u32 = 1 << 31;

/// Draws the thumbnails whose poses have been computed.
pub fn pose_pictures(
    session: &Session,
    painter: &mut dyn ViewportPainter,
    pixels_per_point: f32,
) -> Vec<Option<TextureId>> {
    let library = session.document().pose_library.iter();
    let mut thumbnails = Thumbnails {
        painter,
        world_from_stage: stage_of(session),
        side: SIDE,
        pixels_per_point,
    };
    (FIRST_VIEW..)
        .zip(library)
        .map(|(canvas, pose)| thumbnails.draw(canvas, session.pictures().of(pose)?))
        .collect()
}

/// The stage on which cameras show the open character.
pub(in crate::app) fn stage_of(session: &Session) -> Turn {
    session
        .subject()
        .map_or_else(Turn::identity, |subject| subject.world_from_stage())
}

/// Draws square pictures of whole characters.
pub(in crate::app) struct Thumbnails<'a> {
    pub(in crate::app) painter: &'a mut dyn ViewportPainter,
    pub(in crate::app) world_from_stage: Turn,
    /// Side of a picture, points.
    pub(in crate::app) side: f32,
    pub(in crate::app) pixels_per_point: f32,
}

impl Thumbnails<'_> {
    /// Draws onto a canvas of its own; `None` without a graphics device.
    pub(in crate::app) fn draw(
        &mut self,
        canvas: u32,
        snapshot: &Arc<Snapshot>,
    ) -> Option<TextureId> {
        let look = Look {
            ground: false,
            grid: false,
            ..Look::default()
        };
        let side = (self.side * self.pixels_per_point).round();
        let bounds = Bounds::of(snapshot.positions());
        let mut camera = Camera {
            world_from_stage: self.world_from_stage,
            ..Camera::default()
        };
        camera.look_from(NamedView::ThreeQuarter);
        camera.frame(&bounds, 1.0);
        let picture = Picture {
            canvas,
            size: [side.clamp(1.0, 512.0) as u32; 2],
            scale: self.pixels_per_point,
            camera: &camera,
            snapshot: Some(snapshot),
            crowd: None,
            compare: None,
            selected: &[],
            hovered: None,
            look: &look,
            marks: None,
            ghosts: None,
            fields: None,
            paint: None,
            ground_height: bounds.min.y,
            character_size: bounds.size(),
        };
        Some(texture_of(&self.painter.paint(&picture)?))
    }
}

/// Draws the library.
pub fn poses_ui(ui: &mut Ui, view: &PosesView<'_>, state: &mut PosesState, actions: &mut Actions) {
    if state.chosen.as_ref().is_some_and(|(pose, from)| {
        *pose >= view.library.len() || from.locals.len() != view.shown.locals.len()
    }) {
        state.chosen = None;
    }
    ui.horizontal(|ui| {
        if icons::text_button(ui, Icon::Plus, "Keep pose")
            .on_hover_text("Put the pose shown into the library")
            .clicked()
        {
            actions.push(Action::Timeline(TimelineAction::KeepPose));
        }
        let more = icons::button(ui, Icon::More, "Load and save poses")
            .on_hover_text("Load and save poses");
        egui::Popup::menu(&more).show(|ui| {
            if ui
                .button("Load poses…")
                .on_hover_text("Pose files, each under its name")
                .clicked()
            {
                actions.push(Action::Timeline(TimelineAction::LoadPosesDialog));
            }
            if ui
                .add_enabled(!view.library.is_empty(), egui::Button::new("Save poses…"))
                .on_hover_text("One file a pose, in a folder")
                .clicked()
            {
                actions.push(Action::Timeline(TimelineAction::SavePosesDialog));
            }
        });
    });
    if view.library.is_empty() {
        ui.label(
            RichText::new("Poses that you keep are shown here.")
                .color(theme::colors(ui.ctx()).text_weak),
        );
        return;
    }
    let columns = ((ui.available_width() + 6.0) / (SIDE + 6.0))
        .floor()
        .max(1.0) as usize;
    ScrollArea::vertical()
        .id_salt("poses")
        .max_height(3.0 * (SIDE + NAME + 8.0))
        .show(ui, |ui| {
            for row in 0..view.library.len().div_ceil(columns) {
                ui.horizontal(|ui| {
                    ui.spacing_mut().item_spacing.x = 6.0;
                    for pose in row * columns..((row + 1) * columns).min(view.library.len()) {
                        cell_ui(ui, pose, view, state, actions);
                    }
                });
            }
        });
    blend_ui(ui, view, state, actions);
}

/// A slider for the blend factor of the pose applied last.
fn blend_ui(ui: &mut Ui, view: &PosesView<'_>, state: &mut PosesState, actions: &mut Actions) {
    let Some((pose, from)) = &state.chosen else {
        return;
    };
    let name = &view.library[*pose].name;
    crate::app::widgets::row(
        ui,
        "Blend",
        &format!("How far to go from the pose before to \"{name}\""),
        |ui, label| {
            let mut percent = state.blend * 100.0;
            let slider = ui
                .add(
                    Slider::new(&mut percent, 0.0..=100.0)
                        .fixed_decimals(0)
                        .suffix(" %"),
                )
                .labelled_by(label);
            slider.widget_info(|| {
                let mut info = WidgetInfo::slider(true, percent, "Blend");
                info.label = Some("Blend".to_owned());
                info
            });
            if let Some(gesture) = edit_of(&slider) {
                state.blend = percent / 100.0;
                apply(*pose, state.blend, Some(from.clone()), gesture, actions);
            }
        },
    );
}

fn apply(
    pose: usize,
    blend: f64,
    from: Option<Arc<Pose>>,
    gesture: Gesture,
    actions: &mut Actions,
) {
    actions.send(
        Command::Keys(KeysCommand::ApplyPose { pose, blend, from }),
        gesture,
    );
}

fn cell_ui(
    ui: &mut Ui,
    pose: usize,
    view: &PosesView<'_>,
    state: &mut PosesState,
    actions: &mut Actions,
) {
    let named = &view.library[pose];
    let (rect, response) = ui.allocate_exact_size(vec2(SIDE, SIDE + NAME), Sense::click_and_drag());
    let chosen = state
        .chosen
        .as_ref()
        .is_some_and(|(known, _)| *known == pose);
    response.widget_info(|| WidgetInfo::selected(egui::Role::Button, true, chosen, &named.name));
    if ui.is_rect_visible(rect) {
        paint_cell(
            ui,
            Rect::from_min_size(rect.min, vec2(SIDE, SIDE)),
            &response,
            chosen,
            view.pictures.get(pose).copied().flatten(),
        );
    }
    if state
        .renaming
        .as_ref()
        .is_some_and(|(known, _)| *known == pose)
    {
        rename_ui(ui, rect, state, actions);
    } else {
        let colors = theme::colors(ui.ctx());
        let color = if chosen { colors.accent } else { colors.text };
        let text = egui::Label::new(RichText::new(&named.name).small().color(color))
            .truncate()
            .halign(egui::Align::Center);
        ui.put(
            Rect::from_min_max(pos2(rect.left(), rect.bottom() - NAME), rect.max),
            text,
        );
    }
    pointer(ui, &response, pose, view, state, actions);
    response.context_menu(|ui| {
        if ui.button("Rename").clicked() {
            state.renaming = Some((pose, named.name.clone()));
        }
        if ui.button("Delete pose").clicked() {
            state.chosen = None;
            actions.once(Command::Keys(KeysCommand::DeletePose { pose }));
        }
    });
    if state.dragging.is_none() {
        response.on_hover_text("Click to take the pose, drag sideways with Alt to go a part of the way, right click for more");
    }
}

/// A click applies the pose; a horizontal drag with Alt blends towards it.
fn pointer(
    ui: &Ui,
    response: &Response,
    pose: usize,
    view: &PosesView<'_>,
    state: &mut PosesState,
    actions: &mut Actions,
) {
    if response.clicked() {
        state.chosen = Some((pose, Arc::new(view.shown.clone())));
        state.blend = 1.0;
        apply(pose, 1.0, None, Gesture::Once, actions);
    }
    let alt = ui.input(|input| input.modifiers.alt);
    if response.drag_started() && alt {
        state.chosen = Some((pose, Arc::new(view.shown.clone())));
        state.dragging = ui
            .input(|input| input.pointer.press_origin())
            .map(|at| at.x);
    }
    let (Some(began), Some((chosen, from))) = (state.dragging, &state.chosen) else {
        return;
    };
    if *chosen != pose {
        return;
    }
    let gesture = if response.drag_stopped() {
        Gesture::Released
    } else {
        Gesture::Dragging
    };
    if response.dragged() || response.drag_stopped() {
        let x = ui.ctx().pointer_latest_pos().map_or(began, |at| at.x);
        let blend = f64::from(((x - began) / BLEND_POINTS).clamp(0.0, 1.0));
        if blend != state.blend || gesture == Gesture::Released {
            apply(pose, blend, Some(from.clone()), gesture, actions);
        }
        state.blend = blend;
    }
    if !response.dragged() {
        state.dragging = None;
    }
}

/// Draws a picture that can be clicked, or a figure in its place.
pub(in crate::app) fn paint_cell(
    ui: &Ui,
    square: Rect,
    response: &Response,
    chosen: bool,
    picture: Option<TextureId>,
) {
    let colors = theme::colors(ui.ctx());
    let radius = CornerRadius::same(4);
    ui.painter().rect_filled(square, radius, colors.sunken);
    match picture {
        Some(texture) => {
            let whole = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
            ui.painter()
                .image(texture, square.shrink(1.0), whole, Color32::WHITE);
        }
        None => icons::paint(
            ui.painter(),
            square.shrink(24.0),
            Icon::Figure,
            colors.text_weak,
        ),
    }
    let line = if chosen {
        Stroke::new(2.0, colors.accent)
    } else if response.hovered() || response.has_focus() {
        Stroke::new(1.0, colors.line_hovered)
    } else {
        Stroke::new(1.0, colors.line)
    };
    ui.painter()
        .rect_stroke(square, radius, line, StrokeKind::Inside);
}

fn rename_ui(ui: &mut Ui, rect: Rect, state: &mut PosesState, actions: &mut Actions) {
    let Some((pose, name)) = &mut state.renaming else {
        return;
    };
    let place = Rect::from_min_max(pos2(rect.left(), rect.bottom() - NAME - 3.0), rect.max);
    let field = ui.put(
        place,
        egui::TextEdit::singleline(name).font(egui::TextStyle::Small),
    );
    field.widget_info(|| WidgetInfo::labeled(egui::Role::TextInput, true, "Name of the pose"));
    let (accepted, given_up) = ui.input(|input| {
        (
            input.key_pressed(egui::Key::Enter),
            input.key_pressed(egui::Key::Escape),
        )
    });
    if field.lost_focus() || accepted || given_up {
        if !given_up {
            actions.once(Command::Keys(KeysCommand::RenamePose {
                pose: *pose,
                name: name.clone(),
            }));
        }
        state.renaming = None;
    } else {
        field.request_focus();
    }
}
