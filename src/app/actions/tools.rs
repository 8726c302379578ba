//! The current tool, and the axes of handles; common to all views.

use crate::character::{BrushKind, PaintMap};
use crate::rig::edit::template::TemplateKind;

/// Effect of a drag on the body or on a handle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Tool {
    /// Drags the body by any point; the rings of the selected joint rotate it.
    #[default]
    Drag,
    /// Rotates joints: rings, a trackball between them, and dragged flesh rotates one joint.
    Rotate,
    /// Moves a joint along arrows: the body follows; hips and roots move as a whole.
    Move,
    /// Explains the point of the skin under the pointer; a click pins it.
    Explain,
    /// Paints materials of the flesh onto the skin.
    Paint,
}

/// The brush of [`Tool::Paint`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BrushSettings {
    /// What is painted.
    pub map: PaintMap,
    /// What a stroke does.
    pub kind: BrushKind,
    /// Factor on the stiffness.
    pub stiffness: f32,
    /// How far the flesh is held.
    pub held: f32,
    /// Factor on the thickness.
    pub thickness: f32,
    /// How far implicit skinning relaxes the skin.
    pub relaxation: f32,
    /// Radius, relative to the character's size.
    pub radius: f32,
    /// How far one touch goes.
    pub strength: f32,
    /// Whether both sides of the body are painted.
    pub mirrored: bool,
}

impl Default for BrushSettings {
    fn default() -> Self {
        Self {
            map: PaintMap::default(),
            kind: BrushKind::default(),
            stiffness: 4.0,
            held: 1.0,
            thickness: 0.4,
            relaxation: 0.0,
            radius: 0.04,
            strength: 0.5,
            mirrored: false,
        }
    }
}

impl BrushSettings {
    /// The value that is painted, see [`PaintMap::value`].
    #[must_use]
    pub fn value(&self) -> f32 {
        match self.map {
            PaintMap::Stiffness => self.stiffness,
            PaintMap::Held => self.held,
            PaintMap::Thickness => self.thickness,
            PaintMap::Relaxation => self.relaxation,
        }
    }
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

/// Tool settings of the window.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Toolbox {
    /// The tool.
    pub tool: Tool,
    /// The axes of handles.
    pub axes: GizmoAxes,
    /// Angles snap to multiples of this, degrees, while Ctrl is held.
    pub snap_deg: f64,
    /// The joint hovered in the tree.
    pub hovered: Option<usize>,
    /// The brush.
    pub brush: BrushSettings,
}

impl Default for Toolbox {
    fn default() -> Self {
        Self {
            tool: Tool::default(),
            axes: GizmoAxes::default(),
            snap_deg: 15.0,
            hovered: None,
            brush: BrushSettings::default(),
        }
    }
}

impl Tool {
    /// All tools, in strip order.
    pub const ALL: [Self; 5] = [
        Self::Drag,
        Self::Rotate,
        Self::Move,
        Self::Explain,
        Self::Paint,
    ];

    /// Display name.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Drag => "Drag",
            Self::Rotate => "Rotate",
            Self::Move => "Move",
            Self::Explain => "Explain",
            Self::Paint => "Paint",
        }
    }

    /// Description, with its key.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::Drag => {
                "Drag the body by any joint or any point of its skin: the rest follows (Q)"
            }
            Self::Rotate => {
                "Turn joints by rings, by the ball between them, or by pulling a limb (E)"
            }
            Self::Move => "Move the selected joint along arrows: the rest follows (W)",
            Self::Explain => {
                "Point at the skin to see who moves it and what the method does there; click to pin it (I)"
            }
            Self::Paint => {
                "Paint how stiff, held or thick the flesh is onto the skin: Ctrl erases, Shift smooths"
            }
        }
    }
}

impl GizmoAxes {
    /// Display name.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Own => "Own axes",
            Self::World => "World axes",
            Self::View => "View axes",
        }
    }

    /// The next axes.
    #[must_use]
    pub fn next(self) -> Self {
        match self {
            Self::Own => Self::World,
            Self::World => Self::View,
            Self::View => Self::Own,
        }
    }
}

/// What is changed without holding a button, by keys and numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModalKind {
    /// The rotation of joints.
    Turn,
    /// The place of a joint; the body follows.
    Move,
}

/// A request to the pose tools that depends on the selection or tool.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PosingRequest {
    /// Selects the tool.
    Tool(Tool),
    /// Changes the brush.
    Brush(BrushSettings),
    /// Switches to the next axes.
    NextAxes,
    /// Turns or moves joints with the pointer, axes and typed numbers, until a click.
    Modal(ModalKind),
    /// Pins the selected joints, or unpins them if all are pinned.
    TogglePins,
    /// Whether the body keeps its balance while it is dragged, or not.
    ToggleBalance,
    /// Copies the pose of the selected joints, or of all, also to the system clipboard.
    Copy,
    /// Pastes the copied pose, unchanged or mirrored.
    Paste {
        /// Whether it is mirrored.
        mirrored: bool,
    },
}

/// An action of edit mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EditAction {
    /// Shows the landmarks of a template.
    StartFitting(TemplateKind),
    /// Builds the skeleton through the landmarks.
    ApplyFitting,
    /// Leaves the template.
    LeaveFitting,
    /// Opens a dialog to save the skeleton.
    SaveDialog,
}

/// Requests to the probe, which explains a point of the skin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProbeAction {
    /// The source vertex under the pointer, if there is one.
    Hover(Option<usize>),
    /// Keeps explaining this source vertex.
    Pin(usize),
    /// Explains nothing.
    Release,
    /// Explains the method of this view.
    Choose(crate::session::ViewId),
}
