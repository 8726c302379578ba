//! Limbs in the bind pose: where muscles are on them.

use std::sync::Arc;

use super::field::PartField;
use crate::character::{Character, Muscle, MuscleShape};
use crate::math::{Affine, Point64, Vec64};
use crate::mesh::TriangleTree;
use crate::rig::{Flexion, Skeleton};

/// A limb whose skin is farther away in the direction of a muscle than this, in distances of the nearest skin, is taken to be that thick: it
/// lies at the body.
const THICKEST: f64 = 2.5;
/// Shorter limbs, in sizes of the skin, have no muscles.
const SHORTEST: f64 = 1e-6;

/// What a muscle is moved by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MuscleGrip {
    /// Its beginning, along the limb.
    Start,
    /// Its middle: along the limb, around it and off its axis.
    Middle,
    /// Its end, along the limb.
    End,
}

/// What muscles are placed by. Positions are relative to the centre of the skin.
pub(super) struct Limbs {
    character: Arc<Character>,
    flexion: Flexion,
    skin: TriangleTree,
    center: Point64,
    /// Diagonal of the skin's bounding box.
    size: f64,
}

/// A muscle on its limb in the bind pose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Placed {
    pub(super) bone: usize,
    pub(super) driver: usize,
    /// The ends of the limb.
    pub(super) limb: [Point64; 2],
    /// Unit vectors: along the limb, and to where the angle is 0° and 90°.
    pub(super) along: Vec64,
    pub(super) sides: [Vec64; 2],
    /// Radius of the limb where the muscle is.
    pub(super) radius: f64,
    pub(super) center: Point64,
    /// Half its length, and half its width at rest.
    pub(super) half: [f64; 2],
}

impl Limbs {
    pub(super) fn new(
        character: Arc<Character>,
        skin: TriangleTree,
        center: Point64,
        size: f64,
    ) -> Self {
        Self {
            flexion: Flexion::of(&character.skeleton),
            character,
            skin,
            center,
            size,
        }
    }

    /// The field that carries the muscles of a joint: that of the joint, or of the nearest one above it.
    pub(super) fn carrier(&self, bone: usize, fields: &[PartField]) -> Option<u16> {
        let of = |joint: usize| fields.iter().position(|of| of.joint as usize == joint);
        self.skeleton()
            .path_up(bone)
            .find_map(of)
            .map(|field| field as u16)
    }

    fn skeleton(&self) -> &Skeleton {
        &self.character.skeleton
    }

    fn at(&self, joint: usize) -> Point64 {
        self.skeleton().bind_position(joint) - self.center.coords
    }

    /// The joint whose bend a muscle follows; `None` for joints that do not exist.
    pub(super) fn driver(&self, muscle: &Muscle) -> Option<usize> {
        let count = self.skeleton().len();
        let chosen = muscle.driver.filter(|&driver| driver < count);
        let driver = chosen.unwrap_or_else(|| self.flexion.bender(muscle.bone));
        (muscle.bone < count).then_some(driver)
    }

    /// Where the bone of a joint ends.
    fn end(&self, joint: usize) -> Option<Point64> {
        let below = self.flexion.bender(joint);
        if below != joint {
            return Some(self.at(below));
        }
        let tail = self.skeleton().joints()[joint].tail;
        tail.map(|tail| tail - self.center.coords)
    }

    /// From a joint along its bone, or on from the bone above it; of any length.
    fn along(&self, joint: usize) -> Vec64 {
        let end = self.end(joint).map(|end| end - self.at(joint));
        let parent = self.skeleton().joints()[joint].parent;
        let before = parent.map_or_else(Vec64::zeros, |parent| self.at(joint) - self.at(parent));
        end.filter(|end| end.norm() > SHORTEST * self.size)
            .unwrap_or(before)
    }

    /// A muscle on its limb; `None` where the bone has no length.
    pub(super) fn place(&self, muscle: &Muscle) -> Option<Placed> {
        let (bone, driver) = (muscle.bone, self.driver(muscle)?);
        let shape = muscle.shape.sanitized();
        let from = self.at(bone);
        let to = if self.skeleton().is_below(driver, bone) {
            self.at(driver)
        } else {
            self.end(bone)?
        };
        let length = (to - from).norm();
        let along = (to - from).try_normalize(SHORTEST * self.size)?;
        let across = |axis: Vec64| axis.cross(&along).try_normalize(0.1);
        let toward = across(self.flexion.axis(driver))
            .or_else(|| across(self.flexion.axis(bone)))
            .or_else(|| across(Vec64::x()))
            .or_else(|| across(Vec64::y()))?;
        let mut placed = Placed {
            bone,
            driver,
            limb: [from, to],
            along,
            sides: [toward, along.cross(&toward)],
            radius: 0.0,
            center: from,
            half: [0.5 * (shape.to - shape.from) * length, 0.0],
        };
        let away = placed.away(&shape);
        let middle = from + (to - from) * (0.5 * (shape.from + shape.to));
        placed.radius = self.radius(&middle, &away);
        placed.center = middle + away * (shape.depth * placed.radius);
        placed.half[1] = shape.thickness * placed.radius;
        (placed.half[1] > 0.0 && placed.half[1].is_finite()).then_some(placed)
    }

    /// The shape of a muscle whose middle, or one of whose ends, is moved to a point in the bind pose. The length is kept where its middle is
    /// moved.
    pub(super) fn moved(&self, muscle: &Muscle, grip: MuscleGrip, to: &Point64) -> MuscleShape {
        let mut shape = muscle.shape;
        let Some(placed) = self.place(muscle) else {
            return shape;
        };
        let [from, end] = placed.limb;
        let (length, offset) = ((end - from).norm(), to - from);
        let share = offset.dot(&placed.along) / length;
        if !share.is_finite() {
            return shape;
        }
        match grip {
            MuscleGrip::Start => shape.from = share.min(shape.to - 0.05),
            MuscleGrip::End => shape.to = share.max(shape.from + 0.05),
            MuscleGrip::Middle => {
                let half = 0.5 * (shape.to - shape.from);
                let share = share.clamp(half, 1.0 - half);
                (shape.from, shape.to) = (share - half, share + half);
                let away = offset - placed.along * offset.dot(&placed.along);
                if let Some(direction) = away.try_normalize(1e-3 * placed.radius) {
                    let [x, y] = placed.sides.map(|side| side.dot(&direction));
                    shape.angle = y.atan2(x);
                }
                let middle = from + (end - from) * share;
                let radius = self.radius(&middle, &placed.direction(shape.angle));
                if radius > 0.0 {
                    shape.depth = away.norm() / radius;
                }
            }
        }
        shape.sanitized()
    }

    /// The radius of a limb at a point of its axis, in a direction.
    fn radius(&self, middle: &Point64, direction: &Vec64) -> f64 {
        let at = middle + self.center.coords;
        let least = self.skin.closest(&at, f64::INFINITY, |_| true);
        let least = least.map_or(0.0, |closest| closest.distance);
        let mut radius = THICKEST * least;
        self.skin
            .crossings(&at, direction, [0.0, radius], |crossing| {
                if crossing.outward {
                    radius = radius.min(crossing.t);
                }
            });
        radius.max(least)
    }
}

impl Placed {
    /// The unit vector from the axis of the limb to a muscle of that shape.
    pub(super) fn away(&self, shape: &MuscleShape) -> Vec64 {
        self.direction(shape.angle)
    }

    /// The unit vector at an angle about the limb, rad.
    fn direction(&self, angle: f64) -> Vec64 {
        let [toward, side] = self.sides;
        toward * angle.cos() + side * angle.sin()
    }
}

/// The bend of a joint away from the bind pose.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Bend {
    joint: usize,
    parent: usize,
    /// Along its bone in the bind pose.
    along: Vec64,
}

impl Bend {
    /// `None` for a joint without a parent.
    pub(super) fn of(limbs: &Limbs, joint: usize) -> Option<Self> {
        Some(Self {
            joint,
            parent: limbs.skeleton().joints()[joint].parent?,
            along: limbs.along(joint),
        })
    }

    /// The angle between its bone and where that would be without a bend, rad; turns about the bone do not count.
    pub(super) fn angle(&self, now_from_bind: &[Affine]) -> f64 {
        let now = now_from_bind[self.joint] * self.along;
        let straight = now_from_bind[self.parent] * self.along;
        let angle = now.cross(&straight).norm().atan2(now.dot(&straight));
        if angle.is_finite() { angle } else { 0.0 }
    }
}
