//! A crowd in the window: it is asked for, comes, is drawn, is framed, and goes. Needs an adapter (software Vulkan will do).

use std::time::{Duration, Instant};

use crate::common::on_device;
use egui::{Ui, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use image::RgbaImage;
use sinew::app::actions::Action;
use sinew::app::actions::CameraAction;
use sinew::app::actions::ViewRequest;
use sinew::app::look::{Backdrop, Look};
use sinew::app::viewport::painter::{GpuPainter, NoTextures};
use sinew::app::workbench::Workbench;
use sinew::math::Point64;
use sinew::methods::MethodId;
use sinew::render::{NamedView, Renderer};
use sinew::session::{Command, DeviceChoice, Gesture, Session, Source, ViewCommand};

struct Window {
    bench: Workbench,
    painter: GpuPainter,
}

type Shown = Harness<'static, Window>;

/// Steps until the camera has flown where it is sent.
const FLIGHT: usize = 60;

/// A window that draws on a device of its own.
fn window(method: MethodId) -> Option<Shown> {
    let gpu = on_device::own()?;
    let mut session = Session::new();
    session.devices_mut().choose(DeviceChoice::Cpu);
    session.apply_once(Command::SetMethod(method));
    session.apply_once(Command::Open(Source::builtin("cylinder")));
    let mut bench = Workbench::with_session(session);
    bench.ask_for_device(Some(DeviceChoice::Cpu));
    bench.set_gpu(Some(&gpu));
    let painter = GpuPainter::with(Renderer::new(&gpu));
    let draw = |ui: &mut Ui, window: &mut Window| {
        window.bench.ui(ui, &mut window.painter.on(&mut NoTextures));
    };
    let mut shown = Harness::builder()
        .with_size(vec2(1000.0, 700.0))
        .build_ui_state(draw, Window { bench, painter });
    wait_until(&mut shown, "the character is open", |session| {
        session.snapshot().is_some()
    });
    let id = shown.state().bench.session().active_view().id;
    raise(
        &mut shown,
        Action::SetLook(
            id,
            Look {
                backdrop: Backdrop::White,
                ground: false,
                bones: false,
                ..Look::default()
            },
        ),
    );
    Some(shown)
}

/// Steps until something holds and all work is done.
fn wait_until(shown: &mut Shown, what: &str, holds: impl Fn(&Session) -> bool) {
    let start = Instant::now();
    while !holds(shown.state().bench.session()) || !shown.state().bench.session().jobs().is_empty()
    {
        assert!(
            start.elapsed() < Duration::from_mins(1),
            "waited in vain: {what}; {:?}",
            shown.state().bench.session().messages()
        );
        shown.step();
        std::thread::sleep(Duration::from_millis(5));
    }
    shown.run_steps(10);
}

fn raise(shown: &mut Shown, action: Action) {
    shown.state_mut().bench.raise(action);
    shown.run_steps(10);
}

fn has_crowd(session: &Session, count: u32) -> bool {
    session
        .crowd_of(session.active_view().id)
        .is_some_and(|crowd| crowd.skin.instances() == count)
}

/// Pixels of the view that show somebody, and of these those at its edges.
fn somebody(shown: &Shown) -> [usize; 2] {
    let window = shown.state();
    let picture: RgbaImage = window
        .painter
        .image(window.bench.session().active_view().id.0)
        .expect("a picture");
    let (width, height) = picture.dimensions();
    let seen = |pixel: &image::Rgba<u8>| pixel.0[..3].iter().any(|&c| c < 245);
    let at_edge = |x: u32, y: u32| x == 0 || y == 0 || x + 1 == width || y + 1 == height;
    let all: Vec<bool> = picture
        .enumerate_pixels()
        .filter(|(_, _, pixel)| seen(pixel))
        .map(|(x, y, _)| at_edge(x, y))
        .collect();
    [all.len(), all.iter().filter(|edge| **edge).count()]
}

/// Points of the screen a unit.
fn scale(shown: &Shown) -> f32 {
    let map = shown
        .state()
        .bench
        .viewport()
        .expect("a view")
        .map()
        .expect("it has a size");
    let [from, to] = [Point64::origin(), Point64::new(1.0, 0.0, 0.0)]
        .map(|place| map.project(&place).expect("before the eye"));
    from.distance(to)
}

/// Seen from above in parallel, four cover four times as much as one.
#[test]
fn all_of_a_crowd_are_drawn_in_one_picture_and_framed() {
    for method in [MethodId::LBS, MethodId::PD] {
        let Some(mut shown) = window(method) else {
            return;
        };
        raise(&mut shown, Action::View(ViewRequest::Crowd(4)));
        assert!(
            shown.state().bench.session().snapshot().is_some(),
            "one is shown until the others are there"
        );
        wait_until(&mut shown, "a crowd", |session| has_crowd(session, 4));
        shown.run_steps(FLIGHT);
        let [four, cut_off] = somebody(&shown);
        assert!(
            four > 300 && cut_off == 0,
            "they come into view by themselves: {four} pixels, {cut_off} at the edges"
        );
        raise(&mut shown, Action::Camera(CameraAction::ToggleProjection));
        raise(&mut shown, Action::LookFrom(NamedView::Top));
        shown.run_steps(FLIGHT);
        let [four, cut_off] = somebody(&shown);
        assert!(
            four > 300 && cut_off == 0,
            "{four} pixels, {cut_off} at the edges"
        );
        let four = four as f32 / scale(&shown).powi(2);
        assert!(
            shown.query_by_label("Score").is_some(),
            "it says how fast it is"
        );
        let from_far = scale(&shown);
        raise(&mut shown, Action::View(ViewRequest::Crowd(1)));
        wait_until(&mut shown, "one", |session| !has_crowd(session, 4));
        shown.run_steps(FLIGHT);
        assert!(
            scale(&shown) > 1.2 * from_far,
            "the camera comes closer to one"
        );
        let one = somebody(&shown)[0] as f32 / scale(&shown).powi(2);
        assert!(
            (four - 4.0 * one).abs() < four / 20.0,
            "{method:?}: four cover {four}, one {one}"
        );
    }
}

/// A clip plays with the crowd; a crowd is no place to compare.
#[test]
fn a_crowd_plays_with_the_clock_and_is_compared_with_nothing() {
    let Some(mut shown) = window(MethodId::LBS) else {
        return;
    };
    let id = shown.state().bench.session().active_view().id;
    raise(
        &mut shown,
        Action::Session(
            Command::View(ViewCommand::SetCompare {
                view: id,
                method: Some(MethodId::DQS),
            }),
            Gesture::Once,
        ),
    );
    raise(&mut shown, Action::View(ViewRequest::Crowd(4)));
    assert_eq!(shown.state().bench.session().active_view().compare, None);
    wait_until(&mut shown, "a crowd", |session| has_crowd(session, 4));
    raise(&mut shown, Action::View(ViewRequest::Wipe));
    let session = shown.state().bench.session();
    assert_eq!(session.active_view().compare, None);
    assert!(
        session
            .messages()
            .iter()
            .any(|message| message.text.contains("one method")),
        "{:?}",
        session.messages()
    );
    raise(
        &mut shown,
        Action::Session(Command::SelectClip(Some(0)), Gesture::Once),
    );
    raise(
        &mut shown,
        Action::Session(Command::Scrub { time_secs: 0.3 }, Gesture::Once),
    );
    wait_until(&mut shown, "the moment", |session| has_crowd(session, 4));
    let [moment, _] = somebody(&shown);
    raise(
        &mut shown,
        Action::Session(Command::SetPlaying(true), Gesture::Once),
    );
    let before = shown
        .state()
        .bench
        .session()
        .crowd_of(id)
        .map(|crowd| crowd.sequence);
    wait_until(&mut shown, "frames", |session| {
        session.crowd_of(id).map(|crowd| crowd.sequence) > before.map(|before| before + 5)
    });
    raise(
        &mut shown,
        Action::Session(Command::SetPlaying(false), Gesture::Once),
    );
    let [later, _] = somebody(&shown);
    assert_ne!(moment, later, "the picture stands still");
}
