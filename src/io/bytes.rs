//! Reading whole files into memory, and decoding text.

use std::path::Path;

use crate::files::read_limited;

/// Maximum file size, bytes. Characters are a hundred times smaller; the limit keeps an unsuitable
/// file from exhausting memory.
pub(crate) const LARGEST_FILE: usize = 512 << 20;

/// Reads a regular file of at most [`LARGEST_FILE`] bytes, as an input of this program.
pub(crate) fn read_file(path: &Path) -> std::io::Result<Vec<u8>> {
    let bytes = read_limited(path, LARGEST_FILE as u64)?;
    super::reads::note(path, &bytes);
    Ok(bytes)
}

/// Decodes UTF-8, or UTF-16 with a byte-order mark; undecodable bytes become U+FFFD.
pub(crate) fn text_of(bytes: &[u8]) -> String {
    let wide = |to_u16: fn([u8; 2]) -> u16| {
        let units: Vec<u16> = bytes[2..]
            .chunks_exact(2)
            .map(|b| to_u16([b[0], b[1]]))
            .collect();
        String::from_utf16_lossy(&units)
    };
    match bytes {
        [0xFE, 0xFF, ..] => wide(u16::from_be_bytes),
        [0xFF, 0xFE, ..] => wide(u16::from_le_bytes),
        _ => String::from_utf8_lossy(bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes))
            .into_owned(),
    }
}

/// The lines that are not blank, trimmed, with their numbers from 1.
pub(crate) fn numbered_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let trimmed = text.lines().map(str::trim).enumerate();
    trimmed
        .map(|(i, line)| (i + 1, line))
        .filter(|(_, line)| !line.is_empty())
}

/// Parses a number as text files spell it: what `f64` parses, otherwise the longest numeric prefix
/// ("3.1+e2" → 3.1), as C's `strtod`. `None` if there is no such prefix.
pub(crate) fn number(text: &str) -> Option<f64> {
    if let Ok(value) = text.parse() {
        return Some(value);
    }
    let bytes = text.as_bytes();
    let digits = |from: usize| {
        bytes
            .get(from..)
            .unwrap_or_default()
            .iter()
            .take_while(|b| b.is_ascii_digit())
            .count()
    };
    let sign = |at: usize| usize::from(matches!(bytes.get(at), Some(b'+' | b'-')));
    let whole = sign(0) + digits(sign(0));
    let mantissa = if bytes.get(whole) == Some(&b'.') {
        whole + 1 + digits(whole + 1)
    } else {
        whole
    };
    let exponent = match bytes.get(mantissa) {
        Some(b'e' | b'E') => mantissa + 1 + sign(mantissa + 1),
        _ => bytes.len(),
    };
    let end = if digits(exponent) > 0 {
        exponent + digits(exponent)
    } else {
        mantissa
    };
    text[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_parsed_in_all_spellings() {
        for (text, expected) in [
            ("1", 1.0),
            ("+2.", 2.0),
            (".5", 0.5),
            ("-1E2", -100.0),
            ("3.1+e2", 3.1),
            ("1,5", 1.0),
        ] {
            assert!((number(text).unwrap() - expected).abs() < 1e-12, "{text}");
        }
        for (text, expected) in [
            ("1e5x", 1e5),
            ("1e+x", 1.0),
            ("-.5.5", -0.5),
            ("2e3e4", 2000.0),
            ("7-", 7.0),
            ("4.e1é", 40.0),
        ] {
            assert_eq!(number(text), Some(expected), "{text}");
        }
        assert!(number("nan").unwrap().is_nan());
        for text in ["x", "", "é", "-", ".", "+.", "e5", "--1", "-x"] {
            assert!(number(text).is_none(), "{text}");
        }
    }

    /// Linear time: trying every prefix length would take minutes.
    #[test]
    fn a_number_of_many_digits_is_parsed_in_linear_time() {
        let text = "1".repeat(400_000) + &"+".repeat(400_000);
        assert_eq!(number(&text), Some(f64::INFINITY));
    }

    #[test]
    fn utf_16_is_decoded() {
        assert_eq!(text_of(&[0xFE, 0xFF, 0, b'v', 0, b' ']), "v ");
        assert_eq!(text_of(b"\xEF\xBB\xBFv"), "v");
    }
}
