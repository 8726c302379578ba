//! Aligns the character's stance with the motion's stance, bone by bone.
//!
//! The character's body frame is rotated onto the motion's, then every limb bone by the smallest
//! rotation onto the direction of its partner: an A-pose becomes a T-pose, spread legs come
//! together, and no bone is twisted. The roll about the bones is determined separately: upper arms
//! and thighs are rolled so that the hinges of elbow and knee match the motion's bend axes; hands
//! follow their knuckles, and feet point in the direction of the partner's feet. Spine, neck, head
//! and clavicles are assumed neutral in both stances.

use std::collections::BTreeMap;

use super::role::{Digit, Role, Side};
use super::stance::{Landmarks, Stance, about, swing, twist_angle, unit};
use crate::math::{Quat, Vec64};
use crate::rig::Skeleton;

/// Both skeletons in their stances, in the character's world axes.
pub(super) struct Alignment<'a> {
    pub target: &'a Skeleton,
    pub target_stance: &'a Stance,
    pub target_marks: &'a Landmarks,
    pub source: &'a Skeleton,
    pub source_stance: &'a Stance,
    pub source_marks: &'a Landmarks,
    /// Rotates the character's body frame onto the motion's.
    pub body: Quat,
    /// The bend axis of each limb, measured from the motion, in its stance: by the role of the
    /// limb's upper bone.
    pub hinges: &'a BTreeMap<Role, Vec64>,
    /// The up direction of the motion's feet when standing, in its stance.
    pub soles: &'a BTreeMap<Role, Vec64>,
    /// Whether the motion's feet may be non-flat in its stance.
    pub on_tiptoe: bool,
    /// Up, for the character in its stance: its feet stand there.
    pub own_up: Vec64,
}

/// Maximum roll from a hinge; larger values are unreliable.
const MOST_ARM_ROLL: f64 = 1.0;
const MOST_LEG_ROLL: f64 = 0.6;
/// Maximum correction of a foot that is not flat in the stance.
const MOST_SOLE_TURN: f64 = 0.7;
/// Limbs whose directions differ by less than this (rad) are in equal stances; by more than twice
/// this, in different ones.
const SAME_STANCE: f64 = 0.2;
/// Weight of a thumb as an indicator of the hand's roll.
const THUMB_TOLERANCE: f64 = 0.5;

impl Alignment<'_> {
    /// For every role the rotation of the character's bones from its own stance to the motion's;
    /// chains joint by joint.
    pub fn turns(&self) -> BTreeMap<Role, Vec<Quat>> {
        let mut turns = BTreeMap::new();
        for role in [Role::Hips, Role::Spine, Role::Neck, Role::Head]
            .into_iter()
            .chain(Side::BOTH.map(Role::Clavicle))
        {
            turns.insert(role, vec![self.body; self.target_marks.joints(role).len()]);
        }
        for side in Side::BOTH {
            self.arm(side, &mut turns);
            self.leg(side, &mut turns);
        }
        turns
    }

    fn axes(&self) -> [Vec64; 2] {
        let frame = self.source_frame();
        [frame * Vec64::y(), frame * Vec64::z()]
    }

    /// Maps the character's frame to the motion's: forward is the viewing direction of both.
    fn source_frame(&self) -> Quat {
        let own = self
            .target_marks
            .frame(self.target_stance, &Vec64::y())
            .unwrap_or_else(Quat::identity);
        self.body * own
    }

    /// Direction of a bone on the character and on the motion.
    fn bones(&self, from: Role, to: Role) -> Option<(Vec64, Vec64)> {
        let bone = |marks: &Landmarks, stance: &Stance| {
            unit(marks.place(stance, to)? - marks.place(stance, from)?)
        };
        Some((
            bone(self.target_marks, self.target_stance)?,
            bone(self.source_marks, self.source_stance)?,
        ))
    }

    /// On top of `base`, the smallest rotation onto the partner's direction.
    fn swung(&self, base: &Quat, from: Role, to: Role) -> Quat {
        let [up, _] = self.axes();
        self.bones(from, to).map_or(*base, |(own, wanted)| {
            swing(&(base * own), &wanted, &up) * base
        })
    }

    fn arm(&self, side: Side, turns: &mut BTreeMap<Role, Vec<Quat>>) {
        let (upper, fore, hand) = (Role::UpperArm(side), Role::Forearm(side), Role::Hand(side));
        let [_, front] = self.axes();
        let swung = self.swung(&self.body, upper, fore);
        let rolled = match self.bones(upper, fore) {
            Some((own, along)) => {
                let own_hinge = self
                    .own_hinge(upper, fore, hand)
                    .unwrap_or_else(|| own.cross(&(self.body.inverse() * front)));
                self.rolled(&swung, upper, &along, &own_hinge, MOST_ARM_ROLL)
            }
            None => swung,
        };
        turns.insert(upper, vec![rolled]);
        let forearm = self.swung(&swung, fore, hand);
        let palm = self.palm(&forearm, side);
        // Half of the hand's roll is applied at the forearm.
        let along = self.bones(fore, hand).map(|(_, along)| along);
        let roll = along.and_then(|along| {
            let relative = palm * forearm.inverse();
            let angle = 2.0 * relative.imag().dot(&along).atan2(relative.w);
            Some(about(&along, wrapped(angle) / 2.0)).filter(|_| angle.is_finite())
        });
        turns.insert(fore, vec![roll.unwrap_or_else(Quat::identity) * forearm]);
        turns.insert(hand, vec![palm]);
        for digit in Digit::ALL {
            self.finger(side, digit, &palm, turns);
        }
    }

    fn leg(&self, side: Side, turns: &mut BTreeMap<Role, Vec<Quat>>) {
        let (thigh, shin, foot) = (Role::Thigh(side), Role::Shin(side), Role::Foot(side));
        let [up, front] = self.axes();
        let swung = self.swung(&self.body, thigh, shin);
        let rolled = match self.bones(thigh, shin) {
            Some((_, along)) => {
                let left = self.body.inverse() * up.cross(&front);
                let own_hinge = self.own_hinge(thigh, shin, foot).unwrap_or(left);
                self.rolled(&swung, thigh, &along, &own_hinge, MOST_LEG_ROLL)
            }
            None => swung,
        };
        turns.insert(thigh, vec![rolled]);
        let lower = self.swung(&rolled, shin, foot);
        turns.insert(shin, vec![lower]);
        let (own, partner) = (
            heading(self.target, self.target_stance, self.target_marks, side),
            heading(self.source, self.source_stance, self.source_marks, side),
        );
        let along = self.bones(shin, foot).map_or(-up, |(_, along)| along);
        let pointed = match (own, partner) {
            (Some(own), Some(partner)) => match twist_angle(&along, &(lower * own), &partner) {
                Some(angle) => about(&along, angle) * lower,
                None => lower,
            },
            _ => lower,
        };
        let pointed = self.flat(&pointed, side);
        turns.insert(foot, vec![pointed]);
        let toe = Role::Toe(side);
        turns.insert(toe, vec![pointed; self.target_marks.joints(toe).len()]);
    }

    /// Rotates the sole so that it is on the ground when the motion's foot stands.
    fn flat(&self, foot: &Quat, side: Side) -> Quat {
        let Some(wanted) = self.soles.get(&Role::Foot(side)) else {
            return *foot;
        };
        // If both shins have equal directions, so do the feet; a rotated shin may have rotated the
        // foot.
        let swung = self
            .bones(Role::Shin(side), Role::Foot(side))
            .map_or(0.0, |(own, along)| (self.body * own).angle(&along));
        let most = if self.on_tiptoe {
            MOST_SOLE_TURN
        } else {
            (1.5 * swung).min(MOST_SOLE_TURN)
        };
        let turn = swing(&(foot * self.own_up), wanted, &self.axes()[1]);
        let part = (most / turn.angle().max(1e-9)).min(1.0);
        turn.powf(part) * foot
    }

    /// The bend axis of the character's limb, if it is clearly bent in the anatomical direction.
    fn own_hinge(&self, upper: Role, lower: Role, end: Role) -> Option<Vec64> {
        let bone = |from: Role, to: Role| {
            unit(
                self.target_marks.place(self.target_stance, to)?
                    - self.target_marks.place(self.target_stance, from)?,
            )
        };
        let (first, second) = (bone(upper, lower)?, bone(lower, end)?);
        let [up, front] = self.axes().map(|axis| self.body.inverse() * axis);
        let usual = if matches!(upper, Role::Thigh(_)) {
            up.cross(&front)
        } else {
            first.cross(&front)
        };
        let bend = first.cross(&second);
        (bend.norm() > 0.2 && bend.dot(&usual) > 0.6 * bend.norm() * usual.norm()).then_some(bend)
    }

    /// Rolls a limb's upper bone so that its hinge matches the motion's bend axis.
    fn rolled(
        &self,
        swung: &Quat,
        role: Role,
        along: &Vec64,
        own_hinge: &Vec64,
        most: f64,
    ) -> Quat {
        let wanted = self
            .hinges
            .get(&role)
            .and_then(|hinge| twist_angle(along, &(swung * own_hinge), hinge));
        // If the limb's direction already equals its partner's, the stances are equal and no roll
        // is needed.
        let unlike =
            (((swung * self.body.inverse()).angle() - SAME_STANCE) / SAME_STANCE).clamp(0.0, 1.0);
        wanted.map_or(*swung, |angle| {
            about(along, unlike * angle.clamp(-most, most)) * swung
        })
    }

    /// The hand: onto the partner's direction, rolled by the knuckles, or approximately by the
    /// thumb.
    fn palm(&self, forearm: &Quat, side: Side) -> Quat {
        let hand = Role::Hand(side);
        let toward = [Digit::Middle, Digit::All, Digit::Index, Digit::Ring]
            .map(|digit| Role::Finger(side, digit));
        let Some((along, swung)) = toward.into_iter().find_map(|finger| {
            Some((
                self.bones(hand, finger)?.1,
                self.swung(forearm, hand, finger),
            ))
        }) else {
            let along = self
                .bones(Role::Forearm(side), hand)
                .map(|(_, along)| along);
            return along.map_or(*forearm, |along| {
                self.rolled_by_thumb(forearm, side, &along)
            });
        };
        let knuckles = self.bones(
            Role::Finger(side, Digit::Little),
            Role::Finger(side, Digit::Index),
        );
        match knuckles.and_then(|(own, partner)| twist_angle(&along, &(swung * own), &partner)) {
            Some(angle) => about(&along, angle) * swung,
            None => self.rolled_by_thumb(&swung, side, &along),
        }
    }

    fn rolled_by_thumb(&self, hand: &Quat, side: Side, along: &Vec64) -> Quat {
        let direction = |skeleton: &Skeleton, stance: &Stance, marks: &Landmarks| {
            let base = marks.place(stance, Role::Hand(side))?;
            let thumb = marks.joints(Role::Finger(side, Digit::Thumb));
            let last = *thumb.last()?;
            let tip = skeleton.children(last).first().copied().unwrap_or(last);
            unit(stance.places[tip] - base)
        };
        let own = direction(self.target, self.target_stance, self.target_marks);
        let partner = direction(self.source, self.source_stance, self.source_marks);
        let angle = own
            .zip(partner)
            .and_then(|(own, partner)| twist_angle(along, &(hand * own), &partner))
            .unwrap_or(0.0);
        about(
            along,
            angle - angle.clamp(-THUMB_TOLERANCE, THUMB_TOLERANCE),
        ) * hand
    }

    fn finger(&self, side: Side, digit: Digit, palm: &Quat, turns: &mut BTreeMap<Role, Vec<Quat>>) {
        let role = Role::Finger(side, digit);
        let (own, partner) = (
            self.target_marks.joints(role),
            self.source_marks.joints(role),
        );
        let mut turn = *palm;
        let mut all = Vec::with_capacity(own.len());
        let skipped = partner.len().saturating_sub(own.len());
        for (index, &joint) in own.iter().enumerate() {
            let bone = |skeleton: &Skeleton, stance: &Stance, joint: usize| {
                let tip = *skeleton.children(joint).first()?;
                unit(stance.places[tip] - stance.places[joint])
            };
            let wanted = partner
                .get(index + skipped)
                .and_then(|&joint| bone(self.source, self.source_stance, joint));
            if let (Some(from), Some(to)) = (bone(self.target, self.target_stance, joint), wanted) {
                turn = swing(&(turn * from), &to, &self.axes()[1]) * turn;
            }
            all.push(turn);
        }
        turns.insert(role, all);
    }
}

/// Direction of a foot: from the ankle to the end of the toes.
fn heading(skeleton: &Skeleton, stance: &Stance, marks: &Landmarks, side: Side) -> Option<Vec64> {
    let ankle = marks.joints(Role::Foot(side)).first().copied()?;
    let last = marks
        .joints(Role::Toe(side))
        .last()
        .copied()
        .unwrap_or(ankle);
    let tip = std::iter::successors(Some(last), |&joint| {
        skeleton.children(joint).first().copied()
    })
    .last()?;
    unit(stance.places[tip] - stance.places[ankle])
}

/// Wraps an angle to −π..π.
fn wrapped(angle: f64) -> f64 {
    use std::f64::consts::{PI, TAU};
    (angle + PI).rem_euclid(TAU) - PI
}
