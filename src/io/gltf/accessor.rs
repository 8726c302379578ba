//! Typed reading of accessors: strides, sparse overlays, normalised integers. Every length is checked before anything is allocated.

use std::cell::Cell;

use gltf::json::accessor::{ComponentType, IndexComponentType, sparse::Sparse};
use gltf::json::validation::{Checked, USize64};
use gltf::json::{Accessor, Root, buffer::View};

use super::document::size;
use crate::io::error::{ParseProblem, Parsed, bad};

/// Maximum number of bytes decoded from one file: overlapping accessors must not expand a small
/// file into gigabytes.
const BUDGET: usize = 256 << 20;

/// Reads the accessors of one document.
pub struct Accessors<'a> {
    root: &'a Root,
    buffers: &'a [Option<Vec<u8>>],
    /// Decoded content of compressed views.
    decoded: &'a [Option<Vec<u8>>],
    left: Cell<usize>,
}

/// The component as a real number; `normalized` integers become -1..=1 or 0..=1 (glTF 2.0,
/// 3.6.2.2).
fn real(component: ComponentType, b: &[u8], normalized: bool) -> f32 {
    let (value, largest) = match component {
        ComponentType::F32 => return f32::from_le_bytes([b[0], b[1], b[2], b[3]]),
        ComponentType::U32 => return u32::from_le_bytes([b[0], b[1], b[2], b[3]]) as f32,
        ComponentType::I8 => (f32::from(i8::from_le_bytes([b[0]])), 127.0),
        ComponentType::U8 => (f32::from(b[0]), 255.0),
        ComponentType::I16 => (f32::from(i16::from_le_bytes([b[0], b[1]])), 32767.0),
        ComponentType::U16 => (f32::from(u16::from_le_bytes([b[0], b[1]])), 65535.0),
    };
    if normalized {
        (value / largest).max(-1.0)
    } else {
        value
    }
}

/// The component as an index.
fn unsigned(component: ComponentType, b: &[u8]) -> u32 {
    match component {
        ComponentType::U8 | ComponentType::I8 => u32::from(b[0]),
        ComponentType::U16 | ComponentType::I16 => u32::from(u16::from_le_bytes([b[0], b[1]])),
        ComponentType::U32 => u32::from_le_bytes([b[0], b[1], b[2], b[3]]),
        // Some exporters write joint indices as floats; a saturating cast is well defined.
        ComponentType::F32 => f32::from_le_bytes([b[0], b[1], b[2], b[3]]) as u32,
    }
}

impl<'a> Accessors<'a> {
    pub fn new(
        root: &'a Root,
        buffers: &'a [Option<Vec<u8>>],
        decoded: &'a [Option<Vec<u8>>],
    ) -> Self {
        Self {
            root,
            buffers,
            decoded,
            left: Cell::new(BUDGET),
        }
    }

    /// Elements as real numbers.
    pub(crate) fn reals<const N: usize>(&self, index: usize) -> Parsed<Vec<[f32; N]>> {
        let normalized = self.get(index)?.normalized;
        self.read(index, 0.0, |component, bytes| {
            real(component, bytes, normalized)
        })
    }

    /// Elements as indices.
    pub fn indices<const N: usize>(&self, index: usize) -> Parsed<Vec<[u32; N]>> {
        self.read(index, 0, unsigned)
    }

    /// Number of components of an element; 0 if the accessor is missing or its type unknown.
    pub fn width(&self, index: usize) -> usize {
        self.root.accessors.get(index).map_or(0, width)
    }

    fn get(&self, index: usize) -> Parsed<&'a Accessor> {
        match self.root.accessors.get(index) {
            Some(accessor) => Ok(accessor),
            None => bad(format!(
                "accessor {index} is referenced, but the file has only {}",
                self.root.accessors.len()
            )),
        }
    }

    fn read<T: Copy, const N: usize>(
        &self,
        index: usize,
        zero: T,
        decode: impl Fn(ComponentType, &[u8]) -> T,
    ) -> Parsed<Vec<[T; N]>> {
        let accessor = self.get(index)?;
        let count = size(accessor.count);
        if width(accessor) != N {
            return bad(format!(
                "accessor {index} has {} numbers an element, where {N} are expected",
                width(accessor)
            ));
        }
        let Checked::Valid(component) = accessor.component_type else {
            return bad(format!("accessor {index} has an unknown component type"));
        };
        let component = component.0;
        let element = component.size() * N;
        let source = match accessor.buffer_view {
            Some(view) => {
                let offset = accessor.byte_offset.unwrap_or_default();
                Some(self.slice(
                    view.value(),
                    offset,
                    element,
                    count,
                    &format!("accessor {index}"),
                )?)
            }
            None => None,
        };
        self.reserve(count, std::mem::size_of::<[T; N]>(), index)?;
        let decode_at = |bytes: &[u8], at: usize| -> [T; N] {
            std::array::from_fn(|c| {
                decode(
                    component,
                    &bytes[at + c * component.size()..at + (c + 1) * component.size()],
                )
            })
        };
        let mut out = match source {
            Some((bytes, stride)) => (0..count).map(|i| decode_at(bytes, i * stride)).collect(),
            None => vec![[zero; N]; count],
        };
        if let Some(Sparse {
            count: changed,
            indices,
            values,
            ..
        }) = &accessor.sparse
        {
            let what = format!("the sparse part of accessor {index}");
            let changed = size(*changed);
            let Checked::Valid(IndexComponentType(place_type)) = indices.component_type else {
                return bad(format!("the indices of {what} are not unsigned integers"));
            };
            let place_size = place_type.size();
            let (places, place_stride) = self.slice(
                indices.buffer_view.value(),
                indices.byte_offset,
                place_size,
                changed,
                &what,
            )?;
            let (values, value_stride) = self.slice(
                values.buffer_view.value(),
                values.byte_offset,
                element,
                changed,
                &what,
            )?;
            for i in 0..changed {
                let place = unsigned(
                    place_type,
                    &places[i * place_stride..i * place_stride + place_size],
                ) as usize;
                match out.get_mut(place) {
                    Some(target) => *target = decode_at(values, i * value_stride),
                    None => return bad(format!("{what} refers to element {place} of {count}")),
                }
            }
        }
        Ok(out)
    }

    /// Bytes of `count` elements from an offset in a view, and their stride; bounds are checked.
    fn slice(
        &self,
        view_index: usize,
        offset: USize64,
        element: usize,
        count: usize,
        what: &str,
    ) -> Parsed<(&'a [u8], usize)> {
        let Some(view) = self.root.buffer_views.get(view_index) else {
            return bad(format!("{what} refers to a missing buffer view"));
        };
        let stride = view.byte_stride.map_or(element, |stride| stride.0).max(1);
        let bytes = self
            .view_bytes(view_index)
            .map_err(|problem| ParseProblem::new(format!("{what}: {problem}")))?;
        // The last element needs only its own bytes, not a whole stride.
        let needed = count.checked_sub(1).map_or(Some(0), |last| {
            last.checked_mul(stride)?.checked_add(element)
        });
        let from_offset = bytes.get(size(offset)..).unwrap_or(&[]);
        match needed {
            Some(needed) if needed <= from_offset.len() => Ok((from_offset, stride)),
            _ => bad(format!(
                "{what} declares {count} elements, but its data ends after {} bytes",
                from_offset.len()
            )),
        }
    }

    fn reserve(&self, count: usize, size: usize, index: usize) -> Parsed<()> {
        match count
            .checked_mul(size)
            .and_then(|bytes| self.left.get().checked_sub(bytes))
        {
            Some(left) => {
                self.left.set(left);
                Ok(())
            }
            None => bad(format!(
                "accessor {index} declares {count} elements, more than the maximum for a character"
            )),
        }
    }

    /// The bytes of a buffer view.
    pub(crate) fn view_bytes(&self, view: usize) -> Parsed<&'a [u8]> {
        let Some(stored) = self.root.buffer_views.get(view) else {
            return bad(format!("buffer view {view} is missing"));
        };
        if let Some(Some(decoded)) = self.decoded.get(view) {
            return Ok(decoded);
        }
        let Some(Some(buffer)) = self.buffers.get(stored.buffer.value()) else {
            return bad(format!(
                "buffer view {view} lies in buffer {}, which has no data",
                stored.buffer
            ));
        };
        match view_range(stored).and_then(|range| buffer.get(range)) {
            Some(bytes) => Ok(bytes),
            None => bad(format!("buffer view {view} exceeds its buffer")),
        }
    }
}

fn view_range(view: &View) -> Option<std::ops::Range<usize>> {
    let start = size(view.byte_offset.unwrap_or_default());
    Some(start..start.checked_add(size(view.byte_length))?)
}

fn width(accessor: &Accessor) -> usize {
    match &accessor.type_ {
        Checked::Valid(shape) => shape.multiplicity(),
        Checked::Invalid => 0,
    }
}
