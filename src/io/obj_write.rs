//! Writes frames as Wavefront OBJ, with their materials.

use std::collections::HashMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use super::error::{IoError, shown};
use super::glb_write::encode_png;
use super::reads::refuse_protected;
use super::write::write_atomically;
use crate::character::{Character, Material, SourceMesh};
use crate::math::{Point, Vec3};

/// The material library and textures of `.obj` files: named first, because frames refer to them, and written after the last frame.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ObjLook {
    /// The library; `None` for a character without materials.
    library: Option<PathBuf>,
    /// The texture of each material.
    textures: Vec<Option<PathBuf>>,
}

impl ObjLook {
    /// Beside `path`: the library `NAME.mtl`, and the texture of material N `NAME.N.png`.
    ///
    /// # Errors
    /// [`IoError::OverInput`] if one of them is a protected input.
    pub fn beside(path: &Path, character: &Character) -> Result<Self, IoError> {
        if character.materials.is_empty() {
            return Ok(Self::default());
        }
        let texture = |(index, material): (usize, &Material)| {
            let image = material.base_color_image.as_ref();
            image.map(|_| path.with_extension(format!("{index}.png")))
        };
        let look = Self {
            library: Some(path.with_extension("mtl")),
            textures: character
                .materials
                .iter()
                .enumerate()
                .map(texture)
                .collect(),
        };
        look.files().try_for_each(|file| refuse_protected(file))?;
        Ok(look)
    }

    /// The library, then the textures.
    pub fn files(&self) -> impl Iterator<Item = &PathBuf> {
        self.library.iter().chain(self.textures.iter().flatten())
    }

    /// Writes them.
    ///
    /// # Errors
    /// [`IoError::Write`].
    pub fn write(&self, character: &Character) -> Result<(), IoError> {
        for (material, texture) in character.materials.iter().zip(&self.textures) {
            let (Some(texture), Some(image)) = (texture, &material.base_color_image) else {
                continue;
            };
            let png = encode_png(image).map_err(|error| IoError::Write {
                file: shown(texture),
                source: std::io::Error::other(error),
            })?;
            write_atomically(texture, |out| out.write_all(&png))?;
        }
        let Some(library) = &self.library else {
            return Ok(());
        };
        write_atomically(library, |out| {
            let described = character.materials.iter().zip(&self.textures).enumerate();
            for (index, (material, texture)) in described {
                let [r, g, b, opacity] = material.base_color;
                writeln!(out, "newmtl {}", name_of_material(character, index))?;
                writeln!(out, "Kd {r} {g} {b}\nd {opacity}")?;
                if let Some(texture) = texture {
                    writeln!(out, "map_Kd {}", name_of_file(texture))?;
                }
            }
            Ok(())
        })
    }
}

fn name_of_file(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default();
    one_line(&name.to_string_lossy())
}

/// Writes one frame as OBJ: the file's vertices in the file's order, texture coordinates if the
/// source has them, and its polygons with the names of objects, groups and materials. A source
/// without polygons is written as triangles, one object per source mesh. `normals` may be empty.
///
/// # Errors
/// [`IoError::Write`].
///
/// # Panics
/// If `positions` differs in length from the character's source vertices.
pub fn write_obj(
    path: &Path,
    character: &Character,
    positions: &[Point],
    normals: &[Vec3],
) -> Result<(), IoError> {
    write_obj_with(path, character, positions, normals, &ObjLook::default())
}

/// As [`write_obj`], with materials.
///
/// # Errors
/// [`IoError::Write`].
///
/// # Panics
/// As [`write_obj`].
pub fn write_obj_with(
    path: &Path,
    character: &Character,
    positions: &[Point],
    normals: &[Vec3],
    look: &ObjLook,
) -> Result<(), IoError> {
    assert_eq!(
        positions.len(),
        character.source_vertices(),
        "the number of positions differs from the character's"
    );
    let with_normals = normals.len() == positions.len();
    write_atomically(path, |out| {
        if let Some(library) = &look.library {
            writeln!(out, "mtllib {}", name_of_file(library))?;
        }
        let mut writer = ObjWriter {
            out,
            character,
            first: [1; 3],
        };
        let mut start = 0;
        for mesh in &character.meshes {
            let range = start..start + mesh.positions.len();
            start = range.end;
            let normals = if with_normals {
                &normals[range.clone()]
            } else {
                &[]
            };
            writer.mesh(mesh, &positions[range], normals)?;
        }
        Ok(())
    })
}

struct ObjWriter<'a, W> {
    out: &'a mut W,
    character: &'a Character,
    /// Indices of the next position, texture coordinate and normal.
    first: [usize; 3],
}

/// Where the attributes of a mesh's vertices are in the file.
struct ObjIndices<'a> {
    mesh: &'a SourceMesh,
    first: [usize; 3],
    /// Of each vertex; empty without texture coordinates.
    uv_of: Vec<usize>,
    with_normals: bool,
}

impl<W: Write> ObjWriter<'_, W> {
    fn mesh(
        &mut self,
        mesh: &SourceMesh,
        positions: &[Point],
        normals: &[Vec3],
    ) -> std::io::Result<()> {
        writeln!(self.out, "o {}", one_line(&mesh.name))?;
        for p in &positions[..mesh.file_vertices()] {
            writeln!(self.out, "v {} {} {}", p.x, p.y, p.z)?;
        }
        for n in normals {
            writeln!(self.out, "vn {} {} {}", n.x, n.y, n.z)?;
        }
        let (uvs, uv_of) = distinct(mesh);
        for [u, v] in &uvs {
            writeln!(self.out, "vt {u} {}", 1.0 - v)?;
        }
        let indices = ObjIndices {
            mesh,
            first: self.first,
            uv_of,
            with_normals: !normals.is_empty(),
        };
        if mesh.faces.polygons.is_some() {
            self.polygons(&indices)?;
        } else {
            self.triangles(&indices)?;
        }
        let written = [mesh.file_vertices(), uvs.len(), normals.len()];
        self.first = std::array::from_fn(|i| self.first[i] + written[i]);
        Ok(())
    }

    fn polygons(&mut self, indices: &ObjIndices<'_>) -> std::io::Result<()> {
        let Some(polygons) = &indices.mesh.faces.polygons else {
            return Ok(());
        };
        let mut groups = polygons.groups.iter().peekable();
        let (mut object, mut group, mut material) = (indices.mesh.name.as_str(), "", "");
        for polygon in 0..polygons.len() {
            while let Some(named) = groups.next_if(|named| named.first <= polygon) {
                if named.object != object && !named.object.is_empty() {
                    writeln!(self.out, "o {}", one_line(&named.object))?;
                    object = &named.object;
                }
                if named.group != group {
                    writeln!(self.out, "g {}", one_line(&named.group))?;
                    group = &named.group;
                }
                if named.material != material {
                    writeln!(self.out, "usemtl {}", one_line(&named.material))?;
                    material = &named.material;
                }
            }
            self.face(polygons.ring(polygon), indices)?;
        }
        Ok(())
    }

    fn triangles(&mut self, indices: &ObjIndices<'_>) -> std::io::Result<()> {
        let materials = self.character.materials.len();
        for (triangles, material) in indices.mesh.sections() {
            if let Some(material) = material.filter(|&material| material < materials) {
                let name = name_of_material(self.character, material);
                writeln!(self.out, "usemtl {name}")?;
            }
            for triangle in &indices.mesh.triangles[triangles] {
                self.face(triangle, indices)?;
            }
        }
        Ok(())
    }

    fn face(&mut self, ring: &[u32], indices: &ObjIndices<'_>) -> std::io::Result<()> {
        let [position, uv, normal] = indices.first;
        write!(self.out, "f")?;
        for &vertex in ring {
            let vertex = vertex as usize;
            let v = position + indices.mesh.file_vertex(vertex);
            match (indices.uv_of.get(vertex), indices.with_normals) {
                (None, false) => write!(self.out, " {v}")?,
                (None, true) => write!(self.out, " {v}//{}", normal + vertex)?,
                (Some(at), false) => write!(self.out, " {v}/{}", uv + at)?,
                (Some(at), true) => write!(self.out, " {v}/{}/{}", uv + at, normal + vertex)?,
            }
        }
        writeln!(self.out)
    }
}

/// Texture coordinates and that of each vertex; of a mesh with copies each coordinate once.
fn distinct(mesh: &SourceMesh) -> (Vec<[f32; 2]>, Vec<usize>) {
    let uvs = mesh.tex_coords.as_deref().unwrap_or_default();
    if mesh.faces.copies.is_empty() {
        return (uvs.to_vec(), (0..uvs.len()).collect());
    }
    let (mut known, mut list) = (HashMap::new(), Vec::new());
    let mut place = |uv: &[f32; 2]| {
        *known.entry(uv.map(f32::to_bits)).or_insert_with(|| {
            list.push(*uv);
            list.len() - 1
        })
    };
    let of_vertex = uvs.iter().map(&mut place).collect();
    (list, of_vertex)
}

fn name_of_material(character: &Character, material: usize) -> String {
    let name = one_line(&character.materials[material].name);
    if name.trim().is_empty() {
        format!("material{material}")
    } else {
        name
    }
}

fn one_line(name: &str) -> String {
    name.replace(char::is_control, " ")
}
