//! How good a tissue is.

use serde::Serialize;

use super::prisms::{Prism, Prisms, chain, edge_matrix};
use super::shrink::Shrunken;
use crate::math::Point64;
use crate::mesh::TriMesh;

/// Ratio of longest edge to smallest height from which on a tet counts as thin.
const THIN: f64 = 20.0;

/// Counts over a tissue.
#[derive(Debug, Clone, Default, PartialEq, Serialize, serde::Deserialize)]
pub struct Quality {
    /// Usable tets.
    pub tets: usize,
    /// Tets too flat to use; they are left out.
    pub flat: usize,
    /// Of the usable ones, those turned inside out at rest.
    pub inverted: usize,
    /// Of the usable ones, those with a longest edge over 20 times their smallest height.
    pub thin: usize,
    /// Largest ratio of longest edge to smallest height among the usable tets.
    pub worst_aspect: f64,
    /// Median of that ratio.
    pub median_aspect: f64,
    /// Skin vertices whose way to the bone hit nothing or started inside.
    pub without_hit: usize,
    /// Volume of the usable tets, world units³.
    pub volume: f64,
    /// Mean distance from the skin to the bone lines, world units.
    pub limb_radius: f64,
}

impl Quality {
    pub(super) fn of(mesh: &TriMesh, shrunken: &Shrunken, prisms: &Prisms, limb_radius: f64) -> Self {
        let skin: Vec<Point64> = mesh.positions.iter().map(|p| p.cast::<f64>()).collect();
        let mut aspects = Vec::with_capacity(prisms.tets);
        for prism in &prisms.prisms {
            let points = chain(prism, &skin, &shrunken.base);
            for tet in (0..3).filter(|&tet| prism.rest_inverse[tet].is_some()) {
                aspects.push(aspect(&points, tet));
            }
        }
        aspects.sort_by(f64::total_cmp);
        Self {
            tets: prisms.tets,
            flat: prisms.flat,
            inverted: prisms.inverted,
            thin: aspects.iter().filter(|&&a| a > THIN).count(),
            worst_aspect: aspects.last().copied().unwrap_or_default(),
            median_aspect: aspects.get(aspects.len() / 2).copied().unwrap_or_default(),
            without_hit: shrunken.without_hit,
            limb_radius,
            volume: prisms.prisms.iter().map(usable_volume).sum(),
        }
    }
}

fn usable_volume(prism: &Prism) -> f64 {
    prism.volumes.iter().zip(&prism.rest_inverse).filter(|(_, inverse)| inverse.is_some()).map(|(volume, _)| volume).sum()
}

/// Longest edge over smallest height of tet `tet` of a chain.
fn aspect(points: &[Point64; 6], tet: usize) -> f64 {
    let p = &points[tet..tet + 4];
    let mut longest = 0.0_f64;
    let mut largest_face = 0.0_f64;
    for i in 0..4 {
        for j in i + 1..4 {
            longest = longest.max((p[i] - p[j]).norm());
        }
        let [a, b, c] = [p[(i + 1) % 4], p[(i + 2) % 4], p[(i + 3) % 4]];
        largest_face = largest_face.max((b - a).cross(&(c - a)).norm() / 2.0);
    }
    let volume = edge_matrix(points, tet).determinant().abs() / 6.0;
    longest * largest_face / (3.0 * volume).max(f64::MIN_POSITIVE)
}
