//! Animated WebP: lossless frames in the container of the WebP specification (RIFF: VP8X, ANIM, one ANMF a frame).

use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use image::codecs::webp::WebPEncoder;
use image::{ExtendedColorType, RgbaImage};

use super::failed;
use crate::io::error::IoError;
use crate::io::write::AtomicFile;

/// Maximum side length in the format, pixels.
const MAX_SIDE: u32 = 16_384;
/// VP8X flags: the file is an animation and has alpha.
const ANIMATION: u8 = 0x02;
const ALPHA: u8 = 0x10;
/// ANMF flag: the frame overwrites the canvas; it is not blended.
const DO_NOT_BLEND: u8 = 0x02;

/// A WebP file while it is written.
pub(super) struct WebpFile {
    file: AtomicFile,
    target: std::path::PathBuf,
    size: [u32; 2],
    /// RIFF payload size so far, bytes.
    length: u64,
}

impl WebpFile {
    /// Starts a file.
    pub(super) fn create(path: &Path, size: [u32; 2]) -> Result<Self, IoError> {
        if size.iter().any(|side| !(1..=MAX_SIDE).contains(side)) {
            return Err(failed(
                path,
                format!("the side of a WebP image must be 1 to {MAX_SIDE} pixels"),
            ));
        }
        let mut body = b"WEBP".to_vec();
        let mut extended = vec![ANIMATION | ALPHA, 0, 0, 0];
        extended.extend(size.iter().flat_map(|side| three_bytes(side - 1)));
        append_chunk(&mut body, *b"VP8X", &extended);
        // Transparent background; loop count 0 (infinite).
        append_chunk(&mut body, *b"ANIM", &[0; 6]);
        let mut file = AtomicFile::create(path)?;
        file.write(|out| {
            out.write_all(b"RIFF\0\0\0\0")?;
            out.write_all(&body)
        })?;
        Ok(Self {
            file,
            target: path.to_owned(),
            size,
            length: body.len() as u64,
        })
    }

    /// Appends a frame with a duration in milliseconds.
    pub(super) fn push(&mut self, frame: &RgbaImage, duration_ms: u32) -> Result<(), IoError> {
        let mut picture = Vec::new();
        let encoder = WebPEncoder::new_lossless(&mut picture);
        encoder
            .encode(
                frame.as_raw(),
                self.size[0],
                self.size[1],
                ExtendedColorType::Rgba8,
            )
            .map_err(|error| failed(&self.target, error))?;
        let bits = chunk(&picture, *b"VP8L")
            .ok_or_else(|| failed(&self.target, "the encoder produced no lossless image"))?;
        let mut animated = vec![0; 6];
        animated.extend(self.size.iter().flat_map(|side| three_bytes(side - 1)));
        animated.extend(three_bytes(duration_ms));
        animated.push(DO_NOT_BLEND);
        append_chunk(&mut animated, *b"VP8L", bits);
        let mut body = Vec::with_capacity(animated.len() + 9);
        append_chunk(&mut body, *b"ANMF", &animated);
        self.length += body.len() as u64;
        if self.length > u64::from(u32::MAX - 1) {
            return Err(failed(
                &self.target,
                "a WebP file cannot exceed 4 GB; write fewer or smaller frames",
            ));
        }
        self.file.write(|out| out.write_all(&body))
    }

    /// Writes the RIFF size and renames the file to its final name.
    pub(super) fn finish(mut self) -> Result<(), IoError> {
        let length = self.length as u32;
        self.file.write(|out| {
            out.seek(SeekFrom::Start(4))?;
            out.write_all(&length.to_le_bytes())
        })?;
        self.file.commit()
    }
}

fn three_bytes(value: u32) -> [u8; 3] {
    let [a, b, c, _] = value.to_le_bytes();
    [a, b, c]
}

/// Appends a chunk: four-character code, length, content, and a padding byte if the length is odd.
fn append_chunk(out: &mut Vec<u8>, name: [u8; 4], content: &[u8]) {
    out.extend_from_slice(&name);
    out.extend_from_slice(&(content.len() as u32).to_le_bytes());
    out.extend_from_slice(content);
    if content.len() % 2 == 1 {
        out.push(0);
    }
}

/// The content of the first chunk with a given code in a file.
fn chunk(file: &[u8], name: [u8; 4]) -> Option<&[u8]> {
    let mut rest = file.get(12..)?;
    while rest.len() >= 8 {
        let length = u32::from_le_bytes(rest[4..8].try_into().ok()?) as usize;
        let content = rest.get(8..8 + length)?;
        if rest[..4] == name {
            return Some(content);
        }
        rest = rest.get(8 + length + length % 2..)?;
    }
    None
}
