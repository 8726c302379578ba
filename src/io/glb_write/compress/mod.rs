//! Makes a finished `.glb` smaller: `KHR_mesh_quantization`, then `EXT_meshopt_compression`.
//!
//! | data                  | stored as                                                                            |
//! |-----------------------|--------------------------------------------------------------------------------------|
//! | positions             | `u16` on a grid; the grid's place and step are a node's transform, or in the inverse binds |
//! | displacements         | `i16`: the difference of two grid points, so that a morphed vertex is on the grid, too |
//! | normals, tangents     | `i8`                                                                                 |
//! | texture coordinates   | `u16`, if all are in 0…1                                                             |
//! | weights               | `u16`, which add up to exactly one                                                   |
//! | all else              | as it was; triangles, keys and matrices are compressed without loss                     |
//!
//! All skinned meshes, and all that stand at the origin, share one grid: what was closed stays closed. The order of vertices and
//! triangles is kept, because morphs and other files refer to it. The encoder is the `meshopt` crate around the C++ library.

mod encode;
mod grid;
mod nodes;
mod quantise;

use std::path::Path;

use serde_json::{Value, json};

use self::encode::CompressedBuffers;
use self::grid::Grids;
use self::quantise::Quantiser;
use super::draft::{JsonObject, remove, set};
use super::sweep;
use crate::io::error::{IoError, Parsed, bad, shown};
use crate::io::gltf::accessor::Accessors;
use crate::io::gltf::container::{self, UriBase};
use crate::io::gltf::document::GltfDocument;
use crate::io::write::write_atomically;

/// What compression did to a file.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Compression {
    /// Size before, bytes.
    pub before: u64,
    /// Size after, bytes.
    pub after: u64,
    /// Largest distance between neighbouring positions that can be stored, in the file's world units. No position is off by more than half
    /// of it in any direction.
    pub step: f64,
}

impl Compression {
    /// Largest distance of a position from the uncompressed one, millimetres: half a step along each axis.
    #[must_use]
    pub fn error_mm(&self, metres_per_unit: f64) -> f64 {
        self.step * metres_per_unit * 0.5 * 3_f64.sqrt() * 1e3
    }

    /// What it did, in words.
    #[must_use]
    pub fn sentence(&self, metres_per_unit: f64) -> String {
        let megabytes = |bytes: u64| bytes as f64 / 1e6;
        format!(
            "compressed from {:.2} to {:.2} MB; positions are off by at most {:.4} mm",
            megabytes(self.before),
            megabytes(self.after),
            self.error_mm(metres_per_unit)
        )
    }
}

/// Compresses a `.glb` in place.
///
/// # Errors
/// [`IoError::Read`] and [`IoError::Write`]; [`IoError::Malformed`] if it cannot be read as glTF.
pub fn compress_glb(path: &Path) -> Result<Compression, IoError> {
    let bytes = std::fs::read(path).map_err(|source| IoError::Read {
        file: shown(path),
        source,
    })?;
    let (smaller, step) = compressed(&bytes).map_err(|problem| problem.in_file(&shown(path)))?;
    write_atomically(path, |out| std::io::Write::write_all(out, &smaller))?;
    Ok(Compression {
        before: bytes.len() as u64,
        after: smaller.len() as u64,
        step,
    })
}

/// The compressed file, and the step of its positions.
fn compressed(bytes: &[u8]) -> Parsed<(Vec<u8>, f64)> {
    let (json, binary) = container::split(bytes)?;
    let document = GltfDocument::parse(&json)?;
    let tree: JsonObject = match serde_json::from_slice(&json) {
        Ok(tree) => tree,
        Err(error) => return bad(format!("is no JSON: {error}")),
    };
    let place = UriBase { folder: None };
    let buffers = container::buffers(&document.root, binary.as_deref(), &place)?;
    let decoded = container::decompress(&document.extensions.compressed, &buffers)?;
    let accessors = || Accessors::new(&document.root, &buffers, &decoded);
    let mut file = OpenGlb {
        tree,
        blobs: Vec::new(),
    };
    file.take_in_views(&accessors())?;
    let grids = Grids::of(&file.tree, &accessors)?;
    let step = grids.world_step(&document.root, &accessors())?;
    let mut quantiser = Quantiser::new(&mut file, &grids, &accessors);
    quantiser.meshes()?;
    file.place_on_grids(&grids, &accessors())?;
    sweep::skins(&mut file.tree);
    sweep::data(&mut file.tree);
    let buffers = CompressedBuffers::of(&mut file);
    Ok((file.glb(&buffers)?, step))
}

/// A document whose views each have bytes of their own.
struct OpenGlb {
    tree: JsonObject,
    /// Bytes of the views; the `buffer` of a view is an index into these.
    blobs: Vec<Vec<u8>>,
}

impl OpenGlb {
    fn list(&self, name: &str) -> &[Value] {
        let list = self.tree.get(name).and_then(Value::as_array);
        list.map_or(&[], Vec::as_slice)
    }

    /// A list of the root object, taken out to be changed.
    fn take(&mut self, name: &str) -> Vec<Value> {
        match self.tree.get_mut(name).map(Value::take) {
            Some(Value::Array(list)) => list,
            _ => Vec::new(),
        }
    }

    fn put(&mut self, name: &str, list: Vec<Value>) {
        if list.is_empty() {
            self.tree.remove(name);
        } else {
            self.tree.insert(name.to_owned(), Value::Array(list));
        }
    }

    fn push(&mut self, name: &str, object: Value) -> usize {
        let mut list = self.take(name);
        list.push(object);
        let index = list.len() - 1;
        self.put(name, list);
        index
    }

    /// Gives every view its bytes, decompressed.
    fn take_in_views(&mut self, accessors: &Accessors<'_>) -> Parsed<()> {
        let mut views = self.take("bufferViews");
        for (index, view) in views.iter_mut().enumerate() {
            self.blobs.push(accessors.view_bytes(index)?.to_vec());
            set(view, "buffer", json!(index));
            remove(view, "byteOffset");
            if let Some(extensions) = view.get_mut("extensions") {
                remove(extensions, encode::MESHOPT);
            }
            if view["extensions"]
                .as_object()
                .is_some_and(serde_json::Map::is_empty)
            {
                remove(view, "extensions");
            }
        }
        self.put("bufferViews", views);
        Ok(())
    }

    /// Appends a view.
    fn view(&mut self, bytes: Vec<u8>, stride: Option<usize>) -> usize {
        let mut view = json!({"buffer": self.blobs.len(), "byteLength": bytes.len()});
        if let Some(stride) = stride {
            view["byteStride"] = json!(stride);
            view["target"] = json!(34962);
        }
        self.blobs.push(bytes);
        self.push("bufferViews", view)
    }

    /// Notes an extension that readers must know.
    fn require(&mut self, extension: &str) {
        for list in ["extensionsUsed", "extensionsRequired"] {
            if !self.list(list).iter().any(|name| name == extension) {
                self.push(list, json!(extension));
            }
        }
    }

    /// The file.
    fn glb(&self, binary: &CompressedBuffers) -> Parsed<Vec<u8>> {
        let mut text = match serde_json::to_vec(&self.tree) {
            Ok(text) => text,
            Err(error) => return bad(format!("cannot be written as JSON: {error}")),
        };
        text.resize(text.len().next_multiple_of(4), b' ');
        let data = &binary.bytes;
        let length = 12 + 8 + text.len() + if data.is_empty() { 0 } else { 8 + data.len() };
        let mut out = Vec::with_capacity(length);
        let word = |out: &mut Vec<u8>, n: usize| match u32::try_from(n) {
            Ok(n) => {
                out.extend(n.to_le_bytes());
                Ok(())
            }
            Err(_) => bad("would have more than 4 GiB"),
        };
        out.extend(b"glTF\x02\0\0\0");
        word(&mut out, length)?;
        word(&mut out, text.len())?;
        out.extend(b"JSON");
        out.extend(text);
        if !data.is_empty() {
            word(&mut out, data.len())?;
            out.extend(b"BIN\0");
            out.extend(data);
        }
        Ok(out)
    }
}

#[cfg(test)]
mod tests;
