//! Log of the running program: the newest log records in memory, for the window's log, and in a file, for
//! reports of faults.
//!
//! The owner of the process's logger passes each record to [`note`]; [`Logger`] is one that does nothing else. Nothing is kept until
//! [`open`] is called.

use std::backtrace::Backtrace;
use std::collections::VecDeque;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use log::{Level, LevelFilter, Record};

use crate::files::open_regular;

/// Records kept in memory.
pub const MOST_ENTRIES: usize = 2_000;
/// Bytes after which the file is started anew; the one before is kept, too.
const MOST_BYTES: u64 = 512 * 1024;
/// Longer texts are cut: a log is for reading.
const MOST_CHARACTERS: usize = 4_000;

/// One record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogEntry {
    /// Counts from 0.
    pub number: u64,
    /// When it was noted.
    pub at: SystemTime,
    /// How much it matters.
    pub level: Level,
    /// Which part of the program it comes from.
    pub target: String,
    /// What it says.
    pub text: String,
}

impl LogEntry {
    /// The record as a line of text, with its time in UTC.
    #[must_use]
    pub fn line(&self) -> String {
        format!(
            "{} {:5} {}: {}",
            clock_text(self.at),
            self.level,
            self.target,
            self.text
        )
    }
}

/// Hours, minutes and seconds of a moment, UTC.
#[must_use]
pub fn clock_text(at: SystemTime) -> String {
    let secs = at
        .duration_since(SystemTime::UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
        % 86_400;
    format!("{:02}:{:02}:{:02}", secs / 3_600, secs / 60 % 60, secs % 60)
}

#[derive(Debug)]
struct LogState {
    level: LevelFilter,
    entries: VecDeque<LogEntry>,
    next: u64,
    file: Option<LogFile>,
}

/// A panic of a thread.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// Counts from 1.
    pub number: u64,
    /// What happened, where, and the calls that led there.
    pub report: String,
}

static FAULT: Mutex<Option<Fault>> = Mutex::new(None);

/// The latest panic since [`note_panics`].
#[must_use]
pub fn last_fault() -> Option<Fault> {
    FAULT.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// From now on every panic is noted with its calls, before what is done about it otherwise.
pub fn note_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        let calls = Backtrace::force_capture();
        let thread = std::thread::current();
        let thread = thread.name().unwrap_or("unnamed");
        note_fault(&format!(
            "sinew {} on {} {}: thread \"{thread}\": {info}\n{calls}",
            env!("CARGO_PKG_VERSION"),
            std::env::consts::OS,
            std::env::consts::ARCH
        ));
        before(info);
    }));
}

fn note_fault(report: &str) {
    // The thread may have panicked while it held one of these: it must not wait for itself.
    if let Ok(mut fault) = FAULT.try_lock() {
        *fault = Some(Fault {
            number: fault.as_ref().map_or(0, |fault| fault.number) + 1,
            report: report.to_owned(),
        });
    }
    if let Ok(mut book) = LOG.try_lock()
        && book.level >= LevelFilter::Error
    {
        book.keep(Level::Error, "sinew::panic", report.to_owned());
    }
}

static LOG: Mutex<LogState> = Mutex::new(LogState {
    level: LevelFilter::Off,
    entries: VecDeque::new(),
    next: 0,
    file: None,
});

fn book() -> MutexGuard<'static, LogState> {
    // A thread that panicked while it noted something left the list as it was before or after.
    LOG.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts to keep records of this level and more important ones; those of other crates from warnings on. They go into a file, too, if one
/// is given.
///
/// # Errors
/// If the file cannot be written; records are kept in memory nevertheless.
pub fn open(level: LevelFilter, file: Option<&Path>) -> io::Result<()> {
    let opened = file.map(LogFile::open).transpose();
    let mut book = book();
    book.level = level;
    match opened {
        Ok(file) => {
            book.file = file;
            Ok(())
        }
        Err(error) => {
            book.file = None;
            Err(error)
        }
    }
}

/// Where the file is that records go to.
#[must_use]
pub fn file_path() -> Option<PathBuf> {
    book().file.as_ref().map(|file| file.path.clone())
}

/// Keeps a record, if it matters enough.
pub fn note(record: &Record<'_>) {
    let level = book().level;
    let wanted = if is_ours(record.target()) {
        level
    } else {
        level.min(LevelFilter::Warn)
    };
    if record.level() > wanted {
        return;
    }
    // Not while the book is held: what is written may note something itself.
    let mut text = record.args().to_string();
    if let Some((end, _)) = text.char_indices().nth(MOST_CHARACTERS) {
        text.truncate(end);
        text.push('…');
    }
    book().keep(record.level(), record.target(), text);
}

impl LogState {
    fn keep(&mut self, level: Level, target: &str, text: String) {
        let entry = LogEntry {
            number: self.next,
            at: SystemTime::now(),
            level,
            target: target.to_owned(),
            text,
        };
        self.next += 1;
        if let Some(file) = &mut self.file
            && file.write(&entry.line()).is_err()
        {
            // A full disk must not be asked again for every line.
            self.file = None;
        }
        self.entries.push_back(entry);
        while self.entries.len() > MOST_ENTRIES {
            self.entries.pop_front();
        }
    }
}

fn is_ours(target: &str) -> bool {
    target == "sinew" || target.starts_with("sinew::")
}

/// How many records were noted so far, those that were forgotten included.
#[must_use]
pub fn count() -> u64 {
    book().next
}

/// The records kept, oldest first.
#[must_use]
pub fn entries() -> Vec<LogEntry> {
    book().entries.iter().cloned().collect()
}

/// Forgets what is kept in memory; the file stays.
pub fn clear() {
    book().entries.clear();
}

/// A logger that only notes, for programs that have none of their own.
#[derive(Debug, Clone, Copy, Default)]
pub struct Logger;

impl log::Log for Logger {
    fn enabled(&self, _metadata: &log::Metadata<'_>) -> bool {
        true
    }

    fn log(&self, record: &Record<'_>) {
        note(record);
    }

    fn flush(&self) {}
}

/// The file; it never grows beyond a bound.
#[derive(Debug)]
struct LogFile {
    path: PathBuf,
    file: File,
    bytes: u64,
}

impl LogFile {
    fn open(path: &Path) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            fs::create_dir_all(folder)?;
        }
        // A pipe or a device is not written to: it could wait for ever.
        match open_regular(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            present => drop(present?),
        }
        let file = File::options().append(true).create(true).open(path)?;
        let bytes = file.metadata()?.len();
        Ok(Self {
            path: path.to_path_buf(),
            file,
            bytes,
        })
    }

    fn write(&mut self, line: &str) -> io::Result<()> {
        if self.bytes > MOST_BYTES {
            fs::rename(&self.path, self.path.with_extension("old.txt"))?;
            *self = Self::open(&self.path)?;
        }
        let line = format!("{}\n", line.replace('\n', "\n    "));
        self.bytes += line.len() as u64;
        self.file.write_all(line.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_file_is_bounded_and_the_previous_one_kept() {
        let folder = std::env::temp_dir().join(format!("sinew log {}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        let path = folder.join("log.txt");
        let mut file = LogFile::open(&path).unwrap();
        let line = "x".repeat(1_000);
        for _ in 0..1_500 {
            file.write(&line).unwrap();
        }
        let sizes =
            ["log.txt", "log.old.txt"].map(|name| fs::metadata(folder.join(name)).unwrap().len());
        assert!(
            sizes
                .iter()
                .all(|&size| size > 0 && size <= MOST_BYTES + 2_000),
            "{sizes:?}"
        );
        fs::remove_dir_all(folder).unwrap();
    }

    #[test]
    fn a_panic_is_noted_with_its_calls() {
        note_panics();
        let before = last_fault().map_or(0, |fault| fault.number);
        let died = std::thread::Builder::new()
            .name("doomed".to_owned())
            .spawn(|| panic!("a fault made by a test"))
            .unwrap()
            .join();
        assert!(died.is_err());
        let fault = last_fault().unwrap();
        // Other tests may panic on purpose at the same time.
        assert!(fault.number > before);
        assert!(fault.report.lines().count() > 2, "{}", fault.report);
    }

    #[test]
    fn the_log_keeps_its_level_and_other_crates_warnings() {
        let say = |level: Level, target: &str, text: &str| {
            note(
                &Record::builder()
                    .level(level)
                    .target(target)
                    .args(format_args!("{text}"))
                    .build(),
            );
        };
        open(LevelFilter::Info, None).unwrap();
        say(Level::Info, "sinew::tests", "of ours, kept");
        say(Level::Debug, "sinew::tests", "of ours, too small");
        say(Level::Info, "sinewy", "of others, too small");
        say(Level::Warn, "others", "of others, kept");
        let texts: Vec<String> = entries()
            .into_iter()
            .map(|entry| entry.text)
            .filter(|text| text.starts_with("of o"))
            .collect();
        assert_eq!(texts, ["of ours, kept", "of others, kept"]);
        let many = MOST_ENTRIES + 10;
        for number in 0..many {
            say(Level::Info, "sinew::tests", &number.to_string());
        }
        assert_eq!(entries().len(), MOST_ENTRIES);
        assert_eq!(
            clock_text(SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(86_400 + 3_661)),
            "01:01:01"
        );
    }
}
