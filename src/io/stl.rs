//! STL, text and binary.
//!
//! The format has no shared vertices. Corners at exactly equal positions become one vertex, in
//! order of first appearance, within each solid. Normals are recomputed from the triangles.

use std::collections::HashMap;

use super::bytes::{number, text_of};
use super::error::{Parsed, bad};
use super::polygon::Triangulator;
use crate::character::{Character, Severity, SourceMesh};
use crate::math::Point;

/// Bytes before the triangles of a binary file, and of each triangle.
const HEADER: usize = 84;
const TRIANGLE: usize = 50;

/// A solid during parsing.
#[derive(Default)]
struct StlSolid {
    name: String,
    positions: Vec<Point>,
    triangles: Vec<[u32; 3]>,
    vertex_at: HashMap<[u32; 3], u32>,
}

/// Reads all solids in world space.
pub(crate) fn read(bytes: &[u8]) -> Parsed<Character> {
    let mut character = Character::default();
    let declared = bytes
        .get(80..HEADER)
        .map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as usize);
    let needed = declared.map(|count| count.saturating_mul(TRIANGLE).saturating_add(HEADER));
    // Many binary files begin with "solid" too; the length decides.
    let starts_as_text = text_start(bytes);
    let solids = match (declared, needed) {
        (Some(count), Some(needed)) if needed == bytes.len() => {
            vec![binary(&bytes[HEADER..], count)]
        }
        _ if starts_as_text => text(bytes, &mut character)?,
        (Some(count), Some(needed)) if needed < bytes.len() => {
            let text = format!(
                "ignored bytes after the last of {count} triangles: {}",
                bytes.len() - needed
            );
            character.note(Severity::Warning, 0, text);
            vec![binary(&bytes[HEADER..needed], count)]
        }
        (Some(count), _) => {
            return bad(format!(
                "declares {count} triangles, more than its {} bytes can hold",
                bytes.len()
            ));
        }
        _ => {
            return bad(
                "an STL file starts with \"solid\" or has a binary header of 84 bytes, this one does not",
            );
        }
    };
    for (i, solid) in solids
        .into_iter()
        .filter(|solid| !solid.triangles.is_empty())
        .enumerate()
    {
        let name = if solid.name.is_empty() {
            format!("solid{i}")
        } else {
            solid.name
        };
        character
            .meshes
            .push(SourceMesh::bare(name, solid.positions, solid.triangles));
    }
    Ok(character)
}

fn text_start(bytes: &[u8]) -> bool {
    let head = text_of(&bytes[..bytes.len().min(512)]);
    let word = head.split_whitespace().next().unwrap_or("");
    word.eq_ignore_ascii_case("solid")
}

fn binary(bytes: &[u8], count: usize) -> StlSolid {
    let mut solid = StlSolid::default();
    for triangle in bytes.chunks_exact(TRIANGLE).take(count) {
        let coordinate = |at: usize| {
            f32::from_le_bytes([
                triangle[at],
                triangle[at + 1],
                triangle[at + 2],
                triangle[at + 3],
            ])
        };
        // The first twelve bytes are the normal.
        let corners = [12, 24, 36].map(|at| {
            solid.vertex(Point::new(
                coordinate(at),
                coordinate(at + 4),
                coordinate(at + 8),
            ))
        });
        solid.triangles.push(corners);
    }
    solid
}

fn text(bytes: &[u8], character: &mut Character) -> Parsed<Vec<StlSolid>> {
    let text = text_of(bytes);
    let mut solids = vec![StlSolid::default()];
    let mut corners: Vec<u32> = Vec::new();
    let (mut short, mut polygons) = (0, Triangulator::default());
    for (i, line) in text.lines().enumerate() {
        let mut words = line.split_whitespace();
        while let Some(word) = words.next() {
            let Some(solid) = solids.last_mut() else {
                break;
            };
            match word.to_ascii_lowercase().as_str() {
                "solid" if !corners.is_empty() => {
                    return bad(format!("line {}: a solid starts within a facet", i + 1));
                }
                "solid" => {
                    let name = words.by_ref().collect::<Vec<_>>().join(" ");
                    solids.push(StlSolid {
                        name,
                        ..StlSolid::default()
                    });
                }
                "endsolid" => words.by_ref().for_each(drop),
                // "facet normal x y z": the normal is not needed.
                "facet" => words.by_ref().take(4).for_each(drop),
                "vertex" => {
                    let [x, y, z] = std::array::from_fn(|_| {
                        words.next().and_then(number).map(|value| value as f32)
                    });
                    let (Some(x), Some(y), Some(z)) = (x, y, z) else {
                        return bad(format!(
                            "line {}: three coordinates are expected, not \"{}\"",
                            i + 1,
                            line.trim()
                        ));
                    };
                    corners.push(solid.vertex(Point::new(x, y, z)));
                }
                "endloop" | "endfacet" if !corners.is_empty() => {
                    short += usize::from(corners.len() < 3);
                    polygons.add(&corners, &solid.positions, &mut solid.triangles);
                    corners.clear();
                }
                _ => {}
            }
        }
    }
    if !corners.is_empty() {
        return bad("ends within a facet: the file is truncated");
    }
    if short > 0 {
        character.note(
            Severity::Mended,
            short,
            format!("facets omitted because they have fewer than three corners: {short}"),
        );
    }
    Ok(solids)
}

impl StlSolid {
    /// The vertex at a position.
    fn vertex(&mut self, place: Point) -> u32 {
        // 0 and −0 are equal positions.
        let key = [place.x, place.y, place.z].map(|c| (c + 0.0).to_bits());
        let next = self.positions.len() as u32;
        let found = *self.vertex_at.entry(key).or_insert(next);
        if found == next {
            self.positions.push(place);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TETRAHEDRON: [[[f32; 3]; 3]; 4] = [
        [[0.0, 0.0, 0.0], [0.0, 1.0, 0.0], [1.0, 0.0, 0.0]],
        [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]],
        [[0.0, -0.0, 0.0], [0.0, 0.0, 1.0], [0.0, 1.0, 0.0]],
        [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]],
    ];

    fn as_text(name: &str) -> String {
        let vertex = |[x, y, z]: &[f32; 3]| format!("vertex {x} {y} {z}\n");
        let facet = |t: &[[f32; 3]; 3]| {
            format!(
                "facet normal 0 0 0\nouter loop\n{}endloop\nendfacet\n",
                t.iter().map(vertex).collect::<String>()
            )
        };
        format!(
            "solid {name}\n{}endsolid {name}\n",
            TETRAHEDRON.iter().map(facet).collect::<String>()
        )
    }

    fn as_binary(header: &[u8]) -> Vec<u8> {
        let mut out = header.to_vec();
        out.resize(80, b' ');
        out.extend(4_u32.to_le_bytes());
        for triangle in TETRAHEDRON {
            out.extend([0; 12]);
            out.extend(triangle.iter().flatten().flat_map(|c| c.to_le_bytes()));
            out.extend([0; 2]);
        }
        out
    }

    #[test]
    fn text_and_binary_are_welded_equally() {
        let text = read(as_text("a b").as_bytes()).unwrap();
        assert_eq!(
            (
                text.source_vertices(),
                text.source_triangles(),
                text.meshes[0].name.as_str()
            ),
            (4, 4, "a b")
        );
        for header in [&b"solid but binary"[..], b"", b"facet normal"] {
            let binary = read(&as_binary(header)).unwrap();
            assert_eq!(binary.meshes[0].positions, text.meshes[0].positions);
            assert_eq!(binary.meshes[0].triangles, text.meshes[0].triangles);
        }
    }

    #[test]
    fn solids_become_meshes() {
        let both =
            read(format!("{}{}", as_text("a"), as_text("b").to_uppercase()).as_bytes()).unwrap();
        let names: Vec<&str> = both.meshes.iter().map(|mesh| mesh.name.as_str()).collect();
        assert_eq!((names, both.source_vertices()), (vec!["a", "B"], 8));
    }

    #[test]
    fn truncated_files_are_rejected() {
        let whole = as_binary(b"x");
        assert!(
            read(&whole[..whole.len() - 1])
                .unwrap_err()
                .to_string()
                .contains("declares 4 triangles")
        );
        assert!(read(b"soli").is_err() && read(b"").is_err());
        assert!(read(b"solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 0 0\n").is_err());
        assert!(read(b"solid x\nfacet normal 0 0 1\nouter loop\nvertex 0 zero 0\n").is_err());
        assert!(
            read(b"solid x\nvertex 0 0 0\nvertex 1 0 0\nvertex 0 1 0\nsolid y\nendloop\n").is_err()
        );
        assert_eq!(read(b"solid x\nendsolid x").unwrap().source_triangles(), 0);
    }
}
