//! The binary part: views, and accessors of the arrays of a mesh.

use gltf::json::accessor::{ComponentType, GenericComponentType, Type};
use gltf::json::buffer::{Target, View};
use gltf::json::mesh::Semantic;
use gltf::json::validation::{Checked, USize64};
use gltf::json::{Accessor, Index};
use serde_json::json;

use super::{Attributes, Writer};
use crate::character::SourceMesh;
use crate::mesh::Bounds;
use crate::weights::SkinWeights;

impl Writer {
    /// Appends a 4-byte-aligned view of the binary part.
    pub(super) fn view(&mut self, bytes: &[u8], target: Option<Target>) -> Index<View> {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let view = View {
            buffer: Index::new(0),
            byte_offset: Some(USize64::from(self.bytes.len())),
            byte_length: USize64::from(bytes.len()),
            byte_stride: None,
            target: target.map(Checked::Valid),
            name: None,
            extensions: None,
            extras: <_>::default(),
        };
        self.bytes.extend_from_slice(bytes);
        self.root.push(view)
    }

    fn accessor(&mut self, bytes: &[u8], target: Option<Target>, component: ComponentType, shape: Type) -> Index<Accessor> {
        let accessor = Accessor {
            buffer_view: Some(self.view(bytes, target)),
            byte_offset: None,
            count: USize64::from(bytes.len() / (component.size() * shape.multiplicity())),
            component_type: Checked::Valid(GenericComponentType(component)),
            type_: Checked::Valid(shape),
            min: None,
            max: None,
            normalized: false,
            sparse: None,
            name: None,
            extensions: None,
            extras: <_>::default(),
        };
        self.root.push(accessor)
    }

    pub(super) fn floats(&mut self, values: &[f32], target: Option<Target>, shape: Type) -> Index<Accessor> {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.accessor(&bytes, target, ComponentType::F32, shape)
    }

    /// With the bounds that the standard wants of positions (3.7.2.1).
    pub(super) fn positions(&mut self, mesh: &SourceMesh) -> Index<Accessor> {
        let values: Vec<f32> = mesh.positions.iter().flat_map(|p| [p.x, p.y, p.z]).collect();
        let index = self.floats(&values, Some(Target::ArrayBuffer), Type::Vec3);
        let bounds = Bounds::of(&mesh.positions);
        if !bounds.is_empty() {
            let accessor = &mut self.root.accessors[index.value()];
            accessor.min = Some(json!(bounds.min.coords.as_slice()));
            accessor.max = Some(json!(bounds.max.coords.as_slice()));
        }
        index
    }

    /// With the bounds that the standard wants of key times (5.6).
    pub(super) fn times(&mut self, times: &[f64]) -> Index<Accessor> {
        let values: Vec<f32> = times.iter().map(|&t| t as f32).collect();
        let index = self.floats(&values, None, Type::Scalar);
        let accessor = &mut self.root.accessors[index.value()];
        accessor.min = Some(json!([values.iter().copied().fold(f32::INFINITY, f32::min)]));
        accessor.max = Some(json!([values.iter().copied().fold(f32::NEG_INFINITY, f32::max)]));
        index
    }

    pub(super) fn indices(&mut self, mesh: &SourceMesh) -> Index<Accessor> {
        let corners = mesh.triangles.as_flattened();
        let (bytes, component): (Vec<u8>, _) = if u16::try_from(mesh.positions.len()).is_ok() {
            (corners.iter().flat_map(|&i| (i as u16).to_le_bytes()).collect(), ComponentType::U16)
        } else {
            (corners.iter().flat_map(|&i| i.to_le_bytes()).collect(), ComponentType::U32)
        };
        self.accessor(&bytes, Some(Target::ElementArrayBuffer), component, Type::Scalar)
    }

    /// Writes `JOINTS_n` and `WEIGHTS_n`, as many as the vertex with most influences needs.
    pub(super) fn weights(&mut self, weights: &SkinWeights, joints: usize, attributes: &mut Attributes) {
        let most = (0..weights.len()).map(|v| weights.of(v).count()).max().unwrap_or(0);
        for set in 0..most.div_ceil(4).max(1) {
            let mut indices = Vec::with_capacity(weights.len() * 4);
            let mut values = Vec::with_capacity(weights.len() * 4);
            for vertex in 0..weights.len() {
                let mut row = weights.of(vertex).skip(set * 4);
                for _ in 0..4 {
                    let (joint, weight) = row.next().unwrap_or((0, 0.0));
                    indices.push(joint as u16);
                    values.push(weight);
                }
            }
            let (bytes, component): (Vec<u8>, _) = if joints <= 256 {
                (indices.iter().map(|&i| i as u8).collect(), ComponentType::U8)
            } else {
                (indices.iter().flat_map(|i| i.to_le_bytes()).collect(), ComponentType::U16)
            };
            let indices = self.accessor(&bytes, Some(Target::ArrayBuffer), component, Type::Vec4);
            let values = self.floats(&values, Some(Target::ArrayBuffer), Type::Vec4);
            attributes.insert(Checked::Valid(Semantic::Joints(set as u32)), indices);
            attributes.insert(Checked::Valid(Semantic::Weights(set as u32)), values);
        }
    }
}
