//! File dialogs: the system's, on a separate thread, or the program's own where the system shows none.
//!
//! ```text
//! Purpose ─request→ Request ─system→ thread: portal or zenity ─┐
//!                           └own→ a window of this program  ───┴→ paths ─chosen→ Chosen
//! ```

mod listing;
mod own;
mod places;
mod request;
mod system;

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::{Duration, Instant};

use egui::Context;

use self::own::OwnDialog;
use self::request::{Request, chosen};
use super::actions::Actions;
use super::settings::Settings;
use crate::session::Command;

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
    /// Save the distilled rig.
    SaveDistilled,
    /// The file of a picture or film; with the file extension.
    Picture(&'static str),
}

/// The user's choice.
#[derive(Debug, Clone, PartialEq)]
pub enum Chosen {
    /// What is to be done with the files.
    Command(Box<Command>),
    /// The file that the picture dialog writes.
    Picture(PathBuf),
}

/// Dialogs in progress; at most one is open.
#[derive(Debug)]
pub struct Dialogs {
    sender: Sender<Answered>,
    receiver: Receiver<Answered>,
    /// What the system's dialog was asked for.
    asked: Option<Request>,
    own: Option<OwnDialog>,
    /// Whether the system has shown no dialog, so that it is not asked again.
    system_fails: bool,
    /// Whether the user is to be told so.
    tells: bool,
}

/// The chosen paths, and the elapsed time.
type Answered = (Option<Vec<PathBuf>>, Duration);

/// Message if the system shows no dialog.
pub const NO_DIALOG: &str = "The system showed no file dialog, so this is Sinew's own; on Linux xdg-desktop-portal or zenity \
     provides the system's.";
/// A dialog that returns sooner was never shown.
const TOO_QUICK: Duration = Duration::from_millis(150);

impl Default for Dialogs {
    fn default() -> Self {
        let (sender, receiver) = channel();
        Self {
            sender,
            receiver,
            asked: None,
            own: None,
            system_fails: false,
            tells: false,
        }
    }
}

impl Dialogs {
    /// Opens a dialog, unless one is already open. `name` is that of the character, project or picture, `folder` where the dialog
    /// starts.
    ///
    /// # Errors
    /// If the system cannot create a thread.
    pub fn ask(
        &mut self,
        ctx: &Context,
        purpose: Purpose,
        name: &str,
        folder: Option<PathBuf>,
        settings: &Settings,
    ) -> std::io::Result<()> {
        if self.is_open() {
            return Ok(());
        }
        let request = Request::of(purpose, name, folder);
        if self.system_fails || !settings.system_dialogs {
            self.own = Some(OwnDialog::new(ctx, request, settings));
            return Ok(());
        }
        let answer = system::dialog_of(&request);
        let (sender, ctx, asked) = (self.sender.clone(), ctx.clone(), Instant::now());
        std::thread::Builder::new()
            .name("file dialog".into())
            .spawn(move || {
                // Sending fails if the window is closed.
                let answer = pollster::block_on(answer);
                drop(sender.send((answer, asked.elapsed())));
                ctx.request_repaint();
            })?;
        self.asked = Some(request);
        Ok(())
    }

    /// Whether a dialog is open.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.asked.is_some() || self.own.is_some()
    }

    /// Whether the program's own dialog is open, which takes the keyboard.
    #[must_use]
    pub fn is_own_open(&self) -> bool {
        self.own.is_some()
    }

    /// The choice in the system's dialog, unless cancelled. If the system showed none, the program's own opens.
    pub fn poll(&mut self, ctx: &Context, settings: &Settings) -> Option<Chosen> {
        let (answer, took) = self.receiver.try_recv().ok()?;
        let request = self.asked.take()?;
        if answer.is_none() && took < TOO_QUICK {
            (self.system_fails, self.tells) = (true, true);
            self.own = Some(OwnDialog::new(ctx, request, settings));
            return None;
        }
        chosen(request.purpose, answer?)
    }

    /// Draws the program's own dialog, if it is open. Returns the user's choice.
    pub fn ui(
        &mut self,
        ctx: &Context,
        settings: &Settings,
        actions: &mut Actions,
    ) -> Option<Chosen> {
        let own = self.own.as_mut()?;
        let purpose = own.purpose();
        let files = own.ui(ctx, settings, actions)?;
        self.own = None;
        chosen(purpose, files)
    }

    /// Whether the system failed to show the last dialog; reported once.
    pub fn take_failure(&mut self) -> bool {
        std::mem::take(&mut self.tells)
    }
}
