//! The layers of `src/lib.rs`: imports go down only.
//!
//! Reads every `crate::…` path outside comments (in `main.rs` every `sinew::…` path), and every `super::…` path that reaches the
//! crate's root, and holds them against the lists below. So are the crates that a module names.

#![expect(clippy::unwrap_used, reason = "a test that can't go on shall panic")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Each module and the modules of this crate it may name.
const LAYERS: &[(&str, &str)] = &[
    ("by_id", ""),
    ("progress", ""),
    ("files", ""),
    ("cache", "files"),
    ("logbook", "files"),
    ("param", ""),
    ("math", "progress"),
    ("numerics", "progress math"),
    ("mesh", "progress math numerics"),
    ("rig", "progress math numerics mesh"),
    ("weights", "progress param math numerics mesh rig"),
    ("character", "progress param math numerics mesh rig weights"),
    (
        "tissue",
        "progress math numerics mesh rig weights character",
    ),
    (
        "upsample",
        "progress math numerics mesh rig weights character",
    ),
    (
        "collision",
        "progress math numerics mesh rig weights character tissue",
    ),
    (
        "dynamics",
        "progress param math numerics mesh rig weights character tissue upsample collision",
    ),
    (
        "anatomy",
        "progress math numerics mesh rig weights character tissue upsample collision",
    ),
    (
        "stages",
        "progress cache math numerics mesh rig weights character tissue upsample collision dynamics anatomy",
    ),
    (
        "metrics",
        "progress cache math numerics mesh rig weights character tissue upsample collision dynamics anatomy stages",
    ),
    (
        "methods",
        "progress param cache math numerics mesh rig weights character tissue upsample collision dynamics anatomy stages metrics",
    ),
    (
        "io",
        "progress files math numerics mesh rig weights character tissue",
    ),
    ("open", "progress cache weights character stages methods io"),
    (
        "prelude",
        "progress math rig character dynamics stages metrics methods io open",
    ),
    (
        "gpu",
        "progress param math numerics mesh rig weights character tissue upsample collision dynamics anatomy stages metrics methods",
    ),
    (
        "render",
        "progress math numerics mesh rig weights character tissue upsample collision dynamics anatomy stages metrics methods gpu",
    ),
    (
        "studio",
        "progress param math numerics mesh rig weights character tissue upsample collision dynamics anatomy stages metrics methods io gpu render",
    ),
    (
        "report",
        "progress param math numerics mesh rig weights character tissue upsample collision dynamics anatomy stages metrics methods io gpu render studio",
    ),
    (
        "session",
        "progress files param cache math numerics mesh rig weights character tissue upsample collision dynamics anatomy stages metrics methods io gpu render studio report",
    ),
    (
        "app",
        "progress files param cache logbook math numerics mesh rig weights character tissue upsample collision dynamics anatomy stages metrics methods io gpu render studio report session",
    ),
    (
        "cli",
        "progress files param cache logbook math numerics mesh rig weights character tissue upsample collision dynamics anatomy stages metrics methods io gpu render studio report session",
    ),
    (
        "python",
        "progress math rig character dynamics stages methods metrics io",
    ),
    ("lib", "open"),
    ("main", "app cli"),
];

/// Each dependency and the modules that may name it; `any` stands for all.
const CRATES: &[(&str, &str)] = &[
    ("base64", "io report"),
    ("blake3", "cache io session"),
    ("bytemuck", "numerics io gpu render"),
    ("clap", "cli"),
    ("clap_complete", "cli"),
    ("clap_mangen", "cli"),
    ("colorous", "render"),
    ("directories", "cache"),
    ("draco_core", "io"),
    ("egui", "app"),
    ("egui_plot", "app"),
    ("egui_tiles", "app"),
    ("egui_wgpu", "app"),
    ("egui_winit", "app"),
    ("epaint_default_fonts", "render"),
    ("faer", "numerics dynamics"),
    ("gltf", "io"),
    ("image", "character io gpu render studio report app cli"),
    ("indicatif", "cli"),
    ("log", "any"),
    ("lz4_flex", "io"),
    ("meshopt", "io"),
    ("naga", "gpu render"),
    ("nalgebra", "any"),
    ("nalgebra_sparse", "numerics mesh weights"),
    ("percent_encoding", "io"),
    ("png", "io"),
    ("numpy", "python"),
    ("pollster", "gpu app"),
    ("postcard", "cache"),
    ("pulp", "numerics upsample dynamics methods cli"),
    ("pyo3", "python"),
    ("rayon", "any"),
    ("rfd", "app"),
    ("rustix", "files cli"),
    ("serde", "any"),
    ("serde_json", "any"),
    ("signal_hook", "app cli"),
    ("skrifa", "render app"),
    ("strsim", "rig weights character tissue methods app cli"),
    ("thiserror", "any"),
    ("tobj", "io"),
    ("ufbx", "io"),
    ("vello_cpu", "render"),
    ("wgpu", "gpu render studio app"),
    ("winit", "app"),
    ("zip", "io session"),
];

fn rust_files(folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            rust_files(&path, files);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.push(path);
        }
    }
}

/// The module a source file belongs to: the folder or file directly under `src`.
fn module_of(source: &Path, root: &Path) -> String {
    let first = source
        .strip_prefix(root)
        .unwrap()
        .components()
        .next()
        .unwrap();
    Path::new(first.as_os_str())
        .file_stem()
        .unwrap()
        .to_str()
        .unwrap()
        .to_owned()
}

/// The source without comments and without the contents of string literals.
fn code_of(text: &str) -> String {
    let mut code = String::new();
    for line in text.lines() {
        let mut in_string = false;
        let mut previous = ' ';
        let mut characters = line.chars().peekable();
        while let Some(c) = characters.next() {
            if c == '"' && previous != '\\' && previous != '\'' {
                in_string = !in_string;
            } else if !in_string && c == '/' && characters.peek() == Some(&'/') {
                break;
            } else if !in_string {
                code.push(c);
            }
            previous = if previous == '\\' { ' ' } else { c };
        }
        code.push('\n');
    }
    code
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The first names after every `prefix::`, with those of groups like `prefix::{a::B, c}`.
fn names_after(code: &str, prefix: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    let pattern = format!("{prefix}::");
    for (position, _) in code.match_indices(&pattern) {
        if code[..position]
            .chars()
            .next_back()
            .is_some_and(|c| is_word(c) || c == ':')
        {
            continue;
        }
        let rest = &code[position + pattern.len()..];
        if let Some(group) = rest.strip_prefix('{') {
            let mut depth = 0_i32;
            let mut name = String::new();
            for c in group.chars() {
                match c {
                    '{' => depth += 1,
                    '}' if depth == 0 => break,
                    '}' => depth -= 1,
                    ',' if depth == 0 => {
                        names.insert(first_name(&name));
                        name.clear();
                        continue;
                    }
                    _ => {}
                }
                name.push(c);
            }
            names.insert(first_name(&name));
        } else {
            names.insert(first_name(rest));
        }
    }
    names.remove("");
    names
}

/// The names that `super::` paths reach in the crate's root, from a module so many levels below it.
fn names_above(code: &str, depth: usize) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    // A module inside the file is one level deeper, so more steps are needed there.
    for steps in depth..depth + 3 {
        names.extend(names_after(code, &vec!["super"; steps].join("::")));
    }
    names.remove("super");
    names
}

/// How many levels below the crate's root a source file is.
fn depth_of(source: &Path, root: &Path) -> usize {
    let relative = source.strip_prefix(root).unwrap().with_extension("");
    let is_root = ["lib", "main"].map(Path::new).contains(&relative.as_path());
    let parts = relative.components().count();
    parts - usize::from(is_root || relative.ends_with("mod"))
}

fn first_name(text: &str) -> String {
    text.trim_start()
        .chars()
        .take_while(|&c| is_word(c))
        .collect()
}

/// Everything that goes up, as sentences. `depth` is how many levels below the crate's root the code is.
fn offences(module: &str, depth: usize, code: &str) -> Vec<String> {
    let allowed = |list: &str, name: &str| list.split_whitespace().any(|word| word == name);
    let Some((_, below)) = LAYERS.iter().find(|(name, _)| *name == module) else {
        return vec![format!(
            "module `{module}` has no layer yet: add it to tests/layers.rs and to src/lib.rs"
        )];
    };
    let own = if module == "main" { "sinew" } else { "crate" };
    let is_module = |name: &&String| LAYERS.iter().any(|(module, _)| module == name);
    let mut names = names_after(code, own);
    if depth > 0 {
        names.extend(names_above(code, depth));
    }
    let mut found: Vec<String> = names
        .iter()
        .filter(is_module)
        .filter(|name| *name != module && !allowed(below, name))
        .map(|name| format!("`{module}` must not name `{name}`"))
        .collect();
    for (foreign, modules) in CRATES {
        let may = *modules == "any" || allowed(modules, module);
        if !may && !names_after(code, foreign).is_empty() {
            found.push(format!(
                "`{module}` must not name the crate `{foreign}`, only {modules} may"
            ));
        }
    }
    found
}

#[test]
fn imports_go_down_only() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut files = Vec::new();
    rust_files(&root, &mut files);
    assert!(files.len() > 10, "no sources found");
    let mut found = Vec::new();
    for file in &files {
        let code = code_of(&fs::read_to_string(file).unwrap());
        found.extend(
            offences(&module_of(file, &root), depth_of(file, &root), &code)
                .into_iter()
                .map(|offence| format!("{}: {offence}", file.display())),
        );
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn upward_imports_are_detected() {
    let seen = |module: &str, code: &str| offences(module, 1, &code_of(code));
    assert_eq!(seen("math", "use crate::methods::Actor;").len(), 1);
    assert_eq!(
        seen(
            "mesh",
            "use crate::{math::{Vec3, affine}, session::Session, rig};"
        )
        .len(),
        2
    );
    assert_eq!(seen("app", "fn f() { crate::cli::run() }").len(), 1);
    assert_eq!(seen("cli", "use wgpu::Device;\nuse egui::Ui;").len(), 2);
    assert_eq!(seen("methods", "let x: wgpu::Device;").len(), 1);
    assert!(seen("methods", "// crate::session, wgpu::Device\nlet s = \"crate::app \\\" wgpu::x\"; use crate::math::Vec3;").is_empty());
    assert_eq!(seen("newcomer", "").len(), 1);
    let deep = |code: &str| offences("math", 2, &code_of(code)).len();
    assert_eq!(deep("use super::super::session::Session;"), 1);
    assert_eq!(
        deep("mod m { use super::super::super::{session, mesh}; }"),
        2
    );
    assert_eq!(deep("use super::session; use super::super::progress;"), 0);
}

#[test]
fn every_dependency_is_assigned_to_modules() {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
    let text = fs::read_to_string(manifest).unwrap();
    let mut section = "";
    for line in text.lines() {
        if let Some(name) = line.strip_prefix('[') {
            section = name.trim_end_matches(']');
        } else if section.ends_with("dependencies")
            && section != "dev-dependencies"
            && let Some((name, _)) = line.split_once(" = ")
        {
            let name = name.replace('-', "_");
            assert!(
                CRATES.iter().any(|(known, _)| *known == name),
                "the dependency `{name}` is not in the list of crates and layers"
            );
        }
    }
}
