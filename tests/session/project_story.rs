//! The whole story: a bare mesh gets a skeleton, is posed, keyed, undone, redone, saved and opened again, and is what it was.

use std::path::{Path, PathBuf};
use std::process::Command as Program;
use std::time::{Duration, Instant};

use crate::common::folder::TestFolder;
use sinew::io::builtin::load_builtin;
use sinew::math::Point64;
use sinew::methods::MethodId;
use sinew::rig::edit::RigEdit;
use sinew::session::{
    Command, KeysCommand, PoseCommand, ProjectCommand, RigCommand, Session, Source, View,
    ViewCommand, ViewId,
};
use sinew::weights::WeightMethod;

/// Ticks until nothing happens any more.
fn run_until_idle(session: &mut Session) {
    let start = Instant::now();
    while session.tick(1.0 / 60.0).active {
        assert!(
            start.elapsed() < Duration::from_mins(2),
            "never idle; jobs: {:?}",
            session.jobs()
        );
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn apply(session: &mut Session, command: Command) {
    session.apply_once(command);
    run_until_idle(session);
}

fn open(path: &Path) -> Session {
    let mut session = Session::new();
    session.apply_once(Command::SetMethod(MethodId::LBS));
    apply(
        &mut session,
        Command::Open(Source::of_files(vec![path.to_owned()])),
    );
    assert!(session.subject().is_some(), "{:?}", session.messages());
    session
}

/// The built-in cylinder without its joints.
fn bare_cylinder(folder: &TestFolder) -> PathBuf {
    let path = folder.0.join("cylinder.obj");
    let character = load_builtin("cylinder").expect("built in");
    sinew::io::write_obj(&path, &character, &character.bind_positions(), &[]).expect("written");
    path
}

/// Three joints on the cylinder's axis, a pose, a limit, a pin, a take, a named pose and a second view with a pose of its own.
fn work(session: &mut Session) {
    let bounds = session.subject().expect("open").bounds;
    let (low, high) = (bounds.min.cast::<f64>(), bounds.max.cast::<f64>());
    let at = |t: f64| {
        Point64::from(
            (low.coords + high.coords) * 0.5
                + (high - low).component_mul(&sinew::math::Vec64::y()) * (t - 0.5),
        )
    };
    for (parent, t) in [(None, 0.1), (Some(0), 0.5), (Some(1), 0.9)] {
        apply(
            session,
            Command::Rig(RigCommand::Edit(RigEdit::Add {
                parent,
                position: at(t),
                name: None,
            })),
        );
    }
    assert_eq!(session.document().skeleton().expect("built").len(), 3);
    for step in 1..=8 {
        apply(
            session,
            Command::SetJointAngles {
                joint: 1,
                degrees: [0.1 * f64::from(step), 0.0, 7.0 * f64::from(step)],
            },
        );
    }
    apply(
        session,
        Command::Keys(KeysCommand::NewClip { duration_secs: 1.0 }),
    );
    apply(
        session,
        Command::SetJointAngles {
            joint: 2,
            degrees: [0.0, 1.0 / 3.0, 20.0],
        },
    );
    let clip = session.document().clips().len() - 1;
    apply(
        session,
        Command::Keys(KeysCommand::SetKeys {
            clip,
            joints: vec![1, 2],
            time_secs: 0.5,
        }),
    );
    apply(
        session,
        Command::Pose(PoseCommand::SetPins {
            joints: vec![0],
            pinned: true,
        }),
    );
    apply(
        session,
        Command::View(ViewCommand::Add {
            id: ViewId(4),
            like: ViewId(0),
        }),
    );
    apply(
        session,
        Command::View(ViewCommand::SetWeights {
            view: ViewId(4),
            weights: WeightMethod::from_id("heat").expect("built in"),
        }),
    );
    apply(
        session,
        Command::View(ViewCommand::SetFree {
            view: ViewId(4),
            free: true,
        }),
    );
    apply(session, Command::View(ViewCommand::Activate(ViewId(4))));
    apply(
        session,
        Command::SetJointAngles {
            joint: 1,
            degrees: [0.0, 0.0, -12.0],
        },
    );
}

fn views(session: &Session) -> Vec<View> {
    session.views().list().to_vec()
}

#[test]
fn a_skeleton_is_built_posed_undone_redone_saved_and_opened_again() {
    let folder = TestFolder::new("story");
    let mut session = open(&bare_cylinder(&folder));
    assert_eq!(session.document().skeleton().expect("open").len(), 0);
    work(&mut session);
    let last = session.document().clone();
    for _ in 0..10 {
        apply(&mut session, Command::Undo);
    }
    assert!(!session.document().same_content_as(&last));
    for _ in 0..10 {
        apply(&mut session, Command::Redo);
    }
    assert!(session.document().same_content_as(&last));

    for (name, packed) in [("story.sinew", false), ("packed.sinew", true)] {
        let path = folder.0.join(name);
        apply(
            &mut session,
            ProjectCommand::SaveAs {
                path: path.clone(),
                packed,
            }
            .into(),
        );
        assert!(!session.project().is_dirty(), "{:?}", session.messages());
        let again = open(&path);
        let complaints: Vec<_> = again
            .messages()
            .iter()
            .filter(|message| message.level > sinew::session::Level::Info)
            .collect();
        assert!(complaints.is_empty(), "{complaints:?}");
        let (mut ours, mut theirs) = (session.document().clone(), again.document().clone());
        if packed {
            // The files are those that were packed.
            (ours.source.files, theirs.source.files) = (Vec::new(), Vec::new());
        }
        assert_eq!(theirs.rig, ours.rig);
        assert_eq!(theirs.pose, ours.pose);
        assert_eq!(theirs.takes, ours.takes);
        assert!(theirs.same_content_as(&ours));
        assert_eq!(views(&again), views(&session));
        assert_eq!(again.document().skeleton(), session.document().skeleton());
    }
    the_command_line_understands_it(&folder.0.join("packed.sinew"));
}

fn the_command_line_understands_it(project: &Path) {
    let run = |verb: &[&str]| {
        let out = Program::new(env!("CARGO_BIN_EXE_sinew"))
            .args(verb)
            .arg(project)
            .arg("--no-cache")
            .output()
            .expect("sinew");
        assert!(
            out.status.success(),
            "{verb:?}: {}",
            String::from_utf8_lossy(&out.stderr)
        );
        String::from_utf8_lossy(&out.stdout).into_owned()
    };
    let report: serde_json::Value =
        serde_json::from_str(&run(&["info", "--json"])).expect("a report");
    assert_eq!(report["joints"].as_array().map(Vec::len), Some(3));
    assert_eq!(
        report["clips"].as_array().map(Vec::len),
        Some(1),
        "the take"
    );
}
