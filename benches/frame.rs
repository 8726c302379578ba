//! What a frame of the window costs on the processor, without a window: input and panels, tessellation, and bringing positions and
//! drawing orders to the device. Run with a file to measure another character than the built-in one:
//!
//! `cargo bench --bench frame -- FILE…`

use std::time::{Duration, Instant};

use sinew::app::theme;
use sinew::app::viewport::painter::NoPainter;
use sinew::app::workbench::Workbench;
use sinew::gpu::GpuContext;
use sinew::methods::MethodId;
use sinew::render::{
    Camera, MeshFrame, MeshModel, MeshStyle, NamedView, RenderTarget, Renderer, Scene,
};
use sinew::session::{Command, Session, Snapshot, Source};

const FRAMES: usize = 240;
const SIZE: egui::Vec2 = egui::vec2(1440.0, 900.0);

fn input(frame: usize) -> egui::RawInput {
    // The pointer wanders over the view, so that what is under it is looked for.
    let t = frame as f32 * 0.05;
    let pointer = egui::pos2(620.0 + 160.0 * t.sin(), 430.0 + 120.0 * (1.3 * t).cos());
    egui::RawInput {
        screen_rect: Some(egui::Rect::from_min_size(egui::Pos2::ZERO, SIZE)),
        time: Some(frame as f64 / 60.0),
        events: vec![egui::Event::PointerMoved(pointer)],
        ..egui::RawInput::default()
    }
}

/// Median, 99th percentile and longest, milliseconds.
fn report(name: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |part: f64| times[((times.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e3;
    println!(
        "{name:<34} median {:7.3} ms   p99 {:7.3} ms   longest {:7.3} ms",
        at(0.5),
        at(0.99),
        at(1.0)
    );
}

fn opened(files: &[String]) -> Workbench {
    let source = if files.is_empty() {
        Source::builtin("mannequin")
    } else {
        Source::of_files(files.iter().map(Into::into).collect())
    };
    let mut session = Session::new();
    session.apply_once(Command::SetMethod(MethodId::LBS));
    session.apply_once(Command::Open(source));
    while session.snapshot().is_none() {
        session.tick(0.01);
        std::thread::sleep(Duration::from_millis(5));
        assert!(
            !session.jobs().is_empty() || session.snapshot().is_some(),
            "{:?}",
            session.messages()
        );
    }
    session.apply_once(Command::TogglePlaying);
    Workbench::with_session(session)
}

fn main() {
    let files: Vec<String> = std::env::args()
        .skip(1)
        .filter(|argument| !argument.starts_with("--"))
        .collect();
    let mut bench = opened(&files);
    if let Some(subject) = bench.session().subject() {
        println!(
            "{}: {} vertices, {} joints",
            subject.character.name,
            subject.bind_positions.len(),
            subject.character.skeleton.len()
        );
    }
    let ctx = egui::Context::default();
    theme::apply(&ctx);
    let (mut panels, mut tessellation) = (Vec::new(), Vec::new());
    for frame in 0..FRAMES {
        let start = Instant::now();
        let output = ctx.run_ui(input(frame), |ui| bench.ui(ui, &mut NoPainter));
        let laid_out = Instant::now();
        let primitives = ctx.tessellate(output.shapes, output.pixels_per_point);
        panels.push(laid_out - start);
        tessellation.push(laid_out.elapsed());
        std::hint::black_box(primitives);
    }
    let settled = |times: Vec<Duration>| times.into_iter().skip(20).collect::<Vec<_>>();
    report("input and panels", settled(panels));
    report("tessellation", settled(tessellation));
    match (bench.session().snapshot(), GpuContext::headless()) {
        (Some(snapshot), Ok(gpu)) => device(&gpu, &snapshot),
        _ => println!("no device: upload and drawing orders are not measured"),
    }
}

/// Positions and normals on their way to the device, and the orders for a picture, without waiting for it.
fn device(gpu: &GpuContext, snapshot: &Snapshot) {
    let renderer = Renderer::new(gpu);
    let start = Instant::now();
    let model = MeshModel::of_character(&renderer, &snapshot.subject.character);
    println!(
        "{:<34} once   {:7.3} ms",
        "indices and textures",
        start.elapsed().as_secs_f64() * 1e3
    );
    let mut mesh = MeshFrame::new(&renderer, &model);
    let mut target = RenderTarget::new(&renderer, 980, 760);
    let camera = Camera::framing(
        &snapshot.subject.bounds,
        NamedView::ThreeQuarter,
        980.0 / 760.0,
    );
    let (mut upload, mut orders) = (Vec::new(), Vec::new());
    for _ in 0..FRAMES {
        let start = Instant::now();
        mesh.update(gpu, snapshot.positions(), snapshot.normals());
        let uploaded = Instant::now();
        renderer.render(
            &mut target,
            &camera,
            &Scene::of(&mesh, MeshStyle::default(), 0.0),
        );
        upload.push(uploaded - start);
        orders.push(uploaded.elapsed());
        // A software device draws on the cores that are measured: not at the same time.
        if gpu
            .device
            .poll(wgpu::PollType::wait_indefinitely())
            .is_err()
        {
            return println!("the device was lost");
        }
    }
    report("upload", upload.split_off(20));
    report("drawing orders", orders.split_off(20));
}
