//! `--device gpu` for methods that do not simulate, as a script sees it. Needs an adapter (software Vulkan will do).

#![expect(clippy::unwrap_used, reason = "a test that can't go on shall panic")]

use crate::common::folder::TestFolder;
use crate::common::on_device;

use std::fs;
use std::path::Path;
use std::process::Command;

/// Runs the program; returns what it wrote to stdout.
fn sinew(words: &str, output: Option<&Path>) -> String {
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    command.args(words.split_whitespace()).arg("--no-cache");
    if let Some(output) = output {
        command.arg("-o").arg(output);
    }
    let done = command.output().unwrap();
    assert!(
        done.status.success(),
        "{words}: {}",
        String::from_utf8_lossy(&done.stderr)
    );
    String::from_utf8(done.stdout).unwrap()
}

/// Vertices and normals of an .obj, number by number.
fn numbers(path: &Path) -> Vec<f64> {
    let text = fs::read_to_string(path).unwrap();
    let lines = text
        .lines()
        .filter(|line| line.starts_with("v ") || line.starts_with("vn "));
    lines
        .flat_map(|line| {
            line.split_whitespace()
                .skip(1)
                .map(|number| number.parse().unwrap())
                .collect::<Vec<f64>>()
        })
        .collect()
}

#[test]
fn bakes_on_device_and_cpu_agree() {
    if on_device::gpu().is_none() {
        return;
    }
    let folder = TestFolder::new("bake");
    for method in ["rigid", "lbs", "dqs"] {
        let [cpu, gpu] = ["cpu", "gpu"].map(|device| {
            let path = folder.0.join(format!("{method}-{device}.obj"));
            let words = format!("bake builtin:arm --method {method} --rotate forearm=0,-120,20 --settle --device {device} -q");
            assert_eq!(sinew(&words, Some(&path)), "");
            numbers(&path)
        });
        assert!(cpu.len() > 1000 && cpu.len() == gpu.len());
        let apart = cpu
            .iter()
            .zip(&gpu)
            .map(|(a, b)| (a - b).abs())
            .max_by(f64::total_cmp)
            .unwrap();
        // Positions are below a metre; normals turn by what a triangle's corners are off.
        assert!(apart < 1e-4, "{method}: {apart}");
    }
}

#[test]
fn a_bench_reports_the_skinning_device() {
    let run = |device: &str| {
        let words =
            format!("bench builtin:cylinder --method lbs --steps 10 --device {device} --json");
        serde_json::from_str::<serde_json::Value>(&sinew(&words, None)).unwrap()
    };
    let report = run("cpu");
    assert_eq!(report["device"]["runs"], "cpu");
    assert_eq!(
        report["device"]["why"],
        "The CPU moves the skin, as you chose."
    );
    if on_device::gpu().is_none() {
        return;
    }
    let report = run("gpu");
    let device = &report["device"];
    assert_eq!(device["runs"], "gpu");
    assert_eq!(
        [
            device["passes_step"].as_u64(),
            device["passes_surface"].as_u64()
        ],
        [Some(0), Some(2)]
    );
    assert!(
        device["why"]
            .as_str()
            .unwrap()
            .starts_with("The GPU moves the skin ("),
        "{device}"
    );
    assert!(device["constant_bytes"].as_u64().unwrap() > 0 && report["iteration"].is_null());
}

#[test]
fn pictures_are_made_by_every_method_on_the_device() {
    if on_device::gpu().is_none() {
        return;
    }
    let folder = TestFolder::new("render");
    let [cpu, gpu] = ["cpu", "gpu"].map(|device| {
        let path = folder.0.join(format!("{device}.png"));
        let words = format!("render builtin:arm --method lbs,dqs --rotate forearm=0,-90,0 --size 160x120 --device {device} -q");
        sinew(&words, Some(&path));
        image::open(&path).unwrap().to_rgb8()
    });
    assert_eq!(cpu.dimensions(), (160, 120));
    let apart = cpu
        .as_raw()
        .iter()
        .zip(gpu.as_raw())
        .map(|(a, b)| u64::from(a.abs_diff(*b)))
        .sum::<u64>();
    assert!(
        apart < cpu.as_raw().len() as u64 / 10,
        "{apart} over all channels"
    );
}
