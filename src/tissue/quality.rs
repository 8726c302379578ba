//! Quality measures of a tissue.

use serde::Serialize;

use super::Layer;
use super::layer::edge_matrix;
use crate::math::Point64;

/// Aspect ratio (longest edge over smallest height) above which a tet counts as thin.
const THIN_ASPECT: f64 = 20.0;

/// Quality measures of all tets.
#[derive(Debug, Clone, Default, PartialEq, Serialize, serde::Deserialize)]
pub struct Quality {
    /// Usable tets.
    pub tets: usize,
    /// Tets that are too flat and left out.
    pub flat: usize,
    /// Usable tets that are inverted at rest.
    pub inverted: usize,
    /// Usable tets with an aspect ratio (longest edge over smallest height) above 20.
    pub thin: usize,
    /// Largest aspect ratio of the usable tets.
    pub worst_aspect: f64,
    /// Median aspect ratio of the usable tets.
    pub median_aspect: f64,
    /// Skin vertices whose segment to the foot point hit no bone volume or started inside one.
    pub without_hit: usize,
    /// Volume of the usable tets, world units³.
    pub volume: f64,
    /// Mean distance from the skin to the bone lines, world units.
    pub limb_radius: f64,
}

impl Quality {
    /// Measures layers whose points have the rest positions `unknowns` and `prescribed`.
    pub(super) fn of(
        layers: &[Layer],
        unknowns: &[Point64],
        prescribed: &[Point64],
        without_hit: usize,
        limb_radius: f64,
    ) -> Self {
        let all = || layers.iter().flat_map(|layer| &layer.tets);
        let mut aspects: Vec<f64> = all()
            .filter(|tet| tet.is_usable())
            .filter_map(|tet| tet.points(unknowns, prescribed))
            .map(|points| aspect(&points))
            .collect();
        aspects.sort_by(f64::total_cmp);
        Self {
            tets: all().filter(|tet| tet.is_usable()).count(),
            flat: all().filter(|tet| !tet.is_usable()).count(),
            inverted: all().filter(|tet| tet.is_inverted()).count(),
            thin: aspects.iter().filter(|&&a| a > THIN_ASPECT).count(),
            worst_aspect: aspects.last().copied().unwrap_or_default(),
            median_aspect: aspects.get(aspects.len() / 2).copied().unwrap_or_default(),
            without_hit,
            limb_radius,
            volume: layers
                .iter()
                .flat_map(|layer| layer.tets.chunk_by(|a, b| a.cell == b.cell))
                .map(|cell| {
                    let usable = cell.iter().filter(|tet| tet.is_usable());
                    usable.map(|tet| tet.volume).sum::<f64>()
                })
                .sum(),
        }
    }
}

/// Aspect ratio of a tet: longest edge over smallest height.
fn aspect(p: &[Point64; 4]) -> f64 {
    let mut longest = 0.0_f64;
    let mut largest_face = 0.0_f64;
    for i in 0..4 {
        for j in i + 1..4 {
            longest = longest.max((p[i] - p[j]).norm());
        }
        let [a, b, c] = [p[(i + 1) % 4], p[(i + 2) % 4], p[(i + 3) % 4]];
        largest_face = largest_face.max((b - a).cross(&(c - a)).norm() / 2.0);
    }
    let volume = edge_matrix(p).determinant().abs() / 6.0;
    longest * largest_face / (3.0 * volume).max(f64::MIN_POSITIVE)
}
