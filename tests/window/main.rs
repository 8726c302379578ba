//! The window without a window.

#[path = "../common/mod.rs"]
mod common;

mod bench;
mod board;
mod compared_weights;
mod crowd_view;
mod distill;
mod dragged_weights;
mod fields;
mod figure;
mod file_dialog;
mod found_settings;
mod keymaps;
mod mapping;
mod moved_views;
mod painting;
mod panels;
mod project;
mod stories;
mod timeline;
mod tool_windows;
mod variants;
mod voxels;
mod worst;
