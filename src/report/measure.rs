//! Measures methods over poses or over the frames of a clip.

use std::sync::Arc;
use std::time::Instant;

use rayon::prelude::*;

use super::{About, Cell, Comparison, MethodRow, PoseColumn, machine};
use crate::dynamics::Params;
use crate::math::{Affine, Point};
use crate::mesh::{TriMesh, TriangleTree};
use crate::methods::{Actor, Frame, MethodId, StepTimes, Subject};
use crate::metrics::{self, Better, METRICS, Meter, MeterFrame, Metric, Quantity, RestSkin, Unit};
use crate::param::ParamValues;
use crate::progress::{Cancelled, Progress};
use crate::rig::{Pose, RangePose};
use crate::studio::{PlayError, Snapshot, Take};

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
    /// The methods, in the order of the rows, with values of their own parameters.
    pub methods: Vec<(MethodId, ParamValues)>,
    /// Results of other programs, as further rows after the methods.
    pub results: Vec<ForeignResult>,
    /// Physical parameters of simulated methods.
    pub params: Params,
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
        match self.methods.get(row) {
            Some((method, _)) => method.label().to_owned(),
            None => self.results[row - self.methods.len()].name.clone(),
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

/// The poses of a comparison.
pub enum Columns {
    /// Separate poses; simulated flesh is held in each until it is still.
    Poses(Vec<(PoseColumn, Pose)>),
    /// Frames of a motion: one column for each frame of the take.
    Motion(Vec<PoseColumn>, Take),
}

/// A measured comparison with the skins that were kept.
pub struct Measured {
    /// The numbers. [`About`] is left empty.
    pub comparison: Comparison,
    /// Of each method, the states in the columns of [`CompareSettings::kept`]; `None` where it failed.
    pub states: Vec<Vec<Option<Arc<Snapshot>>>>,
}

/// Label of the axis of curves over a movement, and over a motion.
const ANGLE: &str = "Angle, degrees";
const TIME: &str = "Time, seconds";

impl Columns {
    /// The frames of a take, called `name` for people.
    #[must_use]
    pub fn of_take(take: Take, name: &str) -> Self {
        let column = |frame: u32| PoseColumn {
            id: format!("frame-{frame}"),
            label: format!("Frame {frame}, {:.2} s", take.time_of(frame)),
            movement: name.to_owned(),
            at: Some(take.time_of(frame)),
        };
        Self::Motion(take.frames().map(column).collect(), take)
    }

    /// Label of the horizontal axis of curves.
    #[must_use]
    pub fn axis(&self) -> &'static str {
        match self {
            Self::Poses(_) => ANGLE,
            Self::Motion(..) => TIME,
        }
    }

    /// The poses of a range of motion.
    #[must_use]
    pub fn of_range<'a>(poses: impl IntoIterator<Item = &'a RangePose>) -> Self {
        let column = |pose: &RangePose| PoseColumn {
            id: pose.id.clone(),
            label: pose.label.clone(),
            movement: pose.movement.clone(),
            at: Some(pose.angle_deg),
        };
        let poses = poses.into_iter();
        Self::Poses(
            poses
                .map(|pose| (column(pose), pose.pose.clone()))
                .collect(),
        )
    }

    /// The columns.
    #[must_use]
    pub fn list(&self) -> Vec<PoseColumn> {
        match self {
            Self::Poses(poses) => poses.iter().map(|(column, _)| column.clone()).collect(),
            Self::Motion(columns, _) => columns.clone(),
        }
    }

    /// Indices of at most `most` columns for pictures: the last pose of each movement, which is the most extreme, or frames, in equal
    /// steps.
    #[must_use]
    pub fn drawn(&self, most: usize) -> Vec<usize> {
        let list = self.list();
        let is_last = |index: &usize| {
            list.get(index + 1)
                .is_none_or(|next| next.movement != list[*index].movement)
        };
        let candidates: Vec<usize> = match self {
            Self::Poses(_) => (0..list.len()).filter(is_last).collect(),
            Self::Motion(..) => (0..list.len()).collect(),
        };
        let count = candidates.len().min(most);
        let step = candidates.len() as f64 / count.max(1) as f64;
        (0..count)
            .map(|index| candidates[(((index as f64 + 1.0) * step) as usize).saturating_sub(1)])
            .collect()
    }

    /// Number of columns.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Poses(poses) => poses.len(),
            Self::Motion(columns, _) => columns.len(),
        }
    }

    /// Global transforms of the joints in a column.
    fn world(&self, subject: &Subject, column: usize) -> Vec<Affine> {
        let character = &subject.character;
        match self {
            Self::Poses(poses) => character.skeleton.world_from_joint(&poses[column].1),
            Self::Motion(_, take) => {
                let frame = take.first_frame() + column as u32;
                let pose = take.motion.pose_at(character, take.time_of(frame));
                character.skeleton.world_from_joint(&pose)
            }
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
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
    let count = settings.methods.len() + settings.results.len();
    let mut measuring = Measuring::new(subject, settings, progress)?;
    // The target of distances comes first: the others are measured against it.
    let mut order: Vec<usize> = (0..count).collect();
    order.sort_by_key(|&row| Some(row) != settings.distance_to);
    for (index, row) in order.into_iter().enumerate() {
        let [from, to] = [index, index + 1].map(|run| run as f32 / count as f32);
        let progress = progress.part(from, to);
        if row < settings.methods.len() {
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
    /// Failures in single columns.
    failures: Vec<(usize, String)>,
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
        let rows = settings.methods.len() + settings.results.len();
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
        let (method, values) = &self.settings.methods[row];
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
            let frame = MeterFrame {
                reference: reference.get(column).and_then(Option::as_deref),
                ..actor.meter_frame(world)
            };
            let measured = meter.measure(&frame, &progress.silent())?;
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
        let run = run(self.subject, settings, *method, values, progress, receive)?;
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
            id: method.id().to_owned(),
            label: method.label().to_owned(),
            bind_ms: run.bind_ms,
            stages_ms: times.means(frames),
            failure: run.failure,
        };
        Ok(())
    }

    /// Measures what another program made.
    fn foreign_row(&mut self, row: usize, progress: &Progress) -> Result<(), Cancelled> {
        let settings = self.settings;
        let result = &settings.results[row - settings.methods.len()];
        let columns = settings.columns.len();
        let vertices = self.subject.bind_positions.len();
        for column in 0..columns {
            progress.check()?;
            progress.report(column as f32 / columns as f32, &result.name);
            let cell = &mut self.cells[row * columns + column];
            cell.values = vec![None; self.quantities.len()];
            let Some(positions) = result.frames.get(column) else {
                cell.failure = Some(format!(
                    "the file has {} frames, and this is pose {}",
                    result.frames.len(),
                    column + 1
                ));
                continue;
            };
            let values = if positions.len() == vertices {
                if settings.distance_to == Some(row) {
                    self.reference[column] = Some(positions.clone());
                }
                let world = settings.columns.world(self.subject, column);
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
        }
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
        closest.map(|closest| closest.distance * subject.character.metres_per_unit * 1e3)
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

/// Binds a method, computes every column, and passes on each with its index and joints.
fn run(
    subject: &Arc<Subject>,
    settings: &CompareSettings,
    method: MethodId,
    values: &ParamValues,
    progress: &Progress,
    mut receive: impl FnMut(usize, &[Affine], &Actor) -> Result<(), Cancelled>,
) -> Result<Run, Cancelled> {
    let start = Instant::now();
    let binding = progress.part(0.0, BINDING_SHARE);
    binding.report(0.0, method.label());
    let bound = Actor::bind_with(subject, method, &settings.params, values, &binding);
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
    let mut failures = Vec::new();
    match &settings.columns {
        Columns::Poses(poses) => {
            for (column, (_, pose)) in poses.iter().enumerate() {
                progress.check()?;
                progress.report(column as f32 / poses.len() as f32, method.label());
                let world = subject.character.skeleton.world_from_joint(pose);
                actor.reset();
                let frame = Frame {
                    world_from_joint: &world,
                    dt_secs: 0.0,
                };
                match actor.advance(&frame) {
                    Ok(()) => receive(column, &world, &actor)?,
                    Err(error) => failures.push((column, error.to_string())),
                }
            }
        }
        Columns::Motion(columns, take) => {
            let mut next = 0;
            let actors = std::slice::from_mut(&mut actor);
            let played = take.play_together(actors, &progress, |_, world, actors| {
                next += 1;
                receive(next - 1, world, &actors[0])
            });
            match played {
                Ok(()) => {}
                Err(PlayError::Cancelled(cancelled) | PlayError::Receiver(cancelled)) => {
                    return Err(cancelled);
                }
                Err(error @ PlayError::Skin { .. }) => {
                    let sentence = error.to_string();
                    failures.extend((next..columns.len()).map(|column| (column, sentence.clone())));
                }
            }
        }
    }
    Ok(Run {
        bind_ms,
        failure: None,
        failures,
    })
}

/// Sums of the times of a frame's parts.
#[derive(Default)]
struct Stages {
    sums_ms: [f64; Self::NAMES.len()],
}

impl Stages {
    const NAMES: [&'static str; 6] = [
        "base surface",
        "local steps",
        "global steps",
        "upsampling",
        "normals",
        "other",
    ];

    fn add(&mut self, times: &StepTimes) {
        let parts = [
            times.anchors_ms,
            times.local_ms,
            times.global_ms,
            times.upsampling_ms,
            times.normals_ms,
        ];
        let other = times.total_ms - parts.iter().sum::<f64>();
        for (sum, part) in self
            .sums_ms
            .iter_mut()
            .zip(parts.into_iter().chain([other.max(0.0)]))
        {
            *sum += part;
        }
    }

    /// Mean of each part that takes any time, the longest first.
    fn means(&self, frames: usize) -> Vec<(String, f64)> {
        let mean = |sum: &f64| sum / frames.max(1) as f64;
        let named = Self::NAMES.into_iter().zip(self.sums_ms.iter().map(mean));
        let mut means: Vec<(String, f64)> = named
            .filter(|(_, ms)| *ms > 0.0)
            .map(|(name, ms)| (name.to_owned(), ms))
            .collect();
        means.sort_by(|a, b| b.1.total_cmp(&a.1));
        means
    }
}
