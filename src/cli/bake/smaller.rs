//! `--compress`: the written `.glb` made smaller, and what that costs.

use serde::Serialize;

use super::{Bake, Report};
use crate::cli::options::Options;
use crate::cli::{CommandResult, Failure, stderr};
use crate::io::compress_glb;
use crate::methods::Subject;

/// What compression did.
#[derive(Serialize)]
pub(super) struct CompressionReport {
    bytes_before: u64,
    bytes_after: u64,
    /// Largest distance of a position from the uncompressed one, millimetres.
    position_error_mm: f64,
}

impl Bake {
    /// Only a `.glb` can be compressed.
    pub(super) fn check_compressible(&self) -> CommandResult {
        let output = self.output.as_deref();
        let is_glb = output
            .and_then(|path| path.extension())
            .is_some_and(|extension| extension.eq_ignore_ascii_case("glb"));
        if self.compress && !is_glb {
            return Err(Failure::Usage(
                "--compress is for .glb; the other kinds have no compression that their readers know".to_owned(),
            ));
        }
        Ok(())
    }

    /// Compresses the output, if that is wanted, and says so.
    pub(super) fn compressed(
        &self,
        mut report: Report,
        subject: &Subject,
        options: &Options,
    ) -> Result<Report, Failure> {
        let Some(path) = self.output.as_deref().filter(|_| self.compress) else {
            return Ok(report);
        };
        let done = compress_glb(path)?;
        let metres = if self.keep_units {
            subject.metres_per_unit()
        } else {
            1.0
        };
        // Half a step along each axis.
        let error = done.step * metres * 0.5 * 3_f64.sqrt() * 1e3;
        if !options.quiet && !self.json {
            let megabytes = |bytes: u64| bytes as f64 / 1e6;
            stderr::line(&format!(
                "compressed from {:.2} to {:.2} MB; positions are off by at most {error:.4} mm",
                megabytes(done.before),
                megabytes(done.after)
            ));
        }
        let compression = Some(CompressionReport {
            bytes_before: done.before,
            bytes_after: done.after,
            position_error_mm: error,
        });
        match &mut report {
            Report::Skin(report) => report.compression = compression,
            Report::Files(report) => report.compression = compression,
        }
        Ok(report)
    }
}
