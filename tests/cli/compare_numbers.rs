//! Every number of a report of `sinew compare`, computed again with numpy.

#![expect(clippy::unwrap_used, reason = "a test that can't go on shall panic")]

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};

use crate::common::folder::TestFolder;
use crate::common::skip;
use crate::compare::{pose, succeeded};
use crate::program::{json, sinew, stdout, write};

fn has_numpy() -> bool {
    let found = Command::new("python3")
        .args(["-c", "import numpy"])
        .output();
    let found = found.is_ok_and(|out| out.status.success());
    if !found {
        skip::skipped("python3 with numpy is missing");
    }
    found
}

/// Bakes a pose by a method as positions, and its skeleton as a motion.
fn bake(folder: &TestFolder, character: &str, method: &str, pose: &Path) -> Value {
    let stem = pose.file_stem().unwrap().to_str().unwrap().to_owned();
    let positions = folder.file(&format!("{method}-{stem}.positions.json"));
    let motion = folder.file(&format!("{stem}.bvh"));
    for (output, method) in [(&positions, Some(method)), (&motion, None)] {
        let method: Vec<String> = method
            .map(|method| format!("--method={method}"))
            .into_iter()
            .collect();
        let mut words: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![
            &"bake",
            &character,
            &"--settle",
            &"--pose",
            &pose,
            &"-o",
            output,
        ];
        words.extend(
            method
                .iter()
                .map(|word| word as &dyn AsRef<std::ffi::OsStr>),
        );
        succeeded(&sinew(&words));
    }
    json!({ "method": method, "pose": stem, "positions": positions, "motion": motion })
}

/// Compares methods in poses and computes every number again with numpy.
fn check(character: &str, methods: &str, poses: &[(&str, String)]) {
    if !has_numpy() {
        return;
    }
    let folder = TestFolder::new(&format!("compare-numbers-{}", character.replace(':', "-")));
    let files: Vec<PathBuf> = poses
        .iter()
        .map(|(name, text)| write(&folder, &format!("{name}.json"), text))
        .collect();
    let list = files.iter().map(|file| file.display().to_string());
    let list = list.collect::<Vec<_>>().join(",");
    let report = sinew(&[
        &"compare",
        &character,
        &"--methods",
        &methods,
        &"--poses",
        &list,
        &"--distance-to=lbs",
        &"--json",
    ]);
    succeeded(&report);
    let rest = folder.file("rest.obj");
    let rest_motion = folder.file("rest.bvh");
    succeeded(&sinew(&[
        &"bake",
        &character,
        &"--method=lbs",
        &"--settle",
        &"-o",
        &rest,
    ]));
    succeeded(&sinew(&[
        &"bake",
        &character,
        &"--settle",
        &"-o",
        &rest_motion,
    ]));
    let info = json(&sinew(&[&"info", &character, &"--json"]));
    let cells: Vec<Value> = methods
        .split(',')
        .flat_map(|method| files.iter().map(move |pose| (method, pose)))
        .map(|(method, pose)| bake(&folder, character, method, pose))
        .collect();
    let job = json!({
        "report": write(&folder, "report.json", &stdout(&report)),
        "rest": rest,
        "rest_motion": rest_motion,
        "metres_per_unit": info["metres_per_unit"],
        "reference": "lbs",
        "cells": cells,
    });
    let job = write(&folder, "job.json", &job.to_string());
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts/compare_metrics.py");
    let out = Command::new("python3")
        .arg(script)
        .arg(job)
        .output()
        .unwrap();
    let said =
        String::from_utf8_lossy(&out.stdout).into_owned() + &String::from_utf8_lossy(&out.stderr);
    println!("{character}\n{said}");
    assert!(out.status.success(), "{character}: {said}");
}

const X: [f64; 3] = [1.0, 0.0, 0.0];
const Y: [f64; 3] = [0.0, 1.0, 0.0];
const Z: [f64; 3] = [0.0, 0.0, 1.0];

#[test]
fn numbers_of_an_arm_are_those_of_numpy() {
    let poses = [
        ("bent", pose(&[("forearm", X, 110.0)])),
        (
            "across",
            pose(&[("forearm", Z, 100.0), ("forearm", Y, 60.0)]),
        ),
        ("twisted", pose(&[("hand", Y, 120.0)])),
    ];
    check("builtin:arm", "lbs,dqs,pd", &poses);
}

#[test]
fn numbers_of_a_gecko_are_those_of_numpy() {
    let poses = [
        ("tail", pose(&[("tail.3", X, 70.0), ("tail.4", X, 70.0)])),
        (
            "legs",
            pose(&[("hind_upper.L", Z, 60.0), ("hind_lower.L", Y, -80.0)]),
        ),
    ];
    check("builtin:gecko", "lbs,pd", &poses);
}

#[test]
fn numbers_of_the_mannequin_are_those_of_numpy() {
    let poses = [(
        "elbow",
        pose(&[("forearm.L", Y, -120.0), ("shin.R", X, 90.0)]),
    )];
    check("builtin:mannequin", "lbs,dqs,pd", &poses);
}
