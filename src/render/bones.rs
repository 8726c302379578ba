//! Draws bones as octahedra with a sphere at the joint.

use super::overlay::{Overlay, Rgba};
use super::shapes::{circle, frame_of};
use crate::math::{Affine, Point, origin_of};
use crate::rig::Skeleton;

/// How a bone is highlighted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BoneState {
    /// Not highlighted.
    #[default]
    Normal,
    /// Hovered.
    Hovered,
    /// Selected.
    Selected,
}

impl BoneState {
    /// Its colour.
    #[must_use]
    pub fn color(self) -> Rgba {
        match self {
            Self::Normal => [196, 205, 216, 255],
            Self::Hovered => [255, 226, 140, 255],
            Self::Selected => [255, 158, 44, 255],
        }
    }
}

/// A bone to draw: from its joint to its child's or its tail.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BoneGlyph {
    /// The joint.
    pub head: Point,
    /// The child joint or the tail.
    pub tail: Point,
    /// How it is highlighted.
    pub state: BoneState,
}

/// A leaf has no child: its bone extends the parent's bone by this fraction of its length.
const LEAF_SHARE: f32 = 0.4;

/// The bones of a skeleton at `world_from_joint`, each with the joint that rotates it: from every
/// deforming joint to each of its children, and a short one at each leaf that extends its parent's
/// bone. Bones with missing transforms are omitted.
#[must_use]
pub fn skeleton_bones(skeleton: &Skeleton, world_from_joint: &[Affine]) -> Vec<(usize, BoneGlyph)> {
    let at: Vec<Point> = world_from_joint
        .iter()
        .map(|world| origin_of(world).cast())
        .collect();
    let mut bones = Vec::new();
    for (joint, (head, kind)) in at
        .iter()
        .zip(skeleton.joints())
        .enumerate()
        .filter(|(_, (_, kind))| kind.deforms)
    {
        let mut add = |tail: Point| {
            bones.push((
                joint,
                BoneGlyph {
                    head: *head,
                    tail,
                    state: BoneState::Normal,
                },
            ));
        };
        for tail in skeleton
            .children(joint)
            .iter()
            .filter_map(|&child| at.get(child))
        {
            add(*tail);
        }
        if let (true, Some(parent)) = (
            skeleton.children(joint).is_empty(),
            kind.parent.and_then(|parent| at.get(parent)),
        ) {
            add(head + (head - parent) * LEAF_SHARE);
        }
    }
    bones
}

impl Overlay {
    /// Adds bones as octahedra with outlined edges, and a small sphere at each joint.
    /// `joint_radius` in scene units limits both.
    pub fn bones<'a>(&mut self, bones: impl IntoIterator<Item = &'a BoneGlyph>, joint_radius: f32) {
        for bone in bones {
            let length = (bone.tail - bone.head).norm();
            self.octahedron(
                &bone.head,
                &bone.tail,
                joint_radius * 1.9,
                bone.state.color(),
            );
            // Spheres must not hide short bones.
            self.sphere(
                &bone.head,
                joint_radius.min(length * 0.14),
                bone.state.color(),
            );
        }
    }

    /// Adds an octahedron from `head` to `tail`, widest near its head and at most `max_width`
    /// across.
    pub(crate) fn octahedron(&mut self, head: &Point, tail: &Point, max_width: f32, color: Rgba) {
        let span = tail - head;
        let length = span.norm();
        let Some(axis) = span.try_normalize(1e-12) else {
            return;
        };
        let (side, other) = frame_of(&axis);
        let ring = circle(
            &(head + span * 0.14),
            &side,
            &other,
            (length * 0.085).min(max_width),
            4,
        );
        let edge = [color[0] / 3, color[1] / 3, color[2] / 3, 190];
        for i in 0..4 {
            let (a, b) = (ring[i], ring[(i + 1) % 4]);
            self.flat_triangle([*head, b, a], color);
            self.flat_triangle([a, b, *tail], color);
            self.line(&a, &b, edge, 1.2);
            self.line(&a, tail, edge, 1.2);
            self.line(&a, head, edge, 1.2);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Point64;
    use crate::render::OverlayLayer;

    #[test]
    fn every_joint_points_at_its_children_and_leaves_extend() {
        let at = |x, y| Point64::new(x, y, 0.0);
        let joints = [
            ("a".into(), None, at(0.0, 0.0)),
            ("b".into(), Some(0), at(0.0, 1.0)),
            ("c".into(), Some(0), at(1.0, 0.0)),
        ];
        let skeleton = Skeleton::from_positions(&joints).expect("a skeleton");
        let bones = skeleton_bones(&skeleton, &skeleton.bind_transforms());
        let ends: Vec<_> = bones
            .iter()
            .map(|(joint, bone)| (*joint, bone.tail))
            .collect();
        let up = 1.0 + LEAF_SHARE;
        let expected = [
            (0, Point::new(0.0, 1.0, 0.0)),
            (0, Point::new(1.0, 0.0, 0.0)),
            (1, Point::new(0.0, up, 0.0)),
            (2, Point::new(up, 0.0, 0.0)),
        ];
        assert_eq!(ends, expected);
        assert!(skeleton_bones(&skeleton, &[]).is_empty());
    }

    #[test]
    fn bones_of_zero_length_or_non_finite_ends_are_tolerated() {
        let nan = Point::new(f32::NAN, 0.0, 0.0);
        let mut overlay = Overlay::new(OverlayLayer::Front);
        let bone = |head, tail| BoneGlyph {
            head,
            tail,
            state: BoneState::Normal,
        };
        overlay.bones(
            &[
                bone(Point::origin(), Point::origin()),
                bone(nan, Point::origin()),
                bone(Point::origin(), nan),
            ],
            0.1,
        );
        let finite = |v: &[f32; 3]| v.iter().all(|c| c.is_finite());
        assert!(
            overlay
                .triangles()
                .iter()
                .all(|v| finite(&v.position) && finite(&v.normal))
        );
        assert!(
            overlay
                .lines()
                .iter()
                .all(|l| finite(&l.start) && finite(&l.end))
        );
    }
}
