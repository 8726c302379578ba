//! Keys of cache entries: hashes of all inputs.

use std::fmt;
use std::sync::OnceLock;
use std::time::UNIX_EPOCH;

use serde::Serialize;

/// The key of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct CacheKey(pub(super) [u8; 32]);

impl CacheKey {
    /// The key of a stage's output for these inputs and this build of the program. Change `version`
    /// when the stage's output for the same inputs changes. `None` for inputs that cannot be
    /// serialised (sequences of unknown length).
    #[must_use]
    pub fn of(stage: &str, version: u32, inputs: &impl Serialize) -> Option<Self> {
        // Lengths precede the data they describe: different inputs serialise differently.
        let bytes = postcard::to_stdvec(&(build(), stage, version, inputs)).ok()?;
        Some(Self(*blake3::hash(&bytes).as_bytes()))
    }
}

impl fmt::Display for CacheKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Identifies the build of the program: builds with different results must not share an entry, even
/// without a version change.
fn build() -> &'static str {
    static BUILD: OnceLock<String> = OnceLock::new();
    BUILD.get_or_init(|| {
        let program = std::env::current_exe().and_then(std::fs::metadata);
        let (bytes, written) = program.map_or((0, None), |program| {
            (program.len(), program.modified().ok())
        });
        let nanos = written
            .and_then(|time| time.duration_since(UNIX_EPOCH).ok())
            .map_or(0, |since| since.as_nanos());
        format!(
            "{} {} {bytes} {nanos}",
            env!("CARGO_PKG_VERSION"),
            std::env::consts::ARCH
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_inputs_have_different_keys() {
        let base = CacheKey::of("stage", 1, &(vec![1.0_f32, 2.0], "name"));
        assert!(base.is_some());
        assert_eq!(
            base,
            CacheKey::of("stage", 1, &(vec![1.0_f32, 2.0], "name"))
        );
        assert_ne!(
            base,
            CacheKey::of("stage", 2, &(vec![1.0_f32, 2.0], "name"))
        );
        assert_ne!(
            base,
            CacheKey::of("stages", 1, &(vec![1.0_f32, 2.0], "name"))
        );
        assert_ne!(
            base,
            CacheKey::of("stage", 1, &(vec![1.0_f32, 2.000_000_2], "name"))
        );
        assert_ne!(
            CacheKey::of("a", 1, &(vec![1_u8, 2], vec![3_u8])),
            CacheKey::of("a", 1, &(vec![1_u8], vec![2_u8, 3]))
        );
        assert_ne!(
            CacheKey::of("a", 1, &0.0_f32),
            CacheKey::of("a", 1, &-0.0_f32)
        );
    }

    #[test]
    fn a_key_is_written_as_64_hexadecimal_digits() {
        let text = CacheKey([0xa5; 32]).to_string();
        assert!(text.len() == 64 && text.starts_with("a5a5"));
    }
}
