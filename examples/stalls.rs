//! Does the window ever wait? Opens characters one after the other while a window without a screen passes 60 times a second, changes
//! methods, poses, plays, splits the view, edits and goes back and forth in the history. Says of each step how long the longest pass
//! took, without the painter, and how long the painter.
//!
//! `cargo run --release --example stalls [--draw] [FILE …]` (each file is a character of its own; by default all built-in ones).
//! Nothing is drawn without `--draw`: a software device draws on the cores that are measured.

use std::time::{Duration, Instant};

use sinew::app::actions::Action;
use sinew::app::actions::{ProjectAction, UnsavedAnswer};
use sinew::app::theme;
use sinew::app::viewport::painter::{
    GpuPainter, NoPainter, NoTextures, Painted, Picture, ViewportPainter,
};
use sinew::app::workbench::Workbench;
use sinew::gpu::GpuContext;
use sinew::methods::MethodId;
use sinew::render::Renderer;
use sinew::session::{Command, Gesture, Mode, RigCommand, Session, Source, ViewCommand};

const FRAME: Duration = Duration::from_micros(16_667);
const SIZE: egui::Vec2 = egui::vec2(1100.0, 640.0);
/// Frames after a command, whatever it starts.
const AFTER: usize = 20;

/// A painter that says how long it took.
struct Timed<'a> {
    inner: &'a mut dyn ViewportPainter,
    spent: Duration,
}

impl ViewportPainter for Timed<'_> {
    fn paint(&mut self, picture: &Picture<'_>) -> Option<Painted> {
        let start = Instant::now();
        let painted = self.inner.paint(picture);
        self.spent += start.elapsed();
        painted
    }
}

/// The longest times since the last report.
#[derive(Default)]
struct Longest {
    pass: Duration,
    paint: Duration,
    passes: usize,
}

struct Stage {
    ctx: egui::Context,
    bench: Workbench,
    painter: Option<GpuPainter>,
    longest: Longest,
    /// The longest pass of all, and in which step.
    worst: (Duration, String),
    title: String,
    frames: usize,
}

impl Stage {
    fn new(draws: bool) -> Self {
        let ctx = egui::Context::default();
        theme::apply(&ctx);
        let painter = draws
            .then(|| GpuContext::headless().ok())
            .flatten()
            .map(|gpu| GpuPainter::with(Renderer::new(&gpu)));
        let bench = Workbench::with_session(Session::new());
        let mut stage = Self {
            ctx,
            bench,
            painter,
            longest: Longest::default(),
            worst: Default::default(),
            title: String::new(),
            frames: 0,
        };
        // Fonts are read in the first passes.
        (0..5).for_each(|_| stage.pass());
        stage.longest = Longest::default();
        stage
    }

    fn pass(&mut self) {
        let start = Instant::now();
        let input = egui::RawInput {
            screen_rect: Some(egui::Rect::from_min_size(egui::Pos2::ZERO, SIZE)),
            time: Some(self.frames as f64 * FRAME.as_secs_f64()),
            ..egui::RawInput::default()
        };
        let (mut unseen, mut none) = (NoTextures, NoPainter);
        let mut on = self.painter.as_mut().map(|painter| painter.on(&mut unseen));
        let inner: &mut dyn ViewportPainter = on.as_mut().map_or(&mut none, |on| on);
        let mut timed = Timed {
            inner,
            spent: Duration::ZERO,
        };
        let bench = &mut self.bench;
        let output = self.ctx.run_ui(input, |ui| bench.ui(ui, &mut timed));
        std::hint::black_box(self.ctx.tessellate(output.shapes, output.pixels_per_point));
        let Longest {
            pass,
            paint,
            passes,
        } = &mut self.longest;
        *pass = (*pass).max(start.elapsed().saturating_sub(timed.spent));
        *paint = (*paint).max(timed.spent);
        *passes += 1;
        self.frames += 1;
        std::thread::sleep(FRAME.saturating_sub(start.elapsed()));
    }

    /// Raises the commands and passes until nothing is under way, then says how long the longest pass took.
    fn step(&mut self, name: &str, commands: impl IntoIterator<Item = Command>) {
        for command in commands {
            self.bench.raise(Action::Session(command, Gesture::Once));
        }
        (0..AFTER).for_each(|_| self.pass());
        while !self.bench.session().jobs().is_empty() {
            self.pass();
        }
        // What was bound last is shown.
        (0..AFTER).for_each(|_| self.pass());
        let Longest {
            pass,
            paint,
            passes,
        } = std::mem::take(&mut self.longest);
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        println!(
            "{:<28} {name:<18} {passes:5} passes   longest {:7.2} ms   painter {:7.2} ms",
            self.title,
            ms(pass),
            ms(paint)
        );
        if pass > self.worst.0 {
            self.worst = (pass, format!("{}: {name}", self.title));
        }
    }

    fn character(&mut self, source: Source, is_first: bool) {
        self.title = source.title();
        self.bench
            .raise(Action::Session(Command::Open(source), Gesture::Once));
        (0..3).for_each(|_| self.pass());
        // What was open has been changed by now.
        self.bench
            .raise(Action::Project(ProjectAction::AnswerUnsaved(
                UnsavedAnswer::DontSave,
            )));
        self.step("open", []);
        let turn = Command::SetJointAngles {
            joint: 1,
            degrees: [0.0, 0.0, 30.0],
        };
        for method in [MethodId::LBS, MethodId::DQS, MethodId::PD] {
            self.step(method.label(), [Command::SetMethod(method), turn.clone()]);
        }
        self.step("play", [Command::TogglePlaying]);
        let active = self.bench.session().active_view().id;
        let second = self.bench.session().views().next_id();
        let other = ViewCommand::SetMethod {
            view: second,
            method: MethodId::LBS,
        };
        self.step(
            "split",
            [
                ViewCommand::Add {
                    id: second,
                    like: active,
                },
                other,
            ]
            .map(Command::View),
        );
        self.step("one view", [Command::View(ViewCommand::Remove(second))]);
        self.step("edit mode", [Command::Rig(RigCommand::SetMode(Mode::Edit))]);
        self.step("pose mode", [Command::Rig(RigCommand::SetMode(Mode::Pose))]);
        if !is_first {
            let opened = self.bench.session().subject().cloned();
            let mut steps = 0;
            while self.bench.session().subject().map(std::sync::Arc::as_ptr)
                == opened.as_ref().map(std::sync::Arc::as_ptr)
                && steps < 20
            {
                self.step("undo", [Command::Undo]);
                steps += 1;
            }
            (0..steps).for_each(|_| self.step("redo", [Command::Redo]));
        }
        for message in self.bench.session().messages() {
            println!("    {message}");
        }
    }
}

fn main() {
    let (options, files): (Vec<String>, Vec<String>) = std::env::args()
        .skip(1)
        .partition(|argument| argument.starts_with("--"));
    let sources: Vec<Source> = if files.is_empty() {
        sinew::io::builtin::NAMES
            .iter()
            .map(|name| Source::builtin(name))
            .collect()
    } else {
        files
            .iter()
            .map(|file| Source::of_files(vec![file.into()]))
            .collect()
    };
    let mut stage = Stage::new(options.iter().any(|option| option == "--draw"));
    for (index, source) in sources.into_iter().enumerate() {
        stage.character(source, index == 0);
    }
    println!(
        "the longest pass of all took {:.2} ms ({})",
        stage.worst.0.as_secs_f64() * 1e3,
        stage.worst.1
    );
}
