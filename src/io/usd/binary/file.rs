//! The tables of a binary file, and its bytes number by number.

use std::cell::Cell;

use super::super::layer::MOST_SPECS;
use super::{ValueRep, coding};
use crate::io::error::{ParseProblem, Parsed, bad};

/// The tables of a file.
pub(super) struct BinaryFile<'a> {
    pub(super) bytes: &'a [u8],
    pub(super) version: [u8; 3],
    pub(super) tokens: Vec<String>,
    /// Tokens of strings.
    pub(super) strings: Vec<u32>,
    pub(super) fields: Vec<(usize, ValueRep)>,
    pub(super) sets: Vec<i64>,
    /// The parent and last name of each path.
    pub(super) paths: Vec<PathNode>,
    /// Bytes that values may still take: many fields may share one array.
    pub(super) left: Cell<u64>,
}

/// Bytes that the values of a file of so many bytes may take.
pub(super) fn budget(bytes: usize) -> u64 {
    (bytes as u64 * 48 + (256 << 20)).min(3 << 30)
}

/// Longest path, bytes.
const LONGEST_PATH: usize = 4096;

/// A path as a node of the tree of all paths.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PathNode {
    pub(super) parent: Option<u32>,
    pub(super) token: u32,
    pub(super) is_property: bool,
    pub(super) depth: u32,
    /// Whether the file gives it; the others are empty.
    pub(super) is_given: bool,
}

/// Bytes at a place, number by number.
pub(super) struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

pub(super) fn broken() -> ParseProblem {
    ParseProblem::new("the file ends where more data is expected; export it again")
}

impl<'a> Cursor<'a> {
    pub(super) fn take(&mut self, count: usize) -> Parsed<&'a [u8]> {
        let end = self.at.checked_add(count).ok_or_else(broken)?;
        let bytes = self.bytes.get(self.at..end).ok_or_else(broken)?;
        self.at = end;
        Ok(bytes)
    }

    pub(super) fn u64(&mut self) -> Parsed<u64> {
        let bytes = self.take(8)?;
        Ok(u64::from_le_bytes(std::array::from_fn(|i| bytes[i])))
    }

    pub(super) fn u32(&mut self) -> Parsed<u32> {
        let bytes = self.take(4)?;
        Ok(u32::from_le_bytes(std::array::from_fn(|i| bytes[i])))
    }

    /// A number of things of which each takes at least `bytes` of the rest of the file; 0: nothing is known.
    pub(super) fn count(&mut self, bytes: usize) -> Parsed<usize> {
        let count = self.u64()?;
        let rest = self.bytes.len().saturating_sub(self.at) as u64;
        if count.saturating_mul(bytes as u64) > rest || count > MOST_SPECS as u64 * 64 {
            return Err(broken());
        }
        Ok(count as usize)
    }

    /// Jumps by the signed distance that is stored here, from the place where it is.
    pub(super) fn jump(&mut self) -> Parsed<()> {
        let start = self.at;
        let distance = isize::try_from(self.u64()?.cast_signed()).map_err(|_| broken())?;
        self.at = start.checked_add_signed(distance).ok_or_else(broken)?;
        Ok(())
    }

    /// Compressed bytes of at most `size`.
    pub(super) fn packed(&mut self, size: usize) -> Parsed<Vec<u8>> {
        let length = self.count(1)?;
        coding::decompress(self.take(length)?, size)
    }

    /// Compressed integers.
    pub(super) fn integers(&mut self, count: usize, width: usize) -> Parsed<Vec<i64>> {
        let packed = self.count(1)?;
        let data = self.take(packed)?;
        // A run of equal differences takes two bits for each, before LZ4.
        if count / 4 > data.len().saturating_mul(256) {
            return bad("a list claims more numbers than it can have");
        }
        let encoded = coding::encoded_size(count, width);
        let bytes = coding::decompress(data, encoded.min(data.len().saturating_mul(256)))?;
        coding::decode(&bytes, count, width)
    }
}

impl<'a> BinaryFile<'a> {
    pub(super) fn at(&self, place: u64) -> Cursor<'a> {
        Cursor {
            bytes: self.bytes,
            at: usize::try_from(place).unwrap_or(usize::MAX),
        }
    }

    pub(super) fn token(&self, index: usize) -> Parsed<&str> {
        let token = self.tokens.get(index);
        token
            .map(String::as_str)
            .ok_or_else(|| ParseProblem::new(format!("there is no token {index}")))
    }

    /// A copy of a token.
    pub(super) fn owned_token(&self, index: usize) -> Parsed<String> {
        let token = self.token(index)?;
        self.spend(token.len())?;
        Ok(token.to_owned())
    }

    /// Counts memory that a value takes.
    pub(super) fn spend(&self, bytes: usize) -> Parsed<()> {
        let left = self.left.get().checked_sub(bytes as u64 + 32);
        let Some(left) = left else {
            return bad("the values of the file take more memory than a character can need");
        };
        self.left.set(left);
        Ok(())
    }

    /// A path as text, as "/a/b.c"; "/" for one that is longer than any real one.
    pub(super) fn path(&self, index: u32) -> String {
        let mut names = Vec::new();
        let mut length = 0;
        let mut next = Some(index);
        while let Some(node) = next.and_then(|index| self.paths.get(index as usize)) {
            if node.parent.is_some() {
                let name = self.tokens.get(node.token as usize);
                let name = name.map_or("", String::as_str);
                length += name.len() + 1;
                if length > LONGEST_PATH {
                    return "/".to_owned();
                }
                names.push((node.is_property, name));
            }
            next = node.parent;
        }
        let mut text = String::new();
        for (is_property, name) in names.iter().rev() {
            text.push(if *is_property { '.' } else { '/' });
            text.push_str(name);
        }
        if text.is_empty() {
            text.push('/');
        }
        text
    }
}
