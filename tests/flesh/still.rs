//! At rest a character is at rest: no pose, no forces, no motion.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::common::skip;
use sinew::character::Character;
use sinew::dynamics::Params;
use sinew::math::Point;
use sinew::methods::{Actor, Frame, MethodId, Subject};
use sinew::progress::Progress;

const FRAMES: usize = 300;

/// Largest distance that any vertex is from where it was in the first frame, over 300 frames, as part of the size.
fn restlessness(character: Character) -> f32 {
    let subject = Arc::new(Subject::build(Arc::new(character), &Progress::new()).expect("builds"));
    let skeleton = &subject.character.skeleton;
    let rest = skeleton.world_from_joint(&skeleton.rest_pose());
    let mut actor =
        Actor::bind(&subject, MethodId::PD, &Params::default(), &Progress::new()).expect("binds");
    let frame = Frame {
        world_from_joint: &rest,
        dt_secs: 1.0 / 60.0,
    };
    actor.advance(&frame).expect("settles");
    let first: Vec<Point> = actor.positions().to_vec();
    let mut worst = 0.0_f32;
    for _ in 0..FRAMES {
        actor.advance(&frame).expect("moves");
        worst = actor
            .positions()
            .iter()
            .zip(&first)
            .map(|(a, b)| (a - b).norm())
            .fold(worst, f32::max);
    }
    worst / subject.size
}

#[test]
fn built_in_characters_stand_still() {
    for name in sinew::io::builtin::NAMES {
        let moved = restlessness(sinew::io::builtin::load_builtin(name).expect("built in"));
        println!("{name}: {moved:e} of the size");
        assert!(moved < 1e-5, "{name}: {moved:e}");
    }
}

#[test]
fn real_characters_stand_still() {
    let Some(data) = skip::data() else {
        return;
    };
    let files = characters_in(&data.join("A_rigged"));
    assert!(files.len() >= 19, "{} characters", files.len());
    let mut restless = Vec::new();
    for file in files {
        let character =
            sinew::io::load(std::slice::from_ref(&file), &Progress::new()).expect("loads");
        let moved = restlessness(character);
        println!("{}: {moved:e} of the size", file.display());
        if moved >= 1e-5 || moved.is_nan() {
            restless.push((file, moved));
        }
    }
    assert!(restless.is_empty(), "{restless:?}");
}

fn characters_in(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(folder).expect("readable").flatten() {
        let path = entry.path();
        if path.is_dir() {
            files.extend(characters_in(&path));
        } else if path
            .extension()
            .is_some_and(|e| e == "glb" || e == "gltf" || e == "vrm")
        {
            files.push(path);
        }
    }
    files.sort();
    files
}
