//! Layers of tets over points that are each unknown or prescribed; the flesh between skin and base as one layer.
//!
//! The space under a skin triangle is a *cell* of three tets. With corners sorted by vertex index, i < j < k, and skin t, base b, the
//! chain (tᵢ, tⱼ, tₖ, bᵢ, bⱼ, bₖ) gives the tets of four consecutive entries. The diagonal of the quad over an edge always joins the
//! skin vertex of the larger index with the base vertex of the smaller: a valid arrow configuration of FPS figure 3.4 without any
//! search, so that neighbours agree on every diagonal.

use nalgebra::Matrix3;

use crate::math::{Point64, Vec64};
use crate::mesh::TriMesh;

/// A tet is left out if the smallest singular value of its edge matrix is below this part of the largest.
const FLATTEST: f64 = 1e-3;

/// A point of a tet, in four bytes: the top bit tells prescribed points from unknown ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Corner(u32);

/// What a [`Corner`] names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CornerKind {
    /// An unknown of the simulation: a skin vertex, or behind those a point of [`super::Tissue::interior`].
    Unknown(u32),
    /// A point that the bones place: an index into what [`super::Anchors::place`] gives.
    Prescribed(u32),
}

impl Corner {
    const PRESCRIBED: u32 = 1 << 31;

    /// Unknown `index`.
    ///
    /// # Panics
    /// If the index is not below 2³¹.
    #[must_use]
    pub fn unknown(index: u32) -> Self {
        assert!(index < Self::PRESCRIBED, "{index} points are too many");
        Self(index)
    }

    /// Prescribed point `index`.
    ///
    /// # Panics
    /// If the index is not below 2³¹.
    #[must_use]
    pub fn prescribed(index: u32) -> Self {
        assert!(index < Self::PRESCRIBED, "{index} points are too many");
        Self(index | Self::PRESCRIBED)
    }

    /// Which point it is.
    #[must_use]
    pub fn kind(self) -> CornerKind {
        if self.0 & Self::PRESCRIBED == 0 {
            CornerKind::Unknown(self.0)
        } else {
            CornerKind::Prescribed(self.0 & !Self::PRESCRIBED)
        }
    }

    /// The index of an unknown.
    #[must_use]
    pub fn as_unknown(self) -> Option<u32> {
        match self.kind() {
            CornerKind::Unknown(index) => Some(index),
            CornerKind::Prescribed(_) => None,
        }
    }

    /// The index of a prescribed point.
    #[must_use]
    pub fn as_prescribed(self) -> Option<u32> {
        match self.kind() {
            CornerKind::Unknown(_) => None,
            CornerKind::Prescribed(index) => Some(index),
        }
    }

    /// The point, of all unknowns and all prescribed points; `None` if it is in neither.
    #[must_use]
    pub fn of<P: Copy>(self, unknowns: &[P], prescribed: &[P]) -> Option<P> {
        match self.kind() {
            CornerKind::Unknown(index) => unknowns.get(index as usize),
            CornerKind::Prescribed(index) => prescribed.get(index as usize),
        }
        .copied()
    }

    /// As shaders read it: the index, with the top bit set where it is prescribed.
    #[must_use]
    pub fn bits(self) -> u32 {
        self.0
    }
}

/// One linear tet.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Tet {
    /// Its points.
    pub corners: [Corner; 4],
    /// Which cell of the layer it is a piece of. The tets of a cell follow each other and are of one material: the mean over the cell's
    /// unknowns.
    pub cell: u32,
    /// Inverse of the rest edge matrix (columns = edges from the first corner), 1/world unit; `None` where the tet is too flat.
    pub rest_inverse: Option<Matrix3<f64>>,
    /// Volume, world units³.
    pub volume: f64,
    /// Whether its edge matrix has a positive determinant while it is not inverted.
    pub positive: bool,
}

impl Tet {
    /// A tet with these corners, which lie at `points` at rest.
    #[must_use]
    pub fn at_rest(corners: [Corner; 4], cell: u32, points: &[Point64; 4], positive: bool) -> Self {
        let edges = edge_matrix(points);
        Self {
            corners,
            cell,
            rest_inverse: usable_inverse(&edges),
            volume: edges.determinant().abs() / 6.0,
            positive,
        }
    }

    /// Whether it is not too flat to be simulated.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        self.rest_inverse.is_some()
    }

    /// Whether it is usable, but inside out at rest (harmless: strain is measured against the rest shape).
    #[must_use]
    pub fn is_inverted(&self) -> bool {
        self.rest_inverse
            .is_some_and(|inverse| (inverse.determinant() > 0.0) != self.positive)
    }

    /// Its points, of all unknowns and all prescribed points; `None` if one is in neither.
    #[must_use]
    pub fn points<P: Copy>(&self, unknowns: &[P], prescribed: &[P]) -> Option<[P; 4]> {
        let [a, b, c, d] = self.corners.map(|corner| corner.of(unknowns, prescribed));
        Some([a?, b?, c?, d?])
    }
}

/// Tets that fill a part of the body.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Layer {
    /// The tets, cell by cell; neighbours in the list that share three corners are simulated together.
    pub tets: Vec<Tet>,
    /// How many cells they are in.
    pub cells: usize,
}

impl Layer {
    /// The tets that are not too flat.
    pub fn usable(&self) -> impl Iterator<Item = &Tet> {
        self.tets.iter().filter(|tet| tet.is_usable())
    }
}

/// Fills the space between skin and base.
pub(super) fn between(mesh: &TriMesh, base: &[Point64]) -> Layer {
    let skin: Vec<Point64> = mesh.positions.iter().map(|p| p.cast::<f64>()).collect();
    let mut layer = Layer {
        tets: Vec::with_capacity(3 * mesh.triangles.len()),
        cells: mesh.triangles.len(),
    };
    for (cell, triangle) in (0..).zip(&mesh.triangles) {
        let mut sorted = *triangle;
        sorted.sort_unstable();
        let [a, b, c] = *triangle;
        // Outward triangles have the base below them.
        let odd = ![[a, b, c], [b, c, a], [c, a, b]].contains(&sorted);
        let [i, j, k] = sorted;
        let chain = [i, j, k, i, j, k];
        let corner = |entry: usize| match entry {
            0..3 => Corner::unknown(chain[entry]),
            _ => Corner::prescribed(chain[entry]),
        };
        let point = |entry: usize| match entry {
            0..3 => skin[chain[entry] as usize],
            _ => base[chain[entry] as usize],
        };
        for first in 0..3 {
            layer.tets.push(Tet::at_rest(
                std::array::from_fn(|k| corner(first + k)),
                cell,
                &std::array::from_fn(|k| point(first + k)),
                odd,
            ));
        }
    }
    layer
}

/// Edges of a tet from its first point, as columns.
#[must_use]
pub fn edge_matrix(points: &[Point64; 4]) -> Matrix3<f64> {
    let edge = |k: usize| -> Vec64 { points[k] - points[0] };
    Matrix3::from_columns(&[edge(1), edge(2), edge(3)])
}

fn usable_inverse(edges: &Matrix3<f64>) -> Option<Matrix3<f64>> {
    let sigma = edges.singular_values();
    (sigma.min() > FLATTEST * sigma.max())
        .then(|| edges.try_inverse())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Point;

    /// Whatever the order of its corners, the space under a triangle is filled exactly.
    #[test]
    fn three_tets_fill_a_prism() {
        for triangle in [[0, 1, 2], [2, 0, 1], [1, 0, 2], [2, 1, 0]] {
            let mesh = TriMesh {
                positions: vec![
                    Point::new(0.0, 0.0, 1.0),
                    Point::new(1.0, 0.0, 1.0),
                    Point::new(0.0, 1.0, 1.0),
                ],
                triangles: vec![triangle],
            };
            let base: Vec<Point64> = mesh
                .positions
                .iter()
                .map(|p| p.cast::<f64>() - Vec64::z())
                .collect();
            let layer = between(&mesh, &base);
            assert_eq!(layer.usable().count(), 3);
            let volume: f64 = layer.tets.iter().map(|tet| tet.volume).sum();
            assert!((volume - 0.5).abs() < 1e-12);
            let outward = [[0, 1, 2], [2, 0, 1]].contains(&triangle);
            let inverted = layer.tets.iter().filter(|tet| tet.is_inverted()).count();
            assert_eq!(inverted, if outward { 0 } else { 3 }, "{triangle:?}");
        }
    }

    #[test]
    fn a_corner_names_a_point_of_either_kind() {
        for index in [0, 7, (1 << 31) - 1] {
            let (unknown, prescribed) = (Corner::unknown(index), Corner::prescribed(index));
            assert_eq!(unknown.kind(), CornerKind::Unknown(index));
            assert_eq!(prescribed.kind(), CornerKind::Prescribed(index));
            assert_ne!(unknown.bits(), prescribed.bits());
        }
        assert_eq!(Corner::prescribed(1).of(&['a'], &['b', 'c']), Some('c'));
        assert_eq!(Corner::unknown(1).of(&['a'], &['b', 'c']), None);
    }
}
