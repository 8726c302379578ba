//! Many characters at once.

use std::time::Instant;

use serde::Serialize;

use super::record::{Missed, Record, Run};
use super::sizes::{Bodies, BodySize};
use crate::cli::CommandResult;
use crate::cli::bench::crowd::{Amount, CrowdReport, measured};
use crate::cli::bench::report::peak_memory_mb;
use crate::dynamics::{Collisions, Params};
use crate::methods::{Actor, MethodId};
use crate::progress::Progress;

/// A crowd of a size.
#[derive(Debug, Serialize)]
struct CrowdRecord {
    size: &'static str,
    #[serde(flatten)]
    report: CrowdReport,
    memory_mb: f64,
}

impl Record for CrowdRecord {
    const KIND: &'static str = "crowd";

    fn line(&self) -> String {
        format!("{:8} {}", self.size, self.report.line())
    }
}

/// Crowds of all counts.
pub(super) fn measure(run: &mut Run<'_>, bodies: &mut Bodies, size: BodySize) -> CommandResult {
    for &count in run.scale.crowds() {
        let what = format!("a crowd of {count}, {}", size.name);
        run.measure(&what, |run| {
            let setup = Instant::now();
            let subject = bodies.of(size)?.subject;
            let params = Params {
                collisions: Collisions::Off,
                ..Params::default()
            };
            let actor = Actor::bind(&subject, MethodId::PD, &params, &Progress::new())?;
            let amount = Amount {
                frames: run.scale.frames(),
                longest: Some(run.scale.longest()),
            };
            let report = measured(run.gpu, actor, count, amount, setup, &Progress::new())
                .map_err(Missed::from)?;
            Ok(CrowdRecord {
                size: size.name,
                report,
                memory_mb: peak_memory_mb(),
            })
        })?;
    }
    Ok(())
}
