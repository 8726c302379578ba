//! The machine that a report was made on.

/// Name of the processor, or its architecture if the system does not tell.
#[must_use]
pub fn cpu_name() -> String {
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let name = info
        .lines()
        .find_map(|line| line.strip_prefix("model name"))
        .and_then(|rest| rest.split_once(':'))
        .map(|(_, name)| name.trim().to_owned());
    name.unwrap_or_else(|| std::env::consts::ARCH.to_owned())
}

/// Processor and operating system, for people.
#[must_use]
pub fn machine() -> String {
    format!("{}, {}", cpu_name(), std::env::consts::OS)
}
