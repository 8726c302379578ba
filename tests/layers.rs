//! The layers of `src/lib.rs`: imports go down only.
//!
//! Reads every `crate::…` path outside comments (in `main.rs` every `sinew::…` path) and holds it against the lists below.

#![expect(clippy::unwrap_used, reason = "a test that can't go on shall panic")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Each module and the modules of this crate it may name.
const LAYERS: &[(&str, &str)] = &[
    ("progress", ""),
    ("cache", ""),
    ("logbook", ""),
    ("math", "progress"),
    ("mesh", "progress math"),
    ("rig", "progress math mesh"),
    ("weights", "progress math mesh rig"),
    ("character", "progress math mesh rig weights"),
    ("tissue", "progress math mesh rig weights character"),
    ("upsample", "progress math mesh rig weights character"),
    ("collision", "progress math mesh rig weights character tissue"),
    ("dynamics", "progress math mesh rig weights character tissue upsample collision"),
    ("anatomy", "progress math mesh rig weights character tissue upsample collision"),
    ("skin", "progress cache math mesh rig weights character tissue upsample collision dynamics anatomy"),
    ("io", "progress math mesh rig weights character tissue"),
    ("gpu", "progress math mesh rig weights character tissue upsample collision dynamics anatomy skin"),
    ("render", "progress math mesh rig weights character tissue upsample collision dynamics anatomy skin gpu"),
    ("session", "progress cache math mesh rig weights character tissue upsample collision dynamics anatomy skin io gpu"),
    ("app", "progress cache logbook math mesh rig weights character tissue upsample collision dynamics anatomy skin io gpu render session"),
    ("cli", "progress cache logbook math mesh rig weights character tissue upsample collision dynamics anatomy skin io gpu render session"),
    ("lib", ""),
    ("main", "app cli"),
];

/// Crates that only some modules may name.
const CRATES: &[(&str, &str)] = &[
    ("wgpu", "gpu render app"),
    ("naga", "gpu render"),
    ("egui", "app"),
    ("egui_wgpu", "app"),
    ("egui_winit", "app"),
    ("egui_plot", "app"),
    ("winit", "app"),
    ("rfd", "app"),
    ("clap", "cli"),
    ("indicatif", "cli"),
    ("gltf", "io"),
    ("tobj", "io"),
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
    let first = source.strip_prefix(root).unwrap().components().next().unwrap();
    Path::new(first.as_os_str()).file_stem().unwrap().to_str().unwrap().to_owned()
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
        if code[..position].chars().next_back().is_some_and(|c| is_word(c) || c == ':') {
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

fn first_name(text: &str) -> String {
    text.trim_start().chars().take_while(|&c| is_word(c)).collect()
}

/// Everything that goes up, as sentences.
fn offences(module: &str, code: &str) -> Vec<String> {
    let allowed = |list: &str, name: &str| list.split_whitespace().any(|word| word == name);
    let Some((_, below)) = LAYERS.iter().find(|(name, _)| *name == module) else {
        return vec![format!("module `{module}` has no layer yet: add it to tests/layers.rs and to src/lib.rs")];
    };
    let own = if module == "main" { "sinew" } else { "crate" };
    let is_module = |name: &&String| LAYERS.iter().any(|(module, _)| module == name);
    let mut found: Vec<String> = names_after(code, own)
        .iter()
        .filter(is_module)
        .filter(|name| *name != module && !allowed(below, name))
        .map(|name| format!("`{module}` must not name `{name}`"))
        .collect();
    for (foreign, modules) in CRATES {
        if !allowed(modules, module) && !names_after(code, foreign).is_empty() {
            found.push(format!("`{module}` must not name the crate `{foreign}`, only {modules} may"));
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
        found.extend(offences(&module_of(file, &root), &code).into_iter().map(|offence| format!("{}: {offence}", file.display())));
    }
    assert!(found.is_empty(), "\n{}", found.join("\n"));
}

#[test]
fn what_goes_up_is_seen() {
    let seen = |module: &str, code: &str| offences(module, &code_of(code));
    assert_eq!(seen("math", "use crate::skin::Actor;").len(), 1);
    assert_eq!(seen("mesh", "use crate::{math::{Vec3, affine}, session::Session, rig};").len(), 2);
    assert_eq!(seen("app", "fn f() { crate::cli::run() }").len(), 1);
    assert_eq!(seen("cli", "use wgpu::Device;\nuse egui::Ui;").len(), 2);
    assert_eq!(seen("skin", "let x: wgpu::Device;").len(), 1);
    assert!(seen("skin", "// crate::session, wgpu::Device\nlet s = \"crate::app \\\" wgpu::x\"; use crate::math::Vec3;").is_empty());
    assert_eq!(seen("newcomer", "").len(), 1);
}
