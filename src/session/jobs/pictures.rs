//! Skins of the library's poses for thumbnails, by dual quaternion skinning, in the background.

use std::sync::Arc;

use crate::dynamics::Params;
use crate::methods::{Actor, Frame, MethodId, Subject};
use crate::progress::Progress;
use crate::rig::NamedPose;
use crate::session::job::{Job, JobState};
use crate::session::{Document, Shape, Snapshot, Waker};

/// Memory limit of all of them; further poses get no thumbnail.
const MOST_BYTES: usize = 96 << 20;

type PosePictures = Vec<(Arc<NamedPose>, Arc<Snapshot>)>;

/// Results, and the running job.
#[derive(Default)]
pub struct Pictures {
    subject: Option<Arc<Subject>>,
    made: PosePictures,
    /// Poses that failed; they are not tried again.
    failed: Vec<Arc<NamedPose>>,
    job: Option<(Vec<Arc<NamedPose>>, Job<PosePictures>)>,
}

impl Pictures {
    pub(in crate::session) fn is_busy(&self) -> bool {
        self.job.is_some()
    }

    /// The skin in a pose; `None` while it is not ready.
    #[must_use]
    pub fn of(&self, wanted: &Arc<NamedPose>) -> Option<&Arc<Snapshot>> {
        self.made
            .iter()
            .find(|(made, _)| Arc::ptr_eq(made, wanted))
            .map(|(_, snapshot)| snapshot)
    }

    /// Starts jobs for missing thumbnails. Returns whether there is a new one.
    pub(in crate::session) fn follow(
        &mut self,
        document: &Document,
        waker: Option<&Waker>,
    ) -> bool {
        let Some(subject) = document.subject.clone() else {
            return false;
        };
        if self
            .subject
            .as_ref()
            .is_none_or(|mine| !Arc::ptr_eq(mine, &subject))
        {
            *self = Self {
                subject: Some(subject.clone()),
                ..Self::default()
            };
        }
        if let Some((wanted, job)) = self.job.take() {
            return self.take_made(wanted, job);
        }
        let library = &document.pose_library;
        self.made
            .retain(|(made, _)| library.iter().any(|pose| Arc::ptr_eq(pose, made)));
        let room = MOST_BYTES / (24 * subject.bind_positions.len().max(1));
        let known = |pose: &Arc<NamedPose>| {
            self.of(pose).is_some() || self.failed.iter().any(|other| Arc::ptr_eq(other, pose))
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
        match Job::start("Drawing pose thumbnails".to_owned(), waker.cloned(), work) {
            Ok(job) => self.job = Some((wanted, job)),
            Err(_) => self.failed.extend(wanted),
        }
        false
    }

    /// Takes over the job's results. Returns whether there was one.
    fn take_made(&mut self, wanted: Vec<Arc<NamedPose>>, job: Job<PosePictures>) -> bool {
        match job.poll() {
            JobState::Running => {
                self.job = Some((wanted, job));
                false
            }
            JobState::Done(made) => {
                self.failed.extend(
                    wanted
                        .into_iter()
                        .filter(|pose| !made.iter().any(|(done, _)| Arc::ptr_eq(done, pose))),
                );
                self.made.extend(made);
                true
            }
            JobState::Lost => {
                self.failed.extend(wanted);
                false
            }
        }
    }
}

fn flesh_of(
    subject: &Arc<Subject>,
    poses: Vec<Arc<NamedPose>>,
    progress: &Progress,
) -> PosePictures {
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
        actor.set_morphs(&pose.pose.morphs);
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
                time_secs: None,
                times: actor.times(),
                contact: None,
                contacts: Vec::new(),
                velocities: Vec::new(),
                explained: None,
                body_field: None,
            };
            made.push((pose, Arc::new(snapshot)));
        }
    }
    made
}
