//! Decodes buffer views compressed by `EXT_meshopt_compression`, as its appendices A (`streams.rs`)
//! and B (`filters.rs`) describe.
//!
//! A separate decoder is used because the crate around the C++ library, by which the command line
//! compresses, needs a C++ compiler and the core shall not. It
//! supports version 0 of the attribute codec, the only one in the extension, and bounds-checks
//! every read.

mod filters;
mod streams;

use filters::{exponential, octahedral_bytes, octahedral_shorts, quaternion};
use streams::{attributes, indices, triangles};

use crate::io::error::{Parsed, bad};

/// Compression mode of a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompressionMode {
    Attributes,
    Triangles,
    Indices,
}

/// Filter applied to the attributes after decoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CompressionFilter {
    None,
    Octahedral,
    Quaternion,
    Exponential,
}

/// Elements of `stride` bytes each; `None` if the data is damaged.
pub(crate) fn decode(
    data: &[u8],
    mode: CompressionMode,
    filter: CompressionFilter,
    count: usize,
    stride: usize,
) -> Parsed<Vec<u8>> {
    let strides_fit = match mode {
        CompressionMode::Attributes => stride.is_multiple_of(4) && (4..=256).contains(&stride),
        CompressionMode::Triangles => matches!(stride, 2 | 4) && count.is_multiple_of(3),
        CompressionMode::Indices => matches!(stride, 2 | 4),
    };
    let filter_fits = match filter {
        CompressionFilter::None => true,
        CompressionFilter::Octahedral => {
            mode == CompressionMode::Attributes && matches!(stride, 4 | 8)
        }
        CompressionFilter::Quaternion => mode == CompressionMode::Attributes && stride == 8,
        CompressionFilter::Exponential => mode == CompressionMode::Attributes,
    };
    if !strides_fit || !filter_fits {
        return bad(format!(
            "{count} elements of {stride} bytes are invalid for the declared compression"
        ));
    }
    let decoded = match mode {
        CompressionMode::Attributes => attributes(data, count, stride),
        CompressionMode::Triangles => {
            triangles(data, count).map(|indices| bytes_of(&indices, stride))
        }
        CompressionMode::Indices => indices(data, count).map(|indices| bytes_of(&indices, stride)),
    };
    let Some(mut decoded) = decoded else {
        return bad("its compressed data is truncated or of an unknown version");
    };
    match filter {
        CompressionFilter::None => {}
        CompressionFilter::Octahedral if stride == 4 => decoded
            .as_chunks_mut::<4>()
            .0
            .iter_mut()
            .for_each(octahedral_bytes),
        CompressionFilter::Octahedral => decoded
            .as_chunks_mut::<8>()
            .0
            .iter_mut()
            .for_each(octahedral_shorts),
        CompressionFilter::Quaternion => decoded
            .as_chunks_mut::<8>()
            .0
            .iter_mut()
            .for_each(quaternion),
        CompressionFilter::Exponential => decoded
            .as_chunks_mut::<4>()
            .0
            .iter_mut()
            .for_each(exponential),
    }
    Ok(decoded)
}

fn bytes_of(indices: &[u32], stride: usize) -> Vec<u8> {
    indices
        .iter()
        .flat_map(|index| index.to_le_bytes().into_iter().take(stride))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written by meshoptimizer: 18 elements of 4 bytes, codec version 0.
    const ATTRIBUTES: [u8; 88] = [
        160, 5, 42, 170, 170, 170, 160, 0, 0, 0, 7, 0, 2, 6, 10, 14, 18, 22, 26, 30, 34, 38, 42,
        46, 50, 54, 58, 240, 0, 0, 0, 62, 66, 5, 21, 85, 85, 85, 80, 0, 0, 0, 6, 8, 0, 7, 128, 0,
        120, 0, 7, 192, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 200, 255,
    ];
    /// Five triangles.
    const TRIANGLES: [u8; 30] = [
        225, 240, 16, 254, 255, 31, 240, 12, 255, 2, 2, 2, 174, 62, 0, 118, 135, 86, 103, 120, 169,
        134, 101, 137, 104, 152, 1, 105, 0, 0,
    ];
    /// Seven indices.
    const INDICES: [u8; 14] = [209, 0, 20, 6, 193, 139, 17, 4, 5, 6, 0, 0, 0, 0];

    fn numbers(bytes: &[u8]) -> Vec<u32> {
        bytes
            .as_chunks::<4>()
            .0
            .iter()
            .map(|b| u32::from_le_bytes(*b))
            .collect()
    }

    #[test]
    fn data_of_the_reference_encoder_is_decoded() {
        let decoded = decode(
            &ATTRIBUTES,
            CompressionMode::Attributes,
            CompressionFilter::None,
            18,
            4,
        )
        .unwrap();
        let expected: Vec<u8> = (0..18_u16)
            .flat_map(|i| [i, i * i, 200 - i, if i % 5 == 0 { 255 } else { 3 }].map(|c| c as u8))
            .collect();
        assert_eq!(decoded, expected);
        let decoded = numbers(
            &decode(
                &TRIANGLES,
                CompressionMode::Triangles,
                CompressionFilter::None,
                15,
                4,
            )
            .unwrap(),
        );
        let turned = |t: &[u32]| [[t[0], t[1], t[2]], [t[1], t[2], t[0]], [t[2], t[0], t[1]]];
        for (found, expected) in
            decoded
                .chunks(3)
                .zip([[0, 1, 2], [2, 1, 3], [4, 6, 5], [7, 8, 9], [9, 8, 4000]])
        {
            assert!(
                turned(found).contains(&expected),
                "{found:?} should be {expected:?}"
            );
        }
        assert_eq!(
            numbers(
                &decode(
                    &INDICES,
                    CompressionMode::Indices,
                    CompressionFilter::None,
                    7,
                    4
                )
                .unwrap()
            ),
            [0, 5, 3, 70000, 4, 70001, 2]
        );
    }

    #[test]
    fn damaged_data_is_rejected() {
        for (data, mode, count) in [
            (&ATTRIBUTES[..], CompressionMode::Attributes, 18),
            (&TRIANGLES, CompressionMode::Triangles, 15),
            (&INDICES, CompressionMode::Indices, 7),
        ] {
            for end in 0..data.len() {
                assert!(
                    decode(&data[..end], mode, CompressionFilter::None, count, 4).is_err(),
                    "{mode:?} {end}"
                );
            }
            for count in [0, 3, count + 48, 3_000_000_000] {
                assert!(
                    decode(data, mode, CompressionFilter::None, count, 4).is_err(),
                    "{mode:?} {count}"
                );
            }
        }
        assert!(
            decode(
                &ATTRIBUTES,
                CompressionMode::Attributes,
                CompressionFilter::None,
                24,
                3
            )
            .is_err()
        );
        assert!(
            decode(
                &ATTRIBUTES,
                CompressionMode::Attributes,
                CompressionFilter::Quaternion,
                18,
                4
            )
            .is_err()
        );
    }
}
