//! Output on stderr: errors, notes, log lines, and a progress bar on a terminal.

use std::io::{IsTerminal, Write};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

pub(super) use super::lines::{line, printable};
use super::options::Options;
use crate::progress::Progress;

struct StderrLog {
    /// Whether a record is important enough for stderr; the window's log may keep more.
    level: log::LevelFilter,
    /// Includes warnings of other crates.
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

/// Sends log lines to stderr: errors of this crate by default; with `-v` more, and other crates' warnings; with `-q`
/// nothing.
pub(super) fn start_log(options: &Options) {
    let level = match (options.quiet, options.verbose) {
        (true, _) => log::LevelFilter::Off,
        (false, 0) => log::LevelFilter::Error,
        (false, 1) => log::LevelFilter::Info,
        (false, 2) => log::LevelFilter::Debug,
        (false, _) => log::LevelFilter::Trace,
    };
    let log = StderrLog {
        level,
        foreign: options.verbose > 0,
    };
    if log::set_boxed_logger(Box::new(log)).is_ok() {
        log::set_max_level(level);
    }
}

/// Runs work that loads graphics drivers. Without a desktop session, Wayland's library prints errors to stderr although no
/// window is needed; these are dropped, and all other output of drivers is printed afterwards.
#[cfg(target_os = "linux")]
pub(super) fn without_wayland_errors<T>(work: impl FnOnce() -> T) -> T {
    if std::env::var_os("XDG_RUNTIME_DIR").is_some() {
        return work();
    }
    let held = HeldStderr::start();
    let result = work();
    drop(held);
    result
}

/// Other systems have no Wayland.
#[cfg(not(target_os = "linux"))]
pub(super) fn without_wayland_errors<T>(work: impl FnOnce() -> T) -> T {
    work()
}

/// The process's stderr while it is redirected to a file.
#[cfg(target_os = "linux")]
struct HeldStderr {
    stderr: std::os::fd::OwnedFd,
    caught: std::fs::File,
}

#[cfg(target_os = "linux")]
impl HeldStderr {
    /// `None` if redirection fails: then nothing is dropped.
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
        // Errors of stderr itself cannot be reported.
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

/// Without a terminal, long work says how far it is after each of these.
const LINE_EVERY: Duration = Duration::from_secs(5);

/// Runs long work with a progress bar on a terminal, or a line every few seconds elsewhere.
pub(super) fn with_progress<T>(
    options: &Options,
    title: &str,
    work: impl FnOnce(&Progress) -> T,
) -> T {
    let progress = Progress::new();
    if options.openjd {
        let say = || {
            let percent = progress.fraction() * 100.0;
            // Errors of stdout itself are found by what is printed at the end.
            let _ = writeln!(std::io::stdout().lock(), "openjd_progress: {percent:.1}");
        };
        return while_working(LINE_EVERY, say, || work(&progress));
    }
    if options.quiet {
        return work(&progress);
    }
    if !std::io::stderr().is_terminal() {
        let say = || {
            let percent = (progress.fraction() * 100.0).floor();
            line(&format!("note: {title}, {percent} % {}", progress.stage()));
        };
        return while_working(LINE_EVERY, say, || work(&progress));
    }
    let bar = ProgressBar::with_draw_target(Some(1000), ProgressDrawTarget::stderr());
    if let Ok(style) = ProgressStyle::with_template("{prefix} [{bar:30}] {percent:>3} % {msg}") {
        bar.set_style(style);
    }
    bar.set_prefix(title.to_owned());
    let show = || {
        bar.set_position((progress.fraction() * 1000.0) as u64);
        bar.set_message(progress.stage());
    };
    let result = while_working(Duration::from_millis(50), show, || work(&progress));
    bar.finish_and_clear();
    result
}

/// Runs work on this thread, and `show` on another whenever `every` has passed.
fn while_working<T>(every: Duration, show: impl Fn() + Send + Sync, work: impl FnOnce() -> T) -> T {
    let (done_sender, done) = std::sync::mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            while done.recv_timeout(every) == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
                show();
            }
        });
        let result = work();
        drop(done_sender);
        result
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_work_is_shown_and_short_work_is_not() {
        use std::sync::atomic::{AtomicUsize, Ordering};
        let shown = AtomicUsize::new(0);
        let show = || {
            shown.fetch_add(1, Ordering::Relaxed);
        };
        assert_eq!(while_working(Duration::from_mins(1), show, || 7), 7);
        assert_eq!(shown.load(Ordering::Relaxed), 0);
        while_working(Duration::from_millis(5), show, || {
            std::thread::sleep(Duration::from_millis(200));
        });
        assert!(shown.load(Ordering::Relaxed) > 1);
    }
}
