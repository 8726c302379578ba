//! The one place where commands take effect.

use std::path::Path;

use super::history::History;
use super::{
    ChannelId, Command, CommandQueue, Document, Gesture, Level, PoseCommand, Session, ViewCommand,
    posing,
};
use crate::character::{BoneSettings, Place};
use crate::dynamics::Params;
use crate::rig::limits::clamp_joint;
use crate::rig::{Pose, PoseFile, Skeleton, Trs};

impl Session {
    /// Applies everything that was collected.
    pub fn apply_all(&mut self, queue: &mut CommandQueue) {
        for (command, gesture) in queue.drain() {
            self.apply(command, gesture);
        }
    }

    /// Applies one command that is an undo step of its own.
    pub fn apply_once(&mut self, command: Command) {
        self.apply(command, Gesture::Once);
    }

    /// Applies one command. What can't be done becomes a message, and nothing is changed.
    pub fn apply(&mut self, command: Command, gesture: Gesture) {
        let label = command.label();
        let before = self.document.clone();
        match command {
            Command::Undo => self.step_history(true),
            Command::Redo => self.step_history(false),
            Command::Pose(PoseCommand::TakeBack) => self.take_back_gesture(),
            Command::Project(command) => self.apply_project(command),
            command => {
                self.pose_tools.gesture = gesture;
                self.dispatch(command);
                // What is done while a take is recorded is a part of it.
                if !self.timeline.is_recording() {
                    let before = self.timeline.take_recorded_from().unwrap_or(before);
                    self.history.record(before, &self.document, label, gesture);
                }
            }
        }
        self.channels.active_mut().refresh(&self.document);
        self.drop_stale_simulation();
        self.watch_work();
    }

    /// The button went up: the next drag is an undo step of its own.
    pub fn end_gesture(&mut self) {
        self.history.end_gesture(&self.document);
    }

    fn dispatch(&mut self, command: Command) {
        match command {
            Command::Open(source) => self.start_opening(source),
            Command::AddMotions(files) => self.start_adding(files),
            Command::SetMethod(method) => self.apply_view(ViewCommand::SetMethod {
                view: self.views.active().id,
                method,
            }),
            Command::View(command) => self.apply_view(command),
            Command::Keys(command) => self.apply_keys(command),
            Command::Pose(command) => self.apply_pose(command),
            Command::Rig(command) => self.apply_rig(command),
            Command::SetParams(params) => self.set_params(params),
            Command::SetBone { joint, settings } => self.set_bone(joint, settings),
            Command::SetSimVertices(sim_vertices) => {
                self.stages.forgive();
                self.document.flesh.sim_vertices = sim_vertices;
            }
            Command::SetPart { name, place } => self.set_part(name, place),
            Command::SelectJoint(joint) => self
                .selection
                .set(joint.filter(|&j| j < self.document.pose.locals.len())),
            Command::SetJointAngles { joint, degrees } => self.set_joint_angles(joint, degrees),
            Command::ResetJoint(joint) => self.edit_joint(joint, |skeleton, pose| {
                pose.locals[joint] = skeleton.joints()[joint].rest;
            }),
            Command::ResetPose => self.reset_pose(),
            Command::LoadPose(path) => self.load_pose(&path),
            Command::SavePose(path) => self.save_pose(&path),
            Command::SelectClip(clip) => self.select_clip(clip),
            Command::SetPlaying(playing) => self.set_playing(playing),
            Command::TogglePlaying => self.set_playing(!self.channels.active().playback.playing),
            Command::SetSpeed(speed) => self.channels.active_mut().playback.set_speed(speed),
            Command::SetLooping(looping) => self.channels.active_mut().playback.looping = looping,
            Command::SetRange(range) => self
                .channels
                .active_mut()
                .set_range(&self.document.clips(), range),
            Command::SetBlend(secs) => self.channels.active_mut().playback.set_blend(secs),
            Command::Scrub { time_secs } => {
                let channel = self.channels.active_mut();
                if channel.scrub(&self.document.clips(), time_secs) {
                    self.settle_scrubbed();
                }
            }
            Command::ResetSimulation => {
                self.settle();
                self.settle_crowds(self.channels.active_id());
            }
            Command::CancelJobs => {
                self.stages.cancel();
                self.timeline.cancel();
                self.rigging.cancel();
                self.projects.cancel();
                self.cancel_crowds();
            }
            Command::DismissMessage(id) => self.messages.dismiss(id),
            Command::Undo | Command::Redo | Command::Project(_) => {}
        }
    }

    fn step_history(&mut self, back: bool) {
        if self.timeline.is_recording() {
            return self.cancel_recording();
        }
        self.travel(|history, document| {
            if back {
                history.undo(document)
            } else {
                history.redo(document)
            }
        });
    }

    /// Goes to another document of the history; what is shown follows.
    pub(super) fn travel(&mut self, go: impl FnOnce(&mut History, &mut Document) -> bool) {
        let (params, bones, clips, earlier) = (
            self.document.params,
            self.document.flesh.bones.clone(),
            self.document.clips().names(),
            self.document.clone(),
        );
        if go(&mut self.history, &mut self.document) {
            self.stages.forgive();
            self.rigging.forgive();
            self.sync_channels();
            self.recall_selection(&earlier);
            self.follow_clips(&clips);
            if !self.document.poses_alike(&earlier) {
                self.channels.active_mut().playback.leave_clip();
            }
            if self.document.params != params {
                self.send_params(self.document.params);
            }
            if self.document.flesh.bones != bones {
                self.send_bones();
            }
            self.take_finished_jobs();
        }
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
            self.document.params = params.sanitized();
            self.send_params(self.document.params);
        }
    }

    fn send_params(&self, params: Params) {
        for worker in self.stages.workers() {
            worker.set_params(params);
        }
    }

    pub(super) fn set_bone(&mut self, joint: usize, settings: BoneSettings) {
        let BoneSettings {
            stiffness,
            density,
            damping,
            jiggle,
            ..
        } = settings;
        let finite = [stiffness, density, damping, jiggle]
            .iter()
            .all(|factor| factor.is_finite());
        if finite && joint < self.document.pose.locals.len() {
            self.stages.forgive();
            let settings = settings.sanitized();
            if settings == BoneSettings::default() {
                self.document.flesh.bones.remove(&joint);
            } else {
                self.document.flesh.bones.insert(joint, settings);
            }
            self.send_bones();
        }
    }

    /// The factors take effect at once; what is none when the flesh has been rebuilt.
    fn send_bones(&self) {
        for worker in self.stages.workers() {
            worker.set_bones(self.document.flesh.bones.clone());
        }
    }

    fn set_part(&mut self, name: String, place: Option<Place>) {
        let there = |place: &Place| !matches!(place, Place::Rigid { joint } if *joint >= self.document.pose.locals.len());
        if place.as_ref().is_none_or(there) {
            self.stages.forgive();
            match place {
                Some(place) => self.document.flesh.parts.insert(name, place),
                None => self.document.flesh.parts.remove(&name),
            };
        }
    }

    /// Puts the flesh that follows the active channel at rest in its pose.
    pub(super) fn settle(&mut self) {
        self.settle_channel(self.channels.active_id());
    }

    /// Puts the flesh that follows a channel at rest in its pose.
    pub(super) fn settle_channel(&mut self, id: ChannelId) {
        let Some(channel) = self.channels.get_mut(id) else {
            return;
        };
        channel.refresh(&self.document);
        for (_, worker) in self
            .stages
            .live_workers()
            .filter(|(followed, _)| *followed == id)
        {
            worker.settle(channel.world_from_joint());
        }
    }

    /// Edits the pose shown; a clip's pose of the moment is taken over by that, and the clip left.
    pub(super) fn edit_pose(&mut self, edit: impl FnOnce(&Skeleton, &mut Pose)) {
        self.channels.active_mut().refresh(&self.document);
        let Some(subject) = self.document.subject.clone() else {
            return;
        };
        let mut pose = self.channels.active().pose().clone();
        edit(&subject.character.skeleton, &mut pose);
        self.take_pose(pose);
    }

    /// A pose was made by hand: it becomes keys, or is shown in place of the clip.
    pub(super) fn take_pose(&mut self, pose: Pose) {
        if !self.key_changes(&pose) {
            *self.document.pose_in_mut(self.channels.active_id()) = pose;
            self.channels.active_mut().playback.leave_clip();
        }
    }

    fn edit_joint(&mut self, joint: usize, edit: impl FnOnce(&Skeleton, &mut Pose)) {
        if joint < self.document.pose.locals.len() {
            self.edit_pose(edit);
        }
    }

    fn set_joint_angles(&mut self, joint: usize, degrees: [f64; 3]) {
        if degrees.iter().all(|angle| angle.is_finite()) {
            let limits = self.document.limits.clone();
            self.edit_joint(joint, |skeleton, pose| {
                posing::set_joint_angles_deg(skeleton, pose, joint, degrees);
                clamp_joint(skeleton, &limits, pose, joint);
            });
        }
    }

    fn reset_pose(&mut self) {
        if let Some(rest) = self.document.skeleton().map(Skeleton::rest_pose) {
            self.channels.active_mut().refresh(&self.document);
            self.take_pose(rest);
        }
    }

    fn set_pose(&mut self, pose: Pose) {
        if pose.locals.len() == self.document.pose.locals.len()
            && pose.locals.iter().all(Trs::is_finite)
        {
            self.channels.active_mut().refresh(&self.document);
            self.take_pose(pose);
        }
    }

    pub(super) fn select_clip(&mut self, clip: Option<usize>) {
        let cut = self.channels.active_mut().select_clip(&self.document, clip);
        if cut.is_some() {
            self.settle();
        }
    }

    fn set_playing(&mut self, playing: bool) {
        self.channels
            .active_mut()
            .set_playing(&self.document.clips(), playing);
    }

    fn load_pose(&mut self, path: &Path) {
        let Some(skeleton) = self.document.skeleton() else {
            return;
        };
        match posing::read_pose(path, skeleton) {
            Ok(pose) => self.set_pose(pose),
            Err(error) => self.tell(Level::Error, error.to_string()),
        }
    }

    fn save_pose(&mut self, path: &Path) {
        self.channels.active_mut().refresh(&self.document);
        let Some(skeleton) = self.document.skeleton() else {
            return;
        };
        let file: PoseFile = self.channels.active().pose().to_file(skeleton);
        match crate::io::write_pose(path, &file) {
            Ok(()) => self.tell(
                Level::Info,
                format!("The pose was written to {}.", path.display()),
            ),
            Err(error) => self.tell(Level::Error, error.to_string()),
        }
    }
}
