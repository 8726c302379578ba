//! Tangents of the deformed surface from the edges of a vertex, for methods whose derivative is no formula of joints and weights.
//!
//! With the edges `e_j = x_j − x_i` to the neighbours of vertex i, at rest, and least squares over the triangles around it:
//!
//! ```text
//! rest      Σ_j c_kj e_j + l_k m = t_k          m: direction of a₁ × a₂, a_k = Σ_j c_kj e_j
//! deformed  t'_k = Σ_j c_kj e'_j + l_k A m,     n' ∝ t'₁ × t'₂
//! ```
//!
//! | symbol | here                 | shape     | unit     | note                                                        |
//! |--------|----------------------|-----------|----------|-------------------------------------------------------------|
//! | t      | `basis` of a fan     | 2 × 3     | –        | orthonormal, t₁ × t₂ is the normal of the file              |
//! | c      | [`EdgeShare::along`] | edges × 2 | 1/length | derivatives along the tangents: c reproduces linear maps    |
//! | l      | [`Lift::along`]      | 2         | –        | how far the normal of the file leans from that of the edges |
//! | m      | [`Lift::up`]         | 3         | –        | in the space of the rest positions                          |
//! | A      | [`Differentiable::strongest`] | 3 × 3 | –   | linear part of the joint with the largest weight            |
//!
//! So the rest pose keeps the normals of the file, and where one affine map moves the skin, normals are those of that map.

use nalgebra::Matrix3;
use pulp::{Simd, WithSimd};

use super::fit::{Fan, Fit};
use super::{Differentiable, PARALLEL, blended_cofactor};
use crate::character::Attachment;
use crate::math::{Affine, Point, Vec3, Vec64, linear_part};
use crate::methods::blended_mesh::BlendedMesh;
use crate::methods::quads::{multiply_add, xyz};
use crate::methods::{
    BindError, Frame, MorphOffsets, SkinError, Skinner, StepTimes, Subject, Term,
};
use crate::numerics::lanes::{Padded, sub};
use crate::param::ParamValues;
use crate::weights::SkinWeights;

/// Edges whose tangents span less than this part of a square are degenerate.
const FLAT: f64 = 1e-3;

/// An edge and its part of the two tangents.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(in crate::methods) struct EdgeShare {
    /// The other end, a source vertex.
    pub(in crate::methods) to: u32,
    /// Coefficients of the edge, per unit of length at rest.
    pub(in crate::methods) along: [f32; 2],
}

/// What the edges of a vertex leave of the tangents at rest.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub(in crate::methods) struct Lift {
    /// Of both tangents, along `up`.
    pub(in crate::methods) along: [f32; 2],
    /// Across the edges.
    pub(in crate::methods) up: Vec3,
}

/// The edges of a vertex; none where they do not span the surface.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Edges {
    pub(super) shares: Vec<EdgeShare>,
    pub(super) lift: Lift,
}

impl Edges {
    /// The coefficients that give two tangents of a vertex at rest, world space; `None` if its edges do not span a plane. The fit is over
    /// all of the fan, which has the tangents for a basis. `linear` takes directions from the space of the rest positions to the world.
    pub(super) fn of(
        own: &Point,
        positions: &[Point],
        (fan, fit): (&Fan, &Fit),
        tangents: &[Vec64; 2],
        linear: &Matrix3<f64>,
    ) -> Option<Self> {
        let own = own.cast::<f64>();
        let mut coefficients: Vec<(u32, [f64; 2])> = Vec::new();
        for spoke in &fan.spokes {
            let part = fit.part(spoke);
            let along = [part.x, part.y];
            match coefficients.iter_mut().find(|(to, _)| *to == spoke.to) {
                Some((_, sum)) => {
                    sum[0] += along[0];
                    sum[1] += along[1];
                }
                None => coefficients.push((spoke.to, along)),
            }
        }
        let edge = |to: u32| positions[to as usize].cast::<f64>() - own;
        let spanned = |coefficients: &[(u32, [f64; 2])]| {
            let mut a = [Vec64::zeros(); 2];
            for (to, along) in coefficients {
                a[0] += edge(*to) * along[0];
                a[1] += edge(*to) * along[1];
            }
            a
        };
        let a = spanned(&coefficients);
        let across = a[0].cross(&a[1]);
        let area = across.norm();
        if !(area.is_finite() && area > FLAT) {
            return None;
        }
        let normal = across / area;
        // What is missing of the tangents, in the basis a₁, a₂, normal: the first two parts go into the coefficients.
        let basis = Matrix3::from_columns(&[a[0], a[1], normal]).try_inverse()?;
        let missing = [0, 1].map(|k| basis * (tangents[k] - a[k]));
        for (_, along) in &mut coefficients {
            let [u, v] = *along;
            *along = [0, 1].map(|k| [u, v][k] + missing[k].x * u + missing[k].y * v);
        }
        let lift = Lift {
            along: missing.map(|missing| missing.z as f32),
            up: (linear.try_inverse()? * normal).cast::<f32>(),
        };
        let shares = coefficients.into_iter().map(|(to, along)| EdgeShare {
            to,
            along: along.map(|share| share as f32),
        });
        let edges = Self {
            shares: shares.collect(),
            lift,
        };
        let numbers = edges.shares.iter().flat_map(|share| share.along);
        numbers
            .chain(edges.lift.along)
            .chain(edges.lift.up.iter().copied())
            .all(f32::is_finite)
            .then_some(edges)
    }
}

/// The edges of the vertices of a mesh.
#[derive(Default)]
pub(super) struct EdgeTable {
    /// Begin of each vertex's edges.
    starts: Vec<u32>,
    shares: Vec<EdgeShare>,
    lifts: Vec<Lift>,
}

impl EdgeTable {
    pub(super) fn push(&mut self, edges: Edges) {
        self.starts.push(self.shares.len() as u32);
        self.shares.extend(edges.shares);
        self.lifts.push(edges.lift);
    }

    /// The edges of a vertex, and how far its tangents lean from them; none if the table is empty.
    pub(super) fn of(&self, vertex: usize) -> (&[EdgeShare], Lift) {
        let Some(&lift) = self.lifts.get(vertex) else {
            return (&[], Lift::default());
        };
        let end = self.starts.get(vertex + 1).map(|&end| end as usize);
        let range = self.starts[vertex] as usize..end.unwrap_or(self.shares.len());
        (&self.shares[range], lift)
    }
}

/// Some vertices of a mesh, whose normals are computed in vector code: unit vectors, or zero where the tangents span no plane.
pub(super) struct EdgeNormals<'a, L> {
    pub(super) table: &'a EdgeTable,
    /// All source vertices.
    pub(super) positions: &'a [Padded],
    /// The first source vertex of the mesh.
    pub(super) first: usize,
    /// The first vertex of these in the mesh.
    pub(super) begin: usize,
    /// The linear part of the motion of a vertex' strongest joint.
    pub(super) linear: L,
    pub(super) out: &'a mut [Vec3],
}

impl<L: Fn(usize) -> Option<Matrix3<f32>>> WithSimd for EdgeNormals<'_, L> {
    type Output = ();

    #[expect(
        clippy::inline_always,
        reason = "vector code must be inlined into the function that enables the instructions"
    )]
    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        for (k, out) in self.out.iter_mut().enumerate() {
            let vertex = self.begin + k;
            let (edges, lift) = self.table.of(vertex);
            let own = self.positions[self.first + vertex];
            let [mut a, mut b] = [[0.0_f32; 4]; 2];
            for edge in edges {
                let to = sub(self.positions[edge.to as usize], own);
                a = multiply_add(simd, edge.along[0], to, a);
                b = multiply_add(simd, edge.along[1], to, b);
            }
            let [mut a, mut b] = [a, b].map(|tangent| Vec3::from(xyz(tangent)));
            if lift.along != [0.0; 2]
                && let Some(linear) = (self.linear)(vertex)
            {
                let up = linear * lift.up;
                a += up * lift.along[0];
                b += up * lift.along[1];
            }
            let normal = a.cross(&b);
            let (square, least) = (
                normal.norm_squared(),
                PARALLEL * a.norm_squared() * b.norm_squared(),
            );
            // Not for NaN, nor where squares vanish or overflow.
            let spans = least >= f32::MIN_POSITIVE && square > least && square.is_finite();
            *out = if spans {
                normal / square.sqrt()
            } else {
                Vec3::zeros()
            };
        }
    }
}

/// A method together with weights that its normals are blended by, if that is chosen or edges span no surface.
pub(in crate::methods) struct ByEdges<S> {
    skinner: S,
    /// In the bind pose, world space; only rest positions, weights and inverse bind matrices are used.
    meshes: Vec<BlendedMesh>,
    joint_from_bind: Vec<Affine>,
    /// Linear part of the motion of each joint from the bind pose, in the last frame.
    motions: Vec<Matrix3<f32>>,
}

impl<S> ByEdges<S> {
    /// `weights` are those of the skin's vertices, which blended normals go by.
    pub(in crate::methods) fn new(skinner: S, subject: &Subject, weights: &SkinWeights) -> Self {
        let skeleton = &subject.character.skeleton;
        let inverse = |joint: &crate::rig::Joint| {
            let inverse = joint.world_from_bind.try_inverse();
            inverse.unwrap_or_else(Affine::identity)
        };
        let joint_from_bind: Vec<Affine> = skeleton.joints().iter().map(inverse).collect();
        let (mut first, mut meshes) = (0, Vec::new());
        for mesh in &subject.character.meshes {
            let range = first..first + mesh.positions.len();
            let row = |source: usize| match &mesh.attachment {
                Attachment::Rigid { joint, .. } => vec![(*joint as u32, 1.0)],
                Attachment::Static { .. } => Vec::new(),
                Attachment::Skinned { .. } | Attachment::Unweighted => {
                    let skin = subject.skin.skin_from_source.get(source);
                    let skin = skin.copied().flatten();
                    skin.map_or_else(Vec::new, |skin| weights.row(skin as usize))
                }
            };
            meshes.push(BlendedMesh {
                rest: subject.bind_positions[range.clone()].to_vec(),
                weights: SkinWeights::from_rows(range.clone().map(row)).0,
                joint_from_mesh: joint_from_bind.clone(),
                world_from_mesh: Vec::new(),
                in_bind_pose: true,
                undisplaced: Vec::new(),
            });
            first = range.end;
        }
        Self {
            skinner,
            meshes,
            motions: vec![Matrix3::identity(); joint_from_bind.len()],
            joint_from_bind,
        }
    }
}

impl<S> ByEdges<S> {
    /// The method.
    pub(in crate::methods) fn skinner(&self) -> &S {
        &self.skinner
    }
}

impl<S: Skinner> Skinner for ByEdges<S> {
    fn skin(&mut self, frame: &Frame<'_>, out: &mut [Point]) -> Result<(), SkinError> {
        self.skinner.skin(frame, out)?;
        let joints = self.joint_from_bind.iter().zip(frame.world_from_joint);
        for (motion, (bind, world)) in self.motions.iter_mut().zip(joints) {
            *motion = (linear_part(world) * linear_part(bind)).cast::<f32>();
        }
        Ok(())
    }

    fn set_values(&mut self, values: &ParamValues) -> Result<(), BindError> {
        self.skinner.set_values(values)
    }

    fn displace(&mut self, offsets: Option<&MorphOffsets>) -> bool {
        self.skinner.displace(offsets)
    }

    fn explain(&self, vertex: usize) -> Vec<Term> {
        self.skinner.explain(vertex)
    }

    fn times(&self) -> Option<StepTimes> {
        self.skinner.times()
    }
}

impl<S: Skinner + Sync> Differentiable for ByEdges<S> {
    const BY_EDGES: bool = true;

    fn meshes(&self) -> impl Iterator<Item = &BlendedMesh> {
        self.meshes.iter()
    }

    fn blended(&self, mesh: usize, vertex: usize, normal: &Vec3) -> Option<Vec3> {
        let weights = &self.meshes[mesh].weights;
        weights.of(vertex).next()?;
        let terms = weights.of(vertex);
        let terms = terms.map(|(joint, weight)| (self.motions[joint], weight));
        Some(blended_cofactor(terms, normal))
    }

    fn strongest(&self, mesh: usize, vertex: usize) -> Option<Matrix3<f32>> {
        let joint = self.meshes[mesh].weights.strongest(vertex)?;
        self.motions.get(joint).copied()
    }
}
