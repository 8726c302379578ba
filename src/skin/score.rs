//! Scores: how well a deformed skin keeps what skin should keep.
//!
//! | measure       | what it is                                                                        | of a rigid motion |
//! |---------------|-----------------------------------------------------------------------------------|-------------------|
//! | volume change | signed volume of all parts, each about a corner of its own, against the bind pose  | 0                 |
//! | intersections | pairs of triangles that cut each other (`intersecting_pairs`)                    | those of the bind |
//! | edge stretch  | length of an edge over its length in the bind pose: 1st and 99th percentile        | 1                 |
//!
//! All of it is measured on the welded skin, so that seams of the texture neither leak nor count twice. A part with holes has the
//! volume of its cones to the corner: that moves rigidly, too.

use serde::{Deserialize, Serialize};

use super::Subject;
use crate::math::Point;
use crate::mesh::{Topology, TriMesh, checkup};
use crate::progress::{Cancelled, Progress};

/// A volume below this part of the cube of the size is none.
const NO_VOLUME: f64 = 1e-9;

/// What was measured of one deformed skin against its bind pose.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// Change of the volume, as a part of the bind pose's: −0.03 has lost 3 %. `None` for a skin without a volume.
    pub volume_change: Option<f64>,
    /// Pairs of triangles that cut each other.
    pub intersecting_pairs: usize,
    /// Those of them that don't cut each other in the bind pose.
    pub new_pairs: usize,
    /// The length over that in the bind pose that 1 % of the edges are below: how much is squeezed.
    pub stretch_p1: f64,
    /// The length over that in the bind pose that 1 % of the edges are above: how much is stretched.
    pub stretch_p99: f64,
}

/// The bind pose's side of the measures, and the memory they work in.
#[derive(Debug, Clone)]
pub struct Scorer {
    posed: TriMesh,
    topology: Topology,
    /// For every vertex of the skin a source vertex.
    source_from_skin: Vec<u32>,
    edges: Vec<[u32; 2]>,
    rest_lengths: Vec<f64>,
    rest_volume: Option<f64>,
    rest_pairs: Vec<[u32; 2]>,
    ratios: Vec<f64>,
}

impl Scorer {
    /// Measures the bind pose of a subject.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn new(subject: &Subject, progress: &Progress) -> Result<Self, Cancelled> {
        Self::of_mesh(subject.skin.mesh.clone(), subject.skin.source_from_skin(), progress)
    }

    /// Measures a welded mesh at rest; `source_from_skin` says which of the positions given later is which of its vertices.
    ///
    /// # Errors
    /// [`Cancelled`].
    ///
    /// # Panics
    /// If a triangle index is out of range.
    pub fn of_mesh(rest: TriMesh, source_from_skin: Vec<u32>, progress: &Progress) -> Result<Self, Cancelled> {
        let topology = Topology::of(&rest);
        let mut edges: Vec<[u32; 2]> = rest.triangles.iter().flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]]).collect();
        for edge in &mut edges {
            edge.sort_unstable();
        }
        edges.sort_unstable();
        edges.dedup();
        let all: Vec<f64> = edges.iter().map(|&edge| length(&rest.positions, edge)).collect();
        let keeps = |length: f64| length.is_finite() && length > 0.0;
        let rest_lengths: Vec<f64> = all.iter().copied().filter(|&length| keeps(length)).collect();
        let mut long = all.iter().map(|&length| keeps(length));
        edges.retain(|_| long.next().unwrap_or(false));
        let size = f64::from(rest.bounds().size());
        let volume: f64 = checkup::volumes(&rest, &topology).iter().sum();
        let rest_volume = (volume.is_finite() && volume.abs() > NO_VOLUME * size.powi(3)).then_some(volume);
        let rest_pairs = checkup::intersecting_pairs(&rest, progress)?;
        let ratios = Vec::with_capacity(edges.len());
        Ok(Self { posed: rest, topology, source_from_skin, edges, rest_lengths, rest_volume, rest_pairs, ratios })
    }

    /// Measures a deformed skin, given by the world positions of all source vertices. Positions that are missing or not finite
    /// keep their last place.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn score(&mut self, positions: &[Point], progress: &Progress) -> Result<Score, Cancelled> {
        for (kept, &source) in self.posed.positions.iter_mut().zip(&self.source_from_skin) {
            if let Some(new) = positions.get(source as usize).filter(|p| p.iter().all(|c| c.is_finite())) {
                *kept = *new;
            }
        }
        let volume: f64 = checkup::volumes(&self.posed, &self.topology).iter().sum();
        let volume_change = self.rest_volume.map(|rest| (volume - rest) / rest.abs()).filter(|change| change.is_finite());
        let pairs = checkup::intersecting_pairs(&self.posed, progress)?;
        let new_pairs = pairs.iter().filter(|pair| self.rest_pairs.binary_search(pair).is_err()).count();
        let [stretch_p1, stretch_p99] = self.stretch();
        Ok(Score { volume_change, intersecting_pairs: pairs.len(), new_pairs, stretch_p1, stretch_p99 })
    }

    fn stretch(&mut self) -> [f64; 2] {
        self.ratios.clear();
        let positions = &self.posed.positions;
        self.ratios.extend(self.edges.iter().zip(&self.rest_lengths).map(|(&edge, rest)| length(positions, edge) / rest));
        [percentile(&mut self.ratios, 0.01), percentile(&mut self.ratios, 0.99)]
    }
}

fn length(positions: &[Point], [a, b]: [u32; 2]) -> f64 {
    (positions[a as usize].cast::<f64>() - positions[b as usize].cast::<f64>()).norm()
}

/// The value that the part `p` of all lies below; 1 of none.
fn percentile(values: &mut [f64], p: f64) -> f64 {
    if values.is_empty() {
        return 1.0;
    }
    let index = ((values.len() - 1) as f64 * p).round() as usize;
    *values.select_nth_unstable_by(index, f64::total_cmp).1
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
        joined(&[ball(Point::origin(), 1.0, 10, 14), ball(Point::new(1.01, 0.013, 0.007), 1.0, 10, 14)])
    }

    #[test]
    fn a_rigid_motion_costs_nothing() {
        let motion = Isometry3::new(Vector3::new(0.4, -1.0, 0.3), Vector3::new(0.2, 1.9, -0.4));
        for mesh in [ball(Point::new(0.3, 0.1, 0.0), 1.0, 8, 12), tube(0.1, 1.0, 4, 9, false), crossed()] {
            let posed: Vec<Point> = mesh.positions.iter().map(|p| motion * p).collect();
            let score = score(&mesh, &posed);
            assert!(score.volume_change.is_some_and(|change| change.abs() < TOL), "{score:?}");
            assert!((score.stretch_p1 - 1.0).abs() < TOL && (score.stretch_p99 - 1.0).abs() < TOL, "{score:?}");
            // A rotation may tip a pair that only just touches.
            assert!(score.new_pairs <= score.intersecting_pairs / 20, "{score:?}");
        }
    }

    #[test]
    fn growing_by_a_tenth_is_measured_as_that() {
        let mesh = ball(Point::new(5.0, 0.0, 0.0), 1.0, 8, 12);
        let posed: Vec<Point> = mesh.positions.iter().map(|p| p * 1.1).collect();
        let score = score(&mesh, &posed);
        assert!((score.volume_change.unwrap() - 0.331).abs() < TOL * 10.0, "{score:?}");
        assert!((score.stretch_p1 - 1.1).abs() < TOL * 10.0 && (score.stretch_p99 - 1.1).abs() < TOL * 10.0, "{score:?}");
        assert_eq!((score.intersecting_pairs, score.new_pairs), (0, 0));
    }

    #[test]
    fn what_is_pushed_into_itself_is_counted_once_and_the_bind_poses_faults_are_not_new() {
        let apart = joined(&[ball(Point::origin(), 1.0, 10, 14), ball(Point::new(3.0, 0.0, 0.0), 1.0, 10, 14)]);
        let together = crossed();
        let pushed = score(&apart, &together.positions);
        let there = score(&together, &together.positions);
        assert!(pushed.new_pairs > 0 && pushed.new_pairs == pushed.intersecting_pairs);
        assert_eq!((there.intersecting_pairs, there.new_pairs), (pushed.intersecting_pairs, 0));
        let mut scorer = scorer(&apart);
        let progress = Progress::new();
        assert_eq!(scorer.score(&together.positions, &progress), Ok(pushed));
        assert_eq!(scorer.score(&apart.positions, &progress).unwrap().intersecting_pairs, 0, "it keeps nothing of the last one");
    }

    #[test]
    fn nothing_and_nonsense_are_survived() {
        let empty = score(&TriMesh::default(), &[]);
        assert_eq!(empty, Score { volume_change: None, intersecting_pairs: 0, new_pairs: 0, stretch_p1: 1.0, stretch_p99: 1.0 });
        let mesh = ball(Point::origin(), 1.0, 6, 8);
        let wild = vec![Point::from(Vec3::repeat(f32::NAN)); 3];
        assert_eq!(score(&mesh, &wild), score(&mesh, &mesh.positions));
        let progress = Progress::new();
        progress.cancel();
        assert!(scorer(&mesh).score(&mesh.positions, &progress).is_err());
    }
}
