//! `UsdPreviewSurface` materials → materials.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use super::layer::Prim;
use super::package::Package;
use super::scene::Scene;
use crate::character::{Character, Image, Material, NormalMap, Severity};
use crate::io::error::{ParseProblem, Parsed};
use crate::io::picture::PictureBudget;
use crate::io::referenced::{abridged, read_referenced};

/// The standard's diffuse colour.
const USUAL_COLOR: f64 = 0.18;

/// Where textures are.
pub(super) struct Pictures<'a> {
    pub(super) package: Option<Package<'a>>,
    pub(super) folder: Option<&'a Path>,
}

impl Pictures<'_> {
    fn bytes(&self, name: &str) -> Parsed<Vec<u8>> {
        match &self.package {
            Some(package) => match package.file(name) {
                Some(bytes) => Ok(bytes.to_vec()),
                None => Err(ParseProblem::new("is not in the .usdz archive")),
            },
            None => read_referenced(self.folder, name),
        }
    }
}

/// Textures of a file, each decoded once.
struct Textures<'a> {
    pictures: &'a Pictures<'a>,
    budget: PictureBudget,
    /// By name and by whether they are data.
    known: HashMap<(String, bool), Option<Arc<Image>>>,
}

impl Textures<'_> {
    fn image(
        &mut self,
        file: &str,
        is_data: bool,
        character: &mut Character,
    ) -> Option<Arc<Image>> {
        let key = (file.to_owned(), is_data);
        if let Some(known) = self.known.get(&key) {
            return known.clone();
        }
        let bytes = self.pictures.bytes(file);
        let image = match bytes.and_then(|bytes| self.budget.decode(&bytes)) {
            Ok(image) if is_data => Some(Arc::new(image.of_data())),
            Ok(image) => Some(Arc::new(image)),
            Err(problem) => {
                let file = abridged(file);
                let text =
                    format!("the texture \"{file}\" {problem}; the mesh is drawn without it");
                character.note(Severity::Warning, 1, text);
                None
            }
        };
        self.known.insert(key, image.clone());
        image
    }
}

/// The material of each `Material` prim.
#[derive(Debug, Default)]
pub(super) struct Looks {
    of_prim: HashMap<usize, usize>,
    names: Vec<String>,
}

impl Looks {
    /// Reads all materials into the character.
    pub(super) fn read(
        scene: &Scene<'_>,
        pictures: &Pictures<'_>,
        character: &mut Character,
    ) -> Self {
        let mut looks = Self::default();
        let mut textures = Textures {
            pictures,
            budget: PictureBudget::default(),
            known: HashMap::new(),
        };
        for index in scene.of_kind("Material") {
            let surface = surface_of(scene, index);
            let mut material = surface.map_or_else(plain, described);
            material.name = scene.prims[index].title();
            let color = surface.and_then(|s| texture_of(scene, s, "inputs:diffuseColor"));
            if let Some((file, scale)) = color
                && let Some(image) = textures.image(&file, false, character)
            {
                let opacity = material.base_color[3];
                material.base_color = scale;
                material.base_color[3] = opacity.min(scale[3]);
                material.base_color_image = Some(image);
            }
            let normals = surface.and_then(|s| texture_of(scene, s, "inputs:normal"));
            if let Some((file, scale)) = normals {
                let image = textures.image(&file, true, character);
                // Twice, because components of −1 to 1 are stored from 0 to 1.
                let scale = scale[0] / 2.0;
                let scale = if scale > 0.5 { scale } else { 1.0 };
                material.normal_map = image.map(|image| NormalMap { image, scale });
            }
            looks.of_prim.insert(index, character.materials.len());
            looks.names.push(named(&material.name, looks.names.len()));
            character.materials.push(material);
        }
        textures.budget.note(character);
        looks
    }

    /// The name of a material by which polygons refer to it; empty for none.
    pub(super) fn name(&self, material: Option<usize>) -> &str {
        let name = material.and_then(|material| self.names.get(material));
        name.map_or("", String::as_str)
    }

    /// The material bound to a prim itself.
    pub(super) fn bound(&self, scene: &Scene<'_>, prim: usize) -> Option<usize> {
        let names = ["material:binding", "material:binding:preview"];
        let target = names.iter().find_map(|name| scene.prims[prim].target(name));
        self.of_prim.get(&scene.find(target?)?).copied()
    }

    /// The material of a prim: its own, or that of the nearest prim above.
    pub(super) fn inherited(&self, scene: &Scene<'_>, prim: usize) -> Option<usize> {
        scene.upwards(prim).find_map(|prim| self.bound(scene, prim))
    }
}

/// The name of a material, or what stands for it.
fn named(name: &str, index: usize) -> String {
    if name.is_empty() {
        format!("material{index}")
    } else {
        name.to_owned()
    }
}

fn plain() -> Material {
    Material {
        base_color: [0.8, 0.8, 0.8, 1.0],
        ..Material::default()
    }
}

/// The surface shader of a material.
fn surface_of<'a>(scene: &Scene<'a>, material: usize) -> Option<&'a Prim> {
    let is_surface = |prim: &&Prim| prim.texts("info:id") == ["UsdPreviewSurface"];
    let target = scene.prims[material].target("outputs:surface");
    let connected = target.and_then(|path| scene.find(path));
    let connected = connected.map(|index| scene.prims[index]).filter(is_surface);
    connected.or_else(|| scene.prims[material].children.iter().find(is_surface))
}

/// Colour and opacity of a surface.
fn described(surface: &Prim) -> Material {
    let unit = |value: f64| {
        if value.is_finite() {
            value.clamp(0.0, 1.0) as f32
        } else {
            1.0
        }
    };
    let [r, g, b] = match surface.numbers("inputs:diffuseColor") {
        &[r, g, b] => [r, g, b],
        _ => [USUAL_COLOR; 3],
    };
    let number = |name: &str| surface.numbers(name).first().copied();
    let cutoff = number("inputs:opacityThreshold").filter(|cutoff| *cutoff > 0.0);
    Material {
        base_color: [r, g, b, number("inputs:opacity").unwrap_or(1.0)].map(unit),
        alpha_cutoff: cutoff.map(unit),
        ..plain()
    }
}

/// The file of a texture that an input is connected to, and the factor on it.
fn texture_of(scene: &Scene<'_>, surface: &Prim, input: &str) -> Option<(String, [f32; 4])> {
    let target = surface.target(input)?;
    let reader = scene.prims[scene.find(target)?];
    let file = reader.texts("inputs:file").first()?.clone();
    let scale = match reader.numbers("inputs:scale") {
        &[r, g, b, a] => [r, g, b, a].map(|c| if c.abs() < 1e3 { c as f32 } else { 1.0 }),
        _ => [1.0; 4],
    };
    (!file.is_empty()).then_some((file, scale))
}
