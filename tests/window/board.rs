//! The scoreboard in the whole workbench.

use std::path::{Path, PathBuf};

use crate::bench::{wait_until, workbench_on};
use crate::common::folder::TestFolder;
use egui::{Event, Key, Modifiers, PointerButton, Pos2, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::{NodeT, Queryable};
use sinew::app::actions::{Action, ProjectAction};
use sinew::app::workbench::Workbench;
use sinew::methods::MethodId;
use sinew::session::{
    Command, Export, ExportAs, Gesture, Level, Peak, ProjectCommand, ScoreFormat, Session, Source,
    ViewCommand,
};

const CTRL_SHIFT: Modifiers = Modifiers::COMMAND.plus(Modifiers::SHIFT);

/// The cylinder by two methods side by side.
fn workbench() -> Harness<'static, Workbench> {
    let mut session = Session::new();
    session.apply_once(Command::Open(Source::builtin("cylinder")));
    session.apply_once(Command::SetMethod(MethodId::LBS));
    let (like, id) = (session.active_view().id, session.views().next_id());
    for command in [
        ViewCommand::Add { id, like },
        ViewCommand::SetMethod {
            view: id,
            method: MethodId::DQS,
        },
    ] {
        session.apply_once(Command::View(command));
    }
    workbench_on(session)
}

fn act(harness: &mut Harness<'_, Workbench>, action: Action) {
    harness.state_mut().raise(action);
    harness.run_steps(4);
}

fn once(harness: &mut Harness<'_, Workbench>, command: Command) {
    act(harness, Action::Session(command, Gesture::Once));
}

/// Opens the board over the first clip and waits until it is filled.
fn filled() -> Harness<'static, Workbench> {
    let mut harness = workbench();
    once(&mut harness, Command::SelectClip(Some(0)));
    harness.key_press_modifiers(CTRL_SHIFT, Key::B);
    harness.run_steps(3);
    wait_filled(&mut harness);
    harness
}

fn wait_filled(harness: &mut Harness<'_, Workbench>) {
    wait_until(harness, "the board is filled", |bench| {
        let board = bench.session().board();
        let any = bench
            .board()
            .state
            .quantities
            .iter()
            .any(|id| (0..board.lines().len()).any(|line| !board.points(line, id).is_empty()));
        any && board.progress().is_none()
    });
}

fn worst(harness: &Harness<'_, Workbench>, line: usize, quantity: &str) -> Peak {
    harness.state().session().board().peaks(line, quantity)[0]
}

/// The frame of the clock.
fn frame(harness: &Harness<'_, Workbench>) -> f64 {
    let session = harness.state().session();
    session.channels().active().playback().time_secs * session.board().fps()
}

fn click(harness: &mut Harness<'_, Workbench>, pos: Pos2) {
    harness.event(Event::PointerMoved(pos));
    harness.run_steps(2);
    for pressed in [true, false] {
        harness.event(Event::PointerButton {
            pos,
            button: PointerButton::Primary,
            pressed,
            modifiers: Modifiers::NONE,
        });
        harness.run_steps(2);
    }
}

/// All texts that were drawn in the last pass.
fn texts(harness: &Harness<'_, Workbench>) -> Vec<String> {
    fn collect(shape: &egui::Shape, found: &mut Vec<String>) {
        match shape {
            egui::Shape::Text(text) => found.push(text.galley.text().to_owned()),
            egui::Shape::Vec(shapes) => shapes.iter().for_each(|shape| collect(shape, found)),
            _ => {}
        }
    }
    let mut found = Vec::new();
    for clipped in &harness.output().shapes {
        collect(&clipped.shape, &mut found);
    }
    found
}

fn last_message(bench: &Workbench) -> Option<(Level, String)> {
    let message = bench.session().messages().last()?;
    Some((message.level, message.text.clone()))
}

#[test]
fn a_click_on_a_peak_goes_to_its_frame_and_marks_the_worst_place() {
    let mut harness = filled();
    once(&mut harness, Command::SetPlaying(true));
    let peak = worst(&harness, 0, "stretch_p99");
    let label = format!("Peak of Linear blend, frame {}", peak.frame);
    let place = |harness: &Harness<'_, Workbench>| {
        let all = harness.query_all_by_label_contains(&label);
        let rects: Vec<_> = all.map(|node| node.rect()).collect();
        // The plots are from top to bottom in the order of reports: the stretch is the last one.
        rects.last().map(egui::Rect::center).expect("a peak")
    };
    let at = place(&harness);
    click(&mut harness, at);
    assert!((frame(&harness) - f64::from(peak.frame)).abs() < 1e-6);
    let bench = harness.state();
    assert!(
        !bench.session().channels().active().playback().playing,
        "the clock stops there"
    );
    assert_eq!(bench.board().marked(), Some("stretch_p99"));
    let (_, worst_place) = bench
        .session()
        .board()
        .at(0, "stretch_p99", peak.frame)
        .expect("measured");
    let value = format!("{:.3}", worst_place.expect("an edge").value);
    harness.run_steps(4);
    let drawn = texts(&harness);
    assert!(
        drawn.iter().any(|text| text.starts_with(&value)),
        "{value} in {drawn:?}"
    );
}

#[test]
fn a_click_in_a_plot_goes_to_the_frame_under_it_and_the_wheel_zooms() {
    let mut harness = filled();
    let plot = harness.get_by_label("Volume change over time").rect();
    let at = |part: f32| plot.lerp_inside(vec2(part, 0.9));
    click(&mut harness, at(0.3));
    let first = frame(&harness);
    assert!(
        first > 0.0 && (first - first.round()).abs() < 1e-6,
        "{first}"
    );
    click(&mut harness, at(0.6));
    assert!(frame(&harness) > first);
    // Twice as near: the same way on the screen is a shorter time.
    let before = frame(&harness) - first;
    harness.event(Event::MouseWheel {
        unit: egui::MouseWheelUnit::Point,
        delta: vec2(0.0, 300.0),
        phase: egui::TouchPhase::Move,
        modifiers: Modifiers::NONE,
        source: egui::MouseWheelSource::Wheel,
    });
    harness.run_steps(30);
    click(&mut harness, at(0.3));
    let first = frame(&harness);
    click(&mut harness, at(0.6));
    assert!(frame(&harness) - first < before);
}

#[test]
fn the_board_says_what_to_do_and_its_metrics_are_chosen_from_a_list() {
    let mut harness = workbench();
    harness.key_press_modifiers(CTRL_SHIFT, Key::B);
    harness.run_steps(3);
    let sentence = "Choose a clip under the views to see its scores over time.";
    assert!(harness.query_by_label(sentence).is_some());
    once(&mut harness, Command::SelectClip(Some(0)));
    assert!(harness.query_by_label(sentence).is_none());
    harness.get_by_label_contains("Metrics").click();
    harness.run_steps(3);
    harness.get_by_label("Roughness (°)").click();
    harness.run_steps(3);
    harness.get_by_label("Distance, maximum (mm)").click();
    harness.run_steps(3);
    harness.get_by_label("Volume change (%)").click();
    harness.run_steps(3);
    assert_eq!(
        harness.state().board().state.quantities,
        ["stretch_p99", "roughness_deg", "distance_max_mm"]
    );
    wait_filled(&mut harness);
    let board = harness.state().session().board();
    assert_eq!(board.distance_to(), Some(0));
    assert!(board.points(0, "distance_max_mm").is_empty());
    assert!(!board.points(1, "distance_max_mm").is_empty());
    assert!(harness.query_by_label("Roughness over time").is_some());
    assert!(harness.query_by_label("Volume change over time").is_none());
    // Closed, it measures nothing more; projects keep what it shows.
    let saved = harness.state().window_state();
    assert!(saved.board.open);
    harness.key_press_modifiers(CTRL_SHIFT, Key::B);
    harness.run_steps(3);
    assert!(harness.state().session().board().lines().is_empty());
    assert!(harness.query_by_label("Roughness over time").is_none());
    harness.state_mut().restore_window(saved);
    harness.run_steps(3);
    assert!(harness.query_by_label("Roughness over time").is_some());
}

#[test]
fn plots_and_values_are_exported() {
    let folder = TestFolder::new("window-board");
    let export = |harness: &mut Harness<'_, Workbench>, format: ScoreFormat, name: &str| {
        let path: PathBuf = folder.0.join(name);
        let export = Export {
            what: ExportAs::Scores(format),
            ..Export::default()
        };
        let command = ProjectCommand::Export {
            export,
            path: path.clone(),
        };
        once(harness, command.into());
        // Not by their number: what was read goes after a while.
        wait_until(harness, "the message about the export", |bench| {
            last_message(bench)
                .is_some_and(|(level, text)| text.contains(name) || level == Level::Error)
        });
        path
    };
    let mut harness = workbench();
    let nothing = export(&mut harness, ScoreFormat::Svg, "nothing.svg");
    let (level, text) = last_message(harness.state()).expect("a message");
    assert!(
        level == Level::Error && text.contains("no values"),
        "{text}"
    );
    assert!(!Path::exists(&nothing));

    let mut harness = filled();
    act(&mut harness, Action::Project(ProjectAction::AskScores));
    let chosen = harness.get_by_label("Write").accesskit_node().value();
    assert_eq!(chosen.as_deref(), Some("Plots of the scoreboard (.svg)"));
    harness.get_by_label("Cancel").click();
    harness.run_steps(3);

    let svg = export(&mut harness, ScoreFormat::Svg, "plots.svg");
    let svg = std::fs::read_to_string(svg).expect("written");
    for part in [
        "Linear blend",
        "Dual quaternion",
        "Volume change, %",
        "<path",
    ] {
        assert!(svg.contains(part), "no {part}");
    }
    let csv = export(&mut harness, ScoreFormat::Csv, "values.csv");
    let csv = std::fs::read_to_string(csv).expect("written");
    let frames = harness
        .state()
        .session()
        .board()
        .points(0, "volume_change")
        .len();
    assert_eq!(csv.lines().count(), 1 + 2 * frames);
    assert!(csv.starts_with("method,pose,movement,at,volume_change,stretch_p99,failure"));
    let png = export(&mut harness, ScoreFormat::Png, "plots.png");
    let picture = image::open(png).expect("a picture").to_rgb8();
    assert_eq!(picture.dimensions(), (1800, 1200));
    // Ink of the first curve's colour.
    let blue = picture
        .pixels()
        .filter(|pixel| pixel.0 == [0x00, 0x72, 0xb2]);
    assert!(blue.count() > 1000);
}
