//! The timeline as a window uses it.

mod clips;
mod feet;
mod library;
mod recording;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::*;
use crate::math::{Point, Quat, Vec64};
use crate::methods::{Actor, MethodId};
use crate::progress::Progress;
use crate::rig::{Ease, KeyRef, KeyedClip, Pose};

fn keys(command: KeysCommand) -> Command {
    Command::Keys(command)
}

fn turn(degrees: f64) -> Command {
    Command::Pose(PoseCommand::Turn {
        joints: vec![1],
        rotation: Quat::from_axis_angle(&Vec64::z_axis(), degrees.to_radians()),
        axes: TurnAxes::World,
    })
}

fn angle(session: &Session) -> f64 {
    session.joint_angles_deg(1)[2]
}

/// A clip of two seconds that bends the cylinder by 90° in the first.
fn keyed() -> (Session, usize) {
    let mut session = opened();
    session.apply_once(keys(KeysCommand::NewClip { duration_secs: 2.0 }));
    let clip = session.channels().active().playback().clip.unwrap();
    session.apply_once(keys(KeysCommand::SetAutoKey(true)));
    session.apply_once(Command::Scrub { time_secs: 1.0 });
    session.apply_once(turn(90.0));
    (session, clip)
}

#[test]
fn keys_are_moved_in_one_step_and_do_not_overwrite_each_other() {
    let (mut session, clip) = keyed();
    let from = session.document().clips().take(clip).unwrap().clone();
    let which = vec![KeyRef::of_joint(1, 1.0)];
    for by_secs in [-0.5, -1.0, -0.4, 0.5] {
        let command = KeysCommand::MoveKeys {
            clip,
            keys: which.clone(),
            by_secs,
            from: Some(from.clone()),
        };
        session.apply(keys(command), Gesture::Dragging);
    }
    session.end_gesture();
    let times = |session: &Session| {
        session
            .document()
            .clips()
            .take(clip)
            .unwrap()
            .keys(1)
            .iter()
            .map(|key| key.time_secs)
            .collect::<Vec<_>>()
    };
    assert_eq!(times(&session), [0.0, 1.5]);
    session.apply_once(Command::Undo);
    assert_eq!(times(&session), [0.0, 1.0]);
    session.apply_once(keys(KeysCommand::SetInterpolation {
        clip,
        keys: vec![KeyRef::of_joint(1, 0.0)],
        ease: Ease::Step,
    }));
    session.apply_once(Command::Scrub { time_secs: 0.9 });
    assert!(angle(&session).abs() < 1e-6);
    session.apply_once(keys(KeysCommand::DeleteKeys { clip, keys: which }));
    assert_eq!(times(&session), [0.0]);
    session.apply_once(keys(KeysCommand::Delete { clip }));
    assert_eq!(
        (
            session.document().clips().len(),
            session.channels().active().playback().clip
        ),
        (clip, None)
    );
    session.apply_once(Command::Undo);
    assert_eq!(times(&session), [0.0]);
}

#[test]
fn a_drag_with_auto_key_adds_up_and_can_be_reverted() {
    let (mut session, clip) = keyed();
    session.apply_once(Command::Scrub { time_secs: 1.5 });
    let before = session.document().clips().take(clip).unwrap().clone();
    let drag = |degrees: f64| {
        let rotation = Quat::from_axis_angle(&Vec64::z_axis(), degrees.to_radians());
        Command::Pose(PoseCommand::Turn {
            joints: vec![1],
            rotation,
            axes: TurnAxes::World,
        })
    };
    for degrees in [5.0, 11.0, 17.0, 20.0] {
        session.apply(drag(degrees), Gesture::Dragging);
        session.tick(1.0 / 60.0);
    }
    assert!(
        (angle(&session) - 110.0).abs() < 1e-6,
        "since the drag began: {}",
        angle(&session)
    );
    session.apply_once(Command::Pose(PoseCommand::Revert));
    assert_eq!(
        (session.document().clips().take(clip), session.undo_label()),
        (Some(&before), Some("Rotate joints"))
    );
    assert!((angle(&session) - 90.0).abs() < 1e-6);
}

/// What a bake writes.
fn baked(session: &Session, motion: Motion, fps: f64) -> Vec<Vec<Point>> {
    let subject = with_takes(session.subject().unwrap(), &session.document().takes);
    let mut actor = Actor::bind(
        &subject,
        MethodId::PD,
        &session.document().params,
        &Progress::new(),
    )
    .unwrap();
    let mut frames = Vec::new();
    let take = Take::whole(motion, &subject.character, fps);
    take.play(&mut actor, &Progress::new(), |_, actor| {
        frames.push(actor.positions().to_vec());
        Ok::<(), Infallible>(())
    })
    .unwrap();
    frames
}

fn is_complete(session: &Session) -> bool {
    session
        .ranges()
        .frames(session.views())
        .is_some_and(|frames| frames.done == frames.total && frames.of_all >= 1.0)
}

#[test]
fn dynamic_scrubbing_shows_what_a_bake_writes_in_any_order() {
    let (mut session, clip) = keyed();
    session.apply_once(Command::SetMethod(MethodId::PD));
    session.apply_once(Command::SetRange(Some([0.5, 1.5])));
    session.apply_once(keys(KeysCommand::SetScrubbing(Scrubbing::Dynamic)));
    tick_until(&mut session, is_complete);
    let expected = baked(
        &session,
        Motion::Play(ClipPlay {
            range_secs: Some([0.5, 1.5]),
            ..ClipPlay::once(clip)
        }),
        30.0,
    );
    assert_eq!(
        session.ranges().frames(session.views()).unwrap().total as usize,
        expected.len()
    );
    for frame in [30_usize, 0, 12, 29, 3, 12] {
        session.apply_once(Command::Scrub {
            time_secs: 0.5 + frame as f64 / 30.0,
        });
        let shown = session.snapshot().unwrap();
        assert!(shown.positions() == expected[frame], "frame {frame}");
        assert!(
            Arc::ptr_eq(&shown.subject, session.subject().unwrap())
                && shown.world_from_joint == session.channels().active().world_from_joint()
        );
    }
    // Anything that matters starts it anew, and undoing that does, too.
    session.apply_once(Command::Scrub { time_secs: 0.5 });
    session.apply_once(turn(25.0));
    assert!(session.ranges().frames(session.views()).is_none());
    tick_until(&mut session, is_complete);
    let changed = baked(
        &session,
        Motion::Play(ClipPlay {
            range_secs: Some([0.5, 1.5]),
            ..ClipPlay::once(clip)
        }),
        30.0,
    );
    session.apply_once(Command::Scrub { time_secs: 1.5 });
    assert!(session.snapshot().unwrap().positions() == changed[30]);
    session.apply_once(keys(KeysCommand::SetScrubbing(Scrubbing::Settled)));
    assert!(session.ranges().frames(session.views()).is_none());
}

/// What a view is compared with is served, too, and a view with a clock of its own; what is drawn over them moves with the frames.
#[test]
fn dynamic_scrubbing_serves_all_views() {
    let (mut session, clip) = keyed();
    let (first, second) = (session.active_view().id, session.views().next_id());
    let view =
        |session: &mut Session, command: ViewCommand| session.apply_once(Command::View(command));
    view(
        &mut session,
        ViewCommand::Add {
            id: second,
            like: first,
        },
    );
    view(
        &mut session,
        ViewCommand::SetMethod {
            view: second,
            method: MethodId::PD,
        },
    );
    view(
        &mut session,
        ViewCommand::SetFree {
            view: second,
            free: true,
        },
    );
    view(
        &mut session,
        ViewCommand::SetMethod {
            view: first,
            method: MethodId::LBS,
        },
    );
    assert!(!session.views().simulates());
    view(
        &mut session,
        ViewCommand::SetCompare {
            view: first,
            method: Some(MethodId::PD),
        },
    );
    assert!(
        session.views().simulates(),
        "although the active view does not"
    );
    session.apply_once(keys(KeysCommand::SetScrubbing(Scrubbing::Dynamic)));
    tick_until(&mut session, is_complete);
    view(&mut session, ViewCommand::Activate(second));
    tick_until(&mut session, is_complete);
    let expected = baked(&session, Motion::Clip(clip), 30.0);
    let last = expected.len() - 1;
    for (frame, other) in [(last, 3), (0, 0), (7, last)] {
        for (view_of, frame) in [(first, frame), (second, other)] {
            view(&mut session, ViewCommand::Activate(view_of));
            session.apply_once(Command::Scrub {
                time_secs: frame as f64 / 30.0,
            });
        }
        // Views of one clock present a frame when all of them have it.
        run_until_idle(&mut session);
        for (shown, frame) in [
            (session.compared_snapshot_of(first), frame),
            (session.snapshot_of(second), other),
        ] {
            let shown = shown.unwrap();
            assert!(
                shown.method == MethodId::PD && shown.positions() == expected[frame],
                "frame {frame}"
            );
            let moved = |vertex: usize| {
                (expected[frame][vertex] - expected[frame.saturating_sub(1)][vertex]) * 30.0
            };
            assert!(
                (0..shown.positions().len())
                    .all(|vertex| (shown.velocities[vertex] - moved(vertex)).norm() < 1e-3)
            );
        }
    }
    // What is no longer visible is dropped.
    view(&mut session, ViewCommand::Remove(second));
    view(
        &mut session,
        ViewCommand::SetCompare {
            view: first,
            method: None,
        },
    );
    assert!(session.ranges().frames(session.views()).is_none() && !session.views().simulates());
}

#[test]
fn settled_scrubbing_depends_on_the_moment_only() {
    let (mut session, clip) = keyed();
    session.apply_once(Command::SetMethod(MethodId::PD));
    let at_rest = |session: &Session| {
        session.jobs().is_empty() && session.shown_method() == Some(MethodId::PD)
    };
    tick_until(&mut session, at_rest);
    let mut seen = Vec::new();
    for time_secs in [0.0, 0.7, 2.0, 0.7] {
        session.apply_once(Command::Scrub { time_secs });
        let start = Instant::now();
        while session.tick(1.0 / 60.0).active {
            assert!(start.elapsed() < Duration::from_mins(1));
            std::thread::sleep(Duration::from_millis(1));
        }
        seen.push(session.snapshot().unwrap().positions().to_vec());
    }
    let size = session.subject().unwrap().size;
    let apart = seen[1]
        .iter()
        .zip(&seen[3])
        .map(|(a, b)| (a - b).norm())
        .fold(0.0, f32::max);
    assert!(apart < 1e-4 * size, "{apart}");
    assert_eq!(session.channels().active().playback().clip, Some(clip));
}
