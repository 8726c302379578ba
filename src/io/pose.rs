//! Poses as JSON files.

use std::io::Write;
use std::path::Path;

use super::bytes::{read_file, text_of};
use super::error::{IoError, ParseProblem, shown};
use super::write::write_atomically;
use crate::rig::PoseFile;

/// Reads a pose file.
///
/// # Errors
/// [`IoError::Read`], or [`IoError::Malformed`] with line and column.
pub fn read_pose(path: &Path) -> Result<PoseFile, IoError> {
    let bytes = read_file(path).map_err(|source| IoError::Read {
        file: shown(path),
        source,
    })?;
    serde_json::from_str(&text_of(&bytes)).map_err(|error| {
        ParseProblem::new(format!("not a pose (expected {{\"joints\": {{\"name\": {{\"rotation\": [x,y,z,w]}}}}}}): {error}"))
            .in_file(&shown(path))
    })
}

/// Writes a pose file.
///
/// # Errors
/// [`IoError::Write`].
pub fn write_pose(path: &Path, pose: &PoseFile) -> Result<(), IoError> {
    write_atomically(path, |out| {
        serde_json::to_writer_pretty(&mut *out, pose)?;
        writeln!(out)
    })
}
