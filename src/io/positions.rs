//! Deformed positions that another program wrote: `.pc2` point caches, `.obj` files, and the `.json` of a bake.

use std::path::Path;

use super::bytes::{read_file, text_of};
use super::error::{IoError, ParseProblem};
use crate::math::Point;

/// Length of the head of a point cache, bytes.
const HEAD: usize = 32;

/// Positions of the vertices of a mesh in one or several frames.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PositionFrames {
    /// One list of positions for each frame; all are equally long.
    pub frames: Vec<Vec<Point>>,
}

/// The frames in the layout of [`super::JsonPositions`].
#[derive(serde::Deserialize)]
struct JsonFrames {
    frames: Vec<Vec<[f32; 3]>>,
}

/// Reads positions. Of an `.obj` these are the `v` lines, in their order.
///
/// # Errors
/// [`IoError`] for files that cannot be read, other formats, and numbers that are missing or not finite.
pub fn read_positions(path: &Path) -> Result<PositionFrames, IoError> {
    let file = path.display().to_string();
    let bytes = read_file(path).map_err(|source| IoError::Read {
        file: file.clone(),
        source,
    })?;
    let extension = path
        .extension()
        .and_then(std::ffi::OsStr::to_str)
        .unwrap_or_default()
        .to_ascii_lowercase();
    let frames = match extension.as_str() {
        "pc2" => point_cache(&bytes),
        "obj" => obj(&text_of(&bytes)),
        "json" => json(&bytes),
        _ => Err(ParseProblem::new(
            "positions are read from .pc2, .obj and .json files; write one of them",
        )),
    };
    let frames = frames.map_err(|problem| problem.in_file(&file))?;
    let finite = |p: &Point| p.iter().all(|c| c.is_finite());
    if let Some(frame) = frames.iter().position(|frame| !frame.iter().all(finite)) {
        let problem = ParseProblem::new(format!(
            "frame {frame} has a position that is not a finite number"
        ));
        return Err(problem.in_file(&file));
    }
    Ok(PositionFrames { frames })
}

fn point_cache(bytes: &[u8]) -> Result<Vec<Vec<Point>>, ParseProblem> {
    let number = |at: usize| -> Option<u32> {
        Some(u32::from_le_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
    };
    let counts = number(16).zip(number(28));
    let (true, Some((points, frames))) = (bytes.starts_with(b"POINTCACHE2"), counts) else {
        return Err(ParseProblem::new(
            "not a point cache (expected a head of 32 bytes that starts with POINTCACHE2)",
        ));
    };
    let (points, frames) = (points as usize, frames as usize);
    let expected = points
        .checked_mul(frames)
        .and_then(|count| count.checked_mul(12))
        .and_then(|length| length.checked_add(HEAD));
    if points == 0 || expected.is_none_or(|expected| bytes.len() < expected) {
        return Err(ParseProblem::new(format!(
            "the head promises {frames} frames of {points} points, and the file has {} bytes",
            bytes.len()
        )));
    }
    let floats = bytes[HEAD..].chunks_exact(4).map(|word| {
        let word: [u8; 4] = word.try_into().unwrap_or_default();
        f32::from_le_bytes(word)
    });
    let floats: Vec<f32> = floats.take(points * frames * 3).collect();
    let point = |c: &[f32]| Point::new(c[0], c[1], c[2]);
    Ok(floats
        .chunks_exact(points * 3)
        .map(|frame| frame.chunks_exact(3).map(point).collect())
        .collect())
}

fn obj(text: &str) -> Result<Vec<Vec<Point>>, ParseProblem> {
    let mut points = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let mut words = line.split_whitespace();
        if words.next() != Some("v") {
            continue;
        }
        let mut next = || words.next()?.parse::<f32>().ok();
        let (Some(x), Some(y), Some(z)) = (next(), next(), next()) else {
            return Err(ParseProblem::new(format!(
                "line {number}: expected v with three numbers"
            )));
        };
        points.push(Point::new(x, y, z));
    }
    if points.is_empty() {
        return Err(ParseProblem::new("the file has no vertices"));
    }
    Ok(vec![points])
}

fn json(bytes: &[u8]) -> Result<Vec<Vec<Point>>, ParseProblem> {
    let read: JsonFrames = serde_json::from_slice(bytes).map_err(|error| {
        ParseProblem::new(format!(
            "expected {{\"frames\": [[[x, y, z], …], …]}}: {error}"
        ))
    })?;
    let frames: Vec<Vec<Point>> = read
        .frames
        .into_iter()
        .map(|frame| frame.into_iter().map(Point::from).collect())
        .collect();
    let first = frames.first().map_or(0, Vec::len);
    if first == 0 || frames.iter().any(|frame| frame.len() != first) {
        return Err(ParseProblem::new(
            "the frames must have equally many positions, at least one",
        ));
    }
    Ok(frames)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::PointCache;
    use crate::test_folder::TestFolder;

    #[test]
    fn a_point_cache_that_was_written_is_read_back() {
        let folder = TestFolder::new("positions");
        let path = folder.file("a.pc2");
        let frames = vec![
            vec![Point::new(1.0, 2.0, 3.0), Point::new(-4.0, 0.5, 1e-7)],
            vec![Point::new(0.0, -1.0, 8.0), Point::new(1.0, 1.0, 1.0)],
        ];
        let mut cache = PointCache::create(&path, 2, 0.0, 1.0).unwrap();
        for frame in &frames {
            cache.frame(frame).unwrap();
        }
        cache.finish().unwrap();
        assert_eq!(read_positions(&path).unwrap().frames, frames);
        // Any part of it is refused.
        let bytes = std::fs::read(&path).unwrap();
        for length in 0..bytes.len() {
            assert!(point_cache(&bytes[..length]).is_err(), "{length} bytes");
        }
        let mut huge = bytes;
        huge[16..20].fill(0xff);
        huge[28..32].fill(0xff);
        assert!(point_cache(&huge).is_err());
    }

    #[test]
    fn obj_and_json_are_read_and_checked() {
        let expected = vec![vec![Point::new(1.0, 2.0, 3.0), Point::new(4.0, 5.0, 6.0)]];
        assert_eq!(
            obj("# x\nv 1 2 3\nvn 0 0 1\nv 4 5 6 0.5\nf 1 2 1\n"),
            Ok(expected.clone())
        );
        assert_eq!(
            json(b"{\"frames\": [[[1, 2, 3], [4, 5, 6]]]}"),
            Ok(expected)
        );
        assert!(obj("v 1 2\n").is_err() && obj("").is_err() && obj("v a b c").is_err());
        for wrong in [
            "",
            "{}",
            "{\"frames\": []}",
            "{\"frames\": [[[1,2,3]], []]}",
        ] {
            assert!(json(wrong.as_bytes()).is_err(), "{wrong}");
        }
    }
}
