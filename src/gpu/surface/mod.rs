//! What lies around the simulation on the device: the base below it, and the skin at full resolution above.
//!
//! | lifetime               | type                                                                   |
//! |------------------------|------------------------------------------------------------------------|
//! | per character, method  | [`SurfaceModel`], [`BaseModel`]: kernels and constants, shared by all    |
//! | per crowd              | [`Surface`]: positions and normals of instances; [`Base`]: base points   |
//! | per frame              | transforms of joints ([`Surface::set_pose`]), of bones ([`Base::set`])   |
//!
//! The CPU's twins are [`crate::tissue::Anchors::place`], [`crate::methods::Actor`], and all that it stands on; a [`crate::methods::Recipe`] is
//! what they share. Positions and normals stay on the device: the renderer draws from them.
//!
//! # Passes
//! A thread evaluates a source vertex from the simulated rows on (sum over neighbours, local frame, normal), so that what lies between is
//! never stored. Each instance is a row of workgroups. A pass that depends on another begins when that has ended:
//!
//! | pass             | when                                     | bytes read, written, for each vertex                         |
//! |------------------|------------------------------------------|--------------------------------------------------------------|
//! | `go_on`          | a frame lies between two steps           | row: 32, 16                                                  |
//! | `row_normals`    | upsampling by normal displacements       | row: about 100 + 18 cached rows, 16                          |
//! | `place_*`        | always: flesh, bones, props, rigid parts | flesh: 16 + 32 + 8 × 19 + 20 cached rows, 24; others: about 50, 12 |
//! | `fit_controls`   | there is cloth                           | control: 64 + 12 × 16 + 17 cached positions, 48                |
//! | `place_cloth`    | there is cloth                           | 144 + 12 cached frames + 3 cached positions, 12              |
//! | `place_clusters` | small things ride                        | 16 (and 32 + 12 a patch point), 12                           |
//! | `gather_normals` | normals that no local frame carries      | 16 + 6 × 12 + 18 cached positions, 12                        |
//! | `place_base`     | once a step, before it                   | base point: 48 + some transforms, 16                         |
//!
//! So a character of one skin that is simulated coarser than it is takes *one* pass a frame, one with cloth and small things five; `lbs`
//! and `dqs` take two. 20 000 source vertices in sums read 4 MB of constants (shared by all instances, so that a crowd finds them in the
//! second-level cache) and write 0.5 MB. A frame uploads 48 bytes a joint (64 for `dqs`), a step 128 a bone and 64 a node.

mod base;
mod layout;
mod model;
mod pack;
mod palette;
mod stages;
mod state;

pub use base::{Base, BaseModel};
pub use model::{SurfaceModel, row_of_vertex};
pub use state::{Simulated, Surface};

pub(super) use layout::struct_layouts;

use super::GpuContext;

/// Why a surface can't be on the device.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SurfaceError {
    /// What is simulated is not what the surface follows.
    #[error(
        "the surface follows {expected} simulated vertices, but {actual} were given; make it of the character that is simulated"
    )]
    Rows {
        /// Simulated vertices of the recipe.
        expected: usize,
        /// Rows given.
        actual: usize,
    },
    /// A buffer would be larger than the device binds.
    #[error(
        "{what} would take {bytes} bytes, and the graphics device binds {limit} at most; show fewer characters, or a smaller one"
    )]
    TooLarge {
        /// Of what.
        what: &'static str,
        /// How many.
        bytes: u64,
        /// The device's limit.
        limit: u64,
    },
    /// A pass would have more workgroups than the device starts.
    #[error(
        "there are too many {what}: {count} groups of them, and the graphics device takes {limit} at once at most; show fewer"
    )]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many groups.
        count: u32,
        /// The device's limit.
        limit: u32,
    },
}

/// Checks that so many workgroups can be started.
fn check_groups(gpu: &GpuContext, what: &'static str, count: usize) -> Result<(), SurfaceError> {
    let limit = gpu.device.limits().max_compute_workgroups_per_dimension;
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    if count > limit {
        Err(SurfaceError::TooMany { what, count, limit })
    } else {
        Ok(())
    }
}

/// Checks that so many elements can be bound.
fn check_size<T>(gpu: &GpuContext, what: &'static str, count: usize) -> Result<(), SurfaceError> {
    let limits = gpu.device.limits();
    let limit = limits
        .max_storage_buffer_binding_size
        .min(limits.max_buffer_size);
    let bytes = count as u64 * size_of::<T>() as u64;
    if bytes > limit {
        Err(SurfaceError::TooLarge { what, bytes, limit })
    } else {
        Ok(())
    }
}
