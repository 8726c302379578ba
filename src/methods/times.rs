//! Where the time of a frame goes.

/// Device time of a frame by stage, ms; 0 if it cannot be measured.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct DeviceTimes {
    /// Moving the base.
    pub anchors_ms: f64,
    /// Prediction, iterations and velocities.
    pub step_ms: f64,
    /// Of these: local steps, with the sums over elements.
    pub local_ms: f64,
    /// Of these: global steps.
    pub global_ms: f64,
    /// Contacts: detection, loads, and what their forces move.
    pub contacts_ms: f64,
    /// From the simulated mesh to the source vertices, and their normals.
    pub surface_ms: f64,
    /// The total.
    pub total_ms: f64,
}

/// Where the time of the last frame went, milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct StepTimes {
    /// Moving the base surface with the bones.
    pub anchors_ms: f64,
    /// Simulation steps as a whole: prediction, iterations, velocities. Without a simulation: moving the vertices.
    pub step_ms: f64,
    /// Local steps: closest rotations.
    pub local_ms: f64,
    /// Global steps: linear solves.
    pub global_ms: f64,
    /// Upsampling to the source vertices.
    pub upsampling_ms: f64,
    /// Their normals.
    pub normals_ms: f64,
    /// Wall-clock time of the frame.
    pub total_ms: f64,
    /// Simulation steps taken.
    pub steps: u32,
    /// Local/global iterations in all of them.
    pub iterations: u32,
    /// Times that the device reported for its latest finished frame.
    pub device: DeviceTimes,
    /// CPU time to prepare that frame.
    pub host_ms: f64,
}
