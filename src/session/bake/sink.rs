//! Writers of frames.

use std::ops::Range;
use std::path::{Path, PathBuf};

use super::{BakeFormat, BakeSettings, Baked};
use crate::character::Character;
use crate::files::safe_name;
use crate::io::{
    FrameNames, IoError, JsonPositions, MddCache, MorphFile, MorphSettings, NpzFrames, ObjLook,
    PointCache, UsdFrames, refuse_protected, write_obj_with, write_ply,
};
use crate::math::{Affine, Point};
use crate::methods::{Actor, Subject};
use crate::studio::{DEFAULT_FPS, Motion, Take};

/// Writer of the frames of a bake.
pub(super) enum Sink {
    Glb {
        path: PathBuf,
        file: Box<MorphFile>,
    },
    Frames {
        path: PathBuf,
        names: Option<FrameNames>,
        /// Materials of `.obj`; `None` writes `.ply`.
        obj: Option<ObjLook>,
        files: Vec<PathBuf>,
    },
    Caches {
        caches: Vec<CacheOfMesh>,
        positions: Vec<Point>,
    },
    Json {
        path: PathBuf,
        positions: JsonPositions,
    },
    Usd {
        file: Box<UsdFrames>,
        fps: f64,
    },
    Npz {
        path: PathBuf,
        arrays: Box<NpzFrames>,
        world_from_joint: Vec<Affine>,
        motion: Motion,
    },
}

/// The point cache of a mesh, or of all.
pub(super) struct CacheOfMesh {
    path: PathBuf,
    cache: Cache,
    /// Its vertices among those of the character.
    ranges: Vec<Range<usize>>,
}

enum Cache {
    Pc2(PointCache),
    Mdd(MddCache),
}

impl Sink {
    pub(super) fn open(
        actor: &Actor,
        take: &Take,
        path: &Path,
        settings: &BakeSettings,
    ) -> Result<Self, IoError> {
        let (first, last) = (take.first_frame(), take.last_frame());
        let character = &actor.subject().character;
        let path = path.to_path_buf();
        Ok(match settings.format {
            BakeFormat::Glb => {
                let morphs = MorphSettings {
                    animation: take.motion.name(character),
                    size: actor.subject().size,
                    tolerance: settings.tolerance,
                    keep_units: settings.keep_units,
                };
                Self::Glb {
                    file: Box::new(MorphFile::create(&path, character, morphs)?),
                    path,
                }
            }
            BakeFormat::Obj | BakeFormat::Ply => {
                let names = (last > first).then(|| FrameNames::new(&path, last as usize));
                // Before the first file is written.
                if let Some(names) = &names {
                    let mut files = settings
                        .frames(take)
                        .map(|frame| names.path(frame as usize));
                    files.try_for_each(|file| refuse_protected(&file))?;
                }
                let is_obj = settings.format == BakeFormat::Obj;
                let obj = is_obj.then(|| ObjLook::beside(&path, character));
                Self::Frames {
                    path,
                    names,
                    obj: obj.transpose()?,
                    files: Vec::new(),
                }
            }
            BakeFormat::Pc2 | BakeFormat::Mdd => Self::Caches {
                caches: caches(character, take, &path, settings)?,
                positions: Vec::with_capacity(character.file_vertices()),
            },
            BakeFormat::Usd(format) => Self::Usd {
                file: Box::new(UsdFrames::create(&path, format, character)?),
                fps: take.fps().unwrap_or(DEFAULT_FPS),
            },
            BakeFormat::Npz => Self::Npz {
                arrays: Box::new(NpzFrames::create(&path)?),
                path,
                world_from_joint: Vec::new(),
                motion: take.motion.clone(),
            },
            BakeFormat::Json => Self::Json {
                positions: JsonPositions::create(&path)?,
                path,
            },
        })
    }

    pub(super) fn frame(
        &mut self,
        frame: u32,
        time_secs: f64,
        actor: &Actor,
    ) -> Result<(), IoError> {
        let character = &actor.subject().character;
        match self {
            Self::Glb { file, .. } => file.frame(time_secs, actor.positions(), actor.normals()),
            Self::Frames {
                path,
                names,
                obj,
                files,
            } => {
                let path = names
                    .as_ref()
                    .map_or_else(|| path.clone(), |names| names.path(frame as usize));
                let (positions, normals) = (actor.positions(), actor.normals());
                match obj {
                    Some(look) => write_obj_with(&path, character, positions, normals, look)?,
                    None => write_ply(&path, character, positions, normals)?,
                }
                files.push(path);
                Ok(())
            }
            Self::Caches { caches, positions } => caches.iter_mut().try_for_each(|of_mesh| {
                positions.clear();
                for range in &of_mesh.ranges {
                    positions.extend_from_slice(&actor.positions()[range.clone()]);
                }
                match &mut of_mesh.cache {
                    Cache::Pc2(cache) => cache.frame(positions),
                    Cache::Mdd(cache) => cache.frame(positions),
                }
            }),
            Self::Usd { file, .. } => {
                let code = f64::from(frame);
                file.frame(code, character, actor.positions(), actor.normals())
            }
            Self::Npz {
                arrays,
                world_from_joint,
                motion,
                ..
            } => {
                let pose = motion.pose_at(character, time_secs);
                (character.skeleton).world_from_joint_into(&pose, world_from_joint);
                arrays.frame(
                    time_secs,
                    &character.at_file_vertices(actor.positions()),
                    &character.at_file_vertices(actor.normals()),
                    world_from_joint,
                )
            }
            Self::Json { positions, .. } => {
                positions.frame(&character.at_file_vertices(actor.positions()))
            }
        }
    }

    pub(super) fn finish(self, baked: &mut Baked, subject: &Subject) -> Result<(), IoError> {
        baked.files = match self {
            Self::Frames { files, obj, .. } => {
                if let Some(look) = &obj {
                    look.write(&subject.character)?;
                }
                let look = obj.iter().flat_map(ObjLook::files).cloned();
                files.into_iter().chain(look).collect()
            }
            Self::Glb { path, file } => {
                baked.morph_targets = Some(file.finish()?.targets);
                vec![path]
            }
            Self::Caches { caches, .. } => {
                let finished = caches.into_iter().map(|of_mesh| {
                    match of_mesh.cache {
                        Cache::Pc2(cache) => cache.finish(),
                        Cache::Mdd(cache) => cache.finish(),
                    }
                    .map(|()| of_mesh.path)
                });
                finished.collect::<Result<_, _>>()?
            }
            Self::Usd { file, fps } => file.finish(&subject.character, fps)?,
            Self::Npz { path, arrays, .. } => {
                let weights = subject.mesh_weights();
                arrays
                    .finish(&path, &subject.character, weights)
                    .map(|()| vec![path])?
            }
            Self::Json { path, positions } => positions.finish().map(|()| vec![path])?,
        };
        Ok(())
    }
}

/// Opens a cache for each mesh, in a folder with the name of the file, or one for all.
fn caches(
    character: &Character,
    take: &Take,
    path: &Path,
    settings: &BakeSettings,
) -> Result<Vec<CacheOfMesh>, IoError> {
    let meshes = meshes_of(character);
    let meshes = if settings.one_cache || meshes.len() < 2 {
        let ranges = meshes.into_iter().flat_map(|(_, ranges)| ranges);
        vec![(path.to_owned(), ranges.collect())]
    } else {
        let folder = path.with_extension("");
        std::fs::create_dir_all(&folder).map_err(|source| IoError::Write {
            file: folder.display().to_string(),
            source,
        })?;
        let extension = path.extension().unwrap_or_default().to_string_lossy();
        let mut used = std::collections::HashSet::new();
        let place = |(name, ranges): (&str, Vec<Range<usize>>)| {
            let name = free_name(&safe_name(name), &mut used);
            (folder.join(format!("{name}.{extension}")), ranges)
        };
        meshes.into_iter().map(place).collect()
    };
    let open = |(path, ranges): (PathBuf, Vec<Range<usize>>)| {
        let points = ranges.iter().map(Range::len).sum();
        let cache = if settings.format == BakeFormat::Pc2 {
            let (start, every) = (take.first_frame() as f32, settings.every.max(1) as f32);
            Cache::Pc2(PointCache::create(&path, points, start, every)?)
        } else {
            let times: Vec<f64> = settings
                .frames(take)
                .map(|frame| take.time_of(frame))
                .collect();
            Cache::Mdd(MddCache::create(&path, points, &times)?)
        };
        Ok(CacheOfMesh {
            path,
            cache,
            ranges,
        })
    };
    meshes.into_iter().map(open).collect()
}

/// Name and vertices of every mesh, as other programs count meshes: the primitives of a glTF node are one. Copies at seams are left
/// out.
fn meshes_of(character: &Character) -> Vec<(&str, Vec<Range<usize>>)> {
    let nodes = character.document.as_ref().map(|document| &document.meshes);
    let node_of = |mesh: usize| nodes.and_then(|nodes| nodes.get(mesh)).map(|at| at.node);
    let mut meshes: Vec<(&str, Vec<Range<usize>>)> = Vec::new();
    let (mut first, mut last_node) = (0, None);
    for (index, mesh) in character.meshes.iter().enumerate() {
        let range = first..first + mesh.file_vertices();
        first += mesh.positions.len();
        let node = node_of(index);
        match meshes.last_mut() {
            Some((_, ranges)) if node.is_some() && node == last_node => ranges.push(range),
            _ => meshes.push((&mesh.name, vec![range])),
        }
        last_node = node;
    }
    meshes
}

/// The name, or the first of `NAME.2`, `NAME.3`, … that is not used; letters of either case are one, as on many disks.
fn free_name(name: &str, used: &mut std::collections::HashSet<String>) -> String {
    let numbered = (2..).map(|number| format!("{name}.{number}"));
    let mut names = std::iter::once(name.to_owned()).chain(numbered);
    names
        .find(|name| used.insert(name.to_lowercase()))
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_meshes_become_names_of_files() {
        let mut used = std::collections::HashSet::new();
        let mut name = |name: &str| free_name(&safe_name(name), &mut used);
        assert_eq!(name("Eye"), "Eye");
        assert_eq!(name("eye"), "eye.2");
        assert_eq!(name("a/b"), "a_b");
        assert_eq!(name("a:b"), "a_b.2");
    }
}
