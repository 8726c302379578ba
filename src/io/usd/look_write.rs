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
}

impl Looks {
    /// Below the prim `root`; the texture of material N is `NAME.N.png` beside the file.
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
        (textures.iter().flatten()).try_for_each(|texture| refuse_protected(texture))?;
        let path = |name: &String| format!("{root}/{SCOPE}/{name}");
        Ok(Self {
            paths: names.iter().map(path).collect(),
            names,
            textures,
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
        prim.children
            .push(surface(path, material, texture.is_some()));
        if let Some(file) = texture {
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            prim.children.push(texture_reader(path, material, &name));
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
        self.textures.iter().flatten()
    }

    /// Writes the textures.
    ///
    /// # Errors
    /// [`IoError::Write`].
    pub(super) fn write(&self, character: &Character) -> Result<(), IoError> {
        for (material, texture) in character.materials.iter().zip(&self.textures) {
            let (Some(texture), Some(image)) = (texture, &material.base_color_image) else {
                continue;
            };
            let png = encode_png(image).map_err(|error| IoError::Write {
                file: shown(texture),
                source: std::io::Error::other(error),
            })?;
            write_atomically(texture, |out| out.write_all(&png))?;
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

fn surface(path: &str, material: &Material, is_textured: bool) -> Prim {
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
    prim.properties.push(number("inputs:metallic", 0.0));
    prim.properties.push(number("inputs:roughness", 0.8));
    prim.properties.push(output_of("token", "outputs:surface"));
    prim
}

fn texture_reader(path: &str, material: &Material, file: &str) -> Prim {
    let mut prim = shader("Texture", "UsdUVTexture");
    let factor = Value::Numbers(material.base_color.map(f64::from).to_vec());
    let st = format!("{path}/Coordinates.outputs:result");
    prim.properties.extend([
        Property::of("asset", "inputs:file", Value::text(format!("./{file}"))),
        Property::of("token", "inputs:sourceColorSpace", Value::text("sRGB")),
        Property::of("token", "inputs:wrapS", Value::text("repeat")),
        Property::of("token", "inputs:wrapT", Value::text("repeat")),
        Property::of("float4", "inputs:scale", factor),
        Property::connected("float2", "inputs:st", st),
        output_of("float3", "outputs:rgb"),
        output_of("float", "outputs:a"),
    ]);
    prim
}
