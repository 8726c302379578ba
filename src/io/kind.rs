//! Determines a file's kind by its name.

use std::path::Path;

use super::error::{IoError, shown};

/// Kind of a file, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum FileKind {
    Builtin,
    Gltf,
    Fbx,
    Usd,
    Obj,
    Off,
    Ply,
    Stl,
    Medit,
    Skel,
    Tgf,
    Dmat,
    Anim,
    Bvh,
    Ini,
}

/// Supported file extensions and their kinds.
const KINDS: [(&str, FileKind); 19] = [
    ("glb", FileKind::Gltf),
    ("gltf", FileKind::Gltf),
    ("vrm", FileKind::Gltf),
    ("fbx", FileKind::Fbx),
    ("usd", FileKind::Usd),
    ("usda", FileKind::Usd),
    ("usdc", FileKind::Usd),
    ("usdz", FileKind::Usd),
    ("obj", FileKind::Obj),
    ("off", FileKind::Off),
    ("ply", FileKind::Ply),
    ("stl", FileKind::Stl),
    ("mesh", FileKind::Medit),
    ("skel", FileKind::Skel),
    ("tgf", FileKind::Tgf),
    ("dmat", FileKind::Dmat),
    ("anim", FileKind::Anim),
    ("bvh", FileKind::Bvh),
    ("ini", FileKind::Ini),
];

/// Extensions, without dot, of the files that make up characters: for file dialogs and help.
#[must_use]
pub fn extensions() -> Vec<&'static str> {
    KINDS.iter().map(|(extension, _)| *extension).collect()
}

/// As a list for a sentence: ".glb, .gltf or .obj".
pub(super) fn known() -> String {
    let dotted: Vec<String> = extensions()
        .iter()
        .map(|extension| format!(".{extension}"))
        .collect();
    match dotted.split_last() {
        Some((last, others)) => format!("{} or {last}", others.join(", ")),
        None => String::new(),
    }
}

/// The kind of a path, or why it cannot be read.
pub(super) fn kind_of(path: &Path) -> Result<FileKind, IoError> {
    if builtin_name(path).is_some() {
        return Ok(FileKind::Builtin);
    }
    let extension = path
        .extension()
        .map(|e| e.to_string_lossy().to_ascii_lowercase())
        .unwrap_or_default();
    if let Some((_, kind)) = KINDS.iter().find(|(known, _)| *known == extension) {
        return Ok(*kind);
    }
    // A missing file is reported as such, whatever its extension.
    let read = |source| IoError::Read {
        file: shown(path),
        source,
    };
    if std::fs::metadata(path).map_err(read)?.is_dir() {
        return Err(read(std::io::Error::new(
            std::io::ErrorKind::IsADirectory,
            "the path is a folder; choose a file in it",
        )));
    }
    let convert = "convert it to .glb or .obj";
    let (format, instead) = match extension.as_str() {
        "dae" => (
            "COLLADA",
            "convert it to .glb, for instance with Blender".to_owned(),
        ),
        "blend" => ("Blender", "export it as .glb".to_owned()),
        "ma" | "mb" => ("Maya", "export it as .fbx".to_owned()),
        "max" | "3ds" => ("3ds Max", "export it as .fbx".to_owned()),
        "c4d" => ("Cinema 4D", "export it as .fbx or .glb".to_owned()),
        "zip" | "7z" | "rar" | "gz" => ("packed", "unpack it first".to_owned()),
        "abc" | "msh" | "meshb" | "vtk" | "vtu" | "3mf" | "x3d" | "wrl" | "x" | "md5mesh" => {
            (extension.as_str(), convert.to_owned())
        }
        "sinew" => (
            "Sinew project",
            "a project cannot be part of a character; open it separately".to_owned(),
        ),
        "png" | "jpg" | "jpeg" | "mtl" | "bin" => (
            extension.as_str(),
            "open the file that refers to it".to_owned(),
        ),
        "" => (
            "such",
            format!("a name that ends in {} is expected", known()),
        ),
        other => (other, format!("supported extensions are {}", known())),
    };
    Err(IoError::Unsupported {
        file: shown(path),
        format: format.to_owned(),
        instead,
    })
}

pub(super) fn builtin_name(path: &Path) -> Option<&str> {
    path.to_str()?.strip_prefix("builtin:")
}
