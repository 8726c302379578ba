//! Where on the skin a frame is worst.

use super::{RestSkin, Unit};
use crate::math::{Affine, Point, Point64, origin_of};

/// The place where a quantity is worst in a frame, with the value there.
///
/// The value has a unit of its own: the 99th percentile of stretch is a number of the whole skin, the value at its place is the stretch of
/// one edge; a count of creases has the angle of the sharpest one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Place {
    /// Where.
    pub spot: Spot,
    /// The value there.
    pub value: f64,
    /// Unit of the value.
    pub unit: Unit,
}

/// A part of the character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Spot {
    /// A vertex.
    Vertex(u32),
    /// An edge, by its vertices.
    Edge([u32; 2]),
    /// A triangle, by its vertices.
    Triangle([u32; 3]),
    /// A joint.
    Joint(u32),
}

impl Place {
    /// The place with vertices of the source meshes instead of those of the welded skin.
    #[must_use]
    pub(super) fn on_source(self, rest: &RestSkin) -> Self {
        let source = |vertex: u32| rest.source_from_skin[vertex as usize];
        let spot = match self.spot {
            Spot::Vertex(vertex) => Spot::Vertex(source(vertex)),
            Spot::Edge(edge) => Spot::Edge(edge.map(source)),
            Spot::Triangle(triangle) => Spot::Triangle(triangle.map(source)),
            joint @ Spot::Joint(_) => joint,
        };
        Self { spot, ..self }
    }
}

impl Spot {
    /// The vertices; none for a joint.
    #[must_use]
    pub fn vertices(&self) -> &[u32] {
        match self {
            Self::Vertex(vertex) => std::slice::from_ref(vertex),
            Self::Edge(edge) => edge,
            Self::Triangle(triangle) => triangle,
            Self::Joint(_) => &[],
        }
    }

    /// The middle of its vertices, or the joint, in world units; `None` if an index is out of range.
    #[must_use]
    pub fn position(&self, positions: &[Point], world_from_joint: &[Affine]) -> Option<Point64> {
        if let Self::Joint(joint) = self {
            return world_from_joint.get(*joint as usize).map(origin_of);
        }
        let vertices = self.vertices();
        let mut sum = Point64::origin();
        for &vertex in vertices {
            sum += positions.get(vertex as usize)?.coords.cast::<f64>() / vertices.len() as f64;
        }
        Some(sum)
    }
}
