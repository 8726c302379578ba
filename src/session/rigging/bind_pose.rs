//! Mesh data of edit mode: the bind pose to show, and the search structure for the middle of the flesh. Computed in the background, once
//! per character, independently of its skeleton. Only where weights are shown, the subject of the bind pose changes with the skeleton.

use std::sync::Arc;

use crate::math::{Point, Vec3};
use crate::mesh::{NormalGroups, TriMesh, WELD_TOLERANCE};
use crate::methods::{MethodId, StepTimes, Subject};
use crate::progress::Progress;
use crate::rig::edit::Placer;
use crate::session::job::{Job, JobState};
use crate::session::{Shape, Snapshot, Waker};
use crate::weights::WeightMethod;

/// The bind pose of one character.
#[derive(Default)]
pub(super) struct BindPoseCache {
    made: Option<BindPoseSkin>,
    making: Option<(Arc<[Point]>, Job<BindPoseSkin>)>,
    /// Number of times that the weights of the bind pose have changed.
    changes: u64,
}

struct BindPoseSkin {
    bind: Arc<[Point]>,
    snapshot: Arc<Snapshot>,
    placer: Arc<Placer>,
}

/// A sequence number that no simulation reaches; minus the number of changes.
const STILL_SEQUENCE: u64 = u64::MAX;

impl BindPoseCache {
    pub(super) fn is_busy(&self) -> bool {
        self.making.is_some()
    }

    pub(super) fn placer(&self, subject: &Subject) -> Option<&Arc<Placer>> {
        self.of(subject).map(|made| &made.placer)
    }

    fn of(&self, subject: &Subject) -> Option<&BindPoseSkin> {
        self.made
            .as_ref()
            .filter(|made| Arc::ptr_eq(&made.bind, &subject.bind_positions))
    }
}

impl BindPoseCache {
    /// The bind pose, once it is ready.
    pub(super) fn snapshot(&self, subject: &Subject) -> Option<Arc<Snapshot>> {
        self.of(subject).map(|made| made.snapshot.clone())
    }

    /// Computes the data of edit mode; the bind pose has the latest weights by `weights` that are ready. Returns whether something has
    /// become ready.
    ///
    /// # Errors
    /// If no thread can be started.
    pub(super) fn follow(
        &mut self,
        subject: Arc<Subject>,
        weights: Option<WeightMethod>,
        waker: Option<&Waker>,
    ) -> std::io::Result<bool> {
        if self.of(&subject).is_some() {
            return Ok(weights.is_some_and(|method| self.take_weights(&subject.weighted(method))));
        }
        let bind = &subject.bind_positions;
        if let Some((made_for, job)) = self
            .making
            .as_ref()
            .filter(|(made_for, _)| Arc::ptr_eq(made_for, bind))
        {
            let made = match job.poll() {
                JobState::Running => return Ok(false),
                JobState::Done(made) => made,
                // Not retried for this character.
                JobState::Lost => BindPoseSkin {
                    bind: made_for.clone(),
                    snapshot: Arc::new(snapshot(&subject)),
                    placer: Arc::new(Placer::new(&TriMesh::default())),
                },
            };
            (self.made, self.making) = (Some(made), None);
            return Ok(true);
        }
        let bind = bind.clone();
        let work = move |_: &Progress| make(&subject);
        let job = Job::start("Analysing the mesh".to_owned(), waker.cloned(), work)?;
        self.making = Some((bind, job));
        Ok(false)
    }
}

impl BindPoseCache {
    /// Shows the weights of a subject if they are computed; the earlier ones stay until then. Returns whether they are other ones.
    fn take_weights(&mut self, weighted: &Arc<Subject>) -> bool {
        let Some(made) = &mut self.made else {
            return false;
        };
        if weighted.weight_report().is_none() || Arc::ptr_eq(&made.snapshot.subject, weighted) {
            return false;
        }
        self.changes += 1;
        made.snapshot = Arc::new(Snapshot {
            sequence: STILL_SEQUENCE - self.changes,
            subject: weighted.clone(),
            world_from_joint: weighted.character.skeleton.bind_transforms(),
            ..(*made.snapshot).clone()
        });
        true
    }
}

fn make(subject: &Arc<Subject>) -> BindPoseSkin {
    let skin = &subject.skin.mesh;
    // Props are used only if there is no flesh.
    let placer = if skin.triangles.is_empty() {
        Placer::new(&TriMesh {
            positions: subject.bind_positions.to_vec(),
            triangles: subject.character.triangles(),
        })
    } else {
        Placer::new(skin)
    };
    BindPoseSkin {
        bind: subject.bind_positions.clone(),
        snapshot: Arc::new(snapshot(subject)),
        placer: Arc::new(placer),
    }
}

/// The bind pose as a snapshot.
fn snapshot(subject: &Arc<Subject>) -> Snapshot {
    let positions = subject.bind_positions.to_vec();
    let character = &subject.character;
    let of_file: Vec<Vec3> = character
        .meshes
        .iter()
        .flat_map(|mesh| {
            mesh.normals
                .clone()
                .unwrap_or_else(|| vec![Vec3::zeros(); mesh.positions.len()])
        })
        .collect();
    let mut normals = vec![Vec3::y(); positions.len()];
    NormalGroups::new(
        &positions,
        &character.triangles(),
        &of_file,
        WELD_TOLERANCE * subject.size,
    )
    .normals_into(&positions, &mut normals);
    Snapshot {
        sequence: STILL_SEQUENCE,
        subject: subject.clone(),
        method: MethodId::RIGID,
        shape: Shape::new(positions, normals, Vec::new()),
        world_from_joint: character.skeleton.bind_transforms(),
        time_secs: None,
        times: StepTimes::default(),
        contact: None,
        contacts: Vec::new(),
        velocities: Vec::new(),
        explained: None,
        body_field: None,
    }
}
