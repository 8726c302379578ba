//! What is baked, and what is refused.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::common::folder::TestFolder;
use crate::program::{BONES, assert_refused, json, names, sinew, tube, vertices, write};
use sinew::character::Attachment;

#[test]
fn a_bake_rotates_the_joint_by_the_given_angles() {
    let folder = TestFolder::new("bake");
    let (mesh, bones, out) = (
        write(&folder, "tube.off", &tube()),
        write(&folder, "tube.skel", BONES),
        folder.0.join("out.obj"),
    );
    let turn = "--rotate=upper=0,0,-90";
    let report = json(&sinew(&[
        &"bake",
        &mesh,
        &bones,
        &"--method",
        &"rigid",
        &turn,
        &"--settle",
        &"-o",
        &out,
        &"--json",
    ]));
    assert_eq!(report["frames"], 1);
    assert_eq!(report["files"][0], out.to_str().unwrap());
    // The upper end was at (0, 2, 0): −90° about Z through (0, 1, 0) brings it to (1, 1, 0).
    let moved = vertices(&out);
    assert_eq!(moved.len(), 158);
    let [x, y, z] = moved[157];
    assert!(
        (x - 1.0).abs() < 1e-5 && (y - 1.0).abs() < 1e-5 && z.abs() < 1e-5,
        "{x} {y} {z}"
    );
    // A value of its own may begin with any joint name, and X comes before Y before Z.
    let both: [&dyn AsRef<std::ffi::OsStr>; 10] = [
        &"bake",
        &mesh,
        &bones,
        &"--method",
        &"rigid",
        &"--rotate",
        &"upper=90,0,-90",
        &"--settle",
        &"-o",
        &out,
    ];
    assert_eq!(sinew(&both).status.code(), Some(0));
    let [x, y, z] = vertices(&out)[157];
    assert!(
        x.abs() < 1e-5 && (y - 1.0).abs() < 1e-5 && (z - 1.0).abs() < 1e-5,
        "{x} {y} {z}"
    );
}

#[test]
fn a_pose_is_baked_as_a_motion_from_rest() {
    let folder = TestFolder::new("motion");
    let (mesh, bones) = (
        write(&folder, "tube.off", &tube()),
        write(&folder, "tube.skel", BONES),
    );
    let half = (0.5_f64).sqrt();
    let pose = write(
        &folder,
        "pose.json",
        &format!("{{\"joints\": {{\"upper\": {{\"rotation\": [0, 0, {half}, {half}]}}}}}}"),
    );
    let out = folder.0.join("out.json");
    let report = json(&sinew(&[
        &"bake",
        &mesh,
        &bones,
        &"--method",
        &"lbs",
        &"--pose",
        &pose,
        &"-o",
        &out,
        &"--json",
    ]));
    assert_eq!(
        report["frames"], 61,
        "one second into the pose and one in it, at 30 frames a second"
    );
    let baked: serde_json::Value = serde_json::from_slice(&fs::read(&out).unwrap()).unwrap();
    let frames = baked["frames"].as_array().unwrap();
    assert_eq!(frames.len(), 61);
    assert_eq!(frames[30], frames[60]);
    assert_ne!(frames[0], frames[30]);
    let rest = json(&sinew(&[
        &"bake",
        &mesh,
        &bones,
        &"--method",
        &"lbs",
        &"-o",
        &out,
        &"--json",
    ]));
    assert_eq!(rest["frames"], 1, "the rest pose");
    assert!(rest["max_displacement"].as_f64().unwrap() < 1e-5);
    let cache = folder.0.join("out.pc2");
    let part = json(&sinew(&[
        &"bake",
        &mesh,
        &bones,
        &"--method=lbs",
        &"--pose",
        &pose,
        &"--frames=3-5",
        &"-o",
        &cache,
        &"--json",
    ]));
    assert_eq!(part["frames"], 3);
    assert_eq!(fs::metadata(&cache).unwrap().len(), 32 + 3 * 158 * 12);
    let many = folder.0.join("many.obj");
    assert_eq!(
        sinew(&[
            &"bake",
            &mesh,
            &bones,
            &"--method=lbs",
            &"--frames=8-9",
            &"-o",
            &many
        ])
        .status
        .code(),
        Some(0)
    );
    assert!(
        names(&folder).contains(&"many.0008.obj".to_owned())
            && names(&folder).contains(&"many.0009.obj".to_owned())
    );
}

#[test]
fn an_unwritable_output_is_rejected() {
    let folder = TestFolder::new("output");
    let (mesh, bones) = (
        write(&folder, "tube.off", &tube()),
        write(&folder, "tube.skel", BONES),
    );
    let before = names(&folder);
    let bake = |out: &Path| {
        sinew(&[
            &"bake",
            &mesh,
            &bones,
            &"--method=lbs",
            &"--settle",
            &"-o",
            &out,
        ])
    };
    assert_refused(
        &bake(&folder.0.join("no/such/folder/out.obj")),
        &["no/such/folder"],
    );
    let unknown = bake(&folder.0.join("out.xyz"));
    let sentence = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert_eq!(unknown.status.code(), Some(2), "{sentence}");
    assert!(
        sentence.contains("out.xyz") && sentence.contains(".pc2"),
        "{sentence}"
    );
    let occupied = folder.0.join("occupied.obj");
    fs::create_dir(&occupied).unwrap();
    assert_refused(&bake(&occupied), &["occupied.obj"]);
    fs::remove_dir(&occupied).unwrap();
    let nowhere = folder.0.join("no/such/folder/out.png");
    assert_refused(
        &sinew(&[&"render", &mesh, &bones, &"--method=lbs", &"-o", &nowhere]),
        &["no/such/folder"],
    );
    assert_refused(
        &sinew(&[
            &"tissue",
            &mesh,
            &bones,
            &"-o",
            &nowhere.with_extension("msh"),
        ]),
        &["no/such/folder"],
    );
    assert_refused(
        &sinew(&[&"tissue", &mesh, &bones, &"-o", &folder.0.join("out.stl")]),
        &["out.stl", ".vtu"],
    );
    assert_eq!(names(&folder), before);
}

#[test]
fn a_bake_has_the_requested_frames() {
    let folder = TestFolder::new("formats");
    let bake = |name: &str, more: &[&str]| {
        let out = folder.0.join(name);
        let mut arguments: Vec<&dyn AsRef<std::ffi::OsStr>> =
            vec![&"bake", &"builtin:cylinder", &"--json", &"-o", &out];
        arguments.extend(more.iter().map(|word| word as &dyn AsRef<std::ffi::OsStr>));
        json(&sinew(&arguments))
    };
    let lbs = ["--method=lbs", "--clip=bend", "--frames=10-20"];
    let points = fs::metadata(folder.0.join({
        bake("a.pc2", &lbs);
        "a.pc2"
    }))
    .unwrap()
    .len() as usize;
    let points = (points - 32) / (11 * 12);
    let report = bake("a.mdd", &[&lbs[..], &["--every=4"]].concat());
    assert_eq!(report["frames"], 3, "10, 14, 18");
    assert_eq!(
        fs::read(folder.0.join("a.mdd")).unwrap().len(),
        8 + 3 * 4 + 3 * points * 12
    );
    let report = bake(
        "a.glb",
        &[&lbs[..], &["--every=4", "--tolerance=0"]].concat(),
    );
    assert_eq!(
        (&report["frames"], &report["morph_targets"]),
        (&4.into(), &3.into()),
        "and 20, the last"
    );
    let report = bake("a.ply", &[&lbs[..], &["--every=10"]].concat());
    assert_eq!(report["files"].as_array().unwrap().len(), 2);
    assert!(
        names(&folder).contains(&"a.0010.ply".to_owned())
            && names(&folder).contains(&"a.0020.ply".to_owned())
    );
    // A pose that is written is the pose that is read.
    let pose = folder.0.join("pose.json");
    let pose_out = format!("--pose-out={}", pose.display());
    bake(
        "direct.obj",
        &[
            "--method=lbs",
            "--rotate=upper=10,20,30",
            "--settle",
            &pose_out,
        ],
    );
    bake(
        "again.obj",
        &[
            "--method=lbs",
            &format!("--pose={}", pose.display()),
            "--settle",
        ],
    );
    let (direct, again) = (
        vertices(&folder.0.join("direct.obj")),
        vertices(&folder.0.join("again.obj")),
    );
    assert!(
        direct
            .iter()
            .zip(&again)
            .all(|(a, b)| (0..3).all(|c| (a[c] - b[c]).abs() < 1e-5))
    );
    let alone = sinew(&[
        &"bake",
        &"builtin:cylinder",
        &"--clip=bend",
        &pose_out,
        &"--json",
    ]);
    assert_eq!(json(&alone)["files"][0], pose.to_str().unwrap());
    // The motion alone, read again as a motion of the same skeleton.
    assert_eq!(
        bake("a.bvh", &["--clip=bend"])["files"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    let motion = folder.0.join("a.bvh");
    assert_eq!(
        json(&sinew(&[&"info", &"builtin:cylinder", &motion, &"--json"]))["clips"]
            .as_array()
            .unwrap()
            .len(),
        3
    );
}

#[test]
fn a_very_large_bake_needs_confirmation() {
    let folder = TestFolder::new("large");
    let out = folder.0.join("out.pc2");
    let much = sinew(&[
        &"bake",
        &"builtin:mannequin",
        &"--method=lbs",
        &"--frames=0-800000",
        &"-o",
        &out,
    ]);
    assert_refused(&much, &["out.pc2", "GB", "--yes", "--frames"]);
    let rig = sinew(&[&"bake", &"builtin:cylinder", &"--rig", &"-o", &out]);
    let sentence = String::from_utf8_lossy(&rig.stderr).into_owned();
    assert_eq!(rig.status.code(), Some(2), "{sentence}");
    assert!(
        sentence.contains("out.pc2") && sentence.contains(".glb"),
        "{sentence}"
    );
    assert!(names(&folder).is_empty());
}

/// A disk that fills up half-way, played by the limit on a file's length.
#[test]
#[cfg(target_os = "linux")]
fn a_truncated_output_leaves_no_file() {
    let folder = TestFolder::new("full");
    let (binary, out) = (env!("CARGO_BIN_EXE_sinew"), folder.0.display());
    for arguments in [
        format!("bake builtin:cylinder --method lbs --settle -o {out}/a.obj"),
        format!("bake builtin:cylinder --method lbs --clip bend -o {out}/a.pc2"),
        format!("bake builtin:cylinder --method lbs --clip bend -o {out}/a.json"),
        format!("bake builtin:cylinder --method lbs --clip bend -o {out}/a.mdd"),
        format!("bake builtin:cylinder --method lbs --clip bend -o {out}/a.glb"),
        format!("bake builtin:cylinder --method lbs --settle -o {out}/a.glb"),
        format!("bake builtin:cylinder --method lbs --settle -o {out}/a.ply"),
        format!("bake builtin:cylinder --rig -o {out}/a.glb"),
        format!("tissue builtin:cylinder -o {out}/a.vtu"),
    ] {
        let limited = format!("trap '' XFSZ; ulimit -f 16; exec '{binary}' {arguments} --no-cache");
        let output = Command::new("sh").args(["-c", &limited]).output().unwrap();
        assert_refused(&output, &["cannot be written"]);
        assert!(
            names(&folder).is_empty(),
            "{arguments} leaves {:?}",
            names(&folder)
        );
    }
}

/// Neither the file nor what was written of it stays when the work is broken off.
#[test]
#[cfg(unix)]
fn an_interrupted_bake_leaves_no_file() {
    use std::os::unix::process::ExitStatusExt;
    let folder = TestFolder::new("broken-off");
    let out = folder.0.join("long.pc2");
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    command
        .args([
            "bake",
            "builtin:cylinder",
            "--method=lbs",
            "--no-cache",
            "--yes",
            "--frames=0-800000",
            "-o",
        ])
        .arg(&out);
    let mut child = command.stderr(std::process::Stdio::null()).spawn().unwrap();
    let begun = std::time::Instant::now();
    while names(&folder).is_empty() && begun.elapsed().as_secs() < 60 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(!names(&folder).is_empty(), "it writes");
    let told = Command::new("kill")
        .args(["-TERM", &child.id().to_string()])
        .status()
        .unwrap();
    assert!(told.success());
    assert_eq!(child.wait().unwrap().signal(), Some(15));
    assert!(names(&folder).is_empty(), "{:?}", names(&folder));
}

fn bake(sources: &[&Path], more: &[&str], out: &Path) {
    let mut arguments: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![&"bake", &"-o", &out];
    for source in sources {
        arguments.push(source);
    }
    for word in more {
        arguments.push(word);
    }
    let output = sinew(&arguments);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{stderr}");
}

/// Positions of a settled bend of a character with the joints of the tube.
fn bent(folder: &TestFolder, sources: &[&Path], weights: &str) -> Vec<[f64; 3]> {
    let out = folder.0.join("bent.obj");
    let weights = format!("--weights={weights}");
    let turn = "--rotate=upper=0,0,60";
    bake(sources, &["--method=lbs", &weights, turn, "--settle"], &out);
    vertices(&out)
}

fn farthest(a: &[[f64; 3]], b: &[[f64; 3]]) -> f64 {
    assert_eq!(a.len(), b.len());
    let apart =
        |(a, b): (&[f64; 3], &[f64; 3])| (0..3).map(|k| (a[k] - b[k]).powi(2)).sum::<f64>().sqrt();
    a.iter().zip(b).map(apart).fold(0.0, f64::max)
}

#[test]
fn a_bake_and_a_rig_have_the_requested_weights() {
    let folder = TestFolder::new("weights");
    let (mesh, bones) = (
        write(&folder, "tube.off", &tube()),
        write(&folder, "tube.skel", BONES),
    );
    let bare: [&Path; 2] = [&mesh, &bones];
    let [file, automatic, distance, heat] =
        ["file", "biharmonic", "distance", "heat"].map(|weights| bent(&folder, &bare, weights));
    assert!(farthest(&file, &automatic) < 1e-6, "a bare mesh has none");
    assert!(farthest(&heat, &distance) > 1e-3);

    // Weights of a mesh that had none, then in place of those of a file: the rig moves by them as the character did.
    let (first, second) = (folder.0.join("heat.glb"), folder.0.join("distance.glb"));
    let rig = ["--rig", "--influences=8"];
    bake(&bare, &[&rig[..], &["--weights=heat"]].concat(), &first);
    bake(
        &[&first],
        &[&rig[..], &["--weights=distance"]].concat(),
        &second,
    );
    assert!(farthest(&bent(&folder, &[&first], "file"), &heat) < 1e-4);
    assert!(farthest(&bent(&folder, &[&second], "file"), &distance) < 1e-4);
    let progress = sinew::progress::Progress::new();
    for rig in [first, second] {
        let written = sinew::io::load(&[rig], &progress).unwrap();
        let Attachment::Skinned { weights, .. } = &written.meshes[0].attachment else {
            panic!("not skinned")
        };
        assert!(weights.is_complete());
        for vertex in 0..weights.len() {
            let sum: f32 = weights.of(vertex).map(|(_, weight)| weight).sum();
            assert!((sum - 1.0).abs() < 1e-5, "vertex {vertex}: {sum}");
        }
    }
}

#[test]
fn simulated_flesh_follows_the_requested_weights() {
    let folder = TestFolder::new("flesh-weights");
    let baked = |weights: &str| {
        let out = folder.0.join(format!("{weights}.obj"));
        let option = format!("--weights={weights}");
        let output = sinew(&[
            &"bake",
            &"builtin:mannequin",
            &"--method=pd",
            &"--sim-vertices=300",
            &option,
            &"--rotate",
            &"forearm.L=0,90,0",
            &"--settle",
            &"-o",
            &out,
        ]);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        std::fs::read(&out).expect("was written")
    };
    assert_ne!(baked("file"), baked("heat"));
}
