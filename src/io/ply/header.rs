//! The header of a PLY: its elements and their properties.

use crate::io::error::{Parsed, bad};

/// A number's type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PlyScalar {
    I8,
    U8,
    I16,
    U16,
    I32,
    U32,
    F32,
    F64,
}

/// Encoding of the body.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Text,
    Little,
    Big,
}

/// One number, or a list preceded by its length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PropertyKind {
    One(PlyScalar),
    List { length: PlyScalar, item: PlyScalar },
}

/// A property of an element.
#[derive(Debug)]
pub(super) struct Property {
    pub name: String,
    pub shape: PropertyKind,
}

/// A kind of element and its count.
#[derive(Debug)]
pub(super) struct PlyElement {
    pub name: String,
    pub count: u64,
    pub properties: Vec<Property>,
}

/// Everything before the body.
#[derive(Debug)]
pub(super) struct Header {
    pub encoding: Encoding,
    pub elements: Vec<PlyElement>,
    /// An image named by a comment, as `MeshLab` writes it.
    pub texture: Option<String>,
    /// Byte offset of the body.
    pub body: usize,
}

/// Maximum length of a header, bytes.
const LONGEST: usize = 1 << 20;

/// Maximum length of a quoted line: enough to find it.
fn abridged(line: &str) -> String {
    line.trim().chars().take(60).collect()
}

impl PlyScalar {
    fn named(name: &str) -> Option<Self> {
        Some(match name {
            "char" | "int8" => Self::I8,
            "uchar" | "uint8" => Self::U8,
            "short" | "int16" => Self::I16,
            "ushort" | "uint16" => Self::U16,
            "int" | "int32" => Self::I32,
            "uint" | "uint32" => Self::U32,
            "float" | "float32" => Self::F32,
            "double" | "float64" => Self::F64,
            _ => return None,
        })
    }

    /// Size in a binary body, bytes.
    pub(super) fn size(self) -> usize {
        match self {
            Self::I8 | Self::U8 => 1,
            Self::I16 | Self::U16 => 2,
            Self::I32 | Self::U32 | Self::F32 => 4,
            Self::F64 => 8,
        }
    }
}

impl PlyElement {
    /// Minimum size of one instance in the body, bytes.
    pub(super) fn least_size(&self, encoding: Encoding) -> usize {
        let least = |property: &Property| match (encoding, property.shape) {
            (Encoding::Text, _) => 2,
            (_, PropertyKind::One(scalar) | PropertyKind::List { length: scalar, .. }) => {
                scalar.size()
            }
        };
        self.properties.iter().map(least).sum()
    }
}

impl Header {
    /// Reads up to and including the line `end_header`.
    pub(super) fn parse(bytes: &[u8]) -> Parsed<Self> {
        let bytes = &bytes[..bytes.len().min(LONGEST)];
        if !bytes.starts_with(b"ply") || !bytes.get(3).is_none_or(u8::is_ascii_whitespace) {
            return bad("a PLY file starts with the line \"ply\", this one doesn't");
        }
        // All lines end as the first does: the body of a binary file may begin with a line-end
        // byte.
        let first = bytes
            .iter()
            .position(|b| matches!(b, b'\n' | b'\r'))
            .unwrap_or(bytes.len());
        let end: &[u8] = match bytes[first..] {
            [b'\r', b'\n', ..] => b"\r\n",
            [b'\r', ..] => b"\r",
            _ => b"\n",
        };
        let mut header = Self {
            encoding: Encoding::Text,
            elements: Vec::new(),
            texture: None,
            body: 0,
        };
        let mut has_format = false;
        let mut at = (first + end.len()).min(bytes.len());
        while at < bytes.len() {
            let rest = &bytes[at..];
            let length = rest
                .windows(end.len())
                .position(|w| w == end)
                .unwrap_or(rest.len());
            let line = String::from_utf8_lossy(&rest[..length]).into_owned();
            at = (at + length + end.len()).min(bytes.len());
            let words: Vec<&str> = line.split_whitespace().collect();
            match words.as_slice() {
                ["end_header"] if !has_format => {
                    return bad(
                        "the header doesn't say its format; \"format ascii 1.0\" or another is expected",
                    );
                }
                ["end_header"] => {
                    header.body = at;
                    return Ok(header);
                }
                ["format", encoding, ..] => {
                    header.encoding = match *encoding {
                        "ascii" => Encoding::Text,
                        "binary_little_endian" => Encoding::Little,
                        "binary_big_endian" => Encoding::Big,
                        other => return bad(format!("\"{other}\" is not a PLY format")),
                    };
                    has_format = true;
                }
                ["comment", "TextureFile", ..] => {
                    header.texture = line
                        .split_once("TextureFile")
                        .map(|(_, name)| name.trim().to_owned());
                }
                ["element", name, count] => header.element(name, count)?,
                ["property", shape @ .., name] => header.property(shape, name, &line)?,
                [] | ["comment" | "obj_info", ..] => {}
                _ => {
                    return bad(format!(
                        "the header has an invalid line: \"{}\"",
                        abridged(&line)
                    ));
                }
            }
        }
        bad("the header has no end: a line \"end_header\" is expected")
    }

    fn element(&mut self, name: &str, count: &str) -> Parsed<()> {
        let Ok(count) = count.parse() else {
            return bad(format!(
                "the number of elements \"{name}\" is \"{count}\", which is not a number"
            ));
        };
        if self.elements.iter().any(|element| element.name == name) {
            return bad(format!("the header declares the element \"{name}\" twice"));
        }
        self.elements.push(PlyElement {
            name: name.to_owned(),
            count,
            properties: Vec::new(),
        });
        Ok(())
    }

    fn property(&mut self, shape: &[&str], name: &str, line: &str) -> Parsed<()> {
        let shape = match *shape {
            [scalar] => PlyScalar::named(scalar).map(PropertyKind::One),
            ["list", length, item] => PlyScalar::named(length)
                .zip(PlyScalar::named(item))
                .map(|(length, item)| PropertyKind::List { length, item }),
            _ => None,
        };
        let (Some(shape), Some(element)) = (shape, self.elements.last_mut()) else {
            return bad(format!(
                "the header has an invalid property: \"{}\"",
                abridged(line)
            ));
        };
        element.properties.push(Property {
            name: name.to_owned(),
            shape,
        });
        Ok(())
    }
}
