//! JSON text of project files.

use serde::Deserialize;
use serde_json::Value;

use super::file::{FORMAT, ProjectFile, VERSION};

/// A longer text is not searched for unknown entries, to limit memory.
const SEARCHED: usize = 8 << 20;
/// Most characters of a reason that are shown.
const MOST_QUOTED: usize = 300;
/// Largest number of unknown entries that are named individually.
const NAMED: usize = 4;

/// Error in a text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum TextError {
    #[error("it is not a Sinew project")]
    NoProject,
    #[error(
        "it was saved by a newer Sinew (project version {0}, and this one reads up to {VERSION}); update Sinew to open it"
    )]
    Version(u64),
    #[error("the project is damaged in line {line}: {reason}")]
    Damaged { line: usize, reason: String },
}

/// Value that distinguishes a project from other JSON.
#[derive(Deserialize)]
struct FormatHeader {
    format: String,
    version: u64,
}

/// The text to save: readable JSON, with lists of numbers on one line.
pub(super) fn to_text(file: &ProjectFile) -> Result<String, serde_json::Error> {
    let mut text = with_short_lists(&serde_json::to_string_pretty(file)?);
    text.push('\n');
    Ok(text)
}

/// Parses a project's text. The second value reports ignored entries.
pub(super) fn from_text(text: &str) -> Result<(ProjectFile, Vec<String>), TextError> {
    let damaged = |error: &serde_json::Error| {
        let full = error.to_string();
        let reason = full
            .rsplit_once(" at line ")
            .map_or(full.as_str(), |(reason, _)| reason);
        TextError::Damaged {
            line: error.line(),
            reason: brief(reason),
        }
    };
    match serde_json::from_str::<FormatHeader>(text) {
        Ok(head) if head.format != FORMAT => return Err(TextError::NoProject),
        Ok(head) if head.version > u64::from(VERSION) || head.version == 0 => {
            return Err(TextError::Version(head.version));
        }
        Ok(_) => {}
        // Other JSON is not reported as a damaged project.
        Err(error) if error.is_data() => return Err(TextError::NoProject),
        Err(error) => return Err(damaged(&error)),
    }
    let file: ProjectFile = serde_json::from_str(text).map_err(|error| damaged(&error))?;
    let unknown = unknown_entries(text, &file);
    Ok((file, unknown))
}

/// The start of a reason, which may quote a value of any length.
fn brief(reason: &str) -> String {
    let mut characters = reason.chars();
    let mut start: String = characters.by_ref().take(MOST_QUOTED).collect();
    if characters.next().is_some() {
        start.push('…');
    }
    start.replace(char::is_control, " ")
}

/// Unknown entries of a text: they are lost when the file is written again.
fn unknown_entries(text: &str, file: &ProjectFile) -> Vec<String> {
    if text.len() > SEARCHED {
        return Vec::new();
    }
    let known = serde_json::to_value(file);
    let (Ok(Value::Object(mut given)), Ok(Value::Object(known))) =
        (serde_json::from_str::<Value>(text), known)
    else {
        return Vec::new();
    };
    given.remove("window");
    given.remove("distilled");
    let mut unknown = Vec::new();
    for (key, value) in &given {
        compare(key, value, known.get(key), &mut unknown);
    }
    let more = unknown.len().saturating_sub(NAMED);
    unknown.truncate(NAMED);
    if more > 0 {
        unknown.push(format!("{more} more"));
    }
    unknown
}

fn compare(path: &str, given: &Value, known: Option<&Value>, unknown: &mut Vec<String>) {
    match (given, known) {
        (Value::Object(given), Some(Value::Object(known))) => {
            for (key, value) in given {
                compare(&format!("{path}.{key}"), value, known.get(key), unknown);
            }
        }
        // Empty entries are not written by this program.
        (Value::Null, None) => {}
        (Value::Array(list), None) if list.is_empty() => {}
        (Value::Object(map), None) if map.is_empty() => {}
        (_, None) if path.rsplit('.').next() == Some("scale") => {}
        (_, None) => unknown.push(path.replace(char::is_control, " ")),
        _ => {}
    }
}

/// Puts arrays without nested arrays, objects or strings on one line.
fn with_short_lists(pretty: &str) -> String {
    let mut short = String::with_capacity(pretty.len());
    let (mut rest, mut in_string) = (pretty, false);
    while let Some(at) = rest.find(['"', '\\', '[']) {
        let (before, from) = rest.split_at(at);
        short.push_str(before);
        let skipped = match (from.as_bytes()[0], in_string) {
            (b'\\', true) => 1 + from[1..].chars().next().map_or(0, char::len_utf8),
            (b'"', _) => {
                in_string = !in_string;
                1
            }
            (b'[', false) => {
                let plain = from[1..].find(['[', ']', '{', '"']).map(|end| end + 1);
                if let Some(end) = plain.filter(|&end| from.as_bytes()[end] == b']') {
                    let words: Vec<&str> = from[1..end].split_whitespace().collect();
                    short.push('[');
                    short.push_str(&words.join(" "));
                    short.push(']');
                    rest = &from[end + 1..];
                    continue;
                }
                1
            }
            _ => 1,
        };
        short.push_str(&from[..skipped]);
        rest = &from[skipped..];
    }
    short.push_str(rest);
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_lists_are_the_same_json() {
        let value = serde_json::json!({
            "a": [1, 2.5, -3e-9], "b [": "x\\\" [1,\n 2]", "c": [[1, 2], [3]], "d": [{"e": [true, null]}], "f": [], "g\\": ["[", "]"],
        });
        let pretty = serde_json::to_string_pretty(&value).unwrap();
        let short = with_short_lists(&pretty);
        assert_eq!(serde_json::from_str::<Value>(&short).unwrap(), value);
        assert!(short.contains("\"a\": [1, 2.5, -3e-9]"), "{short}");
        assert!(short.lines().count() < pretty.lines().count());
    }

    #[test]
    fn an_invalid_or_newer_project_is_rejected_with_a_sentence() {
        let error = |text: &str| from_text(text).unwrap_err().to_string();
        assert!(error("{\"joints\": {}}").contains("not a Sinew project"));
        assert!(error("[1, 2]").contains("not a Sinew project"));
        assert!(error("{\"format\": \"other\", \"version\": 1}").contains("not a Sinew project"));
        assert!(
            error("{\"format\": \"sinew\", \"version\": 7, \"tomorrow\": 1}").contains("version 7")
        );
        assert!(error("{\"format\": \"sinew\", \"version\": 0}").contains("version 0"));
        let damaged =
            error("{\"format\": \"sinew\",\n\"version\": 1,\n\"character\": {\"files\": [}\n}");
        assert!(damaged.contains("line 3"), "{damaged}");
        assert!(error("").contains("line 1") && error("\u{0}").contains("line 1"));
        assert!(error("{\"format\": \"sinew\",\n\"version\": 1}").contains("character"));
    }

    #[test]
    fn entries_of_newer_versions_are_named_and_ignored() {
        let text = "{\"format\": \"sinew\", \"version\": 1, \"character\": {\"files\": [{\"path\": \"builtin:arm\"}], \"mood\": 1},
            \"params\": {\"bounce\": 2}, \"sky\": {\"blue\": [1]}, \"flesh\": {\"radii\": {}}}";
        let (file, unknown) = from_text(text).unwrap();
        assert_eq!(unknown, ["character.mood", "params.bounce", "sky"]);
        let again = to_text(&file).unwrap();
        assert_eq!(from_text(&again).unwrap().1, Vec::<String>::new());
    }
}
