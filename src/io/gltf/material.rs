//! Materials and textures. Failures here never prevent a mesh from loading: what cannot be read is
//! noted and omitted.

use std::collections::HashMap;
use std::sync::Arc;

use gltf::json::material::AlphaMode;
use gltf::json::validation::Checked;
use gltf::json::{Index, Material as Written, Root, Texture};

use super::accessor::Accessors;
use super::container::UriBase;
use super::document::number;
use super::extensions::TextureTransform;
use crate::character::{Character, Image, Material, Severity};
use crate::io::error::{Parsed, bad};
use crate::io::picture::PictureBudget;

/// The materials, with the set of texture coordinates that each image uses.
pub struct GltfMaterials {
    /// In file order.
    pub all: Vec<Material>,
    /// `TEXCOORD_n` per material.
    pub tex_coord_set: Vec<u32>,
    /// `KHR_texture_transform` per material.
    pub transforms: Vec<Option<TextureTransform>>,
}

/// Reads all materials and the base-colour images they use.
pub fn read(
    root: &Root,
    accessors: &Accessors<'_>,
    place: &UriBase,
    character: &mut Character,
) -> GltfMaterials {
    let mut images: HashMap<usize, Option<Arc<Image>>> = HashMap::new();
    let mut budget = PictureBudget::default();
    let mut materials = GltfMaterials {
        all: Vec::new(),
        tex_coord_set: Vec::new(),
        transforms: Vec::new(),
    };
    for (i, material) in root.materials.iter().enumerate() {
        let look = BaseColor::of(material);
        let image = look.texture.and_then(|texture| image_of(root, texture));
        let base_color_image = image.and_then(|index| {
            let decode = || match decode_image(root, accessors, place, index, &mut budget) {
                Ok(image) => Some(Arc::new(image)),
                Err(problem) => {
                    character.note(
                        Severity::Warning,
                        1,
                        format!("texture {index} {problem}; it is omitted"),
                    );
                    None
                }
            };
            images.entry(index).or_insert_with(decode).clone()
        });
        materials.all.push(Material {
            name: material
                .name
                .clone()
                .unwrap_or_else(|| format!("material{i}")),
            base_color: look.color,
            base_color_image,
            double_sided: material.double_sided,
            alpha_cutoff: match material.alpha_mode {
                Checked::Valid(AlphaMode::Mask) => {
                    Some(material.alpha_cutoff.unwrap_or_default().0)
                }
                _ => None,
            },
        });
        materials.tex_coord_set.push(look.tex_coord_set);
    }
    budget.note(character);
    materials
}

/// Base colour and image of a material, metallic-roughness or specular-glossiness.
struct BaseColor {
    color: [f32; 4],
    texture: Option<Index<Texture>>,
    tex_coord_set: u32,
}

impl BaseColor {
    fn of(material: &Written) -> Self {
        let metal = &material.pbr_metallic_roughness;
        let gloss = material
            .extensions
            .as_ref()
            .and_then(|e| e.pbr_specular_glossiness.as_ref());
        let (color, texture) = match gloss {
            Some(gloss) => (gloss.diffuse_factor.0, gloss.diffuse_texture.as_ref()),
            None => (metal.base_color_factor.0, metal.base_color_texture.as_ref()),
        };
        Self {
            color: color.map(|c| c.clamp(0.0, 1.0)),
            texture: texture.map(|t| t.index),
            tex_coord_set: texture.map_or(0, |t| t.tex_coord),
        }
    }
}

fn image_of(root: &Root, texture: Index<Texture>) -> Option<usize> {
    Some(root.get(texture)?.source.value()).filter(|&i| i < root.images.len())
}

fn decode_image(
    root: &Root,
    accessors: &Accessors<'_>,
    place: &UriBase,
    index: usize,
    budget: &mut PictureBudget,
) -> Parsed<Image> {
    let image = &root.images[index];
    let fetched;
    let bytes = match (&image.uri, number(image.buffer_view)) {
        (Some(uri), _) => {
            fetched = place.fetch(uri)?;
            &fetched[..]
        }
        (None, Some(view)) => accessors.view_bytes(view)?,
        (None, None) => return bad("it has neither a file nor data"),
    };
    budget.decode(bytes)
}
