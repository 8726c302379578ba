//! Pictures: PNG and JPEG into 8-bit RGBA.

use std::io::Cursor;

use crate::character::Image;
use crate::io::error::{Parsed, bad};

/// Bytes of pixels that the pictures of one character may take.
const BUDGET: usize = 256 << 20;

/// Decodes a picture; `spent` counts the bytes of all pictures of a character.
pub(crate) fn decode(bytes: &[u8], spent: &mut usize) -> Parsed<Image> {
    let mut reader = match image::ImageReader::new(Cursor::new(bytes)).with_guessed_format() {
        Ok(reader) => reader,
        Err(error) => return bad(error.to_string()),
    };
    let mut limits = image::Limits::default();
    limits.max_image_width = Some(16384);
    limits.max_image_height = Some(16384);
    limits.max_alloc = Some((BUDGET - (*spent).min(BUDGET)) as u64);
    reader.limits(limits);
    let decoded = match reader.decode() {
        Ok(decoded) => decoded.into_rgba8(),
        Err(error) => return bad(format!("not a PNG or JPEG picture that can be read: {error}")),
    };
    *spent += decoded.as_raw().len();
    Ok(Image::new(decoded.width(), decoded.height(), decoded.into_raw()))
}
