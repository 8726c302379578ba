//! What is in the text of a project: cut off, damaged, of another skeleton.

use std::collections::BTreeMap;

use proptest::prelude::*;

use super::super::*;
use super::Folder;
use crate::character::{BoneSettings, Muscle, MuscleShape, Place};
use crate::io::write_atomically;
use crate::math::{Quat, Vec64};
use crate::methods::MethodId;
use crate::rig::Skeleton;
use crate::session::Session;
use crate::session::project::text::{from_text, to_text};
use crate::session::{Command, Document, View, ViewCommand, ViewId};
use crate::weights::WeightMethod;

/// Fails when so many bytes have been written.
struct Failing<W> {
    inner: W,
    left: usize,
}

impl<W: std::io::Write> std::io::Write for Failing<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if self.left == 0 {
            return Err(std::io::ErrorKind::StorageFull.into());
        }
        let written = self.inner.write(&bytes[..bytes.len().min(self.left)])?;
        self.left -= written;
        Ok(written)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.inner.flush()
    }
}

fn small_contents() -> Contents {
    let mut document = Document {
        source: Source::builtin("cylinder"),
        ..Document::default()
    };
    document.params.density_kg_m3 = 123.0;
    Contents {
        document,
        ..Contents::default()
    }
}

#[test]
fn writing_that_breaks_off_at_any_byte_leaves_the_old_file() {
    let folder = Folder::new();
    let path = folder.file("p.sinew");
    let text = to_text(
        &convert::file_of(&small_contents(), &|path| {
            paths::refer(path, &[], Some(&folder.0))
        })
        .unwrap(),
    )
    .unwrap();
    std::fs::write(&path, "old").unwrap();
    for left in 0..text.len() {
        let broken = write_atomically(&path, |out| {
            std::io::Write::write_all(&mut Failing { inner: out, left }, text.as_bytes())
        });
        assert!(broken.is_err());
        assert_eq!(std::fs::read(&path).unwrap(), b"old");
    }
    assert_eq!(
        std::fs::read_dir(&folder.0).unwrap().count(),
        1,
        "nothing half-written is left"
    );
    write_atomically(&path, |out| {
        std::io::Write::write_all(
            &mut Failing {
                inner: out,
                left: text.len(),
            },
            text.as_bytes(),
        )
    })
    .unwrap();
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
}

#[test]
fn a_text_that_breaks_off_is_refused_with_its_line() {
    let text = to_text(
        &convert::file_of(&small_contents(), &|path| paths::refer(path, &[], None)).unwrap(),
    )
    .unwrap();
    let whole = text.trim_end().len();
    for end in (0..whole).filter(|&end| text.is_char_boundary(end)) {
        let sentence = from_text(&text[..end]).unwrap_err().to_string();
        assert!(sentence.contains("line "), "{end}: {sentence}");
    }
    from_text(&text[..whole]).unwrap();
}

fn skeleton() -> Skeleton {
    let at = |y: f64| crate::math::Point64::new(0.0, y, 0.0);
    Skeleton::from_positions(&[
        ("a".into(), None, at(0.0)),
        ("b".into(), Some(0), at(1.0)),
        ("ü \"[\n".into(), Some(1), at(2.0)),
    ])
    .unwrap()
}

fn four_views() -> Views {
    let mut session = Session::new();
    let view = |id: u32, method: MethodId, compare: Option<MethodId>, free: bool| View {
        compare,
        free,
        ..View::new(ViewId(id), method)
    };
    let list = vec![
        View {
            crowd: 25,
            ..view(5, MethodId::DQS, None, false)
        },
        View {
            weights: WeightMethod::from_id("heat").unwrap(),
            ..view(3, MethodId::LBS, Some(MethodId::PD), true)
        },
    ];
    session.apply_once(Command::View(ViewCommand::SetAll(list)));
    session.apply_once(Command::View(ViewCommand::Activate(ViewId(3))));
    session.views().clone()
}

/// A document with everything that has a name in it.
fn full_text() -> String {
    let skeleton = skeleton();
    let mut character = crate::character::Character {
        skeleton: skeleton.clone(),
        ..Default::default()
    };
    character.meshes.push(crate::character::SourceMesh::bare(
        "m",
        vec![
            crate::math::Point::origin(),
            crate::math::Point::new(1.0, 0.0, 0.0),
            crate::math::Point::new(0.0, 1.0, 0.0),
        ],
        vec![[0, 1, 2]],
    ));
    let subject = crate::methods::Subject::build(
        std::sync::Arc::new(character),
        &crate::progress::Progress::new(),
    )
    .unwrap();
    let mut contents = small_contents();
    let document = &mut contents.document;
    document.subject = Some(std::sync::Arc::new(subject));
    document.pose = skeleton.rest_pose();
    document.pose.locals[2].rotation = Quat::from_euler_angles(0.1, 0.2, 0.3);
    document.flesh.bones.insert(
        1,
        BoneSettings {
            jiggle: 0.1,
            ..BoneSettings::default()
        },
    );
    document.flesh.radii.insert(2, 0.25);
    document.flesh.muscles = [(0, Some(2)), (1, Some(0)), (2, None)]
        .map(|(bone, driver)| Muscle {
            name: format!("m{bone}"),
            bone,
            driver,
            shape: MuscleShape::default(),
        })
        .to_vec();
    document
        .flesh
        .parts
        .insert("eye".into(), Place::Rigid { joint: 2 });
    document.free_poses.insert(ViewId(3), skeleton.rest_pose());
    contents.views = four_views();
    to_text(&convert::file_of(&contents, &|path| paths::refer(path, &[], None)).unwrap()).unwrap()
}

#[test]
fn names_keep_their_joints_when_the_order_changes_and_unknown_ones_are_reported() {
    let (file, unknown) = from_text(&full_text()).unwrap();
    assert_eq!(unknown, Vec::<String>::new());
    let (restored, notes) = restore::restored(&file, &skeleton());
    assert_eq!(notes, Vec::<String>::new());
    assert_eq!(restored.flesh.parts["eye"], Place::Rigid { joint: 2 });
    assert_eq!(restored.flesh.radii[&2], 0.25);
    assert_eq!(
        (restored.views.as_slice(), restored.active),
        (four_views().list(), ViewId(3))
    );
    assert_eq!(restored.free_poses.keys().collect::<Vec<_>>(), [&ViewId(3)]);
    let at = |x: f64| crate::math::Point64::new(x, 0.0, 0.0);
    let other =
        Skeleton::from_positions(&[("b".into(), None, at(0.0)), ("c".into(), Some(0), at(1.0))])
            .unwrap();
    let (restored, notes) = restore::restored(&file, &other);
    assert_eq!(restored.flesh.bones[&0].jiggle, 0.1);
    // The middle joint is the first one now, and the others are gone.
    let muscles = restored.flesh.muscles.iter();
    let kept: Vec<_> = muscles.map(|of| (&*of.name, of.bone, of.driver)).collect();
    assert_eq!(kept, [("m1", 0, None)]);
    assert!(
        notes.len() == 1 && notes[0].contains('ü') && !notes[0].contains('\n'),
        "{notes:?}"
    );
    assert_eq!(restored.pose, other.rest_pose());
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn damaged_projects_never_panic_and_give_finite_numbers(
        changes in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>(), 0..4_u8), 1..8),
    ) {
        let mut bytes = full_text().into_bytes();
        for (at, byte, how) in changes {
            let at = at.index(bytes.len());
            match how {
                0 => bytes[at] = byte,
                1 => bytes.insert(at, byte),
                2 => { bytes.remove(at); }
                _ => bytes[at] = b"0123456789eE-+.[]{},\":ntf"[usize::from(byte) % 25],
            }
        }
        match from_text(&crate::io::text_of(&bytes)) {
            Ok((file, _)) => {
                let (restored, notes) = restore::restored(&file, &skeleton());
                prop_assert!(restored.pose.locals.iter().all(|local| local.to_affine().matrix().iter().all(|c| c.is_finite())));
                prop_assert!(restored.params.density_kg_m3.is_finite() && notes.iter().all(|note| !note.contains('\n')));
                let _ = paths::resolve(&file.character.files, None, &BTreeMap::new());
            }
            Err(error) => prop_assert!(!error.to_string().contains('\n')),
        }
    }

    #[test]
    fn every_pose_round_trips_exactly(
        numbers in prop::collection::vec((-1e3..1e3_f64, -3.0..3.0_f64, -3.0..3.0_f64, -3.0..3.0_f64), 3),
        density in 1.0..2000.0_f64,
    ) {
        let (mut file, _) = from_text(&full_text()).unwrap();
        let mut pose = skeleton().rest_pose();
        for (local, (x, a, b, c)) in pose.locals.iter_mut().zip(numbers) {
            local.rotation = Quat::from_euler_angles(a, b, c);
            local.translation += Vec64::new(x, a / 3.0, b * c);
        }
        file.pose = convert::pose_part(&pose, &skeleton());
        file.params.density_kg_m3 = density;
        let (read, _) = from_text(&to_text(&file).unwrap()).unwrap();
        let (restored, _) = restore::restored(&read, &skeleton());
        prop_assert_eq!(restored.pose, pose);
        prop_assert_eq!(restored.params.density_kg_m3, density);
    }
}
