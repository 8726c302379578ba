//! Every number of a report of `sinew compare`, computed again with numpy.

#![expect(clippy::unwrap_used, reason = "a test that can't go on shall panic")]

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

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
fn bake(folder: &TestFolder, character: &[&str], method: &str, pose: &Path) -> Value {
    let stem = pose.file_stem().unwrap().to_str().unwrap().to_owned();
    let positions = folder.file(&format!("{method}-{stem}.positions.json"));
    let motion = folder.file(&format!("{stem}.bvh"));
    for (output, method) in [(&positions, Some(method)), (&motion, None)] {
        let method: Vec<String> = method
            .map(|method| format!("--method={method}"))
            .into_iter()
            .collect();
        let mut words: Vec<&dyn AsRef<std::ffi::OsStr>> =
            vec![&"--settle", &"--pose", &pose, &"-o", output];
        words.extend(
            method
                .iter()
                .map(|word| word as &dyn AsRef<std::ffi::OsStr>),
        );
        succeeded(&on(character, "bake", &words));
    }
    json!({ "method": method, "pose": stem, "positions": positions, "motion": motion })
}

/// Runs a verb on a character's files.
fn on(character: &[&str], verb: &str, options: &[&dyn AsRef<std::ffi::OsStr>]) -> Output {
    let mut words: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![&verb];
    words.extend(
        character
            .iter()
            .map(|file| file as &dyn AsRef<std::ffi::OsStr>),
    );
    words.extend(options);
    sinew(&words)
}

/// Compares methods in poses and computes every number again with numpy.
fn check(name: &str, character: &[&str], methods: &str, poses: &[(&str, String)]) {
    if !has_numpy() {
        return;
    }
    let folder = TestFolder::new(&format!("compare-numbers-{name}"));
    let files: Vec<PathBuf> = poses
        .iter()
        .map(|(name, text)| write(&folder, &format!("{name}.json"), text))
        .collect();
    let list = files.iter().map(|file| file.display().to_string());
    let list = list.collect::<Vec<_>>().join(",");
    let options: [&dyn AsRef<std::ffi::OsStr>; 6] = [
        &"--methods",
        &methods,
        &"--poses",
        &list,
        &"--distance-to=lbs",
        &"--json",
    ];
    let report = on(character, "compare", &options);
    succeeded(&report);
    let rest = folder.file("rest.obj");
    let rest_motion = folder.file("rest.bvh");
    let options: [&dyn AsRef<std::ffi::OsStr>; 4] = [&"--method=lbs", &"--settle", &"-o", &rest];
    succeeded(&on(character, "bake", &options));
    succeeded(&on(character, "bake", &[&"--settle", &"-o", &rest_motion]));
    let info = json(&on(character, "info", &[&"--json"]));
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
    println!("{name}\n{said}");
    assert!(out.status.success(), "{name}: {said}");
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
    check("arm", &["builtin:arm"], "lbs,dqs,pd", &poses);
}

#[test]
fn numbers_of_a_gecko_are_those_of_numpy() {
    let poses = [(
        "legs",
        pose(&[("hind_upper.L", Z, 60.0), ("hind_lower.L", Y, -80.0)]),
    )];
    check("gecko", &["builtin:gecko"], "lbs,pd", &poses);
}

#[test]
fn numbers_of_the_mannequin_are_those_of_numpy() {
    let poses = [(
        "elbow",
        pose(&[("forearm.L", Y, -120.0), ("shin.R", X, 90.0)]),
    )];
    // Flesh is compared on the smaller characters.
    check("mannequin", &["builtin:mannequin"], "lbs,dqs", &poses);
}

/// The arm with seams, as textures have them: vertices there exist twice.
#[test]
fn numbers_of_a_character_with_seams_are_those_of_numpy() {
    let folder = TestFolder::new("compare-numbers-seam-files");
    let (skin, rig) = (folder.file("arm.obj"), folder.file("arm.glb"));
    succeeded(&sinew(&[&"bake", &"builtin:arm", &"--rig", &"-o", &rig]));
    let options: [&dyn AsRef<std::ffi::OsStr>; 4] = [&"--method=lbs", &"--settle", &"-o", &skin];
    succeeded(&on(&["builtin:arm"], "bake", &options));
    let plain = std::fs::read_to_string(&skin).unwrap();
    let numbers = |line: &str| -> Vec<f64> {
        let words = line.split_whitespace().skip(1);
        words
            .filter_map(|word| word.split('/').next()?.parse().ok())
            .collect()
    };
    let places: Vec<Vec<f64>> = plain
        .lines()
        .filter(|line| line.starts_with("v "))
        .map(numbers)
        .collect();
    let middle = |axis: usize| {
        let mut along: Vec<f64> = places.iter().map(|place| place[axis]).collect();
        along.sort_by(f64::total_cmp);
        along[along.len() / 2]
    };
    let middles = [0, 1, 2].map(middle);
    // Triangles of different islands have vertices of their own at common places.
    let (mut vertices, mut faces) = (String::new(), String::new());
    let mut known: BTreeMap<(usize, usize), usize> = BTreeMap::new();
    for line in plain.lines().filter(|line| line.starts_with("f ")) {
        let corners: Vec<usize> = numbers(line).iter().map(|c| *c as usize - 1).collect();
        let first = &places[corners[0]];
        let part = |axis: usize| usize::from(first[axis] > middles[axis]);
        let island = part(2) + 2 * usize::from(part(0) != part(1));
        faces += "f";
        for corner in corners {
            let next = known.len() + 1;
            let vertex = *known.entry((corner, island)).or_insert_with(|| {
                let [x, y, z] = places[corner][..3] else {
                    panic!("three coordinates")
                };
                vertices.push_str(
                    &[
                        "v ".to_owned(),
                        x.to_string(),
                        " ".to_owned(),
                        y.to_string(),
                        " ".to_owned(),
                        z.to_string(),
                        "\n".to_owned(),
                    ]
                    .concat(),
                );
                next
            });
            faces.push_str(&[" ".to_owned(), vertex.to_string()].concat());
        }
        faces += "\n";
    }
    std::fs::write(&skin, vertices + &faces).unwrap();
    let files = [&skin, &rig].map(|file| file.to_str().unwrap());
    let info = json(&on(&files, "info", &[&"--json"]));
    assert_eq!(info["source_vertices"], known.len());
    assert!(known.len() > places.len() + 20, "{}", known.len());
    let poses = [
        ("bent", pose(&[("forearm", X, 110.0)])),
        ("twisted", pose(&[("hand", Y, 120.0)])),
    ];
    check("seams", &files, "lbs,dqs,pd", &poses);
}
