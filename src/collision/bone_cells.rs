//! The wedges of a bone, and the slices into which space along the bone is divided.

use crate::math::{Point, Vec3, Vec64};
use crate::mesh::TriMesh;
use crate::tissue::Tissue;

/// The wedges of a bone: those whose first corner (by index) has its foot point on the bone.
#[derive(Debug, Clone)]
pub(super) struct BoneCells {
    pub(super) triangles: Vec<u32>,
    /// All vertices of the triangles, sorted, without duplicates.
    pub(super) closure: Vec<u32>,
    /// Per triangle, its corners as indices into `closure`.
    pub(super) corners: Vec<[u32; 3]>,
    /// Bind pose: start of the bone; unit vectors along it and in two perpendicular directions.
    pub(super) origin: Point,
    pub(super) axes: [Vec3; 3],
    /// Coordinate along the bone where the first slice begins (world units), and number of slices per world unit.
    pub(super) first: f32,
    pub(super) per_slice: f32,
    pub(super) slices: usize,
}

/// Largest number of slices along a bone; a slice is about one mean edge long. Sets of slices are stored as 64 bits.
const MAX_SLICES: usize = 64;

pub(super) fn bone_cells(
    mesh: &TriMesh,
    tissue: &Tissue,
    sorted_corners: &[[u32; 3]],
    mean_edge: f32,
) -> Vec<BoneCells> {
    let mut bones: Vec<BoneCells> = (0..tissue.graph.bones.len())
        .map(|bone| BoneCells::of_bone(tissue, bone))
        .collect();
    for (triangle, corners) in sorted_corners.iter().enumerate() {
        let bone = &mut bones[tissue.foot_bones[corners[0] as usize] as usize];
        bone.triangles.push(triangle as u32);
        bone.closure.extend(corners);
    }
    for bone in &mut bones {
        bone.closure.sort_unstable();
        bone.closure.dedup();
        let index = |v: u32| bone.closure.partition_point(|&own| own < v) as u32;
        bone.corners = bone
            .triangles
            .iter()
            .map(|&t| sorted_corners[t as usize].map(index))
            .collect();
        let along = |v: &u32| bone.axes[0].dot(&(mesh.positions[*v as usize] - bone.origin));
        let first = bone.closure.iter().map(along).fold(f32::INFINITY, f32::min);
        let last = bone
            .closure
            .iter()
            .map(along)
            .fold(f32::NEG_INFINITY, f32::max);
        if last > first && mean_edge > 0.0 {
            bone.slices = ((last - first) / mean_edge)
                .ceil()
                .clamp(1.0, MAX_SLICES as f32) as usize;
            (bone.first, bone.per_slice) = (first, bone.slices as f32 / (last - first));
        }
    }
    bones
}

impl BoneCells {
    fn of_bone(tissue: &Tissue, bone: usize) -> Self {
        let [a, b] = tissue.graph.segment(bone);
        let along = (b - a).try_normalize(1e-30).unwrap_or_else(Vec64::y);
        let helper = if along.x.abs() < 0.7 {
            Vec64::x()
        } else {
            Vec64::y()
        };
        let u = along.cross(&helper).normalize();
        let axes = [along, u, along.cross(&u)].map(nalgebra::Matrix::cast::<f32>);
        let (triangles, closure, corners) = (Vec::new(), Vec::new(), Vec::new());
        Self {
            triangles,
            closure,
            corners,
            origin: a.cast::<f32>(),
            axes,
            first: 0.0,
            per_slice: 0.0,
            slices: 1,
        }
    }
}
