//! Points of the body or near it as weighted means of nodes.

use rayon::prelude::*;

use super::inside::Inside;
use super::lattice::{Element, Lattice};
use super::pieces::{self, OUTSIDE};
use crate::math::Point64;

/// Number of samples around a point for which a connection inside the body is tested.
const MAX_TESTED_SAMPLES: usize = 40;
/// Fraction of the segment from a sample to a point on the skin that is not tested, because it crosses the skin itself.
const UNTESTED_FRACTION: f64 = 1e-3;
/// Number of times that the search distance for samples is doubled.
const DOUBLINGS: usize = 10;

/// Points as weighted means of nodes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Embedding {
    starts: Vec<u32>,
    nodes: Vec<u32>,
    weights: Vec<f64>,
    /// The element of each point.
    pub elements: Vec<u32>,
}

impl Embedding {
    pub(super) fn of<'a>(points: impl IntoIterator<Item = (u32, &'a Element, Point64)>) -> Self {
        let mut embedding = Self {
            starts: vec![0],
            ..Self::default()
        };
        for (index, element, point) in points {
            for (node, weight) in element.weights(&element.local(&point)) {
                embedding.nodes.push(node);
                embedding.weights.push(weight);
            }
            embedding.starts.push(embedding.nodes.len() as u32);
            embedding.elements.push(index);
        }
        embedding
    }

    /// The nodes of a point with their weights.
    pub fn on(&self, point: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.starts[point] as usize..self.starts[point + 1] as usize;
        (self.nodes[range.clone()].iter().zip(&self.weights[range]))
            .map(|(&node, &weight)| (node as usize, weight))
    }

    /// Position of a point for positions of the nodes.
    #[must_use]
    pub fn place(&self, point: usize, nodes: &[Point64]) -> Point64 {
        self.on(point)
            .map(|(node, weight)| nodes[node].coords * weight)
            .sum::<crate::math::Vec64>()
            .into()
    }

    /// Number of points.
    #[must_use]
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }
}

impl Lattice {
    /// The element that each point belongs to: that of its own cell, or the nearest one that is connected with it
    /// inside the body. `None` if no element is allowed.
    pub(super) fn elements_of(
        &self,
        inside: &Inside<'_>,
        points: &[Point64],
        allowed: impl Fn(&Element) -> bool + Sync,
    ) -> Vec<Option<u32>> {
        (points.par_iter())
            .map(|point| self.element_near(inside, point, &allowed))
            .collect()
    }

    pub(super) fn element_near(
        &self,
        inside: &Inside<'_>,
        point: &Point64,
        allowed: impl Fn(&Element) -> bool,
    ) -> Option<u32> {
        let place = self.octree.place_of(point);
        let own = self.octree.leaf_at(place);
        let mut reach = own.map_or(1, |cell| self.octree.cells[cell as usize].side());
        let mut nearest = None;
        if let Some(cell) = own {
            let candidates = self.samples(&[cell], point, &allowed);
            match Self::joined(inside, point, &candidates) {
                Some(element) => return Some(element),
                None => nearest = candidates.first().map(|candidate| candidate.element),
            }
        }
        for _ in 0..DOUBLINGS {
            let mut around: Vec<u32> = (0..27)
                .filter_map(|k| {
                    let offset = [k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1];
                    let beside = std::array::from_fn(|axis| place[axis] + offset[axis] * reach);
                    self.octree.leaf_at(beside)
                })
                .collect();
            around.sort_unstable();
            around.dedup();
            let candidates = self.samples(&around, point, &allowed);
            if let Some(element) = Self::joined(inside, point, &candidates) {
                return Some(element);
            }
            nearest = nearest.or(candidates.first().map(|candidate| candidate.element));
            reach *= 2;
        }
        nearest.or_else(|| self.nearest(point, &allowed))
    }

    /// Samples inside the body in some cells, the nearest first.
    fn samples(
        &self,
        cells: &[u32],
        point: &Point64,
        allowed: impl Fn(&Element) -> bool,
    ) -> Vec<ElementCandidate> {
        let mut found = Vec::new();
        for &cell in cells {
            let (own, place) = (
                &self.pieces[cell as usize],
                self.octree.cells[cell as usize],
            );
            for sample in 0..pieces::SAMPLES {
                if own.piece[sample] == OUTSIDE {
                    continue;
                }
                let element = self.first[cell as usize] + u32::from(own.piece[sample]);
                if !allowed(&self.elements[element as usize]) {
                    continue;
                }
                let position = pieces::position(&self.octree, place, sample);
                found.push(ElementCandidate {
                    distance: (position - point).norm_squared(),
                    element,
                    winding: own.winding[sample],
                    position,
                });
            }
        }
        found.sort_by(|a, b| (a.distance.total_cmp(&b.distance)).then(a.element.cmp(&b.element)));
        found
    }

    fn joined(
        inside: &Inside<'_>,
        point: &Point64,
        candidates: &[ElementCandidate],
    ) -> Option<u32> {
        let is_joined = |candidate: &&ElementCandidate| {
            let end = point + (candidate.position - point) * UNTESTED_FRACTION;
            inside.joined(&candidate.position, candidate.winding, &end)
        };
        let found = candidates.iter().take(MAX_TESTED_SAMPLES).find(is_joined);
        found.map(|candidate| candidate.element)
    }

    fn nearest(&self, point: &Point64, allowed: impl Fn(&Element) -> bool) -> Option<u32> {
        let distance = |element: &Element| {
            let centre = element.origin + crate::math::Vec64::repeat(0.5 * element.side);
            (centre - point).norm_squared()
        };
        (self.elements.iter().enumerate())
            .filter(|(_, element)| allowed(element))
            .min_by(|(_, a), (_, b)| distance(a).total_cmp(&distance(b)))
            .map(|(index, _)| index as u32)
    }
}

/// A sample whose element a point may belong to.
struct ElementCandidate {
    distance: f64,
    element: u32,
    winding: i8,
    position: Point64,
}
