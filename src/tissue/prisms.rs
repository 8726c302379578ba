//! Prisms between skin and base, cut into tets so that neighbours agree on every diagonal.
//!
//! With corners sorted by vertex index, i < j < k, and skin t, base b, the chain (tᵢ, tⱼ, tₖ, bᵢ, bⱼ, bₖ) gives the three tets of
//! four consecutive entries. The diagonal of the quad over an edge always joins the skin vertex of the larger index with the base
//! vertex of the smaller: a valid arrow configuration of FPS figure 3.4 without any search.

use nalgebra::Matrix3;

use crate::math::{Point64, Vec64};
use crate::mesh::TriMesh;

/// A tet is left out if the smallest singular value of its edge matrix is below this part of the largest.
const FLATTEST: f64 = 1e-3;

/// One prism: its skin corners, sorted, and its usable tets.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Prism {
    /// Skin vertices i < j < k; the base vertices have the same indices in the base.
    pub corners: [u32; 3],
    /// Per tet the inverse of the rest edge matrix (columns = edges from the first vertex of the tet), 1/world unit; `None` where
    /// the tet is too flat.
    pub rest_inverse: [Option<Matrix3<f64>>; 3],
    /// Volume of each tet, world units³.
    pub volumes: [f64; 3],
}

/// All prisms of a tissue.
#[derive(Debug, Clone, Default, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Prisms {
    /// One per skin triangle.
    pub prisms: Vec<Prism>,
    /// For every prism whether the triangle's corners had to be swapped oddly to be sorted.
    pub odd: Vec<bool>,
    /// How many tets are usable.
    pub tets: usize,
    /// How many are left out.
    pub flat: usize,
    /// How many usable ones are turned inside out at rest (harmless: strain is measured against the rest shape).
    pub inverted: usize,
}

/// The chain entries of tet `k` are `CHAIN[k]..CHAIN[k] + 4`; entries 0–2 are skin, 3–5 base.
#[must_use]
pub fn chain(prism: &Prism, skin: &[Point64], base: &[Point64]) -> [Point64; 6] {
    let [i, j, k] = prism.corners.map(|v| v as usize);
    [skin[i], skin[j], skin[k], base[i], base[j], base[k]]
}

/// Fills the space between skin and base.
pub(super) fn split(mesh: &TriMesh, base: &[Point64]) -> Prisms {
    let skin: Vec<Point64> = mesh.positions.iter().map(|p| p.cast::<f64>()).collect();
    let mut all = Prisms { prisms: Vec::with_capacity(mesh.triangles.len()), ..Prisms::default() };
    for triangle in &mesh.triangles {
        let mut corners = *triangle;
        corners.sort_unstable();
        let [a, b, c] = *triangle;
        let odd = ![[a, b, c], [b, c, a], [c, a, b]].contains(&corners);
        let mut prism = Prism { corners, rest_inverse: [None; 3], volumes: [0.0; 3] };
        let points = chain(&prism, &skin, base);
        for tet in 0..3 {
            let edges = edge_matrix(&points, tet);
            let signed = edges.determinant() / 6.0;
            prism.volumes[tet] = signed.abs();
            prism.rest_inverse[tet] = usable_inverse(&edges);
            if prism.rest_inverse[tet].is_some() {
                all.tets += 1;
                // Outward triangles have the base below them.
                all.inverted += usize::from((signed > 0.0) != odd);
            } else {
                all.flat += 1;
            }
        }
        all.prisms.push(prism);
        all.odd.push(odd);
    }
    all
}

/// Edges of tet `tet` from its first vertex, as columns.
#[must_use]
pub fn edge_matrix(chain: &[Point64; 6], tet: usize) -> Matrix3<f64> {
    let edge = |k: usize| -> Vec64 { chain[tet + k] - chain[tet] };
    Matrix3::from_columns(&[edge(1), edge(2), edge(3)])
}

fn usable_inverse(edges: &Matrix3<f64>) -> Option<Matrix3<f64>> {
    let sigma = edges.singular_values();
    (sigma.min() > FLATTEST * sigma.max()).then(|| edges.try_inverse()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Point;

    /// Whatever the order of its corners, a prism is filled exactly.
    #[test]
    fn three_tets_fill_a_prism() {
        for triangle in [[0, 1, 2], [2, 0, 1], [1, 0, 2], [2, 1, 0]] {
            let mesh = TriMesh {
                positions: vec![Point::new(0.0, 0.0, 1.0), Point::new(1.0, 0.0, 1.0), Point::new(0.0, 1.0, 1.0)],
                triangles: vec![triangle],
            };
            let base: Vec<Point64> = mesh.positions.iter().map(|p| p.cast::<f64>() - Vec64::z()).collect();
            let prisms = split(&mesh, &base);
            assert_eq!(prisms.tets, 3);
            assert!((prisms.prisms[0].volumes.iter().sum::<f64>() - 0.5).abs() < 1e-12);
            let outward = [[0, 1, 2], [2, 0, 1]].contains(&triangle);
            assert_eq!(prisms.inverted, if outward { 0 } else { 3 }, "{triangle:?}");
        }
    }
}
