//! Values of fields in binary files.

use super::super::layer::Value;
use super::ValueRep;
use super::file::{BinaryFile, Cursor, broken};
use crate::io::error::{Parsed, bad};

/// What a field holds.
pub(super) enum FieldValue {
    Plain(Value),
    /// Nothing that is used: dictionaries, blocks, values of later versions.
    Unused,
}

/// How the elements of a type are stored.
#[derive(Clone, Copy)]
enum Stored {
    /// Signed integers of so many bytes.
    Signed(usize),
    Unsigned(usize),
    Half,
    Float,
    Double,
}

impl Stored {
    fn bytes(self) -> usize {
        match self {
            Self::Signed(bytes) | Self::Unsigned(bytes) => bytes,
            Self::Half => 2,
            Self::Float => 4,
            Self::Double => 8,
        }
    }

    fn number(self, bytes: &[u8]) -> f64 {
        let mut wide = [0; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        let whole = u64::from_le_bytes(wide);
        match self {
            Self::Unsigned(_) => whole as f64,
            Self::Signed(bytes) => {
                let shift = 64 - 8 * bytes as u32;
                ((whole << shift).cast_signed() >> shift) as f64
            }
            Self::Half => f64::from(float_of(whole as u16)),
            Self::Float => f64::from(f32::from_bits(whole as u32)),
            Self::Double => f64::from_bits(whole),
        }
    }
}

/// The elements of a numeric type: how they are stored, how many make one value, and whether it is a quaternion. By number of
/// the type.
fn numeric(kind: u8) -> Option<(Stored, usize, bool)> {
    Some(match kind {
        1 | 2 => (Stored::Unsigned(1), 1, false),
        3 => (Stored::Signed(4), 1, false),
        4 => (Stored::Unsigned(4), 1, false),
        5 => (Stored::Signed(8), 1, false),
        6 => (Stored::Unsigned(8), 1, false),
        7 => (Stored::Half, 1, false),
        8 => (Stored::Float, 1, false),
        9 | 56 => (Stored::Double, 1, false),
        13 => (Stored::Double, 4, false),
        14 => (Stored::Double, 9, false),
        15 => (Stored::Double, 16, false),
        16 => (Stored::Double, 4, true),
        17 => (Stored::Float, 4, true),
        18 => (Stored::Half, 4, true),
        19 => (Stored::Double, 2, false),
        20 => (Stored::Float, 2, false),
        21 => (Stored::Half, 2, false),
        22 => (Stored::Signed(4), 2, false),
        23 => (Stored::Double, 3, false),
        _ => return numeric_vectors(kind),
    })
}

fn numeric_vectors(kind: u8) -> Option<(Stored, usize, bool)> {
    // 23 to 26 are vectors of three, 27 to 30 of four: double, float, half, int.
    let width = match kind {
        23..=26 => 3,
        27..=30 => 4,
        _ => return None,
    };
    let stored = match (kind - 19) % 4 {
        0 => Stored::Double,
        1 => Stored::Float,
        2 => Stored::Half,
        _ => Stored::Signed(4),
    };
    Some((stored, width, false))
}

/// A half as a float, exactly.
fn float_of(half: u16) -> f32 {
    let sign = if half & 0x8000 == 0 { 1.0 } else { -1.0 };
    let fraction = f32::from(half & 0x3FF);
    match (half >> 10) & 0x1F {
        0 => sign * fraction * 2.0_f32.powi(-24),
        31 if fraction == 0.0 => sign * f32::INFINITY,
        31 => f32::NAN,
        exponent => sign * (1.0 + fraction / 1024.0) * 2.0_f32.powi(i32::from(exponent) - 15),
    }
}

/// Quaternions have their real part last in files.
fn real_first(mut numbers: Vec<f64>) -> Vec<f64> {
    for quaternion in numbers.chunks_exact_mut(4) {
        quaternion.rotate_right(1);
    }
    numbers
}

impl BinaryFile<'_> {
    pub(super) fn field_value(&self, rep: ValueRep) -> Parsed<FieldValue> {
        let plain = |value| Ok(FieldValue::Plain(value));
        if let Some((stored, width, is_quaternion)) = numeric(rep.kind()) {
            let numbers = if rep.is(ValueRep::ARRAY) {
                self.array(rep, stored, width)?
            } else {
                self.single(rep, stored, width)?
            };
            return plain(Value::Numbers(if is_quaternion {
                real_first(numbers)
            } else {
                numbers
            }));
        }
        match rep.kind() {
            // Specifier, permission, variability.
            42..=44 => plain(Value::number(rep.payload() as f64)),
            // Strings, tokens, paths of assets.
            10..=12 => plain(Value::Texts(self.texts(rep)?)),
            // Token list operation.
            32 => {
                let mut cursor = self.at(rep.payload());
                plain(Value::Texts(Self::list_operation(&mut cursor, |n| {
                    self.owned_token(n as usize)
                })?))
            }
            41 => {
                let mut cursor = self.at(rep.payload());
                plain(Value::Texts(self.tokens_at(&mut cursor)?))
            }
            48 => {
                let mut cursor = self.at(rep.payload());
                let count = cursor.count(8)?;
                plain(Value::Numbers(numbers(&mut cursor, count, Stored::Double)?))
            }
            _ => Ok(FieldValue::Unused),
        }
    }

    fn tokens_at(&self, cursor: &mut Cursor<'_>) -> Parsed<Vec<String>> {
        let count = cursor.count(4)?;
        let token = |_| self.owned_token(cursor.u32()? as usize);
        (0..count).map(token).collect()
    }

    /// The items that a list operation gives: explicit, added, prepended and appended ones.
    fn list_operation(
        cursor: &mut Cursor<'_>,
        item: impl Fn(u32) -> Parsed<String>,
    ) -> Parsed<Vec<String>> {
        let header = cursor.take(1)?[0];
        let mut items = Vec::new();
        for bit in [1, 2, 5, 6] {
            if header & (1 << bit) != 0 {
                let count = cursor.count(4)?;
                for _ in 0..count {
                    items.push(item(cursor.u32()?)?);
                }
            }
        }
        Ok(items)
    }

    pub(super) fn path_list(&self, rep: ValueRep) -> Parsed<Vec<String>> {
        let mut cursor = self.at(rep.payload());
        let path = |index| {
            let path = self.path(index);
            self.spend(path.len()).map(|()| path)
        };
        match rep.kind() {
            34 => Self::list_operation(&mut cursor, path),
            40 => {
                let count = cursor.count(4)?;
                (0..count).map(|_| path(cursor.u32()?)).collect()
            }
            _ => Ok(Vec::new()),
        }
    }

    fn texts(&self, rep: ValueRep) -> Parsed<Vec<String>> {
        let is_string = rep.kind() == 10 || (rep.kind() == 12 && !rep.is(ValueRep::INLINED));
        let text = |index: u32| {
            let token = if is_string {
                let token = self.strings.get(index as usize);
                *token.ok_or_else(broken)?
            } else {
                index
            };
            self.owned_token(token as usize)
        };
        if !rep.is(ValueRep::ARRAY) {
            let index = if rep.is(ValueRep::INLINED) {
                rep.payload() as u32
            } else {
                self.at(rep.payload()).u32()?
            };
            return Ok(vec![text(index)?]);
        }
        if rep.payload() == 0 {
            return Ok(Vec::new());
        }
        let mut cursor = self.at(rep.payload());
        let count = self.array_count(&mut cursor, 4)?;
        (0..count).map(|_| text(cursor.u32()?)).collect()
    }

    /// A value that is no array. Small ones are inside: vectors and the diagonals of matrices as signed bytes, doubles as floats,
    /// long integers as short ones.
    fn single(&self, rep: ValueRep, stored: Stored, width: usize) -> Parsed<Vec<f64>> {
        if !rep.is(ValueRep::INLINED) {
            return numbers(&mut self.at(rep.payload()), width, stored);
        }
        let bytes = rep.payload().to_le_bytes();
        let small = |i: usize| f64::from(bytes[i].cast_signed());
        Ok(match (width, stored) {
            (1, Stored::Double) => vec![Stored::Float.number(&bytes[..4])],
            (1, Stored::Signed(8)) => vec![Stored::Signed(4).number(&bytes[..4])],
            (1, Stored::Unsigned(8)) => vec![Stored::Unsigned(4).number(&bytes[..4])],
            (1, stored) => vec![stored.number(&bytes[..stored.bytes()])],
            (2..=4, _) if !matches!(rep.kind(), 13..=18) => (0..width).map(small).collect(),
            (4 | 9 | 16, Stored::Double) => {
                let size = width.isqrt();
                let entry = |i: usize| {
                    if i.is_multiple_of(size + 1) {
                        small(i / size)
                    } else {
                        0.0
                    }
                };
                (0..width).map(entry).collect()
            }
            _ => return bad("a value is stored in a way that is not known"),
        })
    }

    fn array_count(&self, cursor: &mut Cursor<'_>, bytes: usize) -> Parsed<usize> {
        if self.version < [0, 5, 0] {
            cursor.u32()?;
        }
        if self.version < [0, 7, 0] {
            return Ok(cursor.u32()? as usize);
        }
        cursor.count(bytes)
    }

    fn array(&self, rep: ValueRep, stored: Stored, width: usize) -> Parsed<Vec<f64>> {
        if rep.payload() == 0 {
            return Ok(Vec::new());
        }
        let mut cursor = self.at(rep.payload());
        let is_packed = rep.is(ValueRep::COMPRESSED) && width == 1;
        let least = if is_packed { 0 } else { stored.bytes() * width };
        let count = self.array_count(&mut cursor, least)?;
        self.spend(count.saturating_mul(width * 8))?;
        if !is_packed {
            return numbers(&mut cursor, count.saturating_mul(width), stored);
        }
        if let Stored::Signed(bytes) | Stored::Unsigned(bytes) = stored {
            let integers = cursor.integers(count, bytes.max(4))?;
            let is_unsigned = matches!(stored, Stored::Unsigned(4));
            let number = |n: i64| {
                if is_unsigned {
                    n as u32 as f64
                } else {
                    n as f64
                }
            };
            return Ok(integers.into_iter().map(number).collect());
        }
        match cursor.take(1)?[0] {
            b'i' => {
                let integers = cursor.integers(count, 4)?;
                Ok(integers.into_iter().map(|n| n as f64).collect())
            }
            b't' => {
                let size = cursor.u32()? as usize;
                let table = numbers(&mut cursor, size, stored)?;
                let indices = cursor.integers(count, 4)?;
                let entry = |n: &i64| table.get(*n as usize).copied().ok_or_else(broken);
                indices.iter().map(entry).collect()
            }
            _ => bad("an array is compressed in a way that is not known"),
        }
    }

    /// Time samples: all of them, or the first one.
    pub(super) fn samples(&self, rep: ValueRep, all: bool) -> Parsed<Vec<(f64, Value)>> {
        if rep.kind() != 46 {
            return Ok(Vec::new());
        }
        let mut cursor = self.at(rep.payload());
        cursor.jump()?;
        let times = ValueRep(cursor.u64()?);
        let FieldValue::Plain(times) = self.field_value(times)? else {
            return Ok(Vec::new());
        };
        cursor.jump()?;
        let count = cursor.count(8)?;
        let mut samples = Vec::new();
        for &time in times.numbers().iter().take(count) {
            let value = ValueRep(cursor.u64()?);
            if let FieldValue::Plain(value) = self.field_value(value)? {
                samples.push((time, value));
                if !all {
                    break;
                }
            }
        }
        samples.sort_by(|a, b| a.0.total_cmp(&b.0));
        Ok(samples)
    }
}

fn numbers(cursor: &mut Cursor<'_>, count: usize, stored: Stored) -> Parsed<Vec<f64>> {
    let size = count.checked_mul(stored.bytes()).ok_or_else(broken)?;
    let bytes = cursor.take(size)?;
    let numbers = bytes.chunks_exact(stored.bytes());
    Ok(numbers.map(|bytes| stored.number(bytes)).collect())
}

#[cfg(test)]
mod tests {
    use super::super::encode::half_of;
    use super::*;

    #[test]
    fn halves_are_rounded_to_the_nearest() {
        for bits in 0..=u16::MAX {
            let value = float_of(bits);
            if value.is_nan() {
                continue;
            }
            assert_eq!(half_of(value), bits, "{value}");
        }
        // Ties go to the even one.
        assert_eq!(half_of(1.0 + 1.0 / 2048.0), 0x3C00);
        assert_eq!(half_of(1.0 + 3.0 / 2048.0), 0x3C02);
        assert_eq!(half_of(1e6), 0x7C00);
    }

    #[test]
    fn types_have_their_numbers() {
        let width = |kind| numeric(kind).map(|(stored, width, _)| (stored.bytes(), width));
        assert_eq!(width(23), Some((8, 3)));
        assert_eq!(width(24), Some((4, 3)));
        assert_eq!(width(25), Some((2, 3)));
        assert_eq!(width(26), Some((4, 3)));
        assert_eq!(width(28), Some((4, 4)));
        assert_eq!(width(31), None);
    }
}
