//! How far the instances of a crowd are from single characters on the device.

use std::sync::Arc;

use super::agreement::{Agreement, Distance, bars, on_bones, worst};
use super::play::step_secs;
use super::record::{Missed, Run};
use crate::cli::CommandResult;
use crate::dynamics::{Collisions, Params};
use crate::gpu::actor::{GpuCrowd, GpuDevice};
use crate::math::Point;
use crate::methods::{Actor, Frame, MethodId, Subject};
use crate::progress::Progress;
use crate::session::{CrowdMotion, Motion};

/// Instances that are compared.
const COUNT: usize = 3;
/// Part of the frames that single characters are compared in.
const PART: u32 = 3;

/// Flesh and a plain method.
pub(super) fn measure(run: &mut Run<'_>) -> CommandResult {
    let name = run.scale.character();
    let subject = match run.prepare(name, |run| on_bones(run, name)) {
        Ok(subject) => subject,
        Err(missed) => return run.tell::<Agreement>(name, Err(missed)),
    };
    for method in [MethodId::PD, MethodId::LBS] {
        let what = format!("a crowd of {name} by {}", method.id());
        run.measure(&what, |run| compare(run, &subject, method))?;
    }
    Ok(())
}

fn compare(
    run: &mut Run<'_>,
    subject: &Arc<Subject>,
    method: MethodId,
) -> Result<Agreement, Missed> {
    let params = Params {
        collisions: Collisions::Off,
        ..Params::default()
    };
    let bind = || Actor::bind(subject, method, &params, &Progress::new());
    let motion = CrowdMotion::new(subject, Motion::Rest, COUNT);
    let mut crowd = GpuCrowd::new(run.gpu, bind()?, motion.places())?;
    let mut single = Vec::new();
    let first = GpuDevice::new(run.gpu, &bind()?)?;
    for _ in 0..COUNT {
        let mut actor = bind()?;
        first.another()?.give_to(&mut actor);
        single.push(actor);
    }
    let frames = run.scale.compared_frames() / PART;
    let mut agreement = Agreement {
        character: run.scale.character().to_owned(),
        method,
        crowd: Some(COUNT),
        solver: None,
        contacts: false,
        contacts_most: 0,
        frames,
        first: Distance::default(),
        worst: Distance::default(),
        worst_frame: 0,
        bars: bars(method),
        moved: 0.0,
        passes: false,
    };
    let step_secs = step_secs(&single[0]);
    for frame in 0..frames {
        let poses = motion.poses_at(&subject.character, f64::from(frame) * step_secs);
        let dt_secs = if frame == 0 { 0.0 } else { step_secs };
        crowd.advance(&poses, dt_secs)?;
        crowd.present()?;
        let (positions, _) = crowd.fetch()?;
        let of_instances = positions.chunks(subject.bind_positions.len());
        for (((own, actor), pose), place) in of_instances
            .zip(&mut single)
            .zip(&poses)
            .zip(motion.places())
        {
            actor.advance(&Frame {
                world_from_joint: pose,
                dt_secs,
            })?;
            if let Some(fault) = actor.take_fault() {
                return Err(Missed::Failed(format!("frame {frame}: {fault}")));
            }
            let placed: Vec<Point> = actor.positions().iter().map(|p| p + place).collect();
            agreement.note(frame, Distance::new(worst(own, &placed), subject));
            let moved = worst(actor.positions(), &subject.bind_positions) / subject.size;
            agreement.moved = agreement.moved.max(moved);
        }
    }
    if crowd.recovered() > 0 {
        return Err(Missed::Failed(format!(
            "{} times an instance was settled anew",
            crowd.recovered()
        )));
    }
    Ok(agreement.decided())
}
