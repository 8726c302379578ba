//! The JSON of glTF 2.0, in the structures of `gltf::json`, with the checks that a character needs.
//!
//! The `gltf` crate is used for parsing only: its validation rejects files that other programs
//! show, with less specific messages.

use gltf::json::mesh::{Primitive, Semantic};
use gltf::json::validation::{Checked, USize64};
use gltf::json::{Asset, Index, Node, Root};

use super::clean;
use super::extensions::Extensions;
use crate::io::error::{Parsed, bad};

/// A document with valid references.
#[derive(Debug)]
pub struct GltfDocument {
    /// The parsed JSON.
    pub root: Root,
    /// Number of materials that could not be read and are replaced by default ones.
    pub damaged_materials: usize,
    /// Data from extensions.
    pub extensions: Extensions,
}

/// Extensions that are read, or that do not affect what is read: by full name or by prefix (ending
/// in `*`).
const KNOWN_EXTENSIONS: [&str; 15] = [
    "KHR_draco_mesh_compression",
    "EXT_meshopt_compression",
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
    "KHR_node_*",
];

impl GltfDocument {
    /// Reads the JSON and checks version, required extensions and every reference between objects.
    pub fn parse(json: &[u8]) -> Parsed<Self> {
        let mut tree = clean::tree(json.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(json))?;
        // The version first: objects of glTF 1.0 have other forms.
        check_version(clean::asset(&mut tree)?.as_ref())?;
        check_extensions(&tree)?;
        let extensions = Extensions::of(&tree)?;
        let (root, damaged_materials) = clean::root(tree)?;
        check_references(&root)?;
        Ok(Self {
            root,
            damaged_materials,
            extensions,
        })
    }
}

/// A size or offset; on 32-bit machines a value that does not fit exceeds every buffer.
pub fn size(value: USize64) -> usize {
    usize::try_from(value.0).unwrap_or(usize::MAX)
}

/// The number behind an optional reference.
pub fn number<T>(index: Option<Index<T>>) -> Option<usize> {
    index.map(|index| index.value())
}

/// The accessor of an attribute.
pub(crate) fn attribute(primitive: &Primitive, semantic: Semantic) -> Option<usize> {
    primitive
        .attributes
        .get(&Checked::Valid(semantic))
        .map(Index::value)
}

/// The children of a node, in the file's order.
pub fn children(node: &Node) -> impl DoubleEndedIterator<Item = usize> {
    node.children.iter().flatten().map(Index::value)
}

/// Whether an extension is read, or does not affect what is read.
fn is_known(name: &str) -> bool {
    KNOWN_EXTENSIONS
        .iter()
        .any(|known| match known.strip_suffix('*') {
            Some(prefix) => name.starts_with(prefix),
            None => name == *known,
        })
}

/// Optional extensions that the file uses and that are not read.
pub(crate) fn unknown_extensions(used: &[String]) -> Vec<&str> {
    used.iter()
        .map(String::as_str)
        .filter(|name| !is_known(name))
        .collect()
}

fn check_extensions(tree: &serde_json::Map<String, serde_json::Value>) -> Parsed<()> {
    let required = tree
        .get("extensionsRequired")
        .and_then(|list| list.as_array())
        .into_iter()
        .flatten();
    let unknown: Vec<&str> = required
        .filter_map(|name| name.as_str())
        .filter(|name| !is_known(name))
        .collect();
    if unknown.is_empty() {
        return Ok(());
    }
    bad(format!(
        "requires the glTF extension {}, which is not supported; export it without",
        unknown.join(", ")
    ))
}

/// Checks that every index is valid and that the attributes of each primitive have equal counts.
fn check_references(root: &Root) -> Parsed<()> {
    let at = |what: &str, from: String, index: usize, len: usize| {
        if index < len {
            Ok(())
        } else {
            bad(format!(
                "{from} refers to {what} {index}, but the file has only {len}"
            ))
        }
    };
    for (i, view) in root.buffer_views.iter().enumerate() {
        at(
            "buffer",
            format!("buffer view {i}"),
            view.buffer.value(),
            root.buffers.len(),
        )?;
    }
    let views = root.buffer_views.len();
    for (i, accessor) in root.accessors.iter().enumerate() {
        for view in accessor.buffer_view.iter().chain(
            accessor
                .sparse
                .iter()
                .flat_map(|s| [&s.indices.buffer_view, &s.values.buffer_view]),
        ) {
            at("buffer view", format!("accessor {i}"), view.value(), views)?;
        }
    }
    for (i, mesh) in root.meshes.iter().enumerate() {
        for primitive in &mesh.primitives {
            check_primitive(root, i, primitive)?;
        }
    }
    let nodes = root.nodes.len();
    for (i, skin) in root.skins.iter().enumerate() {
        if skin.joints.is_empty() {
            return bad(format!("skin {i} has no joints"));
        }
        for joint in &skin.joints {
            at("node", format!("skin {i}"), joint.value(), nodes)?;
        }
        if let Some(matrices) = number(skin.inverse_bind_matrices) {
            at(
                "accessor",
                format!("skin {i}"),
                matrices,
                root.accessors.len(),
            )?;
            let count = size(root.accessors[matrices].count);
            if count < skin.joints.len() {
                return bad(format!(
                    "skin {i} has {} joints but only {count} inverse bind matrices",
                    skin.joints.len()
                ));
            }
        }
    }
    for (i, node) in root.nodes.iter().enumerate() {
        let from = || format!("node {i}");
        children(node).try_for_each(|child| at("node", from(), child, nodes))?;
        node.mesh
            .iter()
            .try_for_each(|mesh| at("mesh", from(), mesh.value(), root.meshes.len()))?;
        node.skin
            .iter()
            .try_for_each(|skin| at("skin", from(), skin.value(), root.skins.len()))?;
    }
    root.scene.iter().try_for_each(|scene| {
        at(
            "scene",
            "the file".to_owned(),
            scene.value(),
            root.scenes.len(),
        )
    })?;
    for (i, scene) in root.scenes.iter().enumerate() {
        scene
            .nodes
            .iter()
            .try_for_each(|node| at("node", format!("scene {i}"), node.value(), nodes))?;
    }
    Ok(())
}

fn check_primitive(root: &Root, mesh: usize, primitive: &Primitive) -> Parsed<()> {
    let mut length = None;
    for (name, accessor) in &primitive.attributes {
        let name = name.to_string();
        let Some(count) = root.get(*accessor).map(|a| size(a.count)) else {
            return bad(format!(
                "{name} of mesh {mesh} refers to accessor {accessor}, but the file has only {}",
                root.accessors.len()
            ));
        };
        if *length.get_or_insert(count) != count {
            return bad(format!(
                "the attributes of mesh {mesh} have different counts: {count} in {name}, {} before",
                length.unwrap_or(0)
            ));
        }
    }
    match number(primitive.indices) {
        Some(indices) if indices >= root.accessors.len() => bad(format!(
            "the indices of mesh {mesh} are accessor {indices}, but the file has only {}",
            root.accessors.len()
        )),
        _ => Ok(()),
    }
}

fn check_version(asset: Option<&Asset>) -> Parsed<()> {
    let major_minor = |text: &str| {
        let mut parts = text.trim().split('.').map(str::parse::<u32>);
        Some((parts.next()?.ok()?, parts.next().unwrap_or(Ok(0)).ok()?))
    };
    let Some(Asset {
        version,
        min_version,
        ..
    }) = asset
    else {
        return bad("not glTF: the JSON has no asset.version");
    };
    match major_minor(version) {
        Some((2, _)) => {}
        Some((1, _)) => {
            return bad("this is glTF 1.0, which is not supported; convert it to glTF 2.0");
        }
        _ => {
            return bad(format!(
                "glTF version \"{version}\" can't be read; 2.0 is expected"
            ));
        }
    }
    match min_version.as_deref() {
        Some(needed) if major_minor(needed).is_none_or(|v| v > (2, 0)) => {
            bad(format!("requires glTF {needed}; only 2.0 is supported"))
        }
        _ => Ok(()),
    }
}
