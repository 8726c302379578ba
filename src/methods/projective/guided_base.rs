//! Base surface that follows dual quaternion skinning by the skin's weights.

use rayon::prelude::*;

use super::floor::Floor;
use super::volume_preserver::{SavedVolume, VolumePreserver};
use crate::collision::Contact;
use crate::dynamics::Target;
use crate::math::{Affine, Point, Vec3};
use crate::stages::Subject;
use crate::tissue::{Guide, GuideFrame, Tissue};
use crate::weights::SkinWeights;

/// Volume is measured once in this many steps: it changes slowly compared with a step.
const VOLUME_INTERVAL: u32 = 4;
/// Fraction of the measured error by which the volume correction changes each time.
const VOLUME_GAIN: f32 = 0.6;
/// Minimum number of vertices per task.
const MIN_TASK: usize = 512;

/// Guide transforms of the last pose, state of the volume preserver, and steps since volume was measured.
pub(in crate::methods) type SavedGuide = (GuideFrame, Option<SavedVolume>, u32);

/// Approximate memory of the vectors of a saved guide.
pub(in crate::methods) fn heap_bytes_of_guide((frame, volume, _): &SavedGuide) -> usize {
    frame.heap_bytes() + volume.as_ref().map_or(0, SavedVolume::heap_bytes)
}

/// The guide of a simulation mesh, with its transforms in the last pose and its volume correction.
pub(in crate::methods) struct GuidedBase {
    guide: Guide,
    frame: GuideFrame,
    /// Rest positions of the skin, and of the base under it.
    skin: Vec<Point>,
    base: Vec<Point>,
    /// Skin vertices that are not simulated but placed by the guide.
    carried: Vec<u32>,
    volume: Option<VolumePreserver>,
    floor: Option<Floor>,
    /// Distance at rest between each skin vertex and its foot point.
    depths: Vec<f32>,
    /// Steps since volume was measured.
    steps_since_volume: u32,
}

impl GuidedBase {
    /// `None` if the base of the tissue follows the bones. `bulges` is whether the base bulges to restore volume.
    pub(in crate::methods) fn bind(
        subject: &Subject,
        tissue: &Tissue,
        bulges: bool,
    ) -> Option<Self> {
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
            subject.guide_by(SkinWeights::from_rows(rows).0, &sim.skin_from_sim)?
        } else {
            subject.guide_of(&sim.skin_from_sim)?
        };
        Some(Self {
            frame: guide.at_rest(),
            guide,
            skin: sim.mesh.positions.clone(),
            base: tissue.base.iter().map(|p| p.cast::<f32>()).collect(),
            carried: tissue.carried.clone(),
            volume: bulges
                .then(|| VolumePreserver::bind(&sim.mesh, tissue, bending))
                .flatten(),
            floor: None,
            depths: (sim.mesh.positions.iter().zip(&tissue.foot_points))
                .map(|(skin, foot)| (skin - foot.cast::<f32>()).norm())
                .collect(),
            steps_since_volume: 0,
        })
    }

    /// The guide itself.
    pub(in crate::methods) fn guide(&self) -> &Guide {
        &self.guide
    }

    /// Number of skin vertices.
    pub(in crate::methods) fn len(&self) -> usize {
        self.skin.len()
    }

    /// The guide transforms, if the last placed pose is this one.
    pub(in crate::methods) fn frame_of(&self, world_from_joint: &[Affine]) -> Option<&GuideFrame> {
        self.frame.is_of(world_from_joint).then_some(&self.frame)
    }

    /// Computes the guide transforms of a pose and the positions of the base, followed by those of the carried
    /// vertices.
    pub(in crate::methods) fn place(&mut self, world_from_joint: &[Affine], out: &mut [Point]) {
        self.guide.pose(world_from_joint, &mut self.frame);
        if let Some(volume) = &mut self.volume {
            volume.filter(VOLUME_INTERVAL - self.steps_since_volume);
        }
        self.update_bulges();
        let (base, carried) = out.split_at_mut(self.base.len());
        base.par_iter_mut()
            .zip(&self.base)
            .with_min_len(MIN_TASK)
            .enumerate()
            .for_each(|(vertex, (out, rest))| {
                *out =
                    self.frame.apply_one(vertex, &(rest + self.offset(vertex))) + self.lift(vertex);
            });
        for (place, &vertex) in carried.iter_mut().zip(&self.carried) {
            let vertex = vertex as usize;
            *place = self.frame.apply_one(vertex, &self.skin[vertex]);
        }
    }

    /// Position and rotation of a skin vertex under the guide alone, that is without elasticity.
    pub(in crate::methods) fn target(&self, vertex: usize) -> Target {
        let skin = self.guided_skin(vertex);
        Target {
            position: skin + self.lift_of(vertex, &skin),
            rotation: self.frame.rotation(vertex),
        }
    }

    /// Sets the floor that flesh is pressed flat against; `None` for none.
    pub(super) fn set_floor(&mut self, floor: Option<Floor>) {
        self.floor = floor;
    }

    /// Position of a skin vertex under the guide, without the floor.
    fn guided_skin(&self, vertex: usize) -> Point {
        self.frame
            .apply_one(vertex, &(self.skin[vertex] + self.offset(vertex)))
    }

    /// How far the floor lifts a vertex of skin and base.
    fn lift(&self, vertex: usize) -> Vec3 {
        if self.floor.is_some() {
            self.lift_of(vertex, &self.guided_skin(vertex))
        } else {
            Vec3::zeros()
        }
    }

    /// The same, of a vertex whose skin is here under the guide.
    fn lift_of(&self, vertex: usize, guided_skin: &Point) -> Vec3 {
        self.floor.map_or_else(Vec3::zeros, |floor| {
            floor.lift(guided_skin, self.depths[vertex])
        })
    }

    fn update_bulges(&mut self) {
        if let Some(volume) = &mut self.volume {
            volume.set_pose(&self.frame);
        }
    }

    fn offset(&self, vertex: usize) -> Vec3 {
        let volume = self.volume.as_ref();
        volume.map_or_else(Vec3::zeros, |volume| volume.offset(vertex))
    }

    /// Updates the volume correction from the skin in this pose with its contacts; all of it once in [`VOLUME_INTERVAL`] calls.
    pub(in crate::methods) fn update_volume(&mut self, skin: &[Point], contacts: &[Contact]) {
        self.steps_since_volume = (self.steps_since_volume + 1) % VOLUME_INTERVAL;
        if let Some(volume) = &mut self.volume {
            if self.steps_since_volume == 0 {
                volume.measure(skin, contacts, &self.frame, VOLUME_GAIN);
            } else {
                volume.track_pressed_volume(skin, &self.frame);
            }
        }
    }

    /// As [`GuidedBase::update_volume`], with the full correction at once. Returns the largest change of a bulge, world
    /// units.
    pub(in crate::methods) fn restore_volume(
        &mut self,
        skin: &[Point],
        contacts: &[Contact],
    ) -> f32 {
        let Some(volume) = &mut self.volume else {
            return 0.0;
        };
        volume.measure(skin, contacts, &self.frame, 1.0);
        volume.use_measured();
        volume.compute_bulges()
    }

    /// Clears the volume correction.
    pub(in crate::methods) fn reset(&mut self) {
        self.steps_since_volume = 0;
        if let Some(volume) = &mut self.volume {
            volume.reset();
        }
    }

    /// The state that persists from step to step.
    pub(in crate::methods) fn save(&self) -> SavedGuide {
        let volume = self.volume.as_ref().map(VolumePreserver::state);
        (self.frame.clone(), volume, self.steps_since_volume)
    }

    /// Restores a state that [`GuidedBase::save`] returned.
    pub(in crate::methods) fn restore(&mut self, (frame, saved, steps_since_volume): &SavedGuide) {
        self.steps_since_volume = *steps_since_volume;
        self.frame.clone_from(frame);
        if let (Some(volume), Some(saved)) = (&mut self.volume, saved) {
            volume.set_state(saved);
        }
        self.update_bulges();
    }
}
