//! Property tests of edits and of joint placement.

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
struct Dice(u64);

impl Dice {
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
        let mut dice = Dice(seed);
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
    let mut dice = Dice(7);
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

/// A file's skeleton with rotated frames, a rest pose that differs from the bind pose, and a clip
/// that animates everything.
fn animated() -> (Skeleton, Clip) {
    let mut joints = man()
        .to_skeleton(&Skeleton::default())
        .expect("a tree")
        .joints()
        .to_vec();
    for (index, joint) in joints.iter_mut().enumerate() {
        let turn = Quat::from_euler_angles(0.3 * index as f64, -0.2, 0.1);
        joint.rest.rotation = turn;
        joint.world_from_bind *= Affine::from_matrix_unchecked(turn.to_homogeneous());
    }
    joints[2].parent_from_base = crate::math::affine(
        &Quat::from_euler_angles(0.0, 0.0, 0.4)
            .to_rotation_matrix()
            .into_inner(),
        &Vec64::new(0.0, 0.1, 0.0),
    );
    let skeleton = Skeleton::new(joints).expect("a tree");
    let tracks = (0..skeleton.len()).flat_map(|joint| {
        let rest = skeleton.joints()[joint].rest;
        let turn =
            |by: f64| (Quat::from_euler_angles(by, 0.5 * by, -by) * rest.rotation).into_inner();
        let rotation = Curve::linear(vec![0.0, 1.0], vec![turn(0.0), turn(0.4)]);
        let shift = Vec64::new(0.05, 0.0, -0.02);
        let translation = Curve::linear(
            vec![0.0, 1.0],
            vec![rest.translation, rest.translation + shift],
        );
        [
            Track {
                joint,
                channel: Channel::Rotation(rotation),
            },
            Track {
                joint,
                channel: Channel::Translation(translation),
            },
        ]
    });
    let clip = Clip {
        name: "wave".into(),
        duration_secs: 1.0,
        tracks: tracks.collect(),
    };
    (skeleton, clip)
}

fn assert_moves_alike(base: &Skeleton, clip: &Clip, rig: &Rig, tolerance: f64) {
    let skeleton = rig.to_skeleton(base).expect("a tree");
    let carried = clip_on(clip, base, rig);
    for time in [0.0, 0.35, 0.7, 1.0] {
        let before = base.world_from_joint(&clip.sample(base, time));
        let after = skeleton.world_from_joint(&carried.sample(&skeleton, time));
        for (index, joint) in rig.joints().iter().enumerate() {
            let Some(origin) = joint.origin else { continue };
            let apart = (before[origin].matrix() - after[index].matrix()).amax();
            assert!(
                apart < tolerance,
                "{} is {apart} apart at {time}",
                joint.name
            );
        }
    }
}

#[test]
fn clips_move_remaining_joints_unchanged() {
    let (base, clip) = animated();
    let rig = Rig::of(&base);
    assert_eq!(
        rig.to_skeleton(&base).expect("a tree"),
        base,
        "nothing done, nothing changed"
    );
    assert_eq!(clip_on(&clip, &base, &rig), clip);
    assert_moves_alike(
        &base,
        &clip,
        &edit(
            &rig,
            &RigEdit::Insert {
                bone: RigBone::To(2),
                at: 0.3,
            },
        ),
        1e-9,
    );
    assert_moves_alike(
        &base,
        &clip,
        &edit(
            &rig,
            &RigEdit::Split {
                bone: RigBone::To(4),
                parts: 4,
            },
        ),
        1e-9,
    );
    // Exact at the samples, approximate between them.
    assert_moves_alike(&base, &clip, &edit(&rig, &RigEdit::Delete(2)), 1e-4);
    assert_moves_alike(
        &base,
        &clip,
        &edit(
            &rig,
            &RigEdit::Reparent {
                joint: 4,
                parent: Some(0),
            },
        ),
        1e-4,
    );
    assert_moves_alike(
        &base,
        &clip,
        &edit(
            &rig,
            &RigEdit::Reparent {
                joint: 2,
                parent: None,
            },
        ),
        1e-4,
    );
    assert_moves_alike(&base, &clip, &edit(&rig, &RigEdit::Delete(0)), 1e-4);
}

#[test]
fn a_moved_joint_is_displaced_in_its_parents_frame() {
    let (base, clip) = animated();
    let rig = Rig::of(&base);
    let by = Vec64::new(0.02, -0.03, 0.05);
    let to = rig.joints()[4].position + by;
    let rig = edit(
        &rig,
        &RigEdit::Move {
            joint: 4,
            position: to,
            with_children: false,
        },
    );
    let skeleton = rig.to_skeleton(&base).expect("a tree");
    assert!((skeleton.bind_position(4) - to).norm() < 1e-12);
    let carried = clip_on(&clip, &base, &rig);
    let before = base.world_from_joint(&clip.sample(&base, 0.5));
    let after = skeleton.world_from_joint(&carried.sample(&skeleton, 0.5));
    let parent = base.joints()[2].world_from_bind;
    let expected = (before[2] * parent.try_inverse().expect("a frame")).transform_vector(&by);
    assert!((origin_of(&after[4]) - origin_of(&before[4]) - expected).norm() < 1e-9);
    let pose = clip.sample(&base, 0.8);
    let remap = Remap::between(&Rig::of(&base), &rig);
    assert!(
        (pose_on(&base, &pose, &remap, &skeleton).locals[4].translation
            - carried.sample(&skeleton, 0.8).locals[4].translation)
            .norm()
            < 1e-9
    );
}

/// Distance of a point from the y axis, relative to the tube's radius.
fn off_axis(point: &Point64, radius: f64) -> f64 {
    point.x.hypot(point.z) / radius
}

fn tube_along_y() -> TriMesh {
    tube(0.2, 2.0, 40, 48, true)
}

#[test]
fn a_click_on_a_cylinder_finds_its_axis() {
    let placer = Placer::new(&tube_along_y());
    for across in [0.0, 0.1, 0.17, -0.19] {
        for height in [0.5, 1.0, 1.5] {
            let placed = placer
                .under(&p(across, height, 5.0), &Vec64::new(0.0, 0.0, -1.0))
                .expect("flesh");
            assert!(off_axis(&placed.position, 0.2) < 0.01, "{placed:?}");
            assert!(
                (placed.position.y - height).abs() < 0.01 && (placed.radius - 0.2).abs() < 0.005,
                "{placed:?}"
            );
            assert!(placed.axis.y.abs() > 0.999);
        }
    }
    // Also for oblique rays.
    let placed = placer
        .under(&p(1.0, 2.0, 4.0), &Vec64::new(-1.05, -1.0, -4.0))
        .expect("flesh");
    assert!(off_axis(&placed.position, 0.2) < 0.01, "{placed:?}");
    assert!(
        placer
            .under(&p(1.0, 1.0, 5.0), &Vec64::new(0.0, 0.0, -1.0))
            .is_none()
    );
}

#[test]
fn holes_inner_walls_sheets_and_reversed_triangles_are_handled() {
    let at = |mesh: &TriMesh| {
        Placer::new(mesh)
            .under(&p(0.05, 1.0, 5.0), &Vec64::new(0.0, 0.0, -1.0))
            .expect("flesh")
    };
    let open = tube(0.2, 2.0, 40, 48, false);
    let mut holed = tube_along_y();
    let is_cut = |t: &[u32; 3]| {
        t.iter().any(|&v| {
            (holed.positions[v as usize] - crate::math::Point::new(0.1, 0.75, 0.17)).norm() < 0.08
        })
    };
    let kept: Vec<_> = holed
        .triangles
        .iter()
        .copied()
        .filter(|t| !is_cut(t))
        .collect();
    assert!(kept.len() < holed.triangles.len());
    holed.triangles = kept;
    let eye = joined(&[
        tube_along_y(),
        moved(
            ball(crate::math::Point::origin(), 0.05, 10, 12),
            crate::math::Vec3::new(0.04, 1.0, 0.05),
        ),
    ]);
    let sheet = joined(&[tube_along_y(), tube(0.23, 1.5, 20, 48, false)]);
    let mut inside_out = tube_along_y();
    for triangle in &mut inside_out.triangles {
        triangle.swap(0, 1);
    }
    for (name, mesh) in [
        ("open", open),
        ("holed", holed),
        ("eye", eye),
        ("sheet", sheet),
        ("inside out", inside_out),
    ] {
        let placed = at(&mesh);
        assert!(off_axis(&placed.position, 0.2) < 0.03, "{name}: {placed:?}");
    }
}

#[test]
fn a_point_is_kept_inside() {
    let placer = Placer::new(&tube_along_y());
    let inside = p(0.1, 1.0, 0.05);
    assert_eq!(placer.kept_inside(&inside), inside);
    for outside in [p(0.5, 1.0, 0.0), p(0.0, 3.0, 0.1), p(-0.4, -1.0, 0.4)] {
        let kept = placer.kept_inside(&outside);
        assert!(placer.is_inside(&kept), "{outside} {kept}");
    }
    let empty = Placer::new(&TriMesh::default());
    assert!(
        !empty.is_inside(&inside)
            && empty.kept_inside(&inside) == inside
            && empty.mirror().is_none()
    );
    assert!(
        empty.under(&inside, &Vec64::x()).is_none()
            && placer.under(&p(f64::NAN, 0.0, 0.0), &Vec64::x()).is_none()
    );
}

#[test]
fn the_plane_between_two_sides_is_found() {
    let legs = |x: f32| {
        moved(
            tube(0.1, 1.0, 10, 12, true),
            crate::math::Vec3::new(x, 0.0, 0.0),
        )
    };
    let mesh = joined(&[
        legs(0.7),
        legs(0.1),
        moved(
            ball(crate::math::Point::origin(), 0.2, 8, 12),
            crate::math::Vec3::new(0.4, 1.2, 0.15),
        ),
    ]);
    let mirror = Placer::new(&mesh).mirror().copied().expect("two sides");
    assert!(
        mirror.normal.x > 0.99 && mirror.side(&p(0.4, 3.0, 1.0)).abs() < 0.02,
        "{mirror:?}"
    );
    let lame = joined(&[
        legs(0.7),
        tube(0.1, 0.4, 4, 12, true),
        moved(
            ball(crate::math::Point::origin(), 0.2, 8, 12),
            crate::math::Vec3::new(0.3, 1.2, 0.5),
        ),
    ]);
    assert!(
        Placer::new(&lame)
            .mirror()
            .is_none_or(|mirror| mirror.normal.x < 0.5)
    );
}
