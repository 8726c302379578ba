//! The surroundings of one joint, for close-up pictures.

use crate::character::Attachment;
use crate::math::Point64;
use crate::methods::Subject;

/// Quantile of the distances of a joint's vertices that the picture shows: single far vertices do not count.
const SHOWN_QUANTILE: f64 = 0.95;

/// A ball around a joint that the camera frames. It follows the joint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct JointFocus {
    /// The joint at the centre.
    pub joint: usize,
    /// Radius of the ball, world units.
    pub radius: f32,
}

impl JointFocus {
    /// The ball that holds the skin vertices whose strongest weight is the joint's, in the bind pose; its radius is at least half a bone
    /// length, and one bone length if no vertex is the joint's. Waits until the weights are computed.
    #[must_use]
    pub fn of(subject: &Subject, joint: usize) -> Self {
        let center = subject.character.skeleton.bind_position(joint);
        let bone = bone_length(subject, joint);
        let of_skin = skin_radius(subject, joint, &center).unwrap_or(bone);
        let most = f64::from(subject.size) / 2.0;
        let radius = of_skin.max(bone / 2.0).min(most);
        Self {
            joint,
            radius: if radius > 0.0 { radius } else { most } as f32,
        }
    }
}

/// Mean distance from a joint to its parent and its children; 0 without any.
fn bone_length(subject: &Subject, joint: usize) -> f64 {
    let skeleton = &subject.character.skeleton;
    let joints = skeleton.joints();
    let children = (0..joints.len()).filter(|&child| joints[child].parent == Some(joint));
    let lengths: Vec<f64> = children
        .chain(joints[joint].parent)
        .map(|other| (skeleton.bind_position(other) - skeleton.bind_position(joint)).norm())
        .filter(|length| *length > 1e-6 * f64::from(subject.size))
        .collect();
    if lengths.is_empty() {
        return 0.0;
    }
    lengths.iter().sum::<f64>() / lengths.len() as f64
}

/// Distance of the vertices whose strongest weight is the joint's; `None` if there are none.
fn skin_radius(subject: &Subject, joint: usize, center: &Point64) -> Option<f64> {
    let mut distances = Vec::new();
    let mut first = 0;
    for (index, mesh) in subject.character.meshes.iter().enumerate() {
        let positions = subject.bind_positions[first..].iter();
        first += mesh.positions.len();
        let weights = subject.weights_of_mesh(index);
        let is_moved = |vertex: usize| match &mesh.attachment {
            Attachment::Rigid { joint: carrier, .. } => *carrier == joint,
            Attachment::Static { .. } => false,
            Attachment::Skinned { .. } | Attachment::Unweighted => weights.is_some_and(|weights| {
                vertex < weights.len() && weights.strongest(vertex) == Some(joint)
            }),
        };
        distances.extend(
            positions
                .take(mesh.positions.len())
                .enumerate()
                .filter(|(vertex, _)| is_moved(*vertex))
                .map(|(_, position)| (position.cast::<f64>() - center).norm()),
        );
    }
    distances.sort_by(f64::total_cmp);
    let last = distances.len().checked_sub(1)?;
    distances
        .get((last as f64 * SHOWN_QUANTILE).round() as usize)
        .copied()
}
