//! Numbers per vertex that follow their measured values gradually.

/// Gain per step of each of the two filters.
const GAIN: f32 = 0.5;

/// A ramp to the measured values and two low-pass filters in series. They hide that measurements are several steps apart: filters alone
/// would answer each step of the target with a jolt of its own.
pub(super) struct LowPass {
    target: Vec<f32>,
    /// Reaches the target when it is measured next.
    ramp: Vec<f32>,
    /// Output of the first filter.
    between: Vec<f32>,
    value: Vec<f32>,
}

impl LowPass {
    /// Starts at zero.
    pub(super) fn zeros(count: usize) -> Self {
        Self {
            target: vec![0.0; count],
            ramp: vec![0.0; count],
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
        for values in [
            &mut self.target,
            &mut self.ramp,
            &mut self.between,
            &mut self.value,
        ] {
            for value in values {
                *value *= factor;
            }
        }
    }

    /// Advances by one step. `left`: number of steps until the next measurement, this one included.
    pub(super) fn step(&mut self, left: u32) {
        let rate = 1.0 / left.max(1) as f32;
        let inputs = self.target.iter().zip(&mut self.ramp);
        let filters = self.between.iter_mut().zip(&mut self.value);
        for ((target, ramp), (between, value)) in inputs.zip(filters) {
            *ramp += rate * (target - *ramp);
            *between += GAIN * (*ramp - *between);
            *value += GAIN * (*between - *value);
        }
    }

    /// Uses the targets at once, without filtering.
    pub(super) fn jump(&mut self) {
        for values in [&mut self.ramp, &mut self.between, &mut self.value] {
            values.copy_from_slice(&self.target);
        }
    }

    /// Sets all to zero.
    pub(super) fn reset(&mut self) {
        self.target.fill(0.0);
        self.jump();
    }

    /// Targets, ramps, and outputs of both filters.
    pub(super) fn state(&self) -> [Vec<f32>; 4] {
        [&self.target, &self.ramp, &self.between, &self.value].map(Vec::clone)
    }

    /// Restores what [`LowPass::state`] returned.
    pub(super) fn set_state(&mut self, [target, ramp, between, value]: &[Vec<f32>; 4]) {
        self.target.copy_from_slice(target);
        self.ramp.copy_from_slice(ramp);
        self.between.copy_from_slice(between);
        self.value.copy_from_slice(value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Measured every fourth step, a steady drift comes out as a steady drift.
    #[test]
    fn a_steady_drift_has_no_ripple() {
        let mut filter = LowPass::zeros(1);
        let mut values = Vec::new();
        for step in 0..80_u32 {
            if step % 4 == 0 {
                filter.measure(0, step as f32, 1.0);
            }
            filter.step(4 - step % 4);
            values.push(filter.values()[0]);
        }
        for pair in values[40..].windows(2) {
            assert!((pair[1] - pair[0] - 1.0).abs() < 1e-4, "{pair:?}");
        }
    }
}
