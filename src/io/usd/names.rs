//! Names of prims from names of meshes, joints and clips.

use std::collections::HashSet;

/// A name with the letters that every reader of USD takes: A–Z, a–z, 0–9 and _, not starting with a digit.
pub(super) fn identifier(name: &str) -> String {
    let allowed = |c: char| if c.is_ascii_alphanumeric() { c } else { '_' };
    let mut made: String = name.chars().map(allowed).collect();
    if made.is_empty() {
        made.push_str("unnamed");
    }
    if made.starts_with(|c: char| c.is_ascii_digit()) {
        made.insert(0, '_');
    }
    made
}

/// Gives siblings different names.
#[derive(Debug, Default)]
pub(super) struct SiblingNames {
    used: HashSet<String>,
}

impl SiblingNames {
    /// The identifier of a name, or the first of `NAME_2`, `NAME_3`, … that is not used.
    pub(super) fn unique(&mut self, name: &str) -> String {
        let base = identifier(name);
        let numbered = (2..).map(|number| format!("{base}_{number}"));
        let mut names = std::iter::once(base.clone()).chain(numbered);
        names
            .find(|name| self.used.insert(name.clone()))
            .unwrap_or(base)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_become_identifiers_of_their_own() {
        let mut names = SiblingNames::default();
        let made = ["arm.L", "arm L", "2nd", "", "Körper"].map(|name| names.unique(name));
        assert_eq!(made, ["arm_L", "arm_L_2", "_2nd", "unnamed", "K_rper"]);
    }
}
