//! The voxel domain: the inside of a skin as cubic cells, on which weights are solved for.
//!
//! Cells do not see how a mesh is connected: shells, holes, non-manifold edges and self-intersections are all the same to them.

mod domain;

pub use domain::{Edge, Grid, VoxelDomain};
