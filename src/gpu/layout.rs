//! Memory layout of structs that shaders read: the Rust side, for the test that compares it with the shaders'.

/// A struct, in bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StructLayout {
    /// Name in the shaders.
    pub name: &'static str,
    /// Size of the whole struct.
    pub size: usize,
    /// Names and offsets, in order.
    pub fields: Vec<(&'static str, usize)>,
}

/// The layout of a Rust struct by its fields in order: `layout!(Dims: rows, row_stride)`, or `layout!("Dims", Own: rows,
/// row_stride)` if its name in the shaders differs.
macro_rules! layout {
    ($type:ident: $($field:ident),+ $(,)?) => {
        $crate::gpu::layout::layout!(stringify!($type), $type: $($field),+)
    };
    ($name:expr, $type:ty: $($field:ident),+ $(,)?) => {
        $crate::gpu::StructLayout {
            name: $name,
            size: size_of::<$type>(),
            fields: vec![$((stringify!($field), std::mem::offset_of!($type, $field))),+],
        }
    };
}
pub(crate) use layout;

/// The structs of all compute passes.
#[must_use]
pub fn struct_layouts() -> Vec<StructLayout> {
    let mut layouts = super::flesh::struct_layouts();
    layouts.extend(super::flesh::solve::layouts());
    layouts.extend(super::collision::struct_layouts());
    layouts.extend(super::surface::struct_layouts());
    layouts
}
