//! Flesh whose base is guided by the skin's weights.

use rayon::prelude::*;

use super::volume::VolumePreserver;
use crate::dynamics::Target;
use crate::math::{Affine, Point, Vec3};
use crate::stages::Subject;
use crate::tissue::{Guide, GuideFrame, Tissue};
use crate::weights::SkinWeights;

/// Volume is looked at once in so many steps.
const VOLUME_EVERY: u32 = 4;
/// The part of what is missing that is asked for then.
const VOLUME_PART: f32 = 0.6;
/// Vertices that one task handles at least.
const MIN_TASK: usize = 512;

/// The transforms of the last pose, and the state of the volume preserver.
pub(super) type SavedGuide = (GuideFrame, Option<[Vec<f32>; 3]>, u32);

/// The guide of a simulation mesh, with the transforms of the last pose.
pub(super) struct Guided {
    guide: Guide,
    frame: GuideFrame,
    /// At rest: the skin, and the base under it.
    skin: Vec<Point>,
    base: Vec<Point>,
    /// Skin vertices whose places follow the base.
    carried: Vec<u32>,
    volume: Option<VolumePreserver>,
    /// Steps since volume was looked at.
    turn: u32,
}

impl Guided {
    /// `None` if the base of the tissue follows the bones.
    pub(super) fn bind(subject: &Subject, tissue: &Tissue) -> Option<Self> {
        let bending = tissue.bending.as_ref()?;
        let sim = subject.sim();
        let bones = &subject.settings.bones;
        let guide = if bones.values().any(|bone| bone.held) {
            let weights = subject.skin_weights();
            let feet = sim.skin_from_sim.iter().zip(&tissue.foot_bones);
            let rows = feet.map(|(&skin, &foot)| {
                let joint = tissue.graph.bones[foot as usize].joint;
                if bones.get(&joint).is_some_and(|bone| bone.held) {
                    vec![(joint as u32, 1.0)]
                } else {
                    weights.row(skin as usize)
                }
            });
            Guide::new(SkinWeights::from_rows(rows).0, &subject.character.skeleton)
        } else {
            subject.guide_of(&sim.skin_from_sim)?
        };
        Some(Self {
            frame: guide.at_rest(),
            guide,
            skin: sim.mesh.positions.clone(),
            base: tissue.base.iter().map(|p| p.cast::<f32>()).collect(),
            carried: tissue.carried.clone(),
            volume: VolumePreserver::bind(&sim.mesh, tissue, bending),
            turn: 0,
        })
    }

    /// The guide itself.
    pub(super) fn guide(&self) -> &Guide {
        &self.guide
    }

    /// How many skin vertices there are.
    pub(super) fn len(&self) -> usize {
        self.skin.len()
    }

    /// The transforms of a pose, if it is the one that was placed last.
    pub(super) fn frame_in(&self, world_from_joint: &[Affine]) -> Option<&GuideFrame> {
        self.frame.is_of(world_from_joint).then_some(&self.frame)
    }

    /// Poses the guide and moves the base, with the places of carried vertices behind it.
    pub(super) fn place(&mut self, world_from_joint: &[Affine], out: &mut [Point]) {
        self.guide.pose(world_from_joint, &mut self.frame);
        if let Some(volume) = &mut self.volume {
            volume.advance();
        }
        self.follow_volume();
        let (base, carried) = out.split_at_mut(self.base.len());
        base.par_iter_mut()
            .zip(&self.base)
            .with_min_len(MIN_TASK)
            .enumerate()
            .for_each(|(vertex, (out, rest))| {
                *out = self.frame.points[vertex].apply(&(rest + self.offset(vertex)));
            });
        for (place, &vertex) in carried.iter_mut().zip(&self.carried) {
            let vertex = vertex as usize;
            *place = self.frame.points[vertex].apply(&self.skin[vertex]);
        }
    }

    /// Where a skin vertex would be without elasticity.
    pub(super) fn target(&self, vertex: usize) -> Target {
        let transform = &self.frame.points[vertex];
        Target {
            position: transform.apply(&(self.skin[vertex] + self.offset(vertex))),
            rotation: transform.rotation(),
        }
    }

    fn follow_volume(&mut self) {
        if let Some(volume) = &mut self.volume {
            volume.follow(&self.frame);
        }
    }

    fn offset(&self, vertex: usize) -> Vec3 {
        let volume = self.volume.as_ref();
        volume.map_or_else(Vec3::zeros, |volume| volume.offset(vertex))
    }

    /// Lets volume return that the skin has lost in this pose. It is looked at every few calls: it returns slowly compared with a step.
    pub(super) fn keep_volume(&mut self, skin: &[Point]) {
        self.turn = (self.turn + 1) % VOLUME_EVERY;
        if self.turn == 0
            && let Some(volume) = &mut self.volume
        {
            volume.observe(skin, &self.frame, VOLUME_PART);
        }
    }

    /// As [`Guided::keep_volume`], at once. Returns how far anything moves for it.
    pub(super) fn return_volume(&mut self, skin: &[Point]) -> f32 {
        let Some(volume) = &mut self.volume else {
            return 0.0;
        };
        volume.observe(skin, &self.frame, 1.0);
        volume.take_needed();
        volume.bulge_into_room()
    }

    /// Forgets what was kept of volume.
    pub(super) fn reset(&mut self) {
        self.turn = 0;
        if let Some(volume) = &mut self.volume {
            volume.reset();
        }
    }

    /// What is kept from step to step.
    pub(super) fn save(&self) -> SavedGuide {
        let volume = self.volume.as_ref().map(VolumePreserver::state);
        (self.frame.clone(), volume, self.turn)
    }

    /// Goes on from what [`Guided::save`] returned.
    pub(super) fn restore(&mut self, (frame, saved, turn): &SavedGuide) {
        self.turn = *turn;
        self.frame.clone_from(frame);
        if let (Some(volume), Some(saved)) = (&mut self.volume, saved) {
            volume.set_state(saved);
        }
        self.follow_volume();
    }
}
