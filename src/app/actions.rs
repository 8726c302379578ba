//! What the user asked for during a frame: commands for the session, and what concerns only this window.
//!
//! Panels and the viewport read borrowed views and push here; [`super::workbench::Workbench`] is the one place that carries it out.

use std::path::PathBuf;

use egui::Response;

use super::capture::CaptureAction;
use super::comfort::ComfortAction;
use super::layout::LayoutAction;
use super::look::Look;
use super::pane::asks::ViewAsk;
use super::project::ProjectAction;
use super::timeline::TimelineAction;
use super::viewport::edit::EditAction;
use super::viewport::posing::keys::PosingAsk;
use super::viewport::views::CameraAction;
use crate::render::NamedView;
use crate::session::{Command, Gesture, Spot, ViewId};

/// One thing the user asked for.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Changes the session.
    Session(Command, Gesture),
    /// Changes how a view is drawn.
    SetLook(ViewId, Look),
    /// Changes where the views are, and what their panes remember.
    Layout(LayoutAction),
    /// Asks something of the active view by its name.
    View(ViewAsk),
    /// Saves, and answers what is asked about projects.
    Project(ProjectAction),
    /// Something in edit mode.
    Edit(EditAction),
    /// Asks for files to open.
    OpenDialog,
    /// Opens files as if they had been dropped.
    OpenFiles(Vec<PathBuf>),
    /// Asks for a pose file to read.
    LoadPoseDialog,
    /// Asks where to write the pose.
    SavePoseDialog,
    /// Brings the selected joint, or the whole character, into view.
    Frame,
    /// Brings what the check-up found into view.
    Show(Spot),
    /// Looks from a side, at the whole character.
    LookFrom(NamedView),
    /// Settings, and windows that help to find things.
    Comfort(ComfortAction),
    /// Keys, takes, the timeline.
    Timeline(TimelineAction),
    /// Leaves what is going on, then deselects.
    Escape,
    /// Shows or hides the bones.
    ToggleBones,
    /// Moves the camera of the active view.
    Camera(CameraAction),
    /// Moves the camera of a view.
    CameraOf(ViewId, CameraAction),
    /// Makes pictures to keep.
    Capture(CaptureAction),
    /// Asks something of the pose tools.
    Posing(PosingAsk),
    /// Simulates on the graphics device again, after it was lost.
    RetryDevice,
    /// Shows or hides the side panel.
    TogglePanel,
    /// Closes the window.
    Quit,
}

/// What was asked for during a frame, in order.
#[derive(Debug, Default)]
pub struct Actions {
    list: Vec<Action>,
}

impl Actions {
    /// Adds a command with its place in a gesture.
    pub fn send(&mut self, command: Command, gesture: Gesture) {
        self.list.push(Action::Session(command, gesture));
    }

    /// Adds a command that is an undo step of its own.
    pub fn once(&mut self, command: Command) {
        self.send(command, Gesture::Once);
    }

    /// Adds anything else.
    pub fn push(&mut self, action: Action) {
        self.list.push(action);
    }

    /// Adds what may be none.
    pub fn extend(&mut self, action: Option<Action>) {
        self.list.extend(action);
    }

    /// Takes an action out. Returns whether it was asked for.
    pub fn remove(&mut self, action: &Action) -> bool {
        let before = self.list.len();
        self.list.retain(|other| other != action);
        self.list.len() < before
    }

    /// What was asked for so far.
    #[must_use]
    pub fn list(&self) -> &[Action] {
        &self.list
    }

    /// Takes everything out.
    pub fn take(&mut self) -> Vec<Action> {
        std::mem::take(&mut self.list)
    }
}

/// Whether an input widget wants its value sent, and as what part of a gesture. The end of a drag is always sent, changed or
/// not, because it closes the undo step.
#[must_use]
pub fn edit_of(response: &Response) -> Option<Gesture> {
    if response.drag_stopped() {
        Some(Gesture::Released)
    } else if !response.changed() {
        None
    } else if response.dragged() {
        Some(Gesture::Dragging)
    } else {
        Some(Gesture::Once)
    }
}
