//! Buffer views compressed by `EXT_meshopt_compression`, decoded as its appendices A (bitstreams) and B (filters) describe.
//!
//! Our own decoder, because the crate around the C++ library needs a C++ compiler to build. It reads version 0 of the attribute codec,
//! the only one that the extension has, and checks every read against the data.

use crate::io::error::{Parsed, bad};

/// How a view is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Mode {
    Attributes,
    Triangles,
    Indices,
}

/// What is done to the attributes after decoding.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Filter {
    None,
    Octahedral,
    Quaternion,
    Exponential,
}

/// Elements of `stride` bytes each; `None` if the data is torn.
pub fn decode(data: &[u8], mode: Mode, filter: Filter, count: usize, stride: usize) -> Parsed<Vec<u8>> {
    let strides_fit = match mode {
        Mode::Attributes => stride.is_multiple_of(4) && (4..=256).contains(&stride),
        Mode::Triangles => matches!(stride, 2 | 4) && count.is_multiple_of(3),
        Mode::Indices => matches!(stride, 2 | 4),
    };
    let filter_fits = match filter {
        Filter::None => true,
        Filter::Octahedral => mode == Mode::Attributes && matches!(stride, 4 | 8),
        Filter::Quaternion => mode == Mode::Attributes && stride == 8,
        Filter::Exponential => mode == Mode::Attributes,
    };
    if !strides_fit || !filter_fits {
        return bad(format!("{count} elements of {stride} bytes can't be compressed as they claim to be"));
    }
    let decoded = match mode {
        Mode::Attributes => attributes(data, count, stride),
        Mode::Triangles => triangles(data, count).map(|indices| bytes_of(&indices, stride)),
        Mode::Indices => indices(data, count).map(|indices| bytes_of(&indices, stride)),
    };
    let Some(mut decoded) = decoded else {
        return bad("its compressed data is cut short or of a version that is not known");
    };
    match filter {
        Filter::None => {}
        Filter::Octahedral if stride == 4 => decoded.as_chunks_mut::<4>().0.iter_mut().for_each(octahedral_bytes),
        Filter::Octahedral => decoded.as_chunks_mut::<8>().0.iter_mut().for_each(octahedral_shorts),
        Filter::Quaternion => decoded.as_chunks_mut::<8>().0.iter_mut().for_each(quaternion),
        Filter::Exponential => decoded.as_chunks_mut::<4>().0.iter_mut().for_each(exponential),
    }
    Ok(decoded)
}

fn bytes_of(indices: &[u32], stride: usize) -> Vec<u8> {
    indices.iter().flat_map(|index| index.to_le_bytes().into_iter().take(stride)).collect()
}

/// Takes bytes off the front.
struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|b| b[0])
    }

    /// Seven bits a byte, lowest first; at most five bytes.
    fn variable(&mut self) -> Option<u32> {
        let mut value = 0_u32;
        for shift in [0, 7, 14, 21, 28] {
            let byte = self.byte()?;
            value |= u32::from(byte & 127).checked_shl(shift).unwrap_or(0);
            if byte < 128 {
                break;
            }
        }
        Some(value)
    }

    /// An index as its difference from another.
    fn index_after(&mut self, last: u32) -> Option<u32> {
        let v = self.variable()?;
        Some(last.wrapping_add((v >> 1) ^ (v & 1).wrapping_neg()))
    }
}

/// Appendix A, mode 0: blocks of elements, each byte of the elements by itself, in groups of 16 zigzag differences.
fn attributes(data: &[u8], count: usize, stride: usize) -> Option<Vec<u8>> {
    let (&0xa0, body) = data.split_first()? else { return None };
    // What the first differences are from stands at the very end.
    let tail = stride.max(32);
    let (body, tail) = body.split_at_checked(body.len().checked_sub(tail)?)?;
    let mut last = tail[tail.len() - stride..].to_vec();
    // A group of 16 takes a quarter of a byte for each byte of the element.
    if count.div_ceil(16).checked_mul(stride)? > body.len().checked_mul(4)? {
        return None;
    }
    let block = ((8192 / stride) & !15).min(256);
    let mut reader = Reader(body);
    let mut out = vec![0_u8; count.checked_mul(stride)?];
    for part in out.chunks_mut(block * stride) {
        let elements = part.len() / stride;
        for byte in 0..stride {
            let groups = elements.div_ceil(16);
            let widths = reader.take(groups.div_ceil(4))?;
            for group in 0..groups {
                let width = widths[group / 4] >> (group % 4 * 2) & 3;
                let deltas = group_of_16(&mut reader, width)?;
                for (i, delta) in deltas.iter().enumerate().take(elements - group * 16) {
                    let difference = (delta >> 1) ^ (delta & 1).wrapping_neg();
                    last[byte] = last[byte].wrapping_add(difference);
                    part[(group * 16 + i) * stride + byte] = last[byte];
                }
            }
        }
    }
    reader.0.is_empty().then_some(out)
}

/// Sixteen numbers of 0, 2, 4 or 8 bits, high bits first; of 2 and 4 bits the largest stands for a byte that follows.
fn group_of_16(reader: &mut Reader<'_>, width: u8) -> Option<[u8; 16]> {
    let mut out = [0_u8; 16];
    let bits = match width {
        0 => return Some(out),
        1 => 2,
        2 => 4,
        _ => {
            out.copy_from_slice(reader.take(16)?);
            return Some(out);
        }
    };
    let packed = reader.take(2 * bits)?;
    let mask = (1_u8 << bits) - 1;
    for (i, value) in out.iter_mut().enumerate() {
        let per_byte = 8 / bits;
        let shift = 8 - bits * (i % per_byte + 1);
        *value = packed[i / per_byte] >> shift & mask;
        if *value == mask {
            *value = reader.byte()?;
        }
    }
    Some(out)
}

/// The last sixteen edges and vertices.
#[derive(Default)]
struct Recent {
    edges: [[u32; 2]; 16],
    edge: usize,
    vertices: [u32; 16],
    vertex: usize,
}

impl Recent {
    fn edge(&self, back: usize) -> [u32; 2] {
        self.edges[self.edge.wrapping_sub(1 + back) & 15]
    }

    fn vertex(&self, back: usize) -> u32 {
        self.vertices[self.vertex.wrapping_sub(back) & 15]
    }

    fn push_edge(&mut self, a: u32, b: u32) {
        self.edges[self.edge & 15] = [a, b];
        self.edge += 1;
    }

    fn push_vertex(&mut self, v: u32) {
        self.vertices[self.vertex & 15] = v;
        self.vertex += 1;
    }
}

/// Appendix A, mode 1: a code a triangle, most of which continue a recent edge.
fn triangles(data: &[u8], count: usize) -> Option<Vec<u32>> {
    let (&header, body) = data.split_first()?;
    let most_recent = match header {
        0xe0 => 15,
        0xe1 => 13,
        _ => return None,
    };
    let (codes, rest) = body.split_at_checked(count / 3)?;
    let (rest, table) = rest.split_at_checked(rest.len().checked_sub(16)?)?;
    let mut reader = Reader(rest);
    let mut recent = Recent { edges: [[u32::MAX; 2]; 16], vertices: [u32::MAX; 16], ..Recent::default() };
    let (mut next, mut last) = (0_u32, 0_u32);
    let mut out = Vec::with_capacity(count);
    for &code in codes {
        let triangle = if code < 0xf0 {
            let [a, b] = recent.edge(usize::from(code >> 4));
            let third = code & 15;
            let c = if third == 0 {
                next = next.wrapping_add(1);
                next.wrapping_sub(1)
            } else if third < most_recent {
                recent.vertex(usize::from(third) + 1)
            } else {
                last = match third {
                    15 => reader.index_after(last)?,
                    // 13 and 14 are one before and one after.
                    13 => last.wrapping_sub(1),
                    _ => last.wrapping_add(1),
                };
                last
            };
            if third == 0 || third >= most_recent {
                recent.push_vertex(c);
            }
            recent.push_edge(c, b);
            recent.push_edge(a, c);
            [a, b, c]
        } else {
            // The corners' codes: of the table, or in the data.
            let (first, others) = match code {
                0xfe => (0, reader.byte()?),
                0xff => (15, reader.byte()?),
                _ => (0, table[usize::from(code & 15)]),
            };
            if code >= 0xfe && others == 0 {
                next = 0;
            }
            let mut corners = [0_u32; 3];
            let codes = [first, others >> 4, others & 15];
            // All corners are looked up before any is remembered.
            for (corner, code) in corners.iter_mut().zip(codes) {
                *corner = match code {
                    0 => {
                        next = next.wrapping_add(1);
                        next.wrapping_sub(1)
                    }
                    15 => 0,
                    back => recent.vertex(usize::from(back)),
                };
            }
            for (corner, code) in corners.iter_mut().zip(codes) {
                if code == 15 {
                    last = reader.index_after(last)?;
                    *corner = last;
                }
            }
            for (corner, code) in corners.iter().zip(codes) {
                if code == 0 || code == 15 {
                    recent.push_vertex(*corner);
                }
            }
            let [a, b, c] = corners;
            recent.push_edge(b, a);
            recent.push_edge(c, b);
            recent.push_edge(a, c);
            corners
        };
        out.extend(triangle);
    }
    reader.0.is_empty().then_some(out)
}

/// Appendix A, mode 2: differences from one of two running indices.
fn indices(data: &[u8], count: usize) -> Option<Vec<u32>> {
    let (0xd0 | 0xd1, body) = data.split_first()? else { return None };
    let (body, _tail) = body.split_at_checked(body.len().checked_sub(4)?)?;
    if count > body.len() {
        return None;
    }
    let mut reader = Reader(body);
    let mut last = [0_u32; 2];
    let mut out = Vec::with_capacity(count);
    for _ in 0..count {
        let v = reader.variable()?;
        let (which, v) = ((v & 1) as usize, v >> 1);
        last[which] = last[which].wrapping_add((v >> 1) ^ (v & 1).wrapping_neg());
        out.push(last[which]);
    }
    reader.0.is_empty().then_some(out)
}

/// A direction from its two octahedral coordinates; the third number is what stands for one.
fn direction([x, y, one]: [f32; 3], largest: f32) -> [f32; 3] {
    let z = one - x.abs() - y.abs();
    let fold = z.min(0.0);
    let x = if x >= 0.0 { x + fold } else { x - fold };
    let y = if y >= 0.0 { y + fold } else { y - fold };
    let length = (x * x + y * y + z * z).sqrt();
    [x, y, z].map(|c| if length > 0.0 { (c * (largest / length)).round() } else { 0.0 })
}

fn octahedral_bytes(element: &mut [u8; 4]) {
    let [x, y, one, _] = element.map(|b| f32::from(b.cast_signed()));
    let unit = direction([x, y, one], 127.0);
    for (byte, c) in element.iter_mut().zip(unit) {
        *byte = (c as i8).cast_unsigned();
    }
}

fn shorts(element: [u8; 8]) -> [i16; 4] {
    std::array::from_fn(|i| i16::from_le_bytes([element[2 * i], element[2 * i + 1]]))
}

fn set_short(element: &mut [u8; 8], at: usize, value: f32) {
    element[2 * at..2 * at + 2].copy_from_slice(&(value as i16).to_le_bytes());
}

fn octahedral_shorts(element: &mut [u8; 8]) {
    let [x, y, one, _] = shorts(*element).map(f32::from);
    let unit = direction([x, y, one], 32767.0);
    unit.iter().enumerate().for_each(|(i, c)| set_short(element, i, *c));
}

/// Three smaller components; the fourth number holds which is missing (two lowest bits) and what stands for one.
fn quaternion(element: &mut [u8; 8]) {
    let [x, y, z, w] = shorts(*element);
    let scale = std::f32::consts::FRAC_1_SQRT_2 / f32::from(w | 3);
    let three = [x, y, z].map(|c| f32::from(c) * scale);
    let largest = (1.0 - three.iter().map(|c| c * c).sum::<f32>()).max(0.0).sqrt();
    let missing = (w & 3) as usize;
    set_short(element, missing, (largest * 32767.0).round());
    for (i, c) in three.iter().enumerate() {
        set_short(element, (missing + 1 + i) & 3, (c * 32767.0).round());
    }
}

/// 24 bits of mantissa and 8 of exponent → `f32`.
fn exponential(element: &mut [u8; 4]) {
    let v = i32::from_le_bytes(*element);
    let (exponent, mantissa) = (v >> 24, (v << 8) >> 8);
    *element = (mantissa as f32 * 2.0_f32.powi(exponent)).to_le_bytes();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Written by meshoptimizer: 18 elements of 4 bytes, codec version 0.
    const ATTRIBUTES: [u8; 88] = [
        160, 5, 42, 170, 170, 170, 160, 0, 0, 0, 7, 0, 2, 6, 10, 14, 18, 22, 26, 30, 34, 38, 42, 46, 50, 54, 58, 240, 0, 0, 0, 62, 66, 5,
        21, 85, 85, 85, 80, 0, 0, 0, 6, 8, 0, 7, 128, 0, 120, 0, 7, 192, 0, 0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
        0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 200, 255,
    ];
    /// Five triangles.
    const TRIANGLES: [u8; 30] =
        [225, 240, 16, 254, 255, 31, 240, 12, 255, 2, 2, 2, 174, 62, 0, 118, 135, 86, 103, 120, 169, 134, 101, 137, 104, 152, 1, 105, 0, 0];
    /// Seven indices.
    const INDICES: [u8; 14] = [209, 0, 20, 6, 193, 139, 17, 4, 5, 6, 0, 0, 0, 0];

    fn numbers(bytes: &[u8]) -> Vec<u32> {
        bytes.as_chunks::<4>().0.iter().map(|b| u32::from_le_bytes(*b)).collect()
    }

    #[test]
    fn what_the_library_writes_is_read() {
        let decoded = decode(&ATTRIBUTES, Mode::Attributes, Filter::None, 18, 4).unwrap();
        let expected: Vec<u8> = (0..18_u16).flat_map(|i| [i, i * i, 200 - i, if i % 5 == 0 { 255 } else { 3 }].map(|c| c as u8)).collect();
        assert_eq!(decoded, expected);
        let decoded = numbers(&decode(&TRIANGLES, Mode::Triangles, Filter::None, 15, 4).unwrap());
        let turned = |t: &[u32]| [[t[0], t[1], t[2]], [t[1], t[2], t[0]], [t[2], t[0], t[1]]];
        for (found, expected) in decoded.chunks(3).zip([[0, 1, 2], [2, 1, 3], [4, 6, 5], [7, 8, 9], [9, 8, 4000]]) {
            assert!(turned(found).contains(&expected), "{found:?} should be {expected:?}");
        }
        assert_eq!(numbers(&decode(&INDICES, Mode::Indices, Filter::None, 7, 4).unwrap()), [0, 5, 3, 70000, 4, 70001, 2]);
    }

    #[test]
    fn filters_unfold() {
        let mut element = [127_u8, 73, 127, 0];
        octahedral_bytes(&mut element);
        assert_eq!(element.map(u8::cast_signed), [76, 0, -102, 0]);
        let mut element = [0; 8];
        [-289.0, -2026.0, -289.0, 2045.0].iter().enumerate().for_each(|(i, c)| set_short(&mut element, i, *c));
        quaternion(&mut element);
        for (found, expected) in shorts(element).into_iter().zip([-3271, 22943, -3271, -22932]) {
            assert!((found - expected).abs() <= 1, "{found} should be {expected}");
        }
        let mut element = (0xFE00_0003_u32).to_le_bytes();
        exponential(&mut element);
        assert_eq!(f32::from_le_bytes(element), 0.75);
    }

    #[test]
    fn torn_data_is_refused() {
        for (data, mode, count) in
            [(&ATTRIBUTES[..], Mode::Attributes, 18), (&TRIANGLES, Mode::Triangles, 15), (&INDICES, Mode::Indices, 7)]
        {
            for end in 0..data.len() {
                assert!(decode(&data[..end], mode, Filter::None, count, 4).is_err(), "{mode:?} {end}");
            }
            for count in [0, 3, count + 48, 3_000_000_000] {
                assert!(decode(data, mode, Filter::None, count, 4).is_err(), "{mode:?} {count}");
            }
        }
        assert!(decode(&ATTRIBUTES, Mode::Attributes, Filter::None, 24, 3).is_err());
        assert!(decode(&ATTRIBUTES, Mode::Attributes, Filter::Quaternion, 18, 4).is_err());
    }
}
