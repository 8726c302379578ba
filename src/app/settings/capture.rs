//! Settings of captures.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::io::AnimationFormat;

/// Maximum side, pixels: larger pictures exceed the memory of many devices.
pub(in crate::app) const MAX_SIDE: u32 = 4096;
pub(in crate::app) const MIN_SIDE: u32 = 16;
/// Maximum number of frames; more are rejected as a mistake.
pub(in crate::app) const MAX_FRAMES: usize = 7200;

/// Maximum number of pictures in a row of a figure.
pub(in crate::app) const MAX_COLUMNS: usize = 9;
/// Maximum number of pixels of a figure.
pub(in crate::app) const MAX_FIGURE_PIXELS: u64 = 100_000_000;

/// The kind of capture.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CaptureKind {
    /// One picture of the view.
    #[default]
    Picture,
    /// A turntable of the present state.
    Turntable,
    /// One round of the clip, or of its range.
    Clip,
    /// All views in one picture, with names, colour bars and scores.
    Figure,
}

/// File format of a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FigureFormat {
    /// One picture.
    #[default]
    Png,
    /// Embedded pictures; text and colour bars can be edited.
    Svg,
}

impl FigureFormat {
    /// All of them, with name and one sentence.
    pub const ALL: [(Self, &'static str, &'static str); 2] = [
        (Self::Png, "PNG", "One picture, for every program"),
        (
            Self::Svg,
            "SVG",
            "The pictures are embedded; text and colour bars can be edited, and stay sharp",
        ),
    ];
}

/// What is in a figure beside the pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct FigureSettings {
    /// File format.
    pub format: FigureFormat,
    /// Number of pictures in a row; 0: as in the window.
    pub columns: usize,
    /// Whether the views are named.
    pub labels: bool,
    /// Whether colours have their bars.
    pub legends: bool,
    /// Whether each picture is measured.
    pub scores: bool,
}

impl Default for FigureSettings {
    fn default() -> Self {
        Self {
            format: FigureFormat::default(),
            columns: 0,
            labels: true,
            legends: true,
            scores: true,
        }
    }
}

impl FigureSettings {
    /// Number of pictures in a row, of `views` in all, of which the window has `shown` in its first row.
    #[must_use]
    pub fn columns_of(&self, views: usize, shown: usize) -> usize {
        let wanted = if self.columns == 0 {
            shown
        } else {
            self.columns
        };
        wanted.clamp(1, views.max(1))
    }
}

impl CaptureKind {
    /// All of them, in the order of the dialog.
    pub const ALL: [Self; 4] = [Self::Picture, Self::Figure, Self::Turntable, Self::Clip];

    /// Name and one sentence.
    #[must_use]
    pub fn words(self) -> (&'static str, &'static str) {
        match self {
            Self::Picture => ("Picture", "One picture of the active view, as it is now"),
            Self::Turntable => (
                "Turntable",
                "The camera goes once round the flesh, which stands still",
            ),
            Self::Figure => (
                "Figure",
                "All views in one picture for a paper, with names, colour bars and scores",
            ),
            Self::Clip => (
                "Clip",
                "The clip, or its range, plays once; flesh is simulated anew, frame by frame",
            ),
        }
    }
}

/// All settings of the dialog.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct CaptureSettings {
    /// The kind of capture.
    pub what: CaptureKind,
    /// File format of films; a single picture is a PNG.
    pub format: AnimationFormat,
    /// Width and height in pixels.
    pub size: [u32; 2],
    /// Frames per second.
    pub fps: f64,
    /// Duration of a turntable, seconds.
    pub turn_secs: f64,
    /// Whether the camera turns once around while the clip plays.
    pub turn_with_clip: bool,
    /// Transparent background, without a floor.
    pub transparent: bool,
    /// What is in a figure.
    pub figure: FigureSettings,
    /// The output folder; the file extension follows from the other settings.
    pub folder: PathBuf,
    /// Name of the file without an extension.
    pub name: String,
}

impl Default for CaptureSettings {
    fn default() -> Self {
        Self {
            what: CaptureKind::Picture,
            format: AnimationFormat::Gif,
            size: [1080, 1080],
            fps: 25.0,
            turn_secs: 4.0,
            turn_with_clip: false,
            transparent: false,
            figure: FigureSettings::default(),
            folder: pictures_folder(),
            name: "Sinew".to_owned(),
        }
    }
}

/// Default output folder: the user's picture folder, or the home folder.
fn pictures_folder() -> PathBuf {
    let of = |variable: &str| {
        std::env::var_os(variable)
            .map(PathBuf::from)
            .filter(|folder| folder.is_dir())
    };
    let home = of("HOME").or_else(|| of("USERPROFILE"));
    let pictures = home
        .as_ref()
        .map(|home| home.join("Pictures"))
        .filter(|folder| folder.is_dir());
    of("XDG_PICTURES_DIR")
        .or(pictures)
        .or(home)
        .unwrap_or_else(|| PathBuf::from("."))
}

impl CaptureSettings {
    /// Sets defaults for a view of this name; `plays`: whether it shows a clip.
    pub(in crate::app) fn set_defaults(&mut self, name: &str, plays: bool) {
        self.name = file_name(name);
        if self.what == CaptureKind::Clip && !plays {
            self.what = CaptureKind::Picture;
        }
    }

    /// The same with all numbers clamped to their ranges.
    #[must_use]
    pub fn sanitized(mut self) -> Self {
        self.size = self.size.map(|side| side.clamp(MIN_SIDE, MAX_SIDE));
        let in_range = |value: f64, low: f64, high: f64, else_: f64| {
            if value.is_finite() {
                value.clamp(low, high)
            } else {
                else_
            }
        };
        self.fps = in_range(self.fps, 1.0, self.format.max_fps(), 25.0);
        self.figure.columns = self.figure.columns.min(MAX_COLUMNS);
        self.turn_secs = in_range(self.turn_secs, 0.2, 60.0, 4.0);
        self
    }

    /// File extension of the output.
    #[must_use]
    pub fn extension(&self) -> &'static str {
        match (self.what, self.figure.format) {
            (CaptureKind::Picture, _) | (CaptureKind::Figure, FigureFormat::Png) => "png",
            (CaptureKind::Figure, FigureFormat::Svg) => "svg",
            _ => self.format.extension(),
        }
    }

    /// Whether one picture is made, not a film.
    #[must_use]
    pub fn is_still(&self) -> bool {
        matches!(self.what, CaptureKind::Picture | CaptureKind::Figure)
    }

    /// Path of the output; the files of a sequence have numbered names derived from it.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.folder
            .join(format!("{}.{}", self.name, self.extension()))
    }

    /// Sets folder and name from a path that the user chose.
    pub fn set_path(&mut self, path: &Path) {
        if let Some(folder) = path
            .parent()
            .filter(|folder| !folder.as_os_str().is_empty())
        {
            folder.clone_into(&mut self.folder);
        }
        if let Some(name) = path.file_stem() {
            self.name = name.to_string_lossy().into_owned();
        }
    }

    /// Number of frames, for a clip of this duration in seconds; at least one.
    #[must_use]
    pub fn frames(&self, clip_secs: f64) -> usize {
        let secs = match self.what {
            CaptureKind::Picture | CaptureKind::Figure => return 1,
            CaptureKind::Turntable => self.turn_secs,
            CaptureKind::Clip => clip_secs,
        };
        ((secs * self.fps).round().max(1.0) as usize).min(MAX_FRAMES)
    }

    pub(in crate::app) fn title(&self) -> String {
        let file = self.path();
        format!(
            "Making {}",
            file.file_name()
                .map_or_else(|| "a picture".into(), |name| name.to_string_lossy())
        )
    }
}

/// The name without characters that some file systems reject.
fn file_name(name: &str) -> String {
    let cleaned: String = name
        .chars()
        .map(|c| {
            if c.is_control() || "/\\:*?\"<>|".contains(c) {
                '_'
            } else {
                c
            }
        })
        .take(80)
        .collect();
    let cleaned = cleaned.trim().trim_matches('.').to_owned();
    if cleaned.is_empty() {
        "Sinew".to_owned()
    } else {
        cleaned
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_extension_follows_the_kind_of_export() {
        let mut settings = CaptureSettings {
            folder: "/a".into(),
            name: "fox v1.2".into(),
            ..CaptureSettings::default()
        };
        assert_eq!(settings.path(), Path::new("/a/fox v1.2.png"));
        settings.what = CaptureKind::Turntable;
        assert_eq!(settings.path(), Path::new("/a/fox v1.2.gif"));
        settings.set_path(Path::new("/b/c.webp"));
        assert_eq!(settings.path(), Path::new("/b/c.gif"));
        settings.what = CaptureKind::Figure;
        assert_eq!(settings.path(), Path::new("/b/c.png"));
        settings.figure.format = FigureFormat::Svg;
        assert_eq!(settings.path(), Path::new("/b/c.svg"));
        assert_eq!((settings.is_still(), settings.frames(9.0)), (true, 1));
        assert_eq!(settings.figure.columns_of(4, 2), 2);
        settings.figure.columns = 9;
        assert_eq!(settings.figure.columns_of(4, 2), 4);
        assert_eq!(file_name(" ../a:b\n"), "_a_b_");
        assert_eq!(file_name("..."), "Sinew");
    }

    #[test]
    fn numbers_are_clamped_to_their_range() {
        let excessive = CaptureSettings {
            size: [0, u32::MAX],
            fps: f64::NAN,
            turn_secs: f64::INFINITY,
            ..CaptureSettings::default()
        };
        let sane = excessive.sanitized();
        assert_eq!((sane.size, sane.fps), ([MIN_SIDE, MAX_SIDE], 25.0));
        let fast = CaptureSettings {
            what: CaptureKind::Turntable,
            fps: 500.0,
            ..CaptureSettings::default()
        }
        .sanitized();
        assert_eq!(
            (fast.fps, fast.frames(0.0)),
            (50.0, 200),
            "a GIF is not faster"
        );
        let endless = CaptureSettings {
            what: CaptureKind::Clip,
            ..CaptureSettings::default()
        };
        assert_eq!((endless.frames(1e9), endless.frames(0.0)), (MAX_FRAMES, 1));
    }
}
