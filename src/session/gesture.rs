//! Drags as one undo step.

/// Position of a command within a drag, so that a drag is one undo step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Gesture {
    /// A command that is its own step.
    #[default]
    Once,
    /// Part of a drag in progress.
    Dragging,
    /// The last command of a drag.
    Released,
}
