//! Data of extensions, read from the raw JSON, because `gltf::json` drops it.

use gltf::json::Value;
use serde_json::Map;

use super::declared_morphs::MorphDeclarations;
use super::meshopt::{CompressionFilter, CompressionMode};
use crate::io::error::{Parsed, bad};

/// A buffer view compressed with meshoptimizer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompressedView {
    pub buffer: usize,
    pub offset: usize,
    pub length: usize,
    pub stride: usize,
    pub count: usize,
    pub mode: CompressionMode,
    pub filter: CompressionFilter,
}

/// `KHR_texture_transform`: offset, rotation and scale of texture coordinates, another set.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TextureTransform {
    offset: [f32; 2],
    rotation: f32,
    scale: [f32; 2],
    pub tex_coord: Option<u32>,
}

/// All extension data.
#[derive(Debug, Default)]
pub struct Extensions {
    /// For every buffer view.
    pub compressed: Vec<Option<CompressedView>>,
    /// For the base colour of every material.
    pub transforms: Vec<Option<TextureTransform>>,
    /// For the normal map of every material.
    pub normal_transforms: Vec<Option<TextureTransform>>,
    /// The WebP image of every texture that has one (`EXT_texture_webp`).
    pub webp: Vec<Option<usize>>,
    /// Morph targets.
    pub morphs: MorphDeclarations,
    /// Members `VRM` or `VRMC_…` of the document's extensions.
    pub vrm: Map<String, Value>,
    /// `extensionsUsed` of the file.
    pub used: Vec<String>,
    /// Textures without an image of a common format, by the extension that has one.
    pub other_pictures: Vec<String>,
}

const WEBP: &str = "EXT_texture_webp";
const MESHOPT: &str = "EXT_meshopt_compression";

impl Extensions {
    /// Reads the whole document; invalid members count as absent, except those that meshes depend
    /// on.
    pub fn of(tree: &Map<String, Value>) -> Parsed<Self> {
        let list = |key: &str| {
            tree.get(key)
                .and_then(Value::as_array)
                .map_or(&[][..], Vec::as_slice)
        };
        let compressed = list("bufferViews")
            .iter()
            .enumerate()
            .map(compressed)
            .collect::<Parsed<_>>()?;
        let own = tree.get("extensions").and_then(Value::as_object);
        let vrm = own
            .into_iter()
            .flatten()
            .filter(|(key, _)| key.starts_with("VRM"))
            .map(|(k, v)| (k.clone(), v.clone()));
        let webp = |texture: &Value| index(&texture["extensions"][WEBP]["source"]);
        let without_source = list("textures")
            .iter()
            .filter(|texture| texture["source"].is_null() && webp(texture).is_none());
        Ok(Self {
            compressed,
            transforms: list("materials")
                .iter()
                .map(TextureTransform::of_base_color)
                .collect(),
            normal_transforms: (list("materials").iter())
                .map(|material| TextureTransform::of(&material["normalTexture"]))
                .collect(),
            webp: list("textures").iter().map(webp).collect(),
            morphs: MorphDeclarations::of(tree),
            vrm: vrm.collect(),
            used: list("extensionsUsed")
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect(),
            other_pictures: without_source
                .filter_map(|t| t["extensions"].as_object()?.keys().next().cloned())
                .collect(),
        })
    }
}

fn index(value: &Value) -> Option<usize> {
    value.as_u64().and_then(|n| usize::try_from(n).ok())
}

fn compressed((i, view): (usize, &Value)) -> Parsed<Option<CompressedView>> {
    let extension = &view["extensions"][MESHOPT];
    if !extension.is_object() {
        return Ok(None);
    }
    let mode = match extension["mode"].as_str() {
        Some("ATTRIBUTES") => Some(CompressionMode::Attributes),
        Some("TRIANGLES") => Some(CompressionMode::Triangles),
        Some("INDICES") => Some(CompressionMode::Indices),
        _ => None,
    };
    let filter = match extension["filter"].as_str() {
        None | Some("NONE") => Some(CompressionFilter::None),
        Some("OCTAHEDRAL") => Some(CompressionFilter::Octahedral),
        Some("QUATERNION") => Some(CompressionFilter::Quaternion),
        Some("EXPONENTIAL") => Some(CompressionFilter::Exponential),
        Some(_) => None,
    };
    let found = || {
        Some(CompressedView {
            buffer: index(&extension["buffer"])?,
            offset: index(&extension["byteOffset"]).unwrap_or(0),
            length: index(&extension["byteLength"])?,
            stride: index(&extension["byteStride"])?,
            count: index(&extension["count"])?,
            mode: mode?,
            filter: filter?,
        })
    };
    match found() {
        Some(found) => Ok(Some(found)),
        None => bad(format!(
            "buffer view {i} is compressed by {MESHOPT} in an unknown mode"
        )),
    }
}

impl TextureTransform {
    fn of_base_color(material: &Value) -> Option<Self> {
        let metal = &material["pbrMetallicRoughness"];
        let gloss = &material["extensions"]["KHR_materials_pbrSpecularGlossiness"];
        let texture = if metal.is_object() {
            &metal["baseColorTexture"]
        } else {
            &gloss["diffuseTexture"]
        };
        Self::of(texture)
    }

    fn of(texture: &Value) -> Option<Self> {
        let transform = texture["extensions"]["KHR_texture_transform"].as_object()?;
        let pair = |key: &str, default: f32| {
            let number = |i: usize| {
                transform
                    .get(key)
                    .and_then(|v| v[i].as_f64())
                    .map_or(default, |n| n as f32)
            };
            [number(0), number(1)]
        };
        let found = Self {
            offset: pair("offset", 0.0),
            rotation: transform
                .get("rotation")
                .and_then(Value::as_f64)
                .unwrap_or(0.0) as f32,
            scale: pair("scale", 1.0),
            tex_coord: transform
                .get("texCoord")
                .and_then(Value::as_u64)
                .and_then(|n| u32::try_from(n).ok()),
        };
        let all = found
            .offset
            .into_iter()
            .chain(found.scale)
            .chain([found.rotation]);
        all.into_iter().all(|c| c.abs() < 1e6).then_some(found)
    }

    /// Texture coordinates: scaled, rotated counter-clockwise (v points down), then translated.
    pub fn apply(&self, [u, v]: [f32; 2]) -> [f32; 2] {
        let (sin, cos) = self.rotation.sin_cos();
        let (u, v) = (u * self.scale[0], v * self.scale[1]);
        [
            cos * u + sin * v + self.offset[0],
            cos * v - sin * u + self.offset[1],
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(json: &str) -> Parsed<Extensions> {
        Extensions::of(&serde_json::from_str(json).unwrap())
    }

    #[test]
    fn texture_transforms_rotate_counter_clockwise_after_scaling() {
        let json = r#"{"materials":[{},{"pbrMetallicRoughness":{"baseColorTexture":{"index":0,"extensions":{"KHR_texture_transform":
            {"offset":[0.5,0.25],"rotation":1.5707964,"scale":[2,3],"texCoord":1}}}}}]}"#;
        let found = of(json).unwrap().transforms;
        assert!(found[0].is_none());
        let transform = found[1].unwrap();
        assert_eq!(transform.tex_coord, Some(1));
        for (uv, expected) in [
            ([0.0, 0.0], [0.5, 0.25]),
            ([1.0, 0.0], [0.5, -1.75]),
            ([0.0, 1.0], [3.5, 0.25]),
        ] {
            let [u, v] = transform.apply(uv);
            assert!(
                (u - expected[0]).abs() < 1e-5 && (v - expected[1]).abs() < 1e-5,
                "{uv:?}: {u} {v}"
            );
        }
    }

    #[test]
    fn unknown_compression_is_rejected_by_name() {
        let view = r#"{"bufferViews":[{"extensions":{"EXT_meshopt_compression":{"buffer":0,"byteLength":9,"byteStride":4,"count":2,"mode":"X"}}}]}"#;
        assert!(
            of(view)
                .unwrap_err()
                .to_string()
                .contains("EXT_meshopt_compression")
        );
        assert_eq!(
            of(&view.replace("\"X\"", "\"INDICES\""))
                .unwrap()
                .compressed[0]
                .as_ref()
                .unwrap()
                .mode,
            CompressionMode::Indices
        );
    }
}
