//! The centre of rotation of every vertex.

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

use super::pair_table::PairTable;
use crate::math::{Point, Point64};
use crate::mesh::Bounds;
use crate::methods::bind_surface::{BindSurface, to_rest};
use crate::progress::{Cancelled, Progress};

/// Vertices between two reports of progress.
const CHUNK: usize = 64;

/// Pairs whose product of weights is below this part of the vertex's largest are left out; dense weights have thousands of them.
const LEAST_PAIR: f64 = 1e-6;

/// The centres of all source vertices, each in the rest space of its mesh; `None` where nothing is similar.
pub(super) fn centers(
    surface: &BindSurface<'_>,
    progress: &Progress,
) -> Result<Vec<Option<Point>>, Cancelled> {
    progress.report(0.0, "Finding centres of rotation");
    let origin = Bounds::of(surface.positions()).center().cast::<f64>();
    let table = PairTable::new(surface, origin, &progress.part(0.0, 0.3))?;
    progress.set_fraction(0.3);
    let mut centers = vec![None; surface.len()];
    let done = AtomicUsize::new(0);
    centers
        .par_chunks_mut(CHUNK)
        .enumerate()
        .try_for_each(|(chunk, centers)| {
            for (offset, center) in centers.iter_mut().enumerate() {
                progress.check()?;
                *center = center_of(surface, &table, chunk * CHUNK + offset);
            }
            let done = done.fetch_add(centers.len(), Ordering::Relaxed) + centers.len();
            progress.set_fraction(0.3 + 0.7 * done as f32 / surface.len() as f32);
            Ok(())
        })?;
    Ok(centers)
}

/// The weights of a source vertex, without those that form no pair of any size.
pub(super) fn significant_weights(surface: &BindSurface<'_>, source: usize) -> Vec<(u32, f64)> {
    let mut weights: Vec<(u32, f64)> = surface
        .weights(source)
        .map(|(joint, weight)| (joint as u32, f64::from(weight)))
        .collect();
    // Largest first: the first two form the largest pair, and a weight's largest pair is that with the first.
    if let [_, (_, second), ..] = weights[..] {
        weights.retain(|(_, weight)| *weight >= second * LEAST_PAIR);
    }
    weights
}

fn center_of(surface: &BindSurface<'_>, table: &PairTable, source: usize) -> Option<Point> {
    let world = table.center(&significant_weights(surface, source))?;
    let rest: Point64 = to_rest(&surface.world_from_rest(source), &world)?;
    let rest = rest.cast::<f32>();
    rest.iter().all(|c| c.is_finite()).then_some(rest)
}
