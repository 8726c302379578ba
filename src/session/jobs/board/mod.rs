//! The live scoreboard: metrics of all shown methods over the clip, measured in the background.
//!
//! A caller asks for quantities ([`Board::ask`]); the board follows the views and the clock that it belongs to, and fills one curve for
//! each method and metric, as `report` measures the frames of a clip. A method whose frames depend on the pose alone gets every sixteenth
//! frame first and then those in between; a simulated one is played from the clip's start. Curves are kept under all that they depend on
//! ([`curves`]), so that another view's change leaves them, and a value that comes back finds its curve again.
//!
//! | file       | what                                                             |
//! |------------|------------------------------------------------------------------|
//! | [`curves`] | the measured values and their keys                               |
//! | [`follow`] | keeps the board up to date: what to measure next                 |
//! | [`lines`]  | which methods are shown over which clip                          |
//! | [`order`]  | coarse frames first                                              |
//! | [`peaks`]  | the worst frames of a curve                                      |
//! | [`work`]   | the background work                                              |

mod curves;
mod follow;
mod lines;
mod order;
mod peaks;
mod work;

#[cfg(test)]
mod tests;

use crate::metrics::{Metric, Place, Quantity, quantity};
use crate::report::{Cell, Comparison, MethodRow, PoseColumn};
use crate::session::ViewId;
use curves::{Curve, CurveKey, Curves, Reading};
use lines::Lines;
use peaks::peaks_of;
use work::Run;

pub use lines::BoardLine;
pub use peaks::Peak;

/// Work starts only after its inputs have not changed for this long, seconds.
const PAUSE_SECS: f64 = 0.25;

/// What a caller wants to see.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct BoardRequest {
    /// Ids of the quantities; unknown ones are ignored.
    pub quantities: Vec<String>,
    /// The view whose method distances are measured to. If it is not among the lines: the elastic reference, or the first line.
    pub distance_to: Option<ViewId>,
}

/// The scoreboard.
#[derive(Default)]
pub struct Board {
    request: Option<BoardRequest>,
    shown: Lines,
    curves: Curves,
    run: Option<Run>,
    /// How long the inputs have been unchanged.
    age_secs: f64,
    /// The user cancelled the work; it goes on when asked to, or when the inputs change.
    cancelled: bool,
    /// Nothing is missing.
    complete: bool,
    /// Methods that cannot be used, with sentences.
    refused: Vec<(CurveKey, String)>,
    revision: u64,
}

impl Board {
    /// Sets what is wanted; `None` closes the board: its work is cancelled, its values are kept for a while. Cheap to call with every frame.
    pub fn ask(&mut self, request: Option<BoardRequest>) {
        if self.request != request {
            self.request = request;
            self.start_over();
        }
    }

    /// Cancels the work; measured values are kept.
    pub fn cancel(&mut self) {
        if self.run.take().is_some() || !self.complete {
            self.cancelled = self.request.is_some();
            self.revision += 1;
        }
    }

    /// Goes on after [`Board::cancel`].
    pub fn resume(&mut self) {
        self.cancelled = false;
    }

    /// Whether the user cancelled the work.
    #[must_use]
    pub fn is_cancelled(&self) -> bool {
        self.cancelled
    }

    /// The shown methods, in the order of their views; empty while the board is closed or no clip is shown.
    #[must_use]
    pub fn lines(&self) -> &[BoardLine] {
        &self.shown.list
    }

    /// Frames per second of the clip.
    #[must_use]
    pub fn fps(&self) -> f64 {
        self.shown.fps
    }

    /// Every how many frames of the clip one is measured: 1, and more for clips of thousands of frames.
    #[must_use]
    pub fn every(&self) -> usize {
        self.shown.every
    }

    /// Changes whenever there is something new to show.
    #[must_use]
    pub fn revision(&self) -> u64 {
        self.revision
    }

    /// The line that distances are measured to, by index; `None` if there is no other.
    #[must_use]
    pub fn distance_to(&self) -> Option<usize> {
        self.shown.against
    }

    /// Why the method of a line, by index, cannot be measured.
    #[must_use]
    pub fn failure(&self, line: usize) -> Option<&str> {
        let basis = self.shown.basis(line)?;
        let refused = self.refused.iter().find(|(key, _)| key.basis == *basis);
        refused.map(|(_, sentence)| sentence.as_str())
    }

    /// Part of the wanted values that is measured, 0..1; `None` if all are, or none are wanted.
    #[must_use]
    pub fn progress(&self) -> Option<f32> {
        if self.complete || self.shown.list.is_empty() {
            return None;
        }
        let wanted = self.wanted();
        let frames = self.shown.frames;
        let done = wanted.iter().map(|key| match self.curves.get(key) {
            _ if self.is_refused(key) => frames,
            Some(curve) => curve.done()[0],
            None => 0,
        });
        let (done, all) = (done.sum::<usize>(), wanted.len() * frames);
        (done < all).then(|| done as f32 / all as f32)
    }

    /// The measured frames of a line, by index, ascending, with the values of a quantity; `None` where it is not defined.
    #[must_use]
    pub fn points(&self, line: usize, id: &str) -> Vec<(u32, Option<f64>)> {
        let Some((metric, key)) = self.key(line, id) else {
            return Vec::new();
        };
        let known = self.curves.get(&key).into_iter().flat_map(Curve::known);
        known
            .map(|(index, reading)| (self.frame(index), reading.get(metric, id).0))
            .collect()
    }

    /// The value of a quantity in the measured frame nearest to a frame, and where it is worst.
    #[must_use]
    pub fn at(&self, line: usize, id: &str, frame: u32) -> Option<(Option<f64>, Option<Place>)> {
        let (metric, key) = self.key(line, id)?;
        Some(self.reading(&key, frame)?.get(metric, id))
    }

    /// The frames where a line is worst, the worst first.
    #[must_use]
    pub fn peaks(&self, line: usize, id: &str) -> Vec<Peak> {
        let Some((_, described)) = quantity(id) else {
            return Vec::new();
        };
        let points = self.points(line, id).into_iter();
        let defined: Vec<(u32, f64)> = points
            .filter_map(|(at, value)| Some((at, value?)))
            .collect();
        peaks_of(&defined, described)
    }

    /// What is measured so far, as a report has it; `None` without lines or quantities.
    #[must_use]
    pub(in crate::session) fn comparison(&self) -> Option<Comparison> {
        let ids = self.request.iter().flat_map(|request| &request.quantities);
        let quantities: Vec<&'static Quantity> =
            ids.filter_map(|id| Some(quantity(id)?.1)).collect();
        let movement = format!("Clip {}", self.shown.clip_name);
        let poses = (0..self.shown.frames).map(|index| {
            let frame = self.frame(index);
            PoseColumn::of_frame(frame, f64::from(frame) / self.fps(), &movement)
        });
        let lines = self.shown.list.iter();
        let methods = lines.map(|line| MethodRow {
            id: line.id.clone(),
            label: line.label.clone(),
            ..MethodRow::default()
        });
        let frames = self.shown.frames;
        let empty = Cell {
            values: vec![None; quantities.len()],
            failure: None,
        };
        let mut cells = vec![empty; self.shown.list.len() * frames];
        for (line, cells) in cells.chunks_mut(frames.max(1)).enumerate() {
            let failure = self.failure(line).map(str::to_owned);
            for cell in &mut *cells {
                cell.failure.clone_from(&failure);
            }
            for (column, quantity) in quantities.iter().enumerate() {
                for (frame, value) in self.points(line, quantity.id) {
                    cells[frame as usize / self.shown.every].values[column] = value;
                }
            }
        }
        let any = !self.shown.list.is_empty() && !quantities.is_empty();
        any.then(|| Comparison {
            about: crate::report::About::default(),
            methods: methods.collect(),
            poses: poses.collect(),
            cells,
            quantities: quantities.into_iter().copied().collect(),
        })
    }

    fn frame(&self, index: usize) -> u32 {
        (index * self.shown.every) as u32
    }

    fn reading(&self, key: &CurveKey, frame: u32) -> Option<&Reading> {
        let index = (f64::from(frame) / self.shown.every as f64).round() as usize;
        self.curves.get(key)?.reading(index)
    }

    /// The metric of a quantity and the key of its curve for a line.
    fn key(&self, line: usize, id: &str) -> Option<(&'static Metric, CurveKey)> {
        let (metric, _) = quantity(id)?;
        Some((metric, self.shown.key(line, metric)?))
    }

    /// The metrics that the wanted quantities need, each once.
    fn metrics(&self) -> Vec<&'static Metric> {
        let mut metrics: Vec<&'static Metric> = Vec::new();
        let ids = self.request.iter().flat_map(|request| &request.quantities);
        for (metric, _) in ids.filter_map(|id| quantity(id)) {
            if !metrics.iter().any(|known| std::ptr::eq(*known, metric)) {
                metrics.push(metric);
            }
        }
        metrics
    }

    /// Keys of all wanted curves.
    fn wanted(&self) -> Vec<CurveKey> {
        let metrics = self.metrics();
        let lines = 0..self.shown.list.len();
        lines
            .flat_map(|line| metrics.iter().map(move |metric| (line, *metric)))
            .filter_map(|(line, metric)| self.shown.key(line, metric))
            .collect()
    }

    fn is_refused(&self, key: &CurveKey) -> bool {
        self.refused
            .iter()
            .any(|(refused, _)| refused.basis == key.basis && refused.against == key.against)
    }

    /// Whether work waits to be started. While a run goes on, its values wake the window.
    pub(in crate::session) fn is_busy(&self) -> bool {
        let waits = self.run.is_none() && !self.complete && !self.cancelled;
        waits && !self.shown.list.is_empty() && self.age_secs < PAUSE_SECS
    }

    /// Resets it for another character.
    pub(in crate::session) fn forget_character(&mut self) {
        self.curves.clear();
        self.refused.clear();
        self.start_over();
    }

    /// The inputs changed.
    fn start_over(&mut self) {
        (self.age_secs, self.cancelled, self.complete) = (0.0, false, false);
        self.revision += 1;
    }
}
