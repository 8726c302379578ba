//! Material libraries (`.mtl`) and their pictures.

use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use crate::character::{Character, Material, Severity};
use crate::io::bytes::text_of;
use crate::io::picture::PictureBudget;
use crate::io::referenced::{abridged, read_referenced};

/// Most material libraries of a mesh.
const MOST: usize = 100;

/// Reads the material libraries, each once; what cannot be read is noted.
pub(super) fn read_materials(
    libraries: &[String],
    folder: Option<&Path>,
    character: &mut Character,
) -> HashMap<String, usize> {
    let mut index_of = HashMap::new();
    let (mut budget, mut seen) = (PictureBudget::default(), HashSet::new());
    for library in libraries {
        if !seen.insert(library) {
            continue;
        }
        if seen.len() > MOST {
            let text = format!("more than {MOST} material libraries, of which the first are read");
            character.note(Severity::Warning, 1, text);
            break;
        }
        let bytes = match read_referenced(folder, library) {
            Ok(bytes) => bytes,
            Err(problem) => {
                let name = abridged(library);
                let text = format!(
                    "the material library \"{name}\" {problem}; the mesh is drawn without it"
                );
                character.note(Severity::Warning, 1, text);
                continue;
            }
        };
        let text = text_of(&bytes);
        let Ok((materials, _)) = tobj::load_mtl_buf(&mut text.as_bytes()) else {
            character.note(
                Severity::Warning,
                1,
                format!(
                    "the material library \"{}\" is malformed; the mesh is drawn without it",
                    abridged(library)
                ),
            );
            continue;
        };
        for material in materials {
            let picture = material
                .diffuse_texture
                .as_ref()
                .and_then(|file| picture_of(file, folder, &mut budget, character));
            let [r, g, b] = material.diffuse.unwrap_or([0.8; 3]).map(|c| {
                if c.is_finite() {
                    c.clamp(0.0, 1.0)
                } else {
                    0.8
                }
            });
            let opacity = material
                .dissolve
                .filter(|d| d.is_finite())
                .map_or(1.0, |d| d.clamp(0.0, 1.0));
            index_of
                .entry(material.name.clone())
                .or_insert(character.materials.len());
            character.materials.push(Material {
                name: material.name,
                base_color: if picture.is_some() {
                    [1.0, 1.0, 1.0, opacity]
                } else {
                    [r, g, b, opacity]
                },
                base_color_image: picture,
                ..Material::default()
            });
        }
    }
    budget.note(character);
    index_of
}

fn picture_of(
    file: &str,
    folder: Option<&Path>,
    budget: &mut PictureBudget,
    character: &mut Character,
) -> Option<Arc<crate::character::Image>> {
    // Options such as "-s 1 1 1" precede the file name.
    let last = file.split_whitespace().last().unwrap_or(file);
    let bytes = read_referenced(folder, file).or_else(|_| read_referenced(folder, last));
    let decoded = bytes.and_then(|bytes| budget.decode(&bytes));
    decoded.map(Arc::new).map_or_else(
        |problem| {
            let name = abridged(file);
            let text = format!("the texture \"{name}\" {problem}; the mesh is drawn without it");
            character.note(Severity::Warning, 1, text);
            None
        },
        Some,
    )
}
