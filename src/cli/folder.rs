//! The folder of an output file.

use super::{CommandResult, Failure};

/// Checks before any work that the output's folder exists.
pub(super) fn check_folder(output: &std::path::Path) -> CommandResult {
    let folder = match output.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => std::path::Path::new("."),
    };
    if !folder.is_dir() {
        let (path, folder) = (output.display(), folder.display());
        return Err(Failure::Undone(format!(
            "{path} can't be written: there is no folder {folder}; make it first"
        )));
    }
    Ok(())
}

/// Makes a folder for outputs, and those that it is in.
pub(super) fn make_folder(folder: &std::path::Path) -> CommandResult {
    std::fs::create_dir_all(folder).map_err(|error| {
        let folder = folder.display();
        Failure::Undone(format!("the folder {folder} can't be made: {error}"))
    })
}

/// Checks, before any more work than reading, that no output is one of the files that were read.
pub(super) fn check_outputs<'a>(
    outputs: impl IntoIterator<Item = &'a std::path::PathBuf>,
) -> CommandResult {
    for output in outputs {
        crate::io::refuse_protected(output)?;
    }
    Ok(())
}
