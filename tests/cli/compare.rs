//! `sinew compare`, `worst` and `suite`: files, numbers, and refusals.

use std::fs;
use std::path::PathBuf;

use serde_json::{Value, json};

use crate::common::folder::TestFolder;
use crate::program::{assert_refused, json, names, no_gpu, sinew, stdout, write};

/// A pose file that turns joints about an axis of their parents.
pub fn pose(turns: &[(&str, [f64; 3], f64)]) -> String {
    let joints: serde_json::Map<String, Value> = turns
        .iter()
        .map(|(name, [x, y, z], degrees)| {
            let (sin, cos) = (degrees.to_radians() / 2.0).sin_cos();
            let rotation = [x * sin, y * sin, z * sin, cos];
            ((*name).to_owned(), json!({ "rotation": rotation }))
        })
        .collect();
    json!({ "joints": joints }).to_string()
}

/// Fails with the words of stderr unless the program succeeded.
pub fn succeeded(output: &std::process::Output) -> String {
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    stderr
}

#[test]
fn a_report_stands_alone_and_its_tables_agree() {
    let folder = TestFolder::new("compare-files");
    let [page, csv, tex, figures] =
        ["r.html", "r.csv", "r.tex", "figures"].map(|name| folder.file(name));
    let output = sinew(&[
        &"compare",
        &"builtin:arm",
        &"--methods=lbs,dqs,pd",
        &"--only=forearm",
        &"--no-pictures",
        &"-o",
        &page,
        &"--csv",
        &csv,
        &"--latex",
        &tex,
        &"--figures",
        &figures,
        &"--json",
    ]);
    let report = json(&output);
    let (methods, poses) = (
        report["methods"].as_array().unwrap().len(),
        report["poses"].as_array().unwrap().len(),
    );
    assert!(methods == 3 && poses >= 4, "{poses} poses");
    let page = fs::read_to_string(page).unwrap();
    assert_eq!(
        page.matches("://").count(),
        page.matches("xmlns=\"http://").count(),
        "an address of another file"
    );
    assert!(page.contains("builtin:arm") && page.contains("<svg"));
    let csv = fs::read_to_string(csv).unwrap();
    let rows: Vec<Vec<&str>> = csv.lines().map(|line| line.split(',').collect()).collect();
    assert_eq!(rows.len(), 1 + methods * poses);
    let column = rows[0]
        .iter()
        .position(|head| *head == "volume_change")
        .unwrap();
    for (row, cell) in rows[1..].iter().zip(report["cells"].as_array().unwrap()) {
        assert_eq!(row[0], cell["method"]);
        // The movement's label has a comma, which splits its quoted field here.
        let shift = row.len() - rows[0].len();
        let value: f64 = row[column + shift].parse().unwrap();
        assert_eq!(value, cell["values"]["volume_change"].as_f64().unwrap());
    }
    let tex = fs::read_to_string(tex).unwrap();
    assert!(tex.contains("\\toprule") && tex.contains("\\mathbf"));
    let drawn = fs::read_dir(figures).unwrap().count();
    assert!(drawn >= 5, "{drawn} figures");
}

#[test]
fn pictures_are_in_the_page_and_in_the_folder() {
    let folder = TestFolder::new("compare-pictures");
    let [page, figures] = ["r.html", "figures"].map(|name| folder.file(name));
    let output = sinew(&[
        &"compare",
        &"builtin:cylinder",
        &"--methods=lbs,dqs",
        &"--drawn=1",
        &"--size=120x150",
        &"-o",
        &page,
        &"--figures",
        &figures,
    ]);
    let stderr = succeeded(&output);
    if no_gpu(&stderr) {
        return;
    }
    let page = fs::read_to_string(page).unwrap();
    // The whole twice, a close-up twice, one distance.
    assert_eq!(page.matches("src=\"data:image/jpeg;base64,").count(), 5);
    let pictures: Vec<PathBuf> = fs::read_dir(figures)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "png"))
        .collect();
    assert_eq!(pictures.len(), 5);
    for picture in pictures {
        let image = image::open(&picture).unwrap().to_rgba8();
        assert_eq!(image.dimensions(), (120, 150));
        let background = image.get_pixel(0, 0);
        let drawn = image.pixels().filter(|pixel| *pixel != background).count();
        assert!(drawn > 500, "{}: {drawn} pixels", picture.display());
    }
}

#[test]
fn frames_of_a_clip_are_compared_at_their_times() {
    let report = json(&sinew(&[
        &"compare",
        &"builtin:cylinder",
        &"--methods=lbs,pd",
        &"--clip=bend",
        &"--frames=0-4",
        &"--fps=25",
        &"--json",
    ]));
    let poses = report["poses"].as_array().unwrap();
    let times: Vec<f64> = poses
        .iter()
        .map(|pose| pose["at"].as_f64().unwrap())
        .collect();
    let expected = [0.0, 0.04, 0.08, 0.12, 0.16];
    assert!(
        times
            .iter()
            .zip(expected)
            .all(|(a, b)| (a - b).abs() < 1e-12),
        "{times:?}"
    );
    assert_eq!(report["cells"].as_array().unwrap().len(), 10);
}

#[test]
fn two_runs_give_the_same_numbers() {
    let run = || {
        let mut report = json(&sinew(&[
            &"compare",
            &"builtin:arm",
            &"--methods=lbs,pd",
            &"--only=forearm",
            &"--json",
        ]));
        for cell in report["cells"].as_array_mut().unwrap() {
            cell["values"].as_object_mut().unwrap().remove("frame_ms");
        }
        report["cells"].clone()
    };
    assert_eq!(run(), run());
}

#[test]
fn a_report_has_the_numbers_of_bake() {
    let folder = TestFolder::new("compare-bake");
    let file = write(
        &folder,
        "bent.json",
        &pose(&[("forearm", [1.0, 0.0, 0.0], 90.0)]),
    );
    let report = json(&sinew(&[
        &"compare",
        &"builtin:arm",
        &"--methods=dqs",
        &"--poses",
        &file,
        &"--json",
    ]));
    let baked = json(&sinew(&[
        &"bake",
        &"builtin:arm",
        &"--method=dqs",
        &"--pose",
        &file,
        &"--settle",
        &"--json",
        &"-o",
        &folder.file("x.obj"),
    ]));
    let values = report["cells"][0]["values"].as_object().unwrap();
    assert!(values.len() > 8, "{values:?}");
    for (id, value) in values.iter().filter(|(id, _)| *id != "frame_ms") {
        assert_eq!(*value, baked["score"][id], "{id}");
    }
}

#[test]
fn wrong_input_is_refused_with_a_suggestion() {
    let folder = TestFolder::new("compare-refused");
    let page = folder.file("r.html");
    let usage = |words: &[&dyn AsRef<std::ffi::OsStr>], part: &str| {
        let mut all: Vec<&dyn AsRef<std::ffi::OsStr>> =
            vec![&"compare", &"builtin:arm", &"-o", &page];
        all.extend(words);
        let output = sinew(&all);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(part), "\"{part}\" is missing in {stderr}");
    };
    usage(&[&"--methods=lsb"], "did you mean lbs?");
    usage(&[&"--methods=lbs", &"--poses=rmo"], "did you mean rom?");
    usage(&[&"--methods=lbs,lbs"], "twice");
    usage(&[&"--methods=lbs", &"--only=nothing"], "forearm");
    usage(
        &[&"--methods=lbs", &"--only=forearm,nothing"],
        "no movement \"nothing\"",
    );
    let refused = |words: &[&dyn AsRef<std::ffi::OsStr>], parts: &[&str]| {
        let mut all: Vec<&dyn AsRef<std::ffi::OsStr>> =
            vec![&"compare", &"builtin:arm", &"--methods=lbs"];
        all.extend(words);
        assert_refused(&sinew(&all), parts);
    };
    refused(&[&"-o", &page, &"--poses=missing.json"], &["missing.json"]);
    let unknown = write(
        &folder,
        "unknown.json",
        &pose(&[("forarm", [1.0, 0.0, 0.0], 10.0)]),
    );
    refused(
        &[&"-o", &page, &"--poses", &unknown],
        &["forarm", "did you mean \"forearm\""],
    );
    refused(&[&"-o", &folder.file("no/r.html")], &["no folder"]);
    refused(&[&"-o", &folder.file("r.pdf")], &[".html"]);
    assert_eq!(names(&folder), ["unknown.json"], "nothing else was written");
}

#[test]
fn a_method_that_fails_is_a_row_that_says_so() {
    let folder = TestFolder::new("compare-failing");
    // Nothing of the skin is flesh.
    let rigid: [&dyn AsRef<std::ffi::OsStr>; 4] = [
        &"compare",
        &"builtin:arm",
        &"--part=0=rigid:hand",
        &"--json",
    ];
    let page = folder.file("r.html");
    let mut words = rigid.to_vec();
    words.extend([
        &"--methods=lbs,pd" as &dyn AsRef<std::ffi::OsStr>,
        &"--no-pictures",
        &"-o",
        &page,
    ]);
    let report = json(&sinew(&words));
    let failed: Vec<bool> = report["methods"]
        .as_array()
        .unwrap()
        .iter()
        .map(|method| method["failure"].is_string())
        .collect();
    assert_eq!(failed, [false, true], "{report}");
    assert!(
        fs::read_to_string(page)
            .unwrap()
            .contains("What could not be computed")
    );
    let mut words = rigid.to_vec();
    let nothing = folder.file("nothing.html");
    words.extend([
        &"--methods=pd" as &dyn AsRef<std::ffi::OsStr>,
        &"-o",
        &nothing,
    ]);
    let only = sinew(&words);
    assert_refused(&only, &["nothing could be measured"]);
    assert!(!nothing.exists());
}

#[test]
fn the_worst_poses_are_worse_than_rest_and_can_be_baked() {
    let folder = TestFolder::new("worst");
    let poses = folder.file("poses");
    let report = json(&sinew(&[
        &"worst",
        &"builtin:arm",
        &"--method=lbs",
        &"--metric=volume",
        &"--count=3",
        &"--samples=24",
        &"--refinements=12",
        &"--poses-out",
        &poses,
        &"--json",
    ]));
    assert_eq!(report["metric"], "volume_change");
    let found = report["methods"][0]["poses"].as_array().unwrap();
    let values: Vec<f64> = found
        .iter()
        .map(|pose| pose["value"].as_f64().unwrap().abs())
        .collect();
    assert!(
        !values.is_empty() && values.windows(2).all(|pair| pair[0] >= pair[1]),
        "{values:?}"
    );
    assert!(values[0] > 0.005, "{values:?}");
    // The pose that was written gives the number that was reported.
    let baked = json(&sinew(&[
        &"bake",
        &"builtin:arm",
        &"--method=lbs",
        &"--settle",
        &"--json",
        &"--pose",
        &poses.join("lbs-1.json"),
        &"-o",
        &folder.file("x.obj"),
    ]));
    let again = baked["score"]["volume_change"].as_f64().unwrap().abs();
    assert!(
        (again - values[0]).abs() < 1e-5,
        "{again} and {}",
        values[0]
    );
    let unknown = sinew(&[
        &"worst",
        &"builtin:arm",
        &"--method=lbs",
        &"--metric=beauty",
        &"--json",
    ]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&unknown.stderr).contains("volume_change"));
}

#[test]
fn a_method_that_is_nowhere_bad_has_no_worst_poses() {
    let search = |last: &str| {
        sinew(&[
            &"worst",
            &"builtin:cylinder",
            &"--method=lbs",
            &"--metric=pairs",
            &"--samples=4",
            &last,
        ])
    };
    let report = json(&search("--json"));
    assert_eq!(report["metric"], "new_pairs");
    assert_eq!(report["methods"][0]["poses"], json!([]));
    let output = search("--refinements=1");
    succeeded(&output);
    assert!(stdout(&output).contains("no pose was found"));
}

/// The rows of a table of methods in a text: the method, and its numbers without those of the last column, which are times.
fn rows_of_methods(text: &str) -> Vec<(String, Vec<String>)> {
    let rows = text.lines().filter(|line| line.starts_with("| `"));
    rows.map(|row| {
        let (row, _times) = row
            .trim_end_matches(" |")
            .rsplit_once(" | ")
            .expect("a column of times");
        let (method, cells) = row[3..].split_once('`').expect("a method in quotes");
        let words = cells.split(['|', '*', '(', ')', ' ']);
        let numbers = words.filter(|word| !word.is_empty() && *word != "–");
        (method.to_owned(), numbers.map(str::to_owned).collect())
    })
    .collect()
}

#[test]
fn the_tables_of_the_documentation_are_those_of_the_suite() {
    let shown = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/assets/suite.md"));
    let shown = shown.unwrap();
    let sections: Vec<(&str, &str)> = shown
        .split("\n### ")
        .skip(1)
        .map(|section| section.split_once(", ").unwrap())
        .collect();
    let names: Vec<&str> = sections.iter().map(|section| section.0).collect();
    assert_eq!(names, sinew::io::builtin::NAMES);
    let methods: Vec<&str> = sinew::methods::registry()
        .iter()
        .map(|method| method.id())
        .collect();
    let slow = ["implicit", "pbd", "xpbd", "reference"];
    for (name, section) in sections {
        let rows = rows_of_methods(section);
        assert!(
            rows.iter()
                .map(|row| row.0.as_str())
                .eq(methods.iter().copied().filter(|id| !slow.contains(id))),
            "{name}: {rows:?}; `sinew suite -o assets/suite.md` makes the tables again"
        );
    }
    // The smallest character, again.
    let output = sinew(&[&"suite", &"--characters=cylinder"]);
    succeeded(&output);
    let again = rows_of_methods(&stdout(&output));
    let before = shown
        .split("\n### ")
        .find(|section| section.starts_with("cylinder"));
    let before = rows_of_methods(before.unwrap());
    assert_eq!(again.len(), before.len());
    for ((method, now), (_, then)) in again.iter().zip(&before) {
        assert_eq!(now.len(), then.len(), "{method}");
        for (now, then) in now.iter().zip(then) {
            // Other processors round otherwise, and counts, which have at most one digit after the point, may then differ by one.
            let digits = then.split_once('.').map_or(0, |(_, digits)| digits.len());
            let [now, then]: [f64; 2] = [now, then].map(|number| number.parse().unwrap());
            let allowed = 0.02 * then.abs() + if digits < 2 { 1.0 } else { 0.02 };
            assert!(
                (now - then).abs() <= allowed,
                "{method}: {now} instead of {then}; `sinew suite -o assets/suite.md` makes the tables again"
            );
        }
    }
}

#[test]
fn the_suite_has_a_table_for_each_character() {
    let output = sinew(&[
        &"suite",
        &"--characters=cylinder,arm",
        &"--methods=rigid,lbs",
    ]);
    succeeded(&output);
    let text = stdout(&output);
    assert_eq!(text.matches("### ").count(), 2);
    assert_eq!(text.matches("| `lbs` |").count(), 2);
    assert!(text.contains("**"));
}

#[test]
fn a_result_of_another_program_is_a_row() {
    let folder = TestFolder::new("compare-result");
    let cache = folder.file("theirs.pc2");
    let bent = ["--clip=bend", "--frames=20-23"];
    succeeded(&sinew(&[
        &"bake",
        &"builtin:cylinder",
        &"--method=dqs",
        &bent[0],
        &bent[1],
        &"-o",
        &cache,
    ]));
    let result = format!("theirs={}", cache.display());
    let report = json(&sinew(&[
        &"compare",
        &"builtin:cylinder",
        &"--methods=lbs,dqs",
        &bent[0],
        &bent[1],
        &"--result",
        &result,
        &"--distance-to=dqs",
        &"--json",
    ]));
    let values = |row: usize, column: usize| report["cells"][4 * row + column]["values"].clone();
    for column in 0..4 {
        let (own, theirs) = (values(1, column), values(2, column));
        for id in [
            "volume_change",
            "stretch_p99",
            "new_pairs",
            "girth_change_min",
            "distance_max_mm",
        ] {
            assert_eq!(own[id], theirs[id], "{id} in frame {column}");
        }
        assert_eq!(theirs["distance_max_mm"], 0.0);
        assert!(theirs["frame_ms"].is_null());
    }
    assert!(values(0, 3)["distance_max_mm"].as_f64().unwrap() > 0.0);
    // Points on the skin, but not as many as it has: only their distance to it.
    let few = fs::read(&cache).unwrap();
    let points = u32::from_le_bytes(few[16..20].try_into().unwrap()) as usize;
    let positions: Vec<Vec<[f32; 3]>> = few[32..]
        .chunks_exact(points * 12)
        .map(|frame| {
            let coordinate = |at: usize| f32::from_le_bytes(frame[at..at + 4].try_into().unwrap());
            (0..points / 2)
                .map(|point| [0, 4, 8].map(|offset| coordinate(12 * point + offset)))
                .collect()
        })
        .collect();
    let half = write(
        &folder,
        "half.json",
        &json!({ "frames": positions }).to_string(),
    );
    let result = format!("half={}", half.display());
    let report = json(&sinew(&[
        &"compare",
        &"builtin:cylinder",
        &"--methods=dqs",
        &bent[0],
        &bent[1],
        &"--result",
        &result,
        &"--distance-to=dqs",
        &"--json",
    ]));
    let half = &report["cells"][4 + 3]["values"];
    assert!(half["volume_change"].is_null());
    assert!(half["distance_max_mm"].as_f64().unwrap() < 1e-3, "{half}");
}

#[test]
fn variants_of_a_method_are_rows_with_their_settings() {
    let folder = TestFolder::new("compare-variants");
    let page = folder.file("r.html");
    let bent = ["--clip=bend", "--frames=20-23"];
    let report = json(&sinew(&[
        &"compare",
        &"builtin:cylinder",
        &"--methods=pd",
        &"--collisions=off",
        &"--variant",
        &"same: pd collisions=off",
        &"--variant",
        &"soft: pd stiffness=500 jiggle=1",
        &"--variant",
        &"coarse: pd sim-vertices=300",
        &"--variant",
        &"heat: lbs weights=heat",
        &bent[0],
        &bent[1],
        &"--distance-to=pd",
        &"--no-pictures",
        &"-o",
        &page,
        &"--json",
    ]));
    let rows: Vec<&str> = report["methods"]
        .as_array()
        .unwrap()
        .iter()
        .map(|row| row["id"].as_str().unwrap())
        .collect();
    assert_eq!(rows, ["pd", "same", "soft", "coarse", "heat"]);
    assert_eq!(
        report["methods"][2]["settings"],
        "pd stiffness=500 jiggle=1"
    );
    assert!(report["methods"][0]["settings"].is_null());
    let distance = |row: usize| {
        (0..4)
            .map(|column| {
                let values = &report["cells"][4 * row + column]["values"];
                values["distance_max_mm"].as_f64().unwrap()
            })
            .fold(0.0, f64::max)
    };
    assert_eq!(distance(1), 0.0, "equal settings give equal frames");
    for (row, name) in rows.iter().enumerate().skip(2) {
        assert!(distance(row) > 1e-2, "{name}: {}", distance(row));
    }
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("soft: pd stiffness=500 jiggle=1; coarse: pd sim-vertices=300"));
}

#[test]
fn wrong_variants_are_refused() {
    let usage = |variant: &str, part: &str| {
        let output = sinew(&[
            &"compare",
            &"builtin:arm",
            &"--methods=lbs",
            &"--variant",
            &variant,
            &"--json",
        ]);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{stderr}");
        assert!(stderr.contains(part), "\"{part}\" is missing in {stderr}");
    };
    usage("soft pd", "NAME: METHOD");
    usage("soft: pd stiffness=-1", "stiffness");
    usage("soft: pd squish=1", "sim-vertices");
    usage("lbs: dqs", "twice");
}
