//! What goes to stderr: errors, notes, log lines, and a progress bar where there is a terminal.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::options::Options;
use crate::progress::Progress;

/// Writes one line.
pub(super) fn line(text: &str) {
    // Nowhere is left to complain to.
    let _ = writeln!(std::io::stderr().lock(), "{}", printable(text));
}

/// Longer than any sentence: some file has a name or a word without an end.
const LONGEST: usize = 4000;

/// Names and snippets come out of files: what in them would steer a terminal is shown as unreadable, and what would flood it is cut.
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

struct StderrLog {
    /// What is important enough for stderr; the log of the window may keep more.
    level: log::LevelFilter,
    /// Other crates' warnings, too.
    foreign: bool,
}

impl log::Log for StderrLog {
    fn enabled(&self, metadata: &log::Metadata<'_>) -> bool {
        metadata.level() <= self.level
            && (metadata.target().starts_with("sinew")
                || (self.foreign && metadata.level() <= log::Level::Warn))
    }

    fn log(&self, record: &log::Record<'_>) {
        crate::logbook::note(record);
        if self.enabled(record.metadata()) {
            line(&format!(
                "{}: {}",
                record.level().as_str().to_lowercase(),
                record.args()
            ));
        }
    }

    fn flush(&self) {}
}

/// Sends log lines to stderr: our own errors by default; with `-v` more, and other crates' warnings; with `-q` nothing.
pub(super) fn start_log(options: &Options) {
    let level = match (options.quiet, options.verbose) {
        (true, _) => log::LevelFilter::Off,
        (false, 0) => log::LevelFilter::Error,
        (false, 1) => log::LevelFilter::Info,
        (false, _) => log::LevelFilter::Debug,
    };
    let log = StderrLog {
        level,
        foreign: options.verbose > 0,
    };
    if log::set_boxed_logger(Box::new(log)).is_ok() {
        log::set_max_level(level);
    }
}

/// Runs work that loads graphics drivers. Where nobody is logged in, Wayland's library complains of it on stderr although no
/// display is wanted; everything else that drivers write comes out afterwards.
#[cfg(target_os = "linux")]
pub(super) fn without_wayland_noise<T>(work: impl FnOnce() -> T) -> T {
    if std::env::var_os("XDG_RUNTIME_DIR").is_some() {
        return work();
    }
    let held = HeldStderr::start();
    let result = work();
    drop(held);
    result
}

/// Elsewhere there is no Wayland.
#[cfg(not(target_os = "linux"))]
pub(super) fn without_wayland_noise<T>(work: impl FnOnce() -> T) -> T {
    work()
}

/// The process's stderr while it is held back.
#[cfg(target_os = "linux")]
struct HeldStderr {
    stderr: std::os::fd::OwnedFd,
    caught: std::fs::File,
}

#[cfg(target_os = "linux")]
impl HeldStderr {
    /// `None` if the system does not let us: then the noise stays.
    fn start() -> Option<Self> {
        use std::os::fd::AsFd;
        let caught = rustix::fs::memfd_create("stderr", rustix::fs::MemfdFlags::CLOEXEC)
            .ok()?
            .into();
        let stderr = std::io::stderr().as_fd().try_clone_to_owned().ok()?;
        rustix::stdio::dup2_stderr(&caught).ok()?;
        Some(Self { stderr, caught })
    }
}

#[cfg(target_os = "linux")]
impl Drop for HeldStderr {
    fn drop(&mut self) {
        use std::io::{Read, Seek};
        let mut text = String::new();
        // Nowhere is left to complain to.
        let _ = rustix::stdio::dup2_stderr(&self.stderr);
        let _ = self
            .caught
            .rewind()
            .and_then(|()| self.caught.read_to_string(&mut text));
        text.lines()
            .filter(|one| !one.starts_with("error: XDG_RUNTIME_DIR is invalid or not set"))
            .for_each(line);
    }
}

/// Runs long work with a progress bar, if somebody watches.
pub(super) fn with_progress<T>(
    options: &Options,
    title: &str,
    work: impl FnOnce(&Progress) -> T,
) -> T {
    let progress = Progress::new();
    if options.quiet || !std::io::stderr().is_terminal() {
        return work(&progress);
    }
    let bar = ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{prefix} [{bar:30}] {percent:>3} % {msg}") {
        bar.set_style(style);
    }
    bar.set_prefix(title.to_owned());
    let (done_sender, done) = std::sync::mpsc::channel::<()>();
    let result = std::thread::scope(|scope| {
        let (bar, progress) = (&bar, &progress);
        scope.spawn(move || {
            while done.recv_timeout(Duration::from_millis(50))
                == Err(std::sync::mpsc::RecvTimeoutError::Timeout)
            {
                bar.set_position((progress.fraction() * 1000.0) as u64);
                bar.set_message(progress.stage());
            }
        });
        let result = work(progress);
        drop(done_sender);
        result
    });
    bar.finish_and_clear();
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_can_not_steer_the_terminal_or_flood_it() {
        assert_eq!(
            printable("not \"\u{1b}[31m\u{7}\", über\n"),
            "not \"\u{fffd}[31m\u{fffd}\", über\n"
        );
        assert_eq!(printable(&"ß".repeat(1_000_000)), "ß".repeat(LONGEST) + "…");
    }
}
