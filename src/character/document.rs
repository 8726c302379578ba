//! The document that a character was read from.

use std::fmt;
use std::path::PathBuf;

/// A glTF document as read, kept whole so that nothing of it is lost when the character is written again: materials with all their
/// textures, cameras, lights, extras, extensions that Sinew knows nothing of.
///
/// It is of the character as the *file* has it: what comes from further files (another skeleton, more clips) is not in it.
#[derive(Clone, PartialEq)]
pub struct SourceDocument {
    /// The JSON, as in the file.
    pub json: Vec<u8>,
    /// The bytes of every buffer; `None` for one without data.
    pub buffers: Vec<Option<Vec<u8>>>,
    /// Where pictures that the document names by file are.
    pub folder: Option<PathBuf>,
    /// Where each of the character's meshes comes from.
    pub meshes: Vec<SourcePrimitive>,
    /// The node of every joint of the document's own skeleton.
    pub joint_nodes: Vec<usize>,
    /// How many of the character's clips, from the first, are the document's own.
    pub clips: usize,
    /// The character has another skeleton than the document, which was edited or replaced: skins, joints and animations of the
    /// document are of no use.
    pub rig_replaced: bool,
}

/// One primitive of one node of a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SourcePrimitive {
    /// Index of the node.
    pub node: usize,
    /// Index of the primitive in the node's mesh.
    pub primitive: usize,
    /// The triangles were turned because the mesh stands mirrored in the world.
    pub turned: bool,
}

impl fmt::Debug for SourceDocument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SourceDocument").field("meshes", &self.meshes.len()).field("folder", &self.folder).finish_non_exhaustive()
    }
}
