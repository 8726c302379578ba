//! What an entry is called: a hash of everything that it depends on.

use std::fmt;
use std::sync::OnceLock;
use std::time::UNIX_EPOCH;

use serde::Serialize;

/// The name of an entry.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Key(pub(super) [u8; 32]);

impl Key {
    /// The key of what a stage makes of these inputs, by this build of the program. Give another `version` when the stage makes something
    /// else of the same inputs. `None` for inputs that can't be written down (sequences of unknown length).
    #[must_use]
    pub fn of(stage: &str, version: u32, inputs: &impl Serialize) -> Option<Self> {
        // Lengths are written before what they are the lengths of: no two inputs look alike.
        let bytes = postcard::to_stdvec(&(build(), stage, version, inputs)).ok()?;
        Some(Self(*blake3::hash(&bytes).as_bytes()))
    }
}

impl fmt::Display for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// Which build of the program this is: two that make different things must not share an entry, even if nobody raised a version.
fn build() -> &'static str {
    static BUILD: OnceLock<String> = OnceLock::new();
    BUILD.get_or_init(|| {
        let program = std::env::current_exe().and_then(std::fs::metadata);
        let (bytes, written) = program.map_or((0, None), |program| (program.len(), program.modified().ok()));
        let nanos = written.and_then(|time| time.duration_since(UNIX_EPOCH).ok()).map_or(0, |since| since.as_nanos());
        format!("{} {} {bytes} {nanos}", env!("CARGO_PKG_VERSION"), std::env::consts::ARCH)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_tell_inputs_apart() {
        let base = Key::of("stage", 1, &(vec![1.0_f32, 2.0], "name"));
        assert!(base.is_some());
        assert_eq!(base, Key::of("stage", 1, &(vec![1.0_f32, 2.0], "name")));
        assert_ne!(base, Key::of("stage", 2, &(vec![1.0_f32, 2.0], "name")));
        assert_ne!(base, Key::of("stages", 1, &(vec![1.0_f32, 2.0], "name")));
        assert_ne!(base, Key::of("stage", 1, &(vec![1.0_f32, 2.000_000_2], "name")));
        assert_ne!(Key::of("a", 1, &(vec![1_u8, 2], vec![3_u8])), Key::of("a", 1, &(vec![1_u8], vec![2_u8, 3])));
        assert_ne!(Key::of("a", 1, &0.0_f32), Key::of("a", 1, &-0.0_f32));
    }

    #[test]
    fn a_key_is_written_as_64_hexadecimal_digits() {
        let text = Key([0xa5; 32]).to_string();
        assert!(text.len() == 64 && text.starts_with("a5a5"));
    }
}
