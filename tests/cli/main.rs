//! The built binary as a script sees it.

#[path = "../common/mod.rs"]
mod common;

mod bake;
mod bench;
mod browser;
mod card;
mod closeup;
mod commands;
mod compare;
mod compare_numbers;
mod device;
mod explain;
mod jobs;
mod outputs;
mod pictures;
mod program;
mod project;
mod settings;
mod weights;
