//! What is asked of a file dialog, and what its answer means.

use std::path::PathBuf;

use super::{Chosen, Purpose};
use crate::session::{Answer, Command, Export, KeysCommand, ProjectCommand, RigCommand, Source};

/// What can be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Choice {
    /// One file that exists.
    File,
    /// Files that exist, of one folder.
    Files,
    /// A folder that exists.
    Folder,
    /// A file to write.
    Save,
}

/// Kinds of files by their extensions; `*` stands for all.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Filter {
    pub(super) name: String,
    pub(super) extensions: Vec<String>,
}

impl Filter {
    fn new(name: &str, extensions: &[&str]) -> Self {
        Self {
            name: name.to_owned(),
            extensions: extensions.iter().map(|&it| it.to_owned()).collect(),
        }
    }

    /// Whether a file of this name is of these kinds.
    pub(super) fn fits(&self, name: &str) -> bool {
        self.extensions.iter().any(|extension| {
            extension == "*"
                || name
                    .rsplit_once('.')
                    .is_some_and(|(_, own)| own.eq_ignore_ascii_case(extension))
        })
    }
}

/// What a dialog shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) purpose: Purpose,
    pub(super) title: &'static str,
    pub(super) choice: Choice,
    /// The first one is preset; empty for all files.
    pub(super) filters: Vec<Filter>,
    /// Proposed name of a file to write.
    pub(super) file_name: String,
    /// Where it starts; `None`: the system's choice.
    pub(super) folder: Option<PathBuf>,
}

impl Request {
    /// The dialog for a purpose; `name` is that of the character or project.
    pub(super) fn of(purpose: Purpose, name: &str, folder: Option<PathBuf>) -> Self {
        let all = || Filter::new("All files", &["*"]);
        let poses = || vec![Filter::new("Poses", &["json"])];
        let (title, choice, filters, file_name) = match purpose {
            Purpose::Open => {
                let kinds = [&crate::io::extensions()[..], &["sinew"]].concat();
                let filters = vec![Filter::new("Characters and projects", &kinds), all()];
                ("Open a character", Choice::Files, filters, String::new())
            }
            Purpose::LoadPose => ("Load a pose", Choice::File, poses(), String::new()),
            Purpose::SaveRig => {
                let filters = vec![
                    Filter::new("Joints alone", &["skel"]),
                    Filter::new("Mesh, joints and weights", &["glb"]),
                ];
                (
                    "Save the skeleton",
                    Choice::Save,
                    filters,
                    format!("{name}.skel"),
                )
            }
            Purpose::LoadPoses => {
                let title = "Load poses into the library";
                (title, Choice::Files, poses(), String::new())
            }
            Purpose::SavePoses => {
                let title = "Save the poses into a folder";
                (title, Choice::Folder, Vec::new(), String::new())
            }
            Purpose::SavePose => {
                let file = format!("{name} pose.json");
                ("Save the pose", Choice::Save, poses(), file)
            }
            Purpose::SaveProject | Purpose::SavePacked => {
                let (title, suffix) = if purpose == Purpose::SavePacked {
                    ("Save a packed copy", " packed")
                } else {
                    ("Save the project", "")
                };
                let filters = vec![Filter::new("Projects", &["sinew"])];
                (
                    title,
                    Choice::Save,
                    filters,
                    format!("{name}{suffix}.sinew"),
                )
            }
            Purpose::Export(ending) => {
                let filters = vec![Filter::new(ending, &[ending])];
                ("Export", Choice::Save, filters, format!("{name}.{ending}"))
            }
            Purpose::SaveDistilled => {
                let filters = vec![Filter::new("Rigs, glTF", &["glb"])];
                let file = format!("{name} rig.glb");
                ("Save the distilled rig", Choice::Save, filters, file)
            }
            Purpose::Picture(ending) => {
                let filters = vec![Filter::new("Pictures", &[ending])];
                let file = format!("{name}.{ending}");
                ("Export picture", Choice::Save, filters, file)
            }
            Purpose::LocateSource(_) => {
                ("Locate the file", Choice::File, Vec::new(), String::new())
            }
        };
        Self {
            purpose,
            title,
            choice,
            filters,
            file_name,
            folder,
        }
    }
}

/// What the chosen files mean; `None` if there is none.
pub(super) fn chosen(purpose: Purpose, files: Vec<PathBuf>) -> Option<Chosen> {
    let first = files.first()?.clone();
    let command: Command = match purpose {
        Purpose::Open => Command::Open(Source::of_files(files)),
        Purpose::LoadPose => Command::LoadPose(first),
        Purpose::SaveRig => Command::Rig(RigCommand::Save(first)),
        Purpose::LoadPoses => Command::Keys(KeysCommand::LoadPoses(files)),
        Purpose::SavePoses => Command::Keys(KeysCommand::SavePoses(first)),
        Purpose::SavePose => Command::SavePose(first),
        Purpose::SaveProject | Purpose::SavePacked => ProjectCommand::SaveAs {
            path: first,
            packed: purpose == Purpose::SavePacked,
        }
        .into(),
        Purpose::Export(_) => ProjectCommand::Export {
            export: Export::default(),
            path: first,
        }
        .into(),
        Purpose::SaveDistilled => ProjectCommand::SaveDistilled(first).into(),
        Purpose::LocateSource(index) => ProjectCommand::Answer {
            index,
            answer: Answer::Located(first),
        }
        .into(),
        Purpose::Picture(_) => return Some(Chosen::Picture(first)),
    };
    Some(Chosen::Command(Box::new(command)))
}
