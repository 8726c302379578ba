//! User requests of a frame: commands for the session, and actions that concern only this window.
//!
//! Panels and the viewport read borrowed views and push here; [`super::workbench::Workbench`] alone
//! applies the actions.

pub mod tools;
mod view;
mod window;

pub use tools::{EditAction, PosingRequest, ProbeAction};
pub use view::{CameraAction, LayoutAction, LayoutPreset, SplitSide, ViewRequest};
pub use window::{
    BoardAction, CaptureAction, DistillAction, ProjectAction, TimelineAction, ToolWindowAction,
    UnsavedAnswer, WorstAction,
};

use std::path::PathBuf;

use egui::Response;

use super::look::Look;
use crate::render::NamedView;
use crate::session::{Command, FindingPlace, Gesture, ViewId};

/// One user request.
#[derive(Debug, Clone, PartialEq)]
pub enum Action {
    /// Changes the session.
    Session(Command, Gesture),
    /// Changes how a view is drawn.
    SetLook(ViewId, Look),
    /// Changes the arrangement of views, or settings of their panes.
    Layout(LayoutAction),
    /// A named request to the active view.
    View(ViewRequest),
    /// Saves projects, and answers questions about them.
    Project(ProjectAction),
    /// An action of edit mode.
    Edit(EditAction),
    /// Opens a file dialog for characters.
    OpenDialog,
    /// Opens files as if they had been dropped.
    OpenFiles(Vec<PathBuf>),
    /// Opens a file dialog for a pose.
    LoadPoseDialog,
    /// Opens a file dialog for saving the pose.
    SavePoseDialog,
    /// Frames the selected joint, or the whole character.
    Frame,
    /// Frames a finding of the check-up.
    Show(FindingPlace),
    /// Views the whole character from a side.
    LookFrom(NamedView),
    /// Settings, palette, log and notices.
    ToolWindows(ToolWindowAction),
    /// Keys, takes, the timeline.
    Timeline(TimelineAction),
    /// The scoreboard.
    Board(BoardAction),
    /// The search for the worst poses.
    Worst(WorstAction),
    /// Opens or closes the joint mapping.
    ToggleMapping,
    /// The distilling of a rig.
    Distill(DistillAction),
    /// Cancels the current tool, otherwise deselects.
    Escape,
    /// Shows or hides the bones.
    ToggleBones,
    /// Moves the camera of the active view.
    Camera(CameraAction),
    /// Moves the camera of a view.
    CameraOf(ViewId, CameraAction),
    /// Captures pictures or films.
    Capture(CaptureAction),
    /// A request to the pose tools.
    Posing(PosingRequest),
    /// Explains a point of the skin.
    Probe(ProbeAction),
    /// Returns to the graphics device after it was lost.
    RetryDevice,
    /// Shows a row of a section of the panels.
    ShowControl(&'static str, String),
    /// Shows or hides the side panel.
    TogglePanel,
    /// Closes the window.
    Quit,
}

/// The requests of a frame, in order.
#[derive(Debug, Default)]
pub struct Actions {
    list: Vec<Action>,
}

impl Actions {
    /// Adds a command with its phase in a gesture.
    pub fn send(&mut self, command: Command, gesture: Gesture) {
        self.list.push(Action::Session(command, gesture));
    }

    /// Adds a command that is a separate undo step.
    pub fn once(&mut self, command: Command) {
        self.send(command, Gesture::Once);
    }

    /// Adds any other action.
    pub fn push(&mut self, action: Action) {
        self.list.push(action);
    }

    /// Adds an action, if there is one.
    pub fn extend(&mut self, action: Option<Action>) {
        self.list.extend(action);
    }

    /// Removes an action. Returns whether it was present.
    pub fn remove(&mut self, action: &Action) -> bool {
        let before = self.list.len();
        self.list.retain(|other| other != action);
        self.list.len() < before
    }

    /// The actions so far.
    #[must_use]
    pub fn list(&self) -> &[Action] {
        &self.list
    }

    /// Removes and returns all actions.
    pub fn take(&mut self) -> Vec<Action> {
        std::mem::take(&mut self.list)
    }
}

/// Whether an input widget's value must be sent, and the gesture phase. The end of a drag is always
/// sent, even without a change, because it closes the undo step.
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
