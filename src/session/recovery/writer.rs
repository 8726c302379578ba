//! The thread that writes recovery files.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::recovery_file::RecoveryFile;
use crate::session::project::{Contents, Unsaved, draft_text};

/// Delays of writing.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WriteDelays {
    /// After this long without changes …
    pub quiet: Duration,
    /// … but not later than this after the first change.
    pub longest: Duration,
}

impl Default for WriteDelays {
    fn default() -> Self {
        Self {
            quiet: Duration::from_millis(700),
            longest: Duration::from_secs(3),
        }
    }
}

impl WriteDelays {
    /// Work older than this many seconds is on disk.
    #[must_use]
    pub fn within(secs: f64) -> Self {
        let usual = Self::default();
        if !secs.is_finite() {
            return usual;
        }
        let longest = Duration::from_secs_f64(secs.clamp(0.5, 3600.0));
        Self {
            quiet: usual.quiet.min(longest),
            longest,
        }
    }
}

/// The work to keep.
pub(super) struct Draft {
    pub(super) contents: Contents,
    pub(super) unsaved: Unsaved,
}

/// The thread's next task; a newer one replaces it.
#[derive(Default)]
struct KeeperRequests {
    delays: WriteDelays,
    draft: Option<Draft>,
    /// Time of the oldest unwritten change, and of the newest.
    changed: Option<[Instant; 2]>,
    forget: bool,
    adopt: Option<RecoveryFile>,
    end: Option<CloseMode>,
    fault: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum CloseMode {
    /// Write unwritten work, keep the file, and end.
    Leave,
    /// Remove the file and end.
    Clean,
}

struct KeeperShared {
    requests: Mutex<KeeperRequests>,
    changed_signal: Condvar,
}

impl KeeperShared {
    /// Every update under the lock is a single assignment, so the data of a poisoned lock is valid.
    fn lock(&self) -> MutexGuard<'_, KeeperRequests> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Writes the newest draft to its own recovery file. If it is dropped without [`RecoveryWriter::close`], the file is kept: the program did not end
/// normally.
pub(super) struct RecoveryWriter {
    shared: Arc<KeeperShared>,
    thread: Option<JoinHandle<()>>,
}

impl RecoveryWriter {
    pub(super) fn start(folder: PathBuf, delays: WriteDelays) -> std::io::Result<Self> {
        let requests = KeeperRequests {
            delays,
            ..KeeperRequests::default()
        };
        let shared = Arc::new(KeeperShared {
            requests: Mutex::new(requests),
            changed_signal: Condvar::new(),
        });
        let mut writer = KeeperThread {
            folder,
            shared: shared.clone(),
            recovery_file: None,
        };
        let thread = std::thread::Builder::new()
            .name("recovery".into())
            .spawn(move || writer.run())?;
        Ok(Self {
            shared,
            thread: Some(thread),
        })
    }

    /// Posts unsaved work.
    pub(super) fn keep(&self, draft: Draft) {
        let now = Instant::now();
        let mut requests = self.shared.lock();
        let first = requests.changed.map_or(now, |[first, _]| first);
        (requests.draft, requests.changed, requests.forget) =
            (Some(draft), Some([first, now]), false);
        drop(requests);
        self.shared.changed_signal.notify_one();
    }

    /// Changes the delays; a waiting thread is woken.
    pub(super) fn set_delays(&self, delays: WriteDelays) {
        let mut requests = self.shared.lock();
        if requests.delays != delays {
            requests.delays = delays;
            drop(requests);
            self.shared.changed_signal.notify_one();
        }
    }

    /// There is no unsaved work any more.
    pub(super) fn forget(&self) {
        let mut requests = self.shared.lock();
        (requests.draft, requests.changed, requests.forget) = (None, None, true);
        drop(requests);
        self.shared.changed_signal.notify_one();
    }

    /// Takes over the recovery file of a program that has ended.
    pub(super) fn adopt(&self, recovery_file: RecoveryFile) {
        self.shared.lock().adopt = Some(recovery_file);
        self.shared.changed_signal.notify_one();
    }

    /// Takes the error of the last write.
    pub(super) fn take_fault(&self) -> Option<String> {
        self.shared.lock().fault.take()
    }

    /// Ends the thread and removes the file.
    pub(super) fn close(mut self) {
        self.end(CloseMode::Clean);
    }

    fn end(&mut self, how: CloseMode) {
        if let Some(thread) = self.thread.take() {
            self.shared.lock().end = Some(how);
            self.shared.changed_signal.notify_one();
            // A panicked thread has nothing left to do.
            let _ = thread.join();
        }
    }
}

impl Drop for RecoveryWriter {
    fn drop(&mut self) {
        self.end(CloseMode::Leave);
    }
}

/// Main loop of the thread.
struct KeeperThread {
    folder: PathBuf,
    shared: Arc<KeeperShared>,
    recovery_file: Option<RecoveryFile>,
}

/// The thread's next step.
enum KeeperTask {
    Write(Box<Draft>),
    Forget,
    Adopt(RecoveryFile),
    CloseMode(CloseMode),
}

impl KeeperThread {
    fn run(&mut self) {
        loop {
            match self.next() {
                KeeperTask::Write(draft) => self.write(*draft),
                KeeperTask::Forget => self.recovery_file.iter().for_each(RecoveryFile::clear),
                KeeperTask::Adopt(recovery_file) => {
                    if let Some(own) = self.recovery_file.replace(recovery_file) {
                        own.remove();
                    }
                }
                KeeperTask::CloseMode(CloseMode::Leave) => break,
                KeeperTask::CloseMode(CloseMode::Clean) => {
                    if let Some(recovery_file) = self.recovery_file.take() {
                        recovery_file.remove();
                    }
                    break;
                }
            }
        }
    }

    /// Waits for the next step.
    fn next(&self) -> KeeperTask {
        let mut requests = self.shared.lock();
        loop {
            if let Some(recovery_file) = requests.adopt.take() {
                return KeeperTask::Adopt(recovery_file);
            }
            if std::mem::take(&mut requests.forget) {
                return KeeperTask::Forget;
            }
            let end = requests.end;
            if end == Some(CloseMode::Clean) {
                return KeeperTask::CloseMode(CloseMode::Clean);
            }
            let due = requests.changed.map(|[first, last]| {
                (last + requests.delays.quiet).min(first + requests.delays.longest)
            });
            let now = Instant::now();
            match (due, end) {
                (Some(due), None) if due > now => {
                    let waited = self.shared.changed_signal.wait_timeout(requests, due - now);
                    requests = waited.unwrap_or_else(PoisonError::into_inner).0;
                }
                (Some(_), _) => {
                    requests.changed = None;
                    if let Some(draft) = requests.draft.take() {
                        return KeeperTask::Write(Box::new(draft));
                    }
                }
                (None, Some(end)) => return KeeperTask::CloseMode(end),
                (None, None) => {
                    requests = self
                        .shared
                        .changed_signal
                        .wait(requests)
                        .unwrap_or_else(PoisonError::into_inner);
                }
            }
        }
    }

    fn write(&mut self, draft: Draft) {
        if let Err(fault) = self.try_write(&draft) {
            log::warn!("unsaved work can't be kept: {fault}");
            let mut requests = self.shared.lock();
            requests.fault = Some(fault);
            // Retried after a delay, unless newer work arrived or the thread has to end.
            if requests.draft.is_none() && !requests.forget && requests.end.is_none() {
                let later = Instant::now() + requests.delays.longest;
                (requests.draft, requests.changed) = (Some(draft), Some([later, later]));
            }
        }
    }

    fn try_write(&mut self, draft: &Draft) -> Result<(), String> {
        let text =
            draft_text(&draft.contents, &draft.unsaved).map_err(|error| error.to_string())?;
        let recovery_file = match self.recovery_file.take() {
            Some(recovery_file) => recovery_file,
            None => {
                RecoveryFile::create(&self.folder).map_err(|error| cannot(&self.folder, &error))?
            }
        };
        let written = self.recovery_file.insert(recovery_file).write(&text);
        written.map_err(|error| error.to_string())
    }
}

fn cannot(folder: &Path, error: &std::io::Error) -> String {
    format!("{} can't be written to: {error}", folder.display())
}
