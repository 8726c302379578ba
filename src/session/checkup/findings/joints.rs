//! Findings about joints.

use super::{
    CheckupInput, Finding, FindingKind, FindingPlace, PLACES, counted, finding, some_names,
};
use crate::character::{Attachment, Severity, SourceMesh};
use crate::math::{Point64, origin_of};
use crate::weights::Segment;

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

    /// Joints whose bones have the same ends as another's: computed weights cannot tell them apart. Weights of a file can.
    pub(super) fn coincident_joints(&self) -> Option<Finding> {
        let character = &self.subject.character;
        let is_bare = |mesh: &SourceMesh| matches!(mesh.attachment, Attachment::Unweighted);
        if !character.meshes.iter().any(is_bare) {
            return None;
        }
        let skeleton = &character.skeleton;
        let near = 1e-4 * self.size();
        let is_same = |a: &Segment, b: &Segment| {
            let [a0, a1] = a.ends;
            let [b0, b1] = b.ends;
            let along = (a0 - b0).norm().max((a1 - b1).norm());
            let against = (a0 - b1).norm().max((a1 - b0).norm());
            a.joint != b.joint && along.min(against) <= near
        };
        let bones: Vec<Segment> = Segment::of(skeleton)
            .into_iter()
            .filter(|bone| skeleton.joints()[bone.joint as usize].deforms)
            .collect();
        let mut joints: Vec<usize> = bones
            .iter()
            .filter(|bone| bones.iter().any(|other| is_same(bone, other)))
            .map(|bone| bone.joint as usize)
            .collect();
        joints.sort_unstable();
        joints.dedup();
        if joints.is_empty() {
            return None;
        }
        let named = joints.iter().map(|&joint| &*skeleton.joints()[joint].name);
        Some(Finding {
            text: format!(
                "{} joints lie on another one: {}",
                joints.len(),
                some_names(named)
            ),
            remedy: "those at one place move the skin around them in equal parts".to_owned(),
            places: joints
                .iter()
                .take(PLACES)
                .map(|&joint| self.joint_place(joint))
                .collect(),
            ..finding(FindingKind::CoincidentJoints, Severity::Info, joints.len())
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

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::methods::Subject;
    use crate::progress::Progress;
    use crate::rig::Skeleton;
    use crate::session::Checkup;

    /// Names of joints that lie on another one, in the cylinder with or without its weights.
    fn coincident(skeleton: Skeleton, has_weights: bool) -> Option<Finding> {
        let mut character = crate::io::builtin::load_builtin("cylinder").unwrap();
        character.skeleton = skeleton;
        if !has_weights {
            character.meshes[0].attachment = Attachment::Unweighted;
        }
        let subject = Subject::build(Arc::new(character), &Progress::new()).unwrap();
        let findings = Checkup::of(&subject).findings;
        let is_it = |finding: &Finding| finding.kind == FindingKind::CoincidentJoints;
        findings.into_iter().find(is_it)
    }

    #[test]
    fn joints_at_one_place_are_named_where_weights_are_computed() {
        let at = |y: f64| Point64::new(0.0, y, 0.0);
        let joint = |name: &str, parent, y| (name.to_owned(), parent, at(y));
        let chain = [joint("lower", None, 0.03), joint("upper", Some(0), 0.5)];
        let apart = Skeleton::from_positions(&chain).unwrap();
        assert_eq!(coincident(apart.clone(), false), None);
        let doubled = [
            chain.to_vec(),
            vec![joint("roll", Some(0), 0.5), joint("tip", Some(1), 0.97)],
            vec![joint("end", Some(2), 0.97)],
        ];
        let doubled = Skeleton::from_positions(&doubled.concat()).unwrap();
        let found = coincident(doubled.clone(), false).unwrap();
        assert_eq!(found.count, 4, "{}", found.text);
        assert!(found.text.contains("roll"), "{}", found.text);
        assert_eq!(coincident(doubled, true), None);
    }
}
