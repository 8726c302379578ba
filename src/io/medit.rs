//! Medit `.mesh`, text, as `TetGen` and libigl write it: vertices, triangles and quadrilaterals.
//! Tetrahedra are not read, because skinning needs the surface; in a file without faces the
//! boundary of the tetrahedra is the surface.

use std::collections::HashMap;

use super::bytes::{number, text_of};
use super::error::{Parsed, bad};
use super::polygon::Triangulator;
use crate::character::{Character, Severity, SourceMesh};
use crate::math::Point;

/// Reads a mesh in world space; interior vertices are kept, to preserve the vertex order.
pub(crate) fn read(bytes: &[u8]) -> Parsed<Character> {
    let text = text_of(bytes);
    let lines = text
        .lines()
        .map(|line| line.split('#').next().unwrap_or(""));
    let mut words = lines.flat_map(str::split_whitespace).peekable();
    if words.peek() != Some(&"MeshVersionFormatted") {
        return bad(
            "a Medit mesh starts with \"MeshVersionFormatted\", this file doesn't; give the surface as .obj or .off",
        );
    }
    let mut positions = Vec::new();
    let mut faces: Vec<Vec<u32>> = Vec::new();
    let mut tetrahedra: Vec<Vec<u32>> = Vec::new();
    while let Some(word) = words.next() {
        match word {
            "Dimension" => match words.next() {
                Some("3") => {}
                other => {
                    return bad(format!(
                        "has {} dimensions, where 3 are expected",
                        other.unwrap_or("no")
                    ));
                }
            },
            "Vertices" => positions = vertices(&mut words, text.len())?,
            "Triangles" => faces.extend(cells::<3>(&mut words, "triangle", text.len())?),
            "Quadrilaterals" => faces.extend(cells::<4>(&mut words, "quadrilateral", text.len())?),
            "Tetrahedra" => tetrahedra = cells::<4>(&mut words, "tetrahedron", text.len())?,
            "End" => break,
            // The version number, and sections that are not needed.
            _ => {}
        }
    }
    for cell in faces.iter().chain(&tetrahedra) {
        if let Some(wrong) = cell.iter().find(|&&v| v as usize >= positions.len()) {
            return bad(format!(
                "a face or tetrahedron refers to vertex {}, but the file has only {}",
                u64::from(*wrong) + 1,
                positions.len()
            ));
        }
    }
    let mut character = Character::default();
    if !tetrahedra.is_empty() {
        character.note(
            Severity::Info,
            tetrahedra.len(),
            format!("unused tetrahedra: {}", tetrahedra.len()),
        );
    }
    if faces.is_empty() {
        faces = outer_faces(&tetrahedra);
    }
    let mut triangles = Vec::with_capacity(faces.len());
    let mut polygons = Triangulator::default();
    for face in &faces {
        polygons.add(face, &positions, &mut triangles);
    }
    character
        .meshes
        .push(SourceMesh::bare("mesh", positions, triangles));
    Ok(character)
}

/// Number of entries of a section: each takes at least `least` bytes.
fn count<'a>(
    words: &mut impl Iterator<Item = &'a str>,
    what: &str,
    least: usize,
    bytes: usize,
) -> Parsed<usize> {
    let word = words.next().unwrap_or("nothing");
    match word.parse::<usize>() {
        Ok(count) if count <= bytes / least => Ok(count),
        Ok(count) => bad(format!(
            "declares {count} of {what}, more than its {bytes} bytes can hold"
        )),
        Err(_) => bad(format!("the number of {what} is expected, not \"{word}\"")),
    }
}

fn vertices<'a>(words: &mut impl Iterator<Item = &'a str>, bytes: usize) -> Parsed<Vec<Point>> {
    let count = count(words, "vertices", 8, bytes)?;
    let mut positions = Vec::with_capacity(count);
    for index in 0..count {
        // Three coordinates and a reference number.
        let [x, y, z, reference] =
            std::array::from_fn(|_| words.next().and_then(number).map(|value| value as f32));
        let (Some(x), Some(y), Some(z), Some(_)) = (x, y, z, reference) else {
            return bad(format!(
                "vertex {} of {count}: three coordinates and a reference number are expected",
                index + 1
            ));
        };
        positions.push(Point::new(x, y, z));
    }
    Ok(positions)
}

/// Cells of `N` corners and a reference number, which is ignored; indices become zero-based.
fn cells<'a, const N: usize>(
    words: &mut impl Iterator<Item = &'a str>,
    what: &str,
    bytes: usize,
) -> Parsed<Vec<Vec<u32>>> {
    let count = count(words, what, 2 * (N + 1), bytes)?;
    let mut cells = Vec::with_capacity(count);
    for index in 0..count {
        let corners: Option<Vec<u32>> = (0..N)
            .map(|_| words.next()?.parse::<u32>().ok()?.checked_sub(1))
            .collect();
        let (Some(corners), Some(_)) =
            (corners, words.next().filter(|word| number(word).is_some()))
        else {
            return bad(format!(
                "{what} {} of {count}: {N} vertices, counted from 1, and a reference number are expected",
                index + 1
            ));
        };
        cells.push(corners);
    }
    Ok(cells)
}

/// Faces of exactly one tetrahedron, oriented outwards if the tetrahedra are positive.
fn outer_faces(tetrahedra: &[Vec<u32>]) -> Vec<Vec<u32>> {
    let mut seen: HashMap<[u32; 3], (usize, [u32; 3])> = HashMap::new();
    let mut order = Vec::new();
    for cell in tetrahedra {
        let [a, b, c, d] = [cell[0], cell[1], cell[2], cell[3]];
        for face in [[b, c, d], [a, d, c], [a, b, d], [a, c, b]] {
            let mut key = face;
            key.sort_unstable();
            let entry = seen.entry(key).or_insert((0, face));
            entry.0 += 1;
            if entry.0 == 1 {
                order.push(key);
            }
        }
    }
    order
        .iter()
        .filter_map(|key| seen.get(key))
        .filter(|(times, _)| *times == 1)
        .map(|(_, face)| face.to_vec())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const VERTICES: &str = "MeshVersionFormatted 1\nDimension 3\nVertices\n5\n0 0 0 0\n1 0 0 0\n0 1 0 0 # here\n0 0 1 7\n1 1 1 0\n";
    const TETRAHEDRA: &str = "Tetrahedra 2\n1 2 3 4 0\n2 5 3 4 0\n";

    #[test]
    fn triangles_take_precedence_over_tetrahedra() {
        let both = format!(
            "{VERTICES}Triangles\n1\n1 3 2 0\nQuadrilaterals 1\n1 2 5 3 0\n{TETRAHEDRA}Edges\n0\nEnd\n"
        );
        let character = read(both.as_bytes()).unwrap();
        assert_eq!(
            (character.source_vertices(), character.source_triangles()),
            (5, 3)
        );
        assert_eq!(character.notes[0].count, 2);
    }

    #[test]
    fn the_boundary_of_tetrahedra_is_closed_and_faces_outwards() {
        let character = read(format!("{VERTICES}{TETRAHEDRA}End").as_bytes()).unwrap();
        let mesh = &character.meshes[0];
        assert_eq!(mesh.triangles.len(), 6);
        let volume: f32 = mesh
            .triangles
            .iter()
            .map(|t| t.map(|v| mesh.positions[v as usize].coords))
            .map(|[a, b, c]| a.dot(&b.cross(&c)))
            .sum();
        assert!((volume / 6.0 - 0.5).abs() < 1e-6, "{volume}");
    }

    #[test]
    fn invalid_counts_and_indices_are_rejected() {
        for tail in [
            "Triangles 9999999",
            "Triangles x",
            "Triangles 1\n1 2 9 0",
            "Triangles 1\n0 1 2 0",
            "Triangles 1\n1 2",
            "Tetrahedra 1\n1 2 3 9 0",
        ] {
            assert!(
                read(format!("{VERTICES}{tail}").as_bytes()).is_err(),
                "{tail}"
            );
        }
        for text in [
            "",
            "[MeshSerializer_v1.8]",
            "MeshVersionFormatted 1\nDimension 2",
            "MeshVersionFormatted 1 Vertices 1\n0 0",
        ] {
            assert!(read(text.as_bytes()).is_err(), "{text}");
        }
    }
}
