//! Edge stretch: the length of an edge over its length in the bind pose.

use super::{
    Better, Measure, MeasuredFrame, Metric, Place, Quantity, RestSkin, Spot, Unit, percentile,
};
use crate::math::Point;
use crate::progress::{Cancelled, Progress};

/// The metric.
pub static METRIC: Metric = Metric {
    quantities: &[
        quantity(
            "stretch_p1",
            "Edge stretch, 1st percentile",
            "1 % of the edges have less than this times their length in the bind pose.",
        ),
        quantity(
            "stretch_p50",
            "Edge stretch, median",
            "Half of the edges have less than this times their length in the bind pose.",
        ),
        quantity(
            "stretch_p99",
            "Edge stretch, 99th percentile",
            "1 % of the edges have more than this times their length in the bind pose.",
        ),
        quantity(
            "stretch_max",
            "Edge stretch, maximum",
            "Largest length of an edge over its length in the bind pose.",
        ),
    ],
    needs_reference: false,
    reads_flesh: false,
    bind: |rest, _| Ok(Box::new(Stretch::new(rest))),
};

const fn quantity(id: &'static str, label: &'static str, doc: &'static str) -> Quantity {
    Quantity {
        id,
        label,
        unit: Unit::Ratio,
        doc,
        better: Better::NearOne,
    }
}

/// Edges that have a length in the bind pose.
struct Stretch {
    edges: Vec<[u32; 2]>,
    rest_lengths: Vec<f64>,
    ratios: Vec<f64>,
    /// The shortest and the longest edge of the last frame, relative to the bind pose.
    extremes: [Option<Place>; 2],
}

impl Stretch {
    fn new(rest: &RestSkin) -> Self {
        let with_length = |&edge: &[u32; 2]| {
            let length = length(&rest.mesh.positions, edge);
            (length.is_finite() && length > 0.0).then_some((edge, length))
        };
        let (edges, rest_lengths): (Vec<_>, Vec<_>) =
            rest.topology.edges.iter().filter_map(with_length).unzip();
        Self {
            ratios: Vec::with_capacity(edges.len()),
            edges,
            rest_lengths,
            extremes: [None; 2],
        }
    }
}

impl Measure for Stretch {
    fn measure(
        &mut self,
        frame: &MeasuredFrame<'_>,
        _: &Progress,
    ) -> Result<Vec<Option<f64>>, Cancelled> {
        self.ratios.clear();
        let positions = &frame.skin.positions;
        let edges = self.edges.iter().zip(&self.rest_lengths);
        self.ratios
            .extend(edges.map(|(&edge, rest)| length(positions, edge) / rest));
        let by_ratio = |a: &(f64, [u32; 2]), b: &(f64, [u32; 2])| a.0.total_cmp(&b.0);
        let ratios = || {
            let edges = self.edges.iter().copied();
            self.ratios.iter().copied().zip(edges)
        };
        self.extremes = [ratios().min_by(by_ratio), ratios().max_by(by_ratio)].map(|extreme| {
            let (value, edge) = extreme?;
            Some(Place {
                spot: Spot::Edge(edge),
                value,
                unit: Unit::Ratio,
            })
        });
        // A skin without edges is not stretched.
        let mut at = |p: f64| percentile(&mut self.ratios, p).or(Some(1.0));
        Ok([0.01, 0.5, 0.99, 1.0].map(&mut at).into())
    }

    fn places(&self) -> Vec<Option<Place>> {
        let [shortest, longest] = self.extremes;
        vec![shortest, None, longest, longest]
    }
}

fn length(positions: &[Point], [a, b]: [u32; 2]) -> f64 {
    (positions[a as usize].cast::<f64>() - positions[b as usize].cast::<f64>()).norm()
}
