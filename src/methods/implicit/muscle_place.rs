//! Where a muscle is in a pose, for those who show and move it.

use super::body_field::BodyField;
use super::limbs::{Bend, MuscleGrip};
use crate::character::{Muscle, MuscleShape};
use crate::math::{Affine, Point64, Vec64};

/// A muscle in a pose, world space.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct MusclePlace {
    /// Its middle.
    pub center: Point64,
    /// From its middle to its surface: along the limb to its end, away from the axis of the limb, and across both.
    pub half_axes: [Vec64; 3],
    /// The joint whose bend it follows.
    pub driver: usize,
    /// The bend of that joint away from the bind pose, rad.
    pub bend: f64,
    /// Its width, relative to that at rest.
    pub width: f64,
}

impl MusclePlace {
    /// Where a grip is.
    #[must_use]
    pub fn grip(&self, grip: MuscleGrip) -> Point64 {
        match grip {
            MuscleGrip::Start => self.center - self.half_axes[0],
            MuscleGrip::Middle => self.center,
            MuscleGrip::End => self.center + self.half_axes[0],
        }
    }
}

impl BodyField {
    /// Where a muscle is in a pose, also one that the method does not have yet. `None` for joints that do not exist, and for bones without a
    /// length or without skin.
    #[must_use]
    pub fn muscle(&self, muscle: &Muscle, world_from_joint: &[Affine]) -> Option<MusclePlace> {
        let placed = self.limbs.place(muscle)?;
        let (world_from_bind, now_from_bind) = self.carried(muscle, world_from_joint)?;
        let bend = Bend::of(&self.limbs, placed.driver);
        let bend = bend.map_or(0.0, |bend| bend.angle(&now_from_bind));
        let width = muscle.shape.sanitized().swelling(bend);
        let away = placed.away(&muscle.shape);
        let [length, half] = placed.half;
        Some(MusclePlace {
            center: world_from_bind * placed.center,
            half_axes: [
                placed.along * length,
                away * (half * width),
                placed.along.cross(&away) * (half * width),
            ]
            .map(|axis| world_from_bind * axis),
            driver: placed.driver,
            bend,
            width,
        })
    }

    /// The shape of a muscle that is moved in a pose: `grip` to a point in world space. The same shape where it has no place.
    #[must_use]
    pub fn moved_muscle(
        &self,
        muscle: &Muscle,
        grip: MuscleGrip,
        to: &Point64,
        world_from_joint: &[Affine],
    ) -> MuscleShape {
        let carried = self.carried(muscle, world_from_joint);
        let inverse = carried.and_then(|(world_from_bind, _)| world_from_bind.try_inverse());
        match inverse {
            Some(bind_from_world) => self.limbs.moved(muscle, grip, &(bind_from_world * to)),
            None => muscle.shape,
        }
    }

    /// The motion of the part that carries a muscle, and those of all joints as the method sees them.
    fn carried(
        &self,
        muscle: &Muscle,
        world_from_joint: &[Affine],
    ) -> Option<(Affine, Vec<Affine>)> {
        let mut motions = self.motions.clone();
        if world_from_joint.len() != motions.now_from_bind.len() {
            return None;
        }
        motions.follow(world_from_joint);
        let carrier = self.limbs.carrier(muscle.bone, &self.fields)?;
        let joint = self.fields[usize::from(carrier)].joint as usize;
        let world_from_bind = motions.world_from_here * motions.now_from_bind[joint];
        Some((world_from_bind, motions.now_from_bind))
    }
}
