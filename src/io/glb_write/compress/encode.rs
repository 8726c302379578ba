//! Compression of the buffer views, by `EXT_meshopt_compression`.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::super::draft::set;
use super::OpenGlb;

pub(super) const MESHOPT: &str = "EXT_meshopt_compression";
/// The only version of the codec of attributes that the extension has.
const ATTRIBUTE_VERSION: i32 = 0;
/// Its slower levels are for later versions.
const LEVEL: i32 = 2;

/// The bytes of the one buffer that has some.
pub(super) struct CompressedBuffers {
    pub(super) bytes: Vec<u8>,
}

/// How a view is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum ViewContent {
    /// Elements of so many bytes.
    Elements(usize),
    /// Corners of triangles, of so many bytes each.
    Triangles(usize),
    /// Other indices.
    Indices(usize),
    /// Of several kinds, or unknown.
    Mixed,
}

impl CompressedBuffers {
    /// Compresses what gets smaller by it, and writes where it lies into the document.
    pub(super) fn of(file: &mut OpenGlb) -> Self {
        let contents = contents(file);
        let mut views = file.take("bufferViews");
        let (mut bytes, mut unpacked) = (Vec::new(), 0);
        for (index, view) in views.iter_mut().enumerate() {
            let blob = view["buffer"]
                .as_u64()
                .and_then(|blob| file.blobs.get(blob as usize));
            let raw = blob.map_or(&[][..], Vec::as_slice);
            let packed = contents
                .get(&index)
                .and_then(|content| encoded(raw, *content));
            let packed = packed.filter(|(packed, ..)| packed.len() < raw.len());
            let at = bytes.len();
            if let Some((packed, stride, mode)) = packed {
                let lies = json!({
                    "buffer": 0, "byteOffset": at, "byteLength": packed.len(),
                    "byteStride": stride, "count": raw.len() / stride, "mode": mode,
                });
                set(view, "buffer", json!(1));
                set(view, "byteOffset", json!(unpacked));
                let mut extensions = view["extensions"].take();
                if extensions.is_null() {
                    extensions = json!({});
                }
                set(&mut extensions, MESHOPT, lies);
                set(view, "extensions", extensions);
                unpacked = (unpacked + raw.len()).next_multiple_of(4);
                bytes.extend(packed);
            } else {
                set(view, "buffer", json!(0));
                set(view, "byteOffset", json!(at));
                bytes.extend_from_slice(raw);
            }
            bytes.resize(bytes.len().next_multiple_of(4), 0);
        }
        file.put("bufferViews", views);
        let mut buffers = Vec::new();
        if !bytes.is_empty() {
            buffers.push(json!({"byteLength": bytes.len()}));
        }
        if unpacked > 0 {
            let fallback = json!({MESHOPT: {"fallback": true}});
            buffers.push(json!({"byteLength": unpacked, "extensions": fallback}));
            file.require(MESHOPT);
        }
        file.put("buffers", buffers);
        Self { bytes }
    }
}

/// What every view has that accessors refer to.
fn contents(file: &OpenGlb) -> HashMap<usize, ViewContent> {
    let mut of_indices: HashMap<u64, bool> = HashMap::new();
    for primitive in (file.list("meshes").iter())
        .flat_map(|mesh| mesh["primitives"].as_array().into_iter().flatten())
    {
        if let Some(indices) = primitive["indices"].as_u64() {
            let is_triangles = primitive["mode"].as_u64().unwrap_or(4) == 4;
            *of_indices.entry(indices).or_insert(true) &= is_triangles;
        }
    }
    let mut contents: HashMap<usize, ViewContent> = HashMap::new();
    let mut note = |view: &Value, content| {
        if let Some(view) = view.as_u64() {
            let known = contents.entry(view as usize).or_insert(content);
            if *known != content {
                *known = ViewContent::Mixed;
            }
        }
    };
    for (index, accessor) in file.list("accessors").iter().enumerate() {
        let view = &accessor["bufferView"];
        let size = element_size(accessor);
        let declared = view
            .as_u64()
            .and_then(|view| file.list("bufferViews").get(view as usize));
        let stride = declared.and_then(|view| view["byteStride"].as_u64());
        let content = match (size, of_indices.get(&(index as u64))) {
            (Some(size), Some(true)) if matches!(size, 2 | 4) => ViewContent::Triangles(size),
            (Some(size), Some(false)) if matches!(size, 2 | 4) => ViewContent::Indices(size),
            (Some(size), None) => {
                ViewContent::Elements(stride.map_or(size, |stride| stride as usize))
            }
            _ => ViewContent::Mixed,
        };
        note(view, content);
        for part in ["indices", "values"] {
            note(&accessor["sparse"][part]["bufferView"], ViewContent::Mixed);
        }
    }
    for image in file.list("images") {
        note(&image["bufferView"], ViewContent::Mixed);
    }
    contents
}

/// Bytes of an element.
fn element_size(accessor: &Value) -> Option<usize> {
    let component = match accessor["componentType"].as_u64()? {
        5120 | 5121 => 1,
        5122 | 5123 => 2,
        5125 | 5126 => 4,
        _ => return None,
    };
    let numbers = match accessor["type"].as_str()? {
        "SCALAR" => 1,
        "VEC2" => 2,
        "VEC3" => 3,
        "VEC4" => 4,
        "MAT4" => 16,
        _ => return None,
    };
    Some(component * numbers)
}

/// The compressed bytes, the stride and the mode.
fn encoded(raw: &[u8], content: ViewContent) -> Option<(Vec<u8>, usize, &'static str)> {
    let (stride, mode) = match content {
        ViewContent::Elements(stride) => (stride, "ATTRIBUTES"),
        ViewContent::Triangles(size) => (size, "TRIANGLES"),
        ViewContent::Indices(size) => (size, "INDICES"),
        ViewContent::Mixed => return None,
    };
    if raw.is_empty() || !raw.len().is_multiple_of(stride) {
        return None;
    }
    if let ViewContent::Elements(_) = content {
        return Some((attributes(raw, stride)?, stride, mode));
    }
    let number =
        |bytes: &[u8]| (bytes.iter().rev()).fold(0, |n: u32, &byte| n << 8 | u32::from(byte));
    let indices: Vec<u32> = raw.chunks_exact(stride).map(number).collect();
    let vertices = indices.iter().max().map_or(0, |most| *most as usize + 1);
    let packed = match content {
        ViewContent::Triangles(_) if indices.len().is_multiple_of(3) => {
            meshopt::encode_index_buffer(&indices, vertices)
        }
        ViewContent::Indices(_) => meshopt::encode_index_sequence(&indices, vertices),
        _ => return None,
    };
    Some((packed.ok()?, stride, mode))
}

/// Elements of a multiple of four bytes, of the sizes that occur.
fn attributes(raw: &[u8], stride: usize) -> Option<Vec<u8>> {
    macro_rules! by_stride {
        ($($stride:literal)*) => {
            match stride {
                $($stride => {
                    let elements = raw.as_chunks::<$stride>().0;
                    meshopt::encode_vertex_buffer_level(elements, LEVEL, Some(ATTRIBUTE_VERSION)).ok()
                })*
                _ => None,
            }
        };
    }
    by_stride!(4 8 12 16 20 24 28 32 36 40 44 48 52 56 60 64)
}
