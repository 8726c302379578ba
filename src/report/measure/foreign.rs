//! Rows of a comparison that another program computed.

use rayon::prelude::*;

use super::{Measuring, MethodRow};
use crate::math::Point;
use crate::mesh::{TriMesh, TriangleTree};
use crate::methods::Subject;
use crate::metrics::{MeterFrame, Quantity, RestSkin};
use crate::progress::{Cancelled, Progress};

impl Measuring<'_> {
    /// Measures what another program made.
    pub(super) fn foreign_row(&mut self, row: usize, progress: &Progress) -> Result<(), Cancelled> {
        let settings = self.settings;
        let result = &settings.results[row - settings.variants.len()];
        let columns = settings.columns.len();
        let vertices = self.subject.bind_positions.len();
        for column in 0..columns {
            progress.check()?;
            progress.report(column as f32 / columns as f32, &result.name);
            let cell = &mut self.cells[row * columns + column];
            cell.values = vec![None; self.quantities.len()];
            let Some(written) = result.frames.get(column) else {
                cell.failure = Some(format!(
                    "the file has {} frames, and this is pose {}",
                    result.frames.len(),
                    column + 1
                ));
                continue;
            };
            let expanded = self.subject.character.from_file_vertices(written);
            let positions = expanded.as_ref().unwrap_or(written);
            let values = if positions.len() == vertices {
                if settings.distance_to == Some(row) {
                    self.reference[column] = Some(positions.clone());
                }
                let pose = settings.columns.pose(self.subject, column);
                let world = self.subject.character.skeleton.world_from_joint(&pose);
                let frame = MeterFrame {
                    positions,
                    world_from_joint: &world,
                    reference: self.reference[column].as_deref(),
                    ..MeterFrame::default()
                };
                let measured = self.meter.measure(&frame, &progress.silent())?;
                self.quantities
                    .iter()
                    .map(|quantity| measured.get(quantity.id))
                    .collect()
            } else {
                let found = self.reference[column]
                    .as_deref()
                    .map(|reference| closest_distances(self.subject, reference, positions));
                let Some(found) = found else {
                    cell.failure = Some(format!(
                        "the file has {} vertices and the character {vertices}, and there is no skin to measure distances to",
                        positions.len()
                    ));
                    continue;
                };
                let value = |quantity: &Quantity| {
                    let ids = ["distance_rms_mm", "distance_p99_mm", "distance_max_mm"];
                    Some(found[ids.iter().position(|id| *id == quantity.id)?])
                };
                self.quantities.iter().map(value).collect()
            };
            self.cells[row * columns + column].values = values;
        }
        self.rows[row] = MethodRow {
            id: result.name.clone(),
            label: result.name.clone(),
            ..MethodRow::default()
        };
        Ok(())
    }
}

/// Distances of points from a skin: root mean square, 99th percentile and maximum, millimetres.
fn closest_distances(subject: &Subject, skin: &[Point], points: &[Point]) -> [f64; 3] {
    let rest = RestSkin::of(subject);
    let mesh = TriMesh {
        positions: rest
            .source_from_skin
            .iter()
            .map(|&source| skin[source as usize])
            .collect(),
        triangles: rest.mesh.triangles,
    };
    let tree = TriangleTree::new(&mesh);
    let distance = |point: &Point| {
        let closest = tree.closest(&point.cast(), f64::INFINITY, |_| true);
        closest.map(|closest| closest.distance * subject.metres_per_unit() * 1e3)
    };
    let mut distances: Vec<f64> = points.par_iter().filter_map(distance).collect();
    distances.sort_unstable_by(f64::total_cmp);
    let Some(last) = distances.len().checked_sub(1) else {
        return [0.0; 3];
    };
    let squares: f64 = distances.iter().map(|distance| distance * distance).sum();
    let p99 = distances[(last as f64 * 0.99).round() as usize];
    [
        (squares / distances.len() as f64).sqrt(),
        p99,
        distances[last],
    ]
}
