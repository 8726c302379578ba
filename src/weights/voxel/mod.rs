//! The voxel domain: the inside of a skin as cubic cells, on which weights are solved for.
//!
//! Cells do not see how a mesh is connected: shells, holes, non-manifold edges and self-intersections are all the same to them.
//!
//! | what                                     | where                                |
//! |------------------------------------------|--------------------------------------|
//! | cells, nodes, edges, parts, Laplacian    | [`VoxelDomain`], [`Grid`]            |
//! | which cells are solid                    | [`VoxelDomain::of`]                  |
//! | nodes inside of bones, whose values are given | [`BoneNodes`]                   |
//! | values of nodes at vertices              | [`Transfer`]                         |
//! | all of these for one skin and skeleton   | [`VoxelBinding`]                     |
//! | lines and faces to be drawn              | [`VoxelOutline`]                     |

mod binding;
mod bone_nodes;
mod domain;
mod inside;
mod lookup;
mod nearest;
mod outline;
mod solid;
#[cfg(test)]
mod tests;
mod touched;
mod transfer;
mod winding_tree;

pub use binding::{NodeWeights, VoxelBinding};
pub use bone_nodes::{BONE_RADIUS, BoneNodes};
pub use domain::{Edge, Grid, VoxelDomain};
pub use lookup::Lookup;
pub use nearest::NodeTree;
pub use outline::{BoneFace, VoxelOutline};
pub use solid::{MOST_CELLS, RESOLUTION};
pub use transfer::Transfer;
pub use winding_tree::WindingTree;
