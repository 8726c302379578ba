//! Keeps the board up to date: follows its inputs, takes over what was measured, and starts what is missing.

use super::curves::CurveKey;
use super::lines::{BoardLine, lines_of};
use super::work::{Outcome, Run, Target};
use super::{Board, PAUSE_SECS};
use crate::metrics::Metric;
use crate::session::jobs::JobContext;
use crate::session::jobs::stages::DerivedStages;
use crate::session::{Document, ViewId};

impl Board {
    /// Follows views, clip and parameters, takes over what was measured, and starts what is missing. Returns whether there is more to show.
    pub(in crate::session) fn follow(
        &mut self,
        dt_secs: f64,
        stages: &DerivedStages,
        context: &JobContext<'_>,
    ) -> bool {
        let before = self.revision;
        let distance_to = self.request.as_ref().map(|request| request.distance_to);
        let shown = distance_to
            .and_then(|view| lines_of(context.views, context.channels, context.document, view))
            .unwrap_or_default();
        if shown.inputs() != self.shown.inputs() {
            self.start_over();
        }
        if shown != self.shown {
            self.shown = shown;
            self.revision += 1;
        }
        self.drop_stale_run();
        self.take_measured();
        self.age_secs += dt_secs;
        let waits = self.age_secs < PAUSE_SECS || context.passing || self.cancelled;
        if self.run.is_none() && !self.complete && !waits {
            self.begin_next(context.views.active().id, stages, context);
        }
        self.revision != before
    }

    /// Cancels a run whose values are not wanted any more.
    fn drop_stale_run(&mut self) {
        let Some(run) = &self.run else { return };
        let metrics = self.metrics();
        let target = &run.target;
        let is_line = |line: &BoardLine| line.basis == target.basis;
        let is_wanted =
            |metric: &&'static Metric| metrics.iter().any(|w| std::ptr::eq(*w, *metric));
        let same_target =
            target.against.is_none() || target.against.as_ref() == self.shown.target();
        let wanted = self.shown.list.iter().any(is_line)
            && target.metrics.iter().any(is_wanted)
            && same_target;
        if !wanted {
            self.run = None;
        }
    }

    fn take_measured(&mut self) {
        let Some(run) = &self.run else { return };
        let (measured, outcome) = run.poll();
        let target = run.target.clone();
        let keys: Vec<CurveKey> = target.keys().collect();
        self.revision += u64::from(!measured.is_empty() || outcome.is_some());
        for (index, readings) in measured {
            for (key, reading) in keys.iter().zip(readings) {
                if let Some(curve) = self.curves.get_mut(key) {
                    curve.set(index, reading);
                }
            }
        }
        let Some(outcome) = outcome else { return };
        self.run = None;
        match outcome {
            Outcome::Failed(sentence) => {
                let refused = keys.into_iter().map(|key| (key, sentence.clone()));
                self.refused.extend(refused);
            }
            Outcome::Done => {
                // What a finished run did not deliver could not be computed.
                for key in &keys {
                    if let Some(curve) = self.curves.get_mut(key) {
                        let left: Vec<usize> = curve.missing().collect();
                        for index in left {
                            curve.set_failed(index);
                        }
                    }
                }
            }
        }
    }

    /// Starts the next run of which something is missing: methods that need no simulation first, which are measured in a moment, and
    /// the active view's method before others.
    fn begin_next(&mut self, active: ViewId, stages: &DerivedStages, context: &JobContext<'_>) {
        let wanted = self.wanted();
        self.curves.keep(&wanted, self.shown.frames);
        self.refused.retain(|(key, _)| wanted.contains(key));
        let mut order: Vec<usize> = (0..self.shown.list.len()).collect();
        order.sort_by_key(|&line| {
            let line = &self.shown.list[line];
            (line.is_simulated(), !line.views.contains(&active))
        });
        let mut is_complete = true;
        for line in order {
            let Some(target) = self.target_of(line) else {
                continue;
            };
            is_complete = false;
            // Binding needs stages that are being made meanwhile.
            if stages.bound_worker(self.shown.list[line].need).is_none() {
                continue;
            }
            self.start(target, context.document, context);
            return;
        }
        self.complete = is_complete;
    }

    /// What is missing of a line; `None` if nothing is.
    fn target_of(&self, line: usize) -> Option<Target> {
        let metrics = self.metrics().into_iter();
        let keys: Vec<CurveKey> = metrics
            .filter_map(|metric| self.shown.key(line, metric))
            .filter(|key| !self.is_refused(key))
            .collect();
        let missing_of = |key: &CurveKey| -> Vec<usize> {
            let curve = self.curves.get(key);
            curve.map_or_else(Vec::new, |curve| curve.missing().collect())
        };
        let mut missing: Vec<usize> = Vec::new();
        let mut target = Target {
            basis: self.shown.basis(line)?.clone(),
            against: None,
            metrics: Vec::new(),
            every: self.shown.every,
            missing: Vec::new(),
        };
        for key in keys {
            let frames = missing_of(&key);
            if !frames.is_empty() {
                missing.extend(frames);
                target.against = target.against.or(key.against);
                target.metrics.push(key.metric);
            }
        }
        missing.sort_unstable();
        missing.dedup();
        target.missing = missing;
        (!target.missing.is_empty()).then_some(target)
    }

    fn start(&mut self, target: Target, document: &Document, context: &JobContext<'_>) {
        let keys: Vec<CurveKey> = target.keys().collect();
        match Run::start(target, &document.takes, context.waker.cloned()) {
            Ok(run) => self.run = Some(run),
            Err(error) => {
                let sentence = format!("no thread could be started: {error}");
                let refused = keys.into_iter().map(|key| (key, sentence.clone()));
                self.refused.extend(refused);
            }
        }
        self.revision += 1;
    }
}

impl Target {
    /// The curves that it fills, in the order of its metrics.
    fn keys(&self) -> impl Iterator<Item = CurveKey> + '_ {
        self.metrics.iter().map(|metric| CurveKey {
            basis: self.basis.clone(),
            metric,
            against: self.against.clone().filter(|_| metric.needs_reference),
        })
    }
}
