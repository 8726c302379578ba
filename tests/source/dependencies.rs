//! Licences and sources of everything that is built upon, by `.ci/deny.toml`. `.ci/run` asks cargo-deny, too, which also knows
//! advisories, where it is installed.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

/// The strings in double quotes of a part of the configuration, without comments.
fn quoted(part: &str) -> Vec<&str> {
    let code = part
        .lines()
        .map(|line| line.split('#').next().unwrap_or(line));
    code.flat_map(|line| line.split('"').skip(1).step_by(2))
        .collect()
}

/// The list after `key = [` of a section.
fn list<'a>(config: &'a str, section: &str, key: &str) -> &'a str {
    let (_, section) = config
        .split_once(&format!("\n[{section}]\n"))
        .expect("the section");
    let section = section.split("\n[").next().unwrap_or(section);
    let (_, list) = section
        .split_once(&format!("\n{key} = [\n"))
        .expect("the list");
    list.split_once("\n]").map_or(list, |(list, _)| list)
}

/// Whether an SPDX expression can be met with the allowed licences. `/` is an old way to write OR.
fn is_allowed(expression: &str, allowed: &[&str]) -> bool {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let mut words = spaced.split_whitespace().peekable();
    let met = any_of(&mut words, allowed);
    met && words.peek().is_none()
}

type Words<'a> = std::iter::Peekable<std::str::SplitWhitespace<'a>>;

fn any_of(words: &mut Words<'_>, allowed: &[&str]) -> bool {
    let mut met = all_of(words, allowed);
    while words.next_if_eq(&"OR").is_some() {
        met |= all_of(words, allowed);
    }
    met
}

fn all_of(words: &mut Words<'_>, allowed: &[&str]) -> bool {
    let mut met = one(words, allowed);
    while words.next_if_eq(&"AND").is_some() {
        met &= one(words, allowed);
    }
    met
}

fn one(words: &mut Words<'_>, allowed: &[&str]) -> bool {
    if words.next_if_eq(&"(").is_some() {
        let met = any_of(words, allowed);
        return words.next() == Some(")") && met;
    }
    let mut licence = words.next().unwrap_or_default().to_owned();
    if words.next_if_eq(&"WITH").is_some() {
        licence = format!("{licence} WITH {}", words.next().unwrap_or_default());
    }
    allowed.contains(&licence.as_str())
}

#[test]
fn licence_expressions_are_understood() {
    let allowed = ["MIT", "Apache-2.0 WITH LLVM-exception", "Unicode-3.0"];
    for expression in [
        "MIT",
        "MIT/Apache-2.0",
        "GPL-3.0 OR MIT",
        "(GPL-3.0 OR MIT) AND Unicode-3.0",
        "Apache-2.0 WITH LLVM-exception",
    ] {
        assert!(is_allowed(expression, &allowed), "{expression}");
    }
    for expression in [
        "",
        "GPL-3.0",
        "MIT AND GPL-3.0",
        "Apache-2.0",
        "(MIT",
        "MIT MIT",
        "GPL-3.0 OR MIT AND GPL-3.0",
        "MIT WITH LLVM-exception",
    ] {
        assert!(!is_allowed(expression, &allowed), "{expression}");
    }
}

/// What is built here; packages for other systems may not have been downloaded.
fn packages() -> Vec<Value> {
    let compiler = std::env::var("RUSTC").unwrap_or_else(|_| "rustc".to_owned());
    let about = Command::new(compiler)
        .arg("-vV")
        .output()
        .expect("the compiler");
    let about = String::from_utf8(about.stdout).expect("text");
    let host = about
        .lines()
        .find_map(|line| line.strip_prefix("host: "))
        .expect("a host");
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let arguments = "metadata --format-version 1 --offline --locked --filter-platform";
    let output = Command::new(cargo)
        .args(arguments.split(' ').chain([host]))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .expect("cargo runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let used: Vec<&Value> = metadata["resolve"]["nodes"]
        .as_array()
        .expect("a list")
        .iter()
        .map(|node| &node["id"])
        .collect();
    let all = metadata["packages"].as_array().expect("a list").iter();
    all.filter(|package| used.contains(&&package["id"]))
        .cloned()
        .collect()
}

#[test]
fn everything_built_upon_is_allowed() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(".ci/deny.toml");
    let config = std::fs::read_to_string(path).expect("the configuration");
    let allowed = quoted(list(&config, "licenses", "allow"));
    let exceptions: Vec<Vec<&str>> = list(&config, "licenses", "exceptions")
        .lines()
        .map(quoted)
        .collect();
    let banned = quoted(list(&config, "bans", "deny"));
    assert!(
        allowed.contains(&"MIT") && banned.contains(&"reqwest"),
        "{allowed:?} {banned:?}"
    );
    let mut wrong = Vec::new();
    let packages = packages();
    assert!(packages.len() > 100, "{} packages", packages.len());
    for package in &packages {
        let name = package["name"].as_str().expect("a name");
        let licence = package["license"].as_str().unwrap_or("none");
        let own = exceptions
            .iter()
            .filter(|exception| exception.first() == Some(&name));
        let allowed: Vec<&str> = allowed
            .iter()
            .chain(own.flat_map(|own| &own[1..]))
            .copied()
            .collect();
        if !is_allowed(licence, &allowed) {
            wrong.push(format!("{name}: the licence {licence} is not allowed"));
        }
        if banned.contains(&name) {
            wrong.push(format!("{name} is banned"));
        }
        let source = package["source"].as_str();
        if name != "sinew"
            && source != Some("registry+https://github.com/rust-lang/crates.io-index")
        {
            wrong.push(format!("{name} comes from {source:?}"));
        }
    }
    assert!(wrong.is_empty(), "by .ci/deny.toml:\n{}", wrong.join("\n"));
}
