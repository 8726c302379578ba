//! Assigns roles to the files that make up one character.

use std::path::{Path, PathBuf};

use super::bytes::read_file;
use super::error::{IoError, ParseProblem, shown};
use super::fps;
use super::kind::{FileKind, kind_of};

/// The files of one character by role, as far as the file extension determines it.
#[derive(Debug, Default)]
pub(super) struct FileRoles {
    /// A mesh file, or a built-in character.
    pub mesh: Option<(PathBuf, FileKind)>,
    /// Files that may contain meshes, joints and motions: their role is determined after reading.
    pub scenes: Vec<(PathBuf, FileKind)>,
    /// A skeleton file.
    pub skeleton: Option<(PathBuf, FileKind)>,
    /// Matrices: skin weights, or other data.
    pub matrices: Vec<PathBuf>,
    /// Motion files.
    pub motions: Vec<(PathBuf, FileKind)>,
    /// Notes on referenced files that are missing.
    pub missing: Vec<String>,
    /// Title, if it differs from the mesh's file stem.
    pub title: Option<String>,
}

/// Source of the files' bytes.
#[derive(Debug, Clone, Copy)]
pub(super) enum FileSource<'a> {
    Disk,
    /// Names and contents.
    Memory(&'a [(&'a str, &'a [u8])]),
}

impl FileSource<'_> {
    pub(super) fn bytes(self, path: &Path) -> Result<Vec<u8>, IoError> {
        let found = match self {
            Self::Disk => read_file(path),
            Self::Memory(files) => match files.iter().find(|(name, _)| Path::new(name) == path) {
                Some((_, bytes)) => Ok(bytes.to_vec()),
                None => Err(std::io::ErrorKind::NotFound.into()),
            },
        };
        found.map_err(|source| IoError::Read {
            file: shown(path),
            source,
        })
    }

    /// Where files referenced by a file are searched.
    pub(super) fn folder(self, path: &Path) -> Option<&Path> {
        match self {
            Self::Disk => path.parent(),
            Self::Memory(_) => None,
        }
    }

    fn has(self, path: &Path) -> bool {
        match self {
            Self::Disk => path.is_file(),
            Self::Memory(files) => files.iter().any(|(name, _)| Path::new(name) == path),
        }
    }
}

/// Sorts the paths by role.
pub(super) fn assign(paths: &[PathBuf], files: FileSource<'_>) -> Result<FileRoles, IoError> {
    let mut roles = FileRoles::default();
    for path in paths {
        let kind = kind_of(path)?;
        if kind == FileKind::Ini {
            let folder = path.parent().unwrap_or(Path::new(""));
            let ini = fps::read_ini(&files.bytes(path)?, folder)
                .map_err(|problem| problem.in_file(&shown(path)))?;
            roles.title = Some(stem(path));
            roles.take_ini(ini, files)?;
        } else {
            roles.take(path, kind)?;
        }
    }
    Ok(roles)
}

impl FileRoles {
    fn take(&mut self, path: &Path, kind: FileKind) -> Result<(), IoError> {
        let (what, place) = match kind {
            FileKind::Gltf | FileKind::Fbx | FileKind::Usd => {
                self.scenes.push((path.to_owned(), kind));
                return Ok(());
            }
            FileKind::Dmat => {
                self.matrices.push(path.to_owned());
                return Ok(());
            }
            FileKind::Anim | FileKind::Bvh => {
                self.motions.push((path.to_owned(), kind));
                return Ok(());
            }
            FileKind::Skel | FileKind::Tgf => ("skeletons", &mut self.skeleton),
            _ => ("meshes", &mut self.mesh),
        };
        if let Some((first, _)) = place {
            // An .ini may list files that were also given directly.
            return if first == path {
                Ok(())
            } else {
                Err(twice(what, first, path))
            };
        }
        *place = Some((path.to_owned(), kind));
        Ok(())
    }

    /// The visual mesh if the file exists, otherwise the simulation mesh: Sinew makes its own
    /// simulation mesh.
    fn take_ini(&mut self, ini: fps::Ini, files: FileSource<'_>) -> Result<(), IoError> {
        let present = ini.vis_mesh.iter().find(|path| files.has(path));
        if let (Some(missing), None) = (&ini.vis_mesh, present) {
            self.missing.push(format!(
                "the visual mesh {} is missing; the simulation mesh is used",
                shown(missing)
            ));
        }
        let mesh = present.or(ini.sim_mesh.as_ref()).or(ini.vis_mesh.as_ref());
        for path in mesh.into_iter().chain(&ini.skeleton) {
            match kind_of(path)? {
                FileKind::Ini => {
                    return Err(ParseProblem::new(
                        "the .ini refers to another .ini; it must refer to a mesh",
                    )
                    .in_file(&shown(path)));
                }
                kind => self.take(path, kind)?,
            }
        }
        for path in ini.animations {
            let kind = if kind_of(&path).is_ok_and(|kind| kind == FileKind::Bvh) {
                FileKind::Bvh
            } else {
                FileKind::Anim
            };
            if !self.motions.iter().any(|(given, _)| *given == path) {
                self.motions.push((path, kind));
            }
        }
        Ok(())
    }
}

pub(super) fn twice(what: &str, first: &Path, second: &Path) -> IoError {
    let text = format!(
        "two {what} are given, {} and {}; a character has one: open them separately",
        shown(first),
        shown(second)
    );
    IoError::Combination(ParseProblem::new(text))
}

pub(super) fn stem(path: &Path) -> String {
    path.file_stem()
        .map(|s| s.to_string_lossy().into_owned())
        .unwrap_or_default()
}
