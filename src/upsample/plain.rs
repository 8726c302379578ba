//! Per-vertex upsampling data in flat arrays, for upload to the GPU (`gpu::surface`).

use super::rows::BLOCK;
use super::{Method, Upsampling};
use crate::math::Point;

/// Representation of the fine vertices.
#[derive(Debug, Clone, PartialEq)]
pub enum PlainUpsampling {
    /// Weighted sums over coarse vertices.
    Sums(PlainSums),
    /// Displacements from points on coarse triangles, in the frame of interpolated vertex normals.
    Displacements {
        /// The coarse triangles, from which the coarse normals are computed.
        triangles: Vec<[u32; 3]>,
        /// One per fine vertex.
        displacements: Vec<PlainDisplacement>,
    },
    /// Constant positions, because there are no coarse vertices; the local frames are the world axes.
    Constant(Vec<Point>),
}

/// x = x₀ + u₀ Σ w₀ᵢ (xᵢ − x₀) + the remainder along t₁, t₂ and their unit normal, with tangents tₐ = uₐ Σ wₐᵢ (xᵢ − x₀). Tangents whose
/// parallelogram has an area of 1e-6 or less are replaced by the first two axes of the world.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlainSums {
    /// Number of neighbours of a vertex besides the first.
    pub width: usize,
    /// x₀ of every fine vertex.
    pub first: Vec<u32>,
    /// u₀, u₁, u₂ of every fine vertex.
    pub units: Vec<[f32; 3]>,
    /// Remainder at rest of every fine vertex, along t₁, t₂ and the normal.
    pub remainders: Vec<[f32; 3]>,
    /// Coarse neighbours: `width` of the first fine vertex, then of the second, and so on.
    pub names: Vec<u32>,
    /// w₀, w₁, w₂ of each neighbour.
    pub weights: Vec<[i16; 3]>,
}

/// A displacement from a point on a coarse triangle.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PlainDisplacement {
    /// The triangle.
    pub corners: [u32; 3],
    /// Barycentric coordinates of the second and third corner.
    pub share: [f32; 2],
    /// The displacement: along the first edge in the plane of the normal, across it, and along the normal.
    pub local: [f32; 3],
}

impl PlainSums {
    pub(super) fn extend(&mut self, neighbours: impl Iterator<Item = (u32, [i16; 3])>) {
        for (name, weights) in neighbours {
            self.names.push(name);
            self.weights.push(weights);
        }
    }
}

impl Upsampling {
    /// The data of all fine vertices.
    #[must_use]
    pub fn plain(&self) -> PlainUpsampling {
        match &self.method {
            Method::Copy(displacement) | Method::Displacement(displacement) => {
                PlainUpsampling::Displacements {
                    triangles: displacement.triangles().to_vec(),
                    displacements: displacement.plain(),
                }
            }
            Method::Sums(blocks) => {
                let mut sums = PlainSums {
                    width: blocks.first().map_or(0, super::WeightBlock::width),
                    ..PlainSums::default()
                };
                let mut left = self.fine;
                for block in blocks {
                    block.append_to(&mut sums, left.min(BLOCK));
                    left = left.saturating_sub(BLOCK);
                }
                PlainUpsampling::Sums(sums)
            }
            Method::Constant(rest) => PlainUpsampling::Constant(rest.clone()),
        }
    }
}
