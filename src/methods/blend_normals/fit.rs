//! Gradients along a surface, fitted over the triangles around a vertex.

use nalgebra::{Matrix2, Vector2};

use crate::math::{Point, Vec64};

/// The normal equations are singular if their determinant is below this part of the squared trace.
const SINGULAR: f64 = 1e-5;

/// An edge to a neighbour.
#[derive(Debug, Clone, Copy)]
pub(super) struct Spoke {
    /// The neighbour, a source vertex.
    pub(super) to: u32,
    /// The edge in the tangent plane.
    flat: Vector2<f64>,
    /// Area of its triangle over its squared length.
    share: f64,
}

/// Edges around a vertex in the basis of its tangent plane.
#[derive(Debug, Default)]
pub(super) struct Fan {
    pub(super) spokes: Vec<Spoke>,
}

/// Least squares over some of the edges.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fit {
    inverse: Matrix2<f64>,
}

impl Fan {
    /// Takes the edges of triangles (a vertex and its two successors) that have an area. Edges are turned into the plane spanned by the
    /// orthonormal `basis` with their length kept.
    pub(super) fn gather(&mut self, positions: &[Point], corners: &[[u32; 3]], basis: &[Vec64; 2]) {
        self.spokes.clear();
        for &[here, a, b] in corners {
            let origin = positions[here as usize].cast::<f64>();
            let edges = [a, b].map(|v| positions[v as usize].cast::<f64>() - origin);
            let area = edges[0].cross(&edges[1]).norm() * 0.5;
            let squares = edges.map(|edge| edge.norm_squared());
            let tiny = 1e-9 * (squares[0] + squares[1]);
            if !(area.is_finite() && area > tiny) {
                continue;
            }
            for ((to, edge), square) in [a, b].into_iter().zip(edges).zip(squares) {
                let flat = Vector2::new(edge.dot(&basis[0]), edge.dot(&basis[1]));
                let norm = flat.norm();
                // An edge along the normal has no direction.
                if norm * norm > 1e-6 * square {
                    self.spokes.push(Spoke {
                        to,
                        flat: flat * (square.sqrt() / norm),
                        share: area / square,
                    });
                }
            }
        }
    }

    /// Prepares a fit over the edges to the accepted neighbours; `None` if they do not determine a gradient.
    pub(super) fn fit(&self, accepts: impl Fn(u32) -> bool) -> Option<Fit> {
        let mut normal = Matrix2::zeros();
        for spoke in self.spokes.iter().filter(|spoke| accepts(spoke.to)) {
            normal += spoke.flat * spoke.flat.transpose() * spoke.share;
        }
        let (trace, determinant) = (normal.trace(), normal.determinant());
        if !(trace.is_finite() && determinant > SINGULAR * trace * trace) {
            return None;
        }
        let inverse = normal.try_inverse()?;
        Some(Fit { inverse })
    }

    /// Mean length of the edges.
    pub(super) fn mean_length(&self) -> f64 {
        let sum: f64 = self.spokes.iter().map(|spoke| spoke.flat.norm()).sum();
        sum / self.spokes.len().max(1) as f64
    }
}

impl Fit {
    /// What the difference of a value to a neighbour's adds to the gradient.
    pub(super) fn part(&self, spoke: &Spoke) -> Vector2<f64> {
        self.inverse * spoke.flat * spoke.share
    }
}
