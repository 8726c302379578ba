//! `sinew bench`: what it measures and prints.

use crate::program::{assert_refused, json, no_gpu, sinew};

#[test]
fn bench_prints_the_fields_that_machines_are_compared_by() {
    let report = json(&sinew(&[
        &"bench",
        &"builtin:cylinder",
        &"--steps=20",
        &"--threads=1",
        &"--json",
    ]));
    let fields = [
        (
            "machine",
            &[
                "cpu",
                "threads",
                "l2_read_gb_s",
                "l3_read_gb_s",
                "memory_read_gb_s",
                "f32_fma_gflop_s",
                "caches",
            ][..],
        ),
        (
            "character",
            &["source_vertices", "simulated_vertices", "tets", "unknowns"],
        ),
        ("setup_ms", &["load", "weld", "tissue", "bind", "total"]),
        (
            "step",
            &[
                "iterations",
                "threads",
                "median_ms",
                "p99_ms",
                "local_ms",
                "global_ms",
                "anchors_ms",
                "normals_ms",
            ],
        ),
        (
            "frame",
            &[
                "median_ms",
                "p99_ms",
                "pose_ms",
                "anchors_ms",
                "step_ms",
                "normals_ms",
            ],
        ),
        (
            "iteration",
            &["working_set_bytes", "level", "local", "global"],
        ),
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
    assert!(
        report["frame"]["median_ms"].as_f64().unwrap()
            > report["step"]["median_ms"].as_f64().unwrap()
    );
    for half in ["local", "global"] {
        let half = &report["iteration"][half];
        let (reached, limit) = (
            half["ms"].as_f64().unwrap(),
            half["limit_ms"].as_f64().unwrap(),
        );
        assert!(
            limit > 0.0 && (half["times_limit"].as_f64().unwrap() - reached / limit).abs() < 1e-6,
            "{half}"
        );
        assert!(
            half["bytes"].as_u64().unwrap() > 1000 && half["flops"].as_u64().unwrap() > 1000,
            "{half}"
        );
    }
    assert!(
        report["step"]["p99_ms"].as_f64().unwrap() >= report["step"]["median_ms"].as_f64().unwrap()
    );
}

/// Local and global steps are told by the device's own clock, or not at all; what it took to get there and to ask is told always.
#[test]
fn a_device_is_measured() {
    let output = sinew(&[
        &"bench",
        &"builtin:cylinder",
        &"--sim-vertices=300",
        &"--base=bones",
        &"--steps=10",
        &"--device=gpu",
        &"--json",
    ]);
    if no_gpu(&String::from_utf8_lossy(&output.stderr)) {
        return;
    }
    let report = json(&output);
    let (step, device) = (&report["step"], &report["device"]);
    assert_eq!(device["runs"], "gpu");
    for stage in ["local_ms", "global_ms"] {
        let (told, of_device) = (&step[stage], &device["stages_ms"][stage]);
        assert!(
            told == of_device && (told.is_null() || told.as_f64().unwrap() > 0.0),
            "{stage}: {told} and {of_device}"
        );
    }
    assert!(
        device["host_ms"].as_f64().unwrap() > 0.0 && device["setup_ms"].as_f64().unwrap() > 0.0,
        "{device}"
    );
}

#[test]
fn a_crowd_is_measured() {
    let crowd = |count: &str| {
        sinew(&[
            &"bench",
            &"builtin:cylinder",
            &"--sim-vertices=300",
            &"--steps=10",
            &"--crowd",
            &count,
            &"--json",
        ])
    };
    let output = crowd("3");
    if no_gpu(&String::from_utf8_lossy(&output.stderr)) {
        return;
    }
    let report = json(&output);
    assert_eq!(
        (
            report["crowd"]["instances"].as_u64(),
            report["frames"].as_u64()
        ),
        (Some(3), Some(10))
    );
    for name in [
        "constant_bytes",
        "instance_bytes",
        "bytes_up_step",
        "passes_step",
        "passes_surface",
    ] {
        assert!(report["crowd"][name].as_u64().unwrap() > 0, "crowd.{name}");
    }
    assert!(
        report["frame_ms"].as_f64().unwrap() > 0.0
            && report["collisions"] == false
            && report["recovered"] == 0
    );
    assert_eq!(
        report["state_bytes"].as_u64().unwrap(),
        3 * report["crowd"]["instance_bytes"].as_u64().unwrap()
    );
    assert_refused(&crowd("999999"), &["--crowd 999999", "fit"]);
    assert_eq!(crowd("0").status.code(), Some(2));
}
