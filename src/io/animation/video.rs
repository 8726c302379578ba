//! Videos, encoded by the program ffmpeg if it is installed.
//!
//! The frames go through a pipe as raw RGBA; ffmpeg writes the unfinished file, which gets its name when ffmpeg has ended well.

use std::ffi::{OsStr, OsString};
use std::io::{Error, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use image::RgbaImage;

use super::{AnimationFormat, failed};
use crate::io::error::IoError;
use crate::io::write::AtomicFile;

/// The program's name.
const PROGRAM: &str = "ffmpeg";

impl AnimationFormat {
    /// Why the format can't be written here, as the end of a sentence: its encoder is not installed.
    #[must_use]
    pub fn unavailable_reason(self) -> Option<String> {
        let is_video = matches!(self, Self::Mp4 | Self::Webm);
        (is_video && installed_encoder().is_none()).then(|| {
            let kind = self.label();
            format!("{kind} is encoded by the program {PROGRAM}, which is not installed; install it (the package {PROGRAM}), or choose WebP or GIF")
        })
    }
}

/// The path of ffmpeg, if one of the folders of `PATH` has it.
fn installed_encoder() -> Option<PathBuf> {
    let name = format!("{PROGRAM}{}", std::env::consts::EXE_SUFFIX);
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|folder| folder.join(&name))
        .find(|path| path.is_file())
}

/// ffmpeg, until it has ended.
struct Encoder(Option<Child>);

impl Drop for Encoder {
    fn drop(&mut self) {
        if let Some(mut running) = self.0.take() {
            // It may have ended already.
            let _ = running.kill();
            let _ = running.wait();
        }
    }
}

/// A video that is being written. Dropped before [`Self::finish`], it leaves no file.
pub(super) struct VideoFile {
    encoder: Encoder,
    file: AtomicFile,
    target: PathBuf,
    keeps_alpha: bool,
    /// A frame without its alpha.
    opaque: Vec<u8>,
}

impl VideoFile {
    /// Starts ffmpeg for frames of `size` pixels.
    pub(super) fn create(
        path: &Path,
        format: AnimationFormat,
        size: [u32; 2],
        fps: f64,
    ) -> Result<Self, IoError> {
        if let Some(reason) = format.unavailable_reason() {
            return Err(failed(path, reason));
        }
        let program = installed_encoder().unwrap_or_else(|| PROGRAM.into());
        Self::with_command(Command::new(program), path, format, size, fps)
    }

    /// As [`Self::create`], by a command that takes ffmpeg's arguments.
    pub(super) fn with_command(
        mut command: Command,
        path: &Path,
        format: AnimationFormat,
        size: [u32; 2],
        fps: f64,
    ) -> Result<Self, IoError> {
        let mut file = AtomicFile::create(path)?;
        let encoder = command
            .args(arguments(
                format,
                size,
                fps,
                file.path_for_other_program()?.as_os_str(),
            ))
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .map_err(|error| failed(path, format!("{PROGRAM} can't be started: {error}")))?;
        Ok(Self {
            encoder: Encoder(Some(encoder)),
            file,
            target: path.to_owned(),
            keeps_alpha: format == AnimationFormat::Webm,
            opaque: Vec::new(),
        })
    }

    /// Appends a frame in straight alpha; a format without alpha gets it on black.
    pub(super) fn push(&mut self, frame: &RgbaImage) -> Result<(), IoError> {
        let bytes = if self.keeps_alpha {
            frame.as_raw()
        } else {
            self.opaque.clear();
            self.opaque.extend(frame.pixels().flat_map(|pixel| {
                let [r, g, b, a] = pixel.0.map(u32::from);
                [r, g, b].map(|value| ((value * a + 127) / 255) as u8)
            }));
            &self.opaque
        };
        let pipe = self
            .encoder
            .0
            .as_mut()
            .and_then(|encoder| encoder.stdin.as_mut());
        let sent = pipe.map_or_else(
            || Err(Error::other("the file is already closed")),
            |pipe| pipe.write_all(bytes),
        );
        match sent {
            Ok(()) => Ok(()),
            // ffmpeg has ended, and says why.
            Err(_) => self.end(),
        }
    }

    /// Waits until ffmpeg has written all frames, and names the file.
    pub(super) fn finish(mut self) -> Result<(), IoError> {
        self.end()?;
        self.file.commit()
    }

    /// Closes the pipe and waits for the end.
    fn end(&mut self) -> Result<(), IoError> {
        let Some(mut encoder) = self.encoder.0.take() else {
            return Err(failed(&self.target, format!("{PROGRAM} has ended")));
        };
        drop(encoder.stdin.take());
        let mut words = String::new();
        // With `-loglevel error` this is a few lines at most.
        let read = encoder
            .stderr
            .take()
            .map_or(Ok(0), |mut pipe| pipe.read_to_string(&mut words));
        let status = encoder.wait();
        match (status, read) {
            (Ok(status), Ok(_)) if status.success() => Ok(()),
            (Err(error), _) | (_, Err(error)) => Err(failed(&self.target, error)),
            (Ok(status), Ok(_)) => {
                let last = words.lines().rfind(|line| !line.trim().is_empty());
                let reason = last.map_or_else(|| status.to_string(), |line| line.trim().to_owned());
                Err(failed(
                    &self.target,
                    format!("{PROGRAM} can't encode it: {reason}"),
                ))
            }
        }
    }
}

/// ffmpeg's arguments. H.264 needs even sides, so a picture loses its last row or column if its side is odd.
fn arguments(format: AnimationFormat, size: [u32; 2], fps: f64, output: &OsStr) -> Vec<OsString> {
    let (pixels, rest): (_, &[&str]) = if format == AnimationFormat::Webm {
        (
            "rgba",
            &[
                "-c:v",
                "libvpx-vp9",
                "-pix_fmt",
                "yuva420p",
                "-crf",
                "24",
                "-b:v",
                "0",
                "-row-mt",
                "1",
                "-f",
                "webm",
            ],
        )
    } else {
        (
            "rgb24",
            &[
                "-vf",
                "crop=trunc(iw/2)*2:trunc(ih/2)*2",
                "-c:v",
                "libx264",
                "-pix_fmt",
                "yuv420p",
                "-crf",
                "17",
                "-movflags",
                "+faststart",
                "-f",
                "mp4",
            ],
        )
    };
    let [width, height] = size;
    let mut arguments: Vec<OsString> = [
        "-hide_banner",
        "-loglevel",
        "error",
        "-nostdin",
        "-y",
        "-f",
        "rawvideo",
    ]
    .iter()
    .chain(&["-pix_fmt", pixels])
    .map(OsString::from)
    .collect();
    arguments.extend(["-video_size".into(), format!("{width}x{height}").into()]);
    arguments.extend(["-framerate".into(), fps.to_string().into()]);
    arguments.extend(["-i", "pipe:0"].map(OsString::from));
    arguments.extend(rest.iter().map(OsString::from));
    // As an address, so that no character of the path has a meaning.
    let mut address = OsString::from("file:");
    address.push(output);
    arguments.push(address);
    arguments
}
