//! How structs that shaders read lie in memory: Rust's side, for the test that compares it with the shaders'.

use super::flesh;

/// How a struct lies in memory, in bytes.
//! How structs that shaders read lie in memory, for the test that compares them with the shaders.

/// A struct of buffers, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StructLayout {
    /// Name in the shaders.
    pub name: &'static str,
    /// Of the whole.
    pub size: usize,
    /// Names and offsets, in order.
    pub fields: Vec<(&'static str, usize)>,
}

/// The layout of a Rust struct, field by field in order: `layout!("Dims", Dims: rows, row_stride)`.
macro_rules! layout {
    ($name:literal, $type:ty: $($field:ident),+) => {
        $crate::gpu::StructLayout {
            name: $name,
/// The layout of a Rust struct whose fields are named as in the shaders.
macro_rules! struct_layout {
    ($type:ty: $($field:ident),+ $(,)?) => {
            name: stringify!($type),
            size: size_of::<$type>(),
            fields: vec![$((stringify!($field), std::mem::offset_of!($type, $field))),+],
        }
    };
}
pub(super) use layout;

/// The structs of compute passes.
#[must_use]
pub fn struct_layouts() -> Vec<StructLayout> {
    flesh::struct_layouts()
pub(super) use struct_layout;

/// The structs of all compute passes.
    super::surface::struct_layouts()
}
