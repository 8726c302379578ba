//! Flesh whose base is guided by the skin's weights.

use super::volume::VolumePreserver;
use crate::dynamics::Target;
use crate::math::{Affine, Point, Vec3};
use crate::stages::Subject;
use crate::tissue::{Guide, GuideFrame, Tissue};
use crate::weights::SkinWeights;

/// Volume is looked at once in so many steps.
const VOLUME_EVERY: u32 = 4;

/// The transforms of the last pose, and the state of the volume preserver.
pub(super) type SavedGuide = (GuideFrame, Option<Vec<f32>>, u32);

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
        let weights = subject.skin_weights();
        let bones = &subject.settings.bones;
        let rows = sim
            .skin_from_sim
            .iter()
            .zip(&tissue.foot_bones)
            .map(|(&skin, &foot)| {
                let joint = tissue.graph.bones[foot as usize].joint;
                if bones.get(&joint).is_some_and(|bone| bone.held) {
                    vec![(joint as u32, 1.0)]
                } else {
                    weights.row(skin as usize)
                }
            });
        let guide = Guide::new(SkinWeights::from_rows(rows).0, &subject.character.skeleton);
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

    /// Poses the guide and moves the base, with the places of carried vertices behind it.
    pub(super) fn place(&mut self, world_from_joint: &[Affine], out: &mut [Point]) {
        self.guide.pose(world_from_joint, &mut self.frame);
        self.follow_volume();
        let (base, carried) = out.split_at_mut(self.base.len());
        for (vertex, (out, rest)) in base.iter_mut().zip(&self.base).enumerate() {
            *out = self.frame.points[vertex].apply(&(rest + self.offset(vertex)));
        }
        for (place, &vertex) in carried.iter_mut().zip(&self.carried) {
            let vertex = vertex as usize;
            *place = self.frame.points[vertex].apply(&self.skin[vertex]);
        }
    }

    /// Where the skin would be without elasticity.
    pub(super) fn targets(&self) -> impl ExactSizeIterator<Item = Target> + '_ {
        let points = self.frame.points.iter().zip(&self.skin).enumerate();
        points.map(|(vertex, (transform, rest))| Target {
            place: transform.apply(&(rest + self.offset(vertex))),
            rotation: transform.rotation(),
        })
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

    /// As [`Guided::keep_volume`], every few calls: volume returns slowly compared with a step.
    pub(super) fn keep_volume_in_turn(&mut self, skin: &[Point], part: f32) {
        self.turn = (self.turn + 1) % VOLUME_EVERY;
        if self.turn == 0 {
            self.keep_volume(skin, part);
        }
    }

    /// Lets volume return that the skin has lost in this pose; `part` of it at once. Returns how far anything moves for it.
    pub(super) fn keep_volume(&mut self, skin: &[Point], part: f32) -> f32 {
        let Self { volume, frame, .. } = self;
        let volume = volume.as_mut();
        volume.map_or(0.0, |volume| volume.observe(skin, frame, part))
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
        let volume = self.volume.as_ref().map(|volume| volume.state().to_vec());
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
