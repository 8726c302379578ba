//! File format of a cache entry.
//!
//! | bytes      | content                                                 |
//! |------------|---------------------------------------------------------|
//! | 8          | `SINEWKPT`                                              |
//! | 4          | format version; all numbers are little-endian           |
//! | 4          | number of sections n                                    |
//! | 32         | key                                                     |
//! | 8 n        | length of each section                                  |
//! | their sum  | the sections                                            |
//! | 32         | BLAKE3 hash of all preceding bytes                      |

use std::ops::Range;

use super::CacheKey;

const MAGIC: &[u8; 8] = b"SINEWKPT";
/// Format version; incremented when the format changes.
const FORMAT: u32 = 1;
const HASH: usize = 32;
/// Size of the header before the section lengths.
const HEAD: usize = 8 + 4 + 4 + 32;

/// The verified sections of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sections {
    bytes: Vec<u8>,
    ranges: Vec<Range<usize>>,
}

impl Sections {
    /// Number of sections.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ranges.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }

    /// One section.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&[u8]> {
        self.bytes.get(self.ranges.get(index)?.clone())
    }
}

/// Serialises an entry.
pub(super) fn pack(key: &CacheKey, sections: &[&[u8]]) -> Vec<u8> {
    let content: usize = sections.iter().map(|section| section.len()).sum();
    let mut bytes = Vec::with_capacity(HEAD + 8 * sections.len() + content + HASH);
    bytes.extend(MAGIC);
    bytes.extend(FORMAT.to_le_bytes());
    bytes.extend((sections.len() as u32).to_le_bytes());
    bytes.extend(key.0);
    for section in sections {
        bytes.extend((section.len() as u64).to_le_bytes());
    }
    for section in sections {
        bytes.extend(*section);
    }
    let hash = blake3::hash(&bytes);
    bytes.extend(hash.as_bytes());
    bytes
}

/// Parses an entry; `None` if it is damaged, or has another version or key.
pub(super) fn unpack(key: &CacheKey, bytes: Vec<u8>) -> Option<Sections> {
    let (content, hash) = bytes.split_at_checked(bytes.len().checked_sub(HASH)?)?;
    let head = content.get(..HEAD)?;
    let (magic, rest) = head.split_first_chunk::<8>()?;
    let (format, rest) = rest.split_first_chunk::<4>()?;
    let (count, named) = rest.split_first_chunk::<4>()?;
    let agrees = magic == MAGIC && u32::from_le_bytes(*format) == FORMAT && named == key.0;
    if !agrees || blake3::hash(content) != *hash.first_chunk::<HASH>()? {
        return None;
    }
    let count = u32::from_le_bytes(*count) as usize;
    let (lengths, _) = content
        .get(HEAD..HEAD.checked_add(count.checked_mul(8)?)?)?
        .as_chunks::<8>();
    let mut end = HEAD + 8 * count;
    let mut ranges = Vec::with_capacity(count);
    for length in lengths {
        let start = end;
        end = start.checked_add(usize::try_from(u64::from_le_bytes(*length)).ok()?)?;
        ranges.push(start..end);
    }
    (end == content.len()).then_some(Sections { bytes, ranges })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const KEY: CacheKey = CacheKey([7; 32]);

    fn entry() -> Vec<u8> {
        pack(&KEY, &[b"first", b"", b"the third section"])
    }

    #[test]
    fn packed_sections_round_trip() {
        let sections = unpack(&KEY, entry()).expect("whole");
        assert_eq!(sections.len(), 3);
        assert_eq!(sections.get(0), Some(&b"first"[..]));
        assert_eq!(sections.get(1), Some(&b""[..]));
        assert_eq!(sections.get(2), Some(&b"the third section"[..]));
        assert_eq!(sections.get(3), None);
        assert!(unpack(&KEY, pack(&KEY, &[])).is_some_and(|sections| sections.is_empty()));
    }

    #[test]
    fn a_truncated_entry_is_rejected() {
        let whole = entry();
        for length in 0..whole.len() {
            assert!(unpack(&KEY, whole[..length].to_vec()).is_none(), "{length}");
        }
        assert!(unpack(&KEY, [&whole[..], &[0]].concat()).is_none());
    }

    #[test]
    fn any_flipped_bit_is_detected() {
        let whole = entry();
        for bit in 0..8 * whole.len() {
            let mut bytes = whole.clone();
            bytes[bit / 8] ^= 1 << (bit % 8);
            assert!(unpack(&KEY, bytes).is_none(), "{bit}");
        }
    }

    /// Even with a correct checksum.
    #[test]
    fn other_versions_keys_and_lengths_are_rejected() {
        let resealed = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = entry();
            bytes.truncate(bytes.len() - HASH);
            change(&mut bytes);
            let hash = blake3::hash(&bytes);
            bytes.extend(hash.as_bytes());
            unpack(&KEY, bytes)
        };
        assert!(resealed(&|_| {}).is_some());
        assert!(
            resealed(&|bytes| bytes[8..12].copy_from_slice(&(FORMAT + 1).to_le_bytes())).is_none()
        );
        assert!(resealed(&|bytes| bytes[0] = b'X').is_none());
        assert!(resealed(&|bytes| bytes[20] ^= 1).is_none());
        for count in [0, 2, 4, u32::MAX] {
            assert!(
                resealed(&|bytes| bytes[12..16].copy_from_slice(&count.to_le_bytes())).is_none(),
                "{count}"
            );
        }
        for length in [0, 4, 6, u64::MAX, u64::MAX - 64] {
            assert!(
                resealed(&|bytes| bytes[HEAD..HEAD + 8].copy_from_slice(&length.to_le_bytes()))
                    .is_none(),
                "{length}"
            );
        }
        assert!(unpack(&CacheKey([8; 32]), entry()).is_none());
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_are_rejected_without_panic(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
            prop_assert!(unpack(&KEY, bytes).is_none());
        }

        #[test]
        fn any_sections_round_trip(sections in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..50), 0..6)) {
            let slices: Vec<&[u8]> = sections.iter().map(Vec::as_slice).collect();
            let back = unpack(&KEY, pack(&KEY, &slices)).expect("whole");
            prop_assert_eq!(back.len(), sections.len());
            for (k, section) in sections.iter().enumerate() {
                prop_assert_eq!(back.get(k), Some(section.as_slice()));
            }
        }
    }
}
