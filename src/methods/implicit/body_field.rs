//! The composed field of a bound character, for those who show it: everything that is needed to evaluate it in any pose.

use std::sync::Arc;

use super::bend::Bends;
use super::composed::Field;
use super::field::PartField;
use super::fold::Fold;
use super::limbs::Limbs;
use super::meeting::JointMeeting;
use super::model::Model;
use super::motions::Motions;
use super::muscle::Muscles;
use super::operators::{Meets, Operator, Tables};
use super::posed::{BoundFields, PosedFields};
use super::slice::{FieldPlane, FieldSlice, Sampled};
use super::tree::{Tree, most};
use super::twist::Twist;
use crate::character::BoneMap;
use crate::math::Affine;
use crate::progress::{Cancelled, Progress};

/// The composed field of implicit skinning. Shared with the method, and never changed: other operators make another one.
pub struct BodyField {
    pub(super) fields: Arc<[PartField]>,
    folds: Arc<[Fold]>,
    twists: Arc<[Twist]>,
    bends: Arc<Bends>,
    pub(super) limbs: Arc<Limbs>,
    muscles: Arc<Muscles>,
    tree: Arc<Tree>,
    tables: &'static Tables,
    pub(super) motions: Motions,
    /// The operators of joints that do not ask for one.
    usual: Vec<Operator>,
}

impl BodyField {
    pub(super) fn of(model: &Model, motions: &Motions, usual: Vec<Operator>) -> Self {
        Self {
            fields: model.fields.clone(),
            folds: model.folds.clone(),
            twists: model.twists.clone(),
            bends: model.bends.clone(),
            limbs: model.limbs.clone(),
            muscles: model.muscles.clone(),
            tree: model.tree.clone(),
            tables: model.tables,
            motions: motions.clone(),
            usual,
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
            muscles: &self.muscles,
            tree: &self.tree,
            tables: self.tables,
            posed: &posed,
        };
        let sampled = Sampled::of(&field, &motions, plane, progress)?;
        Ok(sampled.slice())
    }

    /// How the part of a joint meets the part that it hangs at, in a pose, with settings of bones that the method may not have yet.
    /// `None` for a joint without a part of its own, or one that hangs at none.
    #[must_use]
    pub fn meeting(
        &self,
        joint: usize,
        bones: &BoneMap,
        world_from_joint: &[Affine],
    ) -> Option<JointMeeting> {
        let is_own = |field: &PartField| field.joint as usize == joint;
        let own = self.fields.iter().position(is_own)?;
        let fold = self.folds.get(own).filter(|fold| **fold != Fold::NONE)?;
        let siblings = self
            .folds
            .iter()
            .filter(|other| other.parent == fold.parent);
        let asked = |joint: usize| -> Option<Meets> {
            let usual = *self.usual.get(joint)?;
            let bone = bones.get(&joint).copied().unwrap_or_default();
            Some(Meets::asked_for(usual, &bone))
        };
        let asked_there: Vec<Meets> = siblings
            .filter_map(|sibling| asked(sibling.joint as usize))
            .collect();
        let (meets, posed) = (most(&asked_there)?, self.posed(world_from_joint).0);
        Some(JointMeeting::new(
            [meets, asked(joint)?],
            fold.bend(&posed.now_from_bind),
            self.tables,
        ))
    }

    /// The motions of the joints and the fields in a pose.
    fn posed(&self, world_from_joint: &[Affine]) -> (Motions, PosedFields) {
        let mut motions = self.motions.clone();
        motions.follow(world_from_joint);
        let mut posed = PosedFields::new(self.fields.len());
        let bound = BoundFields {
            fields: &self.fields,
            folds: &self.folds,
            twists: &self.twists,
            bends: &self.bends,
            muscles: &self.muscles,
        };
        posed.follow(&bound, &motions.now_from_bind, &motions.rotations);
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
