//! The poses in which a method is worst: quasi-random samples of the range of motion, then a local search from the worst of them.
//!
//! A sample combines one to four movements. Which ones, and how far they go, are coordinates of a Halton sequence (Halton, "On the
//! efficiency of certain quasi-random sequences of points", 1960), so that the samples cover the space evenly and are the same in
//! every run. The local search changes one coordinate at a time and keeps what makes the pose worse (Hooke and Jeeves, "Direct
//! search", 1961).

use std::sync::Arc;

use super::badness;
use crate::methods::{Actor, BindError, Frame};
use crate::metrics::{self, Meter, Metric, Quantity, RestSkin};
use crate::progress::{Cancelled, Progress};
use crate::rig::{Pose, PoseSpace, motion_range};
use crate::studio::Snapshot;

/// Most movements that a sample combines.
const MOST_COMBINED: usize = 4;
/// A sampled movement goes at least this part of its way.
const LEAST_PART: f64 = 0.35;
/// First step of the local search, as a part of a movement's way.
const FIRST_STEP: f64 = 0.25;
/// Two found poses differ in their coordinates by at least this distance.
const LEAST_DISTANCE: f64 = 0.5;
/// Part of the progress that binding takes.
const BINDING_SHARE: f32 = 0.1;

/// Short names of the quantities that are searched most.
const SHORT_NAMES: [(&str, &str); 7] = [
    ("pairs", "new_pairs"),
    ("volume", "volume_change"),
    ("creases", "new_creases"),
    ("roughness", "roughness_deg"),
    ("stretch", "stretch_p99"),
    ("girth", "girth_change_min"),
    ("depth", "contact_depth_mm"),
];

/// What is searched for.
pub struct WorstSettings {
    /// Id or short name of the quantity by which poses are compared.
    pub quantity: String,
    /// Number of quasi-random poses.
    pub samples: usize,
    /// Number of further poses in each local search.
    pub refinements: usize,
    /// Number of poses to find.
    pub count: usize,
}

/// A found pose.
pub struct WorstPose {
    /// The pose.
    pub pose: Pose,
    /// What was measured.
    pub quantity: &'static Quantity,
    /// Its value.
    pub value: f64,
    /// Movements and the part of their way that the pose goes, −1 to 1, the largest part first.
    pub movements: Vec<(String, f64)>,
    /// The skin.
    pub state: Arc<Snapshot>,
}

/// Why the search could not be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WorstError {
    /// No joint bends.
    #[error("no joint was found that bends, so there are no poses to search")]
    NoMovement,
    /// No such quantity.
    #[error("there is no metric \"{asked}\"; there are {known}")]
    UnknownQuantity {
        /// The requested id.
        asked: String,
        /// All ids.
        known: String,
    },
    /// The quantity is not defined for this method or character.
    #[error("{quantity} has no value in any pose of {method}")]
    Undefined {
        /// The requested id.
        quantity: String,
        /// The method's id.
        method: &'static str,
    },
    /// The method cannot be bound.
    #[error(transparent)]
    Bind(#[from] BindError),
    /// The work was cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

/// The metric that measures a quantity, given by its id or by a short name, if it needs no other method.
fn metric_of(id: &str) -> Result<(&'static Metric, &'static Quantity), WorstError> {
    let all = || {
        metrics::without_reference()
            .flat_map(|metric| metric.quantities.iter().map(move |q| (metric, q)))
    };
    let meant = SHORT_NAMES
        .iter()
        .find(|(short, _)| *short == id)
        .map_or(id, |(_, meant)| meant);
    all()
        .find(|(_, quantity)| quantity.id == meant)
        .ok_or_else(|| WorstError::UnknownQuantity {
            asked: id.to_owned(),
            known: all()
                .map(|(_, quantity)| quantity.id)
                .collect::<Vec<_>>()
                .join(", "),
        })
}

/// All quantities that can be searched: those that need no other method.
pub fn searched_quantities() -> impl Iterator<Item = &'static Quantity> {
    metrics::without_reference().flat_map(|metric| metric.quantities)
}

/// The quantity with an id or a short name, if it can be searched.
#[must_use]
pub fn searched_quantity(id: &str) -> Option<&'static Quantity> {
    metric_of(id).ok().map(|(_, quantity)| quantity)
}

/// Finds the poses in which a method, which `bind` binds to a character, is worst, the worst first; fewer than requested if the search
/// finds fewer. Poses in which the quantity is ideal are not among them: if there are no others, none is found. Each time the list changes, `show` gets what was found until then.
///
/// # Errors
/// [`WorstError`].
pub fn worst_poses(
    bind: impl FnOnce(&Progress) -> Result<Actor, BindError>,
    settings: &WorstSettings,
    show: &mut dyn FnMut(&[Arc<WorstPose>]),
    progress: &Progress,
) -> Result<Vec<Arc<WorstPose>>, WorstError> {
    let (metric, quantity) = metric_of(&settings.quantity)?;
    let binding = progress.part(0.0, BINDING_SHARE);
    let actor = bind(&binding)?;
    let subject = actor.subject().clone();
    let method = actor.method();
    let skeleton = &subject.character.skeleton;
    let space = PoseSpace::of(skeleton, &motion_range(skeleton));
    if space.dimensions() == 0 {
        return Err(WorstError::NoMovement);
    }
    let meter = Meter::new(RestSkin::of(&subject), [metric], &binding.silent())?;
    let mut search = Search {
        actor,
        meter,
        quantity,
        space: &space,
        count: settings.count,
        tried: Vec::new(),
        found: Vec::new(),
        show,
    };
    let steps = settings.samples + settings.count * settings.refinements;
    let progress = progress.part(BINDING_SHARE, 1.0);
    let report = |step: usize| progress.report(step as f32 / steps.max(1) as f32, "Searching");
    for index in 0..settings.samples {
        progress.check()?;
        report(index);
        search.try_point(sample(&space, index))?;
    }
    for (index, start) in search.best(settings.count).into_iter().enumerate() {
        let done = settings.samples + index * settings.refinements;
        search.refine(start, settings.refinements, |step| {
            report(done + step);
            progress.check()
        })?;
    }
    if search.tried.is_empty() {
        return Err(WorstError::Undefined {
            quantity: settings.quantity.clone(),
            method: method.id(),
        });
    }
    Ok(search.found.into_iter().map(|(_, pose)| pose).collect())
}

/// Poses that were tried, and all that is needed to try more.
struct Search<'a> {
    actor: Actor,
    meter: Meter,
    quantity: &'static Quantity,
    space: &'a PoseSpace,
    /// Most poses to find.
    count: usize,
    /// Points with their values.
    tried: Vec<(Vec<f64>, f64)>,
    /// The worst of them until now, the worst first, with their indices.
    found: Vec<(usize, Arc<WorstPose>)>,
    show: &'a mut dyn FnMut(&[Arc<WorstPose>]),
}

impl Search<'_> {
    /// Measures the pose at a point. Returns how bad it is; `None` if the method fails there or the quantity is not defined.
    fn try_point(&mut self, point: Vec<f64>) -> Result<Option<f64>, Cancelled> {
        let Some(value) = self.measure(&point)? else {
            return Ok(None);
        };
        self.tried.push((point, value));
        self.update_found()?;
        Ok(Some(badness(value, self.quantity.better)))
    }

    fn measure(&mut self, point: &[f64]) -> Result<Option<f64>, Cancelled> {
        let pose = self.space.pose(point);
        let skeleton = &self.actor.subject().character.skeleton;
        let world = skeleton.world_from_joint(&pose);
        self.actor.reset();
        self.actor.set_morphs(&pose.morphs);
        let frame = Frame {
            world_from_joint: &world,
            dt_secs: 0.0,
        };
        if self.actor.advance(&frame).is_err() {
            return Ok(None);
        }
        let frame = self.actor.meter_frame(&world);
        let measured = self.meter.measure(&frame, &Progress::new())?;
        Ok(measured
            .get(self.quantity.id)
            .filter(|value| value.is_finite()))
    }

    /// Indices of the worst tried points, any two of them apart; without those that are ideal.
    fn best(&self, count: usize) -> Vec<usize> {
        let bad = |index: usize| badness(self.tried[index].1, self.quantity.better);
        let mut order: Vec<usize> = (0..self.tried.len())
            .filter(|&index| bad(index) > 0.0)
            .collect();
        order.sort_by(|&a, &b| bad(b).total_cmp(&bad(a)));
        let mut chosen: Vec<usize> = Vec::new();
        for index in order {
            let far = |&other: &usize| {
                distance(&self.tried[index].0, &self.tried[other].0) >= LEAST_DISTANCE
            };
            if chosen.len() < count && chosen.iter().all(far) {
                chosen.push(index);
            }
        }
        chosen
    }

    /// Changes one coordinate at a time and keeps what is worse; the step is halved when no coordinate helps.
    fn refine(
        &mut self,
        start: usize,
        tries: usize,
        mut before: impl FnMut(usize) -> Result<(), Cancelled>,
    ) -> Result<(), Cancelled> {
        let (mut point, value) = self.tried[start].clone();
        let mut worst = badness(value, self.quantity.better);
        let (mut step, mut unchanged) = (FIRST_STEP, 0);
        // Movements that the pose uses are changed first.
        let mut order: Vec<usize> = (0..point.len()).collect();
        order.sort_by(|&a, &b| point[b].abs().total_cmp(&point[a].abs()));
        let mut turn = order.into_iter().cycle();
        for index in 0..tries {
            before(index)?;
            let Some(coordinate) = turn.next() else { break };
            let way = if index % 2 == 0 { step } else { -step };
            let mut next = point.clone();
            next[coordinate] += if point[coordinate] < 0.0 { -way } else { way };
            self.space.clamp(&mut next);
            if next == point {
                continue;
            }
            match self.try_point(next.clone())? {
                Some(bad) if bad > worst => {
                    (point, worst, unchanged) = (next, bad, 0);
                }
                _ => unchanged += 1,
            }
            if unchanged >= 2 * MOST_COMBINED {
                (step, unchanged) = (step / 2.0, 0);
            }
        }
        Ok(())
    }

    /// Finds the worst poses again after the last one was tried, and shows them if they are others.
    fn update_found(&mut self) -> Result<(), Cancelled> {
        let chosen = self.best(self.count);
        let before: Vec<usize> = self.found.iter().map(|(index, _)| *index).collect();
        if chosen == before {
            return Ok(());
        }
        let mut found = Vec::with_capacity(chosen.len());
        // The actor is still in the pose that was tried last.
        let mut newest_first = chosen.clone();
        newest_first.sort_unstable_by(|a, b| b.cmp(a));
        for index in newest_first {
            let known = self.found.iter().find(|(known, _)| *known == index);
            let pose = match known {
                Some((_, pose)) => pose.clone(),
                None => Arc::new(self.worst_pose(index)?),
            };
            found.push((index, pose));
        }
        found.sort_by_key(|(index, _)| chosen.iter().position(|other| other == index));
        self.found = found;
        let poses: Vec<_> = self.found.iter().map(|(_, pose)| pose.clone()).collect();
        (self.show)(&poses);
        Ok(())
    }

    /// A tried pose with its skin, computed again unless it was tried last.
    fn worst_pose(&mut self, index: usize) -> Result<WorstPose, Cancelled> {
        let (point, value) = self.tried[index].clone();
        if index + 1 < self.tried.len() {
            self.measure(&point)?;
        }
        let pose = self.space.pose(&point);
        let skeleton = &self.actor.subject().character.skeleton;
        let world = skeleton.world_from_joint(&pose);
        let mut movements: Vec<(String, f64)> = point
            .iter()
            .enumerate()
            .filter(|(_, part)| part.abs() > 1e-3)
            .map(|(coordinate, part)| (self.space.name(coordinate).to_owned(), *part))
            .collect();
        movements.sort_by(|a, b| b.1.abs().total_cmp(&a.1.abs()));
        Ok(WorstPose {
            pose,
            quantity: self.quantity,
            value,
            movements,
            state: Arc::new(Snapshot::of_actor(&self.actor, world)),
        })
    }
}

/// A quasi-random point with one to four movements.
fn sample(space: &PoseSpace, index: usize) -> Vec<f64> {
    const PRIMES: [u64; 2 * MOST_COMBINED] = [2, 3, 5, 7, 11, 13, 17, 19];
    let mut point = vec![0.0; space.dimensions()];
    let combined = 1 + index % MOST_COMBINED;
    for part in 0..combined {
        let which = halton(index as u64 + 1, PRIMES[2 * part]);
        let how_far = halton(index as u64 + 1, PRIMES[2 * part + 1]);
        let coordinate = ((which * point.len() as f64) as usize).min(point.len() - 1);
        let signed = 2.0 * how_far - 1.0;
        let far = LEAST_PART + (1.0 - LEAST_PART) * signed.abs();
        point[coordinate] = far.copysign(signed);
        let wanted = point[coordinate];
        space.clamp(&mut point);
        // Movements with one end go there instead.
        if point[coordinate] == 0.0 {
            point[coordinate] = -wanted;
            space.clamp(&mut point);
        }
    }
    point
}

/// The radical inverse of an index, 0 to 1.
fn halton(mut index: u64, base: u64) -> f64 {
    let (mut value, mut part) = (0.0, 1.0);
    while index > 0 {
        part /= base as f64;
        value += part * (index % base) as f64;
        index /= base;
    }
    value
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    let squares = a.iter().zip(b).map(|(a, b)| (a - b) * (a - b));
    squares.sum::<f64>().sqrt()
}
