//! Material libraries (`.mtl`) and their pictures.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use crate::character::{Character, Material, Severity};
use crate::io::bytes::{read_file, text_of};
use crate::io::picture;

/// A referenced file: at its path, otherwise by its file name in the same folder (paths from
/// another computer).
pub(in crate::io) fn read_referenced(folder: Option<&Path>, name: &str) -> Option<Vec<u8>> {
    let name = name.replace('\\', "/");
    let bare = name.rsplit('/').next().unwrap_or(&name);
    [name.as_str(), bare]
        .iter()
        .find_map(|name| read_file(&folder?.join(name)).ok())
}

/// Reads the material libraries; missing files are noted.
pub(super) fn read_materials(
    libraries: &[String],
    folder: Option<&Path>,
    character: &mut Character,
) -> HashMap<String, usize> {
    let mut index_of = HashMap::new();
    let mut spent = 0;
    for library in libraries {
        let Some(bytes) = read_referenced(folder, library) else {
            character.note(
                Severity::Warning,
                1,
                format!(
                    "the material library \"{library}\" is missing; the mesh is drawn without it"
                ),
            );
            continue;
        };
        let text = text_of(&bytes);
        let Ok((materials, _)) = tobj::load_mtl_buf(&mut text.as_bytes()) else {
            character.note(
                Severity::Warning,
                1,
                format!(
                    "the material library \"{library}\" cannot be read; the mesh is drawn without it"
                ),
            );
            continue;
        };
        for material in materials {
            let picture = material
                .diffuse_texture
                .as_ref()
                .and_then(|file| picture_of(file, folder, &mut spent, character));
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
                double_sided: false,
                alpha_cutoff: None,
            });
        }
    }
    index_of
}

fn picture_of(
    file: &str,
    folder: Option<&Path>,
    spent: &mut usize,
    character: &mut Character,
) -> Option<Arc<crate::character::Image>> {
    // Options such as "-s 1 1 1" precede the file name.
    let last = file.split_whitespace().last().unwrap_or(file);
    let bytes = read_referenced(folder, file).or_else(|| read_referenced(folder, last));
    let decoded = bytes.and_then(|bytes| picture::decode(&bytes, spent).ok());
    if decoded.is_none() {
        character.note(
            Severity::Warning,
            1,
            format!("the texture \"{file}\" cannot be read; the mesh is drawn without it"),
        );
    }
    decoded.map(Arc::new)
}
