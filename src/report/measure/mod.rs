//! Measures methods over poses or over the frames of a clip.

mod foreign;
mod run;
mod stages;

use std::sync::Arc;
use std::time::Instant;

pub use self::run::{Failures, compute_columns, measure_frame};
use self::stages::Stages;
use super::{About, Cell, Columns, Comparison, MethodRow, Variant, machine};
use crate::math::{Affine, Point};
use crate::methods::{Actor, Subject};
use crate::metrics::{self, Better, METRICS, Meter, Metric, Quantity, RestSkin, Unit};
use crate::progress::{Cancelled, Progress};
use crate::studio::Snapshot;

/// Time to compute the skin; measured beside the [`METRICS`], which look at the skin only.
pub static FRAME_TIME: Quantity = Quantity {
    id: "frame_ms",
    label: "Time",
    unit: Unit::Milliseconds,
    doc: "Time to compute the skin of a pose or frame. In a set of poses, simulated methods start anew in each pose, and their time lasts \
          until the flesh is still.",
    better: Better::Lower,
};

/// Part of the progress that binding a method takes, against computing and measuring its poses.
const BINDING_SHARE: f32 = 0.1;

/// What is compared.
pub struct CompareSettings {
    /// The methods and variants, in the order of the rows.
    pub variants: Vec<Variant>,
    /// Results of other programs, as further rows after them.
    pub results: Vec<ForeignResult>,
    /// The poses.
    pub columns: Columns,
    /// The row that distances are measured to.
    pub distance_to: Option<usize>,
    /// Columns whose skins are kept for pictures, by index.
    pub kept: Vec<usize>,
}

impl CompareSettings {
    /// Name of a row, for people.
    pub(super) fn row_label(&self, row: usize) -> String {
        match self.variants.get(row) {
            Some(variant) => variant.label.clone(),
            None => self.results[row - self.variants.len()].name.clone(),
        }
    }
}

/// What another program made of the same character.
pub struct ForeignResult {
    /// Its name in the comparison.
    pub name: String,
    /// Positions, one list for each column. With as many vertices as the source meshes have they are measured as a method's; otherwise
    /// only their distance is, from the closest points of the skin that distances are measured to.
    pub frames: Vec<Vec<Point>>,
}

/// A measured comparison with the skins that were kept.
pub struct Measured {
    /// The numbers. [`About`] is left empty.
    pub comparison: Comparison,
    /// Of each method, the states in the columns of [`CompareSettings::kept`]; `None` where it failed.
    states: Vec<Vec<Option<Arc<Snapshot>>>>,
    /// [`CompareSettings::kept`].
    kept: Vec<usize>,
}

impl Measured {
    /// Of each method, the states in some of the columns that were kept; `None` where it failed, or the column was not kept.
    #[must_use]
    pub fn states_in(&self, columns: &[usize]) -> Vec<Vec<Option<Arc<Snapshot>>>> {
        let place = |column: &usize| self.kept.iter().position(|kept| kept == column);
        let places: Vec<Option<usize>> = columns.iter().map(place).collect();
        let of_row = |row: &Vec<Option<Arc<Snapshot>>>| {
            let states = places.iter().map(|place| row[(*place)?].clone());
            states.collect()
        };
        self.states.iter().map(of_row).collect()
    }
}

/// Measures every method in every pose. A method that cannot be used, or fails in a pose, has cells that say so.
///
/// # Errors
/// [`Cancelled`].
pub fn compare(
    subject: &Arc<Subject>,
    settings: &CompareSettings,
    progress: &Progress,
) -> Result<Measured, Cancelled> {
    let count = settings.variants.len() + settings.results.len();
    let mut measuring = Measuring::new(subject, settings, progress)?;
    // The target of distances comes first: the others are measured against it.
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|&row| Some(row) != settings.distance_to);
    for (index, row) in order.into_iter().enumerate() {
        let [from, to] = [index, index + 1].map(|run| run as f32 / count as f32);
        let progress = progress.part(from, to);
        if row < settings.variants.len() {
            measuring.row(row, &progress)?;
        } else {
            measuring.foreign_row(row, &progress)?;
        }
    }
    Ok(measuring.finish())
}

impl About {
    /// What is known of a subject and of the settings; files, set and command are left empty.
    #[must_use]
    pub fn of(subject: &Subject, settings: &CompareSettings) -> Self {
        let character = &subject.character;
        let target = settings.distance_to.map(|row| settings.row_label(row));
        Self {
            character: character.name.clone(),
            vertices: character.source_vertices(),
            triangles: character.source_triangles(),
            joints: character.skeleton.len(),
            weights: subject.weight_method().to_string(),
            distance_to: target.unwrap_or_default(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            machine: machine(),
            threads: rayon::current_num_threads(),
            ..Self::default()
        }
    }
}

/// A comparison that is being measured.
struct Measuring<'a> {
    subject: &'a Arc<Subject>,
    settings: &'a CompareSettings,
    meter: Meter,
    quantities: Vec<Quantity>,
    /// Positions by the method that distances are measured to, in every column where it did not fail.
    reference: Vec<Option<Vec<Point>>>,
    rows: Vec<MethodRow>,
    cells: Vec<Cell>,
    states: Vec<Vec<Option<Arc<Snapshot>>>>,
}

/// Result of one method.
struct Run {
    bind_ms: Option<f64>,
    failure: Option<String>,
    failures: Failures,
}

impl<'a> Measuring<'a> {
    fn new(
        subject: &'a Arc<Subject>,
        settings: &'a CompareSettings,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        let metrics: Vec<&'static Metric> = if settings.distance_to.is_some() {
            METRICS.to_vec()
        } else {
            metrics::without_reference().collect()
        };
        let measured = metrics.iter().flat_map(|metric| metric.quantities);
        let quantities = measured.copied().chain([FRAME_TIME]).collect();
        let rows = settings.variants.len() + settings.results.len();
        let columns = settings.columns.len();
        Ok(Self {
            subject,
            settings,
            meter: Meter::new(RestSkin::of(subject), metrics, &progress.silent())?,
            quantities,
            reference: vec![None; columns],
            rows: vec![MethodRow::default(); rows],
            cells: vec![Cell::default(); rows * columns],
            states: vec![vec![None; settings.kept.len()]; rows],
        })
    }

    /// Measures one method.
    fn row(&mut self, row: usize, progress: &Progress) -> Result<(), Cancelled> {
        let variant = &self.settings.variants[row];
        let columns = self.settings.columns.len();
        let is_target = self.settings.distance_to == Some(row);
        let (mut times, mut frames) = (Stages::default(), 0);
        let Self {
            meter,
            quantities,
            reference,
            cells,
            states,
            settings,
            ..
        } = self;
        let receive = |column: usize, world: &[Affine], actor: &Actor| {
            if is_target {
                reference[column] = Some(actor.positions().to_vec());
            }
            let other = reference.get(column).and_then(Option::as_deref);
            let measured = measure_frame(meter, actor, world, other, progress)?;
            let total_ms = actor.times().total_ms;
            cells[row * columns + column].values = quantities
                .iter()
                .map(|quantity| {
                    if quantity.id == FRAME_TIME.id {
                        Some(total_ms)
                    } else {
                        measured.get(quantity.id)
                    }
                })
                .collect();
            times.add(&actor.times());
            frames += 1;
            if let Some(kept) = settings.kept.iter().position(|&kept| kept == column) {
                states[row][kept] = Some(Arc::new(Snapshot::of_actor(actor, world.to_vec())));
            }
            Ok(())
        };
        let run = run(self.subject, settings, variant, progress, receive)?;
        for cell in &mut cells[row * columns..][..columns] {
            cell.values.resize(quantities.len(), None);
            if cell.values.iter().all(Option::is_none) {
                cell.failure.clone_from(&run.failure);
            }
        }
        for (column, failure) in run.failures {
            cells[row * columns + column].failure = Some(failure);
        }
        self.rows[row] = MethodRow {
            id: variant.id.clone(),
            label: variant.label.clone(),
            settings: variant.settings.clone(),
            bind_ms: run.bind_ms,
            stages_ms: times.means(frames),
            failure: run.failure,
        };
        Ok(())
    }

    /// Leaves out quantities that no method has.
    fn finish(self) -> Measured {
        let Self {
            settings,
            quantities,
            rows,
            mut cells,
            states,
            ..
        } = self;
        let has_value = |quantity: usize| {
            cells
                .iter()
                .any(|cell| cell.values.get(quantity).is_some_and(Option::is_some))
        };
        let defined: Vec<usize> = (0..quantities.len()).filter(|&q| has_value(q)).collect();
        for cell in &mut cells {
            cell.values = defined
                .iter()
                .map(|&quantity| cell.values[quantity])
                .collect();
        }
        Measured {
            comparison: Comparison {
                about: About::default(),
                methods: rows,
                poses: settings.columns.list(),
                quantities: defined
                    .iter()
                    .map(|&quantity| quantities[quantity])
                    .collect(),
                cells,
            },
            states,
            kept: settings.kept.clone(),
        }
    }
}

/// Binds a method, computes every column, and passes on each with its index and joints.
fn run(
    subject: &Arc<Subject>,
    settings: &CompareSettings,
    variant: &Variant,
    progress: &Progress,
    mut receive: impl FnMut(usize, &[Affine], &Actor) -> Result<(), Cancelled>,
) -> Result<Run, Cancelled> {
    let start = Instant::now();
    let binding = progress.part(0.0, BINDING_SHARE);
    binding.report(0.0, &variant.label);
    let subject = variant.subject.as_ref().unwrap_or(subject);
    let Variant {
        method,
        values,
        params,
        ..
    } = variant;
    let bound = Actor::bind_with(subject, *method, params, values, &binding);
    progress.check()?;
    let mut actor = match bound {
        Ok(actor) => actor,
        Err(error) => {
            return Ok(Run {
                bind_ms: None,
                failure: Some(error.to_string()),
                failures: Vec::new(),
            });
        }
    };
    let bind_ms = Some(start.elapsed().as_secs_f64() * 1e3);
    let progress = progress.part(BINDING_SHARE, 1.0);
    let failures = compute_columns(
        std::slice::from_mut(&mut actor),
        &settings.columns,
        None,
        &progress,
        |column, world, actors| receive(column, world, &actors[0]),
    )?;
    Ok(Run {
        bind_ms,
        failure: None,
        failures,
    })
}
