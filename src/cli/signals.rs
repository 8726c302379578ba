//! SIGINT, SIGTERM and SIGHUP.

/// Removes unfinished files when the process is terminated (SIGINT, SIGTERM, SIGHUP); it then ends by that signal.
#[cfg(unix)]
pub(super) fn remove_unfinished_on_signal() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let hang_up = (!ignores_hang_up()).then_some(SIGHUP);
    let ends = [SIGINT, SIGTERM].into_iter().chain(hang_up);
    let mut signals = match signal_hook::iterator::Signals::new(ends) {
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

/// Whether the process was started to go on when its terminal closes (`nohup`): then SIGHUP stays ignored. Where that is unknown,
/// it counts as ignored; files that remain are removed by the next write in their folder.
#[cfg(unix)]
fn ignores_hang_up() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // Signal n is bit n - 1, and SIGHUP is 1.
    mask.is_none_or(|mask| mask & 1 != 0)
}

/// On other systems unfinished files remain.
#[cfg(not(unix))]
pub(super) fn remove_unfinished_on_signal() {}
