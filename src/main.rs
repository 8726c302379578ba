//! The `sinew` binary: without a verb it opens the workbench, with a verb it runs the command line.

use std::process::ExitCode;

#[cfg(feature = "app")]
fn main() -> ExitCode {
    sinew::cli::run(|source, params, cache, device| {
        sinew::app::run(source, &params, cache, device).map_err(|error| error.to_string())
    })
}

#[cfg(not(feature = "app"))]
fn main() -> ExitCode {
    sinew::cli::run(|_, _, _, _| {
        Err("this sinew was built without the workbench (feature `app`); use a verb, see `sinew --help`".to_owned())
    })
}
