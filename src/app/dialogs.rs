//! The system's file dialogs, on a separate thread.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use egui::Context;

use crate::session::{Answer, Command, Export, KeysCommand, ProjectCommand, RigCommand, Source};

/// Purpose of a dialog.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// Open a character.
    Open,
    /// Open a pose.
    LoadPose,
    /// Save the pose.
    SavePose,
    /// Save the skeleton.
    SaveRig,
    /// Open poses for the library.
    LoadPoses,
    /// Choose a folder for the library.
    SavePoses,
    /// Save the project.
    SaveProject,
    /// Save a project with all of its files.
    SavePacked,
    /// Locate a missing source of the project, by [`crate::session::MissingSource::index`].
    LocateSource(usize),
    /// Export; with the file extension.
    Export(&'static str),
}

/// Dialogs in progress; at most one is open.
#[derive(Debug)]
pub struct Dialogs {
    sender: Sender<Answered>,
    receiver: Receiver<Answered>,
    open: bool,
    failed: bool,
}

/// The chosen paths, and the elapsed time.
type Answered = (Option<Command>, Duration);

/// Message if the system shows no dialog.
pub const NO_DIALOG: &str = "The system showed no file dialog: on Linux install xdg-desktop-portal or zenity. \
     Files to open can also be dropped onto the window.";
/// A dialog that returns sooner was never shown.
const TOO_QUICK: Duration = Duration::from_millis(150);

impl Default for Dialogs {
    fn default() -> Self {
        let (sender, receiver) = channel();
        Self {
            sender,
            receiver,
            open: false,
            failed: false,
        }
    }
}

impl Dialogs {
    /// Opens a dialog, unless one is already open.
    ///
    /// # Errors
    /// If the system cannot create a thread.
    pub fn ask(&mut self, ctx: &Context, purpose: Purpose, name: &str) -> std::io::Result<()> {
        if self.open {
            return Ok(());
        }
        let answer = futures_of(purpose, name);
        let (sender, ctx, asked) = (self.sender.clone(), ctx.clone(), Instant::now());
        std::thread::Builder::new()
            .name("file dialog".into())
            .spawn(move || {
                // Sending fails if the window is closed.
                let answer = pollster::block_on(answer);
                drop(sender.send((answer, asked.elapsed())));
                ctx.request_repaint();
            })?;
        self.open = true;
        Ok(())
    }

    /// Whether a dialog is open.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// The user's choice, unless cancelled.
    pub fn poll(&mut self) -> Option<Command> {
        let (answer, took) = self.receiver.try_recv().ok()?;
        self.open = false;
        self.failed = answer.is_none() && took < TOO_QUICK;
        answer
    }

    /// Whether the system failed to show the last dialog; reported once.
    pub fn take_failure(&mut self) -> bool {
        std::mem::take(&mut self.failed)
    }
}

/// The dialog must be created on the window's thread, but may be awaited elsewhere.
#[expect(clippy::too_many_lines, reason = "one arm for each dialog")]
fn futures_of(
    purpose: Purpose,
    name: &str,
) -> std::pin::Pin<Box<dyn Future<Output = Option<Command>> + Send>> {
    let dialog = rfd::AsyncFileDialog::new();
    match purpose {
        Purpose::Open => {
            let answer = dialog
                .set_title("Open a character")
                .add_filter(
                    "Characters and projects",
                    &[&crate::io::extensions()[..], &["sinew"]].concat(),
                )
                .add_filter("All files", &["*"])
                .pick_files();
            Box::pin(async move {
                let files: Vec<PathBuf> = answer
                    .await?
                    .iter()
                    .map(|file| file.path().to_path_buf())
                    .collect();
                (!files.is_empty()).then(|| Command::Open(Source::of_files(files)))
            })
        }
        Purpose::LoadPose => {
            let answer = dialog
                .set_title("Load a pose")
                .add_filter("Poses", &["json"])
                .pick_file();
            Box::pin(async move { Some(Command::LoadPose(answer.await?.path().to_path_buf())) })
        }
        Purpose::SaveRig => {
            let answer = dialog
                .set_title("Save the skeleton")
                .add_filter("Joints alone", &["skel"])
                .add_filter("Mesh, joints and weights", &["glb"])
                .set_file_name(format!("{name}.skel"))
                .save_file();
            Box::pin(async move {
                Some(Command::Rig(RigCommand::Save(
                    answer.await?.path().to_path_buf(),
                )))
            })
        }
        Purpose::LoadPoses => {
            let answer = dialog
                .set_title("Load poses into the library")
                .add_filter("Poses", &["json"])
                .pick_files();
            Box::pin(async move {
                let files = answer
                    .await?
                    .iter()
                    .map(|file| file.path().to_path_buf())
                    .collect();
                Some(Command::Keys(KeysCommand::LoadPoses(files)))
            })
        }
        Purpose::SavePoses => {
            let answer = dialog
                .set_title("Save the poses into a folder")
                .pick_folder();
            Box::pin(async move {
                Some(Command::Keys(KeysCommand::SavePoses(
                    answer.await?.path().to_path_buf(),
                )))
            })
        }
        Purpose::SavePose => {
            let answer = dialog
                .set_title("Save the pose")
                .add_filter("Poses", &["json"])
                .set_file_name(format!("{name} pose.json"))
                .save_file();
            Box::pin(async move { Some(Command::SavePose(answer.await?.path().to_path_buf())) })
        }
        Purpose::SaveProject | Purpose::SavePacked => {
            let packed = purpose == Purpose::SavePacked;
            let (title, suffix) = if packed {
                ("Save a packed copy", " packed")
            } else {
                ("Save the project", "")
            };
            let answer = dialog
                .set_title(title)
                .add_filter("Projects", &["sinew"])
                .set_file_name(format!("{name}{suffix}.sinew"))
                .save_file();
            Box::pin(async move {
                Some(
                    ProjectCommand::SaveAs {
                        path: answer.await?.path().to_path_buf(),
                        packed,
                    }
                    .into(),
                )
            })
        }
        Purpose::Export(ending) => {
            let dialog = dialog
                .set_title("Export")
                .add_filter(ending, &[ending])
                .set_file_name(format!("{name}.{ending}"));
            let answer = dialog.save_file();
            Box::pin(async move {
                let path = answer.await?.path().to_path_buf();
                Some(
                    ProjectCommand::Export {
                        export: Export::default(),
                        path,
                    }
                    .into(),
                )
            })
        }
        Purpose::LocateSource(index) => {
            let answer = dialog.set_title("Locate the file").pick_file();
            Box::pin(async move {
                let answer = Answer::Located(answer.await?.path().to_path_buf());
                Some(ProjectCommand::Answer { index, answer }.into())
            })
        }
    }
}
