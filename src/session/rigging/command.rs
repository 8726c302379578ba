//! Commands that edit the skeleton.

use std::path::PathBuf;

use super::Mode;
use crate::math::Point64;
use crate::rig::edit::{RigEdit, template};

/// A command; joints are indices into [`super::RigView::rig`].
#[derive(Debug, Clone, PartialEq)]
pub enum RigCommand {
    /// Switches between pose mode and edit mode.
    SetMode(Mode),
    /// Selects a joint of the rig, or none.
    Select(Option<usize>),
    /// Turns symmetric editing on or off.
    SetSymmetry(bool),
    /// Changes the rig (undoable), on both sides while symmetry is on; the flesh is rebuilt in the background.
    Edit(RigEdit),
    /// Sets the radius, world units, of the bones that a joint carries (undoable); `None` fits it to the skin.
    SetRadius {
        /// Which joint.
        joint: usize,
        /// The radius.
        radius: Option<f64>,
    },
    /// Makes the bones that a joint carries virtual or real (undoable).
    SetVirtual {
        /// Which joint.
        joint: usize,
        /// Whether the bones only shape the flesh.
        on: bool,
    },
    /// Replaces the rig by a template fitted to the mesh (undoable).
    ApplyTemplate {
        /// The template.
        kind: template::TemplateKind,
        /// Landmark positions, in the order of [`template::TemplateKind::landmarks`].
        landmarks: Vec<Point64>,
    },
    /// Restores the skeleton of the files (undoable).
    UseFileSkeleton,
    /// Writes the skeleton: alone as `.skel`, or with mesh and weights as `.glb`.
    Save(PathBuf),
}

impl RigCommand {
    /// Label in the undo menu.
    #[must_use]
    pub fn label(&self) -> &'static str {
        match self {
            Self::SetMode(_) => "Change mode",
            Self::Select(_) => "Select joint",
            Self::SetSymmetry(_) => "Symmetry",
            Self::Edit(edit) => match edit {
                RigEdit::Add { parent: None, .. } => "Add joint",
                RigEdit::Add { .. } => "Extrude joint",
                RigEdit::Move { .. } => "Move joint",
                RigEdit::Insert { .. } => "Insert joint",
                RigEdit::Split { .. } => "Split bone",
                RigEdit::Merge(_) => "Merge joint",
                RigEdit::Delete(_) => "Delete joint",
                RigEdit::Reparent { .. } => "Reparent joint",
                RigEdit::Rename { .. } => "Rename joint",
                RigEdit::SetTail { .. } => "Set tail",
            },
            Self::SetRadius { .. } => "Bone radius",
            Self::SetVirtual { .. } => "Virtual bone",
            Self::ApplyTemplate { .. } => "Apply template",
            Self::UseFileSkeleton => "Use the file's skeleton",
            Self::Save(_) => "Save skeleton",
        }
    }
}
