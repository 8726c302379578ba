//! The composed field of a bound character, for those who show it: everything that is needed to evaluate it in any pose.

use std::sync::Arc;

use super::composed::{Field, PosedFields};
use super::field::PartField;
use super::fold::Fold;
use super::model::Model;
use super::motions::Motions;
use super::operators::Tables;
use super::slice::{FieldPlane, FieldSlice, Sampled};
use super::tree::Tree;
use crate::math::Affine;
use crate::progress::{Cancelled, Progress};

/// The composed field of implicit skinning. Shared with the method, and never changed: other operators make another one.
pub struct BodyField {
    fields: Arc<[PartField]>,
    folds: Arc<[Fold]>,
    tree: Arc<Tree>,
    tables: &'static Tables,
    motions: Motions,
}

impl BodyField {
    pub(super) fn of(model: &Model, motions: &Motions) -> Self {
        Self {
            fields: model.fields.clone(),
            folds: model.folds.clone(),
            tree: model.tree.clone(),
            tables: model.tables,
            motions: motions.clone(),
        }
    }

    /// The field in a plane through a pose. `world_from_joint`: every joint of the skeleton. Takes tens of milliseconds on one thread.
    ///
    /// # Errors
    /// [`Cancelled`] if the progress is cancelled.
    pub fn slice(
        &self,
        world_from_joint: &[Affine],
        plane: &FieldPlane,
        progress: &Progress,
    ) -> Result<FieldSlice, Cancelled> {
        if world_from_joint.len() != self.motions.now_from_bind.len() {
            return Ok(FieldSlice::default());
        }
        let (motions, posed) = self.posed(world_from_joint);
        let field = Field {
            fields: &self.fields,
            tree: &self.tree,
            tables: self.tables,
            posed: &posed,
        };
        let sampled = Sampled::of(&field, &motions, plane, progress)?;
        Ok(sampled.slice())
    }

    /// The motions of the joints and the fields in a pose.
    fn posed(&self, world_from_joint: &[Affine]) -> (Motions, PosedFields) {
        let mut motions = self.motions.clone();
        motions.follow(world_from_joint);
        let mut posed = PosedFields::new(self.fields.len());
        posed.follow(&self.fields, &self.folds, &motions.now_from_bind);
        (motions, posed)
    }
}

impl std::fmt::Debug for BodyField {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("BodyField")
            .field("parts", &self.fields.len())
            .finish_non_exhaustive()
    }
}
