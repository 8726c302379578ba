//! Findings about joints.

use super::{
    CheckupInput, Finding, FindingKind, FindingPlace, PLACES, counted, finding, some_names,
};
use crate::character::{Attachment, Severity};
use crate::math::{Point64, origin_of};

impl CheckupInput<'_> {
    pub(super) fn joints_outside(&self) -> Option<Finding> {
        let (skin, skeleton) = (&self.subject.skin.mesh, &self.subject.character.skeleton);
        if skin.triangles.is_empty() {
            return None;
        }
        let mut moves = vec![false; skeleton.len()];
        for mesh in &self.subject.character.meshes {
            match &mesh.attachment {
                Attachment::Skinned { weights, .. } => weights
                    .joints
                    .iter()
                    .for_each(|&joint| moves[joint as usize] = true),
                Attachment::Unweighted => moves
                    .iter_mut()
                    .zip(skeleton.joints())
                    .for_each(|(moves, joint)| *moves |= joint.deforms),
                Attachment::Rigid { .. } | Attachment::Static { .. } => {}
            }
        }
        let checked: Vec<usize> = (0..skeleton.len()).filter(|&joint| moves[joint]).collect();
        let places: Vec<Point64> = checked
            .iter()
            .map(|&joint| skeleton.bind_position(joint))
            .collect();
        let inside = skin.winding_numbers(&places);
        let tree = crate::mesh::TriangleTree::new(skin);
        // A joint on the surface or at a fingertip is not reported.
        let near = |place: &Point64| tree.closest(place, 0.01 * self.size(), |_| true).is_some();
        let outside: Vec<usize> = (0..checked.len())
            .filter(|&k| inside[k].abs() < 0.3 && !near(&places[k]))
            .map(|k| checked[k])
            .collect();
        if outside.is_empty() {
            return None;
        }
        let names = some_names(
            outside
                .iter()
                .map(|&joint| skeleton.joints()[joint].name.as_str()),
        );
        let many = outside.len() * 3 > checked.len();
        Some(Finding {
            text: format!(
                "{} outside of it: {names}",
                counted(
                    outside.len(),
                    "joint that moves skin lies",
                    "joints that move skin lie"
                )
            ),
            remedy:
                "bones that leave the skin are used as they are, bones far from it are left out"
                    .to_owned(),
            option: many.then(|| {
                "check that mesh and skeleton have the same unit, axes and place".to_owned()
            }),
            places: outside
                .iter()
                .take(PLACES)
                .map(|&joint| self.joint_place(joint))
                .collect(),
            ..finding(
                FindingKind::JointsOutside,
                if many {
                    Severity::Warning
                } else {
                    Severity::Info
                },
                outside.len(),
            )
        })
    }

    pub(super) fn joint_place(&self, joint: usize) -> FindingPlace {
        let position = origin_of(&self.subject.character.skeleton.joints()[joint].world_from_bind)
            .coords
            .into();
        FindingPlace {
            vertex: None,
            joint: Some(joint),
            position,
            radius: 0.08 * self.size(),
        }
    }
}
