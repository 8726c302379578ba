//! `.dmat` matrices of libigl: `columns rows`, then all numbers column by column; or `0 0`,
//! `columns rows` and binary doubles.

use std::io::Write;

use super::bytes::number;
use super::error::{Parsed, bad};
use crate::weights::SkinWeights;

/// A dense matrix in column-major order.
#[derive(Debug, PartialEq)]
pub(crate) struct DenseMatrix {
    pub rows: usize,
    pub columns: usize,
    pub values: Vec<f64>,
}

/// Maximum number of entries of a weight matrix.
const MOST: usize = 40_000_000;

/// Reads a matrix.
pub(crate) fn read(bytes: &[u8]) -> Parsed<DenseMatrix> {
    let (first, rest) = line(bytes);
    let Some([columns, rows]) = sizes(first) else {
        return bad("the numbers of columns and rows are expected in the first line");
    };
    if (columns, rows) == (0, 0) && !rest.is_empty() {
        let (second, data) = line(rest);
        let Some([columns, rows]) = sizes(second) else {
            return bad(
                "the second line of a binary matrix must hold the numbers of columns and rows",
            );
        };
        let count = checked(columns, rows, data.len() / 8, bytes.len())?;
        let values = data
            .chunks_exact(8)
            .take(count)
            .map(|b| f64::from_le_bytes([b[0], b[1], b[2], b[3], b[4], b[5], b[6], b[7]]));
        return Ok(DenseMatrix {
            rows,
            columns,
            values: values.collect(),
        });
    }
    let count = checked(columns, rows, rest.len().div_ceil(2), bytes.len())?;
    let text = String::from_utf8_lossy(rest);
    let mut values = Vec::with_capacity(count);
    for word in text.split_whitespace().take(count) {
        let Some(value) = number(word) else {
            return bad(format!(
                "number {} of {count} is \"{word}\", which is not a number",
                values.len() + 1
            ));
        };
        values.push(value);
    }
    if values.len() < count {
        return bad(format!("ends after {} of {count} numbers", values.len()));
    }
    Ok(DenseMatrix {
        rows,
        columns,
        values,
    })
}

/// Refuses a matrix with more entries than [`read`] takes.
pub(crate) fn check_size(rows: usize, columns: usize) -> std::io::Result<()> {
    let entries = rows.saturating_mul(columns);
    if entries <= MOST {
        return Ok(());
    }
    Err(std::io::Error::other(format!(
        "a matrix of {rows} vertices and {columns} joints has {entries} entries, more than the {MOST} that are read; write .csv instead"
    )))
}

/// Writes weights in binary, a row per vertex and a column per joint.
pub(crate) fn write(
    out: &mut impl Write,
    weights: &SkinWeights,
    columns: usize,
) -> std::io::Result<()> {
    let rows = weights.len();
    let mut values = vec![0.0_f64; rows * columns];
    for vertex in 0..rows {
        for (joint, weight) in weights.of(vertex).filter(|(joint, _)| *joint < columns) {
            values[joint * rows + vertex] = f64::from(weight);
        }
    }
    write!(out, "0 0\n{columns} {rows}\n")?;
    values
        .iter()
        .try_for_each(|value| out.write_all(&value.to_le_bytes()))
}

fn line(bytes: &[u8]) -> (&[u8], &[u8]) {
    let end = bytes
        .iter()
        .position(|&b| b == b'\n')
        .unwrap_or(bytes.len());
    (&bytes[..end], bytes.get(end + 1..).unwrap_or(&[]))
}

fn sizes(line: &[u8]) -> Option<[usize; 2]> {
    let words: Vec<&str> = std::str::from_utf8(line).ok()?.split_whitespace().collect();
    match words.as_slice() {
        [columns, rows] => Some([columns.parse().ok()?, rows.parse().ok()?]),
        _ => None,
    }
}

fn checked(columns: usize, rows: usize, room: usize, bytes: usize) -> Parsed<usize> {
    match columns.checked_mul(rows) {
        Some(count) if count <= room.min(MOST) => Ok(count),
        _ => bad(format!(
            "declares {columns} columns of {rows} numbers, more than its {bytes} bytes can hold"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_and_binary_read_equal() {
        let text = read(b"2 3\n1\n2\n3\n4\n5\n6").unwrap();
        assert_eq!(
            text,
            DenseMatrix {
                rows: 3,
                columns: 2,
                values: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0]
            }
        );
        let mut binary = b"0 0\n2 3\n".to_vec();
        binary.extend(text.values.iter().flat_map(|v| v.to_le_bytes()));
        assert_eq!(read(&binary).unwrap(), text);
        binary.pop();
        assert!(read(&binary).is_err());
        for wrong in [
            &b""[..],
            b"2",
            b"2 3\n1 2 3",
            b"99999999999 99999999999\n1",
            b"1 2\nx y",
            b"0 0\n9 9\nxxxxxxxx",
            b"2 x\n",
        ] {
            assert!(read(wrong).is_err(), "{wrong:?}");
        }
    }
}
