//! Structs that the passes over contacts read, as in `shaders/collision/`.

use bytemuck::{Pod, Zeroable};

use crate::gpu::StructLayout;
use crate::gpu::layout::layout;

/// Rows per workgroup, also in groups that are counted together.
pub(super) const ROWS: usize = 64;
/// Patches per group and workgroup.
pub(super) const PATCHES: usize = 16;
/// Largest number of hits of a vertex in one half of the bones that are looked at.
pub(super) const MOST_HITS: usize = 16;
/// Largest number of contacts of a vertex.
pub(super) const MOST_PER_VERTEX: usize = 3;
/// Rows per workgroup of the push.
pub(super) const PUSHED_ROWS: usize = 32;
/// Wedges per workgroup of the search.
pub(super) const WEDGES: usize = 8;
/// Words of a triangle and of a row in the tables.
pub(super) const TRIANGLE_WORDS: usize = 16;
pub(super) const ROW_WORDS: usize = 12;
/// Marks what is absent.
pub(super) const NONE: u32 = u32::MAX;

#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Pod, Zeroable)]
pub(super) struct CollisionDims {
    pub rows: u32,
    pub triangles: u32,
    pub patches: u32,
    pub patch_groups: u32,
    pub row_groups: u32,
    pub triangles_at: u32,
    pub rows_at: u32,
    pub fans_at: u32,
    pub excluded_at: u32,
    pub ignored_at: u32,
    pub planes_at: u32,
    pub patches_at: u32,
    pub mean_edge: f32,
    pub tolerance: f32,
    pub unused_a: u32,
    pub unused_b: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Pod, Zeroable)]
pub(super) struct Plane {
    pub normal: [f32; 3],
    pub fraction: f32,
    pub joint: [f32; 3],
    pub reach: f32,
    pub across: [f32; 3],
    pub facing_bias: f32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, Pod, Zeroable)]
pub(super) struct Slot {
    pub weights: [f32; 3],
    pub triangle: u32,
    pub normal: [f32; 3],
    pub load: f32,
    pub gap: f32,
    pub index: u32,
    pub unused_a: u32,
    pub unused_b: u32,
}

/// Foot point, outward direction and normal of a row, each padded.
pub(super) type PosedRow = [[f32; 4]; 3];

impl Slot {
    pub(super) const EMPTY: Self = Self {
        weights: [0.0; 3],
        triangle: NONE,
        normal: [0.0; 3],
        load: 0.0,
        gap: 0.0,
        index: NONE,
        unused_a: 0,
        unused_b: 0,
    };
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Pod, Zeroable)]
pub(super) struct SearchTurn {
    pub searched: u32,
    pub unused_a: u32,
    pub unused_b: u32,
    pub unused_c: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Pod, Zeroable)]
pub(super) struct ColumnDims {
    pub rows: u32,
    pub row_stride: u32,
    pub first: u32,
    pub instances: u32,
}

/// Layouts for the test that compares them with the shaders'.
pub(in crate::gpu) fn struct_layouts() -> Vec<StructLayout> {
    vec![
        layout!(CollisionDims: rows, triangles, patches, patch_groups, row_groups, triangles_at, rows_at, fans_at, excluded_at, ignored_at,
            planes_at, patches_at, mean_edge, tolerance, unused_a, unused_b),
        layout!("PosedPlane", Plane: normal, fraction, joint, reach, across, facing_bias),
        layout!(Slot: weights, triangle, normal, load, gap, index, unused_a, unused_b),
        layout!(SearchTurn: searched, unused_a, unused_b, unused_c),
        layout!(ColumnDims: rows, row_stride, first, instances),
    ]
}
