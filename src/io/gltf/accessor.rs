//! Typed reading of accessors: strides, sparse overlays, normalised integers. Every length is checked before anything is allocated.

use std::cell::Cell;

use super::document::{Accessor, Document};
use crate::io::error::{Parsed, bad};

/// Bytes that may be decoded from one file: overlapping accessors must not multiply a small file into a full memory.
const BUDGET: usize = 256 << 20;

/// Reads accessors of one document.
pub struct Accessors<'a> {
    document: &'a Document,
    buffers: &'a [Option<Vec<u8>>],
    left: Cell<usize>,
}

/// Type of one component.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Component {
    I8,
    U8,
    I16,
    U16,
    U32,
    F32,
}

impl Component {
    fn of(code: u32) -> Parsed<Self> {
        Ok(match code {
            5120 => Self::I8,
            5121 => Self::U8,
            5122 => Self::I16,
            5123 => Self::U16,
            5125 => Self::U32,
            5126 => Self::F32,
            other => return bad(format!("component type {other} is not one of glTF's")),
        })
    }

    fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::U32 | Self::F32 => 4,
        }
    }

    /// As a real number; `normalized` integers become -1..=1 or 0..=1 (glTF 2.0, 3.6.2.2).
    fn real(self, b: &[u8], normalized: bool) -> f32 {
        let (value, largest) = match self {
            Self::F32 => return f32::from_le_bytes([b[0], b[1], b[2], b[3]]),
            Self::U32 => return u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as f32,
            Self::I8 => (f32::from(i8::from_le_bytes([b[0]])), 127.0),
            Self::U8 => (f32::from(b[0]), 255.0),
            Self::I16 => (f32::from(i16::from_le_bytes([b[0], b[1]])), 32767.0),
            Self::U16 => (f32::from(u16::from_le_bytes([b[0], b[1]])), 65535.0),
        };
        if normalized { (value / largest).max(-1.0) } else { value }
    }

    /// As an index; `None` for signed and real types.
    fn index(self, b: &[u8]) -> u32 {
        match self {
            Self::U8 | Self::I8 => u32::from(b[0]),
            Self::U16 | Self::I16 => u32::from(u16::from_le_bytes([b[0], b[1]])),
            Self::U32 => u32::from_le_bytes([b[0], b[1], b[2], b[3]]),
            // Some exporters write joint indices as floats; a saturating cast is well defined.
            Self::F32 => f32::from_le_bytes([b[0], b[1], b[2], b[3]]) as u32,
        }
    }
}

fn shape_len(shape: &str) -> usize {
    match shape {
        "SCALAR" => 1,
        "VEC2" => 2,
        "VEC3" => 3,
        "VEC4" | "MAT2" => 4,
        "MAT3" => 9,
        "MAT4" => 16,
        _ => 0,
    }
}

impl<'a> Accessors<'a> {
    pub fn new(document: &'a Document, buffers: &'a [Option<Vec<u8>>]) -> Self {
        Self { document, buffers, left: Cell::new(BUDGET) }
    }

    /// Elements as real numbers.
    pub fn reals<const N: usize>(&self, index: usize) -> Parsed<Vec<[f32; N]>> {
        let normalized = self.get(index)?.normalized;
        self.read(index, 0.0, |component, bytes| component.real(bytes, normalized))
    }

    /// Elements as indices.
    pub fn indices<const N: usize>(&self, index: usize) -> Parsed<Vec<[u32; N]>> {
        self.read(index, 0, Component::index)
    }

    /// How many numbers an element has.
    pub fn width(&self, index: usize) -> usize {
        self.document.accessors.get(index).map_or(0, |a| shape_len(&a.shape))
    }

    fn get(&self, index: usize) -> Parsed<&'a Accessor> {
        match self.document.accessors.get(index) {
            Some(accessor) => Ok(accessor),
            None => bad(format!("accessor {index} is asked for, but there are only {}", self.document.accessors.len())),
        }
    }

    fn read<T: Copy, const N: usize>(&self, index: usize, zero: T, decode: impl Fn(Component, &[u8]) -> T) -> Parsed<Vec<[T; N]>> {
        let accessor = self.get(index)?;
        if shape_len(&accessor.shape) != N {
            return bad(format!("accessor {index} is a {}, where {N} numbers an element are expected", accessor.shape));
        }
        let component = Component::of(accessor.component_type)?;
        let element = component.size() * N;
        let source = match accessor.buffer_view {
            Some(view) => Some(self.slice(view, accessor.byte_offset, element, accessor.count, &format!("accessor {index}"))?),
            None => None,
        };
        self.spend(accessor.count, std::mem::size_of::<[T; N]>(), index)?;
        let decode_at = |bytes: &[u8], at: usize| -> [T; N] {
            std::array::from_fn(|c| decode(component, &bytes[at + c * component.size()..at + (c + 1) * component.size()]))
        };
        let mut out = match source {
            Some((bytes, stride)) => (0..accessor.count).map(|i| decode_at(bytes, i * stride)).collect(),
            None => vec![[zero; N]; accessor.count],
        };
        if let Some(sparse) = &accessor.sparse {
            let what = format!("the sparse part of accessor {index}");
            let index_type = Component::of(sparse.indices.component_type)?;
            let (places, place_stride) =
                self.slice(sparse.indices.buffer_view, sparse.indices.byte_offset, index_type.size(), sparse.count, &what)?;
            let (values, value_stride) = self.slice(sparse.values.buffer_view, sparse.values.byte_offset, element, sparse.count, &what)?;
            for i in 0..sparse.count {
                let place = index_type.index(&places[i * place_stride..i * place_stride + index_type.size()]) as usize;
                match out.get_mut(place) {
                    Some(target) => *target = decode_at(values, i * value_stride),
                    None => return bad(format!("{what} names element {place} of {}", accessor.count)),
                }
            }
        }
        Ok(out)
    }

    /// Bytes of `count` elements from an offset in a view, and their stride; checked to lie inside.
    fn slice(&self, view: usize, offset: usize, element: usize, count: usize, what: &str) -> Parsed<(&'a [u8], usize)> {
        let Some(view) = self.document.buffer_views.get(view) else { return bad(format!("{what} refers to a missing buffer view")) };
        let stride = view.byte_stride.unwrap_or(element).max(1);
        let Some(Some(buffer)) = self.buffers.get(view.buffer) else {
            return bad(format!("{what} lies in buffer {}, which has no data", view.buffer));
        };
        let view_bytes = view.byte_offset.checked_add(view.byte_length).and_then(|end| buffer.get(view.byte_offset..end));
        let Some(bytes) = view_bytes else { return bad(format!("{what} lies in a buffer view that reaches beyond its buffer")) };
        // The last element needs its own bytes only, not a whole stride.
        let needed = count.checked_sub(1).map_or(Some(0), |last| last.checked_mul(stride)?.checked_add(element));
        let from_offset = bytes.get(offset..).unwrap_or(&[]);
        match needed {
            Some(needed) if needed <= from_offset.len() => Ok((from_offset, stride)),
            _ => bad(format!("{what} claims {count} elements, but its data ends after {} bytes", from_offset.len())),
        }
    }

    fn spend(&self, count: usize, size: usize, index: usize) -> Parsed<()> {
        match count.checked_mul(size).and_then(|bytes| self.left.get().checked_sub(bytes)) {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => bad(format!("accessor {index} claims {count} elements: more than a character can have")),
        }
    }

    /// The bytes of a buffer view.
    pub fn view_bytes(&self, view: usize) -> Parsed<&'a [u8]> {
        let Some(length) = self.document.buffer_views.get(view).map(|v| v.byte_length) else {
            return bad(format!("buffer view {view} is missing"));
        };
        self.slice(view, 0, 1, 0, "an image")?;
        let stored = &self.document.buffer_views[view];
        match self.buffers.get(stored.buffer) {
            Some(Some(buffer)) => Ok(&buffer[stored.byte_offset..stored.byte_offset + length]),
            _ => bad(format!("buffer view {view} has no data")),
        }
    }
}
