//! Animated WebP: lossless frames in the container of the WebP specification (RIFF: VP8X, ANIM, one ANMF a frame).

use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use image::codecs::webp::WebPEncoder;
use image::error::{ParameterError, ParameterErrorKind};
use image::{ExtendedColorType, ImageError, RgbaImage};

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
    frames: FrameChunks,
    /// RIFF payload size so far, bytes.
    length: u64,
}

impl WebpFile {
    /// Starts a file.
    pub(super) fn create(path: &Path, size: [u32; 2]) -> Result<Self, IoError> {
        let body = file_body(size).map_err(|error| failed(path, error))?;
        let mut file = AtomicFile::create(path)?;
        file.write(|out| {
            out.write_all(b"RIFF\0\0\0\0")?;
            out.write_all(&body)
        })?;
        Ok(Self {
            file,
            target: path.to_owned(),
            frames: FrameChunks::default(),
            length: body.len() as u64,
        })
    }

    /// Appends a frame with a duration in milliseconds.
    pub(super) fn push(&mut self, frame: &RgbaImage, duration_ms: u32) -> Result<(), IoError> {
        let chunk = self.frames.next(frame, duration_ms);
        let chunk = chunk.map_err(|error| failed(&self.target, error))?;
        self.length += chunk.len() as u64;
        if self.length > u64::from(u32::MAX - 1) {
            return Err(failed(
                &self.target,
                "a WebP file cannot exceed 4 GB; write fewer or smaller frames",
            ));
        }
        self.file.write(|out| out.write_all(&chunk))
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

/// The bytes of an animated WebP that loops for ever, lossless. Frames in straight alpha, all as large as the first, each with its
/// duration in milliseconds.
///
/// # Errors
/// [`ImageError`] if there is no frame, a side is not in 1..=16384 pixels, or the sizes differ.
pub fn animated_webp(frames: &[(RgbaImage, u32)]) -> Result<Vec<u8>, ImageError> {
    let size = frames
        .first()
        .map_or([0; 2], |(first, _)| first.dimensions().into());
    let mut body = file_body(size)?;
    let mut chunks = FrameChunks::default();
    for (frame, duration_ms) in frames {
        body.extend(chunks.next(frame, *duration_ms)?);
    }
    let mut file = b"RIFF".to_vec();
    file.extend((body.len() as u32).to_le_bytes());
    file.extend(body);
    Ok(file)
}

/// What precedes the frames of a file, after its RIFF header.
fn file_body(size: [u32; 2]) -> Result<Vec<u8>, ImageError> {
    if size.iter().any(|side| !(1..=MAX_SIDE).contains(side)) {
        return Err(refused(format!(
            "the side of a WebP image must be 1 to {MAX_SIDE} pixels"
        )));
    }
    let mut body = b"WEBP".to_vec();
    let mut extended = vec![ANIMATION | ALPHA, 0, 0, 0];
    extended.extend(size.iter().flat_map(|side| three_bytes(side - 1)));
    append_chunk(&mut body, *b"VP8X", &extended);
    // Transparent background; loop count 0 (infinite).
    append_chunk(&mut body, *b"ANIM", &[0; 6]);
    Ok(body)
}

/// Encodes frames one after the other. Of each only the box is stored in which it differs from the frame before.
#[derive(Default)]
struct FrameChunks {
    before: Option<RgbaImage>,
}

impl FrameChunks {
    /// The ANMF chunk of the next frame.
    fn next(&mut self, frame: &RgbaImage, duration_ms: u32) -> Result<Vec<u8>, ImageError> {
        let [left, top, width, height] = match &self.before {
            None => [0, 0, frame.width(), frame.height()],
            Some(before) if before.dimensions() == frame.dimensions() => changed_box(before, frame),
            Some(_) => {
                return Err(refused(
                    "the frame differs in size from the first frame".to_owned(),
                ));
            }
        };
        let part = image::imageops::crop_imm(frame, left, top, width, height).to_image();
        let mut picture = Vec::new();
        let encoder = WebPEncoder::new_lossless(&mut picture);
        encoder.encode(part.as_raw(), width, height, ExtendedColorType::Rgba8)?;
        let bits = chunk(&picture, *b"VP8L")
            .ok_or_else(|| refused("the encoder produced no lossless image".to_owned()))?;
        let mut animated = Vec::new();
        // Offsets are stored halved.
        for value in [left / 2, top / 2, width - 1, height - 1, duration_ms] {
            animated.extend(three_bytes(value));
        }
        animated.push(DO_NOT_BLEND);
        append_chunk(&mut animated, *b"VP8L", bits);
        let mut body = Vec::with_capacity(animated.len() + 9);
        append_chunk(&mut body, *b"ANMF", &animated);
        self.before = Some(frame.clone());
        Ok(body)
    }
}

/// Left, top, width and height of a box that contains all pixels in which two pictures of one size differ; left and top are even, as
/// the format demands. One pixel if none differ.
fn changed_box(before: &RgbaImage, after: &RgbaImage) -> [u32; 4] {
    let [mut left, mut top, mut right, mut bottom] = [u32::MAX, u32::MAX, 0, 0];
    let bytes_per_row = 4 * before.width() as usize;
    let [old, new] = [before, after].map(|image| image.as_raw().chunks_exact(bytes_per_row.max(1)));
    for (y, (a, b)) in (0..).zip(old.zip(new)) {
        if a == b {
            continue;
        }
        let differs = |x: &usize| a[4 * x..][..4] != b[4 * x..][..4];
        let width = bytes_per_row / 4;
        let first = (0..width).find(differs).unwrap_or(0) as u32;
        let last = (0..width).rev().find(differs).unwrap_or(0) as u32;
        (left, right) = (left.min(first), right.max(last));
        (top, bottom) = (top.min(y), y);
    }
    if left > right {
        return [0, 0, 1, 1];
    }
    let (left, top) = (left & !1, top & !1);
    [left, top, right - left + 1, bottom - top + 1]
}

fn refused(why: String) -> ImageError {
    let kind = ParameterErrorKind::Generic(why);
    ImageError::Parameter(ParameterError::from_kind(kind))
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
