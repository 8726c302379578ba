//! Numbers per vertex that follow their measured values gradually.

/// Gain per step of each of the two filters.
const GAIN: f32 = 0.35;

/// Two low-pass filters in series. They hide that measurements are several steps apart.
pub(super) struct LowPass {
    target: Vec<f32>,
    /// Output of the first filter.
    between: Vec<f32>,
    value: Vec<f32>,
}

impl LowPass {
    /// Starts at zero.
    pub(super) fn zeros(count: usize) -> Self {
        Self {
            target: vec![0.0; count],
            between: vec![0.0; count],
            value: vec![0.0; count],
        }
    }

    /// The output.
    pub(super) fn values(&self) -> &[f32] {
        &self.value
    }

    /// Moves the target of a vertex by the fraction `gain` towards a measured value; one that is not finite is ignored.
    pub(super) fn measure(&mut self, vertex: usize, value: f32, gain: f32) {
        if value.is_finite() {
            let target = &mut self.target[vertex];
            *target += gain * (value - *target);
        }
    }

    /// Multiplies targets and outputs.
    pub(super) fn scale(&mut self, factor: f32) {
        for values in [&mut self.target, &mut self.between, &mut self.value] {
            for value in values {
                *value *= factor;
            }
        }
    }

    /// Advances by one step.
    pub(super) fn step(&mut self) {
        let targets = self.target.iter().zip(&mut self.between);
        for (value, (target, between)) in self.value.iter_mut().zip(targets) {
            *between += GAIN * (target - *between);
            *value += GAIN * (*between - *value);
        }
    }

    /// Uses the targets at once, without filtering.
    pub(super) fn jump(&mut self) {
        self.between.copy_from_slice(&self.target);
        self.value.copy_from_slice(&self.target);
    }

    /// Sets all to zero.
    pub(super) fn reset(&mut self) {
        self.target.fill(0.0);
        self.jump();
    }

    /// Targets and outputs of both filters.
    pub(super) fn state(&self) -> [Vec<f32>; 3] {
        [
            self.target.clone(),
            self.between.clone(),
            self.value.clone(),
        ]
    }

    /// Restores what [`LowPass::state`] returned.
    pub(super) fn set_state(&mut self, [target, between, value]: &[Vec<f32>; 3]) {
        self.target.copy_from_slice(target);
        self.between.copy_from_slice(between);
        self.value.copy_from_slice(value);
    }
}
