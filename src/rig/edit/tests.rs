//! Property tests of edits and of joint placement.

mod clips;
mod mirrored;
mod placing;

use super::*;
use crate::math::{Affine, Quat, Vec64, origin_of};
use crate::mesh::TriMesh;
use crate::mesh::shapes::{ball, joined, moved, tube};
use crate::rig::{Channel, Clip, Curve, Track};

fn p(x: f64, y: f64, z: f64) -> Point64 {
    Point64::new(x, y, z)
}

fn mirror() -> Mirror {
    Mirror {
        point: Point64::origin(),
        normal: Vec64::x(),
        snap: 0.02,
    }
}

/// Deterministic pseudo-random numbers.
struct Random64(u64);

impl Random64 {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        ((self.0 >> 33) as usize) % n.max(1)
    }

    fn length(&mut self) -> f64 {
        self.below(2001) as f64 / 1000.0 - 1.0
    }

    fn edit(&mut self, rig: &Rig) -> RigEdit {
        let joint = self.below(rig.len());
        let position = p(self.length(), self.length(), self.length());
        let bone = if self.below(4) == 0 {
            RigBone::Tail(joint)
        } else {
            RigBone::To(joint)
        };
        match self.below(10) {
            0..=2 => RigEdit::Add {
                parent: (!rig.is_empty() && self.below(5) > 0).then_some(joint),
                position,
                name: None,
            },
            3 => RigEdit::Move {
                joint,
                position,
                with_children: self.below(2) == 0,
            },
            4 => RigEdit::Insert {
                bone,
                at: self.length(),
            },
            5 => RigEdit::Split {
                bone,
                parts: self.below(5),
            },
            6 => RigEdit::Merge(joint),
            7 => RigEdit::Delete(joint),
            8 => RigEdit::Reparent {
                joint,
                parent: (self.below(4) > 0).then(|| self.below(rig.len())),
            },
            _ if self.below(2) == 0 => RigEdit::SetTail {
                joint,
                tail: Some(position),
            },
            _ => RigEdit::Rename {
                joint,
                name: format!("name{}", self.below(40)),
            },
        }
    }
}

#[test]
fn a_joint_with_a_side_word_gets_a_partner() {
    let mut rig = Rig::default();
    for (name, parent, x) in [
        ("Hips", None, 0.0),
        ("LeftArm", Some(0), 0.3),
        ("RightArm", Some(0), -0.3),
    ] {
        rig = rig
            .edited(
                &RigEdit::Add {
                    parent,
                    position: p(x, 1.0, 0.0),
                    name: Some(name.into()),
                },
                None,
            )
            .expect("possible")
            .rig;
    }
    let add = RigEdit::Add {
        parent: Some(1),
        position: p(0.6, 1.0, 0.0),
        name: None,
    };
    let rig = rig.edited(&add, Some(&mirror())).expect("possible").rig;
    for (name, x) in [("LeftArm2", 0.6), ("RightArm2", -0.6)] {
        let joint = rig
            .find(name)
            .unwrap_or_else(|| panic!("{name} among {:?}", rig.joints()));
        assert!((rig.joints()[joint].position.x - x).abs() < 1e-9);
    }
}

fn assert_is_tree(rig: &Rig) {
    let mut names: Vec<&str> = rig
        .joints()
        .iter()
        .map(|joint| joint.name.as_str())
        .collect();
    let mut ids: Vec<JointId> = rig.joints().iter().map(|joint| joint.id).collect();
    names.sort_unstable();
    ids.sort_unstable();
    assert!(
        names.windows(2).all(|pair| pair[0] != pair[1]),
        "names are unique: {names:?}"
    );
    assert!(
        ids.windows(2).all(|pair| pair[0] != pair[1]),
        "so are identities"
    );
    for (index, joint) in rig.joints().iter().enumerate() {
        assert!(
            joint.parent.is_none_or(|parent| parent < index),
            "parents come first"
        );
        assert!(!joint.name.trim().is_empty());
        assert!(joint.position.iter().all(|c| c.is_finite()));
    }
}

#[test]
fn every_edit_keeps_a_tree_and_remaps_are_partial_injections() {
    for (seed, mirror) in [
        (1, None),
        (2, None),
        (3, Some(mirror())),
        (4, Some(mirror())),
    ] {
        let mut dice = Random64(seed);
        let mut rig = Rig::default();
        let mut done = 0;
        for _ in 0..400 {
            let Ok(edited) = rig.edited(&dice.edit(&rig), mirror.as_ref()) else {
                continue;
            };
            assert_is_tree(&edited.rig);
            let mut from: Vec<usize> = edited
                .remap
                .old_from_new
                .iter()
                .copied()
                .flatten()
                .collect();
            assert_eq!(edited.remap.old_from_new.len(), edited.rig.len());
            assert!(from.iter().all(|&old| old < rig.len()));
            from.sort_unstable();
            assert!(
                from.windows(2).all(|pair| pair[0] < pair[1]),
                "no joint comes from two places"
            );
            assert!(edited.focus.is_none_or(|focus| focus < edited.rig.len()));
            assert!(edited.rig.to_skeleton(&Skeleton::default()).is_ok());
            rig = edited.rig;
            done += 1;
        }
        assert!(done > 100, "only {done} edits were possible");
    }
}

fn edit(rig: &Rig, edit: &RigEdit) -> Rig {
    rig.edited(edit, None).expect("possible").rig
}

fn add(rig: &Rig, parent: Option<usize>, position: Point64) -> Rig {
    edit(
        rig,
        &RigEdit::Add {
            parent,
            position,
            name: None,
        },
    )
}

#[test]
fn delete_reverts_add_and_split_bones_have_equal_lengths() {
    let rig = man();
    for parent in [None, Some(0), Some(4)] {
        let more = add(&rig, parent, p(0.1, 0.2, 0.3));
        let last = more.len() - 1;
        assert_eq!(edit(&more, &RigEdit::Delete(last)).joints(), rig.joints());
    }
    let inserted = edit(
        &rig,
        &RigEdit::Insert {
            bone: RigBone::To(1),
            at: 0.25,
        },
    );
    assert_eq!(inserted.joints()[1].position, p(0.0, 1.125, 0.0));
    assert_eq!(edit(&inserted, &RigEdit::Delete(1)).joints(), rig.joints());
    let split = edit(
        &rig,
        &RigEdit::Split {
            bone: RigBone::To(1),
            parts: 5,
        },
    );
    let chain: Vec<f64> = split.joints()[..6]
        .iter()
        .map(|joint| joint.position.y)
        .collect();
    assert!(
        chain
            .windows(2)
            .all(|pair| (pair[1] - pair[0] - 0.1).abs() < 1e-12),
        "{chain:?}"
    );
}

#[test]
fn a_merged_leaf_becomes_the_tail() {
    let rig = edit(&man(), &RigEdit::Merge(4));
    let arm = rig.find("bone2.L").expect("still there");
    assert_eq!(rig.tail(arm), Some(p(0.6, 1.4, 0.0)));
    let cut = edit(
        &rig,
        &RigEdit::Split {
            bone: RigBone::Tail(arm),
            parts: 2,
        },
    );
    assert!((cut.joints()[cut.len() - 1].position - p(0.45, 1.4, 0.0)).norm() < 1e-12);
    assert_eq!(cut.tail(cut.len() - 1), Some(p(0.6, 1.4, 0.0)));
}

#[test]
fn invalid_edits_return_the_reason() {
    let rig = man();
    let refused = |edit: RigEdit| rig.edited(&edit, None).expect_err("impossible").to_string();
    assert!(
        refused(RigEdit::Reparent {
            joint: 1,
            parent: Some(4)
        })
        .contains("its descendant")
    );
    assert!(
        refused(RigEdit::Rename {
            joint: 1,
            name: " root ".into()
        })
        .contains("in use")
    );
    assert!(
        refused(RigEdit::Rename {
            joint: 1,
            name: "  ".into()
        })
        .contains("needs a name")
    );
    assert!(
        refused(RigEdit::Move {
            joint: 1,
            position: p(f64::NAN, 0.0, 0.0),
            with_children: true
        })
        .contains("finite")
    );
    assert!(refused(RigEdit::Delete(99)).contains("no joint 99"));
    assert!(
        refused(RigEdit::Insert {
            bone: RigBone::To(0),
            at: 0.5
        })
        .contains("no parent")
    );
    assert!(
        refused(RigEdit::SetTail {
            joint: 1,
            tail: None
        })
        .contains("without children")
    );
    assert!(
        refused(RigEdit::Split {
            bone: RigBone::To(1),
            parts: 1
        })
        .contains("2 to")
    );
}

#[test]
fn a_rig_round_trips_through_its_file() {
    let base = man().to_skeleton(&Skeleton::default()).expect("a tree");
    let mut rig = edit(&Rig::of(&base), &RigEdit::Delete(1));
    rig = add(&rig, Some(1), p(1.0, 2.0, 3.0));
    let text = serde_json::to_string(&rig.to_file(&base)).expect("plain data");
    let mut file: RigFile = serde_json::from_str(&text).expect("as written");
    assert_eq!(
        Rig::from_file(&file, &base).expect("good").joints(),
        rig.joints()
    );
    file.joints.reverse();
    assert_is_tree(&Rig::from_file(&file, &base).expect("order does not matter"));
    let at = file
        .joints
        .iter()
        .position(|joint| joint.name == "root")
        .expect("a root");
    file.joints[at].parent = Some("hand.L".into());
    assert!(Rig::from_file(&file, &base).is_err(), "a ring");
}

/// A trunk of two joints, with two arms of two joints.
fn man() -> Rig {
    let mut rig = Rig::default();
    for (parent, position) in [
        (None, p(0.0, 1.0, 0.0)),
        (Some(0), p(0.0, 1.5, 0.0)),
        (Some(1), p(0.3, 1.4, 0.0)),
    ] {
        rig = rig
            .edited(
                &RigEdit::Add {
                    parent,
                    position,
                    name: None,
                },
                Some(&mirror()),
            )
            .expect("possible")
            .rig;
    }
    rig.edited(
        &RigEdit::Add {
            parent: Some(2),
            position: p(0.6, 1.4, 0.0),
            name: Some("hand".into()),
        },
        Some(&mirror()),
    )
    .expect("possible")
    .rig
}
