//! Projective skinning: the simulated flesh follows the bones.
//!
//! A fixed simulation step with an accumulator: the same motion on any display. Between two frames the pose is interpolated joint
//! by joint; a jump is walked in small pieces so that no element is turned inside out on the way. Flesh that does not move over
//! bones that do not move sleeps: it costs nothing and stays exactly where it is.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::lbs::check_joints;
use super::subject::{Flesh, Subject};
use super::{BindError, Frame, SkinError, Skinner, StepTimes};
use crate::character::BoneMap;
use crate::collision::{CollisionBody, Detector, Feet, JointPairs, Penetration, deepest_penetration};
use crate::dynamics::{Collisions, Contacts, FactorError, Materials, Params, Simulation, VirtualBones};
use crate::math::{Affine, Point};
use crate::rig::{Skeleton, Trs};
use crate::tissue::BaseFrame;

/// A pose is walked in pieces in which no joint turns by more than this, rad.
const PIECE_RAD: f64 = 0.25;
/// A single step in which a joint turns by more than this is a jump: its inertia means nothing.
const JUMP_RAD: f64 = 0.6;
/// Iterations on each piece of a walk.
const PIECE_ITERATIONS: usize = 6;

/// Flesh that moves less than this part of the size in a step, over a base that stands, falls asleep…
const ASLEEP: f32 = 2e-7;
/// …after so many steps.
const STEPS_TO_SLEEP: u32 = 20;

/// Virtual bones settle in at most so many pieces…
const SETTLING_PIECES: usize = 200;
/// …of so many iterations each.
const SETTLING_ITERATIONS: usize = 50;

/// How virtual bones follow the pose.
#[derive(Debug, Clone, Copy)]
enum Motion {
    /// By a time step.
    Step,
    /// Towards their equilibrium, by so many iterations.
    Creep(usize),
}

/// The simulated skin of one character; its vertices are those of the simulation mesh.
pub struct Projective {
    subject: Arc<Subject>,
    flesh: Flesh,
    simulation: Simulation,
    virtual_bones: Option<VirtualBones>,
    frame: BaseFrame,
    base: Vec<Point>,
    /// Transforms relative to the parent, of the pose that the base is at, of the last frame's, and of the one asked for.
    at: Vec<Trs>,
    from: Vec<Trs>,
    to: Vec<Trs>,
    world: Vec<Affine>,
    /// Time not yet simulated, s.
    pending_secs: f64,
    /// Whether the state follows from an earlier frame.
    started: bool,
    good: Vec<Point>,
    times: StepTimes,
    /// Steps in a row in which nothing moved; [`STEPS_TO_SLEEP`] means asleep.
    still_steps: u32,
}

impl Projective {
    /// Factors and starts at rest in the bind pose.
    ///
    /// # Errors
    /// [`BindError::Tissue`] if the subject has no flesh, [`BindError::Factor`] if it can't be solved for.
    pub fn bind(subject: &Arc<Subject>, params: &Params) -> Result<Self, BindError> {
        let flesh = subject.tissue.clone()?;
        let position = subject.sim().mesh.positions.clone();
        let base = flesh.tissue.anchors.at_rest();
        let mut simulation = Simulation::new(flesh.system.clone(), params, position.clone(), base.clone(), subject.size)?;
        let materials = Materials::of_bones(&flesh.tissue, &subject.sim().mesh, &subject.settings.bones);
        if !materials.is_uniform() {
            simulation.set_materials(&materials)?;
        }
        simulation.set_contacts(contacts(subject, &flesh, params));
        let skeleton = &subject.character.skeleton;
        let virtual_bones = VirtualBones::bind(&flesh.tissue, &subject.sim().mesh, skeleton, &simulation);
        let mut bind = Vec::new();
        relative_into(&subject.character.skeleton, &subject.character.skeleton.bind_transforms(), &mut bind);
        Ok(Self {
            subject: subject.clone(),
            flesh,
            simulation,
            virtual_bones,
            frame: BaseFrame::default(),
            base,
            at: bind.clone(),
            from: bind.clone(),
            to: bind,
            world: Vec::new(),
            pending_secs: 0.0,
            started: false,
            good: position,
            times: StepTimes::default(),
            still_steps: 0,
        })
    }

    /// The simulation inside, to look at.
    #[must_use]
    pub fn simulation(&self) -> &Simulation {
        &self.simulation
    }

    /// Changes physical parameters.
    ///
    /// # Errors
    /// [`FactorError`]; the old parameters then stay.
    pub fn set_params(&mut self, params: &Params) -> Result<(), FactorError> {
        self.still_steps = 0;
        let other = params.collisions != self.simulation.params().collisions;
        self.simulation.set_params(params)?;
        if other {
            self.simulation.set_contacts(contacts(&self.subject, &self.flesh, params));
            if let Some(contacts) = self.simulation.contacts_mut() {
                contacts.place_feet(self.frame.bones());
            }
        }
        self.tell_virtual_bones();
        Ok(())
    }

    /// Changes what the flesh is made of.
    ///
    /// # Errors
    /// [`FactorError`]; the old materials then stay.
    pub fn set_materials(&mut self, materials: &Materials) -> Result<(), FactorError> {
        self.still_steps = 0;
        self.simulation.set_materials(materials)?;
        self.tell_virtual_bones();
        Ok(())
    }

    fn tell_virtual_bones(&mut self) {
        if let Some(bones) = &mut self.virtual_bones {
            bones.set(&self.simulation);
        }
    }

    /// Changes the factors in the settings of bones. What is no factor is part of the subject.
    ///
    /// # Errors
    /// [`FactorError`]; the old materials then stay.
    pub fn set_bones(&mut self, bones: &BoneMap) -> Result<(), FactorError> {
        let materials = Materials::of_bones(&self.flesh.tissue, &self.subject.sim().mesh, bones);
        self.set_materials(&materials)
    }

    /// Whether nothing moves any more until the bones or the parameters do.
    #[must_use]
    pub fn is_asleep(&self) -> bool {
        self.still_steps >= STEPS_TO_SLEEP
    }

    /// How far the skin is inside itself now, whether collisions are on or not; `None` if there is no pose yet.
    #[must_use]
    pub fn penetration(&self) -> Option<Penetration> {
        if self.frame.bones().is_empty() {
            return None;
        }
        let body = match self.simulation.contacts() {
            Some(contacts) => contacts.body().clone(),
            None => Arc::new(CollisionBody::new(&self.subject.sim().mesh, &self.flesh.tissue)),
        };
        let mut feet = Feet::at_rest(&body);
        feet.place(&body, self.frame.bones());
        Some(deepest_penetration(&body, self.simulation.positions(), &feet, &mut Detector::default()))
    }

    /// Where the time of the last frame went.
    #[must_use]
    pub fn times(&self) -> StepTimes {
        self.times
    }

    /// Places the base in the pose between `from` and `to`; `None` is exactly the frame's pose. Returns how far virtual bones still are
    /// from rest.
    fn place_base(&mut self, between: Option<f64>, target: &[Affine], motion: Motion) -> f64 {
        let start = Instant::now();
        let world = match between {
            None => {
                self.at.clone_from(&self.to);
                target
            }
            Some(t) => {
                self.at.clear();
                self.at.extend(self.from.iter().zip(&self.to).map(|(a, b)| a.lerp(b, t)));
                compose(&self.subject.character.skeleton, &self.at, &mut self.world);
                &self.world
            }
        };
        let mut unrest = 0.0;
        if let Some(bones) = &mut self.virtual_bones {
            match motion {
                Motion::Step => bones.step(world),
                Motion::Creep(iterations) => unrest = bones.creep(world, iterations),
            }
            bones.write(world, &mut self.frame);
        }
        self.flesh.tissue.anchors.place(world, &mut self.frame, &mut self.base);
        if let Some(contacts) = self.simulation.contacts_mut() {
            contacts.place_feet(self.frame.bones());
            contacts.part_base(&mut self.base);
        }
        self.times.anchors_ms += start.elapsed().as_secs_f64() * 1e3;
        unrest
    }

    /// Walks from the bind pose to the frame's, without inertia. From then on the frame's pose is the last one.
    ///
    /// Not from where the base is: between two poses that have nothing to do with each other lies anything, and skin that was turned
    /// inside out there may stay so. From the bind pose the way is short, and what comes out depends on the pose alone.
    fn walk(&mut self, target: &[Affine]) -> Result<(), FactorError> {
        self.rest_at_bind();
        if self.virtual_bones.is_none() {
            self.carry_with_root();
        }
        self.from.clone_from(&self.at);
        let pieces = (largest_turn(&self.from, self.to.iter().copied()) / PIECE_RAD).ceil() as usize;
        for piece in 1..pieces {
            self.place_base(Some(piece as f64 / pieces as f64), target, Motion::Creep(PIECE_ITERATIONS));
            self.simulation.creep(&self.base, PIECE_ITERATIONS)?;
        }
        self.place_base(None, target, Motion::Creep(PIECE_ITERATIONS));
        self.simulation.creep(&self.base, PIECE_ITERATIONS)?;
        self.from.clone_from(&self.to);
        Ok(())
    }

    /// Moves the bind pose, flesh and all, to where the frame has its first root: turning as a whole is no deformation.
    fn carry_with_root(&mut self) {
        let (Some(at), Some(to)) = (self.at.first(), self.to.first()) else { return };
        let rigid = |trs: &Trs| nalgebra::Isometry3::from_parts(trs.translation.into(), trs.rotation);
        let motion = rigid(to) * rigid(at).inverse();
        for (own, joint) in self.at.iter_mut().zip(self.subject.character.skeleton.joints()) {
            if joint.parent.is_none() {
                let moved = motion * rigid(own);
                *own = Trs { translation: moved.translation.vector, rotation: moved.rotation, ..*own };
            }
        }
        let carried = |p: &Point| (motion * p.cast::<f64>()).cast::<f32>();
        let skin: Vec<Point> = self.subject.sim().mesh.positions.iter().map(carried).collect();
        for point in &mut self.base {
            *point = carried(point);
        }
        self.simulation.place(&skin, &self.base);
    }

    fn settle(&mut self, target: &[Affine]) -> Result<(), FactorError> {
        self.walk(target)?;
        if self.virtual_bones.is_some() {
            self.let_bones_settle(target)?;
        }
        let report = self.simulation.settle()?;
        self.times.local_ms += report.local_ms;
        self.times.global_ms += report.global_ms;
        self.pending_secs = 0.0;
        self.started = true;
        self.still_steps = STEPS_TO_SLEEP;
        Ok(())
    }

    /// Virtual bones go to their equilibrium, the flesh with them: a base that jumped there would turn elements inside out.
    fn let_bones_settle(&mut self, target: &[Affine]) -> Result<(), FactorError> {
        for _ in 0..SETTLING_PIECES {
            let unrest = self.place_base(None, target, Motion::Creep(SETTLING_ITERATIONS));
            self.simulation.creep(&self.base, PIECE_ITERATIONS)?;
            if self.virtual_bones.as_ref().is_none_or(|bones| bones.is_still(unrest)) {
                break;
            }
        }
        Ok(())
    }

    /// One step over the placed base, unless everything sleeps and the base has not moved.
    fn step_or_sleep(&mut self, deadline: Option<Instant>) {
        let tolerance = ASLEEP * self.subject.size;
        let moved = self.base.iter().zip(self.simulation.base()).any(|(new, old)| (new - old).abs().max() > tolerance);
        if !moved && self.still_steps >= STEPS_TO_SLEEP {
            return;
        }
        let start = Instant::now();
        let report = self.simulation.step_until(&self.base, deadline);
        self.times.iterations += report.iterations as u32;
        self.times.step_ms += start.elapsed().as_secs_f64() * 1e3;
        self.still_steps = if moved || report.farthest > tolerance { 0 } else { self.still_steps + 1 };
        self.times.local_ms += report.local_ms;
        self.times.global_ms += report.global_ms;
    }

    fn rest_at_bind(&mut self) {
        let skeleton = &self.subject.character.skeleton;
        if let Some(bones) = &mut self.virtual_bones {
            bones.rest(&skeleton.bind_transforms());
        }
        self.base = self.flesh.tissue.anchors.at_rest();
        self.simulation.place(&self.subject.sim().mesh.positions, &self.base);
        relative_into(skeleton, &skeleton.bind_transforms(), &mut self.at);
    }

    fn advance(&mut self, frame: &Frame<'_>) -> Result<(), FactorError> {
        let step = self.simulation.params().time_step_secs;
        let (start, budget_ms) = (Instant::now(), self.simulation.params().budget_ms);
        let earlier = self.pending_secs;
        self.pending_secs += frame.dt_secs;
        let steps = ((self.pending_secs + 1e-9) / step).floor() as u32;
        for k in 1..=steps {
            // The frame's pose stands `dt` after the last one's; this step ends k h − earlier after it.
            let t = ((f64::from(k) * step - earlier) / frame.dt_secs).clamp(0.0, 1.0);
            let next = self.from.iter().zip(&self.to).map(|(a, b)| a.lerp(b, t));
            if largest_turn(&self.at, next) > JUMP_RAD {
                self.walk(frame.world_from_joint)?;
                self.still_steps = 0;
                continue;
            }
            self.place_base((t < 1.0).then_some(t), frame.world_from_joint, Motion::Step);
            // Every step of the frame gets the same share of its time.
            let share = |ms: f64| start + Duration::from_secs_f64(ms * 1e-3 * f64::from(k) / f64::from(steps));
            self.step_or_sleep(budget_ms.map(share));
        }
        self.times.steps = steps;
        self.pending_secs -= f64::from(steps) * step;
        self.from.clone_from(&self.to);
        Ok(())
    }
}

impl Skinner for Projective {
    fn skin(&mut self, frame: &Frame<'_>, out: &mut [Point]) -> Result<(), SkinError> {
        let skeleton = &self.subject.character.skeleton;
        check_joints(skeleton.len(), frame)?;
        self.times = StepTimes::default();
        relative_into(skeleton, frame.world_from_joint, &mut self.to);
        let solved = if frame.dt_secs > 0.0 && self.started { self.advance(frame) } else { self.settle(frame.world_from_joint) };
        let finite = self.simulation.positions().iter().all(|p| (p.x + p.y + p.z).is_finite());
        if solved.is_err() || !finite {
            out.copy_from_slice(&self.good);
            self.reset();
            return Err(SkinError::Diverged);
        }
        // Between two steps the skin goes on as it went: no lag, and no stutter on displays that are faster than the step.
        let simulated = self.simulation.params().simulated_step_secs() / self.simulation.params().time_step_secs;
        let asleep = self.still_steps >= STEPS_TO_SLEEP;
        let ahead = if asleep { 0.0 } else { (self.pending_secs * simulated) as f32 };
        for ((out, position), velocity) in out.iter_mut().zip(self.simulation.positions()).zip(self.simulation.velocities()) {
            *out = position + velocity * ahead;
        }
        self.good.copy_from_slice(out);
        Ok(())
    }

    fn reset(&mut self) {
        self.started = false;
        self.pending_secs = 0.0;
    }
}

/// What collides, as far as the parameters want it.
fn contacts(subject: &Subject, flesh: &Flesh, params: &Params) -> Option<Contacts> {
    if params.collisions == Collisions::Off {
        return None;
    }
    let body = Arc::new(CollisionBody::new(&subject.sim().mesh, &flesh.tissue));
    let contacts = Contacts::new(body.clone(), &flesh.system, params, subject.size);
    if params.collisions == Collisions::Global {
        return Some(contacts);
    }
    Some(contacts.around_joints(Arc::new(JointPairs::find(&body, &flesh.tissue))))
}

/// Transform of every joint relative to its parent joint.
fn relative_into(skeleton: &Skeleton, world: &[Affine], out: &mut Vec<Trs>) {
    let of = |(joint, own): (&crate::rig::Joint, &Affine)| {
        let parent = joint.parent.map_or_else(Affine::identity, |parent| world[parent]);
        Trs::from_affine(&(parent.try_inverse().unwrap_or_else(Affine::identity) * own))
    };
    out.clear();
    out.extend(skeleton.joints().iter().zip(world).map(of));
}

/// The inverse of [`relative_into`].
fn compose(skeleton: &Skeleton, relative: &[Trs], world: &mut Vec<Affine>) {
    world.clear();
    for (joint, own) in skeleton.joints().iter().zip(relative) {
        let parent = joint.parent.map_or_else(Affine::identity, |parent| world[parent]);
        world.push(parent * own.to_affine());
    }
}

/// Largest rotation of any joint between two poses, rad.
fn largest_turn(from: &[Trs], to: impl Iterator<Item = Trs>) -> f64 {
    from.iter().zip(to).map(|(a, b)| a.rotation.angle_to(&b.rotation)).fold(0.0, f64::max)
}
