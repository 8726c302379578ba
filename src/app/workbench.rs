//! The workbench: the session with its window state, and the one place that carries out what was asked for.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use egui::{CentralPanel, Color32, Context, Frame, Margin, Panel, Rect, ScrollArea, Sense, Ui, pos2};

use super::actions::{Action, Actions};
use super::checkup::CheckupWatch;
use super::comfort::{Comfort, is_builtin};
use super::dialogs::{Dialogs, Purpose};
use super::look::Look;
use super::panels::dynamics::{DynamicsView, dynamics_ui};
use super::panels::joints::JointsState;
use super::panels::method::{MethodView, method_ui};
use super::panels::overlays::{LookView, look_ui};
use super::panels::playback::{clip_settings_ui, clips_ui, transport_ui};
use super::panels::section;
use super::panels::timings::{TimingHistory, timings_ui};
use super::panels::top_bar::{TopBarView, top_bar_ui};
use super::sections::{
    character_section, checkup_section, joints_section, now, playback_view, resolution_section, unavailable_methods, viewport_view,
};
use super::settings::{Settings, SettingsFile};
use super::shortcuts;
use super::status::StatusView;
use super::viewport::axis_gizmo::axis_gizmo_ui;
use super::viewport::painter::{Picture, ViewKey, ViewportPainter};
use super::viewport::{Viewport, handles};
use super::{notices, status, theme};
use crate::cache::Cache;
use crate::character::Character;
use crate::dynamics::Params;
use crate::session::{Command, Level, Session, Snapshot, Source, up_axis};

/// The only view there is.
const VIEW: ViewKey = 0;
/// Time that passes in the first frame after a rest.
const FIRST_FRAME_SECS: f64 = 1.0 / 60.0;
/// How often the progress of a job is looked at while nothing else moves.
const JOB_LOOK: Duration = Duration::from_millis(50);

/// Session and window state.
pub struct Workbench {
    session: Session,
    viewport: Viewport,
    look: Look,
    joints: JointsState,
    timings: TimingHistory,
    dialogs: Dialogs,
    checkup: CheckupWatch,
    actions: Actions,
    clock: Clock,
    character_shown: Option<*const Character>,
    sequence_timed: u64,
    panel_shown: bool,
    comfort: Comfort,
    quits: bool,
}

/// Real time between frames.
#[derive(Debug, Default)]
struct Clock {
    last: Option<Instant>,
    /// Whether the last frame expected another one at once.
    running: bool,
    smoothed_secs: f64,
}

impl Clock {
    fn tick(&mut self) -> f64 {
        let now = Instant::now();
        let since = self.last.replace(now).map_or(FIRST_FRAME_SECS, |last| (now - last).as_secs_f64());
        if self.running {
            self.smoothed_secs = if self.smoothed_secs > 0.0 { self.smoothed_secs * 0.9 + since * 0.1 } else { since };
            since
        } else {
            since.min(FIRST_FRAME_SECS)
        }
    }
}

impl Workbench {
    /// A workbench with the user's settings that opens a character.
    #[must_use]
    pub fn new(ctx: &Context, source: Source, params: &Params, cache: Cache) -> Self {
        let mut session = Session::with_params(params);
        session.set_cache(cache);
        let waked = ctx.clone();
        session.set_waker(Arc::new(move || waked.request_repaint()));
        let (comfort, complaint) = SettingsFile::of_user().map(Comfort::with_file).unwrap_or_default();
        if let Some(complaint) = complaint {
            session.tell(Level::Warning, complaint);
        }
        start_threads(comfort.settings().threads);
        let method = comfort.settings().default_method;
        if method != session.active_view().method {
            session.apply_once(Command::SetMethod(method));
        }
        session.apply_once(Command::Open(source));
        Self { comfort, ..Self::with_session(session) }
    }

    /// A workbench over a session that has been set up already.
    #[must_use]
    pub fn with_session(session: Session) -> Self {
        Self {
            session,
            viewport: Viewport::default(),
            look: Look::default(),
            joints: JointsState::default(),
            timings: TimingHistory::default(),
            dialogs: Dialogs::default(),
            checkup: CheckupWatch::default(),
            actions: Actions::default(),
            clock: Clock::default(),
            character_shown: None,
            sequence_timed: 0,
            panel_shown: true,
            comfort: Comfort::default(),
            quits: false,
        }
    }

    /// The session.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }

    /// Tells what draws, for the window about the program.
    pub fn set_gpu_description(&mut self, description: String) {
        self.comfort.set_gpu(description);
    }

    /// What the user has chosen.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        self.comfort.settings()
    }

    /// The viewport.
    #[must_use]
    pub fn viewport(&self) -> &Viewport {
        &self.viewport
    }

    /// Title of the window.
    #[must_use]
    pub fn title(&self) -> String {
        self.session.subject().map_or_else(|| "Sinew".to_owned(), |subject| format!("{} – Sinew", subject.character.name))
    }

    /// Asks for something from outside the panels.
    pub fn raise(&mut self, action: Action) {
        self.actions.push(action);
    }

    /// Whether the user asked to quit.
    #[must_use]
    pub fn wants_to_quit(&self) -> bool {
        self.quits
    }

    /// Opens files that were dropped together as one character; motions alone go onto the one that is open.
    pub fn open_files(&mut self, files: Vec<PathBuf>) {
        let is_motion = |file: &PathBuf| file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("bvh"));
        if !files.is_empty() && self.session.subject().is_some() && files.iter().all(is_motion) {
            self.actions.once(Command::AddMotions(files));
        } else if !files.is_empty() {
            self.actions.once(Command::Open(Source::of_files(files)));
        }
    }

    /// One pass: reads input, applies what was asked for, lets time pass, and draws.
    pub fn ui(&mut self, ui: &mut Ui, painter: &mut dyn ViewportPainter) {
        let ctx = ui.ctx().clone();
        self.keyboard(&ctx);
        match self.dialogs.poll() {
            Some(Command::Open(source)) => self.open_files(source.files),
            Some(command) => self.actions.once(command),
            None => {}
        }
        self.top_bar(ui);
        self.status_bar(ui);
        self.side_panel(ui);
        self.transport(ui);
        let frame = Frame::new().fill(theme::colors(ui.ctx()).sunken);
        CentralPanel::no_frame().frame(frame).show(ui, |ui| self.viewport_ui(ui, painter));
        let now = now(&self.session, self.panel_shown, self.look.bones);
        self.comfort.windows(&ctx, &now, &mut self.actions);
        notices::drop_hint(&ctx, ctx.content_rect());
    }

    fn keyboard(&mut self, ctx: &Context) {
        if let Some(complaint) = self.comfort.keep_up(ctx) {
            self.session.tell(Level::Warning, complaint);
        }
        let now = now(&self.session, self.panel_shown, self.look.bones);
        shortcuts::read(ctx, &now, &mut self.actions);
        // At once: egui lets go of a drag in the same pass, and that would end it as done.
        if self.actions.remove(&Action::Escape) {
            self.escape();
        }
    }

    fn escape(&mut self) {
        if !self.comfort.close_topmost() && !self.viewport.cancel_drag(&mut self.actions) && self.session.selected_joint().is_some() {
            self.actions.once(Command::SelectJoint(None));
        }
    }

    fn top_bar(&mut self, ui: &mut Ui) {
        let view = TopBarView {
            builtins: &crate::io::builtin::NAMES,
            recent: &self.comfort.settings().recent,
            now: now(&self.session, self.panel_shown, self.look.bones),
        };
        let frame = Frame::new().fill(theme::colors(ui.ctx()).bar).inner_margin(Margin::symmetric(8, 5));
        Panel::top("menus").frame(frame).show(ui, |ui| top_bar_ui(ui, &view, &mut self.actions));
    }

    fn status_bar(&mut self, ui: &mut Ui) {
        let skeleton = self.session.subject().map(|subject| &subject.character.skeleton);
        let over_viewport = self.viewport.hovered.is_some()
            || self.viewport.map().zip(ui.ctx().pointer_hover_pos()).is_some_and(|(map, at)| map.rect().contains(at));
        let hint = match (skeleton, self.session.jobs().first()) {
            (None, Some(job)) => job.title.clone(),
            _ => status::hint(&self.viewport, skeleton, over_viewport, !self.session.clips().is_empty()),
        };
        let frame = Frame::new().fill(theme::colors(ui.ctx()).bar).inner_margin(Margin::symmetric(10, 4));
        let speed = self.speed_text();
        let view = StatusView { hint: &hint, jobs: &self.session.jobs(), unread: self.comfort.notices.unread(), speed: &speed };
        Panel::bottom("status").frame(frame).exact_size(28.0).show(ui, |ui| status::status_ui(ui, &view, &mut self.actions));
    }

    /// Numbers of a width that stays.
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

    fn transport(&mut self, ui: &mut Ui) {
        let view = playback_view(&self.session);
        let frame = Frame::new().fill(theme::colors(ui.ctx()).panel).inner_margin(Margin::symmetric(10, 4));
        Panel::bottom("transport").frame(frame).exact_size(38.0).show(ui, |ui| transport_ui(ui, &view, &mut self.actions));
    }

    fn side_panel(&mut self, ui: &mut Ui) {
        if !self.panel_shown {
            return;
        }
        let frame = Frame::new().fill(theme::colors(ui.ctx()).panel).inner_margin(Margin { left: 10, right: 4, top: 8, bottom: 4 });
        let panel = Panel::right("side").frame(frame).resizable(true).default_size(theme::SIDE_WIDTH).size_range(280.0..=560.0);
        panel.show(ui, |ui| {
            ScrollArea::vertical().auto_shrink(false).show(ui, |ui| {
                ui.set_max_width(ui.available_width() - 8.0);
                self.sections(ui);
            });
        });
    }

    fn sections(&mut self, ui: &mut Ui) {
        let Some(subject) = self.session.subject().cloned() else {
            ui.label(if self.session.jobs().is_empty() { "No character is open." } else { "Opening…" });
            return;
        };
        let document = self.session.document();
        section(ui, "Character", true, |ui| {
            character_section(ui, &subject, &document.source);
            resolution_section(ui, &subject, &document.flesh, &mut self.actions);
            let checkup = self.checkup.of(ui.ctx(), &subject);
            checkup_section(ui, &self.session, &subject, checkup.as_deref(), &mut self.actions);
        });
        let unavailable = unavailable_methods(&subject);
        let view = MethodView { chosen: self.session.active_view().method, shown: self.session.shown_method(), unavailable: &unavailable };
        section(ui, "Method", true, |ui| method_ui(ui, &view, &mut self.actions));
        section(ui, "Joints", true, |ui| joints_section(ui, &self.session, &subject, &self.viewport, &mut self.joints, &mut self.actions));
        let playback = playback_view(&self.session);
        section(ui, "Clips", true, |ui| {
            clips_ui(ui, &playback, &mut self.actions);
            clip_settings_ui(ui, &playback, &mut self.actions);
        });
        let size_over_human = subject.tissue.as_ref().map_or(1.0, |flesh| flesh.system.size_over_human());
        let contact = self.session.snapshot().and_then(|snapshot| snapshot.contact);
        let simulated = self.session.active_view().method.is_simulated();
        let view = DynamicsView { params: &document.params, simulated, size_over_human, contact, up: up_axis(&subject) };
        section(ui, "Dynamics", true, |ui| dynamics_ui(ui, &view, &mut self.actions));
        let has_textures = subject.character.materials.iter().any(|material| material.base_color_image.is_some());
        let view = LookView {
            view: VIEW,
            look: self.look,
            has_textures,
            has_tissue: subject.tissue.is_ok(),
            has_selection: self.session.selected_joint().is_some(),
            has_clip: self.session.playback().clip.is_some(),
        };
        section(ui, "View", true, |ui| look_ui(ui, &view, &mut self.actions));
        section(ui, "Milliseconds per stage", true, |ui| timings_ui(ui, &self.timings));
    }

    fn viewport_ui(&mut self, ui: &mut Ui, painter: &mut dyn ViewportPainter) {
        let rect = ui.available_rect_before_wrap();
        let response = ui.allocate_rect(rect, Sense::click_and_drag());
        response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Image, true, "Viewport"));
        self.viewport.navigation = self.comfort.settings().navigation();
        self.viewport.follow_subject(rect, self.session.subject());
        let snapshot = self.session.snapshot();
        self.viewport.interact(ui, &response, &viewport_view(&self.session, snapshot.as_ref()), &mut self.actions);
        self.carry_out(ui.ctx());
        self.pass_time(ui.ctx());
        self.viewport.follow_subject(rect, self.session.subject());
        let snapshot = self.session.snapshot();
        self.picture(ui, rect, snapshot.as_ref(), painter);
        handles::draw(ui.painter(), &self.viewport, &viewport_view(&self.session, snapshot.as_ref()), !self.session.playback().playing);
        axis_gizmo_ui(ui, response.id, &mut self.viewport, &mut self.actions);
        if self.session.subject().is_none() && self.session.jobs().is_empty() {
            handles::centered_text(ui.painter(), rect, "Drop a character here");
        }
        self.comfort.over_views(ui.ctx(), rect, &self.session, &mut self.actions);
        if self.session.subject().is_none() {
            notices::jobs_ui(ui.ctx(), rect, &self.session.jobs(), &mut self.actions);
        }
        if !self.actions.list().is_empty() {
            // Asked for after this pass's commands were carried out.
            ui.ctx().request_repaint();
        }
    }

    fn picture(&mut self, ui: &Ui, rect: Rect, snapshot: Option<&Arc<Snapshot>>, painter: &mut dyn ViewportPainter) {
        let scale = ui.ctx().pixels_per_point();
        let size = [rect.width(), rect.height()].map(|points| (points * scale).round().clamp(0.0, 16_384.0) as u32);
        let selected = self.session.selected_joint();
        let picture = Picture {
            view: VIEW,
            size,
            scale,
            camera: &self.viewport.camera,
            snapshot,
            compare: None,
            selected: selected.as_slice(),
            hovered: self.viewport.hovered.map(super::viewport::picking::Target::joint),
            look: &self.look,
            findings: &[],
            ground_height: self.viewport.ground_height(),
            character_size: self.viewport.size(),
        };
        let Some(painted) = painter.paint(&picture) else { return };
        ui.painter().image(painted.texture, rect, Rect::from_min_max(pos2(0.0, 0.0), pos2(1.0, 1.0)), Color32::WHITE);
        if let Some(snapshot) = snapshot.filter(|snapshot| snapshot.sequence != self.sequence_timed) {
            self.sequence_timed = snapshot.sequence;
            self.timings.push(&snapshot.times, painted.ms);
        }
    }

    fn pass_time(&mut self, ctx: &Context) {
        let dt_secs = self.clock.tick();
        let tick = self.session.tick(dt_secs);
        self.clock.running = tick.active;
        if tick.active && self.session.jobs().is_empty() {
            ctx.request_repaint();
        } else if tick.active {
            ctx.request_repaint_after(JOB_LOOK);
        }
        let character = self.session.subject().map(|subject| Arc::as_ptr(&subject.character));
        if character != self.character_shown {
            self.character_shown = character;
            self.joints.forget();
            self.remember_files();
            self.timings = TimingHistory::default();
            self.clock.smoothed_secs = 0.0;
            ctx.request_repaint();
        }
    }

    /// What was opened can be opened again from the menu.
    fn remember_files(&mut self) {
        let files = &self.session.document().source.files;
        if !is_builtin(files) {
            self.comfort.change(|settings| settings.remember(files));
        }
    }

    /// Carries out what was asked for.
    fn carry_out(&mut self, ctx: &Context) {
        let actions = self.actions.take();
        if !actions.is_empty() {
            // Panels that were drawn before the change show it in the next pass.
            ctx.request_repaint();
        }
        for action in actions {
            self.comfort.watch(&action, &self.session);
            match action {
                Action::Session(command, gesture) => self.session.apply(command, gesture),
                Action::SetLook(_, look) => self.look = look,
                Action::OpenFiles(files) => self.open_files(files),
                Action::OpenDialog => self.ask(ctx, Purpose::Open),
                Action::LoadPoseDialog => self.ask(ctx, Purpose::LoadPose),
                Action::SavePoseDialog => self.ask(ctx, Purpose::SavePose),
                Action::Frame => {
                    let snapshot = self.session.snapshot();
                    self.viewport.frame(&viewport_view(&self.session, snapshot.as_ref()));
                }
                Action::Show(spot) => {
                    let snapshot = self.session.snapshot();
                    self.viewport.show(&spot, &viewport_view(&self.session, snapshot.as_ref()));
                }
                Action::LookFrom(view) => self.viewport.look_from(view),
                Action::Comfort(action) => {
                    let now = now(&self.session, self.panel_shown, self.look.bones);
                    self.comfort.carry_out(ctx, action, &self.session, &now);
                }
                Action::Escape => self.escape(),
                Action::ToggleBones => self.look.bones = !self.look.bones,
                Action::Camera(action) => {
                    let snapshot = self.session.snapshot();
                    self.viewport.move_camera(action, &viewport_view(&self.session, snapshot.as_ref()));
                }
                Action::TogglePanel => self.panel_shown = !self.panel_shown,
                Action::Quit => self.quits = true,
            }
        }
    }

    fn ask(&mut self, ctx: &Context, purpose: Purpose) {
        let name = self.session.subject().map_or_else(String::new, |subject| subject.character.name.clone());
        if let Err(error) = self.dialogs.ask(ctx, purpose, &name) {
            self.session.tell(Level::Error, format!("The file dialog could not be opened: {error}."));
        }
    }
}

/// Lets computations use so many threads, unless that was said on the command line already; 0 leaves it to the program.
fn start_threads(threads: usize) {
    if threads > 0 && rayon::ThreadPoolBuilder::new().num_threads(threads).build_global().is_err() {
        log::info!("the number of threads is that of the command line");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_that_rested_does_not_catch_up() {
        let mut clock = Clock { last: Instant::now().checked_sub(Duration::from_secs(9)), ..Clock::default() };
        assert!(clock.tick() <= FIRST_FRAME_SECS);
        clock.last = Instant::now().checked_sub(Duration::from_secs(1));
        clock.running = true;
        assert!(clock.tick() >= 1.0);
    }
}
