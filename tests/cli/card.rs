//! `sinew bench --suite`: the dry run of what measures a graphics card. Software Vulkan is enough.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::common::folder::TestFolder;
use crate::common::skip;
use crate::program::{no_gpu, sinew};

/// By the script that is run where there is a card.
#[test]
fn the_suite_of_a_card_measures_everything_and_agrees_with_the_cpu() {
    let folder = TestFolder::new("card");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts/card.sh");
    let built = Path::new(env!("CARGO_BIN_EXE_sinew")).parent().unwrap();
    let ran = Command::new("bash")
        .arg(script)
        .args(["--tiny", "-o"])
        .args([&folder.0, built])
        .output();
    let Ok(output) = ran else {
        skip::skipped("bash is missing");
        return;
    };
    let stdout = String::from_utf8_lossy(&output.stdout);
    let log = fs::read_to_string(folder.file("card.log")).unwrap();
    if no_gpu(&log) {
        return;
    }
    let written = fs::read_to_string(folder.file("card.jsonl")).unwrap();
    let lines: Vec<Value> = written
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect();
    let of = |kind: &str| -> Vec<&Value> {
        let ofs = lines.iter().filter(|line| line["kind"] == kind);
        ofs.filter(|line| line["skipped"].is_null()).collect()
    };
    for line in &lines {
        assert!(line["error"].is_null(), "{line}");
    }
    assert_eq!(output.status.code(), Some(0), "{stdout}{log}");

    assert!(!of("adapter")[0]["name"].as_str().unwrap().is_empty());
    assert!(of("bandwidth")[0]["gb_s"].as_f64().unwrap() > 0.0);

    let agreements = of("agreement");
    let methods: BTreeSet<&str> = agreements
        .iter()
        .map(|line| line["method"].as_str().unwrap())
        .collect();
    let with_device = sinew::methods::registry()
        .into_iter()
        .filter(|method| method.has(sinew::methods::Capability::Device))
        .map(sinew::methods::MethodId::id);
    assert_eq!(methods, with_device.collect());
    for line in &agreements {
        assert_eq!(line["passes"], true, "{line}");
        assert!(
            line["moved"].as_f64().unwrap() > 1e-3,
            "it hardly moves, which proves nothing: {line}"
        );
    }
    assert!(
        agreements
            .iter()
            .any(|line| line["contacts_most"].as_u64().unwrap() > 0),
        "no part touches another"
    );
    assert!(agreements.iter().any(|line| line["crowd"] == 3));

    let flesh = of("flesh");
    let variants: BTreeSet<String> = flesh
        .iter()
        .map(|line| {
            let [size, solver] = ["size", "solver"].map(|field| line[field].as_str().unwrap());
            let accelerated = line["acceleration"].as_u64().unwrap() > 0;
            format!("{size} {solver} {accelerated} {}", line["contacts"])
        })
        .collect();
    // Two sizes, one of them refined; both ways, both solvers, with and without contacts.
    assert_eq!((flesh.len(), variants.len()), (16, 16), "{variants:?}");
    for line in &flesh {
        let total = ["constants", "state", "solver"]
            .map(|part| line["bytes_step"][part].as_u64().unwrap())
            .iter()
            .sum::<u64>();
        assert!(total > 10_000, "{line}");
        assert!(line["frames_per_s"].as_f64().unwrap() > 0.0, "{line}");
        assert!(line["passes_step"].as_u64().unwrap() > 20, "{line}");
        assert_eq!(line["rates"].is_null(), line["contacts"] == true, "{line}");
    }
    let counts: Vec<u64> = of("crowd")
        .iter()
        .map(|line| line["crowd"]["instances"].as_u64().unwrap())
        .collect();
    assert_eq!(counts, [1, 3]);
    // All that have a form on the device, without flesh.
    assert_eq!(of("surface").len(), methods.len() - 1);
    let last = lines.last().expect("it says something");
    assert_eq!((&last["kind"], &last["failed"]), (&"end".into(), &0.into()));
    let told = last["measured"].as_u64().unwrap() + last["left_out"].as_u64().unwrap();
    assert_eq!(told as usize, lines.len() - 1);
}

#[test]
fn the_suite_needs_the_device_and_nothing_else() {
    let without = sinew(&[&"bench", &"--suite"]);
    let stderr = String::from_utf8_lossy(&without.stderr);
    assert_eq!(without.status.code(), Some(2), "{stderr}");
    assert!(stderr.contains("add --device gpu") && without.stdout.is_empty());
    let character = sinew(&[&"bench", &"builtin:arm", &"--suite", &"--device=gpu"]);
    assert_eq!(character.status.code(), Some(2));
    let unknown = sinew(&[&"bench", &"--suite=huge", &"--device=gpu"]);
    assert_eq!(unknown.status.code(), Some(2));
}
