//! How structs that shaders read lie in memory: for the test that compares Rust with WGSL.

/// A struct, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StructLayout {
    /// Name in the shaders.
    pub name: &'static str,
    /// Of the whole.
    pub size: usize,
    /// Names and offsets, in order.
    pub fields: Vec<(&'static str, usize)>,
}

/// `layout!(Name: field, field)`: of a struct that has the same name in Rust and WGSL.
macro_rules! layout {
    ($type:ident: $($field:ident),+ $(,)?) => {
        $crate::gpu::StructLayout {
            name: stringify!($type),
            size: size_of::<$type>(),
            fields: vec![$((stringify!($field), std::mem::offset_of!($type, $field))),+],
        }
    };
}
pub(crate) use layout;

/// The structs of the compute passes.
#[must_use]
pub fn struct_layouts() -> Vec<StructLayout> {
    super::flesh::solve::layouts()
}
