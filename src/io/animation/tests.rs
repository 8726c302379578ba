use std::io::Cursor;
use std::time::Duration;

use image::codecs::gif::GifDecoder;
use image::codecs::webp::WebPDecoder;
use image::{AnimationDecoder, Rgba};

use super::*;
use crate::test_folder::TestFolder;

const SIZE: [u32; 2] = [37, 20];

/// A smooth gradient, and a square that moves across a transparent corner.
fn frames() -> Vec<RgbaImage> {
    let pixel = |frame: u32, x: u32, y: u32| match () {
        () if x < 8 && y < 8 => Rgba([0, 0, 0, 0]),
        () if (x / 6) == frame + 2 && y > 12 => Rgba([250, 40, 30, 255]),
        () => Rgba([(x * 6) as u8, (y * 12) as u8, 90, 255]),
    };
    (0..4)
        .map(|frame| RgbaImage::from_fn(SIZE[0], SIZE[1], |x, y| pixel(frame, x, y)))
        .collect()
}

fn written(name: &str, fps: f64) -> (Vec<PathBuf>, TestFolder) {
    let folder = TestFolder::new(&format!("animation-{name}"));
    let path = folder.file(name);
    let format = AnimationFormat::of_path(&path).expect("a known extension");
    let frames = frames();
    let mut writer = AnimationWriter::create(&path, format, SIZE, fps, frames.len()).unwrap();
    for frame in &frames {
        writer.push(frame).unwrap();
    }
    (writer.finish().unwrap(), folder)
}

fn lengths(frames: &[Frame]) -> Duration {
    frames
        .iter()
        .map(|frame| Duration::from(frame.delay()))
        .sum()
}

#[test]
fn webp_is_lossless() {
    let (files, _folder) = written("a.webp", 30.0);
    let bytes = std::fs::read(&files[0]).unwrap();
    let decoder = WebPDecoder::new(Cursor::new(bytes)).unwrap();
    assert!(decoder.has_animation());
    let read = decoder.into_frames().collect_frames().unwrap();
    assert_eq!(
        lengths(&read),
        Duration::from_millis(133),
        "four thirtieths"
    );
    for (read, frame) in read.iter().zip(frames()) {
        assert!(
            read.buffer()
                .pixels()
                .zip(frame.pixels())
                .all(|(a, b)| a == b || (a[3] == 0 && b[3] == 0))
        );
    }
    assert_eq!(read.len(), 4);
}

#[test]
fn webp_stores_only_what_changes() {
    let mut frames: Vec<(RgbaImage, u32)> = frames().into_iter().map(|frame| (frame, 40)).collect();
    let last = frames[3].clone();
    frames.push(last);
    let whole: usize = frames
        .iter()
        .map(|frame| animated_webp(std::slice::from_ref(frame)).unwrap().len())
        .sum();
    let bytes = animated_webp(&frames).unwrap();
    assert!(bytes.len() < whole * 2 / 3, "{} of {whole}", bytes.len());
    let decoder = WebPDecoder::new(Cursor::new(bytes)).unwrap();
    let read = decoder.into_frames().collect_frames().unwrap();
    assert_eq!(lengths(&read), Duration::from_millis(200));
    for (read, (frame, _)) in read.iter().zip(&frames) {
        let mut pairs = read.buffer().pixels().zip(frame.pixels());
        assert!(pairs.all(|(a, b)| a == b || (a[3] == 0 && b[3] == 0)));
    }
    assert!(animated_webp(&[]).is_err(), "no frame has no size");
    let smaller = (RgbaImage::new(2, 2), 40);
    assert!(animated_webp(&[frames[0].clone(), smaller]).is_err());
}

#[test]
fn gif_keeps_duration_alpha_and_approximate_colours() {
    let (files, _folder) = written("a.gif", 30.0);
    let read = GifDecoder::new(Cursor::new(std::fs::read(&files[0]).unwrap()))
        .unwrap()
        .into_frames()
        .collect_frames()
        .unwrap();
    assert_eq!(
        (read.len(), lengths(&read)),
        (4, Duration::from_millis(130)),
        "in hundredths"
    );
    for (read, frame) in read.iter().zip(frames()) {
        let mut sum = 0;
        for (a, b) in read.buffer().pixels().zip(frame.pixels()) {
            assert_eq!(a[3], b[3], "transparent pixels stay transparent");
            if b[3] > 0 {
                let off = (0..3)
                    .map(|c| i32::from(a[c].abs_diff(b[c])))
                    .max()
                    .unwrap_or_default();
                assert!(off <= 24, "{a:?} for {b:?}");
                sum += off;
            }
        }
        assert!(sum / 676 < 8, "mean error {}", f64::from(sum) / 676.0);
    }
}

#[test]
#[cfg(unix)]
fn a_video_gets_every_frame_and_its_name_at_the_end() {
    let folder = TestFolder::new("animation-video");
    // In the place of ffmpeg: it copies its input to the path that is its last argument.
    let copying = "for last; do :; done; cat > \"${last#file:}\"";
    let failing = "echo 'Unknown encoder x' >&2; exit 1";
    let start = |script: &str, path: &Path, format| {
        let mut command = std::process::Command::new("sh");
        command.args(["-c", script, "sh"]);
        VideoFile::with_command(command, path, format, SIZE, 30.0).unwrap()
    };
    let frames = frames();
    let (webm, mp4) = (folder.file("a.webm"), folder.file("a.mp4"));
    for (path, format, bytes_per_pixel) in [
        (&webm, AnimationFormat::Webm, 4),
        (&mp4, AnimationFormat::Mp4, 3),
    ] {
        let mut video = start(copying, path, format);
        for frame in &frames {
            video.push(frame).unwrap();
        }
        assert!(!path.exists(), "it has its name when it is complete");
        video.finish().unwrap();
        let written = std::fs::read(path).unwrap();
        assert_eq!(written.len(), frames.len() * 37 * 20 * bytes_per_pixel);
        assert_eq!(written[..bytes_per_pixel], [0; 4][..bytes_per_pixel]);
    }
    let whole: Vec<u8> = frames
        .iter()
        .flat_map(|frame| frame.as_raw().clone())
        .collect();
    assert_eq!(std::fs::read(&webm).unwrap(), whole);

    let before = std::fs::read_dir(&folder.0).unwrap().count();
    let bad = folder.file("b.mp4");
    let mut video = start(failing, &bad, AnimationFormat::Mp4);
    let pushed = frames.iter().try_for_each(|frame| video.push(frame));
    let error = pushed.and_then(|()| video.finish()).unwrap_err();
    assert!(error.to_string().contains("Unknown encoder x"), "{error}");
    drop(start(copying, &bad, AnimationFormat::Mp4));
    assert_eq!(std::fs::read_dir(&folder.0).unwrap().count(), before);
}

#[test]
fn a_png_sequence_has_one_file_per_frame() {
    let (files, _folder) = written("a.png", 24.0);
    assert_eq!(files.len(), 4);
    for (file, frame) in files.iter().zip(frames()) {
        assert_eq!(image::open(file).unwrap().to_rgba8(), frame);
    }
    assert!(files[3].ends_with("a.0003.png"));
}

#[test]
fn a_dropped_writer_leaves_no_file() {
    for name in ["b.gif", "b.webp"] {
        let folder = TestFolder::new(&format!("animation-{name}"));
        let path = folder.file(name);
        let mut writer = AnimationWriter::create(
            &path,
            AnimationFormat::of_path(&path).unwrap(),
            SIZE,
            30.0,
            4,
        )
        .unwrap();
        writer.push(&frames()[0]).unwrap();
        assert!(
            writer.push(&RgbaImage::new(3, 3)).is_err(),
            "a frame of a different size"
        );
        drop(writer);
        assert_eq!(
            std::fs::read_dir(path.parent().unwrap()).unwrap().count(),
            0
        );
    }
    assert!(
        AnimationWriter::create(
            Path::new("/nowhere/x.gif"),
            AnimationFormat::Gif,
            SIZE,
            30.0,
            1
        )
        .is_err()
    );
    assert_eq!(AnimationFormat::of_path(Path::new("x.avi")), None);
}

#[test]
fn rounded_durations_add_up() {
    for (fps, per_sec) in [(30.0, 100.0), (24.0, 100.0), (60.0, 1000.0), (7.3, 1000.0)] {
        let mut cadence = FrameTiming { fps, frame: 0 };
        let sum: u64 = (0..120).map(|_| u64::from(cadence.next(per_sec))).sum();
        assert!(
            (sum as f64 - 120.0 / fps * per_sec).abs() <= 0.5 + 1e-9,
            "{fps}: {sum}"
        );
    }
}
