//! A bound method with full-resolution output.

use std::sync::Arc;
use std::time::Instant;

use super::dqs::DualQuaternion;
use super::lbs::LinearBlend;
use super::{BindError, Frame, Method, SkinError, Skinner, Subject};
use crate::dynamics::Params;
use crate::math::{Point, Vec3};
use crate::mesh::vertex_normals_into;
use crate::progress::Progress;

/// Where the time of the last frame went, milliseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, serde::Serialize)]
pub struct StepTimes {
    /// Moving the base surface with the bones.
    pub anchors_ms: f64,
    /// Local steps: closest rotations.
    pub local_ms: f64,
    /// Global steps: linear solves.
    pub global_ms: f64,
    /// Upsampling to the source vertices, and their normals.
    pub normals_ms: f64,
    /// Everything, as a clock on the wall sees it.
    pub total_ms: f64,
    /// Simulation steps taken.
    pub steps: u32,
}

/// One character moving by one method: source positions and normals, frame by frame.
pub struct Actor {
    subject: Arc<Subject>,
    method: Method,
    skinner: Box<dyn Skinner>,
    positions: Vec<Point>,
    normals: Vec<Vec3>,
    triangles: Vec<[u32; 3]>,
    times: StepTimes,
}

impl Actor {
    /// Binds a method.
    ///
    /// # Errors
    /// [`BindError`] if the method can't work on this subject, or the work was cancelled.
    pub fn bind(subject: &Arc<Subject>, method: Method, _params: &Params, progress: &Progress) -> Result<Self, BindError> {
        progress.check()?;
        let character = &subject.character;
        let skinner: Box<dyn Skinner> = match method {
            Method::Rigid => Box::new(LinearBlend::bind_rigid(character, &subject.fallback_weights)),
            Method::Lbs => Box::new(LinearBlend::bind(character, &subject.fallback_weights)),
            Method::Dqs | Method::Pd => Box::new(DualQuaternion::bind(character, &subject.fallback_weights)),
        };
        let positions = character.bind_positions();
        let normals = vec![Vec3::y(); positions.len()];
        let triangles = character.triangles();
        Ok(Self { subject: subject.clone(), method, skinner, positions, normals, triangles, times: StepTimes::default() })
    }

    /// Moves on to the next frame.
    ///
    /// # Errors
    /// As [`Skinner::skin`]; the output stays the last good frame.
    pub fn advance(&mut self, frame: &Frame<'_>) -> Result<(), SkinError> {
        let start = Instant::now();
        self.skinner.skin(frame, &mut self.positions)?;
        vertex_normals_into(&self.positions, &self.triangles, &mut self.normals);
        self.times.total_ms = start.elapsed().as_secs_f64() * 1e3;
        Ok(())
    }

    /// Forgets velocities: the next frame starts from rest.
    pub fn reset(&mut self) {
        self.skinner.reset();
    }

    /// Changes physical parameters; takes effect with the next frame. Does nothing for methods without physics.
    pub fn set_params(&mut self, _params: &Params) {}

    /// World positions of all source vertices.
    #[must_use]
    pub fn positions(&self) -> &[Point] {
        &self.positions
    }

    /// Unit normals of all source vertices; smooth across the seams of the source.
    #[must_use]
    pub fn normals(&self) -> &[Vec3] {
        &self.normals
    }

    /// The method bound.
    #[must_use]
    pub fn method(&self) -> Method {
        self.method
    }

    /// What the method is bound to.
    #[must_use]
    pub fn subject(&self) -> &Arc<Subject> {
        &self.subject
    }

    /// Where the time of the last frame went.
    #[must_use]
    pub fn times(&self) -> StepTimes {
        self.times
    }
}
