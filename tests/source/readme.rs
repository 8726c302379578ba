//! README.md, `.ci/run` and the command line agree with each other.

#![expect(clippy::unwrap_used, reason = "a test that can't go on shall panic")]

use std::fs;
use std::path::Path;
use std::process::Command;

fn read(path: &str) -> String {
    fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(path)).unwrap()
}

/// Lines inside fenced code blocks of a shell.
fn shell_lines(readme: &str) -> Vec<String> {
    let mut lines = Vec::new();
    let mut inside = false;
    for line in readme.lines() {
        if line.starts_with("```") {
            inside = line == "```sh";
        } else if inside && !line.trim().is_empty() && !line.starts_with('#') {
            lines.push(line.to_owned());
        }
    }
    lines
}

#[test]
fn the_test_command_of_the_readme_is_the_one_of_ci() {
    let readme = read("README.md");
    let ci = read(".ci/run");
    let command = "cargo test";
    let all = shell_lines(&readme);
    let lines: Vec<_> = all
        .iter()
        .filter(|line| line.contains("cargo test"))
        .collect();
    assert_eq!(lines.len(), 1, "one command passes the tests: {lines:?}");
    assert!(lines[0].ends_with(command), "{}", lines[0]);
    assert!(
        ci.lines().any(|line| line == format!("step {command}")),
        ".ci/run must run `{command}`"
    );
    // Both install the same packages.
    let packages = ci
        .lines()
        .find_map(|line| line.strip_prefix("packages=("))
        .unwrap()
        .trim_end_matches(')');
    for package in packages.split_whitespace() {
        assert!(
            lines[0].split_whitespace().any(|word| word == package),
            "README.md does not install {package}"
        );
    }
}

#[test]
fn the_comparison_of_methods_is_that_of_the_suite() {
    let (readme, suite) = (read("README.md"), read("assets/suite.md"));
    let of_suite: Vec<&str> = suite.lines().collect();
    let is_measured = |line: &&str| line.starts_with("| `") && line.matches('|').count() > 7;
    let rows: Vec<&str> = readme.lines().filter(is_measured).collect();
    assert!(rows.len() >= 8, "a table of all methods: {rows:?}");
    for row in rows {
        assert!(
            of_suite.contains(&row),
            "README.md has a row that assets/suite.md has not: {row}"
        );
    }
}

#[test]
fn the_commands_of_the_readme_are_understood() {
    let readme = read("README.md");
    let verbs: Vec<String> = shell_lines(&readme)
        .into_iter()
        .filter(|line| line.starts_with("target/release/sinew"))
        .collect();
    assert!(verbs.len() >= 5, "a tour of all verbs: {verbs:?}");
    for line in verbs {
        let words: Vec<&str> = line.split_whitespace().skip(1).collect();
        let Some(verb) = words.first().filter(|verb| {
            [
                "info", "weights", "tissue", "bake", "render", "compare", "worst", "suite",
                "explain", "bench", "distill", "job", "seams",
            ]
            .contains(verb)
        }) else {
            continue;
        };
        // The verb's own help must know every option used.
        let help = Command::new(env!("CARGO_BIN_EXE_sinew"))
            .args([*verb, "--help"])
            .output()
            .unwrap();
        let help = String::from_utf8(help.stdout).unwrap();
        for option in words.iter().filter(|word| word.starts_with("--")) {
            let name = option.split('=').next().unwrap();
            assert!(
                help.contains(name),
                "`{line}` uses {name}, which `sinew {verb} --help` does not list"
            );
        }
    }
}
