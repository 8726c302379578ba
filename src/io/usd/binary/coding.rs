//! Compression of sections and arrays: LZ4 blocks (`TfFastCompression`), and integers as differences (`Usd_IntegerCompression`).

use crate::io::error::{ParseProblem, Parsed, bad};

/// LZ4 cannot make data smaller than this part.
const MOST_RATIO: usize = 256;

/// Largest size of one LZ4 block, by which larger data is split.
const LARGEST_BLOCK: usize = 0x7E00_0000;

/// Decompresses at most `size` bytes. The first byte is the number of blocks with a length each, or 0 for one block without.
pub(super) fn decompress(data: &[u8], size: usize) -> Parsed<Vec<u8>> {
    if size > data.len().saturating_mul(MOST_RATIO) {
        return bad("a compressed part claims more bytes than it can have");
    }
    let broken = || ParseProblem::new("a compressed part is damaged");
    let (&chunks, mut rest) = data.split_first().ok_or_else(broken)?;
    let mut out = vec![0; size];
    if chunks == 0 {
        let length = lz4_flex::block::decompress_into(rest, &mut out).map_err(|_| broken())?;
        out.truncate(length);
        return Ok(out);
    }
    let mut filled = 0;
    for _ in 0..chunks {
        let (length, after) = rest.split_first_chunk().ok_or_else(broken)?;
        let length = usize::try_from(i32::from_le_bytes(*length)).map_err(|_| broken())?;
        let (block, after) = after.split_at_checked(length).ok_or_else(broken)?;
        rest = after;
        let made = lz4_flex::block::decompress_into(block, &mut out[filled..]);
        filled += made.map_err(|_| broken())?;
    }
    out.truncate(filled);
    Ok(out)
}

/// Compresses data as one block.
pub(super) fn compress(data: &[u8]) -> Vec<u8> {
    debug_assert!(data.len() < LARGEST_BLOCK);
    let mut out = vec![0];
    out.extend(lz4_flex::block::compress(data));
    out
}

/// Bytes of `count` encoded integers of `width` bytes, at most.
pub(super) fn encoded_size(count: usize, width: usize) -> usize {
    width
        .saturating_add(count.div_ceil(4))
        .saturating_add(count.saturating_mul(width))
}

/// Decodes integers of `width` bytes (4 or 8): a common difference, two bits for each integer, then the other differences in as
/// many bytes as those bits say.
pub(super) fn decode(data: &[u8], count: usize, width: usize) -> Parsed<Vec<i64>> {
    if count == 0 {
        return Ok(Vec::new());
    }
    let broken = || ParseProblem::new("compressed integers are damaged");
    let little = |bytes: &[u8]| {
        let sign = bytes.last().is_some_and(|&byte| byte >= 0x80);
        let mut wide = [if sign { 0xFF } else { 0 }; 8];
        wide[..bytes.len()].copy_from_slice(bytes);
        i64::from_le_bytes(wide)
    };
    let (common, rest) = data.split_at_checked(width).ok_or_else(broken)?;
    let common = little(common);
    let (codes, mut rest) = rest
        .split_at_checked(count.div_ceil(4))
        .ok_or_else(broken)?;
    let mut last = 0_i64;
    let mut made = Vec::with_capacity(count);
    for index in 0..count {
        let code = (codes[index / 4] >> (2 * (index % 4))) & 3;
        let difference = if code == 0 {
            common
        } else {
            let length = (width / 4) << (code - 1);
            let (bytes, after) = rest.split_at_checked(length).ok_or_else(broken)?;
            rest = after;
            little(bytes)
        };
        last = last.wrapping_add(difference);
        // Integers of four bytes wrap as such.
        if width == 4 {
            last = i64::from(last as i32);
        }
        made.push(last);
    }
    Ok(made)
}

/// Encodes integers of four bytes; [`decode`] says how.
pub(super) fn encode(values: impl IntoIterator<Item = i32>) -> Vec<u8> {
    let mut last = 0_i32;
    let difference = |value: i32| value.wrapping_sub(std::mem::replace(&mut last, value));
    let differences: Vec<i32> = values.into_iter().map(difference).collect();
    if differences.is_empty() {
        return Vec::new();
    }
    let mut sorted = differences.clone();
    sorted.sort_unstable();
    let runs = sorted.chunk_by(|a, b| a == b);
    let common = runs.max_by_key(|run| run.len()).map_or(0, |run| run[0]);
    let mut out = common.to_le_bytes().to_vec();
    let codes_at = out.len();
    out.resize(codes_at + differences.len().div_ceil(4), 0);
    for (index, &difference) in differences.iter().enumerate() {
        let bytes = difference.to_le_bytes();
        let code = if difference == common {
            0
        } else if i8::try_from(difference).is_ok() {
            1
        } else if i16::try_from(difference).is_ok() {
            2
        } else {
            3
        };
        out[codes_at + index / 4] |= code << (2 * (index % 4));
        if code > 0 {
            out.extend_from_slice(&bytes[..1 << (code - 1)]);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_decode_to_what_was_encoded() {
        let lists: [&[i32]; 4] = [
            &[],
            &[7],
            &[123, 124, 125, 100_125, 100_125, 100_126, 100_126],
            &[0, -1, i32::MAX, i32::MIN, 300, 5, -70_000, -1, -1],
        ];
        for list in lists {
            let bytes = encode(list.iter().copied());
            let wide: Vec<i64> = list.iter().map(|&value| i64::from(value)).collect();
            assert_eq!(decode(&bytes, list.len(), 4).unwrap(), wide);
            assert!(bytes.len() <= encoded_size(list.len(), 4));
            assert!(bytes.is_empty() || decode(&bytes[..bytes.len() - 1], list.len(), 4).is_err());
        }
        // The example in OpenUSD's integerCoding.cpp.
        let mut example = vec![1, 0, 0, 0, 0b11_00_00_01, 0b01_00_01];
        example.extend([123, 0xA0, 0x86, 1, 0, 0, 0]);
        let decoded = decode(&example, 7, 4).unwrap();
        let expected: Vec<i64> = lists[2].iter().map(|&v| i64::from(v)).collect();
        assert_eq!(decoded, expected);
    }

    #[test]
    fn wide_integers_decode() {
        // Common difference 2; then one of 2, 4 and 8 bytes.
        let mut bytes = 2_i64.to_le_bytes().to_vec();
        bytes.push(0b11_10_01_00);
        bytes.extend((-3_i16).to_le_bytes());
        bytes.extend(100_000_i32.to_le_bytes());
        bytes.extend((1_i64 << 40).to_le_bytes());
        let expected = [2, -1, 99_999, 99_999 + (1 << 40)];
        assert_eq!(decode(&bytes, 4, 8).unwrap(), expected);
    }

    #[test]
    fn blocks_decompress_and_bombs_are_refused() {
        let data: Vec<u8> = (0..10_000_u32).map(|i| (i / 100) as u8).collect();
        let packed = compress(&data);
        assert!(packed.len() < data.len() / 4);
        assert_eq!(decompress(&packed, data.len()).unwrap(), data);
        assert!(decompress(&packed, data.len() - 1).is_err());
        assert!(decompress(&packed, 1 << 40).is_err());
        assert!(decompress(&[], 0).is_err());
        // Two blocks with their lengths.
        let half = lz4_flex::block::compress(&data[..5000]);
        let mut chunks = vec![2];
        for block in [&half, &lz4_flex::block::compress(&data[5000..])] {
            chunks.extend((block.len() as u32).to_le_bytes());
            chunks.extend(block);
        }
        assert_eq!(decompress(&chunks, data.len()).unwrap(), data);
    }
}
