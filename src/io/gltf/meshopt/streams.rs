//! The bitstreams of appendix A; decoders return `None` if the data is damaged.

/// Reads bytes from the front.
struct ByteReader<'a>(&'a [u8]);

impl<'a> ByteReader<'a> {
    fn take(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(taken)
    }

    fn byte(&mut self) -> Option<u8> {
        self.take(1).map(|b| b[0])
    }

    /// Seven bits per byte, lowest first; at most five bytes.
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

/// Appendix A, mode 0: blocks of elements; each byte position of the elements is coded separately,
/// in groups of 16 zigzag differences.
pub(super) fn attributes(data: &[u8], count: usize, stride: usize) -> Option<Vec<u8>> {
    let (&0xa0, body) = data.split_first()? else {
        return None;
    };
    // The base values of the first differences are at the very end.
    let tail = stride.max(32);
    let (body, tail) = body.split_at_checked(body.len().checked_sub(tail)?)?;
    let mut last = tail[tail.len() - stride..].to_vec();
    // A group of 16 takes at least a quarter of a byte for each byte of the element.
    if count.div_ceil(16).checked_mul(stride)? > body.len().checked_mul(4)? {
        return None;
    }
    let block = ((8192 / stride) & !15).min(256);
    let mut reader = ByteReader(body);
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

/// Sixteen numbers of 0, 2, 4 or 8 bits, high bits first; for 2 and 4 bits the largest value marks
/// a number in a following byte.
fn group_of_16(reader: &mut ByteReader<'_>, width: u8) -> Option<[u8; 16]> {
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
struct RecentRing {
    edges: [[u32; 2]; 16],
    edge: usize,
    vertices: [u32; 16],
    vertex: usize,
}

impl RecentRing {
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

/// Appendix A, mode 1: one code per triangle, most of which continue a recent edge.
pub(super) fn triangles(data: &[u8], count: usize) -> Option<Vec<u32>> {
    let (&header, body) = data.split_first()?;
    let most_recent = match header {
        0xe0 => 15,
        0xe1 => 13,
        _ => return None,
    };
    let (codes, rest) = body.split_at_checked(count / 3)?;
    let (rest, table) = rest.split_at_checked(rest.len().checked_sub(16)?)?;
    let mut reader = ByteReader(rest);
    let mut recent = RecentRing {
        edges: [[u32::MAX; 2]; 16],
        vertices: [u32::MAX; 16],
        ..RecentRing::default()
    };
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
                    // 13 and 14 mean one before and one after.
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
            // The corner codes: from the table, or in the data.
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
            // All corners are looked up before any is stored.
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
pub(super) fn indices(data: &[u8], count: usize) -> Option<Vec<u32>> {
    let (0xd0 | 0xd1, body) = data.split_first()? else {
        return None;
    };
    let (body, _tail) = body.split_at_checked(body.len().checked_sub(4)?)?;
    if count > body.len() {
        return None;
    }
    let mut reader = ByteReader(body);
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
