//! Primitives compressed by `KHR_draco_mesh_compression`.
//!
//! The document is rewritten before it is read: each compressed primitive gets accessors of its own with the decoded indices and
//! attributes, in one further buffer. What reads or writes the document afterwards sees no compression. The crate `draco-core` decodes
//! the streams; it has no `unsafe` code, and bounds what a stream may make.
//!
//! # Departures
//! - A primitive whose positions are there without compression, too, is read from those.
//! - Triangle strips become triangles, as which they are stored in a stream.

use draco_core::draco_types::DataType;
use draco_core::geometry_attribute::PointAttribute;
use draco_core::geometry_indices::PointIndex;
use draco_core::{DecodeLimits, DecoderBuffer, Mesh, MeshDecoder};
use serde_json::{Map, Value, json};

use super::clean;
use crate::io::error::{ParseProblem, Parsed, bad};

/// Name of the extension.
const DRACO: &str = "KHR_draco_mesh_compression";

/// Most bytes that the streams of one file may become: a stream of a kilobyte can declare gigabytes.
const MOST_BYTES: usize = 256 << 20;

/// What is added to a document.
struct Inflated<'a> {
    buffers: &'a [Option<Vec<u8>>],
    /// Views of the file; decoded ones follow them.
    views: Vec<Value>,
    accessors: Vec<Value>,
    /// The further buffer.
    data: Vec<u8>,
    /// Bytes that may still be decoded.
    left: usize,
}

/// The JSON without compressed primitives, whose data is a further buffer then; `None` if it has none.
///
/// # Errors
/// A sentence, for streams that are damaged, not there, or do not have what the primitive promises.
pub(super) fn inflate(json: &[u8], buffers: &mut Vec<Option<Vec<u8>>>) -> Parsed<Option<Vec<u8>>> {
    if !json
        .windows(DRACO.len())
        .any(|word| word == DRACO.as_bytes())
    {
        return Ok(None);
    }
    let mut tree = clean::tree(json.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(json))?;
    let mut meshes = taken(&mut tree, "meshes");
    let mut inflated = Inflated {
        buffers,
        views: taken(&mut tree, "bufferViews"),
        accessors: taken(&mut tree, "accessors"),
        data: Vec::new(),
        left: MOST_BYTES,
    };
    let (mut found, mut kept) = (false, false);
    for (number, mesh) in meshes.iter_mut().enumerate() {
        let primitives = mesh.get_mut("primitives").and_then(Value::as_array_mut);
        for primitive in primitives.into_iter().flatten() {
            if !primitive["extensions"][DRACO].is_object() {
                continue;
            }
            if inflated.is_also_plain(primitive) {
                kept = true;
                continue;
            }
            inflated
                .primitive(primitive)
                .map_err(|problem| ParseProblem::new(format!("mesh {number}: {problem}")))?;
            found = true;
        }
    }
    let Inflated {
        views,
        accessors,
        data,
        ..
    } = inflated;
    if !found {
        return Ok(None);
    }
    let mut lists = taken(&mut tree, "buffers");
    lists.push(json!({"byteLength": data.len()}));
    for (key, list) in [
        ("meshes", meshes),
        ("bufferViews", views),
        ("accessors", accessors),
        ("buffers", lists),
    ] {
        tree.insert(key.to_owned(), list.into());
    }
    for key in ["extensionsUsed", "extensionsRequired"] {
        forget(&mut tree, key, kept && key == "extensionsUsed");
    }
    buffers.push(Some(data));
    serde_json::to_vec(&tree)
        .map(Some)
        .map_err(|error| ParseProblem::new(error.to_string()))
}

/// A list of the document, which is then without it.
fn taken(tree: &mut Map<String, Value>, key: &str) -> Vec<Value> {
    match tree.remove(key) {
        Some(Value::Array(list)) => list,
        _ => Vec::new(),
    }
}

/// Removes the extension from a list of names, unless it is still used.
fn forget(tree: &mut Map<String, Value>, key: &str, is_used: bool) {
    let Some(names) = tree.get_mut(key).and_then(Value::as_array_mut) else {
        return;
    };
    names.retain(|name| name != DRACO || is_used);
    // The standard has no empty lists.
    if names.is_empty() {
        tree.remove(key);
    }
}

fn index(value: &Value) -> Option<usize> {
    value
        .as_u64()
        .and_then(|number| usize::try_from(number).ok())
}

/// The least or largest of each of `count` numbers of elements.
fn extreme(bytes: &[u8], stride: usize, count: usize, of: fn(f32, f32) -> f32) -> Value {
    let numbers = |element: &[u8]| -> Vec<f32> {
        let words = element.as_chunks::<4>().0.iter().take(count);
        words.map(|word| f32::from_le_bytes(*word)).collect()
    };
    let merged = bytes.chunks_exact(stride).map(numbers).reduce(|a, b| {
        let pairs = a.into_iter().zip(b);
        pairs.map(|(a, b)| of(a, b)).collect()
    });
    merged.map_or(Value::Null, Value::from)
}

impl Inflated<'_> {
    fn is_also_plain(&self, primitive: &Value) -> bool {
        let positions = index(&primitive["attributes"]["POSITION"]);
        let positions = positions.and_then(|accessor| self.accessors.get(accessor));
        positions.is_some_and(|accessor| !accessor["bufferView"].is_null())
    }

    /// Decodes a primitive and makes it one without compression.
    fn primitive(&mut self, primitive: &mut Value) -> Parsed<()> {
        let extension = primitive["extensions"][DRACO].take();
        let mesh = self.decoded(&extension)?;
        let Some(members) = primitive.as_object_mut() else {
            return bad("a primitive is no object");
        };
        let faces = mesh.faces().iter().flatten();
        let indices: Vec<u8> = faces.flat_map(|point| point.0.to_le_bytes()).collect();
        let old = members.get("indices").and_then(index);
        let count = mesh.num_faces() * 3;
        let made = self.accessor(old, &indices, [count, 4], ("SCALAR", 5125))?;
        members.insert("indices".to_owned(), made.into());
        members.insert("mode".to_owned(), 4.into());
        for (name, id) in extension["attributes"].as_object().into_iter().flatten() {
            let id = index(id).and_then(|id| u32::try_from(id).ok());
            let attribute = id.and_then(|id| mesh.attribute_by_unique_id(id));
            let Some(attribute) = attribute else {
                return bad(format!("the Draco data has no attribute for {name}"));
            };
            let old = members.get("attributes").and_then(|all| index(&all[name]));
            let made = self.attribute(old, name, attribute, mesh.num_points())?;
            let attributes = members.entry("attributes").or_insert_with(|| json!({}));
            if let Some(attributes) = attributes.as_object_mut() {
                attributes.insert(name.clone(), made.into());
            }
        }
        let extensions = members.get_mut("extensions").and_then(Value::as_object_mut);
        let emptied = extensions.is_some_and(|extensions| {
            extensions.remove(DRACO);
            extensions.is_empty()
        });
        if emptied {
            members.remove("extensions");
        }
        Ok(())
    }

    fn decoded(&mut self, extension: &Value) -> Parsed<Mesh> {
        let view = index(&extension["bufferView"]).and_then(|view| self.views.get(view));
        let stream = view.and_then(|view| {
            let first = index(&view["byteOffset"]).unwrap_or(0);
            let end = first.checked_add(index(&view["byteLength"])?)?;
            let buffer = self.buffers.get(index(&view["buffer"])?)?;
            buffer.as_ref()?.get(first..end)
        });
        let Some(stream) = stream else {
            return bad("the Draco data is not in the file");
        };
        let most = self.left as u64;
        let limits = DecodeLimits::default()
            .with_max_points(most / 4)
            .with_max_faces(most / 12)
            .with_max_decoded_bytes(most);
        let mut mesh = Mesh::new();
        let mut buffer = DecoderBuffer::new(stream).with_limits(limits);
        MeshDecoder::new()
            .decode(&mut buffer, &mut mesh)
            .map_err(|error| ParseProblem::new(format!("the Draco data can't be read: {error}")))?;
        Ok(mesh)
    }

    /// Adds the values of an attribute at every point, and returns the accessor.
    fn attribute(
        &mut self,
        old: Option<usize>,
        name: &str,
        attribute: &PointAttribute,
        points: usize,
    ) -> Parsed<usize> {
        let component = match attribute.data_type() {
            DataType::Int8 => 5120,
            DataType::Uint8 => 5121,
            DataType::Int16 => 5122,
            DataType::Uint16 => 5123,
            // glTF has no signed form; negative indices are found to be too large.
            DataType::Uint32 | DataType::Int32 => 5125,
            DataType::Float32 => 5126,
            _ => return bad(format!("{name} has numbers of a kind that glTF has not")),
        };
        let kind = match attribute.num_components() {
            1 => "SCALAR",
            2 => "VEC2",
            3 => "VEC3",
            4 => "VEC4",
            count => return bad(format!("{name} has {count} numbers a vertex")),
        };
        let length = attribute.data_type().byte_length() * usize::from(attribute.num_components());
        let from_stride = usize::try_from(attribute.byte_stride()).unwrap_or(0);
        // Vertices begin at multiples of 4 bytes.
        let stride = length.next_multiple_of(4);
        self.reserve(points.saturating_mul(stride))?;
        let values = attribute.buffer().data();
        let mut bytes = vec![0; points * stride];
        for (point, target) in bytes.chunks_exact_mut(stride).enumerate() {
            let value = attribute.mapped_index(PointIndex(point as u32)).0 as usize;
            let first = value.checked_mul(from_stride);
            let source = first.and_then(|first| values.get(first..first.checked_add(length)?));
            let Some(source) = source else {
                return bad(format!("{name} has no value for vertex {point}"));
            };
            target[..length].copy_from_slice(source);
        }
        let made = self.accessor(old, &bytes, [points, stride], (kind, component))?;
        if name == "POSITION" && component == 5126 && points > 0 {
            self.accessors[made]["min"] = extreme(&bytes, stride, length / 4, f32::min);
            self.accessors[made]["max"] = extreme(&bytes, stride, length / 4, f32::max);
        }
        Ok(made)
    }

    /// Counts bytes that are about to be made.
    fn reserve(&mut self, bytes: usize) -> Parsed<()> {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => bad(format!(
                "the Draco data of the file is more than {MOST_BYTES} bytes when decoded, which is too much for a character"
            )),
        }
    }

    /// Adds an accessor of `[elements, stride]`, otherwise like an old one, with its view.
    fn accessor(
        &mut self,
        old: Option<usize>,
        bytes: &[u8],
        [count, stride]: [usize; 2],
        (kind, component): (&str, u32),
    ) -> Parsed<usize> {
        let mut view = json!({
            "buffer": self.buffers.len(), "byteOffset": self.data.len(), "byteLength": bytes.len(),
        });
        if kind != "SCALAR" {
            view["byteStride"] = stride.into();
        }
        self.data.extend_from_slice(bytes);
        self.views.push(view);
        let old = old.and_then(|old| self.accessors.get(old)).cloned();
        let mut accessor = old.filter(Value::is_object).unwrap_or_else(|| json!({}));
        let Some(members) = accessor.as_object_mut() else {
            return bad("an accessor is no object");
        };
        // The bounds are those before compression.
        for key in ["sparse", "min", "max"] {
            members.remove(key);
        }
        for (key, value) in [
            ("bufferView", Value::from(self.views.len() - 1)),
            ("byteOffset", 0.into()),
            ("componentType", component.into()),
            ("count", count.into()),
            ("type", kind.into()),
        ] {
            members.insert(key.to_owned(), value);
        }
        self.accessors.push(accessor);
        Ok(self.accessors.len() - 1)
    }
}
