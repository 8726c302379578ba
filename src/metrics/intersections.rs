//! Pairs of triangles that intersect, by the one count of the crate ([`checkup::intersecting_pairs`]).

use super::{Better, Measure, MeasuredFrame, Metric, Quantity, RestSkin, Unit};
use crate::mesh::checkup;
use crate::progress::{Cancelled, Progress};

/// The metric.
pub static METRIC: Metric = Metric {
    quantities: &[
        Quantity {
            id: "intersecting_pairs",
            label: "Intersecting pairs",
            unit: Unit::Count,
            doc: "Pairs of triangles whose interiors intersect.",
            better: Better::Lower,
        },
        Quantity {
            id: "new_pairs",
            label: "New intersecting pairs",
            unit: Unit::Count,
            doc: "Intersecting pairs that do not intersect in the bind pose.",
            better: Better::Lower,
        },
    ],
    needs_reference: false,
    reads_flesh: false,
    bind: |rest, progress| Ok(Box::new(Intersections::new(rest, progress)?)),
};

struct Intersections {
    /// Ascending.
    rest_pairs: Vec<[u32; 2]>,
}

impl Intersections {
    fn new(rest: &RestSkin, progress: &Progress) -> Result<Self, Cancelled> {
        Ok(Self {
            rest_pairs: checkup::intersecting_pairs(&rest.mesh, progress)?,
        })
    }
}

impl Measure for Intersections {
    fn measure(
        &mut self,
        frame: &MeasuredFrame<'_>,
        progress: &Progress,
    ) -> Result<Vec<Option<f64>>, Cancelled> {
        let pairs = checkup::intersecting_pairs(frame.skin, progress)?;
        let is_new = |pair: &&[u32; 2]| self.rest_pairs.binary_search(pair).is_err();
        let new = pairs.iter().filter(is_new).count();
        Ok(vec![Some(pairs.len() as f64), Some(new as f64)])
    }
}
