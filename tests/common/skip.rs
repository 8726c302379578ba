//! Saying that a test did nothing, so that it is seen although the test passes.

use std::io::Write;

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
