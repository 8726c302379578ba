//! Interprets files that are given together: which belong to one character, and whether they belong to the open one.

use std::path::{Path, PathBuf};

use super::{Command, Session, Source, is_project};

/// Role of a file, judged by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Use {
    Project,
    /// A mesh only; a character has one.
    Mesh,
    /// A mesh, joints, motions, or all of them.
    Scene,
    /// Lists the files that belong together.
    List,
    /// Joints or weights for a mesh that has none.
    Rig,
    Motion,
    Pose,
    Unknown,
}

fn use_of(path: &Path) -> Use {
    if is_project(path) {
        return Use::Project;
    }
    if path
        .to_str()
        .is_some_and(|path| path.starts_with("builtin:"))
    {
        return Use::Mesh;
    }
    match path
        .extension()
        .map(|ending| ending.to_string_lossy().to_ascii_lowercase())
        .as_deref()
    {
        Some("obj" | "off" | "ply" | "stl" | "mesh") => Use::Mesh,
        Some("glb" | "gltf" | "vrm" | "fbx") => Use::Scene,
        Some("ini") => Use::List,
        Some("skel" | "tgf" | "dmat") => Use::Rig,
        Some("bvh" | "anim") => Use::Motion,
        Some("json") => Use::Pose,
        _ => Use::Unknown,
    }
}

/// Whether a file goes with a character instead of being one, judged by its name: joints, weights, or a motion.
#[must_use]
pub fn is_companion(path: &Path) -> bool {
    matches!(use_of(path), Use::Rig | Use::Motion)
}

/// How to handle files that were given together.
#[derive(Debug, Clone, PartialEq)]
pub struct Interpreted {
    /// The command to send; `None` if there is nothing to do.
    pub command: Option<Command>,
    /// A message for the user if some files are not used.
    pub remark: Option<String>,
}

impl Session {
    /// Interprets files that were dropped or chosen together: as a project; as one character made of all of them; or as motions, joints and
    /// weights for the open character. Of two characters the first is used.
    #[must_use]
    pub fn interpret_files(&self, files: Vec<PathBuf>) -> Interpreted {
        let count = |wanted: &[Use]| {
            files
                .iter()
                .filter(|path| wanted.contains(&use_of(path)))
                .count()
        };
        let (projects, meshes) = (count(&[Use::Project]), count(&[Use::Mesh]));
        if files.is_empty() {
            return Interpreted {
                command: None,
                remark: None,
            };
        }
        if projects > 0 {
            return project_with(files);
        }
        if meshes > 1 {
            return first_of(
                files,
                Use::Mesh,
                &[Use::Rig, Use::Motion, Use::List, Use::Scene],
                |files| Command::Open(Source::of_files(files)),
            );
        }
        let belongs = count(&[Use::Rig, Use::Motion]) == files.len();
        let command = match self.subject() {
            Some(_) if belongs => Command::AddMotions(files),
            Some(_) if files.len() == 1 && use_of(&files[0]) == Use::Pose => {
                Command::LoadPose(files[0].clone())
            }
            _ => Command::Open(Source::of_files(files)),
        };
        Interpreted {
            command: Some(command),
            remark: None,
        }
    }
}

/// A project, with the motions that were given beside it.
fn project_with(files: Vec<PathBuf>) -> Interpreted {
    first_of(files, Use::Project, &[Use::Motion], |files| {
        Command::Open(Source {
            files,
            ..Source::default()
        })
    })
}

/// The first file of a kind and all files of other kinds; the rest is reported.
fn first_of(
    files: Vec<PathBuf>,
    kind: Use,
    with: &[Use],
    command: impl FnOnce(Vec<PathBuf>) -> Command,
) -> Interpreted {
    let first = files.iter().position(|path| use_of(path) == kind);
    let (mut taken, mut left) = (Vec::new(), Vec::new());
    for (index, path) in files.into_iter().enumerate() {
        let wanted = Some(index) == first || with.contains(&use_of(&path));
        if wanted {
            taken.push(path);
        } else {
            left.push(path);
        }
    }
    let name = |path: &PathBuf| {
        path.file_name()
            .unwrap_or(path.as_os_str())
            .to_string_lossy()
            .into_owned()
    };
    let opened = taken
        .iter()
        .find(|path| use_of(path) == kind)
        .map(name)
        .unwrap_or_default();
    let remark = (!left.is_empty()).then(|| {
        let names: Vec<String> = left.iter().map(name).collect();
        let (verb, it) = if left.len() == 1 {
            ("doesn't belong", "it")
        } else {
            ("don't belong", "them")
        };
        format!(
            "{opened} was opened. {} {verb} to it; open {it} afterwards.",
            names.join(", ")
        )
    });
    Interpreted {
        command: Some(command(taken)),
        remark,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn paths(names: &[&str]) -> Vec<PathBuf> {
        names.iter().map(PathBuf::from).collect()
    }

    fn opens(names: &[&str]) -> (Vec<PathBuf>, Option<String>) {
        match Session::new().interpret_files(paths(names)) {
            Interpreted {
                command: Some(Command::Open(source)),
                remark,
            } => (source.files, remark),
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn files_that_belong_together_are_one_character() {
        let all = ["a.OBJ", "a.skel", "walk.bvh", "a.dmat"];
        assert_eq!(opens(&all), (paths(&all), None));
        assert_eq!(
            opens(&["a.glb", "run.fbx"]),
            (paths(&["a.glb", "run.fbx"]), None)
        );
        // The default character plays motions that are given alone.
        assert_eq!(
            opens(&["walk.bvh"]),
            (paths(&["builtin:mannequin", "walk.bvh"]), None)
        );
    }

    #[test]
    fn of_two_characters_the_first_is_opened_with_a_remark() {
        let (files, remark) = opens(&["walk.bvh", "a.obj", "b.ply", "c.stl"]);
        assert_eq!(files, paths(&["walk.bvh", "a.obj"]));
        assert_eq!(
            remark.as_deref(),
            Some("a.obj was opened. b.ply, c.stl don't belong to it; open them afterwards.")
        );
        let (files, remark) = opens(&["fox.glb", "p.sinew", "walk.bvh"]);
        assert_eq!(files, paths(&["p.sinew", "walk.bvh"]));
        assert_eq!(
            remark.as_deref(),
            Some("p.sinew was opened. fox.glb doesn't belong to it; open it afterwards.")
        );
    }

    #[test]
    fn no_files_give_no_command() {
        assert_eq!(
            Session::new().interpret_files(Vec::new()),
            Interpreted {
                command: None,
                remark: None
            }
        );
    }
}
