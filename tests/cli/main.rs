//! The built binary as a script sees it: exit codes, one sentence for what went wrong, and nothing but the report on stdout.

#![expect(clippy::unwrap_used, reason = "a test that can't go on shall panic")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

mod bake;
mod pictures;
#[path = "../skip/mod.rs"]
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

/// Positions of the `v` lines of an OBJ.
fn vertices(path: &Path) -> Vec<[f64; 3]> {
    let text = fs::read_to_string(path).unwrap();
    let numbers = |line: &str| line.split_whitespace().map(|word| word.parse().unwrap()).collect::<Vec<f64>>().try_into().unwrap();
    text.lines().filter_map(|line| line.strip_prefix("v ")).map(numbers).collect()
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
    let partial = |name: &String| name.starts_with("out") || name.starts_with('.');
    assert!(!folder.names().iter().any(partial), "nothing half-written: {:?}", folder.names());
}

#[test]
fn wrong_usage_is_another_exit_code() {
    for arguments in [
        &["bake", "builtin:cylinder", "-o", "x.obj"][..],
        &["bake", "builtin:cylinder", "--method", "magic", "-o", "x.obj"],
        &["bake", "--method", "lbs", "-o", "x.obj"],
        &["bake", "builtin:cylinder", "--method", "lbs"],
        &["bake", "builtin:cylinder", "--rig", "--method", "lbs", "-o", "x.glb"],
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

/// Local and global steps are told by the device's own clock, or not at all; what it took to get there and to ask is told always.
#[test]
fn a_device_is_measured() {
    let output = sinew(&[&"bench", &"builtin:cylinder", &"--sim-vertices=300", &"--steps=20", &"--device=gpu", &"--json"]);
    if no_gpu(&String::from_utf8_lossy(&output.stderr)) {
        return;
    }
    let report = json(&output);
    let (step, device) = (&report["step"], &report["device"]);
    assert_eq!(device["runs"], "gpu");
    for stage in ["local_ms", "global_ms"] {
        let (told, of_device) = (&step[stage], &device["stages_ms"][stage]);
        assert!(told == of_device && (told.is_null() || told.as_f64().unwrap() > 0.0), "{stage}: {told} and {of_device}");
    }
    assert!(device["host_ms"].as_f64().unwrap() > 0.0 && device["setup_ms"].as_f64().unwrap() > 0.0, "{device}");
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
