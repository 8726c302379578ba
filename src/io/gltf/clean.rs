//! Adapts the JSON of real files to the structures of `gltf::json`, which are in parts stricter and
//! in parts laxer than files in use.
//!
//! Only the members that are read are kept: an invalid camera or sampler must not prevent a mesh
//! from loading. In addition, for every member:
//! - `null` means absent;
//! - `extras` is dropped, as is an `extensions` that is not an object;
//! - integers above `u32::MAX` become `u32::MAX`, which exceeds every list and buffer: `gltf::json`
//!   would truncate the upper bits and so turn an invalid index into a valid one.
//!
//! Repairs of specific kinds of objects are described at their functions.

use gltf::json::material::NormalTexture;
use gltf::json::{Animation, Asset, Mesh, Root, Scene, Skin, Value};
use serde::de::DeserializeOwned;
use serde_json::{Map, json};

use crate::io::error::{ParseProblem, Parsed, bad};

type Object = Map<String, Value>;

/// Maximum number of JSON objects and values, which bounds memory; the largest characters with
/// hundreds of clips have a tenth of it.
const MOST_OBJECTS: usize = 600_000;
const MOST_VALUES: usize = 4_000_000;

/// The members that are read, by the list that contains the objects.
const ACCESSOR: &[&str] = &[
    "bufferView",
    "byteOffset",
    "componentType",
    "normalized",
    "count",
    "type",
    "sparse",
];
const ANIMATION: &[&str] = &["name", "channels", "samplers"];
const ASSET: &[&str] = &["version", "minVersion"];
const BUFFER: &[&str] = &["uri", "byteLength"];
const BUFFER_VIEW: &[&str] = &["buffer", "byteOffset", "byteLength", "byteStride"];
const IMAGE: &[&str] = &["uri", "bufferView"];
const MATERIAL: &[&str] = &[
    "name",
    "doubleSided",
    "alphaMode",
    "alphaCutoff",
    "pbrMetallicRoughness",
    "normalTexture",
    "extensions",
];
const MESH: &[&str] = &["name", "primitives"];
const NODE: &[&str] = &[
    "name",
    "children",
    "mesh",
    "skin",
    "matrix",
    "translation",
    "rotation",
    "scale",
];
const SCENE: &[&str] = &["nodes"];
const SKIN: &[&str] = &["name", "joints", "inverseBindMatrices"];
const TEXTURE: &[&str] = &["source"];

/// Members with real numbers, which may be arbitrarily large.
const REALS: &[&str] = &["matrix", "translation", "rotation", "scale"];

/// The JSON as a tree, if its size is within the limit.
pub fn tree(json: &[u8]) -> Parsed<Object> {
    let (mut objects, mut values) = (0_usize, 0_usize);
    for byte in json {
        objects += usize::from(*byte == b'{');
        values += usize::from(matches!(byte, b',' | b'[' | b'{'));
    }
    if objects > MOST_OBJECTS || values > MOST_VALUES {
        return bad("the JSON has more objects than the maximum for a character");
    }
    serde_json::from_slice(json)
        .map_err(|error| ParseProblem::new(format!("not valid glTF JSON: {error}")))
}

/// The document, and how many of its materials were invalid and replaced by default ones. Nothing
/// is validated yet.
pub fn root(mut tree: Object) -> Parsed<(Root, usize)> {
    let tree = &mut tree;
    let (materials, damaged_materials) = lenient(tree, "materials", MATERIAL, repair_material)?;
    let root = Root {
        accessors: strict(tree, "accessors", ACCESSOR, |_| {})?,
        animations: strict::<Animation>(tree, "animations", ANIMATION, repair_animation)?,
        buffers: strict(tree, "buffers", BUFFER, |_| {})?,
        buffer_views: strict(tree, "bufferViews", BUFFER_VIEW, |_| {})?,
        images: lenient(tree, "images", IMAGE, |_| {})?.0,
        materials,
        meshes: strict::<Mesh>(tree, "meshes", MESH, repair_mesh)?,
        nodes: strict(tree, "nodes", NODE, |_| {})?,
        scene: value(tree, "scene")?,
        scenes: strict::<Scene>(tree, "scenes", SCENE, |scene| default_list(scene, "nodes"))?,
        skins: strict::<Skin>(tree, "skins", SKIN, |skin| default_list(skin, "joints"))?,
        textures: lenient(tree, "textures", TEXTURE, no_picture)?.0,
        ..Root::default()
    };
    Ok((root, damaged_materials))
}

/// The `asset` of the file; `None` if it has no version.
pub fn asset(tree: &mut Object) -> Parsed<Option<Asset>> {
    let Some(Value::Object(asset)) = tree.get_mut("asset") else {
        return Ok(None);
    };
    asset.retain(|key, value| ASSET.contains(&key.as_str()) && !value.is_null());
    if asset.contains_key("version") {
        value(tree, "asset")
    } else {
        Ok(None)
    }
}

/// One member of the root.
fn value<T: DeserializeOwned>(tree: &mut Object, key: &str) -> Parsed<Option<T>> {
    let Some(mut value) = tree.remove(key).filter(|value| !value.is_null()) else {
        return Ok(None);
    };
    clean(&mut value);
    serde_json::from_value(value)
        .map(Some)
        .map_err(|error| ParseProblem::new(format!("not valid glTF: \"{key}\": {error}")))
}

/// A list of the root whose objects must all be valid.
fn strict<T: DeserializeOwned>(
    tree: &mut Object,
    key: &str,
    keep: &[&str],
    repair: fn(&mut Object),
) -> Parsed<Vec<T>> {
    let read = |(i, value)| {
        let value = prepared(value, keep, repair);
        serde_json::from_value(value)
            .map_err(|error| ParseProblem::new(format!("not valid glTF: {key}[{i}]: {error}")))
    };
    elements(tree, key)?
        .into_iter()
        .enumerate()
        .map(read)
        .collect()
}

/// A list of the root whose invalid objects are replaced by empty ones of the same name, and their
/// number.
fn lenient<T: DeserializeOwned>(
    tree: &mut Object,
    key: &str,
    keep: &[&str],
    repair: fn(&mut Object),
) -> Parsed<(Vec<T>, usize)> {
    let mut damaged = 0;
    let mut list = Vec::new();
    for value in elements(tree, key)? {
        let name = value["name"].as_str().map(str::to_owned);
        let read = serde_json::from_value(prepared(value, keep, repair)).or_else(|_| {
            damaged += 1;
            let mut plain = Value::Object(Object::from_iter([("name".to_owned(), json!(name))]));
            plain.as_object_mut().into_iter().for_each(repair);
            serde_json::from_value(plain)
        });
        list.push(
            read.map_err(|error| ParseProblem::new(format!("not valid glTF: {key}: {error}")))?,
        );
    }
    Ok((list, damaged))
}

fn elements(tree: &mut Object, key: &str) -> Parsed<Vec<Value>> {
    match tree.remove(key) {
        None | Some(Value::Null) => Ok(Vec::new()),
        Some(Value::Array(list)) => Ok(list),
        Some(_) => bad(format!("not valid glTF: \"{key}\" is not a list")),
    }
}

fn prepared(mut value: Value, keep: &[&str], repair: fn(&mut Object)) -> Value {
    if let Value::Object(object) = &mut value {
        object.retain(|key, _| keep.contains(&key.as_str()));
    }
    clean(&mut value);
    if let Value::Object(object) = &mut value {
        repair(object);
    }
    value
}

/// Rules for every member. Recursion is safe: the parser limits nesting to 128.
fn clean(value: &mut Value) {
    match value {
        Value::Object(object) => {
            object.retain(|key, value| match key.as_str() {
                "extras" => false,
                "extensions" => value.is_object(),
                _ => !value.is_null(),
            });
            object
                .iter_mut()
                .filter(|(key, _)| !REALS.contains(&key.as_str()))
                .for_each(|(_, value)| clean(value));
        }
        Value::Array(list) => list.iter_mut().for_each(clean),
        Value::Number(number) if number.as_u64().is_some_and(|n| n > u64::from(u32::MAX)) => {
            *value = u32::MAX.into();
        }
        _ => {}
    }
}

fn default_list(object: &mut Object, key: &str) {
    object.entry(key).or_insert_with(|| json!([]));
}

/// A texture whose image is given only by an extension has no usable image.
fn no_picture(texture: &mut Object) {
    texture.entry("source").or_insert_with(|| json!(u32::MAX));
}

/// A channel without a target node has no effect (glTF 2.0, 5.7.1) and is removed; one without a
/// path keeps its position with an unknown path.
fn repair_animation(animation: &mut Object) {
    default_list(animation, "channels");
    default_list(animation, "samplers");
    let Some(Value::Array(channels)) = animation.get_mut("channels") else {
        return;
    };
    channels.retain(|channel| {
        channel["target"]
            .as_object()
            .is_none_or(|target| target.contains_key("node"))
    });
    for channel in channels {
        if let Some(target) = channel.get_mut("target").and_then(Value::as_object_mut) {
            target.entry("path").or_insert_with(|| json!(""));
        }
    }
}

/// Morph targets are read from the raw JSON ([`super::morphs`]).
fn repair_mesh(mesh: &mut Object) {
    default_list(mesh, "primitives");
    let Some(Value::Array(primitives)) = mesh.get_mut("primitives") else {
        return;
    };
    for primitive in primitives.iter_mut().filter_map(Value::as_object_mut) {
        primitive.entry("attributes").or_insert_with(|| json!({}));
        match primitive.get_mut("targets") {
            Some(Value::Array(targets)) => targets.fill_with(|| json!({})),
            Some(_) => drop(primitive.remove("targets")),
            None => {}
        }
    }
}

/// Only the base colour and the normal map are read, and an invalid normal map is left out. Specular-glossiness is used only where the file gives no
/// metallic-roughness; `gltf::json` cannot tell afterwards whether it did.
fn repair_material(material: &mut Object) {
    let normal = material.get_mut("normalTexture");
    if let Some(normal) = normal.and_then(Value::as_object_mut) {
        normal.retain(|key, _| matches!(key.as_str(), "index" | "scale" | "texCoord"));
    }
    let is_valid = |value: &Value| serde_json::from_value::<NormalTexture>(value.clone()).is_ok();
    if !material.get("normalTexture").is_none_or(is_valid) {
        material.remove("normalTexture");
    }
    if let Some(metal) = material
        .get_mut("pbrMetallicRoughness")
        .and_then(Value::as_object_mut)
    {
        metal.retain(|key, _| matches!(key.as_str(), "baseColorFactor" | "baseColorTexture"));
        material.remove("extensions");
    } else if let Some(extensions) = material
        .get_mut("extensions")
        .and_then(Value::as_object_mut)
    {
        extensions.retain(|key, _| key == "KHR_materials_pbrSpecularGlossiness");
        for gloss in extensions.values_mut().filter_map(Value::as_object_mut) {
            gloss.retain(|key, _| matches!(key.as_str(), "diffuseFactor" | "diffuseTexture"));
        }
    }
}

#[cfg(test)]
mod tests {
    use gltf::json::Material;

    use super::*;

    fn read(json: &str) -> Parsed<(Root, usize)> {
        root(tree(json.as_bytes())?)
    }

    #[test]
    fn members_that_are_not_read_may_be_invalid() {
        let json = r#"{"cameras":7,"samplers":[{"wrapS":"x"}],"nodes":[{"camera":"c","extras":5,"extensions":7,"mesh":null,"name":"n"}],
            "meshes":[{"weights":"w","primitives":[{"targets":[5,{"POSITION":"p"}]}]}],"scenes":[{}],
            "animations":[{"channels":[{"sampler":0,"target":{"path":"pointer"}},{"sampler":0,"target":{"node":0}}]}]}"#;
        let (root, _) = read(json).unwrap();
        assert_eq!(root.nodes[0].name.as_deref(), Some("n"));
        assert!(root.nodes[0].mesh.is_none());
        assert_eq!(
            root.meshes[0].primitives[0].targets.as_ref().unwrap().len(),
            2
        );
        assert_eq!(root.animations[0].channels.len(), 1);
    }

    #[test]
    fn an_out_of_range_index_stays_out_of_range() {
        let (root, _) =
            read(r#"{"nodes":[{"mesh":4294967296,"translation":[5000000000,0,0]}]}"#).unwrap();
        assert_eq!(root.nodes[0].mesh.unwrap().value(), u32::MAX as usize);
        assert_eq!(root.nodes[0].translation.unwrap()[0], 5e9);
    }

    #[test]
    fn an_invalid_normal_map_does_not_harm_its_material() {
        let of = |normal: &str| {
            let json = format!(r#"{{"materials":[{{"name":"a","normalTexture":{normal}}}]}}"#);
            let (root, damaged) = root(serde_json::from_str(&json).unwrap()).unwrap();
            (root.materials[0].normal_texture.is_some(), damaged)
        };
        assert_eq!(of(r#"{"index":0,"scale":2,"extras":[]}"#), (true, 0));
        assert_eq!(of(r#"{"index":"x"}"#), (false, 0));
        assert_eq!(of("7"), (false, 0));
    }

    #[test]
    fn invalid_materials_become_default_and_are_counted() {
        let gloss = r#""extensions":{"KHR_materials_pbrSpecularGlossiness":{"diffuseFactor":[0.5,0,0,1],"glossinessFactor":"x"}}"#;
        let damaged = r#"{"name":"torn","pbrMetallicRoughness":{"baseColorFactor":"red"}}"#;
        let (root, count) = read(&format!(
            r#"{{"materials":[{damaged},{{{gloss}}},{{"pbrMetallicRoughness":{{}},{gloss}}}]}}"#
        ))
        .unwrap();
        assert_eq!(count, 1);
        assert_eq!(root.materials[0].name.as_deref(), Some("torn"));
        let glossy = |material: &Material| {
            material
                .extensions
                .as_ref()
                .is_some_and(|e| e.pbr_specular_glossiness.is_some())
        };
        assert!(glossy(&root.materials[1]) && !glossy(&root.materials[2]));
    }

    #[test]
    fn invalid_objects_are_named_and_excessive_ones_rejected() {
        assert!(
            read(r#"{"nodes":[{},{"mesh":"m"}]}"#)
                .unwrap_err()
                .to_string()
                .contains("nodes[1]")
        );
        assert!(
            read(r#"{"nodes":{}}"#)
                .unwrap_err()
                .to_string()
                .contains("\"nodes\" is not a list")
        );
        let many = format!(r#"{{"extras":[0{}]}}"#, ",0".repeat(MOST_VALUES));
        assert!(
            read(&many)
                .unwrap_err()
                .to_string()
                .contains("more objects")
        );
    }
}
