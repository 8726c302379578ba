//! The controls of a character: names, and weights of poses.

use std::collections::{BTreeMap, HashMap};

use super::{Morph, MorphControl};
use crate::character::Character;
use crate::rig::{Clip, MorphWeights, Pose, PoseError, PoseFile, most_similar};

impl Character {
    /// Number of controls.
    #[must_use]
    pub fn morph_control_count(&self) -> usize {
        self.morphs.len() + self.expressions.len()
    }

    /// The controls, by index: morphs, then expressions.
    pub fn morph_controls(&self) -> impl Iterator<Item = MorphControl<'_>> {
        let morphs = self.morphs.iter().map(|morph| MorphControl {
            name: &morph.name,
            mesh: Some(&morph.mesh),
            rest_weight: morph.rest_weight,
            is_binary: false,
        });
        morphs.chain(self.expressions.iter().map(|expression| MorphControl {
            name: &expression.name,
            mesh: None,
            rest_weight: 0.0,
            is_binary: expression.is_binary,
        }))
    }

    /// The controls that move or turn a vertex, with their indices. Files also have targets without displacements, and expressions that
    /// change only materials.
    pub fn moving_controls(&self) -> impl Iterator<Item = (usize, MorphControl<'_>)> {
        let moves = |morph: &Morph| {
            let mut targets = morph.shapes.iter().flat_map(|shape| &shape.targets);
            targets.any(|target| !target.vertices.is_empty())
        };
        let is_moving = move |index: usize| match index.checked_sub(self.morphs.len()) {
            None => moves(&self.morphs[index]),
            Some(expression) => (self.expressions[expression].binds.iter())
                .any(|&(morph, weight)| weight != 0.0 && moves(&self.morphs[morph])),
        };
        let all = self.morph_controls().enumerate();
        all.filter(move |(index, _)| is_moving(*index))
    }

    /// The controls of a name: the expression, or else all morphs, which may be in several meshes; one of them as `MESH/NAME`.
    ///
    /// # Errors
    /// [`PoseError::UnknownMorph`].
    pub fn find_morphs(&self, name: &str) -> Result<Vec<usize>, PoseError> {
        let of = |wanted: &dyn Fn(&MorphControl<'_>) -> bool| -> Vec<usize> {
            let all = self.morph_controls().enumerate();
            all.filter(|(_, control)| wanted(control))
                .map(|(index, _)| index)
                .collect()
        };
        let found = [
            of(&|control| control.mesh.is_none() && control.name == name),
            of(&|control| control.name == name),
            of(&|control| control.id() == name),
        ];
        let found = found.into_iter().find(|found| !found.is_empty());
        found.ok_or_else(|| PoseError::UnknownMorph {
            name: name.to_owned(),
            nearest: most_similar(name, self.morph_controls().map(|control| control.name)),
        })
    }

    /// The weight of every morph in a pose, with expressions. Allocates nothing if there is room.
    pub fn morph_weights_into(&self, pose: &MorphWeights, weights: &mut Vec<f64>) {
        weights.clear();
        let own = self.morphs.iter().enumerate();
        weights.extend(own.map(|(index, morph)| morph.rest_weight + pose.get(index)));
        for (index, expression) in self.expressions.iter().enumerate() {
            let factor = expression.factor(pose.get(self.morphs.len() + index));
            for &(morph, weight) in &expression.binds {
                weights[morph] += factor * weight;
            }
        }
    }

    /// A pose from a pose file.
    ///
    /// # Errors
    /// [`PoseError`] for unknown names, or invalid numbers.
    pub fn pose_from_file(&self, file: &PoseFile) -> Result<Pose, PoseError> {
        let mut pose = Pose::from_file(file, &self.skeleton)?;
        for (name, weight) in &file.morphs {
            self.set_morph(&mut pose, name, *weight)?;
        }
        Ok(pose)
    }

    /// Sets the weight of the controls of a name.
    ///
    /// # Errors
    /// [`PoseError::UnknownMorph`], [`PoseError::BadMorph`].
    pub fn set_morph(&self, pose: &mut Pose, name: &str, weight: f64) -> Result<(), PoseError> {
        if !weight.is_finite() {
            return Err(PoseError::BadMorph {
                name: name.to_owned(),
            });
        }
        for control in self.find_morphs(name)? {
            let rest = self.rest_weight(control);
            pose.morphs.set(control, weight - rest);
        }
        Ok(())
    }

    /// The weight of a control at rest.
    #[must_use]
    pub fn rest_weight(&self, control: usize) -> f64 {
        (self.morphs.get(control)).map_or(0.0, |morph| morph.rest_weight)
    }

    /// The pose as a pose file.
    #[must_use]
    pub fn pose_to_file(&self, pose: &Pose) -> PoseFile {
        let mut file = pose.to_file(&self.skeleton);
        file.morphs = self.morphs_by_id(&pose.morphs);
        file
    }

    /// The weights that are not at rest, by [`MorphControl::id`].
    #[must_use]
    pub fn morphs_by_id(&self, weights: &MorphWeights) -> BTreeMap<String, f64> {
        let controls = self.morph_controls().enumerate();
        let set = controls.filter(|(index, _)| weights.get(*index) != 0.0);
        set.map(|(index, control)| (control.id(), control.rest_weight + weights.get(index)))
            .collect()
    }

    /// The [`MorphControl::id`] of every control.
    #[must_use]
    pub fn morph_ids(&self) -> Vec<String> {
        self.morph_controls().map(|control| control.id()).collect()
    }

    /// The morphs of a clip of another character, whose controls are `ids`, become those of this one; others are left out. Weights
    /// are relative to rest in both.
    pub(crate) fn take_morphs(&self, clip: &mut Clip, ids: &[String]) {
        let known = self.controls_by_id();
        clip.morphs.retain_mut(|track| {
            let own = ids.get(track.control).and_then(|id| known.get(id));
            own.map(|&control| track.control = control).is_some()
        });
    }

    /// The controls by [`MorphControl::id`].
    #[must_use]
    pub fn controls_by_id(&self) -> HashMap<String, usize> {
        let controls = self.morph_controls().enumerate();
        controls
            .map(|(index, control)| (control.id(), index))
            .collect()
    }
}
