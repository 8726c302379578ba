//! Input and output of the simulation on the device: the base below it, and the skin at full resolution above.
//!
//! | lifetime               | type                                                                   |
//! |------------------------|------------------------------------------------------------------------|
//! | per character, method  | [`SurfaceModel`], [`BaseModel`]: kernels and constants, shared by all    |
//! | per crowd              | [`Surface`]: positions and normals of all instances; [`Base`]: base points |
//! | per frame              | transforms of joints ([`Surface::set_pose`]), of bones ([`Base::set`])   |
//!
//! The CPU counterparts are [`crate::tissue::Anchors::place`] and [`crate::methods::Actor`]; a [`crate::methods::Recipe`] is
//! the data shared by both. Positions and normals stay on the device: the renderer reads them there.
//!
//! # Passes
//! A thread evaluates a source vertex directly from the simulated rows (sum over neighbours, local frame, normal), so that no intermediate
//! results are stored. Each instance is a row of workgroups. A pass starts after the passes it depends on:
//!
//! | pass             | when                                     | bytes read, written per vertex                               |
//! |------------------|------------------------------------------|--------------------------------------------------------------|
//! | `extrapolate`          | the frame lies between two steps         | row: 32, 16                                                  |
//! | `row_normals`    | upsampling by normal displacements       | row: about 100 + 18 cached rows, 16                          |
//! | `place_*`        | always: flesh, bones, props, rigid parts | flesh: 16 + 32 + 8 × 19 + 20 cached rows, 24; others: about 50, 12 |
//! | `fit_controls`   | there is cloth                           | control: 64 + 12 × 16 + 17 cached positions, 48                |
//! | `place_cloth`    | there is cloth                           | 144 + 12 cached frames + 3 cached positions, 12              |
//! | `place_clusters` | small parts ride                         | 16 (and 32 + 12 per patch point), 12                         |
//! | `gather_normals` | normals not given by a local frame       | 16 + 6 × 12 + 18 cached positions, 12                        |
//! | `write_blend_normals` | normals from the transforms of joints | 48 + 16 per slope (16 + 6 × 12 + 7 cached positions by edges), 12 |
//! | `place_base`     | once per step, before it                 | base point: 48 + some transforms, 16                         |
//!
//! Instead of `place_*`, `cor` has `place_about_centers` (80 bytes, 12), `ddm` has `place_smoothed` (32 and 44 per influence, 12) and
//! `swing-twist` has `place_bent` (16 and 16 per influence, 12).
//!
//! So a character with one skin and upsampling takes *one* pass per frame, one with cloth and small parts five; the methods that follow
//! joints take two. 20 000 source vertices read 4 MB of constants (shared by all instances, so that a crowd reads them from the second-level
//! cache) and write 0.5 MB. Uploads: 48 bytes per joint and frame (64 for `dqs`, 96 for `cor`, 80 for `ddm`; `swing-twist` has 112 more per
//! deformer), 128 per bone and 64 per node and step.

mod base;
mod layout;
mod model;
mod pack;
mod palette;
mod passes;
mod state;

pub use base::{Base, BaseModel};
pub use model::{SurfaceModel, row_of_vertex};
pub use state::{Simulated, Surface};

pub(super) use layout::struct_layouts;

use super::GpuContext;

/// Why a surface cannot be created on the device.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SurfaceError {
    /// The simulated rows do not match the recipe.
    #[error(
        "the surface follows {expected} simulated vertices, but {actual} were given; make it of the character that is simulated"
    )]
    Rows {
        /// Simulated vertices of the recipe.
        expected: usize,
        /// Rows given.
        actual: usize,
    },
    /// A buffer would exceed the device's binding limit.
    #[error(
        "{what} would take {bytes} bytes, and the graphics device binds {limit} at most; show fewer characters, or a smaller one"
    )]
    TooLarge {
        /// Contents of the buffer.
        what: &'static str,
        /// Its size.
        bytes: u64,
        /// The device's limit.
        limit: u64,
    },
    /// A pass would have more workgroups than the device allows.
    #[error(
        "there are too many {what}: {count} groups of them, and the graphics device takes {limit} at once at most; show fewer"
    )]
    TooMany {
        /// What is counted.
        what: &'static str,
        /// Number of workgroups.
        count: u32,
        /// The device's limit.
        limit: u32,
    },
}

/// Checks the number of workgroups against the device's limit.
fn check_groups(gpu: &GpuContext, what: &'static str, count: usize) -> Result<(), SurfaceError> {
    let limit = gpu.device.limits().max_compute_workgroups_per_dimension;
    let count = u32::try_from(count).unwrap_or(u32::MAX);
    if count > limit {
        Err(SurfaceError::TooMany { what, count, limit })
    } else {
        Ok(())
    }
}

/// Checks the number of elements against the device's binding limit.
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
