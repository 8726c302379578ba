//! Moving pictures: GIF, WebP, or a PNG for every frame, written frame by frame.
//!
//! | extension | what is written                                                                              |
//! |-----------|----------------------------------------------------------------------------------------------|
//! | `.gif`    | one looping file, 255 colours a frame chosen for it, dithered in a pattern that stands still |
//! | `.webp`   | one looping file, lossless, with soft transparency                                           |
//! | `.png`    | `NAME.0000.png`, `NAME.0001.png`, …                                                          |
//!
//! Frames last whole hundredths (GIF) or thousandths (WebP) of a second; they are rounded so that the whole is as long as asked.

mod palette;
mod webp;

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use image::codecs::gif::{GifEncoder, Repeat};
use image::{Delay, Frame, ImageFormat, RgbaImage};

use super::error::{IoError, shown};
use super::write::{AtomicFile, FrameNames, write_atomically};
use palette::Palette;
use webp::WebpFile;

/// As what moving pictures are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum AnimationFormat {
    /// Plays everywhere; few colours.
    Gif,
    /// Plays in browsers; lossless.
    Webp,
    /// A file for every frame, for video editors.
    Png,
}

impl AnimationFormat {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Gif, Self::Webp, Self::Png];

    /// By the extension of the output file.
    #[must_use]
    pub fn of_path(path: &Path) -> Option<Self> {
        let extension = path.extension()?.to_str()?.to_ascii_lowercase();
        Self::ALL.into_iter().find(|format| format.extension() == extension)
    }

    /// What its files are called.
    #[must_use]
    pub fn extension(self) -> &'static str {
        match self {
            Self::Gif => "gif",
            Self::Webp => "webp",
            Self::Png => "png",
        }
    }

    /// Its name for people.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Gif => "GIF",
            Self::Webp => "WebP",
            Self::Png => "PNG sequence",
        }
    }

    /// The highest rate it can keep, frames per second.
    #[must_use]
    pub fn max_fps(self) -> f64 {
        match self {
            // Browsers slow shorter frames down.
            Self::Gif => 50.0,
            Self::Webp | Self::Png => 120.0,
        }
    }
}

/// A moving picture being written. Nothing is left of a `.gif` or `.webp` that is dropped before [`AnimationWriter::finish`].
pub struct AnimationWriter {
    size: [u32; 2],
    cadence: Cadence,
    target: PathBuf,
    sink: Sink,
}

enum Sink {
    Gif(GifEncoder<SharedFile>, SharedFile),
    Webp(WebpFile),
    Png { names: FrameNames, files: Vec<PathBuf> },
}

/// Lets the encoder write into a file that is named by somebody else in the end.
#[derive(Clone)]
struct SharedFile(Arc<Mutex<AtomicFile>>);

impl SharedFile {
    fn with<T>(&self, work: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<T>) -> std::io::Result<T> {
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

/// How long each frame lasts.
#[derive(Debug, Clone, Copy)]
struct Cadence {
    fps: f64,
    frame: u64,
}

impl Cadence {
    /// Units (a part of a second) that the next frame lasts: at least one.
    fn next(&mut self, per_sec: f64) -> u32 {
        let end = |frame: u64| (frame as f64 * per_sec / self.fps).round();
        let units = end(self.frame + 1) - end(self.frame);
        self.frame += 1;
        units.clamp(1.0, 60_000.0) as u32
    }
}

impl AnimationWriter {
    /// Begins a file, or a sequence of them, for `frames` pictures of `size` at a rate of `fps` (what is out of range is brought
    /// into it).
    ///
    /// # Errors
    /// [`IoError::Write`] if the folder is missing or can't be written to.
    pub fn create(path: &Path, format: AnimationFormat, size: [u32; 2], fps: f64, frames: usize) -> Result<Self, IoError> {
        let fps = if fps.is_finite() { fps.clamp(0.1, format.max_fps()) } else { 25.0 };
        let sink = match format {
            AnimationFormat::Gif => {
                let file = SharedFile(Arc::new(Mutex::new(AtomicFile::create(path)?)));
                // Frames come with few enough colours, so that nothing is left to be chosen by the encoder.
                let mut encoder = GifEncoder::new_with_speed(file.clone(), 30);
                encoder.set_repeat(Repeat::Infinite).map_err(|error| failed(path, error))?;
                Sink::Gif(encoder, file)
            }
            AnimationFormat::Webp => Sink::Webp(WebpFile::create(path, size)?),
            AnimationFormat::Png => Sink::Png { names: FrameNames::new(path, frames.saturating_sub(1)), files: Vec::new() },
        };
        Ok(Self { size, cadence: Cadence { fps, frame: 0 }, target: path.to_owned(), sink })
    }

    /// Adds a frame; colours are not multiplied with their opacity.
    ///
    /// # Errors
    /// [`IoError::Write`], also for a frame of another size.
    pub fn push(&mut self, frame: &RgbaImage) -> Result<(), IoError> {
        if frame.dimensions() != (self.size[0], self.size[1]) {
            return Err(failed(&self.target, "a frame has another size than the first"));
        }
        match &mut self.sink {
            Sink::Gif(encoder, _) => {
                let hundredths = self.cadence.next(100.0);
                let delay = Delay::from_numer_denom_ms(hundredths * 10, 1);
                let frame = Frame::from_parts(Palette::of(frame).dithered(frame), 0, 0, delay);
                encoder.encode_frame(frame).map_err(|error| failed(&self.target, error))
            }
            Sink::Webp(file) => file.push(frame, self.cadence.next(1000.0)),
            Sink::Png { names, files } => {
                let path = names.path(files.len());
                write_atomically(&path, |out| frame.write_to(out, ImageFormat::Png).map_err(std::io::Error::other))?;
                files.push(path);
                Ok(())
            }
        }
    }

    /// Completes the file and gives it its name. Returns the files written, in order.
    ///
    /// # Errors
    /// [`IoError::Write`]; an older file is untouched then.
    pub fn finish(self) -> Result<Vec<PathBuf>, IoError> {
        match self.sink {
            Sink::Gif(encoder, file) => {
                // It ends the file when it is dropped.
                drop(encoder);
                let file = Arc::into_inner(file.0).ok_or_else(|| failed(&self.target, "it is still being written"))?;
                file.into_inner().unwrap_or_else(PoisonError::into_inner).commit()?;
                Ok(vec![self.target])
            }
            Sink::Webp(file) => file.finish().map(|()| vec![self.target]),
            Sink::Png { files, .. } => Ok(files),
        }
    }
}

fn failed(path: &Path, error: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> IoError {
    IoError::Write { file: shown(path), source: std::io::Error::other(error) }
}

#[cfg(test)]
mod tests {
    use std::io::Cursor;
    use std::time::Duration;

    use image::codecs::gif::GifDecoder;
    use image::codecs::webp::WebPDecoder;
    use image::{AnimationDecoder, Rgba};

    use super::*;

    const SIZE: [u32; 2] = [37, 20];

    /// A soft gradient, and a square that moves over a see-through corner.
    fn frames() -> Vec<RgbaImage> {
        let pixel = |frame: u32, x: u32, y: u32| match () {
            () if x < 8 && y < 8 => Rgba([0, 0, 0, 0]),
            () if (x / 6) == frame + 2 && y > 12 => Rgba([250, 40, 30, 255]),
            () => Rgba([(x * 6) as u8, (y * 12) as u8, 90, 255]),
        };
        (0..4).map(|frame| RgbaImage::from_fn(SIZE[0], SIZE[1], |x, y| pixel(frame, x, y))).collect()
    }

    fn written(name: &str, fps: f64) -> (Vec<PathBuf>, tempdir::Folder) {
        let folder = tempdir::Folder::new(name);
        let path = folder.path(name);
        let format = AnimationFormat::of_path(&path).expect("a known extension");
        let frames = frames();
        let mut writer = AnimationWriter::create(&path, format, SIZE, fps, frames.len()).unwrap();
        for frame in &frames {
            writer.push(frame).unwrap();
        }
        (writer.finish().unwrap(), folder)
    }

    /// A folder that goes with the test.
    mod tempdir {
        use std::path::PathBuf;

        pub struct Folder(PathBuf);

        impl Folder {
            pub fn new(name: &str) -> Self {
                let folder = std::env::temp_dir().join(format!("sinew-animation-{}-{name}", std::process::id()));
                std::fs::create_dir_all(&folder).unwrap();
                Self(folder)
            }

            pub fn path(&self, name: &str) -> PathBuf {
                self.0.join(name)
            }
        }

        impl Drop for Folder {
            fn drop(&mut self) {
                let _ = std::fs::remove_dir_all(&self.0);
            }
        }
    }

    fn lengths(frames: &[Frame]) -> Duration {
        frames.iter().map(|frame| Duration::from(frame.delay())).sum()
    }

    #[test]
    fn webp_gives_every_pixel_back() {
        let (files, _folder) = written("a.webp", 30.0);
        let bytes = std::fs::read(&files[0]).unwrap();
        let decoder = WebPDecoder::new(Cursor::new(bytes)).unwrap();
        assert!(decoder.has_animation());
        let read = decoder.into_frames().collect_frames().unwrap();
        assert_eq!(lengths(&read), Duration::from_millis(133), "four thirtieths");
        for (read, frame) in read.iter().zip(frames()) {
            assert!(read.buffer().pixels().zip(frame.pixels()).all(|(a, b)| a == b || (a[3] == 0 && b[3] == 0)));
        }
        assert_eq!(read.len(), 4);
    }

    #[test]
    fn gif_keeps_time_shape_and_nearly_the_colours() {
        let (files, _folder) = written("a.gif", 30.0);
        let read = GifDecoder::new(Cursor::new(std::fs::read(&files[0]).unwrap())).unwrap().into_frames().collect_frames().unwrap();
        assert_eq!((read.len(), lengths(&read)), (4, Duration::from_millis(130)), "in hundredths");
        for (read, frame) in read.iter().zip(frames()) {
            let mut sum = 0;
            for (a, b) in read.buffer().pixels().zip(frame.pixels()) {
                assert_eq!(a[3], b[3], "what is see-through stays so");
                if b[3] > 0 {
                    let off = (0..3).map(|c| i32::from(a[c].abs_diff(b[c]))).max().unwrap_or_default();
                    assert!(off <= 24, "{a:?} for {b:?}");
                    sum += off;
                }
            }
            assert!(sum / 676 < 8, "on average off by {}", f64::from(sum) / 676.0);
        }
    }

    #[test]
    fn a_png_sequence_has_a_file_for_every_frame() {
        let (files, _folder) = written("a.png", 24.0);
        assert_eq!(files.len(), 4);
        for (file, frame) in files.iter().zip(frames()) {
            assert_eq!(image::open(file).unwrap().to_rgba8(), frame);
        }
        assert!(files[3].ends_with("a.0003.png"));
    }

    #[test]
    fn what_is_given_up_leaves_nothing() {
        for name in ["b.gif", "b.webp"] {
            let folder = tempdir::Folder::new(name);
            let path = folder.path(name);
            let mut writer = AnimationWriter::create(&path, AnimationFormat::of_path(&path).unwrap(), SIZE, 30.0, 4).unwrap();
            writer.push(&frames()[0]).unwrap();
            assert!(writer.push(&RgbaImage::new(3, 3)).is_err(), "a frame of another size");
            drop(writer);
            assert_eq!(std::fs::read_dir(path.parent().unwrap()).unwrap().count(), 0);
        }
        assert!(AnimationWriter::create(Path::new("/nowhere/x.gif"), AnimationFormat::Gif, SIZE, 30.0, 1).is_err());
        assert_eq!(AnimationFormat::of_path(Path::new("x.mp4")), None);
    }

    #[test]
    fn rounded_frames_add_up() {
        for (fps, per_sec) in [(30.0, 100.0), (24.0, 100.0), (60.0, 1000.0), (7.3, 1000.0)] {
            let mut cadence = Cadence { fps, frame: 0 };
            let sum: u64 = (0..120).map(|_| u64::from(cadence.next(per_sec))).sum();
            assert!((sum as f64 - 120.0 / fps * per_sec).abs() <= 0.5 + 1e-9, "{fps}: {sum}");
        }
    }
}
