//! Displacements of the bind pose by morphs, as methods get them.

use crate::math::Vec3;

/// Displacements of the vertices of one source mesh.
#[derive(Debug, Clone, Default)]
pub struct MeshOffsets {
    /// Vertices of the mesh that any morph moves, ascending: always the same for a character.
    pub vertices: Vec<u32>,
    /// Their displacements in mesh space.
    pub in_mesh: Vec<Vec3>,
    /// The same in the world, in the bind pose.
    pub in_bind_pose: Vec<Vec3>,
}

/// Displacements of the source vertices of a character in the bind pose, one entry per mesh.
#[derive(Debug, Clone, Default)]
pub struct MorphOffsets {
    /// By source mesh.
    pub meshes: Vec<MeshOffsets>,
}
