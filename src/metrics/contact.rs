//! Contact depth: how deep the skin is inside itself, of methods that detect contacts.

use super::{Better, Measure, MeasuredFrame, Metric, Quantity, Unit};
use crate::progress::{Cancelled, Progress};

/// The metric.
pub static METRIC: Metric = Metric {
    quantities: &[
        Quantity {
            id: "contact_depth_mm",
            label: "Contact depth",
            unit: Unit::Millimetres,
            doc: "Depth of the vertex that is deepest inside another part of the skin.",
            better: Better::Lower,
        },
        Quantity {
            id: "contact_vertices",
            label: "Vertices inside",
            unit: Unit::Count,
            doc: "Simulated vertices inside another part of the skin.",
            better: Better::Lower,
        },
    ],
    needs_reference: false,
    bind: |_, _| Ok(Box::new(ContactDepth)),
};

struct ContactDepth;

impl Measure for ContactDepth {
    fn measure(
        &mut self,
        frame: &MeasuredFrame<'_>,
        _: &Progress,
    ) -> Result<Vec<Option<f64>>, Cancelled> {
        let mm = frame.rest.metres_per_unit * 1e3;
        let found = frame.penetration;
        Ok(vec![
            found.map(|found| f64::from(found.deepest) * mm),
            found.map(|found| found.vertices as f64),
        ])
    }
}
