//! Editing the skeleton: the rig of the document, what edits of it do, and the flesh that follows.
//!
//! [`Document::rig`](super::Document::rig) is the skeleton as edited; none means as in the files. The document's subject follows it: a
//! job makes the character on the new rig with new flesh, the old one stays until then. At the moment of the take-over everything that
//! is said of joints by index (poses, settings of bones, the selection) is carried over; none of that is an undo step of its own.
//!
//! While a joint is dragged, flesh that is being made is finished and shown, then that of the latest rig is made; any other edit gives
//! up what is under way. In edit mode the views show the bind pose, which no edit of the skeleton changes.

mod carry;
mod command;
mod follow;
mod quality;
mod recall;
mod still;
mod symmetry;

pub use command::RigCommand;
pub use quality::{RigQuality, Verdict};

use std::path::Path;
use std::sync::Arc;

use super::bake::MATERIALS_LOST;
use super::{Level, Mode, Session};
use crate::rig::edit::{JointId, Mirror, Placer, Remap, Rig, RigEdit, template};
use follow::Following;
use recall::Recall;
use still::Still;
use symmetry::Sides;

/// State of editing that is no part of the document.
#[derive(Default)]
pub(super) struct Rigging {
    mode: Mode,
    selected: Option<JointId>,
    /// Symmetry is on unless this is set.
    one_sided: bool,
    still: Still,
    following: Following,
    recall: Recall,
    sides: Sides,
}

impl Rigging {
    pub(super) fn is_busy(&self) -> bool {
        self.still.is_busy() || self.following.is_busy()
    }

    pub(super) fn views(&self) -> impl Iterator<Item = super::JobView> + '_ {
        self.following.view().into_iter()
    }

    pub(super) fn cancel(&mut self) {
        self.following.cancel();
    }

    pub(super) fn forgive(&mut self) {
        self.following.forgive();
    }
}

impl Session {
    /// What the hand does with the skeleton.
    #[must_use]
    pub fn mode(&self) -> Mode {
        self.rigging.mode
    }

    /// The skeleton as edited; `None` while nothing is open.
    #[must_use]
    pub fn rig(&self) -> Option<&Arc<Rig>> {
        self.document.rig()
    }

    /// The joint selected in edit mode, an index into the rig.
    #[must_use]
    pub fn rig_selected(&self) -> Option<usize> {
        self.rig()?.index_of(self.rigging.selected?)
    }

    /// Whether edits of one side are done on the other, too, where the mesh has two sides.
    #[must_use]
    pub fn edits_both_sides(&self) -> bool {
        !self.rigging.one_sided
    }

    /// The plane between the two sides, of the mesh or of the skeleton; `None` if neither has two that are alike, or until it has been
    /// looked for.
    #[must_use]
    pub fn symmetry_plane(&self) -> Option<&Mirror> {
        self.placer().and(self.rigging.sides.mirror())
    }

    /// The plane that edits are mirrored about; `None` while symmetry is off or impossible.
    #[must_use]
    pub fn edit_mirror(&self) -> Option<&Mirror> {
        self.symmetry_plane().filter(|_| self.edits_both_sides())
    }

    /// What finds the middle of the flesh; ready a moment after edit mode was entered.
    #[must_use]
    pub fn placer(&self) -> Option<&Arc<Placer>> {
        self.rigging.still.placer(self.document.subject.as_ref()?)
    }

    /// Whether the flesh is not yet that of the rig.
    #[must_use]
    pub fn rig_is_pending(&self) -> bool {
        self.document
            .subject
            .as_ref()
            .zip(self.rig())
            .is_some_and(|(subject, rig)| subject.rig != *rig)
    }

    /// The joint of the subject's skeleton that a joint of the rig is; `None` until the flesh has followed.
    #[must_use]
    pub fn subject_joint(&self, joint: usize) -> Option<usize> {
        let id = self.rig()?.joints().get(joint)?.id;
        self.document.subject.as_ref()?.rig.index_of(id)
    }

    pub(super) fn apply_rig(&mut self, command: RigCommand) {
        match command {
            RigCommand::SetMode(mode) => self.set_mode(mode),
            RigCommand::Select(joint) => {
                self.rigging.selected =
                    joint.and_then(|joint| Some(self.rig()?.joints().get(joint)?.id));
            }
            RigCommand::SetSymmetry(on) => self.rigging.one_sided = !on,
            RigCommand::Edit(edit) => self.edit_rig(&edit),
            RigCommand::SetRadius { joint, radius } => self.set_radius(joint, radius),
            RigCommand::SetVirtual { joint, on } => self.set_virtual(joint, on),
            RigCommand::ApplyTemplate { kind, landmarks } => self.apply_template(kind, &landmarks),
            RigCommand::UseFileSkeleton => {
                self.forgive_stages();
                self.note_selection();
                self.document.rig = None;
            }
            RigCommand::Save(path) => self.save_rig(&path),
        }
    }

    fn forgive_stages(&mut self) {
        self.stages.forgive();
        self.rigging.forgive();
    }

    fn set_mode(&mut self, mode: Mode) {
        if mode == self.rigging.mode {
            return;
        }
        self.rigging.mode = mode;
        if mode == Mode::Edit {
            self.channels.active_mut().playback.playing = false;
            let rig = self.document.subject.as_ref().map(|subject| &subject.rig);
            self.rigging.selected = self
                .selected_joint()
                .zip(rig)
                .and_then(|(joint, rig)| Some(rig.joints().get(joint)?.id));
        } else if let Some(joint) = self
            .rig_selected()
            .and_then(|joint| self.subject_joint(joint))
        {
            self.selection.set(Some(joint));
        }
    }

    fn edit_rig(&mut self, edit: &RigEdit) {
        let Some(rig) = self.rig().cloned() else {
            return;
        };
        match rig.edited(edit, self.edit_mirror()) {
            Ok(edited) => {
                self.forgive_stages();
                if !matches!(
                    edit,
                    RigEdit::Move { .. } | RigEdit::Rename { .. } | RigEdit::SetTail { .. }
                ) {
                    self.note_selection();
                    self.rigging.selected = edited.focus.map(|focus| edited.rig.joints()[focus].id);
                }
                self.set_rig(edited.rig);
            }
            Err(error) => self.tell(
                Level::Error,
                format!("{}.", capitalised(&error.to_string())),
            ),
        }
    }

    fn set_rig(&mut self, rig: Rig) {
        if self.rig().is_none_or(|old| **old != rig) {
            self.document.rig = Some(Arc::new(rig));
        }
    }

    /// The joint and its partner, by the subject's indices; a sentence to the user if the flesh doesn't know them yet.
    fn with_partner(&mut self, joint: usize) -> Vec<usize> {
        let Some(rig) = self.rig() else {
            return Vec::new();
        };
        if joint >= rig.len() {
            return Vec::new();
        }
        let partner = self
            .edit_mirror()
            .and_then(|mirror| mirror.partner(rig, joint).joint(joint))
            .filter(|&other| other != joint);
        let known: Vec<usize> = [Some(joint), partner]
            .into_iter()
            .flatten()
            .filter_map(|joint| self.subject_joint(joint))
            .collect();
        if known.is_empty() {
            self.tell(
                Level::Warning,
                "The flesh of this joint is still being made; try again in a moment.",
            );
        }
        known
    }

    fn set_radius(&mut self, joint: usize, radius: Option<f64>) {
        if radius.is_some_and(|radius| !(radius.is_finite() && radius > 0.0)) {
            return;
        }
        for joint in self.with_partner(joint) {
            self.forgive_stages();
            match radius {
                Some(radius) => self.document.flesh.radii.insert(joint, radius),
                None => self.document.flesh.radii.remove(&joint),
            };
        }
    }

    fn set_virtual(&mut self, joint: usize, on: bool) {
        for joint in self.with_partner(joint) {
            let settings = self
                .document
                .flesh
                .bones
                .get(&joint)
                .copied()
                .unwrap_or_default();
            self.set_bone(
                joint,
                crate::character::BoneSettings {
                    is_virtual: on,
                    ..settings
                },
            );
        }
    }

    fn apply_template(&mut self, kind: template::TemplateKind, landmarks: &[crate::math::Point64]) {
        let (Some(rig), Some(placer)) = (self.rig().cloned(), self.placer().cloned()) else {
            return self.tell(
                Level::Warning,
                "The mesh is still being looked at; try again in a moment.",
            );
        };
        match template::fitted(kind, landmarks, &placer, &rig) {
            Ok(fitted) => {
                self.forgive_stages();
                self.note_selection();
                self.rigging.selected = fitted.joints().first().map(|joint| joint.id);
                self.set_rig(fitted);
            }
            Err(error) => self.tell(
                Level::Error,
                format!("{}.", capitalised(&error.to_string())),
            ),
        }
    }

    fn save_rig(&mut self, path: &Path) {
        let Some((subject, rig)) = self.document.subject.as_ref().zip(self.document.rig()) else {
            return;
        };
        let is_skel = path
            .extension()
            .is_some_and(|extension| extension.eq_ignore_ascii_case("skel"));
        let saved = if rig.is_empty() {
            Err("there is no joint yet: place one first".to_owned())
        } else if is_skel {
            let base = subject.base.as_ref().unwrap_or(subject);
            let skeleton = rig
                .to_skeleton(&base.character.skeleton)
                .map_err(|error| error.to_string());
            skeleton.and_then(|skeleton| {
                crate::io::write_skel(path, &skeleton).map_err(|error| error.to_string())
            })
        } else if subject.rig != *rig {
            Err("the flesh is still being made; try again in a moment".to_owned())
        } else {
            super::write_rig(subject, path, crate::io::MOST_INFLUENCES.min(8))
                .map_err(|error| error.to_string())
        };
        let written = format!("The skeleton was written to {}.", path.display());
        match saved {
            Ok(()) if !is_skel && crate::io::loses_materials(&subject.character) => {
                self.tell(Level::Warning, format!("{written} {MATERIALS_LOST}"));
            }
            Ok(()) => self.tell(Level::Info, written),
            Err(why) => self.tell(
                Level::Error,
                format!("The skeleton could not be saved: {why}."),
            ),
        }
    }

    /// Carries the selection of joints over to another rig of the same character.
    fn carry_selection(&mut self, remap: &Remap) {
        let carried: Vec<usize> = self
            .selection
            .joints()
            .iter()
            .filter_map(|&joint| remap.new_from_old(joint))
            .collect();
        self.selection.change(
            &carried,
            super::SelectHow::Replace,
            remap.old_from_new.len(),
        );
    }
}

/// The sentence with a capital letter.
fn capitalised(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests;
