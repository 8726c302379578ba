//! What can be asked of the views and their cameras.

use crate::render::{NamedView, SkinColors};
use crate::session::{PaneState, ViewId};

/// Which side of a view a new one comes to.
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

    /// What it is good for, in one sentence.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Single => "One view of the character.",
            Self::Methods => {
                "Linear blend, dual quaternion and projective dynamics on the same pose."
            }
            Self::Four => "Perspective, front, side and top, for placing things exactly.",
            Self::BeforeAfter => "The rest pose beside the pose you make.",
        }
    }
}

/// What can be asked of the layout.
#[derive(Debug, Clone, PartialEq)]
pub enum LayoutAction {
    /// Adds a view that begins as this one, beside it.
    Split(ViewId, SplitSide),
    /// Takes a view away.
    Close(ViewId),
    /// Shows one view alone, or all again.
    ToggleMaximised(ViewId),
    /// Arranges anew.
    Arrange(LayoutPreset),
    /// Changes what a pane remembers: look, comparison, link of the camera.
    SetPane(ViewId, PaneState),
}

/// Something asked of the active view.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ViewAsk {
    /// A second method on the other side of a line.
    Wipe,
    /// A second method while a key is held.
    Flicker,
    /// The distance to a second method as colours.
    Distance,
    /// One method alone.
    CompareNone,
    /// Another view beside it.
    Split(SplitSide),
    /// It goes.
    Close,
    /// It is shown alone, or all are again.
    Maximise,
    /// Scores are shown, or not.
    Scores,
    /// Skins of moments before and after are shown, or not.
    Ghosts,
    /// Edges of the triangles are shown, or not.
    Wireframe,
    /// The skin is coloured by this, or by nothing if it is already.
    Colors(SkinColors),
    /// The flesh is shown and cut open, or not.
    Cut,
    /// So many of the character are shown.
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
