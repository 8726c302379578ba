//! Moving picture output, written frame by frame.
//!
//! | extension | what is written                                                                              |
//! |-----------|----------------------------------------------------------------------------------------------|
//! | `.gif`    | one looping file, an adaptive palette of 255 colours per frame, fixed ordered dithering     |
//! | `.webp`   | one looping file, lossless, 8-bit alpha; of each frame only the box that changed            |
//! | `.mp4`    | H.264, by ffmpeg if it is installed                                                          |
//! | `.webm`   | VP9 with alpha, by ffmpeg if it is installed                                                 |
//! | `.png`    | `NAME.0000.png`, `NAME.0001.png`, …                                                          |
//!
//! Frame delays are whole hundredths (GIF) or thousandths (WebP) of a second. They are rounded so
//! that the total duration matches the request.

mod palette;
mod video;
mod webp;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use image::codecs::gif::{GifEncoder, Repeat};
use image::{Delay, Frame, ImageFormat, RgbaImage};

use super::error::{IoError, shown};
use super::write::{AtomicFile, FrameNames, write_atomically};
use palette::FramePalette;
use video::VideoFile;
use webp::WebpFile;
pub use webp::animated_webp;

/// Output format of an animation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnimationFormat {
    /// Supported by all viewers; 256 colours at most.
    Gif,
    /// Supported by browsers; lossless.
    Webp,
    /// H.264, for players and video editors; without alpha.
    Mp4,
    /// VP9, for browsers; with alpha.
    Webm,
    /// One file per frame, for video editors.
    Png,
}

impl AnimationFormat {
    /// All formats.
    pub const ALL: [Self; 5] = [Self::Gif, Self::Webp, Self::Mp4, Self::Webm, Self::Png];

    /// The format for the extension of the output file.
    #[must_use]
    pub fn of_path(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        Self::ALL
            .into_iter()
            .find(|format| format.extension() == extension)
    }

    /// File extension, without the dot.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Gif => "gif",
            Self::Webp => "webp",
            Self::Mp4 => "mp4",
            Self::Webm => "webm",
            Self::Png => "png",
        }
    }

    /// Display name.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Gif => "GIF",
            Self::Webp => "WebP",
            Self::Mp4 => "MP4",
            Self::Webm => "WebM",
            Self::Png => "PNG sequence",
        }
    }

    /// Maximum frame rate of the format, frames per second.
    #[must_use]
    pub fn max_fps(self) -> f64 {
        match self {
            // Browsers slow down frames shorter than 20 ms.
            Self::Gif => 50.0,
            Self::Webp | Self::Mp4 | Self::Webm | Self::Png => 120.0,
        }
    }
}

/// Writes an animation frame by frame. A single file dropped before [`AnimationWriter::finish`] leaves no file.
pub struct AnimationWriter {
    size: [u32; 2],
    cadence: FrameTiming,
    target: PathBuf,
    sink: FrameEncoder,
}

enum FrameEncoder {
    Gif(GifEncoder<SharedFile>, SharedFile),
    Webp(WebpFile),
    Video(VideoFile),
    Png {
        names: FrameNames,
        first: usize,
        files: Vec<PathBuf>,
    },
}

/// Shared handle to the output file: the encoder writes into it, the [`AnimationWriter`] renames it
/// at the end.
#[derive(Clone)]
struct SharedFile(Arc<Mutex<AtomicFile>>);

impl SharedFile {
    fn with<T>(
        &self,
        work: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<T>,
    ) -> std::io::Result<T> {
        let mut file = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut result = None;
        file.write(|out| {
            result = Some(work(out)?);
            Ok(())
        })
        .map_err(std::io::Error::other)?;
        result.ok_or_else(|| std::io::Error::other("the file is closed"))
    }
}

impl Write for SharedFile {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.with(|out| out.write(bytes))
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.with(Write::flush)
    }
}

/// Frame durations in whole units of the format.
#[derive(Debug, Clone, Copy)]
struct FrameTiming {
    fps: f64,
    frame: u64,
}

impl FrameTiming {
    /// Duration of the next frame in units; at least 1.
    fn next(&mut self, per_sec: f64) -> u32 {
        let end = |frame: u64| (frame as f64 * per_sec / self.fps).round();
        let units = end(self.frame + 1) - end(self.frame);
        self.frame += 1;
        units.clamp(1.0, 60_000.0) as u32
    }
}

impl AnimationWriter {
    /// Starts a file, or a sequence of files, for `frames` frames of `size` pixels at `fps`. Values
    /// out of range are clamped.
    ///
    /// # Errors
    /// [`IoError::Write`] if the folder is missing or cannot be written to, or the format's encoder is not installed.
    pub fn create(
        path: &Path,
        format: AnimationFormat,
        size: [u32; 2],
        fps: f64,
        frames: usize,
    ) -> Result<Self, IoError> {
        let fps = if fps.is_finite() {
            fps.clamp(0.1, format.max_fps())
        } else {
            25.0
        };
        let sink = match format {
            AnimationFormat::Gif => {
                let file = SharedFile(Arc::new(Mutex::new(AtomicFile::create(path)?)));
                // The frames are quantised beforehand, so the encoder does not choose a palette.
                let mut encoder = GifEncoder::new_with_speed(file.clone(), 30);
                encoder
                    .set_repeat(Repeat::Infinite)
                    .map_err(|error| failed(path, error))?;
                FrameEncoder::Gif(encoder, file)
            }
            AnimationFormat::Webp => FrameEncoder::Webp(WebpFile::create(path, size)?),
            AnimationFormat::Mp4 | AnimationFormat::Webm => {
                FrameEncoder::Video(VideoFile::create(path, format, size, fps)?)
            }
            AnimationFormat::Png => FrameEncoder::Png {
                names: FrameNames::new(path, frames.saturating_sub(1)),
                first: 0,
                files: Vec::new(),
            },
        };
        Ok(Self {
            size,
            cadence: FrameTiming { fps, frame: 0 },
            target: path.to_owned(),
            sink,
        })
    }

    /// Numbers the files of a sequence as these frames, instead of from 0.
    #[must_use]
    pub fn numbered(mut self, frames: std::ops::RangeInclusive<u32>) -> Self {
        if let FrameEncoder::Png { names, first, .. } = &mut self.sink {
            *names = FrameNames::new(&self.target, *frames.end() as usize);
            *first = *frames.start() as usize;
        }
        self
    }

    /// Appends a frame in straight (not premultiplied) alpha.
    ///
    /// # Errors
    /// [`IoError::Write`]; also if the frame has another size than the first.
    pub fn push(&mut self, frame: &RgbaImage) -> Result<(), IoError> {
        if frame.dimensions() != (self.size[0], self.size[1]) {
            return Err(failed(
                &self.target,
                "the frame differs in size from the first frame",
            ));
        }
        match &mut self.sink {
            FrameEncoder::Gif(encoder, _) => {
                let hundredths = self.cadence.next(100.0);
                let delay = Delay::from_numer_denom_ms(hundredths * 10, 1);
                let frame = Frame::from_parts(FramePalette::of(frame).dithered(frame), 0, 0, delay);
                encoder
                    .encode_frame(frame)
                    .map_err(|error| failed(&self.target, error))
            }
            FrameEncoder::Webp(file) => file.push(frame, self.cadence.next(1000.0)),
            FrameEncoder::Video(file) => file.push(frame),
            FrameEncoder::Png {
                names,
                first,
                files,
            } => {
                let path = names.path(*first + files.len());
                write_atomically(&path, |out| {
                    frame
                        .write_to(out, ImageFormat::Png)
                        .map_err(std::io::Error::other)
                })?;
                files.push(path);
                Ok(())
            }
        }
    }

    /// Completes the file and renames it to its final name. Returns the files written, in order.
    ///
    /// # Errors
    /// [`IoError::Write`]; an existing file is then left unchanged.
    pub fn finish(self) -> Result<Vec<PathBuf>, IoError> {
        match self.sink {
            FrameEncoder::Gif(encoder, file) => {
                // Dropping the encoder writes the trailer.
                drop(encoder);
                let file = Arc::into_inner(file.0)
                    .ok_or_else(|| failed(&self.target, "the encoder still holds the file"))?;
                file.into_inner()
                    .unwrap_or_else(PoisonError::into_inner)
                    .commit()?;
                Ok(vec![self.target])
            }
            FrameEncoder::Webp(file) => file.finish().map(|()| vec![self.target]),
            FrameEncoder::Video(file) => file.finish().map(|()| vec![self.target]),
            FrameEncoder::Png { files, .. } => Ok(files),
        }
    }
}

fn failed(path: &Path, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> IoError {
    IoError::Write {
        file: shown(path),
        source: std::io::Error::other(error),
    }
}

#[cfg(test)]
mod tests;
