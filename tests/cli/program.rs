//! Runs the built binary and reads what it says.

#![expect(clippy::unwrap_used, reason = "a test that can't go on shall panic")]

use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::common::folder::TestFolder;
use crate::common::skip;

pub fn write(folder: &TestFolder, name: &str, content: &str) -> PathBuf {
    let path = folder.file(name);
    fs::write(&path, content).unwrap();
    path
}

pub fn names(folder: &TestFolder) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(&folder.0)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// A closed tube of length 2 along +Y around the skeleton below, as OFF.
pub fn tube() -> String {
    let (rings, around) = (13, 12);
    let mut vertices = String::new();
    for ring in 0..rings {
        for k in 0..around {
            let angle = f64::from(k) / f64::from(around) * std::f64::consts::TAU;
            let (sin, cos) = angle.sin_cos();
            writeln!(
                vertices,
                "{} {} {}",
                0.2 * cos,
                2.0 * f64::from(ring) / f64::from(rings - 1),
                -0.2 * sin
            )
            .unwrap();
        }
    }
    vertices.push_str("0 0 0\n0 2 0\n");
    let mut faces = String::new();
    let (bottom, top) = (rings * around, rings * around + 1);
    for k in 0..around {
        let next = (k + 1) % around;
        for ring in 0..rings - 1 {
            let [a, b, c, d] = [
                ring * around + k,
                ring * around + next,
                (ring + 1) * around + k,
                (ring + 1) * around + next,
            ];
            writeln!(faces, "3 {a} {b} {c}\n3 {b} {d} {c}").unwrap();
        }
        let last = (rings - 1) * around;
        writeln!(
            faces,
            "3 {bottom} {next} {k}\n3 {top} {} {}",
            last + k,
            last + next
        )
        .unwrap();
    }
    format!(
        "OFF\n{} {} 0\n{vertices}{faces}",
        rings * around + 2,
        2 * around * rings
    )
}

pub const BONES: &str = "3\n0 0.1 0 lower root\n0 1 0 upper lower\n0 1.9 0 tip upper\n";

pub fn sinew(arguments: &[&dyn AsRef<std::ffi::OsStr>]) -> Output {
    // Nothing is left in the folder of whoever runs the tests.
    let home = env!("CARGO_TARGET_TMPDIR");
    let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
    for variable in ["XDG_CACHE_HOME", "HOME", "LOCALAPPDATA"] {
        command.env(variable, home);
    }
    command
        .args(arguments.iter().map(AsRef::as_ref))
        .output()
        .unwrap()
}

/// Positions of the `v` lines of an OBJ.
pub fn vertices(path: &Path) -> Vec<[f64; 3]> {
    let text = fs::read_to_string(path).unwrap();
    let numbers = |line: &str| {
        line.split_whitespace()
            .map(|word| word.parse().unwrap())
            .collect::<Vec<f64>>()
            .try_into()
            .unwrap()
    };
    text.lines()
        .filter_map(|line| line.strip_prefix("v "))
        .map(numbers)
        .collect()
}

/// Whether there is nothing to draw with, which is told.
pub fn no_gpu(stderr: &str) -> bool {
    let missing = stderr.contains("no graphics adapter") && !sinew::gpu::is_required();
    if missing {
        skip::skipped("no graphics adapter");
    }
    missing
}

pub fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// Exit code 1, nothing on stdout, and one line on stderr that contains all of `parts`.
pub fn assert_refused(output: &Output, parts: &[&str]) {
    let stderr = String::from_utf8(output.stderr.clone()).unwrap();
    assert_eq!(output.status.code(), Some(1), "{stderr}");
    assert!(output.stdout.is_empty(), "{}", stdout(output));
    let errors: Vec<_> = stderr
        .lines()
        .filter(|line| !line.starts_with("note: "))
        .collect();
    assert_eq!(errors.len(), 1, "one sentence: {stderr}");
    for part in parts {
        assert!(
            errors[0].contains(part),
            "\"{part}\" is missing in: {stderr}"
        );
    }
}

pub fn json(output: &Output) -> serde_json::Value {
    assert_eq!(
        output.status.code(),
        Some(0),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    serde_json::from_slice(&output.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}", stdout(output)))
}
