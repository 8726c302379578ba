//! Takes over the jobs' results: characters, flesh, bound methods. What is shown follows the document,
//! also through undo and redo.

use std::sync::Arc;

use super::history::UndoHistory;
use super::jobs::stages::making::{Opened, Rebuilt};
use super::jobs::stages::opening::Reading;
use super::project::Restored;
use super::rigging::enter_rig;
use super::seen::{Seen, SeenParts};
use super::{
    Document, Gesture, Level, ProjectError, Session, Source, SourceError, UpAxis, ViewCommand,
};
use crate::dynamics::Params;
use crate::io::FileRead;
use crate::methods::{MethodId, Subject};
use crate::rig::limits::LimitMap;
use crate::rig::retarget::{JointRoles, Role, Side};
use crate::rig::{Skeleton, human_limits};

impl Session {
    /// Takes over the jobs' results. Returns whether there was any.
    pub(super) fn take_finished_jobs(&mut self) -> bool {
        let mut changed = self.take_opened();
        changed |= self
            .projects
            .take_saved(&mut self.messages, self.waker.as_ref());
        changed |= self.projects.take_exported(&mut self.messages);
        let wants = self.jobs.stages.wants();
        let shown_weights = wants.weights.then(|| self.views.active().need().weights);
        changed |= self.rigging.follow_mesh(
            &self.editor.document,
            self.editor.history.is_dragging(),
            shown_weights,
            &mut self.messages,
            self.waker.as_ref(),
        );
        self.follow_document() || changed
    }

    /// Updates what is shown from the document: another subject (by undo), another method. Returns whether anything changed.
    fn follow_document(&mut self) -> bool {
        let Some(subject) = self.editor.document.subject.clone() else {
            return false;
        };
        let mut changed = false;
        if !self.jobs.stages.is_of(&subject) {
            self.enter_subject(&subject);
            changed = true;
        }
        let rerigged = self.rigging.follow_rig(
            &subject,
            &mut self.editor,
            self.views.active().need(),
            &mut self.messages,
            self.waker.as_ref(),
        );
        let rebuilt = rerigged.or_else(|| {
            if self.rigging().is_pending() {
                return None;
            }
            self.with_jobs(|jobs, around| {
                let rebuilt = jobs.stages.follow_settings(&subject, around);
                rebuilt.or_else(|| jobs.stages.follow_motions(&subject, around))
            })
        });
        let subject = match rebuilt {
            Some(rebuilt) => {
                // Its views are shown at once: without them a picture would be empty.
                let subject = rebuilt.subject.clone();
                self.take_rebuilt(rebuilt);
                changed = true;
                subject
            }
            None => subject,
        };
        let unfinished = self.rigging().is_unfinished();
        self.with_jobs(|jobs, around| jobs.stages.follow_views(&subject, unfinished, around))
            || changed
    }

    /// Resets view state that depends on the character, and the methods bound to a subject.
    fn enter_subject(&mut self, subject: &Arc<Subject>) {
        let (editor, channels) = (&mut self.editor, &mut self.channels);
        let before = self
            .jobs
            .stages
            .enter_subject(subject, &editor.document, &self.views);
        let is_same = |before: &Arc<Subject>| {
            before.same_character(subject) || before.differs_in_motion_only(subject)
        };
        if let Some(before) = before.filter(is_same) {
            enter_rig(&before, subject, editor, channels);
            editor.enter_skeleton();
            channels.refresh(&editor.document);
            return;
        }
        self.rigging.forget();
        editor.enter_skeleton();
        editor.selection.set(None);
        channels.start_over();
        channels.refresh(&editor.document);
    }

    /// Takes over new flesh. Not an undo step: it belongs to the change that required it.
    fn take_rebuilt(&mut self, rebuilt: Rebuilt) {
        self.editor.document.subject = Some(rebuilt.subject.clone());
        self.enter_subject(&rebuilt.subject);
        let unfinished = self.rigging().is_unfinished();
        self.with_jobs(|jobs, around| {
            jobs.stages
                .take_binding(rebuilt.binding, unfinished, around);
        });
    }

    /// Takes over the result of reading. Returns whether reading has ended.
    fn take_opened(&mut self) -> bool {
        let Some(reading) = self.jobs.stages.take_opened() else {
            return false;
        };
        let opened = match reading {
            Reading::Done(opened) => *opened,
            Reading::Lost => {
                self.add_message(
                    Level::Error,
                    "Reading stopped unexpectedly; the files could not be opened.",
                );
                return true;
            }
        };
        match opened {
            Ok(opened) => self.set_character(opened),
            Err(SourceError::Cancelled(_)) => {}
            Err(SourceError::Project(ProjectError::Sources(missing))) => {
                if let Some((source, answers)) = self.jobs.stages.take_asked() {
                    self.projects.ask_about_sources(source, answers, missing);
                }
            }
            Err(error) => self.add_message(Level::Error, error.to_string()),
        }
        true
    }

    /// A character has been read: it becomes the document's, as one undo step.
    fn set_character(&mut self, opened: Opened) {
        let (before, seen) = (self.editor.document.clone(), self.seen());
        let first = before.subject.is_none();
        if let (Some(clip), false) = (opened.added, first) {
            return self.take_added(before, seen, opened, clip);
        }
        let Opened {
            source,
            subject,
            binding,
            files_read,
            project,
            continues,
            ..
        } = opened;
        self.editor.keying.start_over();
        self.jobs.ranges.start_over();
        self.jobs.board.forget_character();
        self.jobs.worst.forget_character();
        self.jobs.distilling.forget_character();
        self.editor.document = fresh(&before, source, &subject, files_read.into());
        let same_joints = || {
            before
                .skeleton()
                .is_some_and(|skeleton| skeleton.joints() == subject.character.skeleton.joints())
        };
        if let Some(project) = &project {
            self.take_restored(project.restored.clone());
            if let Some(kept) = &project.distilled {
                self.jobs.distilling.restore(kept.clone());
            }
        } else if continues && same_joints() {
            let Document {
                source,
                subject,
                files_read,
                ..
            } = self.editor.document.clone();
            self.editor.document = Document {
                source,
                subject,
                files_read,
                ..before.clone()
            };
        } else {
            // Gravity keeps its strength and points down in the new file's axes.
            let up = before
                .subject
                .as_deref()
                .map_or_else(UpAxis::y, Subject::up_axis);
            let turn = |params: &mut Params| {
                let strength = up.strength_of(params.gravity_m_s2);
                params.gravity_m_s2 = subject.up_axis().gravity_m_s2(strength);
            };
            let document = &mut self.editor.document;
            turn(&mut document.params);
            for variant in document.variants.values_mut() {
                turn(&mut Arc::make_mut(variant).params);
            }
        }
        if !continues || first {
            let document = &mut self.editor.document;
            if let Some(file) = self.projects.enter(document, project, &mut self.messages) {
                self.recoveries.adopt(&file);
            }
        }
        self.enter_subject(&subject);
        let parts = SeenParts::changed(seen, &self.seen());
        let editor = &mut self.editor;
        if first {
            // The empty document before the first character is not an undo step.
            editor.history = UndoHistory::default();
        } else {
            let label = if continues { "Add files" } else { "Open" };
            editor
                .history
                .record(before, parts, &editor.document, label, Gesture::Once);
        }
        self.projects.forget_old(&editor.document, &editor.history);
        let unfinished = self.rigging().is_unfinished();
        self.with_jobs(|jobs, around| jobs.stages.take_binding(binding, unfinished, around));
    }

    /// The distilled rig of a project is ready: the views that showed it do so again, which is no undo step.
    pub(super) fn take_restored_rig(&mut self) {
        let Some((rig, kept)) = self.jobs.distilling.take_restored() else {
            return;
        };
        self.projects.note_restored(&self.editor.document, rig);
        let method = MethodId::DISTILLED;
        for &view in &kept.shown {
            self.apply_view(ViewCommand::SetMethod { view, method });
        }
        for &view in &kept.compared {
            let method = Some(method);
            self.apply_view(ViewCommand::SetCompare { view, method });
        }
    }

    /// Replaces the defaults of a new character by the project's settings.
    fn take_restored(&mut self, restored: Restored) {
        let Restored {
            pose,
            free_poses,
            views,
            active,
            params,
            method_values,
            variants,
            flesh,
            rig,
            limits,
            pins,
            takes,
            pose_library,
            motions,
        } = restored;
        let said = Document {
            pose,
            free_poses,
            limits,
            pins,
            takes,
            pose_library,
            params,
            method_values,
            variants,
            motions,
            flesh,
            rig,
            ..Document::default()
        };
        let Document {
            source,
            subject,
            files_read,
            work,
            ..
        } = self.editor.document.clone();
        self.editor.document = Document {
            source,
            subject,
            files_read,
            work,
            ..said
        };
        self.apply_view(ViewCommand::SetAll(views));
        self.apply_view(ViewCommand::Activate(active));
    }

    /// Clips were added to the open character: pose, bones and view are kept, and the first new clip is shown. One undo step.
    fn take_added(&mut self, before: Document, seen: Seen, opened: Opened, clip: usize) {
        let (selected, playback) = (
            self.editor.selection.clone(),
            self.channels.active().playback().clone(),
        );
        // Gravity keeps its strength and points down in the new file's axes.
        let up = before
            .subject
            .as_deref()
            .map_or_else(UpAxis::y, Subject::up_axis);
        let gravity_m_s2 = opened
            .subject
            .up_axis()
            .gravity_m_s2(up.strength_of(before.params.gravity_m_s2));
        let params = Params {
            gravity_m_s2,
            ..before.params
        };
        let files_read = before
            .files_read
            .iter()
            .cloned()
            .chain(opened.files_read)
            .collect();
        let clips = self.editor.document.clips().names();
        self.editor.document = Document {
            params,
            source: opened.source,
            subject: Some(opened.subject.clone()),
            files_read,
            ..before.clone()
        };
        self.enter_subject(&opened.subject);
        let (editor, channels) = (&mut self.editor, &mut self.channels);
        editor.selection = selected;
        channels.active_mut().playback = playback;
        channels.follow_clips(&clips, &editor.document.clips().names());
        channels.active_mut().refresh(&editor.document);
        let unfinished = self.rigging().is_unfinished();
        self.with_jobs(|jobs, around| {
            jobs.stages.take_binding(opened.binding, unfinished, around);
        });
        self.channels.active_mut().playback.playing = true;
        self.select_clip(Some(clip));
        self.channels.active_mut().refresh(&self.editor.document);
        self.record(before, seen, "Add motion", Gesture::Once);
    }
}

/// The limits of a new character: those of a human, if it has a human's arms and legs.
fn limits_of(skeleton: &Skeleton) -> LimitMap {
    let roles = JointRoles::of(skeleton);
    let has = |role: fn(Side) -> Role| {
        Side::BOTH
            .iter()
            .all(|&side| roles.first(role(side)).is_some())
    };
    let is_human = [Role::UpperArm, Role::Forearm, Role::Thigh, Role::Shin]
        .into_iter()
        .all(has);
    if is_human {
        human_limits(skeleton)
    } else {
        LimitMap::new()
    }
}

/// The document of a character that has just been read. Takes, poses, limits and pins are dropped, as they refer to the previous skeleton;
/// physical parameters and those of methods are kept.
fn fresh(
    before: &Document,
    source: Source,
    subject: &Arc<Subject>,
    files_read: Arc<[FileRead]>,
) -> Document {
    let pose = subject.character.skeleton.rest_pose();
    let free_poses = before
        .free_poses
        .keys()
        .map(|&view| (view, pose.clone()))
        .collect();
    Document {
        source,
        subject: Some(subject.clone()),
        pose,
        free_poses,
        limits: limits_of(&subject.character.skeleton),
        flesh: (*subject.settings).clone(),
        motions: subject.character.motion_choices(),
        files_read,
        work: before.work,
        params: before.params,
        method_values: before.method_values.clone(),
        variants: before.variants.clone(),
        ..Document::default()
    }
}
