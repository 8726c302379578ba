//! Wavefront OBJ.
//!
//! The geometry is not read by `tobj`, because `tobj` keeps only the positions used by faces, in
//! face order, and splits them at seams; a baked file must have exactly the `v` lines of its
//! source, in order. `tobj` reads the materials (`.mtl`).
//!
//! Objects and groups become separate source meshes where each has a contiguous range of vertices;
//! where they share vertices they become one mesh. A vertex with several texture coordinates or normals
//! is followed by copies ([`SourceFaces`]); polygons and the names of their groups are kept for writing.

mod faces;
mod materials;

use std::ops::Range;
use std::path::Path;

use self::materials::read_materials;
use super::bytes::{number, text_of};
use super::error::{Parsed, bad};
use super::polygon::Triangulator;
use crate::character::{Character, Severity};
use crate::math::{Point, Vec3};

/// One corner of a face: indices of position, texture coordinate and normal.
#[derive(Debug, Clone, Copy)]
struct FaceCorner {
    position: u32,
    tex_coord: Option<u32>,
    normal: Option<u32>,
}

/// Consecutive faces with equal names and one material.
#[derive(Debug, Default)]
struct FaceGroup {
    object: String,
    group: String,
    material: Option<String>,
    corners: Vec<FaceCorner>,
    /// End of each face in `corners`.
    ends: Vec<usize>,
}

impl FaceGroup {
    /// The name of a mesh of these faces.
    fn name(&self) -> &str {
        if self.object.is_empty() {
            &self.group
        } else {
            &self.object
        }
    }

    fn faces(&self) -> impl Iterator<Item = &[FaceCorner]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts
            .zip(&self.ends)
            .map(|(start, &end)| &self.corners[start..end])
    }
}

#[derive(Default)]
struct Parser {
    positions: Vec<Point>,
    normals: Vec<Vec3>,
    tex_coords: Vec<[f32; 2]>,
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
        let same = |last: &FaceGroup| {
            last.object == self.object && last.group == self.group && last.material == self.material
        };
        if !self.sections.last().is_some_and(same) {
            self.sections.push(FaceGroup {
                object: self.object.clone(),
                group: self.group.clone(),
                material: self.material.clone(),
                ..FaceGroup::default()
            });
        }
        if let Some(last) = self.sections.last_mut() {
            last.corners.extend_from_slice(&self.corners);
            last.ends.push(last.corners.len());
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
        for (range, members) in separate_ranges(&sections, self.positions.len()) {
            let members: Vec<&FaceGroup> = members.iter().map(|&s| &sections[s]).collect();
            character.meshes.push(self.mesh(range, &members, &index_of));
        }
        character
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

/// Contiguous vertex ranges that cover `0..count` in order, with the face groups of each; face
/// groups with overlapping vertex ranges share a range.
fn separate_ranges(sections: &[FaceGroup], count: usize) -> Vec<(Range<usize>, Vec<usize>)> {
    // Groups of one object and material belong together, wherever their vertices are.
    let same = |a: &FaceGroup, b: &FaceGroup| a.name() == b.name() && a.material == b.material;
    let mut spans: Vec<(usize, usize, Range<usize>)> = Vec::new();
    let mut first = 0;
    for run in sections.chunk_by(same) {
        let used = run.iter().flat_map(|section| &section.corners);
        let used = used.map(|corner| corner.position as usize);
        let members = first..first + run.len();
        first = members.end;
        spans.extend((used.clone().min().zip(used.max())).map(|(low, high)| (low, high, members)));
    }
    spans.sort_unstable_by_key(|(low, high, members)| (*low, *high, members.start));
    let mut merged: Vec<(usize, usize, Vec<usize>)> = Vec::new();
    for (low, high, run) in spans {
        match merged.last_mut() {
            Some(last) if low <= last.1 => {
                last.1 = last.1.max(high);
                last.2.extend(run);
            }
            _ => merged.push((low, high, run.collect())),
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
