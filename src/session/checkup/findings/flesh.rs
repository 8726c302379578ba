//! Findings about the tissue between skin and bones.

use super::{CheckupInput, Finding, FindingKind as Kind, PLACES, finding};
use crate::character::Severity;
use crate::rig::Skeleton;
use crate::tissue::{CornerKind, Tet, Tissue};

/// Fraction of the tets that may be inverted at rest without a warning.
const MOST_INVERTED: f64 = 0.005;
/// A region is named if it has at least this fraction of the bad tets.
const NAMED_SHARE: f64 = 0.15;
/// Largest number of regions in a sentence.
const MOST_NAMED: usize = 3;

/// Inverted or flat tets at rest, and where they are.
#[derive(Debug, Default, PartialEq)]
struct BadTets {
    tets: usize,
    inverted: usize,
    flat: usize,
    /// Number of bad tets per joint that has any, largest first.
    by_joint: Vec<(usize, usize)>,
}

impl BadTets {
    fn of(tissue: &Tissue) -> Self {
        let mut bad = Self::default();
        let mut by_joint: Vec<usize> = Vec::new();
        for tet in tissue.layers.iter().flat_map(|layer| &layer.tets) {
            bad.tets += 1;
            let (is_inverted, is_flat) = (tet.is_inverted(), !tet.is_usable());
            bad.inverted += usize::from(is_inverted);
            bad.flat += usize::from(is_flat);
            if let Some(joint) = joint_of(tissue, tet).filter(|_| is_inverted || is_flat) {
                by_joint.resize(by_joint.len().max(joint + 1), 0);
                by_joint[joint] += 1;
            }
        }
        bad.by_joint = by_joint
            .into_iter()
            .enumerate()
            .filter(|(_, count)| *count > 0)
            .collect();
        bad.by_joint
            .sort_by_key(|&(joint, count)| (std::cmp::Reverse(count), joint));
        bad
    }

    fn count(&self) -> usize {
        self.inverted + self.flat
    }

    /// A warning if too many are inverted, a note if too many are inverted or flat.
    fn severity(&self) -> Option<Severity> {
        let most = MOST_INVERTED * self.tets as f64;
        if self.inverted as f64 > most {
            Some(Severity::Warning)
        } else if self.count() as f64 > most {
            Some(Severity::Info)
        } else {
            None
        }
    }

    /// The joints to name: the first, and the next ones that have a large enough fraction.
    fn regions(&self) -> &[(usize, usize)] {
        let least = NAMED_SHARE * self.count() as f64;
        let named = self
            .by_joint
            .iter()
            .take(MOST_NAMED)
            .skip(1)
            .take_while(|(_, count)| *count as f64 >= least)
            .count();
        &self.by_joint[..(1 + named).min(self.by_joint.len())]
    }

    /// The finding, without its places.
    fn finding(&self, skeleton: &Skeleton) -> Option<Finding> {
        let severity = self.severity()?;
        let quoted = |joint: usize| format!("\"{}\"", skeleton.joints()[joint].name);
        let named: Vec<String> = self
            .regions()
            .iter()
            .map(|&(joint, _)| quoted(joint))
            .collect();
        let region = match named.as_slice() {
            [] => "Some of the flesh".to_owned(),
            [one] => format!("The flesh on {one}"),
            [most @ .., last] => format!("The flesh on {} and {last}", most.join(", ")),
        };
        let option = self.by_joint.first().map(|&(joint, _)| {
            let name = &skeleton.joints()[joint].name;
            format!("--sim-vertices N, --bone-radius \"{name}\"=RADIUS or --bone \"{name}\"=held")
        });
        Some(Finding {
            text: format!("{region} is too thin or too folded to be simulated well"),
            remedy: format!(
                "the skin there may crease, or jump while it bends; more simulated vertices or a thinner bone help, and where nothing bends the \
                 region can be held rigid by its bone ({} of {} tetrahedra are inverted and {} flat at rest, {:.1} %)",
                self.inverted,
                self.tets,
                self.flat,
                100.0 * self.count() as f64 / self.tets.max(1) as f64
            ),
            option,
            ..finding(Kind::InvertedFlesh, severity, self.count())
        })
    }
}

impl CheckupInput<'_> {
    /// Finds tets that are inverted or flat at rest. Computes the tissue if necessary.
    pub(super) fn flesh(&self) -> Option<Finding> {
        let flesh = self.subject.flesh_if_made()?.ok()?;
        let bad = BadTets::of(&flesh.tissue);
        let found = bad.finding(&self.subject.character.skeleton)?;
        let joints = bad.regions().iter().take(PLACES);
        Some(Finding {
            places: joints.map(|&(joint, _)| self.joint_place(joint)).collect(),
            ..found
        })
    }
}

/// The joint that carries the bone nearest to a tet: that of its first skin vertex, else of its first base vertex.
fn joint_of(tissue: &Tissue, tet: &Tet) -> Option<usize> {
    let bone_of = |corner: CornerKind| {
        let (CornerKind::Unknown(index) | CornerKind::Prescribed(index)) = corner;
        tissue.foot_bones.get(index as usize)
    };
    let mut bones = tet
        .corners
        .iter()
        .filter_map(|corner| bone_of(corner.kind()));
    let bone = *bones.next()? as usize;
    tissue.graph.bones.get(bone).map(|bone| bone.joint)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::methods::Subject;
    use crate::progress::Progress;
    use crate::session::Checkup;

    fn cylinder() -> Subject {
        let character = crate::io::builtin::load_builtin("cylinder").unwrap();
        Subject::build(Arc::new(character), &Progress::new()).unwrap()
    }

    /// Inverts this number of the usable tets on the bones of a joint.
    fn inverted(tissue: &Tissue, joint: usize, count: usize) -> Tissue {
        let mut tissue = tissue.clone();
        let chosen: Vec<usize> = tissue.layers[0]
            .tets
            .iter()
            .enumerate()
            .filter(|(_, tet)| tet.is_usable() && !tet.is_inverted())
            .filter(|(_, tet)| joint_of(&tissue, tet) == Some(joint))
            .map(|(index, _)| index)
            .take(count)
            .collect();
        assert_eq!(chosen.len(), count, "enough tets on joint {joint}");
        for index in chosen {
            let tet = &mut tissue.layers[0].tets[index];
            tet.positive = !tet.positive;
        }
        tissue
    }

    #[test]
    fn inverted_tets_are_a_warning_that_names_the_joint() {
        let subject = cylinder();
        let flesh = subject.flesh().unwrap();
        let skeleton = &subject.character.skeleton;
        let before = BadTets::of(&flesh.tissue);
        let quality = &flesh.tissue.quality;
        assert_eq!(
            (before.tets, before.inverted, before.flat),
            (quality.tets + quality.flat, quality.inverted, quality.flat)
        );
        let one_percent = before.tets / 100;
        let joint = skeleton.find("upper").unwrap();
        let bad = BadTets::of(&inverted(&flesh.tissue, joint, one_percent));
        assert_eq!(bad.inverted, before.inverted + one_percent);
        let found = bad.finding(skeleton).unwrap();
        assert_eq!(
            (found.kind, found.severity),
            (Kind::InvertedFlesh, Severity::Warning)
        );
        assert!(found.text.contains("\"upper\""), "{}", found.text);
        let option = found.option.unwrap();
        assert!(option.contains("--bone \"upper\"=held"), "{option}");
        assert_eq!(bad.regions()[0].0, joint);
    }

    #[test]
    fn a_few_inverted_tets_are_no_finding() {
        let few = BadTets {
            tets: 1000,
            inverted: 5,
            flat: 0,
            by_joint: vec![(0, 5)],
        };
        assert_eq!(few.severity(), None);
        let flat = BadTets { flat: 1, ..few };
        assert_eq!(flat.severity(), Some(Severity::Info));
        let many = BadTets {
            inverted: 6,
            ..flat
        };
        assert_eq!(many.severity(), Some(Severity::Warning));
    }

    /// The report agrees with the tissue's own counts.
    #[test]
    fn the_report_has_the_finding_where_the_measures_say_so() {
        let checkup = Checkup::of(&cylinder());
        let quality = checkup.tissue.unwrap();
        let all = (quality.tets + quality.flat) as f64;
        let expected = (quality.inverted + quality.flat) as f64 > MOST_INVERTED * all;
        let found = checkup
            .findings
            .iter()
            .any(|finding| finding.kind == Kind::InvertedFlesh);
        assert_eq!(found, expected, "{quality:?}");
    }
}
