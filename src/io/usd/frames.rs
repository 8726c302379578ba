//! Point caches: meshes with points, normals and extents at time codes.
//!
//! Frames are written as they come, so that memory holds one: a binary file takes them at once, for a text they wait in a temporary file
//! beside it.

use std::io::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};

use super::binary::{BinaryWriter, align};
use super::layer::{Layer, Prim, Property, Value};
use super::look_write::Looks;
use super::mesh_write::{add_normals, extent, mesh_prim};
use super::names::{SiblingNames, identifier};
use super::{UsdFormat, text_write};
use crate::character::{Character, SourceMesh};
use crate::io::error::IoError;
use crate::io::write::AtomicFile;
use crate::math::{Point, Vec3};

/// A point cache, written frame by frame.
#[derive(Debug)]
pub struct UsdFrames {
    path: PathBuf,
    format: UsdFormat,
    /// The binary file, or the temporary one.
    data: AtomicFile,
    meshes: Vec<MeshSamples>,
    looks: Looks,
    root: String,
}

/// The frames of a mesh.
#[derive(Debug)]
struct MeshSamples {
    /// Its vertices among those of the character, copies included.
    range: Range<usize>,
    points: Vec<(f64, Value)>,
    normals: Vec<(f64, Value)>,
    extents: Vec<(f64, Value)>,
}

impl UsdFrames {
    /// Starts a file.
    ///
    /// # Errors
    /// [`IoError::Write`]; [`IoError::OverInput`] if it or a texture beside it is a protected input.
    pub fn create(path: &Path, format: UsdFormat, character: &Character) -> Result<Self, IoError> {
        let mut data = AtomicFile::create(path)?;
        if format == UsdFormat::Binary {
            data.write(BinaryWriter::start)?;
        }
        let mut first = 0;
        let samples = |mesh: &SourceMesh| {
            let range = first..first + mesh.positions.len();
            first = range.end;
            MeshSamples {
                range,
                points: Vec::new(),
                normals: Vec::new(),
                extents: Vec::new(),
            }
        };
        let root = identifier(&character.name);
        Ok(Self {
            path: path.to_owned(),
            format,
            data,
            meshes: character.meshes.iter().map(samples).collect(),
            looks: Looks::of(character, &format!("/{root}"), path)?,
            root,
        })
    }

    /// Appends a frame: positions and normals of all vertices of a character.
    ///
    /// # Errors
    /// [`IoError::Write`].
    ///
    /// # Panics
    /// If there are fewer positions or normals than vertices.
    pub fn frame(
        &mut self,
        time_code: f64,
        character: &Character,
        positions: &[Point],
        normals: &[Vec3],
    ) -> Result<(), IoError> {
        for (mesh, samples) in character.meshes.iter().zip(&mut self.meshes) {
            let all = samples.range.clone();
            let points = &positions[all.start..all.start + mesh.file_vertices()];
            let stored = store(&mut self.data, bytemuck::cast_slice(points), points.len())?;
            samples.points.push((time_code, stored));
            samples.extents.push((time_code, extent(points)));
            let normals = &normals[all];
            let stored = store(&mut self.data, bytemuck::cast_slice(normals), normals.len())?;
            samples.normals.push((time_code, stored));
        }
        Ok(())
    }

    /// Completes the file, of `fps` time codes a second; returns it and the textures beside it.
    ///
    /// # Errors
    /// [`IoError::Write`].
    pub fn finish(self, character: &Character, fps: f64) -> Result<Vec<PathBuf>, IoError> {
        let Self {
            path,
            format,
            mut data,
            meshes,
            looks,
            root,
        } = self;
        let mut layer = Layer {
            meta: stage_meta(character, &root, fps),
            roots: Vec::new(),
        };
        let codes = meshes.iter().flat_map(|mesh| &mesh.points);
        let range = codes.fold(None, |range: Option<[f64; 2]>, &(code, _)| {
            let [low, high] = range.unwrap_or([code; 2]);
            Some([low.min(code), high.max(code)])
        });
        add_range(&mut layer, range);
        let mut top = Prim::new("Xform", root);
        top.children.extend(looks.prim(character));
        let mut names = SiblingNames::default();
        names.unique("Materials");
        for (mesh, samples) in character.meshes.iter().zip(meshes) {
            if mesh.triangles.is_empty() {
                continue;
            }
            let mut prim = mesh_prim(character, mesh, &looks, &mut names);
            let points = sampled("point3f[]", "points", samples.points);
            let extents = sampled("float3[]", "extent", samples.extents);
            prim.properties.extend([points, extents]);
            add_normals(&mut prim, mesh, sampled("", "", samples.normals));
            top.children.push(prim);
        }
        layer.roots.push(top);
        looks.write(character)?;
        match format {
            UsdFormat::Binary => data.write(|out| BinaryWriter::write(&layer, out))?,
            UsdFormat::Text => {
                let stored = data.rewound()?;
                let mut target = AtomicFile::create(&path)?;
                target.write(|out| text_write::write(&layer, out, stored))?;
                target.commit()?;
                return Ok(std::iter::once(path)
                    .chain(looks.files().cloned())
                    .collect());
            }
        }
        data.commit()?;
        Ok(std::iter::once(path)
            .chain(looks.files().cloned())
            .collect())
    }
}

/// Appends an array of vectors to a file.
fn store(file: &mut AtomicFile, bytes: &[u8], count: usize) -> Result<Value, IoError> {
    let mut at = 0;
    file.write(|out| {
        at = align(out)?;
        out.write_all(&(count as u64).to_le_bytes())?;
        out.write_all(bytes)?;
        out.flush()
    })?;
    Ok(Value::Stored { at, count })
}

/// An attribute over time, or with one value if there is one frame.
fn sampled(kind: &str, name: &str, mut samples: Vec<(f64, Value)>) -> Property {
    let value = if samples.len() == 1 {
        samples.pop().map(|(_, value)| value)
    } else {
        None
    };
    Property {
        name: name.to_owned(),
        kind: kind.to_owned(),
        value,
        samples,
        ..Property::default()
    }
}

/// Metadata of a file: its main prim, unit, axis and time.
pub(super) fn stage_meta(character: &Character, root: &str, fps: f64) -> Vec<(String, Value)> {
    let bounds = crate::mesh::Bounds::of(&character.bind_positions());
    let up = crate::character::UpAxis::guess(&character.skeleton, &bounds);
    let axis = if up.axis == [0.0, 0.0, 1.0] { "Z" } else { "Y" };
    let metres = character.export_metres_per_unit();
    [
        ("defaultPrim", Value::text(root)),
        ("metersPerUnit", Value::number(metres)),
        ("upAxis", Value::text(axis)),
        ("timeCodesPerSecond", Value::number(fps)),
        ("framesPerSecond", Value::number(fps)),
    ]
    .map(|(key, value)| (key.to_owned(), value))
    .to_vec()
}

/// Adds the first and last time code.
pub(super) fn add_range(layer: &mut Layer, range: Option<[f64; 2]>) {
    let Some([first, last]) = range else { return };
    for (key, value) in [("startTimeCode", first), ("endTimeCode", last)] {
        layer.meta.push((key.to_owned(), Value::number(value)));
    }
}
