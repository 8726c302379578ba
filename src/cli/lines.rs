//! Lines on stderr.

use std::io::Write;

/// Writes one line.
pub(super) fn line(text: &str) {
    // Errors of stderr itself cannot be reported.
    let _ = writeln!(std::io::stderr().lock(), "{}", printable(text));
}

/// Longer than any sentence; guards against very long names in files.
const LONGEST: usize = 4000;

/// Names and excerpts come from files: replaces terminal control characters and cuts long text.
pub(super) fn printable(text: &str) -> String {
    let readable = |c: char| {
        if c.is_control() && !matches!(c, '\n' | '\t') {
            char::REPLACEMENT_CHARACTER
        } else {
            c
        }
    };
    let mut shown: String = text.chars().take(LONGEST).map(readable).collect();
    if text.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn control_characters_and_long_text_from_files_are_sanitised() {
        assert_eq!(
            printable("not \"\u{1b}[31m\u{7}\", über\n"),
            "not \"\u{fffd}[31m\u{fffd}\", über\n"
        );
        assert_eq!(printable(&"ß".repeat(1_000_000)), "ß".repeat(LONGEST) + "…");
    }
}
