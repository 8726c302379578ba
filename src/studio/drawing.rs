//! Pictures that are read back: files, the clipboard, reports.

use std::sync::Arc;

use image::RgbaImage;

use super::fields::{FieldCutting, note_of};
use super::painter::{GpuPainter, NoTextures, Picture, ViewportPainter};
use crate::gpu::{GpuContext, GpuError};
use crate::progress::Progress;
use crate::render::{Legend, Renderer, draw_text, straighten_alpha, voxel_note};

/// Height of the letters of a note, relative to the picture's height, and at least, in pixels.
const NOTE: f32 = 0.0185;
const FEWEST_NOTE_PIXELS: f32 = 11.0;

/// Draws pictures at full quality and reads them back.
pub struct Drawing {
    painter: GpuPainter,
}

impl Drawing {
    /// A drawing on a device.
    #[must_use]
    pub fn new(gpu: &GpuContext) -> Self {
        let mut painter = GpuPainter::with(Renderer::new(gpu));
        painter.set_best(true);
        Self { painter }
    }

    /// A picture and the legends of its colours. Transparent pictures have straight alpha.
    ///
    /// # Errors
    /// [`GpuError::Readback`] for a picture without a size, or if the device was lost.
    pub fn image(&mut self, picture: &Picture<'_>) -> Result<(RgbaImage, Vec<Legend>), GpuError> {
        let slice =
            FieldCutting::of_picture(picture).map(|cutting| cutting.slice(&Progress::new()));
        let slice = slice.and_then(Result::ok).map(Arc::new);
        let fields = picture.fields.or(slice.as_ref());
        let picture = &Picture { fields, ..*picture };
        let painted = self.painter.on(&mut NoTextures).paint(picture);
        let legends = painted.map_or_else(Vec::new, |painted| painted.legends);
        let mut image = self.painter.image(picture.canvas)?;
        if !picture.look.backdrop.background().visible {
            straighten_alpha(&mut image);
        }
        Ok((image, legends))
    }

    /// A picture with its legends drawn into it.
    ///
    /// # Errors
    /// As [`Drawing::image`].
    pub(crate) fn with_legends(&mut self, picture: &Picture<'_>) -> Result<RgbaImage, GpuError> {
        let (mut image, legends) = self.image(picture)?;
        let ink = picture.look.backdrop.background().ink();
        Legend::draw(&legends.iter().collect::<Vec<_>>(), &mut image, ink);
        let voxels = picture
            .snapshot
            .filter(|_| picture.look.voxels)
            .and_then(|snapshot| voxel_note(&snapshot.subject));
        for (line, note) in voxels.into_iter().chain(note_of(picture)).enumerate() {
            draw_note(&note, line, &mut image, ink);
        }
        Ok(image)
    }
}

/// Draws a line of text at the upper left corner; `line` others are above it.
fn draw_note(text: &str, line: usize, image: &mut RgbaImage, ink: [u8; 3]) {
    let letters = (image.height() as f32 * NOTE).max(FEWEST_NOTE_PIXELS);
    let top = letters * (2.0 + 1.5 * line as f32);
    draw_text(image, text, letters, top, letters, ink);
}
