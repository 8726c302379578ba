//! How two methods share one picture.

use serde::{Deserialize, Serialize};

/// How two methods share one picture. The window, projects and the command line all mean this.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Compare {
    /// One method on the left, the other on the right of a line at this part of the width, 0 to 1.
    Wipe(f32),
    /// The other method while a key is held.
    Flicker,
    /// The distance between the methods, as colours.
    Difference,
}

impl Default for Compare {
    /// A wipe through the middle.
    fn default() -> Self {
        Self::Wipe(0.5)
    }
}
