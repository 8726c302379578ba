//! Exact two-bone solution: the law of cosines for the bend, and a plane that does not flip.
//!
//! The triangle of shoulder, elbow and wrist leaves one freedom: the elbow's position on its circle
//! about the line from shoulder to wrist. Except near the direction opposite to the initial one,
//! the plane is the initial plane, mapped by the smallest rotation from the initial direction of
//! that line to the present one: equal targets give equal elbows. At the opposite direction that
//! rotation is undefined (no continuous choice exists, by the hairy ball theorem); there the plane
//! is transported from one target to the next. All of this happens in the frame of the limb's
//! parent, so that limbs follow a rotating torso.

use super::figure::{Figure, about, across, frame_turn, swing};
use super::limb::{Limb, any_across};
use crate::math::{Point64, Quat, Vec64, smoothstep};

/// A limb during a drag, and its bending plane. Directions are those at the start of the drag, in
/// the frame of the limb's parent.
#[derive(Debug, Clone)]
pub(in crate::rig) struct TwoBone {
    pub limb: Limb,
    /// Joints from `upper` down to `lower`.
    path: Vec<usize>,
    lengths: [f64; 2],
    /// Unit directions of both bones at the start.
    first_bones: [Vec64; 2],
    /// From the shoulder to the dragged point, at the start.
    first_axis: Vec64,
    /// Preferred bend axis at the start; perpendicular to `first_axis`.
    first_hinge: Vec64,
    /// The current values of both.
    axis: Vec64,
    hinge: Vec64,
    /// Angle about the axis from the hinge to the bend axis at the start.
    swivel: f64,
    /// Fraction of the swivel that is kept when the limb bends: a limb that was almost straight
    /// bends about its hinge.
    swivel_kept: f64,
    first_bend: f64,
    /// The axis at the start by which bones are oriented: the bend axis of a bent limb, the hinge of an almost straight one, whose
    /// bend axis is that of a small misalignment. Perpendicular to `first_axis`.
    first_reference: Vec64,
    /// Transforms of `upper` and `lower` at the start: base rotation, and local rotation.
    first_turns: [(Quat, Quat); 2],
}

/// Smallest distance of the elbow from the line between shoulder and wrist at which a swivel follows the pointer, upper bones.
const SWIVEL_LEVER: f64 = 0.25;

impl TwoBone {
    /// Starts with a point carried by `lower`, world space. `None` if a bone has zero length.
    pub fn begin(start: &Figure<'_>, limb: Limb, held: &Point64) -> Option<Self> {
        let (shoulder, elbow) = (start.place(limb.upper), start.place(limb.lower));
        let bones = [elbow - shoulder, held - elbow];
        let lengths = bones.map(|bone| bone.norm());
        let least = 1e-9 * (lengths[0] + lengths[1]);
        let first_bones = [
            bones[0].try_normalize(least)?,
            bones[1].try_normalize(least)?,
        ];
        let first_axis = (held - shoulder)
            .try_normalize(1e-6 * (lengths[0] + lengths[1]))
            .unwrap_or(first_bones[0]);
        let turn_of = |joint: usize| (start.base_turn(joint), start.pose.locals[joint].rotation);
        let first_turns = [turn_of(limb.upper), turn_of(limb.lower)];
        let preferred = first_turns[0].0 * first_turns[0].1 * limb.hinge;
        let bent = first_bones[0].cross(&first_bones[1]);
        let normal = (bent.norm() > 1e-5).then(|| bent.normalize());
        let first_hinge = across(&preferred, &first_axis)
            .or(normal)
            .unwrap_or_else(|| any_across(&first_axis));
        let swivel = normal.map_or(0.0, |normal| {
            angle_about(&first_axis, &first_hinge, &normal)
        });
        let first_bend = bent.norm().atan2(first_bones[0].dot(&first_bones[1]));
        let swivel_kept = smoothstep([0.1, 0.35], first_bend);
        let first_reference = about(&first_axis, swivel * swivel_kept) * first_hinge;
        let (axis, hinge) = (first_axis, first_hinge);
        let mut path: Vec<usize> = start
            .skeleton
            .path_up(limb.lower)
            .take_while(|&joint| joint != limb.upper)
            .collect();
        path.push(limb.upper);
        path.reverse();
        Some(Self {
            limb,
            path,
            lengths,
            first_bones,
            first_axis,
            first_hinge,
            axis,
            hinge,
            swivel,
            swivel_kept,
            first_bend,
            first_reference,
            first_turns,
        })
    }

    /// Minimum and maximum distance of the dragged point from the shoulder.
    pub fn range(&self) -> [f64; 2] {
        [
            (self.lengths[0] - self.lengths[1]).abs(),
            self.lengths[0] + self.lengths[1],
        ]
    }

    /// Hinge axis of the lower bone, in the frame of its joint's local transform.
    pub(crate) fn hinge_in_base(&self) -> Vec64 {
        self.first_turns[1].0.inverse() * self.first_reference
    }

    /// Moves the dragged point to the target, or as near as the limb can: straight, or folded.
    /// Descendants of the limb are not updated.
    pub fn solve(&mut self, figure: &mut Figure<'_>, target: &Point64) {
        let line = self.carried(figure).inverse() * (target - figure.place(self.limb.upper));
        let [l1, l2] = self.lengths;
        let axis = line
            .try_normalize(1e-9 * self.range()[1])
            .unwrap_or(self.axis);
        let distance = self.within_range(line.norm());
        self.follow(axis);
        let bend = angle_of_cosine((distance * distance - l1 * l1 - l2 * l2) / (2.0 * l1 * l2));
        let straightened = 1.0 - smoothstep([self.first_bend, self.first_bend + 0.45], bend);
        let kept = self.swivel * self.swivel_kept;
        let reference = about(&axis, kept) * self.hinge;
        let normal = about(&axis, (self.swivel - kept) * straightened) * reference;
        self.bend(figure, &axis, distance, [&normal, &reference]);
    }

    /// The elbow, for [`Self::swivel_towards`]. That of an almost straight limb is moved away from the line from shoulder to wrist:
    /// on so small a circle it could not follow a pointer, and would spin.
    pub(crate) fn elbow_to_swivel(&self, start: &Figure<'_>, wrist: &Point64) -> Point64 {
        let [shoulder, elbow] = [self.limb.upper, self.limb.lower].map(|joint| start.place(joint));
        let line = (wrist - shoulder)
            .try_normalize(1e-12)
            .unwrap_or_else(Vec64::zeros);
        let out = (elbow - shoulder) - line * (elbow - shoulder).dot(&line);
        let missing = (SWIVEL_LEVER * self.lengths[0] - out.norm()).max(0.0);
        let direction = out
            .try_normalize(1e-9 * self.lengths[0])
            .unwrap_or_else(Vec64::zeros);
        elbow + direction * missing
    }

    /// Rotates the plane about the line from shoulder to wrist so that the elbow comes as near as
    /// possible to a point.
    pub(crate) fn swivel_towards(
        &mut self,
        figure: &mut Figure<'_>,
        wrist: &Point64,
        point: &Point64,
    ) {
        let shoulder = figure.place(self.limb.upper);
        let back = self.carried(figure).inverse();
        let (line, to_point) = (back * (wrist - shoulder), back * (point - shoulder));
        if let Some(axis) = line.try_normalize(1e-9 * self.range()[1])
            && let Some(outward) = across(&to_point, &axis)
        {
            self.follow(axis);
            // The elbow lies on the convex side of the bend.
            let normal = outward.cross(&axis);
            let lost = self.swivel * (1.0 - self.swivel_kept);
            let reference = about(&axis, -lost) * normal;
            let distance = self.within_range(line.norm());
            self.bend(figure, &axis, distance, [&normal, &reference]);
        }
    }

    /// Rotation of the limb's parent since the start.
    fn carried(&self, figure: &Figure<'_>) -> Quat {
        figure.base_turn(self.limb.upper) * self.first_turns[0].0.inverse()
    }

    fn within_range(&self, distance: f64) -> f64 {
        let [nearest, farthest] = self.range();
        distance.clamp(nearest.max(1e-6 * farthest), farthest)
    }

    /// The plane for a new direction from shoulder to wrist.
    fn follow(&mut self, axis: Vec64) {
        let moved = swing(&self.axis, &axis, &self.hinge) * self.hinge;
        let from_first = swing(&self.first_axis, &axis, &self.first_hinge) * self.first_hinge;
        let confidence = smoothstep([-0.97, -0.6], self.first_axis.dot(&axis));
        let turn = angle_about(&axis, &moved, &from_first) * confidence;
        self.hinge = across(&(about(&axis, turn) * moved), &axis).unwrap_or(from_first);
        self.axis = axis;
    }

    /// The triangle with the lengths of both bones and `distance`, in the plane perpendicular to
    /// `normal`. Each bone turns with its direction and with `reference`.
    fn bend(
        &self,
        figure: &mut Figure<'_>,
        axis: &Vec64,
        distance: f64,
        [normal, reference]: [&Vec64; 2],
    ) {
        let [l1, l2] = self.lengths;
        let at_shoulder =
            angle_of_cosine((l1 * l1 + distance * distance - l2 * l2) / (2.0 * l1 * distance));
        let upper = about(normal, -at_shoulder) * axis;
        let lower = (axis * distance - upper * l1)
            .try_normalize(1e-12)
            .unwrap_or(upper);
        let carried = self.carried(figure);
        for ((joint, direction), (first, (base, local))) in [self.limb.upper, self.limb.lower]
            .into_iter()
            .zip([upper, lower])
            .zip(self.first_bones.iter().zip(&self.first_turns))
        {
            let upright = |axis: &Vec64, bone: &Vec64| across(axis, bone).unwrap_or(*normal);
            let from = upright(&self.first_reference, first);
            let to = upright(reference, &direction);
            let turn = carried * frame_turn([first, &from], [&direction, &to]);
            figure.pose.locals[joint].rotation =
                figure.base_turn(joint).inverse() * turn * base * local;
            figure.refresh(&self.path);
        }
    }
}

fn angle_of_cosine(cosine: f64) -> f64 {
    cosine.clamp(-1.0, 1.0).acos()
}

/// The angle about a unit axis that rotates one perpendicular vector to another.
fn angle_about(axis: &Vec64, from: &Vec64, to: &Vec64) -> f64 {
    from.cross(to).dot(axis).atan2(from.dot(to))
}
