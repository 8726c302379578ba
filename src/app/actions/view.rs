//! Actions on views and their cameras.

use crate::render::{NamedView, SkinColors};
use crate::session::{PaneState, ViewId};

/// Where a new view is placed next to an existing one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SplitSide {
    /// To its right.
    Right,
    /// Below it.
    Below,
}

/// An arrangement of views.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayoutPreset {
    /// One view.
    Single,
    /// Linear blend, dual quaternion and projective dynamics side by side.
    Methods,
    /// Perspective, front, side and top.
    Four,
    /// The rest pose beside the pose.
    BeforeAfter,
}

impl LayoutPreset {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Single, Self::Methods, Self::Four, Self::BeforeAfter];

    /// Name in menus.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Single => "Single view",
            Self::Methods => "Three methods",
            Self::Four => "Four sides",
            Self::BeforeAfter => "Before and after",
        }
    }
}

/// Actions on the layout.
#[derive(Debug, Clone, PartialEq)]
pub enum LayoutAction {
    /// Adds a copy of a view beside it.
    Split(ViewId, SplitSide),
    /// Closes a view.
    Close(ViewId),
    /// Maximises a view, or restores the layout.
    ToggleMaximised(ViewId),
    /// Applies an arrangement.
    Arrange(LayoutPreset),
    /// Changes settings of a pane: look, comparison, camera link.
    SetPane(ViewId, PaneState),
}

impl LayoutAction {
    /// Label of its undo step; `None` for what only changes how something is looked at.
    #[must_use]
    pub fn label(&self) -> Option<&'static str> {
        match self {
            Self::Split(..) => Some("Split view"),
            Self::Close(_) => Some("Close view"),
            Self::Arrange(_) => Some("Arrange views"),
            Self::ToggleMaximised(_) | Self::SetPane(..) => None,
        }
    }
}

/// A named request to the active view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViewRequest {
    /// Compares with a second method on the other side of a line.
    Wipe,
    /// Compares with a second method while a key is held.
    Flicker,
    /// Shows the distance to a second method as colours.
    Distance,
    /// Shows one method only.
    CompareNone,
    /// Adds a view beside it.
    Split(SplitSide),
    /// Closes it.
    Close,
    /// Maximises it, or restores the layout.
    Maximise,
    /// Toggles the scores.
    Scores,
    /// Toggles onion skins.
    Ghosts,
    /// Toggles the triangles' edges.
    Wireframe,
    /// Colours the skin by a quantity; removes the colours if it is already used.
    Colors(SkinColors),
    /// Toggles the cut through the flesh.
    Cut,
    /// Toggles the voxel domain.
    Voxels,
    /// Toggles the cut through the composed field.
    Fields,
    /// Shows a crowd of this size.
    Crowd(usize),
}

/// A camera action of a key, a menu item or the axis gizmo.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum CameraAction {
    /// Frames the selected joint with its neighbours, or the whole character.
    FrameSelected,
    /// Frames the whole character.
    FrameAll,
    /// Views the whole character from a side.
    LookFrom(NamedView),
    /// Views the current target from a side.
    TurnTo(NamedView),
    /// Views from the opposite side.
    Opposite,
    /// Rotates by steps to the right and upwards.
    Turn([i8; 2]),
    /// Switches between perspective and orthographic.
    ToggleProjection,
    /// Starts or stops the turntable.
    ToggleTurntable,
}
