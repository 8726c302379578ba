//! It never explodes: whatever the pose does, the flesh stays finite and comes back to rest.
//!
//! A sample; `cargo run --release --example torture_flesh` goes through all of it.

use sinew::character::{Character, SimVertices};
use sinew::dynamics::Collisions;
use sinew::progress::Progress;

use crate::common::chaos::{Ordeal, endure};
use crate::common::{chaos, skip};

fn endures(
    name: &str,
    character: &Character,
    ordeals: impl Iterator<Item = usize>,
    steps: usize,
) -> Vec<String> {
    let mut failures = Vec::new();
    for number in ordeals {
        let ordeal = Ordeal::number(number);
        failures.extend(
            endure(character, ordeal, steps)
                .failures
                .into_iter()
                .map(|failure| format!("{name}, {ordeal}: {failure}")),
        );
    }
    failures
}

/// With few simulated vertices; the example has them all.
fn built_in_endures(name: &str, ordeals: std::ops::Range<usize>) {
    let mut character = sinew::io::builtin::load_builtin(name).expect("built in");
    character.flesh.sim_vertices = SimVertices::About(1000);
    let failures = endures(name, &character, ordeals, 40);
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}

/// Every time step, every stiffness, every scale at least once.
#[test]
fn the_cylinder_never_explodes() {
    built_in_endures("cylinder", 0..21);
}

#[test]
fn the_arm_never_explodes() {
    built_in_endures("arm", 21..35);
}

#[test]
fn the_gecko_never_explodes() {
    built_in_endures("gecko", 35..42);
}

#[test]
fn the_mannequin_never_explodes() {
    built_in_endures("mannequin", 42..44);
}

/// Skin that collides with itself in poses that no body can take is pushed apart somehow. How it swings back is another question:
/// parts that got behind each other may hold each other there until the pose is settled.
#[test]
fn colliding_skin_never_explodes() {
    let character = sinew::io::builtin::load_builtin("cylinder").expect("built in");
    for (number, collisions) in [0, 2, 4]
        .into_iter()
        .flat_map(|number| [(number, Collisions::Global), (number, Collisions::Local)])
    {
        let ordeal = Ordeal {
            collisions,
            ..Ordeal::number(number)
        };
        let outcome = endure(&character, ordeal, 15);
        let failures: Vec<_> = outcome
            .failures
            .iter()
            .filter(|failure| !failure.starts_with("swings back"))
            .collect();
        assert!(failures.is_empty(), "{ordeal}: {failures:?}");
        assert!(
            outcome.settled < chaos::REST,
            "{ordeal}: {} of the size",
            outcome.settled
        );
    }
}

/// One ordeal each, another for each.
#[test]
fn real_characters_never_explode() {
    let Some(data) = skip::data() else {
        return;
    };
    let files = chaos::characters_in(&data.join("A_rigged")).expect("readable");
    assert!(files.len() >= 19, "{} characters", files.len());
    let mut failures = Vec::new();
    for (number, file) in files.iter().enumerate() {
        let character =
            sinew::io::load(std::slice::from_ref(file), &Progress::new()).expect("loads");
        failures.extend(endures(
            &file.display().to_string(),
            &character,
            std::iter::once(number),
            30,
        ));
    }
    assert!(failures.is_empty(), "\n{}", failures.join("\n"));
}
