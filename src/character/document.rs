//! The glTF document from which a character was read.

use std::fmt;
use std::path::PathBuf;

/// A glTF document as read, kept complete so that nothing is lost when the character is written
/// again: materials with all their textures, cameras, lights, extras, unknown extensions.
///
/// It contains the character as in the *file*: data from further files (another skeleton, more
/// clips) is not in it.
#[derive(Clone, PartialEq)]
pub struct SourceDocument {
    /// The JSON, as in the file.
    pub json: Vec<u8>,
    /// The bytes of every buffer; `None` for one without data.
    pub buffers: Vec<Option<Vec<u8>>>,
    /// Folder of the images that the document refers to.
    pub folder: Option<PathBuf>,
    /// Origin of each of the character's meshes.
    pub meshes: Vec<SourcePrimitive>,
    /// The node of every joint of the document's own skeleton.
    pub joint_nodes: Vec<usize>,
    /// Number of clips, from the first, that are in the document.
    pub clips: usize,
    /// Whether the character's skeleton differs from the document's (edited or replaced): skins,
    /// joints and animations of the document are then not used.
    pub rig_replaced: bool,
}

/// One primitive of one node of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourcePrimitive {
    /// Index of the node.
    pub node: usize,
    /// Index of the primitive in the node's mesh.
    pub primitive: usize,
    /// Whether the triangles were reversed because the mesh is mirrored in the world.
    pub turned: bool,
}

impl fmt::Debug for SourceDocument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourceDocument")
            .field("meshes", &self.meshes.len())
            .field("folder", &self.folder)
            .finish_non_exhaustive()
    }
}
