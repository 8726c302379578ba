//! Where the composed field of implicit skinning is cut: a plane through a joint.

use serde::{Deserialize, Serialize};

use super::bones::skeleton_bones;
use super::camera::Camera;
use crate::math::{Affine, Point64, Vec64, origin_of};
use crate::methods::{FieldPlane, Subject};

/// Half the side of the plane, in lengths of the longer of the bones that meet at the joint.
const REACH: f64 = 1.2;
/// Least and largest half side, and that without a joint, as parts of the character's size.
const HALF: [f64; 2] = [0.02, WHOLE];
const WHOLE: f64 = 0.55;
/// How far the slider moves planes that do not cross the bone, in lengths of the bone.
const SIDEWAYS: f64 = 0.5;
/// The plane of a bend is that of its bones; a straight limb has none, and the front of the body decides with this weight.
const FRONT: f64 = 0.05;

/// Direction of a cut through the field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum FieldDirection {
    /// The plane in which the joint is bent; of a straight limb the one that faces the front of the body.
    #[default]
    Along,
    /// Perpendicular to the joint's bone.
    Across,
    /// Facing the camera.
    Camera,
}

impl FieldDirection {
    /// All values.
    pub const ALL: [Self; 3] = [Self::Along, Self::Across, Self::Camera];

    /// Identifier on the command line.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Along => "along",
            Self::Across => "across",
            Self::Camera => "camera",
        }
    }
}

/// A plane that cuts the composed field, through the selected joint or the middle of the skeleton.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct FieldCut {
    /// Its direction.
    pub direction: FieldDirection,
    /// How far it is moved along its normal, −1 to 1: across a bone in lengths of the bone, otherwise in halves of them.
    pub offset: f32,
}

/// The place that a cut goes through.
struct Place {
    at: Vec64,
    /// Unit vectors: along the bone that comes to the joint, and along the bone that leaves it.
    bones: [Vec64; 2],
    /// Length of the bone that leaves it, and half the side of the plane.
    length: f64,
    half: f64,
}

impl FieldCut {
    /// The plane in a pose, in world space. `joint`: the one that it goes through.
    #[must_use]
    pub fn plane(
        &self,
        subject: &Subject,
        world_from_joint: &[Affine],
        joint: Option<usize>,
        camera: &Camera,
    ) -> FieldPlane {
        let stage = subject.world_from_stage().cast::<f64>();
        let [side, up, front] = [Vec64::x(), Vec64::y(), Vec64::z()].map(|axis| stage * axis);
        let place = joint.and_then(|joint| Place::of_joint(subject, world_from_joint, joint));
        let place = place.unwrap_or_else(|| Place::of_all(subject, world_from_joint, up));
        let [before, along] = place.bones;
        let facing = square_to(&front, &along).or_else(|| square_to(&side, &along));
        let facing = facing.unwrap_or(front);
        let (normal, first, step) = match self.direction {
            FieldDirection::Along => {
                let bend = before.cross(&along);
                let bend = if bend.dot(&facing) < 0.0 { -bend } else { bend };
                let normal = square_to(&(bend + facing * FRONT), &along).unwrap_or(facing);
                (normal, along, SIDEWAYS)
            }
            FieldDirection::Across => (along, facing, 1.0),
            FieldDirection::Camera => {
                let (right, up, _) = camera.axes();
                let (right, up) = (right.cast::<f64>(), up.cast::<f64>());
                (right.cross(&up), right, SIDEWAYS)
            }
        };
        let offset = f64::from(self.offset);
        let offset = if offset.is_finite() {
            offset.clamp(-1.0, 1.0)
        } else {
            0.0
        };
        FieldPlane {
            center: Point64::from(place.at + normal * (offset * step * place.length)),
            axes: [first, normal.cross(&first)],
            half: place.half,
        }
    }
}

impl Place {
    fn of_joint(subject: &Subject, world_from_joint: &[Affine], joint: usize) -> Option<Self> {
        let skeleton = &subject.character.skeleton;
        let at = origin_of(world_from_joint.get(joint)?).coords;
        let leaving = skeleton_bones(skeleton, world_from_joint);
        let leaving = leaving.iter().filter(|(of, _)| *of == joint);
        let (sum, count) = leaving.fold((Vec64::zeros(), 0), |(sum, count), (_, bone)| {
            (sum + (bone.tail - bone.head).cast::<f64>(), count + 1)
        });
        let parent = skeleton.joints().get(joint)?.parent;
        let before = parent.and_then(|parent| world_from_joint.get(parent));
        let before = before.map_or_else(Vec64::zeros, |parent| at - origin_of(parent).coords);
        let bone = if count > 0 {
            sum / f64::from(count)
        } else {
            before
        };
        let along = bone.try_normalize(1e-12)?;
        let length = bone.norm();
        let [least, most] = HALF.map(|part| part * f64::from(subject.size));
        Some(Self {
            at,
            bones: [before.try_normalize(1e-12).unwrap_or(along), along],
            length,
            half: (REACH * length.max(before.norm())).clamp(least, most),
        })
    }

    /// The middle of all bones, weighted by their lengths.
    fn of_all(subject: &Subject, world_from_joint: &[Affine], up: Vec64) -> Self {
        let bones = skeleton_bones(&subject.character.skeleton, world_from_joint);
        let (sum, total) = bones
            .iter()
            .fold((Vec64::zeros(), 0.0), |(sum, total), (_, bone)| {
                let [head, tail] = [bone.head, bone.tail].map(|end| end.coords.cast::<f64>());
                let length = (tail - head).norm();
                (sum + (head + tail) * (0.5 * length), total + length)
            });
        let only = world_from_joint
            .first()
            .map(|world| origin_of(world).coords);
        let middle = if total > 0.0 { Some(sum / total) } else { only };
        let half = WHOLE * f64::from(subject.size);
        Self {
            at: middle.unwrap_or_else(Vec64::zeros),
            bones: [up; 2],
            length: half,
            half,
        }
    }
}

/// The unit vector perpendicular to a unit vector, in the plane of both.
fn square_to(vector: &Vec64, axis: &Vec64) -> Option<Vec64> {
    (vector - axis * vector.dot(axis)).try_normalize(1e-6)
}
