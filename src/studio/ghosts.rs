//! Skins of other moments of a motion.
//!
//! Simulated flesh has no other moments until they have been simulated; dual quaternions stand in for it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::dynamics::Params;
use crate::math::{Affine, Point, Vec3};
use crate::methods::{Actor, BindError, Capability, Frame, MethodId, Subject};
use crate::param::ParamValues;
use crate::progress::Progress;
use crate::rig::Pose;

/// A moment of a clip.
#[derive(Debug, Clone, PartialEq)]
pub struct GhostPose {
    /// Seconds from now; below 0 is before.
    pub offset_secs: f64,
    /// The joints then.
    pub world_from_joint: Vec<Affine>,
}

/// A skin at another moment.
#[derive(Debug, Clone)]
pub struct GhostSkin {
    /// Seconds from now; below 0 is before.
    pub offset_secs: f64,
    /// World positions of all source vertices.
    pub positions: Vec<Point>,
    /// Their unit normals.
    pub normals: Vec<Vec3>,
}

/// Skins at several moments.
#[derive(Debug, Clone)]
pub struct GhostSkins {
    /// No two have the same.
    pub sequence: u64,
    /// Whose skins.
    pub subject: Arc<Subject>,
    /// The farthest first, those before now before those after.
    pub skins: Vec<GhostSkin>,
}

impl GhostSkins {
    /// Skins under a number of their own.
    #[must_use]
    pub fn new(subject: Arc<Subject>, skins: Vec<GhostSkin>) -> Self {
        static SEQUENCE: AtomicU64 = AtomicU64::new(1);
        Self {
            sequence: SEQUENCE.fetch_add(1, Ordering::Relaxed),
            subject,
            skins,
        }
    }
}

/// The skins that a method makes of poses; those that it cannot make are left out.
pub fn ghost_skins(actor: &mut Actor, poses: &[GhostPose]) -> Vec<GhostSkin> {
    let mut skins = Vec::with_capacity(poses.len());
    for pose in poses {
        if actor
            .advance(&Frame {
                world_from_joint: &pose.world_from_joint,
                dt_secs: 0.0,
            })
            .is_ok()
        {
            let (positions, normals) = (actor.positions().to_vec(), actor.normals().to_vec());
            skins.push(GhostSkin {
                offset_secs: pose.offset_secs,
                positions,
                normals,
            });
        }
    }
    skins
}

/// The method that makes ghosts in place of another: dual quaternions for simulated ones.
#[must_use]
pub fn method_of_ghosts(method: MethodId) -> MethodId {
    if method.has(Capability::State) {
        MethodId::DQS
    } else {
        method
    }
}

/// Makes ghosts for pictures that are written, at once.
pub struct GhostMaker {
    actor: Actor,
}

impl GhostMaker {
    /// Ghosts of the skins that a method makes with these values of its own parameters.
    ///
    /// # Errors
    /// As [`Actor::bind`].
    pub fn new(
        subject: &Arc<Subject>,
        method: MethodId,
        values: &ParamValues,
        progress: &Progress,
    ) -> Result<Self, BindError> {
        let drawn = method_of_ghosts(method);
        let defaults = ParamValues::default();
        let values = if drawn == method { values } else { &defaults };
        let actor = Actor::bind_with(subject, drawn, &Params::default(), values, progress)?;
        Ok(Self { actor })
    }

    /// The skins of poses at so many seconds from now; `pose_at` has none for moments outside of the motion.
    pub fn skins(
        &mut self,
        offsets_secs: impl Iterator<Item = f64>,
        pose_at: impl Fn(f64) -> Option<Pose>,
    ) -> Vec<GhostSkin> {
        let skeleton = &self.actor.subject().character.skeleton;
        let pose = |offset_secs: f64| {
            let pose = pose_at(offset_secs)?;
            Some(GhostPose {
                offset_secs,
                world_from_joint: skeleton.world_from_joint(&pose),
            })
        };
        let poses: Vec<GhostPose> = offsets_secs.filter_map(pose).collect();
        ghost_skins(&mut self.actor, &poses)
    }
}
