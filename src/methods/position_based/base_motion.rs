//! How the base of the flesh follows the pose: as that of projective dynamics.

use std::sync::Arc;

use super::binding::Binding;
use crate::dynamics::{Materials, Params, Target, VirtualBones};
use crate::math::{Affine, Point};
use crate::methods::projective::poses::{compose, largest_turn, relative_into};
use crate::methods::projective::{GuidedBase, SavedGuide, heap_bytes_of_guide};
use crate::rig::Trs;
use crate::stages::{Flesh, Subject};
use crate::tissue::{BaseFrame, Guide, GuideFrame};

/// How virtual bones follow the pose.
#[derive(Debug, Clone, Copy)]
pub(super) enum Follow {
    /// By one time step, with inertia.
    Step,
    /// Towards their equilibrium, by this many iterations without inertia.
    Relax(usize),
}

/// All of the motion that persists from step to step.
#[derive(Clone)]
pub(super) struct SavedMotion {
    virtual_bones: Option<VirtualBones>,
    guided: Option<SavedGuide>,
    frame: BaseFrame,
    poses: [Vec<Trs>; 3],
    places: Option<[Vec<[f32; 3]>; 2]>,
}

impl SavedMotion {
    /// Approximate memory of its vectors.
    pub(super) fn heap_bytes(&self) -> usize {
        let places = self.places.iter().flatten();
        let bones = self.virtual_bones.as_ref();
        self.frame.heap_bytes()
            + bones.map_or(0, VirtualBones::heap_bytes)
            + self.guided.as_ref().map_or(0, heap_bytes_of_guide)
            + places.map(|places| size_of_val(&**places)).sum::<usize>()
            + 3 * size_of_val(&*self.poses[0])
    }
}

/// The poses, and what they prescribe.
pub(super) struct BaseMotion {
    subject: Arc<Subject>,
    flesh: Flesh,
    virtual_bones: Option<VirtualBones>,
    /// `None` if the base follows the bones.
    guided: Option<GuidedBase>,
    frame: BaseFrame,
    world: Vec<Affine>,
    /// The transforms that flesh with virtual bones follows.
    carried: Vec<Affine>,
    /// Linear blend skinning, if the skin is bound to it.
    pub(super) binding: Option<Binding>,
    /// The prescribed points.
    pub(super) base: Vec<Point>,
    /// Guidance targets of all unknowns; empty if the base follows the bones.
    pub(super) targets: Vec<Target>,
    /// Poses relative to the parent joints: that of the base, that of the last frame, and that of the current frame.
    base_pose: Vec<Trs>,
    last_pose: Vec<Trs>,
    target_pose: Vec<Trs>,
}

impl BaseMotion {
    /// In the bind pose.
    pub(super) fn of(subject: &Arc<Subject>, flesh: &Flesh) -> Self {
        let skeleton = &subject.character.skeleton;
        let guided = GuidedBase::bind(subject, &flesh.tissue, false);
        let mut bind = Vec::new();
        relative_into(skeleton, &skeleton.bind_transforms(), &mut bind);
        let skin = &subject.sim().mesh.positions;
        Self {
            virtual_bones: None,
            targets: match guided {
                Some(_) => skin.iter().copied().map(Target::at_rest).collect(),
                None => Vec::new(),
            },
            guided,
            frame: BaseFrame::default(),
            world: Vec::new(),
            carried: Vec::new(),
            binding: None,
            base: flesh.tissue.anchors.at_rest(),
            base_pose: bind.clone(),
            last_pose: bind.clone(),
            target_pose: bind,
            flesh: flesh.clone(),
            subject: subject.clone(),
        }
    }

    /// Makes the virtual bones, if there are any.
    pub(super) fn bind_virtual_bones(&mut self, params: &Params, materials: &Materials) {
        let skeleton = &self.subject.character.skeleton;
        let skin = &self.subject.sim().mesh;
        let Flesh { tissue, system } = &self.flesh;
        self.virtual_bones = VirtualBones::bind(tissue, skin, skeleton, system, params, materials);
    }

    pub(super) fn set_params(&mut self, params: &Params, materials: &Materials) {
        if let Some(bones) = &mut self.virtual_bones {
            bones.set_params(&self.flesh.system, params, materials);
        }
    }

    /// Binds the skin to linear blend skinning, or releases it.
    pub(super) fn set_binding(&mut self, wanted: bool) {
        if wanted != self.binding.is_some() {
            self.binding = wanted.then(|| Binding::of(&self.subject));
        }
    }

    pub(super) fn guide(&self) -> Option<&Guide> {
        self.guided.as_ref().map(GuidedBase::guide)
    }

    /// The transforms of joints that the skin follows in this pose: those of virtual bones are where these are. With the guide transforms
    /// of that pose, if the last step was made in it.
    pub(super) fn carried<'a>(
        &'a mut self,
        world: &'a [Affine],
    ) -> (&'a [Affine], Option<&'a GuideFrame>) {
        let carried = match (&self.virtual_bones, &self.guided) {
            (Some(bones), Some(_)) => {
                bones.carry_joints(world, &mut self.carried);
                &self.carried
            }
            _ => world,
        };
        let guided = self.guided.as_ref();
        (carried, guided.and_then(|guided| guided.frame_of(carried)))
    }

    /// Sets the pose of the current frame.
    pub(super) fn set_target(&mut self, world_from_joint: &[Affine]) {
        let skeleton = &self.subject.character.skeleton;
        relative_into(skeleton, world_from_joint, &mut self.target_pose);
    }

    /// The current frame becomes the last one.
    pub(super) fn finish_frame(&mut self) {
        self.last_pose.clone_from(&self.target_pose);
    }

    /// Largest rotation of a joint from the pose of the base to that at the fraction `t` of the frame, rad.
    pub(super) fn turn_to(&self, t: f64) -> f64 {
        let next = self.last_pose.iter().zip(&self.target_pose);
        largest_turn(&self.base_pose, next.map(|(a, b)| a.lerp(b, t)))
    }

    /// Places everything in the pose at the fraction `between` of the frame; `None` is exactly the current pose, `target`. Returns the
    /// last change of the virtual bones, 0 after a time step.
    pub(super) fn place(&mut self, between: Option<f64>, target: &[Affine], motion: Follow) -> f64 {
        let world = match between {
            None => {
                self.base_pose.clone_from(&self.target_pose);
                target
            }
            Some(t) => {
                self.base_pose.clear();
                let poses = self.last_pose.iter().zip(&self.target_pose);
                self.base_pose.extend(poses.map(|(a, b)| a.lerp(b, t)));
                let skeleton = &self.subject.character.skeleton;
                compose(skeleton, &self.base_pose, &mut self.world);
                &self.world
            }
        };
        let mut last_change = 0.0;
        if let Some(bones) = &mut self.virtual_bones {
            match motion {
                Follow::Step => bones.step(world),
                Follow::Relax(iterations) => {
                    last_change = bones.step_quasistatic(world, iterations);
                }
            }
            bones.write_frame(world, &mut self.frame);
            bones.carry_joints(world, &mut self.carried);
        }
        let carried = match self.virtual_bones {
            Some(_) => &self.carried,
            None => world,
        };
        let anchors = &self.flesh.tissue.anchors;
        if let Some(guided) = &mut self.guided {
            anchors.move_volumes(world, &mut self.frame);
            guided.place(carried, &mut self.base);
            for (unknown, target) in self.targets.iter_mut().enumerate() {
                *target = guided.target(unknown);
            }
        } else {
            anchors.place(world, &mut self.frame, &mut self.base);
        }
        if let Some(binding) = &mut self.binding {
            binding.place(carried);
        }
        last_change
    }

    /// Restarts from the bind pose, moved rigidly to the root of the current frame unless there are virtual bones. Returns that motion.
    pub(super) fn restart(&mut self, target: &[Affine]) -> nalgebra::Isometry3<f64> {
        let skeleton = &self.subject.character.skeleton;
        let bind = skeleton.bind_transforms();
        relative_into(skeleton, &bind, &mut self.base_pose);
        self.base = self.flesh.tissue.anchors.at_rest();
        let mut motion = nalgebra::Isometry3::identity();
        if let Some(bones) = &mut self.virtual_bones {
            let from = if self.guided.is_some() { target } else { &bind };
            bones.reset(from);
        } else if let (Some(at), Some(to)) = (self.base_pose.first(), self.target_pose.first()) {
            motion = rigid(to) * rigid(at).inverse();
        }
        for (own, joint) in self.base_pose.iter_mut().zip(skeleton.joints()) {
            if joint.parent.is_none() {
                let moved = motion * rigid(own);
                *own = Trs {
                    translation: moved.translation.vector,
                    rotation: moved.rotation,
                    ..*own
                };
            }
        }
        for point in &mut self.base {
            *point = (motion * point.cast::<f64>()).cast::<f32>();
        }
        if let Some(guided) = &mut self.guided {
            guided.reset();
        }
        self.last_pose.clone_from(&self.base_pose);
        motion
    }

    /// Whether the virtual bones are at their equilibrium, given the result of [`BaseMotion::place`]; true without any.
    pub(super) fn is_converged(&self, last_change: f64) -> bool {
        let bones = self.virtual_bones.as_ref();
        bones.is_none_or(|bones| bones.is_converged(last_change))
    }

    pub(super) fn has_virtual_bones(&self) -> bool {
        self.virtual_bones.is_some()
    }

    pub(super) fn is_guided(&self) -> bool {
        self.guided.is_some()
    }

    pub(super) fn save(&self) -> SavedMotion {
        SavedMotion {
            virtual_bones: self.virtual_bones.clone(),
            guided: self.guided.as_ref().map(GuidedBase::save),
            frame: self.frame.clone(),
            poses: [&self.base_pose, &self.last_pose, &self.target_pose].map(Clone::clone),
            places: self.binding.as_ref().map(Binding::save),
        }
    }

    /// Whether a saved motion is of this skeleton and flesh.
    pub(super) fn fits(&self, saved: &SavedMotion) -> bool {
        saved.poses[0].len() == self.base_pose.len()
            && saved.virtual_bones.is_some() == self.virtual_bones.is_some()
            && saved.guided.is_some() == self.guided.is_some()
    }

    /// Continues from a saved motion that fits, with the base and the targets saved with it.
    pub(super) fn restore(&mut self, saved: &SavedMotion, base: &[Point], targets: &[Target]) {
        if let (Some(guided), Some(saved)) = (&mut self.guided, &saved.guided) {
            guided.restore(saved);
        }
        self.virtual_bones.clone_from(&saved.virtual_bones);
        self.frame.clone_from(&saved.frame);
        if let (Some(binding), Some(places)) = (&mut self.binding, &saved.places) {
            binding.restore(places);
        }
        let [base_pose, last_pose, target_pose] = &saved.poses;
        self.base_pose.clone_from(base_pose);
        self.last_pose.clone_from(last_pose);
        self.target_pose.clone_from(target_pose);
        let skeleton = &self.subject.character.skeleton;
        compose(skeleton, &self.base_pose, &mut self.world);
        self.base.copy_from_slice(base);
        self.targets.copy_from_slice(targets);
    }
}

fn rigid(trs: &Trs) -> nalgebra::Isometry3<f64> {
    nalgebra::Isometry3::from_parts(trs.translation.into(), trs.rotation)
}
