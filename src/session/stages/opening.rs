//! Opening: files are read in the background, and what they hold becomes the document's.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::making::{Opened, Opening, add_and_bind, open_and_bind};
use crate::dynamics::Params;
use crate::methods::Subject;
use crate::progress::Progress;
use crate::session::history::History;
use crate::session::jobs::{Job, Outcome};
use crate::session::project::Restored;
use crate::session::{
    Answer, Document, Gesture, Level, OpenError, ProjectError, Session, Source, UpAxis, ViewCommand,
};

impl Session {
    /// Starts reading a character; a reading under way is given up.
    pub(in crate::session) fn start_opening(&mut self, source: Source) {
        self.start_opening_with(source, BTreeMap::new());
    }

    /// As [`Session::start_opening`], with what to do about files of a project that are not what they were.
    pub(in crate::session) fn start_opening_with(
        &mut self,
        source: Source,
        answers: BTreeMap<usize, Answer>,
    ) {
        self.messages.clear();
        self.stages.asked = Some((source.clone(), answers.clone()));
        let (method, params) = (self.views.active().method, self.document.params);
        let title = format!("Opening {}", source.title());
        let opening = Opening {
            source,
            cache: self.cache.clone(),
            answers,
        };
        let work = move |progress: &Progress| open_and_bind(opening, method, &params, progress);
        match Job::start(title, self.waker.clone(), work) {
            Ok(job) => self.stages.opening = Some(job),
            Err(error) => self.tell(
                Level::Error,
                format!("No thread could be started to read the files: {error}."),
            ),
        }
    }

    /// Starts reading motions for the open character; a reading under way is given up.
    pub(in crate::session) fn start_adding(&mut self, files: Vec<PathBuf>) {
        let mut source = self.document.source.clone();
        source.files.extend(files.iter().cloned());
        let Some(subject) = self.document.subject.clone() else {
            return self.start_opening(source);
        };
        if files.is_empty() {
            return;
        }
        self.messages.clear();
        let (method, params) = (self.views.active().method, self.document.params);
        let title = format!(
            "Adding {}",
            Source {
                files: files.clone(),
                ..Source::default()
            }
            .title()
        );
        let only_motions = files.iter().all(|file| {
            file.extension()
                .is_some_and(|ending| ending.eq_ignore_ascii_case("bvh"))
        });
        let opening = Opening {
            source: source.clone(),
            cache: self.cache.clone(),
            answers: BTreeMap::new(),
        };
        let work = move |progress: &Progress| {
            if only_motions {
                return add_and_bind(&subject, source, &files, method, &params, progress);
            }
            // What else belongs to a character can only be understood together with all the rest of it.
            open_and_bind(opening, method, &params, progress).map(|opened| Opened {
                continues: true,
                ..opened
            })
        };
        match Job::start(title, self.waker.clone(), work) {
            Ok(job) => self.stages.opening = Some(job),
            Err(error) => self.tell(
                Level::Error,
                format!("No thread could be started to read the files: {error}."),
            ),
        }
    }

    /// Takes over what has been read, once it has. Returns whether the reading came to an end.
    pub(super) fn take_opened(&mut self) -> bool {
        let Some(job) = &self.stages.opening else {
            return false;
        };
        let outcome = job.poll();
        if matches!(outcome, Outcome::Running) {
            return false;
        }
        self.stages.opening = None;
        match outcome {
            Outcome::Done(Ok(opened)) => self.take_over(opened),
            Outcome::Done(Err(OpenError::Cancelled(_))) | Outcome::Running => {}
            Outcome::Done(Err(OpenError::Project(ProjectError::Sources(missing)))) => {
                if let Some((source, answers)) = self.stages.asked.take() {
                    self.ask_about_sources(source, answers, missing);
                }
            }
            Outcome::Done(Err(error)) => self.tell(Level::Error, error.to_string()),
            Outcome::Lost => self.tell(
                Level::Error,
                "Reading stopped unexpectedly; the files could not be opened.",
            ),
        }
        true
    }

    /// A character has been read: it becomes the document's, as one undo step.
    fn take_over(&mut self, opened: Opened) {
        let before = self.document.clone();
        let first = before.subject.is_none();
        if let (Some(clip), false) = (opened.added, first) {
            return self.take_added(before, opened, clip);
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
        let up = before
            .subject
            .as_deref()
            .map_or_else(UpAxis::y, Subject::up_axis);
        let (pose, flesh) = (
            subject.character.skeleton.rest_pose(),
            (*subject.settings).clone(),
        );
        let free_poses = before
            .free_poses
            .keys()
            .map(|&view| (view, pose.clone()))
            .collect();
        // Clips, poses, limits and pins of the user are of the skeleton before.
        let fresh = Document {
            work: before.work,
            params: before.params,
            ..Document::default()
        };
        self.timeline.start_over();
        let files_read = files_read.into();
        self.document = Document {
            source,
            subject: Some(subject.clone()),
            pose,
            free_poses,
            flesh,
            files_read,
            ..fresh
        };
        let same_joints = || {
            before
                .skeleton()
                .is_some_and(|skeleton| skeleton.joints() == subject.character.skeleton.joints())
        };
        if let Some(project) = &project {
            self.take_restored(project.restored.clone());
        } else if continues && same_joints() {
            let Document {
                source,
                subject,
                files_read,
                ..
            } = self.document.clone();
            self.document = Document {
                source,
                subject,
                files_read,
                ..before.clone()
            };
        } else {
            // Gravity goes on pulling down, wherever that is in the new file.
            self.document.params.gravity_m_s2 = subject
                .up_axis()
                .gravity_m_s2(up.strength_of(before.params.gravity_m_s2));
        }
        if !continues || first {
            self.enter_work(project);
        }
        self.enter_subject(&subject);
        if first {
            // There is no going back to before there was anything.
            self.history = History::default();
        } else {
            self.history.record(
                before,
                &self.document,
                if continues { "Add files" } else { "Open" },
                Gesture::Once,
            );
        }
        self.forget_old_works();
        self.take_binding(self.views.active().need(), binding);
    }

    /// What a project says takes the place of what a fresh character has.
    fn take_restored(&mut self, restored: Restored) {
        let Restored {
            pose,
            free_poses,
            views,
            active,
            params,
            flesh,
            rig,
            limits,
            pins,
            takes,
            pose_library,
        } = restored;
        let said = Document {
            pose,
            free_poses,
            limits,
            pins,
            takes,
            pose_library,
            params,
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
        } = self.document.clone();
        self.document = Document {
            source,
            subject,
            files_read,
            work,
            ..said
        };
        self.apply_view(ViewCommand::SetAll(views));
        self.apply_view(ViewCommand::Activate(active));
    }

    /// The open character has got more clips: pose, bones and view stay, and the first new clip is shown. One undo step.
    fn take_added(&mut self, before: Document, opened: Opened, clip: usize) {
        let (selected, playback) = (
            self.selection.clone(),
            self.channels.active().playback().clone(),
        );
        // Gravity goes on pulling down, wherever that is in the new file.
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
        let clips = self.document.clips().names();
        self.document = Document {
            params,
            source: opened.source,
            subject: Some(opened.subject.clone()),
            files_read,
            ..before.clone()
        };
        self.enter_subject(&opened.subject);
        self.selection = selected;
        self.channels.active_mut().playback = playback;
        self.follow_clips(&clips);
        self.channels.active_mut().refresh(&self.document);
        self.history
            .record(before, &self.document, "Add motion", Gesture::Once);
        self.take_binding(self.views.active().need(), opened.binding);
        self.channels.active_mut().playback.playing = true;
        self.select_clip(Some(clip));
        self.channels.active_mut().refresh(&self.document);
    }
}
