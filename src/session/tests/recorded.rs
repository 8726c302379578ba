//! Recorded frames: scrubbing back shows what was simulated, and playing goes on from it.

use super::*;
use crate::dynamics::{Collisions, Preset};
use crate::math::Point;
use crate::methods::MethodId;
use crate::rig::KeyRef;

/// Seconds between ticks.
const DT: f64 = 1.0 / 60.0;

/// What a view shows in a frame.
#[derive(Debug, Clone, PartialEq)]
struct Shown {
    time_secs: f64,
    positions: Vec<Point>,
    joints: Vec<crate::math::Affine>,
}

fn shown(session: &Session, view: ViewId) -> Shown {
    let snapshot = session.snapshot_of(view).unwrap();
    Shown {
        time_secs: session.channels().active().playback().time_secs,
        positions: snapshot.positions().to_vec(),
        joints: snapshot.world_from_joint.clone(),
    }
}

/// Waits until all posted frames are simulated, and presents them.
fn finish(session: &mut Session) {
    let start = Instant::now();
    while session
        .jobs
        .stages
        .live_workers()
        .any(|(_, worker)| !worker.has_finished())
    {
        assert!(start.elapsed() < Duration::from_mins(1));
        std::thread::sleep(Duration::from_micros(200));
    }
    session.tick(0.0);
}

/// Plays a number of frames; what each view shows in each of them.
fn play(session: &mut Session, frames: usize) -> Vec<Vec<Shown>> {
    session.apply_once(Command::SetPlaying(true));
    let views: Vec<ViewId> = session.views().list().iter().map(|view| view.id).collect();
    let frame = |_| {
        session.tick(DT);
        finish(session);
        views.iter().map(|&view| shown(session, view)).collect()
    };
    (0..frames).map(frame).collect()
}

fn scrub(session: &mut Session, time_secs: f64) {
    session.apply_once(Command::SetPlaying(false));
    session.apply_once(Command::Scrub { time_secs });
    finish(session);
}

fn with_method(name: &str, method: &str, params: Params) -> Session {
    let mut session = Session::with_params(&params);
    session.apply_once(Command::SetMethod(MethodId::from_id(method).unwrap()));
    session.apply_once(Command::Open(Source::builtin(name)));
    run_until_idle(&mut session);
    session.apply_once(Command::SelectClip(Some(0)));
    run_until_idle(&mut session);
    session
}

fn positions(frame: &[Shown]) -> &[Point] {
    &frame[0].positions
}

#[test]
fn playing_on_from_a_recorded_frame_gives_the_same_bits() {
    let contacts = Params {
        collisions: Collisions::Local,
        ..Params::default()
    };
    for (method, params) in [
        ("pd", contacts),
        ("pd", Preset::Jelly.params()),
        ("implicit", Params::default()),
        ("xpbd", Params::default()),
    ] {
        let mut session = with_method("cylinder", method, params);
        let first = play(&mut session, 60);
        assert!(first.iter().all(|frame| frame[0].positions.len() > 100));
        assert!(positions(&first[29]) != positions(&first[59]), "{method}");
        assert_eq!(session.recorded().frames.len(), 60, "{method}");
        scrub(&mut session, first[29][0].time_secs);
        let view = session.active_view().id;
        assert!(shown(&session, view) == first[29][0], "{method}: frame 30");
        run_until_idle(&mut session);
        assert!(shown(&session, view) == first[29][0], "{method}: moved");
        let again = play(&mut session, 30);
        for (frame, (again, first)) in again.iter().zip(&first[30..]).enumerate() {
            assert!(again == first, "{method}: frame {}", frame + 31);
        }
        assert_eq!(session.recorded().frames.len(), 60, "{method}: replaced");
    }
}

#[test]
fn all_views_of_a_clock_go_back_together() {
    let mut session = with_method("cylinder", "pd", Params::default());
    let (first, id) = (session.active_view().id, session.views().next_id());
    session.apply_once(Command::View(ViewCommand::Add { id, like: first }));
    session.apply_once(Command::View(ViewCommand::SetMethod {
        view: id,
        method: MethodId::from_id("xpbd").unwrap(),
    }));
    run_until_idle(&mut session);
    let frames = play(&mut session, 40);
    let bytes = session.recorded().bytes;
    assert!(bytes > 0);
    for at in [10, 25, 3] {
        scrub(&mut session, frames[at][0].time_secs);
        for (view, frame) in [first, id].into_iter().zip(&frames[at]) {
            assert!(shown(&session, view) == *frame, "frame {at}");
        }
    }
    let again = play(&mut session, 20);
    assert!(again == frames[4..24], "playing on from frame 3");
}

#[test]
fn blending_at_the_seam_of_a_loop_is_recorded() {
    let mut session = with_method("cylinder", "pd", Params::default());
    session.apply_once(Command::SetRange(Some([0.5, 0.8])));
    session.apply_once(Command::Scrub { time_secs: 0.5 });
    let first = play(&mut session, 24);
    let at = first
        .windows(2)
        .position(|frames| frames[1][0].time_secs < frames[0][0].time_secs)
        .unwrap()
        + 2;
    scrub(&mut session, first[at][0].time_secs);
    let playback = session.channels().active().playback();
    assert!(playback.is_blending(), "frame {at}");
    let view = session.active_view().id;
    assert!(shown(&session, view) == first[at][0]);
    run_until_idle(&mut session);
    assert!(
        shown(&session, view) == first[at][0],
        "the blending goes on"
    );
    let again = play(&mut session, 23 - at);
    assert!(again == first[at + 1..]);
}

#[test]
fn memory_is_bounded_and_thinned_frames_are_simulated_again() {
    let mut session = with_method("cylinder", "pd", Params::default());
    session.apply_once(Command::Scrub { time_secs: 0.5 });
    let first = play(&mut session, 8);
    let of_frame = session.recorded().bytes / 8;
    let budget = 12 * of_frame;
    session.set_recording_bytes(budget);
    let more = play(&mut session, 40);
    let frames: Vec<_> = first.into_iter().chain(more).collect();
    let recorded = session.recorded().clone();
    assert!(recorded.bytes <= budget && recorded.bytes > budget / 2);
    let thinned = recorded.frames.iter().filter(|frame| !frame.kept).count();
    assert_eq!(recorded.frames.len(), 48, "all frames are there");
    assert!(thinned >= 30, "{thinned}");
    let view = session.active_view().id;
    for frame in frames.iter().step_by(5) {
        scrub(&mut session, frame[0].time_secs);
        assert!(shown(&session, view) == frame[0]);
    }
    session.set_recording_bytes(0);
    session.tick(0.0);
    assert!(session.recorded().frames.is_empty());
    assert_eq!(session.recorded().bytes, 0);
}

#[test]
fn what_the_frames_depend_on_drops_them() {
    let mut session = with_method("cylinder", "pd", Params::default());
    session.apply_once(KeysCommand::NewClip { duration_secs: 2.0 }.into());
    session.apply_once(KeysCommand::SetAutoKey(true).into());
    session.apply_once(Command::Scrub { time_secs: 1.0 });
    session.apply_once(turn(60.0));
    session.apply_once(Command::Scrub { time_secs: 0.0 });
    run_until_idle(&mut session);
    let clip = session.channels().active().playback().clip;
    let count = |session: &mut Session| {
        session.tick(0.0);
        finish(session);
        session.recorded().frames.len()
    };
    play(&mut session, 10);
    session.apply_once(Command::SetPlaying(false));
    assert_eq!(count(&mut session), 10);
    // The pose made by hand is not of the clip, which comes back as it was.
    session.apply_once(Command::SelectClip(None));
    assert_eq!(count(&mut session), 0, "no clip is shown");
    session.apply_once(Command::SelectClip(clip));
    assert_eq!(count(&mut session), 10);
    let key = KeyRef::of_joint(1, 1.0);
    session.apply_once(
        KeysCommand::DeleteKeys {
            clip: clip.unwrap(),
            keys: vec![key],
        }
        .into(),
    );
    assert_eq!(count(&mut session), 0, "a key was deleted");
    play(&mut session, 10);
    session.apply_once(Command::SetPlaying(false));
    session.apply_once(Command::SetParams(Preset::Soft.params()));
    assert_eq!(count(&mut session), 0, "other parameters");
}

#[test]
fn frames_that_were_not_simulated_settle() {
    let mut session = with_method("cylinder", "pd", Params::default());
    let first = play(&mut session, 45);
    let later = first[44][0].time_secs + 0.3;
    scrub(&mut session, later);
    run_until_idle(&mut session);
    assert_eq!(session.channels().active().playback().time_secs, later);
    let view = session.active_view().id;
    let walked = shown(&session, view);
    session.apply_once(Command::ResetSimulation);
    finish(&mut session);
    run_until_idle(&mut session);
    let (settled, size) = (shown(&session, view), session.subject().unwrap().size);
    let pairs = settled.positions.iter().zip(&walked.positions);
    let moved = pairs.map(|(a, b)| (a - b).norm()).fold(0.0, f32::max);
    assert!(moved < 1e-3 * size, "it was at rest: {moved}");
    // Of a recorded frame, resetting shows the settled pose.
    scrub(&mut session, first[40][0].time_secs);
    assert!(shown(&session, view) == first[40][0]);
    session.apply_once(Command::ResetSimulation);
    finish(&mut session);
    assert!(positions(&[shown(&session, view)]) != positions(&first[40]));
}
