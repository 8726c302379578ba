//! Contact depth: how deep the skin is inside itself, of methods that detect contacts.

use super::{Better, Measure, MeasuredFrame, Metric, Place, Quantity, Spot, Unit};
use crate::math::Point;
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
    reads_flesh: true,
    bind: |_, _| Ok(Box::new(ContactDepth::default())),
};

#[derive(Default)]
struct ContactDepth {
    /// The skin's vertex nearest to the deepest simulated one in the last frame.
    deepest: Option<Place>,
}

impl Measure for ContactDepth {
    fn measure(
        &mut self,
        frame: &MeasuredFrame<'_>,
        _: &Progress,
    ) -> Result<Vec<Option<f64>>, Cancelled> {
        let mm = frame.rest.metres_per_unit * 1e3;
        let found = frame.penetration;
        self.deepest = found.and_then(|found| {
            let at = found.deepest_at?;
            let far = |p: &Point| (p - at).norm_squared();
            let vertices = frame.skin.positions.iter().enumerate();
            let (nearest, _) = vertices.min_by(|a, b| far(a.1).total_cmp(&far(b.1)))?;
            Some(Place {
                spot: Spot::Vertex(nearest as u32),
                value: f64::from(found.deepest) * mm,
                unit: Unit::Millimetres,
            })
        });
        Ok(vec![
            found.map(|found| f64::from(found.deepest) * mm),
            found.map(|found| found.vertices as f64),
        ])
    }

    fn places(&self) -> Vec<Option<Place>> {
        vec![self.deepest; 2]
    }
}
