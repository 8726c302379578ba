//! Offset of the shown skin from the simulation, which fades out: the simulation may jump without a jump of what is seen.

use crate::math::{Point, Vec3};

/// Number of steps until the offset is zero.
const STEPS: u32 = 30;

/// Offset of the shown skin from the simulation.
#[derive(Clone)]
pub(super) struct Fading {
    offsets: Vec<Vec3>,
    /// Steps since it began.
    step: u32,
}

impl Fading {
    /// Approximate memory of its vectors.
    pub(super) fn heap_bytes(&self) -> usize {
        size_of_val(&*self.offsets)
    }

    /// The offset of the positions shown so far from those of the simulation.
    pub(super) fn new(shown: &[Point], simulated: &[Point]) -> Self {
        let pairs = shown.iter().zip(simulated);
        Self {
            offsets: pairs.map(|(shown, simulated)| shown - simulated).collect(),
            step: 0,
        }
    }

    /// The same a step later; `None` if it has faded out.
    pub(super) fn after_a_step(self) -> Option<Self> {
        let step = self.step + 1;
        (step < STEPS).then_some(Self { step, ..self })
    }

    /// The offset of a vertex, world units: from all of it to none, with continuous acceleration.
    pub(super) fn offset(&self, vertex: usize) -> Vec3 {
        let t = self.step as f32 / STEPS as f32;
        self.offsets[vertex] * (1.0 - t * t * t * (10.0 + t * (6.0 * t - 15.0)))
    }
}
