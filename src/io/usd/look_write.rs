//! Materials as `UsdPreviewSurface`, and their textures as files.

use std::io::Write;
use std::path::{Path, PathBuf};

use super::layer::{Prim, Property, Value};
use super::names::SiblingNames;
use crate::character::{Character, Material};
use crate::io::error::{IoError, shown};
use crate::io::glb_write::encode_png;
use crate::io::reads::refuse_protected;
use crate::io::write::write_atomically;

/// Name of the prim that holds the materials.
const SCOPE: &str = "Materials";

/// Where the materials of a character and their textures are.
#[derive(Debug)]
pub(super) struct Looks {
    /// The path of each material.
    pub(super) paths: Vec<String>,
    names: Vec<String>,
    /// The texture of each material.
    textures: Vec<Option<PathBuf>>,
    /// The normal map of each material.
    normals: Vec<Option<PathBuf>>,
}

impl Looks {
    /// Below the prim `root`; the texture of material N is `NAME.N.png` beside the file, its normal map `NAME.N.normals.png`.
    ///
    /// # Errors
    /// [`IoError::OverInput`] if a texture is a protected input.
    pub(super) fn of(character: &Character, root: &str, path: &Path) -> Result<Self, IoError> {
        let mut names = SiblingNames::default();
        let materials = character.materials.iter();
        let names: Vec<String> = materials
            .map(|material| names.unique(&material.name))
            .collect();
        let texture = |(index, material): (usize, &Material)| {
            let image = material.base_color_image.as_ref();
            image.map(|_| path.with_extension(format!("{index}.png")))
        };
        let textures: Vec<Option<PathBuf>> = (character.materials.iter().enumerate())
            .map(texture)
            .collect();
        let map = |(index, material): (usize, &Material)| {
            let map = material.normal_map.as_ref();
            map.map(|_| path.with_extension(format!("{index}.normals.png")))
        };
        let normals: Vec<Option<PathBuf>> =
            (character.materials.iter().enumerate()).map(map).collect();
        let mut files = textures.iter().chain(&normals).flatten();
        files.try_for_each(|texture| refuse_protected(texture))?;
        let path = |name: &String| format!("{root}/{SCOPE}/{name}");
        Ok(Self {
            paths: names.iter().map(path).collect(),
            names,
            textures,
            normals,
        })
    }

    /// The prim with all materials; `None` without any.
    pub(super) fn prim(&self, character: &Character) -> Option<Prim> {
        if self.names.is_empty() {
            return None;
        }
        let mut scope = Prim::new("Scope", SCOPE);
        for (index, material) in character.materials.iter().enumerate() {
            scope.children.push(self.material(index, material));
        }
        Some(scope)
    }

    fn material(&self, index: usize, material: &Material) -> Prim {
        let path = &self.paths[index];
        let mut prim = Prim::new("Material", self.names[index].clone());
        if prim.name != material.name {
            let name = Value::text(material.name.clone());
            prim.meta.push(("displayName".to_owned(), name));
        }
        let surface_out = format!("{path}/Surface.outputs:surface");
        let output = Property::connected("token", "outputs:surface", surface_out);
        prim.properties.push(output);
        let texture = self.textures[index].as_ref();
        let normals = self.normals[index].as_ref();
        prim.children.push(surface(
            path,
            material,
            [texture, normals].map(|file| file.is_some()),
        ));
        let name = |file: &PathBuf| {
            let name = file.file_name().unwrap_or_default();
            format!("./{}", name.to_string_lossy())
        };
        if let Some(file) = texture {
            let factor = material.base_color.map(f64::from);
            let mut reader = texture_reader("Texture", path, name(file), "sRGB", factor);
            reader.properties.push(output_of("float", "outputs:a"));
            prim.children.push(reader);
        }
        if let (Some(file), Some(map)) = (normals, &material.normal_map) {
            // From 0 to 1 to −1 to 1, red and green times the scale.
            let scale = f64::from(map.scale);
            let factor = [2.0 * scale, 2.0 * scale, 2.0, 1.0];
            let mut reader = texture_reader("Normals", path, name(file), "raw", factor);
            let bias = Value::Numbers(vec![-scale, -scale, -1.0, 0.0]);
            let bias = Property::of("float4", "inputs:bias", bias);
            reader.properties.push(bias);
            prim.children.push(reader);
        }
        if texture.or(normals).is_some() {
            let mut reader = shader("Coordinates", "UsdPrimvarReader_float2");
            let st = Property::of("string", "inputs:varname", Value::text("st"));
            reader.properties.push(st);
            reader
                .properties
                .push(output_of("float2", "outputs:result"));
            prim.children.push(reader);
        }
        prim
    }

    /// The files of the textures.
    pub(super) fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.textures.iter().chain(&self.normals).flatten()
    }

    /// Writes the textures.
    ///
    /// # Errors
    /// [`IoError::Write`].
    pub(super) fn write(&self, character: &Character) -> Result<(), IoError> {
        for (index, material) in character.materials.iter().enumerate() {
            let normals = material.normal_map.as_ref().map(|map| &map.image);
            let pictures = [
                (&self.textures[index], material.base_color_image.as_ref()),
                (&self.normals[index], normals),
            ];
            for (file, image) in pictures {
                let (Some(file), Some(image)) = (file, image) else {
                    continue;
                };
                let png = encode_png(image).map_err(|error| IoError::Write {
                    file: shown(file),
                    source: std::io::Error::other(error),
                })?;
                write_atomically(file, |out| out.write_all(&png))?;
            }
        }
        Ok(())
    }
}

fn shader(name: &str, id: &str) -> Prim {
    let mut prim = Prim::new("Shader", name);
    let id = Property::uniform("token", "info:id", Value::text(id));
    prim.properties.push(id);
    prim
}

fn output_of(kind: &str, name: &str) -> Property {
    Property {
        name: name.to_owned(),
        kind: kind.to_owned(),
        ..Property::default()
    }
}

fn surface(path: &str, material: &Material, [is_textured, has_normals]: [bool; 2]) -> Prim {
    let mut prim = shader("Surface", "UsdPreviewSurface");
    let [r, g, b, opacity] = material.base_color.map(f64::from);
    let number = |name: &str, value: f64| Property::of("float", name, Value::number(value));
    if is_textured {
        let texture = format!("{path}/Texture.outputs:rgb");
        let color = Property::connected("color3f", "inputs:diffuseColor", texture);
        prim.properties.push(color);
    } else {
        let color = Value::Numbers(vec![r, g, b]);
        let color = Property::of("color3f", "inputs:diffuseColor", color);
        prim.properties.push(color);
    }
    if is_textured && material.alpha_cutoff.is_some() {
        let texture = format!("{path}/Texture.outputs:a");
        let opacity = Property::connected("float", "inputs:opacity", texture);
        prim.properties.push(opacity);
    } else if opacity < 1.0 {
        prim.properties.push(number("inputs:opacity", opacity));
    }
    if let Some(cutoff) = material.alpha_cutoff {
        let cutoff = number("inputs:opacityThreshold", f64::from(cutoff));
        prim.properties.push(cutoff);
    }
    if has_normals {
        let normals = format!("{path}/Normals.outputs:rgb");
        let normals = Property::connected("normal3f", "inputs:normal", normals);
        prim.properties.push(normals);
    }
    prim.properties.push(number("inputs:metallic", 0.0));
    prim.properties.push(number("inputs:roughness", 0.8));
    prim.properties.push(output_of("token", "outputs:surface"));
    prim
}

fn texture_reader(
    name: &str,
    path: &str,
    file: String,
    color_space: &str,
    factor: [f64; 4],
) -> Prim {
    let mut prim = shader(name, "UsdUVTexture");
    let st = format!("{path}/Coordinates.outputs:result");
    let token = |name: &str, value: &str| Property::of("token", name, Value::text(value));
    prim.properties.extend([
        Property::of("asset", "inputs:file", Value::text(file)),
        token("inputs:sourceColorSpace", color_space),
        token("inputs:wrapS", "repeat"),
        token("inputs:wrapT", "repeat"),
        Property::of("float4", "inputs:scale", Value::Numbers(factor.to_vec())),
        Property::connected("float2", "inputs:st", st),
        output_of("float3", "outputs:rgb"),
    ]);
    prim
}
