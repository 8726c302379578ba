//! What every method binds to: one character with everything that is derived from it once.

use std::sync::Arc;

use crate::character::{Attachment, Character};
use crate::mesh::{Bounds, SimMesh};
use crate::progress::{Cancelled, Progress};
use crate::weights::SkinWeights;

/// A character with its simulation mesh, weights and tissue. Immutable and shared.
#[derive(Debug, Clone)]
pub struct Subject {
    /// The character as read.
    pub character: Arc<Character>,
    /// The welded skin.
    pub sim: Arc<SimMesh>,
    /// For every source mesh the weights it gets where the file has none.
    pub fallback_weights: Arc<[Option<SkinWeights>]>,
    /// Diagonal of the bind pose's bounding box, in world units.
    pub size: f32,
}

/// Why a method can't be bound to a subject.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum BindError {
    /// The work was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
    /// There is no triangle to skin.
    #[error("the character has no triangles, so there is nothing to skin")]
    NoTriangles,
}

impl Subject {
    /// Derives all that the methods share.
    ///
    /// # Errors
    /// [`BindError`].
    pub fn build(character: Arc<Character>, progress: &Progress) -> Result<Self, BindError> {
        progress.report(0.0, "Welding");
        let positions = character.bind_positions();
        let triangles = character.triangles();
        if triangles.is_empty() {
            return Err(BindError::NoTriangles);
        }
        let is_skin: Vec<bool> = character.meshes.iter().flat_map(|m| std::iter::repeat_n(m.is_skin(), m.positions.len())).collect();
        let sim = SimMesh::weld(&positions, &triangles, &is_skin);
        progress.check()?;
        let size = Bounds::of(&positions).size();
        let fallback_weights = character.meshes.iter().map(|m| match m.attachment {
            Attachment::Unweighted | Attachment::Skinned { .. } | Attachment::Rigid { .. } | Attachment::Static { .. } => None,
        });
        Ok(Self { fallback_weights: fallback_weights.collect(), sim: Arc::new(sim), size, character })
    }
}
