//! Measures frames of one character by several metrics.

use serde::ser::SerializeMap;
use serde::{Serialize, Serializer};

use super::{Measure, MeasuredFrame, Metric, Place, Quantity, RestSkin, Unit};
use crate::collision::Penetration;
use crate::math::{Affine, Point};
use crate::mesh::TriMesh;
use crate::progress::{Cancelled, Progress};

/// A frame as a method gives it. Only the positions are required.
#[derive(Debug, Clone, Copy, Default)]
pub struct MeterFrame<'a> {
    /// World positions of all source vertices.
    pub positions: &'a [Point],
    /// Global transforms of the joints.
    pub world_from_joint: &'a [Affine],
    /// Penetration of the skin by itself, if the method detects contacts.
    pub penetration: Option<Penetration>,
    /// Elastic energy of the tissue ([`super::energy::tissue_energy`]), if the method simulates one.
    pub tissue_energy: Option<f64>,
    /// World positions of all source vertices by the method that the frame is compared with.
    pub reference: Option<&'a [Point]>,
}

/// Metrics bound to one character.
pub struct Meter {
    rest: RestSkin,
    /// The deformed skin; non-finite vertices keep their last position.
    skin: TriMesh,
    metrics: Vec<(&'static Metric, Box<dyn Measure>)>,
}

/// What was measured of one frame, in the order of the metrics. Serialised as a map from ids to values,
/// null where a quantity is not defined, without places.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Measurements {
    values: Vec<(&'static Quantity, Option<f64>)>,
    /// Places of the quantities that have one.
    places: Vec<(&'static Quantity, Place)>,
}

impl Meter {
    /// Measures the bind pose by these metrics.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn new(
        rest: RestSkin,
        metrics: impl IntoIterator<Item = &'static Metric>,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        let bound: Result<Vec<_>, _> = metrics
            .into_iter()
            .map(|metric| Ok((metric, (metric.bind)(&rest, progress)?)))
            .collect();
        Ok(Self {
            skin: rest.mesh.clone(),
            metrics: bound?,
            rest,
        })
    }

    /// Measures a frame. Vertices that are missing or not finite keep their last position.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn measure(
        &mut self,
        frame: &MeterFrame<'_>,
        progress: &Progress,
    ) -> Result<Measurements, Cancelled> {
        let vertices = self.skin.positions.iter_mut();
        for (kept, &source) in vertices.zip(&self.rest.source_from_skin) {
            let new = frame.positions.get(source as usize);
            if let Some(new) = new.filter(|p| p.iter().all(|c| c.is_finite())) {
                *kept = *new;
            }
        }
        let measured = MeasuredFrame {
            rest: &self.rest,
            skin: &self.skin,
            world_from_joint: frame.world_from_joint,
            penetration: frame.penetration,
            tissue_energy: frame.tissue_energy,
            reference: frame.reference,
        };
        let (mut values, mut places) = (Vec::new(), Vec::new());
        for (metric, measure) in &mut self.metrics {
            let found = measure.measure(&measured, progress)?;
            values.extend(metric.quantities.iter().zip(found));
            let worst = metric.quantities.iter().zip(measure.places());
            places
                .extend(worst.filter_map(|(quantity, place)| {
                    Some((quantity, place?.on_source(&self.rest)))
                }));
        }
        Ok(Measurements { values, places })
    }

    /// Whether some metric reads what takes time to compute of simulated flesh ([`Metric::reads_flesh`]).
    #[must_use]
    pub fn reads_flesh(&self) -> bool {
        self.metrics.iter().any(|(metric, _)| metric.reads_flesh)
    }
}

impl Measurements {
    /// The value of a quantity, if it was measured and is defined.
    #[must_use]
    pub fn get(&self, id: &str) -> Option<f64> {
        let (_, value) = self.values.iter().find(|(quantity, _)| quantity.id == id)?;
        *value
    }

    /// Where the frame is worst by a quantity, by vertices of the source meshes; `None` if it has no place.
    #[must_use]
    pub fn place(&self, id: &str) -> Option<Place> {
        let (_, place) = self.places.iter().find(|(quantity, _)| quantity.id == id)?;
        Some(*place)
    }

    /// The value of a quantity that counts things; 0 if it was not measured.
    #[must_use]
    pub fn count(&self, id: &str) -> usize {
        self.get(id).map_or(0, |count| count as usize)
    }
}

impl Serialize for Measurements {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        for (quantity, value) in &self.values {
            match (quantity.unit, value) {
                (Unit::Count, Some(count)) => map.serialize_entry(quantity.id, &(*count as u64))?,
                (_, value) => map.serialize_entry(quantity.id, value)?,
            }
        }
        map.end()
    }
}
