//! Random parts of file names.

use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// 16 random hexadecimal digits, for the name of a temporary file or folder.
///
/// Process numbers are no substitute: they repeat, in containers at every start. The keys of
/// [`RandomState`] come from the system's random numbers; time, process and a counter are added.
#[must_use]
pub fn random_digits() -> String {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let mut hasher = RandomState::new().build_hasher();
    hasher.write_u64(NUMBER.fetch_add(1, Ordering::Relaxed));
    hasher.write_u32(std::process::id());
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
    hasher.write_u128(since.map_or(0, |since| since.as_nanos()));
    format!("{:016x}", hasher.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_digits_differ() {
        let many: std::collections::HashSet<String> = (0..1000).map(|_| random_digits()).collect();
        assert_eq!(many.len(), 1000);
        assert!(many.iter().all(|digits| digits.len() == 16));
    }
}
