//! `lbs` and `dqs` equal an independent implementation (`parity_skinning.py`, numpy) on three frames of real characters.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use crate::common::skip;
use serde_json::{Value, json};
use sinew::dynamics::Params;
use sinew::io::load;
use sinew::methods::{Actor, Frame, MethodId, Subject};
use sinew::progress::Progress;
use sinew::rig::{JointDelta, Pose, PoseFile, Skeleton};

/// Part of the size. Positions are blended in `f32` (2⁻²⁴ a term) from matrices rounded to `f32`; the files' joint matrices reach
/// a few hundred times the size of the result.
const TOLERANCE: f64 = 1e-5;

fn has_numpy() -> bool {
    Command::new("python3")
        .args(["-c", "import numpy"])
        .output()
        .is_ok_and(|out| out.status.success())
}

/// Three generated poses: every joint turned a little, more in each pose, by angles that depend on its index.
fn generated_pose(skeleton: &Skeleton, step: usize) -> PoseFile {
    let delta = |index: usize| {
        let angle = 0.15 * (step + 1) as f64 * ((index * 7 + step * 3) % 5) as f64 / 2.0;
        let axis = [0.6, 0.48, 0.64];
        let (s, c) = (angle / 2.0).sin_cos();
        let along = if index == 0 { 0.1 * step as f64 } else { 0.0 };
        JointDelta {
            rotation: [axis[0] * s, axis[1] * s, axis[2] * s, c],
            translation: [along, 0.0, 0.0],
        }
    };
    let joints: BTreeMap<_, _> = skeleton
        .joints()
        .iter()
        .enumerate()
        .map(|(i, joint)| (joint.name.clone(), delta(i)))
        .collect();
    PoseFile {
        joints,
        ..PoseFile::default()
    }
}

/// Three poses and how the other implementation is told of them.
fn poses(
    skeleton: &Skeleton,
    clips: &[sinew::rig::Clip],
    clip: Option<usize>,
) -> Vec<(Pose, Value)> {
    let of_clip = |index: usize, part: f64| {
        let time = clips[index].duration_secs * part;
        (
            clips[index].sample(skeleton, time),
            json!({"clip": index, "time": time}),
        )
    };
    let generated = |step| {
        let file = generated_pose(skeleton, step);
        (
            Pose::from_file(&file, skeleton).expect("joints of this skeleton"),
            json!({"pose": file.joints}),
        )
    };
    match clip {
        Some(index) => [0.21, 0.5, 0.83].map(|part| of_clip(index, part)).into(),
        None => [0, 1, 2].map(generated).into(),
    }
}

fn check(folder: &Path, file: &str, clip: Option<usize>) {
    let path = folder.join(file);
    let character =
        Arc::new(load(std::slice::from_ref(&path), &Progress::new()).expect("a character"));
    let subject = Arc::new(Subject::build(character.clone(), &Progress::new()).expect("a skin"));
    let mut frames = Vec::new();
    for method in [MethodId::LBS, MethodId::DQS] {
        let mut actor = Actor::bind(&subject, method, &Params::default(), &Progress::new())
            .expect("a bound method");
        for (pose, told) in poses(&character.skeleton, &character.clips, clip) {
            let world_from_joint = character.skeleton.world_from_joint(&pose);
            actor
                .advance(&Frame {
                    world_from_joint: &world_from_joint,
                    dt_secs: 0.0,
                })
                .expect("a frame");
            let mut frame = told;
            frame["method"] = json!(method.id());
            frame["positions"] = actor
                .positions()
                .iter()
                .map(|p| [p.x, p.y, p.z])
                .collect::<Vec<_>>()
                .into();
            frames.push(frame);
        }
    }
    let jobs = json!({"file": path, "tolerance": TOLERANCE, "frames": frames});
    let name = path
        .file_stem()
        .expect("a name")
        .to_string_lossy()
        .into_owned();
    let at = std::env::temp_dir().join(format!("sinew-parity-{name}-{}.json", std::process::id()));
    std::fs::write(&at, jobs.to_string()).expect("a temporary file");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts/parity_skinning.py");
    let out = Command::new("python3")
        .arg(script)
        .arg(&at)
        .output()
        .expect("python3");
    std::fs::remove_file(at).expect("the temporary file");
    println!("{file}\n{}", String::from_utf8_lossy(&out.stdout));
    assert!(
        out.status.success(),
        "{file}: {}{}",
        String::from_utf8_lossy(&out.stdout),
        String::from_utf8_lossy(&out.stderr)
    );
}

fn run(file: &str, clip: Option<usize>) {
    let Some(folder) = skip::data() else {
        return;
    };
    if !has_numpy() {
        skip::skipped("python3 with numpy is not installed");
        return;
    }
    check(&folder, file, clip);
}

#[test]
fn cesium_man() {
    run("A_rigged/CesiumMan/CesiumMan.glb", Some(0));
}

#[test]
fn fox() {
    run("A_rigged/Fox/Fox.glb", Some(2));
}

#[test]
fn makehuman_female() {
    run("A_rigged/mh_female_cmu/mh_female_cmu.glb", None);
}

#[test]
fn robot_expressive() {
    run("A_rigged/RobotExpressive/RobotExpressive.glb", Some(0));
}
