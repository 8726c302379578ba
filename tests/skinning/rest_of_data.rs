//! The bind pose of real meshes, clean and dirty ones, comes back from the methods that smooth.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use sinew::character::{Attachment, Character};
use sinew::dynamics::Params;
use sinew::mesh::Bounds;
use sinew::methods::{Actor, Frame, MethodId, Subject};
use sinew::param::ParamValues;
use sinew::progress::Progress;
use sinew::rig::Skeleton;

use crate::common::moved::worst;
use crate::common::skip;

/// Parts of the size. Delta mush smooths in `f32` in every frame, and small shells shrink so much that their turn is known less precisely:
/// 2.1e-5 in a character with many of them.
const METHODS: [(MethodId, f32); 2] = [(MethodId::DDM, 1e-6), (MethodId::DELTA_MUSH, 5e-5)];
/// Larger skins take minutes.
const MOST_VERTICES: usize = 30_000;

fn files(folder: &Path) -> Vec<PathBuf> {
    let entries = |folder: &Path| -> Vec<PathBuf> {
        let read = std::fs::read_dir(folder).into_iter().flatten().flatten();
        read.map(|entry| entry.path()).collect()
    };
    let mut files: Vec<PathBuf> = entries(folder)
        .iter()
        .flat_map(|own| entries(own))
        .collect();
    files.sort();
    files
}

/// The character on two joints along its longest side.
fn on_two_joints(mut character: Character) -> Character {
    let bounds = Bounds::of(&character.bind_positions());
    let half = bounds.extent() * 0.5;
    let axis = half.imax();
    let at = |part: f32| {
        let mut at = bounds.center();
        at[axis] += part * half[axis];
        at.cast::<f64>()
    };
    let joints = [
        ("a".to_owned(), None, at(-0.8)),
        ("b".to_owned(), Some(0), at(0.0)),
    ];
    let old = std::mem::take(&mut character.skeleton);
    for mesh in &mut character.meshes {
        mesh.positions = mesh.bind_positions(&old);
        mesh.attachment = Attachment::Unweighted;
    }
    character.skeleton = Skeleton::from_positions(&joints).expect("two joints");
    character
}

#[test]
fn rest_is_rest_on_real_meshes() {
    let Some(data) = skip::data() else {
        return;
    };
    let (physics, values, progress) = (Params::default(), ParamValues::default(), Progress::new());
    let mut tried = 0;
    for (folder, has_joints) in [("A_rigged", true), ("B_unrigged", false)] {
        for file in files(&data.join(folder)) {
            let Ok(character) = sinew::io::load(std::slice::from_ref(&file), &progress) else {
                continue;
            };
            let character = if has_joints {
                character
            } else {
                on_two_joints(character)
            };
            let Ok(subject) = Subject::build(Arc::new(character), &progress) else {
                continue;
            };
            let subject = Arc::new(subject);
            if subject.character.skeleton.is_empty()
                || subject.skin.mesh.positions.len() > MOST_VERTICES
            {
                continue;
            }
            let rest = subject.character.skeleton.bind_transforms();
            let frame = Frame {
                world_from_joint: &rest,
                dt_secs: 0.0,
            };
            for (method, tolerance) in METHODS {
                let mut actor = Actor::bind_with(&subject, method, &physics, &values, &progress)
                    .unwrap_or_else(|error| panic!("{}: {error}", file.display()));
                actor.advance(&frame).expect("a frame");
                let error = worst(actor.positions(), &subject.bind_positions) / subject.size;
                assert!(
                    error <= tolerance,
                    "{}: {} {error:.1e}",
                    file.display(),
                    method.id()
                );
                tried += 1;
            }
        }
    }
    assert!(tried > 20, "only {tried} were tried");
}
