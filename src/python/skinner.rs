//! A method bound to a character.

use std::sync::{Mutex, MutexGuard, PoisonError};

use numpy::{PyArray2, PyReadonlyArray3};
use pyo3::prelude::*;

use super::arrays::{points, read_transforms, vectors};
use super::{failed, wrong};
use crate::math::Affine;
use crate::methods::{Actor, Frame};

/// A skinning method with its state.
#[pyclass(name = "Skinner", frozen)]
pub struct PySkinner {
    actor: Mutex<Actor>,
}

impl PySkinner {
    pub(super) fn of(actor: Actor) -> Self {
        Self {
            actor: Mutex::new(actor),
        }
    }

    fn actor(&self) -> MutexGuard<'_, Actor> {
        self.actor.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Goes to a pose in a time, without holding Python's lock.
    pub(super) fn step(&self, py: Python<'_>, pose: &[Affine], dt_secs: f64) -> PyResult<()> {
        let frame = Frame {
            world_from_joint: pose,
            dt_secs,
        };
        py.detach(|| self.actor().advance(&frame)).map_err(failed)
    }
}

#[pymethods]
impl PySkinner {
    /// The method's id.
    #[getter]
    fn method(&self) -> &'static str {
        self.actor().method().id()
    }

    /// Goes to a pose J × 4 × 4 within `dt` seconds (0: held until still) and returns the positions, V × 3.
    #[pyo3(signature = (pose, dt=0.0))]
    fn skin<'py>(
        &self,
        py: Python<'py>,
        pose: PyReadonlyArray3<'py, f64>,
        dt: f64,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        if !(0.0..=3600.0).contains(&dt) {
            return Err(wrong("dt is not a time from 0 to 3600 seconds"));
        }
        let joints = self.actor().subject().character.skeleton.len();
        let pose = read_transforms(&pose, joints)?;
        self.step(py, &pose, dt)?;
        self.positions(py)
    }

    /// Positions of the last frame, V × 3.
    #[getter]
    pub(super) fn positions<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let actor = self.actor();
        let character = &actor.subject().character;
        points(py, &character.at_file_vertices(actor.positions()))
    }

    /// Unit normals of the last frame, V × 3.
    #[getter]
    fn normals<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let actor = self.actor();
        let character = &actor.subject().character;
        vectors(py, &character.at_file_vertices(actor.normals()))
    }

    /// Forgets velocities: the next frame starts from rest.
    fn reset(&self) {
        self.actor().reset();
    }
}
