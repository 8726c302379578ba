//! What every target does: reads the bytes as one file of its format, checks what must hold of whatever was read, and takes it through
//! all stages ([`pipeline`]).
//!
//! `cargo +nightly fuzz run --fuzz-dir tests/fuzz obj -- -rss_limit_mb=1000 -timeout=20`; whole files of a format in `corpus/obj` help it
//! along. What it finds becomes a test in `tests/torture`, which does the same without coverage on a stable compiler;
//! `tests/scripts/night.sh` lets that run for long.

use sinew::io::load_from_memory;
use sinew::progress::Progress;
use sinew::session::Checkup;

pub mod pipeline;

/// Files beside the one that is tried.
pub type Beside = &'static [(&'static str, &'static [u8])];

/// A mesh alone.
pub const MESH: Beside = &[("mesh.obj", b"v 0 0 0\nv 2 0 0\nv 2 2 0\nv 0 2 0\nv 0 0 2\nf 1 2 3 4\nf 1 2 5\nf 2 3 5\nf 3 4 5\nf 4 1 5\n")];

/// A mesh with a skeleton.
pub const RIGGED: Beside = &[MESH[0], ("mesh.skel", b"3\n1 0.2 0.5 hip root\n1 1 0.5 knee hip\n1 1.8 0.5 toe knee\n")];

/// Reads one file.
pub fn read(name: &str, data: &[u8]) {
    read_with(name, data, &[]);
}

/// Reads one file with others beside it.
pub fn read_with(name: &str, data: &[u8], beside: Beside) {
    let mut files = vec![(name, data)];
    files.extend(beside);
    if let Ok(character) = load_from_memory(&files, &Progress::new()) {
        pipeline::check(name, &character);
        pipeline::run(name, character, None, |subject| drop(Checkup::of(subject)));
    }
}
