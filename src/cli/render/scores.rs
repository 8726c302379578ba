//! Metrics of every method, and its distance to the first one.

use std::path::PathBuf;

use serde::Serialize;

use crate::cli::options::Options;
use crate::cli::{Failure, stderr};
use crate::math::{Affine, Point};
use crate::methods::{Actor, MethodId, Subject};
use crate::metrics::{METRICS, Measurements, Meter, MeterFrame, RestSkin};

/// The JSON report.
#[derive(Serialize)]
pub(super) struct RenderReport {
    pub(super) character: String,
    pub(super) files: Vec<PathBuf>,
    /// One per method, in the order of the pictures; empty for a crowd.
    pub(super) scores: Vec<MethodScore>,
}

/// Metrics of the last frame of a method.
#[derive(Serialize)]
pub(super) struct MethodScore {
    method: MethodId,
    #[serde(flatten)]
    metrics: Measurements,
}

/// Measures the methods one after the other, if a report is wanted.
#[derive(Default)]
pub(super) struct RenderScores {
    meter: Option<Meter>,
    /// Positions of the first method.
    first: Option<Vec<Point>>,
    pub(super) list: Vec<MethodScore>,
}

impl RenderScores {
    /// Measures the bind pose.
    pub(super) fn of(subject: &Subject, options: &Options) -> Result<Self, Failure> {
        let meter = stderr::with_progress(options, "Measuring", |progress| {
            Meter::new(RestSkin::of(subject), METRICS, progress)
        })?;
        Ok(Self {
            meter: Some(meter),
            ..Self::default()
        })
    }

    /// Measures an actor's current frame.
    pub(super) fn measure(
        &mut self,
        actor: &Actor,
        world_from_joint: &[Affine],
        options: &Options,
    ) -> Result<(), Failure> {
        let Some(meter) = &mut self.meter else {
            return Ok(());
        };
        let frame = MeterFrame {
            reference: self.first.as_deref(),
            ..actor.meter_frame(world_from_joint)
        };
        let metrics = stderr::with_progress(options, "Measuring", |progress| {
            meter.measure(&frame, progress)
        })?;
        self.first.get_or_insert_with(|| actor.positions().to_vec());
        self.list.push(MethodScore {
            method: actor.method(),
            metrics,
        });
        Ok(())
    }
}
