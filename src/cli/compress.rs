//! `--compress`: a written `.glb` made smaller, and what that costs.

use std::path::Path;

use serde::Serialize;

use super::{CommandResult, Failure, stderr};
use crate::io::compress_glb;

/// What compression did.
#[derive(Serialize)]
pub(super) struct CompressionReport {
    bytes_before: u64,
    bytes_after: u64,
    /// Largest distance of a position from the uncompressed one, millimetres.
    position_error_mm: f64,
}

/// Only a `.glb` can be compressed.
pub(super) fn check_compressible(output: Option<&Path>) -> CommandResult {
    let extension = output.and_then(Path::extension);
    if extension.is_some_and(|extension| extension.eq_ignore_ascii_case("glb")) {
        return Ok(());
    }
    Err(Failure::Usage(
        "--compress is for .glb; the other kinds have no compression that their readers know"
            .to_owned(),
    ))
}

/// Compresses a file, and says so unless `quiet`.
pub(super) fn compress(
    path: &Path,
    metres_per_unit: f64,
    quiet: bool,
) -> Result<CompressionReport, Failure> {
    let done = compress_glb(path)?;
    if !quiet {
        stderr::line(&done.sentence(metres_per_unit));
    }
    Ok(CompressionReport {
        bytes_before: done.before,
        bytes_after: done.after,
        position_error_mm: done.error_mm(metres_per_unit),
    })
}
