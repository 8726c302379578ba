//! Frames of implicit skinning: the way from the frame before, or from the bind pose.

use super::ImplicitSkin;
use super::skin::{Care, Step};
use crate::math::Affine;
use crate::methods::Frame;

/// Rounds of the last step of a walk, in rounds of the others.
const LAST: usize = 4;
/// Rounds of a step in rounds of one that is between two frames, where only contacts need it.
const BETWEEN: usize = 2;
/// Frames after the last motion until the skin counts as still: after a deep bend it needs more than 20 to come back to rest.
const STILL_FRAMES: u32 = 60;

impl ImplicitSkin {
    /// Follows the joints step by step, from the frame before or from the bind pose.
    pub(super) fn track(&mut self, frame: &Frame<'_>) {
        let subject = self.subject.clone();
        let skeleton = &subject.character.skeleton;
        let settles = frame.dt_secs == 0.0 || !self.is_started;
        if settles {
            self.walk.restart();
            self.skin.restart(&self.model);
            self.before.fill(Affine::identity());
        }
        self.walk
            .set_goal(skeleton, frame.world_from_joint, !settles);
        let mut has_moved = false;
        while self.walk.step(skeleton, frame.world_from_joint) {
            has_moved = true;
            self.is_still = self.follow(settles);
            self.before.clone_from(&self.motions.now_from_bind);
        }
        self.motions.follow(frame.world_from_joint);
        self.still_frames = if has_moved { 0 } else { self.still_frames + 1 };
        if !has_moved && !settles && !self.is_still && self.walk.is_at_rest() {
            self.is_still = self.skin.return_to_rest(&self.model);
        } else if !has_moved && !settles && !self.is_still {
            self.classes.fill(0);
            let (model, rounds) = (&self.model, self.options.rounds);
            let step = Step::new(model, &subject, &self.motions, &self.classes, rounds);
            self.is_still = self.skin.settle(&step);
        }
        self.is_still |= settles || self.still_frames > STILL_FRAMES;
        self.is_started = true;
    }

    /// Takes the skin along with the last step of the walk; where that turns a triangle over, with the first half of it. Returns whether
    /// the skin is still.
    fn follow(&mut self, settles: bool) -> bool {
        let subject = &*self.subject;
        let skeleton = &subject.character.skeleton;
        loop {
            self.walk.classes_into(skeleton, &mut self.classes);
            self.motions.follow(&self.walk.world);
            let can_halve = self.walk.can_halve();
            if can_halve {
                self.skin.remember();
            }
            let care = match (settles, self.walk.is_there()) {
                (true, true) => Care::Still,
                (true, false) => Care::Way,
                (false, true) => Care::Frame,
                (false, false) => Care::Sides,
            };
            let rounds = match care {
                Care::Still => self.options.rounds * LAST,
                Care::Way | Care::Frame => self.options.rounds,
                Care::Sides => self.options.rounds.div_ceil(BETWEEN),
            };
            let (model, motions) = (&self.model, &self.motions);
            let step = Step::new(model, subject, motions, &self.classes, rounds).with(care);
            self.skin.carry(&step, &self.before);
            let is_still = self.skin.settle(&step);
            if !(can_halve && self.skin.has_flipped(&subject.skin.mesh.triangles)) {
                return is_still;
            }
            self.skin.go_back();
            self.walk.halve(skeleton);
        }
    }

    /// Corrects dual quaternion skinning of the pose.
    pub(super) fn project(&mut self, frame: &Frame<'_>) {
        let skeleton = &self.subject.character.skeleton;
        self.walk.set_goal(skeleton, frame.world_from_joint, false);
        self.walk.jump(frame.world_from_joint);
        self.walk.classes_into(skeleton, &mut self.classes);
        self.motions.follow(frame.world_from_joint);
        let (model, rounds) = (&self.model, self.options.rounds);
        let step = Step::new(model, &self.subject, &self.motions, &self.classes, rounds);
        self.skin.blend(&step);
        self.skin.settle(&step);
        (self.is_started, self.is_still) = (false, true);
    }
}
