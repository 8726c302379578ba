//! Bending of the skin: how its mean curvature vectors are measured.
//!
//! FPS thesis, equation 2.17 (Botsch and Sorkine, "On Linear Variational Surface Deformation Methods", TVCG 2008, section 3.2): with
//! the cotangent Laplacian L, areas A of vertices and rotations R,
//!
//! ```text
//!     E = k/2 Σᵢ Aᵢ ‖ (L x)ᵢ / Aᵢ − Rᵢ (L x̄)ᵢ / Aᵢ ‖²
//! ```
//!
//! # Departures
//! - The rotations are prescribed (by the guide) rather than fitted: the energy is quadratic, its matrix constant, and skin that was
//!   turned inside out unfolds.

use super::{TriMesh, cotangent_laplacian, vertex_areas};
use crate::math::Vec64;

/// Vertices have at least this part of the mean area: at smaller ones bending would dominate everything.
const LEAST_AREA: f64 = 0.05;

/// The skin's resistance to bending.
#[derive(Debug, Clone, PartialEq, serde::Serialize, serde::Deserialize)]
pub struct Bending {
    /// `offsets[v]..offsets[v + 1]` are the entries of row `v` of the Laplacian.
    pub offsets: Vec<u32>,
    /// Column of each entry.
    pub columns: Vec<u32>,
    /// Value of each entry; the entries of a row sum to 0. No unit.
    pub values: Vec<f64>,
    /// Area of each vertex, world units².
    pub areas: Vec<f64>,
    /// (L x̄)ᵢ of each vertex at rest, world units.
    pub curvature: Vec<Vec64>,
    /// Bending stiffness for elements of stiffness 1, world units³.
    pub stiffness: f64,
}

impl Bending {
    /// Measures a skin at rest.
    #[must_use]
    pub fn of(mesh: &TriMesh, stiffness: f64) -> Self {
        let count = mesh.positions.len();
        let laplacian = cotangent_laplacian(mesh);
        let mut rows: Vec<Vec<(u32, f64)>> = vec![Vec::new(); count];
        for (row, column, value) in laplacian.entries() {
            rows[row].push((column as u32, value));
            if row != column {
                rows[column].push((row as u32, value));
            }
        }
        let (mut offsets, mut columns, mut values) = (vec![0], Vec::new(), Vec::new());
        let mut curvature = Vec::with_capacity(count);
        for (vertex, row) in rows.iter_mut().enumerate() {
            row.sort_unstable_by_key(|&(column, _)| column);
            let own = mesh.positions[vertex].cast::<f64>();
            let sum: Vec64 = row
                .iter()
                .map(|&(column, value)| {
                    (mesh.positions[column as usize].cast::<f64>() - own) * value
                })
                .sum();
            curvature.push(if sum.iter().all(|c| c.is_finite()) {
                sum
            } else {
                Vec64::zeros()
            });
            for &(column, value) in &*row {
                columns.push(column);
                values.push(value);
            }
            offsets.push(columns.len() as u32);
        }
        let mut areas = vertex_areas(mesh);
        let mean = areas.iter().sum::<f64>() / count.max(1) as f64;
        for area in &mut areas {
            *area = area.max(LEAST_AREA * mean).max(f64::MIN_POSITIVE);
        }
        Self {
            offsets,
            columns,
            values,
            areas,
            curvature,
            stiffness,
        }
    }

    /// How many vertices there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.areas.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.areas.is_empty()
    }

    /// Columns and values of a row of the Laplacian.
    pub fn row(&self, vertex: usize) -> impl Iterator<Item = (u32, f64)> + Clone + '_ {
        let range = self.offsets[vertex] as usize..self.offsets[vertex + 1] as usize;
        self.columns[range.clone()]
            .iter()
            .copied()
            .zip(self.values[range].iter().copied())
    }
}
