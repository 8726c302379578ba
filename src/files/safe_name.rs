//! Names of files from names of meshes, clips and characters.

/// Most characters that are kept.
const LONGEST: usize = 100;

/// A name without characters that file systems refuse or that lead to other folders; `unnamed` if nothing is left.
#[must_use]
pub fn safe_name(name: &str) -> String {
    let allowed = |c: char| c.is_alphanumeric() || " ._-()".contains(c);
    let name: String = (name.chars().take(LONGEST))
        .map(|c| if allowed(c) { c } else { '_' })
        .collect();
    let name = name
        .trim()
        .trim_start_matches('.')
        .trim_end_matches(['.', ' ']);
    (if name.is_empty() { "unnamed" } else { name }).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_nowhere() {
        for (name, safe) in [
            ("Körper", "Körper"),
            ("../a/b:c", "_a_b_c"),
            (" .. ", "unnamed"),
            ("", "unnamed"),
            ("walk 1.", "walk 1"),
        ] {
            assert_eq!(safe_name(name), safe);
        }
        assert_eq!(safe_name(&"x".repeat(1000)).len(), LONGEST);
    }
}
