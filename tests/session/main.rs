//! The session without a window: undo, projects, recovery.

#[path = "../common/mod.rs"]
mod common;

mod history;
mod project_story;
mod recovery;
