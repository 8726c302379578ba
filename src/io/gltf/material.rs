//! Materials and textures. Nothing here keeps a mesh from loading: what can't be read is noted and left out.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::Value;

use super::accessor::Accessors;
use super::container::Place;
use super::document::Document;
use crate::character::{Character, Image, Material, Severity};
use crate::io::error::{Parsed, bad};
use crate::io::picture;

/// A material with the set of texture coordinates that its picture wants.
pub struct Materials {
    /// In the file's order.
    pub all: Vec<Material>,
    /// `TEXCOORD_n` per material.
    pub tex_coord_set: Vec<usize>,
}

/// Reads all materials and the base-colour pictures they use.
pub fn read(document: &Document, accessors: &Accessors<'_>, place: &Place, character: &mut Character) -> Materials {
    let mut images: HashMap<usize, Option<Arc<Image>>> = HashMap::new();
    let mut decoded_bytes = 0;
    let mut materials = Materials { all: Vec::new(), tex_coord_set: Vec::new() };
    for (i, value) in document.materials.iter().enumerate() {
        let look = Look::of(value);
        let image = look.texture.and_then(|texture| image_of(document, texture));
        let base_color_image = image.and_then(|index| {
            let decode = || match decode_image(document, accessors, place, index, &mut decoded_bytes) {
                Ok(image) => Some(Arc::new(image)),
                Err(problem) => {
                    character.note(Severity::Warning, 1, format!("texture {index} is left out: {problem}"));
                    None
                }
            };
            images.entry(index).or_insert_with(decode).clone()
        });
        materials.all.push(Material {
            name: value["name"].as_str().map_or_else(|| format!("material{i}"), str::to_owned),
            base_color: look.color,
            base_color_image,
            double_sided: value["doubleSided"].as_bool().unwrap_or(false),
            alpha_cutoff: match value["alphaMode"].as_str() {
                Some("MASK") => Some(value["alphaCutoff"].as_f64().map_or(0.5, |c| c as f32)),
                _ => None,
            },
        });
        materials.tex_coord_set.push(look.tex_coord_set);
    }
    materials
}

/// Base colour and picture of a material, metallic-roughness or specular-glossiness.
struct Look {
    color: [f32; 4],
    texture: Option<usize>,
    tex_coord_set: usize,
}

impl Look {
    fn of(material: &Value) -> Self {
        let metal = &material["pbrMetallicRoughness"];
        let gloss = &material["extensions"]["KHR_materials_pbrSpecularGlossiness"];
        let (color, texture) = if metal.is_null() && !gloss.is_null() {
            (&gloss["diffuseFactor"], &gloss["diffuseTexture"])
        } else {
            (&metal["baseColorFactor"], &metal["baseColorTexture"])
        };
        let index = |value: &Value| value.as_u64().and_then(|v| usize::try_from(v).ok());
        let component = |c: usize| color[c].as_f64().filter(|v| v.is_finite()).map_or(1.0, |v| v.clamp(0.0, 1.0) as f32);
        Self {
            color: std::array::from_fn(component),
            texture: index(&texture["index"]),
            tex_coord_set: index(&texture["texCoord"]).unwrap_or(0),
        }
    }
}

fn image_of(document: &Document, texture: usize) -> Option<usize> {
    let source = document.textures.get(texture)?["source"].as_u64()?;
    usize::try_from(source).ok().filter(|&i| i < document.images.len())
}

fn decode_image(document: &Document, accessors: &Accessors<'_>, place: &Place, index: usize, spent: &mut usize) -> Parsed<Image> {
    let value = &document.images[index];
    let fetched;
    let bytes = match (value["uri"].as_str(), value["bufferView"].as_u64()) {
        (Some(uri), _) => {
            fetched = place.fetch(uri)?;
            &fetched[..]
        }
        (None, Some(view)) => accessors.view_bytes(usize::try_from(view).unwrap_or(usize::MAX))?,
        (None, None) => return bad("it has neither a file nor data"),
    };
    picture::decode(bytes, spent)
}
