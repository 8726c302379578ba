//! Object File Format, text: `[ST][C][N]OFF`, or none of these, then counts, vertices, faces.

use super::bytes::{number, text_of};
use super::error::{Parsed, bad};
use super::polygon::Triangulator;
use crate::character::{Character, Severity, SourceMesh};
use crate::math::Point;

/// Reads a mesh in world space; colours, normals and texture coordinates are skipped.
pub(crate) fn read(bytes: &[u8]) -> Parsed<Character> {
    let text = text_of(bytes);
    let mut lines = text
        .lines()
        .enumerate()
        .map(|(i, line)| (i + 1, line.split('#').next().unwrap_or("").trim()))
        .filter(|(_, line)| !line.is_empty())
        .peekable();
    let Some(&(_, first)) = lines.peek() else {
        return bad("the file is empty");
    };
    let mut counts_line = first;
    if let Some(keyword) = first
        .split_whitespace()
        .next()
        .filter(|word| word.ends_with("OFF"))
    {
        if first.contains("BINARY") {
            return bad("binary OFF is not supported; save it as text");
        }
        if keyword.contains('4') || keyword.contains('n') {
            return bad(format!(
                "{keyword} is not three-dimensional; OFF, COFF, NOFF, CNOFF or STOFF is expected"
            ));
        }
        counts_line = first[keyword.len()..].trim();
    }
    if counts_line.is_empty() {
        lines.next();
        counts_line = lines.peek().map_or("", |line| line.1);
    }
    lines.next();
    let mut counts = counts_line.split_whitespace().map(str::parse::<usize>);
    let (Some(Ok(vertices)), Some(Ok(faces))) = (counts.next(), counts.next()) else {
        return bad(format!(
            "the numbers of vertices and faces are expected at the start, not \"{counts_line}\""
        ));
    };
    // A vertex takes at least "0 0 0", a face "1 0": counts that exceed the file's length are
    // rejected before allocating.
    if vertices > text.len() / 5 || faces > text.len() / 3 {
        return bad(format!(
            "declares {vertices} vertices and {faces} faces, more than its {} bytes can hold",
            text.len()
        ));
    }
    let mut positions = Vec::with_capacity(vertices);
    for index in 0..vertices {
        let Some((line, content)) = lines.next() else {
            return bad(format!("ends after {index} of {vertices} vertices"));
        };
        let mut numbers = content.split_whitespace().map(number);
        let (Some(Some(x)), Some(Some(y)), Some(Some(z))) =
            (numbers.next(), numbers.next(), numbers.next())
        else {
            return bad(format!(
                "line {line}: three coordinates are expected, not \"{content}\""
            ));
        };
        positions.push(Point::new(x as f32, y as f32, z as f32));
    }
    let mut character = Character::default();
    let triangles = read_faces(&mut lines, faces, &positions, &mut character)?;
    character
        .meshes
        .push(SourceMesh::bare("mesh", positions, triangles));
    Ok(character)
}

fn read_faces<'a>(
    lines: &mut impl Iterator<Item = (usize, &'a str)>,
    faces: usize,
    positions: &[Point],
    character: &mut Character,
) -> Parsed<Vec<[u32; 3]>> {
    let mut triangles = Vec::with_capacity(faces);
    let mut corners: Vec<u32> = Vec::new();
    let (mut short, mut polygons) = (0, Triangulator::default());
    for face in 0..faces {
        let Some((line, content)) = lines.next() else {
            return bad(format!("ends after {face} of {faces} faces"));
        };
        let mut words = content.split_whitespace();
        let Some(Ok(count)) = words.next().map(str::parse::<usize>) else {
            return bad(format!(
                "line {line}: expected the number of corners of a face, found \"{content}\""
            ));
        };
        corners.clear();
        for word in words.take(count) {
            match word.parse::<u32>() {
                Ok(v) if (v as usize) < positions.len() => corners.push(v),
                _ => {
                    return bad(format!(
                        "line {line}: \"{word}\" is not one of the {} vertices",
                        positions.len()
                    ));
                }
            }
        }
        if corners.len() < count {
            return bad(format!(
                "line {line}: a face of {count} corners lists only {}",
                corners.len()
            ));
        }
        short += usize::from(count < 3);
        polygons.add(&corners, positions, &mut triangles);
    }
    if short > 0 {
        character.note(
            Severity::Mended,
            short,
            format!("faces omitted because they have fewer than three corners: {short}"),
        );
    }
    Ok(triangles)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_of_all_forms() {
        let body = "0 0 0\n1 0 0 # here\n\n1 1 0\n0 1 0\n4 0 1 2 3 0.5 0.5 0.5\n";
        for header in [
            "OFF\n4 1 0\n",
            "OFF 4 1 0\n",
            "4 1 0\n",
            "# x\nCOFF\n# y\n4 1\n",
            "\u{feff}NOFF\n4 1 4\n",
        ] {
            let character = read(format!("{header}{body}").as_bytes()).unwrap();
            assert_eq!(
                (character.source_vertices(), character.source_triangles()),
                (4, 2),
                "{header}"
            );
        }
    }

    #[test]
    fn invalid_counts_and_missing_vertices_are_rejected() {
        for text in [
            "",
            "OFF",
            "OFF\n353535235358 6 0\n0 0 0\n",
            "OFF\n1 1 0\n0 0 0\n3 0 0 1\n",
            "OFF\n2 0 0\n0 0 0\n",
            "OFF BINARY\n1 0 0",
            "OFF\n1 0 0\n0 x 0",
        ] {
            assert!(read(text.as_bytes()).is_err(), "{text}");
        }
    }
}
