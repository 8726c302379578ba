//! From paths to one character.

use std::path::{Path, PathBuf};

use super::bytes::read_file;
use super::error::{IoError, Parsed, Problem, bad, shown};
use super::finish::{Unit, finish, static_to_unweighted};
use super::motion::{add_clips, add_motion, read_motion};
use super::{builtin, fps, gltf, obj, off};
use crate::character::{Attachment, Character, Severity};
use crate::math::Point;
use crate::mesh::Bounds;
use crate::progress::Progress;
use crate::rig::Track;
use crate::rig::retarget::Mapping;

/// What a path is, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Builtin,
    Gltf,
    Obj,
    Off,
    Skel,
    Anim,
    Bvh,
    Ini,
}

/// The files of one character by their roles.
#[derive(Debug, Default)]
struct Roles {
    mesh: Option<(PathBuf, Kind)>,
    /// A `.skel` or a rigged glTF.
    rig: Option<(PathBuf, Kind)>,
    motions: Vec<(PathBuf, Kind)>,
    /// Notes on files that are named but missing.
    missing: Vec<String>,
    /// Title, if another than the mesh's stem.
    title: Option<String>,
}

/// Reads the files that make up one character.
///
/// - a mesh or scene: `.glb .gltf .vrm .obj .off`, or `builtin:NAME`;
/// - optionally a skeleton: `.skel`, or a second glTF that has joints (its clips come along); if the first has joints already, the
///   second only adds its clips, which are put onto the first one's skeleton if theirs is another;
/// - any number of motions: `.anim`, of the character's own skeleton, or `.bvh`, of any skeleton that is like the character's; to a
///   mesh without a skeleton the first `.bvh` is the skeleton too;
/// - or an `.ini` that names mesh, skeleton and motions.
///
/// # Errors
/// [`IoError`] with the file and what is wrong; [`IoError::Cancelled`].
pub fn load(paths: &[PathBuf], progress: &Progress) -> Result<Character, IoError> {
    load_with(paths, None, progress)
}

/// As [`load`], with the joints of motions matched as a mapping says instead of by their names.
///
/// # Errors
/// As [`load`].
pub fn load_with(paths: &[PathBuf], mapping: Option<&Mapping>, progress: &Progress) -> Result<Character, IoError> {
    progress.report(0.0, "Reading");
    let roles = assign(paths)?;
    let Some((mesh, kind)) = &roles.mesh else {
        if let Some((motion, _)) = roles.motions.iter().find(|(_, kind)| *kind == Kind::Bvh) {
            // What is wrong with the file itself comes first.
            read_motion(motion)?;
            let sentence = format!("{}: a motion needs a character to move: give one too", shown(motion));
            return Err(IoError::Combination(Problem::new(sentence)));
        }
        return Err(IoError::Combination(Problem::new("a mesh is needed: give a .glb, .gltf, .vrm, .obj or .off file")));
    };
    let mut character = read_mesh(mesh, *kind, progress)?;
    progress.check()?;
    for note in &roles.missing {
        character.note(Severity::Info, 1, note.clone());
    }
    let mut joint_of_line: Vec<usize> = (0..character.skeleton.len()).collect();
    if let Some((rig, kind)) = &roles.rig {
        joint_of_line = add_rig(&mut character, rig, *kind, mapping, progress)?;
    }
    for (motion, kind) in &roles.motions {
        if *kind == Kind::Bvh {
            add_motion(&mut character, motion, mapping, progress)?;
            continue;
        }
        let name = shown(motion);
        if character.skeleton.is_empty() {
            return Err(Problem::new("a motion needs a skeleton: give a .skel or a rigged .glb too").in_file(&name));
        }
        let clip = fps::read_anim(&bytes_of(motion)?, &stem(motion), &character.skeleton, &joint_of_line);
        character.clips.push(clip.map_err(|problem| problem.in_file(&name))?);
    }
    progress.check()?;
    character.name = roles.title.clone().unwrap_or_else(|| title_of(mesh, *kind));
    let unit = if matches!(kind, Kind::Gltf | Kind::Builtin) { Unit::Metres } else { Unit::Unknown };
    check_whole(&mut character, unit).map_err(|problem| problem.in_file(&shown(mesh)))?;
    progress.check()?;
    progress.set_fraction(1.0);
    Ok(character)
}

/// Sorts the paths by role.
fn assign(paths: &[PathBuf]) -> Result<Roles, IoError> {
    let mut roles = Roles::default();
    for path in paths {
        let kind = kind_of(path)?;
        match kind {
            Kind::Ini => {
                let folder = path.parent().unwrap_or(Path::new(""));
                let ini = fps::read_ini(&bytes_of(path)?, folder).map_err(|problem| problem.in_file(&shown(path)))?;
                roles.title = Some(stem(path));
                roles.take_ini(ini)?;
            }
            Kind::Anim | Kind::Bvh => roles.motions.push((path.clone(), kind)),
            Kind::Skel => roles.take_rig(path, kind)?,
            Kind::Gltf if roles.mesh.is_some() => roles.take_rig(path, kind)?,
            Kind::Gltf | Kind::Obj | Kind::Off | Kind::Builtin => roles.take_mesh(path, kind)?,
        }
    }
    Ok(roles)
}

impl Roles {
    fn take_mesh(&mut self, path: &Path, kind: Kind) -> Result<(), IoError> {
        match &self.mesh {
            // A rigged glTF given before the bare mesh is its skeleton.
            Some((first, Kind::Gltf)) if matches!(kind, Kind::Obj | Kind::Off) && self.rig.is_none() => {
                self.rig = Some((first.clone(), Kind::Gltf));
            }
            Some((first, _)) => return Err(twice("meshes", first, path)),
            None => {}
        }
        self.mesh = Some((path.to_owned(), kind));
        Ok(())
    }

    fn take_rig(&mut self, path: &Path, kind: Kind) -> Result<(), IoError> {
        if let Some((first, _)) = &self.rig {
            return Err(twice("skeletons", first, path));
        }
        self.rig = Some((path.to_owned(), kind));
        Ok(())
    }

    /// The mesh to look at if it is there, else the one to simulate: Sinew makes its own simulation mesh.
    fn take_ini(&mut self, ini: fps::Ini) -> Result<(), IoError> {
        let present = ini.vis_mesh.iter().find(|path| path.is_file());
        if let (Some(missing), None) = (&ini.vis_mesh, present) {
            self.missing.push(format!("the mesh to look at, {}, is not there; the mesh to simulate is shown", shown(missing)));
        }
        if let Some(mesh) = present.or(ini.sim_mesh.as_ref()).or(ini.vis_mesh.as_ref()) {
            let kind = kind_of(mesh)?;
            self.take_mesh(mesh, kind)?;
        }
        if let Some(skeleton) = &ini.skeleton {
            let kind = kind_of(skeleton)?;
            self.take_rig(skeleton, kind)?;
        }
        self.motions.extend(ini.animations.into_iter().map(|path| (path, Kind::Anim)));
        Ok(())
    }
}

fn twice(what: &str, first: &Path, second: &Path) -> IoError {
    IoError::Combination(Problem::new(format!("two {what} are given, {} and {}: one character has one", shown(first), shown(second))))
}

/// What a path is, or why it can't be read.
fn kind_of(path: &Path) -> Result<Kind, IoError> {
    if builtin_name(path).is_some() {
        return Ok(Kind::Builtin);
    }
    let extension = path.extension().map(|e| e.to_string_lossy().to_ascii_lowercase()).unwrap_or_default();
    let convert = "convert it to .glb or .obj";
    let (format, instead) = match extension.as_str() {
        "glb" | "gltf" | "vrm" => return Ok(Kind::Gltf),
        "obj" => return Ok(Kind::Obj),
        "off" => return Ok(Kind::Off),
        "skel" => return Ok(Kind::Skel),
        "anim" => return Ok(Kind::Anim),
        "bvh" => return Ok(Kind::Bvh),
        "ini" => return Ok(Kind::Ini),
        "ply" => ("Stanford PLY", convert),
        "stl" => ("STL", convert),
        "tgf" => ("TGF skeleton", "give the skeleton as .skel or as a rigged .glb"),
        "fbx" => ("FBX", "convert it to .glb, for instance with Blender"),
        "dae" => ("COLLADA", "convert it to .glb, for instance with Blender"),
        "blend" => ("Blender", "export it as .glb"),
        "usd" | "usda" | "usdc" | "usdz" => ("USD", convert),
        "mesh" | "msh" => ("tetrahedral mesh", "give the surface as .obj or .off"),
        "sinew" => ("Sinew project", "give the character's own files"),
        "" => ("such", "a name that ends in .glb, .gltf, .vrm, .obj, .off, .skel, .bvh, .anim or .ini is expected"),
        other => (other, "known are .glb, .gltf, .vrm, .obj, .off, .skel, .bvh, .anim and .ini"),
    };
    // A mistyped name is told as such, whatever it would be a name of.
    std::fs::metadata(path).map_err(|source| IoError::Read { file: shown(path), source })?;
    Err(IoError::Unsupported { file: shown(path), format: format.to_owned(), instead })
}

fn builtin_name(path: &Path) -> Option<&str> {
    path.to_str()?.strip_prefix("builtin:")
}

fn bytes_of(path: &Path) -> Result<Vec<u8>, IoError> {
    read_file(path).map_err(|source| IoError::Read { file: shown(path), source })
}

fn stem(path: &Path) -> String {
    path.file_stem().map(|s| s.to_string_lossy().into_owned()).unwrap_or_default()
}

fn title_of(path: &Path, kind: Kind) -> String {
    match builtin_name(path) {
        Some(name) if kind == Kind::Builtin => name.to_owned(),
        _ => stem(path),
    }
}

fn read_mesh(path: &Path, kind: Kind, progress: &Progress) -> Result<Character, IoError> {
    if let Some(name) = builtin_name(path) {
        return builtin::load_builtin(name);
    }
    let bytes = bytes_of(path)?;
    progress.set_fraction(0.1);
    let read: Parsed<Character> = match kind {
        Kind::Gltf => gltf::read_document(path, &bytes, progress),
        Kind::Obj => obj::read(&bytes, path.parent()),
        _ => off::read(&bytes),
    };
    let character = read.map_err(|problem| problem.in_file(&shown(path)))?;
    if character.source_triangles() == 0 {
        return Err(Problem::new("there is no surface in it: not a single triangle").in_file(&shown(path)));
    }
    Ok(character)
}

/// Takes the skeleton (and clips) of another file; returns the joint of every line of a motion for it.
fn add_rig(
    character: &mut Character,
    path: &Path,
    kind: Kind,
    mapping: Option<&Mapping>,
    progress: &Progress,
) -> Result<Vec<usize>, IoError> {
    let file = shown(path);
    let bytes = bytes_of(path)?;
    let (mut rig, joint_of_line) = if kind == Kind::Skel {
        let read = fps::read_skel(&bytes).map_err(|problem| problem.in_file(&file))?;
        (Character { skeleton: read.skeleton, ..Character::default() }, read.joint_of_line)
    } else {
        let rig = gltf::read_document(path, &bytes, progress).map_err(|problem| problem.in_file(&file))?;
        let lines = (0..rig.skeleton.len()).collect();
        (rig, lines)
    };
    if rig.skeleton.is_empty() {
        return Err(Problem::new("there are no joints in it").in_file(&file));
    }
    let skinned = character.meshes.iter().any(|m| matches!(m.attachment, Attachment::Skinned { .. } | Attachment::Rigid { .. }));
    if skinned || !character.skeleton.is_empty() {
        if kind == Kind::Skel {
            return Err(Problem::new("the mesh has a skeleton already").in_file(&file));
        }
        let known = rig.skeleton.joints().iter().any(|joint| character.skeleton.find(&joint.name).is_some());
        if known {
            take_clips(character, rig).map_err(|problem| problem.in_file(&file))?;
        } else {
            add_clips(character, &rig, path, mapping, progress)?;
        }
        return Ok((0..character.skeleton.len()).collect());
    }
    static_to_unweighted(character);
    character.clips = std::mem::take(&mut rig.clips);
    character.skeleton = rig.skeleton;
    check_inside(character).map_err(|problem| problem.in_file(&file))?;
    Ok(joint_of_line)
}

/// Adds the clips of a file with the same joints, matched by name.
fn take_clips(character: &mut Character, other: Character) -> Parsed<()> {
    let joint_of: Vec<Option<usize>> = other.skeleton.joints().iter().map(|joint| character.skeleton.find(&joint.name)).collect();
    if joint_of.iter().all(Option::is_none) {
        return bad("none of its joints is one of the mesh's own skeleton");
    }
    let mut unknown = 0;
    for mut clip in other.clips {
        let known = |track: &Track| joint_of.get(track.joint).copied().flatten();
        let before = clip.tracks.len();
        clip.tracks = clip.tracks.into_iter().filter_map(|track| known(&track).map(|joint| Track { joint, ..track })).collect();
        unknown += before - clip.tracks.len();
        character.clips.push(clip);
    }
    if unknown > 0 {
        character.note(Severity::Warning, unknown, format!("tracks of the second file on joints that the mesh doesn't have: {unknown}"));
    }
    Ok(())
}

/// A skeleton from another file must be somewhere in the mesh.
pub(super) fn check_inside(character: &Character) -> Parsed<()> {
    let mesh = Bounds::of(&character.bind_positions());
    let joints: Vec<Point> = (0..character.skeleton.len()).map(|j| character.skeleton.bind_position(j).cast()).collect();
    let inside = |p: &&Point| (0..3).all(|c| (mesh.min[c]..=mesh.max[c]).contains(&p[c]));
    // A mesh without finite coordinates is refused as such, later.
    if mesh.is_empty() || joints.iter().any(|p| inside(&p)) {
        return Ok(());
    }
    let (m, s) = (mesh.center(), Bounds::of(&joints).center());
    bad(format!(
        "the skeleton lies wholly outside the mesh (the skeleton is {:.3} large around {:.3} {:.3} {:.3}, the mesh {:.3} around {:.3} {:.3} {:.3}); both must be in the same place and unit",
        Bounds::of(&joints).size(),
        s.x,
        s.y,
        s.z,
        mesh.size(),
        m.x,
        m.y,
        m.z
    ))
}

/// The last checks, over all files together.
fn check_whole(character: &mut Character, unit: Unit) -> Parsed<()> {
    finish(character, unit)?;
    if Bounds::of(&character.bind_positions()).size() <= 0.0 {
        return bad("all vertices lie in one place");
    }
    if character.skeleton.is_empty() {
        character.note(Severity::Warning, 0, "there is no skeleton; give one as .skel, .bvh or as a rigged .glb to pose it");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refusal(paths: &[&str]) -> String {
        let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
        load(&paths, &Progress::new()).unwrap_err().to_string()
    }

    #[test]
    fn what_can_not_be_read_is_said_in_one_sentence() {
        assert!(refusal(&[]).contains("a mesh is needed"));
        assert!(refusal(&["mistyped"]).contains("mistyped can't be read: "));
        let folder = std::env::temp_dir().join(format!("sinew-kinds-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        for (name, sentence) in [("x.fbx", "x.fbx: FBX files can't be read yet"), ("x", "is expected")] {
            std::fs::write(folder.join(name), "").unwrap();
            let path = folder.join(name);
            assert!(refusal(&[path.to_str().unwrap()]).contains(sentence), "{name}");
        }
        std::fs::remove_dir_all(folder).unwrap();
        assert!(refusal(&["missing.obj"]).contains("missing.obj can't be read"));
        assert!(refusal(&["a.obj", "b.obj"]).contains("two meshes"));
        assert!(refusal(&["a.obj", "a.skel", "b.skel"]).contains("two skeletons"));
        assert!(refusal(&["builtin:nobody"]).contains("mannequin"));
    }

    #[test]
    fn cancelled_is_cancelled() {
        let progress = Progress::new();
        progress.cancel();
        let folder = std::env::temp_dir().join(format!("sinew-load-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("a.obj");
        std::fs::write(&path, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
        assert!(matches!(load(std::slice::from_ref(&path), &progress), Err(IoError::Cancelled(_))));
        assert!(load(&[path], &Progress::new()).is_ok());
        std::fs::remove_dir_all(folder).unwrap();
    }
}
