//! Computing the columns of a comparison, and measuring what comes out: shared by reports and by the live scoreboard.

use crate::math::{Affine, Point};
use crate::methods::{Actor, Capability, Frame};
use crate::metrics::{Measurements, Meter, MeterFrame};
use crate::progress::{Cancelled, Progress};
use crate::report::Columns;
use crate::studio::PlayError;

/// Columns that could not be computed, each with a sentence.
pub type Failures = Vec<(usize, String)>;

/// Measures the present frame of an actor, whose joints are given, against the bind pose and, if there is one, against the positions by
/// another method. What only some metrics read of simulated flesh is computed only for them.
///
/// # Errors
/// [`Cancelled`].
pub fn measure_frame(
    meter: &mut Meter,
    actor: &Actor,
    world_from_joint: &[Affine],
    reference: Option<&[Point]>,
    progress: &Progress,
) -> Result<Measurements, Cancelled> {
    let frame = if meter.reads_flesh() {
        actor.meter_frame(world_from_joint)
    } else {
        MeterFrame {
            positions: actor.positions(),
            world_from_joint,
            ..MeterFrame::default()
        }
    };
    meter.measure(&MeterFrame { reference, ..frame }, &progress.silent())
}

/// Computes columns by bound methods of one character together, and passes on each with its index and joints.
///
/// Poses are computed one by one, each from rest. A motion is played frame by frame from its start; where no method has state, the frames
/// in `order` are computed instead, in that order: each depends on its pose alone.
///
/// # Errors
/// [`Cancelled`].
pub fn compute_columns(
    actors: &mut [Actor],
    columns: &Columns,
    order: Option<&[usize]>,
    progress: &Progress,
    mut receive: impl FnMut(usize, &[Affine], &[Actor]) -> Result<(), Cancelled>,
) -> Result<Failures, Cancelled> {
    let has_state = |actor: &Actor| actor.method().has(Capability::State);
    match (columns, order) {
        (Columns::Poses(poses), _) => {
            let all: Vec<usize> = (0..poses.len()).collect();
            one_by_one(actors, columns, &all, progress, receive)
        }
        (Columns::Motion(..), Some(order)) if !actors.iter().any(has_state) => {
            one_by_one(actors, columns, order, progress, receive)
        }
        (Columns::Motion(list, take), _) => {
            let mut next = 0;
            let played = take.play_together(actors, progress, |_, world, actors| {
                next += 1;
                receive(next - 1, world, actors)
            });
            match played {
                Ok(()) => Ok(Vec::new()),
                Err(PlayError::Cancelled(cancelled) | PlayError::Receiver(cancelled)) => {
                    Err(cancelled)
                }
                Err(error @ PlayError::Skin { .. }) => {
                    let sentence = error.to_string();
                    let missing = next..list.len();
                    Ok(missing.map(|column| (column, sentence.clone())).collect())
                }
            }
        }
    }
}

/// Computes columns that do not depend on each other.
fn one_by_one(
    actors: &mut [Actor],
    columns: &Columns,
    order: &[usize],
    progress: &Progress,
    mut receive: impl FnMut(usize, &[Affine], &[Actor]) -> Result<(), Cancelled>,
) -> Result<Failures, Cancelled> {
    let Some(first) = actors.first() else {
        return Ok(Vec::new());
    };
    let (subject, label) = (first.subject().clone(), first.method().label());
    let mut failures = Vec::new();
    for (done, &column) in order.iter().enumerate() {
        progress.check()?;
        progress.report(done as f32 / order.len() as f32, label);
        let pose = columns.pose(&subject, column);
        let world = subject.character.skeleton.world_from_joint(&pose);
        let frame = Frame {
            world_from_joint: &world,
            dt_secs: 0.0,
        };
        let advanced = actors.iter_mut().try_for_each(|actor| {
            actor.reset();
            actor.set_morphs(&pose.morphs);
            actor.advance(&frame)
        });
        match advanced {
            Ok(()) => receive(column, &world, actors)?,
            Err(error) => failures.push((column, error.to_string())),
        }
    }
    Ok(failures)
}
