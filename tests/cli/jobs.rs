//! Jobs for a render farm, run as a farm does.

#![expect(clippy::unwrap_used, reason = "a test that can't go on shall panic")]

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::folder::TestFolder;
use crate::program::{json, sinew};

/// Values of parameters, by name.
type Values = Vec<(String, String)>;

/// Values of a template's parameters put into a word.
fn resolved(word: &str, values: &[(String, String)]) -> String {
    let put = |word: String, (name, value): &(String, String)| {
        word.replace(&format!("{{{{{name}}}}}"), value)
    };
    values.iter().fold(word.to_owned(), put)
}

/// The values of each task of a step: all combinations of the parameters, where those in brackets go together.
fn tasks_of(step: &Value, given: &[(String, String)]) -> Vec<Values> {
    let space = &step["parameterSpace"];
    let parameters = space["taskParameterDefinitions"].as_array();
    let parameters: Vec<&Value> = parameters.into_iter().flatten().collect();
    let names = parameters.iter().map(|one| one["name"].as_str().unwrap());
    let product = names.collect::<Vec<_>>().join(" * ");
    let combination = space["combination"].as_str().unwrap_or(&product);
    let range = |name: &str| -> Values {
        let parameter = parameters.iter().find(|one| one["name"] == name).unwrap();
        let values = parameter["range"].as_array().unwrap().iter();
        let of_task = |value: &Value| {
            let value = value.as_str().unwrap().to_owned();
            (format!("Task.Param.{name}"), value)
        };
        values.map(of_task).collect()
    };
    let mut tasks = vec![given.to_vec()];
    for factor in combination.split(" * ").filter(|factor| !factor.is_empty()) {
        let together = factor.trim_matches(['(', ')']).split(", ").map(range);
        let together: Vec<Values> = together.collect();
        let count = together[0].len();
        assert!(together.iter().all(|one| one.len() == count), "{factor}");
        let put = |task: &Values| -> Vec<Values> {
            let with = |row: usize| {
                let row = together.iter().map(|one| one[row].clone());
                task.iter().cloned().chain(row).collect()
            };
            (0..count).map(with).collect()
        };
        tasks = tasks.iter().flat_map(put).collect();
    }
    tasks
}

/// Runs the action of a step as a farm does; the parameters of a task are `values`.
fn run_step(step: &Value, values: &[(String, String)]) {
    let action = &step["script"]["actions"]["onRun"];
    let command = resolved(action["command"].as_str().unwrap(), values);
    let words = action["args"].as_array().unwrap().iter();
    let words: Vec<String> = words
        .map(|word| resolved(word.as_str().unwrap(), values))
        .collect();
    assert!(words.iter().all(|word| !word.contains("{{")), "{words:?}");
    let output = std::process::Command::new(command)
        .args(&words)
        .env("XDG_CACHE_HOME", env!("CARGO_TARGET_TMPDIR"))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{words:?}: {said}");
}

#[test]
fn a_bundle_has_all_files_of_its_characters() {
    let folder = TestFolder::new("job-files");
    let source = folder.file("source");
    fs::create_dir_all(source.join("parts")).unwrap();
    let (obj, skeleton) = (source.join("bar.obj"), source.join("bar.tgf"));
    fs::write(&obj, "mtllib parts/bar.mtl\nusemtl red\nv 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 1 4 3\nf 2 3 4\n").unwrap();
    fs::write(source.join("parts/bar.mtl"), "newmtl red\nKd 1 0 0\n").unwrap();
    fs::write(&skeleton, "1 0 0 0\n2 1 0 0\n#\n1 2 1 0 0\n").unwrap();
    let bundle = folder.file("bundle");
    let made = sinew(&[&"job", &obj, &skeleton, &"--methods=lbs", &"-o", &bundle]);
    let said = String::from_utf8_lossy(&made.stderr).into_owned();
    assert!(made.status.success(), "{said}");
    let text = fs::read_to_string(bundle.join("template.json")).unwrap();
    let template: Value = serde_json::from_str(&text).unwrap();
    let inputs = template["parameterDefinitions"].as_array().unwrap();
    let inputs: Vec<&str> = (inputs.iter())
        .filter(|parameter| parameter["dataFlow"] == "IN")
        .map(|parameter| parameter["default"].as_str().unwrap())
        .collect();
    // Defaults of paths are relative to the template, and there.
    assert_eq!(inputs, ["bar/bar.obj", "bar/bar.tgf"]);
    for (copy, original) in [(inputs[0], &obj), (inputs[1], &skeleton)] {
        assert_eq!(
            fs::read(bundle.join(copy)).unwrap(),
            fs::read(original).unwrap()
        );
    }
    assert!(bundle.join("bar/parts/bar.mtl").is_file());
}

#[test]
fn a_job_bakes_every_clip_by_every_method_and_then_compares() {
    let folder = TestFolder::new("job");
    let bundle = folder.file("bundle");
    let made = sinew(&[
        &"job",
        &"builtin:arm",
        &"builtin:cylinder",
        &"--methods=lbs,dqs",
        &"-o",
        &bundle,
        &"--",
        &"--frames",
        &"0-3",
    ]);
    assert!(
        made.status.success(),
        "{}",
        String::from_utf8_lossy(&made.stderr)
    );
    let text = fs::read_to_string(bundle.join("template.json")).unwrap();
    let template: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(template["specificationVersion"], "jobtemplate-2023-09");
    let steps = template["steps"].as_array().unwrap();
    let results = folder.file("results");
    let given = [
        ("Param.Sinew", env!("CARGO_BIN_EXE_sinew")),
        ("Param.OutputFolder", results.to_str().unwrap()),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()));
    let mut tasks = 0;
    for (index, step) in steps.iter().enumerate() {
        // What a step waits for comes before it.
        for dependency in step["dependencies"].as_array().into_iter().flatten() {
            let before = &steps[..index];
            assert!(
                before
                    .iter()
                    .any(|step| step["name"] == dependency["dependsOn"])
            );
        }
        let combinations = tasks_of(step, &given);
        tasks += combinations.len();
        for values in &combinations {
            run_step(step, values);
        }
    }
    assert_eq!(steps.len(), 4);
    let files = fs::read_dir(&results).unwrap().count();
    assert_eq!(files, tasks, "a file for each task");
    for file in [
        "arm.html",
        "cylinder.html",
        "arm_lbs_0.pc2",
        "cylinder_dqs_0.pc2",
    ] {
        assert!(results.join(file).is_file(), "{file}");
    }
}

/// Makes a job of the arm in parts, runs its tasks in the reverse order, and returns its template.
fn bake_parts(folder: &TestFolder, results: &Path, pre_roll: Option<&str>) -> Value {
    let bundle = folder.file("bundle");
    let mut words: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![
        &"job",
        &"builtin:arm",
        &"--methods=lbs,pd",
        &"--chunk=5",
        &"-o",
        &bundle,
        &"--json",
    ];
    if let Some(pre_roll) = &pre_roll {
        words.extend([&"--pre-roll" as &dyn AsRef<std::ffi::OsStr>, pre_roll]);
    }
    let more = ["--", "--frames=40-51", "--sim-vertices=300"];
    words.extend(more.iter().map(|word| word as &dyn AsRef<std::ffi::OsStr>));
    let template = json(&sinew(&words));
    let given = [
        ("Param.Sinew", env!("CARGO_BIN_EXE_sinew")),
        ("Param.OutputFolder", results.to_str().unwrap()),
    ]
    .map(|(name, value)| (name.to_owned(), value.to_owned()));
    let tasks = tasks_of(&template["steps"][0], &given);
    assert_eq!(
        tasks.len(),
        6,
        "two methods, and parts of 5, 5 and 2 frames"
    );
    for task in tasks.iter().rev() {
        run_step(&template["steps"][0], task);
    }
    template
}

/// The frames of a point cache, without its head.
fn cache(path: &Path) -> Vec<u8> {
    fs::read(path).unwrap()[32..].to_vec()
}

#[test]
fn parts_from_the_start_of_a_clip_are_the_clip() {
    let folder = TestFolder::new("job-parts");
    let results = folder.file("results");
    let template = bake_parts(&folder, &results, None);
    let last = template["steps"].as_array().unwrap().last().unwrap();
    assert_eq!(last["name"], "Seams");
    assert_eq!(last["dependencies"][0]["dependsOn"], "Bake arm");
    for method in ["lbs", "pd"] {
        let whole = folder.file("whole.pc2");
        let baked = sinew(&[
            &"bake",
            &"builtin:arm",
            &"--method",
            &method,
            &"--clip=0",
            &"--frames=40-51",
            &"--sim-vertices=300",
            &"-o",
            &whole,
        ]);
        assert!(baked.status.success());
        let part = |frames| cache(&results.join(format!("arm_{method}_0_{frames}.pc2")));
        let joined = ["40-44", "45-49", "50-51"].map(part).concat();
        assert!(joined == cache(&whole), "{method} differs");
    }
    let seams = json(&sinew(&[&"seams", &results, &"--json", &"--most=0"]));
    let seams = seams.as_array().unwrap();
    assert_eq!(seams.len(), 2);
    for motion in seams {
        let of_motion = motion["seams"].as_array().unwrap();
        assert_eq!(
            (&motion["first"], &motion["last"]),
            (&40.into(), &51.into())
        );
        assert_eq!(of_motion.len(), 2);
        assert!(
            of_motion.iter().all(|seam| seam["max_mm"] == 0.0),
            "{motion}"
        );
    }
}

#[test]
fn a_short_pre_roll_leaves_seams_that_are_measured() {
    let folder = TestFolder::new("job-seams");
    let results = folder.file("results");
    bake_parts(&folder, &results, Some("2"));
    let seams = json(&sinew(&[&"seams", &results, &"--json"]));
    let [of_lbs, of_pd] = &seams.as_array().unwrap()[..] else {
        panic!("{seams}");
    };
    let seams_of = |motion: &Value| -> Vec<(u64, f64)> {
        let seams = motion["seams"].as_array().unwrap().iter();
        seams
            .map(|seam| {
                (
                    seam["frame"].as_u64().unwrap(),
                    seam["max_mm"].as_f64().unwrap(),
                )
            })
            .collect()
    };
    assert_eq!(
        (&of_lbs["method"], &of_pd["method"]),
        (&"lbs".into(), &"pd".into())
    );
    assert_eq!(seams_of(of_lbs), [(45, 0.0), (50, 0.0)]);
    // Measured once more: the frame before the seam by both parts.
    let before = folder.file("before.json");
    for (frame, said) in seams_of(of_pd) {
        let frames = |first: u64| format!("--frames={first}-{}", frame - 1);
        let at = |first: u64, pre_roll: &str| -> Vec<[f64; 3]> {
            let baked = sinew(&[
                &"bake",
                &"builtin:arm",
                &"--method=pd",
                &"--clip=0",
                &frames(first),
                &"--pre-roll",
                &pre_roll,
                &"--sim-vertices=300",
                &"-o",
                &before,
            ]);
            assert!(baked.status.success());
            let text = fs::read_to_string(&before).unwrap();
            let mut read: Value = serde_json::from_str(&text).unwrap();
            let last = read["frames"].as_array_mut().unwrap().pop().unwrap();
            serde_json::from_value(last).unwrap()
        };
        let (earlier, later) = (at(frame - 5, "2"), at(frame - 1, "1"));
        let distance = |(a, b): (&[f64; 3], &[f64; 3])| {
            let squares = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b));
            squares.sum::<f64>().sqrt() * 1e3
        };
        let most = earlier.iter().zip(&later).map(distance).fold(0.0, f64::max);
        assert!(
            said > 0.0 && (said - most).abs() < 1e-4,
            "{said} mm, {most} mm"
        );
    }
    let refused = sinew(&[&"seams", &results, &"--most=0"]);
    let said = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert_eq!(refused.status.code(), Some(1), "{said}");
    assert!(said.contains("2 seams are farther than 0 mm"), "{said}");
    // What is missing or is something else is said in one sentence.
    let middle = results.join("arm_pd_0_45-49.seam.json");
    let sound = fs::read_to_string(&middle).unwrap();
    let damaged = [
        (String::new(), "is not what `bake --seam` writes"),
        (sound.replace("\"first\":45", "\"first\":46"), "at 45"),
        (sound.replacen("[[", "[[1,0,0],[", 1), "vertices"),
        (sound.replacen("[[", "[[1e39,", 1), "is not what"),
    ];
    for (text, sentence) in damaged {
        assert_ne!(text, sound);
        fs::write(&middle, text).unwrap();
        let refused = sinew(&[&"seams", &results]);
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(1), "{said}");
        assert!(
            said.contains(sentence) && said.trim_end().lines().count() == 1,
            "{said}"
        );
    }
}

#[test]
fn parts_that_cannot_go_on_from_each_other_are_refused() {
    let folder = TestFolder::new("job-refused");
    let bundle = folder.file("bundle");
    let cases = [
        ("--every=2", "is not a multiple of --every 2"),
        ("--settle", "which --chunk can't split"),
        ("--fsp=60", "after --: unexpected argument '--fsp'"),
    ];
    for (option, sentence) in cases {
        let words = [&"job", &"builtin:arm", &"--methods=pd", &"--chunk=5", &"-o"];
        let words = words.map(|word| word as &dyn AsRef<std::ffi::OsStr>);
        let more: [&dyn AsRef<std::ffi::OsStr>; 3] = [&bundle, &"--", &option];
        let refused = sinew(&[words.as_slice(), &more].concat());
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(2), "{said}");
        assert!(said.contains(sentence), "{said}");
        assert!(!bundle.exists());
    }
}
