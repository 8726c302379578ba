//! A glTF document under construction: its JSON tree and the sources of its binary data.
//!
//! A draft starts empty or from a [`SourceDocument`]; in the latter case all untouched members are
//! preserved. Until [`GlbDraft::seal`], a buffer view's `buffer` indexes first the document's own
//! buffers, then the draft's [`GlbDraft::view`]s, then the spooled frame file
//! ([`GlbDraft::spooled_view`]). [`GlbDraft::seal`] copies all bytes still in use into one buffer, as GLB
//! requires.

mod seal;

use std::sync::Arc;

use serde_json::{Map, Value, json};

pub use self::seal::SealedGlb;
use super::GlbWriteError;
use crate::character::SourceDocument;
use crate::io::gltf::container::UriBase;

/// A JSON object.
pub(super) type JsonObject = Map<String, Value>;

/// Purpose of a view of the binary part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ViewUse {
    /// Vertex attributes.
    Attribute,
    /// Triangle indices.
    Corners,
    /// Any other data.
    Other,
}

/// A document under construction.
#[derive(Debug)]
pub(super) struct GlbDraft {
    /// The JSON.
    pub(super) tree: JsonObject,
    /// The node of each joint of the character, once they are written.
    pub(super) joint_nodes: Vec<usize>,
    source: Option<Arc<SourceDocument>>,
    bytes: Vec<u8>,
}

/// A byte range of one of a draft's buffers, in comparable form.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct ByteRange {
    buffer: usize,
    offset: u64,
    length: u64,
}

impl GlbDraft {
    /// An empty document.
    pub(super) fn new() -> Self {
        let mut tree = JsonObject::new();
        tree.insert(
            "asset".to_owned(),
            json!({"version": "2.0", "generator": "Sinew"}),
        );
        Self {
            tree,
            joint_nodes: Vec::new(),
            source: None,
            bytes: Vec::new(),
        }
    }

    /// A document as it was read, with its external images embedded.
    pub(super) fn of(source: &Arc<SourceDocument>) -> Result<Self, GlbWriteError> {
        let text = source
            .json
            .strip_prefix(b"\xEF\xBB\xBF")
            .unwrap_or(&source.json);
        let tree: JsonObject =
            serde_json::from_slice(text).map_err(|source| GlbWriteError::Encode { source })?;
        let mut draft = Self {
            tree,
            joint_nodes: Vec::new(),
            source: Some(source.clone()),
            bytes: Vec::new(),
        };
        let asset = draft
            .tree
            .entry("asset")
            .or_insert_with(|| json!({"version": "2.0"}));
        let before = asset["generator"].as_str().unwrap_or_default();
        let generator = if before.is_empty() || before.starts_with("Sinew") {
            "Sinew".to_owned()
        } else {
            format!("Sinew, from {before}")
        };
        set(asset, "generator", json!(generator));
        draft.take_in_pictures(source);
        Ok(draft)
    }

    fn take_in_pictures(&mut self, source: &SourceDocument) {
        let place = UriBase {
            folder: source.folder.clone(),
        };
        for index in 0..self.list("images").len() {
            let uri = self.list("images")[index]["uri"]
                .as_str()
                .filter(|uri| !uri.starts_with("data:"))
                .map(str::to_owned);
            // A missing image keeps its reference.
            let Some(Ok(bytes)) = uri.map(|uri| place.fetch(&uri)) else {
                continue;
            };
            let Some(kind) = picture_kind(&bytes) else {
                continue;
            };
            let view = self.view(&bytes, ViewUse::Other);
            let image = &mut self.list_mut("images")[index];
            remove(image, "uri");
            set(image, "bufferView", json!(view));
            set(image, "mimeType", json!(kind));
        }
    }

    /// A list of the root object; empty if absent.
    pub(super) fn list(&self, name: &str) -> &[Value] {
        self.tree
            .get(name)
            .and_then(Value::as_array)
            .map_or(&[], Vec::as_slice)
    }

    /// A list of the root object, created if absent.
    pub(super) fn list_mut(&mut self, name: &str) -> &mut Vec<Value> {
        let entry = self.tree.entry(name).or_insert_with(|| json!([]));
        if !entry.is_array() {
            *entry = json!([]);
        }
        match entry {
            Value::Array(list) => list,
            // Ensured above.
            _ => unreachable!("\"{name}\" was made a list"),
        }
    }

    /// Appends an object to a list of the root and returns its index.
    pub(super) fn push(&mut self, list: &str, object: Value) -> usize {
        let list = self.list_mut(list);
        list.push(object);
        list.len() - 1
    }

    /// Appends a view of these bytes.
    pub(super) fn view(&mut self, bytes: &[u8], used: ViewUse) -> usize {
        self.bytes.resize(self.bytes.len().next_multiple_of(4), 0);
        let mut view = json!({"buffer": self.own_buffer(), "byteOffset": self.bytes.len(), "byteLength": bytes.len()});
        match used {
            ViewUse::Attribute => view["target"] = json!(34962),
            ViewUse::Corners => view["target"] = json!(34963),
            ViewUse::Other => {}
        }
        self.bytes.extend_from_slice(bytes);
        self.push("bufferViews", view)
    }

    /// Appends a view of a range of the spooled frame file: vertex attributes of 12 bytes each, or
    /// untyped bytes.
    pub(super) fn spooled_view(&mut self, offset: u64, length: u64, used: ViewUse) -> usize {
        let mut view =
            json!({"buffer": self.own_buffer() + 1, "byteOffset": offset, "byteLength": length});
        if used == ViewUse::Attribute {
            view["byteStride"] = json!(12);
            view["target"] = json!(34962);
        }
        self.push("bufferViews", view)
    }

    /// The numbers of an accessor, if they are tightly packed `f32` without sparse entries.
    pub(super) fn plain_floats(&self, accessor: usize, numbers: usize) -> Option<Vec<f32>> {
        let accessor = self.list("accessors").get(accessor)?;
        if accessor["componentType"].as_u64() != Some(5126) || !accessor["sparse"].is_null() {
            return None;
        }
        let view = self
            .list("bufferViews")
            .get(accessor["bufferView"].as_u64()? as usize)?;
        if view["byteStride"]
            .as_u64()
            .is_some_and(|stride| stride as usize != numbers * 4)
            || !view["extensions"].is_null()
        {
            return None;
        }
        let buffer = view["buffer"].as_u64()? as usize;
        let stored = if buffer == self.own_buffer() {
            &self.bytes
        } else {
            self.source.as_ref()?.buffers.get(buffer)?.as_ref()?
        };
        let offset = view["byteOffset"]
            .as_u64()
            .unwrap_or(0)
            .checked_add(accessor["byteOffset"].as_u64().unwrap_or(0))?;
        let length = accessor["count"]
            .as_u64()?
            .checked_mul(numbers as u64 * 4)?;
        let bytes = stored.get(offset as usize..offset.checked_add(length)? as usize)?;
        Some(
            bytes
                .chunks_exact(4)
                .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
                .collect(),
        )
    }

    /// Placeholder buffers for the bytes that the draft adds.
    fn own_buffer(&self) -> usize {
        self.source
            .as_ref()
            .map_or(0, |source| source.buffers.len())
    }
}

/// Sets a member of an object.
pub(super) fn set(object: &mut Value, key: &str, value: Value) {
    if let Some(object) = object.as_object_mut() {
        object.insert(key.to_owned(), value);
    }
}

/// Takes a member out of an object.
pub(super) fn remove(object: &mut Value, key: &str) -> Option<Value> {
    object.as_object_mut()?.remove(key)
}

/// By the first bytes: a wrong file extension must not lead to a wrong `mimeType`.
fn picture_kind(bytes: &[u8]) -> Option<&'static str> {
    match bytes {
        [0x89, b'P', b'N', b'G', ..] => Some("image/png"),
        [0xFF, 0xD8, 0xFF, ..] => Some("image/jpeg"),
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => Some("image/webp"),
        [0xAB, b'K', b'T', b'X', ..] => Some("image/ktx2"),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
