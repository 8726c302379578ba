//! Signals that end the program.

/// Closes the program in order on SIGTERM, SIGHUP and SIGINT, by `leave`, which returns whether the event loop was told. A second signal
/// terminates it at once.
#[cfg(unix)]
pub(super) fn exit_on_signal(leave: impl Fn() -> bool + Send + 'static) {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut signals = match signal_hook::iterator::Signals::new([SIGHUP, SIGINT, SIGTERM]) {
        Ok(signals) => signals,
        Err(error) => return log::warn!("signals to end can't be received: {error}"),
    };
    let wait = move || {
        for (earlier, signal) in signals.forever().enumerate() {
            if earlier > 0 || !leave() {
                crate::io::remove_unfinished();
                // The conventional exit code for a signal.
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

/// Other systems close the window to end the program.
#[cfg(not(unix))]
pub(super) fn exit_on_signal(_leave: impl Fn() -> bool + Send + 'static) {}
