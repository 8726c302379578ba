//! The flesh of library poses, for small pictures of them: by dual quaternions, in the background.

use std::sync::Arc;

use crate::dynamics::Params;
use crate::methods::{Actor, Frame, MethodId, Subject};
use crate::progress::Progress;
use crate::rig::NamedPose;
use crate::session::jobs::{Job, Outcome};
use crate::session::{Session, Shape, Snapshot};

/// What all of them may take in memory; poses beyond that have no picture.
const MOST_BYTES: usize = 96 << 20;

type Made = Vec<(Arc<NamedPose>, Arc<Snapshot>)>;

/// What was made, and what is being made.
#[derive(Default)]
pub(super) struct Pictures {
    subject: Option<Arc<Subject>>,
    made: Made,
    /// Poses that could not be shown: not tried again.
    failed: Vec<Arc<NamedPose>>,
    job: Option<(Vec<Arc<NamedPose>>, Job<Made>)>,
}

impl Pictures {
    pub(super) fn is_busy(&self) -> bool {
        self.job.is_some()
    }
}

impl Session {
    /// The flesh in a pose of the library, by index; none while it is not ready.
    #[must_use]
    pub fn pose_snapshot(&self, pose: usize) -> Option<&Arc<Snapshot>> {
        let wanted = self.document.pose_library.get(pose)?;
        self.timeline
            .pictures
            .made
            .iter()
            .find(|(made, _)| Arc::ptr_eq(made, wanted))
            .map(|(_, snapshot)| snapshot)
    }

    /// Brings what is missing on its way. Returns whether there is something new.
    pub(super) fn follow_pictures(&mut self) -> bool {
        let Some(subject) = self.document.subject.clone() else {
            return false;
        };
        let (library, pictures) = (&self.document.pose_library, &mut self.timeline.pictures);
        if pictures
            .subject
            .as_ref()
            .is_none_or(|mine| !Arc::ptr_eq(mine, &subject))
        {
            *pictures = Pictures {
                subject: Some(subject.clone()),
                ..Pictures::default()
            };
        }
        let mut changed = false;
        if let Some((wanted, job)) = pictures.job.take() {
            match job.poll() {
                Outcome::Running => pictures.job = Some((wanted, job)),
                Outcome::Done(made) => {
                    pictures.failed.extend(
                        wanted
                            .into_iter()
                            .filter(|pose| !made.iter().any(|(done, _)| Arc::ptr_eq(done, pose))),
                    );
                    pictures.made.extend(made);
                    changed = true;
                }
                Outcome::Lost => pictures.failed.extend(wanted),
            }
            return changed;
        }
        pictures
            .made
            .retain(|(made, _)| library.iter().any(|pose| Arc::ptr_eq(pose, made)));
        let room = MOST_BYTES / (24 * subject.bind_positions.len().max(1));
        let known = |pose: &Arc<NamedPose>| {
            let of = |other: &Arc<NamedPose>| Arc::ptr_eq(other, pose);
            pictures.made.iter().any(|(made, _)| of(made)) || pictures.failed.iter().any(of)
        };
        let missing: Vec<Arc<NamedPose>> = library
            .iter()
            .take(room)
            .filter(|pose| !known(pose))
            .cloned()
            .collect();
        if missing.is_empty() {
            return false;
        }
        let wanted = missing.clone();
        let work = move |progress: &Progress| flesh_of(&subject, missing, progress);
        match Job::start("Pictures of poses".to_owned(), self.waker.clone(), work) {
            Ok(job) => pictures.job = Some((wanted, job)),
            Err(_) => pictures.failed.extend(wanted),
        }
        false
    }
}

fn flesh_of(subject: &Arc<Subject>, poses: Vec<Arc<NamedPose>>, progress: &Progress) -> Made {
    let skeleton = &subject.character.skeleton;
    let Ok(mut actor) = Actor::bind(subject, MethodId::DQS, &Params::default(), progress) else {
        return Vec::new();
    };
    let mut made = Vec::new();
    for (pose, sequence) in poses.into_iter().zip(0..) {
        if progress.is_cancelled() || pose.pose.locals.len() != skeleton.len() {
            continue;
        }
        let world_from_joint = skeleton.world_from_joint(&pose.pose);
        if actor
            .advance(&Frame {
                world_from_joint: &world_from_joint,
                dt_secs: 0.0,
            })
            .is_ok()
        {
            let snapshot = Snapshot {
                sequence,
                subject: subject.clone(),
                method: MethodId::DQS,
                shape: Shape::new(
                    actor.positions().to_vec(),
                    actor.normals().to_vec(),
                    Vec::new(),
                ),
                world_from_joint,
                times: actor.times(),
                contact: None,
                contacts: Vec::new(),
                velocities: Vec::new(),
            };
            made.push((pose, Arc::new(snapshot)));
        }
    }
    made
}
