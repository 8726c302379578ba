//! Stanford PLY: text, binary in both byte orders, all number types, polygons and triangle strips.
//!
//! Existing crates are not used, because they build a map of names for every vertex and allocate
//! declared counts unchecked. Elements other than `vertex`, `face` and `tristrips` are skipped, as
//! are properties that a character has no use for.

mod body;
mod header;

use std::path::Path;
use std::sync::Arc;

use super::error::{Parsed, bad};
use super::picture::PictureBudget;
use super::polygon::Triangulator;
use super::referenced::{abridged, read_referenced};
use crate::character::{Attachment, Character, Material, Severity, SourceFaces, SourceMesh};
use crate::math::{Point, Vec3};
use body::BodyReader;
use header::{Header, PlyElement, PropertyKind};

/// Maximum number of corners or vertices.
const MOST: usize = 40_000_000;

/// The vertex attributes that are read, by property name: position, normal, texture coordinates.
const SLOTS: [&[&str]; 8] = [
    &["x"],
    &["y"],
    &["z"],
    &["nx"],
    &["ny"],
    &["nz"],
    &["u", "s", "texture_u"],
    &["v", "t", "texture_v"],
];

/// Data read so far.
#[derive(Default)]
struct PlyContent {
    positions: Vec<Point>,
    normals: Option<Vec<Vec3>>,
    tex_coords: Option<Vec<[f32; 2]>>,
    /// Corners of all polygons, concatenated.
    corners: Vec<u32>,
    /// End of each polygon in `corners`.
    ends: Vec<usize>,
    strips: Vec<Vec<u32>>,
    colored: bool,
}

/// Reads a mesh in world space; an image that it refers to is searched in `folder`.
pub(crate) fn read(bytes: &[u8], folder: Option<&Path>) -> Parsed<Character> {
    let header = Header::parse(bytes)?;
    let mut body = BodyReader::new(header.encoding, &bytes[header.body..]);
    let mut content = PlyContent::default();
    let Some(last) = header
        .elements
        .iter()
        .rposition(|element| matches!(element.name.as_str(), "vertex" | "face" | "tristrips"))
    else {
        return bad("the header describes neither vertices nor faces");
    };
    for element in &header.elements[..=last] {
        let least = element.least_size(header.encoding);
        // The last token needs no trailing white space. Elements without properties take no bytes,
        // and no time either.
        let most = (body.left() + 1).checked_div(least);
        if most.is_some_and(|most| element.count > most as u64) {
            let (count, name) = (element.count, &element.name);
            return bad(format!(
                "declares {count} elements \"{name}\", more than the remaining {} bytes can hold",
                body.left()
            ));
        }
        if least > 0 {
            content.element(element, &mut body)?;
        }
    }
    content.into_character(header.texture.as_deref(), folder)
}

impl PlyContent {
    fn element(&mut self, element: &PlyElement, body: &mut BodyReader<'_>) -> Parsed<()> {
        let count = usize::try_from(element.count).unwrap_or(usize::MAX);
        match element.name.as_str() {
            "vertex" => self.vertices(element, count, body),
            "face" => self.polygons(element, count, body, false),
            "tristrips" => self.polygons(element, count, body, true),
            _ => {
                for index in 0..count {
                    read_element(element, index, body, |_, _| {})?;
                }
                Ok(())
            }
        }
    }

    fn vertices(
        &mut self,
        element: &PlyElement,
        count: usize,
        body: &mut BodyReader<'_>,
    ) -> Parsed<()> {
        let slot_of = |name: &str| SLOTS.iter().position(|names| names.contains(&name));
        let slots: Vec<Option<usize>> = element
            .properties
            .iter()
            .map(|property| slot_of(&property.name))
            .collect();
        let has =
            |range: std::ops::Range<usize>| range.clone().all(|slot| slots.contains(&Some(slot)));
        if !has(0..3) {
            return bad("the vertices have no coordinates x, y and z");
        }
        if count > MOST {
            return bad(format!(
                "{count} vertices exceed the maximum for a character"
            ));
        }
        let (has_normals, has_tex_coords) = (has(3..6), has(6..8));
        self.colored = element
            .properties
            .iter()
            .any(|property| matches!(property.name.as_str(), "red" | "diffuse_red"));
        let mut normals = Vec::new();
        let mut tex_coords = Vec::new();
        for index in 0..count {
            let mut found = [0.0; 8];
            read_element(element, index, body, |property, value| {
                if let Some(slot) = slots[property] {
                    found[slot] = value;
                }
            })?;
            let [x, y, z, nx, ny, nz, u, v] = found.map(|value| value as f32);
            self.positions.push(Point::new(x, y, z));
            if has_normals {
                normals.push(Vec3::new(nx, ny, nz));
            }
            if has_tex_coords {
                // PLY measures v from the bottom of the image, glTF and this crate from the top.
                tex_coords.push([u, 1.0 - v]);
            }
        }
        let unit = |normal: &Vec3| {
            normal
                .try_normalize(1e-6)
                .filter(|n| n.iter().all(|c| c.is_finite()))
        };
        self.normals = if has_normals {
            normals.iter().map(unit).collect()
        } else {
            None
        };
        self.tex_coords = Some(tex_coords)
            .filter(|t| has_tex_coords && t.iter().flatten().all(|c| c.is_finite()));
        Ok(())
    }

    fn polygons(
        &mut self,
        element: &PlyElement,
        count: usize,
        body: &mut BodyReader<'_>,
        strips: bool,
    ) -> Parsed<()> {
        let is_ring = |name: &str| matches!(name, "vertex_index" | "vertex_indices");
        let ring = element
            .properties
            .iter()
            .position(|p| is_ring(&p.name) && matches!(p.shape, PropertyKind::List { .. }));
        let Some(ring) = ring else {
            return bad(format!(
                "the elements \"{}\" have no list of vertices",
                element.name
            ));
        };
        for index in 0..count {
            let first = self.corners.len();
            let mut wrong = None;
            let corners = &mut self.corners;
            read_element(element, index, body, |property, value| {
                if property == ring {
                    // A strip ends at -1.
                    let corner = if strips && value == -1.0 {
                        f64::from(u32::MAX)
                    } else {
                        value
                    };
                    if corner >= 0.0 && corner <= f64::from(u32::MAX) && corner.fract() == 0.0 {
                        corners.push(corner as u32);
                    } else {
                        wrong.get_or_insert(value);
                    }
                }
            })?;
            if let Some(value) = wrong {
                return bad(format!(
                    "{} {index} refers to vertex {value}, which does not exist",
                    element.name
                ));
            }
            if self.corners.len() > MOST {
                return bad(format!(
                    "the file has more than {MOST} corners, the maximum for a character"
                ));
            }
            if strips {
                self.strips.push(self.corners.split_off(first));
            } else {
                self.ends.push(self.corners.len());
            }
        }
        Ok(())
    }

    fn into_character(self, texture: Option<&str>, folder: Option<&Path>) -> Parsed<Character> {
        let mut character = Character::default();
        let vertices = self.positions.len();
        let mut triangles = Vec::with_capacity(self.ends.len());
        let (mut start, mut short, mut polygons) = (0, 0, Triangulator::default());
        for (face, &end) in self.ends.iter().enumerate() {
            let ring = &self.corners[start..end];
            start = end;
            if let Some(wrong) = ring.iter().find(|&&v| v as usize >= vertices) {
                return bad(format!(
                    "face {face} refers to vertex {wrong}, but the file has only {vertices}"
                ));
            }
            short += usize::from(ring.len() < 3);
            polygons.add(ring, &self.positions, &mut triangles);
        }
        for strip in self
            .strips
            .iter()
            .flat_map(|strip| strip.split(|&v| v == u32::MAX))
        {
            if let Some(wrong) = strip.iter().find(|&&v| v as usize >= vertices) {
                return bad(format!(
                    "a strip refers to vertex {wrong}, but the file has only {vertices}"
                ));
            }
            let turned = |(i, c): (usize, &[u32])| {
                if i % 2 == 0 {
                    [c[0], c[1], c[2]]
                } else {
                    [c[1], c[0], c[2]]
                }
            };
            triangles.extend(strip.windows(3).enumerate().map(turned));
        }
        if short > 0 {
            character.note(
                Severity::Mended,
                short,
                format!("faces omitted because they have fewer than three corners: {short}"),
            );
        }
        if self.colored {
            character.note(
                Severity::Info,
                0,
                "the vertices have colours, which are not drawn",
            );
        }
        if let (Some(name), Some(_)) = (texture, &self.tex_coords) {
            add_texture(&mut character, name, folder);
        }
        character.meshes.push(SourceMesh {
            name: "mesh".to_owned(),
            positions: self.positions,
            triangles,
            normals: self.normals,
            tex_coords: self.tex_coords,
            faces: SourceFaces::default(),
            material: (!character.materials.is_empty()).then_some(0),
            attachment: Attachment::Unweighted,
        });
        Ok(character)
    }
}

/// Reads one element and passes its numbers on with the index of their property.
fn read_element(
    element: &PlyElement,
    index: usize,
    body: &mut BodyReader<'_>,
    mut found: impl FnMut(usize, f64),
) -> Parsed<()> {
    let where_ = || format!("{} {index}", element.name);
    for (i, property) in element.properties.iter().enumerate() {
        match property.shape {
            PropertyKind::One(scalar) => found(i, body.next(scalar, where_)?),
            PropertyKind::List { length, item } => {
                for _ in 0..body.length(length, item, where_)? {
                    found(i, body.next(item, where_)?);
                }
            }
        }
    }
    Ok(())
}

fn add_texture(character: &mut Character, name: &str, folder: Option<&Path>) {
    let read = read_referenced(folder, name);
    let mut budget = PictureBudget::default();
    let decoded = match read.and_then(|bytes| budget.decode(&bytes)) {
        Ok(image) => Some(image),
        Err(problem) => {
            let name = abridged(name);
            let text = format!("the texture \"{name}\" {problem}; the mesh is drawn without it");
            character.note(Severity::Warning, 1, text);
            None
        }
    };
    budget.note(character);
    character.materials.push(Material {
        name: name.to_owned(),
        base_color: if decoded.is_some() {
            [1.0; 4]
        } else {
            [0.8, 0.8, 0.8, 1.0]
        },
        base_color_image: decoded.map(Arc::new),
        ..Material::default()
    });
}

#[cfg(test)]
mod tests;
