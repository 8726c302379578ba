//! Mirrored edits.

use super::*;

#[test]
fn a_mirrored_edit_changes_both_sides() {
    let rig = man();
    let names: Vec<&str> = rig
        .joints()
        .iter()
        .map(|joint| joint.name.as_str())
        .collect();
    assert_eq!(
        names,
        ["root", "bone1", "bone2.L", "bone2.R", "hand.L", "hand.R"]
    );
    assert!(mirror().is_symmetric(&rig));
    let edits = [
        RigEdit::Move {
            joint: 4,
            position: p(0.7, 1.2, 0.2),
            with_children: false,
        },
        RigEdit::Rename {
            joint: 2,
            name: "arm".into(),
        },
        RigEdit::Insert {
            bone: RigBone::To(5),
            at: 0.5,
        },
        RigEdit::Split {
            bone: RigBone::To(2),
            parts: 3,
        },
        RigEdit::SetTail {
            joint: 4,
            tail: Some(p(0.9, 1.2, 0.0)),
        },
        RigEdit::Merge(5),
        RigEdit::Delete(2),
        RigEdit::Move {
            joint: 0,
            position: p(0.4, 0.9, 0.1),
            with_children: true,
        },
    ];
    for edit in edits {
        let after = rig.edited(&edit, Some(&mirror())).expect("possible").rig;
        assert!(mirror().is_symmetric(&after), "{edit:?} {after:?}");
        assert_is_tree(&after);
    }
    let named = rig
        .edited(
            &RigEdit::Rename {
                joint: 2,
                name: "arm".into(),
            },
            Some(&mirror()),
        )
        .expect("possible")
        .rig;
    assert_eq!(
        [&named.joints()[2].name, &named.joints()[3].name],
        ["arm.L", "arm.R"]
    );
    let split = rig
        .edited(
            &RigEdit::Split {
                bone: RigBone::To(4),
                parts: 3,
            },
            Some(&mirror()),
        )
        .expect("possible")
        .rig;
    assert_eq!(split.len(), 10);
    assert!(
        (2..split.len()).all(|joint| split.has_side(joint)),
        "{split:?}"
    );
}

#[test]
fn random_symmetric_edits_stay_symmetric() {
    let mut dice = Random64(7);
    let mut rig = man();
    for _ in 0..200 {
        let wanted = dice.edit(&rig);
        let is_free = match &wanted {
            // A middle joint under a side joint, or a side joint that bridges the sides, has no
            // partner.
            RigEdit::Reparent { .. } | RigEdit::Rename { .. } => continue,
            RigEdit::Add {
                parent, position, ..
            } => {
                !mirror().is_on_plane(position)
                    || parent.is_none_or(|parent| mirror().partner(&rig, parent) == Partner::Itself)
            }
            RigEdit::Move {
                joint, position, ..
            } => {
                mirror().partner(&rig, *joint) == Partner::Itself
                    || (!mirror().is_on_plane(position)
                        && mirror().side(position) * mirror().side(&rig.joints()[*joint].position)
                            > 0.0)
            }
            _ => true,
        };
        if rig.len() > 60 || !is_free {
            continue;
        }
        if let Ok(edited) = rig.edited(&wanted, Some(&mirror())) {
            assert!(mirror().is_symmetric(&edited.rig), "{wanted:?}\n{rig:#?}");
            rig = if edited.rig.len() > 2 {
                edited.rig
            } else {
                man()
            };
        }
    }
}
