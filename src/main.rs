//! The `sinew` binary: no verb opens the workbench, a verb goes to the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    let files = std::env::args_os().skip(1).map(std::path::PathBuf::from).collect();
    match sinew::app::run(files) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("sinew: {error}");
            ExitCode::FAILURE
        }
    }
}
