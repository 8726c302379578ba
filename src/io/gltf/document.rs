//! The JSON of glTF 2.0, as far as a character needs it.
//!
//! Read by our own structures rather than by the `gltf` crate's: they keep `f64`, let what we don't use be wrong (a torn texture
//! must not keep a mesh from loading), can't panic on unchecked documents, and say what is missing in words.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::io::error::{Parsed, Problem, bad};

/// The root object.
#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Document {
    pub extensions_required: Vec<String>,
    pub accessors: Vec<Accessor>,
    pub animations: Vec<Animation>,
    pub buffers: Vec<Buffer>,
    pub buffer_views: Vec<BufferView>,
    pub images: Vec<Value>,
    pub materials: Vec<Value>,
    pub meshes: Vec<Mesh>,
    pub nodes: Vec<Node>,
    pub scene: Option<usize>,
    pub scenes: Vec<Scene>,
    pub skins: Vec<Skin>,
    pub textures: Vec<Value>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Accessor {
    pub buffer_view: Option<usize>,
    #[serde(default)]
    pub byte_offset: usize,
    pub component_type: u32,
    #[serde(default)]
    pub normalized: bool,
    pub count: usize,
    #[serde(rename = "type")]
    pub shape: String,
    pub sparse: Option<Sparse>,
}

#[derive(Debug, Deserialize)]
pub struct Sparse {
    pub count: usize,
    pub indices: SparseIndices,
    pub values: SparseValues,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SparseIndices {
    pub buffer_view: usize,
    #[serde(default)]
    pub byte_offset: usize,
    pub component_type: u32,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SparseValues {
    pub buffer_view: usize,
    #[serde(default)]
    pub byte_offset: usize,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Buffer {
    pub uri: Option<String>,
    #[serde(default)]
    pub byte_length: usize,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct BufferView {
    pub buffer: usize,
    #[serde(default)]
    pub byte_offset: usize,
    pub byte_length: usize,
    pub byte_stride: Option<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Animation {
    pub name: Option<String>,
    pub channels: Vec<AnimationChannel>,
    pub samplers: Vec<Sampler>,
}

#[derive(Debug, Deserialize)]
pub struct AnimationChannel {
    pub sampler: usize,
    pub target: Target,
}

#[derive(Debug, Deserialize)]
pub struct Target {
    pub node: Option<usize>,
    #[serde(default)]
    pub path: String,
}

#[derive(Debug, Deserialize)]
pub struct Sampler {
    pub input: usize,
    pub output: usize,
    pub interpolation: Option<String>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Mesh {
    pub name: Option<String>,
    pub primitives: Vec<Primitive>,
}

#[derive(Debug, Deserialize)]
pub struct Primitive {
    #[serde(default)]
    pub attributes: BTreeMap<String, usize>,
    pub indices: Option<usize>,
    pub material: Option<usize>,
    pub mode: Option<u32>,
    #[serde(default)]
    pub targets: Vec<Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Node {
    pub name: Option<String>,
    pub children: Vec<usize>,
    pub mesh: Option<usize>,
    pub skin: Option<usize>,
    pub matrix: Option<[f64; 16]>,
    pub translation: Option<[f64; 3]>,
    pub rotation: Option<[f64; 4]>,
    pub scale: Option<[f64; 3]>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub struct Scene {
    pub nodes: Vec<usize>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Skin {
    pub name: Option<String>,
    pub joints: Vec<usize>,
    pub inverse_bind_matrices: Option<usize>,
}

#[derive(Deserialize)]
struct Head {
    asset: Option<Asset>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Asset {
    version: Option<String>,
    min_version: Option<String>,
}

/// Extensions that change nothing that we read, or that we read: by full name or by prefix (ending in `*`).
const KNOWN_EXTENSIONS: [&str; 12] = [
    "KHR_materials_*",
    "KHR_texture_*",
    "EXT_texture_*",
    "MSFT_texture_dds",
    "KHR_lights_*",
    "EXT_lights_*",
    "KHR_xmp*",
    "KHR_mesh_quantization",
    "KHR_audio*",
    "VRM",
    "VRMC_*",
    "MSFT_lod",
];

impl Document {
    /// Reads the JSON and checks version, required extensions and every reference between objects.
    pub fn parse(json: &[u8]) -> Parsed<Self> {
        let json = json.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(json);
        let syntax = |error: serde_json::Error| Problem::new(format!("not valid glTF JSON: {error}"));
        // The version first: the objects of glTF 1.0 have other shapes.
        let head: Head = serde_json::from_slice(json).map_err(syntax)?;
        check_version(head.asset.as_ref())?;
        let document: Self = serde_json::from_slice(json).map_err(syntax)?;
        document.check_extensions()?;
        document.check_references()?;
        Ok(document)
    }

    fn check_extensions(&self) -> Parsed<()> {
        let known = |name: &String| {
            KNOWN_EXTENSIONS.iter().any(|known| match known.strip_suffix('*') {
                Some(prefix) => name.starts_with(prefix),
                None => name == known,
            })
        };
        let unknown: Vec<&str> = self.extensions_required.iter().filter(|name| !known(name)).map(String::as_str).collect();
        if unknown.is_empty() {
            return Ok(());
        }
        bad(format!("requires the glTF extension {}, which can't be read; export it without", unknown.join(", ")))
    }

    /// Every index points at something, and the attributes of each primitive have one length.
    fn check_references(&self) -> Parsed<()> {
        let at = |what: &str, from: String, index: usize, len: usize| {
            if index < len { Ok(()) } else { bad(format!("{from} refers to {what} {index}, but there are only {len}")) }
        };
        for (i, view) in self.buffer_views.iter().enumerate() {
            at("buffer", format!("buffer view {i}"), view.buffer, self.buffers.len())?;
        }
        let views = self.buffer_views.len();
        for (i, accessor) in self.accessors.iter().enumerate() {
            for view in
                accessor.buffer_view.iter().chain(accessor.sparse.iter().flat_map(|s| [&s.indices.buffer_view, &s.values.buffer_view]))
            {
                at("buffer view", format!("accessor {i}"), *view, views)?;
            }
        }
        for (i, mesh) in self.meshes.iter().enumerate() {
            for primitive in &mesh.primitives {
                self.check_primitive(i, primitive)?;
            }
        }
        let nodes = self.nodes.len();
        for (i, skin) in self.skins.iter().enumerate() {
            if skin.joints.is_empty() {
                return bad(format!("skin {i} has no joints"));
            }
            for &joint in &skin.joints {
                at("node", format!("skin {i}"), joint, nodes)?;
            }
            if let Some(matrices) = skin.inverse_bind_matrices {
                at("accessor", format!("skin {i}"), matrices, self.accessors.len())?;
                let count = self.accessors[matrices].count;
                if count < skin.joints.len() {
                    return bad(format!("skin {i} has {} joints but only {count} inverse bind matrices", skin.joints.len()));
                }
            }
        }
        for (i, node) in self.nodes.iter().enumerate() {
            let from = || format!("node {i}");
            node.children.iter().try_for_each(|&child| at("node", from(), child, nodes))?;
            node.mesh.iter().try_for_each(|&mesh| at("mesh", from(), mesh, self.meshes.len()))?;
            node.skin.iter().try_for_each(|&skin| at("skin", from(), skin, self.skins.len()))?;
        }
        self.scene.iter().try_for_each(|&scene| at("scene", "the file".to_owned(), scene, self.scenes.len()))?;
        for (i, scene) in self.scenes.iter().enumerate() {
            scene.nodes.iter().try_for_each(|&node| at("node", format!("scene {i}"), node, nodes))?;
        }
        Ok(())
    }

    fn check_primitive(&self, mesh: usize, primitive: &Primitive) -> Parsed<()> {
        let mut length = None;
        for (name, &accessor) in &primitive.attributes {
            let Some(count) = self.accessors.get(accessor).map(|a| a.count) else {
                return bad(format!("{name} of mesh {mesh} refers to accessor {accessor}, but there are only {}", self.accessors.len()));
            };
            if *length.get_or_insert(count) != count {
                return bad(format!(
                    "the attributes of mesh {mesh} have different counts: {count} in {name}, {} before",
                    length.unwrap_or(0)
                ));
            }
        }
        match primitive.indices {
            Some(indices) if indices >= self.accessors.len() => {
                bad(format!("the indices of mesh {mesh} are accessor {indices}, but there are only {}", self.accessors.len()))
            }
            _ => Ok(()),
        }
    }
}

fn check_version(asset: Option<&Asset>) -> Parsed<()> {
    let major_minor = |text: &str| {
        let mut parts = text.trim().split('.').map(str::parse::<u32>);
        Some((parts.next()?.ok()?, parts.next().unwrap_or(Ok(0)).ok()?))
    };
    let Some(version) = asset.and_then(|a| a.version.as_deref()) else {
        return bad("not glTF: the JSON has no asset.version");
    };
    match major_minor(version) {
        Some((2, _)) => {}
        Some((1, _)) => return bad("this is glTF 1.0, which can't be read; convert it to glTF 2.0"),
        _ => return bad(format!("glTF version \"{version}\" can't be read; 2.0 is expected")),
    }
    match asset.and_then(|a| a.min_version.as_deref()) {
        Some(needed) if major_minor(needed).is_none_or(|v| v > (2, 0)) => {
            bad(format!("needs a reader of glTF {needed}, but this one knows 2.0"))
        }
        _ => Ok(()),
    }
}
