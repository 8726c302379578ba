//! Overlays inside the flesh: bone volumes and the base surface.

use super::overlay::{Overlay, Rgba};
use crate::math::{Point, Vec3};
use crate::tissue::{BaseFrame, BoneGraph};

const VOLUME: Rgba = [236, 224, 196, 255];
const JOINT_VOLUME: Rgba = [222, 190, 140, 255];
const BASE: Rgba = [176, 84, 76, 255];
/// Volumes are drawn slightly thinner, to avoid depth conflicts with the base surface.
const THINNER: f32 = 0.985;

impl Overlay {
    /// Adds the joint spheres and bone capsules of `graph`, in the pose of `frame`.
    pub fn bone_volumes(&mut self, graph: &BoneGraph, frame: &BaseFrame) {
        for (node, centre) in graph.nodes.iter().zip(frame.node_centers()) {
            if node.radius > 0.0 {
                self.sphere(centre, node.radius as f32 * THINNER, JOINT_VOLUME);
            }
        }
        for (bone, [start, end]) in graph.bones.iter().zip(frame.cylinders()) {
            self.capsule(start, end, bone.radius as f32 * THINNER, VOLUME);
        }
    }

    /// Adds the base surface: posed base vertices, their unit normals, and the triangles of the simulation mesh.
    pub fn base_surface(&mut self, base: &[Point], normals: &[Vec3], triangles: &[[u32; 3]]) {
        self.surface(base, normals, triangles, BASE);
    }
}
