//! Which tool the pointer holds, and the axes that handles have. One choice for all views.

/// What a drag on the body or on a handle does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tool {
    /// Drags the body by any point; the rings of the selected joint turn it.
    #[default]
    Drag,
    /// Turns joints: rings, a ball between them, and flesh that is pulled turns one joint.
    Rotate,
    /// Moves a joint along arrows: the body follows; hips and roots move as a whole.
    Move,
}

/// The axes of rings and arrows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GizmoAxes {
    /// The joint's own.
    #[default]
    Own,
    /// The world's.
    World,
    /// Right, up and towards the eye.
    View,
}

/// The tools, as the window remembers them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Toolbox {
    /// What a drag does.
    pub tool: Tool,
    /// The axes of handles.
    pub axes: GizmoAxes,
    /// Angles snap to multiples of this, degrees, while Ctrl is held.
    pub snap_deg: f64,
    /// The joint under the pointer in the tree.
    pub hovered: Option<usize>,
}

impl Default for Toolbox {
    fn default() -> Self {
        Self { tool: Tool::default(), axes: GizmoAxes::default(), snap_deg: 15.0, hovered: None }
    }
}

impl Tool {
    /// All, in the order of the strip.
    pub const ALL: [Self; 3] = [Self::Drag, Self::Rotate, Self::Move];

    /// Its name.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Drag => "Drag",
            Self::Rotate => "Rotate",
            Self::Move => "Move",
        }
    }

    /// What it does, with its key.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Drag => "Drag the body by any joint or any point of its skin: the rest follows (Q)",
            Self::Rotate => "Turn joints by rings, by the ball between them, or by pulling a limb (E)",
            Self::Move => "Move the selected joint along arrows: the rest follows (W)",
        }
    }
}

impl GizmoAxes {
    /// All, in the order that a click goes through.
    pub const ALL: [Self; 3] = [Self::Own, Self::World, Self::View];

    /// Its name.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Own => "Own axes",
            Self::World => "World axes",
            Self::View => "View axes",
        }
    }

    /// The one after this.
    #[must_use]
    pub fn next(self) -> Self {
        match self {
            Self::Own => Self::World,
            Self::World => Self::View,
            Self::View => Self::Own,
        }
    }
}
