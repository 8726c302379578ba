//! Writes a character as binary glTF 2.0 (GLB), as the reader understands it.
//!
//! One node per joint (and one more above it where the character has a constant transform there), one node per source mesh, one
//! skin per skinned mesh. Positions are written as they are, weights as `f32`, in as many sets of four as the vertices need, so
//! that a character that is written and read is the same. The document is the `gltf` crate's, and so is the container.
//!
//! Readers meet meshes depth-first from the roots: meshes before the first rigid prop are therefore roots before the skeleton, props
//! are children of their joints, later meshes are roots after it.

mod blocks;
mod clips;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::io::Cursor;

use gltf::binary::{Glb, Header};
use gltf::json::accessor::Type;
use gltf::json::buffer::Target;
use gltf::json::material::{AlphaCutoff, AlphaMode, PbrBaseColorFactor, PbrMetallicRoughness, StrengthFactor};
use gltf::json::mesh::{Mode, Primitive, Semantic};
use gltf::json::scene::UnitQuaternion;
use gltf::json::validation::{Checked, USize64};
use gltf::json::{Accessor, Asset, Buffer, Index, Mesh, Node, Root, Scene, Skin, Texture, image::MimeType, texture};

use crate::character::{Attachment, Character, Image, Material, SourceMesh};
use crate::math::{Affine, Quat, Vec64};
use crate::rig::{Skeleton, Trs};

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
    /// The document could not be put into words.
    #[error("the character can't be written as glTF")]
    Encode {
        /// What the encoder said.
        #[source]
        source: gltf::Error,
    },
}

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

type Attributes = BTreeMap<Checked<Semantic>, Index<Accessor>>;

#[derive(Default)]
struct Writer {
    bytes: Vec<u8>,
    root: Root,
    /// Roots that come before the skeleton.
    first: Vec<Index<Node>>,
    top: Vec<Index<Node>>,
    had_prop: bool,
}

impl Writer {
    fn node(&mut self, node: Node, parent: Option<Index<Node>>) -> Index<Node> {
        let index = self.root.push(node);
        match parent {
            Some(parent) => self.root.nodes[parent.value()].children.get_or_insert_default().push(index),
            None => self.top.push(index),
        }
        index
    }

    /// Writes the joints; returns the node of each.
    fn skeleton(&mut self, skeleton: &Skeleton) -> Vec<Index<Node>> {
        let mut nodes: Vec<Index<Node>> = Vec::with_capacity(skeleton.len());
        for joint in skeleton.joints() {
            let mut parent = joint.parent.map(|p| nodes[p]);
            if joint.parent_from_base != Affine::identity() {
                let name = Some(format!("{} base", joint.name));
                parent = Some(self.node(Node { name, matrix: Some(matrix(&joint.parent_from_base)), ..Node::default() }, parent));
            }
            nodes.push(self.node(joint_node(&joint.name, &joint.rest), parent));
        }
        nodes
    }

    fn material(&mut self, material: &Material) -> Result<(), GlbWriteError> {
        let mut surface = PbrMetallicRoughness {
            base_color_factor: PbrBaseColorFactor(material.base_color),
            metallic_factor: StrengthFactor(0.0),
            roughness_factor: StrengthFactor(0.8),
            ..PbrMetallicRoughness::default()
        };
        if let Some(image) = &material.base_color_image {
            let png = encode_png(image).map_err(|source| GlbWriteError::Texture { material: material.name.clone(), source })?;
            surface.base_color_texture = Some(self.texture(&png));
        }
        let alpha_mode = match material.alpha_cutoff {
            Some(_) => AlphaMode::Mask,
            None if material.base_color[3] < 1.0 => AlphaMode::Blend,
            None => AlphaMode::Opaque,
        };
        self.root.materials.push(gltf::json::Material {
            name: Some(material.name.clone()),
            pbr_metallic_roughness: surface,
            double_sided: material.double_sided,
            alpha_mode: Checked::Valid(alpha_mode),
            alpha_cutoff: material.alpha_cutoff.map(AlphaCutoff),
            ..gltf::json::Material::default()
        });
        Ok(())
    }

    fn texture(&mut self, png: &[u8]) -> texture::Info {
        let source = gltf::json::Image {
            buffer_view: Some(self.view(png, None)),
            mime_type: Some(MimeType("image/png".to_owned())),
            name: None,
            uri: None,
            extensions: None,
            extras: <_>::default(),
        };
        let source = self.root.push(source);
        let index = self.root.push(Texture { name: None, sampler: None, source, extensions: None, extras: <_>::default() });
        texture::Info { index, tex_coord: 0, extensions: None, extras: <_>::default() }
    }

    fn mesh(&mut self, mesh: &SourceMesh, skeleton: &Skeleton, joint_nodes: &[Index<Node>]) -> Result<(), GlbWriteError> {
        check(mesh, skeleton)?;
        let mut attributes = Attributes::from([(Checked::Valid(Semantic::Positions), self.positions(mesh))]);
        if let Some(normals) = &mesh.normals {
            let values: Vec<f32> = normals.iter().flat_map(|n| [n.x, n.y, n.z]).collect();
            attributes.insert(Checked::Valid(Semantic::Normals), self.floats(&values, Some(Target::ArrayBuffer), Type::Vec3));
        }
        if let Some(tex_coords) = &mesh.tex_coords {
            let written = self.floats(tex_coords.as_flattened(), Some(Target::ArrayBuffer), Type::Vec2);
            attributes.insert(Checked::Valid(Semantic::TexCoords(0)), written);
        }
        let mut node = Node { name: Some(mesh.name.clone()), ..Node::default() };
        let mut parent = None;
        match &mesh.attachment {
            Attachment::Skinned { weights, joint_from_mesh } => {
                self.weights(weights, skeleton.len(), &mut attributes);
                node.skin = Some(self.skin(joint_from_mesh, joint_nodes));
            }
            Attachment::Rigid { joint, joint_from_mesh } => {
                parent = Some(joint_nodes[*joint]);
                node.matrix = Some(matrix(joint_from_mesh));
            }
            Attachment::Static { world_from_mesh } => node.matrix = Some(matrix(world_from_mesh)),
            Attachment::Unweighted => {}
        }
        let primitive = Primitive {
            attributes,
            indices: Some(self.indices(mesh)),
            material: mesh.material.map(|material| Index::new(material as u32)),
            mode: Checked::Valid(Mode::Triangles),
            targets: None,
            extensions: None,
            extras: <_>::default(),
        };
        let name = Some(mesh.name.clone());
        let written = Mesh { name, primitives: vec![primitive], weights: None, extensions: None, extras: <_>::default() };
        node.mesh = Some(self.root.push(written));
        self.had_prop |= parent.is_some();
        let index = self.node(node, parent);
        if !self.had_prop {
            self.first.extend(self.top.pop_if(|top| top.value() == index.value()));
        }
        Ok(())
    }

    fn skin(&mut self, joint_from_mesh: &[Affine], joint_nodes: &[Index<Node>]) -> Index<Skin> {
        let values: Vec<f32> = joint_from_mesh.iter().flat_map(matrix).collect();
        let inverse_bind_matrices = Some(self.floats(&values, None, Type::Mat4));
        let joints = joint_nodes.to_vec();
        self.root.push(Skin { joints, inverse_bind_matrices, name: None, skeleton: None, extensions: None, extras: <_>::default() })
    }

    fn finish(mut self, name: &str) -> Result<Vec<u8>, GlbWriteError> {
        self.root.asset = Asset { generator: Some("Sinew".to_owned()), ..Asset::default() };
        self.first.append(&mut self.top);
        let scene = Scene { name: Some(name.to_owned()), nodes: self.first, extensions: None, extras: <_>::default() };
        self.root.scene = Some(self.root.push(scene));
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        if !self.bytes.is_empty() {
            let byte_length = USize64::from(self.bytes.len());
            self.root.push(Buffer { byte_length, name: None, uri: None, extensions: None, extras: <_>::default() });
        }
        let text = self.root.to_vec().map_err(|error| GlbWriteError::Encode { source: gltf::Error::Deserialize(error) })?;
        container(text, self.bytes)
    }
}

/// The rest transform of a joint, without the parts that are the identity.
fn joint_node(name: &str, rest: &Trs) -> Node {
    let vector = |v: &Vec64| [v.x as f32, v.y as f32, v.z as f32];
    let q = rest.rotation.coords;
    Node {
        name: Some(name.to_owned()),
        translation: (rest.translation != Vec64::zeros()).then(|| vector(&rest.translation)),
        rotation: (rest.rotation != Quat::identity()).then(|| UnitQuaternion([q.x, q.y, q.z, q.w].map(|c| c as f32))),
        scale: (rest.scale != Vec64::repeat(1.0)).then(|| vector(&rest.scale)),
        ..Node::default()
    }
}

/// The GLB container around its two chunks.
fn container(text: Vec<u8>, binary: Vec<u8>) -> Result<Vec<u8>, GlbWriteError> {
    let total = 12 + 8 + text.len().next_multiple_of(4) + if binary.is_empty() { 0 } else { 8 + binary.len() };
    let Ok(length) = u32::try_from(total) else { return Err(GlbWriteError::TooLarge { bytes: total }) };
    let header = Header { magic: *b"glTF", version: 2, length };
    let binary = Some(binary).filter(|bytes| !bytes.is_empty()).map(Cow::Owned);
    Glb { header, json: Cow::Owned(text), bin: binary }.to_vec().map_err(|source| GlbWriteError::Encode { source })
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

/// At the file's precision.
fn matrix(transform: &Affine) -> [f32; 16] {
    std::array::from_fn(|i| transform.matrix()[i] as f32)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::{load, read_gltf_bytes};
    use crate::progress::Progress;

    #[test]
    fn what_is_written_and_read_is_the_same() {
        for name in crate::io::builtin::NAMES {
            let character = load(&[format!("builtin:{name}").into()], &Progress::new()).unwrap();
            let bytes = write_glb(&character).unwrap();
            // With the crate's whole validation, which the reader does without.
            gltf::Gltf::from_slice(&bytes).unwrap();
            let read = read_gltf_bytes(&character.name, &bytes).unwrap();
            assert_eq!(read.clips, character.clips, "{name}");
            assert_eq!(read.skeleton.len(), character.skeleton.len(), "{name}");
            for (joint, same) in character.skeleton.joints().iter().zip(read.skeleton.joints()) {
                assert_eq!((&joint.name, joint.parent), (&same.name, same.parent), "{name}");
                // One rounding to f32, of a number of at most a few metres.
                let moved = joint.rest.to_affine().matrix() - same.rest.to_affine().matrix();
                assert!(moved.norm() < 1e-6 && joint.parent_from_base == same.parent_from_base, "{name}: {}", joint.name);
            }
            assert_eq!(read.meshes.len(), character.meshes.len(), "{name}");
            for (mesh, same) in character.meshes.iter().zip(&read.meshes) {
                assert_eq!((&mesh.name, &mesh.positions, &mesh.triangles), (&same.name, &same.positions, &same.triangles), "{name}");
                assert_eq!((&mesh.normals, &mesh.tex_coords), (&same.normals, &same.tex_coords), "{name}");
                assert_attached_alike(&mesh.attachment, &same.attachment, name);
            }
        }
    }

    /// The reader makes weights sum to 1 anew: a rounding or two.
    fn assert_attached_alike(a: &Attachment, b: &Attachment, name: &str) {
        let (Attachment::Skinned { weights: a, joint_from_mesh: binds }, Attachment::Skinned { weights: b, joint_from_mesh: same_binds }) =
            (a, b)
        else {
            assert_eq!(a, b, "{name}");
            return;
        };
        assert_eq!((binds, &a.offsets, &a.joints), (same_binds, &b.offsets, &b.joints), "{name}");
        assert!(a.values.iter().zip(&b.values).all(|(a, b)| (a - b).abs() < 1e-6), "{name}");
    }

    #[test]
    fn the_container_is_padded_and_bounded() {
        let glb = container(b"{}".to_vec(), Vec::new()).unwrap();
        assert_eq!(glb, b"glTF\x02\0\0\0\x18\0\0\0\x04\0\0\0JSON{}  ");
        let glb = container(b"{}".to_vec(), vec![1, 2, 3, 4]).unwrap();
        assert_eq!(glb[24..], *b"\x04\0\0\0BIN\0\x01\x02\x03\x04");
    }
}
