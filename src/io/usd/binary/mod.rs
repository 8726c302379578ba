//! Layers as binary "crate" files (`.usdc`), as `crateFile.cpp` of `OpenUSD` defines them.
//!
//! ```text
//! header · values at any place · sections TOKENS STRINGS FIELDS FIELDSETS PATHS SPECS · table of contents
//! ```
//! A spec (of a prim or property) is a path and a set of fields; a field is a token and a [`ValueRep`], which holds a small value itself or
//! says where it is. Sections are compressed ([`coding`]). Versions from 0.4.0 are read, 0.8.0 is written.

mod coding;
mod encode;
mod file;
mod read;
mod values;
mod write;

pub(super) use read::read;
pub(super) use write::{BinaryWriter, align};

/// First bytes of a file.
pub(super) const MAGIC: &[u8] = b"PXR-USDC";

/// Bytes of the header: the above, eight of the version, the place of the table of contents, reserved ones.
pub(super) const HEADER: usize = 88;

/// A value, or the place where it is: bit 63 an array, 62 inside, 61 compressed; then 8 bits for the type and 48 for the rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
struct ValueRep(u64);

impl ValueRep {
    const ARRAY: u64 = 1 << 63;
    const INLINED: u64 = 1 << 62;
    const COMPRESSED: u64 = 1 << 61;

    fn of(kind: Kind, flags: u64, payload: u64) -> Self {
        Self(flags | ((kind as u64) << 48) | (payload & ((1 << 48) - 1)))
    }

    fn is(self, flag: u64) -> bool {
        self.0 & flag != 0
    }

    fn kind(self) -> u8 {
        (self.0 >> 48) as u8
    }

    fn payload(self) -> u64 {
        self.0 & ((1 << 48) - 1)
    }
}

/// Types of values by their number in files; only those that are written have a name here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Bool = 1,
    Int = 3,
    Float = 8,
    Double = 9,
    String = 10,
    Token = 11,
    AssetPath = 12,
    Matrix4d = 15,
    Quatf = 17,
    Vec2f = 20,
    Vec3f = 24,
    Vec3h = 25,
    Vec4f = 28,
    TokenListOp = 32,
    PathListOp = 34,
    TokenVector = 41,
    Specifier = 42,
    Variability = 44,
    TimeSamples = 46,
    DoubleVector = 48,
}

/// Types of specs by their number in files.
mod spec {
    pub(super) const ATTRIBUTE: u32 = 1;
    pub(super) const PRIM: u32 = 6;
    pub(super) const ROOT: u32 = 7;
    pub(super) const RELATIONSHIP: u32 = 8;
}

#[cfg(test)]
mod tests;
