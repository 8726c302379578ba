//! Writes a character as binary glTF 2.0 (GLB), as the reader understands it.
//!
//! One node per joint (and one more above it where the character has a constant transform there), one node per source mesh, one
//! skin per skinned mesh. Positions are written as they are, weights as `f32`, in as many sets of four as the vertices need, so
//! that a character that is written and read is the same. Readers meet meshes depth-first from the roots: meshes before the first
//! rigid prop are therefore roots before the skeleton, props are children of their joints, later meshes are roots after it.

use std::io::Cursor;

use serde_json::{Value, json};

use crate::character::{Attachment, Character, Image, Material, SourceMesh};
use crate::math::{Affine, Vec64};
use crate::mesh::Bounds;
use crate::rig::{Channel, Clip, Curve, Interpolation, Skeleton};
use crate::weights::SkinWeights;

/// Why a character can't be written as GLB.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GlbWriteError {
    /// GLB stores lengths in 32 bits.
    #[error("the character needs {bytes} bytes, more than the 4 GiB that a GLB file can hold; write fewer vertices or clips")]
    TooLarge {
        /// Size of the binary part.
        bytes: usize,
    },
    /// A mesh whose lists contradict each other.
    #[error("mesh \"{mesh}\" can't be written: {what}")]
    Inconsistent {
        /// Name of the mesh.
        mesh: String,
        /// What contradicts.
        what: &'static str,
    },
    /// A texture could not be encoded.
    #[error("the texture of material \"{material}\" can't be encoded as PNG")]
    Texture {
        /// Name of the material.
        material: String,
        /// What the encoder said.
        #[source]
        source: image::ImageError,
    },
}

const ARRAY_BUFFER: u32 = 34962;
const ELEMENT_ARRAY_BUFFER: u32 = 34963;
const U8: u32 = 5121;
const U16: u32 = 5123;
const U32: u32 = 5125;
const F32: u32 = 5126;

/// A character as the bytes of a `.glb` file. Deterministic: equal characters give equal bytes.
///
/// # Errors
/// [`GlbWriteError`].
pub fn write_glb(character: &Character) -> Result<Vec<u8>, GlbWriteError> {
    let mut out = Writer::default();
    let joint_nodes = out.skeleton(&character.skeleton);
    for material in &character.materials {
        out.material(material)?;
    }
    for mesh in &character.meshes {
        out.mesh(mesh, &character.skeleton, &joint_nodes)?;
    }
    for clip in &character.clips {
        out.clip(clip, &joint_nodes);
    }
    out.finish(&character.name)
}

#[derive(Default)]
struct Writer {
    bytes: Vec<u8>,
    views: Vec<Value>,
    accessors: Vec<Value>,
    nodes: Vec<Value>,
    /// Nodes of meshes that come before the skeleton.
    first_roots: Vec<usize>,
    roots: Vec<usize>,
    children: Vec<Vec<usize>>,
    had_prop: bool,
    meshes: Vec<Value>,
    skins: Vec<Value>,
    materials: Vec<Value>,
    textures: Vec<Value>,
    images: Vec<Value>,
    animations: Vec<Value>,
}

impl Writer {
    /// Appends a 4-byte-aligned view of the binary part.
    fn view(&mut self, bytes: &[u8], target: Option<u32>) -> usize {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let mut view = json!({"buffer": 0, "byteOffset": self.bytes.len(), "byteLength": bytes.len()});
        if let Some(target) = target {
            view["target"] = json!(target);
        }
        self.bytes.extend_from_slice(bytes);
        self.views.push(view);
        self.views.len() - 1
    }

    fn accessor(&mut self, bytes: &[u8], target: Option<u32>, component: u32, kind: &str, count: usize) -> usize {
        let view = self.view(bytes, target);
        self.accessors.push(json!({"bufferView": view, "componentType": component, "count": count, "type": kind}));
        self.accessors.len() - 1
    }

    fn floats(&mut self, values: &[f32], target: Option<u32>, kind: &str, width: usize) -> usize {
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        self.accessor(&bytes, target, F32, kind, values.len() / width)
    }

    fn node(&mut self, node: Value, parent: Option<usize>) -> usize {
        let index = self.nodes.len();
        self.nodes.push(node);
        self.children.push(Vec::new());
        match parent {
            Some(parent) => self.children[parent].push(index),
            None => self.roots.push(index),
        }
        index
    }

    /// Writes the joints; returns the node of each.
    fn skeleton(&mut self, skeleton: &Skeleton) -> Vec<usize> {
        let mut nodes: Vec<usize> = Vec::with_capacity(skeleton.len());
        for joint in skeleton.joints() {
            let mut parent = joint.parent.map(|p| nodes[p]);
            if joint.parent_from_base != Affine::identity() {
                let base = json!({"name": format!("{} base", joint.name), "matrix": matrix(&joint.parent_from_base)});
                parent = Some(self.node(base, parent));
            }
            let mut node = json!({"name": joint.name});
            let (t, q, s) = (joint.rest.translation, joint.rest.rotation.coords, joint.rest.scale);
            if t != Vec64::zeros() {
                node["translation"] = json!(numbers(t.iter()));
            }
            if joint.rest.rotation != crate::math::Quat::identity() {
                node["rotation"] = json!(numbers(q.iter()));
            }
            if s != Vec64::repeat(1.0) {
                node["scale"] = json!(numbers(s.iter()));
            }
            nodes.push(self.node(node, parent));
        }
        nodes
    }

    fn material(&mut self, material: &Material) -> Result<(), GlbWriteError> {
        let mut surface = json!({"baseColorFactor": material.base_color, "metallicFactor": 0.0, "roughnessFactor": 0.8});
        if let Some(image) = &material.base_color_image {
            let png = encode_png(image).map_err(|source| GlbWriteError::Texture { material: material.name.clone(), source })?;
            let view = self.view(&png, None);
            self.images.push(json!({"bufferView": view, "mimeType": "image/png"}));
            self.textures.push(json!({"source": self.images.len() - 1}));
            surface["baseColorTexture"] = json!({"index": self.textures.len() - 1});
        }
        let mut written = json!({"name": material.name, "pbrMetallicRoughness": surface, "doubleSided": material.double_sided});
        if let Some(cutoff) = material.alpha_cutoff {
            written["alphaMode"] = json!("MASK");
            written["alphaCutoff"] = json!(cutoff);
        } else if material.base_color[3] < 1.0 {
            written["alphaMode"] = json!("BLEND");
        }
        self.materials.push(written);
        Ok(())
    }

    fn mesh(&mut self, mesh: &SourceMesh, skeleton: &Skeleton, joint_nodes: &[usize]) -> Result<(), GlbWriteError> {
        check(mesh, skeleton)?;
        let mut attributes = json!({"POSITION": self.positions(mesh)});
        if let Some(normals) = &mesh.normals {
            let values: Vec<f32> = normals.iter().flat_map(|n| [n.x, n.y, n.z]).collect();
            attributes["NORMAL"] = json!(self.floats(&values, Some(ARRAY_BUFFER), "VEC3", 3));
        }
        if let Some(tex_coords) = &mesh.tex_coords {
            attributes["TEXCOORD_0"] = json!(self.floats(tex_coords.as_flattened(), Some(ARRAY_BUFFER), "VEC2", 2));
        }
        let mut node = json!({"name": mesh.name, "mesh": self.meshes.len()});
        let mut parent = None;
        match &mesh.attachment {
            Attachment::Skinned { weights, joint_from_mesh } => {
                self.weights(weights, skeleton.len(), &mut attributes);
                node["skin"] = json!(self.skin(joint_from_mesh, joint_nodes));
            }
            Attachment::Rigid { joint, joint_from_mesh } => {
                parent = Some(joint_nodes[*joint]);
                node["matrix"] = matrix(joint_from_mesh);
            }
            Attachment::Static { world_from_mesh } => node["matrix"] = matrix(world_from_mesh),
            Attachment::Unweighted => {}
        }
        let mut primitive = json!({"attributes": attributes, "indices": self.indices(mesh)});
        if let Some(material) = mesh.material {
            primitive["material"] = json!(material);
        }
        self.meshes.push(json!({"name": mesh.name, "primitives": [primitive]}));
        self.had_prop |= parent.is_some();
        let index = self.node(node, parent);
        if !self.had_prop {
            self.first_roots.extend(self.roots.pop_if(|root| *root == index));
        }
        Ok(())
    }

    fn positions(&mut self, mesh: &SourceMesh) -> usize {
        let values: Vec<f32> = mesh.positions.iter().flat_map(|p| [p.x, p.y, p.z]).collect();
        let accessor = self.floats(&values, Some(ARRAY_BUFFER), "VEC3", 3);
        let bounds = Bounds::of(&mesh.positions);
        if !bounds.is_empty() {
            self.accessors[accessor]["min"] = json!(numbers(bounds.min.cast::<f64>().iter()));
            self.accessors[accessor]["max"] = json!(numbers(bounds.max.cast::<f64>().iter()));
        }
        accessor
    }

    fn indices(&mut self, mesh: &SourceMesh) -> usize {
        let corners = mesh.triangles.as_flattened();
        let (bytes, component): (Vec<u8>, u32) = if u16::try_from(mesh.positions.len()).is_ok() {
            (corners.iter().flat_map(|&i| (i as u16).to_le_bytes()).collect(), U16)
        } else {
            (corners.iter().flat_map(|&i| i.to_le_bytes()).collect(), U32)
        };
        self.accessor(&bytes, Some(ELEMENT_ARRAY_BUFFER), component, "SCALAR", corners.len())
    }

    /// Writes `JOINTS_n` and `WEIGHTS_n`, as many as the vertex with most influences needs.
    fn weights(&mut self, weights: &SkinWeights, joints: usize, attributes: &mut Value) {
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
            let (bytes, component): (Vec<u8>, u32) = if joints <= 256 {
                (indices.iter().map(|&i| i as u8).collect(), U8)
            } else {
                (indices.iter().flat_map(|i| i.to_le_bytes()).collect(), U16)
            };
            let accessor = self.accessor(&bytes, Some(ARRAY_BUFFER), component, "VEC4", weights.len());
            attributes[format!("JOINTS_{set}")] = json!(accessor);
            attributes[format!("WEIGHTS_{set}")] = json!(self.floats(&values, Some(ARRAY_BUFFER), "VEC4", 4));
        }
    }

    fn skin(&mut self, joint_from_mesh: &[Affine], joint_nodes: &[usize]) -> usize {
        let values: Vec<f32> = joint_from_mesh.iter().flat_map(|m| m.matrix().iter().map(|&v| v as f32).collect::<Vec<_>>()).collect();
        let accessor = self.floats(&values, None, "MAT4", 16);
        self.skins.push(json!({"joints": joint_nodes, "inverseBindMatrices": accessor}));
        self.skins.len() - 1
    }

    fn clip(&mut self, clip: &Clip, joint_nodes: &[usize]) {
        let (mut samplers, mut channels) = (Vec::new(), Vec::new());
        // Tracks that share their times share the accessor.
        let mut known_times: Vec<(&[f64], usize)> = Vec::new();
        for track in &clip.tracks {
            let Some(&node) = joint_nodes.get(track.joint) else { continue };
            let (path, kind, width, times, interpolation, values) = match &track.channel {
                Channel::Translation(c) => ("translation", "VEC3", 3, &c.times_secs, c.interpolation, flat_vectors(c)),
                Channel::Scale(c) => ("scale", "VEC3", 3, &c.times_secs, c.interpolation, flat_vectors(c)),
                Channel::Rotation(c) => {
                    let values = c.values.iter().flat_map(|q| [q.i, q.j, q.k, q.w].map(|v| v as f32)).collect();
                    ("rotation", "VEC4", 4, &c.times_secs, c.interpolation, values)
                }
            };
            if times.is_empty() {
                continue;
            }
            let input = if let Some(&(_, accessor)) = known_times.iter().find(|(known, _)| known == times) {
                accessor
            } else {
                let accessor = self.times(times);
                known_times.push((times, accessor));
                accessor
            };
            let output = self.floats(&values, None, kind, width);
            let interpolation = match interpolation {
                Interpolation::Step => "STEP",
                Interpolation::Linear => "LINEAR",
                Interpolation::Cubic => "CUBICSPLINE",
            };
            channels.push(json!({"sampler": samplers.len(), "target": {"node": node, "path": path}}));
            samplers.push(json!({"input": input, "output": output, "interpolation": interpolation}));
        }
        // glTF has no empty animations.
        if !channels.is_empty() {
            self.animations.push(json!({"name": clip.name, "samplers": samplers, "channels": channels}));
        }
    }

    fn times(&mut self, times: &[f64]) -> usize {
        let values: Vec<f32> = times.iter().map(|&t| t as f32).collect();
        let accessor = self.floats(&values, None, "SCALAR", 1);
        self.accessors[accessor]["min"] = json!([values.iter().copied().fold(f32::INFINITY, f32::min)]);
        self.accessors[accessor]["max"] = json!([values.iter().copied().fold(f32::NEG_INFINITY, f32::max)]);
        accessor
    }

    fn finish(mut self, name: &str) -> Result<Vec<u8>, GlbWriteError> {
        for (node, children) in self.nodes.iter_mut().zip(self.children).filter(|(_, children)| !children.is_empty()) {
            node["children"] = json!(children);
        }
        let mut root = json!({"asset": {"version": "2.0", "generator": "Sinew"}, "scene": 0});
        let mut scene = json!({"name": name});
        self.first_roots.append(&mut self.roots);
        if !self.first_roots.is_empty() {
            scene["nodes"] = json!(self.first_roots);
        }
        root["scenes"] = json!([scene]);
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let lists = [
            ("nodes", self.nodes),
            ("meshes", self.meshes),
            ("skins", self.skins),
            ("materials", self.materials),
            ("textures", self.textures),
            ("images", self.images),
            ("animations", self.animations),
            ("accessors", self.accessors),
            ("bufferViews", self.views),
        ];
        for (key, list) in lists.into_iter().filter(|(_, list)| !list.is_empty()) {
            root[key] = Value::Array(list);
        }
        if !self.bytes.is_empty() {
            root["buffers"] = json!([{"byteLength": self.bytes.len()}]);
        }
        let mut text = root.to_string().into_bytes();
        text.resize(text.len().next_multiple_of(4), b' ');
        container(&text, &self.bytes)
    }
}

/// The GLB container around its two chunks.
fn container(text: &[u8], binary: &[u8]) -> Result<Vec<u8>, GlbWriteError> {
    let total = 12 + 8 + text.len() + if binary.is_empty() { 0 } else { 8 + binary.len() };
    let Ok(length) = u32::try_from(total) else { return Err(GlbWriteError::TooLarge { bytes: total }) };
    let mut out = Vec::with_capacity(total);
    out.extend_from_slice(b"glTF");
    out.extend_from_slice(&2_u32.to_le_bytes());
    out.extend_from_slice(&length.to_le_bytes());
    let mut chunk = |kind: &[u8; 4], bytes: &[u8]| {
        out.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
        out.extend_from_slice(kind);
        out.extend_from_slice(bytes);
    };
    chunk(b"JSON", text);
    if !binary.is_empty() {
        chunk(b"BIN\0", binary);
    }
    Ok(out)
}

fn check(mesh: &SourceMesh, skeleton: &Skeleton) -> Result<(), GlbWriteError> {
    let n = mesh.positions.len();
    let wrong = |what| Err(GlbWriteError::Inconsistent { mesh: mesh.name.clone(), what });
    if n == 0 || mesh.triangles.is_empty() {
        return wrong("it has no vertices or no triangles");
    }
    if mesh.triangles.iter().flatten().any(|&v| v as usize >= n) {
        return wrong("a triangle names a vertex that does not exist");
    }
    if mesh.normals.as_ref().is_some_and(|list| list.len() != n) || mesh.tex_coords.as_ref().is_some_and(|list| list.len() != n) {
        return wrong("it has not one normal and texture coordinate per vertex");
    }
    match &mesh.attachment {
        Attachment::Skinned { weights, joint_from_mesh } => {
            if weights.len() != n || weights.joints.iter().any(|&joint| joint as usize >= skeleton.len()) {
                return wrong("its weights are of another mesh or skeleton");
            }
            if joint_from_mesh.len() != skeleton.len() || skeleton.len() > usize::from(u16::MAX) {
                return wrong("it needs one inverse bind matrix per joint, and at most 65535 joints");
            }
        }
        Attachment::Rigid { joint, .. } if *joint >= skeleton.len() => return wrong("it hangs on a joint that does not exist"),
        Attachment::Rigid { .. } | Attachment::Static { .. } | Attachment::Unweighted => {}
    }
    Ok(())
}

fn encode_png(image: &Image) -> Result<Vec<u8>, image::ImageError> {
    use image::ImageEncoder;
    let mut png = Cursor::new(Vec::new());
    image::codecs::png::PngEncoder::new(&mut png).write_image(&image.rgba, image.width, image.height, image::ExtendedColorType::Rgba8)?;
    Ok(png.into_inner())
}

fn flat_vectors(curve: &Curve<Vec64>) -> Vec<f32> {
    curve.values.iter().flat_map(|v| [v.x, v.y, v.z].map(|c| c as f32)).collect()
}

/// Numbers at the file's precision, so that they are written short.
fn numbers<'a>(values: impl Iterator<Item = &'a f64>) -> Vec<f32> {
    values.map(|&v| v as f32).collect()
}

fn matrix(transform: &Affine) -> Value {
    json!(numbers(transform.matrix().iter()))
}
