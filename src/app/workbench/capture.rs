//! Captures of the active view.

use std::sync::Arc;

use egui::{Context, Rect, Ui};

use super::Workbench;
use super::views::JOB_LOOK;
use crate::app::actions::CaptureAction;
use crate::app::capture::{Capture, ClipShot, Shot, guide};
use crate::app::dialogs::Purpose;
use crate::app::settings::capture::CaptureKind;
use crate::session::{JobView, Level, Session, ViewId};
use crate::studio::{ClipPlay, Compare};
use crate::weights::WeightMethod;

/// Crowds live on the window's device, but captures are drawn on a separate one.
const ONE_IN_PICTURES: &str =
    "Pictures show one character. A crowd is drawn by “sinew render --crowd”, or by “Copy window”.";

/// Views whose upper edges differ by less are in one row, points.
const SAME_ROW: f32 = 8.0;

impl Workbench {
    /// The state of the active view.
    fn shot(&self, ctx: &Context) -> Option<Shot> {
        self.shot_of(ctx, self.active())
    }

    /// The views that are shown, row by row, and the number of those in the first row.
    fn rows_of_views(&self) -> (Vec<ViewId>, usize) {
        let mut views = self.layout.rects();
        views.sort_by(|(_, a), (_, b)| {
            let rows = (a.top() / SAME_ROW)
                .round()
                .total_cmp(&(b.top() / SAME_ROW).round());
            rows.then(a.left().total_cmp(&b.left()))
        });
        let first = views.first().map_or(0.0, |(_, rect)| rect.top());
        let in_row = views
            .iter()
            .filter(|(_, rect)| (rect.top() - first).abs() < SAME_ROW)
            .count();
        (views.into_iter().map(|(id, _)| id).collect(), in_row)
    }

    /// The state of a view.
    fn shot_of(&self, ctx: &Context, id: ViewId) -> Option<Shot> {
        let (pane, snapshot) = (self.layout.pane(id)?, self.session.snapshot_of(id)?);
        let (scale, body) = (ctx.pixels_per_point(), pane.body().unwrap_or(Rect::ZERO));
        let view = self.session.views().get(id).copied();
        let settings = view.map_or([None; 2], |view| [view.variant, view.compare_variant]);
        let other = self.session.compared_snapshot_of(id);
        let methods = [Some(&snapshot), other.as_ref()];
        let labels = std::array::from_fn(|side| {
            let shown = methods[side]?;
            Some(
                self.session
                    .document()
                    .label_of(shown.method, settings[side]),
            )
        });
        Some(Shot {
            name: snapshot.subject.character.name.clone(),
            compare: self
                .session
                .compared_snapshot_of(id)
                .map(|other| (other, pane.state.comparing))
                .filter(|(_, how)| *how != Compare::Flicker),
            camera: pane.viewport.wanted_camera(),
            look: pane.state.look,
            selected: self.session.selection().active().into_iter().collect(),
            marks: None,
            ghosts: self.ghosts.shown(id).filter(|ghosts| {
                Arc::ptr_eq(&ghosts.subject.character, &snapshot.subject.character)
            }),
            weights: self
                .session
                .views()
                .get(id)
                .map_or_else(WeightMethod::default, |view| view.weights),
            flesh: self.session.document().flesh.clone(),
            ground_height: pane.viewport.ground_height(),
            character_size: pane.viewport.size(),
            view_size: [body.width(), body.height()]
                .map(|points| (points * scale).round().max(1.0) as u32),
            scale,
            settings: settings.map(|id| {
                let document = self.session.document();
                (
                    *document.params_of(id),
                    document.method_values_of(id).clone(),
                )
            }),
            labels,
            clip: self.clip_shot(),
            snapshot,
        })
    }

    /// The clip being shown, with its playback settings.
    fn clip_shot(&self) -> Option<ClipShot> {
        let playback = self.session.channels().active().playback();
        let index = playback.clip?;
        let play = ClipPlay {
            range_secs: playback.range_secs,
            // At speed 0 every frame would be the first one.
            speed: if playback.speed == 0.0 {
                1.0
            } else {
                playback.speed
            },
            seam_secs: playback.blend_secs,
            ..ClipPlay::once(index)
        };
        Some(ClipShot {
            clip: self.session.document().clips().get(index)?.clone(),
            play,
            looping: playback.looping,
        })
    }

    pub(super) fn capture_action(&mut self, ctx: &Context, action: CaptureAction) {
        if action == CaptureAction::Browse {
            let settings = self.capture.settings();
            let purpose = Purpose::Picture(settings.extension());
            let (name, folder) = (settings.name.clone(), settings.folder.clone());
            return self.ask_in(ctx, purpose, &name, Some(folder));
        }
        let mut shot = self.shot(ctx);
        let (ids, in_row) = self.rows_of_views();
        let mut views: Vec<Shot> = if action == CaptureAction::Export {
            ids.iter().filter_map(|id| self.shot_of(ctx, *id)).collect()
        } else {
            Vec::new()
        };
        for shot in shot.iter_mut().chain(&mut views) {
            if shot.look.findings {
                self.checkup.of(ctx, &shot.snapshot.subject);
                shot.marks = self.checkup.marks().cloned();
            }
        }
        if matches!(action, CaptureAction::Export | CaptureAction::CopyView)
            && self.session.crowd_of(self.active()).is_some()
        {
            self.session.add_message(Level::Info, ONE_IN_PICTURES);
        }
        self.capture
            .carry_out(ctx, action, shot, (views, in_row), &mut self.session);
    }

    /// Collects finished captures and draws the dialog.
    pub(super) fn capture_ui(&mut self, ctx: &Context) {
        self.capture.poll(ctx, &mut self.session);
        if self.capture.job().is_some() {
            ctx.request_repaint_after(JOB_LOOK);
        }
        if self.capture.is_open() {
            let clip_secs = self.clip_shot().map(|clip| clip.round_secs());
            let shot = self.shot(ctx);
            let view_size = shot.as_ref().map_or([1, 1], |shot| shot.view_size);
            let (views, in_row) = self.rows_of_views();
            self.capture.ui(
                ctx,
                shot.is_some(),
                clip_secs,
                view_size,
                [views.len(), in_row],
                &mut self.actions,
            );
        }
    }

    /// Draws what of the views the dialog's picture would show.
    pub(super) fn capture_guide(&self, ui: &Ui) {
        if !self.capture.is_open() || self.session.subject().is_none() {
            return;
        }
        let settings = self.capture.settings();
        let all = settings.what == CaptureKind::Figure;
        for (id, rect) in self.layout.rects() {
            if all || id == self.active() {
                guide::draw(ui.painter(), rect, settings.size);
            }
        }
    }

    /// All running jobs; the capture job is omitted while its dialog is open, which shows it.
    pub(super) fn jobs(&self) -> Vec<JobView> {
        let making = self.capture.job().filter(|_| !self.capture.is_open());
        self.session.jobs().into_iter().chain(making).collect()
    }

    /// The capture in progress, and the session that receives its messages.
    pub fn capture_mut(&mut self) -> (&mut Capture, &mut Session) {
        (&mut self.capture, &mut self.session)
    }
}
