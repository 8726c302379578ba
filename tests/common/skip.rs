//! Saying that a test did nothing, so that it is seen although the test passes; and the data that tests need.

use std::io::Write;
use std::path::PathBuf;

/// Writes one line past the test harness, which keeps what passing tests print to itself: "SKIPPED: the test: why".
pub fn skipped(why: impl std::fmt::Display) {
    let thread = std::thread::current();
    let test = thread
        .name()
        .map(|name| format!("{name}: "))
        .unwrap_or_default();
    // The leading line break keeps it apart from the harness's half-written line.
    let _ = writeln!(std::io::stderr().lock(), "\nSKIPPED: {test}{why}");
}

/// The folder of real characters, `SINEW_TEST_DATA`; without it the test says that it is skipped.
pub fn data() -> Option<PathBuf> {
    let folder = std::env::var_os("SINEW_TEST_DATA").map(PathBuf::from);
    if folder.is_none() {
        skipped("SINEW_TEST_DATA is not set");
    }
    folder
}
