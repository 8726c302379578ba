//! One view of the character: header, picture, and the widgets above it.

mod compare;
mod cut;
mod distance;
mod header;
mod muscles;
mod notes;
pub mod requests;
mod variants;

use std::collections::BTreeMap;
use std::sync::Arc;

use egui::{Color32, Rect, Sense, StrokeKind, Ui, pos2, vec2};

use super::actions::Actions;
use super::board::{BoardPanel, mark};
use super::mapping::MappingWindow;
use super::probe::{self, Probe};
use super::viewport::axis_gizmo::axis_gizmo_ui;
use super::viewport::edit::{self, EditTool, EditView};
use super::viewport::painter::{Comparison, Painted, Picture, ViewportPainter, texture_of};
use super::viewport::posing::strip::strip_ui;
use super::viewport::{Viewport, handles, legend};
use super::{score_line, theme};
use crate::app::actions::tools::{Tool, Toolbox};
use crate::app::look::{Look, SkinColors};
use crate::methods::{MethodId, StepTimes};
use crate::render::PositionMark;
use crate::session::{Compare, GhostSkins, PaneState, Session, Snapshot, ViewId};

/// Height of a pane's header, points.
pub const HEADER: f32 = 28.0;

/// Height that the axis legend takes at the upper edge of a view, points.
const LEGEND_TOP: f32 = 104.0;

/// A view's rectangle in the window.
#[derive(Debug, Default)]
pub struct Pane {
    /// Camera and pointer state.
    pub viewport: Viewport,
    /// State that projects save.
    pub state: PaneState,
    body: Option<Rect>,
    /// Rectangles of the widgets above the picture.
    plates: Vec<Rect>,
    /// Width of the strip for colour bars beside the picture, points.
    legend_strip: f32,
    /// Whether the picture is that of an earlier camera: dots would be beside its joints.
    lags: bool,
}

/// Input of the panes, and the queue of their actions.
pub struct PaneContext<'a> {
    /// The session.
    pub session: &'a Session,
    /// Draws the pictures.
    pub painter: &'a mut dyn ViewportPainter,
    /// Queue of actions.
    pub actions: &'a mut Actions,
    /// Methods that are unavailable, with the reason.
    pub unavailable: &'a [(MethodId, String)],
    /// The pose tools' state.
    pub tools: &'a Toolbox,
    /// The explained point.
    pub probe: &'a Probe,
    /// The edit tools' state; `None` in pose mode.
    pub edit: Option<&'a EditTool>,
    /// Positions of the check-up's findings.
    pub marks: Option<&'a Arc<[PositionMark]>>,
    /// Skins at other moments, for the views that show them.
    pub ghosts: &'a BTreeMap<ViewId, Arc<GhostSkins>>,
    /// Whether joints are drawn as dots.
    pub dots: bool,
    /// The maximised view.
    pub maximised: Option<ViewId>,
    /// The scoreboard.
    pub board: &'a BoardPanel,
    /// The joint mapping.
    pub(super) mapping: &'a MappingWindow,
    /// Sequence number and step times of the active view's frame, and milliseconds of drawing.
    pub timing: Option<(u64, StepTimes, f64)>,
}

impl Pane {
    /// Rectangle of the picture in the last frame.
    #[must_use]
    pub fn body(&self) -> Option<Rect> {
        self.body
    }

    /// Rectangles above the picture in the last frame that must not be covered: scores, names, colour bars, tools, the header.
    #[must_use]
    pub fn plates(&self) -> &[Rect] {
        &self.plates
    }

    /// A new pane with a copy of this one's state.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self {
            viewport: self.viewport.fork(),
            state: self.state,
            body: None,
            plates: Vec::new(),
            legend_strip: self.legend_strip,
            lags: self.lags,
        }
    }

    /// Draws the pane into all of `ui`. Returns whether its header is being dragged.
    pub fn ui(&mut self, ui: &mut Ui, id: ViewId, context: &mut PaneContext<'_>) -> bool {
        let rect = ui.available_rect_before_wrap();
        ui.allocate_rect(rect, Sense::hover());
        let head = Rect::from_min_size(rect.min, vec2(rect.width(), HEADER.min(rect.height())));
        let body = Rect::from_min_max(pos2(rect.left(), head.bottom()), rect.max);
        let (body, strip) = legend::split(body, self.legend_strip);
        self.body = Some(body);
        self.plates = vec![head];
        let dragged = header::header_ui(ui, head, id, self, context);
        self.viewport
            .follow_subject(body, context.session.subject());
        self.picture(ui, (body, strip), id, context);
        if context.session.subject().is_none() && context.session.jobs().is_empty() {
            handles::centered_text(ui.painter(), body, "Drop a character here");
        }
        if context.session.views().list().len() > 1 && context.session.active_view().id == id {
            let stroke = egui::Stroke::new(1.0, theme::colors(ui.ctx()).accent);
            ui.painter()
                .rect_stroke(rect.shrink(0.5), 0.0, stroke, StrokeKind::Inside);
        }
        dragged
    }

    /// Whether the scores are shown.
    #[must_use]
    pub fn shows_scores(&self, session: &Session) -> bool {
        self.state.scores.unwrap_or(
            session.views().list().len() > 1
                && session.rigging().mode() == crate::session::Mode::Pose,
        )
    }

    fn scores(
        &mut self,
        ui: &mut Ui,
        body: Rect,
        id: ViewId,
        own: Option<&Arc<Snapshot>>,
        context: &PaneContext<'_>,
    ) {
        if let Some(own) = own.filter(|_| self.shows_scores(context.session)) {
            // Below the names of the compared methods.
            let named = context
                .session
                .views()
                .get(id)
                .is_some_and(|view| view.compare.is_some());
            let bottom = body.bottom() - if named { compare::NAMES_HEIGHT } else { 0.0 };
            let body = Rect::from_min_max(body.min, pos2(body.right(), bottom));
            self.plates.extend(score_line::overlay_ui(
                ui,
                body,
                context.session.score_of(u64::from(id.0), own).as_ref(),
            ));
        }
    }

    /// How the picture is drawn: the tools for editing and painting change the colours.
    fn look(&self, context: &PaneContext<'_>, shows_weights: bool) -> Look {
        if context.edit.is_some() {
            return edit::look(&self.state.look, shows_weights);
        }
        let mut look = self.state.look;
        if context.tools.tool == Tool::Paint {
            look.colors = SkinColors::of_paint(context.tools.brush.map);
        }
        look
    }

    fn picture(
        &mut self,
        ui: &mut Ui,
        (body, strip): (Rect, Option<Rect>),
        id: ViewId,
        context: &mut PaneContext<'_>,
    ) {
        let session = context.session;
        let scale = ui.ctx().pixels_per_point();
        let size = [body.width(), body.height()]
            .map(|points| (points * scale).round().clamp(0.0, 16_384.0) as u32);
        let (own, other) = (session.snapshot_of(id), session.compared_snapshot_of(id));
        let crowd = session.crowd_of(id);
        if let Some(crowd) = &crowd {
            self.viewport.reach(&crowd.bounds());
        }
        self.viewport.frame_expected(
            crowd.as_ref().map_or(1, |crowd| crowd.skin.instances()),
            || session.bounds_of(id),
        );
        let flickers = self.state.comparing == Compare::Flicker && compare::is_held(ui.ctx());
        let snapshot = if flickers {
            other.as_ref().or(own.as_ref())
        } else {
            own.as_ref()
        };
        let selected: Vec<usize> = session.selection().joints().to_vec();
        let editing = context.edit.is_some();
        let edited = snapshot
            .filter(|_| editing && self.state.look.colors == SkinColors::Weights)
            .and_then(|snapshot| weighted_joint(session, snapshot));
        let mut look = self.look(context, edited.is_some());
        // The skin of other methods need not be seen through.
        look.fields &= own.as_ref().is_some_and(|own| own.body_field.is_some());
        let ghosts = context
            .ghosts
            .get(&id)
            .filter(|_| !editing && crowd.is_none());
        let compares = self.state.comparing != Compare::Flicker;
        let picture = Picture {
            canvas: id.0,
            size,
            scale,
            camera: &self.viewport.camera,
            snapshot,
            crowd: crowd.as_ref(),
            compare: other.as_ref().filter(|_| compares).map(|with| Comparison {
                with,
                how: self.state.comparing,
                max_mm: self.state.look.distance_max_mm,
                ghosts,
            }),
            selected: if editing {
                edited.as_slice()
            } else {
                &selected
            },
            hovered: self
                .viewport
                .hovered
                .map(super::viewport::picking::PickTarget::joint)
                .or(context.tools.hovered)
                .filter(|_| !editing),
            look: &look,
            marks: context.marks,
            ghosts,
            fields: session.field_slice_of(id),
            paint: Some(&session.document().flesh.paint),
            ground_height: self.viewport.ground_height(),
            character_size: self.viewport.size(),
        };
        if let Some(painted) = context.painter.paint(&picture) {
            let texture = texture_of(&painted);
            let Painted {
                ms, legends, lags, ..
            } = painted;
            self.lags = lags;
            let whole = Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0));
            ui.painter().image(texture, body, whole, Color32::WHITE);
            let (beside, top) = strip.map_or((body, LEGEND_TOP), |strip| (strip, 0.0));
            self.plates
                .extend(legend::draw(ui.painter(), beside, top, &legends));
            let width = legend::strip_width(ui.painter(), &legends, self.legend_strip);
            if width != self.legend_strip {
                self.legend_strip = width;
                ui.ctx().request_repaint();
            }
            if let Some(own) = own.as_ref().filter(|_| session.active_view().id == id) {
                context.timing = Some((own.sequence, own.times, ms));
            }
        }
        self.plates
            .extend(notes::notes_ui(ui, body, id, &look, own.as_ref(), session));
        self.overlays(ui, body, id, &look, own.as_ref(), context);
        if crowd.is_none() && !editing {
            self.board_marks(ui, body, id, own.as_deref(), context);
        }
        match &crowd {
            Some(crowd) => self.plates.extend(score_line::crowd_ui(ui, body, crowd)),
            None => self.scores(ui, body, id, own.as_ref(), context),
        }
    }

    /// Draws the colour of the view's line on the scoreboard, and the worst place of the frame.
    fn board_marks(
        &self,
        ui: &Ui,
        body: Rect,
        id: ViewId,
        own: Option<&Snapshot>,
        context: &PaneContext<'_>,
    ) {
        let painter = ui.painter().with_clip_rect(body);
        mark::draw_stripe(&painter, body, context.session, id);
        if let Some((map, own)) = self.viewport.map().zip(own) {
            mark::draw_mark(&painter, &map, context.session, id, own, context.board);
        }
    }

    /// Draws handles, tools and names above the picture.
    fn overlays(
        &mut self,
        ui: &mut Ui,
        body: Rect,
        id: ViewId,
        look: &Look,
        own: Option<&Arc<Snapshot>>,
        context: &mut PaneContext<'_>,
    ) {
        let session = context.session;
        let view = super::sections::viewport_view(session, id, own, context.tools);
        let painter = ui.painter().with_clip_rect(body);
        if let Some((tool, view)) = context.edit.zip(EditView::of(session)) {
            edit::draw(
                &painter,
                &self.viewport,
                tool,
                &view,
                theme::colors(ui.ctx()),
                look.backdrop,
            );
        } else {
            let dots = context.dots && !self.lags && context.tools.tool != Tool::Paint;
            handles::draw(&painter, &self.viewport, &view, dots);
            if let Some(map) = self.viewport.map() {
                let hovered = self.viewport.hovered;
                let hovered = hovered.map(super::viewport::picking::PickTarget::joint);
                let hovered = hovered.or(context.tools.hovered);
                context.mapping.draw(&painter, &map, (session, id), hovered);
                if let Some(own) = own {
                    probe::draw(&painter, &map, context.probe, id, own);
                }
                self.plates.extend(cut::cut_ui(ui, id, &map, look, context));
                if let Some(own) = own {
                    let handles = muscles::muscles_ui(ui, id, &map, own, context);
                    self.plates.extend(handles);
                }
            }
            if session.active_view().id == id
                && view.skeleton.is_some_and(|skeleton| !skeleton.is_empty())
            {
                self.plates.extend(strip_ui(
                    ui,
                    body,
                    egui::Id::unique(("pose tools", id)),
                    context.tools,
                    context.actions,
                ));
            }
        }
        self.plates.extend(axis_gizmo_ui(
            ui,
            egui::Id::unique(("axes", id)),
            &mut self.viewport,
            context.actions,
        ));
        self.plates
            .extend(compare::compare_ui(ui, body, id, self, context));
    }
}

/// The joint selected in edit mode, in the skeleton of a state whose weights are known.
fn weighted_joint(session: &Session, state: &Snapshot) -> Option<usize> {
    state.subject.weight_report()?;
    let rigging = session.rigging();
    rigging.joint_in(rigging.selected()?, &state.subject)
}
