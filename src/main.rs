//! The `sinew` binary: no verb opens the workbench, a verb goes to the command line.

use std::process::ExitCode;

fn main() -> ExitCode {
    sinew::cli::run(|source, params, cache, device| sinew::app::run(source, &params, cache, device).map_err(|error| error.to_string()))
}
