//! The panels around the views.

use egui::{Frame, Margin, Panel, ScrollArea, Ui};

use super::Workbench;
use crate::app::actions::tools::Tool;
use crate::app::board::{self, BoardView, board_ui};
use crate::app::panels::device::{DeviceView, device_ui};
use crate::app::panels::dynamics::{DynamicsView, dynamics_ui};
use crate::app::panels::history::history_ui;
use crate::app::panels::index::{MORPHS, PAINT};
use crate::app::panels::method::{MethodView, method_ui};
use crate::app::panels::morphs::{MorphsView, morphs_ui};
use crate::app::panels::overlays::{LookView, look_ui};
use crate::app::panels::paint::paint_ui;
use crate::app::panels::poses::{PosesView, pose_pictures, poses_ui};
use crate::app::panels::timings::timings_ui;
use crate::app::panels::top_bar::{TopBarView, top_bar_ui};
use crate::app::sections::{
    character_section, checkup_section, joints_section, now, paint_view, resolution_section,
    unavailable_methods,
};
use crate::app::shortcuts::Bindings;
use crate::app::status::StatusView;
use crate::app::timeline::{self, TimelineView, timeline_ui};
use crate::app::viewport::Viewport;
use crate::app::viewport::edit::{self, EditView};
use crate::app::viewport::painter::ViewportPainter;
use crate::app::widgets::section;
use crate::app::{status, theme};
use crate::methods::Capability;

/// In windows narrower than this, in points, there is one panel beside the views instead of two.
const NARROW: f32 = 900.0;

fn is_narrow(ui: &Ui) -> bool {
    ui.ctx().content_rect().width() < NARROW
}

/// The frame of a side panel.
fn panel_frame(ui: &Ui) -> Frame {
    Frame::new()
        .fill(theme::colors(ui.ctx()).panel)
        .inner_margin(Margin {
            left: 10,
            right: 4,
            top: 8,
            bottom: 4,
        })
}

impl Workbench {
    pub(super) fn top_bar(&mut self, ui: &mut Ui) {
        let view = TopBarView {
            builtins: &crate::io::builtin::NAMES,
            recent: &self.tool_windows.settings().recent,
            now: now(&self.session, self.shown_parts()),
        };
        let frame = Frame::new()
            .fill(theme::colors(ui.ctx()).bar)
            .inner_margin(Margin::symmetric(8, 5));
        Panel::top("menus")
            .frame(frame)
            .show(ui, |ui| top_bar_ui(ui, &view, &mut self.actions));
    }

    pub(super) fn status_bar(&mut self, ui: &mut Ui) {
        let skeleton = self
            .session
            .subject()
            .map(|subject| &subject.character.skeleton);
        let pointer = ui.ctx().pointer_hover_pos();
        let under = self
            .layout
            .rects()
            .into_iter()
            .find(|(_, rect)| pointer.is_some_and(|at| rect.contains(at)))
            .map(|(id, _)| id);
        let viewport = self
            .layout
            .pane(under.unwrap_or(self.active()))
            .map(|pane| &pane.viewport);
        let bindings = Bindings::get(ui.ctx());
        let hint = match (skeleton, self.session.jobs().first(), viewport) {
            (None, Some(job), _) => job.title.clone(),
            _ if self.is_editing() => EditView::of(&self.session)
                .map_or_else(String::new, |view| edit::hint(&self.edit, &view, &bindings)),
            (_, _, Some(viewport)) => self.paint_hint(viewport).unwrap_or_else(|| {
                status::hint(
                    viewport,
                    skeleton,
                    &self.session.document().pins,
                    under.is_some(),
                    !self.session.document().clips().is_empty(),
                    &bindings,
                )
            }),
            (_, _, None) => String::new(),
        };
        let frame = Frame::new()
            .fill(theme::colors(ui.ctx()).bar)
            .inner_margin(Margin::symmetric(10, 4));
        let memory = self.tool_windows.memory_text(ui.ctx()).to_owned();
        let speed = if is_narrow(ui) {
            String::new()
        } else {
            format!("{}  {memory}", self.speed_text()).trim().to_owned()
        };
        let view = StatusView {
            hint: &hint,
            jobs: &self.jobs(),
            unread: self.tool_windows.notices.unread(),
            speed: &speed,
        };
        Panel::bottom("status")
            .frame(frame)
            .exact_size(28.0)
            .show(ui, |ui| status::status_ui(ui, &view, &mut self.actions));
    }

    /// What the mouse will do over the skin, with the tool that paints.
    fn paint_hint(&self, viewport: &Viewport) -> Option<String> {
        let paints = self.tools.tool == Tool::Paint;
        paints.then(|| viewport.paint_hint(&self.tools.brush))?
    }

    /// Frame times as text of constant width.
    fn speed_text(&self) -> String {
        if self.timings.is_empty() {
            return String::new();
        }
        let [anchors, local, global, normals, render] = self.timings.mean(30);
        let flesh = anchors + local + global + normals;
        let state = match (self.clock.running, self.clock.smoothed_secs) {
            (true, secs) if secs > 0.0 => format!("{:>4.0} fps", 1.0 / secs),
            _ => " at rest".to_owned(),
        };
        format!("flesh {flesh:>5.1} ms  picture {render:>5.1} ms {state}")
    }

    /// Transport, ruler and keys below the views.
    pub(super) fn timeline(&mut self, ui: &mut Ui) {
        let view = TimelineView::of(&self.session);
        let frame = Frame::new()
            .fill(theme::colors(ui.ctx()).panel)
            .inner_margin(Margin::symmetric(10, 4));
        let (state, actions) = (&mut self.timeline, &mut self.actions);
        let panel = if state.open {
            Panel::bottom("timeline")
                .resizable(true)
                .default_size(timeline::OPEN_HEIGHT)
                .size_range(96.0..=420.0)
        } else {
            Panel::bottom("transport").exact_size(timeline::LINE_HEIGHT)
        };
        panel
            .frame(frame)
            .show(ui, |ui| timeline_ui(ui, &view, state, actions));
    }

    /// The scoreboard above the timeline, if it is open.
    pub(super) fn scoreboard(&mut self, ui: &mut Ui) {
        self.session.board_mut().ask(self.board.request());
        if !self.board.state.open {
            return;
        }
        let view = BoardView::of(&self.session);
        let frame = Frame::new()
            .fill(theme::colors(ui.ctx()).panel)
            .inner_margin(Margin::symmetric(10, 4));
        let (panel, timeline, actions) = (&mut self.board, &mut self.timeline, &mut self.actions);
        Panel::bottom("scoreboard")
            .frame(frame)
            .resizable(true)
            .default_size(board::HEIGHT)
            .size_range(board::HEIGHTS)
            .show(ui, |ui| board_ui(ui, &view, panel, timeline, actions));
    }

    /// The joint tree on the left; in a narrow window it is at the top of the right panel.
    pub(super) fn joints_panel(&mut self, ui: &mut Ui, painter: &mut dyn ViewportPainter) {
        if !self.panel_shown {
            self.tools.hovered = None;
        }
        if !self.panel_shown || is_narrow(ui) {
            return;
        }
        let panel = Panel::left("joints")
            .frame(panel_frame(ui))
            .resizable(true)
            .default_size(theme::JOINTS_WIDTH)
            .size_range(200.0..=460.0);
        panel.show(ui, |ui| {
            ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                ui.set_max_width(ui.available_width() - 8.0);
                self.joints_sections(ui, painter);
            });
        });
    }

    fn joints_sections(&mut self, ui: &mut Ui, painter: &mut dyn ViewportPainter) {
        let Some(subject) = self.session.subject().cloned() else {
            return;
        };
        if self.is_editing() {
            return self.rig_tree_section(ui);
        }
        let hovered = self
            .layout
            .panes_mut()
            .find_map(|(_, pane)| pane.viewport.hovered);
        section(ui, "Joints", true, |ui| {
            joints_section(
                ui,
                &self.session,
                &subject,
                hovered,
                &mut self.joints,
                &mut self.actions,
            );
        });
        if subject.character.moving_controls().next().is_some() {
            section(ui, MORPHS, true, |ui| {
                let view = MorphsView {
                    character: &subject.character,
                    shown: &self.session.channels().active().pose().morphs,
                };
                morphs_ui(ui, &view, &mut self.morphs, &mut self.actions);
            });
        }
        section(ui, "Poses", true, |ui| {
            let pictures = pose_pictures(&self.session, painter, ui.ctx().pixels_per_point());
            let view = PosesView {
                library: &self.session.document().pose_library,
                pictures: &pictures,
                shown: self.session.channels().active().pose(),
            };
            poses_ui(ui, &view, &mut self.poses, &mut self.actions);
        });
        self.tools.hovered = self.joints.hovered;
    }

    pub(super) fn side_panel(&mut self, ui: &mut Ui, painter: &mut dyn ViewportPainter) {
        if !self.panel_shown {
            return;
        }
        let panel = Panel::right("side")
            .frame(panel_frame(ui))
            .resizable(true)
            .default_size(theme::SIDE_WIDTH)
            .size_range(280.0..=560.0);
        // Each mode scrolls by itself: what one shows at the top is not where the other was left.
        let area = ScrollArea::vertical().id_salt(("side", self.is_editing()));
        panel.show(ui, |ui| {
            area.auto_shrink(false).show(ui, |ui| {
                ui.set_max_width(ui.available_width() - 8.0);
                if is_narrow(ui) {
                    self.joints_sections(ui, painter);
                }
                self.sections(ui);
            });
        });
    }

    fn sections(&mut self, ui: &mut Ui) {
        let Some(subject) = self.session.subject().cloned() else {
            ui.label(if self.session.jobs().is_empty() {
                "No character is open."
            } else {
                "Opening…"
            });
            return;
        };
        if self.is_editing() {
            self.rig_section(ui);
        }
        if self.tools.tool == Tool::Paint && !self.is_editing() {
            let view = paint_view(&self.session, &subject, self.tools.brush);
            section(ui, PAINT, true, |ui| {
                paint_ui(ui, &view, &mut self.actions);
            });
        }
        let document = self.session.document();
        section(ui, "Character", true, |ui| {
            character_section(ui, &subject, document, &mut self.actions);
            resolution_section(ui, &subject, &document.flesh, &mut self.actions);
            let checkup = self.checkup.of(ui.ctx(), &subject);
            checkup_section(
                ui,
                &self.session,
                &subject,
                (checkup.as_deref(), self.checkup.has_failed()),
                &mut self.actions,
            );
        });
        let unavailable = unavailable_methods(&subject);
        let chosen = self.session.active_view().method;
        let values = self.session.method_values().of(chosen);
        let weights = self.session.active_view().weights;
        let weighted = subject.weighted(weights);
        let weight_notes = weighted
            .weight_report()
            .map(|report| report.sentences(&subject.character.skeleton))
            .unwrap_or_default();
        let view = MethodView {
            chosen,
            values: &values,
            weight_notes: &weight_notes,
            view: self.session.active_view().id,
            weights,
            shown: self.session.shown_method(),
            unavailable: &unavailable,
            is_bare: subject.rig.is_empty(),
        };
        let (choice, status) = (
            self.session.devices().choice(),
            self.session.devices().status_of(self.session.active_view()),
        );
        let device = DeviceView {
            choice,
            status,
            settings: self.tool_windows.settings(),
        };
        let variant = document
            .variant(self.session.active_view().variant)
            .map(|variant| variant.name.clone());
        section(ui, "Method", true, |ui| {
            variant_note(ui, variant.as_deref());
            method_ui(ui, &view, &mut self.actions);
            if !view.is_bare {
                device_ui(ui, &device, &mut self.actions);
            }
        });
        let size_over_human = subject
            .flesh_if_made()
            .and_then(Result::ok)
            .map_or(1.0, |flesh| flesh.system.size_over_human());
        let contact = self
            .session
            .snapshot()
            .and_then(|snapshot| snapshot.contact);
        let simulated = self.session.active_view().method.has(Capability::Physics);
        let view = DynamicsView {
            params: self.session.params(),
            simulated,
            size_over_human,
            contact,
            up: subject.up_axis(),
        };
        section(ui, "Dynamics", true, |ui| {
            variant_note(ui, variant.as_deref());
            dynamics_ui(ui, &view, &mut self.actions);
        });
        if let Some(pane) = self.layout.pane(self.active()) {
            let view = LookView::of(self.active(), &pane.state, &self.session);
            section(ui, "View", true, |ui| look_ui(ui, &view, &mut self.actions));
        }
        section(ui, "History", false, |ui| {
            history_ui(ui, &self.session.history(), &mut self.actions);
        });
        section(ui, "Milliseconds per stage", true, |ui| {
            timings_ui(ui, &self.timings);
        });
    }
}

/// Says whose settings a section shows, if they are not those that all views share.
fn variant_note(ui: &mut egui::Ui, variant: Option<&str>) {
    if let Some(name) = variant {
        let text = format!("Settings of the variant “{name}”");
        ui.label(egui::RichText::new(text).color(theme::colors(ui.ctx()).accent))
            .on_hover_text(
                "Changes here are for the views with this variant; the others keep theirs.",
            );
    }
}
