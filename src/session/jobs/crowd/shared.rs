//! Data shared by a crowd's owner and its thread.

use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex};

use super::CrowdFrame;
use super::input::CrowdInput;
use crate::character::FleshFactors;
use crate::dynamics::Params;
use crate::gpu::GpuContext;
use crate::methods::{MethodId, Subject};
use crate::param::ParamValues;
use crate::progress::Progress;
use crate::session::Waker;

/// The inputs of a crowd: while they are equal, the crowd is not made again.
#[derive(Clone)]
pub(super) struct Order {
    pub gpu: GpuContext,
    pub subject: Arc<Subject>,
    pub method: MethodId,
    pub params: Params,
    pub values: ParamValues,
    pub factors: FleshFactors,
    pub count: usize,
}

impl PartialEq for Order {
    fn eq(&self, other: &Self) -> bool {
        self.gpu.is_same(&other.gpu)
            && Arc::ptr_eq(&self.subject, &other.subject)
            && (self.method, self.count) == (other.method, other.count)
            && self.params == other.params
            && self.values == other.values
            && self.factors == other.factors
    }
}

/// Requests since the thread last looked.
#[derive(Default)]
pub(super) struct Inbox {
    pub input: Option<CrowdInput>,
    pub anew: bool,
    pub pending_secs: f64,
    pub posted: bool,
    pub stop: bool,
}

/// Work that takes longer than a frame.
pub(super) struct LongTask {
    pub title: String,
    pub progress: Progress,
    /// Cancels this settling when another one is requested.
    pub settles: bool,
}

/// Data that both sides access.
pub(super) struct Shared {
    pub inbox: Mutex<Inbox>,
    pub wake: Condvar,
    pub latest: Mutex<Option<Arc<CrowdFrame>>>,
    pub fault: Mutex<Option<String>>,
    pub long: Mutex<Option<LongTask>>,
    pub asleep: AtomicBool,
    pub waker: Option<Waker>,
}
