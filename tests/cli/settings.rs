//! Options that set numbers: understood, in their range, refused outside.

use crate::common::folder::TestFolder;
use crate::program::{assert_refused, json, sinew, stdout, vertices};

#[test]
fn a_negative_number_is_rejected_by_its_value() {
    for option in [
        "--fps",
        "--iterations",
        "--damping",
        "--sim-vertices",
        "--blend",
        "--threads",
    ] {
        let output = sinew(&[
            &"bake",
            &"builtin:cylinder",
            &"--method=lbs",
            &option,
            &"-1",
            &"-o",
            &"x.obj",
        ]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{option}");
        assert!(
            stderr.contains(option) && stderr.contains("'-1'") && !stderr.contains("tip"),
            "{option}: {stderr}"
        );
    }
}

#[test]
fn the_simulation_device_can_be_chosen() {
    assert_eq!(
        sinew(&[&"info", &"builtin:cylinder", &"--device=abacus"])
            .status
            .code(),
        Some(2)
    );
    let accepted = sinew(&[
        &"info",
        &"builtin:cylinder",
        &"--device=cpu",
        &"--collisions=local",
        &"--threads=2",
        &"--iterations=5",
        &"--json",
    ]);
    json(&accepted);
}

#[test]
fn the_simulation_mesh_has_the_requested_size() {
    let simulated = |wanted: &str| {
        let report = json(&sinew(&[
            &"info",
            &"builtin:mannequin",
            &format!("--sim-vertices={wanted}"),
            &"--json",
        ]));
        report["simulated_vertices"].as_u64().unwrap()
    };
    let all = simulated("all");
    assert!((1000..1100).contains(&simulated("1000")) && all > 20_000);
    // Hardly more than wanted: as it is.
    assert_eq!(simulated("18000"), all);
    for wrong in ["99", "-1", "many", "1e4"] {
        assert_eq!(
            sinew(&[
                &"info",
                &"builtin:mannequin",
                &format!("--sim-vertices={wrong}")
            ])
            .status
            .code(),
            Some(2),
            "{wrong}"
        );
    }
}

#[test]
fn unit_and_radius_can_be_set() {
    let report = |extra: &[&str]| {
        let mut words: Vec<&dyn AsRef<std::ffi::OsStr>> =
            vec![&"info", &"builtin:cylinder", &"--json"];
        words.extend(extra.iter().map(|word| word as &dyn AsRef<std::ffi::OsStr>));
        json(&sinew(&words))
    };
    assert!(report(&[])["metres_per_unit"].as_f64() == Some(1.0));
    assert!(report(&["--unit", "0.01"])["metres_per_unit"].as_f64() == Some(0.01));
    assert_refused(
        &sinew(&[&"info", &"builtin:cylinder", &"--bone-radius", &"uper=0.02"]),
        &["uper", "upper"],
    );
}

#[test]
fn bones_and_materials_can_be_set() {
    assert_refused(
        &sinew(&[&"info", &"builtin:cylinder", &"--bone", &"uper=held"]),
        &["uper", "upper"],
    );
    for (bone, part) in [
        ("upper=hold", "held"),
        ("upper", "JOINT"),
        ("upper=density:-1", "density"),
        ("=held", "JOINT"),
    ] {
        let refused = sinew(&[&"info", &"builtin:cylinder", &"--bone", &bone]);
        assert_eq!(refused.status.code(), Some(2), "{bone}");
        assert!(
            String::from_utf8_lossy(&refused.stderr).contains(part),
            "{bone}"
        );
    }
    for (muscle, parts, code) in [
        (
            "b=bone:uper",
            ["bone of muscle \"b\"", "did you mean \"upper\""],
            1,
        ),
        ("b=bone:upper,driver:lowr", ["driver of muscle", "lower"], 1),
        ("b=from:0.2", ["\"b\" needs the joint", "as in b=bone:"], 2),
        ("b=bone:upper,bulge:9", ["bulge", "from -0.8 to 2"], 2),
    ] {
        let refused = sinew(&[&"info", &"builtin:cylinder", &"--muscle", &muscle]);
        let told = String::from_utf8_lossy(&refused.stderr);
        assert_eq!(refused.status.code(), Some(code), "{muscle}: {told}");
        assert!(parts.iter().all(|part| told.contains(part)), "{told}");
    }
    let work = TestFolder::new("materials");
    let hangs = |name: &str, options: &[&str]| {
        let path = work.0.join(name);
        let mut arguments: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![
            &"bake",
            &"builtin:cylinder",
            &"--method",
            &"pd",
            &"--settle",
            &"-o",
            &path,
        ];
        arguments.extend(
            options
                .iter()
                .map(|option| option as &dyn AsRef<std::ffi::OsStr>),
        );
        let baked = sinew(&arguments);
        assert!(
            baked.status.success(),
            "{}",
            String::from_utf8_lossy(&baked.stderr)
        );
        vertices(&path)
    };
    let rest = hangs("rest.obj", &[]);
    let sag = |baked: &[[f64; 3]]| {
        baked
            .iter()
            .zip(&rest)
            .map(|(a, b)| (a[1] - b[1]).abs())
            .sum::<f64>()
    };
    let natural = sag(&hangs("natural.obj", &["--gravity", "9.81"]));
    let jelly = sag(&hangs(
        "jelly.obj",
        &[
            "--gravity",
            "9.81",
            "--preset",
            "jelly",
            "--jiggle",
            "0.5",
            "--volume",
            "1",
        ],
    ));
    assert!(
        jelly > 3.0 * natural && natural > 0.0,
        "{jelly} and {natural}"
    );
    let held = sag(&hangs(
        "held.obj",
        &[
            "--gravity",
            "9.81",
            "--bone",
            "lower=held",
            "--bone",
            "upper=held,stiffness:2",
        ],
    ));
    assert!(held < 1e-3 * natural, "all is held: {held}");
}

/// Each declared number of the physics is an option, with its sentence, and takes what is in its range and nothing else.
#[test]
fn declared_numbers_are_options_in_their_range() {
    let help = stdout(&sinew(&[&"bake", &"--help"]));
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    for param in &sinew::dynamics::PHYSICS {
        let key = param.spec.key;
        let usage = format!("--{key} <{}>", param.value_name);
        assert!(help.contains(&usage), "{usage}");
        assert!(words(&help).contains(&words(&param.help())), "{key}");
        let [low, high] = param.spec.range;
        let given =
            |value: f64| sinew(&[&"info", &"builtin:cylinder", &format!("--{key}={value}")]);
        for value in [low - 1.0, high + 1.0] {
            let output = given(value);
            let stderr = String::from_utf8_lossy(&output.stderr);
            assert_eq!(output.status.code(), Some(2), "{key}={value}: {stderr}");
            assert!(
                stderr.contains(&format!("between {low} and {high}")),
                "{stderr}"
            );
        }
        for value in [low, high] {
            assert!(given(value).status.success(), "{key}={value}");
        }
    }
}
