//! The built binary as a script sees it: exit codes, one sentence for what went wrong, and nothing but the report on stdout.

use std::path::Path;
use std::process::Command;

use crate::common::folder::TestFolder;
use crate::program::{BONES, assert_refused, json, names, sinew, stdout, tube, write};
#[test]
fn info_reports_what_is_in_the_files() {
    let folder = TestFolder::new("info");
    let (mesh, bones) = (
        write(&folder, "tube.off", &tube()),
        write(&folder, "tube.skel", BONES),
    );
    let report = json(&sinew(&[&"info", &mesh, &bones, &"--json"]));
    assert_eq!(report["source_vertices"], 158);
    assert_eq!(report["simulated_vertices"], 158);
    assert_eq!(report["boundary_edges"], 0);
    assert_eq!(report["joints"][1]["name"], "upper");
    assert_eq!(report["joints"][1]["parent"], "lower");
    let text = stdout(&sinew(&[&"info", &mesh, &bones]));
    assert!(text.contains("158 vertices"), "{text}");
}

#[test]
fn bad_input_is_rejected_with_one_sentence() {
    let folder = TestFolder::new("bad");
    let (mesh, bones) = (
        write(&folder, "tube.off", &tube()),
        write(&folder, "tube.skel", BONES),
    );
    let out = folder.0.join("out.obj");
    let bake = |mesh: &Path, bones: &Path, more: &str| {
        sinew(&[&"bake", &mesh, &bones, &"--method=lbs", &more, &"-o", &out])
    };
    let empty = write(&folder, "empty.off", "OFF\n3 0 0\n0 0 0\n1 0 0\n0 1 0\n");
    assert_refused(&bake(&empty, &bones, "--settle"), &["triangle"]);
    let nan = write(
        &folder,
        "nan.off",
        "OFF\n3 1 0\nnan 0 0\n1 nan 0\n0 1 inf\n3 0 1 2\n",
    );
    assert_refused(&bake(&nan, &bones, "--settle"), &["nan.off", "3 of 3"]);
    let nan = write(
        &folder,
        "nan.obj",
        "v 0 0 0\nv 1 0 0\nv 0 1 0\nv nan 0 0\nf 1 2 3\nf 2 4 3\n",
    );
    assert_refused(&bake(&nan, &bones, "--settle"), &["nan.obj", "vertex 3"]);
    let far = write(
        &folder,
        "far.skel",
        "2\n100 0 0 lower root\n100 1 0 upper lower\n",
    );
    assert_refused(&bake(&mesh, &far, "--settle"), &["outside"]);
    assert_refused(
        &bake(&mesh, &bones, "--rotate=uper=0,0,9"),
        &["uper", "did you mean \"upper\""],
    );
    assert_refused(&bake(&mesh, &bones, "--clip=walk"), &["walk"]);
    assert_refused(
        &bake(&folder.0.join("nowhere.off"), &bones, "--settle"),
        &["nowhere.off"],
    );
    assert_refused(
        &sinew(&[&"info", &"builtin:nobody"]),
        &["nobody", "cylinder"],
    );
    let pose = write(
        &folder,
        "pose.json",
        "{\"joints\": {\"upper\": {\"rotation\": [0, 0, 0, 0]}}}",
    );
    assert_refused(
        &bake(&mesh, &bones, &format!("--pose={}", pose.display())),
        &["pose.json", "upper"],
    );
    let syntax = write(&folder, "syntax.json", "{\"joint\": 1}");
    assert_refused(
        &bake(&mesh, &bones, &format!("--pose={}", syntax.display())),
        &["syntax.json"],
    );
    let away = write(
        &folder,
        "away.json",
        "{\"joints\": {\"upper\": {\"translation\": [1e300, 0, 0]}}}",
    );
    assert_refused(
        &bake(&mesh, &bones, &format!("--pose={}", away.display())),
        &["infinitely far"],
    );
    assert_refused(&sinew(&[&"info", &folder.0]), &["the path is a folder"]);
    let partial = |name: &String| name.starts_with("out") || name.starts_with('.');
    assert!(
        !names(&folder).iter().any(partial),
        "nothing half-written: {:?}",
        names(&folder)
    );
}

#[test]
#[cfg(target_os = "linux")]
fn an_unwritable_report_is_a_failure() {
    let told = |arguments: &str, to: &str| {
        let line = format!("'{}' {arguments} > {to}", env!("CARGO_BIN_EXE_sinew"));
        Command::new("sh").args(["-c", &line]).output().unwrap()
    };
    for arguments in ["info builtin:cylinder", "info builtin:cylinder --json"] {
        assert_refused(&told(arguments, "/dev/full"), &["report"]);
        assert!(told(arguments, "/dev/null").status.success());
    }
}

#[test]
fn motions_alone_are_one_report() {
    let folder = TestFolder::new("motions");
    let text = "HIERARCHY\nROOT r\n{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Xrotation Yrotation\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\nMOTION\n\
        Frames: 1\nFrame Time: 0.1\n0 0 0\n";
    let [first, second] = ["a.bvh", "b.bvh"].map(|name| write(&folder, name, text));
    assert_eq!(json(&sinew(&[&"info", &first, &"--json"]))["name"], "a");
    let both = json(&sinew(&[&"info", &first, &second, &"--json"]));
    assert_eq!([&both[0]["name"], &both[1]["name"]], ["a", "b"]);
}

#[test]
#[expect(
    clippy::too_many_lines,
    reason = "one line for each kind of wrong usage"
)]
fn wrong_usage_is_another_exit_code() {
    for arguments in [
        &["bake", "builtin:cylinder", "-o", "x.obj"][..],
        &[
            "bake",
            "builtin:cylinder",
            "--method",
            "magic",
            "-o",
            "x.obj",
        ],
        &["bake", "--method", "lbs", "-o", "x.obj"],
        &["bake", "builtin:cylinder", "--method", "lbs"],
        &[
            "bake",
            "builtin:cylinder",
            "--rig",
            "--method",
            "lbs",
            "-o",
            "x.glb",
        ],
        &[
            "bake",
            "builtin:cylinder",
            "--rig",
            "--rotate",
            "upper=1,2,3",
            "-o",
            "x.glb",
        ],
        &[
            "bake",
            "builtin:cylinder",
            "--rig",
            "--clip",
            "bend",
            "-o",
            "x.glb",
        ],
        &[
            "bake",
            "builtin:cylinder",
            "--method",
            "lbs",
            "--influences",
            "8",
            "-o",
            "x.glb",
        ],
        &[
            "bake",
            "builtin:cylinder",
            "--method",
            "lbs",
            "--tolerance",
            "-1",
            "-o",
            "x.glb",
        ],
        &[
            "bake",
            "builtin:cylinder",
            "--method",
            "lbs",
            "--rotate",
            "upper=1,2",
            "-o",
            "x.obj",
        ],
        &[
            "bake",
            "builtin:cylinder",
            "--method",
            "lbs",
            "--clip",
            "bend",
            "--rotate",
            "upper=1,2,3",
            "-o",
            "x.obj",
        ],
        &[
            "bake",
            "builtin:cylinder",
            "--method",
            "lbs",
            "--clip",
            "bend",
            "--at",
            "end",
            "-o",
            "x.obj",
        ],
        &[
            "bake",
            "builtin:cylinder",
            "--method",
            "lbs",
            "--frames",
            "9-3",
            "-o",
            "x.obj",
        ],
        &[
            "bake",
            "builtin:cylinder",
            "--method",
            "lbs",
            "--settle",
            "--frames",
            "1-3",
            "-o",
            "x.obj",
        ],
        &[
            "render",
            "builtin:cylinder",
            "--method",
            "lbs",
            "--size",
            "0x0",
            "-o",
            "x.png",
        ],
        &["info"],
        &["--no-such-flag"],
        &["inof", "x.glb"],
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_sinew"))
            .args(arguments)
            .output()
            .unwrap();
        assert_eq!(
            output.status.code(),
            Some(2),
            "{arguments:?}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
        assert!(output.stdout.is_empty());
    }
}
