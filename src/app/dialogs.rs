//! The system's file dialogs, on a thread of their own.

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use egui::Context;

use crate::session::{Answer, Command, Export, KeysCommand, ProjectCommand, RigCommand, Source};

/// What a dialog is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// The files of a character.
    Open,
    /// A pose to read.
    LoadPose,
    /// Where to write a pose.
    SavePose,
    /// Where to write the skeleton.
    SaveRig,
    /// Poses for the library.
    LoadPoses,
    /// A folder to write the library into.
    SavePoses,
    /// Where to write the project.
    SaveProject,
    /// Where to write a project with all of its files in it.
    SavePacked,
    /// What one of a project's files has become, by [`crate::session::MissingSource::index`].
    LocateSource(usize),
    /// Where to export to; the ending of the file.
    Export(&'static str),
}

/// Dialogs under way; at most one is open.
#[derive(Debug)]
pub struct Dialogs {
    sender: Sender<Answered>,
    receiver: Receiver<Answered>,
    open: bool,
    failed: bool,
}

/// What the user chose, and how long that took.
type Answered = (Option<Command>, Duration);

/// What the user is told when no dialog comes.
pub const NO_DIALOG: &str = "The system showed no file dialog: on Linux install xdg-desktop-portal or zenity. \
     Files to open can also be dropped onto the window.";
/// No hand closes a dialog as quickly: it never came.
const TOO_QUICK: Duration = Duration::from_millis(150);

impl Default for Dialogs {
    fn default() -> Self {
        let (sender, receiver) = channel();
        Self { sender, receiver, open: false, failed: false }
    }
}

impl Dialogs {
    /// Asks the user, unless a dialog is open already.
    ///
    /// # Errors
    /// If the system gives no thread to wait on.
    pub fn ask(&mut self, ctx: &Context, purpose: Purpose, name: &str) -> std::io::Result<()> {
        if self.open {
            return Ok(());
        }
        let answer = futures_of(purpose, name);
        let (sender, ctx, asked) = (self.sender.clone(), ctx.clone(), Instant::now());
        std::thread::Builder::new().name("file dialog".into()).spawn(move || {
            // Nobody waits any more if sending fails: the window is closed.
            let answer = pollster::block_on(answer);
            drop(sender.send((answer, asked.elapsed())));
            ctx.request_repaint();
        })?;
        self.open = true;
        Ok(())
    }

    /// Whether the user is being asked.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.open
    }

    /// What the user answered, if that was not to cancel.
    pub fn poll(&mut self) -> Option<Command> {
        let (answer, took) = self.receiver.try_recv().ok()?;
        self.open = false;
        self.failed = answer.is_none() && took < TOO_QUICK;
        answer
    }

    /// Whether the system showed no dialog when it was asked last; says so once.
    pub fn take_failure(&mut self) -> bool {
        std::mem::take(&mut self.failed)
    }
}

/// The dialog must be made on the thread of the window, but may be waited for elsewhere.
fn futures_of(purpose: Purpose, name: &str) -> std::pin::Pin<Box<dyn Future<Output = Option<Command>> + Send>> {
    let dialog = rfd::AsyncFileDialog::new();
    match purpose {
        Purpose::Open => {
            let answer = dialog
                .set_title("Open a character")
                .add_filter("Characters and projects", &[&crate::io::extensions()[..], &["sinew"]].concat())
                .add_filter("All files", &["*"])
                .pick_files();
            Box::pin(async move {
                let files: Vec<PathBuf> = answer.await?.iter().map(|file| file.path().to_path_buf()).collect();
                (!files.is_empty()).then(|| Command::Open(Source::of_files(files)))
            })
        }
        Purpose::LoadPose => {
            let answer = dialog.set_title("Load a pose").add_filter("Poses", &["json"]).pick_file();
            Box::pin(async move { Some(Command::LoadPose(answer.await?.path().to_path_buf())) })
        }
        Purpose::SaveRig => {
            let answer = dialog
                .set_title("Save the skeleton")
                .add_filter("Joints alone", &["skel"])
                .add_filter("Mesh, joints and weights", &["glb"])
                .set_file_name(format!("{name}.skel"))
                .save_file();
            Box::pin(async move { Some(Command::Rig(RigCommand::Save(answer.await?.path().to_path_buf()))) })
        }
        Purpose::LoadPoses => {
            let answer = dialog.set_title("Load poses into the library").add_filter("Poses", &["json"]).pick_files();
            Box::pin(async move {
                let files = answer.await?.iter().map(|file| file.path().to_path_buf()).collect();
                Some(Command::Keys(KeysCommand::LoadPoses(files)))
            })
        }
        Purpose::SavePoses => {
            let answer = dialog.set_title("Save the poses into a folder").pick_folder();
            Box::pin(async move { Some(Command::Keys(KeysCommand::SavePoses(answer.await?.path().to_path_buf()))) })
        }
        Purpose::SavePose => {
            let answer =
                dialog.set_title("Save the pose").add_filter("Poses", &["json"]).set_file_name(format!("{name} pose.json")).save_file();
            Box::pin(async move { Some(Command::SavePose(answer.await?.path().to_path_buf())) })
        }
        Purpose::SaveProject | Purpose::SavePacked => {
            let packed = purpose == Purpose::SavePacked;
            let (title, suffix) = if packed { ("Save a packed copy", " packed") } else { ("Save the project", "") };
            let answer =
                dialog.set_title(title).add_filter("Projects", &["sinew"]).set_file_name(format!("{name}{suffix}.sinew")).save_file();
            Box::pin(async move { Some(ProjectCommand::SaveAs { path: answer.await?.path().to_path_buf(), packed }.into()) })
        }
        Purpose::Export(ending) => {
            let dialog = dialog.set_title("Export").add_filter(ending, &[ending]).set_file_name(format!("{name}.{ending}"));
            let answer = dialog.save_file();
            Box::pin(async move {
                let path = answer.await?.path().to_path_buf();
                Some(ProjectCommand::Export { export: Export::default(), path }.into())
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
