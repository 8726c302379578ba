//! Drags as one undo step.

/// How a command belongs to what the hand does, so that a drag is one undo step.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Gesture {
    /// A step of its own.
    #[default]
    Once,
    /// Part of a drag that goes on.
    Dragging,
    /// The last command of a drag.
    Released,
}
