//! Steps on the device whose global steps need no trust.

use std::sync::Arc;

use sinew::dynamics::{Equations, Simulation, State};
use sinew::gpu::GpuContext;
use sinew::gpu::compute::fetch;
use sinew::gpu::flesh::{FleshModel, FleshState, FleshStep, StepStatistics};
use sinew::math::Point;

use crate::common::on_device;

/// Steps of a crowd on the device.
pub struct Device {
    gpu: &'static GpuContext,
    pub state: FleshState,
    pub step: FleshStep,
}

impl Device {
    pub fn new(
        gpu: &'static GpuContext,
        equations: &Arc<Equations>,
        inverse: &[f32],
        instances: u32,
    ) -> Self {
        let model = FleshModel::new(gpu, equations.clone()).expect("fits");
        let state = FleshState::new(gpu, &model, instances).expect("fits");
        let step = FleshStep::new(
            gpu,
            &model,
            &state,
            &on_device::dense_solver(gpu, inverse, &state),
        );
        Self { gpu, state, step }
    }

    /// One instance in the state of a simulation.
    pub fn like(gpu: &'static GpuContext, simulation: &Simulation) -> Self {
        let equations = Arc::new(simulation.equations());
        let device = Self::new(gpu, &equations, &on_device::inverse(&equations), 1);
        device
            .state
            .upload(gpu, 0, &simulation.state())
            .expect("fits");
        device
    }

    pub fn step(&self, base: &[Point]) {
        self.state.move_base(self.gpu, 0, base).expect("fits");
        self.step.run(self.gpu);
    }

    /// Over the base where it is.
    pub fn step_again(&self) {
        self.step.run(self.gpu);
    }

    pub fn download(&self) -> State {
        self.state.download(self.gpu, 0).expect("comes back")
    }

    pub fn statistics(&self) -> StepStatistics {
        fetch(self.gpu, self.state.statistics(), 1).expect("comes back")[0]
    }
}
