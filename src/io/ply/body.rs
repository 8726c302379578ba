//! The body of a PLY, read number by number.

use super::header::{Encoding, PlyScalar};
use crate::io::bytes::number;
use crate::io::error::{Parsed, bad};

/// Reads consecutive numbers.
pub(super) struct BodyReader<'a> {
    encoding: Encoding,
    bytes: &'a [u8],
}

impl<'a> BodyReader<'a> {
    pub(super) fn new(encoding: Encoding, bytes: &'a [u8]) -> Self {
        Self { encoding, bytes }
    }

    /// Remaining bytes.
    pub(super) fn left(&self) -> usize {
        self.bytes.len()
    }

    /// The next number; `where_` describes its location for messages.
    pub(super) fn next(&mut self, scalar: PlyScalar, where_: impl Fn() -> String) -> Parsed<f64> {
        match self.encoding {
            Encoding::Text => self.word(where_),
            Encoding::Little => self.binary(scalar, false, where_),
            Encoding::Big => self.binary(scalar, true, where_),
        }
    }

    /// The length of a list.
    pub(super) fn length(
        &mut self,
        length: PlyScalar,
        item: PlyScalar,
        where_: impl Fn() -> String,
    ) -> Parsed<usize> {
        let value = self.next(length, &where_)?;
        let item_size = if self.encoding == Encoding::Text {
            2
        } else {
            item.size()
        };
        // The last token needs no trailing white space.
        let most = (self.left() + 1) / item_size;
        if value >= 0.0 && value.fract() == 0.0 && value <= most as f64 {
            Ok(value as usize)
        } else {
            bad(format!(
                "{}: a list declares {value} numbers, but {} bytes remain",
                where_(),
                self.left()
            ))
        }
    }

    fn word(&mut self, where_: impl Fn() -> String) -> Parsed<f64> {
        let start = self.bytes.iter().position(|b| !b.is_ascii_whitespace());
        let Some(start) = start else {
            return bad(format!("{}: the file ends too early", where_()));
        };
        let rest = &self.bytes[start..];
        let end = rest
            .iter()
            .position(u8::is_ascii_whitespace)
            .unwrap_or(rest.len());
        self.bytes = &rest[end..];
        let text = std::str::from_utf8(&rest[..end]).ok();
        if let Some(value) = text.and_then(number) {
            return Ok(value);
        }
        let shown: String = String::from_utf8_lossy(&rest[..end])
            .chars()
            .take(40)
            .collect();
        bad(format!(
            "{}: a number is expected, not \"{shown}\"",
            where_()
        ))
    }

    fn binary(&mut self, scalar: PlyScalar, big: bool, where_: impl Fn() -> String) -> Parsed<f64> {
        let Some((number, rest)) = self.bytes.split_at_checked(scalar.size()) else {
            return bad(format!("{}: the file ends too early", where_()));
        };
        self.bytes = rest;
        let mut little = [0_u8; 8];
        for (i, byte) in number.iter().enumerate() {
            little[if big { number.len() - 1 - i } else { i }] = *byte;
        }
        let [a, b, c, d, ..] = little;
        Ok(match scalar {
            PlyScalar::I8 => f64::from(a.cast_signed()),
            PlyScalar::U8 => f64::from(a),
            PlyScalar::I16 => f64::from(i16::from_le_bytes([a, b])),
            PlyScalar::U16 => f64::from(u16::from_le_bytes([a, b])),
            PlyScalar::I32 => f64::from(i32::from_le_bytes([a, b, c, d])),
            PlyScalar::U32 => f64::from(u32::from_le_bytes([a, b, c, d])),
            PlyScalar::F32 => f64::from(f32::from_le_bytes([a, b, c, d])),
            PlyScalar::F64 => f64::from_le_bytes(little),
        })
    }
}
