//! The scoreboard as a window uses it.

use std::time::{Duration, Instant};

use super::curves::{CurveKey, Curves};
use super::lines::lines_of;
use super::*;
use crate::character::SimVertices;
use crate::dynamics::Params;
use crate::methods::MethodId;
use crate::metrics::METRICS;
use crate::param::ParamValues;
use crate::progress::Progress;
use crate::report::{Columns, CompareSettings, Variant, compare};
use crate::session::tests::run_until_idle;
use crate::session::{Command, KeysCommand, Motion, Session, Source, Take, ViewCommand};

const IDS: [&str; 4] = [
    "volume_change",
    "stretch_p99",
    "contact_vertices",
    "distance_max_mm",
];

/// The cylinder, with few simulated vertices, and its clip in a view for each method.
fn shown(methods: &[MethodId]) -> Session {
    let mut session = Session::new();
    session.apply_once(Command::Open(Source::builtin("cylinder")));
    session.apply_once(Command::SetSimVertices(SimVertices::About(300)));
    session.apply_once(Command::SetMethod(methods[0]));
    let like = session.active_view().id;
    for &method in &methods[1..] {
        let id = session.views().next_id();
        session.apply_once(Command::View(ViewCommand::Add { id, like }));
        session.apply_once(Command::View(ViewCommand::SetMethod { view: id, method }));
    }
    run_until_idle(&mut session);
    session.apply_once(Command::SelectClip(Some(0)));
    session
}

fn request(ids: &[&str]) -> BoardRequest {
    BoardRequest {
        quantities: ids.iter().map(|id| (*id).to_owned()).collect(),
        distance_to: None,
    }
}

fn tick_until(session: &mut Session, done: impl Fn(&Board) -> bool) {
    let start = Instant::now();
    while !done(session.board()) {
        assert!(
            start.elapsed() < Duration::from_mins(2),
            "{:?}",
            session.board().progress()
        );
        session.tick(1.0 / 60.0);
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn fill(session: &mut Session) {
    tick_until(session, |board| board.complete);
}

/// The method that is being measured.
fn running(session: &Session) -> Option<MethodId> {
    let run = session.board().run.as_ref()?;
    Some(run.target.basis.method)
}

#[test]
fn values_are_those_of_a_report_in_whatever_order_they_come() {
    let methods = [MethodId::LBS, MethodId::DQS, MethodId::PD];
    let mut session = shown(&methods);
    assert!(session.board().lines().is_empty(), "nobody asked");
    session.board_mut().ask(Some(request(&IDS)));
    fill(&mut session);
    let subject = session.subject().unwrap().clone();
    let take = Take::whole(
        Motion::Clip(0),
        &subject.character,
        crate::session::DEFAULT_FPS,
    );
    let settings = CompareSettings {
        variants: methods
            .map(|method| Variant::of(method, ParamValues::default(), session.document().params))
            .to_vec(),
        results: Vec::new(),
        columns: Columns::of_take(take, "Clip"),
        distance_to: Some(0),
        kept: Vec::new(),
    };
    let report = compare(&subject, &settings, &Progress::new())
        .unwrap()
        .comparison;
    let board = session.board();
    assert_eq!((board.progress(), board.lines().len()), (None, 3));
    assert!(report.poses.len() > 20, "{}", report.poses.len());
    for (line, id) in (0..3).flat_map(|line| IDS.map(|id| (line, id))) {
        let quantity = report.quantities.iter().position(|q| q.id == id).unwrap();
        let points = board.points(line, id);
        if (line, id) == (0, "distance_max_mm") {
            assert!(points.is_empty(), "a line has no distance from itself");
            continue;
        }
        let expected: Vec<(u32, Option<f64>)> = (0..report.poses.len())
            .map(|pose| (pose as u32, report.value(line, pose, quantity)))
            .collect();
        assert_eq!(points, expected, "{id} of {}", board.lines()[line].label);
    }
    // The places are where the values are.
    let [peak, ..] = board.peaks(0, "stretch_p99")[..] else {
        panic!("a bend stretches the skin")
    };
    let (value, place) = board.at(0, "stretch_p99", peak.frame).unwrap();
    assert_eq!(value, Some(peak.value));
    assert!(place.unwrap().value >= peak.value);
    assert_eq!(board.at(0, "volume_change", 0).unwrap().1, None);
    assert_eq!(board.comparison().unwrap().cells.len(), report.cells.len());
}

#[test]
fn a_change_recomputes_what_depends_on_it_and_nothing_else() {
    let mut session = shown(&[MethodId::LBS, MethodId::PD]);
    session.board_mut().ask(Some(request(&["volume_change"])));
    fill(&mut session);
    let before = [0, 1].map(|line| session.board().points(line, "volume_change"));
    // A pose, the selection and another view's clock are no inputs.
    session.apply_once(Command::SelectJoint(Some(1)));
    session.apply_once(Command::Scrub { time_secs: 0.3 });
    session.tick(0.01);
    assert!(session.board().complete);
    // Physics are an input of simulated methods only.
    let soft = Params {
        gravity_m_s2: [0.0, -9.81, 0.0],
        ..session.document().params
    };
    session.apply_once(Command::SetParams(soft));
    session.tick(0.01);
    assert_eq!(session.board().points(0, "volume_change"), before[0]);
    assert!(session.board().points(1, "volume_change").is_empty());
    tick_until(&mut session, |board| board.run.is_some());
    assert_eq!(running(&session), Some(MethodId::PD));
    fill(&mut session);
    assert_ne!(session.board().points(1, "volume_change"), before[1]);
    // What comes back is still known.
    session.apply_once(Command::Undo);
    session.tick(0.01);
    assert_eq!(session.board().points(1, "volume_change"), before[1]);
    tick_until(&mut session, |board| {
        assert!(board.run.is_none(), "nothing is missing");
        board.complete
    });
    // Another metric is measured beside those that are known.
    session
        .board_mut()
        .ask(Some(request(&["volume_change", "skin_energy"])));
    session.tick(0.01);
    assert_eq!(session.board().points(0, "volume_change"), before[0]);
    fill(&mut session);
    assert_eq!(
        session.board().points(0, "skin_energy").len(),
        before[0].len()
    );
}

#[test]
fn cancelling_closing_and_another_clip_end_the_work() {
    let mut session = shown(&[MethodId::PD]);
    session.board_mut().ask(Some(request(&["new_pairs"])));
    tick_until(&mut session, |board| board.run.is_some());
    session.board_mut().cancel();
    assert!(session.board().run.is_none() && session.board().is_cancelled());
    for _ in 0..60 {
        session.tick(1.0 / 60.0);
    }
    assert!(session.board().run.is_none(), "it waits to be asked");
    session.board_mut().resume();
    tick_until(&mut session, |board| board.run.is_some());
    session.apply_once(Command::SelectClip(None));
    session.tick(0.01);
    assert!(session.board().run.is_none() && session.board().lines().is_empty());
    session.apply_once(Command::SelectClip(Some(0)));
    tick_until(&mut session, |board| board.run.is_some());
    session.apply_once(Command::CancelJobs);
    assert!(session.board().run.is_none());
    session.board_mut().resume();
    tick_until(&mut session, |board| {
        !board.points(0, "new_pairs").is_empty()
    });
    session.board_mut().ask(None);
    session.tick(0.01);
    assert!(session.board().run.is_none() && session.board().lines().is_empty());
    assert_eq!(session.board().comparison(), None);
    // Opened again, it goes on.
    session.board_mut().ask(Some(request(&["new_pairs"])));
    fill(&mut session);
    assert!(session.board().points(0, "new_pairs").len() > 20);
}

#[test]
fn values_come_coarse_first_and_make_a_curve_at_once() {
    let mut session = shown(&[MethodId::LBS]);
    session
        .board_mut()
        .ask(Some(request(&["girth_change_min"])));
    tick_until(&mut session, |board| board.run.is_some());
    let run = session.board_mut().run.take().unwrap();
    let mut frames: Vec<usize> = Vec::new();
    let start = Instant::now();
    loop {
        let (measured, outcome) = run.poll();
        frames.extend(measured.iter().map(|(index, _)| *index));
        if outcome.is_some() {
            break;
        }
        assert!(start.elapsed() < Duration::from_mins(1));
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(frames, order::coarse_first(frames.len()));
    assert_eq!(frames[..2], [0, 16]);
}

#[test]
fn memory_is_bounded() {
    let mut session = shown(&[MethodId::LBS]);
    let lines = |session: &Session| {
        let (views, channels) = (session.views(), session.channels());
        lines_of(views, channels, session.document(), None).unwrap()
    };
    let basis = lines(&session).basis(0).unwrap().clone();
    // A clip of 12 001 frames.
    let clip = KeysCommand::NewClip {
        duration_secs: 400.0,
    };
    session.apply_once(clip.into());
    assert_eq!((lines(&session).every, lines(&session).frames), (3, 4001));
    let mut curves = Curves::default();
    let mut most = 0;
    for clip in 0..300 {
        let mut basis = basis.clone();
        basis.clip = clip;
        let key = CurveKey {
            basis,
            metric: METRICS[2],
            against: None,
        };
        curves.keep(std::slice::from_ref(&key), 4096);
        assert!(curves.get(&key).is_some(), "what is wanted is kept");
        most = most.max(curves.len());
    }
    assert!((10..100).contains(&most), "{most}");
}
