//! Weights of a subject, and the guide of the flesh by these weights.

use std::sync::{Arc, PoisonError, Weak};

use super::Subject;
use crate::character::SourceMesh;
use crate::progress::{Cancelled, Progress};
use crate::stages::cached;
use crate::stages::source_weights::{on_sources, weights_of_mesh};
use crate::tissue::Guide;
use crate::weights::elastic::{ElasticFields, computed_fields};
use crate::weights::voxel::{RESOLUTION, VoxelOutline};
use crate::weights::{SkinWeights, TransferSource, WeightError, WeightMethod, WeightReport};

impl Subject {
    /// The same character with weights by another method. All other stages are shared.
    #[must_use]
    pub fn with_weights(&self, method: WeightMethod) -> Self {
        Self {
            weight_method: method,
            weights: self.all_weights.by(method),
            weighted: Arc::default(),
            ..self.clone()
        }
    }

    /// As [`Subject::with_weights`], but returns the same subject to all callers while one is in use.
    #[must_use]
    pub fn weighted(self: &Arc<Self>, method: WeightMethod) -> Arc<Self> {
        if method == self.weight_method {
            return self.clone();
        }
        let mut all = self.weighted.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|subject| subject.strong_count() > 0);
        let mut known = all.iter().filter_map(Weak::upgrade);
        if let Some(subject) = known.find(|subject| subject.weight_method == method) {
            return subject;
        }
        let subject = Arc::new(self.with_weights(method));
        all.push(Arc::downgrade(&subject));
        subject
    }

    /// The same character with weights by another method, if these are known: nothing is computed.
    #[must_use]
    pub fn weighted_if_made(self: &Arc<Self>, method: WeightMethod) -> Option<Arc<Self>> {
        let subject = self.weighted(method);
        subject.weight_report().is_some().then_some(subject)
    }

    /// How the weights are computed.
    #[must_use]
    pub fn weight_method(&self) -> WeightMethod {
        self.weight_method
    }

    /// Computes the weights.
    ///
    /// # Errors
    /// [`Cancelled`]; a later call computes them.
    pub fn make_weights(&self, progress: &Progress) -> Result<(), Cancelled> {
        self.weights.of_meshes.get(progress).map(drop)
    }

    /// For every source mesh, the weights that replace those of the file; `None` for a mesh that uses the file's, or has none. Waits
    /// until they are computed.
    #[must_use]
    pub fn mesh_weights(&self) -> &[Option<SkinWeights>] {
        &self.weights.of_meshes.wait_for().of_meshes
    }

    /// What was noticed while the weights were computed; `None` until they are.
    #[must_use]
    pub fn weight_report(&self) -> Option<&WeightReport> {
        self.weights.of_meshes.made().map(|made| &made.report)
    }

    /// The swing and twist fields of all joints (Kavan, Sorkine 2012), from the cache or computed now if they are not known.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn elastic_fields(&self, progress: &Progress) -> Result<Arc<ElasticFields>, Cancelled> {
        let (mesh, skeleton) = (&self.skin.mesh, &self.character.skeleton);
        let memo = self.all_weights.memo();
        let compute = || computed_fields(mesh, skeleton, RESOLUTION, memo, progress);
        let known_or_made =
            || cached::elastic_fields(&self.cache, mesh, skeleton, RESOLUTION, compute);
        memo.get_or_make(RESOLUTION, known_or_made)
            .map_err(|WeightError::Cancelled(cancelled)| cancelled)
    }

    /// Computes the outline of the voxel domain, with the resolution of the weight method.
    ///
    /// # Errors
    /// [`Cancelled`]; a later call computes it.
    pub fn make_voxels(&self, progress: &Progress) -> Result<&VoxelOutline, Cancelled> {
        self.weights.voxels.get(progress)
    }

    /// The outline of the voxel domain, if it has been computed.
    #[must_use]
    pub fn voxels_if_made(&self) -> Option<&VoxelOutline> {
        self.weights.voxels.made()
    }

    /// The weights of a source mesh, the file's or computed ones; `None` if it has none. Waits until they are computed.
    #[must_use]
    pub fn weights_of_mesh(&self, mesh: usize) -> Option<&SkinWeights> {
        weights_of_mesh(&self.character, self.mesh_weights(), mesh)
    }

    /// The file's weights on the welded skin, without influences where it has none; `None` if it has none at all.
    #[must_use]
    pub fn file_weights(&self) -> Option<&SkinWeights> {
        self.stages.file_weights()
    }

    /// The weights of every vertex of the welded skin; by distance where the source meshes have none. Waits until they are computed.
    #[must_use]
    pub fn skin_weights(&self) -> &SkinWeights {
        self.weights.of_skin.wait_for()
    }

    /// The source meshes' weights from weights of the welded skin, one entry per mesh; `None` for meshes that are not skin. Vertices
    /// without a triangle get weights by distance.
    #[must_use]
    pub fn on_meshes(&self, on_skin: &SkinWeights) -> Vec<Option<SkinWeights>> {
        on_sources(&self.character, &self.skin, on_skin, SourceMesh::is_skin)
    }

    /// The skin with the file's weights, for a transfer to other characters; `None` if the file has none.
    #[must_use]
    pub fn transfer_source(&self) -> Option<TransferSource> {
        let source = TransferSource {
            mesh: self.skin.mesh.clone(),
            weights: self.file_weights()?.clone(),
            skeleton: self.character.skeleton.clone(),
        };
        source.is_usable().then_some(source)
    }

    /// The guide of these vertices of the welded skin; `None` if there is no flesh or its base follows the bones. Waits
    /// until flesh and weights are computed.
    #[must_use]
    pub fn guide_of(&self, vertices: &[u32]) -> Option<Guide> {
        let weights = self.skin_weights().of_some(vertices);
        self.guide_by(weights, vertices)
    }

    /// The same with weights of one's own, one row per vertex.
    #[must_use]
    pub fn guide_by(&self, weights: SkinWeights, vertices: &[u32]) -> Option<Guide> {
        let tissue = &self.flesh().ok()?.tissue;
        tissue.bending.as_ref()?;
        let positions = &self.skin.mesh.positions;
        let points: Vec<_> = vertices.iter().map(|&v| positions[v as usize]).collect();
        let guide = Guide::new(weights, &self.character.skeleton);
        Some(guide.with_twists(&tissue.graph, &points))
    }
}
