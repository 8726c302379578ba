//! A finished file: the header, the JSON text and the binary pieces, written in one pass.

use std::collections::HashMap;
use std::io;
use std::io::{Read, Seek, SeekFrom, Write};
use std::sync::Arc;

use serde_json::{Value, json};

use super::{ByteRange, GlbDraft, remove, set};
use crate::character::SourceDocument;
use crate::io::glb_write::{GlbWriteError, sweep};

/// A complete document, ready to be written.
#[derive(Debug)]
pub struct SealedGlb {
    pub(super) text: Vec<u8>,
    source: Option<Arc<SourceDocument>>,
    bytes: Vec<u8>,
    pieces: Vec<ByteRange>,
    binary_length: u64,
}

impl GlbDraft {
    /// Removes unused data and assigns every byte range its offset.
    pub(in crate::io::glb_write) fn seal(mut self) -> Result<SealedGlb, GlbWriteError> {
        sweep::data(&mut self.tree);
        let mut layout = BufferLayout {
            own: self.own_buffer(),
            source: self.source.clone(),
            ..BufferLayout::default()
        };
        for view in self.list_mut("bufferViews") {
            layout.place(view);
            if let Some(compressed) = view.pointer_mut("/extensions/EXT_meshopt_compression") {
                layout.place(compressed);
            }
        }
        self.merge_buffers(&layout);
        let is_list = |value: &Value| value.as_array().is_some_and(Vec::is_empty);
        self.tree.retain(|_, value| !is_list(value));
        let text =
            serde_json::to_vec(&self.tree).map_err(|source| GlbWriteError::Encode { source })?;
        let sealed = SealedGlb {
            text,
            source: self.source,
            bytes: self.bytes,
            pieces: layout.pieces,
            binary_length: layout.end,
        };
        match u32::try_from(sealed.length()) {
            Ok(_) => Ok(sealed),
            Err(_) => Err(GlbWriteError::TooLarge {
                bytes: sealed.length(),
            }),
        }
    }

    /// One buffer with all data, and the buffers without data after it.
    fn merge_buffers(&mut self, layout: &BufferLayout) {
        let old = std::mem::take(self.list_mut("buffers"));
        let mut buffers = Vec::new();
        if layout.end > 0 {
            let mut merged = old
                .first()
                .filter(|_| !layout.without_data.contains(&0))
                .cloned()
                .unwrap_or_else(|| json!({}));
            remove(&mut merged, "uri");
            set(&mut merged, "byteLength", json!(layout.end));
            buffers.push(merged);
        }
        buffers.extend(
            layout
                .without_data
                .iter()
                .filter_map(|&index| old.get(index).cloned()),
        );
        *self.list_mut("buffers") = buffers;
    }
}

/// Maps ranges of the old buffers to the new one.
#[derive(Default)]
struct BufferLayout {
    source: Option<Arc<SourceDocument>>,
    own: usize,
    pieces: Vec<ByteRange>,
    known: HashMap<ByteRange, u64>,
    end: u64,
    /// Buffers without data, which keep their entries, from index 1.
    without_data: Vec<usize>,
}

impl BufferLayout {
    /// Rewrites `buffer` and `byteOffset` of a view.
    pub(super) fn place(&mut self, range: &mut Value) {
        let buffer = range["buffer"].as_u64().unwrap_or(0) as usize;
        let has_data =
            |source: &Arc<SourceDocument>| source.buffers.get(buffer).is_some_and(Option::is_some);
        if buffer < self.own && !self.source.as_ref().is_some_and(has_data) {
            let known = self.without_data.iter().position(|&b| b == buffer);
            let place = known.unwrap_or_else(|| {
                self.without_data.push(buffer);
                self.without_data.len() - 1
            });
            set(range, "buffer", json!(place + 1));
            return;
        }
        let (offset, length) = (
            range["byteOffset"].as_u64().unwrap_or(0),
            range["byteLength"].as_u64().unwrap_or(0),
        );
        let piece = ByteRange {
            buffer,
            offset,
            length,
        };
        let place = *self.known.entry(piece).or_insert_with(|| {
            self.pieces.push(piece);
            let place = self.end;
            self.end = place
                .saturating_add(length)
                .checked_next_multiple_of(4)
                .unwrap_or(u64::MAX);
            place
        });
        set(range, "buffer", json!(0));
        set(range, "byteOffset", json!(place));
    }
}

impl SealedGlb {
    /// Length of the whole file, bytes.
    pub(super) fn length(&self) -> u64 {
        let binary = if self.binary_length == 0 {
            0
        } else {
            self.binary_length.saturating_add(8)
        };
        (12 + 8 + self.text.len().next_multiple_of(4) as u64).saturating_add(binary)
    }

    /// Writes the GLB; `frames` is the file that [`GlbDraft::spooled_view`] refers to.
    ///
    /// # Errors
    /// The errors of the file system.
    pub(in crate::io::glb_write) fn write<F: Read + Seek>(
        &self,
        frames: Option<&mut F>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let word = |n: u64| {
            u32::try_from(n)
                .map(u32::to_le_bytes)
                .map_err(io::Error::other)
        };
        out.write_all(b"glTF\x02\0\0\0")?;
        out.write_all(&word(self.length())?)?;
        let padded = self.text.len().next_multiple_of(4);
        out.write_all(&word(padded as u64)?)?;
        out.write_all(b"JSON")?;
        out.write_all(&self.text)?;
        out.write_all(&b"   "[..padded - self.text.len()])?;
        if self.binary_length == 0 {
            return Ok(());
        }
        out.write_all(&word(self.binary_length)?)?;
        out.write_all(b"BIN\0")?;
        self.write_pieces(frames, out)
    }

    fn write_pieces<F: Read + Seek>(
        &self,
        mut frames: Option<&mut F>,
        out: &mut impl Write,
    ) -> io::Result<()> {
        let own = self
            .source
            .as_ref()
            .map_or(0, |source| source.buffers.len());
        for piece in &self.pieces {
            if piece.buffer > own {
                if let Some(frames) = &mut frames {
                    frames.seek(SeekFrom::Start(piece.offset))?;
                    io::copy(&mut frames.take(piece.length), out)?;
                }
            } else {
                let from = if piece.buffer == own {
                    &self.bytes[..]
                } else {
                    let stored = self
                        .source
                        .as_ref()
                        .and_then(|source| source.buffers[piece.buffer].as_deref());
                    stored.unwrap_or(&[])
                };
                let (start, end) = (
                    piece.offset as usize,
                    piece.offset.saturating_add(piece.length) as usize,
                );
                let range = &from[start.min(from.len())..end.min(from.len())];
                out.write_all(range)?;
                // A view that reaches beyond its buffer is padded with zeros.
                io::copy(
                    &mut io::repeat(0).take(piece.length - range.len() as u64),
                    out,
                )?;
            }
            io::copy(
                &mut io::repeat(0).take(piece.length.next_multiple_of(4) - piece.length),
                out,
            )?;
        }
        Ok(())
    }

    /// The GLB in memory.
    pub(in crate::io::glb_write) fn to_vec(&self) -> io::Result<Vec<u8>> {
        let mut out = Vec::with_capacity(self.length() as usize);
        self.write(None::<&mut io::Empty>, &mut out)?;
        Ok(out)
    }
}
