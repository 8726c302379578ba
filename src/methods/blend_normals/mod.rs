//! Normals of methods that blend joint transforms.
//!
//! Three ways, chosen by the parameter `normals` of each such method:
//! - **exact**: the normal of the deformed surface as the derivative of the blend, n' ∝ J t₁ × J t₂ = cof(J) n for tangents t₁ × t₂ = n.
//!   For linear blending J = Σ w A + Σ (M v) ⊗ ∇w (Tarini, Panozzo, Sorkine-Hornung, "Accurate and Efficient Lighting for Skinned
//!   Models", CGF 33(2), 2014), with the gradient of the weights along the surface, two numbers an influence. Other blends have their own
//!   derivative by formula, as dual quaternions do. The others ([`Differentiable::BY_EDGES`]) have
//!   J t = Σ c (x'_j − x'_i) over the edges of a vertex, with coefficients c that are exact at rest.
//! - **blended**: n' ∝ Σ w cof(A) n, each term normalised first, as engines do. Gradients of weights are left out, so it is wrong inside
//!   every fold. The methods that blend rotations turn the normal by the blended rotation.
//! - **triangles**: the area-weighted mean of the deformed triangles, as of methods without formulas.
//!
//! The first two transform the file's normals, so that smoothing groups and edited normals are kept. Cofactors carry the sign of the
//! determinant: where joints mirror, normals agree with the orientation of the deformed triangles.
//!
//! # Departures
//! - Gradients of the weights are fitted by least squares over the triangles around a vertex, edges turned into the plane of the normal
//!   with their lengths kept. Influences that only a neighbour has are fitted, too.
//! - A mesh whose normals point to the back of its triangles gets them negated, as the renderer goes by the triangles.
//! - Where there is no gradient (no triangle with an area around the vertex) or no exact normal, the normal is the blended one; where that
//!   is zero, that of the largest influence.

mod by_edges;
mod fit;
mod on_device;
mod tables;

#[cfg(test)]
mod tests;

use std::sync::Arc;

use nalgebra::Matrix3;
use pulp::Arch;
use rayon::prelude::*;

pub(super) use self::by_edges::ByEdges;
use self::by_edges::EdgeNormals;
use self::tables::Tables;
use super::blended_mesh::BlendedMesh;
use super::registry::BindInput;
use super::{BindError, Frame, MorphOffsets, SkinError, Skinner, StepTimes, Subject, Term};
use crate::math::{Point, Vec3};
use crate::numerics::lanes::Padded;
use crate::param::{ParamKind, ParamSpec, ParamValues};
use crate::progress::{Cancelled, Progress};

/// Squared sine of the angle between the images of two tangents below which they span no plane in `f32`.
const PARALLEL: f32 = 1e-11;

/// Vertices that are handled by one call of vector code.
const BATCH: usize = 512;

/// Where normals come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Normals {
    /// From the derivative of the blend.
    Exact,
    /// Blended as positions are, without the gradients of weights.
    Blended,
    /// From the deformed triangles.
    Triangles,
}

/// Names of [`Normals`] in the order of their values.
const NAMES: &[&str] = &["exact", "blended", "triangles"];

/// The parameter of a method.
pub(super) const NORMALS: ParamSpec = ParamSpec {
    key: "normals",
    label: "Normals",
    unit: "",
    kind: ParamKind::Choice(NAMES),
    range: [0.0, 2.0],
    default: Normals::Exact as u8 as f64,
    doc: "Exact: of the deformed surface, from the file's normals. Blended: as engines do, wrong in folds. Triangles: from the deformed \
          triangles.",
};

impl Normals {
    fn of(values: &ParamValues) -> Self {
        match values.get(&NORMALS) as u32 {
            0 => Self::Exact,
            1 => Self::Blended,
            _ => Self::Triangles,
        }
    }
}

/// One influence on a vertex.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Slope {
    /// The joint.
    pub(super) joint: u32,
    /// Its weight; 0 if only a neighbour has the influence.
    pub(super) weight: f32,
    /// Derivative of the weight along the two tangents, per unit of length at rest.
    pub(super) along: [f32; 2],
}

/// Two unit tangents of the rest surface; zero where there is no gradient.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Tangents {
    /// Orthogonal; their cross product is the normal.
    pub(super) along: [Vec3; 2],
}

/// A method whose positions are a differentiable function of rest position and weights. All functions are about the last frame.
pub(super) trait Differentiable: Skinner + Sync {
    /// Whether tangents are found from the edges of the deformed surface, instead of from slopes of weights.
    const BY_EDGES: bool = false;

    /// The source meshes with their weights, in order.
    fn meshes(&self) -> impl Iterator<Item = &BlendedMesh>;

    /// The derivatives of the position along the tangents, unless [`Differentiable::BY_EDGES`]. The first of the slopes has the largest
    /// weight; there is none for a vertex that no joint moves.
    fn tangents(
        &self,
        _mesh: usize,
        _vertex: usize,
        rest: &Tangents,
        _slopes: &[Slope],
    ) -> [Vec3; 2] {
        rest.along
    }

    /// The image of a normal under the blend with constant weights, not normalised; `None` if no joint moves the vertex.
    fn blended(&self, mesh: usize, vertex: usize, normal: &Vec3) -> Option<Vec3>;

    /// The linear part of the motion of the joint with the largest weight.
    fn strongest(&self, mesh: usize, vertex: usize) -> Option<Matrix3<f32>>;
}

/// A skinner together with the chosen normals.
pub(super) struct WithNormals<S> {
    skinner: S,
    subject: Arc<Subject>,
    normals: Normals,
    /// Computed when they are first needed.
    tables: Option<Tables>,
    /// All source vertices in the last frame, if tangents are found from edges; the first of each mesh, too.
    positions: Vec<Padded>,
    firsts: Vec<usize>,
}

impl<S: Differentiable> WithNormals<S> {
    /// Adds the normals that [`NORMALS`] chooses.
    ///
    /// # Errors
    /// [`BindError::Cancelled`].
    pub(super) fn bind(skinner: S, input: &BindInput<'_>) -> Result<Self, BindError> {
        let mut firsts = vec![0];
        for mesh in skinner.meshes() {
            firsts.push(firsts[firsts.len() - 1] + mesh.rest.len());
        }
        let mut bound = Self {
            firsts,
            positions: Vec::new(),
            skinner,
            subject: input.subject.clone(),
            normals: Normals::Triangles,
            tables: None,
        };
        if S::BY_EDGES {
            let padded = |p: &Point| [p.x, p.y, p.z, 0.0];
            bound.positions = input.subject.bind_positions.iter().map(padded).collect();
        }
        bound.choose(Normals::of(input.values), input.progress)?;
        Ok(bound)
    }

    /// The method.
    pub(super) fn skinner(&self) -> &S {
        &self.skinner
    }

    /// The chosen normals.
    pub(super) fn normals(&self) -> Normals {
        self.normals
    }

    /// The tables, unless normals come from the triangles.
    fn tables_in_use(&self) -> Option<&Tables> {
        self.tables
            .as_ref()
            .filter(|_| self.normals != Normals::Triangles)
    }

    fn choose(&mut self, normals: Normals, progress: &Progress) -> Result<(), Cancelled> {
        if normals != Normals::Triangles && self.tables.is_none() {
            self.tables = Some(Tables::new(&self.subject, &self.skinner, progress)?);
        }
        self.normals = normals;
        Ok(())
    }

    fn exact(&self, tables: &Tables, mesh: usize, vertex: usize) -> Vec3 {
        let rest = tables.tangents(mesh, vertex);
        let slopes = tables.slopes(mesh, vertex);
        let [a, b] = self.skinner.tangents(mesh, vertex, &rest, slopes);
        let normal = a.cross(&b);
        let (square, least) = (
            normal.norm_squared(),
            PARALLEL * a.norm_squared() * b.norm_squared(),
        );
        // Not for NaN, nor where squares vanish or overflow.
        if least >= f32::MIN_POSITIVE && square > least && square.is_finite() {
            return normal / square.sqrt();
        }
        scaled_cross(&a, &b).unwrap_or_else(|| self.blended(tables, mesh, vertex))
    }

    /// Exact normals of a mesh from its edges.
    fn by_edges(&self, tables: &Tables, mesh: usize, out: &mut [Vec3]) {
        let arch = Arch::new();
        out.par_chunks_mut(BATCH)
            .with_min_len(4)
            .enumerate()
            .for_each(|(chunk, out)| {
                let begin = chunk * BATCH;
                arch.dispatch(EdgeNormals {
                    table: tables.edges(mesh),
                    positions: &self.positions,
                    first: self.firsts[mesh],
                    begin,
                    linear: |vertex| self.skinner.strongest(mesh, vertex),
                    out: &mut *out,
                });
                for (k, normal) in out.iter_mut().enumerate() {
                    if *normal == Vec3::zeros() {
                        *normal = self.blended(tables, mesh, begin + k);
                    }
                }
            });
    }

    fn blended(&self, tables: &Tables, mesh: usize, vertex: usize) -> Vec3 {
        let rest = tables.normal(mesh, vertex);
        let Some(blended) = self.skinner.blended(mesh, vertex, &rest) else {
            return unit(&rest).unwrap_or_else(Vec3::y);
        };
        let of_strongest = || {
            let linear = self.skinner.strongest(mesh, vertex)?;
            unit(&transformed(&linear, &rest))
        };
        // Opposite unit vectors leave some rounding behind.
        let long_enough = |normal: &Vec3| normal.norm() > 1e-4;
        Some(blended)
            .filter(long_enough)
            .and_then(|normal| unit(&normal))
            .or_else(of_strongest)
            .unwrap_or_else(Vec3::y)
    }
}

impl<S: Differentiable> Skinner for WithNormals<S> {
    fn skin(&mut self, frame: &Frame<'_>, out: &mut [Point]) -> Result<(), SkinError> {
        self.skinner.skin(frame, out)?;
        if S::BY_EDGES {
            for (kept, p) in self.positions.iter_mut().zip(&*out) {
                *kept = [p.x, p.y, p.z, 0.0];
            }
        }
        Ok(())
    }

    fn set_values(&mut self, values: &ParamValues) -> Result<(), BindError> {
        self.skinner.set_values(values)?;
        Ok(self.choose(Normals::of(values), &Progress::new())?)
    }

    fn normals_into(&self, normals: &mut [Vec3]) {
        let Some(tables) = self.tables_in_use() else {
            return;
        };
        let mut rest_of_normals = normals;
        for mesh in 0..tables.meshes() {
            let (here, after) = rest_of_normals.split_at_mut(tables.len(mesh));
            rest_of_normals = after;
            if S::BY_EDGES && self.normals == Normals::Exact {
                self.by_edges(tables, mesh, here);
                continue;
            }
            let each = here.par_iter_mut().with_min_len(2048).enumerate();
            if self.normals == Normals::Exact {
                each.for_each(|(vertex, normal)| *normal = self.exact(tables, mesh, vertex));
            } else {
                each.for_each(|(vertex, normal)| *normal = self.blended(tables, mesh, vertex));
            }
        }
    }

    fn has_all_normals(&self) -> bool {
        self.normals != Normals::Triangles
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

/// Σ w cof(A) n with each term normalised; terms without a direction are left out.
pub(super) fn blended_cofactor(
    weighted: impl Iterator<Item = (Matrix3<f32>, f32)>,
    normal: &Vec3,
) -> Vec3 {
    weighted
        .filter_map(|(linear, weight)| Some(unit(&transformed(&linear, normal))? * weight))
        .sum()
}

/// The image of a normal under a linear map, up to a positive factor: cof(A) n of A scaled to entries of 1 at most.
fn transformed(linear: &Matrix3<f32>, normal: &Vec3) -> Vec3 {
    let largest = linear.amax();
    if !(largest.is_finite() && largest > 0.0) {
        return Vec3::zeros();
    }
    // Products of entries neither vanish nor overflow in between.
    let linear = if (1e-4..1e4).contains(&largest) {
        *linear
    } else {
        linear / largest
    };
    let [a, b, c]: [Vec3; 3] = [0, 1, 2].map(|k| linear.column(k).into_owned());
    b.cross(&c) * normal.x + c.cross(&a) * normal.y + a.cross(&b) * normal.z
}

/// The unit vector of that direction; `None` for zero, NaN and infinity.
fn unit(vector: &Vec3) -> Option<Vec3> {
    let square = vector.norm_squared();
    if (1e-20..1e20).contains(&square) {
        return Some(vector / square.sqrt());
    }
    let largest = vector.amax();
    if !(largest.is_finite() && largest > 0.0) {
        return None;
    }
    let scaled = vector / largest;
    Some(scaled / scaled.norm())
}

/// The unit normal of two tangents of any length; `None` if they span no plane.
fn scaled_cross(a: &Vec3, b: &Vec3) -> Option<Vec3> {
    let normal = unit(a)?.cross(&unit(b)?);
    let square = normal.norm_squared();
    (square > PARALLEL).then(|| normal / square.sqrt())
}
