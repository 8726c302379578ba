//! Wavefront OBJ.
//!
//! The geometry is not read by `tobj`, because `tobj` keeps only the positions used by faces, in
//! face order, and splits them at seams; a baked file must have exactly the `v` lines of its
//! source, in order. `tobj` reads the materials (`.mtl`).
//!
//! Objects and groups become separate source meshes where each has a contiguous range of vertices;
//! where they share vertices they become one mesh.

mod materials;

use std::path::Path;

use self::materials::read_materials;
use super::bytes::{number, text_of};
use super::error::{Parsed, bad};
use super::polygon::Triangulator;
use crate::character::{Attachment, Character, Severity, SourceMesh};
use crate::math::{Point, Vec3};

/// One corner of a face: indices of position, texture coordinate and normal.
#[derive(Debug, Clone, Copy)]
struct FaceCorner {
    position: u32,
    tex_coord: Option<u32>,
    normal: Option<u32>,
}

/// Faces with one name and one material.
#[derive(Debug, Default)]
struct FaceGroup {
    name: String,
    material: Option<String>,
    triangles: Vec<[u32; 3]>,
}

#[derive(Default)]
struct Parser {
    positions: Vec<Point>,
    normals: Vec<Vec3>,
    tex_coords: Vec<[f32; 2]>,
    /// The attribute shared by all corners of a position: `None` none yet, `Some(Err)` they differ.
    uv_of: Vec<Option<Result<u32, ()>>>,
    normal_of: Vec<Option<Result<u32, ()>>>,
    sections: Vec<FaceGroup>,
    libraries: Vec<String>,
    object: String,
    group: String,
    material: Option<String>,
    odd_numbers: usize,
    short_faces: usize,
    weight_lines: usize,
    corners: Vec<FaceCorner>,
    polygons: Triangulator,
}

/// Reads a mesh in world space; materials and images are searched in `folder`.
pub(crate) fn read(bytes: &[u8], folder: Option<&Path>) -> Parsed<Character> {
    let text = text_of(bytes);
    let mut parser = Parser::default();
    let mut joined = String::new();
    for (i, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or("").trim();
        if let Some(start) = line.strip_suffix('\\') {
            joined.push_str(start);
            joined.push(' ');
            continue;
        }
        if joined.is_empty() {
            parser.line(line, i + 1)?;
        } else {
            joined.push_str(line);
            parser.line(&std::mem::take(&mut joined), i + 1)?;
        }
    }
    if !joined.is_empty() {
        parser.line(&joined, text.lines().count())?;
    }
    Ok(parser.finish(folder))
}

impl Parser {
    fn line(&mut self, line: &str, at: usize) -> Parsed<()> {
        let mut words = line.split_whitespace();
        let rest = |keyword: &str| line[keyword.len()..].trim().to_owned();
        match words.next().unwrap_or("") {
            "v" => {
                let [x, y, z] = self.numbers::<3>(words, at)?;
                self.positions.push(Point::new(x, y, z));
                self.uv_of.push(None);
                self.normal_of.push(None);
            }
            "vt" => {
                let u = number_or_zero(words.next());
                let v = number_or_zero(words.next());
                // OBJ measures v from the bottom of the image, glTF and this crate from the top.
                self.tex_coords.push([u, 1.0 - v]);
            }
            "vn" => {
                let normal = std::array::from_fn(|_| number_or_zero(words.next()));
                self.normals.push(Vec3::from(normal));
            }
            "f" => self.face(words, at)?,
            "o" => self.object = rest("o"),
            "g" => self.group = rest("g"),
            "usemtl" => self.material = Some(rest("usemtl")),
            "mtllib" => self.libraries.push(rest("mtllib")),
            "vw" => self.weight_lines += 1,
            _ => {}
        }
        Ok(())
    }

    fn numbers<'a, const N: usize>(
        &mut self,
        mut words: impl Iterator<Item = &'a str>,
        at: usize,
    ) -> Parsed<[f32; N]> {
        let mut values = [0.0; N];
        for value in &mut values {
            let word = words.next().unwrap_or("");
            let Some(number) = number(word) else {
                return bad(format!(
                    "line {at}: {N} coordinates are expected, \"{word}\" is none"
                ));
            };
            self.odd_numbers += usize::from(word.parse::<f64>().is_err());
            *value = number as f32;
        }
        Ok(values)
    }

    fn face<'a>(&mut self, words: impl Iterator<Item = &'a str>, at: usize) -> Parsed<()> {
        self.corners.clear();
        for word in words {
            let mut parts = word.split('/');
            let position = index(parts.next(), self.positions.len());
            let Some(position) = position else {
                return bad(format!(
                    "line {at}: \"{word}\" refers to none of the {} vertices before it",
                    self.positions.len()
                ));
            };
            // Texture coordinates and normals are optional: an invalid index is ignored.
            let tex_coord = index(parts.next(), self.tex_coords.len());
            let normal = index(parts.next(), self.normals.len());
            self.corners.push(FaceCorner {
                position,
                tex_coord,
                normal,
            });
        }
        if self.corners.len() < 3 {
            self.short_faces += 1;
            return Ok(());
        }
        for corner in &self.corners {
            merge_value(&mut self.uv_of[corner.position as usize], corner.tex_coord);
            merge_value(&mut self.normal_of[corner.position as usize], corner.normal);
        }
        let ring: Vec<u32> = self.corners.iter().map(|corner| corner.position).collect();
        let name = if self.object.is_empty() {
            &self.group
        } else {
            &self.object
        };
        match self.sections.last_mut() {
            Some(last) if last.name == *name && last.material == self.material => {
                self.polygons
                    .add(&ring, &self.positions, &mut last.triangles);
            }
            _ => {
                let mut section = FaceGroup {
                    name: name.clone(),
                    material: self.material.clone(),
                    triangles: Vec::new(),
                };
                self.polygons
                    .add(&ring, &self.positions, &mut section.triangles);
                self.sections.push(section);
            }
        }
        Ok(())
    }

    fn finish(mut self, folder: Option<&Path>) -> Character {
        let mut character = Character::default();
        let mut note = |count: usize, severity, text: String| {
            if count > 0 {
                character.note(severity, count, text);
            }
        };
        note(
            self.odd_numbers,
            Severity::Mended,
            format!(
                "malformed coordinates, of which the numeric prefix is used: {}",
                self.odd_numbers
            ),
        );
        note(
            self.short_faces,
            Severity::Mended,
            format!(
                "faces omitted because they have fewer than three corners: {}",
                self.short_faces
            ),
        );
        note(
            self.weight_lines,
            Severity::Info,
            format!(
                "lines of skin weights (vw), which are not supported: {}",
                self.weight_lines
            ),
        );
        let index_of = read_materials(&self.libraries, folder, &mut character);
        let sections = std::mem::take(&mut self.sections);
        let ranges = separate_ranges(&sections, self.positions.len());
        let mut mixed = 0;
        for (range, members) in ranges {
            let first = members.first().map(|&s| &sections[s]);
            let materials: Vec<_> = members.iter().map(|&s| &sections[s].material).collect();
            mixed += usize::from(materials.windows(2).any(|pair| pair[0] != pair[1]));
            let offset = range.start as u32;
            let triangles = members
                .iter()
                .flat_map(|&s| &sections[s].triangles)
                .map(|t| t.map(|v| v - offset))
                .collect();
            character.meshes.push(SourceMesh {
                name: first
                    .map(|s| s.name.clone())
                    .filter(|n| !n.is_empty())
                    .unwrap_or_else(|| "mesh".to_owned()),
                triangles,
                normals: self.normals_of(range.clone()),
                tex_coords: self.tex_coords_of(range.clone()),
                material: first
                    .and_then(|s| s.material.as_ref())
                    .and_then(|m| index_of.get(m).copied()),
                positions: self.positions[range].to_vec(),
                attachment: Attachment::Unweighted,
            });
        }
        if mixed > 0 {
            let text = format!(
                "meshes with several materials on shared vertices, drawn with the first: {mixed}"
            );
            character.note(Severity::Info, mixed, text);
        }
        let textured = character
            .materials
            .iter()
            .any(|m| m.base_color_image.is_some());
        if textured
            && character.meshes.iter().all(|m| m.tex_coords.is_none())
            && !self.tex_coords.is_empty()
        {
            character.note(
                Severity::Info,
                0,
                "the texture has seams at shared vertices and is not drawn",
            );
        }
        character
    }

    /// Normals, if every vertex of the range has exactly one valid normal.
    fn normals_of(&self, range: std::ops::Range<usize>) -> Option<Vec<Vec3>> {
        let one = |found: &Option<Result<u32, ()>>| match found {
            Some(Ok(i)) => self.normals[*i as usize]
                .try_normalize(1e-6)
                .filter(|n| n.iter().all(|c| c.is_finite())),
            _ => None,
        };
        self.normal_of[range].iter().map(one).collect()
    }

    /// Texture coordinates, if no vertex of the range has several.
    fn tex_coords_of(&self, range: std::ops::Range<usize>) -> Option<Vec<[f32; 2]>> {
        let one = |found: &Option<Result<u32, ()>>| match found {
            Some(Ok(i)) => {
                Some(self.tex_coords[*i as usize]).filter(|uv| uv.iter().all(|c| c.is_finite()))
            }
            Some(Err(())) => None,
            None => Some([0.0; 2]),
        };
        if self.tex_coords.is_empty() {
            None
        } else {
            self.uv_of[range].iter().map(one).collect()
        }
    }
}

fn number_or_zero(word: Option<&str>) -> f32 {
    word.and_then(number).map_or(0.0, |v| v as f32)
}

/// One-based or, if negative, counted from the last; `None` if there is no such element.
fn index(word: Option<&str>, count: usize) -> Option<u32> {
    let value: i64 = word?.parse().ok()?;
    let zero_based = if value < 0 {
        value + i64::try_from(count).ok()?
    } else {
        value - 1
    };
    usize::try_from(zero_based)
        .ok()
        .filter(|&i| i < count)
        .and_then(|i| u32::try_from(i).ok())
}

fn merge_value(known: &mut Option<Result<u32, ()>>, new: Option<u32>) {
    *known = match (*known, new) {
        (None, Some(new)) => Some(Ok(new)),
        (Some(Ok(old)), Some(new)) if old == new => Some(Ok(old)),
        (Some(_), Some(_)) => Some(Err(())),
        (known, None) => known,
    };
}

/// Contiguous vertex ranges that cover `0..count` in order, with the face groups of each; face
/// groups with overlapping vertex ranges share a range.
fn separate_ranges(
    sections: &[FaceGroup],
    count: usize,
) -> Vec<(std::ops::Range<usize>, Vec<usize>)> {
    let span = |section: &FaceGroup| {
        let used = section.triangles.iter().flatten().map(|&v| v as usize);
        used.clone().min().zip(used.max())
    };
    let mut spans: Vec<(usize, usize, usize)> = sections
        .iter()
        .enumerate()
        .filter_map(|(i, section)| span(section).map(|(low, high)| (low, high, i)))
        .collect();
    spans.sort_unstable();
    let mut merged: Vec<(usize, usize, Vec<usize>)> = Vec::new();
    for (low, high, section) in spans {
        match merged.last_mut() {
            Some(last) if low <= last.1 => {
                last.1 = last.1.max(high);
                last.2.push(section);
            }
            _ => merged.push((low, high, vec![section])),
        }
    }
    if merged.is_empty() {
        return if count > 0 {
            vec![(0..count, Vec::new())]
        } else {
            Vec::new()
        };
    }
    let last = merged.len() - 1;
    let starts: Vec<usize> = merged
        .iter()
        .enumerate()
        .map(|(i, m)| if i == 0 { 0 } else { m.0 })
        .collect();
    let make = |(i, (_, _, mut members)): (usize, (usize, usize, Vec<usize>))| {
        members.sort_unstable();
        (
            starts[i]..if i == last { count } else { starts[i + 1] },
            members,
        )
    };
    merged.into_iter().enumerate().map(make).collect()
}

#[cfg(test)]
mod tests;
