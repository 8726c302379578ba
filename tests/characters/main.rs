//! Characters: the built-in ones, the check-up, intersecting triangles, decimation, motions, and the cache of what is made of them.

#[path = "../common/mod.rs"]
mod common;

mod builtin;
#[cfg(feature = "cli")]
mod cache;
#[cfg(feature = "gpu")]
mod checkup;
#[cfg(feature = "gpu")]
mod decimation;
mod intersections;
mod motions;
mod stages;
