//! Normals and tangents of source vertices, transported by the local frames of the fine vertices.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::frames::{Frames, LocalFrame, LocalFrames, Tangents};
use super::lanes::{LANES, Numbers, VertexOps, each, scaled};
use crate::math::Vec3;

/// Groups per task.
const TASK: usize = 256;
/// Fine-vertex index of a direction without a fine vertex.
const NO_VERTEX: u32 = u32::MAX;

/// Rest directions at fine vertices; any number per vertex. Computed once.
///
/// Normals are transported by the cofactor matrix of the local deformation: they stay perpendicular
/// to the surface under bending, stretch and shear, and a hard edge at rest stays equally hard.
/// Tangents are transported by the deformation itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Directions {
    are_normals: bool,
    count: usize,
    groups: Vec<DirectionGroup>,
}

/// [`LANES`] directions.
#[derive(Debug, Clone, PartialEq)]
struct DirectionGroup {
    /// The fine vertices.
    vertex: [u32; LANES],
    /// Components in their frames.
    local: [Numbers; 3],
}

impl Directions {
    /// Rest normals and the fine vertex of each; normals without a vertex are left unchanged. A
    /// zero normal is replaced by that of the smoothed surface. `rest` holds the frames at rest:
    /// those that [`Upsampling::positions_into`](super::Upsampling::positions_into) computed from
    /// the coarse rest positions.
    #[must_use]
    pub fn normals(rest: &Frames, vertex_of: &[Option<u32>], normals: &[Vec3]) -> Self {
        Self::build(rest, vertex_of, normals, true)
    }

    /// Rest tangents, as [`Directions::normals`]. A zero tangent is replaced by one of the frame's.
    #[must_use]
    pub fn tangents(rest: &Frames, vertex_of: &[Option<u32>], tangents: &[Vec3]) -> Self {
        Self::build(rest, vertex_of, tangents, false)
    }

    fn build(
        rest: &Frames,
        vertex_of: &[Option<u32>],
        directions: &[Vec3],
        are_normals: bool,
    ) -> Self {
        let entry = |(vertex, direction): (&Option<u32>, &Vec3)| {
            let Some(vertex) = vertex.filter(|&vertex| (vertex as usize) < rest.tangents.len())
            else {
                return (NO_VERTEX, [0.0; 3]);
            };
            let frame = LocalFrame::new(&rest.tangents[vertex as usize]);
            let Some(direction) = direction
                .try_normalize(1e-20)
                .filter(|unit| unit.iter().all(|c| c.is_finite()))
            else {
                return (
                    vertex,
                    if are_normals {
                        [0.0, 0.0, 1.0]
                    } else {
                        [1.0, 0.0, 0.0]
                    },
                );
            };
            (
                vertex,
                if are_normals {
                    frame.dual_components(&direction)
                } else {
                    frame.components(&direction)
                },
            )
        };
        let count = vertex_of.len().min(directions.len());
        let group = |(vertices, directions): (&[Option<u32>], &[Vec3])| {
            let mut group = DirectionGroup {
                vertex: [NO_VERTEX; LANES],
                local: [[0.0; LANES]; 3],
            };
            for (lane, (vertex, local)) in vertices.iter().zip(directions).map(entry).enumerate() {
                group.vertex[lane] = vertex;
                for (slot, component) in group.local.iter_mut().zip(local) {
                    slot[lane] = component;
                }
            }
            group
        };
        Self {
            are_normals,
            count,
            groups: vertex_of[..count]
                .par_chunks(LANES)
                .zip(directions[..count].par_chunks(LANES))
                .map(group)
                .collect(),
        }
    }

    /// For every direction its fine vertex and its components in the local frame, or `None` without a fine vertex.
    /// Components of normals are in the dual frame t₂ × n, n × t₁, |t₁ × t₂| n; those of tangents in t₁, t₂, n.
    pub fn plain(&self) -> impl Iterator<Item = Option<(u32, [f32; 3])>> + '_ {
        (0..self.count).map(|direction| {
            let (group, lane) = (&self.groups[direction / LANES], direction % LANES);
            (group.vertex[lane] != NO_VERTEX).then(|| {
                (
                    group.vertex[lane],
                    group.local.map(|component| component[lane]),
                )
            })
        })
    }

    /// Writes the unit directions for the state of `frames`; directions without a vertex are
    /// unchanged. A collapsed direction becomes the surface normal. Does not allocate.
    ///
    /// # Panics
    /// If the length of the output differs from the number of directions.
    pub fn directions_into(&self, frames: &Frames, directions: &mut [Vec3]) {
        assert_eq!(directions.len(), self.count, "room for all directions");
        self.groups
            .par_chunks(TASK)
            .zip(directions.par_chunks_mut(TASK * LANES))
            .for_each(|(groups, directions)| {
                Arch::new().dispatch(TransportKernel {
                    groups,
                    are_normals: self.are_normals,
                    tangents: &frames.tangents,
                    directions,
                });
            });
    }
}

struct TransportKernel<'a> {
    groups: &'a [DirectionGroup],
    are_normals: bool,
    tangents: &'a [Tangents],
    directions: &'a mut [Vec3],
}

impl WithSimd for TransportKernel<'_> {
    type Output = ();

    #[expect(
        clippy::inline_always,
        reason = "vector code must be inlined into the function that enables the instructions"
    )]
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self {
            groups,
            are_normals,
            tangents,
            directions,
        } = self;
        let ops = VertexOps(simd);
        let Some(last) = tangents.len().checked_sub(1) else {
            return;
        };
        for (group, directions) in groups.iter().zip(directions.chunks_mut(LANES)) {
            let (mut a, mut b) = ([[0.0; 4]; LANES], [[0.0; 4]; LANES]);
            for (lane, &vertex) in group.vertex.iter().enumerate() {
                [a[lane], b[lane]] = tangents[(vertex as usize).min(last)];
            }
            let frames = LocalFrames::new(ops, [ops.gathered(a), ops.gathered(b)]);
            let turned = if are_normals {
                frames.covectors(ops, group.local)
            } else {
                frames.vectors(ops, group.local)
            };
            let norm = ops.norm(turned);
            let unit = ops.scattered(scaled(turned, each(|lane| 1.0 / norm[lane])));
            for (lane, direction) in directions
                .iter_mut()
                .enumerate()
                .filter(|(lane, _)| group.vertex[*lane] != NO_VERTEX)
            {
                // False for NaN too.
                *direction = if norm[lane] > f32::MIN_POSITIVE {
                    Vec3::new(unit[lane][0], unit[lane][1], unit[lane][2])
                } else {
                    Vec3::new(
                        frames.normal[0][lane],
                        frames.normal[1][lane],
                        frames.normal[2][lane],
                    )
                };
            }
        }
    }
}
