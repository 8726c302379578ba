//! Does the flesh ever explode? Random poses with jumps of up to 180° between frames, time steps from 1/240 to 1/15 s, stiffness over
//! six decades, scales from 0.001 to 1000, one thread and many: always finite, and always back at rest when the pose returns.
//!
//! `cargo run --release --example torture_flesh -- [--steps 10000] [--ordeal N] [--collisions off|local|global] [FILE or FOLDER or builtin:NAME…]`
//!
//! Without a file all built-in characters are tried. A folder stands for every `.glb`, `.gltf` and `.vrm` in it. The steps of a character
//! are shared out among ordeals of 200 steps, each with circumstances of its own; `--ordeal N` repeats a single one.

use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Instant;

use sinew::character::Character;
use sinew::dynamics::Collisions;
use sinew::progress::Progress;
use sinew::session::{Source, load};

#[path = "../tests/common/mod.rs"]
mod common;

use common::chaos::{Ordeal, Outcome, characters_in, endure};

/// Steps of one ordeal.
const STEPS: usize = 200;

struct Wish {
    steps: usize,
    ordeal: Option<usize>,
    collisions: Collisions,
    sources: Vec<Source>,
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let wish = wish()?;
    println!(
        "{:28} {:>8} {:>6} {:>8} {:>9} {:>10} {:>10}",
        "character", "vertices", "steps", "ms/step", "farthest", "swung", "settled"
    );
    let mut failures = 0;
    for source in &wish.sources {
        let character = load(source, &Progress::new())?;
        failures += torture(source, &character, &wish);
    }
    println!("{failures} failures");
    Ok(if failures == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// All ordeals of one character; prints its line of the table and every failure.
fn torture(source: &Source, character: &Character, wish: &Wish) -> usize {
    let numbers = match wish.ordeal {
        Some(number) => number..number + 1,
        None => 0..wish.steps.div_ceil(STEPS),
    };
    let (mut all, start) = (Outcome::default(), Instant::now());
    for number in numbers {
        let ordeal = Ordeal {
            collisions: wish.collisions,
            ..Ordeal::number(number)
        };
        let outcome = endure(character, ordeal, STEPS);
        all.steps += outcome.steps;
        all.farthest = all.farthest.max(outcome.farthest);
        all.settled = all.settled.max(outcome.settled);
        all.swung = outcome.swung.map_or(all.swung, |swung| {
            Some(all.swung.map_or(swung, |worst| worst.max(swung)))
        });
        all.failures.extend(
            outcome
                .failures
                .into_iter()
                .map(|failure| format!("{ordeal}: {failure}")),
        );
    }
    let ms = start.elapsed().as_secs_f64() * 1e3 / all.steps.max(1) as f64;
    let swung = all
        .swung
        .map_or_else(|| "-".to_owned(), |swung| format!("{swung:.1e}"));
    println!(
        "{:28} {:8} {:6} {ms:8.2} {:9.2} {swung:>10} {:>10}",
        character.name,
        character.source_vertices(),
        all.steps,
        all.farthest,
        format!("{:.1e}", all.settled)
    );
    for failure in &all.failures {
        println!("    FAILED {source}: {failure}");
    }
    all.failures.len()
}

fn wish() -> Result<Wish, Box<dyn Error>> {
    let mut wish = Wish {
        steps: 10_000,
        ordeal: None,
        collisions: Collisions::Off,
        sources: Vec::new(),
    };
    let mut words = std::env::args().skip(1);
    while let Some(word) = words.next() {
        let mut value = || words.next().ok_or_else(|| format!("{word} needs a value"));
        match word.as_str() {
            "--steps" => wish.steps = value()?.parse()?,
            "--collisions" => {
                wish.collisions =
                    Collisions::from_id(&value()?).ok_or("--collisions is off, local or global")?;
            }
            "--ordeal" => wish.ordeal = Some(value()?.parse()?),
            name if name.starts_with("builtin:") => wish
                .sources
                .push(Source::of_files(vec![PathBuf::from(name)])),
            path => wish.sources.extend(
                characters_in(Path::new(path))?
                    .into_iter()
                    .map(|file| Source::of_files(vec![file])),
            ),
        }
    }
    if wish.sources.is_empty() {
        wish.sources = sinew::io::builtin::NAMES
            .iter()
            .map(|name| Source::builtin(name))
            .collect();
    }
    Ok(wish)
}
