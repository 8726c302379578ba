//! What the suite says, one line at a time: JSON Lines or text.

use std::time::{Duration, Instant};

use serde::Serialize;

use super::Scale;
use crate::cli::{CommandResult, Failure, print, stderr};
use crate::gpu::GpuContext;
use crate::progress::Progress;

/// No measurement begins after this.
const BUDGET: Duration = Duration::from_secs(450);

/// One measurement.
pub(super) trait Record: Serialize {
    /// Its kind, in the field `kind`.
    const KIND: &'static str;

    /// As text in one line, without the kind.
    fn line(&self) -> String;

    /// Whether it is a comparison that failed.
    fn is_failure(&self) -> bool {
        false
    }
}

/// Why there is no measurement.
#[derive(Debug)]
pub(super) enum Missed {
    /// An error, which the suite reports at the end, too.
    Failed(String),
    /// It was left out.
    Skipped(String),
}

impl<E: std::error::Error> From<E> for Missed {
    fn from(error: E) -> Self {
        Self::Failed(error.to_string())
    }
}

impl From<Failure> for Missed {
    fn from(failure: Failure) -> Self {
        let (Failure::Undone(sentence) | Failure::Usage(sentence)) = failure;
        Self::Failed(sentence)
    }
}

/// A line of JSON.
#[derive(Serialize)]
struct Line<'a, R> {
    kind: &'static str,
    /// Since the suite began, s.
    at_s: f64,
    #[serde(flatten)]
    record: &'a R,
}

/// What takes the place of a measurement.
#[derive(Serialize)]
struct Instead<'a> {
    what: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    skipped: Option<&'a str>,
}

/// A sentence.
#[derive(Serialize)]
pub(super) struct Note {
    pub(super) text: String,
}

impl Record for Note {
    const KIND: &'static str = "note";

    fn line(&self) -> String {
        self.text.clone()
    }
}

/// The end of the suite.
#[derive(Serialize)]
struct End {
    seconds: f64,
    measured: usize,
    failed: usize,
    /// Of these nothing is known.
    left_out: usize,
    /// Peak memory of the process.
    memory_mb: f64,
}

impl Record for End {
    const KIND: &'static str = "end";

    fn line(&self) -> String {
        format!(
            "{} measured, {} failed, {} left out in {:.0} s; {:.0} MB of memory at most",
            self.measured, self.failed, self.left_out, self.seconds, self.memory_mb
        )
    }
}

/// A run of the suite: where it measures, what it has said.
pub(super) struct Run<'a> {
    pub(super) gpu: &'a GpuContext,
    pub(super) scale: Scale,
    progress: &'a Progress,
    /// Rate of copying, GB/s, once it is known.
    pub(super) copy_gb_s: Option<f64>,
    json: bool,
    start: Instant,
    measured: usize,
    failed: usize,
    skipped: usize,
}

impl<'a> Run<'a> {
    pub(super) fn new(
        gpu: &'a GpuContext,
        scale: Scale,
        json: bool,
        progress: &'a Progress,
    ) -> Self {
        Self {
            gpu,
            scale,
            progress,
            copy_gb_s: None,
            json,
            start: Instant::now(),
            measured: 0,
            failed: 0,
            skipped: 0,
        }
    }

    /// Makes one measurement, if there is time, and says what came of it.
    pub(super) fn measure<R: Record>(
        &mut self,
        what: &str,
        work: impl FnOnce(&mut Self) -> Result<R, Missed>,
    ) -> CommandResult {
        let result = self.prepare(what, work);
        self.tell(what, result)
    }

    /// Prepares what several measurements need, if there is time. What kept it from being made is said by [`Run::tell`].
    pub(super) fn prepare<T>(
        &mut self,
        what: &str,
        work: impl FnOnce(&mut Self) -> Result<T, Missed>,
    ) -> Result<T, Missed> {
        let elapsed = self.start.elapsed();
        self.progress.report(
            (elapsed.as_secs_f32() / BUDGET.as_secs_f32()).min(1.0),
            what,
        );
        if elapsed > BUDGET {
            return Err(Missed::Skipped(format!(
                "the {} s for measuring are over",
                BUDGET.as_secs()
            )));
        }
        work(self)
    }

    /// Says a measurement, or why there is none.
    pub(super) fn tell<R: Record>(
        &mut self,
        what: &str,
        result: Result<R, Missed>,
    ) -> CommandResult {
        let instead = |error, skipped| Instead {
            what,
            error,
            skipped,
        };
        match result {
            Ok(record) => {
                self.measured += 1;
                self.failed += usize::from(record.is_failure());
                self.line(R::KIND, &record, || record.line())
            }
            Err(Missed::Failed(error)) => {
                self.failed += 1;
                let text = || format!("{what}: error: {error}");
                self.line(R::KIND, &instead(Some(&error), None), text)
            }
            Err(Missed::Skipped(why)) => {
                self.skipped += 1;
                let text = || format!("{what}: skipped: {why}");
                self.line(R::KIND, &instead(None, Some(&why)), text)
            }
        }
    }

    /// Writes a line at once.
    fn line(
        &self,
        kind: &'static str,
        record: &impl Serialize,
        text: impl FnOnce() -> String,
    ) -> CommandResult {
        if self.json {
            return print(&serde_json::to_string(&Line {
                kind,
                at_s: self.start.elapsed().as_secs_f64(),
                record,
            })?);
        }
        print(&stderr::printable(&format!("{kind:10} {}", text())))
    }

    /// Says how much was measured. An error if anything failed.
    pub(super) fn end(self) -> CommandResult {
        let end = End {
            seconds: self.start.elapsed().as_secs_f64(),
            measured: self.measured,
            failed: self.failed,
            left_out: self.skipped,
            memory_mb: crate::cli::bench::report::peak_memory_mb(),
        };
        self.line(End::KIND, &end, || end.line())?;
        match self.failed {
            0 => Ok(()),
            1 => Err(Failure::Undone("one measurement failed".to_owned())),
            failed => Err(Failure::Undone(format!("{failed} measurements failed"))),
        }
    }
}
