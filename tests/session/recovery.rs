//! `kill -9` at any moment loses at most ten seconds of work.
//!
//! The test program starts itself again as a child that edits a character without pause and says on its standard output which edit is
//! done. The parent kills it after a random number of edits, looks for what was left behind, opens it, and finds out which edit it is.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command as Program, Stdio};
use std::time::{Duration, Instant};

use crate::common::folder::TestFolder;
use crate::common::random;
use sinew::methods::MethodId;
use sinew::session::{Command, ProjectCommand, Session, Source, WriteDelays};

/// Where the child keeps its work; only the child has it.
const CHILD: &str = "SINEW_TEST_RECOVERY_CHILD";
/// What may be lost.
const ALLOWED: Duration = Duration::from_secs(10);

/// Ticks until the condition holds.
fn wait(session: &mut Session, what: &str, until: impl Fn(&Session) -> bool) {
    let start = Instant::now();
    loop {
        session.tick(1.0 / 60.0);
        if until(session) {
            return;
        }
        assert!(
            start.elapsed() < Duration::from_mins(1),
            "never: {what}; {:?}",
            session.messages()
        );
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn open(folder: &Path) -> Session {
    let mut session = Session::new();
    session.set_recovery_folder(folder, WriteDelays::default());
    session.apply_once(Command::SetMethod(MethodId::RIGID));
    session.apply_once(Command::Open(Source::builtin("cylinder")));
    wait(&mut session, "opened", |session| {
        session.subject().is_some()
    });
    session
}

/// Which edit a document is: every edit turns the joint by so much about two axes.
fn edit_of(session: &Session) -> usize {
    let [x, y, z] = session.joint_angles_deg(1);
    let edit = (z / DEGREES[2]).round();
    assert!(
        (x - edit * DEGREES[0]).abs() < 1e-6
            && y.abs() < 1e-6
            && (z - edit * DEGREES[2]).abs() < 1e-6,
        "no edit turns by {x}, {y}, {z}"
    );
    edit as usize
}

/// How much an edit turns the joint.
const DEGREES: [f64; 3] = [0.02, 0.0, 0.05];

/// The child: edits until it is killed.
#[test]
fn child() {
    let Ok(folder) = std::env::var(CHILD) else {
        return;
    };
    let mut session = open(Path::new(&folder));
    let mut out = std::io::stdout();
    for edit in 1.. {
        session.apply_once(Command::SetJointAngles {
            joint: 1,
            degrees: DEGREES.map(|step| step * f64::from(edit)),
        });
        session.tick(0.01);
        if writeln!(out, "edit {edit}")
            .and_then(|()| out.flush())
            .is_err()
        {
            return;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Kills a child after so many edits and says which edit came back, and when each was done before the kill.
fn killed_after(edits: usize, seed: u64) {
    let folder = TestFolder::absent(&format!("kill-{seed}"));
    let mut child = Program::new(std::env::current_exe().expect("this program"))
        .args([
            "--exact",
            "recovery::child",
            "--nocapture",
            "--test-threads=1",
        ])
        .env(CHILD, &folder.0)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("a child");
    let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
    let mut done: Vec<Instant> = Vec::new();
    for line in lines
        .map_while(Result::ok)
        .filter(|line| line.contains("edit "))
    {
        done.push(Instant::now());
        assert!(line.ends_with(&format!("edit {}", done.len())), "{line}");
        if done.len() >= edits {
            break;
        }
    }
    child.kill().expect("SIGKILL");
    let killed = Instant::now();
    child.wait().expect("gone");

    let mut session = open(&folder.0);
    wait(&mut session, "looked for", |session| {
        session.jobs().is_empty() && !session.recoveries().is_scanning()
    });
    let came_back = match session.recoveries().offers().as_slice() {
        [] => 0,
        [recovery] => {
            let file = recovery.file.clone();
            session.apply_once(ProjectCommand::Recover(file).into());
            wait(&mut session, "recovered", |session| {
                session.recoveries().offers().is_empty() && session.jobs().is_empty()
            });
            edit_of(&session)
        }
        several => panic!("{several:?}"),
    };
    assert!(
        session
            .messages()
            .iter()
            .all(|message| !message.text.contains("can't be read")),
        "{:?}",
        session.messages()
    );
    // The first edit that is lost must have been done less than ten seconds before the end.
    if let Some(lost) = done.get(came_back) {
        assert!(
            killed - *lost <= ALLOWED,
            "seed {seed}: of {} edits only {came_back} came back",
            done.len()
        );
    }
    session.close();
    eprintln!(
        "seed {seed}: killed after edit {}, edit {came_back} came back",
        done.len()
    );
}

#[test]
fn a_killed_session_loses_little_work() {
    if std::env::var(CHILD).is_ok() {
        return;
    }
    let mut random = random::Random(7);
    let mut numbers: Vec<usize> = (0..6).map(|_| 1 + random.below(700)).collect();
    // One that certainly lives longer than the writer waits, and one that hardly lives.
    numbers.extend([900, 2]);
    std::thread::scope(|scope| {
        let runs: Vec<_> = numbers
            .iter()
            .enumerate()
            .map(|(seed, &edits)| scope.spawn(move || killed_after(edits, seed as u64)))
            .collect();
        for run in runs {
            run.join().expect("a run");
        }
    });
}
