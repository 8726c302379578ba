//! Ways to compare two methods in one picture.

use serde::{Deserialize, Serialize};

/// How two methods are compared in one picture; used by the window, projects and the command line.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compare {
    /// Wipe: one method left and the other right of a line at this fraction of the width, 0 to 1.
    Wipe(f32),
    /// Flicker: the other method while a key is held.
    Flicker,
    /// The distance between the methods, as colours.
    Difference,
}

impl Default for Compare {
    /// A wipe through the centre.
    fn default() -> Self {
        Self::Wipe(0.5)
    }
}
