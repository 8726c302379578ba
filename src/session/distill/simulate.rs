//! Simulation of the frames to fit to.

use std::convert::Infallible;
use std::ops::Range;

use crate::character::Character;
use crate::math::Point;
use crate::methods::{Actor, Subject};
use crate::progress::Progress;
use crate::rig::symmetry::{MirrorHow, Symmetry};
use crate::rig::{Pose, Skeleton, motion_range};
use crate::studio::{Moments, Motion, PlayError, Take};
use crate::weights::SkinWeights;
use crate::weights::decomposition::SimulatedFrame;

/// The skin of all meshes that joints move.
pub(super) struct Skin {
    /// Vertices of each mesh; `None` for props.
    parts: Vec<Option<Range<usize>>>,
    pub bind: Vec<Point>,
    pub weights: SkinWeights,
}

impl Skin {
    pub fn of(subject: &Subject) -> Self {
        let (mut parts, mut bind, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        let mut first = 0;
        for (index, mesh) in subject.character.meshes.iter().enumerate() {
            let own = first..first + mesh.positions.len();
            first = own.end;
            let weights = subject.weights_of_mesh(index);
            let weights = weights.filter(|_| mesh.is_skin());
            parts.push(weights.map(|weights| {
                bind.extend_from_slice(&subject.bind_positions[own.clone()]);
                rows.extend((0..weights.len()).map(|vertex| weights.row(vertex)));
                own
            }));
        }
        let weights = SkinWeights::from_rows(rows).0;
        Self {
            parts,
            bind,
            weights,
        }
    }

    /// The positions of the skin among those of all meshes.
    pub fn positions(&self, all: &[Point]) -> Vec<Point> {
        let parts = self.parts.iter().flatten();
        parts.flat_map(|part| &all[part.clone()]).copied().collect()
    }

    /// The vertices of each mesh among those of the skin; `None` for props.
    pub fn parts(&self) -> Vec<Option<Range<usize>>> {
        let mut first = 0;
        let own = |part: &Option<Range<usize>>| {
            let vertices = first..first + part.as_ref()?.len();
            first = vertices.end;
            Some(vertices)
        };
        self.parts.iter().map(own).collect()
    }

    /// Weights of the skin, mesh by mesh.
    pub fn split(&self, weights: &SkinWeights) -> Vec<Option<SkinWeights>> {
        let mut first = 0;
        let own = |part: &Option<Range<usize>>| {
            let vertices = first..first + part.as_ref()?.len();
            first = vertices.end;
            Some(SkinWeights::from_rows(vertices.map(|vertex| weights.row(vertex))).0)
        };
        self.parts.iter().map(own).collect()
    }
}

/// Rotations that differ by less are equal, radians.
const SAME_RAD: f64 = 1e-4;

/// The range of motion, and its mirror image.
pub(super) fn range_of(skeleton: &Skeleton) -> Vec<Pose> {
    let symmetry = Symmetry::of(skeleton);
    let range = motion_range(skeleton);
    let mut poses: Vec<Pose> = range.into_iter().map(|range| range.pose).collect();
    if !symmetry.has_pairs() {
        return poses;
    }
    for pose in poses.clone() {
        let mirrored = symmetry.mirrored(skeleton, &pose, None, MirrorHow::Flip);
        let mut locals = mirrored.locals.iter().zip(&pose.locals);
        if locals.any(|(a, b)| a.rotation.angle_to(&b.rotation) > SAME_RAD) {
            poses.push(mirrored);
        }
    }
    poses
}

/// Simulation of the frames to fit to.
pub(super) struct Run<'a> {
    pub character: &'a Character,
    pub skin: &'a Skin,
    /// Part of the whole work that one frame is.
    pub per_frame: f32,
    pub progress: &'a Progress,
}

impl Run<'_> {
    /// All frames of the takes, then each pose held until the flesh is at rest.
    pub fn simulate(
        &self,
        actor: &mut Actor,
        takes: &[Take],
        poses: Vec<Pose>,
    ) -> Result<Vec<SimulatedFrame>, PlayError<Infallible>> {
        let settled = poses.into_iter().map(|pose| Take {
            motion: Motion::Pose(pose),
            moments: Moments::Settled { time_secs: 0.0 },
        });
        let mut simulated = Vec::new();
        for take in takes.iter().cloned().chain(settled) {
            let done = simulated.len() as f32 * self.per_frame;
            let more = take.frame_count() as f32 * self.per_frame;
            let part = self.progress.part(done, done + more);
            take.play(actor, &part, |frame, actor| {
                simulated.push(SimulatedFrame {
                    pose: take.motion.pose_at(self.character, take.time_of(frame)),
                    positions: self.skin.positions(actor.positions()),
                });
                Ok(())
            })?;
        }
        Ok(simulated)
    }
}
