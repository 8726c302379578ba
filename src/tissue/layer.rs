//! Layers of tets whose points are unknown or prescribed; the flesh between skin and base is one layer.
//!
//! The space under a skin triangle is a *cell* of three tets. With corners sorted by rank, i < j < k, skin t
//! and base b, each four consecutive entries of the chain (tᵢ, tⱼ, tₖ, bᵢ, bⱼ, bₖ) are a tet. The diagonal of the quad
//! over an edge always joins the skin vertex of the larger rank with the base vertex of the smaller. This is a valid
//! arrow configuration of FPS figure 3.4, found without a search, and neighbouring cells agree on every diagonal.

use nalgebra::Matrix3;

use crate::math::{Point64, Vec64};
use crate::mesh::TriMesh;

/// A tet is left out if the smallest singular value of its edge matrix is below this fraction of the largest.
const MIN_SINGULAR_RATIO: f64 = 1e-3;

/// A point of a tet in four bytes: the top bit is set for prescribed points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Corner(u32);

/// The point that a [`Corner`] refers to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CornerKind {
    /// An unknown of the simulation: a skin vertex, or after those a point of [`super::Tissue::interior`].
    Unknown(u32),
    /// A point that the bones place: an index into the output of [`super::Anchors::place`].
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

    /// The kind and index of the point.
    #[must_use]
    pub fn kind(self) -> CornerKind {
        if self.0 & Self::PRESCRIBED == 0 {
            CornerKind::Unknown(self.0)
        } else {
            CornerKind::Prescribed(self.0 & !Self::PRESCRIBED)
        }
    }

    /// The index, if the point is unknown.
    #[must_use]
    pub fn as_unknown(self) -> Option<u32> {
        match self.kind() {
            CornerKind::Unknown(index) => Some(index),
            CornerKind::Prescribed(_) => None,
        }
    }

    /// The index, if the point is prescribed.
    #[must_use]
    pub fn as_prescribed(self) -> Option<u32> {
        match self.kind() {
            CornerKind::Unknown(_) => None,
            CornerKind::Prescribed(index) => Some(index),
        }
    }

    /// Looks the point up in arrays of all unknowns and all prescribed points; `None` if the index is out of range.
    #[must_use]
    pub fn of<P: Copy>(self, unknowns: &[P], prescribed: &[P]) -> Option<P> {
        match self.kind() {
            CornerKind::Unknown(index) => unknowns.get(index as usize),
            CornerKind::Prescribed(index) => prescribed.get(index as usize),
        }
        .copied()
    }

    /// The representation in shaders: the index, with the top bit set for prescribed points.
    #[must_use]
    pub fn bits(self) -> u32 {
        self.0
    }
}

/// A linear tet.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Tet {
    /// Its points.
    pub corners: [Corner; 4],
    /// The cell of the layer to which it belongs. The tets of a cell are consecutive and have one material, the mean
    /// over the cell's unknowns.
    pub cell: u32,
    /// Inverse of the rest edge matrix (columns = edges from the first corner), 1/world unit; `None` where the tet is too flat.
    pub rest_inverse: Option<Matrix3<f64>>,
    /// Volume, world units³.
    pub volume: f64,
    /// Sign of its edge matrix's determinant while it is not inverted: true if positive.
    pub positive: bool,
}

impl Tet {
    /// A tet with these corners, at the rest positions `points`.
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

    /// Whether it is simulated, that is not too flat.
    #[must_use]
    pub fn is_usable(&self) -> bool {
        self.rest_inverse.is_some()
    }

    /// Whether it is usable but inverted at rest. That is harmless: strain is measured against the rest shape.
    #[must_use]
    pub fn is_inverted(&self) -> bool {
        self.rest_inverse
            .is_some_and(|inverse| (inverse.determinant() > 0.0) != self.positive)
    }

    /// Looks its points up in arrays of all unknowns and all prescribed points; `None` if an index is out of range.
    #[must_use]
    pub fn points<P: Copy>(&self, unknowns: &[P], prescribed: &[P]) -> Option<[P; 4]> {
        let [a, b, c, d] = self.corners.map(|corner| corner.of(unknowns, prescribed));
        Some([a?, b?, c?, d?])
    }
}

/// Tets that fill a part of the body.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Layer {
    /// The tets, cell by cell; consecutive tets that share three corners are simulated together.
    pub tets: Vec<Tet>,
    /// Number of cells.
    pub cells: usize,
}

impl Layer {
    /// The tets that are simulated.
    pub fn usable(&self) -> impl Iterator<Item = &Tet> {
        self.tets.iter().filter(|tet| tet.is_usable())
    }
}

/// Fills the space between skin and base with tets.
///
/// `ranks` orders the vertices, instead of their indices: mirrored triangles with mirrored ranks get mirrored tets.
pub(super) fn fill_between(mesh: &TriMesh, base: &[Point64], ranks: &[u32]) -> Layer {
    let skin: Vec<Point64> = mesh.positions.iter().map(|p| p.cast::<f64>()).collect();
    let mut layer = Layer {
        tets: Vec::with_capacity(3 * mesh.triangles.len()),
        cells: mesh.triangles.len(),
    };
    for (cell, triangle) in (0..).zip(&mesh.triangles) {
        let mut sorted = *triangle;
        sorted.sort_unstable_by_key(|&vertex| ranks[vertex as usize]);
        let [a, b, c] = *triangle;
        // Under outward triangles the base is below the skin.
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

/// Edge matrix of a tet: the edges from its first point, as columns.
#[must_use]
pub fn edge_matrix(points: &[Point64; 4]) -> Matrix3<f64> {
    let edge = |k: usize| -> Vec64 { points[k] - points[0] };
    Matrix3::from_columns(&[edge(1), edge(2), edge(3)])
}

fn usable_inverse(edges: &Matrix3<f64>) -> Option<Matrix3<f64>> {
    let sigma = edges.singular_values();
    (sigma.min() > MIN_SINGULAR_RATIO * sigma.max())
        .then(|| edges.try_inverse())
        .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Point;

    /// The tets fill the prism exactly for any order of the triangle's corners.
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
            let layer = fill_between(&mesh, &base, &[0, 1, 2]);
            assert_eq!(layer.usable().count(), 3);
            let volume: f64 = layer.tets.iter().map(|tet| tet.volume).sum();
            assert!((volume - 0.5).abs() < 1e-12);
            let outward = [[0, 1, 2], [2, 0, 1]].contains(&triangle);
            let inverted = layer.tets.iter().filter(|tet| tet.is_inverted()).count();
            assert_eq!(inverted, if outward { 0 } else { 3 }, "{triangle:?}");
        }
    }

    #[test]
    fn a_corner_refers_to_a_point_of_either_kind() {
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
