//! Metrics of a frame: numbers that say how good a skinned frame is, against the bind pose or another method.
//!
//! One file holds one [`Metric`] and one line of [`METRICS`] registers it. A metric measures one or more quantities, each with an id
//! (the key in machine output), a label, a unit, a sentence, and which values are better. All are measured on the welded skin, so
//! that seams of the texture neither leak nor count twice.
//!
//! | metric                     | quantities                                                                    | of a rigid motion |
//! |----------------------------|-------------------------------------------------------------------------------|-------------------|
//! | [`volume::METRIC`]         | `volume_change`                                                                | 0                 |
//! | [`intersections::METRIC`]  | `intersecting_pairs`, `new_pairs`                                              | those at rest, 0  |
//! | [`stretch::METRIC`]        | `stretch_p1`, `stretch_p50`, `stretch_p99`, `stretch_max`                      | 1                 |
//! | [`girth::METRIC`]          | `girth_change_min`, `girth_change_max`                                         | 0                 |
//! | [`energy::TISSUE`]         | `tissue_energy`                                                                | 0                 |
//! | [`energy::SKIN`]           | `skin_energy`                                                                  | 0                 |
//! | [`roughness::METRIC`]      | `roughness_deg`, `new_creases`                                                 | 0                 |
//! | [`contact::METRIC`]        | `contact_depth_mm`, `contact_vertices`                                         | 0                 |
//! | [`distance::METRIC`]       | `distance_rms_mm`, `distance_p99_mm`, `distance_max_mm`                        | –                 |
//!
//! Where a frame is worst by a quantity, on an edge, a triangle, a vertex or a joint, is its [`Place`]; volumes and counts of pairs have none.
//!
//! | lifetime      | type                                                    |
//! |---------------|---------------------------------------------------------|
//! | per character | [`RestSkin`]; [`Measure`], what a metric keeps of it     |
//! | per frame     | [`MeasuredFrame`] in, [`Measurements`] out               |

pub mod contact;
pub mod distance;
pub mod energy;
pub mod girth;
pub mod intersections;
mod meter;
mod place;
pub mod roughness;
mod score;
pub mod stretch;
pub mod volume;

#[cfg(test)]
mod tests;

pub use meter::{Measurements, Meter, MeterFrame};
pub use place::{Place, Spot};
pub use score::{Score, Scorer};

use crate::collision::Penetration;
use crate::math::{Affine, Point, Point64};
use crate::mesh::{Topology, TriMesh};
use crate::progress::{Cancelled, Progress};
use crate::stages::Subject;

/// All metrics, in the order of reports.
pub static METRICS: [&Metric; 9] = [
    &volume::METRIC,
    &intersections::METRIC,
    &stretch::METRIC,
    &girth::METRIC,
    &energy::TISSUE,
    &energy::SKIN,
    &roughness::METRIC,
    &contact::METRIC,
    &distance::METRIC,
];

/// Measures the bind pose; the result measures frames against it.
pub type BindMeasure = fn(&RestSkin, &Progress) -> Result<Box<dyn Measure>, Cancelled>;

/// A way of measuring frames.
#[derive(Debug)]
pub struct Metric {
    /// What it measures, in the order of [`Measure::measure`].
    pub quantities: &'static [Quantity],
    /// It compares with another method's frame, which must be given.
    pub needs_reference: bool,
    /// It looks at [`MeasuredFrame::penetration`] or [`MeasuredFrame::tissue_energy`], which take time to compute.
    pub reads_flesh: bool,
    /// Measures the bind pose, which frames are compared with.
    pub bind: BindMeasure,
}

/// A number that a metric yields, described.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quantity {
    /// Key in files and machine output.
    pub id: &'static str,
    /// Name on screen and in tables.
    pub label: &'static str,
    /// Its unit.
    pub unit: Unit,
    /// One sentence.
    pub doc: &'static str,
    /// Which of two values is better.
    pub better: Better,
}

/// The unit of a quantity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A ratio: 1 is the whole.
    Ratio,
    /// A count.
    Count,
    /// Millimetres.
    Millimetres,
    /// Degrees.
    Degrees,
    /// Milliseconds.
    Milliseconds,
}

/// Which of two values is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    /// The lower one.
    Lower,
    /// The one nearer to 0.
    NearZero,
    /// The one nearer to 1.
    NearOne,
}

/// A metric bound to one character.
pub trait Measure: Send {
    /// Measures a frame: one value for each of the metric's quantities, `None` where it is not defined.
    ///
    /// # Errors
    /// [`Cancelled`].
    fn measure(
        &mut self,
        frame: &MeasuredFrame<'_>,
        progress: &Progress,
    ) -> Result<Vec<Option<f64>>, Cancelled>;

    /// Where the frame that was measured last is worst, by vertices of the welded skin: as many as there are quantities, `None` for those
    /// without a place. Empty if no quantity has one.
    fn places(&self) -> Vec<Option<Place>> {
        Vec::new()
    }
}

/// The skin in the bind pose.
#[derive(Debug, Clone)]
pub struct RestSkin {
    /// The welded skin, world units.
    pub mesh: TriMesh,
    /// Its connectivity.
    pub topology: Topology,
    /// For every vertex of the skin a source vertex.
    pub source_from_skin: Vec<u32>,
    /// Parent and bind position of every joint; may be empty.
    pub joints: Vec<(Option<usize>, Point64)>,
    /// Length of one world unit in metres.
    pub metres_per_unit: f64,
}

/// A deformed skin with all that a metric may look at.
pub struct MeasuredFrame<'a> {
    /// The same character in the bind pose.
    pub rest: &'a RestSkin,
    /// The deformed skin: positions of the welded vertices, all finite.
    pub skin: &'a TriMesh,
    /// Global transforms of the joints; empty if not known.
    pub world_from_joint: &'a [Affine],
    /// Penetration of the skin by itself, if the method detects contacts.
    pub penetration: Option<Penetration>,
    /// Elastic energy of the tissue ([`energy::tissue_energy`]), if the method simulates one.
    pub tissue_energy: Option<f64>,
    /// World positions of all source vertices by the method that the frame is compared with.
    pub reference: Option<&'a [Point]>,
}

impl RestSkin {
    /// The skin of a subject.
    #[must_use]
    pub fn of(subject: &Subject) -> Self {
        let skeleton = &subject.character.skeleton;
        let joints = skeleton.joints().iter().enumerate();
        Self {
            joints: joints
                .map(|(index, joint)| (joint.parent, skeleton.bind_position(index)))
                .collect(),
            metres_per_unit: subject.metres_per_unit(),
            ..Self::of_mesh(subject.skin.mesh.clone(), subject.skin.source_from_skin())
        }
    }

    /// A welded mesh without joints, in metres; `source_from_skin` names the source vertex of each of its vertices.
    ///
    /// # Panics
    /// If a triangle index is out of range.
    #[must_use]
    pub fn of_mesh(mesh: TriMesh, source_from_skin: Vec<u32>) -> Self {
        Self {
            topology: Topology::of(&mesh),
            mesh,
            source_from_skin,
            joints: Vec::new(),
            metres_per_unit: 1.0,
        }
    }
}

/// The metrics that need only a frame and the bind pose.
pub fn without_reference() -> impl Iterator<Item = &'static Metric> {
    METRICS.into_iter().filter(|metric| !metric.needs_reference)
}

/// The metric that yields a quantity, and the quantity, by its id.
#[must_use]
pub fn quantity(id: &str) -> Option<(&'static Metric, &'static Quantity)> {
    let of = |metric: &'static Metric| metric.quantities.iter().map(move |q| (metric, q));
    METRICS.into_iter().flat_map(of).find(|(_, q)| q.id == id)
}

/// The `p` quantile: the value whose rank, from 0, is nearest to `p` times the last one; `None` for an empty list.
fn percentile(values: &mut [f64], p: f64) -> Option<f64> {
    let last = values.len().checked_sub(1)?;
    let index = (last as f64 * p).round() as usize;
    Some(*values.select_nth_unstable_by(index, f64::total_cmp).1)
}
