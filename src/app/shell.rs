//! The event loop: connects winit, egui and the workbench.
//!
//! It sleeps until an event: input, a requested repaint, or a wake-up by a job on another thread.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

use winit::application::ApplicationHandler;
use winit::dpi::LogicalSize;
use winit::event::{KeyEvent, StartCause, WindowEvent};
use winit::event_loop::{ActiveEventLoop, ControlFlow, EventLoop, EventLoopProxy};
use winit::keyboard::PhysicalKey;
use winit::window::{Icon, Window, WindowId};

use super::actions::Action;
use super::gestures::GesturePhases;
use super::graphics::Graphics;
use super::settings::WindowSize;
use super::surface::Presented;
use super::viewport::painter::NoPainter;
use super::workbench::Workbench;
use super::{AppError, numpad, signals, theme};
use crate::cache::{Cache, UserFolder, WritableFolder};
use crate::dynamics::Params;
use crate::session::{DeviceChoice, Source};

/// The files of a drop arrive one by one; the drop is complete when none arrived for this long.
const DROP_PAUSE: Duration = Duration::from_millis(60);
/// Consecutive lost frames before the shell waits for the next event instead of retrying.
const MAX_RETRIES: u32 = 3;

/// Requests of other threads.
#[derive(Debug, Clone, Copy)]
enum WindowRequest {
    /// Repaint within this time.
    Look(Duration),
    /// Exit: the system shuts down, or the terminal sent a signal.
    Leave,
}

/// Opens the window and runs until it is closed.
pub fn run(
    source: Source,
    params: &Params,
    cache: Cache,
    device: Option<DeviceChoice>,
) -> Result<(), AppError> {
    let state = start_log();
    crate::logbook::note_panics();
    let event_loop = EventLoop::<WindowRequest>::with_user_event()
        .build()
        .map_err(|error| AppError::no_display(&error))?;
    let proxy = event_loop.create_proxy();
    signals::exit_on_signal(move || proxy.send_event(WindowRequest::Leave).is_ok());
    let mut shell = Shell::new(&event_loop.create_proxy(), source, params, cache);
    shell.workbench.set_state_folder(state);
    shell.workbench.ask_for_device(device);
    event_loop
        .run_app(&mut shell)
        .map_err(|error| AppError::no_display(&error))?;
    let failure = shell.failure.take();
    drop(shell);
    // Of threads that are still writing.
    crate::io::remove_unfinished();
    failure.map_or(Ok(()), Err)
}

/// Log records go to the window's log and to a file, regardless of an existing logger. Returns the folder for state.
fn start_log() -> Result<WritableFolder, String> {
    // The command line has set its own logger, which also records.
    let _ = log::set_logger(&crate::logbook::Logger);
    log::set_max_level(log::max_level().max(log::LevelFilter::Info));
    let state = UserFolder::State.writable();
    let path = state.as_ref().ok().map(|state| state.path.join("log.txt"));
    if let Err(error) = crate::logbook::open(log::LevelFilter::Info, path.as_deref()) {
        log::warn!("the log can't be written to a file: {error}");
    }
    log::info!(
        "sinew {} on {} {}",
        env!("CARGO_PKG_VERSION"),
        std::env::consts::OS,
        std::env::consts::ARCH
    );
    state
}

struct Shell {
    ctx: egui::Context,
    workbench: Workbench,
    running: Option<OpenWindow>,
    dropped: Vec<PathBuf>,
    drop_complete_at: Option<Instant>,
    repaint_at: Option<Instant>,
    retries: u32,
    failure: Option<AppError>,
}

struct OpenWindow {
    window: Arc<Window>,
    input: egui_winit::State,
    graphics: Graphics,
    title: String,
    /// When the window was asked for, until it is shown with its first picture: it would be black before.
    hidden_since: Option<Instant>,
}

impl Shell {
    fn new(
        proxy: &EventLoopProxy<WindowRequest>,
        source: Source,
        params: &Params,
        cache: Cache,
    ) -> Self {
        let ctx = egui::Context::default();
        theme::apply(&ctx);
        GesturePhases::install(&ctx);
        let wake = proxy.clone();
        // An error means that the loop has ended.
        ctx.set_request_repaint_callback(move |info| {
            let _ = wake.send_event(WindowRequest::Look(info.delay));
        });
        let workbench = Workbench::new(&ctx, source, params, cache);
        Self {
            ctx,
            workbench,
            running: None,
            dropped: Vec::new(),
            drop_complete_at: None,
            repaint_at: None,
            retries: 0,
            failure: None,
        }
    }

    fn open_window(&mut self, event_loop: &ActiveEventLoop) -> Result<OpenWindow, AppError> {
        let start = Instant::now();
        let size = self
            .workbench
            .settings()
            .window
            .unwrap_or(WindowSize::USUAL);
        let [least_width, least_height] = WindowSize::SMALLEST;
        let mut attributes = Window::default_attributes()
            .with_title(self.workbench.title())
            .with_inner_size(LogicalSize::new(size.points[0], size.points[1]))
            .with_maximized(size.maximised)
            .with_visible(false)
            .with_min_inner_size(LogicalSize::new(least_width, least_height));
        if let Ok(icon) = Icon::from_rgba(super::icon::rgba(), super::icon::SIZE, super::icon::SIZE)
        {
            attributes = attributes.with_window_icon(Some(icon));
        }
        let window = event_loop
            .create_window(attributes)
            .map_err(|error| AppError::no_display(&error))?;
        let window = Arc::new(window);
        let ctx = self.ctx.clone();
        let waker = Arc::new(move || ctx.request_repaint());
        let graphics = Graphics::new(event_loop, window.clone(), waker)?;
        self.workbench.set_gpu_description(graphics.description());
        let input = egui_winit::State::new(
            self.ctx.clone(),
            egui::ViewportId::ROOT,
            &window,
            Some(window.scale_factor() as f32),
            window.theme(),
            Some(graphics.max_texture_side()),
        );
        Ok(OpenWindow {
            window,
            input,
            graphics,
            title: String::new(),
            hidden_since: Some(start),
        })
    }

    fn frame(&mut self, event_loop: &ActiveEventLoop) {
        let Some(running) = &mut self.running else {
            return;
        };
        self.repaint_at = None;
        self.workbench.pass_mut().begin();
        let input = running.input.take_egui_input(&running.window);
        running.graphics.replace_lost_device(event_loop);
        let workbench = &mut self.workbench;
        workbench.set_gpu(running.graphics.gpu());
        workbench.pass_mut().end_part("device");
        let output = match running.graphics.device() {
            Some((surface, painter)) => {
                let output = {
                    let mut drawing = painter.begin_pass(surface);
                    self.ctx.run_ui(input, |ui| workbench.ui(ui, &mut *drawing))
                };
                workbench.set_pictures_pending(painter.end_pass());
                output
            }
            // Work continues while invisible, so that it can be saved.
            None => self
                .ctx
                .run_ui(input, |ui| workbench.ui(ui, &mut NoPainter)),
        };
        running.input.handle_platform_output_with_event_loop(
            &running.window,
            event_loop,
            output.platform_output,
        );
        let title = self.workbench.title();
        if title != running.title {
            running.window.set_title(&title);
            running.title = title;
        }
        let primitives = self.ctx.tessellate(output.shapes, output.pixels_per_point);
        self.workbench.pass_mut().end_part("shapes");
        self.workbench.end_pass();
        running.graphics.keep(&output.textures_delta);
        let (scale, behind) = (output.pixels_per_point, theme::colors(&self.ctx).panel);
        let presented = match running.graphics.device() {
            Some((surface, _)) if !surface.is_lost() => {
                surface.present(&primitives, output.textures_delta, scale, behind)
            }
            Some(_) => Presented::TryAgain,
            None => Presented::Hidden,
        };
        if let Some(since) = running.hidden_since.take() {
            log::info!(
                "the window is shown with its first picture after {} ms",
                since.elapsed().as_millis()
            );
            running.window.set_visible(true);
            // Some systems discard what was drawn on a hidden window.
            running.window.request_redraw();
        }
        let (capture, session) = self.workbench.capture_mut();
        if let Some((surface, _)) = running.graphics.device().filter(|_| capture.wants_window()) {
            let texture = surface.picture(&primitives, scale, behind);
            capture.receive_window(&self.ctx, surface.gpu(), texture, session);
        }
        let delay = output
            .viewport_output
            .get(&egui::ViewportId::ROOT)
            .map_or(Duration::MAX, |viewport| viewport.repaint_delay);
        self.retries = if presented == Presented::TryAgain {
            self.retries + 1
        } else {
            0
        };
        match presented {
            Presented::Shown => self.repaint_after(delay),
            Presented::TryAgain if self.retries <= MAX_RETRIES => {
                self.repaint_after(Duration::ZERO);
            }
            // Jobs and clocks continue while invisible.
            Presented::TryAgain | Presented::Hidden => {
                self.repaint_after(delay.max(Duration::from_millis(250)));
            }
        }
        if self.workbench.wants_to_quit() {
            self.workbench.close();
            event_loop.exit();
        }
    }

    /// Repaints within this time, or sooner if requested earlier.
    fn repaint_after(&mut self, delay: Duration) {
        if let Some(at) = Instant::now().checked_add(delay) {
            self.repaint_at = Some(self.repaint_at.map_or(at, |before| before.min(at)));
        }
    }

    /// Handles what is due, and returns the next deadline.
    fn schedule(&mut self, event_loop: &ActiveEventLoop) {
        let now = Instant::now();
        if self.drop_complete_at.is_some_and(|at| at <= now) {
            self.drop_complete_at = None;
            self.workbench.open_files(std::mem::take(&mut self.dropped));
            self.repaint_at = Some(now);
        }
        if self.repaint_at.is_some_and(|at| at <= now) {
            self.repaint_at = None;
            if let Some(running) = &self.running {
                running.window.request_redraw();
            }
        }
        let next = [self.repaint_at, self.drop_complete_at]
            .into_iter()
            .flatten()
            .min();
        event_loop.set_control_flow(next.map_or(ControlFlow::Wait, ControlFlow::WaitUntil));
    }
}

/// The camera action of a number pad key.
fn numpad_action(ctx: &egui::Context, key: &KeyEvent) -> Option<Action> {
    let PhysicalKey::Code(code) = key.physical_key else {
        return None;
    };
    let asked = numpad::camera_action(code, ctx.input(|input| input.modifiers.command))?;
    key.state.is_pressed().then_some(Action::Camera(asked))
}

impl ApplicationHandler<WindowRequest> for Shell {
    fn resumed(&mut self, event_loop: &ActiveEventLoop) {
        if self.running.is_some() {
            return;
        }
        match self.open_window(event_loop) {
            Ok(running) => {
                running.window.request_redraw();
                self.running = Some(running);
            }
            Err(error) => {
                self.failure = Some(error);
                event_loop.exit();
            }
        }
    }

    fn new_events(&mut self, _event_loop: &ActiveEventLoop, cause: StartCause) {
        if let StartCause::ResumeTimeReached { .. } = cause
            && let Some(at) = self.repaint_at
        {
            self.repaint_at = Some(at.min(Instant::now()));
        }
    }

    fn user_event(&mut self, event_loop: &ActiveEventLoop, wake: WindowRequest) {
        match wake {
            WindowRequest::Look(delay) => self.repaint_after(delay),
            WindowRequest::Leave => {
                log::info!("the system asked to end");
                self.workbench.leave();
                event_loop.exit();
            }
        }
    }

    fn window_event(
        &mut self,
        event_loop: &ActiveEventLoop,
        _window: WindowId,
        event: WindowEvent,
    ) {
        let Some(running) = &mut self.running else {
            return;
        };
        match &event {
            WindowEvent::RedrawRequested => return self.frame(event_loop),
            WindowEvent::CloseRequested => {
                // A question to the user may have to be drawn first.
                running.window.set_minimized(false);
                self.workbench.raise(Action::Quit);
                return self.frame(event_loop);
            }
            WindowEvent::Destroyed => return event_loop.exit(),
            WindowEvent::DroppedFile(path) => {
                self.dropped.push(path.clone());
                self.drop_complete_at = Some(Instant::now() + DROP_PAUSE);
            }
            WindowEvent::KeyboardInput { event: key, .. } if !self.ctx.text_edit_focused() => {
                if let Some(action) = numpad_action(&self.ctx, key) {
                    self.workbench.raise(action);
                    return running.window.request_redraw();
                }
            }
            WindowEvent::Resized(size) => running.graphics.resize(size.width, size.height),
            _ => {}
        }
        if running
            .input
            .on_window_event(&running.window, &event)
            .repaint
        {
            running.window.request_redraw();
        }
    }

    fn about_to_wait(&mut self, event_loop: &ActiveEventLoop) {
        self.schedule(event_loop);
    }

    fn exiting(&mut self, _event_loop: &ActiveEventLoop) {
        if let Some(running) = &self.running {
            let window = &running.window;
            let size: LogicalSize<u32> = window.inner_size().to_logical(window.scale_factor());
            self.workbench
                .remember_window([size.width, size.height], window.is_maximized());
        }
        // The surface must be dropped before the window, and the window before the display.
        self.running = None;
    }
}
