//! Distance between the skins that two methods make of one pose.

use super::{Better, Measure, MeasuredFrame, Metric, Place, Quantity, Spot, Unit, percentile};
use crate::progress::{Cancelled, Progress};

/// The metric.
pub static METRIC: Metric = Metric {
    quantities: &[
        quantity(
            "distance_rms_mm",
            "Distance, root mean square",
            "Root mean square distance of the vertices from the other method's.",
        ),
        quantity(
            "distance_p99_mm",
            "Distance, 99th percentile",
            "1 % of the vertices are further than this from the other method's.",
        ),
        quantity(
            "distance_max_mm",
            "Distance, maximum",
            "Largest distance of a vertex from the other method's.",
        ),
    ],
    needs_reference: true,
    reads_flesh: false,
    bind: |_, _| Ok(Box::new(Distance::default())),
};

const fn quantity(id: &'static str, label: &'static str, doc: &'static str) -> Quantity {
    Quantity {
        id,
        label,
        unit: Unit::Millimetres,
        doc,
        better: Better::Lower,
    }
}

#[derive(Default)]
struct Distance {
    distances: Vec<f64>,
    /// The vertex that is furthest away in the last frame.
    furthest: Option<Place>,
}

impl Measure for Distance {
    fn measure(
        &mut self,
        frame: &MeasuredFrame<'_>,
        _: &Progress,
    ) -> Result<Vec<Option<f64>>, Cancelled> {
        self.furthest = None;
        let Some(reference) = frame.reference else {
            return Ok(vec![None; 3]);
        };
        let mm = frame.rest.metres_per_unit * 1e3;
        self.distances.clear();
        let vertices = frame.skin.positions.iter();
        let vertices = vertices.zip(&frame.rest.source_from_skin).enumerate();
        let mut furthest: Option<(f64, usize)> = None;
        for (vertex, (position, &source)) in vertices {
            let Some(other) = reference.get(source as usize) else {
                continue;
            };
            let distance = (position.cast::<f64>() - other.cast::<f64>()).norm() * mm;
            if distance.is_finite() {
                self.distances.push(distance);
                if furthest.is_none_or(|(known, _)| distance > known) {
                    furthest = Some((distance, vertex));
                }
            }
        }
        self.furthest = furthest.map(|(value, vertex)| Place {
            spot: Spot::Vertex(vertex as u32),
            value,
            unit: Unit::Millimetres,
        });
        let count = self.distances.len() as f64;
        let squares: f64 = self.distances.iter().map(|d| d * d).sum();
        Ok(vec![
            (count > 0.0).then(|| (squares / count).sqrt()),
            percentile(&mut self.distances, 0.99),
            percentile(&mut self.distances, 1.0),
        ])
    }

    fn places(&self) -> Vec<Option<Place>> {
        vec![self.furthest; 3]
    }
}
