//! GLB chunks, buffers in files and in `data:` URIs.

use std::borrow::Cow;
use std::path::PathBuf;

use base64::Engine;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use gltf::binary;
use gltf::json::{Buffer, Root};

use super::document::size;
use super::extensions::CompressedView;
use super::meshopt;
use crate::io::bytes::LARGEST_FILE;
use crate::io::error::{ParseProblem, Parsed, bad};
use crate::io::referenced::{abridged, protect, read_at};

/// A JSON and a binary chunk.
type Chunks<'a> = (Cow<'a, [u8]>, Option<Cow<'a, [u8]>>);

/// The JSON and the binary chunk of a GLB, or the whole file as JSON.
pub fn split(bytes: &[u8]) -> Parsed<Chunks<'_>> {
    if !bytes.starts_with(b"glTF") {
        return if bytes.is_empty() {
            bad("the file is empty")
        } else {
            Ok((bytes.into(), None))
        };
    }
    let word = |at: usize| {
        bytes
            .get(at..at + 4)
            .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]))
    };
    let (Some(version), Some(length)) = (word(4), word(8)) else {
        return bad("a GLB header of 12 bytes is expected, the file ends before");
    };
    match version {
        2 => {}
        1 => {
            return bad(
                "this is a glTF 1.0 binary, which is not supported; convert it to glTF 2.0",
            );
        }
        other => return bad(format!("GLB version {other} can't be read; 2 is expected")),
    }
    // The `gltf` crate subtracts the header from the length without checking.
    let Some(whole) = bytes
        .get(..length as usize)
        .filter(|whole| whole.len() >= 12)
    else {
        return bad(format!(
            "the GLB header declares {length} bytes, the file has {}: it is truncated",
            bytes.len()
        ));
    };
    match gltf::Glb::from_slice(whole) {
        Ok(glb) => Ok((glb.json, glb.bin)),
        Err(gltf::Error::Binary(error)) => without_binary(whole, &error),
        Err(error) => bad(format!("the GLB cannot be read: {error}")),
    }
}

/// Parses a GLB that the crate rejects for data after its JSON: chunks of kinds unknown to glTF 2.0
/// must be ignored (4.4.3), and a few trailing bytes are harmless.
fn without_binary<'a>(whole: &'a [u8], error: &binary::Error) -> Parsed<Chunks<'a>> {
    match error {
        binary::Error::ChunkLength {
            length,
            length_read,
            ..
        } => bad(format!(
            "a GLB chunk of {length} bytes exceeds the file, which ends after {length_read}"
        )),
        _ if whole.get(16..20) == Some(b"JSON") => {
            let length = whole[12..16]
                .iter()
                .rev()
                .fold(0, |length, &byte| length << 8 | usize::from(byte));
            match whole[20..].get(..length) {
                Some(json) => Ok((json.into(), None)),
                None => bad(format!("a GLB chunk of {length} bytes exceeds the file")),
            }
        }
        _ => bad("the first chunk of the GLB is not JSON"),
    }
}

/// Where the files that a document refers to are searched.
#[derive(Debug, Clone)]
pub struct UriBase {
    /// The folder of the document; none if it was read from memory.
    pub folder: Option<PathBuf>,
}

impl UriBase {
    /// The bytes behind a URI.
    pub fn fetch(&self, uri: &str) -> Parsed<Vec<u8>> {
        if let Some(data) = uri.strip_prefix("data:") {
            return data_uri(data);
        }
        if uri.split_once(':').is_some_and(|(scheme, _)| {
            scheme.len() > 1 && scheme.chars().all(|c| c.is_ascii_alphanumeric())
        }) {
            return bad(format!(
                "\"{}\" is a remote address; only local files are read",
                abridged(uri)
            ));
        }
        let Some(folder) = &self.folder else {
            return bad(format!(
                "refers to the file \"{}\", but was read from memory without a folder",
                abridged(uri)
            ));
        };
        let (decoded, literal) = names_of(uri);
        let read = read_at(folder, &decoded);
        let read = read.or_else(|problem| match &literal {
            Some(literal) => read_at(folder, literal).map_err(|_| problem),
            None => Err(problem),
        });
        read.map_err(|problem| {
            let name = abridged(&decoded);
            ParseProblem::new(format!("refers to the file \"{name}\", which {problem}"))
        })
    }

    /// Protects the files of all URIs from being overwritten, also those that are not read.
    pub fn protect(&self, root: &Root) {
        let buffers = root.buffers.iter().filter_map(|buffer| buffer.uri.as_ref());
        let images = root.images.iter().filter_map(|image| image.uri.as_ref());
        for uri in buffers
            .chain(images)
            .filter(|uri| !uri.starts_with("data:"))
        {
            let (decoded, literal) = names_of(uri);
            let names = std::iter::once(decoded).chain(literal);
            names.for_each(|name| protect(self.folder.as_deref(), &name));
        }
    }
}

/// All buffers; `None` for one without data (an extension's fallback).
pub fn buffers(
    root: &Root,
    binary: Option<&[u8]>,
    place: &UriBase,
) -> Parsed<Vec<Option<Vec<u8>>>> {
    let mut all = Vec::with_capacity(root.buffers.len());
    let mut total = 0_usize;
    for (i, buffer) in root.buffers.iter().enumerate() {
        let data = data_of(i, buffer, binary, place)?;
        if let Some(data) = &data {
            if data.len() < size(buffer.byte_length) {
                return bad(format!(
                    "buffer {i} should have {} bytes but has {}",
                    size(buffer.byte_length),
                    data.len()
                ));
            }
            total += data.len();
        }
        if total > LARGEST_FILE {
            return bad("the total size of the buffers exceeds 512 MB");
        }
        all.push(data);
    }
    Ok(all)
}

/// Decodes the compressed buffer views; `None` for the others.
pub(crate) fn decompress(
    compressed: &[Option<CompressedView>],
    buffers: &[Option<Vec<u8>>],
) -> Parsed<Vec<Option<Vec<u8>>>> {
    let mut total = 0_usize;
    let mut decode = |(i, view): (usize, &Option<CompressedView>)| {
        let Some(view) = view else { return Ok(None) };
        let CompressedView {
            buffer,
            offset,
            length,
            stride,
            count,
            mode,
            filter,
        } = *view;
        total = total.saturating_add(count.saturating_mul(stride));
        if total > LARGEST_FILE / 2 {
            return bad(format!(
                "buffer views 0 to {i} declare {total} bytes, more than the maximum for a character"
            ));
        }
        let data = buffers
            .get(buffer)
            .and_then(|data| data.as_ref()?.get(offset..offset.checked_add(length)?));
        let Some(data) = data else {
            return bad(format!(
                "the compressed data of buffer view {i} exceeds its buffer"
            ));
        };
        let decoded = meshopt::decode(data, mode, filter, count, stride);
        decoded
            .map(Some)
            .map_err(|problem| ParseProblem::new(format!("buffer view {i}: {problem}")))
    };
    compressed.iter().enumerate().map(&mut decode).collect()
}

fn data_of(
    index: usize,
    buffer: &Buffer,
    binary: Option<&[u8]>,
    place: &UriBase,
) -> Parsed<Option<Vec<u8>>> {
    match &buffer.uri {
        Some(uri) => place.fetch(uri).map(Some),
        None if index == 0 => Ok(binary.map(<[u8]>::to_vec)),
        None => Ok(None),
    }
}

/// The part after `data:`: `[type][;base64],data`.
fn data_uri(rest: &str) -> Parsed<Vec<u8>> {
    let Some((header, data)) = rest.split_once(',') else {
        return bad("a data: URI has no comma before its data");
    };
    if header.ends_with(";base64") {
        match base64_decode(data) {
            Some(bytes) => Ok(bytes),
            None => bad("a data: URI is not valid base64"),
        }
    } else {
        Ok(percent_decode(data))
    }
}

/// Padding is optional, and bits after the last byte are ignored.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &base64::alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);

/// Standard and URL-safe alphabets; padding is optional, white space skipped. `None` for other characters.
pub(crate) fn base64_decode(text: &str) -> Option<Vec<u8>> {
    let standard: Vec<u8> = text
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace())
        .map(|byte| match byte {
            b'-' => b'+',
            b'_' => b'/',
            other => other,
        })
        .collect();
    BASE64.decode(standard).ok()
}

/// `%41` → `A`; a `%` without two hex digits is kept.
pub(crate) fn percent_decode(text: &str) -> Vec<u8> {
    percent_encoding::percent_decode_str(text).collect()
}

/// File names that a URI may mean. Exporters disagree whether names are percent-encoded: first
/// decoded, as the standard requires, then literally, if that differs.
fn names_of(uri: &str) -> (String, Option<String>) {
    let decoded = String::from_utf8(percent_decode(uri)).unwrap_or_else(|_| uri.to_owned());
    let literal = (decoded != uri).then(|| uri.to_owned());
    (decoded, literal)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_and_percent_encoding() {
        assert_eq!(base64_decode("U2luZXc=").unwrap(), b"Sinew");
        assert_eq!(base64_decode("U2luZXc").unwrap(), b"Sinew");
        assert_eq!(base64_decode("").unwrap(), b"");
        assert!(base64_decode("U2l*").is_none());
        assert!(base64_decode("U").is_none());
        assert_eq!(percent_decode("a%20b%zz%"), b"a b%zz%");
    }

    #[test]
    fn a_truncated_glb_is_rejected() {
        assert!(split(b"").is_err());
        assert!(split(b"glTF\x02\0\0").is_err());
        assert!(split(b"glTF\x01\0\0\0\x0c\0\0\0").is_err());
        assert!(split(b"glTF\x02\0\0\0\xff\0\0\0").is_err());
        let glb = b"glTF\x02\0\0\0\x18\0\0\0\x04\0\0\0JSON{}  ";
        assert_eq!(*split(glb).unwrap().0, *b"{}  ");
        assert!(
            split(b"glTF\x02\0\0\0\x08\0\0\0\x04\0\0\0JSON{}  ").is_err(),
            "a length within the header"
        );
        assert!(
            split(b"glTF\x02\0\0\0\x18\0\0\0\x05\0\0\0JSON{}  ").is_err(),
            "a chunk that is too long"
        );
        assert!(
            split(b"glTF\x02\0\0\0\x18\0\0\0\x04\0\0\0BIN\0{}  ").is_err(),
            "no JSON"
        );
        let other = b"glTF\x02\0\0\0\x24\0\0\0\x04\0\0\0JSON{}  \x04\0\0\0ELSEabcd";
        assert_eq!(
            split(other).unwrap(),
            (b"{}  ".into(), None),
            "unknown chunks are ignored"
        );
    }
}
