//! Structs that the passes over a surface read, as in `shaders/surface/`.

use bytemuck::{Pod, Zeroable};

use crate::gpu::StructLayout;
use crate::gpu::layout::layout;

/// Kinds of source vertices, as numbered in `sources.wgsl`: the upper three bits of the source word.
pub(super) const BLENDED: u32 = 1 << 29;
pub(super) const SIMULATED: u32 = 2 << 29;
pub(super) const FLESH: u32 = 3 << 29;
pub(super) const DEFORMED: u32 = 4 << 29;
/// Marks a vertex's last influence.
pub(super) const LAST: u32 = 1 << 31;
/// Instead of the first slope of a vertex that no joint moves, as in `slopes.wgsl`.
pub(super) const UNMOVED: u32 = u32::MAX;
/// Kinds of anchors of base points without a slide, as numbered in `base.wgsl`.
pub(super) const RIGID: u32 = u32::MAX;
pub(super) const HELD: u32 = u32::MAX - 1;

#[repr(C)]
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
pub(super) struct SurfaceDims {
    pub count: u32,
    pub vertices: u32,
    pub row_stride: u32,
    pub palette_stride: u32,
    pub frame_stride: u32,
    pub width: u32,
    pub extras: u32,
    pub pad: u32,
    pub origin: [f32; 4],
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
pub(super) struct SourceVertex {
    pub name: u32,
    pub x: f32,
    pub y: f32,
    pub z: f32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
pub(super) struct BoneDeformer {
    pub pivot: [f32; 3],
    pub joint: u32,
    pub axis: [f32; 3],
    pub parent: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
pub(super) struct SurfaceStand {
    pub corner: [u32; 3],
    pub share_b: f32,
    pub local: [f32; 3],
    pub share_c: f32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
pub(super) struct GatheredNormal {
    pub vertex: u32,
    pub begin: u32,
    pub end: u32,
    pub pad: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
pub(super) struct BlendNormal {
    pub rest: [f32; 3],
    pub first: u32,
    pub normal: [f32; 3],
    pub pad0: u32,
    pub tangent: [f32; 3],
    pub pad1: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
pub(super) struct WeightSlope {
    pub name: u32,
    pub weight: f32,
    pub along_u: f32,
    pub along_v: f32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
pub(super) struct EdgeTangents {
    pub up: [f32; 3],
    pub begin: u32,
    pub end: u32,
    pub lift_u: f32,
    pub lift_v: f32,
    pub pad: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
pub(super) struct TangentEdge {
    pub to: u32,
    pub along_u: f32,
    pub along_v: f32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
pub(super) struct ClothControl {
    pub rest: [f32; 3],
    pub vertex: u32,
    pub axis_u: [f32; 3],
    pub patch_begin: u32,
    pub axis_v: [f32; 3],
    pub patch_end: u32,
    pub axis_n: [f32; 3],
    pub pad: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
pub(super) struct ClothTangent {
    pub vertex: u32,
    pub along_u: f32,
    pub along_v: f32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
pub(super) struct StiffCluster {
    pub patch_begin: u32,
    pub patch_end: u32,
    pub begin: u32,
    pub end: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
pub(super) struct StiffPoint {
    pub rest: [f32; 3],
    pub weight: f32,
    pub vertex: u32,
    pub pad0: u32,
    pub pad1: u32,
    pub pad2: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
pub(super) struct StiffVertex {
    pub rest: [f32; 3],
    pub vertex: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
pub(super) struct BaseDims {
    pub points: u32,
    pub base_stride: u32,
    pub frame_stride: u32,
    pub first_frame: u32,
    pub bones: u32,
    pub pad0: u32,
    pub pad1: u32,
    pub pad2: u32,
}

#[repr(C)]
#[derive(Debug, Clone, Copy, Default, Pod, Zeroable)]
pub(super) struct BaseAnchor {
    pub rest: [f32; 3],
    pub bone: u32,
    pub ring: [f32; 3],
    pub alpha: f32,
    pub joint_radius: f32,
    pub bone_radius: f32,
    pub node: u32,
    pub pad: u32,
}

/// All of the above layouts.
pub(in crate::gpu) fn struct_layouts() -> Vec<StructLayout> {
    vec![
        layout!(SurfaceDims: count, vertices, row_stride, palette_stride, frame_stride, width, extras, pad, origin),
        layout!(SourceVertex: name, x, y, z),
        layout!(BoneDeformer: pivot, joint, axis, parent),
        layout!(SurfaceStand: corner, share_b, local, share_c),
        layout!(GatheredNormal: vertex, begin, end, pad),
        layout!(BlendNormal: rest, first, normal, pad0, tangent, pad1),
        layout!(WeightSlope: name, weight, along_u, along_v),
        layout!(EdgeTangents: up, begin, end, lift_u, lift_v, pad),
        layout!(TangentEdge: to, along_u, along_v),
        layout!(ClothControl: rest, vertex, axis_u, patch_begin, axis_v, patch_end, axis_n, pad),
        layout!(ClothTangent: vertex, along_u, along_v),
        layout!(StiffCluster: patch_begin, patch_end, begin, end),
        layout!(StiffPoint: rest, weight, vertex, pad0, pad1, pad2),
        layout!(StiffVertex: rest, vertex),
        layout!(BaseDims: points, base_stride, frame_stride, first_frame, bones, pad0, pad1, pad2),
        layout!(BaseAnchor: rest, bone, ring, alpha, joint_radius, bone_radius, node, pad),
    ]
}
