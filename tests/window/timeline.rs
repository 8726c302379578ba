//! Timeline and library of poses as a hand uses them, without a window.

mod curves;
mod feet;
mod keys;
mod morphs;

use std::sync::Arc;
use std::time::{Duration, Instant};

use egui::accesskit::Role;
use egui::{Event, Key, Modifiers, PointerButton, Pos2, Ui, pos2, vec2};
use egui_kittest::Harness;
use egui_kittest::kittest::Queryable;
use sinew::app::actions::{Action, Actions};
use sinew::app::panels::poses::{PosesState, PosesView, poses_ui};
use sinew::app::theme;
use sinew::app::timeline::{TimelineState, TimelineView, keyboard, timeline_ui};
use sinew::methods::Capability;
use sinew::rig::NamedPose;
use sinew::session::{Command, Gesture, KeysCommand, Scrubbing, Session, Source};

/// A session, the timeline over it, and what was raised in the last pass.
struct Stage {
    session: Session,
    timeline: TimelineState,
    poses: PosesState,
    actions: Actions,
    raised: Vec<Action>,
}

fn opened() -> Session {
    open("cylinder")
}

fn open(name: &str) -> Session {
    let mut session = Session::new();
    session.apply_once(Command::Open(Source::builtin(name)));
    idle(&mut session);
    session
}

/// Waits until all is done.
fn idle(session: &mut Session) {
    let start = Instant::now();
    while session.tick(1.0 / 60.0).active {
        assert!(
            start.elapsed() < Duration::from_mins(1),
            "{:?}",
            session.jobs()
        );
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn keys(command: KeysCommand) -> Command {
    Command::Keys(command)
}

/// A clip of two seconds in which joint 1 has keys at frames 0 and 30.
fn keyed() -> (Session, usize) {
    let mut session = opened();
    session.apply_once(keys(KeysCommand::NewClip { duration_secs: 2.0 }));
    let clip = session
        .channels()
        .active()
        .playback()
        .clip
        .expect("it is shown");
    session.apply_once(keys(KeysCommand::SetAutoKey(true)));
    session.apply_once(Command::Scrub { time_secs: 1.0 });
    session.apply_once(Command::SetJointAngles {
        joint: 1,
        degrees: [0.0, 0.0, 60.0],
    });
    session.apply_once(Command::Scrub { time_secs: 0.0 });
    session.apply_once(Command::SelectJoint(Some(1)));
    (session, clip)
}

/// Draws the timeline and carries out what it raises, as the workbench does.
fn stage(session: Session, open: bool) -> Harness<'static, Stage> {
    let mut timeline = TimelineState::default();
    timeline.open = open;
    let stage = Stage {
        session,
        timeline,
        poses: PosesState::default(),
        actions: Actions::default(),
        raised: Vec::new(),
    };
    let draw = |ui: &mut Ui, stage: &mut Stage| {
        let Stage {
            session,
            timeline,
            actions,
            raised,
            ..
        } = stage;
        let view = TimelineView::of(session);
        keyboard(ui.ctx(), &view, timeline, actions);
        timeline_ui(ui, &view, timeline, actions);
        for action in actions.take() {
            raised.push(action.clone());
            if let Action::Session(command, gesture) = action {
                session.apply(command, gesture);
            }
        }
    };
    let mut harness = Harness::builder()
        .with_size(vec2(900.0, 220.0))
        .build_ui_state(draw, stage);
    theme::apply(&harness.ctx);
    harness.run();
    assert_eq!(harness.state().raised, [], "untouched, it raises nothing");
    harness
}

fn press(
    harness: &mut Harness<'_, Stage>,
    at: Pos2,
    button: PointerButton,
    pressed: bool,
    modifiers: Modifiers,
) {
    harness.event(Event::PointerMoved(at));
    harness.run();
    harness.event(Event::PointerButton {
        pos: at,
        button,
        pressed,
        modifiers,
    });
    harness.run();
}

/// A click of the secondary button. A button that is held for a whole frame of the harness does not click.
fn secondary_click(harness: &mut Harness<'_, Stage>, at: Pos2) {
    harness.event(Event::PointerMoved(at));
    for pressed in [true, false] {
        harness.event(Event::PointerButton {
            pos: at,
            button: PointerButton::Secondary,
            pressed,
            modifiers: Modifiers::NONE,
        });
    }
    harness.run();
}

fn drag(harness: &mut Harness<'_, Stage>, from: Pos2, to: Pos2) {
    press(harness, from, PointerButton::Primary, true, Modifiers::NONE);
    for step in 1..=5 {
        harness.event(Event::PointerMoved(
            from + (to - from) * (step as f32 / 5.0),
        ));
        harness.run();
    }
    press(harness, to, PointerButton::Primary, false, Modifiers::NONE);
}

/// Where a frame is on the axis of a clip of 60 frames, and the middle of a row.
fn place(harness: &Harness<'_, Stage>, frame: f32, row: f32) -> Pos2 {
    let times = harness.get_by_label("Keys over time").rect();
    pos2(
        times.left() + 10.0 + (times.width() - 36.0) * frame / 60.0,
        times.top() + 24.0 + 18.0 * (row + 0.5),
    )
}

fn times_of(session: &Session, clip: usize, joint: usize) -> Vec<f64> {
    let take = session.document().clips().take(clip).expect("it is a take");
    take.keys(joint)
        .iter()
        .map(|key| (key.time_secs * 30.0).round())
        .collect()
}

#[test]
fn transport_plays_steps_and_chooses_clips() {
    let (session, clip) = keyed();
    let mut harness = stage(session, false);
    harness.get_by_label("Forward one frame").click();
    harness.run();
    assert!(
        (harness
            .state()
            .session
            .channels()
            .active()
            .playback()
            .time_secs
            * 30.0
            - 1.0)
            .abs()
            < 1e-6
    );
    harness.get_by_label("Back one frame").click();
    harness.run();
    harness.get_by_label("Back one frame").click();
    harness.run();
    assert!(
        (harness
            .state()
            .session
            .channels()
            .active()
            .playback()
            .time_secs
            * 30.0
            - 60.0)
            .abs()
            < 1e-6,
        "round the loop"
    );
    harness.get_by_label("To the start").click();
    harness.run();
    assert!(
        harness
            .state()
            .session
            .channels()
            .active()
            .playback()
            .time_secs
            .abs()
            < 1e-9
    );
    harness.get_by_label("Loop").click();
    harness.run();
    assert!(
        !harness
            .state()
            .session
            .channels()
            .active()
            .playback()
            .looping
    );
    harness.get_by_label("Clip").click();
    harness.run();
    harness.get_by_label("Pose by hand").click();
    harness.run();
    assert_eq!(
        harness.state().session.channels().active().playback().clip,
        None
    );
    assert_eq!(
        harness
            .state()
            .session
            .channels()
            .active()
            .edited_clip(&harness.state().session.document().clips())
            .map(|(clip, _)| clip),
        Some(clip)
    );
    harness.state_mut().raised.clear();
    harness.get_by_label("Auto-key").click();
    harness.run();
    assert_eq!(
        harness.state().raised,
        [Action::Session(
            keys(KeysCommand::SetAutoKey(false)),
            Gesture::Once
        )]
    );
}

#[test]
fn the_ruler_scrubs_in_whole_frames_and_arrows_step() {
    let (session, _) = keyed();
    let mut harness = stage(session, true);
    let (from, to) = (place(&harness, 5.0, -0.9), place(&harness, 41.3, -0.9));
    drag(&mut harness, from, to);
    assert!(
        (harness
            .state()
            .session
            .channels()
            .active()
            .playback()
            .time_secs
            * 30.0
            - 41.0)
            .abs()
            < 1e-6
    );
    harness.key_press(Key::ArrowRight);
    harness.run();
    assert!(
        (harness
            .state()
            .session
            .channels()
            .active()
            .playback()
            .time_secs
            * 30.0
            - 42.0)
            .abs()
            < 1e-6
    );
    assert_eq!(
        harness.state().session.undo_label(),
        Some("Set joint angles"),
        "looking is no step to undo"
    );
}

#[test]
fn ends_of_the_range_are_dragged_to_frames() {
    let (mut session, _) = keyed();
    session.apply_once(Command::Scrub { time_secs: 1.0 });
    let mut harness = stage(session, true);
    let (from, to) = (
        place(&harness, 0.0, -0.75) + vec2(3.0, 0.0),
        place(&harness, 15.0, -0.75),
    );
    drag(&mut harness, from, to);
    let range = harness
        .state()
        .session
        .channels()
        .active()
        .playback()
        .range_secs
        .expect("a part of it");
    assert!(
        (range[0] - 0.5).abs() < 1e-6 && (range[1] - 2.0).abs() < 1e-6,
        "{range:?}"
    );
}

#[test]
fn a_clip_of_a_file_offers_an_editable_copy_and_methods_that_simulate_a_switch() {
    let mut session = opened();
    session.apply_once(Command::SelectClip(Some(0)));
    let simulates = session.active_view().method.has(Capability::State);
    let mut harness = stage(session, true);
    harness
        .get_by_role_and_label(Role::Button, "Make an editable copy")
        .click();
    harness.run();
    assert_eq!(
        harness.state().raised,
        [Action::Session(
            keys(KeysCommand::Duplicate { clip: 0 }),
            Gesture::Once
        )]
    );
    assert_eq!(harness.query_by_label("Dynamic").is_some(), simulates);
    if simulates {
        harness.get_by_label("Dynamic").click();
        harness.run();
        assert_eq!(
            harness.state().session.ranges().scrubbing(),
            Scrubbing::Dynamic
        );
    }
}

#[test]
fn a_pose_is_clicked_blended_and_deleted() {
    let mut session = opened();
    session.apply_once(Command::SetJointAngles {
        joint: 1,
        degrees: [0.0, 0.0, 80.0],
    });
    session.apply_once(keys(KeysCommand::AddPose));
    session.apply_once(Command::ResetPose);
    let stage = Stage {
        session,
        timeline: TimelineState::default(),
        poses: PosesState::default(),
        actions: Actions::default(),
        raised: Vec::new(),
    };
    let draw = |ui: &mut Ui, stage: &mut Stage| {
        let Stage {
            session,
            poses,
            actions,
            raised,
            ..
        } = stage;
        let library: Vec<Arc<NamedPose>> = session.document().pose_library.clone();
        let shown = session.channels().active().pose().clone();
        poses_ui(
            ui,
            &PosesView {
                library: &library,
                pictures: &[],
                shown: &shown,
            },
            poses,
            actions,
        );
        for action in actions.take() {
            raised.push(action.clone());
            if let Action::Session(command, gesture) = action {
                session.apply(command, gesture);
            }
        }
    };
    let mut harness = Harness::builder()
        .with_size(vec2(260.0, 420.0))
        .build_ui_state(draw, stage);
    theme::apply(&harness.ctx);
    harness.run();
    assert_eq!(harness.state().raised, []);
    let angle = |harness: &Harness<'_, Stage>| harness.state().session.joint_angles_deg(1)[2];
    harness.get_by_role_and_label(Role::Button, "Pose").click();
    harness.run();
    assert!((angle(&harness) - 80.0).abs() < 1e-6);
    let slider = harness.get_by_role_and_label(Role::Slider, "Blend").rect();
    drag(
        &mut harness,
        slider.left_center() + vec2(100.0, 0.0),
        slider.left_center() + vec2(55.0, 0.0),
    );
    assert!(
        (20.0..60.0).contains(&angle(&harness)),
        "{}",
        angle(&harness)
    );
    harness.state_mut().session.apply_once(Command::Undo);
    harness.run();
    assert!(
        (angle(&harness) - 80.0).abs() < 1e-6,
        "the drag is one step"
    );
}

#[test]
fn recorded_frames_are_shown_with_their_memory_and_found_by_scrubbing() {
    let (mut session, _) = keyed();
    session.apply_once(Command::SetMethod(sinew::methods::MethodId::PD));
    while session.tick(1.0 / 60.0).active {
        std::thread::sleep(Duration::from_millis(1));
    }
    assert!(session.recorded().frames.is_empty());
    let start = Instant::now();
    // On a busy machine fewer frames may be left once playing has stopped: then once more.
    while session.recorded().frames.len() <= 10 {
        session.apply_once(Command::SetPlaying(true));
        while session.recorded().frames.len() <= 10 {
            assert!(
                start.elapsed() < Duration::from_mins(1),
                "nothing is recorded"
            );
            session.tick(1.0 / 60.0);
            std::thread::sleep(Duration::from_millis(10));
        }
        session.apply_once(Command::SetPlaying(false));
        while session.tick(1.0 / 60.0).active {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    let recorded = session.recorded().clone();
    assert!(recorded.frames.len() > 10 && recorded.bytes > 0);
    let mut harness = stage(session, true);
    let megabytes = (recorded.bytes as f64 / f64::from(1 << 20)).ceil();
    let memory = harness.get_by_label(&format!("{megabytes} MB")).rect();
    harness.event(Event::PointerMoved(memory.center()));
    harness.run();
    let tip = format!("{} frames are recorded", recorded.frames.len());
    assert!(harness.query_by_label_contains(&tip).is_some());
    // On the ruler, the clock goes to the recorded frame next to the pointer. Which frames are recorded depends on the machine's speed.
    let middle = recorded.frames[recorded.frames.len() / 2].time_secs * 30.0;
    let away = if middle > 30.0 { -12.0 } else { 12.0 };
    let [from, to] =
        [middle + away, middle].map(|frame| place(&harness, frame as f32, -1.0) - vec2(0.0, 8.0));
    drag(&mut harness, from, to);
    let time = |harness: &Harness<'_, Stage>| {
        let session = &harness.state().session;
        session.channels().active().playback().time_secs
    };
    let shown = time(&harness);
    // The pointer is at a whole frame, and the recorded one at most half a frame from that.
    let off = (shown * 30.0 - middle).abs();
    assert!(off <= 1.0 + 1e-3, "{shown} instead of frame {middle}");
    assert!(
        recorded.frames.iter().any(|frame| frame.time_secs == shown),
        "{shown}"
    );
}
