//! Clips that come from motions of other skeletons, and joints of these motions that the user chooses.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::Character;
use crate::math::Affine;
use crate::progress::Progress;
use crate::rig::edit::{Remap, Rig, clip_on};
use crate::rig::retarget::{JointChoices, JointDriver, Mapping, RetargetError, retarget};
use crate::rig::{Clip, Skeleton};

/// Joints chosen by hand, by the motion's file; files without a choice are not listed.
pub type MotionChoices = BTreeMap<PathBuf, JointChoices>;

/// A motion as read.
#[derive(Debug, Clone, PartialEq)]
pub struct Motion {
    /// Its skeleton.
    pub skeleton: Skeleton,
    /// Its clip, on that skeleton.
    pub clip: Clip,
}

/// A clip retargeted from a motion of another skeleton.
#[derive(Debug, Clone, PartialEq)]
pub struct RetargetedClip {
    /// Index into [`Character::clips`].
    pub clip: usize,
    /// The motion's file.
    pub file: PathBuf,
    /// The motion.
    pub motion: Arc<Motion>,
    /// The mapping without choices, if it was read from a file; otherwise the skeletons are matched.
    pub given: Option<Mapping>,
    /// Joints chosen by hand.
    pub chosen: JointChoices,
    /// The joint mapping, with the choices.
    pub mapping: Mapping,
    /// Ratio of the character's length to that of the motion's skeleton.
    pub scale: f64,
    /// Time of the clip's start in the motion, seconds.
    pub start_secs: f64,
    /// Takes a point of the motion to where it is beside the character.
    pub character_from_motion: Affine,
    /// Whether the motion's first frame was omitted.
    pub first_left_out: bool,
}

/// How a joint of the character got what drives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MatchedBy {
    /// Both joints are the same part of the body.
    Role,
    /// Their names are equal.
    Name,
    /// By a mapping from a file.
    File,
    /// The user chose it.
    Hand,
}

impl RetargetedClip {
    /// Transfers a motion to a skeleton: the description and the clip. The index is that of the next clip.
    ///
    /// # Errors
    /// [`RetargetError`].
    pub fn make(
        (motion, file): (Arc<Motion>, &Path),
        given: Option<Mapping>,
        chosen: JointChoices,
        (target, clip): (&Skeleton, usize),
        progress: &Progress,
    ) -> Result<(Self, Clip), RetargetError> {
        let automatic = automatic_of(given.as_ref(), &motion, target);
        let mapping = automatic.with_choices(target, &chosen);
        let made = retarget(&motion.skeleton, &motion.clip, target, &mapping, progress)?;
        let about = Self {
            clip,
            file: file.to_owned(),
            motion,
            given,
            chosen,
            mapping,
            scale: made.scale,
            start_secs: made.start_secs,
            character_from_motion: made.character_from_motion,
            first_left_out: made.first_left_out,
        };
        Ok((about, made.clip))
    }

    /// The mapping without the user's choices, on the character's skeleton.
    #[must_use]
    pub fn automatic(&self, target: &Skeleton) -> Mapping {
        automatic_of(self.given.as_ref(), &self.motion, target)
    }

    /// The same with other choices, as it will be once the motion is transferred again.
    #[must_use]
    pub fn with_choices(&self, target: &Skeleton, chosen: &JointChoices) -> Self {
        Self {
            mapping: self.automatic(target).with_choices(target, chosen),
            chosen: chosen.clone(),
            ..self.clone()
        }
    }

    /// What drives a joint of the character, and how it was matched; no driver: the user chose that nothing does.
    #[must_use]
    pub fn matched(
        &self,
        target: &Skeleton,
        joint: usize,
    ) -> Option<(MatchedBy, Option<JointDriver<'_>>)> {
        let driver = self.mapping.driver_of(&target.joints().get(joint)?.name);
        if self.chosen.contains_key(&joint) {
            return Some((MatchedBy::Hand, driver));
        }
        let driver = driver?;
        let by = match &self.given {
            Some(_) => MatchedBy::File,
            None if self.mapping.pairs[driver.pair].is_by_name() => MatchedBy::Name,
            None => MatchedBy::Role,
        };
        Some((by, Some(driver)))
    }

    /// The same on another rig.
    fn on(&self, remap: &Remap, old: &Skeleton, new: &Skeleton) -> Self {
        let renamed = |name: &str| {
            let joint = remap.new_from_old(old.find(name)?)?;
            Some(new.joints()[joint].name.clone())
        };
        Self {
            given: self.given.as_ref().map(|given| given.renamed(renamed)),
            chosen: remap.carry(&self.chosen),
            mapping: self.mapping.renamed(renamed),
            ..self.clone()
        }
    }
}

fn automatic_of(given: Option<&Mapping>, motion: &Motion, target: &Skeleton) -> Mapping {
    given
        .cloned()
        .unwrap_or_else(|| Mapping::guess(&motion.skeleton, target))
}

impl Character {
    /// The retargeted clip with this index.
    #[must_use]
    pub fn retarget_of(&self, clip: usize) -> Option<&RetargetedClip> {
        self.retargets.iter().find(|retarget| retarget.clip == clip)
    }

    /// The joints chosen by hand in all motions.
    #[must_use]
    pub fn motion_choices(&self) -> MotionChoices {
        let chosen = self.retargets.iter().filter(|r| !r.chosen.is_empty());
        chosen
            .map(|retarget| (retarget.file.clone(), retarget.chosen.clone()))
            .collect()
    }

    /// Whether the clips follow these choices.
    #[must_use]
    pub fn follows_choices(&self, choices: &MotionChoices) -> bool {
        let none = JointChoices::new();
        let wanted = |file: &PathBuf| choices.get(file).unwrap_or(&none);
        let mut retargets = self.retargets.iter();
        retargets.all(|retarget| retarget.chosen == *wanted(&retarget.file))
    }

    /// The same character with its retargeted clips transferred again, where the joints chosen for them are others.
    ///
    /// # Errors
    /// [`RetargetError`] with the motion's file.
    pub fn with_motion_choices(
        &self,
        choices: &MotionChoices,
        progress: &Progress,
    ) -> Result<Self, (PathBuf, RetargetError)> {
        let mut changed = self.clone();
        let count = self.retargets.len().max(1) as f32;
        for (index, old) in self.retargets.iter().enumerate() {
            let wanted = choices.get(&old.file).cloned().unwrap_or_default();
            if wanted == old.chosen {
                continue;
            }
            let (about, mut clip) = RetargetedClip::make(
                (old.motion.clone(), &old.file),
                old.given.clone(),
                wanted,
                (&self.skeleton, old.clip),
                &progress.part(index as f32 / count, (index + 1) as f32 / count),
            )
            .map_err(|error| (old.file.clone(), error))?;
            clip.name.clone_from(&self.clips[old.clip].name);
            changed.clips[old.clip] = clip;
            changed.retargets[index] = about;
        }
        Ok(changed)
    }

    /// Takes over the retargeted clips of the same character on another rig, as far as other joints were chosen for them since `base`
    /// was read.
    pub(crate) fn carry_retargets(&mut self, from: (&Self, &Rig), base: (&Self, &Rig), rig: &Rig) {
        let (from, from_rig) = from;
        let remap = Remap::between(from_rig, rig);
        let since_base = Remap::between(base.1, from_rig);
        let since = rig.relative_to(from_rig);
        for retarget in &from.retargets {
            let read = base.0.retarget_of(retarget.clip);
            if read.is_some_and(|read| since_base.carry(&read.chosen) != retarget.chosen) {
                let clip = &from.clips[retarget.clip];
                self.clips[retarget.clip] = clip_on(clip, &from.skeleton, &since);
            }
        }
        let carried = from.retargets.iter();
        let carried = carried.map(|r| r.on(&remap, &from.skeleton, &self.skeleton));
        self.retargets = carried.collect();
    }
}
