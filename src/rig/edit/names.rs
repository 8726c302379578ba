//! Names of joints: sides, and names of new joints.

use super::Rig;
use crate::rig::symmetry::mirrored_name;

/// Suffixes of the two sides: first those of names generated here, then those used in files.
const SIDES: [(&str, &str); 6] = [
    (".L", ".R"),
    ("_L", "_R"),
    (".l", ".r"),
    ("_l", "_r"),
    ("-L", "-R"),
    (" L", " R"),
];

/// The name of the mirror partner, if the name has a side: `hand.L` and `hand.R`, `LeftArm` and
/// `RightArm`, `l_hand` and `r_hand`.
pub(super) fn other_side(name: &str) -> Option<String> {
    let says_more = name.chars().filter(|c| c.is_alphanumeric()).count() > 1;
    mirrored_name(name).filter(|_| says_more)
}

/// Whether a name is the left one of two that differ only in their side.
pub(super) fn is_left_of(name: &str, other: &str) -> bool {
    name.chars()
        .zip(other.chars())
        .find(|(a, b)| a != b)
        .is_some_and(|(letter, _)| matches!(letter, 'L' | 'l'))
}

/// The name without its side suffix, and the suffix.
pub(super) fn split_side(name: &str) -> (&str, &str) {
    for (left, right) in SIDES {
        for side in [left, right] {
            if let Some(stem) = name.strip_suffix(side)
                && !stem.is_empty()
            {
                return (stem, &name[stem.len()..]);
            }
        }
    }
    (name, "")
}

/// The name with the suffix of the left (`.L`) or right (`.R`) side, or without.
pub(super) fn on_side(name: &str, side: Option<bool>) -> String {
    let stem = split_side(name).0;
    match side {
        Some(true) => format!("{stem}.L"),
        Some(false) => format!("{stem}.R"),
        None => stem.to_owned(),
    }
}

impl Rig {
    /// The name or, if in use, the next free one with a number before the side suffix: `arm.L`,
    /// `arm2.L`.
    pub(super) fn free_name(&self, wanted: &str) -> String {
        let is_free = |name: &str| self.find(name).is_none();
        if !wanted.is_empty() && is_free(wanted) {
            return wanted.to_owned();
        }
        let (stem, side) = split_side(wanted);
        let digits = stem.len() - stem.trim_end_matches(|c: char| c.is_ascii_digit()).len();
        let (base, number) = stem.split_at(stem.len() - digits);
        let first = number
            .parse::<u64>()
            .map_or(2, |number| number.saturating_add(1));
        let base = if base.is_empty() && number.is_empty() {
            "joint"
        } else {
            base
        };
        let mut numbers = first..;
        loop {
            let Some(number) = numbers.next() else {
                return format!("{base}{}{side}", self.next_id);
            };
            let name = format!("{base}{number}{side}");
            if is_free(&name) {
                return name;
            }
        }
    }

    /// Name of a joint extruded from `parent`.
    pub(super) fn child_name(&self, parent: Option<usize>) -> String {
        match parent {
            None => self.free_name("root"),
            Some(parent) if self.joints[parent].parent.is_none() => self.free_name("bone1"),
            Some(parent) => self.free_name(&self.joints[parent].name.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_change_sides_and_back() {
        for (left, right) in [
            ("hand.L", "hand.R"),
            ("mixamorig:LeftArm", "mixamorig:RightArm"),
            ("l_hand", "r_hand"),
            ("thigh_l", "thigh_r"),
            ("arm.L.001", "arm.R.001"),
        ] {
            assert_eq!(other_side(left).as_deref(), Some(right));
            assert_eq!(other_side(right).as_deref(), Some(left));
            assert!(
                is_left_of(left, right) && !is_left_of(right, left),
                "{left}"
            );
        }
        for middle in ["spine", "head", ".L", "lower", "tail_1"] {
            assert_eq!(other_side(middle), None, "{middle}");
        }
    }
}
