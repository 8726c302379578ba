//! SIGINT and SIGTERM.

/// Removes unfinished files when the process is terminated (SIGINT, SIGTERM); it then ends by that signal.
#[cfg(unix)]
pub(super) fn remove_unfinished_on_signal() {
    use signal_hook::consts::{SIGINT, SIGTERM};
    let mut signals = match signal_hook::iterator::Signals::new([SIGINT, SIGTERM]) {
        Ok(signals) => signals,
        Err(error) => return log::warn!("signals to end can't be received: {error}"),
    };
    let wait = move || {
        for signal in signals.forever() {
            crate::io::remove_unfinished();
            if signal_hook::low_level::emulate_default_handler(signal).is_err() {
                std::process::exit(128 + signal);
            }
        }
    };
    if let Err(error) = std::thread::Builder::new()
        .name("signals".to_owned())
        .spawn(wait)
    {
        log::warn!("signals to end can't be waited for: {error}");
    }
}

/// On other systems unfinished files remain.
#[cfg(not(unix))]
pub(super) fn remove_unfinished_on_signal() {}
