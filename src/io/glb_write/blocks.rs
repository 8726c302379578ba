//! Accessors for the arrays of a mesh.

use serde_json::{Value, json};

use super::draft::{GlbDraft, JsonObject, ViewUse};
use crate::math::{Affine, Point, Vec3};
use crate::mesh::Bounds;
use crate::weights::SkinWeights;

const U8: u32 = 5121;
const U16: u32 = 5123;
const U32: u32 = 5125;
const F32: u32 = 5126;

/// Number of components of an accessor element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ElementShape {
    Scalar,
    Vec2,
    Vec3,
    Vec4,
    Mat4,
}

impl ElementShape {
    fn name(self) -> &'static str {
        match self {
            Self::Scalar => "SCALAR",
            Self::Vec2 => "VEC2",
            Self::Vec3 => "VEC3",
            Self::Vec4 => "VEC4",
            Self::Mat4 => "MAT4",
        }
    }

    fn numbers(self) -> usize {
        match self {
            Self::Scalar => 1,
            Self::Vec2 => 2,
            Self::Vec3 => 3,
            Self::Vec4 => 4,
            Self::Mat4 => 16,
        }
    }
}

impl GlbDraft {
    fn accessor(
        &mut self,
        bytes: &[u8],
        used: ViewUse,
        component: u32,
        count: usize,
        shape: ElementShape,
    ) -> Value {
        let view = self.view(bytes, used);
        json!({"bufferView": view, "componentType": component, "count": count, "type": shape.name()})
    }

    pub(super) fn floats(&mut self, values: &[f32], used: ViewUse, shape: ElementShape) -> usize {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        let accessor = self.accessor(&bytes, used, F32, values.len() / shape.numbers(), shape);
        self.push("accessors", accessor)
    }

    pub(super) fn vectors(&mut self, vectors: &[Vec3]) -> usize {
        let values: Vec<f32> = vectors.iter().flat_map(|v| [v.x, v.y, v.z]).collect();
        self.floats(&values, ViewUse::Attribute, ElementShape::Vec3)
    }

    /// With the bounds that the standard requires for positions (3.7.2.1).
    pub(super) fn positions(&mut self, positions: &[Point]) -> usize {
        let values: Vec<f32> = positions.iter().flat_map(|p| [p.x, p.y, p.z]).collect();
        let index = self.floats(&values, ViewUse::Attribute, ElementShape::Vec3);
        let bounds = Bounds::of(positions);
        if !bounds.is_empty() {
            let accessor = &mut self.list_mut("accessors")[index];
            accessor["min"] = json!(bounds.min.coords.as_slice());
            accessor["max"] = json!(bounds.max.coords.as_slice());
        }
        index
    }

    /// With the bounds that the standard requires for key times (5.6).
    pub(super) fn times(&mut self, times: &[f64]) -> usize {
        let values: Vec<f32> = times.iter().map(|&t| t as f32).collect();
        let index = self.floats(&values, ViewUse::Other, ElementShape::Scalar);
        let accessor = &mut self.list_mut("accessors")[index];
        accessor["min"] = json!([values.iter().copied().fold(f32::INFINITY, f32::min)]);
        accessor["max"] = json!([values.iter().copied().fold(f32::NEG_INFINITY, f32::max)]);
        index
    }

    pub(super) fn corners(&mut self, triangles: &[[u32; 3]], vertices: usize) -> usize {
        let corners = triangles.as_flattened();
        let (bytes, component): (Vec<u8>, _) = if u16::try_from(vertices).is_ok() {
            (
                corners
                    .iter()
                    .flat_map(|&i| (i as u16).to_le_bytes())
                    .collect(),
                U16,
            )
        } else {
            (corners.iter().flat_map(|&i| i.to_le_bytes()).collect(), U32)
        };
        let accessor = self.accessor(
            &bytes,
            ViewUse::Corners,
            component,
            corners.len(),
            ElementShape::Scalar,
        );
        self.push("accessors", accessor)
    }

    pub(super) fn matrices(&mut self, matrices: &[Affine]) -> usize {
        let values: Vec<f32> = matrices.iter().flat_map(matrix).collect();
        self.floats(&values, ViewUse::Other, ElementShape::Mat4)
    }

    /// Writes `JOINTS_n` and `WEIGHTS_n`, as many sets as the largest number of influences
    /// requires. `place_of` maps a joint of the skeleton to its index in the skin's list of
    /// `joints` joints.
    pub(super) fn weights(
        &mut self,
        weights: &SkinWeights,
        joints: usize,
        place_of: impl Fn(usize) -> u16,
        attributes: &mut JsonObject,
    ) {
        let most = (0..weights.len())
            .map(|v| weights.of(v).count())
            .max()
            .unwrap_or(0);
        for set in 0..most.div_ceil(4).max(1) {
            let mut indices = Vec::with_capacity(weights.len() * 4);
            let mut values = Vec::with_capacity(weights.len() * 4);
            for vertex in 0..weights.len() {
                let mut row = weights.of(vertex).skip(set * 4);
                for _ in 0..4 {
                    let (joint, weight) = row
                        .next()
                        .map_or((0, 0.0), |(joint, weight)| (place_of(joint), weight));
                    indices.push(joint);
                    values.push(weight);
                }
            }
            let (bytes, component): (Vec<u8>, _) = if joints <= 256 {
                (indices.iter().map(|&i| i as u8).collect(), U8)
            } else {
                (indices.iter().flat_map(|i| i.to_le_bytes()).collect(), U16)
            };
            let accessor = self.accessor(
                &bytes,
                ViewUse::Attribute,
                component,
                weights.len(),
                ElementShape::Vec4,
            );
            attributes.insert(
                format!("JOINTS_{set}"),
                json!(self.push("accessors", accessor)),
            );
            attributes.insert(
                format!("WEIGHTS_{set}"),
                json!(self.floats(&values, ViewUse::Attribute, ElementShape::Vec4)),
            );
        }
    }
}

/// Rounded to the precision of the file.
pub(super) fn matrix(transform: &Affine) -> [f32; 16] {
    std::array::from_fn(|i| transform.matrix()[i] as f32)
}
