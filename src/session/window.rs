//! Window state in a project: the views, how each is drawn and compared, its camera, the pane layout, and the scoreboard.
//!
//! Saved under `window` in the project file. The window writes and restores it; the command line takes its defaults of `render`
//! from it.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{View, ViewId};
use crate::render::{Camera, Look};
use crate::studio::Compare;

/// How one view is drawn and compared.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct PaneState {
    /// How the view is drawn.
    pub look: Look,
    /// The comparison, if any.
    pub comparing: Compare,
    /// Whether its camera moves with those of other panes.
    pub camera_linked: bool,
    /// Whether its scores are shown; `None` shows them if there is a comparison.
    pub scores: Option<bool>,
}

impl Default for PaneState {
    fn default() -> Self {
        Self {
            look: Look::default(),
            comparing: Compare::default(),
            camera_linked: true,
            scores: None,
        }
    }
}

/// The scoreboard: whether it is open, and what it shows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BoardState {
    /// Whether it is open.
    pub open: bool,
    /// Ids of the quantities that are plotted; unknown ones are kept and not shown.
    pub quantities: Vec<String>,
    /// The view whose method distances are measured to.
    pub distance_to: Option<ViewId>,
}

impl Default for BoardState {
    fn default() -> Self {
        Self {
            open: false,
            quantities: ["volume_change", "stretch_p99"].map(str::to_owned).to_vec(),
            distance_to: None,
        }
    }
}

/// The window state in a project.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WindowState {
    /// The views, in the order they were made.
    #[serde(default)]
    pub views: Vec<View>,
    /// The active view.
    pub active: ViewId,
    /// Tiling of the views, in the serialized form of the window's tiling library.
    #[serde(default, rename = "tree")]
    pub tiles: Value,
    /// Drawing options and camera of each view.
    pub panes: Vec<(ViewId, PaneState, Camera)>,
    /// The maximized view.
    #[serde(default)]
    pub maximised: Option<ViewId>,
    /// The scoreboard.
    #[serde(default)]
    pub board: BoardState,
}

impl WindowState {
    /// As it is saved ([`View::without_distilled`]).
    pub(super) fn without_distilled(&self) -> Self {
        let views = self.views.iter().map(|view| view.without_distilled());
        Self {
            views: views.collect(),
            ..self.clone()
        }
    }

    /// Drawing options and camera of a view.
    #[must_use]
    pub fn pane(&self, view: ViewId) -> Option<(&PaneState, &Camera)> {
        let (_, pane, camera) = self.panes.iter().find(|(id, ..)| *id == view)?;
        Some((pane, camera))
    }
}
