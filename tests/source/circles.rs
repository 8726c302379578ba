//! Import circles: files and folders that lie side by side do not need each other, directly or through others.
//!
//! Reads the paths of every file of `src` (`use` and inline, `crate::`, `self::`, `super::`, children and imported names), follows
//! re-exports to the file that defines a name, and looks for circles among the entries of each folder. A folder's `mod.rs` is not an
//! entry: it holds what its files share, and names them. Tests (`#[cfg(test)]`) may name anything.

#![expect(clippy::unwrap_used, reason = "a test that can't go on shall panic")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// Circles that are still there: the folder, and its entries. All are the steps of one algorithm that share the types of its data, each
/// defined with the step that makes it. Nothing may be added; what is gone has to be taken out.
const KNOWN: &[(&str, &str)] = &[
    ("cli/bench", "gpu report"),
    (
        "collision",
        "axes base_separation body bone_search detect foot_points wedge",
    ),
    ("collision", "contact_list joint_pairs"),
    (
        "dynamics",
        "contact_equations contact_solver contacts simulation solver",
    ),
    ("dynamics", "declared params"),
    ("dynamics/virtual_bones", "parts tree"),
    ("gpu", "collision flesh layout surface"),
    ("gpu/flesh", "contact_kernel kernels layout model state"),
    ("io/glb_write", "draft sweep"),
    ("methods", "actor device direct lbs projective reach recipe"),
    ("numerics", "ordering separator"),
    (
        "render",
        "frame look material mesh pipelines renderer scene target",
    ),
    ("rig", "pose skeleton"),
    ("rig/edit", "placer symmetry"),
    ("rig/ik", "drag plan"),
    ("rig/retarget", "roles topology"),
    (
        "stages",
        "body cached computed flesh source_weights subject",
    ),
    ("tissue/parts", "clusters decide"),
    ("upsample", "frames lanes"),
    ("upsample", "plain rows"),
];

type Module = Vec<String>;

/// A file without comments, strings and tests.
struct Source {
    /// Imports: the path and the name that it gets here.
    uses: Vec<(Module, String)>,
    /// Whether an import is passed on.
    passed_on: Vec<bool>,
    /// Names that the file defines.
    defines: BTreeSet<String>,
    /// Paths outside imports.
    paths: Vec<Module>,
}

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

/// The text without comments, and with empty strings and characters.
fn code_of(text: &str) -> String {
    let c: Vec<char> = text.chars().collect();
    let (mut code, mut at) = (String::new(), 0);
    let starts = |at: usize, word: &str| {
        word.chars()
            .enumerate()
            .all(|(k, w)| c.get(at + k) == Some(&w))
    };
    while at < c.len() {
        if starts(at, "//") {
            while at < c.len() && c[at] != '\n' {
                at += 1;
            }
        } else if starts(at, "/*") {
            while at < c.len() && !starts(at, "*/") {
                at += 1;
            }
            at += 2;
        } else if c[at] == 'r'
            && (starts(at, "r\"") || starts(at, "r#\""))
            && !code.ends_with(is_word)
        {
            let end = if starts(at, "r#") { "\"#" } else { "\"" };
            at += 1 + end.len();
            while at < c.len() && !starts(at, end) {
                at += 1;
            }
            at += end.len();
        } else if c[at] == '"' {
            at += 1;
            while at < c.len() && c[at] != '"' {
                at += if c[at] == '\\' { 2 } else { 1 };
            }
            at += 1;
        } else if c[at] == '\'' && (starts(at + 1, "\\") || c.get(at + 2) == Some(&'\'')) {
            at += 2;
            while at < c.len() && c[at] != '\'' {
                at += 1;
            }
            at += 1;
        } else {
            code.push(c[at]);
            at += 1;
        }
    }
    code
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// The code without the items that are only there in tests, and the modules among them that are files.
fn without_tests(code: &str) -> (String, Vec<String>) {
    let (mut kept, mut rest, mut modules) = (String::new(), code, Vec::new());
    while let Some(at) = rest.find("#[cfg(test)]") {
        kept.push_str(&rest[..at]);
        let item = &rest[at..];
        let Some(end) = item.find(['{', ';']) else {
            return (kept, modules);
        };
        if item[end..].starts_with(';') {
            if let Some((_, name)) = item[..end].rsplit_once("mod ") {
                modules.push(name.trim().to_owned());
            }
            rest = &item[end + 1..];
            continue;
        }
        let mut depth = 0;
        let close = item[end..].char_indices().find(|(_, c)| {
            depth += i32::from(*c == '{') - i32::from(*c == '}');
            depth == 0
        });
        rest = close.map_or("", |(k, _)| &item[end + k + 1..]);
    }
    kept.push_str(rest);
    (kept, modules)
}

/// The paths of a `use` tree, each with the name that it gets.
fn leaves(tree: &str, before: &[String], found: &mut Vec<(Module, String)>) {
    let segments = |text: &str| -> Module {
        let parts = text.split("::").map(str::trim);
        parts.filter(|s| !s.is_empty()).map(str::to_owned).collect()
    };
    let Some((head, group)) = tree.split_once('{') else {
        let (path, alias) = tree.split_once(" as ").unwrap_or((tree, ""));
        let path = [before, &segments(path)].concat();
        let name = if alias.is_empty() {
            path.last().cloned().unwrap_or_default()
        } else {
            alias.trim().to_owned()
        };
        if !name.is_empty() {
            found.push((path, name));
        }
        return;
    };
    let before = [before, &segments(head)].concat();
    let (mut depth, mut part) = (0, String::new());
    for c in group.chars() {
        match c {
            ',' if depth == 0 => leaves(&std::mem::take(&mut part), &before, found),
            '}' if depth == 0 => break,
            _ => {
                depth += i32::from(c == '{') - i32::from(c == '}');
                part.push(c);
            }
        }
    }
    leaves(&part, &before, found);
}

fn source_of(code: &str) -> Source {
    let mut source = Source {
        uses: Vec::new(),
        passed_on: Vec::new(),
        defines: BTreeSet::new(),
        paths: Vec::new(),
    };
    let mut rest = String::new();
    let mut lines = code.lines();
    while let Some(line) = lines.next() {
        let words = line.trim_start();
        let at = words
            .find("use ")
            .filter(|&at| at == 0 || words.starts_with("pub"));
        let Some(at) = at.filter(|&at| !words[..at].contains('{')) else {
            rest.push_str(line);
            rest.push('\n');
            continue;
        };
        let mut tree = words[at + 4..].to_owned();
        while !tree.contains(';') {
            let Some(more) = lines.next() else { break };
            tree.push_str(more.trim());
            tree.push(' ');
        }
        leaves(tree.split(';').next().unwrap(), &[], &mut source.uses);
        source.passed_on.resize(source.uses.len(), at > 0);
    }
    let mut previous = "";
    for word in rest
        .split(|c: char| !is_word(c) && c != ':')
        .filter(|word| !word.is_empty())
    {
        if ["struct", "enum", "trait", "type", "fn", "const", "static"].contains(&previous) {
            source.defines.insert(word.trim_end_matches(':').to_owned());
        }
        if word.contains("::") && !word.starts_with(':') {
            source.paths.push(
                word.split("::")
                    .map(str::to_owned)
                    .filter(|s| !s.is_empty())
                    .collect(),
            );
        }
        previous = word;
    }
    source
}

struct Tree {
    files: BTreeMap<Module, Source>,
}

impl Tree {
    fn read(root: &Path) -> Self {
        let (mut paths, mut files, mut tests) = (Vec::new(), BTreeMap::new(), Vec::new());
        rust_files(root, &mut paths);
        for path in paths {
            let relative = path.strip_prefix(root).unwrap().with_extension("");
            let mut module: Module = relative
                .iter()
                .map(|part| part.to_str().unwrap().to_owned())
                .collect();
            if module.last().is_some_and(|name| name == "mod") || relative == Path::new("lib") {
                module.pop();
            }
            let (code, own) = without_tests(&code_of(&fs::read_to_string(&path).unwrap()));
            tests.extend(
                own.into_iter()
                    .map(|name| [module.as_slice(), &[name]].concat()),
            );
            files.insert(module, source_of(&code));
        }
        files.retain(|module, _| !tests.iter().any(|test| module.starts_with(test)));
        Self { files }
    }

    fn is_module(&self, module: &[String]) -> bool {
        self.files.contains_key(module)
    }

    /// The file that defines what a path names in a module; none for what is not of this crate.
    fn resolve(&self, from: &Module, path: &[String], depth: usize) -> Option<Module> {
        let (mut at, mut path) = match path.first()?.as_str() {
            "crate" => (Module::new(), &path[1..]),
            "self" => (from.clone(), &path[1..]),
            "super" => (from.clone(), path),
            child if self.is_module(&[from.as_slice(), &[child.to_owned()]].concat()) => {
                (from.clone(), path)
            }
            _ => return None,
        };
        while path.first().is_some_and(|name| name == "super") {
            at.pop()?;
            path = &path[1..];
        }
        while let Some(name) = path.first() {
            at.push(name.clone());
            if !self.is_module(&at) {
                at.pop();
                break;
            }
            path = &path[1..];
        }
        let source = self.files.get(&at)?;
        let Some(name) = path
            .first()
            .filter(|name| !source.defines.contains(*name) && depth < 8)
        else {
            return Some(at);
        };
        let import = source.uses.iter().find(|(_, known)| known == name);
        let followed = import.and_then(|(path, _)| self.resolve(&at, path, depth + 1));
        let passed_on = || {
            source
                .uses
                .iter()
                .zip(&source.passed_on)
                .find_map(|((path, known), passed_on)| {
                    let behind = (*passed_on && known == "*")
                        .then(|| self.resolve(&at, path, depth + 1))??;
                    self.files[&behind].defines.contains(name).then_some(behind)
                })
        };
        Some(followed.or_else(passed_on).unwrap_or(at))
    }

    /// The files that a file names.
    fn needs(&self, module: &Module) -> BTreeSet<Module> {
        let source = &self.files[module];
        let imports = source
            .uses
            .iter()
            .zip(&source.passed_on)
            .filter(|(_, passed_on)| !**passed_on);
        let paths = imports.map(|((path, _), _)| path).chain(&source.paths);
        paths
            .filter_map(|path| self.resolve(module, path, 0))
            .filter(|other| other != module)
            .collect()
    }

    /// The circles among the entries of all folders, as the folder and its entries.
    fn circles(&self) -> Vec<(String, String)> {
        let needs: BTreeMap<&Module, BTreeSet<Module>> = self
            .files
            .keys()
            .map(|module| (module, self.needs(module)))
            .collect();
        let folders: BTreeSet<&[String]> = self
            .files
            .keys()
            .flat_map(|module| (0..module.len()).map(|k| &module[..k]))
            .collect();
        let mut found = Vec::new();
        for folder in folders {
            let entry = |module: &Module| {
                (module.len() > folder.len() && module.starts_with(folder))
                    .then(|| module[folder.len()].clone())
            };
            let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
            for (module, others) in &needs {
                if let Some(own) = entry(module) {
                    let others = others
                        .iter()
                        .filter_map(entry)
                        .filter(|other| *other != own);
                    graph.entry(own.clone()).or_default().extend(others);
                }
            }
            for circle in components(&graph) {
                found.push((folder.join("/"), circle.join(" ")));
            }
        }
        found
    }
}

/// What can be reached from an entry.
fn reach<'a>(graph: &'a BTreeMap<String, BTreeSet<String>>, from: &'a str) -> BTreeSet<&'a str> {
    let (mut seen, mut open) = (BTreeSet::new(), vec![from]);
    while let Some(next) = open.pop() {
        for other in graph.get(next).into_iter().flatten() {
            if seen.insert(other.as_str()) {
                open.push(other);
            }
        }
    }
    seen
}

/// The strongly connected components of more than one entry.
fn components(graph: &BTreeMap<String, BTreeSet<String>>) -> Vec<Vec<String>> {
    let reached: BTreeMap<&str, BTreeSet<&str>> = graph
        .keys()
        .map(|entry| (entry.as_str(), reach(graph, entry)))
        .collect();
    let mut found: Vec<Vec<String>> = Vec::new();
    for (entry, others) in &reached {
        let circle: Vec<String> = others
            .iter()
            .filter(|other| reached.get(*other).is_some_and(|back| back.contains(entry)))
            .map(|&other| other.to_owned())
            .collect();
        if circle.len() > 1 && !found.contains(&circle) {
            found.push(circle);
        }
    }
    found
}

#[test]
fn only_known_circles_exist() {
    let tree = Tree::read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"));
    assert!(tree.files.len() > 100, "no sources found");
    let found = tree.circles();
    let known = |(folder, entries): &(String, String)| {
        KNOWN.iter().any(|(known, all)| {
            known == folder
                && entries
                    .split(' ')
                    .all(|entry| all.split(' ').any(|one| one == entry))
        })
    };
    let unknown: Vec<String> = found
        .iter()
        .filter(|circle| !known(circle))
        .map(|(folder, entries)| format!("in src/{folder}: {entries}"))
        .collect();
    assert!(
        unknown.is_empty(),
        "new import circles:\n{}",
        unknown.join("\n")
    );
    for (folder, entries) in KNOWN {
        assert!(
            found.iter().any(|(other, all)| {
                other == folder
                    && all
                        .split(' ')
                        .any(|one| entries.split(' ').any(|entry| entry == one))
            }),
            "the circle of {entries} in src/{folder} is gone: take it off the list"
        );
    }
}

#[test]
fn indirect_circles_and_re_exports_are_found() {
    let graph = |edges: &[(&str, &str)]| {
        let mut graph: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
        for (a, b) in edges {
            graph
                .entry((*a).to_owned())
                .or_default()
                .insert((*b).to_owned());
        }
        components(&graph)
    };
    assert_eq!(
        graph(&[("a", "b"), ("b", "c"), ("c", "a"), ("d", "a")]),
        [["a", "b", "c"]]
    );
    assert!(graph(&[("a", "b"), ("a", "c"), ("b", "c")]).is_empty());
    let file = |code: &str| source_of(&without_tests(&code_of(code)).0);
    let module = |path: &str| -> Module {
        path.split('/')
            .filter(|s| !s.is_empty())
            .map(str::to_owned)
            .collect()
    };
    let tree = |files: &[(&str, &str)]| Tree {
        files: files
            .iter()
            .map(|(path, code)| (module(path), file(code)))
            .collect(),
    };
    let circle = tree(&[
        ("", "mod p;"),
        (
            "p",
            "pub use a::A; pub struct Own;\nmod a; mod b;\npub use a::A;",
        ),
        ("p/a", "use super::b::{self, B};\npub struct A(B);"),
        ("p/b", "pub struct B;\nfn f(a: super::A) {}"),
    ]);
    assert_eq!(circle.circles(), [("p".to_owned(), "a b".to_owned())]);
    let none = tree(&[
        ("", "mod p;"),
        ("p", "mod a; mod b;\npub use a::A;\npub struct Own;"),
        (
            "p/a",
            "use super::Own;\n// super::b\npub struct A(Own);\n#[cfg(test)]\nmod tests { use super::super::b::B; }",
        ),
        ("p/b", "use super::A;\npub struct B(A);"),
    ]);
    assert!(none.circles().is_empty());
}
