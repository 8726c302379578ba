//! What a project keeps of the window: the views, how each is drawn and compared, its camera, and where it stands.
//!
//! Saved under `window` in the project file. The window writes and restores it; the command line reads from it how `render` draws
//! where nothing else is said.

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
    /// How it is compared, if it is.
    pub comparing: Compare,
    /// Whether its camera moves with those of other panes.
    pub camera_linked: bool,
    /// Whether its scores are shown; `None` shows them where there is something to compare them with.
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

/// The window as a project keeps it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct WindowState {
    /// The views, in the order they were made.
    #[serde(default)]
    pub views: Vec<View>,
    /// The view that commands act on.
    pub active: ViewId,
    /// How the views are tiled, in the serialized form of the window's tiling library.
    #[serde(default, rename = "tree")]
    pub tiles: Value,
    /// How each view is drawn, and its camera.
    pub panes: Vec<(ViewId, PaneState, Camera)>,
    /// The view that is shown alone.
    #[serde(default)]
    pub maximised: Option<ViewId>,
}

impl WindowState {
    /// How a view is drawn, and its camera.
    #[must_use]
    pub fn pane(&self, view: ViewId) -> Option<(&PaneState, &Camera)> {
        let (_, pane, camera) = self.panes.iter().find(|(id, ..)| *id == view)?;
        Some((pane, camera))
    }
}
