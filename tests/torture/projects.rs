//! Projects, changed at random: what is read is shown as the window does, and skinned; the rest is refused by a sentence.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use sinew::character::BoneSettings;
use sinew::io::write_glb;
use sinew::methods::MethodId;
use sinew::session::{Command, Level, ProjectCommand, Session, Source};

use super::limited;
use super::mutated::{is_wanted, mutate, number};
use super::seeds::tube_character;
use crate::common::folder::TestFolder;
use crate::common::random::Random;

/// Changes that are tried without `SINEW_FUZZ_CASES`.
const CASES: usize = 120;
/// Longest time that a changed project may take; flesh is made anew in many.
const LIMIT: Duration = Duration::from_mins(1);

/// Ticks until nothing happens any more.
fn wait(session: &mut Session) {
    let start = Instant::now();
    while session.tick(1.0 / 60.0).active
        || !session.jobs().is_empty()
        || session.project().is_saving()
    {
        assert!(start.elapsed() < LIMIT, "{:?}", session.jobs());
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// A project with a little of everything.
fn save(character: &Path, project: &Path, packed: bool) {
    let mut session = Session::new();
    session.apply_once(Command::SetMethod(MethodId::LBS));
    session.apply_once(Command::Open(Source::of_files(vec![character.to_owned()])));
    wait(&mut session);
    session.apply_once(Command::SetJointAngles {
        joint: 1,
        degrees: [10.0, 20.0, 30.0],
    });
    session.apply_once(Command::SetBone {
        joint: 0,
        settings: BoneSettings {
            stiffness: 0.5,
            ..BoneSettings::default()
        },
    });
    let path = project.to_owned();
    session.apply_once(ProjectCommand::SaveAs { path, packed }.into());
    wait(&mut session);
    assert!(project.is_file(), "{:?}", session.messages());
}

/// Opens a project as the window does. Returns whether it was read.
fn open(project: &Path, what: &str) -> bool {
    let mut session = Session::new();
    session.apply_once(Command::SetMethod(MethodId::LBS));
    session.apply_once(Command::Open(Source::of_files(vec![project.to_owned()])));
    wait(&mut session);
    for message in session.messages() {
        let text = &message.text;
        assert!(
            !text.contains("unexpectedly"),
            "{what}: a job panicked: {text}"
        );
        assert!(
            message.level < Level::Error || (!text.is_empty() && text.len() < 1000),
            "{what}: not one sentence: {text}"
        );
    }
    if let Some(shown) = session.snapshot() {
        let is_finite = |p: &sinew::math::Point| p.coords.iter().all(|c| c.is_finite());
        assert!(
            shown.positions().iter().all(is_finite),
            "{what}: the skin is not finite"
        );
    }
    session.subject().is_some()
}

/// The values inside a value, and itself, in order.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(values) => values.iter().map(count).sum::<usize>(),
        Value::Object(values) => values.values().map(count).sum(),
        _ => 0,
    }
}

/// The value with a number by [`count`].
fn nth(value: &mut Value, index: usize) -> &mut Value {
    if index == 0 {
        return value;
    }
    let mut left = index - 1;
    let parts: Vec<&mut Value> = match value {
        Value::Array(values) => values.iter_mut().collect(),
        Value::Object(values) => values.values_mut().collect(),
        _ => Vec::new(),
    };
    for part in parts {
        let inside = count(part);
        if left < inside {
            return nth(part, left);
        }
        left -= inside;
    }
    unreachable!("fewer values than counted")
}

/// Changes one value of a text that stays JSON.
fn change_value(value: &mut Value, random: &mut Random) {
    let index = random.below(count(value));
    let place = nth(value, index);
    match (random.below(3), &mut *place) {
        (0, Value::Array(values)) if !values.is_empty() => {
            let one = random.below(values.len());
            let copy = values[one].clone();
            values.extend(std::iter::repeat_n(copy, 1 + random.below(40)));
        }
        (1, Value::Array(values)) if !values.is_empty() => {
            values.remove(random.below(values.len()));
        }
        (0 | 1, Value::Object(values)) if !values.is_empty() => {
            let key = values.keys().nth(random.below(values.len()));
            let key = key.expect("in range").clone();
            values.remove(&key);
        }
        (0, Value::Number(number)) => {
            let number = number.as_f64().unwrap_or_default();
            *place = json!(-number * 10.0_f64.powf(random.below(20) as f64));
        }
        _ => {
            let others = [
                Value::Null,
                json!(true),
                json!(-1),
                json!(0),
                json!(1),
                json!(u32::MAX),
                json!(u64::MAX),
                json!(1e308),
                json!(-1e39),
                json!(1e-320),
                json!(""),
                json!("../../a.glb"),
                json!("/dev/zero"),
                json!("lbs"),
                json!("x".repeat(70_000)),
                json!([]),
                json!({}),
                json!([[[[[[]]]]]]),
                json!([0, 0, 0, 0]),
            ];
            *place = others[random.below(others.len())].clone();
        }
    }
}

/// A project that was changed: values of its text, or bytes.
fn changed(whole: &[u8], random: &mut Random) -> Vec<u8> {
    let bytes = random.below(8) == 0;
    match serde_json::from_slice::<Value>(whole) {
        Ok(mut value) if !bytes => {
            for _ in 0..=random.below(3) {
                change_value(&mut value, random);
            }
            value.to_string().into_bytes()
        }
        _ => mutate(whole, random),
    }
}

#[test]
fn mutated_projects() {
    let cases = number("SINEW_FUZZ_CASES").map_or(CASES, |cases| cases / 20);
    let salt = 1000 * number("SINEW_FUZZ_SALT").unwrap_or(0) as u64;
    for (kind, packed) in [("a.sinew", false), ("b.sinew", true)] {
        if !is_wanted(kind) {
            continue;
        }
        let folder = TestFolder::new("mutated-projects");
        let character = folder.file("tube.glb");
        let bytes = write_glb(&tube_character()).expect("a whole character");
        std::fs::write(&character, bytes).expect("a file");
        let project = folder.file(kind);
        save(&character, &project, packed);
        assert!(open(&project, kind), "{kind} is whole");
        let whole = std::fs::read(&project).expect("the project");
        let mut random = Random(salt);
        let mut read = 0;
        for case in 0..cases {
            let what = format!("{kind}, salt {salt}, case {case}");
            std::fs::write(&project, changed(&whole, &mut random)).expect("a file");
            read += usize::from(limited(&what, LIMIT, || open(&project, &what)));
        }
        println!("{kind}: of {cases} changes {read} are read");
        // An archive knows the checksums of its files.
        assert!(
            read > 0 || packed || cases < 20,
            "{kind}: no change is read"
        );
    }
}
