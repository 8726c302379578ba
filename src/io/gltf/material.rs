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
use super::extensions::{Extensions, TextureTransform};
use crate::character::{Character, Image, Material, NormalMap, Severity};
use crate::io::error::{Parsed, bad};
use crate::io::picture::PictureBudget;

/// The materials, with the set of texture coordinates that each image uses.
pub struct GltfMaterials {
    /// In file order.
    pub all: Vec<Material>,
    /// `TEXCOORD_n` per material.
    pub tex_coord_set: Vec<u32>,
    /// `KHR_texture_transform` per material: of the base colour, or of the normal map where there is no other texture.
    pub transforms: Vec<Option<TextureTransform>>,
}

/// Reads all materials and the base-colour images they use.
pub fn read(
    root: &Root,
    extensions: &Extensions,
    accessors: &Accessors<'_>,
    place: &UriBase,
    character: &mut Character,
) -> GltfMaterials {
    let mut materials = GltfMaterials {
        all: Vec::new(),
        tex_coord_set: Vec::new(),
        transforms: Vec::new(),
    };
    let mut pictures = GltfPictures {
        root,
        extensions,
        accessors,
        place,
        images: HashMap::new(),
        budget: PictureBudget::default(),
    };
    for (i, material) in root.materials.iter().enumerate() {
        let look = BaseColor::of(material);
        let bump = NormalTexture::of(material, i, &look, extensions);
        let base_color_image = look
            .texture
            .and_then(|texture| pictures.image(texture, false, character));
        let normal_map = bump.as_ref().and_then(|bump| {
            Some(NormalMap {
                image: pictures.image(bump.texture, true, character)?,
                scale: bump.scale,
            })
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
            normal_map,
        });
        let alone = bump.filter(|_| look.texture.is_none());
        let transforms = match alone {
            Some(_) => &extensions.normal_transforms,
            None => &extensions.transforms,
        };
        let set = alone.map_or(look.tex_coord_set, |bump| bump.tex_coord_set);
        materials.tex_coord_set.push(set);
        materials
            .transforms
            .push(transforms.get(i).copied().flatten());
    }
    pictures.budget.note(character);
    materials
}

/// The images of a document, each decoded once.
struct GltfPictures<'a> {
    root: &'a Root,
    extensions: &'a Extensions,
    accessors: &'a Accessors<'a>,
    place: &'a UriBase,
    /// By index and by whether they are data.
    images: HashMap<(usize, bool), Option<Arc<Image>>>,
    budget: PictureBudget,
}

impl GltfPictures<'_> {
    /// The image of a texture: the common one, or else the WebP one.
    fn image(
        &mut self,
        texture: Index<Texture>,
        is_data: bool,
        character: &mut Character,
    ) -> Option<Arc<Image>> {
        let count = self.root.images.len();
        let common = self.root.get(texture)?.source.value();
        let webp = self.extensions.webp.get(texture.value()).copied().flatten();
        let index = Some(common).filter(|&i| i < count).or(webp);
        let index = index.filter(|&i| i < count)?;
        if let Some(known) = self.images.get(&(index, is_data)) {
            return known.clone();
        }
        let image = match self.decode(index) {
            Ok(image) if is_data => Some(Arc::new(image.of_data())),
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
        self.images.insert((index, is_data), image.clone());
        image
    }

    fn decode(&mut self, index: usize) -> Parsed<Image> {
        let image = &self.root.images[index];
        let fetched;
        let bytes = match (&image.uri, number(image.buffer_view)) {
            (Some(uri), _) => {
                fetched = self.place.fetch(uri)?;
                &fetched[..]
            }
            (None, Some(view)) => self.accessors.view_bytes(view)?,
            (None, None) => return bad("it has neither a file nor data"),
        };
        self.budget.decode(bytes)
    }
}

/// The normal map of a material, if it lies on the surface as the base colour does: a mesh has one set of texture coordinates here.
#[derive(Clone, Copy)]
struct NormalTexture {
    texture: Index<Texture>,
    tex_coord_set: u32,
    scale: f32,
}

impl NormalTexture {
    fn of(
        material: &Written,
        index: usize,
        base: &BaseColor,
        extensions: &Extensions,
    ) -> Option<Self> {
        let normal = material.normal_texture.as_ref()?;
        let transform = |list: &[Option<TextureTransform>]| list.get(index).copied().flatten();
        let own = transform(&extensions.normal_transforms);
        let of_base = transform(&extensions.transforms);
        let fits =
            base.texture.is_none() || (normal.tex_coord == base.tex_coord_set && own == of_base);
        let scale = normal.scale;
        (fits && scale.abs() < 1e3).then_some(Self {
            texture: normal.index,
            tex_coord_set: normal.tex_coord,
            scale,
        })
    }
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

#[cfg(test)]
mod tests {
    use base64::Engine;

    use super::*;

    /// A triangle with the material and textures given as JSON, and a WebP and a PNG image of one pixel.
    fn triangle(textures: &str, material: &str) -> Character {
        let data = |bytes: &[u8], kind: &str| {
            let text = base64::engine::general_purpose::STANDARD.encode(bytes);
            format!("data:{kind};base64,{text}")
        };
        let positions = [0.0_f32, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0];
        let positions = data(bytemuck::cast_slice(&positions), "application/octet-stream");
        let mut webp = Vec::new();
        let encoder = image::codecs::webp::WebPEncoder::new_lossless(&mut webp);
        let color = image::ExtendedColorType::Rgba8;
        encoder.encode(&[10, 200, 30, 255], 1, 1, color).unwrap();
        let png = crate::io::glb_write::encode_png(&Image::new(1, 1, vec![250, 1, 2, 255]));
        let images = format!(
            r#"{{"uri":"{}"}},{{"uri":"{}"}}"#,
            data(&webp, "image/webp"),
            data(&png.unwrap(), "image/png")
        );
        let text = format!(
            r#"{{"asset":{{"version":"2.0"}},"scene":0,"scenes":[{{"nodes":[0]}}],"nodes":[{{"mesh":0}}],
            "extensionsUsed":["EXT_texture_webp","KHR_texture_basisu"],
            "meshes":[{{"primitives":[{{"attributes":{{"POSITION":0}},"material":0}}]}}],
            "accessors":[{{"bufferView":0,"componentType":5126,"count":3,"type":"VEC3","min":[0,0,0],"max":[1,1,0]}}],
            "bufferViews":[{{"buffer":0,"byteLength":36}}],"buffers":[{{"uri":"{positions}","byteLength":36}}],
            "images":[{images}],"textures":[{textures}],"materials":[{material}]}}"#
        );
        crate::io::read_gltf_bytes("triangle", text.as_bytes()).unwrap()
    }

    const BASE: &str = r#"{"pbrMetallicRoughness":{"baseColorTexture":{"index":0}}}"#;

    fn pixel(character: &Character) -> Option<Vec<u8>> {
        let image = character.materials[0].base_color_image.as_ref()?;
        Some(image.rgba.clone())
    }

    #[test]
    fn webp_textures_are_read_unless_there_is_a_common_one() {
        let webp = r#""extensions":{"EXT_texture_webp":{"source":0}}"#;
        let only = triangle(&format!("{{{webp}}}"), BASE);
        assert_eq!(pixel(&only), Some(vec![10, 200, 30, 255]));
        assert!(only.notes.iter().all(|note| !note.text.contains("texture")));
        let both = triangle(&format!("{{\"source\":1,{webp}}}"), BASE);
        assert_eq!(pixel(&both), Some(vec![250, 1, 2, 255]));
        let basis = r#"{"extensions":{"KHR_texture_basisu":{"source":0}}}"#;
        let none = triangle(basis, BASE);
        assert_eq!(pixel(&none), None);
        let said = none
            .notes
            .iter()
            .any(|note| note.text.contains("KHR_texture_basisu"));
        assert!(said, "{:?}", none.notes);
    }

    #[test]
    fn normal_maps_are_read_where_they_lie_as_the_base_colour() {
        let source = r#"{"source":1}"#;
        let map = |character: &Character| character.materials[0].normal_map.clone();
        let alone = r#"{"normalTexture":{"index":0,"scale":0.5}}"#;
        let read = map(&triangle(source, alone)).unwrap();
        assert_eq!(
            (read.scale, &read.image.rgba[..]),
            (0.5, &[250, 1, 2, 255][..])
        );
        let beside = |normal: &str| {
            let base = r#""pbrMetallicRoughness":{"baseColorTexture":{"index":0}}"#;
            map(&triangle(
                source,
                &format!("{{{base},\"normalTexture\":{normal}}}"),
            ))
        };
        assert!(beside(r#"{"index":0}"#).is_some());
        assert!(beside(r#"{"index":0,"texCoord":1}"#).is_none());
        let moved = r#"{"index":0,"extensions":{"KHR_texture_transform":{"offset":[0.5,0]}}}"#;
        assert!(beside(moved).is_none());
    }
}
