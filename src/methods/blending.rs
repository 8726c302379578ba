//! What source vertices are made of on a device, and how those that follow joints are placed.

pub use super::deformer::Deformer;
use super::deformer::MOTION;
use crate::math::{Affine, Point, Vec3};

/// How the position of a source vertex is computed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum VertexSource {
    /// At rest, or computed with cloth or props: see [`super::recipe::Cloth::targets`] and [`super::recipe::Cluster::vertices`].
    Still,
    /// A blend of joint transforms.
    Blended {
        /// Position that the transforms are applied to.
        rest: Point,
        /// The first of its [`super::Recipe::influences`].
        first: u32,
    },
    /// Placed by the tables of [`super::Recipe::blending`].
    Deformed {
        /// Position at rest, in the space of the transforms.
        rest: Point,
        /// The first of its [`super::Recipe::influences`].
        first: u32,
    },
    /// It is a vertex of the simulation mesh.
    Simulated(u32),
    /// It is a fine vertex of the upsampling, whose local frame carries its normal.
    Flesh {
        /// The fine vertex.
        vertex: u32,
        /// Components in the dual frame: see [`crate::upsample::Directions::plain`].
        normal: [f32; 3],
    },
}

/// A transform of the palette and its weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Influence {
    /// Index into [`super::Recipe::palette`].
    pub entry: u32,
    /// Weight; those of a vertex sum to 1, largest first where joints are blended.
    pub weight: f32,
    /// Whether the next influence belongs to another vertex.
    pub is_last: bool,
}

/// A transform that vertices are blended by: `world_from_joint · joint_from_rest`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PaletteEntry {
    /// The joint.
    pub joint: usize,
    /// The constant part.
    pub joint_from_rest: Affine,
}

/// How vertices that follow joints are placed, with the tables that a way needs beside the influences.
#[derive(Debug, Clone, Default)]
pub enum Blending {
    /// Joint matrices are blended.
    #[default]
    Linear,
    /// Dual quaternions are blended.
    DualQuaternions,
    /// A centre follows the blended matrices, and the vertex is turned about it by the blended rotation. One centre per source vertex, in
    /// the space of its rest position.
    Centers(Vec<Point>),
    /// Direct delta mush.
    Smoothed(Smoothed),
    /// Deformers that swing and twist.
    Deformers(Deformers),
}

/// Tables of direct delta mush. Lengths are relative to the vertex and in its own unit of length.
#[derive(Debug, Clone, Default)]
pub struct Smoothed {
    /// Of every source vertex: the offset p − v̄ of its neighbourhood, and the unit of length in world units.
    pub hoods: Vec<[f32; 4]>,
    /// Of every influence, the first nine of the ten numbers of its matrix Ω; the tenth is the weight.
    pub moments: Vec<[f32; 9]>,
    /// Entries of the palette from this one on are relative to the place where the first entry takes its origin. Those before are not: they
    /// move vertices that are blended linearly.
    pub first_relative: usize,
}

/// Tables of deformers. The palette has one entry per joint, in order.
#[derive(Debug, Clone, Default)]
pub struct Deformers {
    /// All deformers. The entry of an influence is a joint that the vertex follows rigidly, or the number of joints plus that of a deformer.
    pub deformers: Vec<Deformer>,
    /// Of every influence, by how much it swings and twists; unused for rigid ones.
    pub bends: Vec<[f32; 2]>,
}

/// Tables of normals that are computed from the transforms of joints, for all source vertices.
#[derive(Debug, Clone, Default)]
pub struct BlendNormals {
    /// Whether from the derivative of the blend; else from the blend with constant weights.
    pub is_exact: bool,
    /// Of every source vertex.
    pub rows: Vec<NormalRow>,
    /// Slopes of all vertices.
    pub slopes: Vec<WeightSlope>,
    /// The edges that images of tangents are made of, for methods without slopes.
    pub edges: Option<EdgeTangents>,
}

/// Edges of the deformed surface that tangents are made of: t' = Σ c (x'_j − x'_i) + l A m, with the linear part A of the first slope's
/// transform.
#[derive(Debug, Clone, Default)]
pub struct EdgeTangents {
    /// Of every source vertex.
    pub rows: Vec<EdgeRow>,
    /// The edges of all vertices.
    pub edges: Vec<TangentEdge>,
}

/// The edges of a source vertex.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct EdgeRow {
    /// Begin and end in [`EdgeTangents::edges`]; without an edge, the blend is used.
    pub edges: [u32; 2],
    /// l of both tangents.
    pub lift: [f32; 2],
    /// m, in the space of the rest position.
    pub up: Vec3,
}

/// An edge to a neighbour and its coefficients.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TangentEdge {
    /// The neighbour, a source vertex.
    pub to: u32,
    /// c of both tangents, per unit of length at rest.
    pub along: [f32; 2],
}

/// The surface around a vertex at rest, in the space that the transforms are applied to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NormalRow {
    /// Position.
    pub rest: Point,
    /// Unit normal.
    pub normal: Vec3,
    /// A unit tangent; zero where weights have no gradient. The second tangent is normal × tangent.
    pub tangent: Vec3,
    /// The first of its [`BlendNormals::slopes`]; none if no joint moves the vertex.
    pub first: Option<u32>,
}

/// A transform of the palette that moves a vertex or its neighbours.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct WeightSlope {
    /// Index into [`super::Recipe::palette`].
    pub entry: u32,
    /// Weight; 0 if only a neighbour has the influence. The largest comes first.
    pub weight: f32,
    /// Derivatives of the weight along the two tangents, per unit of length at rest.
    pub along: [f32; 2],
    /// Whether the next slope belongs to another vertex.
    pub is_last: bool,
}

impl Deformers {
    /// Vectors of four numbers that describe a deformer in one pose: see [`Deformer::motion`].
    pub const MOTION: usize = MOTION;
}

impl Blending {
    /// The entries of the palette, which has `joints` of them, that an influence is made of.
    pub(super) fn entries(&self, entry: u32, joints: usize) -> [u32; 2] {
        let deformer = match self {
            Self::Deformers(tables) => (entry as usize)
                .checked_sub(joints)
                .map(|deformer| &tables.deformers[deformer]),
            _ => None,
        };
        deformer.map_or([entry; 2], |deformer| [deformer.parent, deformer.joint])
    }
}
