//! It never explodes: whatever the pose does, the flesh stays finite and comes back to rest.
//!
//! A sample; `cargo run --release --example torture_flesh` goes through all of it.

use std::path::PathBuf;

use sinew::character::Character;
use sinew::progress::Progress;

mod chaos;
mod skip;

use chaos::{Ordeal, endure};

fn endures(name: &str, character: &Character, ordeals: impl Iterator<Item = usize>, steps: usize) -> Vec<String> {
    let mut failures = Vec::new();
    for number in ordeals {
        let ordeal = Ordeal::number(number);
        failures.extend(endure(character, ordeal, steps).failures.into_iter().map(|failure| format!("{name}, {ordeal}: {failure}")));
    }
    failures
}

/// Every time step, every stiffness, every scale at least once.
#[test]
fn built_in_characters_never_explode() {
    let mut failures = Vec::new();
    for (name, ordeals) in [("cylinder", 0..21), ("arm", 21..42), ("gecko", 42..49), ("mannequin", 49..52)] {
        let character = sinew::io::builtin::load_builtin(name).expect("built in");
        failures.extend(endures(name, &character, ordeals, 60));
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

/// One ordeal each, another for each.
#[test]
fn real_characters_never_explode() {
    let Some(data) = std::env::var_os("SINEW_TEST_DATA").map(PathBuf::from) else {
        skip::skipped("SINEW_TEST_DATA is not set");
        return;
    };
    let files = chaos::characters_in(&data.join("A_rigged")).expect("readable");
    assert!(files.len() >= 19, "{} characters", files.len());
    let mut failures = Vec::new();
    for (number, file) in files.iter().enumerate() {
        let character = sinew::io::load(std::slice::from_ref(file), &Progress::new()).expect("loads");
        failures.extend(endures(&file.display().to_string(), &character, std::iter::once(number), 30));
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}
