//! Editing the skeleton: the rig of the document, edits of it, and rebuilding the flesh.
//!
//! [`Document::rig`] is the edited skeleton; `None` means as in the files. The document's subject follows it: a
//! job makes the character on the new rig with new flesh; until then the old one is shown. When it is ready, all
//! data by joint index (poses, settings of bones, the selection) is transferred; none of that is an undo step.
//!
//! While a joint is dragged, a running job is finished and shown, then the latest rig is made; any other edit
//! cancels the running job. In edit mode the views show the bind pose, which no edit of the skeleton changes.

mod bind_pose;
mod carry;
mod command;
mod follow;
mod quality;
mod selection_history;
mod symmetry;
mod view;

pub use command::RigCommand;
pub(super) use follow::enter_rig;
pub use quality::{RigQuality, RigRating};
pub use view::RigView;

use std::path::Path;
use std::sync::Arc;

use super::bake::MATERIALS_LOST;
use super::editing::{EditContext, Editor};
use super::message::Messages;
use super::{Document, JobView, Level, Mode, SelectHow, Selection, Snapshot, Waker};
use crate::character::BoneSettings;
use crate::math::Point64;
use crate::rig::edit::{JointId, Remap, Rig, RigEdit, template};
use crate::weights::WeightMethod;
use bind_pose::BindPoseCache;
use follow::Following;
use selection_history::SelectionHistory;
use symmetry::Sides;

/// State of the rig editor that is not part of the document.
#[derive(Default)]
pub struct Rigging {
    mode: Mode,
    selected: Option<JointId>,
    /// Whether symmetric editing is off.
    one_sided: bool,
    bind_pose: BindPoseCache,
    following: Following,
    selection_history: SelectionHistory,
    sides: Sides,
}

impl Rigging {
    /// Whether the character is being made on a changed skeleton.
    pub(super) fn is_following(&self) -> bool {
        self.following.is_busy()
    }

    pub(super) fn is_busy(&self) -> bool {
        self.bind_pose.is_busy() || self.following.is_busy()
    }

    /// The running job.
    pub(super) fn list(&self) -> impl Iterator<Item = JobView> + '_ {
        self.following.view().into_iter()
    }

    pub(super) fn cancel(&mut self) {
        self.following.cancel();
    }

    pub(super) fn allow_retry(&mut self) {
        self.following.allow_retry();
    }
}

/// What an edit of the skeleton invalidates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Invalidated {
    /// The flesh has to be made again; failed work is retried.
    pub(super) flesh: bool,
    /// Settings of bones.
    pub(super) bones: bool,
}

impl Invalidated {
    const FLESH: Self = Self {
        flesh: true,
        bones: false,
    };
}

impl Rigging {
    /// Read-only access.
    pub(super) fn view<'a>(&'a self, document: &'a Document) -> RigView<'a> {
        RigView {
            rigging: self,
            document,
        }
    }

    /// Applies a command of this area.
    pub(super) fn apply(
        &mut self,
        command: RigCommand,
        editor: &mut Editor,
        with: &mut EditContext<'_>,
    ) -> Invalidated {
        let edited = match command {
            RigCommand::SetMode(mode) => {
                self.set_mode(mode, editor, with);
                Invalidated::default()
            }
            RigCommand::Select(joint) => {
                let rig = editor.document.rig();
                self.selected = joint.and_then(|joint| Some(rig?.joints().get(joint)?.id));
                Invalidated::default()
            }
            RigCommand::SetSymmetry(on) => {
                self.one_sided = !on;
                Invalidated::default()
            }
            RigCommand::Edit(edit) => self.edit(&edit, &mut editor.document, with),
            RigCommand::SetRadius { joint, radius } => {
                self.set_radius(joint, radius, &mut editor.document, with)
            }
            RigCommand::SetVirtual { joint, on } => self.set_virtual(joint, on, editor, with),
            RigCommand::ApplyTemplate { kind, landmarks } => {
                self.apply_template(kind, &landmarks, &mut editor.document, with)
            }
            RigCommand::UseFileSkeleton => {
                self.note_selection(&editor.document);
                editor.document.rig = None;
                Invalidated::FLESH
            }
            RigCommand::Save(path) => {
                save(&editor.document, &path, with);
                Invalidated::default()
            }
        };
        if edited.flesh {
            self.allow_retry();
        }
        edited
    }

    /// The bind pose, shown in edit mode. `None` in pose mode, or until it is ready.
    pub(super) fn bind_pose(&self, document: &Document) -> Option<Arc<Snapshot>> {
        let subject = document.subject.as_ref()?;
        (self.mode == Mode::Edit)
            .then(|| self.bind_pose.snapshot(subject))
            .flatten()
    }

    /// Computes the mesh data of edit mode. The bind pose gets the weights by `weights` once they are ready. Returns whether something has become ready.
    pub(super) fn follow_mesh(
        &mut self,
        document: &Document,
        dragging: bool,
        weights: Option<WeightMethod>,
        messages: &mut Messages,
        waker: Option<&Waker>,
    ) -> bool {
        let mut changed = false;
        if let (Mode::Edit, Some(subject)) = (self.mode, document.subject.clone()) {
            match self.bind_pose.follow(subject, weights, waker) {
                Ok(ready) => changed = ready,
                Err(error) => messages.push(
                    Level::Error,
                    format!("No thread could be started to analyse the mesh: {error}."),
                ),
            }
        }
        let view = self.view(document);
        if let (Some(placer), Some(rig)) = (view.placer().cloned(), view.rig().cloned()) {
            changed |= self.sides.follow(&placer, &rig, dragging);
        }
        changed
    }

    fn set_mode(&mut self, mode: Mode, editor: &mut Editor, with: &mut EditContext<'_>) {
        if mode == self.mode {
            return;
        }
        self.mode = mode;
        if mode == Mode::Edit {
            with.channels.active_mut().playback.playing = false;
            let rig = editor.document.subject.as_ref().map(|subject| &subject.rig);
            self.selected = editor
                .selection
                .active()
                .zip(rig)
                .and_then(|(joint, rig)| Some(rig.joints().get(joint)?.id));
        } else {
            let view = self.view(&editor.document);
            let joint = view.selected().and_then(|joint| view.subject_joint(joint));
            if joint.is_some() {
                editor.selection.set(joint);
            }
        }
    }

    fn edit(
        &mut self,
        edit: &RigEdit,
        document: &mut Document,
        with: &mut EditContext<'_>,
    ) -> Invalidated {
        let Some(rig) = document.rig().cloned() else {
            return Invalidated::default();
        };
        match rig.edited(edit, self.view(document).mirror()) {
            Ok(edited) => {
                if !matches!(
                    edit,
                    RigEdit::Move { .. } | RigEdit::Rename { .. } | RigEdit::SetTail { .. }
                ) {
                    self.note_selection(document);
                    self.selected = edited.focus.map(|focus| edited.rig.joints()[focus].id);
                }
                set_rig(document, edited.rig);
                Invalidated::FLESH
            }
            Err(error) => {
                with.add_message(
                    Level::Error,
                    format!("{}.", capitalised(&error.to_string())),
                );
                Invalidated::default()
            }
        }
    }

    /// The joint and its partner, by the subject's indices; if the subject does not have them yet, a message to the user.
    fn with_partner(
        &self,
        joint: usize,
        document: &Document,
        with: &mut EditContext<'_>,
    ) -> Vec<usize> {
        let view = self.view(document);
        let Some(rig) = view.rig().filter(|rig| joint < rig.len()) else {
            return Vec::new();
        };
        let partner = view
            .mirror()
            .and_then(|mirror| mirror.partner(rig, joint).joint(joint))
            .filter(|&other| other != joint);
        let known: Vec<usize> = [Some(joint), partner]
            .into_iter()
            .flatten()
            .filter_map(|joint| view.subject_joint(joint))
            .collect();
        if known.is_empty() {
            with.add_message(
                Level::Warning,
                "The flesh of this joint is still being made; try again in a moment.",
            );
        }
        known
    }

    fn set_radius(
        &self,
        joint: usize,
        radius: Option<f64>,
        document: &mut Document,
        with: &mut EditContext<'_>,
    ) -> Invalidated {
        let mut edited = Invalidated::default();
        if radius.is_some_and(|radius| !(radius.is_finite() && radius > 0.0)) {
            return edited;
        }
        for joint in self.with_partner(joint, document, with) {
            edited.flesh = true;
            match radius {
                Some(radius) => document.flesh.radii.insert(joint, radius),
                None => document.flesh.radii.remove(&joint),
            };
        }
        edited
    }

    fn set_virtual(
        &self,
        joint: usize,
        on: bool,
        editor: &mut Editor,
        with: &mut EditContext<'_>,
    ) -> Invalidated {
        let mut edited = Invalidated::default();
        for joint in self.with_partner(joint, &editor.document, with) {
            let bones = &editor.document.flesh.bones;
            let settings = BoneSettings {
                is_virtual: on,
                ..bones.get(&joint).copied().unwrap_or_default()
            };
            if editor.set_bone(joint, settings) {
                (edited.flesh, edited.bones) = (true, true);
            }
        }
        edited
    }

    fn apply_template(
        &mut self,
        kind: template::TemplateKind,
        landmarks: &[Point64],
        document: &mut Document,
        with: &mut EditContext<'_>,
    ) -> Invalidated {
        let view = self.view(document);
        let (Some(rig), Some(placer)) = (view.rig().cloned(), view.placer().cloned()) else {
            with.add_message(
                Level::Warning,
                "The mesh is still being analysed; try again in a moment.",
            );
            return Invalidated::default();
        };
        match template::fitted(kind, landmarks, &placer, &rig) {
            Ok(fitted) => {
                self.note_selection(document);
                self.selected = fitted.joints().first().map(|joint| joint.id);
                set_rig(document, fitted);
                Invalidated::FLESH
            }
            Err(error) => {
                with.add_message(
                    Level::Error,
                    format!("{}.", capitalised(&error.to_string())),
                );
                Invalidated::default()
            }
        }
    }
}

fn set_rig(document: &mut Document, rig: Rig) {
    if document.rig().is_none_or(|old| **old != rig) {
        document.rig = Some(Arc::new(rig));
    }
}

/// Writes the skeleton to a file and reports it.
fn save(document: &Document, path: &Path, with: &mut EditContext<'_>) {
    let Some((subject, rig)) = document.subject.as_ref().zip(document.rig()) else {
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
        super::write_rig(subject, path, crate::io::MOST_INFLUENCES.min(8), true)
            .map(|_| ())
            .map_err(|error| error.to_string())
    };
    let written = format!("The skeleton was written to {}.", path.display());
    match saved {
        Ok(()) if !is_skel && crate::io::loses_materials(&subject.character) => {
            with.add_message(Level::Warning, format!("{written} {MATERIALS_LOST}"));
        }
        Ok(()) => with.add_message(Level::Info, written),
        Err(why) => with.add_message(
            Level::Error,
            format!("The skeleton could not be saved: {why}."),
        ),
    }
}

/// Transfers the selection of joints to another rig of the same character.
fn carry_selection(selection: &mut Selection, remap: &Remap) {
    let carried: Vec<usize> = selection
        .joints()
        .iter()
        .filter_map(|&joint| remap.new_from_old(joint))
        .collect();
    selection.change(&carried, SelectHow::Replace, remap.old_from_new.len());
}

/// The sentence with a capital first letter.
fn capitalised(sentence: &str) -> String {
    let mut letters = sentence.chars();
    letters
        .next()
        .map(|first| first.to_uppercase().chain(letters).collect())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests;
