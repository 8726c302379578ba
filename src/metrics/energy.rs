//! Elastic energy of the tissue, of methods that simulate one; and what stands for it among all methods, that of the skin alone.
//!
//! The tissue: Σ w/2 (‖F − R‖² + volume ‖F − F*‖²) / Σ w over its tets, w the stiffness of a tet times its volume, F* the map of
//! determinant 1 nearest to F: what a time step minimises, without inertia and contacts, as a part of the stiffness.
//!
//! The skin: mean over the area of ‖F − R‖².
//! F (2 × 2) maps a triangle in the bind pose to its deformed shape, R is the rotation nearest to it. With the singular values σ of F,
//! `‖F − R‖² = (σ₁ − 1)² + (σ₂ − 1)² = tr C − 2 √(tr C + 2 √det C) + 2` for `C = FᵀF`: no decomposition is needed.

use nalgebra::{Matrix2, Matrix3x2};

use super::{Better, Measure, MeasuredFrame, Metric, Place, Quantity, RestSkin, Spot, Unit};
use crate::dynamics::Equations;
use crate::math::Point;
use crate::mesh::TriMesh;
use crate::progress::{Cancelled, Progress};

/// Triangles with less than this part of the squared size as their doubled area are left out.
const NO_AREA: f64 = 1e-12;

/// The metric of the tissue.
pub static TISSUE: Metric = Metric {
    quantities: &[Quantity {
        id: "tissue_energy",
        label: "Elastic energy of the tissue",
        unit: Unit::Ratio,
        doc: "Elastic energy of the simulated tissue, as a part of its stiffness times its volume.",
        better: Better::Lower,
    }],
    needs_reference: false,
    reads_flesh: true,
    bind: |_, _| Ok(Box::new(TissueEnergy)),
};

struct TissueEnergy;

impl Measure for TissueEnergy {
    fn measure(
        &mut self,
        frame: &MeasuredFrame<'_>,
        _: &Progress,
    ) -> Result<Vec<Option<f64>>, Cancelled> {
        Ok(vec![
            frame.tissue_energy.filter(|energy| energy.is_finite()),
        ])
    }
}

/// Elastic energy of tissue whose unknown and prescribed points are there, as a part of stiffness times volume; `None` without tets.
#[must_use]
pub fn tissue_energy(
    equations: &Equations,
    unknowns: &[Point],
    prescribed: &[Point],
) -> Option<f64> {
    let rows = equations.vertex_of_row.iter();
    let rows: Option<Vec<Point>> = rows
        .map(|&vertex| unknowns.get(vertex as usize).copied())
        .collect();
    let rows = rows?;
    let (mut energy, mut total) = (0.0, 0.0);
    for chain in &equations.chains {
        for tet in chain.tets(&rows, prescribed, equations.volume) {
            energy += tet.weight * tet.energy;
            total += tet.weight;
        }
    }
    (total > 0.0).then(|| energy / total)
}

/// The metric of the skin.
pub static SKIN: Metric = Metric {
    quantities: &[Quantity {
        id: "skin_energy",
        label: "Elastic energy of the skin",
        unit: Unit::Ratio,
        doc: "Strain of the skin alone, whatever is below it: mean over the area of the squared difference between each triangle's deformation and the rotation nearest to it.",
        better: Better::Lower,
    }],
    needs_reference: false,
    reads_flesh: false,
    bind: |rest, _| Ok(Box::new(SkinEnergy::new(rest))),
};

struct SkinEnergy {
    /// Index, inverse of the edge matrix in the triangle's plane, and area.
    triangles: Vec<(usize, Matrix2<f64>, f64)>,
    /// The most strained triangle of the last frame.
    worst: Option<Place>,
}

impl SkinEnergy {
    fn new(rest: &RestSkin) -> Self {
        let size = f64::from(rest.mesh.bounds().size());
        let triangle = |index: usize| {
            let edges = edges_of(&rest.mesh, index);
            let [u, v] = [edges.column(0).into_owned(), edges.column(1).into_owned()];
            let doubled = u.cross(&v).norm();
            let length = u.norm();
            if doubled.is_nan() || doubled <= NO_AREA * size * size {
                return None;
            }
            // The first edge is the first axis of the plane.
            let planar = Matrix2::new(length, u.dot(&v) / length, 0.0, doubled / length);
            Some((index, planar.try_inverse()?, doubled / 2.0))
        };
        Self {
            triangles: (0..rest.mesh.triangles.len())
                .filter_map(triangle)
                .collect(),
            worst: None,
        }
    }
}

impl Measure for SkinEnergy {
    fn measure(
        &mut self,
        frame: &MeasuredFrame<'_>,
        _: &Progress,
    ) -> Result<Vec<Option<f64>>, Cancelled> {
        let (mut energy, mut area) = (0.0, 0.0);
        let mut worst: Option<(f64, usize)> = None;
        for (index, inverse, rest_area) in &self.triangles {
            let f = edges_of(frame.skin, *index) * inverse;
            let c = f.transpose() * f;
            let root = c.determinant().max(0.0).sqrt();
            let strain = c.trace() - 2.0 * (c.trace() + 2.0 * root).max(0.0).sqrt() + 2.0;
            energy += rest_area * strain;
            area += rest_area;
            if worst.is_none_or(|(known, _)| strain > known) {
                worst = Some((strain, *index));
            }
        }
        self.worst = worst.map(|(value, triangle)| Place {
            spot: Spot::Triangle(frame.skin.triangles[triangle]),
            value: value.max(0.0),
            unit: Unit::Ratio,
        });
        Ok(vec![(area > 0.0).then(|| (energy / area).max(0.0))])
    }

    fn places(&self) -> Vec<Option<Place>> {
        vec![self.worst]
    }
}

/// The edges of a triangle from its first corner, as columns.
fn edges_of(mesh: &TriMesh, triangle: usize) -> Matrix3x2<f64> {
    let [a, b, c] = mesh
        .corners(triangle)
        .map(|p: Point| p.coords.cast::<f64>());
    Matrix3x2::from_columns(&[b - a, c - a])
}
