//! Counting what is wrong with a skin in a pose.

use std::sync::Arc;

use sinew::dynamics::Params;
use sinew::math::Affine;
use sinew::methods::{Actor, Frame, MethodId, Subject};
use sinew::metrics::{Meter, MeterFrame, Metric, RestSkin};
use sinew::progress::Progress;

/// A value of a metric in a pose that a method has settled in.
pub fn counted(
    subject: &Arc<Subject>,
    method: MethodId,
    world_from_joint: &[Affine],
    (metric, value): (&'static Metric, &str),
) -> usize {
    let (progress, physics) = (Progress::new(), Params::default());
    let mut meter = Meter::new(RestSkin::of(subject), [metric], &progress).expect("binds");
    let mut actor = Actor::bind(subject, method, &physics, &progress).expect("binds");
    let frame = Frame {
        world_from_joint,
        dt_secs: 0.0,
    };
    actor.advance(&frame).expect("moves");
    let frame = MeterFrame {
        positions: actor.positions(),
        ..MeterFrame::default()
    };
    let found = meter.measure(&frame, &progress).expect("measures");
    found.count(value)
}
