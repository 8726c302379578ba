//! The `sinew` binary: no verb opens the workbench, a verb goes to the command line.

use std::path::PathBuf;
use std::process::ExitCode;

/// The window is not part of this build.
fn open_workbench(_files: Vec<PathBuf>) -> Result<(), String> {
    Err("the workbench is not available in this version; `sinew --help` lists what can be done on the command line".to_owned())
}

fn main() -> ExitCode {
    sinew::cli::run(open_workbench)
}
