//! Decodes PNG and JPEG images into 8-bit RGBA.

use std::io::Cursor;

use crate::character::Image;
use crate::io::error::{Parsed, bad};

/// Maximum bytes of pixels of all images of one character.
const BUDGET: usize = 256 << 20;

/// Decodes an image; `spent` accumulates the bytes of all images of a character.
pub(crate) fn decode(bytes: &[u8], spent: &mut usize) -> Parsed<Image> {
    let mut reader = match image::ImageReader::new(Cursor::new(bytes)).with_guessed_format() {
        Ok(reader) => reader,
        Err(error) => return bad(format!("cannot be read: {error}")),
    };
    let mut limits = image::Limits::default();
    limits.max_image_width = Some(16384);
    limits.max_image_height = Some(16384);
    limits.max_alloc = Some((BUDGET - (*spent).min(BUDGET)) as u64);
    reader.limits(limits);
    let decoded = match reader.decode() {
        Ok(decoded) => decoded.into_rgba8(),
        Err(error) => {
            return bad(format!("is not a readable PNG or JPEG image: {error}"));
        }
    };
    *spent += decoded.as_raw().len();
    Ok(Image::new(
        decoded.width(),
        decoded.height(),
        decoded.into_raw(),
    ))
}
