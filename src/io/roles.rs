//! Which of the files that make up one character is what.

use std::path::{Path, PathBuf};

use super::bytes::read_file;
use super::error::{IoError, Problem, shown};
use super::fps;
use super::kind::{Kind, kind_of};

/// The files of one character by their roles, as far as their names tell.
#[derive(Debug, Default)]
pub(super) struct Roles {
    /// A file that can only be a mesh, or a built-in character.
    pub mesh: Option<(PathBuf, Kind)>,
    /// Files that may have meshes, joints and motions: what they are for is known when they are read.
    pub scenes: Vec<(PathBuf, Kind)>,
    /// A file that can only be a skeleton.
    pub skeleton: Option<(PathBuf, Kind)>,
    /// Matrices: skin weights, or something else.
    pub matrices: Vec<PathBuf>,
    /// Files that can only be motions.
    pub motions: Vec<(PathBuf, Kind)>,
    /// Notes on files that are named but missing.
    pub missing: Vec<String>,
    /// Title, if another than the mesh's stem.
    pub title: Option<String>,
}

/// Where files are.
#[derive(Debug, Clone, Copy)]
pub(super) enum Files<'a> {
    Disk,
    /// Names and contents.
    Memory(&'a [(&'a str, &'a [u8])]),
}

impl Files<'_> {
    pub(super) fn bytes(self, path: &Path) -> Result<Vec<u8>, IoError> {
        let found = match self {
            Self::Disk => read_file(path),
            Self::Memory(files) => match files.iter().find(|(name, _)| Path::new(name) == path) {
                Some((_, bytes)) => Ok(bytes.to_vec()),
                None => Err(std::io::ErrorKind::NotFound.into()),
            },
        };
        found.map_err(|source| IoError::Read { file: shown(path), source })
    }

    /// Where further files that a file names are looked for.
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
pub(super) fn assign(paths: &[PathBuf], files: Files<'_>) -> Result<Roles, IoError> {
    let mut roles = Roles::default();
    for path in paths {
        let kind = kind_of(path)?;
        if kind == Kind::Ini {
            let folder = path.parent().unwrap_or(Path::new(""));
            let ini = fps::read_ini(&files.bytes(path)?, folder).map_err(|problem| problem.in_file(&shown(path)))?;
            roles.title = Some(stem(path));
            roles.take_ini(ini, files)?;
        } else {
            roles.take(path, kind)?;
        }
    }
    Ok(roles)
}

impl Roles {
    fn take(&mut self, path: &Path, kind: Kind) -> Result<(), IoError> {
        let (what, place) = match kind {
            Kind::Gltf | Kind::Fbx => {
                self.scenes.push((path.to_owned(), kind));
                return Ok(());
            }
            Kind::Dmat => {
                self.matrices.push(path.to_owned());
                return Ok(());
            }
            Kind::Anim | Kind::Bvh => {
                self.motions.push((path.to_owned(), kind));
                return Ok(());
            }
            Kind::Skel | Kind::Tgf => ("skeletons", &mut self.skeleton),
            _ => ("meshes", &mut self.mesh),
        };
        if let Some((first, _)) = place {
            return Err(twice(what, first, path));
        }
        *place = Some((path.to_owned(), kind));
        Ok(())
    }

    /// The mesh to look at if it is there, else the one to simulate: Sinew makes its own simulation mesh.
    fn take_ini(&mut self, ini: fps::Ini, files: Files<'_>) -> Result<(), IoError> {
        let present = ini.vis_mesh.iter().find(|path| files.has(path));
        if let (Some(missing), None) = (&ini.vis_mesh, present) {
            self.missing.push(format!("the mesh to look at, {}, is not there; the mesh to simulate is shown", shown(missing)));
        }
        let mesh = present.or(ini.sim_mesh.as_ref()).or(ini.vis_mesh.as_ref());
        for path in mesh.into_iter().chain(&ini.skeleton) {
            match kind_of(path)? {
                Kind::Ini => return Err(Problem::new("an .ini names another one; it should name a mesh").in_file(&shown(path))),
                kind => self.take(path, kind)?,
            }
        }
        for path in ini.animations {
            let kind = if kind_of(&path).is_ok_and(|kind| kind == Kind::Bvh) { Kind::Bvh } else { Kind::Anim };
            self.motions.push((path, kind));
        }
        Ok(())
    }
}

pub(super) fn twice(what: &str, first: &Path, second: &Path) -> IoError {
    let text =
        format!("two {what} are given, {} and {}: one character has one; open them one after the other", shown(first), shown(second));
    IoError::Combination(Problem::new(text))
}

pub(super) fn stem(path: &Path) -> String {
    path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default()
}
