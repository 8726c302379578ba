//! What edit mode needs of the mesh: the bind pose to look at, and what finds the middle of the flesh. Made in the background, once for
//! a character, whatever becomes of its skeleton.

use std::sync::Arc;

use crate::math::{Point, Vec3};
use crate::mesh::{NormalGroups, TriMesh, WELD_TOLERANCE};
use crate::methods::{MethodId, StepTimes, Subject};
use crate::progress::Progress;
use crate::rig::edit::Placer;
use crate::session::jobs::{Job, Outcome};
use crate::session::{Session, Shape, Snapshot};

use super::Mode;

/// The bind pose of one character.
#[derive(Default)]
pub(super) struct Still {
    made: Option<Made>,
    making: Option<(Arc<[Point]>, Job<Made>)>,
}

struct Made {
    bind: Arc<[Point]>,
    snapshot: Arc<Snapshot>,
    placer: Arc<Placer>,
}

/// No simulation gets that far.
const STILL_SEQUENCE: u64 = u64::MAX;

impl Still {
    pub(super) fn is_busy(&self) -> bool {
        self.making.is_some()
    }

    pub(super) fn placer(&self, subject: &Subject) -> Option<&Arc<Placer>> {
        self.of(subject).map(|made| &made.placer)
    }

    fn of(&self, subject: &Subject) -> Option<&Made> {
        self.made
            .as_ref()
            .filter(|made| Arc::ptr_eq(&made.bind, &subject.bind_positions))
    }
}

impl Session {
    /// What the views show in edit mode: the bind pose. `None` in pose mode, or until it is ready.
    pub(in crate::session) fn still(&self) -> Option<Arc<Snapshot>> {
        let subject = self
            .document
            .subject
            .as_ref()
            .filter(|_| self.rigging.mode == Mode::Edit)?;
        self.rigging
            .still
            .of(subject)
            .map(|made| made.snapshot.clone())
    }

    /// Makes what edit mode needs. Returns whether something has become ready.
    pub(in crate::session) fn follow_still(&mut self) -> bool {
        let Some(subject) = self
            .document
            .subject
            .clone()
            .filter(|_| self.rigging.mode == Mode::Edit)
        else {
            return false;
        };
        let still = &mut self.rigging.still;
        if still.of(&subject).is_some() {
            return false;
        }
        let bind = &subject.bind_positions;
        if let Some((made_for, job)) = still
            .making
            .as_ref()
            .filter(|(made_for, _)| Arc::ptr_eq(made_for, bind))
        {
            return match job.poll() {
                Outcome::Running => false,
                Outcome::Done(made) => {
                    (still.made, still.making) = (Some(made), None);
                    true
                }
                // Tried again with the next character, not with this one.
                Outcome::Lost => {
                    let (bind, placer) =
                        (made_for.clone(), Arc::new(Placer::new(&TriMesh::default())));
                    let snapshot = Arc::new(snapshot(&subject));
                    (still.made, still.making) = (
                        Some(Made {
                            bind,
                            snapshot,
                            placer,
                        }),
                        None,
                    );
                    true
                }
            };
        }
        let bind = bind.clone();
        let work = move |_: &Progress| make(&subject);
        match Job::start("Looking at the mesh".to_owned(), self.waker.clone(), work) {
            Ok(job) => self.rigging.still.making = Some((bind, job)),
            Err(error) => self.tell(
                crate::session::Level::Error,
                format!("No thread could be started to look at the mesh: {error}."),
            ),
        }
        false
    }
}

fn make(subject: &Arc<Subject>) -> Made {
    let skin = &subject.skin.mesh;
    // Props are no flesh, unless there is nothing else.
    let placer = if skin.triangles.is_empty() {
        Placer::new(&TriMesh {
            positions: subject.bind_positions.to_vec(),
            triangles: subject.character.triangles(),
        })
    } else {
        Placer::new(skin)
    };
    Made {
        bind: subject.bind_positions.clone(),
        snapshot: Arc::new(snapshot(subject)),
        placer: Arc::new(placer),
    }
}

/// The bind pose as a state of the flesh.
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
        times: StepTimes::default(),
        contact: None,
        contacts: Vec::new(),
        velocities: Vec::new(),
    }
}
