//! Onion skins: skins at other times of a motion.
//!
//! Simulated methods have no state at other times; dual quaternion skinning is used instead.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::dynamics::Params;
use crate::math::{Affine, Point, Vec3};
use crate::methods::{Actor, BindError, Capability, Frame, MethodId, Subject};
use crate::param::ParamValues;
use crate::progress::Progress;
use crate::rig::{MorphWeights, Pose};

/// A pose at another time of a clip.
#[derive(Debug, Clone, PartialEq)]
pub struct GhostPose {
    /// Seconds from now; negative is before.
    pub offset_secs: f64,
    /// World transforms of the joints.
    pub world_from_joint: Vec<Affine>,
    /// Weights of morphs.
    pub morphs: MorphWeights,
}

/// A skin at another time.
#[derive(Debug, Clone)]
pub struct GhostSkin {
    /// Seconds from now; negative is before.
    pub offset_secs: f64,
    /// World positions of all source vertices.
    pub positions: Vec<Point>,
    /// Their unit normals.
    pub normals: Vec<Vec3>,
}

/// Skins at several times.
#[derive(Debug, Clone)]
pub struct GhostSkins {
    /// Unique number.
    pub sequence: u64,
    /// Their character.
    pub subject: Arc<Subject>,
    /// The farthest first, those before now before those after.
    pub skins: Vec<GhostSkin>,
}

impl GhostSkins {
    /// Assigns a new number to skins.
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

/// The skins of poses by a method; poses that fail are omitted.
pub fn ghost_skins(actor: &mut Actor, poses: &[GhostPose]) -> Vec<GhostSkin> {
    let mut skins = Vec::with_capacity(poses.len());
    for pose in poses {
        actor.set_morphs(&pose.morphs);
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

/// The method for ghosts: dual quaternion skinning instead of simulated methods.
#[must_use]
pub fn method_of_ghosts(method: MethodId) -> MethodId {
    if method.has(Capability::State) {
        MethodId::DQS
    } else {
        method
    }
}

/// Computes ghosts synchronously, for pictures that are written.
pub struct GhostMaker {
    actor: Actor,
}

impl GhostMaker {
    /// Ghosts by a method with these values of its own parameters.
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

    /// The skins at these offsets in seconds from now; `pose_at` returns `None` outside the motion.
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
                morphs: pose.morphs,
            })
        };
        let poses: Vec<GhostPose> = offsets_secs.filter_map(pose).collect();
        ghost_skins(&mut self.actor, &poses)
    }
}
