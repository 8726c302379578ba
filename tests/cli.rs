//! The built binary as a script sees it: exit codes, one sentence for what went wrong, and nothing but the report on stdout.

#![expect(clippy::unwrap_used, reason = "a test that can't go on shall panic")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

mod skip;

/// A folder of its own for each test, gone afterwards.
struct Folder(PathBuf);

impl Folder {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("sinew-cli-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self, name: &str, content: &str) -> PathBuf {
        let path = self.0.join(name);
        fs::write(&path, content).unwrap();
        path
    }

    fn names(&self) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(&self.0).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A closed tube of length 2 along +Y around the skeleton below, as OFF.
fn tube() -> String {
    let (rings, around) = (13, 12);
    let mut vertices = String::new();
    for ring in 0..rings {
        for k in 0..around {
            let angle = f64::from(k) / f64::from(around) * std::f64::consts::TAU;
            let (sin, cos) = angle.sin_cos();
            writeln!(vertices, "{} {} {}", 0.2 * cos, 2.0 * f64::from(ring) / f64::from(rings - 1), -0.2 * sin).unwrap();
        }
    }
    vertices.push_str("0 0 0\n0 2 0\n");
    let mut faces = String::new();
    let (bottom, top) = (rings * around, rings * around + 1);
    for k in 0..around {
        let next = (k + 1) % around;
        for ring in 0..rings - 1 {
            let [a, b, c, d] = [ring * around + k, ring * around + next, (ring + 1) * around + k, (ring + 1) * around + next];
            writeln!(faces, "3 {a} {b} {c}\n3 {b} {d} {c}").unwrap();
        }
        let last = (rings - 1) * around;
        writeln!(faces, "3 {bottom} {next} {k}\n3 {top} {} {}", last + k, last + next).unwrap();
    }
    format!("OFF\n{} {} 0\n{vertices}{faces}", rings * around + 2, 2 * around * rings)
}

const BONES: &str = "3\n0 0.1 0 lower root\n0 1 0 upper lower\n0 1.9 0 tip upper\n";

fn sinew(arguments: &[&dyn AsRef<std::ffi::OsStr>]) -> Output {
    // Nothing is left in the folder of whoever runs the tests.
    let home = env!("CARGO_TARGET_TMPDIR");
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    for variable in ["XDG_CACHE_HOME", "HOME", "LOCALAPPDATA"] {
        command.env(variable, home);
    }
    command.args(arguments.iter().map(AsRef::as_ref)).output().unwrap()
}

/// Whether there is nothing to draw with, which is told.
fn no_gpu(stderr: &str) -> bool {
    let missing = stderr.contains("no graphics adapter") && !sinew::gpu::is_required();
    if missing {
        skip::skipped("no graphics adapter");
    }
    missing
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Exit code 1, nothing on stdout, and one line on stderr that contains all of `parts`.
fn assert_refused(output: &Output, parts: &[&str]) {
    let stderr = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(output.stdout.is_empty(), "{}", stdout(output));
    let errors: Vec<_> = stderr.lines().filter(|line| !line.starts_with("note: ")).collect();
    assert_eq!(errors.len(), 1, "one sentence: {stderr}");
    for part in parts {
        assert!(errors[0].contains(part), "\"{part}\" is missing in: {stderr}");
    }
}

fn json(output: &Output) -> serde_json::Value {
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error}: {}", stdout(output)))
}

/// Positions of the `v` lines of an OBJ.
fn vertices(path: &Path) -> Vec<[f64; 3]> {
    let text = fs::read_to_string(path).unwrap();
    let numbers = |line: &str| line.split_whitespace().map(|word| word.parse().unwrap()).collect::<Vec<f64>>().try_into().unwrap();
    text.lines().filter_map(|line| line.strip_prefix("v ")).map(numbers).collect()
}

#[test]
fn info_reports_what_is_in_the_files() {
    let folder = Folder::new("info");
    let (mesh, bones) = (folder.file("tube.off", &tube()), folder.file("tube.skel", BONES));
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
fn a_bake_turns_the_joint_by_the_angles_given() {
    let folder = Folder::new("bake");
    let (mesh, bones, out) = (folder.file("tube.off", &tube()), folder.file("tube.skel", BONES), folder.0.join("out.obj"));
    let turn = "--rotate=upper=0,0,-90";
    let report = json(&sinew(&[&"bake", &mesh, &bones, &"--method", &"rigid", &turn, &"--settle", &"-o", &out, &"--json"]));
    assert_eq!(report["frames"], 1);
    assert_eq!(report["files"][0], out.to_str().unwrap());
    // The upper end was at (0, 2, 0): −90° about Z through (0, 1, 0) brings it to (1, 1, 0).
    let moved = vertices(&out);
    assert_eq!(moved.len(), 158);
    let [x, y, z] = moved[157];
    assert!((x - 1.0).abs() < 1e-5 && (y - 1.0).abs() < 1e-5 && z.abs() < 1e-5, "{x} {y} {z}");
    // A value of its own may begin with any joint name, and X comes before Y before Z.
    let both: [&dyn AsRef<std::ffi::OsStr>; 10] =
        [&"bake", &mesh, &bones, &"--method", &"rigid", &"--rotate", &"upper=90,0,-90", &"--settle", &"-o", &out];
    assert_eq!(sinew(&both).status.code(), Some(0));
    let [x, y, z] = vertices(&out)[157];
    assert!(x.abs() < 1e-5 && (y - 1.0).abs() < 1e-5 && (z - 1.0).abs() < 1e-5, "{x} {y} {z}");
}

#[test]
fn a_pose_is_baked_as_a_motion_from_rest() {
    let folder = Folder::new("motion");
    let (mesh, bones) = (folder.file("tube.off", &tube()), folder.file("tube.skel", BONES));
    let half = (0.5_f64).sqrt();
    let pose = folder.file("pose.json", &format!("{{\"joints\": {{\"upper\": {{\"rotation\": [0, 0, {half}, {half}]}}}}}}"));
    let out = folder.0.join("out.json");
    let report = json(&sinew(&[&"bake", &mesh, &bones, &"--method", &"lbs", &"--pose", &pose, &"-o", &out, &"--json"]));
    assert_eq!(report["frames"], 61, "one second into the pose and one in it, at 30 frames a second");
    let baked: serde_json::Value = serde_json::from_slice(&fs::read(&out).unwrap()).unwrap();
    let frames = baked["frames"].as_array().unwrap();
    assert_eq!(frames.len(), 61);
    assert_eq!(frames[30], frames[60]);
    assert_ne!(frames[0], frames[30]);
    let rest = json(&sinew(&[&"bake", &mesh, &bones, &"--method", &"lbs", &"-o", &out, &"--json"]));
    assert_eq!(rest["frames"], 1, "the rest pose");
    assert!(rest["max_displacement"].as_f64().unwrap() < 1e-5);
    let cache = folder.0.join("out.pc2");
    let part = json(&sinew(&[&"bake", &mesh, &bones, &"--method=lbs", &"--pose", &pose, &"--frames=3-5", &"-o", &cache, &"--json"]));
    assert_eq!(part["frames"], 3);
    assert_eq!(fs::metadata(&cache).unwrap().len(), 32 + 3 * 158 * 12);
    let many = folder.0.join("many.obj");
    assert_eq!(sinew(&[&"bake", &mesh, &bones, &"--method=lbs", &"--frames=8-9", &"-o", &many]).status.code(), Some(0));
    assert!(folder.names().contains(&"many.0008.obj".to_owned()) && folder.names().contains(&"many.0009.obj".to_owned()));
}

#[test]
fn bad_input_is_refused_with_one_sentence() {
    let folder = Folder::new("bad");
    let (mesh, bones) = (folder.file("tube.off", &tube()), folder.file("tube.skel", BONES));
    let out = folder.0.join("out.obj");
    let bake = |mesh: &Path, bones: &Path, more: &str| sinew(&[&"bake", &mesh, &bones, &"--method=lbs", &more, &"-o", &out]);
    let empty = folder.file("empty.off", "OFF\n3 0 0\n0 0 0\n1 0 0\n0 1 0\n");
    assert_refused(&bake(&empty, &bones, "--settle"), &["triangle"]);
    let nan = folder.file("nan.off", "OFF\n3 1 0\nnan 0 0\n1 nan 0\n0 1 inf\n3 0 1 2\n");
    assert_refused(&bake(&nan, &bones, "--settle"), &["nan.off", "3 of 3"]);
    let nan = folder.file("nan.obj", "v 0 0 0\nv 1 0 0\nv 0 1 0\nv nan 0 0\nf 1 2 3\nf 2 4 3\n");
    assert_refused(&bake(&nan, &bones, "--settle"), &["nan.obj", "vertex 3"]);
    let far = folder.file("far.skel", "2\n100 0 0 lower root\n100 1 0 upper lower\n");
    assert_refused(&bake(&mesh, &far, "--settle"), &["outside"]);
    assert_refused(&bake(&mesh, &bones, "--rotate=uper=0,0,9"), &["uper", "did you mean \"upper\""]);
    assert_refused(&bake(&mesh, &bones, "--clip=walk"), &["walk"]);
    assert_refused(&bake(&folder.0.join("nowhere.off"), &bones, "--settle"), &["nowhere.off"]);
    assert_refused(&sinew(&[&"info", &"builtin:nobody"]), &["nobody", "cylinder"]);
    let pose = folder.file("pose.json", "{\"joints\": {\"upper\": {\"rotation\": [0, 0, 0, 0]}}}");
    assert_refused(&bake(&mesh, &bones, &format!("--pose={}", pose.display())), &["pose.json", "upper"]);
    let syntax = folder.file("syntax.json", "{\"joint\": 1}");
    assert_refused(&bake(&mesh, &bones, &format!("--pose={}", syntax.display())), &["syntax.json"]);
    let away = folder.file("away.json", "{\"joints\": {\"upper\": {\"translation\": [1e300, 0, 0]}}}");
    assert_refused(&bake(&mesh, &bones, &format!("--pose={}", away.display())), &["infinitely far"]);
    assert_refused(&sinew(&[&"info", &folder.0]), &["it is a folder"]);
    let partial = |name: &String| name.starts_with("out") || name.starts_with('.');
    assert!(!folder.names().iter().any(partial), "nothing half-written: {:?}", folder.names());
}

#[test]
fn an_output_that_cannot_be_written_is_refused() {
    let folder = Folder::new("output");
    let (mesh, bones) = (folder.file("tube.off", &tube()), folder.file("tube.skel", BONES));
    let before = folder.names();
    let bake = |out: &Path| sinew(&[&"bake", &mesh, &bones, &"--method=lbs", &"--settle", &"-o", &out]);
    assert_refused(&bake(&folder.0.join("no/such/folder/out.obj")), &["no/such/folder"]);
    assert_refused(&bake(&folder.0.join("out.xyz")), &["out.xyz", ".pc2"]);
    let occupied = folder.0.join("occupied.obj");
    fs::create_dir(&occupied).unwrap();
    assert_refused(&bake(&occupied), &["occupied.obj"]);
    fs::remove_dir(&occupied).unwrap();
    let nowhere = folder.0.join("no/such/folder/out.png");
    assert_refused(&sinew(&[&"render", &mesh, &bones, &"--method=lbs", &"-o", &nowhere]), &["no/such/folder"]);
    assert_refused(&sinew(&[&"tissue", &mesh, &bones, &"-o", &nowhere.with_extension("msh")]), &["no/such/folder"]);
    assert_refused(&sinew(&[&"tissue", &mesh, &bones, &"-o", &folder.0.join("out.stl")]), &["out.stl", ".vtu"]);
    assert_eq!(folder.names(), before);
}

#[test]
fn what_is_baked_has_the_frames_asked_for() {
    let folder = Folder::new("formats");
    let bake = |name: &str, more: &[&str]| {
        let out = folder.0.join(name);
        let mut arguments: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![&"bake", &"builtin:cylinder", &"--json", &"-o", &out];
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
    assert_eq!(fs::read(folder.0.join("a.mdd")).unwrap().len(), 8 + 3 * 4 + 3 * points * 12);
    let report = bake("a.glb", &[&lbs[..], &["--every=4", "--tolerance=0"]].concat());
    assert_eq!((&report["frames"], &report["morph_targets"]), (&4.into(), &3.into()), "and 20, the last");
    let report = bake("a.ply", &[&lbs[..], &["--every=10"]].concat());
    assert_eq!(report["files"].as_array().unwrap().len(), 2);
    assert!(folder.names().contains(&"a.0010.ply".to_owned()) && folder.names().contains(&"a.0020.ply".to_owned()));
    // A pose that is written is the pose that is read.
    let pose = folder.0.join("pose.json");
    let pose_out = format!("--pose-out={}", pose.display());
    bake("direct.obj", &["--method=lbs", "--rotate=upper=10,20,30", "--settle", &pose_out]);
    bake("again.obj", &["--method=lbs", &format!("--pose={}", pose.display()), "--settle"]);
    let (direct, again) = (vertices(&folder.0.join("direct.obj")), vertices(&folder.0.join("again.obj")));
    assert!(direct.iter().zip(&again).all(|(a, b)| (0..3).all(|c| (a[c] - b[c]).abs() < 1e-5)));
    let alone = sinew(&[&"bake", &"builtin:cylinder", &"--clip=bend", &pose_out, &"--json"]);
    assert_eq!(json(&alone)["files"][0], pose.to_str().unwrap());
    // The motion alone, read again as a motion of the same skeleton.
    assert_eq!(bake("a.bvh", &["--clip=bend"])["files"].as_array().unwrap().len(), 1);
    let motion = folder.0.join("a.bvh");
    assert_eq!(json(&sinew(&[&"info", &"builtin:cylinder", &motion, &"--json"]))["clips"].as_array().unwrap().len(), 3);
}

#[test]
fn a_bake_that_would_fill_the_disk_asks_first() {
    let folder = Folder::new("large");
    let out = folder.0.join("out.pc2");
    let much = sinew(&[&"bake", &"builtin:mannequin", &"--method=lbs", &"--frames=0-800000", &"-o", &out]);
    assert_refused(&much, &["out.pc2", "GB", "--yes", "--frames"]);
    assert_refused(&sinew(&[&"bake", &"builtin:cylinder", &"--rig", &"-o", &out]), &["out.pc2", ".glb"]);
    assert!(folder.names().is_empty());
}

/// A disk that fills up half-way, played by the limit on a file's length.
#[test]
#[cfg(target_os = "linux")]
fn an_output_cut_short_leaves_nothing_behind() {
    let folder = Folder::new("full");
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
        assert_refused(&output, &["can't be written"]);
        assert!(folder.names().is_empty(), "{arguments} leaves {:?}", folder.names());
    }
}

/// Neither the file nor what was written of it stays when the work is broken off.
#[test]
#[cfg(unix)]
fn a_bake_that_is_broken_off_leaves_nothing_behind() {
    use std::os::unix::process::ExitStatusExt;
    let folder = Folder::new("broken-off");
    let out = folder.0.join("long.pc2");
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    command.args(["bake", "builtin:cylinder", "--method=lbs", "--no-cache", "--yes", "--frames=0-800000", "-o"]).arg(&out);
    let mut child = command.stderr(std::process::Stdio::null()).spawn().unwrap();
    let begun = std::time::Instant::now();
    while folder.names().is_empty() && begun.elapsed().as_secs() < 60 {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    assert!(!folder.names().is_empty(), "it writes");
    let told = Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap();
    assert!(told.success());
    assert_eq!(child.wait().unwrap().signal(), Some(15));
    assert!(folder.names().is_empty(), "{:?}", folder.names());
}

#[test]
#[cfg(target_os = "linux")]
fn a_report_that_can_not_be_written_is_no_success() {
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
    let folder = Folder::new("motions");
    let text = "HIERARCHY\nROOT r\n{\nOFFSET 0 0 0\nCHANNELS 3 Zrotation Xrotation Yrotation\nEnd Site\n{\nOFFSET 0 1 0\n}\n}\nMOTION\n\
        Frames: 1\nFrame Time: 0.1\n0 0 0\n";
    let [first, second] = ["a.bvh", "b.bvh"].map(|name| folder.file(name, text));
    assert_eq!(json(&sinew(&[&"info", &first, &"--json"]))["name"], "a");
    let both = json(&sinew(&[&"info", &first, &second, &"--json"]));
    assert_eq!([&both[0]["name"], &both[1]["name"]], ["a", "b"]);
}

#[test]
fn wrong_usage_is_another_exit_code() {
    for arguments in [
        &["bake", "builtin:cylinder", "-o", "x.obj"][..],
        &["bake", "builtin:cylinder", "--method", "magic", "-o", "x.obj"],
        &["bake", "--method", "lbs", "-o", "x.obj"],
        &["bake", "builtin:cylinder", "--method", "lbs"],
        &["bake", "builtin:cylinder", "--rig", "--method", "lbs", "-o", "x.glb"],
        &["bake", "builtin:cylinder", "--rig", "--rotate", "upper=1,2,3", "-o", "x.glb"],
        &["bake", "builtin:cylinder", "--rig", "--clip", "bend", "-o", "x.glb"],
        &["bake", "builtin:cylinder", "--method", "lbs", "--influences", "8", "-o", "x.glb"],
        &["bake", "builtin:cylinder", "--method", "lbs", "--tolerance", "-1", "-o", "x.glb"],
        &["bake", "builtin:cylinder", "--method", "lbs", "--rotate", "upper=1,2", "-o", "x.obj"],
        &["bake", "builtin:cylinder", "--method", "lbs", "--clip", "bend", "--rotate", "upper=1,2,3", "-o", "x.obj"],
        &["bake", "builtin:cylinder", "--method", "lbs", "--clip", "bend", "--at", "end", "-o", "x.obj"],
        &["bake", "builtin:cylinder", "--method", "lbs", "--frames", "9-3", "-o", "x.obj"],
        &["bake", "builtin:cylinder", "--method", "lbs", "--settle", "--frames", "1-3", "-o", "x.obj"],
        &["render", "builtin:cylinder", "--method", "lbs", "--size", "0x0", "-o", "x.png"],
        &["info"],
        &["--no-such-flag"],
        &["inof", "x.glb"],
    ] {
        let output = Command::new(env!("CARGO_BIN_EXE_sinew")).args(arguments).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stdout.is_empty());
    }
}

#[test]
fn a_negative_number_is_refused_as_a_number() {
    for option in ["--fps", "--iterations", "--damping", "--sim-vertices", "--blend", "--threads"] {
        let output = sinew(&[&"bake", &"builtin:cylinder", &"--method=lbs", &option, &"-1", &"-o", &"x.obj"]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{option}");
        assert!(stderr.contains(option) && stderr.contains("'-1'") && !stderr.contains("tip"), "{option}: {stderr}");
    }
}

#[test]
fn what_is_to_be_simulated_where_is_understood() {
    assert_eq!(sinew(&[&"info", &"builtin:cylinder", &"--device=abacus"]).status.code(), Some(2));
    let accepted =
        sinew(&[&"info", &"builtin:cylinder", &"--device=cpu", &"--collisions=local", &"--threads=2", &"--iterations=5", &"--json"]);
    json(&accepted);
}

#[test]
fn the_simulation_mesh_is_as_fine_as_asked_for() {
    let simulated = |wanted: &str| {
        let report = json(&sinew(&[&"info", &"builtin:mannequin", &format!("--sim-vertices={wanted}"), &"--json"]));
        report["simulated_vertices"].as_u64().unwrap()
    };
    let all = simulated("all");
    assert!((1000..1100).contains(&simulated("1000")) && all > 20_000);
    // Hardly more than wanted: as it is.
    assert_eq!(simulated("18000"), all);
    for wrong in ["99", "-1", "many", "1e4"] {
        assert_eq!(sinew(&[&"info", &"builtin:mannequin", &format!("--sim-vertices={wrong}")]).status.code(), Some(2), "{wrong}");
    }
}

#[test]
fn bench_prints_the_fields_that_machines_are_compared_by() {
    let report = json(&sinew(&[&"bench", &"builtin:cylinder", &"--steps=20", &"--threads=1", &"--json"]));
    let fields = [
        ("machine", &["cpu", "threads", "l2_read_gb_s", "l3_read_gb_s", "memory_read_gb_s", "f32_fma_gflop_s", "caches"][..]),
        ("character", &["source_vertices", "simulated_vertices", "tets", "unknowns"]),
        ("setup_ms", &["load", "weld", "tissue", "bind", "total"]),
        ("step", &["iterations", "threads", "median_ms", "p99_ms", "local_ms", "global_ms", "anchors_ms", "normals_ms"]),
        ("frame", &["median_ms", "p99_ms", "pose_ms", "anchors_ms", "step_ms", "normals_ms"]),
        ("iteration", &["working_set_bytes", "level", "local", "global"]),
    ];
    for (group, names) in fields {
        for name in names {
            assert!(!report[group][name].is_null(), "{group}.{name} is missing");
        }
    }
    assert!(report["memory_mb"].as_f64().unwrap() > 1.0);
    assert!(report["machine"]["l2_read_gb_s"].as_f64().unwrap() > 1.0);
    assert!(report["machine"]["f32_fma_gflop_s"].as_f64().unwrap() > 1.0);
    assert_eq!(report["step"]["threads"], 1);
    assert!(report["frame"]["median_ms"].as_f64().unwrap() > report["step"]["median_ms"].as_f64().unwrap());
    for half in ["local", "global"] {
        let half = &report["iteration"][half];
        let (reached, limit) = (half["ms"].as_f64().unwrap(), half["limit_ms"].as_f64().unwrap());
        assert!(limit > 0.0 && (half["times_limit"].as_f64().unwrap() - reached / limit).abs() < 1e-6, "{half}");
        assert!(half["bytes"].as_u64().unwrap() > 1000 && half["flops"].as_u64().unwrap() > 1000, "{half}");
    }
    assert!(report["step"]["p99_ms"].as_f64().unwrap() >= report["step"]["median_ms"].as_f64().unwrap());
}

#[test]
fn a_crowd_is_measured() {
    let crowd = |count: &str| sinew(&[&"bench", &"builtin:cylinder", &"--sim-vertices=300", &"--steps=10", &"--crowd", &count, &"--json"]);
    let output = crowd("3");
    if no_gpu(&String::from_utf8_lossy(&output.stderr)) {
        return;
    }
    let report = json(&output);
    assert_eq!((report["crowd"]["instances"].as_u64(), report["frames"].as_u64()), (Some(3), Some(10)));
    for name in ["constant_bytes", "instance_bytes", "bytes_up_step", "passes_step", "passes_surface"] {
        assert!(report["crowd"][name].as_u64().unwrap() > 0, "crowd.{name}");
    }
    assert!(report["frame_ms"].as_f64().unwrap() > 0.0 && report["collisions"] == false && report["recovered"] == 0);
    assert_eq!(report["state_bytes"].as_u64().unwrap(), 3 * report["crowd"]["instance_bytes"].as_u64().unwrap());
    assert_refused(&crowd("999999"), &["--crowd 999999", "fit"]);
    assert_eq!(crowd("0").status.code(), Some(2));
}

#[test]
fn a_crowd_is_drawn_in_one_picture() {
    let folder = Folder::new("crowd");
    let render = |name: &str, more: &[&str]| {
        let out = folder.0.join(name);
        let mut arguments: Vec<&dyn AsRef<std::ffi::OsStr>> =
            vec![&"render", &"builtin:cylinder", &"--sim-vertices=300", &"--crowd=4", &"--size=320x200", &"-o", &out];
        arguments.extend(more.iter().map(|word| word as &dyn AsRef<std::ffi::OsStr>));
        (sinew(&arguments), out.clone())
    };
    for (name, more) in
        [("a.png", &["--method=lbs"][..]), ("b.png", &["--method=pd", "--frames=3"]), ("c.gif", &["--method=pd", "--frames=0-2"])]
    {
        let (output, out) = render(name, more);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        if no_gpu(&stderr) {
            return;
        }
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        let picture = image::open(&out).unwrap().to_rgb8();
        assert_eq!(picture.dimensions(), (320, 200));
        let corner = *picture.get_pixel(0, 0);
        let differs = picture.pixels().filter(|p| (0..3).map(|i| u32::from(corner[i].abs_diff(p[i]))).sum::<u32>() > 60).count();
        assert!(differs > 1000, "{name}: the crowd is seen in {differs} pixels");
    }
    assert_eq!(render("d.png", &["--method=lbs,pd"]).0.status.code(), Some(2), "one method");
    assert_eq!(render("d.png", &["--method=pd", "--device=cpu"]).0.status.code(), Some(2), "no crowd on the processor");
}

#[test]
fn a_picture_has_the_size_asked_for() {
    let folder = Folder::new("picture");
    let out = folder.0.join("a.png");
    let output = sinew(&[&"render", &"builtin:cylinder", &"--method=lbs", &"--rotate=upper=0,0,60", &"--size=320x200", &"-o", &out]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    if no_gpu(&stderr) {
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let picture = image::open(&out).unwrap().to_rgb8();
    assert_eq!(picture.dimensions(), (320, 200));
    let corner = *picture.get_pixel(0, 0);
    let centre = *picture.get_pixel(160, 110);
    let difference: u32 = (0..3).map(|i| u32::from(corner[i].abs_diff(centre[i]))).sum();
    assert!(difference > 20, "the character is in the middle: {corner:?} {centre:?}");
}

/// A turntable has as many pictures as asked for, in order around a character that is not round, and comes back to where it began.
#[test]
fn a_turntable_goes_round_once() {
    use image::AnimationDecoder as _;

    let folder = Folder::new("turntable");
    let rotate = "--rotate=upper=0,0,70";
    for name in ["a.gif", "a.webp"] {
        let out = folder.0.join(name);
        let output = sinew(&[&"render", &"builtin:cylinder", &"--method=lbs", &rotate, &"--turntable=6", &"--size=120x100", &"-o", &out]);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        if no_gpu(&stderr) {
            return;
        }
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        let file = std::io::BufReader::new(fs::File::open(&out).unwrap());
        let frames = if name.ends_with("gif") {
            image::codecs::gif::GifDecoder::new(file).unwrap().into_frames().collect_frames().unwrap()
        } else {
            image::codecs::webp::WebPDecoder::new(file).unwrap().into_frames().collect_frames().unwrap()
        };
        let pictures: Vec<_> = frames.into_iter().map(image::Frame::into_buffer).collect();
        assert_eq!(pictures.len(), 6, "{name}");
        assert!(pictures.iter().all(|picture| picture.dimensions() == (120, 100)), "{name}");
        let distance = |a: usize, b: usize| -> u64 {
            pictures[a].as_raw().iter().zip(pictures[b].as_raw()).map(|(a, b)| u64::from(a.abs_diff(*b))).sum()
        };
        // A sixth of the way round is nearer than half of it, also over the end.
        for (near, far) in [(1, 3), (5, 3)] {
            assert!(0 < distance(0, near) && distance(0, near) < distance(0, far), "{name}: picture {near} and picture {far}");
        }
    }
    let refused = sinew(&[&"render", &"builtin:cylinder", &"--method=lbs", &"--turntable=6", &"-o", &folder.0.join("a.jpg")]);
    assert_ne!(refused.status.code(), Some(0));
}

/// The sheet has the size asked for however many methods share it, and the insides of the flesh can be drawn.
#[test]
fn methods_share_one_picture_of_the_size_asked_for() {
    let folder = Folder::new("sheet");
    let out = folder.0.join("a.png");
    let turn = "--rotate=upper=0,0,60";
    let mut pictures = Vec::new();
    for more in ["--overlay=bones", "--overlay=volumes", "--overlay=base"] {
        let output = sinew(&[&"render", &"builtin:cylinder", &"--method=lbs,dqs,rigid", &turn, &more, &"--size=601x200", &"-o", &out]);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        if no_gpu(&stderr) {
            return;
        }
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        assert_eq!(stderr.lines().count(), 1, "nothing but what was written: {stderr}");
        let picture = image::open(&out).unwrap().to_rgb8();
        assert_eq!(picture.dimensions(), (601, 200));
        assert!(!pictures.contains(&picture), "{more} changes nothing");
        pictures.push(picture);
    }
}

/// A wipe is made of two methods' pictures; a difference of a method with itself shows the colour of nothing only.
#[test]
fn methods_are_compared_in_one_picture() {
    let folder = Folder::new("compare");
    let out = folder.0.join("a.png");
    let picture = |method: &str, more: &[&str]| {
        let method = format!("--method={method}");
        let mut words: Vec<&dyn AsRef<std::ffi::OsStr>> =
            vec![&"render", &"builtin:cylinder", &method, &"--rotate=upper=0,0,80", &"--size=300x200"];
        words.extend(more.iter().map(|word| word as &dyn AsRef<std::ffi::OsStr>));
        words.extend([&"-o" as &dyn AsRef<std::ffi::OsStr>, &out]);
        let output = sinew(&words);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        if no_gpu(&stderr) {
            return None;
        }
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        Some(image::open(&out).unwrap().to_rgba8())
    };
    let Some(same) = picture("lbs,lbs", &["--compare=difference", "--color-map=heat"]) else { return };
    let Some(other) = picture("dqs,lbs", &["--compare=difference", "--color-map=heat"]) else { return };
    // The bar at the right has all colours; the cylinder is in the middle.
    let red = |picture: &image::RgbaImage| {
        picture.enumerate_pixels().filter(|(x, _, p)| *x < 200 && p.0[0] > 120 && p.0[0] > p.0[2].saturating_add(90)).count()
    };
    assert_eq!(red(&same), 0, "a method is where it is");
    assert!(red(&other) > 50, "methods differ in a bend: {} pixels", red(&other));
    let Some(wiped) = picture("dqs,lbs", &["--compare=wipe:0.4", "--background=transparent", "--no-ground"]) else { return };
    assert_eq!(wiped.get_pixel(2, 2).0[3], 0, "nothing stands behind");
    let refused = sinew(&[&"render", &"builtin:cylinder", &"--method=lbs", &"--compare=wipe", &"-o", &out]);
    assert_eq!(refused.status.code(), Some(2));
    let refused = sinew(&[&"render", &"builtin:cylinder", &"--method=lbs", &"--color=weights:uper", &"-o", &out]);
    assert_eq!(refused.status.code(), Some(1));
}

#[test]
fn unit_and_radius_can_be_set() {
    let report = |extra: &[&str]| {
        let mut words: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![&"info", &"builtin:cylinder", &"--json"];
        words.extend(extra.iter().map(|word| word as &dyn AsRef<std::ffi::OsStr>));
        json(&sinew(&words))
    };
    assert!(report(&[])["metres_per_unit"].as_f64() == Some(1.0));
    assert!(report(&["--unit", "0.01"])["metres_per_unit"].as_f64() == Some(0.01));
    assert_refused(&sinew(&[&"info", &"builtin:cylinder", &"--bone-radius", &"uper=0.02"]), &["uper", "upper"]);
}

#[test]
fn bones_and_materials_can_be_set() {
    assert_refused(&sinew(&[&"info", &"builtin:cylinder", &"--bone", &"uper=held"]), &["uper", "upper"]);
    for (bone, part) in [("upper=hold", "held"), ("upper", "JOINT"), ("upper=density:-1", "density"), ("=held", "JOINT")] {
        let refused = sinew(&[&"info", &"builtin:cylinder", &"--bone", &bone]);
        assert_eq!(refused.status.code(), Some(2), "{bone}");
        assert!(String::from_utf8_lossy(&refused.stderr).contains(part), "{bone}");
    }
    let work = Folder::new("materials");
    let hangs = |name: &str, options: &[&str]| {
        let path = work.0.join(name);
        let mut arguments: Vec<&dyn AsRef<std::ffi::OsStr>> =
            vec![&"bake", &"builtin:cylinder", &"--method", &"pd", &"--settle", &"-o", &path];
        arguments.extend(options.iter().map(|option| option as &dyn AsRef<std::ffi::OsStr>));
        let baked = sinew(&arguments);
        assert!(baked.status.success(), "{}", String::from_utf8_lossy(&baked.stderr));
        vertices(&path)
    };
    let rest = hangs("rest.obj", &[]);
    let sag = |baked: &[[f64; 3]]| baked.iter().zip(&rest).map(|(a, b)| (a[1] - b[1]).abs()).sum::<f64>();
    let natural = sag(&hangs("natural.obj", &["--gravity", "9.81"]));
    let jelly = sag(&hangs("jelly.obj", &["--gravity", "9.81", "--preset", "jelly", "--jiggle", "0.5", "--volume", "1"]));
    assert!(jelly > 3.0 * natural && natural > 0.0, "{jelly} and {natural}");
    let held = sag(&hangs("held.obj", &["--gravity", "9.81", "--bone", "lower=held", "--bone", "upper=held,stiffness:2"]));
    assert!(held < 1e-3 * natural, "all is held: {held}");
}
