//! Writes one frame as Stanford PLY.

use std::io::Write;
use std::path::Path;

use super::error::IoError;
use super::write::write_atomically;
use crate::character::Character;
use crate::math::{Point, Vec3};

/// Writes one frame as binary little-endian PLY: all source vertices in source order, with normals
/// (which may be empty), and texture coordinates `s t` if any source mesh has them (0 where one has
/// none).
///
/// # Errors
/// [`IoError::Write`].
///
/// # Panics
/// If `positions` differs in length from the character's source vertices.
pub fn write_ply(
    path: &Path,
    character: &Character,
    positions: &[Point],
    normals: &[Vec3],
) -> Result<(), IoError> {
    assert_eq!(
        positions.len(),
        character.source_vertices(),
        "the number of positions differs from the character's"
    );
    let with_normals = normals.len() == positions.len() && !normals.is_empty();
    let with_uvs = character
        .meshes
        .iter()
        .any(|mesh| mesh.tex_coords.is_some());
    let uvs = character.meshes.iter().flat_map(|mesh| {
        let uvs = mesh
            .tex_coords
            .as_deref()
            .filter(|uvs| uvs.len() == mesh.positions.len());
        (0..mesh.positions.len())
            .map(move |v| uvs.map_or([0.0; 2], |uvs| [uvs[v][0], 1.0 - uvs[v][1]]))
    });
    let triangles = character.triangles();
    write_atomically(path, |out| {
        let names: [(&[&str], bool); 3] = [
            (&["x", "y", "z"], true),
            (&["nx", "ny", "nz"], with_normals),
            (&["s", "t"], with_uvs),
        ];
        write!(
            out,
            "ply\nformat binary_little_endian 1.0\ncomment Sinew\nelement vertex {}\n",
            positions.len()
        )?;
        for name in names
            .iter()
            .filter(|(_, wanted)| *wanted)
            .flat_map(|(names, _)| *names)
        {
            writeln!(out, "property float {name}")?;
        }
        write!(
            out,
            "element face {}\nproperty list uchar int vertex_indices\nend_header\n",
            triangles.len()
        )?;
        for ((v, p), uv) in positions.iter().enumerate().zip(uvs) {
            let normal = if with_normals {
                normals[v].as_slice()
            } else {
                &[]
            };
            let uv: &[f32] = if with_uvs { &uv } else { &[] };
            p.coords
                .iter()
                .chain(normal)
                .chain(uv)
                .try_for_each(|c| out.write_all(&c.to_le_bytes()))?;
        }
        for triangle in &triangles {
            out.write_all(&[3])?;
            triangle
                .iter()
                .try_for_each(|v| out.write_all(&v.to_le_bytes()))?;
        }
        Ok(())
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::character::{Attachment, SourceFaces, SourceMesh};

    #[test]
    fn the_header_describes_the_body() {
        let mesh = SourceMesh {
            name: "a".to_owned(),
            positions: [[0.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0, 1.0, 0.0]]
                .map(Point::from)
                .to_vec(),
            triangles: vec![[0, 1, 2]],
            normals: None,
            tex_coords: Some(vec![[0.0, 0.25]; 3]),
            faces: SourceFaces::default(),
            material: None,
            attachment: Attachment::Unweighted,
        };
        let bare = SourceMesh {
            tex_coords: None,
            ..mesh.clone()
        };
        let character = Character {
            meshes: vec![mesh, bare],
            ..Character::default()
        };
        let path = std::env::temp_dir().join(format!("sinew-ply-{}.ply", std::process::id()));
        let positions = character.bind_positions();
        write_ply(&path, &character, &positions, &[Vec3::z(); 6]).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let end = bytes
            .windows(11)
            .position(|w| w == b"end_header\n")
            .unwrap()
            + 11;
        assert_eq!(bytes.len() - end, 6 * 8 * 4 + 2 * 13);
        let header = std::str::from_utf8(&bytes[..end]).unwrap();
        assert!(
            header.contains("element vertex 6\n")
                && header.contains("element face 2\n")
                && header.contains("float nz\n")
        );
        assert_eq!(bytes[end + 28..end + 32], 0.75_f32.to_le_bytes());
        assert_eq!(
            bytes[bytes.len() - 12..],
            [3, 4, 5].map(u32::to_le_bytes).concat()[..]
        );
        std::fs::remove_file(path).unwrap();
    }
}
