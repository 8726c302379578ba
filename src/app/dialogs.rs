//! The system's file dialogs, on a separate thread.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use egui::Context;
use rfd::{AsyncFileDialog, FileHandle};

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
        let answer = dialog_of(purpose, name);
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

/// A command, once the user has chosen.
type FutureCommand = std::pin::Pin<Box<dyn Future<Output = Option<Command>> + Send>>;

/// A command from the chosen path.
fn with_path(
    answer: impl Future<Output = Option<FileHandle>> + Send + 'static,
    command: impl FnOnce(PathBuf) -> Command + Send + 'static,
) -> FutureCommand {
    Box::pin(async move { Some(command(answer.await?.path().to_path_buf())) })
}

/// A command from the chosen files.
fn with_files(
    answer: impl Future<Output = Option<Vec<FileHandle>>> + Send + 'static,
    command: impl FnOnce(Vec<PathBuf>) -> Command + Send + 'static,
) -> FutureCommand {
    Box::pin(async move {
        let files = answer.await?;
        let files: Vec<PathBuf> = files.iter().map(|file| file.path().to_path_buf()).collect();
        (!files.is_empty()).then(|| command(files))
    })
}

/// The dialog must be created on the window's thread, but may be awaited elsewhere.
fn dialog_of(purpose: Purpose, name: &str) -> FutureCommand {
    let dialog = AsyncFileDialog::new();
    match purpose {
        Purpose::Open => {
            let kinds = [&crate::io::extensions()[..], &["sinew"]].concat();
            let dialog = dialog
                .set_title("Open a character")
                .add_filter("Characters and projects", &kinds)
                .add_filter("All files", &["*"]);
            with_files(dialog.pick_files(), |files| {
                Command::Open(Source::of_files(files))
            })
        }
        Purpose::LoadPose => {
            let dialog = dialog
                .set_title("Load a pose")
                .add_filter("Poses", &["json"]);
            with_path(dialog.pick_file(), Command::LoadPose)
        }
        Purpose::SaveRig => {
            let dialog = dialog
                .set_title("Save the skeleton")
                .add_filter("Joints alone", &["skel"])
                .add_filter("Mesh, joints and weights", &["glb"])
                .set_file_name(format!("{name}.skel"));
            with_path(dialog.save_file(), |path| {
                Command::Rig(RigCommand::Save(path))
            })
        }
        Purpose::LoadPoses => {
            let dialog = dialog
                .set_title("Load poses into the library")
                .add_filter("Poses", &["json"]);
            with_files(dialog.pick_files(), |files| {
                Command::Keys(KeysCommand::LoadPoses(files))
            })
        }
        Purpose::SavePoses => {
            let dialog = dialog.set_title("Save the poses into a folder");
            with_path(dialog.pick_folder(), |folder| {
                Command::Keys(KeysCommand::SavePoses(folder))
            })
        }
        Purpose::SavePose => {
            let dialog = dialog
                .set_title("Save the pose")
                .add_filter("Poses", &["json"])
                .set_file_name(format!("{name} pose.json"));
            with_path(dialog.save_file(), Command::SavePose)
        }
        Purpose::SaveProject | Purpose::SavePacked => {
            let packed = purpose == Purpose::SavePacked;
            let (title, suffix) = if packed {
                ("Save a packed copy", " packed")
            } else {
                ("Save the project", "")
            };
            let dialog = dialog
                .set_title(title)
                .add_filter("Projects", &["sinew"])
                .set_file_name(format!("{name}{suffix}.sinew"));
            with_path(dialog.save_file(), move |path| {
                ProjectCommand::SaveAs { path, packed }.into()
            })
        }
        Purpose::Export(ending) => {
            let dialog = dialog
                .set_title("Export")
                .add_filter(ending, &[ending])
                .set_file_name(format!("{name}.{ending}"));
            with_path(dialog.save_file(), |path| {
                let export = Export::default();
                ProjectCommand::Export { export, path }.into()
            })
        }
        Purpose::LocateSource(index) => {
            let dialog = dialog.set_title("Locate the file");
            with_path(dialog.pick_file(), move |path| {
                let answer = Answer::Located(path);
                ProjectCommand::Answer { index, answer }.into()
            })
        }
    }
}
