//! One source vertex with the motions of its joints.

use super::{Influence, Term, TermValue, length};
use crate::character::Attachment;
use crate::math::{Affine, Point, SplitTransform, linear_part};
use crate::rig::Trs;
use crate::stages::Subject;

/// Joints with smaller weights do not count for the spread of rotations.
const COUNTS: f32 = 0.05;

/// A vertex and what its joints do to it.
pub(super) struct OneVertex {
    /// In the space that the motions start from.
    rest: Point,
    joints: Vec<Moved>,
}

struct Moved {
    joint: usize,
    weight: f32,
    /// From the space of `rest` to the world.
    motion: Affine,
    /// From the bind pose to the world.
    since_bind: Affine,
}

impl OneVertex {
    /// `None` for a vertex that no joint moves.
    pub fn of(subject: &Subject, vertex: usize, world_from_joint: &[Affine]) -> Option<Self> {
        let character = &subject.character;
        let joints = character.skeleton.joints();
        let mut own = vertex;
        let index = character.meshes.iter().position(|mesh| {
            let here = own < mesh.positions.len();
            if !here {
                own -= mesh.positions.len();
            }
            here
        })?;
        let mesh = &character.meshes[index];
        let computed = subject.mesh_weights().get(index).and_then(Option::as_ref);
        let from_bind = |joint: usize| {
            let bind = joints[joint].world_from_bind.try_inverse();
            bind.unwrap_or_else(Affine::identity)
        };
        let moved = |joint: usize, weight: f32, joint_from_rest: Affine| Moved {
            joint,
            weight,
            motion: world_from_joint[joint] * joint_from_rest,
            since_bind: world_from_joint[joint] * from_bind(joint),
        };
        let (rest, mut moves): (Point, Vec<Moved>) = match (&mesh.attachment, computed) {
            (Attachment::Static { .. }, _) | (Attachment::Unweighted, None) => return None,
            (
                Attachment::Rigid {
                    joint,
                    joint_from_mesh,
                },
                _,
            ) => (
                mesh.positions[own],
                vec![moved(*joint, 1.0, *joint_from_mesh)],
            ),
            (Attachment::Skinned { .. } | Attachment::Unweighted, Some(weights)) => (
                subject.bind_positions[vertex],
                weights
                    .of(own)
                    .map(|(joint, weight)| moved(joint, weight, from_bind(joint)))
                    .collect(),
            ),
            (
                Attachment::Skinned {
                    weights,
                    joint_from_mesh,
                },
                None,
            ) => (
                mesh.positions[own],
                weights
                    .of(own)
                    .map(|(joint, weight)| moved(joint, weight, joint_from_mesh[joint]))
                    .collect(),
            ),
        };
        moves.sort_by(|a, b| b.weight.total_cmp(&a.weight).then(a.joint.cmp(&b.joint)));
        (!moves.is_empty()).then_some(Self {
            rest,
            joints: moves,
        })
    }

    pub fn influences(&self) -> Vec<Influence> {
        let joints = self.joints.iter();
        joints
            .map(|moved| Influence {
                joint: moved.joint,
                weight: moved.weight,
                turned_deg: rotation(&moved.since_bind).angle().to_degrees(),
            })
            .collect()
    }

    /// What blending makes of it, next to where the method put it.
    pub fn terms(&self, at: &Point) -> Vec<Term> {
        let mut terms = Vec::new();
        let spread = self.spread_deg();
        if self.joints.len() > 1 {
            terms.push(Term::new(
                "rotation_spread_deg",
                "Angle between its joints",
                TermValue::Degrees(spread),
                "How differently the joints with at least 5 % of the weight have turned: the further apart, the more the methods differ.",
            ));
            terms.push(Term::new(
                "matrix_volume",
                "Volume of the mixed matrices",
                TermValue::Factor(self.blended_volume()),
                "Determinant of the weighted mean of the joints' matrices, relative to their own: below 1 linear blending shrinks the neighbourhood, towards 0 it collapses.",
            ));
        }
        terms.push(Term::new(
            "from_linear",
            "From linear blending",
            length(at, &self.linear()),
            "Distance of the vertex to where linear blend skinning with these weights puts it.",
        ));
        if let Some(dual) = self.dual_quaternion() {
            terms.push(Term::new(
                "from_dual_quaternion",
                "From dual quaternions",
                length(at, &dual),
                "Distance of the vertex to where dual quaternion skinning with these weights puts it.",
            ));
        }
        terms
    }

    /// Where linear blending puts it.
    fn linear(&self) -> Point {
        let sum = self
            .joints
            .iter()
            .map(|moved| (moved.motion * self.rest.cast::<f64>()).coords * f64::from(moved.weight));
        Point::from(sum.sum::<crate::math::Vec64>().cast::<f32>())
    }

    /// Where dual quaternions put it.
    fn dual_quaternion(&self) -> Option<Point> {
        let splits: Vec<SplitTransform> = self
            .joints
            .iter()
            .map(|moved| SplitTransform::of(&moved.motion))
            .collect();
        let weighted = splits.iter().zip(self.joints.iter().map(|j| j.weight));
        let blended = if splits.iter().all(SplitTransform::is_rigid) {
            SplitTransform::blend_rigid(weighted)?.apply_rigid(&self.rest)
        } else {
            SplitTransform::blend(weighted)?.apply(&self.rest)
        };
        Some(blended)
    }

    /// Determinant of the blended matrix over the blend of the joints' own determinants.
    fn blended_volume(&self) -> f64 {
        let mut blended = nalgebra::Matrix3::zeros();
        let mut own = 0.0;
        for moved in &self.joints {
            let linear = linear_part(&moved.motion);
            blended += linear * f64::from(moved.weight);
            own += linear.determinant() * f64::from(moved.weight);
        }
        if own.abs() > 0.0 {
            blended.determinant() / own
        } else {
            1.0
        }
    }

    fn spread_deg(&self) -> f64 {
        let counted: Vec<_> = self
            .joints
            .iter()
            .filter(|moved| moved.weight >= COUNTS)
            .map(|moved| rotation(&moved.since_bind))
            .collect();
        let pairs = counted.iter().enumerate();
        pairs
            .flat_map(|(k, a)| counted[k + 1..].iter().map(move |b| a.angle_to(b)))
            .fold(0.0, f64::max)
            .to_degrees()
    }
}

fn rotation(transform: &Affine) -> crate::math::Quat {
    Trs::from_affine(transform).rotation
}
