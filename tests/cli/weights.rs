//! `sinew weights` and transfers of weights.

use std::path::Path;

use crate::common::folder::TestFolder;
use crate::program::{BONES, assert_refused, json, names, sinew, stdout, tube, write};

#[test]
fn weights_are_reported_and_written_in_every_format() {
    let folder = TestFolder::new("weights-verb");
    let (mesh, bones) = (
        write(&folder, "tube.off", &tube()),
        write(&folder, "tube.skel", BONES),
    );
    for name in ["w.dmat", "w.json", "w.csv", "w.glb"] {
        let out = folder.file(name);
        let report = json(&sinew(&[
            &"weights",
            &mesh,
            &bones,
            &"--weights=heat",
            &"--json",
            &"-o",
            &out,
        ]));
        assert_eq!(report["weights"], "heat");
        assert_eq!(
            (&report["vertices"], &report["joints"]),
            (&158.into(), &3.into())
        );
        assert_eq!(report["without"], 0);
        assert!(report["against_file"].is_null() && report["setup_ms"].as_f64() > Some(0.0));
        assert_eq!(report["unseeded_joints"], serde_json::json!([]));
        assert!(out.is_file(), "{name}");
    }
    // A joint far from the skin is named, whatever computes the weights.
    let far = write(
        &folder,
        "far.skel",
        &(BONES.replacen('3', "4", 1) + "30 1 0 far upper\n"),
    );
    for weights in ["heat", "biharmonic", "geodesic", "elastic"] {
        let weights = format!("--weights={weights}");
        let report = json(&sinew(&[&"weights", &mesh, &far, &weights, &"--json"]));
        let unseeded = report["unseeded_joints"].as_array().unwrap();
        assert!(unseeded.contains(&"far".into()), "{report}");
        assert_eq!(report["without"], 0);
    }
    // The matrix and the list hold the same numbers, and both read as the rig does.
    let list: serde_json::Value =
        serde_json::from_slice(&std::fs::read(folder.file("w.json")).unwrap()).unwrap();
    let rows = list["weights"].as_array().unwrap();
    let lines = std::fs::read_to_string(folder.file("w.csv")).unwrap();
    assert_eq!(lines.lines().count(), rows.len() + 1);
    let progress = sinew::progress::Progress::new();
    let files = [mesh, bones, folder.file("w.dmat")];
    let of_matrix = sinew::io::load(&files, &progress).unwrap();
    let of_rig = sinew::io::load(&[folder.file("w.glb")], &progress).unwrap();
    let weight = |character: &sinew::prelude::Character, vertex: usize, joint: usize| {
        let sinew::character::Attachment::Skinned { weights, .. } = &character.meshes[0].attachment
        else {
            panic!("not skinned")
        };
        let found = weights.of(vertex).find(|(j, _)| *j == joint);
        found.map_or(0.0, |(_, weight)| f64::from(weight))
    };
    for row in rows {
        let vertex = row[0].as_u64().unwrap() as usize;
        let joint = of_rig.skeleton.find(row[1].as_str().unwrap()).unwrap();
        let expected = row[2].as_f64().unwrap();
        for character in [&of_matrix, &of_rig] {
            let found = weight(character, vertex, joint);
            assert!((found - expected).abs() < 1e-5, "{row}: {found}");
        }
    }
    // A skinned file is compared with itself, and has the text of a report.
    let text = stdout(&sinew(&[
        &"weights",
        &folder.file("w.glb"),
        &"--weights=heat",
    ]));
    assert!(
        text.contains("against    the file's own: L1 0.0000"),
        "{text}"
    );
}

#[test]
fn weights_are_limited_smoothed_mirrored_and_transferred() {
    let rigid = json(&sinew(&[
        &"weights",
        &"builtin:mannequin",
        &"--influences=1",
        &"--json",
    ]));
    let histogram = rigid["histogram"].as_array().unwrap();
    assert!(histogram.len() == 2 && histogram[0] == 0, "{histogram:?}");
    assert!(rigid["against_file"]["l1"].as_f64() > Some(0.01));
    let mirrored = json(&sinew(&[
        &"weights",
        &"builtin:mannequin",
        &"--weights=distance",
        &"--smooth=3",
        &"--mirror",
        &"--json",
    ]));
    assert!(mirrored["mirrored"].as_u64() > Some(1000), "{mirrored}");
    let transferred = json(&sinew(&[
        &"weights",
        &"builtin:mannequin",
        &"--weights=transfer:builtin:mannequin",
        &"--json",
    ]));
    assert_eq!(transferred["transfer"]["matched"], transferred["vertices"]);
    assert!(
        transferred["against_file"]["l1"].as_f64() < Some(0.02),
        "{transferred}"
    );
}

#[test]
fn bad_weights_are_refused_with_one_sentence() {
    let folder = TestFolder::new("weights-refused");
    let (mesh, bones) = (
        write(&folder, "tube.off", &tube()),
        write(&folder, "tube.skel", BONES),
    );
    let (rig, out) = (folder.file("rig.glb"), folder.file("out.dmat"));
    let weights = |files: &[&Path], more: &[&dyn AsRef<std::ffi::OsStr>]| {
        let mut arguments: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![&"weights"];
        arguments.extend(files.iter().map(|file| file as &dyn AsRef<std::ffi::OsStr>));
        arguments.extend(more);
        sinew(&arguments)
    };
    assert!(weights(&[&mesh, &bones], &[&"-o", &rig]).status.success());
    assert_refused(
        &weights(&[&rig], &[&"-o", &rig]),
        &["rig.glb", "never overwrites"],
    );
    assert_refused(&weights(&[&mesh], &[&"-o", &out]), &["no skeleton"]);
    let unknown = weights(&[&rig], &[&"-o", &folder.file("out.txt")]);
    let sentence = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert_eq!(unknown.status.code(), Some(2), "{sentence}");
    assert!(sentence.contains("out.txt") && sentence.contains(".dmat"));
    assert_refused(
        &weights(&[&rig], &[&"-o", &folder.file("none/out.csv")]),
        &["no folder"],
    );
    assert_refused(
        &weights(&[&rig], &[&"--weights=transfer:nowhere.glb"]),
        &["nowhere.glb"],
    );
    let bare = format!("--weights=transfer:{}", mesh.display());
    assert_refused(&weights(&[&rig], &[&bare]), &["tube.off", "weights"]);
    for wrong in [
        "--weights=magic",
        "--weights=transfer:",
        "--influences=0",
        "--influences=9",
        "--smooth=-1",
        "--mirror=up",
    ] {
        assert_eq!(
            weights(&[&rig], &[&wrong]).status.code(),
            Some(2),
            "{wrong}"
        );
    }
    assert_eq!(names(&folder), ["rig.glb", "tube.off", "tube.skel"]);
}
