//! Parts of the skin that are not flesh follow it: cloth per vertex, small props rigidly with the surface, others rigidly
//! with a joint.
//!
//! [`crate::tissue::parts`] decides how each part moves. Binding is done once at rest; a frame then moves the parts with the
//! flesh.
//!
//! - `soft`: a vertex follows a smooth blend of local affine frames of the flesh around it; close to the flesh it also
//!   follows its closest point exactly, so that cloth neither tears nor intersects.
//! - `stiff`: a cluster of parts moves by the rigid motion that best fits a patch of the adjacent surface (flesh and the
//!   cloth on it).
//! - rigid: a part moves with its joint, independently of the flesh.

mod soft;
mod stiff;
#[cfg(test)]
mod tests;

use nalgebra::{Matrix3x4, Matrix4};

use crate::character::Place;
use crate::math::{Affine, Point, Vec3};
use crate::mesh::{Closest, TriMesh, TriangleTree};
use crate::progress::{Cancelled, Progress};
use crate::rig::Skeleton;
use crate::tissue::Parts;
use crate::weights::SkinWeights;
use soft::Soft;
pub use soft::{Control, FRAMES, Rider, STRETCH, TangentCoefficients};
pub use stiff::{PATCH, PatchPoint, Stiff};

/// Vertices that move with one joint.
#[derive(Debug, Clone)]
pub struct Rigid {
    /// The joint.
    pub joint: usize,
    /// At rest.
    pub joint_from_world: Affine,
    /// Of the skin.
    pub vertices: Vec<u32>,
    /// World positions at rest.
    pub rest: Vec<Point>,
}

/// Binding of cloth and props by vertices of the skin, for devices (`gpu::surface`).
#[derive(Debug, Clone, Copy)]
pub struct PlainRiding<'a> {
    /// Cloth, per vertex.
    pub cloth: PlainCloth<'a>,
    /// Props, per cluster; evaluated after the cloth.
    pub stiff: &'a [Stiff],
    /// Parts that move with joints.
    pub rigid: &'a [Rigid],
}

/// Cloth, as the documentation of `soft` says.
#[derive(Debug, Clone, Copy)]
pub struct PlainCloth<'a> {
    /// Positions are relative to this point.
    pub origin: Point,
    /// Points of the flesh with frames.
    pub controls: &'a [Control],
    /// Neighbours that the controls' frames are fitted to.
    pub patches: &'a [TangentCoefficients],
    /// The vertices of cloth.
    pub riders: &'a [Rider],
}

/// The parts that are not flesh, bound to it at rest.
#[derive(Debug, Clone)]
pub struct Riding {
    soft: Soft,
    stiff: Vec<Stiff>,
    rigid: Vec<Rigid>,
    vertices: usize,
}

/// The flesh surface that cloth and props are bound to.
struct BindTarget<'a> {
    mesh: &'a TriMesh,
    parts: &'a Parts,
    weights: Option<&'a SkinWeights>,
    tree: TriangleTree,
    /// Per vertex, a third of the area of its triangles.
    area: Vec<f32>,
    /// Diagonal of the skin's box.
    size: f64,
}

impl Riding {
    /// Binds the parts of a skin in the bind pose. `weights` has one row per vertex of the skin, if given (from the file or
    /// computed from distances); with weights, a vertex only follows flesh that moves like itself.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn bind(
        mesh: &TriMesh,
        parts: &Parts,
        skeleton: &Skeleton,
        weights: Option<&SkinWeights>,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        let mut rigid: Vec<Rigid> = Vec::new();
        let mut cloth = Vec::new();
        let mut clusters: Vec<Vec<u32>> = Vec::new();
        for (vertex, &part) in parts.part_of_vertex.iter().enumerate() {
            let part = &parts.parts[part as usize];
            match (part.place, part.cluster) {
                (Place::Flesh, _) => {}
                (Place::Rides, None) => cloth.push(vertex as u32),
                (Place::Rides, Some(cluster)) => {
                    clusters.resize(clusters.len().max(cluster as usize + 1), Vec::new());
                    clusters[cluster as usize].push(vertex as u32);
                }
                (Place::Rigid { joint }, _) => {
                    let index = rigid
                        .iter()
                        .position(|rigid| rigid.joint == joint)
                        .unwrap_or_else(|| {
                            let world_from_bind = skeleton.joints()[joint].world_from_bind;
                            let joint_from_world = world_from_bind
                                .try_inverse()
                                .unwrap_or_else(Affine::identity);
                            rigid.push(Rigid {
                                joint,
                                joint_from_world,
                                vertices: Vec::new(),
                                rest: Vec::new(),
                            });
                            rigid.len() - 1
                        });
                    rigid[index].vertices.push(vertex as u32);
                    rigid[index].rest.push(mesh.positions[vertex]);
                }
            }
        }
        clusters.retain(|cluster| !cluster.is_empty());
        let vertices = cloth.len()
            + clusters.iter().map(Vec::len).sum::<usize>()
            + rigid.iter().map(|r| r.vertices.len()).sum::<usize>();
        if cloth.is_empty() && clusters.is_empty() {
            return Ok(Self {
                soft: Soft::default(),
                stiff: Vec::new(),
                rigid,
                vertices,
            });
        }
        let ground = BindTarget::new(mesh, parts, weights);
        progress.check()?;
        let soft = Soft::bind(&ground, &cloth);
        progress.check()?;
        let mut stiff = Vec::with_capacity(clusters.len());
        for cluster in &clusters {
            stiff.push(Stiff::bind(&ground, cluster));
            progress.check()?;
        }
        Ok(Self {
            soft,
            stiff,
            rigid,
            vertices,
        })
    }

    /// Moves all vertices that are not flesh, given the flesh vertices in `skin_positions`. Allocates nothing, and the
    /// result does not depend on the number of threads.
    ///
    /// # Panics
    /// If there are fewer positions or joints than when it was bound.
    pub fn place(&mut self, skin_positions: &mut [Point], world_from_joint: &[Affine]) {
        self.soft.place(skin_positions);
        for stiff in &mut self.stiff {
            stiff.place(skin_positions);
        }
        for rigid in &self.rigid {
            let world: Matrix4<f64> =
                (world_from_joint[rigid.joint] * rigid.joint_from_world).to_homogeneous();
            let world: Matrix3x4<f32> = world.fixed_view::<3, 4>(0, 0).into_owned().cast();
            for (&vertex, rest) in rigid.vertices.iter().zip(&rigid.rest) {
                let turned: Vec3 = world.fixed_view::<3, 3>(0, 0) * rest.coords;
                skin_positions[vertex as usize] = Point::from(turned + world.column(3));
            }
        }
    }

    /// The binding as data.
    #[must_use]
    pub fn plain(&self) -> PlainRiding<'_> {
        PlainRiding {
            cloth: self.soft.plain(),
            stiff: &self.stiff,
            rigid: &self.rigid,
        }
    }

    /// Number of vertices that are not flesh.
    #[must_use]
    pub fn len(&self) -> usize {
        self.vertices
    }

    /// Whether the whole skin is flesh.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.vertices == 0
    }
}

impl<'a> BindTarget<'a> {
    fn new(mesh: &'a TriMesh, parts: &'a Parts, weights: Option<&'a SkinWeights>) -> Self {
        let mut area = vec![0.0; mesh.positions.len()];
        for (index, triangle) in mesh.triangles.iter().enumerate() {
            let [a, b, c] = mesh.corners(index);
            let third = (b - a).cross(&(c - a)).norm() / 6.0;
            for &v in triangle {
                area[v as usize] += if third.is_finite() { third } else { 0.0 };
            }
        }
        Self {
            mesh,
            parts,
            weights,
            tree: TriangleTree::new(mesh),
            area,
            size: f64::from(mesh.bounds().size()),
        }
    }

    fn place_of(&self, vertex: u32) -> (Place, Option<u32>) {
        let part = &self.parts.parts[self.parts.part_of_vertex[vertex as usize] as usize];
        (part.place, part.cluster)
    }

    fn is_flesh(&self, vertex: u32) -> bool {
        self.place_of(vertex).0 == Place::Flesh
    }

    /// Flesh, or cloth on it.
    fn carries(&self, vertex: u32) -> bool {
        matches!(
            self.place_of(vertex),
            (Place::Flesh, _) | (Place::Rides, None)
        )
    }

    /// Similarity of two vertices' motion, 0..=1: the weight that they share. 1 without weights.
    fn motion_similarity(&self, a: u32, b: u32) -> f32 {
        let Some(weights) = self.weights else {
            return 1.0;
        };
        let common = |(joint, value): (usize, f32)| {
            weights
                .of(b as usize)
                .find(|&(other, _)| other == joint)
                .map_or(0.0, |(_, other)| other.min(value))
        };
        let has_none = |v: u32| weights.of(v as usize).next().is_none();
        if has_none(a) || has_none(b) {
            1.0
        } else {
            weights.of(a as usize).map(common).sum()
        }
    }

    /// The closest point of the flesh, preferring flesh that moves alike.
    fn closest_flesh(&self, vertex: u32) -> Option<Closest> {
        let position = self.mesh.positions[vertex as usize].cast::<f64>();
        let corner = |triangle: u32| self.mesh.triangles[triangle as usize][0];
        let alike = |triangle: u32| {
            self.is_flesh(corner(triangle))
                && self.motion_similarity(vertex, corner(triangle)) > 0.3
        };
        let any = self.tree.closest(&position, f64::INFINITY, |triangle| {
            self.is_flesh(corner(triangle))
        })?;
        if alike(any.triangle) {
            return Some(any);
        }
        let reach = 3.0 * any.distance + 0.02 * self.size;
        self.tree.closest(&position, reach, alike).or(Some(any))
    }
}
