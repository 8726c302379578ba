//! Applies commands. No other code changes the session on request of a caller.

use std::collections::BTreeMap;

use super::editing::{EditContext, Editor};
use super::history::UndoHistory;
use super::jobs::{JobContext, Jobs};
use super::seen::Seen;
use super::{
    Command, CommandQueue, Document, ExportAs, Gesture, KeysCommand, MuscleCommand, PoseCommand,
    ProjectCommand, RigCommand, Scrubbing, Session, ViewCommand,
};
use crate::character::UNIT_RANGE;
use crate::dynamics::Params;

impl Session {
    /// Applies all collected commands.
    pub fn apply_all(&mut self, queue: &mut CommandQueue) {
        for (command, gesture) in queue.drain() {
            self.apply(command, gesture);
        }
    }

    /// Applies one command as its own undo step.
    pub fn apply_once(&mut self, command: Command) {
        self.apply(command, Gesture::Once);
    }

    /// Applies one command. A command that fails becomes a message and changes nothing.
    pub fn apply(&mut self, command: Command, gesture: Gesture) {
        let label = command.label();
        match command {
            Command::Undo => self.step_history(true),
            Command::Redo => self.step_history(false),
            Command::Pose(PoseCommand::Revert) => self.revert_gesture(),
            Command::Project(command) => self.apply_project(command),
            command => {
                let (before, seen) = (self.editor.document.clone(), self.seen());
                self.editor.gesture = gesture;
                self.dispatch(command);
                self.record(before, seen, label, gesture);
            }
        }
        self.window_seen = None;
        self.after_command();
    }

    /// Applies one command without an undo step.
    pub fn apply_unrecorded(&mut self, command: Command) {
        self.editor.gesture = Gesture::Once;
        self.dispatch(command);
        self.after_command();
    }

    fn after_command(&mut self) {
        self.channels.active_mut().refresh(&self.editor.document);
        self.with_jobs(|jobs, context| jobs.ranges.drop_stale(&jobs.stages, context));
        self.update_recovery_file();
    }

    /// Cancels the drag in progress: pose, clip and flesh are as before it.
    fn revert_gesture(&mut self) {
        let (joints, before) = (self.all_joints(), self.seen());
        self.edit(Editor::revert_gesture);
        let mut seen = before.clone();
        let editor = &mut self.editor;
        if editor
            .history
            .revert_gesture(&mut editor.document, &mut seen)
        {
            self.restore_views(&before, &seen);
            if seen.shows_other_clips(&before) {
                self.restore_clips(&seen);
            }
            self.restore_flesh(&joints, seen.flesh);
        }
    }

    /// Ends a drag: the next drag is a new undo step.
    pub fn end_gesture(&mut self) {
        self.editor.history.end_gesture(&self.editor.document);
    }

    /// Edits the document. The flesh settles if the edit interrupts the motion shown.
    pub(super) fn edit<R>(
        &mut self,
        edit: impl FnOnce(&mut Editor, &mut EditContext<'_>) -> R,
    ) -> R {
        let mut with = EditContext {
            channels: &mut self.channels,
            messages: &mut self.messages,
            waker: self.waker.as_ref(),
            cut: None,
        };
        let result = edit(&mut self.editor, &mut with);
        if with.cut.is_some() {
            self.settle();
        }
        result
    }

    /// Calls `work` with the jobs and the parts of the session that they need.
    pub(super) fn with_jobs<R>(
        &mut self,
        work: impl FnOnce(&mut Jobs, &mut JobContext<'_>) -> R,
    ) -> R {
        let mut context = JobContext {
            document: &self.editor.document,
            passing: self.editor.history.is_dragging() || self.rigging.is_following(),
            views: &mut self.views,
            channels: &mut self.channels,
            messages: &mut self.messages,
            waker: self.waker.as_ref(),
        };
        work(&mut self.jobs, &mut context)
    }

    fn dispatch(&mut self, command: Command) {
        match command {
            Command::Open(source) => self.with_jobs(|jobs, context| {
                jobs.stages.start_opening(source, BTreeMap::new(), context);
            }),
            Command::AddMotions(files) => {
                self.with_jobs(|jobs, context| jobs.stages.start_adding(files, context));
            }
            Command::SetMethod(method) => self.apply_view(ViewCommand::SetMethod {
                view: self.views.active().id,
                method,
            }),
            Command::View(command) => self.apply_view(command),
            Command::Variant(command) => self.apply_variant(command),
            Command::Keys(KeysCommand::SetScrubbing(scrubbing)) => self.set_scrubbing(scrubbing),
            Command::Keys(command) => self.edit(|editor, with| editor.apply_keys(with, command)),
            Command::Pose(command) => self.edit(|editor, with| editor.apply_pose(with, command)),
            Command::Motion(command) => {
                self.jobs.stages.allow_retry();
                self.edit(|editor, with| editor.apply_motion(with, command));
            }
            Command::Paint(command) => {
                self.edit(|editor, with| editor.apply_paint(with, command));
                // During a stroke only the colours follow.
                if self.editor.gesture != Gesture::Dragging {
                    self.send_factors();
                }
            }
            Command::Muscle(command) => self.apply_muscle(command),
            Command::Rig(command) => self.apply_rig(command),
            Command::SetParams(params) => self.set_params(params),
            Command::SetMethodValues { method, values } => {
                let active = self.active_view().variant;
                let document = &mut self.editor.document;
                document.change_settings(active, |_, known| known.set(method, &values));
                let changed = self.has_active_settings();
                let document = &self.editor.document;
                self.jobs.stages.send_values(document, changed);
            }
            Command::SetBone { joint, settings } => {
                if self.editor.set_bone(joint, settings) {
                    self.jobs.stages.allow_retry();
                    self.send_factors();
                }
            }
            Command::SetSimVertices(sim_vertices) => {
                self.jobs.stages.allow_retry();
                self.editor.document.flesh.sim_vertices = sim_vertices;
            }
            Command::SetFleshBase(base) => {
                self.jobs.stages.allow_retry();
                self.editor.document.flesh.base = base;
            }
            Command::SetUnit(unit) => {
                if unit.is_none_or(|unit| UNIT_RANGE.contains(&unit)) {
                    self.jobs.stages.allow_retry();
                    self.editor.document.flesh.metres_per_unit = unit;
                }
            }
            Command::SetPart { name, place } => {
                if self.editor.set_part(name, place) {
                    self.jobs.stages.allow_retry();
                }
            }
            Command::SelectJoint(joint) => {
                let joints = self.editor.document.pose.locals.len();
                self.editor.selection.set(joint.filter(|&j| j < joints));
            }
            Command::SetJointAngles { joint, degrees } => {
                self.edit(|editor, with| editor.set_joint_angles(with, joint, degrees));
            }
            Command::ResetJoint(joint) => {
                self.edit(|editor, with| editor.reset_joint(with, joint));
            }
            Command::ResetPose => self.edit(Editor::reset_pose),
            Command::SetMorphs(weights) => {
                self.edit(|editor, with| editor.set_morphs(with, &weights));
            }
            Command::SetPose(pose) => self.edit(|editor, with| editor.set_pose(with, &pose)),
            Command::LoadPose(path) => self.edit(|editor, with| editor.load_pose(with, &path)),
            Command::SavePose(path) => self.edit(|editor, with| editor.save_pose(with, &path)),
            Command::ResetSimulation => {
                self.settle();
                self.jobs
                    .crowds
                    .settle(self.channels.active_id(), &self.views);
            }
            Command::CancelJobs => {
                self.jobs.cancel(&mut self.views);
                self.editor.keying.cancel();
                self.rigging.cancel();
                self.projects.cancel();
            }
            Command::DismissMessage(id) => self.messages.dismiss(id),
            Command::Undo | Command::Redo | Command::Project(_) => {}
            clock => self.move_clock(&clock),
        }
    }

    /// Applies a command about playback. None of them changes the document.
    fn move_clock(&mut self, command: &Command) {
        match *command {
            Command::SelectClip(clip) => self.select_clip(clip),
            Command::SetPlaying(playing) => self.set_playing(playing),
            Command::TogglePlaying => self.set_playing(!self.channels.active().playback.playing),
            Command::SetSpeed(speed) => self.channels.active_mut().playback.set_speed(speed),
            Command::SetLooping(looping) => self.channels.active_mut().playback.looping = looping,
            Command::SetRange(range) => {
                let clips = self.editor.document.clips();
                self.channels.active_mut().set_range(&clips, range);
            }
            Command::SetBlend(secs) => self.channels.active_mut().playback.set_blend(secs),
            Command::Scrub { time_secs } => {
                let clips = self.editor.document.clips();
                if self.channels.active_mut().scrub(&clips, time_secs) {
                    self.settle_scrubbed();
                }
            }
            _ => {}
        }
    }

    fn step_history(&mut self, back: bool) {
        if self.editor.keying.is_recording() {
            return self.editor.cancel_recording();
        }
        self.go_to_step(|history, document, seen| {
            if back {
                history.undo(document, seen)
            } else {
                history.redo(document, seen)
            }
        });
    }

    /// Moves to another document of the history and updates what is shown.
    fn go_to_step(&mut self, go: impl FnOnce(&mut UndoHistory, &mut Document, &mut Seen) -> bool) {
        let (earlier, joints) = (self.editor.document.clone(), self.all_joints());
        let key = self.keep_flesh();
        let before = Seen {
            flesh: Some(key),
            ..self.seen()
        };
        let (mut seen, editor) = (before.clone(), &mut self.editor);
        if !go(&mut editor.history, &mut editor.document, &mut seen) {
            return;
        }
        let other_clips = seen.shows_other_clips(&before);
        self.jobs.stages.allow_retry();
        self.rigging.allow_retry();
        let document = &self.editor.document;
        self.rigging.recall_selection(&earlier, document);
        self.channels
            .follow_clips(&earlier.clips().names(), &document.clips().names());
        self.restore_views(&before, &seen);
        let document = &self.editor.document;
        if !document.poses_alike(&earlier) && !other_clips {
            self.channels.active_mut().playback.leave_clip();
        }
        let other_variants = document.variants != earlier.variants;
        if other_variants || document.params != earlier.params {
            self.send_params(|_| true);
        }
        if !document.flesh.has_factors(&earlier.flesh.factors()) {
            self.send_factors();
        }
        let document = &self.editor.document;
        if other_variants || document.method_values != earlier.method_values {
            self.jobs.stages.send_values(document, |_| true);
        }
        self.take_finished_jobs();
        if other_clips {
            self.scores.forget();
            self.restore_clips(&seen);
        }
        self.restore_flesh(&joints, seen.flesh);
    }

    fn set_params(&mut self, params: Params) {
        let Params {
            stiffness_pa,
            density_kg_m3,
            damping_per_s,
            gravity_m_s2: [x, y, z],
            jiggle,
            volume,
            time_step_secs,
            ..
        } = params;
        if [
            stiffness_pa,
            density_kg_m3,
            damping_per_s,
            x,
            y,
            z,
            jiggle,
            volume,
            time_step_secs,
        ]
        .iter()
        .all(|number| number.is_finite())
        {
            let params = params.sanitized();
            let active = self.active_view().variant;
            let document = &mut self.editor.document;
            document.change_settings(active, |known, _| *known = params);
            let changed = self.has_active_settings();
            self.send_params(changed);
        }
    }

    /// Factors take effect at once; the other settings when the flesh has been rebuilt.
    fn send_factors(&self) {
        for worker in self.jobs.stages.workers() {
            worker.set_factors(self.editor.document.flesh.factors());
        }
    }

    fn apply_muscle(&mut self, command: MuscleCommand) {
        if self.edit(|editor, with| editor.apply_muscle(with, command)) {
            self.send_factors();
        }
    }

    fn apply_rig(&mut self, command: RigCommand) {
        let mut with = EditContext {
            channels: &mut self.channels,
            messages: &mut self.messages,
            waker: self.waker.as_ref(),
            cut: None,
        };
        let edited = self.rigging.apply(command, &mut self.editor, &mut with);
        if edited.flesh {
            self.jobs.stages.allow_retry();
        }
        if edited.bones {
            self.send_factors();
        }
    }

    /// Applies a command about the project. None of them is an undo step.
    fn apply_project(&mut self, command: ProjectCommand) {
        let (messages, waker) = (&mut self.messages, self.waker.as_ref());
        let document = &self.editor.document;
        let opens = match command {
            ProjectCommand::Save | ProjectCommand::SaveAs { .. } => {
                let to = match command {
                    ProjectCommand::SaveAs { path, packed } => Some((path, packed)),
                    _ => None,
                };
                let distilled = self.jobs.distilling.to_keep(document);
                let contents = self.projects.contents(document, &self.views, distilled);
                return self.projects.save(to, contents, messages, waker);
            }
            ProjectCommand::Export { export, path } => {
                let scores = matches!(export.what, ExportAs::Scores(_))
                    .then(|| self.jobs.board.comparison())
                    .flatten();
                let pose = self.channels.active().pose();
                return self.projects.export(
                    export,
                    path,
                    document,
                    (pose, &self.views, scores),
                    messages,
                    waker,
                );
            }
            ProjectCommand::SaveDistilled(path) => {
                let distilling = &mut self.jobs.distilling;
                return distilling.save(path, document, messages, waker);
            }
            ProjectCommand::JumpTo(position) => {
                return self
                    .go_to_step(|history, document, seen| history.jump(document, seen, position));
            }
            ProjectCommand::Answer { index, answer } => self.projects.answer(index, answer),
            ProjectCommand::Recover(file) => self
                .recoveries
                .source_of(&file)
                .map(|source| (source, BTreeMap::new())),
            ProjectCommand::Discard(file) => return self.recoveries.discard(&file),
            ProjectCommand::KeepForLater => return self.recoveries.postpone(),
            ProjectCommand::CancelOpening => return self.projects.cancel_opening(),
        };
        if let Some((source, answers)) = opens {
            self.with_jobs(|jobs, context| jobs.stages.start_opening(source, answers, context));
        }
    }

    pub(super) fn select_clip(&mut self, clip: Option<usize>) {
        let document = &self.editor.document;
        let channel = self.channels.active_mut();
        let before = channel.playback.clip;
        let cut = channel.select_clip(document, clip);
        if channel.playback.clip != before {
            self.scores.forget();
        }
        if cut.is_some() {
            self.settle();
        }
    }

    fn set_playing(&mut self, playing: bool) {
        self.channels
            .active_mut()
            .set_playing(&self.editor.document.clips(), playing);
    }

    fn set_scrubbing(&mut self, scrubbing: Scrubbing) {
        if self.jobs.ranges.set_scrubbing(scrubbing) && !self.channels.active().playback.playing {
            self.settle();
        }
    }
}
