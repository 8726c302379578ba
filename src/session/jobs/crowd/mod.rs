//! Crowds: many instances of the character in a view, simulated on the graphics device that draws.
//!
//! | file       | what                                                                   |
//! |------------|------------------------------------------------------------------------|
//! | [`input`]   | what a crowd has to play, derived from the clock                        |
//! | [`worker`] | the owner's side of the thread that makes and advances a crowd          |
//! | [`running`] | the thread's side                                                      |
//! | [`shared`] | data that both sides access                                             |
//!
//! [`View::crowd`] is the number of instances. A crowd is made in the background, and made again when one of its inputs
//! changes; until it is ready the view shows the single character. If a crowd cannot be made, or its device is lost, the user gets
//! one message and the view shows one character.
//!
//! The first instance has the character's position and timing. The others cannot be picked, and overlays are drawn for the
//! character only.

mod input;
mod running;
mod shared;
mod worker;

use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use self::input::Follower;
use self::shared::Order;
use self::worker::CrowdWorker;
use super::JobContext;
use crate::character::FleshFactors;
use crate::dynamics::{Collisions, Params};
use crate::gpu::GpuContext;
use crate::methods::{Capability, Subject};
use crate::session::job::JobView;
use crate::session::{ChannelId, Level, View, ViewId, Views};
use crate::studio::CrowdFrame;

/// A crowd is made only after its inputs have not changed for this long.
const PAUSE_SECS: f64 = 0.25;

/// Time since the last tick.
#[derive(Debug, Clone, Copy)]
pub(in crate::session) struct Elapsed {
    /// Real seconds.
    pub(in crate::session) real_secs: f64,
    /// Seconds by which the clocks advanced.
    pub(in crate::session) clock_secs: f64,
}

/// A crowd, ready or being made.
struct MadeCrowd {
    order: Order,
    worker: CrowdWorker,
    follower: Follower,
}

/// State of a view's crowd.
struct Crowd {
    view: ViewId,
    shown: Option<MadeCrowd>,
    coming: Option<MadeCrowd>,
    /// The crowd to make next, and how long its inputs have been unchanged.
    wanted: Option<(Order, f64)>,
}

/// The crowds of all views.
#[derive(Default)]
pub struct Crowds {
    list: Vec<Crowd>,
    /// The frames at the last check.
    last_sequences: Vec<u64>,
}

impl Crowd {
    fn made(&self) -> impl Iterator<Item = &MadeCrowd> {
        self.shown.iter().chain(&self.coming)
    }

    fn frame(&self) -> Option<Arc<CrowdFrame>> {
        self.shown.as_ref()?.worker.latest()
    }

    /// Shows crowds that have become ready, and drops those of another character.
    fn exchange(&mut self, subject: &Arc<Subject>) {
        if self
            .coming
            .as_ref()
            .is_some_and(|coming| coming.worker.latest().is_some())
        {
            self.shown = self.coming.take();
        }
        self.shown.take_if(|shown| {
            let crowd_subject = &shown.order.subject;
            !Arc::ptr_eq(
                crowd_subject,
                &subject.weighted(crowd_subject.weight_method()),
            )
        });
    }

    /// Whether an order has been unchanged for long enough and is not being made.
    fn is_due(&mut self, order: &Order, dt_secs: f64) -> bool {
        if self.made().any(|made| made.order == *order) {
            self.wanted = None;
            return false;
        }
        self.coming = None;
        let waited_secs = self
            .wanted
            .take()
            .filter(|(wanted, _)| wanted == order)
            .map_or(0.0, |(_, secs)| secs + dt_secs);
        if waited_secs < PAUSE_SECS {
            self.wanted = Some((order.clone(), waited_secs));
        }
        waited_secs >= PAUSE_SECS
    }
}

impl Crowds {
    /// How much of `dt_secs` the clock may advance, limited by the slowest crowd.
    pub(in crate::session) fn accept(&self, dt_secs: f64) -> f64 {
        self.list
            .iter()
            .filter_map(|crowd| crowd.shown.as_ref())
            .fold(dt_secs, |dt, shown| shown.worker.accept(dt))
    }

    /// Whether a crowd is being made, settles, or moves.
    pub(in crate::session) fn is_active(&self) -> bool {
        self.list
            .iter()
            .any(|crowd| crowd.wanted.is_some() || crowd.made().any(|made| !made.worker.is_idle()))
    }

    /// The running job.
    pub(in crate::session) fn list(&self) -> impl Iterator<Item = JobView> {
        self.list
            .iter()
            .flat_map(Crowd::made)
            .filter_map(|made| made.worker.job())
    }

    /// The present frame of a view's crowd; `None` while it is being made, and in views of one character.
    #[must_use]
    pub fn of(&self, view: ViewId) -> Option<Arc<CrowdFrame>> {
        self.list.iter().find(|crowd| crowd.view == view)?.frame()
    }

    /// Updates the crowds from views, document and clocks. Returns whether there is something new to draw.
    pub(in crate::session) fn follow(
        &mut self,
        views: &[View],
        gpu: Option<&GpuContext>,
        sequences: &Arc<AtomicU64>,
        elapsed: Elapsed,
        context: &mut JobContext<'_>,
    ) -> bool {
        let before = self.list.len();
        self.list
            .retain(|crowd| views.iter().any(|view| view.id == crowd.view));
        let mut changed = self.list.len() != before;
        let Some(subject) = context.document.subject.clone() else {
            return changed;
        };
        for view in views {
            let followed = self
                .prepare(*view, &subject, gpu, sequences, elapsed, context)
                .map(|place| self.post(place, view.channel(), elapsed.clock_secs, context));
            if let Err(why) = followed {
                self.drop_crowd(view.id, context.views);
                context.add_message(
                    Level::Warning,
                    format!("One character is shown instead of {}: {why}.", view.crowd),
                );
                changed = true;
            }
        }
        let sequences: Vec<u64> = self
            .list
            .iter()
            .filter_map(|crowd| Some(crowd.frame()?.sequence))
            .collect();
        changed |= sequences != self.last_sequences;
        self.last_sequences = sequences;
        changed
    }

    /// Starts making a view's crowd if necessary. Returns its index in the list.
    fn prepare(
        &mut self,
        view: View,
        subject: &Arc<Subject>,
        gpu: Option<&GpuContext>,
        sequences: &Arc<AtomicU64>,
        elapsed: Elapsed,
        context: &JobContext<'_>,
    ) -> Result<usize, String> {
        let gpu = gpu
            .ok_or("a crowd needs a graphics device, and there is none")?
            .clone();
        let place = self
            .list
            .iter()
            .position(|crowd| crowd.view == view.id)
            .unwrap_or_else(|| {
                self.list.push(Crowd {
                    view: view.id,
                    shown: None,
                    coming: None,
                    wanted: None,
                });
                self.list.len() - 1
            });
        let crowd = &mut self.list[place];
        if let Some(fault) = crowd.made().find_map(|made| made.worker.fault()) {
            return Err(fault);
        }
        if crowd.made().any(|made| !made.order.gpu.is_same(&gpu)) {
            return Err("the graphics device was lost".to_owned());
        }
        crowd.exchange(subject);
        let subject = subject.weighted(view.need().weights);
        let simulated = view.method.has(Capability::Physics);
        let params = if simulated {
            *context.document.params_of(view.variant)
        } else {
            Params::default()
        };
        let factors = if simulated || view.method.has(Capability::Meetings) {
            context.document.flesh.factors()
        } else {
            FleshFactors::default()
        };
        let params = Params {
            budget_ms: None,
            collisions: Collisions::Off,
            ..params
        };
        let order = Order {
            gpu,
            subject,
            method: view.method,
            params,
            values: context
                .document
                .method_values_of(view.variant)
                .of(view.method),
            factors,
            count: view.crowd,
        };
        if !context.passing && crowd.is_due(&order, elapsed.real_secs) {
            let worker =
                CrowdWorker::start(order.clone(), sequences.clone(), context.waker.cloned());
            let worker = worker.map_err(|error| format!("no thread could be started: {error}"))?;
            crowd.coming = Some(MadeCrowd {
                order,
                worker,
                follower: Follower::default(),
            });
        }
        Ok(place)
    }

    /// Sends the input to a crowd, and to the one that will replace it.
    fn post(&mut self, place: usize, channel: ChannelId, dt_secs: f64, context: &JobContext<'_>) {
        let Some(playback) = context.channels.playback_in(channel) else {
            return;
        };
        let joints = context.channels.joints_in(channel);
        let clips = context.document.clips();
        let crowd = &mut self.list[place];
        for made in crowd.shown.iter_mut().chain(&mut crowd.coming) {
            // For a short time they may belong to another skeleton.
            if joints.len() == made.order.subject.character.skeleton.len() {
                let (input, anew) = made.follower.input(playback, &clips, joints, dt_secs);
                made.worker.post(input, anew, dt_secs);
            }
        }
    }

    /// Makes all crowds of the channel restart at rest.
    pub(in crate::session) fn settle(&mut self, channel: ChannelId, views: &Views) {
        let follows = |crowd: &Crowd| {
            views
                .get(crowd.view)
                .is_some_and(|view| view.channel() == channel)
        };
        for crowd in self.list.iter_mut().filter(|crowd| follows(crowd)) {
            crowd
                .shown
                .iter_mut()
                .chain(&mut crowd.coming)
                .for_each(|made| made.follower.forget());
        }
    }

    /// Shows one character in views whose crowd is not ready, or settles.
    pub(in crate::session) fn cancel(&mut self, views: &mut Views) {
        let busy = |crowd: &&Crowd| {
            crowd.wanted.is_some() || crowd.made().any(|made| made.worker.job().is_some())
        };
        let busy: Vec<ViewId> = self
            .list
            .iter()
            .filter(busy)
            .map(|crowd| crowd.view)
            .collect();
        for view in busy {
            self.drop_crowd(view, views);
        }
    }

    fn drop_crowd(&mut self, view: ViewId, views: &mut Views) {
        self.list.retain(|crowd| crowd.view != view);
        views.set_crowd(view, 1);
    }
}
