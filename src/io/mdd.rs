//! MDD point caches (`LightWave`): big endian; number of frames, number of points, the time of
//! every frame, then all points frame by frame.

use std::io::Write;
use std::path::Path;

use super::error::IoError;
use super::write::AtomicFile;
use crate::math::Point;

/// A `.mdd` point cache, frame by frame.
#[derive(Debug)]
pub struct MddCache {
    file: AtomicFile,
    points: usize,
}

impl MddCache {
    /// Starts a cache of `points` points per frame, with the given frame times (s).
    ///
    /// # Errors
    /// [`IoError::Write`].
    pub fn create(path: &Path, points: usize, times_secs: &[f64]) -> Result<Self, IoError> {
        let mut file = AtomicFile::create(path)?;
        file.write(|out| {
            for count in [times_secs.len(), points] {
                out.write_all(
                    &i32::try_from(count)
                        .map_err(std::io::Error::other)?
                        .to_be_bytes(),
                )?;
            }
            times_secs
                .iter()
                .try_for_each(|&time| out.write_all(&(time as f32).to_be_bytes()))
        })?;
        Ok(Self { file, points })
    }

    /// Appends a frame.
    ///
    /// # Errors
    /// [`IoError::Write`].
    ///
    /// # Panics
    /// If the number of points differs.
    pub fn frame(&mut self, positions: &[Point]) -> Result<(), IoError> {
        assert_eq!(positions.len(), self.points, "the number of points differs");
        self.file.write(|out| {
            positions
                .iter()
                .flat_map(|p| [p.x, p.y, p.z])
                .try_for_each(|c| out.write_all(&c.to_be_bytes()))
        })
    }

    /// Completes the file; one frame per time must have been written.
    ///
    /// # Errors
    /// [`IoError::Write`].
    pub fn finish(self) -> Result<(), IoError> {
        self.file.commit()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_match_the_format() {
        let path = std::env::temp_dir().join(format!("sinew-mdd-{}.mdd", std::process::id()));
        let mut cache = MddCache::create(&path, 2, &[0.0, 0.5, 1.0]).unwrap();
        let points = [Point::new(1.0, 2.0, 3.0), Point::new(4.0, 5.0, 6.0)];
        (0..3).for_each(|_| cache.frame(&points).unwrap());
        cache.finish().unwrap();
        let bytes = std::fs::read(&path).unwrap();
        assert_eq!(bytes.len(), 8 + 3 * 4 + 3 * 2 * 12);
        assert_eq!(bytes[..8], [0, 0, 0, 3, 0, 0, 0, 2]);
        assert_eq!(bytes[12..16], 0.5_f32.to_be_bytes());
        assert_eq!(bytes[20..24], 1_f32.to_be_bytes());
        assert_eq!(bytes[bytes.len() - 4..], 6_f32.to_be_bytes());
        std::fs::remove_file(path).unwrap();
    }
}
