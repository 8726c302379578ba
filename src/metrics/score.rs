//! The score of a frame: the few numbers that a view shows, measured several times a second.

use serde::{Deserialize, Serialize};

use super::{Meter, MeterFrame, Metric, RestSkin, intersections, stretch, volume};
use crate::math::Point;
use crate::mesh::TriMesh;
use crate::progress::{Cancelled, Progress};
use crate::stages::Subject;

/// The metrics of a score.
static OF_A_SCORE: [&Metric; 3] = [&volume::METRIC, &intersections::METRIC, &stretch::METRIC];

/// What was measured of one deformed skin against its bind pose. The fields are quantities of the metrics, by their ids.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// Change of the volume, as a part of the bind pose's: −0.03 has lost 3 %. `None` for a skin without a volume.
    pub volume_change: Option<f64>,
    /// Pairs of triangles that intersect.
    pub intersecting_pairs: usize,
    /// Those of them that do not intersect in the bind pose.
    pub new_pairs: usize,
    /// 1 % of the edges have less than this times their length in the bind pose.
    pub stretch_p1: f64,
    /// 1 % of the edges have more than this times their length in the bind pose.
    pub stretch_p99: f64,
}

/// Measures scores of one character.
pub struct Scorer {
    meter: Meter,
}

impl Scorer {
    /// Measures the bind pose of a subject.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn new(subject: &Subject, progress: &Progress) -> Result<Self, Cancelled> {
        Self::of_rest(RestSkin::of(subject), progress)
    }

    /// Measures a welded mesh at rest; `source_from_skin` names the source vertex of each of its vertices.
    ///
    /// # Errors
    /// [`Cancelled`].
    ///
    /// # Panics
    /// If a triangle index is out of range.
    pub fn of_mesh(
        rest: TriMesh,
        source_from_skin: Vec<u32>,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        Self::of_rest(RestSkin::of_mesh(rest, source_from_skin), progress)
    }

    fn of_rest(rest: RestSkin, progress: &Progress) -> Result<Self, Cancelled> {
        let meter = Meter::new(rest, OF_A_SCORE, progress)?;
        Ok(Self { meter })
    }

    /// Measures a deformed skin, given by the world positions of all source vertices. Vertices that are missing or not finite keep
    /// their last position.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn score(&mut self, positions: &[Point], progress: &Progress) -> Result<Score, Cancelled> {
        let frame = MeterFrame {
            positions,
            ..MeterFrame::default()
        };
        let measured = self.meter.measure(&frame, progress)?;
        Ok(Score {
            volume_change: measured.get("volume_change"),
            intersecting_pairs: measured.count("intersecting_pairs"),
            new_pairs: measured.count("new_pairs"),
            stretch_p1: measured.get("stretch_p1").unwrap_or(1.0),
            stretch_p99: measured.get("stretch_p99").unwrap_or(1.0),
        })
    }
}

#[cfg(test)]
mod tests {
    use nalgebra::{Isometry3, Vector3};

    use super::*;
    use crate::math::Vec3;
    use crate::mesh::shapes::{ball, joined, tube};

    /// f32 positions of about 1, sums over a few hundred triangles.
    const TOL: f64 = 1e-5;

    fn scorer(mesh: &TriMesh) -> Scorer {
        let identity = (0..mesh.positions.len() as u32).collect();
        Scorer::of_mesh(mesh.clone(), identity, &Progress::new()).unwrap()
    }

    fn score(mesh: &TriMesh, posed: &[Point]) -> Score {
        scorer(mesh).score(posed, &Progress::new()).unwrap()
    }

    fn crossed() -> TriMesh {
        joined(&[
            ball(Point::origin(), 1.0, 10, 14),
            ball(Point::new(1.01, 0.013, 0.007), 1.0, 10, 14),
        ])
    }

    #[test]
    fn a_rigid_motion_costs_nothing() {
        let motion = Isometry3::new(Vector3::new(0.4, -1.0, 0.3), Vector3::new(0.2, 1.9, -0.4));
        for mesh in [
            ball(Point::new(0.3, 0.1, 0.0), 1.0, 8, 12),
            tube(0.1, 1.0, 4, 9, false),
            crossed(),
        ] {
            let posed: Vec<Point> = mesh.positions.iter().map(|p| motion * p).collect();
            let score = score(&mesh, &posed);
            assert!(
                score.volume_change.is_some_and(|change| change.abs() < TOL),
                "{score:?}"
            );
            assert!(
                (score.stretch_p1 - 1.0).abs() < TOL && (score.stretch_p99 - 1.0).abs() < TOL,
                "{score:?}"
            );
            // A rotation may tip a pair that only just touches.
            assert!(
                score.new_pairs <= score.intersecting_pairs / 20,
                "{score:?}"
            );
        }
    }

    #[test]
    fn uniform_scaling_by_ten_percent_is_measured() {
        let mesh = ball(Point::new(5.0, 0.0, 0.0), 1.0, 8, 12);
        let posed: Vec<Point> = mesh.positions.iter().map(|p| p * 1.1).collect();
        let score = score(&mesh, &posed);
        assert!(
            (score.volume_change.unwrap() - 0.331).abs() < TOL * 10.0,
            "{score:?}"
        );
        assert!(
            (score.stretch_p1 - 1.1).abs() < TOL * 10.0
                && (score.stretch_p99 - 1.1).abs() < TOL * 10.0,
            "{score:?}"
        );
        assert_eq!((score.intersecting_pairs, score.new_pairs), (0, 0));
    }

    #[test]
    fn new_intersections_are_counted_once_without_those_of_the_bind_pose() {
        let apart = joined(&[
            ball(Point::origin(), 1.0, 10, 14),
            ball(Point::new(3.0, 0.0, 0.0), 1.0, 10, 14),
        ]);
        let together = crossed();
        let pushed = score(&apart, &together.positions);
        let there = score(&together, &together.positions);
        assert!(pushed.new_pairs > 0 && pushed.new_pairs == pushed.intersecting_pairs);
        assert_eq!(
            (there.intersecting_pairs, there.new_pairs),
            (pushed.intersecting_pairs, 0)
        );
        let mut scorer = scorer(&apart);
        let progress = Progress::new();
        assert_eq!(scorer.score(&together.positions, &progress), Ok(pushed));
        assert_eq!(
            scorer
                .score(&apart.positions, &progress)
                .unwrap()
                .intersecting_pairs,
            0,
            "it keeps nothing of the last one"
        );
    }

    #[test]
    fn empty_and_invalid_input_is_tolerated() {
        let empty = score(&TriMesh::default(), &[]);
        assert_eq!(
            empty,
            Score {
                volume_change: None,
                intersecting_pairs: 0,
                new_pairs: 0,
                stretch_p1: 1.0,
                stretch_p99: 1.0
            }
        );
        let mesh = ball(Point::origin(), 1.0, 6, 8);
        let invalid = vec![Point::from(Vec3::repeat(f32::NAN)); 3];
        assert_eq!(score(&mesh, &invalid), score(&mesh, &mesh.positions));
        let progress = Progress::new();
        progress.cancel();
        assert!(scorer(&mesh).score(&mesh.positions, &progress).is_err());
    }
}
